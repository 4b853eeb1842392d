#!/usr/bin/python3
"""What was answered is on disk: a trace of the server's system calls shows blobs, git objects, references and the database
synced before the reply is sent; one turn's bad request undoes nothing of its neighbours; and a disk that is full is a 503
that heals.

The full disk is a small tmpfs, so the script needs the right to mount: it has it as root, and otherwise takes it in a user
namespace of its own."""

import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, counts, sql, write_plain_book  # noqa: E402
from patches import demo  # noqa: E402
from played import played, played_batch, post_batch, upload  # noqa: E402
from protocol import claim, put_games, zstd  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

BATCH = 4
CALLS = "openat,mkdir,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,sendto,sendmsg,recvfrom,unlink"


def new_server(**more):
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = write_plain_book(pathlib.Path(folder) / "book.epd")
        server = Server(init_options=["--book", str(book)], start=False, **more)
    add_test(server, workload="fixed", batch_pairs=BATCH)
    server.add_user("dev", "developer")
    server.add_user("boss", "maintainer")
    return server


# ---- a trace of one turn -----------------------------------------------------------------------------------------------------

Call = collections.namedtuple("Call", "name text begun ended")


def calls(text):
    """System calls in the order in which they ended; `begun` and `ended` are line numbers, apart where another thread's calls
    lie between."""
    open_calls, done = {}, []
    for number, line in enumerate(text.splitlines()):
        pid, _, rest = line.partition(" ")
        rest = rest.strip()
        if resumed := re.match(r"<\.\.\. (\w+) resumed>(.*)", rest):
            begun, head = open_calls.pop(pid)
            done.append(Call(resumed.group(1), head + resumed.group(2), begun, number))
        elif rest.endswith("<unfinished ...>"):
            open_calls[pid] = (number, rest[:-len("<unfinished ...>")])
        elif name := re.match(r"\w+(?=\()", rest):
            done.append(Call(name.group(), rest, number, number))
    return done


def turn_of(trace, request, status):
    """The calls between the arrival of the last such request and its reply, and the line where the reply begins."""
    arrival = [c for c in trace if c.name == "recvfrom" and f'"{request} ' in c.text][-1]
    socket = re.match(r"recvfrom\((\d+<socket:\[\d+\]>)", arrival.text).group(1)
    reply = next(c for c in trace if c.begun > arrival.begun and c.name in ("sendto", "sendmsg", "writev")
                 and f"({socket}," in c.text)
    contains(reply.text, f'"HTTP/1.1 {status} ')
    return [c for c in trace if c.ended > arrival.begun and c.begun < reply.begun], reply.begun


def path_of(call):
    """Of the file that a write or a sync was of."""
    found = re.match(r"\w+\(\d+<([^>]*)>", call.text)
    return found.group(1) if found else ""


def syncs(turn, path, before):
    return [c for c in turn if c.name in ("fsync", "fdatasync") and path_of(c) == path and c.text.endswith("= 0") and c.ended < before]


def names(call):
    """Old and new name of a rename or link."""
    return re.findall(r'"([^"]*)"', call.text)[:2]


def files_named(turn, server):
    """(call, old, new) for every file under DATA that got its name in this turn."""
    return [(c, *names(c)) for c in turn if c.name.startswith(("rename", "link")) and c.text.endswith("= 0")
            and str(server.data) in c.text]


