"""A real server in a temporary folder, and clients that talk to it as a browser, a script or a worker would."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

import leaks
import signing
from builds import BUILD, ROOT
from tap import LOAD_FACTOR

ADMIN, PASSWORD = "root", "correct horse"


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def words(self):
        """The text of a page with its line breaks as blanks, as a browser shows it."""
        return re.sub(r"[ \t\n]+", " ", self.text)

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The code of an API error, else None."""
        try:
            return self.json["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Client:
    """One user's or worker's view: keeps cookies, the session's CSRF token and a bearer token, one connection."""

    def __init__(self, server, token=None, timeout=None):
        self.server, self.token, self.timeout = server, token, timeout or 20 * PATIENCE
        self.cookies, self.csrf, self.connection = {}, None, None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def request(self, method, path, body=None, headers=None):
        """Sends the request again if the server had closed an idle connection; then nothing was read."""
        sent = {"Connection": "keep-alive", **self._identity(), **(headers or {})}
        for attempt in (0, 1):
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=self.timeout)
            try:
                self.connection.request(method, path, body, sent)
                answer = self.connection.getresponse()
                reply = Reply(answer.status, answer.headers, answer.read())
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.close()
                if fresh or attempt:
                    raise
        self._keep_cookies(reply)
        return reply

    def get(self, path, **headers):
        return self.request("GET", path, None, headers)

    def api(self, method, path, document=None, headers=None):
        """A call of the API: `path` without /api/v1, `document` as JSON. Batches are signed, and machines name the key of the
        kit, unless the document says otherwise."""
        if (method, path) == ("POST", "/workers") and isinstance(document, dict):
            document = {"public_key": signing.public_key(), **document}
        elif method == "POST":
            document = signing.signed(self.server, path, document)
        body = None if document is None else json.dumps(document).encode()
        kind = {"Content-Type": "application/json"} if body is not None else {}
        return self.request(method, "/api/v1" + path, body, {**kind, **(headers or {})})

    def form(self, path, fields, headers=None):
        """A form as browsers post it, with the session's CSRF token."""
        fields = dict(fields)
        if self.csrf:
            fields.setdefault("csrf", self.csrf)
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", path, urllib.parse.urlencode(fields).encode(), {**kind, **(headers or {})})

    def login(self, name=ADMIN, password=PASSWORD):
        reply = self.api("POST", "/login", {"name": name, "password": password})
        if reply.status == 200:
            self.csrf = reply.json["csrf"]
        return reply

    def _identity(self):
        headers = {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.csrf:
            headers["X-CSRF-Token"] = self.csrf
        return headers

    def _keep_cookies(self, reply):
        for line in reply.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)


