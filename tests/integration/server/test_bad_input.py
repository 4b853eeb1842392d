#!/usr/bin/python3
# test: sanitized only
"""Bad input, item by item, against a real server: the status fits, the code is stable, the message names the thing and what to
do, and nothing is lost: not a row, not what was typed into a form, not the server."""

import base64
import html
import json
import pathlib
import random
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from patches import demo, with_line  # noqa: E402
from played import played_batch, post_batch  # noqa: E402
from protocol import batch, changed, claim, games_body, put_games  # noqa: E402
from server import ADMIN, PASSWORD, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from tiny_engine import MUTE, server_with_engine  # noqa: E402
from worker import Worker  # noqa: E402

server = dev = None
BATCH = 4
GOOD = {"title": "A title that I typed", "tc": "nodes=1000"}


def rows():
    """Of every table that a refused request could touch, and what stands in the tests."""
    tables = ("users", "sessions", "api_tokens", "engines", "commits", "books", "tests", "workers", "tasks", "returned_pairs",
              "batches", "games", "failures", "benches", "events", "blobs")
    counts = {table: sql(server, f"SELECT count(*) FROM {table}")[0][0] for table in tables}
    return counts, sql(server, "SELECT * FROM tests"), sql(server, "SELECT id, state, next_seq, started_pairs FROM tasks")


class nothing_changes:
    """Around requests that are refused."""

    def __enter__(self):
        self.before = rows()

    def __exit__(self, kind, *_):
        if not kind:
            equal(rows(), self.before, "rows")


def refused(reply, status, code, *words, field=None):
    equal((reply.status, reply.code), (status, code), reply)
    error = reply.json["error"]
    for word in words:
        contains(error["message"], word)
    if field is not None:
        equal(error["field"], field)


def submit(**fields):
    return dev.api("POST", "/tests", {**GOOD, **fields})


def hunk(**changes):
    """A patch of which lines were changed after it was made."""
    text = with_line("main.c", "// new")
    for old, new in changes.values():
        true(old in text, old)
        text = text.replace(old, new)
    return text


# ---- patches -----------------------------------------------------------------------------------------------------------------


def a_patch_that_is_no_diff_is_refused():
    with nothing_changes():
        refused(submit(patch="please make it stronger"), 422, "patch_not_a_diff", "diff", field="patch")
        refused(submit(patch="--- a/main.c\n+++ b/main.c\n"), 422, "patch_malformed", "line 1", "@@", field="patch")
        refused(submit(patch=""), 422, "missing_field", "git diff", field="patch")


def a_patch_that_does_not_apply_is_refused_by_file_hunk_and_line():
    first = (pathlib.Path(__file__).resolve().parents[3] / "engine" / "main.c").read_text().splitlines()[0]
    with nothing_changes():
        reply = submit(patch=hunk(line=(" " + first, " a line that is not there")))
        refused(reply, 422, "patch_does_not_apply", "main.c", "hunk 1", "line 1", field="patch")
        reply = submit(patch=hunk(name=("main.c", "no_such_file.c")))
        refused(reply, 422, "patch_does_not_apply", "no_such_file.c", field="patch")


def a_patch_that_leads_out_of_the_tree_is_refused():
    with nothing_changes():
        for path in ("../outside.c", "/etc/passwd", "a/../../outside.c", ".git/hooks/post-update"):
            reply = submit(patch=f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
                                 "@@ -0,0 +1 @@\n+x\n")
            equal((reply.status, reply.json["error"]["field"]), (422, "patch"), f"{path}: {reply}")
            contains(reply.json["error"]["message"], path)
        link = "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
        refused(submit(patch=link), 422, "patch_mode", "x", "line 1", field="patch")


def a_patch_of_more_than_a_megabyte_is_refused():
    lines = "".join(f"+// line {i} of very many\n" for i in range(50000))
    huge = f"--- /dev/null\n+++ b/huge.c\n@@ -0,0 +1,50000 @@\n{lines}"
    true(len(huge) > 1 << 20, "over 1 MB")
    with nothing_changes():
        equal(submit(patch=huge).status, 413)
        equal(submit(patch=huge).json["error"]["field"], "patch")
        equal(submit(patch=huge * 4).status, 413)


# ---- forms -------------------------------------------------------------------------------------------------------------------


def binary_data_that_ends_too_early_is_refused():
    data = zlib.compress(random.Random(1).randbytes(40))[:32]
    line = chr(ord("a") + len(data) - 27)  # git's word for its length
    patch = (f"diff --git a/new.bin b/new.bin\nnew file mode 100644\nindex {'0' * 40}..{'1' * 40}\nGIT binary patch\nliteral 40\n"
             f"{line}{base64.b85encode(data).decode()}\n\nliteral 0\nHcmV?d00001\n\n")
    with nothing_changes():
        refused(submit(patch=patch), 422, "patch_does_not_apply", "new.bin", "damaged", field="patch")


