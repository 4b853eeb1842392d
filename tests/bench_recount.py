"""How long a reply of the server waits while a long test is counted again."""

import json
import os
import random
import threading
import time

from figures import row

BATCHES, BATCH_PAIRS, MACHINES = 25_000, 16, 50


def fill(server, test):
    """The log of a test that was played: its numbers are made by the server when it starts."""
    from database import sql
    dice = random.Random(1)
    sql(server, "INSERT INTO workers (id, machine_key_hash, token_hash, name, version, host, cores, address, created, last_seen) "
                "SELECT value, 'k' || value, 't' || value, 'm' || value, '1', '{}', 4, '127.0.0.1', 1, 1 FROM json_each(?)", json.dumps(list(range(1, MACHINES + 1))))
    rows = []
    for index in range(BATCHES):
        outcomes = "".join(dice.choice("01222334") for _ in range(BATCH_PAIRS))
        wins, losses = outcomes.count("3") + 2 * outcomes.count("4"), outcomes.count("1") + 2 * outcomes.count("0")
        result = {"outcomes": outcomes, "wins": wins, "losses": losses, "draws": 2 * BATCH_PAIRS - wins - losses, "crashes": 0,
                  "time_losses": 0, "ponders": 0, "ponders_against": 0}
        rows.append([index % MACHINES + 1, index // MACHINES, index + 1, json.dumps(result, separators=(",", ":"))])
    tasks = [[machine, index] for index, machine in enumerate(range(1, MACHINES + 1))]
    sql(server, "INSERT INTO tasks (id, test_id, worker_id, owner, level, first_pair, pair_count, side, against, cores, state, next_seq, "
                "lease_until, created, finished) SELECT value ->> 0, ?, value ->> 0, 'user ' || (value ->> 0), 2, (value ->> 1) * ?, ?, 'new', "
                "'base', 1, 'done', ?, 0, 0, 1 FROM json_each(?)", test, BATCHES // MACHINES * BATCH_PAIRS, BATCHES // MACHINES * BATCH_PAIRS,
        BATCHES // MACHINES, json.dumps(tasks))
    sql(server, "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, received, position, owner, level) "
                "SELECT ?, value ->> 0, value ->> 0, value ->> 1, ?, value ->> 3, '10+0.1', 1, 0, 1 + (value ->> 2), value ->> 2, "
                "'user ' || (value ->> 0), 2 FROM json_each(?)", test, BATCH_PAIRS, json.dumps(rows))


class Asker(threading.Thread):
    """Asks for something that the turn answers, again and again."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.longest_ms, self.ends = server.client("dev"), 0.0, False

    def run(self):
        while not self.ends:
            start = time.monotonic()
            self.client.api("POST", "/tests/999999/pause", {})
            self.longest_ms = max(self.longest_ms, 1e3 * (time.monotonic() - start))


def waits(server, act):
    """Seconds of the act, and the longest wait of another reply meanwhile in ms."""
    asker = Asker(server)
    asker.start()
    time.sleep(0.2)
    asker.longest_ms, start = 0.0, time.monotonic()
    reply = act()
    seconds = time.monotonic() - start
    asker.ends = True
    asker.join()
    assert reply.status == 200, reply
    return seconds, asker.longest_ms


def recount(build, _games):
    os.environ["BUILD"] = str(build)
    from database import add_test
    from server import Server
    with Server(start=False) as server:
        test = add_test(server, tc="10+0.1", workload="sprt", parameters='{"elo0":0,"elo1":2,"alpha":0.05,"beta":0.05,"model":"normalized"}',
                        batch_pairs=BATCH_PAIRS, pairs_max=1 << 40, next_pair=BATCHES * BATCH_PAIRS, positions=BATCHES, counts='{"v":0}')
        fill(server, test)
        server.add_user("boss", "maintainer")
        server.add_user("dev", "developer")
        server.command("set", server.data, "writes_per_minute", "1000000")
        server.start()
        boss = server.client("boss")
        exclusion = {"kind": "window", "from": BATCHES // 4, "to": BATCHES // 2, "which": "all"}
        steps = (("exclude", exclusion), ("include", {"exclusion": 1}))
        fine, quiet = True, waits(server, lambda: time.sleep(1) or boss.api("GET", f"/tests/{test}"))[1]
        row("server, longest reply in a second without a recount", f"{quiet:.1f}", "ms")
        for deed, body in steps:
            seconds, longest_ms = waits(server, lambda deed=deed, body=body: boss.api("POST", f"/tests/{test}/{deed}", body))
            fine &= row(f"server, longest reply while {BATCHES:,} batches are counted again ({deed})", f"{longest_ms:.1f}", "ms", "at most 50",
                        longest_ms <= 50)
            row("   the recount", f"{seconds:.2f}", "s")
        return fine
