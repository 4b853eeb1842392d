#!/usr/bin/python3
"""Level 1 of the sandbox hides the names of the machine's files where a user can make namespaces, and says so where it cannot.

A program asks for files that it must not know of, by the calls that Landlock does not restrict, in a build, at bench and in play."""

import functools
import hashlib
import os
import pathlib
import pwd
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import confinement
import server as kit
import tap
from fake_server import FakeServer, snapshot
from worker import Worker

SYSTEM = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var", "/opt", "/boot", "/proc/1", "/proc/self", "/proc/stat", "/proc/mounts",
          "/sys/class", "/sys/fs/cgroup", "/dev/shm", "/dev/tty", "/run", "/lost+found",
          "/../etc/shadow", "/../root")  # where an old root would lie that is still mounted over the new one
LINKS = ("/proc/self/exe", "/proc/1/exe", "/dev/fd", "/etc/localtime")
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const paths[] = {PATHS, 0}, *const links[] = {LINKS, 0}, *const kept[] = {KEPT, 0};

static void look(FILE *out) {
    struct stat st;
    struct statfs fs;
    char text[4096];
    for (int i = 0; paths[i]; i++)
        if (lstat(paths[i], &st) == 0 || access(paths[i], F_OK) == 0)
            fprintf(out, "fact finds %s\n", paths[i]);
    for (int i = 0; links[i]; i++)
        if (readlink(links[i], text, sizeof text) > 0)
            fprintf(out, "fact reads link %s\n", links[i]);
    for (int i = 0; kept[i]; i++) {
        int fd = open(kept[i], O_RDONLY);
        if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read(fd, text, 1) != 1))
            fprintf(out, "fact lacks %s\n", kept[i]);
    }
    if (statfs("/", &fs) == 0)
        fprintf(out, "fact root has %llu bytes\n", (unsigned long long)fs.f_blocks * fs.f_bsize);
    if (umount2("/usr", MNT_DETACH) == 0 || mount("x", "/usr", "tmpfs", 0, 0) == 0 || chroot("/usr") == 0)
        fprintf(out, "fact changes mounts\n");
    if (setuid(0) == 0 || (getuid() && unshare(CLONE_NEWUSER) == 0))
        fprintf(out, "fact gets rights\n");
    fprintf(out, "fact user %d of the folder's %d\n", (int)getuid(), stat(".", &st) == 0 ? (int)st.st_uid : -1);
    fprintf(out, "fact end\n");
}

int main(int argc, char **argv) {
    int bench = argc > 1 && strcmp(argv[1], "bench") == 0;
    if (bench && strcmp(AT, "play") == 0)
        return puts("Nodes searched  : 1000\nNodes/second    : 1000000") < 0;
    look(stdout);
    return 1;
}
"""
KEPT = ("/usr", "/bin/sh", "/etc/alternatives", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu/online",
        "/dev/zero", "/dev/urandom", ".")
COMMANDS = {"build": "cc -w -DAT='\"build\"' main.c -o tiny && ./tiny", "bench": "cc -w -DAT='\"bench\"' main.c -o tiny",
            "play": "clang -w -DAT='\"play\"' main.c -o tiny"}


def listed(paths):
    return ", ".join(f'"{path}"' for path in paths)


@functools.cache
def look(where, prepare=None):
    """What the program finds there, with its worker's log. The worker's folder has a secret file and a link beside the cache."""
    if confinement.missing(1):
        raise tap.Skip(confinement.missing(1))
    env = {**os.environ, "PATCHMATE_PACING": "0.1"}
    with FakeServer() as fake, Worker(fake, "--sandbox", "1", "--concurrency", "1", start=False, env=env, prepare=prepare) as worker:
        secret, link = worker.folder / "secret", worker.folder / "link"
        secret.write_text("key\n")
        link.symlink_to("/etc/shadow")
        own = (secret, link, worker.log_path, worker.cache / "blobs", worker.cache / "1" / "servers")
        source = SOURCE.replace("PATHS", listed((*SYSTEM, *own))).replace("LINKS", listed((*LINKS, link))).replace("KEPT", listed(path for path in KEPT if os.path.exists(path)))
        tree = snapshot({"main.c": source})
        fake.blobs = {hashlib.sha256(tree).hexdigest(): tree}
        fake.add_task(command=COMMANDS[where])
        worker.start()
        kit.wait_until(lambda: fake.failures, 60)
        failure = fake.failures[0]
        facts = [line.split("fact ", 1)[1] for line in failure["log"].splitlines() if "fact " in line]
        tap.true("end" in facts, f"the program did not come to its end: {failure}")
        return [fact for fact in facts if fact != "end"], worker.log(), str(secret)


def hidden(where):
    def test():
        if not confinement.makes_namespaces():
            raise tap.Skip("no namespaces are to be had here")
        facts, log, _ = look(where)
        tap.equal([fact for fact in facts if not fact.startswith("root has ")], [f"user {worker_user()} of the folder's {worker_user()}"])
        tap.equal([int(fact.split()[2]) for fact in facts if fact.startswith("root has ")], [64 << 10], "not the host's file system")
        tap.true("a file system of its own" in log and "hides all other files" in log, log)
    test.__name__ = f"a program in {where} finds no file of the machine but those that it needs".replace(" ", "_")
    return test


def worker_user():
    """The user that a worker becomes."""
    if os.getuid():
        return os.getuid()
    names = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall()}
    return names.get("patchmate", names["nobody"])


def without_namespaces_the_worker_says_which_files_it_does_not_hide():
    facts, log, secret = look("build", confinement.give_up_unshare)
    tap.true(f"finds {secret}" in facts, facts)  # else this test shows nothing
    tap.equal([fact for fact in facts if fact.startswith(("lacks", "changes", "gets"))], [])
    tap.true("does NOT hide names, sizes, owners and times of your files" in log, log)


def self_test_rows(prepare=None):
    """Of a self-test at level 1, up to what a program reaches; the rest, games, has tests of its own."""
    said = []
    with subprocess.Popen([kit.BUILD / "worker", "--self-test", "--sandbox", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, preexec_fn=prepare) as run:
        while (not said or "reached in play" not in said[-1]) and (line := run.stdout.readline()):
            said.append(line)
        run.send_signal(signal.SIGINT)
        run.stdout.read()
    return [line for line in said if line[2:8] in ("ok    ", "FAILED")]


def the_self_test_says_which_of_both_there_is():
    if confinement.missing(1):
        raise tap.Skip(confinement.missing(1))
    bare = "does NOT hide names, sizes, owners and times of your files"
    for prepare, words in ((None, "hides all other files" if confinement.makes_namespaces() else bare), (confinement.give_up_unshare, bare)):
        rows = self_test_rows(prepare)
        tap.true(any(words in row for row in rows), rows)
        tap.equal([row for row in rows if "FAILED" in row], [])
        tap.equal(sum("reached in" in row and "all allowed" in row for row in rows), 3, rows)


def main():
    tap.run(*[hidden(where) for where in COMMANDS], without_namespaces_the_worker_says_which_files_it_does_not_hide,
            the_self_test_says_which_of_both_there_is)


if __name__ == "__main__":
    main()
