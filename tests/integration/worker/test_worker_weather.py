#!/usr/bin/python3
# test: first, sanitized only
"""A real worker and a real server with bad weather between them: each kind of it strikes each call, and at the end every pair
counts exactly once, nothing waits on disk, nothing failed, and the log says in a line each what was waited for."""

import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from proxy import KINDS, PASS, Forecast, Proxy, answer, error  # noqa: E402
from server import ADMIN, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from toy_engine import write_toy_source  # noqa: E402
from worker import Worker  # noqa: E402

BATCH = 1
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-weather-"))
# A minute of waiting is 1.2 s.
HURRIED = {**os.environ, "PATCHMATE_PACING": "0.02"}
FAULTY, SOUND, SLOW = "Hash=1 Mode=crashgo After=2", "Hash=1", "Hash=1 Mode=split"
server = boss = proxy = worker = None


# ---- kit ------------------------------------------------------------------------------------------

def a_test(new_options=SOUND, weather=lambda *_: PASS):
    """The only one that is open, noticed at once, in this weather from its beginning."""
    proxy.weather = lambda *_: PASS
    for test, in sql(server, "SELECT id FROM tests WHERE state <> 'finished'"):
        equal(boss.api("POST", f"/tests/{test}/stop", {"reason": "enough"}).status, 200)
    proxy.weather = weather
    test = add_test(server, workload="fixed", parameters="{}", batch_pairs=BATCH, tc="1+0.01", base_options=SOUND, new_options=new_options,
                    adjudication='{"resign_score": 0, "resign_count": 0, "resign_two_sided": false, "draw_move": 0, '
                                 '"draw_score": 0, "draw_count": 0, "max_moves": 6}')
    return test


def long_tasks(seconds):
    """Tasks so long that a worker has something to do while the server is away."""
    sql(server, "UPDATE settings SET value = ? WHERE name = 'task_seconds'", str(seconds))


def counted(test):
    return sql(server, "SELECT count(*) FROM batches WHERE test_id = ? AND counted", test)[0][0]


def waited_lines():
    return [line for line in worker.log().splitlines() if "waiting for http" in line]


def fresh_log():
    """Lines from here on are those of the test that begins."""
    with open(worker.log_path, "ab") as log:
        log.truncate(0)


def end(test):
    """The test ends a few pairs from now; then all that a sound end has."""
    proxy.weather = lambda *_: PASS
    pairs = sql(server, "SELECT coalesce(sum(value), 0) FROM tests t, json_each(counts, '$.ptnml') WHERE t.id = ?", test)[0][0]
    sql(server, "UPDATE tests SET pairs_max = ? WHERE id = ?", pairs + 4 * BATCH, test)
    wait_until(lambda: sql(server, "SELECT state FROM tests WHERE id = ?", test) == [("finished",)], 60)
    wait_until(lambda: not spooled(), 30)
    equal(sql(server, "SELECT message FROM failures WHERE test_id = ?", test), [], "failures")
    all_counted_once(test)


def all_counted_once(test):
    twice = sql(server, "SELECT t.first_pair + b.seq * ?, count(*) FROM batches b JOIN tasks t ON t.id = b.task_id "
                        "WHERE b.counted AND b.test_id = ? GROUP BY 1 HAVING count(*) > 1", BATCH, test)
    equal(twice, [], "pairs that count twice")
    total, = sql(server, "SELECT coalesce(sum(value), 0) FROM tests t, json_each(counts, '$.ptnml') WHERE t.id = ?", test)[0]
    equal(total, counted(test) * BATCH, "pairs of the test")
    contains(server.command("check", server.data), "database: sound")


def spooled():
    return [path for path in worker.cache.glob("*/servers/*/spool/*") if path.name != "refused"]


def refused():
    return sorted(path.name for path in worker.cache.glob("*/servers/*/spool/refused/*"))


def put_a_file_in_place_of(folder):
    """The worker may write there, or make the folder again, at any moment meanwhile."""
    while not folder.is_file():
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
            folder.write_text("")


def forget_blobs():
    for blob in worker.cache.glob("blobs/*"):
        blob.unlink(missing_ok=True)


# ---- tests ----------------------------------------------------------------------------------------