def a_missing_field_is_named():
    with nothing_changes():
        refused(dev.api("POST", "/tests", {"patch": hunk()}), 422, "missing_field", "title", field="title")
        refused(submit(), 422, "missing_field", "patch", field="patch")


def an_absurd_field_is_named_with_what_it_may_be():
    with nothing_changes():
        for field, value, *words in (
                ("tc", "a while", "10+0.1"), ("tc", "-1+0", "10+0.1"), ("tc", "1e9+0"), ("threads", 0, "1"), ("threads", 99999),
                ("elo0", "nan"), ("elo1", 1e9), ("alpha", 0.9), ("beta", -1), ("workload", "guess", "sprt|fixed|width"), ("priority", 10 ** 9),
                ("bench", -5), ("bench", "many"), ("pairs_max", 0), ("batch_pairs", 10 ** 6), ("model", "bayes"),
                ("title", "x" * 1000), ("new_options", "Hash"), ("book", "no such book"), ("base", "no-such-branch"),
                ("engine", "deep thought"), ("variant", "checkers"), ("seed", 7)):
            reply = submit(**{"patch": demo("take-away-history"), field: value})
            equal((reply.status, reply.json["error"]["field"]), (422, field), f"{field}={value}: {reply}")
            for word in (field if field not in ("tc",) else "time control", *words):
                contains(reply.json["error"]["message"].lower(), word)
        reply = submit(patch=demo("take-away-history"), elo0=5, elo1=2)
        refused(reply, 422, "bad_field", "elo1", "elo0", field="elo1")


def a_refused_form_comes_back_with_all_that_was_typed():
    author = server.client("dev")
    typed = {"title": 'Kings & "queens" <b>', "description": "Line one\nline two", "tc": "7+0.07", "elo0": "0.25", "elo1": "1.75",
             "new_options": "Hash=32", "patch": "no diff at all, but <typed>"}
    with nothing_changes():
        reply = author.form("/tests/new", typed)
        equal(reply.status, 422)
        page = html.unescape(reply.text)
        for value in typed.values():
            contains(page.replace("\r", ""), value)
        true("<typed>" not in reply.text and '"queens" <b>' not in reply.text, "escaped")
        contains(page, "diff")
        reply = author.form("/tests/new", {**typed, "patch": demo("take-away-history"), "tc": "soon"})
        equal(reply.status, 422)
        contains(html.unescape(reply.text), 'Subject: Try quiet moves in the order in which they come')


# ---- JSON --------------------------------------------------------------------------------------------------------------------


def malformed_json_is_refused_by_line_and_column():
    with nothing_changes():
        for path in ("/tests", "/login", "/workers"):
            reply = dev.request("POST", "/api/v1" + path, b'{"title": "x",\n "tc" 5}', {"Content-Type": "application/json"})
            refused(reply, 400, "bad_json", "line 2", "column")


def json_that_is_too_large_is_refused():
    with nothing_changes():
        body = json.dumps({"name": "x" * 5_000_000}).encode()
        for path in ("/tests", "/login", "/workers"):
            equal(dev.request("POST", "/api/v1" + path, body, {"Content-Type": "application/json"}).status, 413)
        deep = b"[" * 100_000
        equal(dev.request("POST", "/api/v1/tests", deep, {"Content-Type": "application/json"}).status, 400)


def json_of_the_wrong_shape_is_refused_by_member():
    with nothing_changes():
        for body in ([], "text", 5, None):
            reply = dev.request("POST", "/api/v1/tests", json.dumps(body).encode(), {"Content-Type": "application/json"})
            true(reply.status in (400, 422), reply)
        refused(submit(colour="red", patch="x"), 422, "bad_request", "colour", field="colour")
        refused(submit(title=["a", "b"], patch="x"), 422, "bad_field", "title", field="title")
        refused(dev.request("POST", "/api/v1/tests", b'{"title": "a", "title": "b"}'), 400, "bad_json", "title")


# ---- batches -----------------------------------------------------------------------------------------------------------------


