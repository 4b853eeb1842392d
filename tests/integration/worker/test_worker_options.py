#!/usr/bin/python3
# test: sanitized only
"""The options of a test and those that its engine has: a worker reads the list of the engine after the build, and reports an
option that does not fit before a game is played. Real server, real worker, toy engine."""

import difflib
import pathlib
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import server as kit
import tap
import worker as worker_kit
from database import write_plain_book
from toy_engine import write_toy_source

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-options-"))
FOLDER.chmod(0o755)  # run by root, the worker becomes another user, who must reach its folder
TOY = "tests/tools/toy.c"
HASH_LINE = "option name Hash type spin default 1 min 1 max 1024"
# An engine that plays only after its option with a blank was set.
OVERHEAD = (("    char name[64];\n", "    char name[64];\n    overhead |= strcmp(line, \"setoption name Move Overhead value 10\") == 0;\n"),
            ("static void set_fault(", "static bool overhead;\nstatic void set_fault("),
            ("option name Seed", "option name Move Overhead type spin default 0 min 0 max 5000\\noption name Seed"),
            ("    toy_moment(toy, AT_NEWGAME);", "    if (!overhead)\n        abort();\n    toy_moment(toy, AT_NEWGAME);"))
# An engine that lists nothing.
SILENT = (("    toy_moment(toy, AT_UCI);\n", "    toy_moment(toy, AT_UCI);\n    if (toy) {\n        toy_say(\"uciok\\n\");\n        return;\n    }\n"),)
server = worker = None
number = 0


def patch(changes=()):
    """Of the toy engine; each patch is a commit of its own."""
    global number
    number += 1
    before = (FOLDER / "source" / TOY).read_text()
    after = f"// patch {number}\n{before}"
    for old, new in changes:
        tap.true(old in after, old)
        after = after.replace(old, new, 1)
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{TOY}", f"b/{TOY}"))


def submit(changes=(), **fields):
    form = {"engine": "anvil", "title": f"Patch {number}", "patch": patch(changes), "workload": "fixed", "games": 4, "tc": "5+0.05",
            "batch_pairs": 1, "new_options": "Hash=16", "base_options": "Hash=16", "draw": "off", "resign": "off", "max_moves": 10,
            **fields}
    reply = server.client("dev").api("POST", "/tests", form)
    tap.equal(reply.status, 201, repr(reply))
    test = reply.json["id"]
    tap.equal(server.client("boss").api("POST", f"/tests/{test}/approve", {}).status, 200)
    return test


def row(sql, *args):
    db = sqlite3.connect(f"file:{server.data}/patchmate.db?mode=ro", uri=True, timeout=60 * tap.LOAD_FACTOR)
    db.row_factory = sqlite3.Row
    try:
        return dict(db.execute(sql, args).fetchone())
    finally:
        db.close()


def end_of(test):
    """The test, when no machine plays it any more."""
    kit.wait_until(lambda: row("SELECT state FROM tests WHERE id = ?", test)["state"] != "active", 300)
    return row("SELECT t.*, (SELECT count(*) FROM batches b WHERE b.test_id = t.id) AS batches, (SELECT kind || ' ' || side FROM "
               "failures f WHERE f.test_id = t.id) AS failed FROM tests t WHERE id = ?", test)


def fails(test, side, *words):
    end = end_of(test)
    tap.equal((end["state"], end["failed"], end["batches"], end["units_counted"]), ("finished", f"option {side}", 0, 0), end["reason"])
    for word in words:
        tap.contains(end["reason"], word)


def plays(test):
    end = end_of(test)
    tap.equal((end["result"], end["units_counted"]), ("completed", 2), end["reason"])
    tap.equal(row("SELECT coalesce(sum(crashes), 0) AS n FROM batches WHERE test_id = ?", test)["n"], 0)


# ---- tests ----------------------------------------------------------------------------------------

def an_option_with_a_blank_reaches_the_engine():
    plays(submit(OVERHEAD, new_options='Hash=16 "Move Overhead"=10'))


def an_option_that_the_engine_lacks_is_reported_before_a_game():
    fails(submit(new_options="Hash=16 Sede=1"), "new", "option of new: the engine has no option Sede; its nearest options are Seed,",
          HASH_LINE)


def a_value_beyond_its_range_is_reported_with_the_range():
    fails(submit(new_options="Hash=2000"), "new", "the option Hash cannot have the value '2000': it is a whole number from 1 to 1024")


def threads_that_the_engine_cannot_have_are_reported():
    fails(submit((("min 1 max 64", "min 1 max 1"),), threads=2), "new", "the option Threads cannot have the value '2'")


