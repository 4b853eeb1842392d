#!/usr/bin/python3
# test: sanitized only
"""What submissions leave on the disk, over real HTTP: no snapshot before an approval, and one that is made again wherever it is gone;
no objects of a test that ended long ago without approval; and a limit for what one person may add in a day."""

import hashlib
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import MATCHES, sql  # noqa: E402
from protocol import claim, side_of  # noqa: E402
from server import Client, wait_until  # noqa: E402
from submission import bare, git, patch, submission_server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

DAY = 86400
server = dev = boss = None


def submit(status=201, client=None, **fields):
    fields = {"title": "A patch", "patch": patch().decode(), "tc": "10+0.1", "bench": 1234567, **fields}
    reply = (client or dev).api("POST", "/tests", {name: value for name, value in fields.items() if value is not ...})
    equal(reply.status, status, reply)
    return reply.json["id"] if status == 201 else reply.json["error"]


def adds(number):
    """A patch that no other test has."""
    return f"--- /dev/null\n+++ b/added{number}.c\n@@ -0,0 +1 @@\n+int added{number};\n"


def act(client, test, action, status=200):
    reply = client.api("POST", f"/tests/{test}/{action}", {})
    equal(reply.status, status, reply)
    return reply


def document(test):
    return Client(server).api("GET", f"/tests/{test}").json


def commit_of(test):
    return sql(server, f"SELECT new_commit FROM {MATCHES} WHERE id = ?", test)[0][0]


def snapshot_of(test, side="new"):
    return document(test)[side]["snapshot"]


def blob(sha):
    return server.data / "blobs" / sha[:2] / sha


def bytes_of_blobs():
    return sum(path.stat().st_size for path in server.data.glob("blobs/??/*"))


def served(sha):
    reply = Client(server).get(f"/api/v1/blobs/{sha}")
    equal(reply.status, 200, reply)
    equal(hashlib.sha256(reply.body).hexdigest(), sha)


# ---- snapshots


def tests_that_are_submitted_and_stopped_leave_no_snapshot():
    before = bytes_of_blobs()
    for number in range(50):
        act(dev, submit(patch=adds(number)), "stop")
    equal(bytes_of_blobs() - before, 0)


def the_snapshot_of_a_test_that_no_worker_builds_can_be_read_and_is_not_stored():
    test = submit()
    sha = snapshot_of(test)
    served(sha)
    equal(blob(sha).exists(), False)


def an_approval_stores_the_snapshots_of_both_sides():
    test = submit()
    act(boss, test, "approve")
    for side in ("new", "base"):
        equal(hashlib.sha256(blob(snapshot_of(test, side)).read_bytes()).hexdigest(), snapshot_of(test, side))
    act(dev, test, "stop")


def a_snapshot_that_is_gone_from_the_disk_is_made_again_if_a_worker_asks():
    test = submit()
    act(boss, test, "approve")
    task = claim(server.worker()).json
    equal(task["test"]["id"], test)
    named = [side_of(task, "new")["snapshot"], side_of(task, "base")["snapshot"], task["scale"]["reference_snapshot"]]
    for sha in named:
        blob(sha).unlink(missing_ok=True)
        served(sha)
        equal(hashlib.sha256(blob(sha).read_bytes()).hexdigest(), sha, "it is stored again")
        served(sha)
    act(dev, test, "stop")


def a_snapshot_that_would_be_another_is_not_served():
    test = submit()
    sha = snapshot_of(test)
    sql(server, "UPDATE commits SET snapshot = ? WHERE sha = ?", "0" * 64, commit_of(test))
    reply = Client(server).get("/api/v1/blobs/" + "0" * 64)
    equal((reply.status, reply.code), (500, "snapshot_differs"), reply)
    contains(reply.json["error"]["message"], f"made again, it has {sha}")
    reply = boss.api("POST", f"/tests/{test}/approve", {})
    equal((reply.status, reply.code), (500, "snapshot_differs"), reply)
    sql(server, "UPDATE commits SET snapshot = ? WHERE sha = ?", sha, commit_of(test))
    act(boss, test, "approve")
    act(dev, test, "stop")