def batches_that_contradict_themselves_or_their_task_are_refused():
    worker, other = server.worker(key="first-" + "k" * 30), server.worker(key="second-" + "k" * 30)
    task = claim(worker).json
    path, good = f"/tasks/{task['id']}/batches", played_batch(worker, task, 0, "2134")
    with nothing_changes():
        for change, code, field in (
                ({"wins": good["result"]["wins"] + 1}, "bad_counts", "draws"), ({"wins": 0, "losses": 0, "draws": 8}, "bad_counts", "wins"),
                ({"outcomes": "21345"}, "bad_counts", "outcomes"), ({"outcomes": "21x4"}, "bad_counts", "outcomes"),
                ({"wins": -1}, "bad_counts", "wins"), ({"crashes": 9}, "bad_counts", "crashes"),
                ({"wins": 1 << 62}, "bad_counts", "wins"), ({"speed": -1}, "bad_speed", "speed"), ({"tc": "1000+99"}, "bad_clock", "tc"),
                ({"busy": 1.5}, "bad_request", "busy"), ({"seq": -1}, "bad_request", "seq")):
            refused(worker.api("POST", path, changed(good, change)), 422, code, field=field)
        without = {name: value for name, value in good["result"].items() if name != "crashes"}
        for result in ({}, "2134", ["2134"], without, {**good["result"], "nodes": 1}, {**good["result"], "outcomes": 2134}):
            refused(worker.api("POST", path, {**good, "result": result}), 422, "bad_request", field="result")
        refused(other.api("POST", path, good), 403, "not_your_task")
        refused(put_games(other, task["id"], 0, games_body(0, BATCH)), 403, "not_your_task")
        refused(worker.api("POST", path, {**good, "games_sha256": None}), 422, "bad_request", "only with its games", field="games_sha256")
        refused(worker.api("POST", "/tasks/987654/batches", good), 404, "no_such_task", "987654")
        refused(worker.api("POST", path, {**good, "seq": 1}), 409, "seq_gap", "batch 0")
        refused(server.client().api("POST", path, good), 401, "bad_token")
    equal(worker.api("POST", path, good).json["counted"], True)
    with nothing_changes():
        refused(worker.api("POST", path, batch(0, "4444")), 409, "batch_conflict", "0", field="seq")
        equal(worker.api("POST", path, good).json["repeat"], True)


def a_batch_after_the_end_is_kept_and_changes_nothing():
    worker = server.worker(key="late-" + "k" * 30)
    task = claim(worker).json
    test = task["test"]["id"]
    admin = server.client(ADMIN)
    equal(admin.api("POST", f"/tests/{test}/stop").status, 200)
    before = sql(server, "SELECT * FROM tests WHERE id = ?", test)
    reply = post_batch(worker, task, 0, "4444").json
    equal((reply["stored"], reply["counted"], reply["continue"], reply["why"]), (True, False, False, "finished"))
    equal(sql(server, "SELECT * FROM tests WHERE id = ?", test), before)
    equal(sql(server, "SELECT games FROM workers WHERE id = ?", worker.worker), [(2 * BATCH,)], "credited")


# ---- addresses, passwords ----------------------------------------------------------------------------------------------------


def unknown_addresses_and_methods_are_told_apart():
    with nothing_changes():
        refused(dev.api("GET", "/nothing"), 404, "not_found", "/nothing")
        refused(dev.api("DELETE", "/tests/1"), 405, "method_not_allowed", "GET")
        refused(dev.api("POST", "/tests/987654/stop"), 404, "no_such_test", "987654")
        page = dev.get("/no/such/page")
        equal(page.status, 404)
        contains(page.text, "/no/such/page")
        contains(page.headers["Content-Type"], "text/html")


def after_ten_wrong_passwords_the_sender_waits_and_other_people_do_not():
    server.add_user("forgetful")
    for _ in range(10):
        refused(server.client().login("forgetful", "not this one"), 401, "wrong_password")
    with nothing_changes():
        reply = server.client().login("forgetful", PASSWORD)
        refused(reply, 429, "too_many_attempts")
        true(int(reply.headers["Retry-After"]) > 0, "Retry-After")
    equal(server.client().login().status, 200, "another account")
    sql(server, "UPDATE login_failures SET last = last - 60")
    equal(server.client().login("forgetful", PASSWORD).status, 200, "later")


def after_all_of_that_good_requests_go_through():
    equal(submit(patch=demo("take-away-history")).status, 201)
    contains(server.command("check", server.data), "database: sound")


# ---- engines -----------------------------------------------------------------------------------------------------------------

def an_engine_that_never_answers_uci_ends_its_test_with_that_word():
    with server_with_engine(MUTE) as mute:
        test = add_test(mute, tc="nodes=100")
        mute.start()
        with Worker(mute, "--concurrency", "1") as worker:
            wait_until(lambda: sql(mute, "SELECT result FROM tests") == [("failed",)], 60)
            reason, units = sql(mute, "SELECT reason, units_counted FROM tests WHERE id = ?", test)[0]
            equal(units, 0)
            contains(reason, "uci")
            worker.signal()
            equal(worker.wait(), 0)
            equal(worker.nothing_left(), [])


def main():
    global server, dev
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = write_plain_book(pathlib.Path(folder) / "book.epd")
        server = Server(init_options=["--book", str(book)], start=False)
    with server:
        add_test(server, workload="fixed", batch_pairs=BATCH)
        server.add_user("dev", "developer")
        server.start()
        dev = server.client("dev")
        run(*(test for name, test in globals().items()
              if callable(test) and getattr(test, "__module__", "") == "__main__" and not isinstance(test, type)
              and test.__code__.co_varnames[:test.__code__.co_argcount] == () and not test.__code__.co_flags & 0x0c
              and name not in ("main", "rows")))


if __name__ == "__main__":
    main()