def each_kind_of_weather_strikes_each_call_and_every_pair_counts_once():
    """Registration is called for by the 401s that other calls meet."""
    calls = ("claim", "heartbeat", "games", "batch", "blob", "fault_report")
    # An empty answer to a claim is a proper one: no work.
    plan = {call: [kind for kind in KINDS if (call, kind) != ("claim", "no content")] for call in calls}
    plan["register"] = [kind for kind in KINDS if kind != "401"]
    forecast = Forecast(plan)

    def weather(method, path):
        if path == "tasks/claim":
            forget_blobs()
        if path.endswith("/heartbeat") and forecast.left["register"] and not forecast.left["heartbeat"]:
            return "401"
        return forecast(method, path)

    test = a_test(FAULTY, weather)
    began = time.monotonic()
    try:
        wait_until(forecast.over, 240)
    finally:
        print(f"# {len(forecast.met)} strikes in {time.monotonic() - began:.0f} s; left: "
              f"{ {call: kinds for call, kinds in forecast.left.items() if kinds} }")
        for what in ("state, count(*) FROM tasks GROUP BY state", "kind, message FROM failures", "state, reason FROM tests", "rest_until FROM workers"):
            print(f"# {what}: {sql(server, f'SELECT {what}')}")
    equal(sql(server, "SELECT id, state FROM tasks WHERE state NOT IN ('done', 'open')"), [], "tasks that lost a batch")
    end(test)
    lines = len(waited_lines())
    true(lines <= 2 * len(forecast.met) + 10, f"{lines} lines say that the server is waited for")
    kept = sql(server, "SELECT count(*) FROM fault_reports WHERE test_id = ?", test)[0][0]
    true(kept > 0, "no fault reports came")
    equal(refused(), [])


def a_long_outage_is_one_line():
    fresh_log()
    test = a_test()
    wait_until(lambda: counted(test) >= 2, 30)
    strikes = []

    def weather(method, path):
        strikes.append(path)
        return "503"

    proxy.weather = weather
    wait_until(lambda: len(strikes) >= 10, 60)  # minutes of patience
    proxy.weather = lambda *_: PASS
    known = counted(test)
    wait_until(lambda: counted(test) > known + 2, 30)
    # A server that is slow to answer is waited for as well, so there may be more than this outage.
    true(1 <= len(waited_lines()) <= len(strikes) / 2, f"{len(strikes)} strikes: {waited_lines()}")
    true(1 <= worker.log().count("answers again") <= len(waited_lines()), "lines that say it is over")
    end(test)


def a_batch_that_is_never_answered_lets_those_of_other_tasks_pass():
    test, stuck = a_test(), []

    def weather(method, path):
        if path.endswith("/batches") and not stuck:
            stuck.append(path)
        return "500" if path in stuck else PASS

    proxy.weather = weather
    wait_until(lambda: stuck and len(sql(server, "SELECT id FROM batches WHERE test_id = ?", test)) >= 6, 30)
    task = int(stuck[0].split("/")[1])
    equal(sql(server, "SELECT count(*) FROM batches WHERE task_id = ?", task), [(0,)])
    proxy.weather = lambda *_: PASS
    wait_until(lambda: sql(server, "SELECT count(*) FROM batches WHERE task_id = ? AND counted", task)[0][0] > 0, 30)
    wait_until(lambda: counted(test) >= 6, 30)  # those that came meanwhile waited for it
    end(test)


def what_the_server_refuses_is_kept_aside_and_said_once(part, code):
    fresh_log()
    test, struck = a_test(), []

    def weather(method, path):
        if part in path and not struck:
            struck.append(path)
            return answer(422, error(code, "wins are 17"))
        return PASS

    proxy.weather = weather
    wait_until(refused, 30)
    known = counted(test)
    wait_until(lambda: counted(test) > known + 2, 30)
    stem = f"{int(struck[0].split('/')[1]):010}-000000"
    equal([name for name in refused() if name.startswith(stem)], [f"{stem}.games.zst", f"{stem}.json", f"{stem}.why"])
    # A task that still runs ends by it, and says so as well.
    lines = [line for line in worker.log().splitlines() if "wins are 17" in line and "was refused" in line]
    equal(len(lines), 1, f"lines about it: {lines}")
    for path in worker.cache.glob("*/servers/*/spool/refused/*"):
        path.unlink()
    end(test)


