#!/usr/bin/python3
# test: plain only
"""Queries as C functions: a wrong call does not compile, and a query of which the build can make no function stops the build. Each
call and each query has one fault, which the message must name."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))
from tap import contains, equal, run, true  # noqa: E402

folder = None  # for what is built
ENV = {name: value for name, value in os.environ.items() if name not in ("BUILD", "CC", "CFLAGS", "CI", "MAKEFLAGS", "OPT", "SANITIZE")}


def make(where, *words):
    """Status and output."""
    done = subprocess.run(["make", "-s", "--no-print-directory", *map(str, words)], cwd=where, env=ENV, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def made(*words):
    status, output = make(ROOT, f"BUILD={folder / 'build'}", *words)
    equal(status, 0, output)
    return output.split()


# ---- calls ---------------------------------------------------------------------------------------

def flags_of_the_server():
    """How an object of the server is compiled."""
    command = made("-n", "V=1", "CC=gcc", f"{folder / 'build'}/obj/server/db/query.o")
    last = command.index("-c")  # before it, make may check packages
    first = last - command[last::-1].index("gcc")
    return [word for word in command[first + 1:last] if word not in ("-MMD", "-MP")]


def compiled(compiler, statement):
    """Status, and the errors of a function with this statement."""
    code = ('#include "server/common/str.h"\n#include "sql/core.h"\n#include "sql/users.h"\n'
            f"void f(Db *db, Error *err, double real);\nvoid f(Db *db, Error *err, double real) {{\n{statement};\n}}\n")
    done = subprocess.run([compiler, *flags, "-x", "c", "-fsyntax-only", "-"], input=code, cwd=ROOT, env=ENV | {"LC_ALL": "C"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, "\n".join(line for line in done.stdout.splitlines() if "error:" in line)


def state(*values):
    """A call of a query with the parameters :state and :user."""
    return f"(void)!sql_user_set_state(db, err, {', '.join(values)})"


ROW = 'SqlUserByName row scope(sql_row_free) = {0}; if (sql_user_by_name(db, &row, "anna"))'
ROWS = "SqlSettingsAllRows rows scope(sql_rows_end) = sql_settings_all(db); while (sql_settings_all_next(&rows))"
UNNAMED, AGAIN = "SqlNamesOnly *", ("initialized field overwritten", "initializer overrides prior initialization")

RIGHT_CALLS = (
    state('.state = "active"', ".user = 7"),
    state(".user = 7", ".state = NULL"),
    '(void)!sql_login_failure_add(db, err, .subject = "a", .now = real, .forget_s = 60)',
    f"{ROW} (void)row.admin",
    f"{ROWS} (void)rows.row.value",
)

# A call, and words of the error: of gcc's and of clang's if they differ.
WRONG_CALLS = (
    (state('.status = "a"', ".user = 7"), ("no member named 'status'", "designator 'status' does not refer to any field")),
    (state(".user = 7"), ("requires 4 arguments, but only 3 given", "too few arguments provided to function-like macro")),
    (state('.state = "a"', ".user = 7", ".user = 8"), ("passed 5 arguments, but takes just 4", "too many arguments provided to function-like macro")),
    (state(".user = 7", ".user = 8"), AGAIN),
    (state('"active"', ".user = 7"), UNNAMED),
    (state("7", '.state = "a"'), UNNAMED),
    (state('.state = "a"', "7"), UNNAMED),
    (state(".user = 7", '"active"'), UNNAMED),
    (state("NULL", ".user = 7"), AGAIN),
    (state('.state = "a"', "0"), AGAIN),
    (state(".user = 7", "0"), AGAIN),
    (state('.state = "a"', '.user = "anna"'), ("int-conversion", "incompatible pointer to integer conversion")),
    (state('.state = "a"', ".user = real"), "float-conversion"),
    (state(".state = 7", ".user = 7"), ("int-conversion", "incompatible integer to pointer conversion")),
    (state(".state = real", ".user = 7"), ("incompatible types when initializing type 'const char *'", "incompatible type 'double'")),
    ('(void)!sql_login_failure_add(db, err, .subject = "a", .now = "today", .forget_s = 60)',
     ("incompatible types when initializing type 'double'", "initializing 'double' with an expression of incompatible type")),
    ('(void)sql_user_of_name(db, 0, 7)', ("int-conversion", "incompatible integer to pointer conversion")),
    (f"{ROW} (void)row.email", "no member named 'email'"),
    (f"{ROWS} (void)rows.row.user", "no member named 'user'"),
)


def compilers():
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def a_right_call_compiles():
    for compiler in compilers():
        for statement in RIGHT_CALLS:
            equal(compiled(compiler, statement), (0, ""), f"{compiler}: {statement}")


def a_wrong_call_does_not_compile_and_the_error_names_the_mistake():
    for compiler in compilers():
        for statement, words in WRONG_CALLS:
            status, errors = compiled(compiler, statement)
            true(status != 0, f"{compiler} compiles {statement}")
            contains(errors, words if isinstance(words, str) else words[compiler == "clang"])


# ---- queries -------------------------------------------------------------------------------------

SCHEMA = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT NOT NULL, done REAL) STRICT;\n"


def build(query):
    """Status and output of the build of a small schema with this query, named `job` unless it names itself."""
    with tempfile.TemporaryDirectory(dir=folder) as tree:
        sql = pathlib.Path(tree) / "sql"
        sql.mkdir()
        for file in "generate.awk", "functions.c", "types.c", "types.h":
            shutil.copy(ROOT / "sql" / file, sql)
        shutil.copy(ROOT / "Makefile", tree)
        (sql / "schema.sql").write_text(SCHEMA)
        (sql / "jobs.sql").write_text(query + "\n")
        return make(tree, "build/gen/sql/jobs.h")


RIGHT_QUERIES = (
    "-- name: job_add\nINSERT INTO jobs (name) VALUES (:name)",
    "-- name: job row\nSELECT id, name, done FROM jobs WHERE id = :job",
    "-- name: job rows\n-- types: age real?, :now real\nSELECT id, :now - done AS age FROM jobs",
    "-- name: job value\n-- types: value int\nSELECT count(*) FROM jobs",
    "-- name: job array\n-- types: open bool\nSELECT id, done IS NULL AS open FROM jobs",
)

# A query, and the sentence that stops the build.
WRONG_QUERIES = (
    ("-- name: job row\nSELECT count(*) AS jobs FROM jobs", "sql: query job: jobs is an expression: state its type in -- types:"),
    ("-- name: job value\nSELECT id FROM jobs WHERE id > :low + 1 AND id < abs(:high)",
     "sql: query job: high has no type that can be deduced: state it in -- types:"),
    ("-- name: job row\nSELECT name FROM jobs WHERE id = :key OR name = :key", "sql: query job: key is used as two types: state the one it has"),
    ("-- name: job row\nSELECT name FROM jobs WHERE id = ?1", "sql: query job: ?1 needs a name (:test)"),
    ("-- name: job row\nSELECT name FROM jobs WHERE id = ?", "sql: query job: a parameter needs a name (:test)"),
    ("-- name: job row\n-- types: n int\nSELECT 2 * id FROM jobs", "sql: query job: 2 * id needs a name of its own: AS …"),
    ("-- name: job array\nSELECT 2 * id FROM jobs", "sql: query job: 2 * id needs a name of its own: AS …"),
    ("-- name: job row\nSELECT a.id, b.id FROM jobs a, jobs b", "sql: query job: id needs a name of its own: AS …"),
    ("-- name: job\nSELECT id FROM jobs", "sql: query job: it has columns: it needs a form"),
    ("-- name: job row\nDELETE FROM jobs", "sql: query job: no columns"),
    ("-- name: job value\nSELECT id, name FROM jobs", "sql: query job: a value is one column"),
    ("-- name: job list\nSELECT id FROM jobs", "sql/jobs.sql:1: not a name and a form (row, rows, value, object, array): -- name: job list"),
    ("-- name: job row\n-- types: id whole\nSELECT id FROM jobs", "sql: query job: id whole is stated there, and is no name and type of this query"),
    ("-- name: job row\n-- types: size int\nSELECT id FROM jobs", "sql: query job: size int is stated there, and is no name and type of this query"),
    ("-- name: job row\n-- types: :job int\nSELECT id FROM jobs", "sql: query job: job int is stated there, and is no name and type of this query"),
    ("-- name: job row\nSELECT id, size FROM jobs", "sql: query job: no such column: size"),
    ("-- name: job row\nSELECT id FROM jobs\n-- name: job value\nSELECT id FROM jobs", "sql/jobs.sql: query job is there twice"),
    ("-- name: job row\nSELECT @job_fields FROM jobs", "sql/jobs.sql: no list of columns and no text job_fields"),
)


def a_right_query_becomes_a_function():
    for query, (status, output) in zip(RIGHT_QUERIES, builds(RIGHT_QUERIES)):
        equal((status, output), (0, ""), query)


def a_wrong_query_stops_the_build_with_a_sentence_that_names_it():
    queries = [query for query, _ in WRONG_QUERIES]
    for (query, sentence), (status, output) in zip(WRONG_QUERIES, builds(queries)):
        true(status != 0, f"the build takes {query}")
        contains("\n" + output, "\n" + sentence)


def builds(queries):
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        return list(threads.map(build, queries))


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    made(f"{folder / 'build'}/gen/sql/core.h")
    flags = flags_of_the_server()
    run(a_right_call_compiles, a_wrong_call_does_not_compile_and_the_error_names_the_mistake, a_right_query_becomes_a_function,
        a_wrong_query_stops_the_build_with_a_sentence_that_names_it)
