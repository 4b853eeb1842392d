#!/usr/bin/python3
# test: plain if LONG
"""What strangers can make the server keep and compute, over real HTTP: games that would take its memory when they are replayed, more
games than were dealt, fault reports of games that were never played, and a disk that fills."""

import concurrent.futures
import ctypes
import hashlib
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import BUILD  # noqa: E402
from database import add_test, sql, write_plain_book  # noqa: E402
from played import packed as packed_games
from played import played, post_batch
from protocol import batch, claim, clock_of, game, put_games, zstd  # noqa: E402
from server import Client, Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

MIB = 1 << 20
server = anyone = pending = None
_keys = iter(range(1000))


def packed(data):
    """As a real worker compresses it."""
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    size = lib.ZSTD_compress(out, len(out), data, len(data), 9)
    return out.raw[:size]


def machine():
    return server.worker(key=f"{next(_keys):032}")


def drawn(task, seq=0, seed=1):
    """Games of a batch of draws, packed; each seed has other ones."""
    return packed_games(played(task, seq, "2" * task["test"]["batch_pairs"], seed))


def post(worker, task, seq, sha):
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, "2" * task["test"]["batch_pairs"], sha, tc=clock_of(task)))


def play(worker, task, seq, body):
    """Games and counts of a batch, as a worker sends them."""
    sha = put_games(worker, task["id"], seq, body).json["sha256"]
    reply = post(worker, task, seq, sha)
    equal(reply.status, 200, reply)
    return sha


