#!/usr/bin/python3
"""Every fuzz target over its committed corpus, then for a short while on its own.

The corpus must reach the floor of edges in tests/fuzz/floors, so that a parser that grows without
seeds for what is new shows up here. PATCHMATE_FUZZ_SECONDS (default 1) is the short run of each.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kit_py"))
from tap import Checks  # noqa: E402

BUILD = os.environ["BUILD"]
SECONDS = os.environ.get("PATCHMATE_FUZZ_SECONDS", "1")


def floors():
    with open("tests/fuzz/floors", encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {name: int(edges) for name, edges in rows}


def libfuzzer(name, *arguments):
    run = subprocess.run([f"{BUILD}/fuzz/fuzz_{name}", "-rss_limit_mb=2048", "-timeout=100",
                          "-max_len=65536", *arguments],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.returncode, run.stdout.decode(errors="replace")


def edges(output):
    """What the corpus reaches by itself: printed once all of it has been read."""
    found = re.search(r"\bINITED cov: (\d+)", output)
    return int(found.group(1)) if found else 0


def try_target(name, floor):
    """Its two lines: (good, sentence, output)."""
    with tempfile.TemporaryDirectory() as scratch:
        seeds = shutil.copytree(f"tests/fuzz/corpus/{name}", f"{scratch}/seeds")
        status, output = libfuzzer(name, f"-max_total_time={SECONDS}", "-print_final_stats=1", f"-artifact_prefix={scratch}/", seeds)
        reached, wanted = edges(output), floor.get(name, sys.maxsize)
        for crash in glob.glob(f"{scratch}/crash-*") + glob.glob(f"{scratch}/timeout-*"):
            with open(crash, "rb") as f:
                output += f"\ninput: {f.read()[:2000]!r}"
    first = (reached >= wanted, f"{name}: the corpus reaches {reached} edges, floor {floor.get(name, 'missing')}", output)
    return first, (status == 0, f"{name}: {SECONDS} s of fuzzing find nothing", output)


def main():
    tap, floor = Checks(), floors()
    names = sorted(os.path.basename(f)[5:-2] for f in glob.glob("tests/fuzz/fuzz_*.c"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda name: try_target(name, floor), names):
            for line in lines:
                tap.check(*line)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
