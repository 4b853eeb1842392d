"""Games of a batch that no engine played and that stand a replay (tests/tools/played.c): for tests that need games and no engine."""

import json
import subprocess

from builds import USUAL
from protocol import batch, clock_of, put_games, side_of, zstd


def played(task, seq, outcomes, seed=1, tc=None, plies=0, think_ms=0):
    """The games of batch `seq`, with these half points of the new side in each pair. `tc` is the engines' clock, if
    not that of a machine as fast as the reference. They play so many plies at random before the end, and think so long at most."""
    test, first = task["test"], seq * task["test"]["batch_pairs"]
    asked = {"first_pair": task["first_pair"] + first, "outcomes": outcomes, "openings": task["openings"][first:first + len(outcomes)],
             "seed": seed, "tc": tc or clock_of(task), "plies": plies, "think_ms": think_ms, "adjudication": test["adjudication"], "chess960": test["variant"] == "chess960"}
    done = subprocess.run([USUAL / "tests/played"], input=json.dumps(asked), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def packed(games):
    return zstd("".join(json.dumps(game) + "\n" for game in games).encode())


def cut(game, plies):
    game["moves"] = " ".join(game["moves"].split()[:plies])
    for name in ("clock_ms", "scores", "depths", "nodes"):
        del game[name][plies:]


def with_fault(game, end, task):
    """The won game, ended by a fault of the loser before its last move; how long the loser thought then, in ms."""
    plies, white = len(game["clock_ms"]), " w " in game["opening"]["fen"] and len(game["opening"]["moves"].split()) % 2 == 0
    game["end"] = end
    if end != "time":
        cut(game, plies - 1)
        return 0
    mover_loses = lambda ply: (ply % 2 == 0) == (white == (game["result"] == "0-1"))
    cut(game, plies - 1 if mover_loses(plies - 1) else plies - 2)
    game["flag_ms"] = game["clock_ms"][-2] + side_of(task, "new")["margin_ms"]
    return game["flag_ms"]


def upload(worker, task, seq, games):
    """The reply to the upload of games."""
    return put_games(worker, task["id"], seq, packed(games))


def played_batch(worker, task, seq, outcomes, seed=1, **fields):
    """Uploads games of batch `seq` with these outcomes. The counts that belong to them, with `fields` as other members."""
    games = played(task, seq, outcomes, seed, fields.get("tc"))
    won = [game for game in games if game["result"] != "1/2-1/2"]
    by_new = [game for game in won if (game["result"] == "1-0") == (game["new_is"] == "white")]
    by_base = [game for game in won if game not in by_new]
    pondered = by_base[:fields.get("ponders", 0)] + by_new[:fields.get("ponders_against", 0)]
    ends = ["crash"] * fields.get("crashes", 0) + ["time"] * fields.get("time_losses", 0)
    faults = [(game, "ponder") for game in pondered] + list(zip((g for g in won if g not in pondered), ends, strict=False))
    thought = sum(with_fault(game, end, task) for game, end in faults)
    reply = upload(worker, task, seq, games)
    if reply.status != 200:
        raise RuntimeError(f"the games of batch {seq} were refused: {reply}")
    return batch(seq, outcomes, reply.json["sha256"], **{"tc": clock_of(task), "thought": thought, **fields})


def post_batch(worker, task, seq, outcomes, seed=1, **fields):
    """Uploads games of batch `seq` and posts its counts, as a worker does. The reply."""
    return worker.api("POST", f"/tasks/{task['id']}/batches", played_batch(worker, task, seq, outcomes, seed, **fields))
