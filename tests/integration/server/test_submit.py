#!/usr/bin/python3
# test: sanitized only
"""From a patch to a merge over HTTP: submitting by form and API, every refusal, approval, changes, merging."""

import concurrent.futures
import json
import pathlib
import random
import re
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import MATCHES
from server import ROOT, Client
from submission import ABSURD_FIELDS, accept, bare, database, git, patch, row, submission_server
from tap import contains, equal, run, true

server = submission_server()
dev, boss, vera, joe = (server.client(name) for name in ("dev", "boss", "vera", "joe"))
EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server/API.md").read_text(), re.S)}
FIELDS = {"title": "Reduce later", "tc": "1+0.01", "bench": 1234567}


def submit(client=dev, name="git_diff", **fields):
    document = {**FIELDS, "patch": patch(name).decode(), **fields}
    return client.api("POST", "/tests", {k: v for k, v in document.items() if v is not ...})


def new_test(**fields):
    reply = submit(**fields)
    equal(reply.status, 201, reply)
    return reply.json["id"]


def test_row(test):
    return row(server, f"SELECT * FROM {MATCHES} WHERE id = ?", test)


def parameters(test):
    return json.loads(test["parameters"])


def refused(reply, status, field, *words):
    equal(reply.status, status, reply)
    equal(reply.json["error"]["field"], field)
    for word in words:
        contains(reply.json["error"]["message"], word)


def multipart(fields):
    boundary = "PatchmateBoundary"
    parts = []
    for name, value in fields.items():
        extra = '; filename="x.patch"\r\nContent-Type: application/octet-stream' if isinstance(value, bytes) else ""
        data = value if isinstance(value, bytes) else str(value).encode()
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n'.encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def same_shape(got, example):
    """The same members of the same types, all the way down."""
    equal(type(got), type(example), f"{got!r} beside {example!r}")
    if isinstance(example, dict):
        equal(set(got), set(example))
        for name in example:
            same_shape(got[name], example[name])


# ---- submitting

def the_server_behaves_as_the_examples_of_the_documentation_say():
    reply = dev.api("POST", "/tests", EXAMPLES["tests.request"])
    equal(reply.status, 201, reply)
    same_shape(reply.json, EXAMPLES["submit.reply"])
    test = reply.json["id"]
    same_shape(Client(server).get(f"/api/v1/tests/{test}/diff").json, EXAMPLES["diff.reply"])
    equal(dev.api("POST", f"/tests/{test}/modify", EXAMPLES["modify.request"]).status, 200)
    equal(boss.api("POST", f"/tests/{test}/approve", EXAMPLES["approve.request"]).code, "changed")
    same_shape(boss.api("POST", f"/tests/{test}/approve").json, EXAMPLES["approve.reply"])


def a_patch_over_the_api_becomes_a_pending_test_and_a_commit():
    reply = submit()
    equal(reply.status, 201, reply)
    test = test_row(reply.json["id"])
    equal(reply.json["url"], f"/tests/{test['id']}")
    equal((test["state"], test["workload"], test["batch_pairs"], test["book_id"]), ("pending", "sprt", 16, 1))
    equal(parameters(test), {"alpha": 0.05, "beta": 0.05, "elo0": 0.0, "elo1": 2.0, "model": "normalized"})
    equal(git("rev-parse", f"refs/tests/{test['id']}", cwd=bare(server)).strip(), test["new_commit"])
    equal(git("rev-parse", f"{test['new_commit']}^", cwd=bare(server)).strip(), test["base_commit"])
    message = git("log", "-1", "--format=%an|%B", test["new_commit"], cwd=bare(server))
    contains(message, "dev|Reduce later\n\nBench: 1234567")
    commit = row(server, "SELECT * FROM known_commits WHERE sha = ?", test["new_commit"])
    equal((commit["bench"], test["new_bench_declared"]), (None, 1234567), "what is declared is the test's alone")
    blob = server.data / "blobs" / commit["snapshot"][:2] / commit["snapshot"]
    true(not blob.exists(), "no worker may build it yet")
    equal(row(server, "SELECT message FROM events WHERE type = 'submitted' AND test_id = ?", test["id"])["message"], "Reduce later")


