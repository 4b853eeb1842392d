#!/usr/bin/python3
# test: first, sanitized only
"""The worker against a real server: patches built, benched and played; stopping, killing, outages.

The engine under test is the toy engine on our own rules, because it builds in seconds and plays in
milliseconds; a small main in front of it answers `bench`."""
import json
import difflib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import server as kit
import tap
import worker as worker_kit
from toy_engine import write_toy_source

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-worker-"))
FOLDER.chmod(0o755)  # run by root, the worker becomes another user, who must reach its folder
CACHE = FOLDER / "cache"
QUICK, SLOW = "Hash=16", "Hash=16 Mode=split"  # instant moves, or some 100 ms each
server = None


# ---- kit ------------------------------------------------------------------------------------------

def make_book():
    book = FOLDER / "book.epd"
    moves = ["e3", "d3", "c3", "b3", "a3", "h3", "g3", "f3"]
    lines = []
    for move in moves:
        file = "abcdefgh".index(move[0])
        third = (str(file) if file else "") + "P" + (str(7 - file) if file < 7 else "")
        second = "P" * file + "1" + "P" * (7 - file)
        lines.append(f"rnbqkbnr/pppppppp/8/8/8/{third}/{second}/RNBQKBNR b KQkq -\n")
    book.write_text("".join(lines))
    return book


def patch(old, new, file="main.c"):
    before = (FOLDER / "source" / file).read_text()
    after = before.replace(old, new)
    assert before != after
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{file}", f"b/{file}"))


number = 0


def submit(diff=None, **fields):
    """An approved test, the only one open; its id. Each has a patch of its own."""
    global number
    for row in rows("SELECT id FROM tests WHERE state <> 'finished'"):
        stop(row["id"])
    number += 1
    diff = diff or patch("#include <stdio.h>", f"#include <stdio.h>\n// patch {number}")
    form = {"engine": "anvil", "title": f"Patch {number}", "patch": diff, "workload": "fixed", "games": 64, "tc": "5+0.05",
            "batch_pairs": 2, "new_options": QUICK, "base_options": QUICK, "draw": "off", "resign": "off", "max_moves": 20,
            **fields}
    reply = server.client("dev").api("POST", "/tests", form)
    tap.equal(reply.status, 201, repr(reply))
    test = reply.json["id"]
    reply = server.client("boss").api("POST", f"/tests/{test}/approve", {})
    tap.equal(reply.status, 200, repr(reply))
    return test


def stop(test):
    tap.equal(server.client("boss").api("POST", f"/tests/{test}/stop", {"reason": "enough"}).status, 200)


def rows(sql, *args):
    db = sqlite3.connect(f"file:{server.data}/patchmate.db?mode=ro", uri=True, timeout=60 * tap.LOAD_FACTOR)
    db.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in db.execute(sql, args)]
    finally:
        db.close()


def one(sql, *args):
    found = rows(sql, *args)
    return found[0] if found else None


def test_row(test):
    return one("SELECT * FROM tests WHERE id = ?", test)


def counts_of(test):
    return {"wins": 0, "losses": 0, "draws": 0, **json.loads(test_row(test)["counts"])}


def games_of(test):
    counts = counts_of(test)
    return counts["wins"] + counts["losses"] + counts["draws"]


def a_worker(*options, cache=CACHE, env=None):
    """One on the shared cache."""
    return worker_kit.Worker(server, "--concurrency", "1", "--verbose", *options, cache=cache, env=env)


