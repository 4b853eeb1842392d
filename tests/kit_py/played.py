"""Games of a batch that no engine played and that stand a replay (tests/tools/played.c): for tests that need games and no engine."""

import json
import subprocess

from protocol import batch, clock_of, put_games, zstd
from server import BUILD


def played(task, seq, outcomes, seed=1):
    """The games of batch `seq`, with these half points of the new side in each pair. The engines thought for no time."""
    test, first = task["test"], seq * task["test"]["batch_pairs"]
    asked = {"first_pair": task["first_pair"] + first, "outcomes": outcomes, "openings": task["openings"][first:first + len(outcomes)],
             "seed": seed, "tc": clock_of(task), "adjudication": test["adjudication"], "chess960": test["variant"] == "chess960"}
    done = subprocess.run([BUILD / "tests" / "played"], input=json.dumps(asked), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def packed(games):
    return zstd("".join(json.dumps(game) + "\n" for game in games).encode())


def post_batch(worker, task, seq, outcomes, seed=1, **fields):
    """Uploads games of batch `seq` with these outcomes, and then its counts; `fields` are other members of the counts. The reply."""
    sha = put_games(worker, task["id"], seq, packed(played(task, seq, outcomes, seed))).json["sha256"]
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, outcomes, sha, **{"tc": clock_of(task), **fields}))
