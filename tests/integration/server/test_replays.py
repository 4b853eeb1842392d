#!/usr/bin/python3
# test: sanitized only
"""Games that stand a replay, and lies about games: each is found and named, and its batch does not count."""
import contextlib
import copy
import itertools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import ADJUDICATION, add_test, sql  # noqa: E402
from played import packed, played  # noqa: E402
from protocol import batch, claim, clock_of, put_games  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import contains, equal, run  # noqa: E402

OUTCOMES = "01234"
server = None
machines = itertools.count(1)


def only(test):
    """Lets machines have work of this test alone."""
    sql(server, "UPDATE tests SET state = CASE id WHEN ? THEN 'active' ELSE 'paused' END WHERE result IS NULL", test)
    return test


def replayed(lie=lambda games, task: games, outcomes=OUTCOMES, seed=1, **fields):
    """A machine's only batch, its games changed by `lie`: why it is refused; "": it counts, now or in its turn."""
    worker = server.worker(key=f"{next(machines):032x}")
    task = claim(worker).json
    games = played(task, 0, outcomes, seed)
    games = lie(copy.deepcopy(games), task) or games
    sha = put_games(worker, task["id"], 0, packed(games)).json["sha256"]
    reply = worker.api("POST", f"/tasks/{task['id']}/batches", batch(0, outcomes, sha, tc=clock_of(task), **fields))
    stored = sql(server, "SELECT counted OR waits FROM batches WHERE task_id = ?", task["id"])
    if reply.status == 200:
        equal(stored, [(1,)])
        return ""
    equal((reply.status, reply.code, stored), (422, "replay_mismatch", []), reply)
    equal(sql(server, "SELECT state FROM tasks WHERE id = ?", task["id"]), [("failed",)])
    equal(claim(worker).status, 204)
    return reply.json["error"]["message"].removeprefix("batch 0: ")


def changed(number, **members):
    """A lie about one game."""
    def lie(games, _task):
        games[number].update(members)
        return games
    return lie


def cut(number, plies, **members):
    """A game that ends sooner, with lists that fit."""
    def lie(games, _task):
        game = games[number]
        game["moves"] = " ".join(game["moves"].split()[:plies])
        for name in ("clock_ms", "scores", "depths", "nodes"):
            game[name] = game[name][:plies]
        game.update(members)
        return games
    return lie


def lists(number, name, change):
    def lie(games, _task):
        games[number][name] = [change(i, value) for i, value in enumerate(games[number][name])]
        return games
    return lie


def swapped(games, _task):
    """The second game of the second pair beside the first of the third, as if they were a pair: two lucky ones."""
    games[2], games[4] = {**games[4], "pair": games[2]["pair"]}, {**games[2], "pair": games[4]["pair"]}
    return games


def of_another_opening(games, task):
    """The right games of other openings: those that the side is better in."""
    others = played({**task, "openings": task["openings"][5:]}, 0, OUTCOMES)
    return [{**other, "opening": mine["opening"]} for other, mine in zip(others, games)]


