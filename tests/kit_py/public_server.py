"""A public server as strangers find it: two vouched owners play honestly, a developer submits, a maintainer approves and vouches,
all by the routes and commands that they have. Machines come from addresses of their own, as behind a proxy. Games are made by
tests/tools/played.c: the server cannot see whether an engine made them."""

import contextlib
import difflib
import itertools
import json
import math
import pathlib
import random
import subprocess
import tempfile
import time

from database import sql, write_plain_book
from played import packed, played, post_batch
from protocol import batch, claim, clock_of, put_games
from server import Client, Server
from toy_engine import write_toy_source

BATCH, OPENINGS = 4, 40
EVEN = (0.05, 0.25, 0.4, 0.25, 0.05)  # of 0, 1, … 4 half points in a pair of equal engines
SIGMA = math.sqrt(sum(share * (points - 2) ** 2 for points, share in enumerate(EVEN)))
NELO = 800 / math.log(10)
# Uses CPU time for each move, so that an opponent has time to use.
THINKS = 'toy_main(3, (char *[]){argv[0], "think=0", "think=30", 0})'


class Lab:
    """A public server with a test at a time. `rng` decides what is random."""

    def __init__(self, seed, openings=OPENINGS):
        self.rng, self.numbers, self.test, self.library = random.Random(seed), itertools.count(1), None, {}
        with tempfile.TemporaryDirectory(prefix="patchmate-attacks-") as folder:
            folder = pathlib.Path(folder)
            source = write_toy_source(folder / "source") / "main.c"
            self.main = source.read_text().replace("toy_main(argc, argv)", THINKS)
            source.write_text(self.main)
            book = write_plain_book(folder / "book.epd", openings)
            self.server = Server("--trusted-proxy", "127.0.0.1", trust="public", start=False,
                                 init_options=["--engine-source", str(folder / "source"), "--book", str(book)])
        # Both limits are of one address. The honest machines send as much in minutes as others in days.
        for name in ("writes_per_minute", "registrations_per_hour", "submit_mib_per_day"):
            self.server.command("set", self.server.data, name, "100000")
        self.server.command("set", self.server.data, "task_seconds", "1")  # a batch each, so a machine that goes on gives nothing back
        for name, role in (("dev", "developer"), ("boss", "maintainer")):
            self.server.add_user(name, role)
        self.server.start()
        self.anyone, self.dev, self.boss = Client(self.server), self.server.client("dev"), self.server.client("boss")
        self.ann, self.ben = self.vouched("192.0.2.1"), self.vouched("192.0.2.2")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()

    def sql(self, text, *values):
        return sql(self.server, text, *values)

    def vouched(self, address=None):
        """A machine of an owner that a maintainer vouches for by a click."""
        machine = Machine(self, address)
        good(self.boss.api("POST", f"/machines/{machine.id}/vouch", {"reason": "known to me"}))
        return machine

    def begin(self, beside=False, **fields):
        """A new test, in place of the one before or while that one is paused: its developer submits it and a maintainer approves it."""
        if self.test:
            self.boss.api("POST", f"/tests/{self.test}/{'pause' if beside else 'stop'}", {})
        patch = self.patch("BENCH = 4711", f"BENCH = {self.rng.randrange(10**6, 10**9)}")
        reply = good(self.dev.api("POST", "/tests", {"title": "an idea", "patch": patch, "tc": "10+0.1", "batch_pairs": BATCH, **fields}))
        self.test = reply.json["id"]
        good(self.boss.api("POST", f"/tests/{self.test}/approve", {}))
        return self.test

    def patch(self, old, new):
        """Of the engine's main.c: each is another idea."""
        after = self.main.replace(old, new)
        return "".join(difflib.unified_diff(self.main.splitlines(True), after.splitlines(True), "a/main.c", "b/main.c"))

    def document(self):
        return self.anyone.api("GET", f"/tests/{self.test}").json

    def counted(self, machine=None):
        """Pairs of the test that count, all or those of a machine."""
        return self.sql("SELECT coalesce(sum(units), 0) FROM counted_batches WHERE test_id = ? AND ? IN (0, worker_id)",
                        self.test, machine.id if machine else 0)[0][0]

    def recorded(self, name):
        """A machine of an account with a record. To earn one takes a day, so it is written down."""
        self.server.add_user(name)
        token = good(self.server.client(name).api("POST", "/tokens", {"name": "box", "scope": "worker"})).json["token"]
        machine = Machine(self, token=token)
        self.sql("INSERT INTO records (owner, since) SELECT owner, created FROM workers WHERE id = ?", machine.id)
        return machine

    def share_of(self, wanted):
        """The largest share that owners of a level had of the counted pairs, after any of them was counted."""
        total = mine = 0
        worst = 0.0
        for units, level in self.sql("SELECT units, level FROM counted_batches WHERE test_id = ? ORDER BY position", self.test):
            total, mine = total + units, mine + (units if level == wanted else 0)
            worst = max(worst, mine / total) if level == wanted else worst
        return worst

    def state(self):
        return " ".join(word for word in self.sql("SELECT state, coalesce(result, '') FROM tests WHERE id = ?", self.test)[0] if word)

    def outcomes(self, pairs, nelo=0.0):
        """Half points of the new side in each pair, drawn for a patch of this worth in normalized Elo."""
        tilt = nelo / NELO * math.sqrt(2) / SIGMA
        weights = [share * math.exp(tilt * (points - 2)) for points, share in enumerate(EVEN)]
        return "".join(self.rng.choices("01234", weights, k=pairs))

    def vouched_play(self, pairs, nelo=0.0, **how):
        """Ann and Ben play until they have counted so many pairs more, or the test ends."""
        wanted = self.counted(self.ann) + self.counted(self.ben) + pairs
        for machine in itertools.cycle((self.ann, self.ben)):
            if self.state() != "active" or self.counted(self.ann) + self.counted(self.ben) >= wanted:
                return
            machine.play(lambda size: self.outcomes(size, nelo), batches=8, **how)


