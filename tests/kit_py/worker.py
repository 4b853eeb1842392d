"""A real worker as a process, and what it leaves behind."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from server import BUILD


class Worker:
    """`with Worker(server) as worker:` starts one in a folder of its own; it is ended and its folder removed."""

    def __init__(self, server, *options, start=True):
        self.server, self.options = server, options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-worker-"))
        self.cache, self.log_path = self.folder / "cache", self.folder / "log"
        self.process = None
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, *more):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(BUILD / "worker"), "--server", self.server.url, "--cache", str(self.cache), *self.options, *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def signal(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def wait(self, seconds=30):
        """Its exit status, once it has ended by itself."""
        status = self.process.wait(seconds)
        self.process = None
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def close(self):
        if self.process:
            self.kill()
        for pid in self.left_over():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def spooled(self):
        """Counts of batches that wait on disk."""
        return sorted(self.cache.glob("*/servers/*/spool/*.json"))

    def identity(self):
        files = list(self.cache.glob("*/servers/*/identity.json"))
        return files[0].read_text() if files else None

    def left_over(self):
        """Processes other than the worker that were started for it: their command line or program names its folder (bwrap
        mounts it), or they run in it. Engines inside a sandbox are found by the device and inode of their program."""
        programs = {(f.stat().st_dev, f.stat().st_ino) for f in self.cache.glob("builds/*/engine")}
        mine = self.process.pid if self.process else 0
        return [pid for pid in processes() if pid != mine and self._is_ours(pid, programs)]

    def _is_ours(self, pid, programs):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            program = os.stat(f"/proc/{pid}/exe")
            folder = os.readlink(f"/proc/{pid}/cwd")
        except OSError:  # it ended meanwhile, or is a zombie
            return False
        named = os.fsencode(self.cache) in words or folder.startswith(str(self.cache))
        return named or (program.st_dev, program.st_ino) in programs

    def nothing_left(self, seconds=5):
        """Waits until no process of this worker's is left; those that stay, as (pid, command line)."""
        end = time.monotonic() + seconds
        while (left := self.left_over()) and time.monotonic() < end:
            time.sleep(0.05)
        return [(pid, command_line(pid)) for pid in left]


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
