#!/usr/bin/python3
# test: plain only
"""A row of the table of workloads that lacks a function or a value does not compile: server/ledger/workload.h, tried on
one of its files."""

import os
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "kit_py"))
from tap import contains, equal, run, true  # noqa: E402

HEADER = (TESTS.parent / "server/ledger/workload.h").read_text()
SOURCE = (TESTS.parent / "server/ledger/workload_fixed.c").read_text()
ROW = HEADER[HEADER.index("typedef struct Workload {"):HEADER.index("} Workload;")]
FUNCTIONS = re.findall(r"\(\*(\w+)\)\(", ROW)
VALUES = "label", "version", "unit", "units_max"


def compiled(source):
    """Exit status and messages of gcc."""
    done = subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Werror=override-init", "-I.", "-fsyntax-only", "-xc", "-"], cwd=TESTS.parent,
                          input=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"LC_ALL": "C"})
    return done.returncode, done.stdout


def fails(source, words):
    true(source != SOURCE, f"the fault is planted: {words}")
    status, messages = compiled(source)
    equal(status, 1, f"{words}: {messages}")
    contains(messages, words)


def a_complete_row_compiles():
    equal(compiled(SOURCE), (0, ""))


def a_row_without_one_of_its_functions_does_not_compile():
    true(len(FUNCTIONS) > 10, FUNCTIONS)
    for name in FUNCTIONS:
        fails(re.sub(rf"\bfixed_{name}\(", f"other_{name}(", SOURCE), f"'fixed_{name}' undeclared")


def a_row_without_its_fields_does_not_compile():
    fails(re.sub(r"\bfixed_fields\[\]", "other_fields[]", SOURCE), "'fixed_fields' undeclared")


def a_row_without_one_of_its_values_does_not_compile():
    for name in VALUES:
        fails(re.sub(rf",\s*\.{name} = [^,)]+", "", SOURCE), 'macro "WORKLOAD_DEFINE" requires 5 arguments')


def a_row_with_one_of_its_values_twice_does_not_compile():
    for name, other in zip(VALUES, VALUES[1:] + VALUES[:1]):
        fails(re.sub(rf"(,\s*)\.{name} = [^,)]+", rf"\1.{other} = 0", SOURCE), "initialized field overwritten")


def the_row_has_no_further_member():
    """A member of the struct that the macro leaves out would be NULL in every row."""
    filled = re.findall(r"\.(\w+) = (?:#NAME|NAME##\w+)", HEADER)
    members = FUNCTIONS + re.findall(r"^\s*(?:const )?\w+ \*?(\w+)(?:, \*(\w+))?;", ROW, re.M)
    equal({m for row in members for m in ([row] if isinstance(row, str) else row) if m}, set(filled) | set(VALUES))


run(a_complete_row_compiles, a_row_without_one_of_its_functions_does_not_compile, a_row_without_its_fields_does_not_compile,
    a_row_without_one_of_its_values_does_not_compile, a_row_with_one_of_its_values_twice_does_not_compile, the_row_has_no_further_member)
