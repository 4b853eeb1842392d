#!/usr/bin/python3
# test: plain only
"""The operator's settings: `server set` lists, writes and refuses them, and the documents quote their defaults. A document marks
such a number so: `task_seconds` (1800 by default)."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from server import ROOT, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

QUOTED = re.compile(r"`([a-z_]+)`\s+\((\S+)\s+by\s+default\)")
LISTED = re.compile(r"^  ([a-z_]+) (\S.*) \(default: (.*)\)$", re.M)
# The least number of marked places, so that a document that says it in another way is noticed.
DOCUMENTS = {"server/API.md": 11, "server/MAINTAINERS.md": 1, "deploy/README.md": 3}

server = None


def defaults():
    return {name: default for name, _, default in LISTED.findall(server.command("set", server.data))}


def complaints(text, known):
    """What the marked places of a document say that is not so."""
    return [f"`{name}` ({number} by default), but the server has {known.get(name, 'no such setting')}"
            for name, number in QUOTED.findall(text) if known.get(name) != number]


def the_documents_quote_the_defaults():
    known = defaults()
    true(len(known) > 15, known)
    for path, least in DOCUMENTS.items():
        text = (ROOT / path).read_text()
        equal(complaints(text, known), [], path)
        true(len(QUOTED.findall(text)) >= least, path)


def another_number_in_a_document_is_found():
    known = defaults()
    for path in DOCUMENTS:
        text = (ROOT / path).read_text()
        for place in QUOTED.finditer(text):
            planted = text[:place.start(2)] + "17" + text[place.end(2):]
            equal(len(complaints(planted, known)), 1, place.group(0))
            planted = text[:place.start(1)] + "colour" + text[place.end(1):]
            contains(complaints(planted, known)[0], "no such setting")
    equal(len(complaints("the setting `task_seconds`\n(17 by\ndefault)", known)), 1)


def a_new_installation_has_the_defaults():
    listed = server.command("set", server.data)
    true(listed.startswith("All settings"), listed)


def what_is_set_is_listed_and_what_does_not_fit_is_refused():
    server.command("set", server.data, "task_seconds", "60")
    contains(server.command("set", server.data), "  task_seconds 60\n")
    for name, value, word in (("task_seconds", "0", "1 to 86400"), ("flag_busy", "2", "0 to 1"), ("submit", "all", "developers|open"),
                              ("name", "two\nlines", "1 to 60 bytes"), ("colour", "red", "there is no setting colour")):
        done = server.command("set", server.data, name, value, check=False)
        equal(done.returncode, 1, name)
        contains(done.stderr, word)
    sql(server, "DELETE FROM settings WHERE name = 'task_seconds'")


def what_was_written_by_hand_and_does_not_fit_is_listed_as_such():
    sql(server, "INSERT INTO settings VALUES ('colour', 'red'), ('writes_per_minute', 'many')")
    listed = server.command("set", server.data)
    contains(listed, "  colour red   (there is no such setting)\n")
    contains(listed, "  writes_per_minute many   (not within its bounds: its default counts)\n")


def the_server_warns_once_of_such_a_value():
    client = server.client()
    for _ in range(3):
        client.login(password="wrong")
    wait_until(lambda: "writes_per_minute" in server.log())
    equal(server.log().count("the setting writes_per_minute is 'many'"), 1)


def the_pages_have_the_name_that_the_operator_gives():
    contains(server.client().get("/").text, "Patchmate")
    server.command("set", server.data, "name", "Anvil & friends")
    contains(server.client().get("/").text, "Anvil &amp; friends")


def main():
    global server
    with Server(reruns=True) as server:
        run(the_documents_quote_the_defaults, another_number_in_a_document_is_found, a_new_installation_has_the_defaults,
            what_is_set_is_listed_and_what_does_not_fit_is_refused,
            what_was_written_by_hand_and_does_not_fit_is_listed_as_such, the_server_warns_once_of_such_a_value,
            the_pages_have_the_name_that_the_operator_gives)


if __name__ == "__main__":
    main()
