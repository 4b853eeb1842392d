"""Patches to the engine of this source tree."""

import difflib

from server import ROOT


def demo(name):
    """A patch that changes what the search does, as `make demo` submits it."""
    return (ROOT / "tests" / "data" / "demo" / f"{name}.patch").read_text()


def with_line(file, line):
    """A diff that puts `line` before the first one of a file of engine/."""
    old = (ROOT / "engine" / file).read_text().splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, [line + "\n", *old], f"a/{file}", f"b/{file}"))
