#!/usr/bin/python3
"""The worker's heartbeats, against a server that is slow to answer them."""

import hashlib
import http.server
import io
import json
import pathlib
import sys
import tarfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import wait_until
from tap import run
from worker import Worker

REPLY_S, BUILD_S = 3, 50  # a build ends before the regular heartbeat of its minute


def tree():
    """A source tree whose only file says what it is."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        entry = tarfile.TarInfo("README")
        entry.size = 6
        tar.addfile(entry, io.BytesIO(b"Toy 1\n"))
    return out.getvalue()


TREE = tree()
SHA = hashlib.sha256(TREE).hexdigest()
BUILD = {"directory": ".", "command": f"sleep {BUILD_S}", "binary": "toy", "env": {}, "bench_args": ["bench"], "files": []}
SIDE = {"engine": "toy", "build": BUILD, "commit": "1" * 40, "snapshot": SHA, "bench": 1, "options": {}, "tc": "1+0.01",
        "threads": 1, "margin_ms": 200}
TASK = {
    "id": 1, "lease_s": 30, "first_pair": 0, "pairs": 1,
    "test": {"id": 1, "engine": "toy", "title": "Toy", "workload": "sprt", "unit": "pair", "batch_pairs": 1, "variant": "standard",
             "adjudication": {"resign_score": 600, "resign_count": 3, "resign_two_sided": False, "draw_move": 34,
                              "draw_score": 20, "draw_count": 8, "max_moves": 0}},
    "sides": [{"name": name, **SIDE} for name in ("new", "base")],
    "scale": None, "openings": [{"fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "moves": ""}],
    "next": {"seq": 0, "options": None},
}


class SlowServer(http.server.ThreadingHTTPServer):
    """Gives one task, and answers heartbeats only after a while."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url, self.heartbeats, self.tasks = f"http://127.0.0.1:{self.server_port}", [], [TASK]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, TREE, "application/octet-stream")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/workers"):
            self.answer(201, json.dumps({"worker": 1, "token": "t" * 43, "installation": "0" * 32, "user": None}).encode())
        elif self.path.endswith("/claim"):
            self.answer(*((200, json.dumps(self.server.tasks.pop()).encode()) if self.server.tasks else (204, b"")))
        elif self.path.endswith("/heartbeat"):
            self.server.heartbeats.append(body["phase"])
            time.sleep(REPLY_S)
            self.answer(200, b'{"continue": true, "lease_s": 300, "why": ""}')
        else:
            self.answer(200, b"{}")


def a_phase_that_begins_while_a_heartbeat_is_answered_is_reported_at_once():
    with SlowServer() as slow, Worker(slow, "--concurrency", "1"):
        wait_until(lambda: slow.heartbeats, 30)
        wait_until(lambda: "build" in slow.heartbeats)


run(a_phase_that_begins_while_a_heartbeat_is_answered_is_reported_at_once)
