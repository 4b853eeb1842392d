"""Random sequences of requests, valid and not, by people and machines against one real server, and what must hold all the way:
nothing but documented answers, rights kept, and nothing lost of what was acknowledged, whenever the server is killed.

One thread and one seed: the same seed walks the same way, as far as the server's own tokens and times allow."""

import collections
import contextlib
import json
import pathlib
import random
import re
import subprocess
import tempfile
import time

import signing
from database import sql
from played import packed, played
from protocol import batch, clock_of, games_body, zstd
from server import PASSWORD, Client, Server
from submission import OPENINGS, PATCHES
from tap import LOAD_FACTOR

BATCH = 2
CODES = re.compile(r"`([a-z_0-9]+)`")
REPORT = re.compile(r"Sanitizer|runtime error:|\bassert|core dumped", re.I)
# What a member may be replaced by.
ODD = (None, True, False, 0, -1, 1, 2, 1.5, 1e308, 2 ** 31, 2 ** 53, 2 ** 63, -2 ** 63, "", " ", "0", "1", "null", "baseline", "test:1",
       "HEAD", "../x", "x" * 70, "x" * 5000, "\u0000", "\u202e", "\u009b31m", "ü\n", "'--", "<b>", "{{title}}", [], [1], [[]], {}, {"a": 1}, {"Hash": 1})
PEOPLE = {"root": {"admin"}, "boss": {"maintainer"}, "vera": {"maintainer"}, "dev": {"developer"}, "eve": {"developer"}, "joe": set()}
# The actions that need more than an account, and the role that they need.
NEEDS = {"approve": "maintainer", "merge": "maintainer", "exclude": "maintainer", "include": "maintainer", "block": "maintainer",
         "unblock": "maintainer", "harmful": "maintainer", "role": "admin", "state": "admin"}
# The requests that even a short run sends more than once.
COMMON = ("tasks/claim", "tasks/heartbeat", "tasks/games", "tasks/batches", "tasks/release", "tests", "tests/approve", "tests/pause")


class Step(collections.namedtuple("Step", "who method path body headers")):
    """One request as it is sent; `body` is bytes."""

    def __str__(self):
        return f"{self.who} {self.method} {self.path} {self.body[:300]!r}"


