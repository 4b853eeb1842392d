"""A real worker as a process, and what it leaves behind."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from builds import BUILD
from server import PATIENCE, still_there


class Worker:
    """`with Worker(server) as worker:` starts one in a folder of its own; it is ended and its folder removed. `cache` is a
    folder to share with others. `prepare` is called in its process before it starts. The last lines of its log are shown if a test fails."""

    def __init__(self, server, *options, start=True, cache=None, env=None, prepare=None):
        self.server, self.options, self.shares, self.env, self.prepare = server, options, bool(cache), env, prepare
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-worker-"))
        self.folder.chmod(0o755)  # run by root, the worker becomes another user, who must reach its folder
        self.cache, self.log_path = cache or self.folder / "cache", self.folder / "log"
        self.process, self.known = None, set()
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind and kind is not SystemExit:
            print("".join(f"# {line}\n" for line in self.log().splitlines()[-25:]), end="")
        self.close()

    def start(self, *more):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(BUILD / "worker"), "--server", self.server.url, "--cache", str(self.cache), *self.options, *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, preexec_fn=self.prepare)

    def signal(self, number=signal.SIGINT):
        self.remember()
        self.process.send_signal(number)

    def wait(self, seconds=90):
        """Its exit status, once it has ended by itself."""
        status = self.process.wait(PATIENCE * seconds)
        self.process = None
        return status

    def kill(self):
        self.remember()
        self.process.kill()
        self.process.wait()
        self.process = None

    def close(self):
        if self.process:
            self.kill()
        for pid in [] if self.shares else self.left_over():
            with contextlib.suppress(ProcessLookupError):
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

    def remember(self):
        """Notes the worker's descendants of this moment, so that left_over() finds them when it is gone."""
        self.known |= descendants(self.process.pid)

    def left_over(self):
        """Processes other than the worker that were started for it: remembered descendants; those whose command line or
        folder names the worker's own (bwrap mounts it); what is inside a sandbox, by device and inode of its program or folder."""
        programs = set()
        for pattern in ("builds/*/engine", "builds/*", "*/work/*/tree"):
            for path in self.cache.glob(pattern):
                with contextlib.suppress(OSError):
                    programs.add((path.stat().st_dev, path.stat().st_ino))
        mine = self.process.pid if self.process else 0
        self.known = {known for known in self.known if alive(known)}
        known = {pid for pid, _ in self.known}
        return [pid for pid in processes() if pid != mine and (pid in known or self._is_ours(pid, programs)) and not is_guard(pid, mine)]

    def _is_ours(self, pid, programs):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            inside = [os.stat(f"/proc/{pid}/{link}") for link in ("exe", "cwd")]
            folder = os.readlink(f"/proc/{pid}/cwd")
        except OSError:  # it ended meanwhile, or is a zombie
            return False
        named = os.fsencode(self.cache) in words or folder.startswith(str(self.cache))
        return named or any((found.st_dev, found.st_ino) in programs for found in inside)

    def nothing_left(self):
        """Waits until no process of this worker's is left; those that stay, as (pid, command line)."""
        return [(pid, command_line(pid)) for pid in still_there(self.left_over)]


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def stat(pid):
    """(state, parent, start time) or None: the fields of /proc/PID/stat after the name, which may hold anything."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), fields[19]


def is_guard(pid, worker):
    """The process that ends the sandboxes of a worker that was killed: it lives as long as the worker, and not much longer."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text() == "patchmate-guard\n" and stat(pid)[1] == worker
    except (OSError, TypeError):
        return False


def is_keeper(pid):
    """A process between a worker and a program in a sandbox."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text() == "patchmate-keep\n"
    except OSError:
        return False


def alive(known):
    pid, started = known
    now = stat(pid)
    return bool(now) and now[0] not in "ZX" and now[2] == started


def descendants(pid):
    """{(pid, start time)} of its children and theirs."""
    table = {other: found for other in processes() if (found := stat(other))}
    family, grown = {pid}, True
    while grown:
        more = {other for other, (_, parent, _) in table.items() if parent in family} - family
        grown, family = bool(more), family | more
    return {(other, table[other][2]) for other in family - {pid} if other in table}


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
