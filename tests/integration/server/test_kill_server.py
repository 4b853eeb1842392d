#!/usr/bin/python3
"""`kill -9` of the server at random moments, each while posts are unanswered. Clients that speak the worker protocol keep a
log of what was acknowledged and repeat what was not; at the end log and database must say the same."""

import collections
import http.client
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import signing  # noqa: E402
from builds import SANITIZED  # noqa: E402
from database import add_test, counts, parameters, sql, write_plain_book  # noqa: E402
from played import packed, played  # noqa: E402
from protocol import STC, batch  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

KILLS = 20 if SANITIZED else 80
CLIENTS, BATCH = 6, 4
Stored = collections.namedtuple("Stored", "outcomes uncounted")


class Machine(threading.Thread):
    """One worker: claims, heartbeats, sends games and counts, for ever. `waiting` is the batch whose post is unanswered."""

    def __init__(self, loop, number):
        super().__init__(daemon=True)
        self.loop, self.random = loop, random.Random(number)
        worker = loop.server.worker(key=f"machine-{number:02}-" + "k" * 20)
        self.token, self.connection = worker.token, None
        self.busy = False   # with a request, sent or about to be
        self.asking = 0.0   # since when the present request has been sent and not answered; 0: none
        self.batch = None   # (task, seq) of the present request, if it is one with counts
        self.sent, self.stored, self.repeats, self.claims = {}, {}, 0, 0
        self.error = None

    def run(self):
        try:
            while not self.loop.over:
                self.task()
        except Exception as error:  # told by the test that looks at it
            self.error = error

    def task(self):
        self.claims += 1
        key = {"Idempotency-Key": f"{self.name}-{self.claims:06}"}
        body = {"protocol": 1, "cores": 4, "memory_mib": 100000, "speeds": {"anvil": 1e6}, "snapshots": [], "holding": [],
                "wait_s": 0}
        status, task = self.insist("POST", "/tasks/claim", body, key)
        equal(status, 200, "a claim")
        again = 0
        for seq in range(task["pairs"] // BATCH):
            if self.loop.over:
                return
            again = self.play(task, seq)
            if not again:
                return

    def play(self, dealt, seq):
        """One batch with its games; whether the task goes on."""
        task = dealt["id"]
        path = f"/tasks/{task}"
        if self.random.random() < 0.3:
            status, reply = self.insist("POST", path + "/heartbeat", {"phase": "play", "plies": 100 * seq, "started_pairs": seq * BATCH + 1})
            equal(status, 200, reply)
        outcomes = "".join(self.random.choice("011222334") for _ in range(BATCH))
        games = packed(played(dealt, seq, outcomes))
        status, reply = self.insist("PUT", f"{path}/games/{seq}", games, {"Content-Type": "application/zstd"})
        equal(status, 200, reply)
        self.sent[task, seq] = outcomes
        status, reply = self.insist("POST", path + "/batches", signing.signed(self.loop.server, path + "/batches", batch(seq, outcomes, reply["sha256"], tc=STC)),
                                    about=(task, seq))
        equal(status, 200, reply)
        true((task, seq) not in self.stored, "one acknowledgement a batch")
        self.stored[task, seq] = Stored(outcomes, reply["uncounted"])
        self.repeats += reply["repeat"]
        return reply["continue"]

    def insist(self, method, path, body, headers=None, about=None):
        """Repeats a request until it is answered. One that went unanswered is told to the loop before it is repeated."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})}
        while True:
            self.loop.up.wait()
            try:
                if not self.connection:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.loop.server.port, timeout=60 * LOAD_FACTOR)
                    self.connection.connect()
                self.batch, self.busy = about, True
                self.connection.request(method, "/api/v1" + path, raw, headers)
                self.asking = time.monotonic()
                answer = self.connection.getresponse()
                text = answer.read()
                self.asking, self.batch, self.busy = 0.0, None, False
                if answer.status != 503:
                    return answer.status, json.loads(text or b"null")
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                self.loop.down(self)


class Loop:
    """The server, its clients and its executioner."""

    def __init__(self):
        with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
            book = write_plain_book(pathlib.Path(folder) / "book.epd")
            self.server = Server(init_options=["--book", str(book)], start=False)
        # Some are decided on the way, the last never: with a clock, no book is ever spent.
        self.tests = [add_test(self.server, tc="10+0.1", batch_pairs=BATCH, parameters=parameters(elo1=elo1)) for elo1 in (2.0, 20.0, 50.0, 100.0)]
        self.tests += [add_test(self.server, tc="10+0.1", batch_pairs=BATCH, workload="fixed", pairs_max=10 ** 9) for _ in range(2)]
        sql(self.server, "INSERT INTO settings (name, value) VALUES ('task_seconds', '100')")
        self.server.start()
        self.up, self.over = threading.Event(), False
        self.broken, self.committed = set(), set()
        self.up.set()
        self.machines = [Machine(self, number) for number in range(CLIENTS)]
        self.kills = self.idle = self.before = self.after = self.posts_before = self.posts_after = 0
        self.reach = 0.004  # seconds from a post to the kill at most, so that some fall on each side of a COMMIT on any machine

    def down(self, machine):
        """A machine lost its connection: until the server is back and was looked at, it waits here."""
        self.broken.add(machine)
        while not self.up.is_set() and not self.over:
            time.sleep(0.002)

    def kill(self, randomly):
        """At a random moment of a request that is on its way."""
        time.sleep(randomly.uniform(0.02, 0.15))
        wait_until(lambda: any(m.asking and m.batch for m in self.machines), step=0)
        time.sleep(randomly.uniform(0, self.reach))
        self.up.clear()
        self.broken.clear()
        moment = time.monotonic()
        self.server.kill()
        # All machines notice: their connection is gone, or they wait for `up` before they ask again.
        wait_until(lambda: all(m in self.broken or not m.busy for m in self.machines))
        asked = [m for m in self.broken if 0 < m.asking <= moment]
        posts = {m.batch for m in asked if m.batch}
        self.server.start()
        stored = {tuple(row) for row in sql(self.server, "SELECT task_id, seq FROM batches")}
        self.count(posts & stored, posts - stored)
        self.committed |= {m.batch for m in self.broken} & stored
        for machine in self.machines:
            machine.asking, machine.batch, machine.busy = 0.0, None, False
        self.up.set()

    def count(self, found, missing):
        self.kills += 1
        self.idle += not (found or missing)
        self.after += bool(found)
        self.before += bool(missing)
        self.posts_after += len(found)
        self.posts_before += len(missing)
        self.reach *= 1.1 if missing and not found else 0.9

    def met_all(self):
        """Kills on both sides of a COMMIT, and a batch that waited for an earlier one."""
        return self.before and self.after and any(v.uncounted == "waits" for m in self.machines for v in list(m.stored.values()))

    def end(self):
        self.over = True
        for machine in self.machines:
            machine.join(60 * LOAD_FACTOR)


loop = None


def the_server_is_killed_again_and_again_while_posts_are_unanswered():
    randomly = random.Random(int(os.environ.get("SEED", time.time_ns())))
    for machine in loop.machines:
        machine.start()
    wait_until(lambda: sum(len(m.stored) for m in loop.machines) > 20)
    while loop.kills - loop.idle < KILLS or (not loop.met_all() and loop.kills < 10 * KILLS):
        loop.kill(randomly)
        true(loop.idle < 20 * max(KILLS, loop.kills / 4), "hardly a kill meets an unanswered post")
    loop.end()
    print(f"# {loop.kills} kills, {loop.kills - loop.idle} of them while at least one post of a batch was unanswered", flush=True)
    print(f"# kills before the COMMIT of an unanswered post: {loop.before} ({loop.posts_before} posts not found after the restart)")
    print(f"# kills after the COMMIT of an unanswered post: {loop.after} ({loop.posts_after} posts found after the restart)")
    print(f"# the last one at most {1e3 * loop.reach:.1f} ms after a post was sent")
    print(f"# {sum(len(m.stored) for m in loop.machines)} batches acknowledged, {sum(m.repeats for m in loop.machines)} of them as "
          "repeats", flush=True)


def no_client_met_an_answer_that_it_could_not_understand():
    for machine in loop.machines:
        if machine.error:
            raise machine.error
        true(not machine.is_alive(), "a client still waits")


def kills_fell_on_both_sides_of_a_commit():
    true(loop.before > 0, "none before")
    true(loop.after > 0, "none after")


def a_request_that_was_committed_and_not_answered_is_a_repeat():
    equal(sum(m.repeats for m in loop.machines), len(loop.committed))


def the_database_holds_exactly_what_was_acknowledged():
    acknowledged = {key: value for m in loop.machines for key, value in m.stored.items()}
    sent = {key: value for m in loop.machines for key, value in m.sent.items()}
    rows = sql(loop.server, "SELECT task_id, seq, outcomes, counted, waits FROM batches")
    stored = {(task, seq): (outcomes, counted, waits) for task, seq, outcomes, counted, waits in rows}
    # One that waited when it was acknowledged may count by now.
    may_be = {"": {(1, 0)}, "late": {(0, 0)}, "waits": {(0, 1), (1, 0)}}
    equal(len(stored), len(rows), "one row a batch")
    equal({k: v for k, v in acknowledged.items() if stored[k][0] != v.outcomes or stored[k][1:] not in may_be[v.uncounted]}, {},
          "acknowledged and not so in the database")
    equal({k: v for k, v in stored.items() if sent.get(k) != v[0]}, {}, "in the database and never sent")
    equal(set(stored), set(acknowledged), "every request was repeated until it was answered")
    true(any(v.uncounted == "waits" for v in acknowledged.values()), "no batch ever waited")


def every_batch_that_counts_is_in_the_totals_once():
    for test in loop.tests:
        outcomes = "".join(row[0] for row in sql(loop.server, "SELECT outcomes FROM batches WHERE test_id = ? AND counted", test))
        totals = counts(loop.server, test)["ptnml"]
        equal(totals, [outcomes.count(digit) for digit in "01234"], f"test {test}")


def no_pair_counts_twice():
    twice = sql(loop.server, "SELECT b.test_id, t.first_pair + b.seq * ?, count(*) FROM batches b JOIN tasks t ON t.id = b.task_id "
                             "WHERE b.counted GROUP BY 1, 2 HAVING count(*) > 1", BATCH)
    equal(twice, [])


def the_replay_of_all_results_gives_the_same():
    loop.server.kill()
    text = loop.server.command("check", loop.server.data)
    contains(text, "database: sound")


def main():
    global loop
    loop = Loop()
    try:
        run(the_server_is_killed_again_and_again_while_posts_are_unanswered, no_client_met_an_answer_that_it_could_not_understand,
            kills_fell_on_both_sides_of_a_commit, a_request_that_was_committed_and_not_answered_is_a_repeat,
            the_database_holds_exactly_what_was_acknowledged, every_batch_that_counts_is_in_the_totals_once, no_pair_counts_twice,
            the_replay_of_all_results_gives_the_same)
    finally:
        loop.over = True
        loop.server.close()


if __name__ == "__main__":
    main()
