#!/usr/bin/python3
# test: sanitized only
"""Games that a real worker played with the real engine, standard and Chess960, as another program reads them from the server:
pgn-extract plays all of them, and their number and results are those of the page and of the ledger."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, build_quickly, sql, wild_book  # noqa: E402
from pgn import extracted, headers, results_in  # noqa: E402
from server import Client, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402

PAIRS = 4
VARIANTS = {"standard": 1, "chess960": 2}  # their tests
server = anyone = worker = None


def games(test, ending="pgn", query=""):
    reply = anyone.get(f"/tests/{test}/games.{ending}{query}")
    equal(reply.status, 200, reply)
    return reply.body


def the_worker_plays_both_tests():
    def over():
        return not sql(server, "SELECT 1 FROM tests WHERE state <> 'finished'")
    try:
        wait_until(over, 300, 0.2)
    except AssertionError:
        raise AssertionError(f"the tests are not over; the worker says: {worker.log()[-3000:]}") from None


def another_program_plays_all_games_and_counts_as_the_page_and_the_ledger_do():
    for variant, test in VARIANTS.items():
        data = games(test)
        stats = anyone.api("GET", f"/tests/{test}").json["stats"]
        (ledger,), = sql(server, "SELECT sum(2 * units) FROM counted_batches WHERE test_id = ?", test)
        equal((stats["games"], ledger, stats["crashes"]), (2 * PAIRS, 2 * PAIRS, 0), variant)
        equal(extracted(data), (ledger, ledger), variant)
        equal(results_in(data), {name: stats[name] for name in ("games", "wins", "losses", "draws")}, variant)
        equal({tags.get("Variant", "standard").lower() for tags in headers(data)}, {variant})
    contains(server.command("check", server.data), "games of 2 tests in the archive, games of 0 tests dropped, 0 differences")


def the_moves_of_an_engine_have_clock_score_depth_and_nodes():
    for test in VARIANTS.values():
        first = json.loads(games(test, "jsonl", "?pair=0&game=0"))
        text = games(test, query="?pair=0&game=0").decode()
        moves = len(first["moves"].split())
        equal((text.count("[%clk "), text.count("n=")), (moves, moves))
        true(all(depth > 0 for depth in first["depths"][:4]), first["depths"])
        true(any(nodes > 0 for nodes in first["nodes"]), first["nodes"])


def main():
    global server, anyone, worker
    server = Server(start=False)
    try:
        build_quickly(server)
        server.command("book", "add", server.data, "anvil", "wild", wild_book(server.folder / "wild.epd"), "chess960")
        for book, variant in enumerate(VARIANTS, 1):
            add_test(server, title=variant, workload="fixed", tc="0.1+0.002", batch_pairs=2, pairs_max=PAIRS, book_id=book, variant=variant)
        server.start()
        anyone = Client(server)
        with Worker(server) as worker:
            run(the_worker_plays_both_tests, another_program_plays_all_games_and_counts_as_the_page_and_the_ledger_do,
                the_moves_of_an_engine_have_clock_score_depth_and_nodes)
    finally:
        server.close()


if __name__ == "__main__":
    main()
