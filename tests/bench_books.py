"""What `make bench` measures of books, each by name and with SEED=: `window`, which advantage of an opening decides most pairs;
`books`, what becomes of a test whose book is spent and of one that plays its book again."""

import json
import os
import pathlib
import subprocess
import tempfile

from database import add_test, build_quickly, sql
from figures import head, output, row
from server import Server, wait_until
from worker import Worker

WINDOWS = ((20, 60), (50, 100), (80, 140))  # centipawns of either side; the middle one is that of `make book`
RULES = ("-draw", "movenumber=34", "movecount=8", "score=20", "-resign", "movecount=3", "score=600")  # those of a new test


def write_openings(build, folder, count, *options):
    """A book as EPD of that many openings of the engine's own search."""
    subprocess.run([build / "engine", "walks", "make", folder / "walks", "--count", str(count), *map(str, options)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    book = folder / "book.epd"
    book.write_text(output(build / "engine", "walks", "print", folder / "walks"))
    return book


def play_at_nodes(build, book, pairs, seed, new, base, *options):
    """The pairs of a match of Anvil: [(the moves of both games, points of `new`)]."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        output(build / "match", "-engine", f"cmd={build}/engine", "name=new", f"nodes={new}", "-engine", f"cmd={build}/engine", "name=base",
               f"nodes={base}", "-each", "tc=inf", "option.Hash=8", "-rounds", pairs, "-repeat", "-concurrency", os.cpu_count(), "-openings",
               f"file={book}", "-srand", seed, "-ratinginterval", "0", "-jsonout", f"file={lines.name}", *options)
        games = [line for line in map(json.loads, open(lines.name)) if line["type"] == "game"]
    games.sort(key=lambda game: game["game"])
    points = {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}
    scores = [points[game["result"]] if game["white"] == "new" else 1 - points[game["result"]] for game in games]
    return [((games[i]["moves"], games[i + 1]["moves"]), scores[i] + scores[i + 1]) for i in range(0, len(games), 2)]


def window(build, games, seed):
    """Anvil at 1,200 nodes a move against 1,000, 2,000 pairs for each window. A pair is decisive if one side won it."""
    head(seed)
    pairs = (games or 4000) // 2
    for low, high in WINDOWS:
        with tempfile.TemporaryDirectory() as folder:
            book = write_openings(build, pathlib.Path(folder), pairs, "--low", low, "--high", high)
            played = play_at_nodes(build, book, pairs, seed, 1200, 1000, *RULES)
        decisive = sum(points != 1 for _, points in played)
        row(f"exits of {low} to {high} cp: decisive pairs of {pairs:,}", f"{decisive:,}", "pairs")
        row("   points of the side with more nodes", f"{100 * sum(points for _, points in played) / 2 / pairs:.1f}", "%")
    return True


# ---- a spent book and a wrapped one ---------------------------------------------------------------------------------------

OPENINGS, BATCH = 12, 2


def again(pairs):
    """How many pairs of the second pass are move for move those of the first."""
    return f"{sum(one == other for one, other in zip(pairs[:OPENINGS], pairs[OPENINGS:]))} of {max(0, len(pairs) - OPENINGS)}"


def pairs_of(server, test):
    """The moves of both games of each pair that was played, in the order of the pairs."""
    found = {}
    for sha, in sql(server, "SELECT b.games_sha256 FROM batches b JOIN tasks t ON t.id = b.task_id WHERE t.test_id = ?", test):
        text = output("zstd", "-dcq", server.data / "blobs" / sha[:2] / sha)
        for game in map(json.loads, text.splitlines()):
            found.setdefault(game["pair"], []).append(game["moves"])
    return [found[pair] for pair in sorted(found)]


def play_test(server, tc):
    """One test of at most two passes, played to its end."""
    test = add_test(server, tc=tc, workload="fixed", parameters="{}", batch_pairs=BATCH, pairs_max=2 * OPENINGS, new_options="Hash=1")
    server.start()
    with Worker(server):
        wait_until(lambda: sql(server, "SELECT 1 FROM tests WHERE state = 'finished' AND id = ?", test), 600)
    document = server.client().api("GET", f"/tests/{test}").json
    pairs = pairs_of(server, test)
    events = sql(server, "SELECT message FROM events WHERE type = 'wrapped' AND test_id = ?", test)
    server.stop()
    row(f"a test at {tc}: pairs", len(pairs), "pairs")
    row("   repeated in the second pass", again(pairs), "pairs")
    print(f"     its end: {document['reason']}\n     its page: {document['book_note']}\n     its event: {events[0][0] if events else 'none'}")
    return pairs, len(events)


def books(build, _games, seed):
    head(seed)
    with tempfile.TemporaryDirectory() as folder:
        book = write_openings(build, pathlib.Path(folder), OPENINGS)
        pairs = [moves for moves, _ in play_at_nodes(build, book, 2 * OPENINGS, seed, 1200, 1000)]
        row(f"build/match at fixed nodes, {OPENINGS} openings twice: repeated", again(pairs), "pairs")
        server = Server(start=False, init_options=["--book", str(book)])
        try:
            build_quickly(server)
            spent, told_spent = play_test(server, "nodes=1000")
            wrapped, told_wrapped = play_test(server, "1+0.01")
        finally:
            server.close()
    return row("the first ends with its book, the second plays it twice", f"{len(spent)}, {len(wrapped)}", "pairs",
               f"{OPENINGS}, {2 * OPENINGS}", (len(spent), len(wrapped), told_spent, told_wrapped) == (OPENINGS, 2 * OPENINGS, 0, 1))
