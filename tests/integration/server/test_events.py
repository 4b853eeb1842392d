#!/usr/bin/python3
"""The event log: what machines and authors bring about again and again does not make it grow without bound, and no decision is
lost."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from protocol import claim  # noqa: E402
from server import wait_until  # noqa: E402
from submission import patch, submission_server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = dev = boss = test = None


def ok(reply):
    true(reply.status in (200, 201), reply)
    return reply


def act(who, verb, **fields):
    ok(who.api("POST", f"/tests/{test}/{verb}", fields))


def rows(kind):
    return sql(server, "SELECT count(*) FROM events WHERE type = ? AND test_id = ?", kind, test)[0][0]


def all_of(kind):
    """How many events the rows stand for."""
    return sql(server, "SELECT sum(1 + repeats) FROM events WHERE type = ? AND test_id = ?", kind, test)[0][0]


def an_author_who_changes_a_test_again_and_again_adds_one_row_an_hour():
    for number in range(30):
        act(dev, "modify", priority=number % 2 + 1)
        act(dev, "modify", title=f"Title {number}")
    equal(rows("modified"), 1)
    equal(all_of("modified"), 60)
    event, = ok(boss.api("GET", "/events?type=modified")).json["items"]
    equal((event["repeats"], event["message"]), (59, "changed: priority; changed: title"))
    true(event["last"] > event["created"], event)
    for page in ("/events?type=modified", f"/tests/{test}"):
        contains(dev.get(page).words, "and 59 more, the last")


def the_next_hour_has_a_row_of_its_own():
    sql(server, "UPDATE events SET created = created - 3601 WHERE type = 'modified'")
    act(dev, "modify", priority=7)
    act(boss, "modify", priority=8)
    equal(sql(server, "SELECT user_id IS NOT NULL, repeats FROM events WHERE type = 'modified' ORDER BY id"), [(1, 59), (1, 0), (1, 0)])


def each_decision_has_a_row_of_its_own():
    for number in range(4):
        act(boss, "approve")
        act(dev, "modify", tc=f"{number + 20}+0.1")
    act(boss, "approve")
    equal((rows("approved"), rows("withdrawn")), (5, 4))
    contains(ok(boss.api("GET", "/events?type=withdrawn")).json["items"][0]["message"], "approval withdrawn: tc")


def machines_that_fail_a_test_add_ten_rows_an_hour():
    """However many they are; each report stays on the page of the test."""
    for number in range(24):
        worker = server.worker(key=f"machine-{number:04}".ljust(32, "."), name=f"m{number}")
        task = ok(claim(worker)).json["id"]
        ok(worker.api("POST", f"/tasks/{task}/fail", {"kind": "machine", "side": "", "message": f"fault {number} " + "x" * 900, "log": ""}))
    equal(rows("crash"), 10)
    equal(all_of("crash"), 24)
    equal(sql(server, "SELECT count(*) FROM failures WHERE test_id = ?", test), [(24,)])
    size, = sql(server, "SELECT max(length(message)) FROM events WHERE type = 'crash'")[0]
    true(size <= 1002, f"a message of {size} characters")


def routine_events_are_removed_after_the_days_that_the_operator_sets():
    decisions = sql(server, "SELECT count(*) FROM events WHERE type IN ('submitted', 'approved', 'withdrawn')")
    sql(server, "UPDATE events SET created = created - 31 * 86400.0")
    act(dev, "pause")
    act(dev, "resume")
    sql(server, "UPDATE events SET created = created - 91 * 86400.0 WHERE type = 'paused'")
    wait_until(lambda: rows("paused") == 0)  # after 90 days if the operator says nothing
    equal((rows("crash"), rows("modified")), (10, 3))
    server.command("set", server.data, "event_days", "30")
    wait_until(lambda: rows("crash") + rows("modified") == 0)
    equal(rows("resumed"), 1)
    equal(sql(server, "SELECT count(*) FROM events WHERE type IN ('submitted', 'approved', 'withdrawn')"), decisions)


def main():
    global server, dev, boss, test
    with submission_server() as server:
        server.command("set", server.data, "writes_per_minute", "100000")
        dev, boss = server.client("dev"), server.client("boss")
        test = ok(dev.api("POST", "/tests", {"title": "Title", "patch": patch().decode()})).json["id"]
        run(an_author_who_changes_a_test_again_and_again_adds_one_row_an_hour, the_next_hour_has_a_row_of_its_own,
            each_decision_has_a_row_of_its_own, machines_that_fail_a_test_add_ten_rows_an_hour,
            routine_events_are_removed_after_the_days_that_the_operator_sets)


if __name__ == "__main__":
    main()