def a_pasted_patch_in_the_form_becomes_a_test_and_a_redirect():
    text = patch().decode().replace("\n", "\r\n")
    reply = dev.form("/tests/new", {"title": "By form", "patch": text, "tc": "10+0.1", "resign_count": "0"})
    equal(reply.status, 303, reply)
    test = test_row(int(reply.headers["Location"].rsplit("/", 1)[1]))
    equal(test["title"], "By form")
    contains(test["adjudication"], '"resign_count":0')


def a_file_upload_beats_the_empty_text_field():
    body, kind = multipart({"csrf": dev.csrf, "title": "By file", "patch": "", "patch_file": patch("mails")})
    reply = dev.request("POST", "/tests/new", body, kind)
    equal(reply.status, 303, reply)
    test = test_row(int(reply.headers["Location"].rsplit("/", 1)[1]))
    log = git("log", "--format=%an %s", f"{test['base_commit']}..{test['new_commit']}", cwd=bare(server))
    equal(len(log.splitlines()), 2)
    contains(log, "Jürgen Müller Add one")
    equal(test["new_bench_declared"], 2222222)


def a_title_left_out_is_the_mails_subject():
    test = new_test(name="mails", title=..., bench=...)
    equal(test_row(test)["title"], "Add one")


def options_with_blanks_are_kept_in_quotes():
    test = test_row(new_test(new_options='"Move  Overhead=10"   Hash=1', base_options={"Move Overhead": 10, "Clear": True}))
    equal((test["new_options"], test["base_options"]), ('"Move Overhead"=10 Hash=1', '"Move Overhead"=10 Clear=true'))


def a_preset_fills_the_fields_that_the_request_leaves_out():
    test = test_row(new_test(preset="LTC", tc=...))
    equal((test["tc"], parameters(test)["elo0"], parameters(test)["elo1"], test["new_options"]), ("60+0.6", 0.5, 2.5, "Hash=64"))
    test = test_row(new_test(preset="Fixed games", tc="10+0.1", games=1001))
    equal((test["workload"], test["parameters"], test["pairs_max"]), ("fixed", "{}", 512))


def a_workload_keeps_its_own_parameters_and_no_others():
    everything = {"elo0": 1, "elo1": 3, "model": "logistic", "alpha": 0.1, "beta": 0.1, "error": 2, "unit": "normalized"}
    bounds = {name: everything[name] for name in ("elo0", "elo1", "model", "alpha", "beta")}
    for workload, wanted, pairs in (("sprt", bounds, 400000), ("fixed", {}, 10000), ("width", {"error": 2, "unit": "normalized"}, 400000)):
        test = test_row(new_test(workload=workload, **everything))
        equal((test["workload"], parameters(test), test["pairs_max"]), (workload, wanted, pairs))
    equal(parameters(test_row(new_test(workload="sprt", error=200, preset="Fixed games"))), parameters(test_row(new_test())))
    equal(parameters(test_row(new_test(workload="width"))), {"error": 3.0, "unit": "logistic"})


def a_base_may_be_another_tests_commit():
    first = test_row(new_test())
    equal(boss.api("POST", f"/tests/{first['id']}/approve").status, 200)
    reply = submit(base=f"test:{first['id']}")
    refused(reply, 422, "patch", "search.c, hunk 1: line 5 differs", "the base has '    if (depth < 4)'")
    second = test_row(new_test(name="diff_u_deep", base=f"test:{first['id']}", bench=...))
    equal(second["base_commit"], first["new_commit"])


def a_fetched_branch_can_be_named():
    tree = server.folder / "fork"
    git("clone", "-q", bare(server), tree)
    (tree / "notes.txt").write_text("more\n")
    git("commit", "-qam", "Notes\n\nBench: 777", cwd=tree)
    git("push", "-q", ".", "HEAD:refs/heads/idea", cwd=tree)
    contains(server.command("engine", "fetch", server.data, tree, "idea"), "idea is now at ")
    test = test_row(new_test(patch=..., commit="idea", title=..., bench=...))
    equal(test["title"], "Notes")
    equal(test["new_bench_declared"], 777)
    refused(submit(patch=..., commit="no-such"), 422, "commit", "no-such", "7 to 40 hex digits")