class Server:
    """`with Server() as server:` initialises and starts one, and always ends it and removes its folder.

    A server that is built with sanitizers must look for leaks when it ends, and find none, unless it is killed. `leak_check`
    false: for a server that is traced, because LeakSanitizer traces it, too. `own_books`: with the book that installations
    have, which takes seconds, instead of one of 2,000 openings. `trust`: the setting; behind a proxy it is
    private, unless a test is about trust, because machines without an account would get no tasks. `reruns`: games at fixed
    nodes are played again, as in installations; else each task of a test has pairs that count."""

    def __init__(self, *run_options, init_options=(), start=True, env=None, leak_check=True, own_books=False, listen="127.0.0.1",
                 trust=None, reruns=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-test-"))
        self.data = self.folder / "data"
        self.run_options, self.env = run_options, {**os.environ, **(env or {})}
        self.process, self.port, self.listen = None, 0, listen
        self.log_path = self.folder / "log"
        self.report_stem, self.leak_check = self.folder / "report", leak_check
        (self.folder / "password").write_text(PASSWORD + "\n")
        options = list(init_options)
        if "--engine-source" not in options:
            options += ["--engine-source", str(ROOT / "engine")]
        if "--book" not in options and not own_books:
            options += ["--book", str(ROOT / "tests" / "data" / "books" / "anvil.epd")]
        self.command("init", self.data, "--admin", ADMIN, "--admin-password-file", self.folder / "password", *options)
        # Batches of tests say this speed, so that they play with the clock of their test.
        self.command("engine", "reference", self.data, "1000000", "--machine", "the machine of the tests")
        if trust or "--trusted-proxy" in run_options:
            self.command("set", self.data, "trust", trust or "private")
        if not reruns:
            self.command("set", self.data, "rerun_percent", "0")
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def command(self, *words, check=True, **more):
        """`server WORDS…`; its standard output."""
        done = subprocess.run([str(BUILD / "server"), *map(str, words)], capture_output=True, text=True, env=self.env, **more)
        if check and done.returncode:
            raise RuntimeError(f"server {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
        return done.stdout if check else done

    def start(self, preexec_fn=None, prefix=()):
        """Port 0 the first time; the same port when started again, so that clients find it. `prefix` is a program that
        runs the server in its own process, such as a tracer that steps aside."""
        listen = f"{self.listen}:{self.port}"
        env = leaks.environment(self.env, self.report_stem, self.leak_check)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*prefix, str(BUILD / "server"), "run", str(self.data), "--listen", listen, *self.run_options],
                stdout=subprocess.PIPE, stderr=log, env=env, preexec_fn=preexec_fn, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait()
            raise RuntimeError("the server does not start: " + self.log())
        self.port = int(line.strip().rsplit(":", 1)[1])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        return self.log_path.read_text(errors="replace") + leaks.reports(self.report_stem)

    @property
    def looks_for_leaks(self):
        return self.leak_check and leaks.is_sanitized(BUILD / "server")

    def stop(self, how=signal.SIGTERM):
        """Ends the server; its exit status."""
        if not self.process:
            return None
        pid = self.process.pid
        self.process.send_signal(how)
        try:
            status = self.process.wait(60 * LOAD_FACTOR)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()
            self.process = None
        if status != -signal.SIGKILL and self.looks_for_leaks:
            leaks.must_be_none(self.report_stem, pid)
        return status

    def kill(self):
        return self.stop(signal.SIGKILL)

    def close(self):
        try:
            self.stop(signal.SIGTERM if self.looks_for_leaks else signal.SIGKILL)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def metric(self, name):
        """A figure of /metrics, without "patchmate_"."""
        text = Client(self).get("/metrics").text
        return float(re.search(rf"^patchmate_{name} (\S+)$", text, re.M)[1])

    def client(self, name=None, password=PASSWORD, **more):
        """An anonymous visitor, or a user who is signed in."""
        client = Client(self, **more)
        if name:
            reply = client.login(name, password)
            if reply.status != 200:
                raise RuntimeError(f"cannot sign in as {name}: {reply}")
        return client

    def add_user(self, name, *roles, engine="anvil"):
        """An account with the kit's password and roles of an engine, as `server user` makes them, without another scrypt."""
        with contextlib.closing(sqlite3.connect(self.data / "patchmate.db", timeout=60 * LOAD_FACTOR)) as db, db:
            db.execute("INSERT INTO users (name, password, admin, created) SELECT ?, password, ?, ? FROM users WHERE name = ?",
                       (name, "admin" in roles, time.time(), ADMIN))
            for role in set(roles) - {"admin"}:
                db.execute("INSERT INTO roles SELECT u.id, e.id, ? FROM users u, engines e WHERE u.name = ? AND e.name = ?",
                           (role, name, engine))

    def worker(self, key="k" * 32, **fields):
        """A client that is registered as a worker; its id is `.worker`."""
        client = Client(self)
        host = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": 4, "logical_cores": 8,
                "memory_mib": 8000, "compilers": ["gcc 12.2.0"], "sandbox": 2, "isa": "x86-64-v2"}
        reply = client.api("POST", "/workers", {"protocol": 1, "name": "tester", "version": "1.0",
                                                "machine_key": key, "host": host, **fields})
        if reply.status not in (200, 201):
            raise RuntimeError(f"cannot register a worker: {reply}")
        client.token, client.worker = reply.json["token"], reply.json["worker"]
        return client


PATIENCE = 6 * LOAD_FACTOR


def wait_until(condition, seconds=10, step=0.02):
    """The first true value of condition(), or an error when the time is over. `seconds`: how long it may take on a quiet machine."""
    end = time.monotonic() + PATIENCE * max(seconds, 10)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited too long")
        time.sleep(step)


def still_there(look, seconds=10):
    """Waits until look() finds nothing; what it still finds when the time is over."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not look(), seconds)
    return look()