def snapshots_that_no_worker_builds_any_more_are_swept():
    ended, going = submit(), submit(patch=patch("mails").decode(), bench=...)
    for test in (ended, going):
        act(boss, test, "approve")
    act(dev, ended, "stop")
    server.stop()
    for path in server.data.glob("blobs/??/*"):
        os.utime(path, (time.time() - 7200,) * 2)
    server.start()
    wait_until(lambda: not blob(snapshot_of(ended)).exists())
    for sha in (snapshot_of(going), snapshot_of(going, "base")):
        true(blob(sha).exists(), sha)
    served(snapshot_of(ended))
    act(dev, going, "stop")


# ---- the limit of a person


def large(seed):
    """A patch that takes more than a third of a mebibyte when it is compressed."""
    text = "".join(hashlib.sha256(f"{seed} {i}".encode()).hexdigest() + "\n" for i in range(12000))
    lines = "".join(f"+// {line}\n" for line in text.splitlines())
    return f"--- /dev/null\n+++ b/large{seed}.c\n@@ -0,0 +1,12000 @@\n{lines}"


def counted(name="dev"):
    return sql(server, "SELECT coalesce(sum(bytes), 0) FROM submitted_bytes JOIN users u ON u.id = user_id WHERE u.name = ?", name)[0][0]


def size_of_objects():
    return sum(path.stat().st_blocks * 512 for path in bare(server).glob("objects/??/*"))


def the_bytes_of_a_submission_count_even_if_its_test_is_stopped():
    before, on_disk = counted(), size_of_objects()
    test = submit(patch=large("a"))
    added = counted() - before
    true(400000 < size_of_objects() - on_disk <= added < 2000000, (added, size_of_objects() - on_disk))
    act(dev, test, "stop")
    equal(counted() - before, added)
    equal(dev.api("GET", "/account").json["user"]["submitted"], {"bytes": counted(), "bytes_max": 64 << 20})
    contains(dev.get("/account").words, "iB in the last day; the limit is 64.0\xa0MiB")


def refused_until():
    """The refusal, which leaves nothing; and the hour that it must name: when what was written first no longer counts."""
    before = counted(), sql(server, "SELECT count(*) FROM tests"), size_of_objects()
    reply = dev.api("POST", "/tests", {"title": "One more", "patch": large("c"), "tc": "10+0.1"})
    equal((reply.status, reply.code, reply.headers["Retry-After"]), (429, "too_much_submitted", "3600"), reply)
    equal((counted(), sql(server, "SELECT count(*) FROM tests"), size_of_objects()), before)
    first = sql(server, "SELECT min(hour) FROM submitted_bytes JOIN users u ON u.id = user_id WHERE u.name = 'dev'")[0][0]
    contains(reply.json["error"]["message"], "1 MiB are the limit; try again after "
             + time.strftime("%H:%M UTC on %Y-%m-%d", time.gmtime((first + 24) * 3600)))


def a_person_who_adds_more_than_the_limit_in_a_day_is_told_when_it_ends():
    sql(server, "DELETE FROM submitted_bytes")
    server.command("set", server.data, "submit_mib_per_day", 1)
    act(dev, submit(patch=large("first")), "stop")
    # Seven hours ago: this is what no longer counts first, and its bytes are enough.
    sql(server, "UPDATE submitted_bytes SET hour = hour - 7")
    act(dev, submit(patch=large("b")), "stop")
    refused_until()
    act(boss, submit(patch=adds("boss"), client=boss), "stop")


def the_limit_holds_after_a_restart():
    server.kill()
    server.start()
    refused_until()