def submissions_of_several_users_at_once_are_as_many_tests():
    people = [server.client(name) for name in ("dev", "boss", "vera", "root")]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda c: submit(c), people))
    equal({reply.status for reply in replies}, {201})
    ids = {reply.json["id"] for reply in replies}
    equal(len(ids), 4)
    for test in ids:
        equal(git("rev-parse", f"refs/tests/{test}", cwd=bare(server)).strip(), test_row(test)["new_commit"])


# ---- refusals

def every_absurd_field_is_named():
    for field, value, word in ABSURD_FIELDS:
        reply = submit(**{field: value})
        wanted = "elo1" if field == "elo0" else field
        refused(reply, 422, wanted, word)


def missing_and_superfluous_fields_are_named():
    refused(submit(patch=...), 422, "patch", "is missing")
    refused(submit(title=...), 422, "title", "is missing")
    refused(submit(commit="main"), 422, "patch", "not several")
    refused(submit(colour="red"), 422, "colour", "no such field")
    refused(submit(title={"a": 1}), 422, "title", "text or a number")


def bad_patches_are_named_and_leave_no_test():
    before = row(server, "SELECT count(*) AS n FROM tests")["n"]
    refused(submit(patch="Make it stronger"), 422, "patch", "no diff")
    refused(submit(name="refused_symlink"), 422, "patch", "link")
    refused(submit(name="refused_path_outside"), 422, "patch", "outside")
    refused(submit(name="refused_differs"), 422, "patch", "search.c, hunk 2: line 19 differs")
    refused(submit(patch=patch().decode() + "# x\n" * 270000), 413, "patch", "1 MB")
    equal(row(server, "SELECT count(*) AS n FROM tests")["n"], before)


def bodies_that_are_no_json_are_refused():
    reply = dev.request("POST", "/api/v1/tests", b"{", {"Content-Type": "application/json"})
    equal((reply.status, reply.code), (400, "bad_json"))
    reply = dev.request("POST", "/api/v1/tests", b"[]", {"Content-Type": "application/json"})
    equal(reply.status, 422)
    reply = dev.request("POST", "/api/v1/tests", b'"' + b"x" * (4 << 20) + b'"', {"Content-Type": "application/json"})
    equal(reply.status, 413)


def a_submit_token_of_maintainer_or_admin_submits_and_does_no_more():
    for name in ("vera", "root"):
        person = server.client(name)
        token = person.api("POST", "/tokens", {"name": "script", "scope": "submit"}).json["token"]
        script = Client(server, token=token)
        reply = script.api("POST", "/tests", {"title": f"by {name}'s token", "patch": patch().decode()})
        equal(reply.status, 201, reply)
        theirs = server.client("dev").api("POST", "/tests", {"title": "another's", "patch": patch().decode()}).json["id"]
        equal(script.api("POST", f"/tests/{theirs}/approve").status, 403, f"approving with {name}'s token")


def only_developers_submit_unless_the_operator_opens_it():
    equal(submit(joe).status, 403)
    equal(Client(server).api("POST", "/tests", {}).status, 401)
    server.command("set", server.data, "submit", "open")
    for _ in range(3):
        equal(submit(joe).status, 201)
    equal(submit(joe).code, "too_many_pending", "of an account without a role")
    equal(submit(dev).status, 201)
    server.command("set", server.data, "submit", "developers")


