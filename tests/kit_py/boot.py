"""A systemd of its own, in namespaces of its own: units run under the very settings they name.

`with Systemd(units, opt, users) as systemd:` boots one as PID 1 of a new PID, mount and cgroup namespace (root only,
through sudo where need be). The machine's files are read-only there, /opt, /run, /tmp and /var/lib are folders of its own.
The network is the machine's, so that 127.0.0.1 reaches the services from outside.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time

BOOT = """
set -eu
mount --make-rprivate /
mount -t proc proc /proc
for d in /run /opt /var/lib; do mount -t tmpfs -o mode=755 tmpfs $d; done
[ -d /sys/fs/cgroup ] || mount -t sysfs sysfs /sys
umount -l /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cp -r {folder}/opt/. /opt/
mkdir -p /run/systemd/system
cp -r {folder}/units/. /run/systemd/system/
mount --bind {folder}/passwd /etc/passwd
mount --bind {folder}/group /etc/group
for d in /var/tmp /var/log /tmp; do mount -t tmpfs -o mode=1777 tmpfs $d; done
mount -o remount,bind,ro /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=mini.target \\
    --log-target=console --log-level=notice --show-status=no
"""
# The units after which services are ordered do nothing here: a real start of the system would set up, and clean up, the machine.
EMPTY = "[Unit]\nDescription=Nothing but what a test starts\nDefaultDependencies=no\nAllowIsolate=yes\n"
TARGETS = ("mini.target", "sysinit.target", "basic.target", "shutdown.target", "network.target", "network-online.target")


def as_root(*argv):
    return list(argv) if os.geteuid() == 0 else ["sudo", "-n", *argv]


class Systemd:
    def __init__(self, units, opt, users):
        """`units`: name → text (drop-ins as "x.service.d/y.conf"); `opt`: folder that becomes /opt; `users`: names."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-boot-"))
        self.folder.chmod(0o755)
        shutil.copytree(opt, self.folder / "opt", symlinks=True)
        # No journal runs here: the output of a service goes to a file that log_of finds.
        logs = {f"{name}.d/log.conf": f"[Service]\nStandardOutput=append:/run/{name}.log\nStandardError=inherit\n"
                for name in units if name.endswith(".service")}
        for name, text in {**{name: EMPTY for name in TARGETS}, **units, **logs}.items():
            path = self.folder / "units" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        ids = [(name, 61000 + i) for i, name in enumerate(users)]
        passwd = [f"{n}:x:{i}:{i}::/var/lib/{n}:/usr/sbin/nologin\n" for n, i in ids]
        group = [f"{n}:x:{i}:\n" for n, i in ids]
        for name, lines in (("passwd", passwd), ("group", group)):
            (self.folder / name).write_text(pathlib.Path("/etc", name).read_text() + "".join(lines))
        self.process = self.pid = None

    def __enter__(self):
        script = self.folder / "boot.sh"
        script.write_text(BOOT.format(folder=self.folder))
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            as_root("unshare", "--mount", "--pid", "--cgroup", "--fork", "--kill-child", "sh", str(script)),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        for _ in range(1200):
            self.pid = self._find_pid()
            if self.pid and self.run("systemctl", "is-active", "mini.target").stdout.strip() == "active":
                return self
            time.sleep(0.1)
        text = self.text_of_log()
        self.__exit__()
        raise RuntimeError(f"systemd did not boot:\n{text}")

    def __exit__(self, *_):
        if self.process:
            subprocess.run(as_root("kill", "-KILL", str(self.pid or self.process.pid)), check=False)
            self.process.wait()
        self.log.close()
        subprocess.run(as_root("rm", "-rf", str(self.folder)), check=False)

    def _find_pid(self):
        """The child of unshare (below sudo, if it is used)."""
        pid = self.process.pid
        while True:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if not children:
                return None if pid == self.process.pid else pid
            pid = int(children[0])
            if b"systemd\0--system" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid

    def text_of_log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def log_of(self, unit):
        """What the unit wrote, and what systemd says of it."""
        return self.run("sh", "-c", f"systemctl status {unit}; tail -n 40 /run/{unit}.service.log").stdout

    def run(self, *argv, check=False):
        """A command inside; its output is text."""
        done = subprocess.run(as_root("nsenter", "-t", str(self.pid), "-m", "-p", "-C", *map(str, argv)),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{shlex.join(map(str, argv))}: status {done.returncode}: {done.stdout}")
        return done
