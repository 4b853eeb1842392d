#!/usr/bin/python3
"""The demonstration's two patches fit the engine as it is: one takes the feature away, the other gives it back."""

import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from server import ROOT  # noqa: E402
import tap  # noqa: E402

PATCHES = ROOT / "tests/data/demo"


def apply(tree, name):
    done = subprocess.run(["git", "-C", tree, "apply", "--verbose", PATCHES / name], capture_output=True, text=True)
    tap.equal(done.returncode, 0, f"{name}: {done.stderr}")


def taking_away_and_giving_back_leaves_the_engine_as_it_was():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", tree], check=True)
        shutil.copytree(ROOT / "engine", tree / "engine", ignore=shutil.ignore_patterns("obj", "anvil"))
        apply(tree, "take-away-history.patch")
        search = tree / "engine/ordering.c"
        tap.true("quiet_history(p->searcher" not in search.read_text(), "the feature is still there")
        apply(tree, "give-back-history.patch")
        tap.true(filecmp.cmp(search, ROOT / "engine/ordering.c", shallow=False), "the engine came back changed")


if __name__ == "__main__":
    tap.run(taking_away_and_giving_back_leaves_the_engine_as_it_was)
