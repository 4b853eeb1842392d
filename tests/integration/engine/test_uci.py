#!/usr/bin/python3
"""The engine as a GUI or a match runner meets it: UCI through pipes, and the commands of its command
line. Nothing here looks at how long a thing takes, only that it happens.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402
from uci import ENGINE, PATIENCE_S, Engine  # noqa: E402


def command(*args, **options):
    return subprocess.run([ENGINE, *args], capture_output=True, text=True, timeout=600 * LOAD_FACTOR, **options)


def uci_lists_the_options_and_ends_with_uciok():
    with Engine() as e:
        e.send("uci")
        text = "\n".join(e.until("uciok"))
        for part in ("id name Anvil", "id author", "option name Hash type spin default 16 min 1",
                     "option name Threads type spin", "option name UCI_Chess960 type check",
                     "option name MultiPV type spin", "option name Ponder type check",
                     "option name Move Overhead type spin", "option name Clear Hash type button"):
            contains(text, part)


def every_limit_of_go_gives_one_best_move():
    limits = ("depth 4", "nodes 2000", "movetime 20", "wtime 500 btime 500 winc 5 binc 5",
              "wtime 300 btime 300 movestogo 1", "wtime 1 btime 1", "wtime -20 btime -20",
              "mate 1 depth 3", "searchmoves a2a3 depth 3", "depth 3 searchmoves a2a3 b2b3")
    with Engine() as e:
        e.send("position startpos")
        for limit in limits:
            move = e.best("go " + limit)
            true(re.fullmatch("[a-h][1-8][a-h][1-8]", move), f"{limit}: {move}")
            equal(e.ask(), [], f"lines after the answer to {limit}")


def a_search_without_end_waits_for_stop():
    with Engine() as e:
        e.send("position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "go infinite depth 3")
        e.until("info depth 3")  # told as soon as it is known, not with the answer
        true(not any(l.startswith("bestmove") for l in e.ask()), "an answer came before stop")
        equal(e.best("stop"), "d1d8")


def a_stop_right_after_go_is_not_lost():
    with Engine() as e:
        for _ in range(50):
            true(e.best("position startpos", "go infinite", "stop") != "0000", "no move")


def a_stop_makes_way_for_the_next_command_at_once():
    """All of it is one write: the engine reads each line before the search has had time to end."""
    with Engine() as e:
        for _ in range(50):
            e.send("position startpos\ngo infinite\nstop\ngo depth 2")
            said = e.until("bestmove") + e.until("bestmove")
            equal([l for l in said if "a search is running" in l], [])
            contains("\n".join(said), "info depth 2 ")
            said = e.ask("go infinite\nstop\nsetoption name Hash value 2\nsetoption name MultiPV value 2\n"
                         "ucinewgame\neval")
            equal([l for l in said if l.startswith("info string")], [])
            contains("\n".join(e.ask("go infinite\nstop\nsetoption name MultiPV value 1")), "bestmove")
        e.send("go ponder depth 3\nponderhit\nstop\ngo depth 1")
        equal(len(e.until("bestmove") + e.until("bestmove")) > 1, True)


def pondering_ends_with_ponderhit_or_stop():
    with Engine() as e:
        e.send("position startpos moves e2e4 e7e5", "go ponder wtime 200 btime 200 winc 0 binc 0")
        equal([l for l in e.ask() if l.startswith("bestmove")], [])
        true(e.best("ponderhit") != "0000", "no move after ponderhit")
        e.send("go ponder wtime 200 btime 200")
        true(e.best("stop") != "0000", "no move after stop")


def isready_is_answered_while_it_thinks():
    with Engine() as e:
        e.send("position startpos", "go infinite")
        e.ask()
        contains("\n".join(e.ask("ucinewgame")), "a search is running")
        contains("\n".join(e.ask("go depth 1")), "a search is running")
        e.best("stop")
        equal(e.ask("ucinewgame"), [])


def mates_are_reported_in_moves():
    with Engine() as e:
        e.send("position fen k7/8/2K5/8/8/8/8/7R w - - 0 1", "go depth 6")
        contains("\n".join(e.until("bestmove")), " score mate 2 ")
        e.send("position fen k7/8/1K6/8/8/8/8/7R b - - 0 1", "go depth 6")
        contains("\n".join(e.until("bestmove")), " score mate -1 ")


def a_finished_game_has_no_best_move():
    with Engine() as e:
        equal(e.best("position fen R6k/8/6K1/8/8/8/8/8 b - - 0 1", "go depth 5"), "0000")
        equal(e.best("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go movetime 10"), "0000")


GAME = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6"
WORLD = (GAME, "position fen r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/P1N2N2/1P2BPPP/R1BQ1RK1 w - - 0 10",
         "position fen 8/8/4k3/8/2K5/8/4P3/8 w - - 0 1", "position fen k7/8/2K5/8/8/8/8/7R w - - 0 1",
         "position fen 4k3/8/8/8/8/8/3q4/4K3 w - - 0 1")


def holds(lines, nodes=None):
    """The last line with a PV tells what was played: its move, its reply, a score, a depth, all nodes."""
    said = [l for l in lines if l.startswith("info ") and " pv " in l and not re.search(r" multipv ([2-9]|\d\d)", l)]
    true(said, f"no PV before {lines[-1]}")
    found = re.fullmatch(r"info depth (\d+) seldepth \d+ multipv 1 score (?:cp|mate) -?\d+(?: (?:low|upp)erbound)? "
                         r"nodes (\d+) nps \d+ hashfull \d+ time \d+ pv (.*)", said[-1])
    true(found, said[-1])
    pv = found.group(3).split()
    equal(lines[-1], " ".join(["bestmove", pv[0]] + ["ponder " + m for m in pv[1:2]]), said[-1])
    true(int(found.group(1)) >= 1, said[-1])
    if nodes and int(found.group(1)) < 120:  # the deepest search may end before the limit
        equal(int(found.group(2)), nodes, said[-1])


def the_last_line_tells_the_move_that_is_played():
    """Wherever the search was cut off: before the first value, within an iteration, after one."""
    with Engine() as e:
        for position in WORLD:
            for nodes in (1, 2, 5, 20, 45, *range(60, 1500, 37), 4000, 9999, 30000):
                e.send("ucinewgame", position, f"go nodes {nodes}")
                holds(e.until("bestmove"), nodes)
        for limit in ("movetime 30", "wtime 300 btime 300", "depth 7", "infinite\nstop", "ponder\nponderhit\nstop"):
            e.send(GAME, "go " + limit)
            holds(e.until("bestmove"))
        e.send("setoption name Threads value 3", "setoption name MultiPV value 2")
        for limit in ("nodes 20000", "movetime 60", "depth 6"):
            e.send(GAME, "go " + limit)
            holds(e.until("bestmove"))


def several_lines_are_reported():
    with Engine() as e:
        e.send("setoption name MultiPV value 3", "position startpos", "go depth 4")
        lines = [l for l in e.until("bestmove") if " depth 4 " in l]
        equal([re.search(r"multipv (\d)", l).group(1) for l in lines], ["1", "2", "3"])
        equal(len({l.split(" pv ")[1].split()[0] for l in lines}), 3, "different first moves")


def castling_is_written_as_the_variant_wants():
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    with Engine() as e:
        equal(e.best(f"position fen {fen}", "go depth 2 searchmoves e1g1"), "e1g1")
        equal(e.best("setoption name UCI_Chess960 value true", f"position fen {fen}",
                     "go depth 2 searchmoves e1h1"), "e1h1")
        equal(e.best("position fen 1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1 moves e1g1",
                     "go depth 2 searchmoves e8b8"), "e8b8")


def threads_and_hash_can_be_changed():
    with Engine() as e:
        equal(e.ask("setoption name Threads value 4", "setoption name Hash value 3",
                    "setoption name Clear Hash"), [])
        for _ in range(3):
            true(e.best("position startpos", "go depth 8") != "0000", "no move")
        equal(e.ask("setoption name threads value 1"), [])
        true(e.best("go depth 5") != "0000", "no move")


def bad_input_is_named_and_passed_over():
    bad = {
        "frobnicate": "unknown command: frobnicate",
        "position": "expected startpos or fen",
        "position here": "expected startpos or fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1": "position:",
        "position fen " + "x" * 5000: "too long",
        "position startpos e2e4": "expected moves",
        "position startpos moves e2e5": "e2e5 is no legal move",
        "position startpos moves " + "e" * 3000: "is no legal move",
        "setoption": "expected: name",
        "setoption name Nothing value 1": "unknown option",
        "setoption name Hash value 0": "from 1 to",
        "setoption name Hash value many": "from 1 to",
        "setoption name Hash": "from 1 to",
        "setoption name Ponder value maybe": "true or false",
        "x" * 200000: "longer than",
    }
    with Engine() as e:
        for line, answer in bad.items():
            contains("\n".join(e.ask(line)), answer)
        equal(e.ask("", "   ", "\t"), [])
        e.send("go depth nine")
        contains("\n".join(e.until("bestmove")), "cannot read depth")
        true(e.best("position startpos", "go depth 3") != "0000", "no move after bad input")


def a_bad_position_leaves_the_old_one():
    with Engine() as e:
        said = e.ask("position startpos moves e2e4", "position fen nonsense",
                     "position startpos moves e2e4 e7e5 e4e5", "d")
        contains("\n".join(said), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -")


def quit_and_end_of_input_end_it_even_while_it_thinks():
    for closing in ("quit", None):
        with Engine() as e:
            e.send("position startpos", "go infinite")
            if closing:
                e.send(closing)
            else:
                e.process.stdin.close()
            equal(e.process.wait(timeout=PATIENCE_S), 0, f"status after {closing or 'end of input'}")


def bench_prints_its_signature_twice_alike():
    runs = [command("bench", "5") for _ in range(2)]
    nodes = [re.search(r"^Nodes searched  : (\d+)$", r.stdout, re.M).group(1) for r in runs]
    equal(nodes[0], nodes[1])
    true(re.search(r"^Nodes/second    : \d+$", runs[0].stdout, re.M), runs[0].stdout)
    for wrong in (("bench", "0"), ("bench", "deep"), ("bench", "5", "5")):
        equal(command(*wrong).returncode, 2, " ".join(wrong))


def eval_scores_each_fen_from_the_side_of_white():
    fens = ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    done = command("eval", "--net", "none", input="\n".join(fens) + "\n")
    scores = [int(l.split()[0]) for l in done.stdout.splitlines()]
    true(len(scores) == 2 and min(scores) > 700, done.stdout)
    bad = command("eval", "--net", "none", input="nonsense\n")
    equal((bad.returncode, bad.stdout), (1, ""))


def openings_depend_on_the_seed_alone_and_keep_their_window():
    args = ("openings", "--count", "12", "--nodes", "500", "--low", "40", "--high", "150")
    first, again = command(*args, "--seed", "5"), command(*args, "--seed", "5")
    other = command(*args, "--seed", "6")
    equal(first.returncode, 0)
    equal(first.stdout, again.stdout)
    true(first.stdout != other.stdout, "another seed gives the same book")
    lines = first.stdout.splitlines()
    equal((len(lines), len(set(lines))), (12, 12))
    true(all(len(l.split()) == 4 for l in lines), "an EPD line has four fields")
    wild = command(*args, "--chess960").stdout.splitlines()
    true(any(re.search(r" [A-Ha-h]+ [-a-h]", l) for l in wild), "Chess960 castling rights are lettered")
    equal(command("openings", "--count").returncode, 2)
    equal(command("openings", "--low", "31999", "--high", "32000", "--count", "1", "--nodes", "1").returncode, 1)
    equal(command("openings", "--low", "60", "--high", "59").returncode, 2)


def an_unknown_command_is_refused():
    done = command("frobnicate")
    equal(done.returncode, 2)
    contains(done.stderr, "frobnicate")


def every_command_of_the_list_tells_how_it_is_used():
    listed = command("--help")
    equal((listed.returncode, listed.stdout), (0, command("help").stdout))
    names = re.findall(r"^  (\w+) ", listed.stdout, re.M)
    true("bench" in names and "train" in names, str(names))
    for name in names:
        asked, wrong = command(name, "--help"), command(name, "--frobnicate")
        true(asked.stdout.startswith(f"usage: {name} "), asked.stdout)
        equal((asked.returncode, asked.stderr), (0, ""))
        equal((wrong.returncode, wrong.stdout), (2, ""), name)
        true(wrong.stderr.endswith(asked.stdout), f"{name}: {wrong.stderr}")


if __name__ == "__main__":
    run(uci_lists_the_options_and_ends_with_uciok, every_limit_of_go_gives_one_best_move,
        a_search_without_end_waits_for_stop, a_stop_right_after_go_is_not_lost,
        a_stop_makes_way_for_the_next_command_at_once, pondering_ends_with_ponderhit_or_stop,
        isready_is_answered_while_it_thinks,
        mates_are_reported_in_moves, a_finished_game_has_no_best_move, the_last_line_tells_the_move_that_is_played, several_lines_are_reported,
        castling_is_written_as_the_variant_wants, threads_and_hash_can_be_changed,
        bad_input_is_named_and_passed_over, a_bad_position_leaves_the_old_one,
        quit_and_end_of_input_end_it_even_while_it_thinks, bench_prints_its_signature_twice_alike,
        eval_scores_each_fen_from_the_side_of_white,
        openings_depend_on_the_seed_alone_and_keep_their_window, an_unknown_command_is_refused,
        every_command_of_the_list_tells_how_it_is_used)
