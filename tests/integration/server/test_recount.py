#!/usr/bin/python3
"""A server that starts counts the tests again whose results another version of their workload counted."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from server import Server  # noqa: E402
from tap import contains, equal, run  # noqa: E402

RESULT = {"outcomes": "2134", "wins": 3, "losses": 1, "draws": 4, "crashes": 0, "time_losses": 0,
          "ponders": 0, "ponders_against": 0}


def old_results():
    """A test with one batch of four pairs, counted by version 0. Its games are gone: the batch was never played."""
    test = add_test(server, workload="fixed", parameters="{}", games_dropped=1, next_pair=4, positions=1, units_counted=1, counts='{"v":0,"pairs":9}',
                    points='{"llr":9}')
    sql(server, "INSERT INTO workers (id, machine_key_hash, token_hash, name, version, host, cores, address, created, last_seen) "
                "VALUES (1, 'k', 't', 'one', '1', '{}', 4, '127.0.0.1', 1, 1)")
    sql(server, "INSERT INTO tasks (id, test_id, worker_id, first_pair, pair_count, side, against, cores, state, next_seq, lease_until, "
                "created, finished) VALUES (1, ?, 1, 0, 4, 'new', 'base', 1, 'done', 1, 0, 0, 1)", test)
    sql(server, "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, received, position) "
                "VALUES (?, 1, 1, 0, 4, ?, 'nodes=1000', 1, 0, 1, 1)", test, json.dumps(RESULT, separators=(",", ":")))
    sql(server, "INSERT INTO conduct VALUES (?, 1, 0, 1, 8, 0, 0, 0, 0, 0, 0, 1)", test)
    sql(server, "INSERT INTO owner_days VALUES ('', 0, 0, 1, 0)")
    sql(server, "INSERT INTO test_conduct VALUES (?, 1, 8, 0, 0, 0, 0, 0, 0)", test)
    return test


def results_of_another_version_are_counted_again_at_start():
    test = old_results()
    server.start()
    stats = server.client().get(f"/api/v1/tests/{test}").json["stats"]
    equal((stats["units"], stats["ptnml"], stats["wins"]), (4, [0, 1, 1, 1, 1], 3))
    equal(sql(server, "SELECT units_counted, counts ->> '$.v', counts ->> '$.pairs' FROM tests WHERE id = ?", test), [(4, 1, None)])
    contains(server.log(), f"test {test} was counted again")
    contains(server.command("check", server.data), "1 tests replayed, 0 differences")


def results_of_this_version_are_left_alone():
    sql(server, "UPDATE tests SET counts = json_set(counts, '$.wins', 5)")
    server.stop()
    server.start()
    equal(sql(server, "SELECT counts ->> '$.wins' FROM tests"), [(5,)])


with tempfile.TemporaryDirectory() as folder:
    book = write_plain_book(pathlib.Path(folder) / "book.epd")
    with Server(init_options=["--book", str(book)], start=False) as server:
        run(results_of_another_version_are_counted_again_at_start, results_of_this_version_are_left_alone)