def inside(cache=CACHE):
    """Processes that see a folder of this cache as their /work: engines and builds, wherever they hang."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if FOLDER.name in (entry / "mountinfo").read_text() and " /work " in (entry / "mountinfo").read_text():
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
            except OSError:
                pass
    return found


def until(condition, seconds=60):
    return kit.wait_until(condition, seconds)


def no_process_is_left():
    until(lambda: not inside())


def sound(test):
    """What holds of every test: the server's own check, games and signatures that stand, batches without gaps, none twice."""
    server.command("check", server.data)
    server.command("replay", server.data, test)
    for task in rows("SELECT DISTINCT task_id FROM batches WHERE test_id = ?", test):
        seqs = [row["seq"] for row in rows("SELECT seq FROM batches WHERE task_id = ? ORDER BY seq", task["task_id"])]
        tap.equal(seqs, list(range(len(seqs))), "batches of a task")


# ---- tests ----------------------------------------------------------------------------------------

def a_patch_is_built_benched_and_played_to_the_end():
    test = submit(bench=4711)
    with a_worker() as worker:
        until(lambda: test_row(test)["state"] == "finished", 120)
        tap.contains(worker.log(), "bubblewrap")  # says on first run how it confines
        worker.signal(signal.SIGINT)
        tap.equal(worker.wait(), 0)
    row = test_row(test)
    tap.equal((row["result"], games_of(test)), ("completed", 64))
    batches = rows("SELECT * FROM batches WHERE test_id = ?", test)
    tap.equal(len(batches), 16)
    tap.true(all(batch["games_sha256"] and batch["counted"] for batch in batches), "every batch has its games and counts")
    tap.true(all(batch["speed"] == 1000000 and batch["tc"] == "5.000+0.050" for batch in batches), "speed and clock are told")
    sound(test)
    no_process_is_left()
    stands_before_a_stranger(test)


def stands_before_a_stranger(test):
    """What the worker signed, with the key that it made at its start."""
    bundle = FOLDER / "bundle.tar"
    server.command("bundle", server.data, test, bundle)
    done = subprocess.run([kit.BUILD / "server", "verify", bundle], capture_output=True, text=True, cwd="/")
    tap.equal(done.returncode, 0, done.stdout + done.stderr)
    tap.contains(done.stdout, "holds  signatures: 16 batches are as their machines signed them, with 1 key\n")
    tap.contains(done.stdout, "holds  games: 64 games of 16 batches")
    identity, = CACHE.glob("**/identity.json")
    tap.equal(identity.stat().st_mode & 0o777, 0o600)


def the_same_machine_is_the_same_worker_and_builds_nothing_twice():
    before = one("SELECT count(*) AS n FROM workers")["n"]
    test = submit()  # its new side has the same content as no other, its base was built
    with a_worker("--once") as worker:
        until(lambda: games_of(test) > 0, 60)
        tap.equal(worker.log().count("building"), 1)
    tap.equal(one("SELECT count(*) AS n FROM workers")["n"], before)
    stop(test)


def a_wrong_bench_is_reported_with_the_printed_number():
    test = submit(bench=815)
    with a_worker("--once") as worker:
        failure = until(lambda: one("SELECT * FROM failures WHERE test_id = ?", test))
        tap.equal((failure["kind"], failure["side"], failure["bench"]), ("bench", "new", 4711))
        tap.contains(failure["log"], "Nodes searched  : 4711")
        tap.equal(worker.wait(), 0)


def a_failed_build_is_reported_with_the_compilers_words():
    test = submit(patch("BENCH = 4711", "BENCH = forty_seven"))
    with a_worker("--once") as worker:
        failure = until(lambda: one("SELECT * FROM failures WHERE test_id = ?", test))
        tap.equal((failure["kind"], failure["side"]), ("build", "new"))
        tap.contains(failure["log"], "forty_seven")
        tap.contains(failure["message"], "status 2")
        tap.contains(failure["message"], "error:")  # the line that matters
        tap.equal(worker.wait(), 0)


def an_engine_that_never_answers_is_reported():
    test = submit(patch("return toy_main(argc, argv);", 'return fprintf(stderr, "no net %d", argc) < 0;'))
    with a_worker("--once") as worker:
        failure = until(lambda: one("SELECT * FROM failures WHERE test_id = ?", test))
        tap.equal((failure["kind"], failure["side"]), ("engine", "new"))
        tap.contains(failure["log"], "> uci")
        tap.contains(failure["log"], "no net 1")
        tap.equal(worker.wait(), 0)
    no_process_is_left()


