#!/usr/bin/python3
"""Runs one test by its name, for `make test`: builds what it needs and shows its whole output.

usage: make test T=NAME [W="WORDS…"] [S=address]
  NAME   users, test_users, test_users.c or test_users.py: a unit test, an integration test or the browser test
  WORDS  only the sentences of a script that contain one of them
  S      the build with AddressSanitizer and UBSan
"""
import argparse
import collections
import difflib
import glob
import os
import subprocess
import sys

from run import PYTHON, ROOT, shared_folder

SANITIZED = ["SANITIZE=address,undefined", "OPT=-O1 -g1"]


def tests():
    """Paths by name; a unit test and a script may have one name."""
    found = collections.defaultdict(list)
    for pattern in ("unit/*/test_*.c", "integration/*/test_*.py", "browser/test_*.py"):
        for path in glob.glob(f"{ROOT}/tests/{pattern}"):
            found[os.path.basename(path).rsplit(".", 1)[0][len("test_"):]].append(path)
    return found


def find(wanted):
    known = tests()
    name = os.path.basename(wanted).removesuffix(".c").removesuffix(".py").removeprefix("test_")
    if name in known:
        return name, known[name]
    near = [n for n in known if name and name in n] or difflib.get_close_matches(name, known, 5, 0.5) or sorted(known)
    sys.exit(f"make test: there is no test {wanted or 'without a name: T=NAME'}; there are: {' '.join(sorted(near))}")


def build(folder, sanitized, targets):
    argv = ["make", "--no-print-directory", "-C", ROOT, "-j2", f"BUILD={folder}", *(SANITIZED if sanitized else []), *targets]
    if subprocess.run(argv, check=False).returncode:
        sys.exit("make test: the build failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("name")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    name, paths = find(arguments.name)
    out = os.path.join(arguments.build, "sanitize") if arguments.sanitized else arguments.build
    build(arguments.build, arguments.sanitized,
          sorted({f"{out}/tests/test_{name}" if path.endswith(".c") else "tools-built" for path in paths}))
    env = {**os.environ, "BUILD": os.path.abspath(out), "PATCHMATE_SHARED": shared_folder(), "PYTHONDONTWRITEBYTECODE": "1",
           **({"SANITIZED": "1"} if arguments.sanitized else {})}
    status = 0
    for path in paths:
        argv = [os.path.join(os.path.abspath(out), "tests", f"test_{name}")] if path.endswith(".c") else [PYTHON, path, *arguments.words]
        status |= subprocess.run(argv, cwd=ROOT, env=env, check=False).returncode
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
