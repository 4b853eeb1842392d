"""Games of PGN files that `match`, one of its peers or the server has written."""

import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

PGN_EXTRACT = shutil.which("pgn-extract") or "/usr/games/pgn-extract"


def read_games(path):
    """[(tags, moves without comments and numbers, the result as the last)]; none of a missing file."""
    text = path.read_text().strip() if path.exists() else ""
    games = []
    for block in re.split(r"\n\n(?=\[)", text) if text else []:
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M))
        moves = re.sub(r"\{[^}]*\}", " ", block[block.rindex("]\n") + 2:])
        games.append((tags, [word for word in moves.split() if not re.match(r"\d+\.", word)]))
    return games


def extracted(data):
    """What pgn-extract says of a file: how many of its games it could play to their end, and how many there are."""
    with tempfile.TemporaryDirectory(prefix="patchmate-pgn-") as folder:
        path = pathlib.Path(folder) / "games.pgn"
        path.write_bytes(data)
        done = subprocess.run([PGN_EXTRACT, "-r", str(path)], capture_output=True, text=True, check=True)
    told = re.search(r"(\d+) games? matched out of (\d+)", done.stderr)
    if not told:
        raise AssertionError(f"pgn-extract says: {done.stderr[-300:]}")
    return int(told[1]), int(told[2])


def headers(data):
    blocks = re.split(r"\n\n(?=\[Event )", data.decode().strip())
    return [dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M)) for block in blocks if block]


def results_in(data):
    """How the new side of a test fared, as `stats` of its document names it."""
    found = collections.Counter()
    for tags in headers(data):
        new_is_white = tags["White"].endswith("(new)")
        found["draws" if tags["Result"] == "1/2-1/2" else "wins" if (tags["Result"] == "1-0") == new_is_white else "losses"] += 1
    return {"games": found.total(), **{name: found[name] for name in ("wins", "losses", "draws")}}