def after_the_hour_the_next_submission_is_taken():
    sql(server, "UPDATE submitted_bytes SET hour = hour - 17")
    test = submit(patch=large("c"))
    equal(sql(server, "SELECT count(*) FROM submitted_bytes WHERE hour <= ?", time.time() // 3600 - 24), [(0,)], "old rows are removed")
    act(dev, test, "stop")
    server.command("set", server.data, "submit_mib_per_day", 64)
    act(dev, submit(patch=large("d")), "stop")


# ---- patches that were not approved


def has(what):
    return git("cat-file", "-e", what, cwd=bare(server), check=False).returncode == 0


def refs():
    return git("for-each-ref", "--format=%(refname)", "refs/tests", cwd=bare(server)).split()


def dropped():
    return [test for test, in sql(server, "SELECT id FROM tests WHERE patch_dropped IS NOT NULL ORDER BY id")]


def end_ago(days, *tests):
    for test in tests:
        sql(server, "UPDATE tests SET finished = ? WHERE id = ?", time.time() - days * DAY, test)


def start_with_old_objects():
    """Objects that were written a while ago: git leaves alone what is young."""
    if server.process:
        server.stop()
    for path in bare(server).glob("objects/??/*"):
        os.utime(path, (time.time() - 3 * 3600,) * 2)
    server.start()


kept = {}  # tests by what they are, for the sentences below


def a_test_that_was_stopped_long_ago_and_not_approved_loses_its_objects_and_no_other_does():
    for name in ("old", "recent", "approved", "pending", "harmful"):
        kept[name] = submit(patch=adds(name))
        kept[name, "file"] = git("rev-parse", f"{commit_of(kept[name])}:added{name}.c", cwd=bare(server)).strip()
    act(boss, kept["approved"], "approve")
    kept["on top"] = submit(patch=adds("top"), base=f"test:{kept['approved']}")
    for name in ("old", "recent", "approved"):
        act(dev, kept[name], "stop")
    act(boss, kept["harmful"], "harmful")
    end_ago(8, kept["old"], kept["approved"], kept["harmful"])
    end_ago(6, kept["recent"])
    wait_until(lambda: kept["old"] in dropped())
    start_with_old_objects()
    wait_until(lambda: not has(kept["old", "file"]))
    equal(dropped(), [kept["old"]])
    true(f"refs/tests/{kept['old']}" not in refs(), refs())
    equal(has(commit_of(kept["old"])), False)
    for name in ("recent", "approved", "pending", "harmful"):
        contains(refs(), f"refs/tests/{kept[name]}")
        true(has(kept[name, "file"]), name)
    git("fsck", "--strict", cwd=bare(server))
    contains(server.command("check", server.data), "0 differences")


def the_page_and_all_that_would_need_the_patch_say_that_it_is_no_longer_kept():
    test, told = kept["old"], f"no longer keeps the patch of test {kept['old']}"
    page = dev.get(f"/tests/{test}")
    equal(page.status, 200)
    contains(page.words, "The server no longer keeps the patch of this test since")
    true(document(test)["patch_dropped"] > 0, document(test))
    reply = dev.api("GET", f"/tests/{test}/diff")
    equal((reply.status, reply.code), (404, "patch_dropped"), reply)
    contains(reply.json["error"]["message"], told)
    for field in ({"base": f"test:{test}"}, {"commit": f"test:{test}", "patch": ...}):
        error = submit(status=422, **field)
        equal((error["code"], error["field"]), ("patch_dropped", next(iter(field))))
        contains(error["message"], told)
    equal(submit(status=422, commit=commit_of(test), patch=...)["code"], "no_such_commit")
    reply = dev.get(f"/api/v1/blobs/{snapshot_of(test)}")
    equal((reply.status, reply.code), (404, "no_such_blob"), reply)
    form = dev.get(f"/tests/new?like={test}")
    equal(form.status, 200)
    true(commit_of(test) not in form.text, "a commit that is gone")
    contains(dev.get(f"/tests/new?like={kept['recent']}").text, commit_of(kept["recent"]))


def a_patch_that_was_dropped_can_be_submitted_and_approved_again():
    test = submit(patch=adds("old"))
    true(has(kept["old", "file"]), "the same file")
    act(boss, test, "approve")
    start_with_old_objects()
    served(snapshot_of(test))
    act(dev, test, "stop")


def the_days_are_a_setting():
    server.command("set", server.data, "unapproved_days", 5)
    wait_until(lambda: dropped() == sorted([kept["old"], kept["recent"]]))
    start_with_old_objects()
    wait_until(lambda: not has(kept["recent", "file"]))
    server.command("set", server.data, "unapproved_days", 7)


def a_commit_that_another_test_has_as_its_base_is_kept():
    below, above = kept["approved"], kept["on top"]
    act(dev, above, "stop")
    # As if a change had taken the approval back before the test was stopped.
    sql(server, "UPDATE tests SET approved_hash = NULL WHERE id = ?", below)
    third = submit(patch=adds("third"))
    act(dev, third, "stop")
    end_ago(9, third)
    wait_until(lambda: third in dropped())
    true(below not in dropped(), dropped())
    end_ago(9, above)
    wait_until(lambda: {above, below} <= set(dropped()))


def an_approval_that_was_answered_survives_kill_9_and_the_loss_of_its_files():
    test = submit(patch=adds("killed"))
    act(boss, test, "approve")
    server.kill()
    sha = sql(server, "SELECT snapshot FROM commits WHERE sha = ?", commit_of(test))[0][0]
    true(blob(sha).exists(), "the blob is older than the answer")
    blob(sha).unlink()
    git("update-ref", "-d", f"refs/tests/{test}", cwd=bare(server))
    git("update-ref", "refs/tests/99999", commit_of(test), cwd=bare(server))
    start_with_old_objects()
    contains(refs(), f"refs/tests/{test}")
    true("refs/tests/99999" not in refs(), refs())
    task = claim(server.worker()).json
    equal(side_of(task, "new")["snapshot"], sha)
    served(sha)
    act(dev, test, "stop")


def a_server_starts_if_a_copy_holds_a_test_without_its_objects():
    server.stop()
    sql(server, "UPDATE tests SET patch_dropped = NULL WHERE id = ?", kept["old"])
    server.start()
    contains(server.log(), f"refs/tests/{kept['old']} cannot be set: the commit {commit_of(kept['old'])} is not in the repository")
    wait_until(lambda: kept["old"] in dropped())


def main():
    global server, dev, boss
    server = submission_server()
    try:
        dev, boss = server.client("dev"), server.client("boss")
        run(tests_that_are_submitted_and_stopped_leave_no_snapshot,
            the_snapshot_of_a_test_that_no_worker_builds_can_be_read_and_is_not_stored,
            an_approval_stores_the_snapshots_of_both_sides,
            a_snapshot_that_is_gone_from_the_disk_is_made_again_if_a_worker_asks,
            a_snapshot_that_would_be_another_is_not_served,
            snapshots_that_no_worker_builds_any_more_are_swept,
            the_bytes_of_a_submission_count_even_if_its_test_is_stopped,
            a_person_who_adds_more_than_the_limit_in_a_day_is_told_when_it_ends,
            the_limit_holds_after_a_restart, after_the_hour_the_next_submission_is_taken,
            a_test_that_was_stopped_long_ago_and_not_approved_loses_its_objects_and_no_other_does,
            the_page_and_all_that_would_need_the_patch_say_that_it_is_no_longer_kept,
            a_patch_that_was_dropped_can_be_submitted_and_approved_again, the_days_are_a_setting,
            a_commit_that_another_test_has_as_its_base_is_kept,
            an_approval_that_was_answered_survives_kill_9_and_the_loss_of_its_files,
            a_server_starts_if_a_copy_holds_a_test_without_its_objects)
    finally:
        server.close()


if __name__ == "__main__":
    main()
