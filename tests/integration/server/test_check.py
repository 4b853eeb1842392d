#!/usr/bin/python3
# test: sanitized only
"""The check of a submission: it says what the submission would say, all at once, and leaves nothing behind."""

import concurrent.futures
import hashlib
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import ROOT, Client, wait_until
from submission import ABSURD_FIELDS, PATCHES, accept, bare, database, patch, row, submission_server
from tap import contains, equal, run, true

server = submission_server()
dev, boss, vera, joe = (server.client(name) for name in ("dev", "boss", "vera", "joe"))
EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server/API.md").read_text(), re.S)}
FIELDS = {"title": "Reduce later", "tc": "10+0.1", "bench": 1234567}
ADDS = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{1}\n"


def body(name="git_diff", **fields):
    document = {**FIELDS, "patch": patch(name).decode(errors="surrogateescape"), **fields}
    return {k: v for k, v in document.items() if v is not ...}


def ask(name="git_diff", client=dev, **fields):
    return client.api("POST", "/tests/check", body(name, **fields))


def checked(*args, **fields):
    reply = ask(*args, **fields)
    equal(reply.status, 200, reply)
    return reply.json


def multipart(fields):
    boundary = "PatchmateBoundary"
    parts = []
    for name, value in fields.items():
        extra = f'; filename="{name}"\r\nContent-Type: application/octet-stream' if isinstance(value, bytes) else ""
        data = value if isinstance(value, bytes) else str(value).encode()
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n'.encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def ask_by_form(fields, client=dev):
    return client.request("POST", "/tests/check", *multipart({"csrf": client.csrf, **fields}))


def same_shape(got, example):
    """The same members of the same types, all the way down; of a list its first item."""
    equal(type(got), type(example), f"{got!r} beside {example!r}")
    if isinstance(example, dict):
        equal(set(got), set(example))
        for name in example:
            same_shape(got[name], example[name])
    if isinstance(example, list) and example and got:
        same_shape(got[0], example[0])


def kept():
    """All that the server keeps: its files, and the rows of its tables but for the times of sessions."""
    files = sorted(str(path.relative_to(server.data)) for path in server.data.rglob("*")
                   if not path.name.startswith("patchmate.db") and path.parent.name != "log")
    with database(server) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        rows = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
        rows["bytes"] = db.execute("SELECT * FROM submitted_bytes").fetchall()
    return files, rows


# ---- what it says

def the_reply_has_the_form_of_the_documentation():
    reply = dev.api("POST", "/tests/check", EXAMPLES["tests.request"])
    equal(reply.status, 200, reply)
    same_shape(reply.json, EXAMPLES["check.reply"])
    equal(reply.json["problems"], [])


def a_good_submission_has_no_problem_and_its_test_gets_the_same_warnings():
    document = checked(tc="nodes=1000", batch_pairs=1)
    equal((document["ok"], document["problems"], document["applies"]), (True, [], True))
    equal(document["base"]["commit"], row(server, "SELECT baseline FROM engines")["baseline"])
    changes = document["changes"]
    true(changes["additions"] > 0 and changes["deletions"] > 0 and changes["files"] > 0, changes)
    equal((changes["risky"], document["missing_nets"], document["seen_before"]["tests"]), ([], [], []))
    test = dev.api("POST", "/tests", body(tc="nodes=1000", batch_pairs=1)).json["id"]
    shown = Client(server).get(f"/api/v1/tests/{test}").json["warnings"]
    true(document["warnings"] and set(document["warnings"]) <= set(shown), (document["warnings"], shown))
    equal([other["id"] for other in checked()["seen_before"]["tests"]], [test])
    contains(checked()["warnings"][-1], f"test {test}")


def every_fault_is_what_the_submission_would_say():
    for field, value, word in ABSURD_FIELDS:
        said = dev.api("POST", "/tests", body(**{field: value})).json["error"]
        document = checked(**{field: value})
        equal(document["problems"], [{name: said[name] for name in ("code", "field", "message")}], f"{field} = {value}")
        contains(document["problems"][0]["message"], word)
        equal(document["ok"], False)