def good(reply):
    if reply.status not in (200, 201):
        raise RuntimeError(f"the server refuses what everyone may do: {reply}")
    return reply


def opening_of(game):
    return json.dumps(game["opening"], sort_keys=True)


def thinking(game):
    """What the clocks say of both sides at 10+0.1, in ms."""
    clocks = game["clock_ms"]
    return sum(10000 + 100 * len(clocks[side::2]) - clocks[side::2][-1] for side in (0, 1) if clocks[side::2])


def thoughtful(lab, task, seq, outcomes):
    """Games by which each can be known again. Some random games come to where none of the outcomes is left."""
    for _ in range(100):
        with contextlib.suppress(subprocess.CalledProcessError):
            return played(task, seq, outcomes, lab.rng.getrandbits(40), plies=24, think_ms=20)
    raise RuntimeError("no such games were found")


class Visitor(Client):
    """A client whose requests come from this address."""

    def __init__(self, lab, address):
        super().__init__(lab.server)
        self.lab, self.address = lab, address

    def _identity(self):
        return {**super()._identity(), "X-Forwarded-For": self.address}


class Machine(Visitor):
    """A worker, at an address of its own unless one is given."""

    def __init__(self, lab, address=None, token=None):
        number = next(lab.numbers)
        super().__init__(lab, address or f"198.51.{100 + number // 250}.{number % 250 + 1}")
        host = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": 64, "logical_cores": 64, "memory_mib": 100000,
                "compilers": ["gcc 12.2.0"], "sandbox": 2}
        key = f"{lab.rng.getrandbits(128):032x}"
        reply = good(self.api("POST", "/workers", {"protocol": 1, "name": f"machine {number}", "version": "1.0", "machine_key": key,
                                                   "host": host, "user_token": token}))
        self.token, self.id = reply.json["token"], reply.json["worker"]

    def claim(self):
        """The task that it is dealt, or None."""
        reply = claim(self, cores=64)
        return reply.json if reply.status == 200 else None

    def post(self, task, seq, outcomes, **fields):
        """Games that stand the replay, with these outcomes."""
        return post_batch(self, task, seq, outcomes, self.lab.rng.getrandbits(40), **fields)

    def send(self, task, games, outcomes, seq=0, **fields):
        """These games and their counts. A machine whose engines thought waits as long as they did."""
        reply = put_games(self, task["id"], seq, packed(games))
        if reply.status != 200:
            return reply
        body = batch(seq, outcomes, reply.json["sha256"], **{"tc": clock_of(task), "thought": sum(map(thinking, games)), **fields})
        while (reply := self.api("POST", f"/tasks/{task['id']}/batches", body)).code == "bad_pace":
            time.sleep(0.1)
        return reply

    def think(self, task, seq, outcomes):
        """Games of engines that think: their clocks differ, and the test's library keeps them."""
        games = thoughtful(self.lab, task, seq, outcomes)
        for pair, points in enumerate(outcomes):
            self.lab.library[opening_of(games[2 * pair])] = games[2 * pair:2 * pair + 2], points
        return self.send(task, games, outcomes, seq)

    def release(self, task, begun):
        self.api("POST", f"/tasks/{task['id']}/release", {"started_pairs": begun})

    def play(self, draw, batches=1, think=False):
        """At most so many batches of one task, the rest of which it gives back. How many it sent."""
        task = self.claim()
        if not task:
            return 0
        size, sent = task["test"]["batch_pairs"], 0
        while sent < min(batches, task["pairs"] // size):
            outcomes = draw(size)
            reply = self.think(task, sent, outcomes) if think else self.post(task, sent, outcomes)
            sent += 1
            if not good(reply).json["continue"]:
                break
        self.release(task, sent * size)
        return sent

    def fail(self, task):
        return self.api("POST", f"/tasks/{task['id']}/fail", {"kind": "build", "side": "new", "message": "make ended with status 2", "log": ""})

    def bench(self, task, nodes):
        return self.api("POST", f"/tasks/{task['id']}/bench", {"side": "new", "nodes": nodes})
