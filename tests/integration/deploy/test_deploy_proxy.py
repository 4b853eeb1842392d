#!/usr/bin/python3
# test: plain only
"""The proxy files that are shipped, in a real nginx and a real haproxy with a certificate of their own: TLS, addresses, 200 waiting
workers, and a client that takes all it can."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from ports import free_ports  # noqa: E402
from server import ROOT, wait_until  # noqa: E402
from submission import patch, submission_server  # noqa: E402
import tap  # noqa: E402

WAITING = 200
IDLE_STREAMS = 1600
SIGN_UPS = 20  # that a network may make a day
HOST = "patchmate.example.org"


class Proxy:
    """A proxy with its file of deploy/; only ports and certificate are the test's own."""

    def __init__(self, upstream):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-proxy-"))
        self.plain, self.port = free_ports(2)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
                        "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", self.folder / "key.pem", "-out",
                        self.folder / "fullchain.pem"], check=True, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(self.command(upstream), stderr=subprocess.PIPE)
        self.context = ssl.create_default_context(cafile=self.folder / "fullchain.pem")
        wait_until(self.answers)

    def shipped(self, name, *changes):
        """The file of deploy/ with the test's own ports and paths."""
        text = (ROOT / "deploy" / name).read_text()
        for old, new in changes:
            tap.contains(text, old)
            text = text.replace(old, new)
        (self.folder / name).write_text(text)
        return self.folder / name

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(self.process.stderr.read().decode())
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def wrap(self, source="127.0.0.1", timeout=60 * tap.LOAD_FACTOR):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout, (source, 0))
        return self.context.wrap_socket(raw, server_hostname=HOST)

    def connect(self, source="127.0.0.1", timeout=60 * tap.LOAD_FACTOR):
        connection = http.client.HTTPSConnection(HOST, context=self.context, timeout=timeout)
        connection.sock = self.wrap(source, timeout)
        return connection

    def close(self):
        self.process.terminate()
        self.process.wait(60 * tap.LOAD_FACTOR)
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Nginx(Proxy):
    def command(self, upstream):
        site = self.shipped("nginx.conf", ("127.0.0.1:8080", f"127.0.0.1:{upstream}"), ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
                            ("listen 443 ssl http2;", f"listen 127.0.0.1:{self.port} ssl http2;"), ("/etc/ssl/patchmate", str(self.folder)))
        paths = "".join(f"{p}_temp_path {self.folder}/{p};\n" for p in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "main.conf").write_text(
            f"{'user root;' if os.geteuid() == 0 else ''}\ndaemon off;\npid {self.folder}/pid;\nerror_log {self.folder}/log;\n"
            f"worker_processes 1;\nevents {{ worker_connections 768; }}\n"
            f"http {{\naccess_log off;\n{paths}include {site};\n}}\n")
        return ["/usr/sbin/nginx", "-p", str(self.folder), "-c", str(self.folder / "main.conf")]


class Haproxy(Proxy):
    def command(self, upstream):
        both = self.folder / "host.pem"
        both.write_text((self.folder / "fullchain.pem").read_text() + (self.folder / "key.pem").read_text())
        file = self.shipped("haproxy.cfg", ("127.0.0.1:8080", f"127.0.0.1:{upstream}"), ("bind :80", f"bind 127.0.0.1:{self.plain}"),
                            ("bind :443", f"bind 127.0.0.1:{self.port}"), ("/etc/ssl/patchmate", str(self.folder)))
        return ["/usr/sbin/haproxy", "-db", "-f", file]


class World:
    server = proxy = haproxy = None


