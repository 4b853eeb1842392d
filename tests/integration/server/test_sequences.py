#!/usr/bin/python3
# test: first, sanitized only
"""A minute of random requests of people and machines against a real server that is killed now and then: see kit_py/sequences.py.
PATCHMATE_SEED walks a certain way again, PATCHMATE_SEQUENCE_SECONDS walks longer."""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from sequences import Sequences  # noqa: E402
import tap  # noqa: E402


def main():
    walk = Sequences(int(os.environ.get("PATCHMATE_SEED", time.time_ns() % 1000000)))
    try:
        walk.walk(float(os.environ.get("PATCHMATE_SEQUENCE_SECONDS", "60")))
        print(f"# {walk.report()}", flush=True)
        tap.run(*walk.tests_of_it())
    finally:
        walk.close()


if __name__ == "__main__":
    main()