def crashes_lose_games_and_the_test_continues():
    test = submit(games=8, new_options="Hash=16 Mode=crashgo After=3", tc="60+1")
    with a_worker():
        until(lambda: test_row(test)["state"] == "finished")
    counts = counts_of(test)
    tap.equal((counts["losses"], counts["crashes"], test_row(test)["result"]), (8, 8, "completed"))
    sound(test)


def each_end_of_a_game_stands_its_replay():
    """Those that the other tests do not have: flags that fall, illegal moves, resignations and draws by scores."""
    for options, fields, wanted in (("Mode=hang After=2", {"tc": "0.3+0.01"}, ("time_losses", 4)), ("Mode=illegal After=3", {}, ("crashes", 4)),
                                    ("Score=-700", {"resign": "on", "resign_count": 3}, ("losses", 4)),
                                    ("Score=5", {"draw": "on", "draw_move": 5, "draw_count": 3, "base_options": f"{QUICK} Score=-5"}, ("draws", 4))):
        test = submit(games=4, **{"new_options": f"{QUICK} {options}", **fields})
        with a_worker():
            until(lambda: test_row(test)["state"] == "finished")
        tap.equal(counts_of(test)[wanted[0]], wanted[1], options)
    tap.equal(rows("SELECT * FROM failures WHERE kind = 'games'"), [])


def games_that_a_rule_ended_are_played_on():
    """With seed 8, these are the second game of pair 2 and the first of pair 8; the rule is max_moves."""
    test = submit()
    with sqlite3.connect(server.data / "patchmate.db", timeout=60 * tap.LOAD_FACTOR) as db:
        db.execute("UPDATE tests SET seed = 8 WHERE id = ?", (test,))
    db.close()
    with a_worker() as worker:
        until(lambda: test_row(test)["state"] == "finished", 120)
        until(lambda: one("SELECT count(*) AS n FROM endings WHERE test_id = ?", test)["n"] == 2)
        tap.true("refused" not in worker.log(), worker.log()[-2000:])
    found = rows("SELECT k.first_pair, e.* FROM endings e JOIN tasks k ON k.id = e.task_id WHERE e.test_id = ? ORDER BY k.id, e.game", test)
    tap.equal([2 * row["first_pair"] + row["game"] for row in found], [5, 16])
    tap.true(all(row["counts"] and row["ruled"] == "draw" for row in found), repr(found))
    tap.equal(games_of(test), 64, "no result changes")
    sound(test)


def what_an_engine_says_wrong_is_counted_for_its_side():
    """The patch gives no score with its moves; its base says mate in 1 at each of them, and never mates."""
    test = submit(games=8, new_options="Hash=16 Score=none", base_options="Hash=16 Score=m1")
    with a_worker():
        until(lambda: test_row(test)["state"] == "finished")
    said = {row["side"]: row for row in rows(
        "SELECT s.side, sum(s.moves) AS moves, sum(s.illegal_pv) AS illegal_pv, sum(s.other_move) AS other_move, sum(s.false_mate) AS "
        "false_mate, sum(s.no_score) AS no_score FROM said s JOIN batches b ON b.id = s.batch_id WHERE b.test_id = ? GROUP BY s.side", test)}
    new, base = said["new"], said["base"]
    tap.equal((new["illegal_pv"], new["other_move"], new["false_mate"]), (0, 0, 0))
    tap.true(0.9 * new["moves"] < new["no_score"] <= new["moves"], repr(said))  # an only move needs no score
    tap.equal((base["no_score"], base["illegal_pv"], base["other_move"]), (0, 0, 0))
    tap.true(new["moves"] >= 8 * 10 and 0.9 * base["moves"] < base["false_mate"] <= base["moves"], repr(said))
    document = server.client("dev").api("GET", f"/tests/{test}").json
    tap.true(document["said_warning"] and document["said_warning"] in document["warnings"], repr(document["said_warning"]))
    tap.equal(document["result"], "completed")
    sound(test)