def every_patch_that_is_refused_does_not_apply():
    for folder in sorted(PATCHES.glob("refused_*")):
        said = ask_by_form({**FIELDS, "patch_file": (folder / "input.patch").read_bytes()})
        true("It would be refused." in said.text, folder.name)
        try:
            text = (folder / "input.patch").read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        refusal = dev.api("POST", "/tests", body(patch=text)).json["error"]
        document = checked(patch=text)
        equal([problem["message"] for problem in document["problems"]], [refusal["message"]], folder.name)
        equal((document["applies"], document["changes"]), (False, None), folder.name)
        true(document["expected"] is not None, "the figures do not need the patch")


def all_faults_are_told_at_once():
    document = checked("refused_differs", elo1=231, alpha=0.7, threads="two", title="x" * 121, book="none", bench=...)
    equal([problem["field"] for problem in document["problems"]], ["title", "threads", "alpha", "elo1", "book", "patch"])
    equal((document["applies"], document["expected"], document["seen_before"]), (False, None, None))
    document = checked(title=..., elo0=5, base_bench=7)
    equal([problem["field"] for problem in document["problems"]], ["elo1", "title"])
    equal((document["applies"], document["expected"]), (True, None))
    document = checked(base="no-such-branch", patch="x")
    equal([problem["field"] for problem in document["problems"]], ["base"])
    equal(document["applies"], None)
    document = checked(patch=...)
    equal(([problem["code"] for problem in document["problems"]], document["applies"]), (["missing_field"], None))


def a_body_that_cannot_be_read_is_refused_as_for_a_submission():
    reply = dev.request("POST", "/api/v1/tests/check", b"{", {"Content-Type": "application/json"})
    equal((reply.status, reply.code), (400, "bad_json"))
    equal(dev.request("POST", "/api/v1/tests/check", b'"' + b"x" * (4 << 20) + b'"', {"Content-Type": "application/json"}).status, 413)
    document = checked(colour="red")
    equal([(problem["code"], problem["field"]) for problem in document["problems"]], [("bad_request", "colour")])
    equal((document["applies"], document["expected"], document["changes"]), (None, None, None))


def risky_files_are_named_with_their_risk_and_side():
    text = ADDS.format("tools/run.sh", "true") + ADDS.format("plain.c", "int p;")
    risky = checked(patch=text, bench=...)["changes"]["risky"]
    equal(risky, [{"of": "patch", "path": "tools/run.sh", "status": "added", "risk": ["build file"]}])
    test = dev.api("POST", "/tests", body(patch=text, bench=...)).json["id"]
    equal(boss.api("POST", f"/tests/{test}/approve").status, 200)
    document = checked(patch=ADDS.format(".github/workflows/ci.yml", "on: push"), base=f"test:{test}", bench=...)
    equal([(file["of"], file["path"], file["risk"]) for file in document["changes"]["risky"]],
          [("patch", ".github/workflows/ci.yml", ["workflow"]), ("base", "tools/run.sh", ["build file"])])
    said = " ".join(document["warnings"])
    contains(said, f"The base is the commit of test {test}, which is not in the branch")
    contains(said, ".github/workflows/ci.yml lies in a hidden folder")
    contains(said, "Of the base: tools/run.sh decides how the engine is built")


def a_net_that_is_not_here_is_named():
    sha = hashlib.sha256(b"a net").hexdigest()
    text = ADDS.format("net", sha)
    document = checked(patch=text, bench=...)
    equal((document["missing_nets"], document["ok"]), ([{"sha256": sha}], True))
    contains(" ".join(document["warnings"]), sha[:12])
    form = {**FIELDS, "patch": text, "bench": "", "net": b"a net"}
    contains(ask_by_form(form).text, "Nothing is wrong")
    contains(ask_by_form(form).text, "Choose the file of the net again")
    true("is not on this server" not in ask_by_form(form).text, "the net came with the form")
    contains(ask_by_form({**form, "net": b"another"}).text, "SHA-256 of this file is")