# Games 0 and 1 of OUTCOMES "01234" are lost, 3 is lost, 2, 4, 5 and 7 are drawn, 6, 8 and 9 are won by the new side.
LIES = (
    ("games without a move", cut(0, 0), "game 1: its result does not follow"),
    ("an invented opening", changed(0, opening={"fen": "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1", "moves": ""}), "game 1: its opening is not the one"),
    ("games of another opening", of_another_opening, "game "),
    ("openings that change places", swapped, "game 3: its opening is not the one"),
    ("colours that suit", changed(1, new_is="white"), "game 2: its colours are not those"),
    ("games of another pair", changed(0, pair=77), "game 1: it is of another pair"),
    ("a result turned round", changed(0, result="1-0"), "game 1: its result does not follow"),
    ("a draw by decree", changed(0, result="1/2-1/2"), "game 1: its result does not follow"),
    ("a resignation that the scores do not show", lists(0, "scores", lambda i, score: score // 9), "game 1: its result does not follow"),
    ("a resignation too soon", cut(0, 2), "game 1: its result does not follow"),
    ("a drawn game that is called lost", changed(2, result="0-1", end="adjudication"), "game 3: its result does not follow"),
    ("scores that should have ended the game", lists(2, "scores", lambda i, score: -5000), "game 3: it was over after ply"),
    ("a flag that never fell", cut(2, 2, result="0-1", end="time", flag_ms=12), "game 3: it was lost on time after 12 ms"),
    ("a flag without a time", cut(2, 2, result="0-1", end="time"), "game 3: it was lost on time after -1 ms"),
    ("a clock that gains", lists(0, "clock_ms", lambda i, ms: ms + (3 if i == 1 else 0)), "game 1: 10103 ms on the clock after ply 2"),
    ("another clock", lists(0, "clock_ms", lambda i, ms: 10 * ms), "game 1: 101000 ms on the clock after ply 1"),
    ("a game that goes on", lambda games, _: extended(games), "game 1: it was over after ply"),
    ("a list too short", changed(0, depths=[]), "game 1: it has not one clock, score, depth"),
)


def extended(games):
    game = games[0]
    game["moves"] += " a1a1"
    for name in ("clock_ms", "scores", "depths", "nodes"):
        game[name].append(game[name][-1])
    return games


def honest_games_stand_whatever_their_test():
    two_sided = {**ADJUDICATION, "resign_two_sided": True, "resign_count": 5}
    for fields in ({"tc": "10+0.1"}, {"tc": "nodes=1000"}, {"tc": "40/10+0.1"}, {"tc": "10+0.1", "adjudication": json.dumps(two_sided)}):
        only(add_test(server, batch_pairs=5, **fields))
        for seed in range(3):
            equal(replayed(seed=seed), "", fields)


def each_lie_is_found_and_counts_nothing():
    test = only(add_test(server, batch_pairs=5, tc="10+0.1"))
    for name, lie, words in LIES:
        contains(replayed(lie), words)
        equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(0,)], name)
    equal(replayed(), "")
    equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(5,)])
    invented = {"wins": 4, "losses": 4, "draws": 2}
    for fields, words in (({"crashes": 1}, "0 crashes"), ({"time_losses": 2}, "0 time losses"),
                          (invented, "3 games won, 3 lost and 4 drawn, counted as 4, 4 and 2")):
        contains(replayed(**fields), words)
    test = only(add_test(server, batch_pairs=5, tc="nodes=1000"))
    contains(replayed(cut(2, 2, result="0-1", end="time", flag_ms=99999)), "game 3: it was lost on time without a clock")
    equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(0,)])
    contains(server.command("check", server.data), "0 differences")


def a_side_that_computed_in_its_opponents_time_lost_however_the_game_ended():
    """Games 3 and 5 are drawn by the rules and game 7 is won by resignation; then the new side lost them."""
    test = only(add_test(server, batch_pairs=5, tc="10+0.1"))

    def counted(**ponders):
        worker = server.worker(key=f"{next(machines):032x}")
        task = claim(worker).json
        games = played(task, 0, OUTCOMES)
        for number in (2, 4, 6):
            games[number].update(end="ponder", result="0-1")
        sha = put_games(worker, task["id"], 0, packed(games)).json["sha256"]
        return worker.api("POST", f"/tasks/{task['id']}/batches", batch(0, "00114", sha, tc=clock_of(task), **ponders))
    contains(counted(ponders=2, ponders_against=1).json["error"]["message"],
             "3 by pondering of the new side and 0 of the base, counted as 0, 0, 2 and 1")
    equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(0,)])
    equal(counted(ponders=3).json["counted"], True)
    equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(5,)])
    test = only(add_test(server, batch_pairs=5, tc="10+0.1"))
    contains(replayed(changed(2, end="ponder")), "game 3: its result does not follow")
    contains(replayed(changed(0, end="ponder")), "1 by pondering of the new side and 0 of the base, counted as 0, 0, 0 and 0")
    equal(sql(server, "SELECT units_counted FROM tests WHERE id = ?", test), [(0,)])


def send(worker, task, seq, games):
    """The reply to a batch with these games, which an honest machine may have played."""
    reply = put_games(worker, task["id"], seq, packed(games))
    equal(reply.status, 200, reply)
    thought = sum(thinking(game, task) for game in games)
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, OUTCOMES, reply.json["sha256"], tc=clock_of(task), thought=thought))


