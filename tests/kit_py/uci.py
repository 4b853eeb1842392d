"""A UCI engine as a process, spoken to as a GUI or a match runner would."""

import os
import queue
import subprocess
import threading

from tap import LOAD_FACTOR, true

ENGINE = os.path.join(os.environ.get("BUILD", "build"), "engine")
PATIENCE_S = 60 * LOAD_FACTOR  # for a machine under sanitizers and load


class Engine:
    """One engine process; lines it prints come from a queue, so that waiting always ends."""

    def __init__(self, program=ENGINE):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()

    def send(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, start):
        """All lines up to the first that begins with `start`, that one last."""
        seen = []
        while not seen or not seen[-1].startswith(start):
            line = self.lines.get(timeout=PATIENCE_S)
            true(line is not None, f"the engine ended before it said {start}; it said {seen}")
            seen.append(line)
        return seen

    def ask(self, *lines):
        """What the engine says to `lines`, up to the answer to an `isready` after them."""
        self.send(*lines, "isready")
        return self.until("readyok")[:-1]

    def best(self, *lines):
        self.send(*lines)
        return self.until("bestmove")[-1].split()[1]