def an_account_without_a_role_asks_for_it_and_submits_its_first_test():
    server.add_user("nina")
    nina, ask = server.client("nina"), "<button class=\"primary\">Ask for the role developer of "
    for page in ("/", "/tests/new", "/roles"):
        contains(nina.get(page).text, ask)
    equal(ask in dev.get("/").text, False, "a developer is not asked")
    reply = nina.form("/roles", {"engine": "anvil", "text": ""})
    equal(reply.status, 422)
    contains(reply.text, "Not accepted.")
    equal(nina.form("/roles", {"engine": "anvil", "text": "I write <b>Rook</b>"}).status, 303)
    contains(nina.get("/").words, "You asked for the role developer of")
    contains(boss.get("/").text, "Roles (1)")
    equal("Roles (" in dev.get("/").text, False)
    contains(boss.get("/roles").text, "I write &lt;b&gt;Rook&lt;/b&gt;")
    (item,) = boss.api("GET", "/roles").json["items"]
    equal((item["user"], item["engine"]), ("nina", "anvil"))
    equal(dev.api("GET", "/roles").json["items"], [])
    equal(dev.api("POST", f"/roles/{item['id']}/give").status, 403)
    equal(nina.form(f"/roles/{item['id']}/give", {}).status, 403)
    equal(boss.form(f"/roles/{item['id']}/give", {"csrf": "x" * 43}, {"X-CSRF-Token": "x"}).status, 403)
    equal(boss.form(f"/roles/{item['id']}/give", {}).status, 303)
    equal(submit(nina).status, 201)
    contains([event["message"] for event in boss.api("GET", "/events?type=user").json["items"]], "nina is now developer of anvil")


def a_declined_account_is_told_when_it_may_ask_again():
    server.add_user("olga")
    olga, ask = server.client("olga"), "Ask for the role developer of "
    equal(olga.api("POST", "/roles", {"text": "please"}).status, 201)
    (item,) = boss.api("GET", "/roles").json["items"]
    equal(boss.form(f"/roles/{item['id']}/decline", {}).status, 303)
    for page in ("/", "/tests/new", "/roles"):
        text = olga.get(page).text
        contains(text, "may ask again from <time")
        equal(ask in text, False, page)
    equal(olga.api("POST", "/roles", {"text": "please"}).code, "asked_already")
    with database(server) as db:
        db.execute("UPDATE role_requests SET declined = declined - 7 * 86400")
    contains(olga.get("/roles").text, ask)
    equal(olga.api("POST", "/roles", {"text": "please"}).status, 201)


def a_person_alone_is_told_how_to_go_on():
    with database(server) as db:
        db.execute("UPDATE users SET state = 'blocked' WHERE name <> 'boss'")
    own = submit(boss).json["id"]
    for command in ("self_approval 1",):
        contains(boss.get(f"/tests/{own}").words, f"server set DATA {command}")
    with database(server) as db:
        db.execute("UPDATE users SET state = 'active'")
    equal("server set DATA" in boss.get(f"/tests/{own}").text, False)


def a_declared_bench_is_that_of_its_test_alone():
    first = test_row(new_test(patch=..., commit="idea", bench=...))
    second = test_row(new_test(patch=..., commit="idea", bench=2000, base_bench=3000))
    equal([test["new_bench_declared"] for test in (first, second)], [777, 2000])
    equal([dev.api("GET", f"/tests/{test['id']}").json["new"]["bench"] for test in (first, second)], [777, 2000])
    equal(dev.api("GET", f"/tests/{first['id']}").json["base"]["bench"], None, "the base of others")
    equal(row(server, "SELECT count(bench) AS known FROM known_commits"), {"known": 0})


# ---- approving and changing

def a_maintainer_approves_but_not_his_own():
    test = new_test()
    equal(dev.api("POST", f"/tests/{test}/approve").status, 403)
    reply = boss.api("POST", f"/tests/{test}/approve", {"hash": "0" * 64})
    equal((reply.status, reply.code), (409, "changed"))
    reply = boss.api("POST", f"/tests/{test}/approve")
    equal((reply.status, reply.json["state"]), (200, "active"), reply)
    equal(len(test_row(test)["approved_hash"]), 64)
    equal(boss.api("POST", f"/tests/{test}/approve").status, 409)
    own = submit(boss).json["id"]
    equal(boss.api("POST", f"/tests/{own}/approve").code, "own_test")
    equal(boss.api("GET", f"/tests/{own}").json["actions"]["approve"]["ok"], False)
    server.command("set", server.data, "self_approval", "1")
    equal(boss.api("GET", f"/tests/{own}").json["actions"]["approve"]["ok"], True)
    equal(boss.api("POST", f"/tests/{own}/approve").status, 200)
    server.command("set", server.data, "self_approval", "0")