def check_synced(turn, reply, server):
    """Every named file was synced between its last write and its naming, and its folder after it; every new folder's parent
    too; and all of that and the database's log before the reply. Returns the names that files got."""
    for call, old, new in files_named(turn, server):
        written = [c for c in turn if c.name in ("write", "pwrite64") and path_of(c) == old and c.ended < call.begun]
        true(written, f"{old} was written in this turn")
        true([s for s in syncs(turn, old, call.begun) if s.begun > written[-1].ended], f"{old} was named without a sync before")
        true([s for s in syncs(turn, os.path.dirname(new), reply) if s.begun > call.ended], f"the folder of {new} was not synced")
    for call in turn:
        # What lies among the drafts is nothing yet: its files are synced, and named again at their places.
        if call.name == "mkdir" and call.text.endswith("= 0") and not names(call)[0].startswith(f"{server.data}/drafts"):
            parent = os.path.dirname(names(call)[0])
            true([s for s in syncs(turn, parent, reply) if s.begun > call.ended], f"{parent} was not synced after {call.text}")
    log = str(server.data / "patchmate.db-wal")
    written = [c for c in turn if c.name == "pwrite64" and path_of(c) == log]
    true(written, "the turn wrote to the database")
    committed = [s for s in syncs(turn, log, reply) if s.begun > written[-1].ended]
    true(committed, "the reply was sent before the database was synced")
    named = files_named(turn, server)
    true(all(call.ended < committed[-1].begun for call, _, _ in named), "blobs and git come before the COMMIT")
    return [os.path.relpath(new, server.data) for _, _, new in named]


def traced(server):
    """Makes every kind of durable call once; (turns by name)."""
    file = server.folder / "trace"
    server.start(prefix=["strace", "-D", "-f", "-y", "-s", "120", "-e", f"trace={CALLS}", "-o", str(file)])
    worker, dev, boss = server.worker(), server.client("dev"), server.client("boss")
    task = claim(worker).json
    equal(post_batch(worker, task, 0, "2134").status, 200)
    reply = dev.api("POST", "/tests", {"title": "Traced", "tc": "nodes=1000", "patch": demo("take-away-history")})
    equal(reply.status, 201, reply)
    test = reply.json["id"]
    equal(boss.api("POST", f"/tests/{test}/approve", {}).status, 200)
    sql(server, "UPDATE tests SET state = 'finished', result = 'accepted', finished = 1 WHERE id = ?", test)
    equal(boss.api("POST", f"/tests/{test}/merge").status, 200)
    equal(dev.get("/static/none", Host="example.org").status, 404)
    server.stop()
    wait_until(lambda: "+++ exited" in file.read_text(errors="replace").splitlines()[-1])
    trace = calls(file.read_text(errors="replace"))
    api = "/api/v1/"
    return {"games": turn_of(trace, f"PUT {api}tasks/{task['id']}/games/0", 200),
            "counts": turn_of(trace, f"POST {api}tasks/{task['id']}/batches", 200),
            "submit": turn_of(trace, f"POST {api}tests", 201),
            "approve": turn_of(trace, f"POST {api}tests/{test}/approve", 200),
            "merge": turn_of(trace, f"POST {api}tests/{test}/merge", 200),
            "reached": turn_of(trace, "GET /static/none", 404), "test": test}


turns, turns_server = {}, None


def games_are_a_synced_blob_before_the_worker_gets_the_reply():
    named = check_synced(*turns["games"], turns_server)
    equal(len(named), 1)
    true(re.fullmatch(r"blobs/../[0-9a-f]{64}", named[0]), named)


def counts_are_in_the_synced_log_before_the_worker_gets_the_reply():
    equal(check_synced(*turns["counts"], turns_server), [])


def a_submitted_patch_is_objects_and_a_reference_on_disk():
    named = check_synced(*turns["submit"], turns_server)
    true([n for n in named if re.match(r"git/anvil.git/objects/../", n)], f"objects in {named}")
    equal([n for n in named if n.startswith("blobs/")], [], "no snapshot before the approval")
    contains(named, f"git/anvil.git/refs/tests/{turns['test']}")


def an_approval_has_stored_the_snapshot_when_it_is_answered():
    named = check_synced(*turns["approve"], turns_server)
    equal(len([n for n in named if n.startswith("blobs/")]), 2, named)


def a_merge_has_moved_the_branch_on_disk_when_it_is_answered():
    contains(check_synced(*turns["merge"], turns_server), "git/anvil.git/refs/heads/main")


# ---- good and bad in one turn ------------------------------------------------------------------------------------------------


