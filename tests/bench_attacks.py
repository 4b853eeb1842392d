"""`make bench PARTS=attacks SEED=7`: attacks on a public server through its API. For each it prints what stopped it, how many pairs
of the attacker were counted, the limit of that, and what a vouched owner can do in its place. All numbers are from the server's
database and documents, and the command ends with 1 if an attack got further than its limit. SEED decides what is random, but for
the server's own secrets."""

import copy
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))
from attack_table import Table, counted_elsewhere, evidence, limit_of_share, percent, points_of, said, score_of  # noqa: E402
from bench_liars import (false_benches, false_failures, false_ponders, forty_accounts, ponders, slanted,  # noqa: E402
                         vetoed)
from bench_owners import held, other_moves, owners_with_a_record  # noqa: E402
from figures import head  # noqa: E402
from played import played  # noqa: E402
from protocol import batch, clock_of  # noqa: E402
from public_server import BATCH, OPENINGS, Lab, Machine, good, opening_of  # noqa: E402

NEVER_TWICE = 1296  # openings: at fixed nodes a test plays each once
COPIES = 36  # pairs: one game in eight is known again, so 1 of 15,000 who copy gets further


# ---- games that were not played -------------------------------------------------------------------------------------------------


def changed(change, outcomes="0134"):
    """A lie: games of these outcomes, changed."""
    def lie(lab, machine, task):
        games = played(task, 0, outcomes, lab.rng.getrandbits(40))
        return machine.send(task, change(copy.deepcopy(games), task) or games, outcomes)
    return lie


def every(**members):
    def change(games, _task):
        for game in games:
            game.update(members)
        return games
    return changed(change)


def without_moves(games, _task):
    return [{**game, "moves": "", "clock_ms": [], "scores": [], "depths": [], "nodes": []} for game in games]


def for_the_other_side(games, _task):
    turned = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2"}
    return [{**game, "result": turned[game["result"]]} for game in games]


def of_other_colours(games, _task):
    return [{**game, "new_is": "black" if game["new_is"] == "white" else "white"} for game in games]


def null_games(_lab, machine, task):
    return machine.api("POST", f"/tasks/{task['id']}/batches", batch(0, "4444", None, tc=clock_of(task)))


def games_of_no_upload(lab, machine, task):
    return machine.api("POST", f"/tasks/{task['id']}/batches", batch(0, "4444", f"{lab.rng.getrandbits(256):064x}", tc=clock_of(task)))


def swapped_counts(lab, machine, task):
    """The games that were lost, and counts as if they were won."""
    games = played(task, 0, "0013", lab.rng.getrandbits(40))
    return machine.send(task, games, "4431")