def ctrl_c_once_ends_the_running_batch_and_hands_back_the_rest():
    test = submit(new_options=SLOW, max_moves=8, games=640)
    with a_worker() as worker:
        until(lambda: games_of(test) > 0)
        worker.signal(signal.SIGINT)
        tap.equal(worker.wait(), 0)
    no_process_is_left()
    task = one("SELECT * FROM tasks WHERE test_id = ? ORDER BY id DESC", test)
    tap.equal(task["state"], "released")
    reported = task["next_seq"] * one("SELECT batch_pairs FROM tests WHERE id = ?", test)["batch_pairs"]
    tap.true(0 < reported < task["pair_count"], "some pairs were reported and not all")
    tap.equal(task["started_pairs"], reported, "pairs that were begun")
    tap.equal(one("SELECT count(*) AS count FROM dropped WHERE task_id = ?", task["id"])["count"], 0)
    stop(test)
    sound(test)


def ctrl_c_twice_leaves_at_once():
    test = submit(new_options=SLOW, max_moves=1000, tc="1000+1")
    with a_worker() as worker:
        until(lambda: "pairs at" in worker.log())
        until(lambda: len(inside()) >= 2)
        worker.signal(signal.SIGINT)
        until(lambda: "Ctrl-C again stops immediately" in worker.log())
        worker.signal(signal.SIGINT)
        tap.equal(worker.wait(), 130, "the status of a worker that did not wait for its pair")
    no_process_is_left()
    tap.equal(one("SELECT * FROM tasks WHERE test_id = ?", test)["state"], "released")
    stop(test)


def no_engine_survives_the_sudden_death_of_the_worker():
    test = submit(new_options=SLOW, max_moves=1000, tc="1000+1")
    with a_worker() as worker:
        until(lambda: len(inside()) >= 2)
        worker.signal(signal.SIGKILL)
        worker.wait()
        no_process_is_left()
    stop(test)


def a_stopped_test_is_dropped_at_once():
    test = submit(new_options=SLOW, max_moves=4, games=640)
    with a_worker() as worker:
        until(lambda: games_of(test) > 0)
        stop(test)
        until(lambda: "ends: finished" in worker.log(), 30)
        no_process_is_left()
        task = one("SELECT * FROM tasks WHERE test_id = ? ORDER BY id DESC", test)
        batches = one("SELECT count(*) AS n FROM batches WHERE task_id = ?", task["id"])["n"]
        tap.true(2 * batches < task["pair_count"], f"{batches} batches of a task of {task['pair_count']} pairs: all were played")


def while_the_server_is_away_play_continues_and_nothing_is_lost():
    test = submit(new_options=SLOW, max_moves=2, games=40)
    with a_worker() as worker:
        until(lambda: games_of(test) > 0)
        server.kill()
        spool = CACHE / "1/servers"
        until(lambda: len(list(spool.glob("*/spool/*.json"))) >= 2)
        until(lambda: "waiting for" in worker.log())
        tap.equal(worker.log().count("waiting for"), 1, "lines about the outage")
        server.start()
        until(lambda: test_row(test)["state"] == "finished", 120)
        worker.signal(signal.SIGINT)
        tap.equal(worker.wait(), 0)
        tap.contains(worker.log(), "answers again")
        tap.equal(list(spool.glob("*/spool/*")), [], "the spool is empty")
    tap.equal(games_of(test), 40)
    sound(test)


