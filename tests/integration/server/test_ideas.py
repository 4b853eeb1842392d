#!/usr/bin/python3
# test: sanitized only
"""The memory of ideas over real HTTP, beside git's own programs: a patch that was tested before is named at submission, to the
approver and beside Merge, by any author and under any title; and nothing is refused or decided by it."""

import difflib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import Client  # noqa: E402
from submission import PATCHES, accept, bare, database, git, patch, submission_server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = dev = boss = vera = anyone = None
SEARCH = (PATCHES / "base/search.c").read_text()
MARGIN = "return 100 * depth;"
REPEATED = "the same tree"


def changes(*pairs, text=SEARCH):
    """A patch of search.c that replaces texts."""
    new = text
    for old, by in pairs:
        true(old in new, old)
        new = new.replace(old, by)
    return "".join(difflib.unified_diff(text.splitlines(keepends=True), new.splitlines(keepends=True), "a/search.c", "b/search.c"))


def submit(client, text, **fields):
    document = {"title": "A patch", "tc": "1+0.01", "bench": 1234567, "patch": text, **fields}
    reply = client.api("POST", "/tests", {name: value for name, value in document.items() if value is not ...})
    equal(reply.status, 201, reply)
    return reply.json


def document(test, client=None):
    reply = (client or anyone).api("GET", f"/tests/{test}")
    equal(reply.status, 200, reply)
    return reply.json


def alike(seen):
    """{ID: what is alike}"""
    return {test["id"]: test["change"] for test in seen["tests"]}


def end(test, result, pairs=64):
    with database(server) as db:
        db.execute("UPDATE tests SET state = 'finished', result = ?, finished = 1790000000, units_counted = ? WHERE id = ?", (result, pairs, test))


def approve(test):
    equal(boss.api("POST", f"/tests/{test}/approve").status, 200)


def patch_id(old, new, how="--stable"):
    diff = git("diff-tree", "-p", "--no-renames", old, new, cwd=bare(server))
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(diff)
        file.flush()
        return git("-c", f"alias.id=!git patch-id {how} < {file.name}", "id").split()[0]


# ---- what is found

def eight_accounts_with_eight_titles_send_one_idea():
    text = changes((MARGIN, "return 90 * depth;"))
    before = []
    for i in range(8):
        name = f"dev{i}"
        server.add_user(name, "developer")
        reply = submit(server.client(name), text, title=f"Something new {i}")
        seen = reply["seen_before"]
        equal(sorted(alike(seen)), before)
        equal({*alike(seen).values()}, {REPEATED} if before else set())
        equal(seen["sprts"]["count"], i + 1)
        approve(reply["id"])
        equal([words for words in reply["warnings"] if "idea" in words], [seen["text"]] if before else [])
        if i == 2:
            true(abs(seen["chance"] - 0.142625) < 1e-9, seen)
            contains(seen["text"], "at least one of 3 SPRTs of this idea accepts it with a probability of 14\xa0%.")
        before.append(reply["id"])
    equal(document(before[-1])["seen_before"]["tests"][-1]["author"], "dev0")


def the_patch_ids_are_those_that_git_prints():
    test = submit(dev, patch().decode())["id"]
    found = document(test)
    base, new = found["base"]["commit"], found["new"]["commit"]
    equal(found["seen_before"]["patch_id"], patch_id(base, new))
    equal(found["seen_before"]["reverse_patch_id"], patch_id(new, base))


def a_comment_that_becomes_code_is_named_and_decides_nothing():
    """The two patches differ in one blank and have one patch-id."""
    comment = submit(dev, changes((MARGIN, "return 95 /*depth; /**/;")))["id"]
    end(comment, "rejected")
    code = submit(dev, changes((MARGIN, "return 95 / *depth; /**/;")))
    found = document(code["id"])
    equal(found["seen_before"]["patch_id"], document(comment)["seen_before"]["patch_id"])
    equal(alike(code["seen_before"]), {comment: "the same patch but for white space"})
    approve(code["id"])
    equal(document(code["id"])["state"], "active")


def another_base_hides_nothing():
    """The commit of the second test stands on a commit that changed another place."""
    text = changes((MARGIN, "return 80 * depth;"))
    old = submit(dev, text)["id"]
    ground = submit(dev, changes(("return best;", "return best + 2;")))["id"]
    approve(ground)
    moved = submit(dev, text, base=f"test:{ground}", base_bench=...)["seen_before"]
    equal(alike(moved), {old: "the same patch"})
    equal(moved["tests"][0]["other_base"], True)


def the_reverse_is_found_from_both_sides():
    text = changes((MARGIN, "return 70 * depth;"))
    there = submit(dev, text)["id"]
    approve(there)
    back = submit(dev, changes(("return 70 * depth;", MARGIN), text=SEARCH.replace(MARGIN, "return 70 * depth;")), base=f"test:{there}")
    equal(alike(back["seen_before"]), {there: "its reverse"})
    equal(back["seen_before"]["chance"], None)
    equal(alike(document(there)["seen_before"]), {back["id"]: "its reverse"})


