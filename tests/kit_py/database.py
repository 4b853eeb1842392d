"""Direct access of tests to a server's database: they read it, and write rows that would take long to produce by requests."""

import contextlib
import json
import re
import sqlite3
import subprocess

from builds import USUAL
from tap import LOAD_FACTOR

ADJUDICATION = {"resign_score": 600, "resign_count": 3, "resign_two_sided": False, "draw_move": 34, "draw_score": 20,
                "draw_count": 8, "max_moves": 0}
# The parameters of each workload, with the values that its form begins with.
PARAMETERS = {"sprt": {"alpha": 0.05, "beta": 0.05, "elo0": 0.0, "elo1": 2.0, "model": "normalized"}, "fixed": {},
              "width": {"error": 3.0, "unit": "logistic"}}
# The real engine, compiled with little optimisation and with a short bench: seconds instead of half a minute.
QUICK_BUILD = {"directory": ".", "command": "make -j2 EXE=anvil OPT=-O1 ARCH= LTO=", "binary": "anvil", "env": {},
               "bench_args": ["bench", "6"]}
# A test with what its two sides are, in one row: for "SELECT new_commit FROM " + MATCHES.
MATCHES = ("(SELECT t.*, n.sha AS new_commit, n.options AS new_options, n.bench_declared AS new_bench_declared, n.tc, n.threads, "
           "b.sha AS base_commit, b.options AS base_options, b.bench_declared AS base_bench_declared, b.grounded AS base_in_baseline "
           "FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new' JOIN sides b ON b.test_id = t.id AND b.side = 'base')")


def sql(server, text, *values):
    """One statement in a transaction of its own; its rows."""
    with contextlib.closing(sqlite3.connect(server.data / "patchmate.db", timeout=60 * LOAD_FACTOR)) as db, db:
        return db.execute(text, values).fetchall()


def parameters(workload="sprt", **changes):
    """The text of a test's parameters, some of them changed."""
    return json.dumps({**PARAMETERS[workload], **changes}, sort_keys=True, separators=(",", ":"))


def counts(server, test):
    """What the batches of a test add up to: `ptnml`, `wins` and what else its workload keeps."""
    return json.loads(sql(server, "SELECT counts FROM tests WHERE id = ?", test)[0][0])


def write_book(path, count=200):
    """Openings of the engine's own making."""
    made = subprocess.run([USUAL / "engine", "openings", "--count", str(count), "--nodes", "500"],
                          capture_output=True, check=True)
    path.write_bytes(made.stdout)
    return path


def write_plain_book(path, count=1000):
    """At most 1,296 openings that differ in rights and in pawns at the edge: for tests that never play."""
    def pawns(index, low):
        a, b = index % 3, index // 3 % 3
        ranks = [["."] * 8 for _ in range(3)]
        ranks[0][2:] = "PPPPPP"
        ranks[a][0] = ranks[b][1] = "P"
        lines = ["".join(rank) for rank in ranks]
        return "/".join(re.sub(r"\.+", lambda dots: str(len(dots[0])), line) for line in (lines if low else reversed(lines)))

    def fen(i):
        rights = "".join(letter for bit, letter in enumerate("KQkq") if not i >> bit & 1) or "-"
        return f"rnbqkbnr/{pawns(i // 16, True).lower()}/{pawns(i // 144, False)}/RNBQKBNR w {rights} -"

    assert count <= 1296
    path.write_text("".join(f"{fen(i)}\n" for i in range(count)))
    return path


def wild_book(path):
    """A few openings of Chess960."""
    arrays = {"bqnbrnkr": "HEhe", "nrbkqbrn": "GBgb", "rkrbbnqn": "CAca", "bbrknqrn": "GCgc"}
    path.write_text("".join(f"{array}/pppppppp/8/8/8/8/PPPPPPPP/{array.upper()} w {rights} - 0 1\n" for array, rights in arrays.items()))
    return path


def build_quickly(server):
    """Builds without optimisation, and takes workers however slow they are: their clocks are longer then."""
    sql(server, "UPDATE engines SET build = ?, scale_max = 1000", json.dumps(QUICK_BUILD))


def add_test(server, state="active", **fields):
    """A test of the baseline against itself, as if submitted and approved; its id. Before the server starts, or it is not
    noticed until waiting claims are woken."""
    commit = sql(server, "SELECT baseline FROM engines")[0][0]
    row = dict(engine_id=1, author_id=1, title="a test", created=1, workload="sprt", book_id=1, seed=42, variant="standard",
               adjudication=json.dumps(ADJUDICATION), batch_pairs=4, pairs_max=400000, state=state,
               approved_hash=None if state == "pending" else "x")
    play = dict(tc="nodes=1000", threads=1, margin_ms=200)
    options = {name: fields.pop(f"{name}_options", "Hash=16") for name in ("new", "base")}
    play.update((name, fields.pop(name)) for name in play.keys() & fields.keys())
    row.update(fields)
    row.setdefault("parameters", parameters(row["workload"]))
    test = insert(server, "tests", row)
    for name in options:
        insert(server, "sides", dict(test_id=test, side=name, engine_id=1, sha=commit, options=options[name], **play))
    return test


def insert(server, table, row):
    """The id of the new row; None for a table without one."""
    names, flags = ", ".join(row), ", ".join("?" * len(row))
    returning = "id" if table == "tests" else "NULL"
    return sql(server, f"INSERT INTO {table} ({names}) VALUES ({flags}) RETURNING {returning}", *row.values())[0][0]