def an_engine_without_a_list_plays_if_the_test_sets_nothing():
    plays(submit(SILENT, new_options=""))
    plays(submit(SILENT, new_options="Hash=16"))


def an_engine_without_a_list_takes_no_option():
    fails(submit(SILENT, new_options="Hash=32"), "new", "the engine lists no options, so Hash cannot be set")


def the_list_is_kept_with_the_tree():
    found = row("SELECT c.options FROM known_commits c JOIN engines e ON e.id = c.engine_id AND e.baseline = c.sha")["options"]
    tap.contains(found, HASH_LINE + "\n")
    tap.equal({line.split()[0] for line in found.splitlines()}, {"option"})
    sent = row("SELECT count(*) AS n, count(DISTINCT snapshot) AS trees FROM option_lists")
    tap.equal(sent["n"], sent["trees"], "a machine sends the list of a tree once")


def form(changes=(), **fields):
    return {"engine": "anvil", "title": "A form", "patch": patch(changes), "tc": "5+0.05", **fields}


def refused(reply, field, *words):
    tap.equal(reply.status, 422, repr(reply))
    tap.equal(reply.json["error"]["field"], field)
    for word in words:
        tap.contains(reply.json["error"]["message"], word)


def a_known_list_refuses_options_at_submission():
    dev, tests = server.client("dev"), row("SELECT count(*) AS n FROM tests")
    for value, word in (("Sede=1", "base_options: the engine has no option Sede; its nearest options are Seed,"),
                        ("Hash=2000", "base_options: the option Hash cannot have the value '2000': it is a whole number from 1 to 1024"),
                        ({"UCI_AnalyseMode": True}, "no option UCI_AnalyseMode")):
        refused(dev.api("POST", "/tests", form(base_options=value)), "base_options", word)
    refused(dev.api("POST", "/tests", {**form(), "patch": "", "commit": "baseline", "new_options": "Sede=1"}), "new_options", "no option Sede")
    page = dev.form("/tests/new", form(base_options="Sede=1 Hash=8", new_options='"A b"=1'))
    tap.equal(page.status, 422)
    tap.contains(page.text, "base_options: the engine has no option Sede")
    tap.contains(page.text, 'value="Sede=1 Hash=8"')
    tap.equal(row("SELECT count(*) AS n FROM tests"), tests)


def a_known_list_refuses_changes_of_options():
    dev = server.client("dev")
    reply = dev.api("POST", "/tests", form(base_options="Seed=1"))
    tap.equal(reply.status, 201, repr(reply))
    test = reply.json["id"]
    refused(dev.api("POST", f"/tests/{test}/modify", {"base_options": "Seed=1 Sede=1"}), "base_options", "no option Sede")
    tap.equal(dev.api("POST", f"/tests/{test}/modify", {"base_options": "Seed=2"}).status, 200)
    tap.equal(dev.api("GET", f"/tests/{test}").json["settings"]["base_options"], "Seed=2")


def the_document_has_the_lists_and_warns_of_a_new_option():
    dev = server.client("dev")
    test = dev.api("POST", "/tests", form(new_options="Sede=1")).json["id"]
    document = dev.api("GET", f"/tests/{test}").json
    tap.contains(document["base"]["option_list"], HASH_LINE)
    tap.equal(document["base"]["option_summary"], f"{document['base']['option_list'].count(chr(10))} options")
    tap.equal(document["new"]["option_list"], None)
    wanted = "The options of the patch do not fit the list of the base: the engine has no option Sede;"
    tap.true(any(warning.startswith(wanted) for warning in document["warnings"]), document["warnings"])
    page = dev.get(f"/tests/{test}").text
    for word in (wanted, HASH_LINE, "Options of the engine", document["new"]["option_summary"]):
        tap.contains(page, word)


try:
    source, book = write_toy_source(FOLDER / "source"), write_plain_book(FOLDER / "book.epd")
    with kit.Server(init_options=["--engine-source", str(source), "--book", str(book)]) as server:
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        with worker_kit.Worker(server, "--concurrency", "2", "--verbose", cache=FOLDER / "cache") as worker:
            tap.run(an_option_with_a_blank_reaches_the_engine, the_list_is_kept_with_the_tree,
                    an_option_that_the_engine_lacks_is_reported_before_a_game, a_value_beyond_its_range_is_reported_with_the_range,
                    threads_that_the_engine_cannot_have_are_reported, an_engine_without_a_list_plays_if_the_test_sets_nothing,
                    an_engine_without_a_list_takes_no_option, a_known_list_refuses_options_at_submission,
                    a_known_list_refuses_changes_of_options, the_document_has_the_lists_and_warns_of_a_new_option)
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
