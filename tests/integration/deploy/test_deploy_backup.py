#!/usr/bin/python3
# test: plain only
"""`server backup` of a server that is being written to, and the way back that deploy/README.md describes."""

import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from played import post_batch  # noqa: E402
import protocol  # noqa: E402
from database import MATCHES, sql  # noqa: E402
from server import wait_until  # noqa: E402
from submission import bare, git, patch, submission_server  # noqa: E402
import tap  # noqa: E402

PAIRS = 4000


class World:
    server = tar = None
    acknowledged = []  # (task, seq) in order of the acknowledgement


def load(stop):
    """A worker that posts batches with games as fast as the server answers."""
    worker = World.server.worker()
    while not stop.is_set():
        reply = protocol.claim(worker)
        if reply.status != 200:
            return
        task = reply.json
        size = task["test"]["batch_pairs"]
        for seq in range(task["pairs"] // size):
            if stop.is_set():
                return
            posted = post_batch(worker, task, seq, "2" * size)
            if posted.status != 200:
                raise RuntimeError(str(posted))
            World.acknowledged.append((task["id"], seq))
            if not posted.json["continue"]:
                break


def batches_came_during_a_backup():
    World.tar.unlink(missing_ok=True)
    World.before = len(World.acknowledged)
    World.server.command("backup", World.server.data, World.tar)
    return len(World.acknowledged) > World.before


def a_running_server_is_backed_up_while_batches_arrive():
    submitted = World.server.client("dev").api("POST", "/tests", {
        "title": "goes on", "patch": patch().decode(), "workload": "fixed", "pairs_max": PAIRS, "batch_pairs": 4, "tc": "10+0.1"})
    tap.equal(submitted.status, 201, submitted)
    World.server.client("boss").api("POST", f"/tests/{submitted.json['id']}/approve")
    stop = threading.Event()
    thread = threading.Thread(target=load, args=(stop,))
    thread.start()
    try:
        wait_until(lambda: len(World.acknowledged) > 20)
        tap.true(any(batches_came_during_a_backup() for _ in range(20)), "nothing was written while the backup ran")
    finally:
        stop.set()
        thread.join()


def the_copy_restores_to_a_server_that_passes_its_check():
    folder = World.server.folder / "restored"
    folder.mkdir(mode=0o700)
    subprocess.run(["tar", "-xf", World.tar, "-C", folder], check=True)
    World.old, World.server.data = World.server.data, folder
    World.server.command("check", folder)
    World.server.stop()
    World.server.start()
    tap.equal(World.server.client().get("/api/v1/health").status, 200)


def it_holds_every_batch_acknowledged_before_and_each_blob_that_it_names():
    rows = {(task, seq) for task, seq in sql(World.server, "SELECT task_id, seq FROM batches")}
    missing = [b for b in World.acknowledged[:World.before] if b not in rows]
    tap.equal(missing, [], "batches that were acknowledged before the backup began")
    named = [sha for (sha,) in sql(World.server, "SELECT sha256 FROM blobs")]
    lost = [sha for sha in named if not (World.server.data / "blobs" / sha[:2] / sha).is_file()]
    tap.equal(lost, [], "blobs with a row and no file")
    tap.true(named, "no blobs at all")


def its_repository_holds_the_commits_of_its_tests():
    for (sha,) in sql(World.server, f"SELECT new_commit FROM {MATCHES}"):
        git("-C", bare(World.server), "cat-file", "-e", f"{sha}^{{tree}}")
    git("-C", bare(World.server), "fsck", "--strict")


def main():
    with submission_server() as World.server, tempfile.TemporaryDirectory() as folder:
        World.tar = pathlib.Path(folder) / "patchmate.tar"
        tap.run(a_running_server_is_backed_up_while_batches_arrive, the_copy_restores_to_a_server_that_passes_its_check,
                it_holds_every_batch_acknowledged_before_and_each_blob_that_it_names,
                its_repository_holds_the_commits_of_its_tests)


if __name__ == "__main__":
    main()
