#!/usr/bin/python3
# test: first, sanitized only
"""The worker and the machine it runs on: what it says at its start, what it offers, CPUs and disk that it shares with others,
and `--self-test`."""

import contextlib
import functools
import hashlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import BUILD  # noqa: E402
from fake_server import FakeServer  # noqa: E402
from server import still_there, wait_until  # noqa: E402
from tap import LOAD_FACTOR, Skip, contains, equal, run, true  # noqa: E402
from tiny_engine import FAILING, MAIN, STUBBORN  # noqa: E402
from worker import Worker  # noqa: E402

NO_SERVER = "http://127.0.0.1:1"  # where no server listens


class At:
    def __init__(self, url):
        self.url = url


def lines(worker, part):
    return [line for line in worker.log().splitlines() if part in line]


def engines(worker):
    """Processes that play, by the program they run."""
    programs = {(f.stat().st_dev, f.stat().st_ino) for f in worker.cache.glob("builds/*/engine")}
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            program = os.stat(entry / "exe") if entry.name.isdigit() else None
        except OSError:
            continue
        if program and (program.st_dev, program.st_ino) in programs:
            found.append(entry)
    return found


def told_of_engines(worker, file, pattern):
    """What is found in a file of /proc of each process that plays; one may end meanwhile."""
    found = set()
    for process in engines(worker):
        with contextlib.suppress(OSError):
            found.add(re.search(pattern, (process / file).read_text(), re.M).group(1))
    return found