def in_one_turn(server, requests):
    """Makes all calls while the database is locked: the first enters a turn and waits there, and the others gather behind it if they
    arrive in time. Their replies."""
    with contextlib.closing(sqlite3.connect(server.data / "patchmate.db", timeout=60 * LOAD_FACTOR, isolation_level=None)) as db, \
            concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
        db.execute("BEGIN IMMEDIATE")
        futures = [pool.submit(requests[0])]
        time.sleep(0.5)
        futures += [pool.submit(request) for request in requests[1:]]
        time.sleep(1.5)
        db.execute("COMMIT")
        return [future.result() for future in futures]


def constraint_error_met_neighbours():
    """Whether some of the requests shared a turn; then, and else, each has its own reply and nothing but its own effect."""
    with new_server() as server:
        server.start()
        workers = [server.worker(key=f"neighbour-{i}-" + "k" * 20) for i in range(6)]
        tasks = [claim(worker).json for worker in workers]
        # A constraint of the database itself, met half-way through a request: its batch is already written by then.
        sql(server, f"CREATE TRIGGER refuse BEFORE UPDATE ON workers WHEN new.id = {workers[2].worker} AND new.games > 0 "
                    "BEGIN SELECT raise(ABORT, 'no more games of this one'); END")
        outcomes = ("2134", "4444", "0000", "1111", "3210", "2222")
        bodies = [played_batch(workers[i], tasks[i], 0, outcomes[i]) for i in range(6)]
        bodies[3]["result"]["wins"] += 1

        sql(server, "UPDATE tasks SET due = due + 1e6 WHERE id IN (?, ?)", tasks[2]["id"], tasks[3]["id"])  # none waits for these

        def post(i):
            return lambda: workers[i].api("POST", f"/tasks/{tasks[i]['id']}/batches", bodies[i])

        replies = in_one_turn(server, [post(i) for i in range(6)])
        equal([reply.status for reply in replies], [200, 200, 409, 422, 200, 200])
        moments, = sql(server, "SELECT count(DISTINCT received) FROM batches")[0]
        totals = counts(server, 1)["ptnml"]
        good = "2134" + "4444" + "3210" + "2222"
        equal(totals, [good.count(digit) for digit in "01234"])
        equal(sql(server, "SELECT task_id FROM batches ORDER BY task_id"), [(tasks[i]["id"],) for i in (0, 1, 4, 5)])
        sql(server, "DROP TRIGGER refuse")
        equal(post(2)().json["uncounted"], "waits")
        contains(server.command("check", server.data), "database: sound")
        return moments < 4


def that_the_server_was_reached_from_outside_is_synced_before_the_first_such_reply():
    """A route that needs no turn, and an answer that says no."""
    equal(check_synced(*turns["reached"], turns_server), [])
    equal(sql(turns_server, "SELECT count(*) FROM reached"), [(1,)])


def a_constraint_error_undoes_nothing_of_its_neighbours_in_the_turn():
    true(any(constraint_error_met_neighbours() for _ in range(10)), "each of the four good ones had a turn of its own")


# ---- a full disk -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(mebibytes):
    with tempfile.TemporaryDirectory(prefix="patchmate-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", folder], check=True)
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield pathlib.Path(folder)
        finally:
            tempfile.tempdir = before
            subprocess.run(["umount", "-l", folder], check=True)


def fill(file, leave):
    """Until only so many bytes are free."""
    free = os.statvfs(file.parent)
    size = free.f_bavail * free.f_frsize - leave
    with open(file, "ab") as out:
        os.posix_fallocate(out.fileno(), out.seek(0, os.SEEK_END), max(size, 1))


def refused(reply, what):
    equal(reply.status, 503, f"{what}: {reply}")
    true(int(reply.headers["Retry-After"]) > 0, "Retry-After")
    true(len(reply.json["error"]["message"]) > 10, "a message")