def forms_of_the_page_do_the_same_and_lead_back():
    test = new_test()
    for action, state in (("approve", "active"), ("pause", "paused"), ("resume", "active"), ("stop", "finished")):
        reply = boss.form(f"/tests/{test}/{action}", {})
        equal((reply.status, reply.headers["Location"]), (303, f"/tests/{test}"), reply)
        equal(test_row(test)["state"], state)
    equal(boss.form("/tests/99999/stop", {}).status, 404)


def the_author_stops_and_others_do_not():
    test = new_test()
    equal(joe.api("POST", f"/tests/{test}/stop").status, 403)
    reply = dev.api("POST", f"/tests/{test}/stop", {"reason": "a typo"})
    equal((reply.status, reply.json["state"]), (200, "finished"))
    equal(test_row(test)["reason"], "a typo")
    equal(dev.api("POST", f"/tests/{test}/pause").status, 409)


def a_change_of_the_code_that_runs_withdraws_the_approval_and_a_priority_does_not():
    test = new_test()
    boss.api("POST", f"/tests/{test}/approve")
    before = test_row(test)["approved_hash"]
    reply = boss.api("POST", f"/tests/{test}/modify", {"priority": 3})
    equal((reply.status, reply.json["state"]), (200, "active"), reply)
    reply = dev.api("POST", f"/tests/{test}/modify", {"title": "Better words"})
    equal((reply.status, reply.json["state"]), (200, "active"), reply)
    reply = dev.api("POST", f"/tests/{test}/modify", {"new_options": "Hash=32"})
    equal((reply.status, reply.json["state"]), (200, "pending"), reply)
    boss.api("POST", f"/tests/{test}/approve")
    true(test_row(test)["approved_hash"] != before, "the hash covers the options")
    equal((test_row(test)["title"], test_row(test)["priority"]), ("Better words", 3))


def the_server_draws_the_seed_at_the_first_approval_and_keeps_it():
    reply = dev.form("/tests/new", {**FIELDS, "patch": patch("git_diff").decode(), "seed": "7"})
    contains(reply.words, "the server draws it at the first approval")
    test, other = new_test(), new_test()
    refused(dev.api("POST", f"/tests/{test}/modify", {"seed": 7}), 422, "seed", "the server draws it")
    document = boss.api("GET", f"/tests/{test}").json
    equal(document["settings"]["seed"], None, "there is nothing to foresee before the approval")
    contains(boss.get(f"/tests/{test}").words, "drawn at the first approval")
    hashed = document["approval_hash"]
    for one in test, other:
        equal(boss.api("POST", f"/tests/{one}/approve").status, 200)
    seed = test_row(test)["seed"]
    true(0 <= seed < 2 ** 53 and seed != test_row(other)["seed"], "each test has a seed of its own")
    equal(boss.api("GET", f"/tests/{test}").json["settings"]["seed"], seed)
    equal(test_row(test)["approved_hash"], hashed, "the approval that was shown without a seed is the one that was given")
    for _ in range(2):  # an author who dislikes the order gets no other by a change
        equal(dev.api("POST", f"/tests/{test}/modify", {"new_options": f"Hash={random.randrange(2, 999)}"}).json["state"], "pending")
        equal(test_row(test)["seed"], seed)
        equal(boss.api("POST", f"/tests/{test}/approve").status, 200)
        equal(test_row(test)["seed"], seed, "later approvals keep the seed")


