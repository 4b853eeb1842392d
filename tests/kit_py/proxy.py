"""Network faults between a worker and a real server: a TCP proxy that forwards HTTP. On command it cuts a connection, delays it,
forwards it byte by byte, or answers itself, as broken proxies, hotel networks and overloaded machines do."""

import json
import re
import socket
import struct
import threading
import time

PASS = None
PATIENCE_S = 30  # how long a connection is held that stays silent


def error(code, message="as the test wants it"):
    return json.dumps({"error": {"code": code, "field": "", "message": message}}).encode()


def answer(status, body=b"", kind="application/json", *headers, length=None):
    lines = [f"HTTP/1.1 {status} Weather", f"Content-Type: {kind}", f"Content-Length: {len(body) if length is None else length}",
             "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


PAGE = b"<!DOCTYPE html><title>Welcome</title><p>Please log in to the hotel's network."
# Answers that never come from the server.
MADE_UP = {
    "html": answer(200, PAGE, "text/html"),
    "html 403": answer(403, PAGE, "text/html"),
    "html 404": answer(404, PAGE, "text/html"),
    "html 502": answer(502, PAGE, "text/html"),
    "500": answer(500, error("internal")),
    "503": answer(503, error("busy"), "application/json", "Retry-After: 1"),
    "429": answer(429, error("too_many_writes"), "application/json", "Retry-After: 86400"),
    "401": answer(401, error("bad_token")),
    "no body": answer(200),
    "no content": b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    "list": answer(200, b"[1, 2, 3]"),
    "other json": answer(200, b'{"status": "ok"}'),
    "too long": answer(200, b'{"x": 1}', length=4000),
    "too short": answer(200, b'{"continue": true, "stored": true}', length=9),
    "garbage": bytes(range(256)) * 8,
    "huge": answer(200, b" " * (9 << 20)),
}
# What happens to a request or its reply on the way.
ON_THE_WAY = ("reset", "lost", "silence", "drip", "cut", "half")
KINDS = (*MADE_UP, "redirect", "loop", *ON_THE_WAY)


class Proxy:
    """`with Proxy(server) as proxy:` listens on `proxy.url`. `proxy.weather(method, path)` is asked about each request and names
    its kind (KINDS), bytes to answer with, or PASS."""

    def __init__(self, server, weather=lambda method, path: PASS):
        self.server, self.weather = server, weather
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open = False
        self.listener.close()

    def _accept(self):
        while self.open:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            client.settimeout(PATIENCE_S)
            while self.open and self._exchange(client):
                pass
        except OSError:
            pass
        finally:
            client.close()

    def _exchange(self, client):
        """One request; False when the connection is over."""
        head = read_head(client)
        if not head:
            return False
        method, path = head.split(b" ", 2)[:2]
        length = int((re.search(rb"(?im)^content-length: *(\d+)", head) or [0, 0])[1])
        path = path.decode().removeprefix("/api/v1/")
        kind = self.weather(method.decode(), path)
        if kind == "reset":
            read_exactly(client, length // 2)
            return reset(client)
        body = read_exactly(client, length)
        if isinstance(kind, bytes):
            client.sendall(kind)
            return False
        if kind in MADE_UP:
            client.sendall(MADE_UP[kind])
            return False
        if kind == "loop" or path.startswith("loop/"):
            client.sendall(answer(307, b"", "text/plain", "Location: /api/v1/loop/"))
            return False
        if kind == "redirect":
            client.sendall(answer(302, b"", "text/plain", f"Location: /api/v1/{path}"))
            return False
        if kind == "silence":
            time.sleep(PATIENCE_S)
            return False
        return self._pass(client, head, body, kind)

    def _pass(self, client, head, body, kind):
        with socket.create_connection(("127.0.0.1", self.server.port)) as upstream:
            upstream.settimeout(120)
            upstream.sendall(re.sub(rb"(?im)^connection:.*\r\n", b"", head)[:-2] + b"Connection: close\r\n\r\n" + body)
            reply = b""
            while piece := upstream.recv(65536):
                reply += piece
        if kind == "lost":
            return reset(client)
        top, _, rest = reply.partition(b"\r\n\r\n")
        if kind == "drip":
            for byte in reply:
                client.sendall(bytes([byte]))
                time.sleep(0.1)
        elif kind == "cut":
            client.sendall(reply[:len(top) + 4 + len(rest) // 2])
        elif kind == "half":
            rest = rest[:len(rest) // 2]
            client.sendall(re.sub(rb"(?im)^content-length:.*", b"Content-Length: %d" % len(rest), top) + b"\r\n\r\n" + rest)
        else:
            client.sendall(reply)
        return False


def read_head(client):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            return None
        head += byte
    return head


def read_exactly(client, size):
    body = b""
    while len(body) < size:
        piece = client.recv(size - len(body))
        if not piece:
            raise ConnectionError("the request broke off")
        body += piece
    return body


def reset(client):
    """Ends the connection in a way that the other side recognises as a fault."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    return False


class Forecast:
    """A weather in which each call meets each of its kinds once: `plan` is {call: kinds}. Between two of them a call is
    forwarded, so that the worker waits for each of them separately."""

    CALLS = {"claim": r"POST tasks/claim", "heartbeat": r"POST tasks/\d+/heartbeat", "games": r"PUT tasks/\d+/games/\d+",
             "batch": r"POST tasks/\d+/batches", "blob": r"GET blobs/", "register": r"POST workers",
             "fault_report": r"PUT tasks/\d+/faults/\d+"}

    def __init__(self, plan):
        self.lock = threading.Lock()
        self.left = {call: list(kinds) for call, kinds in plan.items()}
        self.turn = {call: False for call in plan}
        self.met = []

    def __call__(self, method, path):
        call = next((name for name, form in self.CALLS.items() if re.match(form, f"{method} {path}")), None)
        with self.lock:
            if not self.left.get(call):
                return PASS
            self.turn[call] = not self.turn[call]
            if self.turn[call]:
                return PASS
            kind = self.left[call].pop(0)
            self.met.append((call, kind))
            return kind

    def over(self):
        with self.lock:
            return not any(self.left.values())