def a_request_too_large_for_the_disk_harms_none_beside_it():
    """Little room is left: games of 2 MiB do not fit, counts do."""
    with small_disk(48) as disk, new_server() as server:
        sql(server, "UPDATE tests SET batch_pairs = 64")
        server.command("set", server.data, "disk_floor_mib", 0)
        server.start()
        workers = [server.worker(key=f"disk-{i}-" + "k" * 20) for i in range(4)]
        tasks = [claim(worker).json for worker in workers]
        counts_ = [played_batch(workers[i], tasks[i], 0, "2134" * 16) for i in (1, 2, 3)]
        fill(disk / "filler", 1 << 20)
        big = zstd(b'{"x": "%s"}\n' % (b"y" * (16 << 10)) * 128)
        calls_ = [lambda: put_games(workers[0], tasks[0]["id"], 0, big)]
        calls_ += [lambda i=i: workers[i].api("POST", f"/tasks/{tasks[i]['id']}/batches", counts_[i - 1]) for i in (1, 2, 3)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            replies = [future.result() for future in [pool.submit(call) for call in calls_]]
        refused(replies[0], "the games")
        equal([reply.status for reply in replies[1:]], [200, 200, 200])
        equal([f for f in (server.data / "blobs").rglob("*") if re.search(r"\.\w{6}$", f.name)], [], "halves of a blob")
        (disk / "filler").unlink()
        equal(put_games(workers[0], tasks[0]["id"], 0, big).status, 200)
        contains(server.command("check", server.data), "database: sound")


def a_full_disk_answers_503_to_all_that_writes_and_heals():
    with small_disk(48) as disk, new_server() as server:
        server.command("set", server.data, "disk_floor_mib", 0)
        server.start()
        worker, dev = server.worker(), server.client("dev")
        task = claim(worker, cores=64).json
        equal(post_batch(worker, task, 0, "2134").status, 200)
        counts_ = played_batch(worker, task, 1, "2134")
        other = server.worker(key="other" + "k" * 30)
        others = claim(other).json
        fill(disk / "filler", 0)
        stored = 1
        for turn in range(2000):  # what is allocated already may still be written
            reply = worker.api("POST", f"/tasks/{task['id']}/heartbeat", {"phase": "play", "plies": turn, "started_pairs": 5})
            if reply.status != 200:
                break
        refused(reply, "a heartbeat")
        refused(worker.api("POST", f"/tasks/{task['id']}/batches", counts_), "counts")
        refused(upload(other, others, 0, played(others, 0, "2134")), "games")
        submission = {"title": "On a full disk", "tc": "nodes=1000", "patch": demo("take-away-history")}
        refused(dev.api("POST", "/tests", submission), "a patch")
        equal(dev.get("/api/v1/server").status, 200, "reading goes on")
        equal(sql(server, "SELECT count(*) FROM batches")[0][0], stored)
        (disk / "filler").unlink()
        reply = worker.api("POST", f"/tasks/{task['id']}/batches", counts_)
        equal((reply.status, reply.json.get("repeat")), (200, False))
        equal(dev.api("POST", "/tests", submission).status, 201)
        server.kill()
        contains(server.command("check", server.data), "database: sound")
        equal(sql(server, "SELECT count(*) FROM batches")[0][0], stored + 1)


def main():
    global turns, turns_server
    if os.geteuid() != 0:
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--mount", sys.executable, *sys.argv])
    with new_server(leak_check=False) as turns_server:
        turns = traced(turns_server)
        run(games_are_a_synced_blob_before_the_worker_gets_the_reply, counts_are_in_the_synced_log_before_the_worker_gets_the_reply,
            a_submitted_patch_is_objects_and_a_reference_on_disk, an_approval_has_stored_the_snapshot_when_it_is_answered,
            a_merge_has_moved_the_branch_on_disk_when_it_is_answered,
            that_the_server_was_reached_from_outside_is_synced_before_the_first_such_reply,
            a_constraint_error_undoes_nothing_of_its_neighbours_in_the_turn, a_request_too_large_for_the_disk_harms_none_beside_it,
            a_full_disk_answers_503_to_all_that_writes_and_heals)


if __name__ == "__main__":
    main()