def a_book_that_is_too_short_is_told_at_once_and_to_the_approver():
    refused(submit(tc="nodes=1000"), 422, "book", "it has 2 openings, fewer than a batch of 16 pairs")
    equal(submit(tc="nodes=1000", threads=2).status, 201, "with two threads games differ")
    reply = submit(tc="nodes=1000", batch_pairs=2)
    equal(reply.status, 201, reply)
    contains(" ".join(reply.json["warnings"]), "The book has 2 openings, and the test is expected to need")
    contains(" ".join(reply.json["warnings"]), "it will end without its result when the book is spent")
    test = reply.json["id"]
    document = boss.api("GET", f"/tests/{test}").json
    equal(document["book_warning"], reply.json["warnings"][0])
    contains(document["book_note"], "The test ends after 2 pairs, when its book is spent")
    for words in document["book_warning"], document["book_note"]:
        contains(boss.get(f"/tests/{test}").words, words)
    refused(dev.api("POST", f"/tests/{test}/modify", {"batch_pairs": 4}), 422, "book", "fewer than a batch of 4 pairs")
    timed = submit()
    contains(" ".join(timed.json["warnings"]), "openings will be played again")
    document = boss.api("GET", f"/tests/{timed.json['id']}").json
    equal(document["book_note"], None)
    with database(server) as db:
        db.execute("UPDATE tests SET next_pair = 5 WHERE id = ?", (timed.json["id"],))
    contains(boss.api("GET", f"/tests/{timed.json['id']}").json["book_note"], "so the book is played again, now for time number 3.")
    enough = submit(tc="nodes=1000", batch_pairs=1, workload="fixed", games=4, elo0=..., elo1=...)
    equal((enough.status, [words for words in enough.json["warnings"] if "book" in words]), (201, []), enough)


def another_size_of_batches_rounds_the_pairs_again():
    test = new_test(batch_pairs=16, pairs_max=32)
    equal(dev.api("POST", f"/tests/{test}/modify", {"batch_pairs": 5}).status, 200)
    equal((test_row(test)["batch_pairs"], test_row(test)["pairs_max"]), (5, 35))


def modify_refuses_what_would_mix_results():
    test = new_test()
    with database(server) as db:
        db.execute("UPDATE tests SET units_counted = 1, next_pair = 16 WHERE id = ?", (test,))
        db.execute("INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, received) "
                   "VALUES (?, 1, 1, 0, 1, '{}', '1+0.01', 1, 0, 1)", (test,))
    refused(dev.api("POST", f"/tests/{test}/modify", {"tc": "5+0.05"}), 409, "tc", "submit a new one")
    refused(dev.api("POST", f"/tests/{test}/modify", {"base": "main"}), 422, "base", "submit a new test")
    refused(dev.api("POST", f"/tests/{test}/modify", {"priority": "high"}), 422, "priority", "whole number")
    equal(joe.api("POST", f"/tests/{test}/modify", {"priority": 1}).status, 403)
    equal(dev.api("POST", f"/tests/{test}/modify", {"games": 100}).status, 200)
    equal(test_row(test)["pairs_max"], 64)
    with database(server) as db:
        db.execute("UPDATE tests SET units_counted = 32 WHERE id = ?", (test,))
    refused(dev.api("POST", f"/tests/{test}/modify", {"pairs_max": 32}), 422, "pairs_max", "32 pairs are counted", "stop")
    equal(dev.api("POST", f"/tests/{test}/modify", {"pairs_max": 48}).status, 200)


def a_test_takes_changes_of_its_own_parameters_and_ignores_others():
    test = new_test(workload="width")
    equal(boss.api("POST", f"/tests/{test}/approve").status, 200)
    equal(dev.api("POST", f"/tests/{test}/modify", {"elo0": 1, "elo1": 0, "priority": -1}).json["state"], "active")
    equal((parameters(test_row(test)), test_row(test)["priority"]), ({"error": 3.0, "unit": "logistic"}, -1))
    equal(dev.api("POST", f"/tests/{test}/modify", {"error": 1.5}).json["state"], "pending")
    equal(parameters(test_row(test)), {"error": 1.5, "unit": "logistic"})