# ---- figures

def cases(**fields):
    return checked(**fields)["expected"]


def the_figures_are_those_of_the_library():
    expected = cases()
    equal((expected["unit"], expected["games_max"], [case["elo"] for case in expected["cases"]]),
          ("normalized", 800000, [0, 1, 3, 5, 8]))
    worthless, _, _, _, gain = expected["cases"]
    true(abs(worthless["accepted"] - 0.05) < 0.002 and abs(worthless["games"] / 160000 - 1) < 0.02, worthless)
    true(gain["accepted"] > 0.999 and gain["games"] < 30000, gain)
    true(abs(worthless["core_hours"] / (worthless["games"] * expected["game_seconds"] / 3600) - 1) < 1e-9, worthless)
    twice = cases(threads=2)["cases"][0]
    true(abs(twice["core_hours"] / worthless["core_hours"] - 2) < 1e-9, twice)
    equal(cases(model="logistic", elo1=10)["unit"], "logistic")


def a_test_that_is_cut_short_may_stay_undecided():
    short = cases(games=16000)["cases"][0]
    true(short["undecided"] > 0.5 and short["games"] <= 16000, short)
    equal(round(short["accepted"] + short["rejected"] + short["undecided"], 6), 1)
    # The book has two openings, and at fixed nodes none is played twice.
    spent = cases(tc="nodes=1000", batch_pairs=1)
    equal((spent["games_max"], round(spent["cases"][0]["undecided"], 3)), (4, 1))


def tests_that_decide_nothing_have_a_length():
    fixed = cases(workload="fixed", games=1024)
    equal((fixed["unit"], fixed["text"], [(case["elo"], case["accepted"], case["games"]) for case in fixed["cases"]]),
          (None, None, [(None, None, 1024)]))
    width = cases(workload="width", error=3)
    true(3000 < width["cases"][0]["games"] < 100000 and "independent" in width["text"], width)


def earlier_tests_with_the_book_and_the_clock_tell_the_pairs():
    contains(cases()["text"], "independent")
    test = dev.api("POST", "/tests", body(patch=ADDS.format("drawish.c", "int d;"), bench=...)).json["id"]
    accept(server, test)
    with database(server) as db:
        db.execute("UPDATE tests SET units_counted = 1000, counts = json_object('v', 1, 'ptnml', json('[0,70,880,50,0]')) WHERE id = ?", (test,))
    drawish, usual = cases(model="logistic", elo1=5), cases(model="logistic", elo1=5, tc="10+0.2")
    equal((drawish["law"], drawish["law_tests"], drawish["law_pairs"]), ([0, 0.06, 0.88, 0.06, 0], 1, 1000))
    contains(drawish["text"], "88\u00a0% of them are even")
    equal(usual["law_tests"], 0)
    true(drawish["cases"][0]["games"] < usual["cases"][0]["games"] / 5, "games between equal pairs say more")


# ---- rights, limits

def only_those_who_may_submit_may_check():
    equal(Client(server).api("POST", "/tests/check", {}).status, 401)
    equal(ask(client=joe).status, 403)
    equal(ask(client=joe, elo1=231).status, 403, "a stranger learns nothing of the fields")
    token = dev.api("POST", "/tokens", {"name": "script", "scope": "submit"}).json["token"]
    equal(ask(client=Client(server, token=token)).status, 200)
    dev.csrf, csrf = "wrong", dev.csrf
    equal(dev.request("POST", "/tests/check", *multipart(FIELDS)).status, 403, "a form without its token")
    dev.csrf = csrf