def of_another_test(rename):
    """Games of the library, which Ann and Ben played in another test, under other openings."""
    def lie(lab, machine, task):
        wanted = [opening_of({"opening": opening}) for opening in task["openings"][:BATCH]]
        others = [copy.deepcopy(entry) for key, entry in sorted(lab.library.items()) if key not in wanted][:BATCH]
        games = [game for entry in others for game in entry[0]]
        for number, game in enumerate(games):
            rename(game, task["first_pair"] + number // 2, task["openings"][number // 2])
        return machine.send(task, games, "".join(points for _, points in others))
    return lie


def at_clock(clock, **fields):
    """Games at another clock, which the batch tells or not."""
    def lie(lab, machine, task):
        return machine.send(task, played(task, 0, "0134", lab.rng.getrandbits(40), tc=clock), "0134", thought=0, **fields)
    return lie


FORGERIES = (
    ("no games", (("no hash", null_games), ("a hash of no upload", games_of_no_upload))),
    ("invented openings", (("a queen more", every(opening={"fen": "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1", "moves": ""})),)),
    ("games without moves", (("all won", changed(without_moves, "4444")), ("all drawn", changed(without_moves, "2222")))),
    ("swapped results", (("counts only", swapped_counts), ("games, not counts", changed(for_the_other_side)),
                         ("colours", changed(of_other_colours)))),
    ("another clock", (("told", at_clock("1.000+0.010", tc="1.000+0.010")), ("not told", at_clock("100.000+1.000")))),
    ("right games of another test", (("as they are", of_another_test(lambda game, pair, opening: None)),
                                     ("as this pair", of_another_test(lambda game, pair, opening: game.update(pair=pair))),
                                     ("and opening", of_another_test(lambda game, pair, opening: game.update(pair=pair, opening=opening))))),
)


def forge(lab, table, title, lies):
    table.attack(title)
    counted = 0
    for name, lie in lies:
        answers = []
        for machine in (Machine(lab), lab.vouched()):
            lab.vouched_play(2 * BATCH)  # these come first where pairs were given back
            task = machine.claim()
            answers.append(said(lie(lab, machine, task)))
            counted += lab.counted(machine)
            machine.release(task, 0)
        table.line(name, answers[0])
        table.line("   vouched", "the same" if answers[1].split(":")[0] == answers[0].split(":")[0] else answers[1])
    table.limit(f"no pair counts without games that stand the replay: {counted} counted", counted == 0)


def forgeries(lab, table):
    lab.begin()
    lab.vouched_play(2 * OPENINGS, think=True)
    lab.begin()
    lab.vouched_play(19 * BATCH * 4)
    for title, lies in FORGERIES:
        forge(lab, table, title, lies)


def taken_and_bounded(lab, table, deed):
    """What the server cannot see is bounded by the share of unproven owners, and free to vouched ones. `deed`: the last answer."""
    for name, machine in (("   stranger", Machine(lab)), ("   vouched", lab.vouched())):
        lab.vouched_play(19 * BATCH)
        table.line(name, f"{said(deed(machine))}; {lab.counted(machine)} of {lab.counted()} pairs counted")
    limit_of_share(lab, table)


def own_speed(lab, table):
    table.attack("another clock by an invented speed: a machine that says that it is ten times as fast plays with a tenth of the clock")
    lab.begin()
    taken_and_bounded(lab, table, lambda machine: at_clock("1.000+0.010", tc="1.000+0.010", speed=1e7)(lab, machine, machine.claim()))


def invented(lab, table):
    table.attack("games that a program made up, which stand the replay, all won")
    lab.begin()
    stranger, vic = Machine(lab), lab.vouched()
    early = stranger.play(lambda size: "4" * size, batches=100)
    table.line("stopped by", f"shares: {early} batches before a vouched owner had played")
    lab.vouched_play(19 * BATCH)
    stranger.play(lambda size: "4" * size, batches=100)
    table.line("after", f"{lab.counted(stranger)} of {lab.counted()} pairs counted; the test is {lab.state()}")
    limit_of_share(lab, table)
    while lab.state() == "active" and vic.play(lambda size: "4" * size, batches=100):
        pass
    largest = lab.document()["without"]["largest"]
    table.line("   vouched", f"the test is {lab.state()} after {lab.counted(vic)} pairs of its own. The page says: {largest['text']}")


# ---- games that were played before ----------------------------------------------------------------------------------------------


def copies(lab, machine, change=lambda game: None):
    """Sends games of the library until one is known again or nothing more is dealt. What the server said last."""
    reply, task = None, machine.claim()
    while task:
        for seq in range(task["pairs"] // BATCH):
            entries = [copy.deepcopy(lab.library[opening_of({"opening": opening})]) for opening in task["openings"][seq * BATCH:(seq + 1) * BATCH]]
            games = [game for entry in entries for game in entry[0]]
            for number, game in enumerate(games):
                game["pair"] = task["first_pair"] + seq * BATCH + number // 2
                change(game)
            reply = machine.send(task, games, "".join(points for _, points in entries), seq)
            if reply.status != 200 or lab.counted(machine) > COPIES:
                return reply
        task = machine.claim()
    return reply


def slower(game):
    """All clocks after the first move are a millisecond behind."""
    game["clock_ms"] = [ms - 1 for ms in game["clock_ms"]]


def known_again(lab, table):
    for name, machine in (("   stranger", Machine(lab)), ("   vouched", lab.vouched())):
        lab.vouched_play(19 * BATCH)
        reply = copies(lab, machine)
        mine = lab.counted(machine)
        table.line(name, f"{said(reply)}; {mine} pairs counted")
        table.limit(f"{COPIES} pairs, because one game in eight is known again", mine <= COPIES)
    limit_of_share(lab, table)


def copied(lab, table):
    table.attack("copied games, of the same test")
    lab.begin()
    lab.vouched_play(19 * BATCH * 2, think=True)
    known_again(lab, table)
    table.attack("right games of another open test, under the same openings")
    lab.begin(beside=True)
    known_again(lab, table)
    table.attack("copied games with other clocks")
    lab.begin()
    lab.vouched_play(19 * BATCH * 2, think=True)
    taken_and_bounded(lab, table, lambda machine: copies(lab, machine, slower))
    table.attack("right games of a test that has ended, under the same openings")
    lab.begin()
    taken_and_bounded(lab, table, lambda machine: copies(lab, machine))


# ---- batches that are left out --------------------------------------------------------------------------------------------------

ROUNDS = 40


def leave_out(lab, machine, others):
    """While vouched owners play so many pairs for each batch, the machine begins batches and gives back the worst tenth when it knows their results: their first pairs."""
    drawn, left = [lab.outcomes(BATCH) for _ in range(ROUNDS)], []
    worst = sorted(range(ROUNDS), key=lambda number: points_of(drawn[number]))[:ROUNDS // 10]
    for number, outcomes in enumerate(drawn):
        lab.vouched_play(others)
        task = machine.claim()
        while not task:
            lab.vouched_play(BATCH)
            task = machine.claim()
        if number in worst:
            left.append(task["first_pair"])
        else:
            good(machine.post(task, 0, outcomes))
        machine.release(task, BATCH)
    lab.vouched_play(4 * BATCH)
    return left


def dropped(lab, table):
    table.attack(f"dropping the worst tenth of one's batches, {ROUNDS} of which were begun")
    lab.begin()
    for name, machine, others in (("   stranger", Machine(lab), 19), ("   recorded", lab.recorded("picker"), 3), ("   vouched", lab.vouched(), 1)):
        left = leave_out(lab, machine, others * BATCH)
        again = sum(counted_elsewhere(lab, machine, first) for first in left)
        table.line(name, f"{len(left)} batches left out, of which {again} were dealt to another owner and counted; its score "
                         f"{percent(score_of(lab, machine))} in {lab.counted(machine)} pairs, that of all {percent(score_of(lab))} in {lab.counted()}")
        level = lab.anyone.api("GET", f"/machines/{machine.id}").json["machine"]["trust"]["level"]
        table.line("   then", f"it is {level}; the page of suspects says: {evidence(lab, machine) or 'nothing'}")
        table.limit(f"another owner plays what was begun: {len(left) - again} did not", again == len(left))
        table.limit("it is shown to maintainers, and has no record", level != "recorded" and "did not report" in evidence(lab, machine))
    limit_of_share(lab, table)


ATTACKS = (forgeries, own_speed, invented, copied, dropped, held, forty_accounts, owners_with_a_record, slanted, vetoed, false_benches, false_failures, false_ponders)


def attacks(build, _games, seed):
    os.environ["BUILD"] = str(build)
    head(seed)
    table = Table()
    for part, openings in ((ATTACKS, OPENINGS), ((other_moves,), NEVER_TWICE), ((ponders,), OPENINGS)):
        with Lab(seed, openings) as lab:
            for attack in part:
                lab.rng.seed(f"{seed} {attack.__name__}")  # what the server drew before changes nothing
                attack(lab, table)
    return table.fine