def refused_games_keep_their_batch_aside():
    what_the_server_refuses_is_kept_aside_and_said_once("/games/", "bad_games")


def a_refused_batch_is_kept_aside_and_said_once():
    what_the_server_refuses_is_kept_aside_and_said_once("/batches", "bad_counts")


def a_disk_without_room_costs_nothing():
    """A file stands where the spool's folder should be: nothing can be written there, not even by root."""
    fresh_log()
    long_tasks(600)
    test = a_test(SLOW)
    wait_until(lambda: counted(test) >= 2, 30)
    spool, = worker.cache.glob("*/servers/*/spool")
    proxy.weather = lambda *_: "503"
    put_a_file_in_place_of(spool)
    wait_until(lambda: "stay in memory" in worker.log(), 30)
    known = counted(test)
    proxy.weather = lambda *_: PASS
    wait_until(lambda: counted(test) > known + 2, 30)
    equal(worker.log().count("stay in memory"), 1, "lines about it")
    spool.unlink()
    wait_until(lambda: "can be written to disk again" in worker.log(), 30)
    end(test)


def a_worker_that_slept_longer_than_its_lease_continues():
    test = a_test()
    wait_until(lambda: counted(test) >= 2, 30)
    worker.signal(signal.SIGSTOP)
    task, = sql(server, "SELECT max(id) FROM tasks")[0]
    sql(server, "UPDATE tasks SET lease_until = 1 WHERE state = 'open'")
    with Worker(server, "--concurrency", "1", env=HURRIED) as other:  # which gets the pairs that went back
        wait_until(lambda: sql(server, "SELECT count(*) FROM batches b JOIN tasks t ON t.id = b.task_id WHERE t.id > ?", task)[0][0], 60)
        worker.signal(signal.SIGCONT)
        known = counted(test)
        wait_until(lambda: counted(test) > known + 4, 30)
        other.signal(signal.SIGINT)
        other.wait()
    end(test)


def damaged_files_on_disk_are_put_aside():
    test = a_test(SLOW)
    wait_until(lambda: counted(test) >= 2, 30)
    proxy.weather = lambda *_: "503"
    # One of them may be on its way, and be acknowledged yet.
    wait_until(lambda: len([path for path in spooled() if path.suffix == ".json"]) >= 3, 30)
    worker.kill()
    first, second = sorted(path for path in spooled() if path.suffix == ".json")[:2]
    games = first.with_suffix(".games.zst")
    games.write_bytes(games.read_bytes()[:-7] + b"damaged")
    second.write_bytes(second.read_bytes()[:20])
    (second.parent / "0000000001-e00.json.zst").write_bytes(b"")
    proxy.weather = lambda *_: PASS
    worker.start()
    wait_until(lambda: not spooled() or counted(test) > 4, 30)
    names = " ".join(refused())
    for name in (first.name, games.name, second.name, second.with_suffix(".games.zst").name, "0000000001-e00.json.zst"):
        contains(names, name)
    end(test)


def ctrl_c_leaves_an_empty_spool():
    worker.signal(signal.SIGINT)
    equal(worker.wait(60), 0)
    equal(spooled(), [])


def main():
    global server, boss, proxy, worker
    book = write_plain_book(FOLDER / "book.epd")
    source = write_toy_source(FOLDER / "source")
    server = Server(init_options=["--engine-source", str(source), "--book", str(book)], start=False)
    try:
        sql(server, "INSERT INTO settings (name, value) VALUES ('task_seconds', '1')")
        server.start()
        boss = server.client(ADMIN)
        with Proxy(server) as proxy, Worker(proxy, "--concurrency", "1", env=HURRIED) as worker:
            wait_until(lambda: "registered" in worker.log())
            run(each_kind_of_weather_strikes_each_call_and_every_pair_counts_once, a_long_outage_is_one_line,
                a_batch_that_is_never_answered_lets_those_of_other_tasks_pass, refused_games_keep_their_batch_aside,
                a_refused_batch_is_kept_aside_and_said_once, a_disk_without_room_costs_nothing,
                a_worker_that_slept_longer_than_its_lease_continues, damaged_files_on_disk_are_put_aside,
                ctrl_c_leaves_an_empty_spool)
    finally:
        server.close()
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    main()
