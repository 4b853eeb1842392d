#!/usr/bin/python3
# test: sanitized only
"""The worker protocol over real HTTP: every call, what it refuses, and that the examples of server/API.md are what the server
takes and gives."""

import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import tap  # noqa: E402
from builds import BUILD  # noqa: E402
from database import add_test, write_plain_book  # noqa: E402
from played import played, played_batch, post_batch, upload  # noqa: E402
from protocol import STC, batch, changed, side_of  # noqa: E402
from server import ROOT, Server  # noqa: E402

EXAMPLES = dict(re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server/API.md").read_text(), re.S))
BATCH = 4
SPRT = {"alpha": 0.05, "beta": 0.05, "elo0": 0.0, "elo1": 2.0, "model": "normalized"}
SPARE = "INSERT INTO settings (name, value) VALUES ('task_seconds', '155') ON CONFLICT DO UPDATE SET value = '155'"


def example(name):
    return json.loads(EXAMPLES[name])


class Loop:
    """A server with one approved test, written into its database before it starts."""

    def __init__(self, **test):
        self.spare = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-book-"))
        self.server = Server("--web", str(ROOT / "web"), init_options=["--book", str(write_plain_book(self.spare / "book.epd"))], start=False)
        self.add_test(**test)
        self.server.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()
        shutil.rmtree(self.spare)

    def sql(self, text, *values):
        with sqlite3.connect(self.server.data / "patchmate.db", timeout=60 * tap.LOAD_FACTOR) as db:
            rows = db.execute(text, values).fetchall()
        db.close()
        return rows

    def add_test(self, **fields):
        values = dict(new_options='Hash=16 "Move Overhead"=3', parameters=json.dumps(SPRT), tc="10+0.1", batch_pairs=BATCH,
                      adjudication=json.dumps(example("claim.reply")["test"]["adjudication"]))
        add_test(self.server, **{**values, **fields})
        self.sql(SPARE)


def claim(worker, key=None, **fields):
    claim.count += 1
    body = {"protocol": 1, "cores": 4, "memory_mib": 100000, "speeds": {"anvil": 1e6}, "snapshots": [], "holding": [], "wait_s": 0,
            **fields}
    return worker.api("POST", "/tasks/claim", body, {"Idempotency-Key": key or f"claim-{claim.count:08}"})


claim.count = 0


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def same_shape(got, wanted, path=""):
    """Same members at every level; lists by their first entry; null stands for anything."""
    if wanted is None or got is None:
        return
    if isinstance(wanted, dict):
        if path.endswith(("options", "env")):
            return
        tap.equal(sorted(got), sorted(wanted), f"members of {path or 'the reply'}")
        for key in wanted:
            same_shape(got[key], wanted[key], f"{path}.{key}")
    elif isinstance(wanted, list):
        if wanted and got:
            same_shape(got[0], wanted[0], path + "[0]")
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        tap.true(isinstance(got, (int, float)) and not isinstance(got, bool), f"{path} is a number: {got!r}")
    else:
        tap.equal(type(got), type(wanted), f"type of {path}")


def unsigned(body):
    """Without the signature of the example: the kit makes one that fits."""
    return {name: value for name, value in body.items() if name not in ("key", "signature")}


def a_whole_task_follows_the_examples_of_the_documentation():
    with Loop() as loop:
        worker = loop.server.client()
        reply = worker.api("POST", "/workers", example("workers.request"))
        tap.equal(reply.status, 201)
        same_shape(reply.json, example("workers.reply"))
        worker.token = reply.json["token"]
        reply = worker.api("POST", "/tasks/claim", {**example("claim.request"), "wait_s": 0}, {"Idempotency-Key": "12345678"})
        tap.equal(reply.status, 200)
        same_shape(reply.json, example("claim.reply"))
        task = reply.json
        tap.equal(len(task["openings"]), task["pairs"])
        tap.equal(task["pairs"] % BATCH, 0)
        tap.equal([side["name"] for side in task["sides"]], ["new", "base"])
        tap.equal([side["options"] for side in task["sides"]], [{"Hash": "16", "Move Overhead": "3"}, {"Hash": "16"}])
        for side in task["sides"]:
            tap.equal((side["engine"], side["tc"], side["threads"], side["margin_ms"]), ("anvil", "10+0.1", 1, 200))
            tap.equal(side["build"], task["scale"]["build"])
        path = f"/tasks/{task['id']}"
        reply = worker.api("POST", path + "/heartbeat", {**example("heartbeat.request"), "started_pairs": 2})
        same_shape(reply.json, example("heartbeat.reply"))
        reply = worker.api("POST", path + "/bench", example("bench.request"))
        tap.equal(reply.json, example("bench.reply"))
        counts = {**unsigned(example("batch.request")), **played_batch(worker, task, 0, "2134", crashes=1), "said": None}
        again = upload(worker, task, 0, played(task, 0, "2134"))
        tap.equal(again.code, "batch_conflict")
        same_shape({"sha256": counts["games_sha256"]}, example("games.reply"))
        reply = worker.api("POST", path + "/batches", counts)
        tap.equal(reply.status, 200)
        same_shape(reply.json, example("batch.reply"))
        tap.equal(reply.json["test"]["units"], 4)
        tap.equal(reply.json["credit"], {"games": 8, "user": None})
        fault_report = {**example("fault_report.request"), "pair": task["first_pair"]}
        reply = worker.api("PUT", path + "/faults/0", fault_report)
        tap.equal((reply.status, reply.json), (200, {}))
        reply = worker.api("POST", path + "/release", {**example("release.request"), "started_pairs": 4})
        tap.equal(sorted(example("release.request")), ["started_pairs"])
        tap.equal((reply.status, reply.json), (200, {}))
        reply = worker.api("POST", path + "/fail", example("fail.request"))
        tap.equal((reply.status, reply.json), (200, {}))
        bad = worker.api("POST", path + "/batches", changed(counts, {"wins": 7}))
        same_shape(bad.json, example("error"))


def the_server_presents_itself_as_documented():
    with Loop() as loop:
        same_shape(loop.server.client().api("GET", "/server").json, example("server.reply"))


def every_code_of_an_error_is_listed():
    listed = set(re.findall(r"`(\w+)`", (ROOT / "server/API.md").read_text().split("## Codes of errors")[1]))
    used = set()
    for path in (ROOT / "server").glob("**/*.c"):
        used |= set(re.findall(r'error_(?:set|field)\(\s*&?\w+,\s*[^,]+,\s*"(\w+)"', path.read_text()))
    tap.true(len(used) > 50, "the codes are found in the sources")
    tap.equal(sorted(used - listed), [], "codes that server/API.md does not list")


def every_call_is_documented_and_no_other():
    table = subprocess.run([BUILD / "server", "routes"], capture_output=True, text=True, check=True).stdout
    calls = {(method, path.removeprefix("/api/v1/")) for method, path, *_ in (line.split("\t") for line in table.splitlines())
             if path.startswith("/api/v1/")}
    tap.true(len(calls) > 35, "the calls are found in the sources")
    text = (ROOT / "server/API.md").read_text()
    documented = set(re.findall(r"`(GET|POST|PUT) (?:/api/v1/)?([a-z][^`? ]*)`", text))
    tap.equal(sorted(calls - documented), [], "calls that server/API.md does not name")
    tap.equal(sorted(documented - calls), [], "calls that there are not")


def the_documented_submission_names_fields_that_there_are():
    files = [ROOT / "server/submit/field_rules.c", *(ROOT / "server/ledger").glob("workload_*.c")]
    rules = set(re.findall(r'\.name = "(\w+)"', "".join(path.read_text() for path in files)))
    tap.equal(sorted(set(example("tests.request")) - rules), [], "fields that a submission does not have")


def the_documented_batch_is_consistent():
    counts = example("batch.request")["result"]
    p = [counts["outcomes"].count(str(i)) for i in range(5)]
    tap.equal(counts["wins"] - counts["losses"], 2 * p[4] + p[3] - p[1] - 2 * p[0])
    tap.equal(counts["wins"] + counts["losses"] + counts["draws"], 2 * len(counts["outcomes"]))
    tap.true(p[3] + p[1] <= counts["draws"] <= p[3] + 2 * p[2] + p[1], "draws fit")


def the_same_machine_is_the_same_worker_with_a_new_token():
    with Loop() as loop:
        first, second = loop.server.worker(), loop.server.worker(name="renamed")
        tap.equal(first.worker, second.worker)
        tap.equal(claim(first).status, 401)
        tap.equal(claim(second).status, 200)
        tap.true(loop.server.worker(key="o" * 40).worker != first.worker, "another machine is another worker")


def registrations_are_limited_by_address():
    with Loop() as loop:
        loop.sql("INSERT INTO settings (name, value) VALUES ('registrations_per_hour', '2')")
        for key in "ab":
            loop.server.worker(key=key * 32)
        client = loop.server.client()
        request = {**example("workers.request"), "machine_key": "c" * 32}
        reply = client.api("POST", "/workers", request)
        tap.equal((reply.status, reply.code), (429, "too_many_registrations"))
        tap.true(int(reply.headers["Retry-After"]) > 0, "Retry-After")
        loop.server.worker(key="a" * 32)


def bad_introductions_are_refused_with_the_member_to_blame():
    with Loop() as loop:
        client, good = loop.server.client(), example("workers.request")
        host = good["host"]
        for change, status, field in [
                ({"protocol": 0}, 426, "protocol"), ({"name": ""}, 422, "name"), ({"machine_key": "short"}, 422, "machine_key"),
                ({"host": {**host, "physical_cores": 0}}, 422, "physical_cores"), ({"host": {**host, "wings": 2}}, 422, "host"),
                ({"host": {**host, "compilers": [7]}}, 422, "compilers"), ({"user_token": "nonsense"}, 401, "user_token"),
                ({"surprise": 1}, 422, "surprise"), ({"host": 3}, 422, "host")]:
            reply = client.api("POST", "/workers", {**good, **change})
            tap.equal((reply.status, reply.json["error"]["field"]), (status, field), str(change))


def a_waiting_claim_is_answered_when_work_appears():
    with Loop(state="paused") as loop:
        worker, replies = loop.server.worker(), []
        thread = threading.Thread(target=lambda: replies.append(claim(worker, wait_s=30)))
        thread.start()
        time.sleep(0.5)
        tap.equal(replies, [])
        holder = loop.server.worker(key="h" * 32)
        loop.sql("UPDATE tests SET state = 'active'")
        # Another worker takes a task and gives it back: that wakes those who wait.
        task = claim(holder).json["id"]
        tap.equal(holder.api("POST", f"/tasks/{task}/release", {"started_pairs": 0}).status, 200)
        thread.join(60 * tap.LOAD_FACTOR)
        tap.equal([reply.status for reply in replies], [200])


def a_claim_without_work_ends_with_204():
    with Loop(state="paused") as loop:
        worker, start = loop.server.worker(), time.monotonic()
        tap.equal(claim(worker, wait_s=1).status, 204)
        tap.true(0.8 < time.monotonic() - start < 40, "it waited for the second that it named, and not for the longest time")
        tap.equal(claim(worker).status, 204)


def a_claim_sent_again_gets_the_same_task():
    with Loop() as loop:
        worker = loop.server.worker()
        first, again = claim(worker, "the-same-key"), claim(worker, "the-same-key")
        tap.equal(first.json["id"], again.json["id"])
        tap.equal(first.json["openings"], again.json["openings"])
        tap.equal(claim(worker, "the-same-key", cores=3).code, "idempotency_conflict")
        tap.equal(claim(worker, "short").code, "bad_request")


def a_test_is_offered_only_to_a_worker_that_can_play_its_unit():
    with Loop() as loop:
        for number, (units, status) in enumerate((({}, 200), ({"units": ["pair"]}, 200), ({"units": ["position", "pair"]}, 200),
                                                 ({"units": []}, 204), ({"units": ["position"]}, 204))):
            reply = claim(loop.server.worker(key=f"{number:032}"), **units)
            tap.equal(reply.status, status, str(units))
            if status == 200:
                tap.equal((reply.json["test"]["workload"], reply.json["test"]["unit"]), ("sprt", "pair"))
        for units in (None, "pair", {"pair": 1}, [1], ["pair"] * 17):
            reply = claim(loop.server.worker(), units=units)
            tap.equal((reply.status, reply.json["error"]["field"]), (422, "units"), str(units))


def no_opening_is_dealt_twice_until_the_book_is_spent():
    with Loop() as loop:
        seen = []
        while len(seen) < 1000:
            worker = loop.server.worker(key=f"{len(seen):032}")
            seen += [opening["fen"] for opening in claim(worker).json["openings"]]
        tap.equal(len(set(seen[:1000])), 1000)


def refusals_of_batches_name_the_fault():
    with Loop() as loop:
        worker, other = loop.server.worker(), loop.server.worker(key="o" * 32)
        task = claim(worker).json
        path = f"/tasks/{task['id']}/batches"
        good = played_batch(worker, task, 0, "2134")
        for change, status, code in [
                ({"wins": 9}, 422, "bad_counts"), ({"outcomes": "213"}, 422, "bad_counts"), ({"outcomes": "2135"}, 422, "bad_counts"),
                ({"outcomes": 2134}, 422, "bad_request"), ({"seq": 1}, 409, "seq_gap"), ({"seq": -1}, 422, "bad_request"),
                ({"seq": 99}, 422, "bad_request"), ({"busy": 2}, 422, "bad_request"), ({"more": 1}, 422, "bad_request"),
                ({"games_sha256": "d" * 64}, 409, "games_missing"), ({"games_sha256": "d"}, 422, "bad_request"),
                ({"tc": "x" * 65}, 422, "bad_field"), ({"crashes": 9}, 422, "bad_counts"),
                ({"tc": "1000+99"}, 422, "bad_clock"), ({"tc": "10+0.1"}, 422, "bad_clock"), ({"speed": 5e5}, 422, "bad_clock"),
                ({"speed": 0}, 422, "bad_speed"), ({"speed": 1e12}, 422, "bad_speed"), ({"speed": 1e4}, 422, "bad_speed")]:
            reply = worker.api("POST", path, changed(good, change))
            tap.equal((reply.status, reply.code), (status, code), str(change))
        tap.equal(other.api("POST", path, good).code, "not_your_task")
        tap.equal(worker.api("POST", "/tasks/999/batches", good).code, "no_such_task")
        tap.equal(loop.server.client().api("POST", path, good).status, 401)
        tap.equal(worker.request("POST", "/api/v1" + path, b"{", {"Content-Type": "application/json"}).code, "bad_json")
        tap.equal(worker.request("POST", "/api/v1" + path, b"[" * 9000, {"Content-Type": "application/json"}).status, 413)
        tap.equal(loop.sql("SELECT count(*) FROM batches"), [(0,)])
        tap.equal(worker.api("POST", path, good).json["counted"], True)
        tap.equal(worker.api("POST", path, good).json["repeat"], True)
        tap.equal(worker.api("POST", path, {**batch(0, "2143", good["games_sha256"]), "tc": STC}).code, "batch_conflict")


def games_that_are_no_games_are_refused():
    with Loop() as loop:
        worker = loop.server.worker()
        path = f"/api/v1/tasks/{claim(worker).json['id']}/games/"
        line = (json.dumps(example("game")) + "\n").encode()
        for body, status in [(b"plain text", 400), (zstd(line * 7), 422), (zstd(b"[]\n" * 8), 422), (zstd(line * 8)[:-9], 400),
                             (zstd(b"{" + b"x" * (70 << 20) + b"}\n"), 422)]:
            tap.equal(worker.request("PUT", path + "0", body).status, status, str(body[:20]))
        tap.equal(worker.request("PUT", path + "99", zstd(line * 8)).status, 422)
        tap.equal(worker.request("PUT", path + "x", zstd(line * 8)).status, 404)
        # Refused by its announced size, before a byte of it.
        tap.equal(worker.request("PUT", path + "0", None, {"Content-Length": str(9 << 20)}).status, 413)


def blobs_are_sent_whole_or_in_ranges_and_only_to_callers_with_the_right():
    with Loop() as loop:
        worker = loop.server.worker()
        task = claim(worker).json
        path = "/api/v1/blobs/" + side_of(task, "new")["snapshot"]
        whole = loop.server.client().get(path)
        tap.equal(whole.status, 200)
        tap.contains(whole.headers["Cache-Control"], "immutable")
        part = loop.server.client().get(path, Range="bytes=100-199")
        tap.equal((part.status, part.body), (206, whole.body[100:200]))
        tap.equal(worker.get("/api/v1/blobs/" + "0" * 64).code, "no_such_blob")
        tap.equal(worker.get("/api/v1/blobs/..%2F..%2Fpatchmate.db").status, 404)
        line = (json.dumps(example("game")) + "\n").encode()
        games = worker.request("PUT", f"/api/v1/tasks/{task['id']}/games/0", zstd(line * 8)).json["sha256"]
        tap.equal(worker.get("/api/v1/blobs/" + games).status, 404)


def a_verdict_ends_the_test_for_everybody():
    with Loop(parameters=json.dumps({**SPRT, "model": "logistic", "elo1": 100.0})) as loop:
        worker, other = loop.server.worker(), loop.server.worker(key="o" * 32)
        idle = claim(other).json
        state, seq, task = "active", 0, claim(worker).json
        while state == "active":
            reply = post_batch(worker, task, seq, "3433").json
            state, seq = reply["test"]["state"], seq + 1
            if reply["why"] == "done":
                task, seq = claim(worker).json, 0
        tap.equal((reply["continue"], reply["why"]), (False, "finished"))
        tap.equal(loop.sql("SELECT result FROM tests"), [("accepted",)])
        heartbeat = other.api("POST", f"/tasks/{idle['id']}/heartbeat", {"phase": "play", "plies": 9, "started_pairs": 1}).json
        tap.equal((heartbeat["continue"], heartbeat["why"]), (False, "finished"))
        late = post_batch(other, idle, 0, "0000").json
        tap.equal((late["stored"], late["counted"], late["test"]["units"]), (True, False, reply["test"]["units"]))
        tap.equal(claim(worker).status, 204)
        tap.contains(loop.server.command("check", loop.server.data), " 0 differences")


def acknowledged_results_are_there_after_a_kill():
    with Loop() as loop:
        worker = loop.server.worker()
        task = claim(worker, cores=8).json
        path, seen = f"/tasks/{task['id']}/batches", 0
        for seq in range(5):
            counts = played_batch(worker, task, seq, "2134")
            tap.equal(worker.api("POST", path, counts).json["uncounted"], "")
            if seq % 2:
                loop.server.kill()
                worker.close()
                loop.server.start()
            seen += 1
            tap.equal(loop.sql("SELECT count(*) FROM batches WHERE counted"), [(seen,)])
            tap.equal(worker.api("POST", path, counts).json["repeat"], True)
        tap.contains(loop.server.command("check", loop.server.data), " 0 differences")


tap.run(a_whole_task_follows_the_examples_of_the_documentation, the_server_presents_itself_as_documented,
        every_code_of_an_error_is_listed, every_call_is_documented_and_no_other,
        the_documented_submission_names_fields_that_there_are,
        the_documented_batch_is_consistent,
        the_same_machine_is_the_same_worker_with_a_new_token, registrations_are_limited_by_address,
        bad_introductions_are_refused_with_the_member_to_blame, a_waiting_claim_is_answered_when_work_appears,
        a_claim_without_work_ends_with_204, a_claim_sent_again_gets_the_same_task,
        a_test_is_offered_only_to_a_worker_that_can_play_its_unit,
        no_opening_is_dealt_twice_until_the_book_is_spent, refusals_of_batches_name_the_fault,
        games_that_are_no_games_are_refused, blobs_are_sent_whole_or_in_ranges_and_only_to_callers_with_the_right,
        a_verdict_ends_the_test_for_everybody, acknowledged_results_are_there_after_a_kill)