class Sequences:
    def __init__(self, seed, prefix=()):
        self.random, self.seed, self.prefix = random.Random(seed), seed, prefix
        self.codes = set(CODES.findall((pathlib.Path(__file__).resolve().parents[2] / "server/API.md").read_text()))
        self.patches = [(folder / "input.patch").read_bytes().decode("latin-1") for folder in sorted(PATCHES.iterdir())
                        if (folder / "input.patch").exists() and (folder / "input.patch").stat().st_size < 20000]
        self.problems, self.past, self.answers, self.done = [], collections.deque(maxlen=25), collections.Counter(), collections.Counter()
        self.stored, self.made = {}, set()  # (task, seq) -> outcomes; ids of tests
        self.tasks, self.tests, self.machines, self.hashes = [], [1], [], {}
        self.keys = 0
        self.open_server()

    def open_server(self):
        with tempfile.TemporaryDirectory() as folder:
            book = pathlib.Path(folder, "anvil.epd")
            book.write_text(OPENINGS)
            self.server = Server(start=False, init_options=["--engine-source", str(PATCHES / "base"), "--book", str(book)])
        for name, roles in PEOPLE.items():
            if name != "root":
                self.server.add_user(name, *roles)
        for name, value in (("registrations_per_hour", "100000"), ("writes_per_minute", "1000000"), ("signup", "open")):
            self.server.command("set", self.server.data, name, value)
        self.server.start(prefix=self.prefix)
        self.clients = {name: self.server.client(name) for name in PEOPLE}
        self.clients["nobody"] = Client(self.server)
        for number in range(4):
            self.register(number)

    def register(self, number):
        machine = self.server.worker(key=f"machine-{number:040}")
        name = f"machine {number}"
        self.clients[name] = machine
        self.machines.append(name)

    # ---- requests ---------------------------------------------------------------------------------

    def some(self, known, beside=(0, 1, 10 ** 6)):
        """Mostly one that is there, the newest rather than the oldest."""
        if not known or (beside and self.random.random() < 0.05):
            return self.random.choice(beside)
        return known[-1 - min(int(self.random.expovariate(0.5)), len(known) - 1)]

    def key(self):
        self.keys += self.random.random() < 0.95  # now and then the last one once more
        return {"Idempotency-Key": f"sequence-{self.seed}-{self.keys:06}"}

    def outcomes(self):
        return "".join(self.random.choice("01234") for _ in range(BATCH))

    def task(self):
        """A task with its machine; sometimes another one asks about it."""
        if not self.tasks or self.random.random() < 0.03:
            return {"id": self.random.choice((0, 1, 999)), "who": self.random.choice(self.machines), "seq": 0, "first": 0, "tc": "1+1", "pairs": 2}
        return self.some(self.tasks, ())

    def claim(self):
        body = {"protocol": 1, "cores": self.random.choice((1, 4, 8, 64, 4096)), "memory_mib": 8000, "speeds": {"anvil": 1e6}, "snapshots": [],
                "holding": [t["id"] for t in self.tasks[-3:] if self.random.random() < 0.5], "wait_s": 0}
        return self.random.choice(self.machines), "POST", "/tasks/claim", body, self.key()

    def heartbeat(self):
        task = self.task()
        return task["who"], "POST", f"/tasks/{task['id']}/heartbeat", {"phase": self.random.choice(("fetch", "build", "bench", "play")),
                                                                "plies": self.random.randrange(10 ** 5), "started_pairs": self.random.randrange(task["pairs"] + 2)}

    def games(self):
        task = next((task for task in self.tasks[::-1] if not task.get("sha")), self.task())
        is_over = task["seq"] >= task["pairs"] // BATCH
        if "dealt" not in task or is_over or self.random.random() < 0.1:
            body = games_body(task["first"] + task["seq"] * BATCH, BATCH)
        else:
            task["outcomes"] = self.outcomes()
            body = packed(played(task["dealt"], task["seq"], task["outcomes"], self.random.randrange(1 << 30)))
        if self.random.random() < 0.2:
            body = self.random.choice((b"", b"x", body[:-3], zstd(b"{}\n" * 2 * BATCH), zstd(b'{"a":' * 5000), zstd(b"{" + b" " * 200000 + b"}\n")))
        return task["who"], "PUT", f"/tasks/{task['id']}/games/{task['seq']}", body, {"Content-Type": "application/zstd"}

    def batch(self):
        task = self.task()
        if not task.get("sha") and self.random.random() < 0.7:
            return self.games()
        sha = self.random.choice((*[task.get("sha")] * 8, None, "0" * 64))
        outcomes = task["outcomes"] if "outcomes" in task and self.random.random() < 0.95 else self.outcomes()
        body, path = batch(task["seq"], outcomes, sha, tc=task["tc"], crashes=int(self.random.random() < 0.02)), f"/tasks/{task['id']}/batches"
        if self.random.random() < 0.02:
            return task["who"], "POST", path, {**body, "key": signing.public_key(), "signature": "0" * 128}
        return task["who"], "POST", path, signing.signed(self.server, path, body)

    def fault_report(self):
        task = self.task()  # mostly of a batch that is stored
        played = max(1, task["seq"] * BATCH) if self.random.random() < 0.9 else task["pairs"]
        body = {"pair": task["first"] + self.random.randrange(played), "game": self.random.randrange(2), "side": self.random.choice(("new", "base")),
                "end": self.random.choice(("crash", "stall", "illegal", "time")), "reason": self.random.choice(("White disconnects", "White\u009b31m")), "overloaded": False,
                "pgn": "1. e4 *", "protocol_log": {"new": "> go\n"}, "errors": {"base": "\U0010ff00\u202e"}}
        return task["who"], "PUT", f"/tasks/{task['id']}/faults/{self.random.randrange(12)}", body

    def bench(self):
        return self.task()["who"], "POST", f"/tasks/{self.task()['id']}/bench", {"side": self.random.choice(("new", "base")),
                                                                               "nodes": self.random.choice((1, 666, 12345))}

    def fail(self):
        task = self.task()
        kind = self.random.choice(("build", "bench", "option", "engine", "sandbox", "machine"))
        return task["who"], "POST", f"/tasks/{task['id']}/fail", {"kind": kind, "side": self.random.choice(("new", "base", "")), "message": "make ended\u2066",
                                                                "log": "\x1b[31m" * 10, "bench": 7 if kind == "bench" else None, "started_pairs": 0}

    def release(self):
        task = self.task()
        return task["who"], "POST", f"/tasks/{task['id']}/release", {"started_pairs": self.random.randrange(task["pairs"] + 1)}

    def sign_machine_up(self):
        host = {"os": "Linux", "arch": "x86_64", "cpu": "c", "physical_cores": 4, "logical_cores": 8, "memory_mib": 8000,
                "compilers": ["gcc 12.2.0"], "sandbox": 2, "isa": "x86-64-v2"}
        return "nobody", "POST", "/workers", {"protocol": 1, "name": "n", "version": "1", "machine_key": f"passing-{self.random.randrange(5):040}",
                                            "public_key": signing.public_key(), "host": host}

    def submit(self):
        chosen = self.random.random()
        body = {"title": "A change", "workload": self.random.choice(("sprt", "fixed", "width")), "tc": "10+0.1", "batch_pairs": BATCH, "pairs_max": self.random.choice((8, 100, 400))}
        if chosen < 0.7:
            body["patch"] = self.random.choice(self.patches)
        else:
            body["commit"] = self.random.choice(("main", f"test:{self.some(self.tests)}", "0a4d55a"))
        if self.random.random() < 0.3:
            body["base"] = self.random.choice((f"test:{self.some(self.tests)}", "main", "baseline"))
        if self.random.random() < 0.3:
            body["bench"] = self.random.choice((1, 666, 12345))
        return self.person("dev", "eve", "boss"), "POST", "/tests", body, self.key()

    def person(self, *likely):
        return self.random.choice(likely) if self.random.random() < 0.8 else self.random.choice([*PEOPLE, "nobody"])

    def act(self):
        test, deed = self.some(self.tests), self.random.choices(
            ("approve", "pause", "resume", "stop", "modify", "exclude", "include", "reopen", "merge", "harmful", "bench"), (8, 2, 4, 1, 2, 2, 2, 2, 1, 1, 2))[0]
        body = {}
        if deed == "modify":
            body = {self.random.choice(("title", "priority", "pairs_max", "tc", "new_options", "description")): self.random.choice(("1", 5, 8, "nodes=50", "Hash=8", "x"))}
        elif deed == "exclude":
            kind, member = self.random.choice((("machine", "worker"), ("owner", "worker"), ("task", "task")))
            body = {"kind": kind, member: self.random.randrange(1, 8), "which": self.random.choice(("flagged", "all")), "reason": "odd"}
        elif deed == "include":
            body = {"exclusion": self.random.randrange(1, 8), "reason": "odd"}
        elif deed == "bench":
            body = {"side": self.random.choice(("new", "base")), "nodes": 12345}
        elif deed in ("stop", "harmful", "reopen"):
            body = {"reason": "why"}
        elif deed == "approve" and self.random.random() < 0.3:
            body = {"hash": self.hashes.get(test, "0" * 64)}
        return self.person("boss", "vera", "dev"), "POST", f"/tests/{test}/{deed}", body, self.key()

    def guard(self):
        deed = self.random.choice(("block", "unblock", "unblock"))
        return self.person("boss", "vera"), "POST", f"/machines/{self.random.randrange(1, 8)}/{deed}", {"reason": "odd"} if deed == "block" else {}

    def rule(self):
        """An admin's calls, about people whom no other step needs."""
        name = self.random.choice(("guest0", "guest1", "joe"))
        if self.random.random() < 0.5:
            return self.person("root"), "POST", f"/users/{name}/role", {"role": self.random.choice(("developer", "maintainer")), "engine": "anvil", "grant": False}
        return self.person("root"), "POST", f"/users/{name}/state", {"state": self.random.choice(("active", "active", "pending"))}

    def sign_up(self):
        return "nobody", "POST", "/users", {"name": f"guest{self.random.randrange(20)}", "password": self.random.choice((PASSWORD, "short"))}

    def tokens(self):
        if self.random.random() < 0.5:
            return self.person("dev", "boss"), "POST", "/tokens", {"name": "t", "scope": self.random.choice(("submit", "worker", "admin"))}
        return self.person("dev"), "POST", f"/tokens/{self.random.randrange(1, 9)}/revoke", {}

    def net(self):
        return self.person("dev", "boss"), "POST", f"/nets?engine=anvil&name=n{self.random.randrange(5)}", b"net" * self.random.randrange(1, 50), {"Content-Type": "application/octet-stream"}

    def look(self):
        test, number = self.some(self.tests), self.random.randrange(8)
        path = self.random.choice((
            f"/api/v1/tests/{test}", f"/tests/{test}", f"/api/v1/tests/{test}/diff", f"/api/v1/tests/{test}/history", f"/tests/{test}/faults", "/",
            f"/tests/{test}/diff", f"/machines/{number}", "/machines", "/events", "/nets", "/health", "/metrics", "/api/v1/overview", f"/api/v1/faults/{number}",
            "/api/v1/tests?state=active", "/api/v1/machines?limit=2", "/users/dev", "/api/v1/account", "/tests/new", "/api/v1/server", "/api/v1/users",
            f"/api/v1/events?before={number}", "/api/v1/tests?before=x", f"/tests/{test}/chart.svg", "/git/anvil.git/info/refs?service=git-upload-pack"))
        return self.person("nobody"), "GET", path, None

    ACTS = ((claim, 12), (heartbeat, 5), (games, 12), (batch, 14), (fault_report, 4), (bench, 3), (fail, 1), (release, 2), (sign_machine_up, 1), (submit, 5),
            (act, 14), (guard, 1), (rule, 1), (sign_up, 1), (tokens, 1), (net, 1), (look, 12))

    # ---- making it wrong --------------------------------------------------------------------------

    def bent(self, body):
        """A body with one wrong member."""
        body = dict(body)
        how = self.random.randrange(4)
        if how == 0 or not body:
            body[self.random.choice(("x", "id", "title", "state", "worker_id"))] = self.random.choice(ODD)
        elif how == 1:
            body.pop(self.random.choice(list(body)))
        else:
            body[self.random.choice(list(body))] = self.random.choice(ODD)
        return body

    def make(self):
        act = self.random.choices([a for a, _ in self.ACTS], [weight for _, weight in self.ACTS])[0]
        who, method, path, body, *headers = act(self)
        headers = {"Content-Type": "application/json", **(headers[0] if headers else {})}
        path = path if method == "GET" else "/api/v1" + path
        if isinstance(body, dict):
            if self.random.random() < 0.12:
                body = self.bent(body)
            body = json.dumps(body).encode()
            if self.random.random() < 0.02:
                body = body[:self.random.randrange(len(body) + 1)]
        if self.random.random() < 0.03:
            who = self.random.choice(list(self.clients))
        return Step(who, method, path, body or b"", headers)

    # ---- what must hold ----------------------------------------------------------------------------

    def wrong(self, what):
        past = "\n  ".join(map(str, self.past))
        self.problems.append(f"seed {self.seed}: {what}; the last requests:\n  {past}")

    def judge(self, step, reply):
        self.answers[reply.status] += 1
        deed = step.path.rsplit("/", 1)[-1]
        if 200 <= reply.status < 300 and step.method != "GET":
            self.done[re.sub(r"\?.*|/[0-9]+|/guest[0-9]+", "", step.path.removeprefix("/api/v1/"))] += 1
        if reply.status >= 500 and not (reply.status == 503 and reply.headers.get("Retry-After")):
            self.wrong(f"status {reply.status}: {reply}")
        if reply.status >= 400 and step.path.startswith("/api/"):
            error = reply.json.get("error", {}) if reply.body.startswith(b"{") else {}
            if not error.get("message") or error.get("code") not in self.codes:
                self.wrong(f"an error that API.md does not know: {reply}")
        if 200 <= reply.status < 300 and step.method == "POST" and deed in NEEDS and not {NEEDS[deed], "admin"} & PEOPLE.get(step.who, set()):
            if not (step.who == "joe"):  # to whom roles are given on the way
                self.wrong(f"{step.who} may not {deed}: {reply}")

    def learn(self, step, reply):
        """What a reply promised."""
        document = reply.json if reply.body.startswith(b"{") else {}
        if step.path == "/api/v1/tests" and reply.status == 201:
            self.made.add(document["id"])
            self.tests.append(document["id"])
        elif step.path.endswith("/merge") and reply.status == 201 and "id" in document:
            self.made.add(document["id"])
            self.tests.append(document["id"])
        elif step.path == "/api/v1/tasks/claim" and reply.status == 200:
            self.tasks.append({"id": document["id"], "who": step.who, "seq": document["next"]["seq"], "first": document["first_pair"], "pairs": document["pairs"], "tc": clock_of(document), "dealt": document})
            del self.tasks[:-20]
        elif "/tasks/" in step.path and reply.status == 200:
            number = int(step.path.split("/")[4])
            for task in self.tasks:
                if task["id"] == number:
                    self.learn_of_task(task, step, document)

    def learn_of_task(self, task, step, document):
        if "/games/" in step.path:
            task["sha"] = document["sha256"]
        elif step.path.endswith("/batches"):
            sent = json.loads(step.body)
            self.stored[task["id"], sent["seq"]] = sent["result"]["outcomes"]
            task["seq"], task["sha"] = document["next"]["seq"] if document.get("next") else sent["seq"] + 1, None

    def step(self):
        step = self.make()
        self.past.append(step)
        client = self.clients[step.who]
        try:
            reply = client.request(step.method, step.path, step.body if step.method != "GET" else None, step.headers)
        except OSError as error:
            self.wrong(f"no answer: {error!r}")
            self.revive()
            return
        self.past[-1] = step._replace(headers=reply.status)
        self.judge(step, reply)
        self.learn(step, reply)
        if step.who in self.machines and reply.status == 401:
            self.sign_in_again(step.who)

    def sign_in_again(self, machine):
        """A new token for a machine whose token was ended; none while it is blocked."""
        with contextlib.suppress(RuntimeError):
            self.clients[machine].token = self.server.worker(key=f"machine-{int(machine.split()[1]):040}").token

    def revive(self):
        for client in self.clients.values():
            client.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.server.process.wait(3)
            self.wrong(f"the server is gone, status {status}, its log ends: {self.server.log()[-1500:]}")
            self.server.process = None
            self.server.start(prefix=self.prefix)

    def kill(self):
        """At any moment, and started again."""
        self.server.kill()
        for client in self.clients.values():
            client.close()
        self.server.start(prefix=self.prefix)

    def idle(self):
        """The common actions that were not taken yet."""
        return [name for name in COMMON if not self.done[name]]

    def walk(self, seconds, kill_every=15):
        """For so long; on a slow machine longer, until each common action was taken."""
        begin, next_kill = time.monotonic(), time.monotonic() + kill_every
        while time.monotonic() < begin + seconds * (10 * LOAD_FACTOR if self.idle() else 1) and len(self.problems) < 5:
            if time.monotonic() > next_kill:
                next_kill += kill_every
                self.kill()
            self.step()

    # ---- the result ----------------------------------------------------------------------------------

    def nothing_but_documented_answers(self):
        assert not self.problems, "\n".join(self.problems)
        assert not self.idle(), f"never taken: {self.idle()}; {self.report()}"

    def all_that_was_acknowledged_is_there(self):
        there = {(task, seq): outcomes for task, seq, outcomes in sql(self.server, "SELECT task_id, seq, outcomes FROM batches")}
        lost = {key: sent for key, sent in self.stored.items() if there.get(key) != sent}
        assert not lost, f"{len(lost)} batches lost: {list(lost.items())[:5]}"
        tests = {number for number, in sql(self.server, "SELECT id FROM tests")}
        assert self.made <= tests, self.made - tests

    def no_sanitizer_reports(self):
        lines = [line for line in self.server.log().splitlines() if REPORT.search(line)]
        assert not lines, "\n".join(lines[:20])

    def the_server_ends_well_and_its_check_is_sound(self):
        status = self.server.stop()
        assert status == 0, f"the server ended with status {status}"
        said = self.server.command("check", self.server.data)
        assert "database: sound" in said, said

    def tests_of_it(self):
        return (self.nothing_but_documented_answers, self.all_that_was_acknowledged_is_there, self.the_server_ends_well_and_its_check_is_sound,
                self.no_sanitizer_reports)

    def report(self):
        answers = ", ".join(f"{status}: {count}" for status, count in sorted(self.answers.items()))
        done = ", ".join(f"{name} {count}" for name, count in sorted(self.done.items()))
        return f"seed {self.seed}: {sum(self.answers.values())} requests ({answers}); taken: {done}"

    def close(self):
        self.server.close()
