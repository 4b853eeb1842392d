#!/usr/bin/python3
# test: plain only
"""The demonstration's two patches fit the engine as it is: one takes the feature away, the other gives it back; and its server
takes both, as its people submit and approve them."""

import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "kit_py"), str(TESTS)]
from builds import BUILD  # noqa: E402
from demo import Demo, GIVE_BACK, TAKE_AWAY  # noqa: E402
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
        search = tree / "engine/search/ordering.c"
        tap.true("quiet_history(p->searcher" not in search.read_text(), "the feature is still there")
        apply(tree, "give-back-history.patch")
        tap.true(filecmp.cmp(search, ROOT / "engine/search/ordering.c", shallow=False), "the engine came back changed")


def the_demonstrations_server_takes_both_and_a_maintainer_approves_them():
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(BUILD, 0, pathlib.Path(folder) / "demo")
        try:
            demo.install()
            demo.start_server()
            dora, mike = demo.sign_in("dora"), demo.sign_in("mike")
            for patch in (TAKE_AWAY, GIVE_BACK):
                number, _ = demo.submit(dora, patch)
                demo.post(mike, f"/tests/{number}/approve")
                tap.equal(demo.document(dora, number)["state"], "active")
        finally:
            demo.stop()


if __name__ == "__main__":
    tap.run(taking_away_and_giving_back_leaves_the_engine_as_it_was,
            the_demonstrations_server_takes_both_and_a_maintainer_approves_them)
