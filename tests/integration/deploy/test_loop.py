#!/usr/bin/python3
# test: first, sanitized only
"""The whole loop with real processes: a patch goes in, a real worker builds the real engine in its sandbox and plays, a
verdict comes out, the branch moves; and what happens when the patch is bad, the server is away or the volunteer leaves."""

import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import MATCHES, build_quickly, sql, write_book  # noqa: E402
from patches import demo, with_line  # noqa: E402
from server import Client, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402

# Bounds so far from what any patch does that a few pairs decide.
SURE_PASS = {"model": "logistic", "elo0": -600, "elo1": -300}
SURE_FAIL = {"model": "logistic", "elo0": 300, "elo1": 600}
server = worker = dev = boss = None
merged = 0  # the test whose patch was merged


def test_row(test, *columns):
    return sql(server, f"SELECT {', '.join(columns)} FROM {MATCHES} WHERE id = ?", test)[0]


def finished(test, seconds=90):
    """(result, reason) once the test is over."""
    def look():
        state, result, reason = test_row(test, "state", "result", "reason")
        return (result, reason) if state == "finished" else None
    try:
        return wait_until(look, seconds, 0.1)
    except AssertionError:
        raise AssertionError(f"no verdict of test {test}; the worker says: {worker.log()[-3000:]}") from None


def batches(test):
    return sql(server, "SELECT count(*) FROM batches WHERE test_id = ?", test)[0][0]


def submit(**fields):
    """By the API, with a token of dev's; approved by boss. The test's id."""
    reply = dev.api("POST", "/tests", {"title": "By the API", "tc": "nodes=1000", "batch_pairs": 2, **fields})
    equal(reply.status, 201, reply)
    test = reply.json["id"]
    equal(boss.api("POST", f"/tests/{test}/approve").status, 200)
    return test


def a_patch_from_the_form_gets_a_verdict():
    global merged
    author = server.client("dev")
    fields = {"title": "Take the history heuristic away", "patch": demo("take-away-history").replace("\n", "\r\n"), "tc": "0.1+0.002",
              "batch_pairs": "1", "workload": "sprt", **SURE_PASS}
    reply = author.form("/tests/new", fields)
    equal(reply.status, 303, reply)
    merged = int(reply.headers["Location"].rsplit("/", 1)[1])
    reply = author.api("POST", f"/tests/{merged}/approve")
    equal(reply.status, 403, "you cannot approve your own test")
    wait_until(lambda: server.metric("waiting_claims") == 1, 60)
    equal(test_row(merged, "state", "next_pair"), ("pending", 0), "while the worker waits for a task")
    equal(boss.form(f"/tests/{merged}/approve", {}).status, 303)
    equal(finished(merged)[0], "accepted")
    wins, losses, draws, counts = test_row(
        merged, "counts ->> 'wins'", "counts ->> 'losses'", "counts ->> 'draws'", "(SELECT sum(value) FROM json_each(counts, '$.ptnml'))")
    true(counts > 0, "pairs")
    equal(wins + losses + draws, 2 * counts)


def the_worker_built_in_a_sandbox_and_established_both_benches():
    contains(worker.log(), "sandbox level 2")
    new, base = test_row(merged, "new_commit", "base_commit")
    counts = dict(sql(server, "SELECT sha, bench FROM known_commits"))
    true(counts[new] and counts[base], f"benches {counts}")
    true(counts[new] != counts[base], "the patch changes the search")


def the_clock_was_scaled_and_no_game_was_lost_to_a_crash():
    clocks = {tc for tc, in sql(server, "SELECT tc FROM batches WHERE test_id = ?", merged)}
    equal(len(clocks), 1)
    true(0 < float(clocks.pop().split("+")[0]) <= 100, "a clock of at most a thousand times 0.1")
    speeds = [speed for speed, in sql(server, "SELECT speed FROM batches WHERE test_id = ?", merged)]
    true(all(speed > 0 for speed in speeds), "measured speeds")
    equal(test_row(merged, "counts ->> 'crashes'"), (0,))


def the_games_are_kept_and_can_be_read():
    rows = sql(server, "SELECT games_sha256 FROM batches WHERE test_id = ?", merged)
    for sha, in rows:
        blob = server.data / "blobs" / sha[:2] / sha
        text = subprocess.run(["zstd", "-dcq", str(blob)], capture_output=True, check=True).stdout.decode()
        equal(len(text.splitlines()), 2)
        contains(text, '"moves":"')


