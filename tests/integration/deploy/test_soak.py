#!/usr/bin/python3
# test: first, sanitized only
"""The soak (tests/soak.py) for a minute: server and workers killed, stopped and restarted at random, and all adds up."""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from soak import soak  # noqa: E402

if __name__ == "__main__":
    sys.exit(soak(1.0, int(os.environ.get("SEED", time.time_ns() % 1000000)), "nodes=2000"))