def call(connection, method, path, body=None, headers=None):
    connection.request(method, path, json.dumps(body) if body is not None else None,
                       {"Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    return answer, answer.read()


def the_server_answers_through_tls_with_its_own_headers():
    answer, body = call(World.proxy.connect(), "GET", "/api/v1/server")
    tap.equal(answer.status, 200)
    tap.contains(answer.headers["Content-Security-Policy"], "default-src 'self'")
    tap.contains(answer.headers["Strict-Transport-Security"], "max-age")
    tap.equal(json.loads(body)["protocols"], [1])


def plain_http_is_sent_to_https():
    connection = http.client.HTTPConnection("127.0.0.1", World.proxy.plain, timeout=60 * tap.LOAD_FACTOR)
    connection.request("GET", "/tests/7", headers={"Host": HOST})
    answer = connection.getresponse()
    tap.equal((answer.status, answer.headers["Location"]), (301, f"https://{HOST}/tests/7"))


def the_session_cookie_is_for_https_only_behind_the_proxy():
    answer, _ = call(World.proxy.connect(), "POST", "/api/v1/login", {"name": "root", "password": "correct horse"})
    tap.equal(answer.status, 200)
    tap.contains(answer.headers["Set-Cookie"], "Secure")


def sign_ups(proxy, source):
    """How many of 30 sign-ups of one client are taken, each with two lines of an address that the client made up."""
    taken = 0
    for number in range(30):
        connection = proxy.connect(source)
        body = json.dumps({"name": f"s{source.replace('.', '-')}n{number}", "password": "correct horse"}).encode()
        connection.putrequest("POST", "/api/v1/users")
        for header, value in (("X-Forwarded-For", f"192.0.2.{number}"), ("X-Forwarded-For", f"198.51.100.{number}, 203.0.113.{number}"),
                              ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
            connection.putheader(header, value)
        connection.endheaders(body)
        status = connection.getresponse().status
        tap.true(status in (201, 429), status)
        taken += status == 201
        connection.close()
    return taken


def a_client_does_not_choose_its_address_behind_nginx():
    tap.equal(sign_ups(World.proxy, "127.0.0.3"), SIGN_UPS)


def a_client_does_not_choose_its_address_behind_a_proxy_that_adds_a_line():
    tap.equal(sign_ups(World.haproxy, "127.0.0.4"), SIGN_UPS)


def haproxy_sends_to_https_and_passes_waiting_and_streams_through():
    connection = http.client.HTTPConnection("127.0.0.1", World.haproxy.plain, timeout=60 * tap.LOAD_FACTOR)
    connection.request("GET", "/tests/7", headers={"Host": HOST})
    answer = connection.getresponse()
    tap.equal((answer.status, answer.headers["Location"]), (301, f"https://{HOST}/tests/7"))
    answer, _ = call(World.haproxy.connect(), "GET", "/")
    tap.contains(answer.headers["Strict-Transport-Security"], "max-age")
    connection = World.haproxy.connect()
    connection.request("GET", "/api/v1/stream")
    tap.contains(connection.getresponse().readline(), b"retry: ")
    connection.close()
    answer, _ = call(World.haproxy.connect(), "POST", "/api/v1/login", {"name": "root", "password": "correct horse"})
    tap.contains(answer.headers["Set-Cookie"], "Secure")


def of_several_schemes_the_last_counts():
    for schemes, secure in ((("http", "https"), True), (("https", "http"), False), (("http, https",), True), (("https , http",), False),
                            (("https ",), True), (("httpsx",), False), ((), False)):
        connection = http.client.HTTPConnection("127.0.0.1", World.server.port, timeout=60 * tap.LOAD_FACTOR)
        body = json.dumps({"name": "root", "password": "correct horse"}).encode()
        connection.putrequest("POST", "/api/v1/login")
        for header, value in (("X-Forwarded-For", "127.0.0.5"), ("Content-Type", "application/json"), ("Content-Length", str(len(body))),
                              *(("X-Forwarded-Proto", scheme) for scheme in schemes)):
            connection.putheader(header, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        tap.equal((answer.status, "Secure" in answer.headers["Set-Cookie"]), (200, secure), schemes)
        connection.close()


class Waiter(threading.Thread):
    """A worker that waits for a task through the proxy."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number, self.status, self.error = number, None, None
        self.token = World.server.worker(key=f"machine-{number:040}").token

    def run(self):
        try:
            answer, _ = call(World.proxy.connect(), "POST", "/api/v1/tasks/claim", {
                "protocol": 1, "cores": 1, "memory_mib": 4000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 50},
                {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"waiting-{self.number:08}"})
            self.status = answer.status
        except Exception as error:  # shown by the test
            self.error = error


def two_hundred_waiting_workers_get_work_at_once():
    World.server.command("set", World.server.data, "registrations_per_hour", "1000")
    waiters = [Waiter(i) for i in range(WAITING)]
    for waiter in waiters:
        waiter.start()
    wait_until(lambda: World.server.metric("waiting_claims") == WAITING or any(w.status or w.error for w in waiters), 20)
    tap.equal([w.status for w in waiters if w.status], [], "those who did not wait")
    answer, _ = call(World.proxy.connect(), "GET", "/api/v1/health")
    tap.equal(answer.status, 200, "health while they wait")
    submitted = World.server.client("dev").api("POST", "/tests", {"title": "work for all", "patch": patch().decode()})
    tap.equal(submitted.status, 201, submitted)
    approved = World.server.client("boss").api("POST", f"/tests/{submitted.json['id']}/approve")
    tap.true(approved.status < 300, approved)
    wait_until(lambda: any(w.status == 200 for w in waiters))
    tap.equal([w.error for w in waiters if w.error], [])


def one_client_with_1600_idle_streams_leaves_room_for_others():
    held = []

    def hold(_):
        try:
            sock = World.proxy.wrap("127.0.0.2", 10)
            sock.sendall(f"GET /api/v1/stream HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            held.append(sock)
        except OSError:  # nginx has no connection left, for this one
            pass
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(hold, range(IDLE_STREAMS)))
    try:
        for visitor in range(10):
            answer, _ = call(World.proxy.connect(f"127.0.1.{visitor + 1}", 10), "GET", "/")
            tap.equal(answer.status, 200, f"visitor {visitor + 1} while one client holds {len(held)} connections")
        answer, body = call(World.proxy.connect("127.0.0.2", 10), "GET", "/api/v1/stream")
        tap.equal(answer.status, 429, "and the client itself")
        tap.contains(("too_many_requests", "too_many_streams"), json.loads(body)["error"]["code"])
        tap.true(int(answer.headers["Retry-After"]) > 0, "it is told when to come back")
    finally:
        for sock in held:
            sock.close()


def main():
    with submission_server("--trusted-proxy", "127.0.0.1") as World.server:
        World.proxy, World.haproxy = Nginx(World.server.port), Haproxy(World.server.port)
        try:
            tap.run(the_server_answers_through_tls_with_its_own_headers, plain_http_is_sent_to_https,
                    the_session_cookie_is_for_https_only_behind_the_proxy, of_several_schemes_the_last_counts,
                    haproxy_sends_to_https_and_passes_waiting_and_streams_through,
                    a_client_does_not_choose_its_address_behind_nginx,
                    a_client_does_not_choose_its_address_behind_a_proxy_that_adds_a_line,
                    two_hundred_waiting_workers_get_work_at_once,
                    one_client_with_1600_idle_streams_leaves_room_for_others)
        finally:
            World.proxy.close()
            World.haproxy.close()


if __name__ == "__main__":
    main()
