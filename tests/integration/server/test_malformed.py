#!/usr/bin/python3
"""Requests that are no HTTP, that are too large, that contradict themselves or that break off: the server keeps nothing of them.
A sanitized server looks for leaks when it ends; of any other the memory is measured."""

import os
import pathlib
import random
import re
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import PATIENCE, Server  # noqa: E402
from tap import equal, run, true  # noqa: E402

server = None
HOST = b"Host: x\r\n"
GOOD = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"\r\n"
FIELDS = b"GET /?" + b"a=&" * 3000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"  # libmicrohttpd drops it before its handler is called


def get(target=b"/", headers=b"", version=b"HTTP/1.1", method=b"GET"):
    return method + b" " + target + b" " + version + b"\r\n" + HOST + headers + b"\r\n"


def post(headers, body=b"", target=b"/api/v1/login"):
    return get(target, b"Content-Type: application/json\r\n" + headers, method=b"POST") + body


def chunked(body, more=b""):
    return post(b"Transfer-Encoding: chunked\r\n" + more, body)


MALFORMED = [
    *(get(b"/?" + b"a=&" * count) for count in (250, 499, 500, 501, 3000, 9000)),
    get(b"/api/v1/tests?" + b"&" * 20000), get(b"/" + b"a" * 40000), get(b"/" + b"%00" * 3000), get(b"/%"), get(b"/%zz?%zz=%"),
    get(b"//..//\x01\xff"), get(b"*"), get(b"http://other/x"), get(b"no-slash"), get(b"/a b c"), get(b""), get(b"/\0x"),
    get(headers=b"".join(b"H%d: v\r\n" % i for i in range(5000))), get(headers=b"H: " + b"v" * 40000 + b"\r\n"), get(headers=b": no name\r\n"),
    get(headers=b"no colon\r\n"), get(headers=b"H: a\r\n folded\r\n\tmore\r\n"), get(headers=b"H: \0\r\n"), get(headers=b" begins with a blank: x\r\n"),
    get(headers=b"Cookie: " + b"a=b; " * 4000 + b"\r\n"), get(headers=b"Cookie: =;;=;\"\r\n"), get(headers=b"Range: bytes=9-1,a\r\n"),
    get(headers=b"Connection: upgrade\r\nUpgrade: h2c\r\n"), get(headers=b"Authorization: Bearer " + b"x" * 9000 + b"\r\n"),
    *(get(version=version) for version in (b"HTTP/9.9", b"HTTP/1.0", b"http/1.1", b"", b"HTTP/1.1 more")),
    get(method=b""), get(method=b"X" * 2000), get(method=b"G\xc3\xa4T"), get(method=b"CONNECT"), get(method=b"HEAD"),
    b"\r\n" * 3000 + GOOD, b"\n\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    *(post(b"Content-Length: %s\r\n" % length, b"{}") for length in (b"-1", b"x", b"2x", b"99999999999999999999", b"18446744073709551615", b"", b"+2", b"100000000")),
    post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), post(b"Content-Length: 2\r\nContent-Length: 200\r\n", b"{}"),
    post(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), post(b"Transfer-Encoding: gzip\r\n", b"{}"), post(b"", b"{}"),
    post(b"Content-Length: 2000\r\n", b"{}"), post(b"Content-Length: 2\r\nExpect: 100-continue\r\n", b"{}"), post(b"Content-Length: 9000000\r\nExpect: 100-continue\r\n"),
    post(b"Content-Length: 2\r\nContent-Encoding: zstd\r\n", b"{}"), post(b"Content-Length: 5\r\nContent-Encoding: gzip\r\n", b"\x1f\x8b\x08\0\0"),
    *(chunked(body) for body in (b"xyz\r\n", b"-1\r\n{}\r\n", b"ffffffffffffffff\r\n{}", b"fffffffffffffffff\r\n{}", b"2\r\n{}{}{}\r\n0\r\n\r\n", b"2;" + b"x" * 40000,
                                 b"2\r\n{}", b"2\r\n{}\r\n0\r\n" + b"T: v\r\n" * 6000 + b"\r\n", b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n" + b"junk", b"\r\n" * 50)),
    GOOD + FIELDS, GOOD * 20 + get(b"/?" + b"a=&" * 500), GOOD + b"\0\1\2", GOOD + post(b"Content-Length: 50\r\n", b"{}") + GOOD,
]


def send(data, end):
    """Sends, and ends its side as `end` says; then reads what comes until the server is done or says nothing more."""
    with socket.create_connection(("127.0.0.1", server.port), 5 * PATIENCE) as sock:
        try:
            sock.sendall(data)
            if end == "reset":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        except TimeoutError:
            raise AssertionError(f"the connection stays open after {data[:200]!r} … {data[-100:]!r}") from None
        except OSError:  # the server has closed or reset it
            pass


def malformed_requests_leave_the_server_as_it_was():
    chance = random.Random(7)
    for data in MALFORMED:
        for size in (len(data), *(chance.randrange(1, len(data)) for _ in range(3))):
            send(data[:size], "end")
            send(data[:size], "reset")
    for _ in range(200):
        data = bytearray(chance.choice(MALFORMED)[:2000])
        for _ in range(chance.randrange(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        send(bytes(data), chance.choice(("end", "reset")))
    equal(server.client().api("GET", "/server").status, 200)


def resident_kib():
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{server.process.pid}/status").read_text()).group(1))


def dropped_requests_take_no_memory():
    global server
    own = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}  # a sanitizer keeps what was freed
    whole, server = server, Server(env=own)
    try:
        for _ in range(300):
            send(FIELDS, "end")
        before = resident_kib()
        for _ in range(3000):
            send(FIELDS, "end")
        grown = resident_kib() - before
        print(f"# {grown} KiB more after 3000 requests", flush=True)
        true(grown < 8192, f"{grown} KiB more after 3000 requests")
    finally:
        dropped, server = server, whole
        dropped.close()


def the_server_ends_and_has_leaked_nothing():
    equal(server.stop(), 0, "the status of the server, which under sanitizers has looked for leaks")


def main():
    global server
    with Server("--timeout", "5") as server:
        run(malformed_requests_leave_the_server_as_it_was, dropped_requests_take_no_memory, the_server_ends_and_has_leaked_nothing)


if __name__ == "__main__":
    main()
