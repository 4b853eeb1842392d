"""A server with a tiny engine source and one book, people with roles, and patches to submit."""

import pathlib
import sqlite3
import subprocess
import tempfile
import time

from server import ROOT, Server
from tap import LOAD_FACTOR

PATCHES = ROOT / "tests" / "data" / "patches"
OPENINGS = """rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1
"""

# A field, a value that no submission has, and a word of the refusal.
ABSURD_FIELDS = (
    ("tc", "fast", "time control"), ("threads", 0, "1 to 1024"), ("threads", "two", "whole number"),
    ("elo0", 5, "elo1"), ("alpha", 0.7, "0.49"), ("workload", "spsa", "sprt|fixed|width"), ("model", "bayes", "normalized|logistic"),
    ("new_options", "Hash", "Name=value"), ("new_options", "Move Overhead=10", "in quotes"),
    ("new_options", "Hash=16\nquit", "one line"), ("new_options", "x" * 300 + "=1", "longer than 100 bytes"),
    ("base_options", {"A\nquit": "1"}, "one line"), ("base_options", {"y" * 300: "1"}, "longer than 100 bytes"),
    ("new_options", "Threads=4", "threads"), ("base_options", "A=1 A=2", "twice"),
    ("book", "none.epd", "no book"), ("bench", -3, "whole number"), ("bench", "12x", "whole number"),
    ("seed", 7, "server draws it"), ("variant", "atomic", "standard|chess960"), ("batch_pairs", 0, "1 to 1000"),
    ("pairs_max", 0, "from 1"), ("priority", 10**6, "1000"), ("title", "x" * 121, "121 bytes"),
    ("title", "two\nlines", "one line"), ("engine", "stockfish", "no engine"), ("preset", "none", "no preset"),
    ("base", "no-such-branch", "not a branch"), ("base", "test:99999", "no test"), ("adjudication", "some", "on|off"),
    ("resign_score", 0, "from 1"), ("description", "x" * 10001, "10001 bytes"), ("elo1", "1e999", "number"),
    ("elo1", 231, "within -230 and 230"), ("error", 0.05, "0.1 to 100"), ("error", 101, "0.1 to 100"), ("unit", "points", "logistic|normalized"),
)


def patch(name="git_diff"):
    return (PATCHES / name / "input.patch").read_bytes()


def submission_server(*options, **more):
    """Users: dev (developer), boss (maintainer), vera (maintainer), joe (nothing)."""
    with tempfile.TemporaryDirectory() as folder:
        book = pathlib.Path(folder) / "anvil.epd"
        book.write_text(OPENINGS)
        server = Server(*options, start=False, **more,
                        init_options=["--engine-source", str(PATCHES / "base"), "--book", str(book)])
    # Many tests submit more than the limit allows. Older servers do not have this setting.
    server.command("set", server.data, "pending_tests", "1000", check=False)
    for name, role in (("dev", "developer"), ("boss", "maintainer"), ("vera", "maintainer"), ("joe", None)):
        server.add_user(name, *([role] if role else []))
    server.start()
    return server


def database(server):
    return sqlite3.connect(server.data / "patchmate.db", timeout=60 * LOAD_FACTOR, isolation_level=None)


def row(server, sql, *values):
    with database(server) as db:
        db.row_factory = sqlite3.Row
        found = db.execute(sql, values).fetchone()
        return dict(found) if found else None


def accept(server, test):
    """Ends the test as accepted, without games; the ledger is tested elsewhere."""
    with database(server) as db:
        db.execute("UPDATE tests SET state = 'finished', result = 'accepted', finished = ? WHERE id = ?",
                   (time.time(), test))


def git(*words, cwd=None, check=True):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
           "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
           "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    done = subprocess.run(["git", *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=60 * LOAD_FACTOR)
    if check and done.returncode:
        raise RuntimeError(f"git {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout if check else done


def bare(server, engine="anvil"):
    return server.data / "git" / f"{engine}.git"
