"""Tests that print TAP: each function given to `run` is one test, named by its own name read as a sentence."""

import sys
import traceback


class Skip(Exception):
    """Raise with the reason to skip the test that runs."""


def run(*tests):
    """Runs the tests in order, prints TAP, and exits with 1 if one failed. Words on the command line choose: a test
    runs when its sentence has one of them."""
    words = sys.argv[1:]
    tests = [test for test in tests if not words or any(word in test.__name__.replace("_", " ") for word in words)]
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    sys.exit(1 if failed else 0)


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what or 'value'}: got {got!r}, wanted {wanted!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def true(value, what):
    if not value:
        raise AssertionError(what)