def memory_mib():
    """The most that the server has held since it started."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1]) / 1024


def a_small_upload_that_expands_to_one_endless_game_is_refused():
    worker = machine()
    task = claim(worker).json
    bomb = packed(b'{"a":[' + b"{}," * (21 * MIB) + b"{}]}\n")
    true(len(bomb) < 10000, len(bomb))
    before = memory_mib()
    reply = put_games(worker, task["id"], 0, bomb)
    equal((reply.status, reply.code), (422, "bad_games"), reply)
    contains(reply.json["error"]["message"], "line 1 has over 131072 bytes")
    line = b'{"a":[' + b"{}," * 100000 + b"{}]}\n"
    reply = put_games(worker, task["id"], 0, packed(b"{}\n" + line + b"{}\n" * 6))
    equal((reply.status, reply.code), (422, "bad_games"), reply)
    contains(reply.json["error"]["message"], "line 2 has over 131072 bytes, more than any game")
    reply = put_games(worker, task["id"], 0, packed(b"{}\n" * 9))
    equal((reply.status, reply.json["error"]["message"]), (422, "more than 8 games"))
    equal(sql(server, "SELECT count(*) FROM games"), [(0,)])
    true(memory_mib() - before < 64, f"{before} MiB, then {memory_mib()}")


def replaying_lines_of_many_values_takes_little_memory():
    before = memory_mib()
    line = b'{"a":[' + b"{}," * 43600 + b"{}]}\n"
    deep = b'{"a":' + b"[" * 60000 + b"]" * 60000 + b"}\n"
    for lines in (line * 8, deep * 8):
        worker = machine()
        task = claim(worker).json
        reply = post(worker, task, 0, put_games(worker, task["id"], 0, packed(lines)).json["sha256"])
        equal((reply.status, reply.code), (422, "replay_mismatch"), reply)
    true(memory_mib() - before < 100, f"{before} MiB, then {memory_mib()}")


def blobs():
    """Games that lie on disk, by name."""
    return sorted(path.name for path in server.data.glob("blobs/??/*") if len(path.name) == 64)


def named_blobs():
    return sorted(sha for sha, in sql(server, "SELECT sha256 FROM blobs"))


def make_old():
    """All blobs, by two hours."""
    for sha in blobs():
        path = server.data / "blobs" / sha[:2] / sha
        os.utime(path, (time.time() - 7200,) * 2)


def games_are_accepted_for_the_next_batch():
    worker = machine()
    task = claim(worker).json
    body = drawn(task)
    reply = put_games(worker, task["id"], 1, body)
    equal((reply.status, reply.code), (409, "seq_gap"), reply)
    equal(put_games(worker, task["id"], 0, body).status, 200)
    equal(put_games(worker, task["id"], 0, body).status, 200)
    equal(put_games(worker, task["id"], 0, drawn(task, 0, 2)).code, "batch_conflict")
    equal(put_games(machine(), task["id"], 0, body).code, "not_your_task")
    reply = put_games(worker, task["id"], 0, zstd(b"x" * (257 << 10)))
    equal((reply.status, reply.code), (409, "batch_conflict"), "what is known is answered before it is expanded")
    sha = play(worker, task, 0, body)
    reply = put_games(worker, task["id"], 1, zstd(b"x" * (257 << 10)))
    equal((reply.status, reply.json["error"]["message"]), (413, "8 games take at most 262144 bytes"))
    equal(worker.api("POST", f"/tasks/{task['id']}/release", {"started_pairs": 4}).status, 200)
    late = play(worker, task, 1, drawn(task, 1))
    most = task["pairs"] // 4
    equal(put_games(worker, task["id"], most, body).json["error"]["message"], f"the task has {most} batches")
    true(sha in blobs() and late in blobs(), (sha, late))


def bodies_that_came_at_once_leave_one_blob_after_the_sweep():
    worker = machine()
    task = claim(worker).json
    clients = [Client(server, worker.token) for _ in range(8)]
    bodies = [zstd(b"".join(json.dumps(game(task["first_pair"] + i // 2, "wb"[i % 2], 300 + n)).encode() + b"\n" for i in range(8)))
              for n in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: put_games(clients[n], task["id"], 0, bodies[n]).status, range(8)))
    equal(sorted(set(replies)), [200, 409], replies)
    equal(replies.count(200), 1, replies)
    server.stop()
    orphan = hashlib.sha256(b"orphan").hexdigest()
    young = hashlib.sha256(b"young").hexdigest()
    for sha in (orphan, young):
        folder = server.data / "blobs" / sha[:2]
        folder.mkdir(exist_ok=True)
        (folder / sha).write_bytes(b"bytes")
    make_old()
    os.utime(server.data / "blobs" / young[:2] / young)
    server.start()
    wait_until(lambda: blobs() == sorted(named_blobs() + [young]))
    (server.data / "blobs" / young[:2] / young).unlink()


def set_floor(mebibytes):
    server.command("set", server.data, "disk_floor_mib", mebibytes)


def free_mib():
    fs = os.statvfs(server.data)
    return fs.f_bavail * fs.f_frsize // MIB


def short(reply):
    equal((reply.status, reply.code, reply.headers["Retry-After"]), (503, "disk_short", "60"), reply)
    contains(reply.json["error"]["message"], "the server's disk is nearly full")


def under_the_floor_no_task_is_dealt_and_nothing_large_is_taken_and_nothing_is_lost():
    worker, dev, waiter = machine(), server.client("dev"), machine()
    task = claim(worker).json
    body = drawn(task)
    sql(server, "UPDATE tests SET state = 'paused' WHERE state = 'active'")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(claim, waiter, wait_s=40)
        wait_until(lambda: "\npatchmate_waiting_claims 1\n" in anyone.get("/metrics").text)
        sql(server, "UPDATE tests SET state = 'active' WHERE state = 'paused' AND id <> 3")
        set_floor(free_mib() + 10000)
        wait_until(lambda: anyone.api("GET", "/health").json["disk"]["short"])
        short(waiting.result(timeout=60 * LOAD_FACTOR))
    short(claim(machine()))
    short(put_games(worker, task["id"], 0, body))
    short(dev.api("POST", "/tests", {}))
    short(dev.request("POST", "/api/v1/nets", b"bytes", {"Content-Type": "application/octet-stream"}))
    contains(dev.form("/tests/new", {"title": "x"}).text, "the server&#39;s disk is nearly full")
    equal(anyone.get("/").status, 200)
    boss = server.client("boss")
    equal(boss.api("POST", f"/tests/{pending}/approve", {"hash": anyone.api("GET", f"/tests/{pending}").json["approval_hash"]}).status, 200)
    page = anyone.get("/health").text
    contains(page, "The disk is nearly full")
    contains(page, "disk_floor_mib")
    until = lambda: sql(server, "SELECT lease_until FROM tasks WHERE id = ?", task["id"])[0][0]
    before = until()
    wait_until(lambda: until() > before + 2)  # leases stand still
    set_floor(1)
    wait_until(lambda: not anyone.api("GET", "/health").json["disk"]["short"])
    play(worker, task, 0, body)
    equal(claim(machine()).status, 200)
    said = lambda: " ".join(e["message"] for e in anyone.api("GET", "/events?type=disk").json["items"])
    wait_until(lambda: "the disk has room again" in said())
    contains(said(), "the disk is nearly full")


def games_of_finished_tests_are_dropped_if_space_is_short_and_results_stay():
    ids, boss = {}, server.client("boss")
    for seed, result in enumerate(("completed", "stopped"), 20):
        ids[result] = add_test(server, title=result, priority=9, workload="fixed", pairs_max=4 if result == "completed" else 400)
        worker = machine()
        task = claim(worker).json
        equal(task["test"]["id"], ids[result])
        ids[result, "sha"] = play(worker, task, 0, drawn(task, 0, seed))
        if result == "stopped":
            equal(boss.api("POST", f"/tests/{ids[result]}/stop", {"reason": "enough"}).status, 200)
    sql(server, "UPDATE tests SET finished = 100 WHERE id IN (?, ?)", ids["completed"], ids["stopped"])
    sql(server, "UPDATE tests SET merged = 200, merged_commit = 'x' WHERE id = ?", ids["completed"])
    count = len(blobs())
    make_old()
    set_floor(free_mib() * 2 // 3)
    wait_until(lambda: len(blobs()) == count - 2, 20)
    equal([e["test"] for e in anyone.api("GET", "/events?type=disk").json["items"] if e["test"]], [ids["completed"], ids["stopped"]])
    for result in ("completed", "stopped"):
        true(ids[result, "sha"] not in blobs(), "the games are gone")
        test = anyone.api("GET", f"/tests/{ids[result]}").json
        true(test["games_dropped"] > 0, test["games_dropped"])
        equal(test["stats"]["pairs"], 4)
        page = anyone.get(f"/tests/{ids[result]}").text
        contains(page, "The games of this test were dropped")
        contains(page, "its games (batches: 1) were dropped: ")
    set_floor(1)
    contains(server.command("check", server.data), "0 differences")


FAULT_REPORT = {"game": 0, "side": "new", "end": "crash", "reason": "White disconnects", "overloaded": False, "pgn": "1. e4 *"}


def put_fault_report(worker, task, seq, pair, **fields):
    return worker.api("PUT", f"/tasks/{task['id']}/faults/{seq}", {**FAULT_REPORT, "pair": pair, **fields})


def invented_fault_report_is_refused_and_leaves_room_for_that_of_others():
    test = add_test(server, title="faults", priority=9, tc="nodes=1000")
    liars = [server.worker(key=f"liar-{i:030}") for i in range(6)]
    codes = []
    for i, liar in enumerate(liars):
        task = claim(liar).json
        equal(task["test"]["id"], test)
        codes += [put_fault_report(liar, task, seq, task["first_pair"] + seq // 2).code for seq in range(10)]
        for seq, crashes in enumerate((8, 2)):
            equal(post_batch(liar, task, seq, "0000", crashes=crashes).json["stored"], True)
        for seq in range(10):
            equal(put_fault_report(liar, task, seq, task["first_pair"] + seq // 2).status, 200)
        codes.append(put_fault_report(liar, task, 9, task["first_pair"]).code)
    equal(codes.count("fault_unfounded"), 60, codes)
    kept = lambda: sql(server, "SELECT count(content), count(*) FROM fault_reports WHERE test_id = ?", test)
    equal(kept(), [(50, 60)])
    server.command("user", "add", server.data, "anna", "--password-file", server.folder / "password")
    token = server.client("anna").api("POST", "/tokens", {"name": "machines", "scope": "worker"}).json["token"]
    honest = server.worker(key="h" * 32, user_token=token)
    task = claim(honest).json
    equal(post_batch(honest, task, 0, "1222", crashes=1).json["stored"], True)
    equal(put_fault_report(honest, task, 0, task["first_pair"] + 3).status, 200)
    equal(kept(), [(51, 61)])
    sql(server, "UPDATE tests SET state = 'paused' WHERE id = ?", test)


def no_other_user_can_read_a_copy_of_the_database_while_it_is_made():
    large = server.data / "blobs/00/large"
    large.parent.mkdir(parents=True, exist_ok=True)
    with open(large, "wb") as file:
        file.truncate(64 * MIB)
    copy = server.folder / "backup.tar.database"
    backup = subprocess.Popen([str(BUILD / "server"), "backup", str(server.data), str(server.folder / "backup.tar")],
                              stdout=subprocess.PIPE, umask=0o022)
    try:
        wait_until(copy.exists, step=0)
        backup.send_signal(signal.SIGSTOP)
        mode = stat.S_IMODE(copy.stat().st_mode)
        backup.send_signal(signal.SIGCONT)
        equal(backup.wait(60 * LOAD_FACTOR), 0)
    finally:
        backup.stdout.close()
        backup.kill()
        backup.wait()
        large.unlink()
    equal(oct(mode), oct(0o600))
    equal(oct(stat.S_IMODE((server.data / "patchmate.db").stat().st_mode)), oct(0o600))


def main():
    global server, anyone, pending
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False)
    try:
        add_test(server, tc="10+0.1")
        pending = add_test(server, state="pending", title="awaits approval")
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        server.start()
        anyone = Client(server)
        run(a_small_upload_that_expands_to_one_endless_game_is_refused, replaying_lines_of_many_values_takes_little_memory,
            games_are_accepted_for_the_next_batch, bodies_that_came_at_once_leave_one_blob_after_the_sweep,
            under_the_floor_no_task_is_dealt_and_nothing_large_is_taken_and_nothing_is_lost,
            games_of_finished_tests_are_dropped_if_space_is_short_and_results_stay,
            invented_fault_report_is_refused_and_leaves_room_for_that_of_others,
            no_other_user_can_read_a_copy_of_the_database_while_it_is_made)
    finally:
        server.close()


if __name__ == "__main__":
    main()
