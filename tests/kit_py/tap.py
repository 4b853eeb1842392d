"""Tests that print TAP: each function given to `run` is one test, named by its own name read as a sentence. `Checks` is for
scripts whose functions check many things: each check prints a line of its own."""

import concurrent.futures
import itertools
import os
import sys
import traceback

# How long a test waits for an event, in seconds times this. The end of a wait is generous, because it only ends a test whose
# event never comes; no test fails because its machine is slow. tests/run.py sets this for a machine under load.
LOAD_FACTOR = float(os.environ.get("TESTS_PATIENCE", 1))


class Skip(Exception):
    """Raise with the reason to skip the test that runs."""


def skipped(sentence, why):
    """A test that cannot run on this machine."""
    def test():
        raise Skip(why)
    test.__name__ = sentence.replace(" ", "_")
    return test


def run(*tests, beside=()):
    """Runs the tests in order, prints TAP, and exits with 1 if one failed. Words on the command line choose: a test
    runs when its sentence has one of them. The tests of `beside`, which mostly wait and share nothing with the others, run at
    the same time in a thread of their own, in order, and are reported last."""
    tests, beside = chosen(tests), chosen(beside)
    print(f"1..{len(tests) + len(beside)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        meanwhile = [(test, thread.submit(outcome, test)) for test in beside]
        outcomes = itertools.chain(((test, outcome(test)) for test in tests), ((test, later.result()) for test, later in meanwhile))
        failed = sum(not report(number, sentence(test), got) for number, (test, got) in enumerate(outcomes, 1))
    sys.exit(1 if failed else 0)


def sentence(test):
    return test.__name__.replace("_", " ")


def chosen(tests):
    words = sys.argv[1:]
    return [test for test in tests if not words or any(word in sentence(test) for word in words)]


def outcome(test):
    """Nothing, a Skip, or the text of what went wrong."""
    try:
        test()
    except Skip as reason:
        return reason
    except Exception:
        return traceback.format_exc()
    return None


def report(number, name, got):
    """Prints a test's lines. True if it did not fail."""
    failed = isinstance(got, str)
    skipped = f" # SKIP {got}" if isinstance(got, Skip) else ""
    lines = [f"{'not ' if failed else ''}ok {number} - {name}{skipped}", *(f"# {line}" for line in (got.splitlines() if failed else ()))]
    print("\n".join(lines), flush=True)
    return not failed


class Checks:
    """Prints and counts checks; `end` prints the plan and gives the exit status."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, sentence, detail=""):
        """`detail` is printed if the check fails."""
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {sentence}", flush=True)
        if not good:
            print("# " + "\n# ".join(str(detail).splitlines()[-40:]), flush=True)

    def same(self, got, wanted, sentence, detail=""):
        self.check(got == wanted, sentence, f"wanted {wanted!r}\ngot    {got!r}\n{detail}")

    def skip(self, sentence, why):
        self.count += 1
        print(f"ok {self.count} - {sentence} # SKIP {why}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what or 'value'}: got {got!r}, wanted {wanted!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def true(value, what):
    if not value:
        raise AssertionError(what)