def a_book_of_chess960_needs_that_variant():
    book = server.folder / "frc.epd"
    book.write_text("bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1\n")
    server.command("book", "add", server.data, "anvil", "frc", book)
    refused(submit(book="frc"), 422, "book", "Chess960")
    test = new_test()
    refused(dev.api("POST", f"/tests/{test}/modify", {"book": "frc"}), 422, "book", "Chess960")
    equal(dev.api("POST", f"/tests/{test}/modify", {"book": "frc", "variant": "chess960"}).status, 200)
    refused(dev.api("POST", f"/tests/{test}/modify", {"variant": "standard"}), 422, "book", "Chess960")


# ---- diff

def the_diff_has_hunks_and_puts_risky_files_first():
    test = new_test(name="git_diff_new_and_deleted", bench=...)
    document = Client(server).get(f"/api/v1/tests/{test}/diff").json
    paths = [file["path"] for file in document["files"]]
    equal(paths[0], "tools/run.sh")
    equal(document["files"][0]["risk"], ["build file"])
    equal((document["risky"], document["additions"], document["deletions"]), (1, 2, 1))
    test = new_test()
    lines = Client(server).get(f"/api/v1/tests/{test}/diff").json["files"][0]["hunks"][0]["lines"]
    deleted = next(line for line in lines if line["kind"] == "delete")
    equal((deleted["old_no"], deleted["new_no"], deleted["text"]), (5, None, "    if (depth < 3)"))
    equal(Client(server).get("/api/v1/tests/99999/diff").status, 404)


# ---- merging

def only_an_accepted_test_is_merged_and_only_by_a_maintainer():
    test = new_test()
    equal(boss.api("POST", f"/tests/{test}/merge").code, "wrong_state")
    accept(server, test)
    equal(dev.api("POST", f"/tests/{test}/merge").status, 403)


def merging_moves_the_branch_to_the_tested_commit_and_a_clone_shows_it():
    test, other, clash = new_test(), new_test(name="diff_u_deep", bench=...), new_test(name="git_diff_zero_context")
    for each in (test, other, clash):
        accept(server, each)
    reply = boss.api("POST", f"/tests/{test}/merge")
    tested = test_row(test)
    equal((reply.status, reply.json["merged"]), (200, tested["new_commit"]), reply)
    same_shape(reply.json, EXAMPLES["merge.reply"])
    equal(row(server, "SELECT baseline FROM engines")["baseline"], tested["new_commit"])
    clone = server.folder / "after"
    git("clone", "-q", f"{server.url}/git/anvil.git", clone)
    equal(git("rev-parse", "HEAD", cwd=clone).strip(), tested["new_commit"])
    equal(boss.api("POST", f"/tests/{test}/merge").code, "merged")
    # The baseline has moved: another file's patch is offered again, the same lines' one conflicts or is in it.
    reply = boss.api("POST", f"/tests/{other}/merge")
    equal((reply.status, reply.json["retest_of"]), (201, other), reply)
    same_shape(reply.json, EXAMPLES["merge.again"])
    again = test_row(reply.json["id"])
    equal((again["base_commit"], again["state"], again["author_id"]), (tested["new_commit"], "pending", test_row(other)["author_id"]))
    equal(row(server, "SELECT bench FROM known_commits WHERE sha = ?", again["new_commit"])["bench"], None)
    equal(again["seed"], None, "a retest gets an order of the openings of its own, when it is approved")
    equal(boss.api("POST", f"/tests/{other}/merge").code, "offered_again")
    equal(boss.api("POST", f"/tests/{clash}/merge").code, "merged")


def a_patch_that_no_longer_fits_the_baseline_is_a_clear_conflict():
    first = new_test(name="refused_changes_nothing", patch=edit("    if (depth < 4)", "    if (depth < 5)"))
    second = new_test(patch=edit("    if (depth < 4)", "    if (depth < 6)"))
    for each in (first, second):
        accept(server, each)
    equal(boss.api("POST", f"/tests/{first}/merge").status, 200)
    reply = boss.api("POST", f"/tests/{second}/merge")
    equal((reply.status, reply.code), (409, "merge_conflict"), reply)
    contains(reply.json["error"]["message"], "search.c")


