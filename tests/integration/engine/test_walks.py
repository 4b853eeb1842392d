#!/usr/bin/python3
# test: sanitized only
"""`engine walks`: the same book on every machine, however many threads make it and however often they are interrupted; and
the book that the server brings.
"""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from builds import SANITIZED  # noqa: E402
from tap import LOAD_FACTOR, Skip, contains, equal, run, true  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENGINE = os.path.join(os.environ.get("BUILD", "build"), "engine")
SHIPPED = ROOT / "server/books/anvil.walks"
QUICK = ("--nodes", "50", "--count", "900")  # of 4,096 walks about 950 pass
HEADER, PLACE = 65, 516  # of a file of progress


def walks(*words, status=0):
    done = subprocess.run([ENGINE, "walks", *map(str, words)], capture_output=True, text=True, timeout=600 * LOAD_FACTOR)
    equal(done.returncode, status, done.stderr)
    return done


def made(folder, *options, name="book"):
    walks("make", folder / name, *options)
    return (folder / name).read_bytes()


def folder():
    return tempfile.TemporaryDirectory(prefix="patchmate-walks-")


def threads_and_interruptions_change_nothing():
    with folder() as name:
        here = pathlib.Path(name)
        # Sanitized it is ten times slower, and the test is after their reports, not after openings.
        long = ("--nodes", "50", "--count", "4000" if SANITIZED else "9000")
        alone = made(here, *long, "--threads", "1")
        equal(made(here, *long, "--threads", "3"), alone)
        command = [ENGINE, "walks", "make", str(here / "killed"), *long, "--threads", "2", "--progress", str(here / "progress")]
        begun = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 600 * LOAD_FACTOR
        while not (here / "progress").exists() or (here / "progress").stat().st_size < HEADER + 2 * PLACE:
            true(time.monotonic() < until and begun.poll() is None, "two chunks are searched before the end")
            time.sleep(0.01)
        begun.send_signal(signal.SIGKILL)
        begun.wait()
        kept = (here / "progress").read_bytes()
        equal(made(here, *long, "--progress", here / "progress"), alone)
        whole = (here / "progress").read_bytes()
        places = range(HEADER, len(kept) - PLACE + 1, PLACE)
        searched = [at for at in places if any(kept[at:at + PLACE])]  # one of two threads may have been behind
        true(searched, "a chunk is searched when the run is killed")
        true(all(whole[at:at + PLACE] == kept[at:at + PLACE] for at in searched), "what was searched is kept")


def a_damaged_file_of_progress_is_searched_again():
    with folder() as name:
        here = pathlib.Path(name)
        right = made(here, *QUICK, "--progress", here / "progress")
        progress = bytearray((here / "progress").read_bytes())
        progress[HEADER + 100] ^= 255
        (here / "progress").write_bytes(progress)
        equal(made(here, *QUICK, "--progress", here / "progress"), right)
        # With its checksum it is believed: then the book differs, which shows that the file is read at all.
        progress[HEADER + 512:HEADER + 516] = zlib.crc32(progress[HEADER:HEADER + 512]).to_bytes(4, "little")
        (here / "progress").write_bytes(progress)
        true(made(here, *QUICK, "--progress", here / "progress") != right, "a chunk with its checksum is not searched again")


def a_file_of_progress_belongs_to_one_recipe():
    with folder() as name:
        here = pathlib.Path(name)
        made(here, *QUICK, "--progress", here / "progress")
        for other in ("--nodes", "51"), ("--low", "49"), ("--high", "101"):
            done = walks("make", here / "x", *QUICK, *other, "--progress", here / "progress", status=1)
            contains(done.stderr, "belongs to a book with another window, nodes or net")
        true(not (here / "x").exists(), "nothing is written")


def a_book_that_is_like_another_stops_at_the_first_difference():
    with folder() as name:
        here = pathlib.Path(name)
        right = made(here, *QUICK)
        equal(made(here, "--like", here / "book", name="again"), right)
        line, numbers = right.split(b"\n", 1)
        (here / "planted").write_bytes(line.replace(b"nodes=50", b"nodes=51") + b"\n" + numbers)
        done = walks("make", here / "x", "--like", here / "planted", status=1)
        contains(done.stderr, "this engine judges positions otherwise than the engine that made the book")
        net = re.search(rb"net=(\w+)", line)[1]
        (here / "planted").write_bytes(line.replace(net, b"none") + b"\n" + numbers)
        contains(walks("make", here / "x", "--like", here / "planted", status=1).stderr, "was made with net none")


def the_exits_of_a_book_are_unique_and_its_sum_is_right():
    text = walks("print", SHIPPED).stdout
    lines = text.splitlines()
    line = SHIPPED.read_bytes().split(b"\n", 1)[0].decode()
    equal(len(lines), int(re.search(r"count=(\d+)", line)[1]))
    equal(len(set(lines)), len(lines), "no position comes twice")
    equal(hashlib.sha256(text.encode()).hexdigest(), re.search(r"book=(\w+)", line)[1])
    true(SHIPPED.stat().st_size < 300000, "the numbers are small")


def this_engine_finds_the_first_openings_of_the_default_book():
    bench = subprocess.run([ENGINE, "bench"], capture_output=True, text=True, timeout=600 * LOAD_FACTOR).stdout
    bench = re.search(r"Nodes searched *: (\d+)", bench)[1]
    if f"bench {bench}." not in re.sub(r"\s+", " ", (SHIPPED.parent / "README.md").read_text()):
        raise Skip(f"the engine that made the book had another bench than {bench}")
    with folder() as name:
        made(pathlib.Path(name), "--count", "900")
        equal(walks("print", pathlib.Path(name, "book")).stdout.splitlines(), walks("print", SHIPPED).stdout.splitlines()[:900])


def wrong_words_and_files_are_refused():
    for words in (), ("make",), ("print",), ("bake", "x"), ("make", "x", "--count", "0"), ("make", "x", "--low"), \
            ("make", "x", "--low", "90", "--high", "80"), ("make", "x", "--knots", "3"):
        contains(walks(*words, status=2).stderr, "usage: walks make FILE")
    with folder() as name:
        here = pathlib.Path(name)
        contains(walks("print", here / "none", status=1).stderr, f"cannot read {here / 'none'}")
        whole = SHIPPED.read_bytes()
        for what in whole[:-1], whole + b"\0", b"", whole.replace(b"walks 1", b"walks 9", 1):
            (here / "bad").write_bytes(what)
            done = walks("print", here / "bad", status=1)
            contains(done.stderr, str(here / "bad"))
            equal(done.stdout, "")
        middle = len(whole) // 2
        (here / "bad").write_bytes(whole[:middle] + bytes([whole[middle] ^ 3]) + whole[middle + 1:])
        done = walks("print", here / "bad", status=1)
        equal(done.stdout, "", "nothing of a damaged book is printed")


if __name__ == "__main__":
    run(threads_and_interruptions_change_nothing, a_damaged_file_of_progress_is_searched_again,
        a_file_of_progress_belongs_to_one_recipe, a_book_that_is_like_another_stops_at_the_first_difference,
        the_exits_of_a_book_are_unique_and_its_sum_is_right, wrong_words_and_files_are_refused,
        *[] if SANITIZED else [this_engine_finds_the_first_openings_of_the_default_book])
