#!/usr/bin/python3
# test: plain only
"""`make demo` on a terminal of 80×24 and of 200×60: no line wraps, all that matters stays in sight, the line of a test says what
the worker does; and however the demonstration ends, its server and its worker end with it."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "kit_py"), str(TESTS)]
import demo  # noqa: E402
from builds import BUILD  # noqa: E402
from server import ROOT, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, run, true  # noqa: E402


def document(**more):
    stats = {"games": 1234, "wins": 300, "losses": 200, "draws": 734, "llr": 2.5, "bounds": {"lower": -2.94, "upper": 2.94},
             "plain": {"elo": 28.2, "error": 19.4}, "eta": {"seconds": 150}}
    return {"id": 12, "state": "active", "result": None, "tasks": [{"state": "open", "phase": "play"}], "stats": stats, **more}


def a_line_fits_every_width():
    for columns in (40, 60, 79, 100, 199):
        for some in ({}, {"state": "finished", "result": "accepted"}, {"tasks": [{"state": "open", "phase": "bench"}]}):
            line = demo.progress(document(**some), columns)
            true(len(line) <= columns, line)
            contains(line, "LLR +2.50")
    for text in ("min left", "[            |==========  ]"):
        contains(demo.progress(document(), 79), text)
    for text in ("W 300 L 200 D 734", "Elo +28 ± 19"):
        contains(demo.progress(document(), 199), text)


def a_line_says_what_the_worker_does():
    new = document(stats={**document()["stats"], "games": 0})
    for phase, words in (("fetch", "fetches the source"), ("build", "builds both engines"), ("bench", "checks the bench"),
                         ("play", "plays its first games")):
        contains(demo.progress({**new, "tasks": [{"state": "open", "phase": phase}]}, 79), words)
    contains(demo.progress({**new, "tasks": []}, 79), "waits for the worker")


class Terminal:
    """A demonstration in a terminal of its own, until its worker builds."""

    def __init__(self, folder, columns, rows):
        self.folder = pathlib.Path(folder) / "demo"
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen([sys.executable, str(ROOT / "tests/demo.py"), "--build", str(BUILD), "--folder", str(self.folder)],
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.text = ""
        wait_until(lambda: "builds both engines" in self.read(), 60)

    def read(self):
        while self.master is not None and select.select([self.master], [], [], 0)[0]:
            try:
                self.text += os.read(self.master, 65536).decode()
            except OSError:  # the other end is closed
                break
        return self.text

    def close(self):
        os.close(self.master)
        self.master = None
        self.process.send_signal(signal.SIGHUP)

    def left(self):
        """Programs of this demonstration that run, by their open logs: the server, the worker, and the keeper of a build."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and str(self.folder) in os.readlink(entry / "fd/1"):
                    found.append((entry / "comm").read_text().strip())
            except OSError:
                continue
        return sorted(set(found))


def ended(end, columns=80, rows=24):
    """What was shown by a demonstration that `end` ended; nothing of it runs any more."""
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(folder, columns, rows)
        wait_until(lambda: {"server", "worker"} <= set(terminal.left()), 60)
        end(terminal)
        terminal.process.wait(60 * LOAD_FACTOR)
        wait_until(lambda: not terminal.left(), 60)
        return terminal.read()


def interrupts(count):
    def end(terminal):
        for _ in range(count):
            terminal.process.send_signal(signal.SIGINT)
            time.sleep(0.2)
    return end


def rows_of(text):
    return [re.sub(r"\x1b\[[0-9]*[AK]|\r", "", line) for line in text.split("\n")]


def ctrl_c_ends_all_and_nothing_wraps_on_80_columns():
    text = ended(interrupts(1))
    true(max(len(row) for row in rows_of(text)) <= 79, "a line is too long")
    shown = re.sub(r"\x1b\[2A(.*\n){2}", "", text)
    true(len(rows_of(shown)) <= 24, f"{len(rows_of(shown))} lines")
    for text in ("Patchmate is at http://127.0.0.1:", "dora", "mike", "operator", "Stopping"):
        contains(shown, text)


def ctrl_c_twice_ends_all_on_200_columns():
    true(max(len(row) for row in rows_of(ended(interrupts(2), 200, 60))) <= 199, "a line is too long")


def a_closed_terminal_ends_all():
    ended(Terminal.close)


def sigkill_ends_all():
    ended(lambda terminal: terminal.process.kill())


if __name__ == "__main__":
    run(a_line_fits_every_width, a_line_says_what_the_worker_does, ctrl_c_ends_all_and_nothing_wraps_on_80_columns,
        ctrl_c_twice_ends_all_on_200_columns, a_closed_terminal_ends_all, sigkill_ends_all)
