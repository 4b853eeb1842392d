#!/usr/bin/python3
# test: sanitized only
"""Files that a task has placed before a build, as a server of a test's making sends them: they lie there, side by side, and
what is harmful, too much or in the way ends in a word to the server."""

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from fake_server import FakeServer  # noqa: E402
from server import wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402


def file(fake, path, content=b"a net\n"):
    sha = hashlib.sha256(content).hexdigest()
    fake.blobs[sha] = content
    return {"blob": sha, "path": path}


def failure(new=(), base=(), command="false", prepare=None):
    """What a worker says of a task whose sides have these files, each (path, content)."""
    with FakeServer() as fake:
        fake.add_task(command=command)
        for side, files in zip(fake.tasks[0]["sides"], (new, base)):
            side["files"] = [file(fake, *one) for one in files]
        if prepare:
            prepare(fake, fake.tasks[0])
        with Worker(fake, "--concurrency", "1"):
            return wait_until(lambda: fake.failures, 60)[0]


def each_side_is_built_with_its_own_files():
    show = "cat nets/x; test \"$(cat nets/x)\" = theirs && exit 7; printf '#!/bin/sh\\necho Nodes searched : 1000\\n' >tiny; chmod +x tiny"
    said = failure(new=[("nets/x", b"ours\n")], base=[("nets/x", b"theirs\n")], command=show)
    equal((said["kind"], said["side"]), ("build", "base"), said)
    contains(said["message"], "status 7")
    contains(said["log"], "theirs")


def a_file_in_the_place_of_a_source_ends_the_build_and_leaves_the_source():
    said = failure(new=[("main.c", b"int main(void) { return 0; }\n")])
    equal((said["kind"], said["side"]), ("build", "new"), said)
    contains(said["message"], "cannot place main.c: the sources have another file at its path")
    said = failure(new=[("main.c/net", b"x")])
    contains(said["message"], "a file in place of its folder")


def a_path_that_leads_out_is_refused_before_anything_is_fetched():
    for path in ("../x", "/tmp/x", "nets/../../x", "nets/.", "-x", ""):
        said = failure(new=[(path,)])
        equal(said["kind"], "machine", said)
        contains(said["message"], "a file without a hash or outside the tree")
    said = failure(new=[("nets/x",), ("nets/x",)])
    contains(said["message"], "two files in one place")


def too_many_files_are_refused():
    said = failure(new=[(f"nets/{i}",) for i in range(33)])
    contains(said["message"], "too many files")


def too_large_a_file_is_refused_and_not_asked_for_again():
    said = failure(new=[("nets/x", bytes(65 << 20))])
    equal(said["kind"], "machine", said)
    contains(said["message"], "is over 64 MiB")


def a_file_that_the_server_does_not_have_is_said():
    def lose(fake, task):
        del fake.blobs[task["sides"][0]["files"][0]["blob"]]
    said = failure(new=[("nets/x",)], prepare=lose)
    equal(said["kind"], "machine", said)
    true("no such blob" in said["message"], said["message"])


if __name__ == "__main__":
    run(each_side_is_built_with_its_own_files, a_file_in_the_place_of_a_source_ends_the_build_and_leaves_the_source,
        a_path_that_leads_out_is_refused_before_anything_is_fetched, too_many_files_are_refused,
        too_large_a_file_is_refused_and_not_asked_for_again, a_file_that_the_server_does_not_have_is_said)
