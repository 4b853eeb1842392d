#!/usr/bin/python3
# test: sanitized only
"""The kit's check for leaks, on programs that leak, that do not, and that end without having looked."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import leaks  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

folder = None
GOOD, LEAK = "free(kept);", "kept = NULL;"


def ended(name, end, *prefix, check=True):
    """Builds and runs a program with that end: the stem of its reports and its process id."""
    program, stem = folder / name, folder / f"report-{name}"
    program.with_suffix(".c").write_text(
        f"#include <stdlib.h>\n#include <unistd.h>\nint main(void) {{ void *volatile kept = malloc(100); {end} return kept != NULL && 0; }}\n")
    subprocess.run(["gcc", "-fsanitize=address", "-w", f"{program}.c", "-o", program], check=True)
    true(leaks.is_sanitized(program), "the program is sanitized")
    process = subprocess.Popen([*prefix, program], env=leaks.environment(dict(os.environ), stem, check), stderr=subprocess.DEVNULL)
    process.wait()
    return stem, process.pid


def failure(stem, pid):
    try:
        leaks.must_be_none(stem, pid)
    except AssertionError as error:
        return str(error)
    return ""


def a_program_without_a_leak_leaves_the_proof_that_it_looked():
    stem, pid = ended("good", GOOD)
    equal(failure(stem, pid), "")
    contains(leaks.reports(stem), leaks.MARK)


def a_leak_fails_with_its_report():
    text = failure(*ended("leaking", LEAK))
    contains(text, "detected memory leaks")
    contains(text, "100 byte(s)")


def an_end_without_a_check_fails():
    contains(failure(*ended("hasty", LEAK + "_exit(0);")), "it left no report")
    contains(failure(*ended("told-not-to", LEAK, check=False)), "it left no report")


def a_report_that_was_removed_fails():
    stem, pid = ended("removed", GOOD)
    (folder / f"{stem.name}.{pid}").unlink()
    contains(failure(stem, pid), "it left no report")


def a_check_that_cannot_be_made_fails():
    contains(failure(*ended("traced", GOOD, "strace", "-D", "-f", "-o", "/dev/null")), "LeakSanitizer has encountered a fatal error")


def main():
    global folder
    with tempfile.TemporaryDirectory(prefix="patchmate-leaks-") as name:
        folder = pathlib.Path(name)
        run(a_program_without_a_leak_leaves_the_proof_that_it_looked, a_leak_fails_with_its_report, an_end_without_a_check_fails,
            a_report_that_was_removed_fails, a_check_that_cannot_be_made_fails)


if __name__ == "__main__":
    main()
