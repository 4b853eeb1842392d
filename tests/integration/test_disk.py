#!/usr/bin/python3
"""What strangers can make the server keep and compute, over real HTTP: games that would take its memory when they are played over
again, a batch during whose replay it ended, more games than were dealt, evidence of games that nobody played, and a disk that
fills."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from protocol import batch, claim, game, games_body, put_games, zstd  # noqa: E402
from server import BUILD, ROOT, Client, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

MIB = 1 << 20
server = anyone = None
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


def post(worker, task, seq, outcomes="2222", games=None, **fields):
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, outcomes, games, **fields))


def play(worker, task, seq, body, **fields):
    """Games and counts of a batch, as a worker sends them."""
    sha = put_games(worker, task["id"], seq, body).json["sha256"]
    reply = post(worker, task, seq, "2" * task["test"]["batch_pairs"], sha, **fields)
    equal(reply.status, 200, reply)
    return sha


def memory_mib():
    """The most that the server has held since it started."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1]) / 1024


def replayed():
    return sql(server, "SELECT count(*) FROM replays")[0][0]


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
    server.command("set", server.data, "replay_share", "1")
    worker = machine()
    task = claim(worker).json
    before, count = memory_mib(), replayed()
    line = b'{"a":[' + b"{}," * 43600 + b"{}]}\n"
    deep = b'{"a":' + b"[" * 60000 + b"]" * 60000 + b"}\n"
    play(worker, task, 0, packed(line * 8))
    play(worker, task, 1, packed(deep * 8))
    wait_until(lambda: replayed() == count + 2)
    true(memory_mib() - before < 100, f"{before} MiB, then {memory_mib()}")
    server.command("set", server.data, "replay_share", "0")


def long_game(pair, white, plies=2000):
    moves = [("g1f3", "g8f6", "f3g1", "f6g8")[i % 4] for i in range(plies)]
    return {**game(pair, white, 0), "moves": " ".join(moves), "clock_ms": [0] * plies}


def a_batch_during_whose_replay_the_server_ended_is_not_tried_again():
    big = add_test(server, batch_pairs=1000, priority=9)
    server.command("set", server.data, "replay_share", "1")
    worker = machine()
    task = claim(worker).json
    equal((task["test"]["id"], task["test"]["batch_pairs"]), (big, 1000))
    lines = "".join(json.dumps(long_game(task["first_pair"] + i, white), separators=(",", ":")) + "\n"
                    for i in range(1000) for white in ("white", "black"))
    play(worker, task, 0, packed(lines.encode()))
    sql(server, "UPDATE tests SET state = 'paused' WHERE id = ?", big)
    wait_until(lambda: sql(server, "SELECT count(*) FROM replays_begun") == [(1,)], step=0.001)
    server.kill()
    equal(sql(server, "SELECT count(*) FROM replays_begun"), [(1,)], "killed while it replayed")
    server.start()
    equal(sql(server, "SELECT count(*) FROM replays_begun"), [(0,)])
    left = anyone.api("GET", f"/tests/{big}").json["replays"]
    equal((left["batches"], [x["reason"] for x in left["left_out"]]), (0, ["the server ended while it replayed it"]))
    contains(anyone.get(f"/tests/{big}").text, "not replayed: the server ended while it replayed it")
    contains(anyone.get("/metrics").text, "\npatchmate_replays_left_out 1\n")
    honest, count = machine(), replayed()
    task = claim(honest).json
    play(honest, task, 0, games_body(task["first_pair"], 4, 8))
    wait_until(lambda: replayed() == count + 1)
    server.stop()
    equal(sql(server, "SELECT count(*) FROM replays_begun"), [(0,)], "after an end as it should be")
    server.start()
    server.command("set", server.data, "replay_share", "0")
    contains(server.command("check", server.data), "0 differences")


def a_copy_of_the_database_is_nobody_elses_to_read_while_it_is_made():
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
        equal(backup.wait(60), 0)
    finally:
        backup.stdout.close()
        backup.kill()
        backup.wait()
        large.unlink()
    equal(oct(mode), oct(0o600))
    equal(oct(stat.S_IMODE((server.data / "patchmate.db").stat().st_mode)), oct(0o600))


def main():
    global server, anyone
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False)
    try:
        add_test(server, tc="10+0.1")
        server.add_user("dev", "developer")
        server.start()
        anyone = Client(server)
        run(a_small_upload_that_expands_to_one_endless_game_is_refused, replaying_lines_of_many_values_takes_little_memory,
            a_batch_during_whose_replay_the_server_ended_is_not_tried_again,
            a_copy_of_the_database_is_nobody_elses_to_read_while_it_is_made)
    finally:
        server.close()


if __name__ == "__main__":
    main()