def batches_outlive_the_worker_that_made_them():
    test = submit(new_options=SLOW, max_moves=2, games=640)
    spool = CACHE / "1/servers"
    with a_worker() as worker:
        until(lambda: games_of(test) > 0)
        server.kill()
        until(lambda: len(list(spool.glob("*/spool/*.json"))) >= 2)
        worker.signal(signal.SIGKILL)
        worker.wait()
    unsent = len(list(spool.glob("*/spool/*.json")))
    server.start()
    before = len(rows("SELECT * FROM batches WHERE test_id = ?", test))
    with a_worker() as worker:
        until(lambda: not list(spool.glob("*/spool/*.json")))
        until(lambda: "an earlier run left" in worker.log())
    after = len(rows("SELECT * FROM batches WHERE test_id = ?", test))
    tap.true(after >= before + unsent - 1, f"{before} batches and {unsent} unsent ones became {after}")
    stop(test)
    sound(test)


def two_workers_share_a_folder_under_two_numbers():
    with a_worker() as first:
        until(lambda: "registered" in first.log())
        with a_worker() as second:
            until(lambda: "registered" in second.log())
            tap.contains(first.log(), f"folder {CACHE}/1\n")
            tap.contains(second.log(), f"folder {CACHE}/2\n")


def without_a_sandbox_the_worker_refuses_unless_an_option_allows_it():
    tools = FOLDER / "tools"
    tools.mkdir()
    for name in ["cc", "gcc", "make", "sh", "env", "true", "ld", "as"]:
        (tools / name).symlink_to(shutil.which(name))
    env = {**os.environ, "PATH": str(tools)}
    with a_worker("--sandbox", "0", env=env) as worker:
        tap.equal(worker.wait(), 1)
        tap.contains(worker.log(), "--no-sandbox")
    test = submit(games=8)
    with a_worker("--sandbox", "0", "--no-sandbox", env=env) as worker:
        until(lambda: test_row(test)["state"] == "finished")
        tap.contains(worker.log(), "sandbox level 0")
    tap.equal(one("SELECT host ->> 'sandbox' AS level FROM workers WHERE id = (SELECT max(worker_id) FROM tasks)")["level"], 0)


def a_fleet_worker_leaves_when_there_is_no_work():
    with a_worker("--fleet") as worker:
        tap.equal(worker.wait(), 0)


def bad_options_are_explained():
    for words, said in [([], "--server"), (["--server", "x"], "http://"), (["--server", "http://x", "--nice", "99"], "0 to 19"),
                        (["--frob"], "--frob")]:
        done = subprocess.run([str(kit.BUILD / "worker"), *words], capture_output=True, text=True, timeout=60 * tap.LOAD_FACTOR)
        tap.equal(done.returncode, 2)
        tap.contains(done.stderr, said)


try:
    with kit.Server(init_options=["--engine-source", str(write_toy_source(FOLDER / "source")), "--book", str(make_book())]) as server:
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        tap.run(a_patch_is_built_benched_and_played_to_the_end, the_same_machine_is_the_same_worker_and_builds_nothing_twice,
                a_wrong_bench_is_reported_with_the_printed_number, a_failed_build_is_reported_with_the_compilers_words,
                an_engine_that_never_answers_is_reported, crashes_lose_games_and_the_test_continues,
                each_end_of_a_game_stands_its_replay, games_that_a_rule_ended_are_played_on,
                what_an_engine_says_wrong_is_counted_for_its_side,
                ctrl_c_once_ends_the_running_batch_and_hands_back_the_rest, ctrl_c_twice_leaves_at_once,
                no_engine_survives_the_sudden_death_of_the_worker, a_stopped_test_is_dropped_at_once,
                while_the_server_is_away_play_continues_and_nothing_is_lost, batches_outlive_the_worker_that_made_them,
                two_workers_share_a_folder_under_two_numbers, without_a_sandbox_the_worker_refuses_unless_an_option_allows_it,
                a_fleet_worker_leaves_when_there_is_no_work, bad_options_are_explained)
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
