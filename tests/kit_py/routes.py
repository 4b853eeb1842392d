"""The worst requests that a sender can make of every route that `server routes` lists, and a visitor meanwhile."""

import collections
import gzip
import itertools
import json
import pathlib
import re
import select
import socket
import tempfile
import time

import database
import protocol
from server import ADMIN, Server
from tap import LOAD_FACTOR

BYTES_MAX = 16 << 20  # of all bodies of one flood
ATTACKER, VISITOR = "192.0.2.1", "198.51.100.7"
Route = collections.namedtuple("Route", "method pattern who max_body runs")


def table(server):
    """Every route of the program."""
    lines = server.command("routes").splitlines()
    return [Route(*fields[:3], int(fields[3]), fields[4]) for fields in (line.split("\t") for line in lines)]


def zstd_zeros(size):
    """`size` bytes of Zstandard's repeated blocks: four bytes each 128 KiB."""
    count = size >> 17
    blocks = b"".join(((128 << 10) << 3 | 2 | (i == count - 1)).to_bytes(3, "little") + b"{" for i in range(count))
    return b"\x28\xb5\x2f\xfd\xa0" + size.to_bytes(4, "little") + blocks


class Attacked:
    """A server with a test that is large in every way, and an identity of each kind to send as."""

    def __init__(self):
        with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
            book = database.write_plain_book(pathlib.Path(folder) / "book.epd")
            self.server = Server("--trusted-proxy", "127.0.0.1", start=False, init_options=["--book", str(book)])
        server, self.keys = self.server, itertools.count(1)
        self.test = database.add_test(server, workload="fixed", batch_pairs=16, pairs_max=1 << 20)
        server.command("set", server.data, "writes_per_minute", "1000000")
        server.start()
        admin = server.client(ADMIN)
        self.token = admin.api("POST", "/tokens", {"name": "t", "scope": "admin"}).json["token"]
        self.diff = self.submit(admin)
        self.worker = server.worker(key="a" * 32)
        reply = protocol.claim(self.worker)
        self.task = reply.json["id"] if reply.status == 200 else 1
        self.add_batches(25000)  # as an SPRT may have

    def add_batches(self, count):
        """The rows alone, of another task."""
        (task,), = database.sql(self.server, "INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, side, against, cores, phase, "
                                "state, finished, lease_until, created) VALUES (?, ?, 0, ?, 'new', 'base', 1, 'play', 'done', 1, 1, 1) RETURNING id", self.test, self.worker.worker, 16 * count)
        database.sql(self.server, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1) "
                     "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, "
                     "received, position) SELECT ?, ?, ?, i, 16, "
                     """'{"outcomes": "2222222222222222", "wins": 0, "losses": 0, "draws": 32, "crashes": 0, "time_losses": 0, "ponders": 0, "ponders_against": 0}', """
                     "'10.000+0.100', 1e6, 0, 1e9 + i, 1 + i FROM n",
                     count, self.test, task, self.worker.worker)

    def submission(self):
        """Of a test whose diff has five hundred files."""
        files = "".join(f"diff --git a/doc/f{i} b/doc/f{i}\nnew file mode 100644\n--- /dev/null\n+++ b/doc/f{i}\n@@ -0,0 +1,8 @@\n"
                        + "".join(f"+line {line} of file {i}\n" for line in range(8)) for i in range(500))
        return {"engine": "anvil", "title": "many files", "preset": "", "patch": files}

    def submit(self, admin):
        reply = admin.api("POST", "/tests", self.submission())
        if reply.status != 201:
            raise RuntimeError(f"cannot submit: {reply}")
        return reply.json["id"]

    def close(self):
        self.server.close()

    # ---- requests --------------------------------------------------------------------------------

    def path(self, route):
        test = self.diff if route.pattern.endswith("/diff") else self.test
        values = {"engine": "anvil", "name": "style.css" if "static" in route.pattern else ADMIN, "sha256": "0" * 64, "task": self.task,
                  "seq": 0, "game": 0, "rest": "x", "id": 999999 if "tokens" in route.pattern else test}
        path = re.sub(r"\{(\w+)(\.\.\.)?\}", lambda match: str(values[match.group(1)]), route.pattern)
        return path + ("?service=git-upload-pack" if path.endswith("/info/refs") else "")

    def costly(self):
        """Requests that cost more when they are understood: passwords are compared, patches applied, openings dealt."""
        return {"/api/v1/login": {"name": ADMIN, "password": "a wrong one"},
                "/api/v1/account/password": {"old": "a wrong one", "password": "another horse"},
                "/api/v1/tests": self.submission(),
                "/api/v1/tasks/claim": {"protocol": 1, "cores": 8, "memory_mib": 100000, "speeds": {"anvil": 1e6}, "snapshots": [],
                                        "holding": [], "wait_s": 0}}

    def body(self, route):
        """The type, encoding and bytes that cost most: at the limit when they are unpacked."""
        size = min(route.max_body, 8 << 20)  # twice of what may come out of a small body
        if "git" in route.pattern:
            head = database.sql(self.server, "SELECT baseline FROM engines")[0][0]
            have = f"0032have {head}\n".encode() * (size // 50 - 10)
            return "application/x-git-upload-pack-request", "", f"0032want {head}\n0000".encode() + have + b"0009done\n"
        if route.pattern.endswith("/games/{seq}"):
            return "application/zstd", "", zstd_zeros(63 << 20)
        if route.pattern in self.costly():
            return "application/json", "", json.dumps(self.costly()[route.pattern]).encode()
        if route.pattern.startswith("/api/"):
            head, each, tail = b'{"a":[', b"{},", b"{}]}"
            text = head + each * ((size - len(head) - len(tail)) // len(each)) + tail
            return "application/json", "gzip", gzip.compress(text, 1)
        return "application/x-www-form-urlencoded", "gzip", gzip.compress((b"a=%41&" * (size // 6))[:size - 1] + b"a", 1)

    def request(self, route):
        """Head and body as they are sent."""
        token = {"worker": self.worker.token, "worker_ends": self.worker.token, "anyone": None}.get(route.who, self.token)
        lines = [f"{route.method} {self.path(route)} HTTP/1.1", "Host: x", "Connection: close", f"X-Forwarded-For: {ATTACKER}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Idempotency-Key: flood-{next(self.keys)}"] if route.pattern.endswith("/claim") else []
        kind, encoding, body = self.body(route) if route.max_body else ("", "", b"")
        if body:
            lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"] + ([f"Content-Encoding: {encoding}"] if encoding else [])
        return "\r\n".join(lines).encode() + b"\r\n\r\n", body

    def cpu_ms(self):
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return 10 * sum(map(int, fields[11:15]))  # its own and that of the programs it has waited for

    def visit(self, client):
        """How long the home page takes another visitor, in ms; it is served, or this is an error."""
        start = time.monotonic()
        reply = client.get("/", **{"X-Forwarded-For": VISITOR})
        if reply.status != 200:
            raise AssertionError(f"the visitor was given {reply.status}")
        return 1e3 * (time.monotonic() - start)


class Flood:
    """So many connections that send a request at once; every third holds its last byte back until `end`."""

    def __init__(self, attacked, route, connections):
        self.address = ("127.0.0.1", attacked.server.port)
        self.head, self.body = attacked.request(route)
        self.count = max(2, min(connections, BYTES_MAX // (len(self.body) + 1)))
        self.slow, self.open = [], []
        self.statuses = collections.Counter()
        for i in range(self.count):
            self.send(slow=self.body and i % 3 == 0)

    def send(self, slow=False):
        connection = socket.create_connection(self.address, timeout=60 * LOAD_FACTOR)
        try:
            connection.sendall(self.head + (self.body[:-1] if slow else self.body))
        except OSError:
            pass  # refused before it was all sent
        (self.slow if slow else self.open).append(connection)

    def repeat(self):
        """Takes the replies that are here, and sends each of those requests once more; how many."""
        ready, _, _ = select.select(self.open, [], [], 0)
        for connection in ready:
            self.open.remove(connection)
            self.take(connection)
            self.send()
        return len(ready)

    def take(self, connection):
        with connection:
            try:
                head = connection.recv(65536)
                self.statuses[int((head or b"x 0").split()[1])] += 1
                while b"text/event-stream" not in head and connection.recv(1 << 20):
                    pass
            except OSError:
                pass

    def end(self):
        """All replies."""
        for connection in self.slow:
            try:
                connection.sendall(self.body[-1:])
            except OSError:
                pass
        for connection in self.open + self.slow:
            self.take(connection)
        self.open, self.slow = [], []
        return self.statuses
