"""A server of the worker protocol that does what a test says: deals tasks, refuses, and counts the results that it gets."""

import contextlib
import hashlib
import http.server
import io
import json
import ssl
import tarfile
import threading
import time

from tiny_engine import MAIN

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def snapshot(files):
    """A tar of {path: text}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


class FakeServer(http.server.ThreadingHTTPServer):
    """`with FakeServer(behaviour=STUBBORN) as fake:`; the engine is one C file, see tiny_engine. `tasks` are handed out one a
    claim; without any a claim waits half a second and gets nothing. `certificate` is a file with a certificate and its key: then
    it speaks TLS. `redirects` leads paths that hold a word to another server; `heard` is what came, as (method, path, body).
    `bad_replies` holds, by a word of the path, functions that answer in place of it, each once and in turn."""

    def __init__(self, behaviour="return 0;", status=None, error=None, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.redirects, self.heard, self.user = {}, [], None
        self.bad_replies = {}
        self.status, self.error = status, error  # of every reply, if set
        self.set_tree({"main.c": MAIN.replace("%s", behaviour)})
        self.tasks, self.claims, self.failures, self.hosts = [], [], [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Workers are killed in the middle of anything."""

    def set_tree(self, files):
        """The source of the tasks that are added from now on."""
        self.tree = snapshot(files)
        self.blobs = {hashlib.sha256(self.tree).hexdigest(): self.tree}

    def add_task(self, number=1, snapshot_sha=None, options=None, command="cc -w main.c -o tiny", sides=({}, {})):
        """`sides`: members of each side that differ from the usual ones."""
        sha = snapshot_sha or next(iter(self.blobs))
        build = {"directory": ".", "command": command, "binary": "tiny", "env": {}, "bench_args": ["bench"], "files": []}
        usual = {"engine": "tiny", "build": build, "commit": "1" * 40, "snapshot": sha, "bench": 1000,
                 "options": options or {"Hash": "16"}, "tc": "300+1", "threads": 1, "margin_ms": 200}
        self.tasks.append({
            "id": number, "lease_s": 300, "first_pair": 0, "pairs": 4,
            "test": {"id": number, "engine": "tiny", "title": f"Test {number}", "workload": "sprt", "unit": "pair", "batch_pairs": 1,
                     "variant": "standard",
                     "adjudication": {"resign_score": 600, "resign_count": 3, "resign_two_sided": False, "draw_move": 34,
                                      "draw_score": 20, "draw_count": 8, "max_moves": 0}},
            "sides": [{"name": name, **usual, **side} for name, side in zip(("new", "base", "third"), sides)],
            "scale": None, "openings": [{"fen": START, "moves": ""}] * 4, "next": {"seq": 0, "options": None}})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the worker was killed
            self.end_headers()
            self.wfile.write(body)

    def say(self, status, document):
        self.answer(status, json.dumps(document).encode())

    def refuse(self, status, code, message):
        self.say(status, {"error": {"code": code, "message": message, "field": ""}})

    def is_elsewhere(self, body=b""):
        """Notes the request, and redirects it if `redirects` says so, or answers it wrongly."""
        self.server.heard.append((self.command, self.path, body))
        for word, url in self.server.redirects.items():
            if word in self.path:
                self.send_response(307)
                self.send_header("Location", url + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return True
        for word, replies in self.server.bad_replies.items():
            if word in self.path and replies:
                self.close_connection = True
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the worker had enough
                    replies.pop(0)(self)
                return True
        return False

    def do_GET(self):
        if self.is_elsewhere():
            return
        blob = self.server.blobs.get(self.path.rsplit("/", 1)[1])
        if blob:
            self.answer(200, blob, "application/octet-stream")
        else:
            self.refuse(404, "not_found", "no such blob")

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_elsewhere(content):
            self.say(200, {"sha256": hashlib.sha256(content).hexdigest()})

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.is_elsewhere(content):
            return
        body, server = json.loads(content), self.server
        if server.status:
            self.refuse(server.status, *server.error)
        elif self.path.endswith("/workers"):
            server.hosts.append(body["host"])
            self.say(201, {"worker": 1, "token": "t" * 43, "installation": "0" * 32, "user": server.user})
        elif self.path.endswith("/claim"):
            self.claim(body)
        elif self.path.endswith("/fail"):
            server.failures.append(body)
            self.say(200, {})
        else:
            self.say(200, {"continue": True, "lease_s": 300, "why": "", "stored": True})

    def claim(self, body):
        self.server.claims.append(body)
        if self.server.tasks:
            self.say(200, self.server.tasks.pop(0))
        else:
            time.sleep(0.5)
            self.answer(204, b"")