def thinking(game, task):
    """What the clocks say of both sides at 10+0.1, in ms."""
    clocks = game["clock_ms"]
    return sum(10000 + 100 * len(clocks[side::2]) - clocks[side::2][-1] for side in (0, 1) if clocks[side::2])


def long_games(task, seq, seed=1):
    """Games of which each engine can be known again. Some random games come to where none of the outcomes is left."""
    for more in range(50):
        with contextlib.suppress(subprocess.CalledProcessError):
            return played(task, seq, OUTCOMES, seed + more, plies=24, think_ms=400)
    raise RuntimeError("no such games were found")


def one_range_for_two(tc):
    """Two machines with a task of the same pairs: that of the first one came to its end meanwhile."""
    test = only(add_test(server, batch_pairs=5, tc=tc))
    first, second = (server.worker(key=f"{next(machines):032x}") for _ in range(2))
    early = claim(first).json
    equal(first.api("POST", f"/tasks/{early['id']}/release", {"started_pairs": 0}).status, 200)
    late = claim(second).json
    equal((early["test"]["id"], early["first_pair"]), (test, late["first_pair"]))
    sql(server, "UPDATE tasks SET created = created - 10000")  # so that the engines had the time to think
    return first, early, second, late


def games_with_a_mark(worker, task):
    """The batch and the games that the machine sent last: one of them is kept in mind."""
    for seq in range(len(task["openings"]) // 5):
        games = long_games(task, seq)
        reply = send(worker, task, seq, games)
        equal(reply.status, 200, reply)
        if sql(server, "SELECT count(*) FROM prints WHERE task_id = ?", task["id"]) != [(0,)]:
            return seq, games
    raise RuntimeError("no game of the task is kept in mind")


def sent_for_another_test(seq, games):
    """One of the same book and seed, so the openings are right."""
    test = only(add_test(server, batch_pairs=5, tc="10+0.1"))
    thief = server.worker(key=f"{next(machines):032x}")
    task = claim(thief).json
    sql(server, "UPDATE tasks SET created = created - 10000")
    equal((task["test"]["id"], task["first_pair"]), (test, games[0]["pair"] - 5 * seq))
    for earlier in range(seq):
        equal(send(thief, task, earlier, long_games(task, earlier, 200)).status, 200)
    contains(send(thief, task, seq, games).json["error"]["message"], "so it was copied")


def copied_games_are_found():
    first, early, second, late = one_range_for_two("10+0.1")
    last, games = games_with_a_mark(second, late)
    for seq in range(last):
        equal(send(first, early, seq, long_games(early, seq, 100)).status, 200)
    reply = send(first, early, last, games)
    equal((reply.status, reply.code), (422, "replay_mismatch"), reply)
    contains(reply.json["error"]["message"], f"of batch {last} of task {late['id']}, so it was copied")
    equal(sql(server, "SELECT kind FROM failures WHERE task_id = ?", early["id"]), [("games",)])
    equal(send(second, late, last, games).status, 200, "a batch that is sent again is no copy")
    sent_for_another_test(last, games)
    sql(server, "UPDATE tests SET state = 'finished', result = 'stopped', finished = 1")
    wait_until(lambda: sql(server, "SELECT count(*) FROM prints") == [(0,)])


def games_without_clocks_may_be_equal():
    first, early, second, late = one_range_for_two("nodes=1000")
    for worker, task in ((second, late), (first, early)):
        for seq in range(len(task["openings"]) // 5):
            games = long_games(task, seq)
            sha = put_games(worker, task["id"], seq, packed(games)).json["sha256"]
            equal(worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, OUTCOMES, sha, tc="nodes=1000")).status, 200)
    equal(sql(server, "SELECT count(*) FROM prints"), [(0,)])


if __name__ == "__main__":
    with Server(start=False) as server:
        server.command("set", server.data, "registrations_per_hour", "100000")
        server.start()
        run(honest_games_stand_whatever_their_test, each_lie_is_found_and_counts_nothing,
            a_side_that_computed_in_its_opponents_time_lost_however_the_game_ended, copied_games_are_found,
            games_without_clocks_may_be_equal)
