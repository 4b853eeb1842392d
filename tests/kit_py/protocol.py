"""The worker protocol spoken by a test instead of a worker: bodies of its calls."""

import itertools
import json
import struct

_claims = itertools.count(1)
STC = "10.000+0.100"  # what a machine as fast as the reference plays in a test at 10+0.1
PLAYED = {"10+0.1": STC, "40/10+0.1": "40/" + STC}


def claim(worker, key=None, **fields):
    body = {"protocol": 1, "cores": 4, "memory_mib": 100000, "speeds": {"anvil": 1e6}, "snapshots": [], "holding": [],
            "wait_s": 0, **fields}
    return worker.api("POST", "/tasks/claim", body, {"Idempotency-Key": key or f"{worker.token[:20]}-{next(_claims):08}"})


def clock_of(task):
    """The clock of a batch, on a machine as fast as the reference."""
    tc = side_of(task, "new")["tc"]
    return PLAYED.get(tc, tc)


def side_of(task, name):
    return next(side for side in task["sides"] if side["name"] == name)


def batch(seq, outcomes, games=None, **fields):
    """Consistent counts: every drawn game is one that the outcomes ask for. `tc` is the clock of `database.add_test()`."""
    wins, losses, draws = (0, 0, 0, 1, 2), (2, 1, 0, 0, 0), (0, 1, 2, 1, 0)
    count = lambda of: sum(of[int(digit)] for digit in outcomes)
    result = {"outcomes": outcomes, "wins": count(wins), "losses": count(losses), "draws": count(draws), "crashes": 0, "time_losses": 0,
              "ponders": 0, "ponders_against": 0}
    return changed({"seq": seq, "result": result, "tc": "nodes=1000", "speed": 1e6, "busy": 0, "thought": 0, "games_sha256": games}, fields)


def changed(body, fields):
    """A batch with other fields, those of its result among them."""
    of_result = {name: value for name, value in fields.items() if name in body["result"]}
    others = {name: value for name, value in fields.items() if name not in of_result}
    return {**body, "result": {**body["result"], **of_result}, **others}


def game(pair, white, plies=80):
    """Played at 10+0.1 without any thought."""
    return {"pair": pair, "opening": {"fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "moves": "e2e4 c7c5"},
            "new_is": white, "result": "1/2-1/2", "end": "rule", "reason": "Draw by 3-fold repetition",
            "moves": " ".join(("g1f3", "g8f6", "f3g1", "f6g8")[i % 4] for i in range(plies)),
            "clock_ms": [10000 + 100 * (i // 2 + 1) for i in range(plies)], "scores": [37 * i % 91 - 40 for i in range(plies)],
            "depths": [11 + i % 5 for i in range(plies)], "nodes": [80000 + 7919 * i % 60000 for i in range(plies)]}


def games_body(first_pair, pairs, plies=4, openings=None):
    """Two games a pair, as a worker sends them. With 8 plies they are draws by repetition; they stand a replay if they begin with
    the `openings` of the task, whose knights must be at home."""
    dealt = [{"opening": opening} for opening in openings[:pairs]] if openings else [{}] * pairs
    lines = [json.dumps({**game(first_pair + i, white, plies), **dealt[i]}) for i in range(pairs) for white in ("white", "black")]
    return zstd(("\n".join(lines) + "\n").encode())


def zstd(data):
    """A frame of Zstandard whose blocks are not compressed (RFC 8878, 3.1.1): needs no program."""
    blocks = [data[at:at + (128 << 10)] for at in range(0, len(data), 128 << 10)] or [b""]
    last = len(blocks) - 1
    return (b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
            + b"".join(struct.pack("<I", (i == last) | len(b) << 3)[:3] + b for i, b in enumerate(blocks)))


def put_games(worker, task, seq, body):
    return worker.request("PUT", f"/api/v1/tasks/{task}/games/{seq}", body, {"Content-Type": "application/zstd"})
