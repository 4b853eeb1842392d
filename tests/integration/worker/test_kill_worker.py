#!/usr/bin/python3
# test: first, sanitized only
"""`kill -9` of a real worker at random moments, again and again: no process of its sandboxes survives, batches that it had
spooled are sent by the next start, no pair counts twice, and the test still comes to its verdict."""

import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import SANITIZED  # noqa: E402
from database import add_test, build_quickly, sql  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from tiny_engine import FAILING, STUBBORN, server_with_engine  # noqa: E402
from worker import Worker, command_line, descendants  # noqa: E402

KILLS = 6 if SANITIZED else 12
BATCH = 2
server = worker = None
test = 0


def batches():
    return sql(server, "SELECT count(*) FROM batches")[0][0]


OF_TWO_ENGINES = 8  # the keeper, bwrap, process 1 and the engine of each


def plays():
    return len(worker.left_over()) == OF_TWO_ENGINES


def compiles():
    return any("cc1" in command_line(pid) for pid, _ in descendants(worker.process.pid))


def a_killed_worker_leaves_no_process_and_continues_its_task():
    randomly = random.Random(int(os.environ.get("SEED", time.time_ns())))
    met, kept = 0, 0
    for number in range(KILLS):
        known = batches()
        worker.start()
        wait_until(plays, 60)
        if number % 3:  # in the middle of play; the others fall wherever: benches, the first games
            wait_until(lambda: batches() > known, 60, 0.005)
        time.sleep(randomly.uniform(0, 0.3))
        met += len(worker.left_over())
        worker.kill()
        equal(worker.nothing_left(), [], "processes that outlived their worker")
        kept += len(worker.spooled())
    print(f"# {KILLS} kills of a worker with {met} processes of its own at work in all; {kept} batches stood on disk unsent")
    equal(sql(server, "SELECT count(*) FROM workers"), [(1,)], "the same machine all along")


def a_killed_worker_keeps_the_results_that_it_could_not_send():
    """The server is away, so that batches stay on disk; then the worker is killed, and both come back."""
    worker.start()
    wait_until(plays, 60)
    known = batches()
    wait_until(lambda: batches() > known, 60)
    server.kill()
    wait_until(lambda: len(worker.spooled()) >= 3, 60)
    worker.kill()
    equal(worker.nothing_left(), [])
    names = {path.stem for path in worker.spooled()}
    true(len(names) >= 3, "spooled")
    server.start()
    worker.start()
    wait_until(lambda: not names & {path.stem for path in worker.spooled()}, 60)
    stored = {f"{task:010}-{seq:06}" for task, seq in sql(server, "SELECT task_id, seq FROM batches WHERE counted")}
    equal(names - stored, set(), "spooled and not counted")


def was_killed_half_way():
    """Whether the worker was killed while it made a build, and not after."""
    for engine in worker.cache.glob("builds/*"):
        for file in engine.iterdir():
            file.unlink()
        engine.rmdir()
    worker.start()
    wait_until(compiles, 60, 0.005)
    worker.kill()
    equal(worker.nothing_left(), [], "compilers that outlived their worker")
    return not list(worker.cache.glob("builds/*/engine"))


def a_build_that_is_killed_half_way_is_made_again():
    wait_until(plays, 60)
    worker.kill()
    true(any(was_killed_half_way() for _ in range(20)), "each build was over before its worker was killed")
    worker.start()
    wait_until(plays, 90)


def an_engine_that_ignores_all_dies_with_its_worker():
    """It has been told to think, and neither closed pipes nor signals that can be ignored end it."""
    with server_with_engine(STUBBORN) as stubborn:
        add_test(stubborn, tc="nodes=100")
        stubborn.start()
        with Worker(stubborn, "--concurrency", "1") as own:
            wait_until(lambda: sql(stubborn, "SELECT started_pairs FROM tasks WHERE phase = 'play'"), 60)
            wait_until(lambda: len(own.left_over()) == OF_TWO_ENGINES, 30)
            time.sleep(0.5)
            own.kill()
            equal(own.nothing_left(), [])


def fault_report_outlives_server_and_worker():
    """An engine that fails in every game; first the server is gone, then the worker is killed, and both come back."""
    with server_with_engine(FAILING) as failing:
        add_test(failing, workload="fixed", parameters="{}", batch_pairs=1, tc="nodes=100")
        failing.start()
        with Worker(failing, "--concurrency", "1") as own:
            wait_until(lambda: sql(failing, "SELECT 1 FROM batches"), 60)
            failing.kill()
            spooled = lambda: {path.name for path in own.cache.glob("*/servers/*/spool/*-e*.json.zst")}
            wait_until(lambda: len(spooled()) >= 3, 30)
            own.kill()
            waiting = spooled()
            failing.start()
            own.start()
            wait_until(lambda: not waiting & spooled(), 60)
            kept = {f"{task:010}-e{seq:02}.json.zst" for task, seq in sql(failing, "SELECT task_id, seq FROM fault_reports")}
            equal(waiting - kept, set(), "fault reports that was spooled and did not come")
            fault, = sql(failing, "SELECT id, ending, reason FROM fault_reports ORDER BY id LIMIT 1")
            equal(fault[1], "crash")
            document = failing.client().get(f"/api/v1/faults/{fault[0]}").text
            contains(document, "assertion failed: no moves today")
            contains(document, "> go nodes 100")


def ctrl_c_leaves_nothing_behind():
    worker.signal()
    equal(worker.wait(), 0)
    equal(worker.nothing_left(), [])
    equal(worker.spooled(), [])
    equal(sql(server, "SELECT count(*) FROM tasks WHERE state = 'open'"), [(0,)])


def the_test_still_reaches_its_verdict():
    """Its cap is lowered to a few pairs more than are in, those that were lost with the killed included."""
    pairs = sql(server, "SELECT coalesce(sum(value), 0) FROM tests, json_each(counts, '$.ptnml')")[0][0]
    sql(server, "UPDATE tests SET pairs_max = ?", pairs + 6 * BATCH)
    worker.start()
    wait_until(lambda: sql(server, "SELECT result FROM tests") == [("completed",)], 60)


def no_pair_counts_twice_and_a_replay_agrees():
    twice = sql(server, "SELECT t.first_pair + b.seq * ?, count(*) FROM batches b JOIN tasks t ON t.id = b.task_id "
                        "WHERE b.counted GROUP BY 1 HAVING count(*) > 1", BATCH)
    equal(twice, [])
    equal(sql(server, "SELECT count(*) FROM batches WHERE NOT counted"), [(0,)])
    server.stop()
    contains(server.command("check", server.data), "database: sound")


def main():
    global server, worker, test
    server = Server(start=False, own_books=True)  # a test at fixed nodes ends when its book is spent
    try:
        build_quickly(server)
        test = add_test(server, workload="fixed", parameters="{}", batch_pairs=BATCH, base_options="Hash=1", new_options="Hash=1")
        server.start()
        with Worker(server, "--concurrency", "1", start=False, env={**os.environ, "PATCHMATE_PACING": "0.1"}) as worker:
            run(a_killed_worker_leaves_no_process_and_continues_its_task, a_killed_worker_keeps_the_results_that_it_could_not_send,
                a_build_that_is_killed_half_way_is_made_again, an_engine_that_ignores_all_dies_with_its_worker, fault_report_outlives_server_and_worker,
                ctrl_c_leaves_nothing_behind, the_test_still_reaches_its_verdict, no_pair_counts_twice_and_a_replay_agrees)
    finally:
        server.close()


if __name__ == "__main__":
    main()