def a_merge_moves_the_branch_and_a_clone_shows_the_patch():
    new, = test_row(merged, "new_commit")
    equal(boss.form(f"/tests/{merged}/merge", {}).status, 303)
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-c", "safe.directory=*"]
        done = subprocess.run([*git, "clone", "-q", f"{server.url}/git/anvil.git", folder], capture_output=True, text=True)
        equal(done.returncode, 0, done.stderr)
        head = subprocess.run([*git, "-C", folder, "log", "-1", "--format=%H%n%an%n%s"], capture_output=True, text=True).stdout
        equal(head.splitlines(), [new, "Dora Developer", "Try quiet moves in the order in which they come"])
        contains((pathlib.Path(folder) / "search/ordering.c").read_text(), "p->scores[i] = safer * SAFETY[type];")


def the_next_test_starts_at_the_merged_commit_and_can_be_rejected():
    test = submit(patch=demo("give-back-history"), **SURE_FAIL)
    equal(test_row(test, "base_commit"), test_row(merged, "new_commit"))
    equal(finished(test)[0], "rejected")


def a_patch_that_does_not_compile_ends_with_the_compilers_words():
    test = submit(patch=with_line("main.c", "#error this line is wrong on purpose"), **SURE_PASS)
    result, reason = finished(test)
    equal(result, "failed")
    contains(reason, "wrong on purpose")
    equal(test_row(test, "units_counted", "counts"), (0, "{}"))
    equal(boss.api("POST", f"/tests/{test}/merge").status, 409)


def a_wrong_bench_ends_with_both_counts():
    test = submit(patch=with_line("main.c", "// changes nothing"), bench=4242424, **SURE_PASS)
    result, reason = finished(test)
    equal(result, "failed")
    contains(reason, "4242424")
    contains(reason, str(sql(server, "SELECT bench FROM known_commits WHERE sha = (SELECT baseline FROM engines)")[0][0]))


def new_endless_test():
    """Bounds that equal engines never reach; played from the start to its second batch."""
    test = submit(commit="main", model="normalized", elo0=-5, elo1=5, new_options="Hash=1", base_options="Hash=1")
    wait_until(lambda: batches(test) >= 2, 60)
    return test


def a_stop_ends_the_task_before_its_last_pair():
    test = new_endless_test()
    equal(boss.api("POST", f"/tests/{test}/stop", {"reason": "seen enough"}).status, 200)
    task, pairs = sql(server, "SELECT id, pair_count FROM tasks WHERE test_id = ? ORDER BY id DESC", test)[0]
    wait_until(lambda: f"task {task} ends: finished" in worker.log())
    wait_until(lambda: not worker.spooled() and not sql(server, "SELECT 1 FROM tasks WHERE state = 'open'"))
    played, = sql(server, "SELECT count(*) * 2 FROM batches WHERE task_id = ?", task)[0]
    true(played < pairs, f"all {pairs} pairs of the task were played")
    equal(test_row(test, "state", "result"), ("finished", "stopped"))
    equal(worker.nothing_left(), [], "engines of the stopped test")


def a_worker_that_is_started_again_is_the_same_worker():
    before = sql(server, "SELECT id, games FROM workers")
    identity = worker.identity()
    worker.signal(signal.SIGTERM)
    equal(worker.wait(), 0)
    worker.start("--verbose")
    test = new_endless_test()
    after = sql(server, "SELECT id, games FROM workers")
    equal([row[0] for row in after], [row[0] for row in before])
    equal(worker.identity(), identity)
    true(after[0][1] > before[0][1], "its games go on counting")
    boss.api("POST", f"/tests/{test}/stop")


def batches_played_while_the_server_is_away_arrive_when_it_is_back():
    test = new_endless_test()
    server.kill()
    known = batches(test)
    wait_until(lambda: len(worker.spooled()) >= 3, 60)
    contains(worker.log(), "waiting for")
    names = {path.stem for path in worker.spooled()}
    server.start()
    wait_until(lambda: not names & {path.stem for path in worker.spooled()}, 60)
    wait_until(lambda: batches(test) >= known + 3)
    contains(worker.log(), "answers again")
    stored = {f"{task:010}-{seq:06}" for task, seq in sql(server, "SELECT task_id, seq FROM batches WHERE counted")}
    equal(names - stored, set(), "spooled and not counted")
    equal(sql(server, "SELECT count(DISTINCT task_id) FROM batches WHERE test_id = ?", test), [(1,)], "the same task went on")
    equal(test_row(test, "state"), ("active",))