def as_other_machine(script, *argv):
    """A command that runs in a mount namespace of its own, after a script has changed what is where."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    return ["unshare", "--mount", *user, "sh", "-ec", script + '\nexec "$0" "$@"', *map(str, argv)]


# ---- the start ------------------------------------------------------------------------------------

def the_first_start_explains_in_five_lines_and_later_ones_do_not():
    with FakeServer() as fake, Worker(fake, "--concurrency", "1", "--name", "kitchen") as worker:
        wait_until(lambda: fake.claims, 30)
        said = worker.log().split("While it runs, this worker\n")[1].splitlines()[:6]
        equal([line[:2] for line in said[:5]], ["  "] * 5)
        true(not said[5:] or not said[5].startswith("  "), said)
        for part in (fake.url, "level ", "1 of ", "--memory", "--cache-size", "kitchen", "Ctrl-C"):
            contains("\n".join(said), part)
        worker.kill()
        worker.start()
        wait_until(lambda: len(lines(worker, "sandbox level")) == 2, 30)
        equal(worker.log().count("While it runs"), 1)
        contains(fake.hosts[0]["isa"], "" if os.uname().machine != "x86_64" else "x86-64-v")


def a_server_that_does_not_answer_is_waited_for_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60 * LOAD_FACTOR)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Worker(At(url), "--concurrency", "1", env={**os.environ, "PATCHMATE_PACING": "0.1"}) as worker:
            for _ in range(5):
                connection = listener.accept()[0]
                connection.recv(65536)  # unread bytes would make the close a reset: another reason, and another line
                connection.close()
            wait_until(lambda: lines(worker, f"waiting for {url}: "))
            equal(len(lines(worker, "waiting for")), 1)
            equal(worker.process.poll(), None)


def a_worker_too_old_for_the_server_says_so_and_ends():
    sentence = "this server speaks protocol 9: fetch a newer worker from its home page"
    with FakeServer(status=426, error=("protocol_too_old", sentence)) as fake, Worker(fake, "--concurrency", "1") as worker:
        equal(worker.wait(), 1)
        equal(len(lines(worker, sentence)), 1, worker.log())


def a_cache_that_cannot_be_used_is_named():
    with Worker(At(NO_SERVER), "--concurrency", "1", cache=pathlib.Path("/proc/no/cache")) as worker:
        equal(worker.wait(), 1)
        contains(worker.log(), "/proc/no")
        contains(worker.log(), "--cache DIR chooses another folder")


def urls_that_are_none_are_refused():
    for url in ("chess.example", "ftp://chess.example", "http://", "http://a b", "https://x.example/?q"):
        done = subprocess.run([BUILD / "worker", "--server", url], capture_output=True, text=True, timeout=60 * LOAD_FACTOR)
        equal((done.returncode, url in done.stderr), (2, True), url)


def without_make_the_volunteer_is_told_what_to_install():
    make = os.path.realpath(shutil.which("make"))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        done = subprocess.run(as_other_machine(f"mount --bind /dev/null {make}", BUILD / "worker", "--server", NO_SERVER,
                                               "--cache", f"{folder}/cache"), capture_output=True, text=True, timeout=60 * LOAD_FACTOR)
        equal(done.returncode, 1, done.stderr)
        contains(done.stderr, "install make")


# ---- what it offers -------------------------------------------------------------------------------

def niceness_reaches_the_engines():
    with FakeServer(STUBBORN) as fake:
        fake.add_task()
        with Worker(fake, "--concurrency", "1", "--nice", "7") as worker:
            equal(wait_until(lambda: told_of_engines(worker, "stat", r"\) (?:\S+ ){16}(\S+) "), 60), {"7"})


def a_game_that_needs_more_memory_than_is_offered_is_left_to_others():
    with FakeServer() as fake:
        fake.add_task(options={"Hash": "512"})
        with Worker(fake, "--concurrency", "1", "--memory", "600", "--once") as worker:
            equal(worker.wait(), 0)
            contains(worker.log(), "600 MiB are offered")
        failure = fake.failures[0]
        equal((failure["kind"], failure["side"]), ("machine", ""))
        contains(failure["message"], "1152 MiB of memory")
        equal(fake.claims[0]["memory_mib"], 600)


def a_test_of_a_unit_that_it_does_not_know_is_left_to_newer_workers():
    for unit in ("position", None, 7):
        with FakeServer() as fake:
            fake.add_task()
            fake.tasks[0]["test"] = {"id": 1, "engine": "tiny", "title": "Other", "workload": "suite", "unit": unit}
            del fake.tasks[0]["openings"]
            with Worker(fake, "--concurrency", "1", "--once") as worker:
                equal(worker.wait(), 0)
                contains(worker.log(), "cannot play the workload 'suite'")
            failure = fake.failures[0]
            equal((failure["kind"], failure["side"], failure["started_pairs"]), ("machine", "", 0))
            contains(failure["message"], f"whose unit is '{unit if unit == 'position' else ''}'; install a newer worker")
            equal(fake.claims[0]["units"], ["pair"])
            equal([path for method, path, _ in fake.heard if method == "GET"], [], "downloads")


def a_test_of_pairs_is_played_whatever_its_workload():
    for change in ({"unit": "pair", "workload": "later"}, {}):
        with FakeServer(FAILING) as fake:
            fake.add_task()
            del fake.tasks[0]["test"]["unit"]
            fake.tasks[0]["test"].update(change)
            with Worker(fake, "--concurrency", "1"):
                wait_until(lambda: any("batches" in path for _, path, _ in fake.heard), 60)
            equal(fake.failures, [])


def two_workers_of_a_machine_play_on_different_cpus():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one CPU")
    with FakeServer(STUBBORN) as fake:
        fake.add_task(1), fake.add_task(2)
        with Worker(fake, "--concurrency", "1") as first:
            wait_until(lambda: engines(first), 60)
            with Worker(fake, "--concurrency", "1") as second:
                wait_until(lambda: engines(second), 60)
                wait_until(lambda: all(len(cpus(w)) == 1 for w in (first, second)) or crowded(first, second), 10)
                if not crowded(first, second):  # else others use this machine, too
                    true(not cpus(first) & cpus(second), f"{cpus(first)} and {cpus(second)}")


def cpus(worker):
    return told_of_engines(worker, "status", r"^Cpus_allowed_list:\s*(.*)$")


def crowded(*workers):
    return any("other workers" in worker.log() for worker in workers)


# ---- disk -----------------------------------------------------------------------------------------

def old_things_leave_a_cache_that_is_too_large():
    with FakeServer() as fake, Worker(fake, "--concurrency", "1", "--cache-size", "16", start=False) as worker:
        blobs = worker.cache / "blobs"
        blobs.mkdir(parents=True)
        os.chmod(worker.folder, 0o755)
        for name, age_s in (("a" * 64, 9000), ("b" * 64, 5000), ("c" * 64, 100)):
            (blobs / name).write_bytes(b"x" * (7 << 20))
            os.utime(blobs / name, (time.time() - age_s,) * 2)
        worker.start()
        wait_until(lambda: fake.claims, 30)
        equal(sorted(f.name[0] for f in blobs.iterdir()), ["b", "c"])
        contains(worker.log(), "removed 1 old builds and downloads, 7 MiB")


def a_full_disk_is_waited_out_and_burns_no_task():
    with FakeServer() as fake, tempfile.TemporaryDirectory(prefix="patchmate-disk-") as folder:
        os.chmod(folder, 0o755)
        script = f"mount -t tmpfs -o size=100m,mode=777 none {folder}\nhead -c 60M /dev/zero >{folder}/filler\nmkdir {folder}/cache"
        fake.add_task()
        log = open(f"{folder}.log", "w+", encoding="utf-8")
        process = subprocess.Popen(as_other_machine(script, BUILD / "worker", "--server", fake.url, "--cache", f"{folder}/cache",
                                                    "--concurrency", "1", "--once"), stdout=log, stderr=log)
        try:
            wait_until(lambda: "room on the disk" in pathlib.Path(log.name).read_text(), 30)
            time.sleep(2.5)
            equal((fake.claims, process.poll()), ([], None))
            os.unlink(f"/proc/{process.pid}/root{folder}/filler")
            wait_until(lambda: fake.claims, 30)
            text = pathlib.Path(log.name).read_text()
            equal(text.count("room on the disk"), 1, text)
            contains(text, "can work again")
        finally:
            process.kill()
            process.wait()
            log.close()
            os.unlink(log.name)


def tasks_that_fail_by_the_machines_fault_are_not_burnt():
    with FakeServer() as fake:
        for number in range(1, 100):
            fake.add_task(number, snapshot_sha="f" * 64)  # no blob has this name
        with Worker(fake, "--concurrency", "1"):
            wait_until(lambda: len(fake.failures) >= 3, 30)
            equal({failure["kind"] for failure in fake.failures}, {"machine"})
            before, began = len(fake.claims), time.monotonic()
            wait_until(lambda: len(fake.claims) >= before + 2, 30)
            true(time.monotonic() - began > 3, "no pause of 4 s or more lies between two claims")


# ---- the self-test --------------------------------------------------------------------------------

def in_tmp():
    return {f.name for f in pathlib.Path("/tmp").glob("patchmate-self-test-*")}


def left_since(before):
    """Folders that a self-test has left. One that runs beside ours removes its own at its end."""
    found = in_tmp() - before
    return still_there(lambda: found & in_tmp(), 60)


def the_self_test_finds_this_machine_fit():
    before = in_tmp()
    done = subprocess.run([BUILD / "worker", "--self-test"], capture_output=True, text=True, timeout=400 * LOAD_FACTOR)
    equal((done.returncode, done.stderr), (0, ""), done.stdout)
    for row in ("sandbox", "compiler and make", "reach the network", "reached in build", "reached in bench", "reached in play", "build", "bench", "match", "engine that crashes",
                "engine with 40 children"):
        true(re.search(rf"^  ok +{row}", done.stdout, re.M), f"{row}: {done.stdout}")
    true("FAILED" not in done.stdout, done.stdout)
    equal(left_since(before), set())


# Its bench is what the net says, and it builds with no other file among the nets.
NET_ENGINE = {
    "main.c": MAIN.replace('"Nodes searched  : 1000\\nNodes/second    : 1000000"', "net").replace("int main", "extern const char net[];\nint main") % "",
    "part/net.S": '.globl net\n.section .rodata\nnet: .incbin NET\n.byte 0\n.section .note.GNU-stack,"",@progbits\n',
    "Makefile": "anvil: main.c part/net.S\n\ttest `ls nets` = `cat net`\n\tcc -w -DNET='\"nets/'`cat net`'\"' $^ -o $@\n"}


@functools.cache
def self_test_of_an_installed_worker():
    """What it prints. Its list of what a program may reach lacks one thing that each program reaches."""
    before = in_tmp()
    with tempfile.TemporaryDirectory(prefix="patchmate-installed-") as name:
        folder = pathlib.Path(name)
        net = b"Nodes searched  : 4711\nNodes/second    : 1000000\n"
        sha = hashlib.sha256(net).hexdigest()
        for path, text in {**NET_ENGINE, "net": sha + "\n", "nets/" + sha: net.decode(), "nets/older": "of a day before"}.items():
            file = folder / "share/patchmate/engine" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (folder / "bin").mkdir()
        program = (BUILD / "worker").read_bytes()
        true(b"\nall   opens /dev/zero\n" in program, "the worker carries the list")
        (folder / "bin/worker").write_bytes(program.replace(b"\nall   opens /dev/zero\n", b"\nall   opens /dev/nada\n"))
        (folder / "bin/worker").chmod(0o755)
        folder.chmod(0o755)
        done = subprocess.run([folder / "bin/worker", "--self-test"], capture_output=True, text=True, timeout=400 * LOAD_FACTOR)
    equal(left_since(before), set())
    return done


def the_self_test_builds_an_installed_engine_with_its_net():
    said = self_test_of_an_installed_worker().stdout
    true(re.search("^  ok +bench +4711 and 4711 nodes", said, re.M), said)


def the_self_test_names_what_a_program_reaches_and_must_not():
    done = self_test_of_an_installed_worker()
    named = re.findall("^  FAILED +reached in (.*?) +(.*)$", done.stdout, re.M)
    equal(named, [(where, "opens /dev/zero") for where in ("build", "bench", "play")], done.stdout)
    equal(done.returncode, 1)


def the_self_test_finds_what_is_missing():
    before = in_tmp()
    make = os.path.realpath(shutil.which("make"))
    done = subprocess.run(as_other_machine(f"mount --bind /dev/null {make}", BUILD / "worker", "--self-test"),
                          capture_output=True, text=True, timeout=400 * LOAD_FACTOR)
    equal(done.returncode, 1, done.stderr)
    true(re.search("^  FAILED  compiler and make .*install make", done.stdout, re.M), done.stdout)
    contains(done.stdout, "this machine cannot work for a server yet")
    equal(left_since(before), set())


def without_a_sandbox_the_self_test_says_what_is_open():
    done = subprocess.run([BUILD / "worker", "--self-test", "--sandbox", "0", "--no-sandbox"], capture_output=True, text=True,
                          timeout=400 * LOAD_FACTOR)
    equal(done.returncode, 0, done.stdout)
    true(re.search("^ +engines read your files +YES", done.stdout, re.M), done.stdout)
    true(re.search("^  ok +engine that crashes", done.stdout, re.M), done.stdout)


run(the_first_start_explains_in_five_lines_and_later_ones_do_not, a_server_that_does_not_answer_is_waited_for_in_one_line,
    a_worker_too_old_for_the_server_says_so_and_ends, a_cache_that_cannot_be_used_is_named, urls_that_are_none_are_refused,
    without_make_the_volunteer_is_told_what_to_install, niceness_reaches_the_engines,
    a_game_that_needs_more_memory_than_is_offered_is_left_to_others,
    a_test_of_a_unit_that_it_does_not_know_is_left_to_newer_workers, a_test_of_pairs_is_played_whatever_its_workload,
    two_workers_of_a_machine_play_on_different_cpus,
    old_things_leave_a_cache_that_is_too_large, a_full_disk_is_waited_out_and_burns_no_task,
    tasks_that_fail_by_the_machines_fault_are_not_burnt, the_self_test_finds_this_machine_fit,
    the_self_test_names_what_a_program_reaches_and_must_not,
    the_self_test_builds_an_installed_engine_with_its_net, the_self_test_finds_what_is_missing, without_a_sandbox_the_self_test_says_what_is_open)