def limits_are_those_of_a_submission():
    with database(server) as db:
        waiting = db.execute("SELECT count(*) FROM tests WHERE state = 'pending' AND author_id = (SELECT id FROM users WHERE name = 'dev')").fetchone()[0]
    true(waiting > 0, "dev has tests that wait")
    server.command("set", server.data, "pending_tests", str(waiting))
    wait_until(lambda: [problem["code"] for problem in checked()["problems"]] == ["too_many_pending"])
    server.command("set", server.data, "pending_tests", "1000")
    wait_until(lambda: checked()["ok"])
    with database(server) as db:
        db.execute("INSERT INTO submitted_bytes (user_id, hour, bytes) VALUES ((SELECT id FROM users WHERE name = 'vera'), ?, ?)",
                   (int(time.time()) // 3600, 64 << 20))
    equal((ask(client=vera).status, ask(client=vera).code), (429, "too_much_submitted"))


def a_user_has_one_check_or_submission_at_a_time():
    clients = [server.client("boss") for _ in range(4)]
    many = "".join(ADDS.format(f"slow/{i}.c", f"int s{i};") for i in range(900))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda client: ask(client=client, patch=many, bench=...), clients))
    equal({reply.status for reply in replies}, {200, 429}, replies)
    true(all(reply.code == "one_at_a_time" for reply in replies if reply.status == 429), replies)
    wait_until(lambda: ask(client=boss).status == 200)


# ---- nothing stays

def a_check_leaves_no_file_no_object_and_no_row():
    for look in range(2):
        before = kept()
        sizes = {path: path.stat().st_size for path in bare(server).rglob("*") if path.is_file()}
        net = b"a net of its own"
        text = ADDS.format("net", hashlib.sha256(net).hexdigest()) + ADDS.format("other.c", "int other;")
        equal(checked(patch=text, bench=...)["applies"], True)
        contains(ask_by_form({**FIELDS, "patch": text, "bench": "", "net": net}).text, "Nothing is wrong")
        checked("refused_differs")
        checked(elo1=231)
        ask(client=joe)
        equal(kept(), before)
        equal({path: path.stat().st_size for path in bare(server).rglob("*") if path.is_file()}, sizes)
        if not look:
            dev.api("POST", "/tests", body(patch=ADDS.format("real.c", "int real;"), bench=...))
            true(kept() != before, "a submission would be seen")


# ---- the page

def the_form_comes_back_with_what_was_typed_and_the_figures():
    page = ask_by_form({**FIELDS, "patch": patch().decode(), "description": "Because <b>", "elo1": "4", "preset": ""}).text
    for kept_text in ('value="Reduce later"', "Because &lt;b&gt;", 'value="4"', "+    if (depth &lt; 4)"):
        contains(page, kept_text)
    contains(page, "Nothing is wrong with this submission. It is not submitted yet.")
    contains(page, 'id="expected"')
    contains(page, "+8.00 normalized Elo")


def a_wrong_field_is_marked_and_a_file_comes_back_as_text():
    page = ask_by_form({**FIELDS, "elo1": "-3", "patch": "", "patch_file": patch()}).text
    contains(page, "It would be refused.")
    contains(page, "+    if (depth &lt; 4)")
    true(re.search(r'id="elo1"[^>]*aria-invalid="true"', page), "elo1 is not marked")


try:
    run(the_reply_has_the_form_of_the_documentation,
        a_good_submission_has_no_problem_and_its_test_gets_the_same_warnings,
        every_fault_is_what_the_submission_would_say,
        every_patch_that_is_refused_does_not_apply,
        all_faults_are_told_at_once,
        a_body_that_cannot_be_read_is_refused_as_for_a_submission,
        risky_files_are_named_with_their_risk_and_side,
        a_net_that_is_not_here_is_named,
        the_figures_are_those_of_the_library,
        a_test_that_is_cut_short_may_stay_undecided,
        tests_that_decide_nothing_have_a_length,
        earlier_tests_with_the_book_and_the_clock_tell_the_pairs,
        only_those_who_may_submit_may_check,
        limits_are_those_of_a_submission,
        a_user_has_one_check_or_submission_at_a_time,
        a_check_leaves_no_file_no_object_and_no_row,
        the_form_comes_back_with_what_was_typed_and_the_figures,
        a_wrong_field_is_marked_and_a_file_comes_back_as_text)
finally:
    server.close()