def ctrl_c_ends_the_running_batch_and_hands_the_rest_back():
    worker.signal(signal.SIGINT)
    equal(worker.wait(), 0)
    equal(worker.nothing_left(), [])
    contains(worker.log(), "the rest of the task is returned")
    equal(worker.spooled(), [])
    state, begun, count, first, test, seq = sql(
        server, "SELECT state, started_pairs, pair_count, first_pair, test_id, next_seq FROM tasks ORDER BY id DESC LIMIT 1")[0]
    equal(state, "released")
    true(begun < count, "something was left")
    equal(sql(server, "SELECT count(*) FROM dropped"), [(0,)])
    back = sql(server, "SELECT first_pair, pair_count FROM returned_pairs WHERE test_id = ?", test)
    batch, = test_row(test, "batch_pairs")
    kept = seq * batch
    equal(begun, kept, "pairs begun and pairs reported")
    begun = min(kept + batch, count)  # the next batch is for another owner
    equal(back, [(first + at, size) for at, size in ((kept, begun - kept), (begun, count - begun)) if size])


def ctrl_c_twice_leaves_at_once():
    test, = sql(server, "SELECT max(id) FROM tests")[0]
    equal(boss.api("POST", f"/tests/{test}/stop").status, 200)
    test = submit(commit="main", tc="600+1", new_options="Hash=1", base_options="Hash=1")  # pairs of half an hour
    worker.start("--verbose")
    wait_until(lambda: sql(server, "SELECT 1 FROM tasks WHERE test_id = ? AND phase = 'play' AND state = 'open'", test), 60)
    wait_until(worker.left_over, 60)  # engines: a pair has begun, else there is nothing to wait for
    said = worker.log().count("Ctrl-C again")
    worker.signal(signal.SIGINT)
    wait_until(lambda: worker.log().count("Ctrl-C again") > said)
    worker.signal(signal.SIGINT)
    equal(worker.wait(), 130, "the status of a worker that did not wait for its pair")
    equal(worker.nothing_left(), [])


def every_game_stood_its_replay():
    true(sql(server, "SELECT count(*) FROM batches WHERE games_sha256 IS NOT NULL")[0][0] > 3, "batches with games")
    equal(sql(server, "SELECT message FROM failures WHERE kind = 'games'"), [])


def the_log_tells_the_story_and_a_replay_agrees():
    types = {kind for kind, in sql(server, "SELECT type FROM events")}
    true({"submitted", "approved", "started", "verdict", "merged", "failed", "stopped"} <= types, types)
    server.stop()
    contains(server.command("check", server.data), "database: sound")


def token_client(name):
    """A script of that user's."""
    made = server.client(name).api("POST", "/tokens", {"name": "script", "scope": "submit"}).json
    return Client(server, token=made["token"])


def main():
    global server, worker, dev, boss
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = write_book(pathlib.Path(folder) / "book.epd", 500)
        server = Server(init_options=["--book", str(book)], start=False)
    try:
        build_quickly(server)
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        server.start()
        dev, boss = token_client("dev"), server.client("boss")
        with Worker(server, "--concurrency", "1", start=False) as worker:
            worker.start("--verbose")
            run(a_patch_from_the_form_gets_a_verdict, the_worker_built_in_a_sandbox_and_established_both_benches,
                the_clock_was_scaled_and_no_game_was_lost_to_a_crash, the_games_are_kept_and_can_be_read,
                a_merge_moves_the_branch_and_a_clone_shows_the_patch,
                the_next_test_starts_at_the_merged_commit_and_can_be_rejected,
                a_patch_that_does_not_compile_ends_with_the_compilers_words, a_wrong_bench_ends_with_both_counts,
                a_stop_ends_the_task_before_its_last_pair, a_worker_that_is_started_again_is_the_same_worker,
                batches_played_while_the_server_is_away_arrive_when_it_is_back,
                ctrl_c_ends_the_running_batch_and_hands_the_rest_back, ctrl_c_twice_leaves_at_once,
                every_game_stood_its_replay, the_log_tells_the_story_and_a_replay_agrees)
    finally:
        server.close()


if __name__ == "__main__":
    main()