def edit(old, new):
    return f"--- a/search.c\n+++ b/search.c\n@@ -5 +5 @@\n-{old}\n+{new}\n"


def references_follow_the_database_after_a_stop_between_the_two():
    baseline = row(server, "SELECT baseline FROM engines")["baseline"]
    server.stop()
    git("update-ref", "refs/heads/main", f"{baseline}^", cwd=bare(server))
    git("update-ref", "refs/tests/99999", baseline, cwd=bare(server))
    git("update-ref", "-d", "refs/tests/1", cwd=bare(server))
    server.start()
    equal(git("rev-parse", "refs/heads/main", cwd=bare(server)).strip(), baseline)
    equal(git("rev-parse", "refs/tests/1", cwd=bare(server)).strip(), test_row(1)["new_commit"])
    equal(git("for-each-ref", "refs/tests/99999", cwd=bare(server)), "")


def references_follow_the_database_when_a_commit_fails():
    before = row(server, "SELECT baseline FROM engines")["baseline"]
    test = new_test(patch=edit("    if (depth < 5)", "    if (depth < 6)"))
    refs = git("for-each-ref", cwd=bare(server))
    accept(server, test)
    # References are small enough for this disk, and the log of the database is not.
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1000, hard))
    equal(boss.api("POST", f"/tests/{test}/merge").status, 503)
    equal(submit(commit=f"test:{test}", patch=..., bench=...).status, 503)
    equal(git("for-each-ref", cwd=bare(server)), refs)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    equal(row(server, "SELECT baseline FROM engines")["baseline"], before)
    equal(boss.api("POST", f"/tests/{test}/merge").status, 200)
    equal(git("rev-parse", "refs/heads/main", cwd=bare(server)).strip(), test_row(test)["new_commit"])


try:
    run(the_server_behaves_as_the_examples_of_the_documentation_say,
        a_patch_over_the_api_becomes_a_pending_test_and_a_commit,
        a_pasted_patch_in_the_form_becomes_a_test_and_a_redirect,
        a_file_upload_beats_the_empty_text_field,
        a_title_left_out_is_the_mails_subject,
        options_with_blanks_are_kept_in_quotes, a_preset_fills_the_fields_that_the_request_leaves_out,
        a_workload_keeps_its_own_parameters_and_no_others,
        a_base_may_be_another_tests_commit,
        a_fetched_branch_can_be_named,
        submissions_of_several_users_at_once_are_as_many_tests,
        every_absurd_field_is_named,
        missing_and_superfluous_fields_are_named,
        bad_patches_are_named_and_leave_no_test,
        bodies_that_are_no_json_are_refused,
        a_submit_token_of_maintainer_or_admin_submits_and_does_no_more,
        only_developers_submit_unless_the_operator_opens_it,
        an_account_without_a_role_asks_for_it_and_submits_its_first_test,
        a_declined_account_is_told_when_it_may_ask_again,
        a_person_alone_is_told_how_to_go_on,
        a_declared_bench_is_that_of_its_test_alone,
        a_maintainer_approves_but_not_his_own,
        forms_of_the_page_do_the_same_and_lead_back,
        the_author_stops_and_others_do_not,
        a_change_of_the_code_that_runs_withdraws_the_approval_and_a_priority_does_not,
        the_server_draws_the_seed_at_the_first_approval_and_keeps_it, a_book_that_is_too_short_is_told_at_once_and_to_the_approver,
        another_size_of_batches_rounds_the_pairs_again,
        modify_refuses_what_would_mix_results,
        a_test_takes_changes_of_its_own_parameters_and_ignores_others,
        a_book_of_chess960_needs_that_variant,
        the_diff_has_hunks_and_puts_risky_files_first,
        only_an_accepted_test_is_merged_and_only_by_a_maintainer,
        merging_moves_the_branch_to_the_tested_commit_and_a_clone_shows_it,
        a_patch_that_no_longer_fits_the_baseline_is_a_clear_conflict,
        references_follow_the_database_after_a_stop_between_the_two,
        references_follow_the_database_when_a_commit_fails)
finally:
    server.close()
