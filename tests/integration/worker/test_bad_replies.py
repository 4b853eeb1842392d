#!/usr/bin/python3
"""Replies that are none: a worker takes little memory for any of them, gives up slow ones, and says what was wrong."""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import server as kit
import tap
from fake_server import FakeServer
from tiny_engine import FAILING, STUBBORN
from worker import Worker

MORE_MIB = 64  # that a worker may take at its peak, beyond what it has when it starts
TOO_LONG = "with a text that is too long for an error of the API"


def in_chunks(handler, status, chunks):
    """Without a length: until the worker has had enough."""
    handler.wfile.write(f"HTTP/1.1 {status} Any\r\nContent-Type: application/json\r\n\r\n".encode())
    for chunk in chunks:
        handler.wfile.write(chunk)


def values(status, size):
    """Three bytes a value, of which a parser makes a hundred and more."""
    def reply(handler):
        handler.answer(status, b'{"id":[' + b"{}," * (size // 3 - 4) + b"{}]}")
    return reply


def endless_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.wfile.write(b"".join(b"X-Header-%d: %s\r\n" % (number, b"x" * 1000) for number in range(1000)))


def dripping(beginning):
    """A byte now and then, so that the connection is never silent."""
    def reply(handler):
        handler.wfile.write(beginning)
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.1)
    return reply


DRIPS = [dripping(b"HTTP/1.1 200 OK\r\nX-Slow:"), dripping(b"HTTP/1.1 200 OK\r\n\r\n")]


def kib(worker, name):
    return int(re.search(rf"^{name}:\s*(\d+)", pathlib.Path(f"/proc/{worker.process.pid}/status").read_text(), re.M)[1])


def asked(fake, word):
    return sum(word in path for _, path, _ in fake.heard)


def log_after(word, replies, behaviour=FAILING, bench=1000, pacing=0.05):
    """What a worker logged that got these replies to its requests of a kind, and asked once more."""
    with FakeServer(behaviour) as fake, Worker(fake, "--concurrency", "1", start=False,
                                               env={**os.environ, "PATCHMATE_PACING": str(pacing)}) as worker:
        fake.add_task(sides=({"bench": bench}, {}))
        start = []
        fake.bad_replies[word] = [lambda handler: (start.append(kib(worker, "VmHWM")), replies[0](handler)), *replies[1:]]
        worker.start()
        kit.wait_until(lambda: asked(fake, word) > len(replies), 60)
        more = (kib(worker, "VmHWM") - start[0]) // 1024
        tap.true(more < MORE_MIB, f"{word}: the worker took {more} MiB more")
        return worker.log()


def a_reply_of_millions_of_values_takes_little_memory():
    for word, more in {"workers": {}, "claim": {}, "blobs": {}, "heartbeat": {"behaviour": STUBBORN}, "bench": {"bench": None},
                       "fail": {"bench": 7}, "games": {}, "batches": {}, "faults": {}}.items():
        log = log_after(word, [values(200, 8 << 20), values(500, 8 << 20)], **more)
        why = {"claim": "the reply is over 5608576 bytes", "blobs": "has another hash"}.get(word, "the reply is over 65536 bytes")
        tap.true(why in log and f"status 500, {TOO_LONG}" in log, f"{word}: {log}")


def a_task_of_too_many_values_is_not_parsed():
    log = log_after("claim", [values(200, 5 << 20)])
    tap.true("status 200, but the reply has over 8048 values" in log, log)


def a_refusal_that_is_too_long_is_no_refusal():
    log = log_after("claim", [values(403, 8 << 20), values(401, 70000), lambda handler: in_chunks(handler, 503, [b"<p>"] * 100000)])
    tap.true(f"status 403, {TOO_LONG}" in log and f"status 503, {TOO_LONG}" in log, log)


def headers_without_end_take_little_memory():
    log = log_after("claim", [endless_headers, endless_headers])
    tap.true("the reply has over 65536 bytes of headers" in log, log)


def a_server_that_drips_is_given_up_for_a_while():
    for word in ("workers", "claim", "blobs"):
        log = log_after(word, DRIPS, pacing=0.01)
        tap.true("Timeout was reached" in log or "the server sent nothing for a minute" in log, f"{word}: {log}")


def main():
    tap.run(a_reply_of_millions_of_values_takes_little_memory, a_task_of_too_many_values_is_not_parsed,
            a_refusal_that_is_too_long_is_no_refusal, headers_without_end_take_little_memory,
            beside=[a_server_that_drips_is_given_up_for_a_while])


if __name__ == "__main__":
    main()