def a_binary_file_has_no_patch_id_and_its_tree_is_found():
    text = (PATCHES / "git_diff_binary/input.patch").read_text()
    old = submit(dev, text)
    contains(old["seen_before"]["note"], "it changes a binary file")
    equal((old["seen_before"]["patch_id"], old["seen_before"]["tests"]), (None, []))
    equal(alike(submit(dev, text)["seen_before"]), {old["id"]: REPEATED})


def what_is_dropped_is_remembered():
    text = changes((MARGIN, "return 60 * depth;"))
    old = submit(dev, text)["id"]
    equal(dev.api("POST", f"/tests/{old}/stop").status, 200)
    with database(server) as db:
        db.execute("UPDATE tests SET patch_dropped = 1790000000 WHERE id = ?", (old,))
    again = submit(dev, text)["seen_before"]
    equal((alike(again), again["tests"][0]["result"], again["chance"]), ({old: REPEATED}, "stopped", None))


# ---- who is told

def the_approver_reads_it_before_the_approval():
    text = changes((MARGIN, "return 50 * depth;"))
    old = submit(dev, text, title="The first try")["id"]
    end(old, "rejected")
    test = submit(dev, text, title="A quite different thing")["id"]
    sentence = document(test)["seen_before"]["text"]
    contains(sentence, f"test {old} (the same tree, rejected)")
    true(sentence in document(test)["warnings"], "the sentence is a warning")
    page = boss.get(f"/tests/{test}").words
    actions = page[page.index('id="actions"'):page.index("/approve")]
    contains(actions, sentence)
    contains(page[page.index('id="ideas"'):], f'<a href="/tests/{old}">The first try</a>')


def it_stands_beside_merge():
    text = changes((MARGIN, "return 40 * depth;"))
    for result in "rejected", "rejected":
        end(submit(dev, text)["id"], result)
    test = submit(dev, text)["id"]
    approve(test)
    accept(server, test)
    end(test, "accepted")
    page = boss.get(f"/tests/{test}").words
    merge = page[page.index('id="merge-ideas"'):page.index(f"/tests/{test}/merge")]
    contains(merge, "at least one of 3 SPRTs of this idea accepts it with a probability of 14")


def tests_are_public_and_so_is_this():
    test = submit(dev, changes((MARGIN, "return 40 * depth;")))["id"]
    for client in dev, boss, vera:
        equal(document(test, client)["seen_before"], document(test)["seen_before"])


def the_event_of_the_submission_has_it():
    first, second = (submit(dev, changes((MARGIN, "return 30 * depth;")), title="Thirty") for _ in range(2))
    events = {event["test"]: event["message"] for event in anyone.api("GET", "/events?type=submitted&limit=2").json["items"]}
    equal(events[first["id"]], "Thirty")
    equal(events[second["id"]], f"Thirty. {second['seen_before']['text']}")


def a_test_that_a_merge_offers_again_names_the_first():
    text = changes((MARGIN, "return 20 * depth;"))
    test, other = submit(dev, text)["id"], submit(dev, changes(("int best = 0;", "int best = 1;")))["id"]
    for number in test, other:
        approve(number)
        end(number, "accepted")
    equal(boss.api("POST", f"/tests/{other}/merge").status, 200)
    server.command("engine", "policy", server.data, '{"untested": 0}')
    again = boss.api("POST", f"/tests/{test}/merge")
    equal(again.status, 201, again)
    equal(alike(document(again.json["id"])["seen_before"]), {test: "the same patch"})


# ---- git fails

def without_an_answer_of_git_the_submission_goes_on():
    """A git that does not start, then one that does not end."""
    text = changes((MARGIN, "return 10 * depth;"))
    with tempfile.TemporaryDirectory() as folder:
        broken = submission_server(env={"PATH": folder})
        try:
            first = submit(broken.client("dev"), text)
            program = pathlib.Path(folder) / "git"
            program.write_text("#!/bin/sh\nexec /bin/sleep 3600\n")
            program.chmod(0o755)
            second = submit(broken.client("dev"), text)
            contains(first["seen_before"]["note"], "cannot start git")
            contains(second["seen_before"]["note"], "git took over 10 seconds")
            equal(alike(second["seen_before"]), {first["id"]: REPEATED})
        finally:
            broken.close()


def main():
    global server, dev, boss, vera, anyone
    server = submission_server()
    try:
        dev, boss, vera, anyone = *(server.client(name) for name in ("dev", "boss", "vera")), Client(server)
        run(eight_accounts_with_eight_titles_send_one_idea,
            the_patch_ids_are_those_that_git_prints,
            a_comment_that_becomes_code_is_named_and_decides_nothing,
            another_base_hides_nothing,
            the_reverse_is_found_from_both_sides,
            a_binary_file_has_no_patch_id_and_its_tree_is_found,
            what_is_dropped_is_remembered,
            the_approver_reads_it_before_the_approval,
            it_stands_beside_merge,
            tests_are_public_and_so_is_this,
            the_event_of_the_submission_has_it,
            a_test_that_a_merge_offers_again_names_the_first,
            without_an_answer_of_git_the_submission_goes_on)
    finally:
        server.close()


if __name__ == "__main__":
    main()
