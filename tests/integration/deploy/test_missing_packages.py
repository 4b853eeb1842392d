#!/usr/bin/python3
# test: plain only
"""On a machine without the packages that a build needs, `make` names each of them and `make deps`, and compiles nothing. The machine
is this one, with a pkg-config that does not find some libraries, or with a PATH that lacks a tool."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "kit_py")]
import tap  # noqa: E402

ROOT = TESTS.parent
ADVICE = "Install them by: make deps (as root)"
TOOLS = ("sh", "make", "awk", "gawk", "cc", "pkg-config", "sed", "id", "find", "mkdir", "basename", "rm", "dpkg-query", "grep")


def make(*words, **environment):
    outside = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "CI"}}
    return subprocess.run(["make", "-j2", *words], cwd=ROOT, env=outside | environment, capture_output=True, text=True)


def named(done):
    """The packages that a build that was refused has named."""
    tap.true(done.returncode != 0, "it was built")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    tap.equal(lines[-1:], [ADVICE], done.stderr)
    tap.true(all(line.startswith("missing: ") for line in lines[:-1]), done.stderr)
    return [line.removeprefix("missing: ") for line in lines[:-1]]


def refused(*words, **environment):
    """The packages that are named, where nothing at all is made."""
    with tempfile.TemporaryDirectory() as folder:
        found = named(make(f"BUILD={folder}/build", *words, **environment))
        tap.equal(os.listdir(folder), [], "made without the packages")
    return found


@contextlib.contextmanager
def pkg_config_without(*libraries):
    """The usual one, blind to some libraries."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "pkg-config")
        blind = "|".join(f"*' {library} '*" for library in libraries)
        script.write_text(f'#!/bin/sh\ncase " $* " in {blind}) exit 1;; esac\nexec {shutil.which("pkg-config")} "$@"\n')
        script.chmod(0o755)
        yield str(script)


@contextlib.contextmanager
def path_without(tool):
    with tempfile.TemporaryDirectory() as folder:
        for name in TOOLS:
            if name != tool:
                os.symlink(shutil.which(name), f"{folder}/{name}")
        yield folder


def of_the_build():
    text = (ROOT / "deploy/packages").read_text().split("[build]\n")[1].split("\n[")[0]
    return {line.split()[0] for line in text.splitlines() if line.strip()}


def one_missing_library_is_named_by_its_package():
    with pkg_config_without("libgit2") as pkg_config:
        tap.equal(refused(PKG_CONFIG=pkg_config), ["libgit2-dev"])
        tap.equal(refused("tests-built", f"PKG_CONFIG={pkg_config}"), ["libgit2-dev"])


def all_missing_libraries_are_named_and_make_deps_installs_them():
    found = refused(PKG_CONFIG="false")
    tap.equal(sorted(found), sorted(of_the_build() - {"pkg-config", "gawk"}))


def a_missing_tool_is_named():
    for tool, package in (("pkg-config", "pkg-config"), ("gawk", "gawk"), ("cc", "gcc")):
        with path_without(tool) as path:
            tap.equal(refused(PATH=path), [package])


def what_compiles_nothing_of_ours_asks_for_none_of_them():
    for words in (["-n", "deps"], ["-n", "clean"], ["-n", "format"], ["help"], ["-n", "-C", "engine"]):
        done = make(*words, PKG_CONFIG="false")
        tap.equal((done.returncode, "missing: " in done.stderr), (0, False), f"{words}: {done.stderr}")


def what_installs_packages_does_so_before_it_builds():
    for target in ("demo", "check", "lint"):
        lines = make("-n", target).stdout
        tap.true("dpkg-query" in lines, lines[:300])
        tap.true(lines.find("dpkg-query") < lines.find("--exists") or "--exists" not in lines, f"make {target} asks before it installs")


if __name__ == "__main__":
    tap.run(one_missing_library_is_named_by_its_package, all_missing_libraries_are_named_and_make_deps_installs_them,
            a_missing_tool_is_named, what_compiles_nothing_of_ours_asks_for_none_of_them,
            what_installs_packages_does_so_before_it_builds)
