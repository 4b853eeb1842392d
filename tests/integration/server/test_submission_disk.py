#!/usr/bin/python3
"""What submissions leave on the disk, over real HTTP: no snapshot before an approval, and one that is made again wherever it is gone;
no objects of a test that ended long ago without approval; and a limit for what one person may add in a day."""

import hashlib
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from protocol import claim  # noqa: E402
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
    return sql(server, "SELECT new_commit FROM tests WHERE id = ?", test)[0][0]


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


def a_snapshot_that_is_gone_from_the_disk_is_made_again_where_a_worker_asks():
    test = submit()
    act(boss, test, "approve")
    task = claim(server.worker()).json
    equal(task["test"]["id"], test)
    named = [task["sides"]["new"]["snapshot"], task["sides"]["base"]["snapshot"], task["scale"]["reference_snapshot"]]
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


def what_a_submission_writes_is_counted_and_a_stop_does_not_give_it_back():
    before, on_disk = counted(), size_of_objects()
    test = submit(patch=large("a"))
    added = counted() - before
    true(400000 < size_of_objects() - on_disk <= added < 2000000, (added, size_of_objects() - on_disk))
    act(dev, test, "stop")
    equal(counted() - before, added)
    equal(dev.api("GET", "/account").json["user"]["submitted"], {"bytes": counted(), "bytes_max": 64 << 20})
    contains(dev.get("/account").words, "iB within a day, of at most 64.0\xa0MiB")


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


def main():
    global server, dev, boss
    server = submission_server()
    try:
        dev, boss = server.client("dev"), server.client("boss")
        run(tests_that_are_submitted_and_stopped_leave_no_snapshot,
            the_snapshot_of_a_test_that_no_worker_builds_can_be_read_and_is_not_stored,
            an_approval_stores_the_snapshots_of_both_sides,
            a_snapshot_that_is_gone_from_the_disk_is_made_again_where_a_worker_asks,
            a_snapshot_that_would_be_another_is_not_served,
            snapshots_that_no_worker_builds_any_more_are_swept,
            what_a_submission_writes_is_counted_and_a_stop_does_not_give_it_back,
            a_person_who_adds_more_than_the_limit_in_a_day_is_told_when_it_ends,
            the_limit_holds_after_a_restart, after_the_hour_the_next_submission_is_taken)
    finally:
        server.close()


if __name__ == "__main__":
    main()
