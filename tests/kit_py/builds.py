"""Where the programs of this run lie."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
SANITIZED = bool(os.environ.get("SANITIZED"))
# Under sanitizers it is our programs that are looked at; the engines that tests play with, and their sandbox, come from the
# usual build, if it is there: a sanitized process takes ten times as long to begin and to end.
USUAL = BUILD.parent if SANITIZED and (BUILD.parent / "tests/sandboxed").exists() else BUILD
MATCH, TOY = BUILD / "match", USUAL / "tests/toy"
