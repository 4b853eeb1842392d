#!/usr/bin/python3
# test: sanitized only
"""A harvest: ten patches of a small engine are accepted side by side on one baseline, and merged one after the other.

Each takes one handicap of tests/data/harvest away, in a file of its own, but for the last two, which share a file. Every
verdict is played by two real workers of two owners. Nine patches are merged, and only the second change of the shared file
needs a new test. The server is killed in the middle of the queue."""

import difflib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from server import ROOT, Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402

ENGINE = ROOT / "tests/data/harvest"
server = dev = boss = None
tests = {}  # by the number of the handicap
retest = 0


def patch(number):
    name = f"handicap_{min(number, 9)}.c"
    before = (ENGINE / name).read_text().splitlines(True)
    at = before.index(f"int handicap_{number}(void) {{\n") + 1
    after = before[:at] + ["    return 0;\n"] + before[at + 1:]
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))


def write_book(path):
    """Positions with mate by g7, all different: the queen's file, and which white pawns there are."""
    lines = []
    for queen in range(5):
        for pawns in range(1, 128):
            rank = "".join("P" if pawns >> file & 1 else "." for file in range(7)) + "."
            for size in range(8, 0, -1):
                rank = rank.replace("." * size, str(size))
            lines.append(f"7k/{queen or ''}Q{7 - queen}/6K1/8/8/8/{rank}/1N6 w - -\n")
    path.write_text("".join(lines))


def document(test):
    return dev.api("GET", f"/tests/{test}").json


def all_accepted():
    states = [document(test)["result"] for test in tests.values()]
    true("rejected" not in states and "failed" not in states, states)
    return states == ["accepted"] * 10


def ten_patches_are_accepted_side_by_side():
    for number in range(1, 11):
        form = {"title": f"Take handicap {number} away", "patch": patch(number), "tc": "nodes=100", "model": "logistic", "elo0": 0,
                "elo1": 50, "batch_pairs": 16, "draw": "off", "resign": "off", "max_moves": 20}
        reply = dev.api("POST", "/tests", form)
        equal(reply.status, 201, reply)
        tests[number] = reply.json["id"]
        equal(boss.api("POST", f"/tests/{tests[number]}/approve", {}).status, 200)
    wait_until(all_accepted, 600, 0.5)


def the_page_says_what_a_merge_does():
    merge = document(tests[1])["actions"]["merge"]
    equal((merge["forward"], merge["trial"], merge["since"]), (True, False, []))


def nine_are_merged_with_one_new_test():
    global retest
    reply = boss.api("POST", f"/tests/{tests[1]}/merge", {})
    equal(reply.status, 200, reply)
    for number in range(2, 11):
        reply = boss.api("POST", f"/tests/{tests[number]}/merge", {})
        equal(reply.status, 202, reply)
    equal(boss.api("POST", f"/tests/{tests[5]}/merge", {}).code, "queued")
    wait_until(lambda: merged() >= 4, 300, 0.2)
    server.kill()  # in the middle of the queue
    server.start()
    wait_until(lambda: not queue(), 300, 0.5)
    again = {number: document(test)["retest"] for number, test in tests.items()}
    equal([number for number in again if again[number]], [10])
    retest = again[10]
    equal(merged(), 9)


def merged():
    return sql(server, "SELECT count(*) FROM tests WHERE merged_commit IS NOT NULL")[0][0]


def queue():
    return dev.api("GET", "/engines").json["items"][0]["merges"]["queue"]


def each_commit_of_the_branch_has_the_count_of_its_tree():
    commits = sql(server, "SELECT t.id, t.merged_commit, k.bench, k.subject FROM tests t JOIN known_commits k ON k.sha = t.merged_commit "
                          "ORDER BY t.merged")
    equal([test for test, *_ in commits], [tests[number] for number in range(1, 10)])
    left = 1023
    for number, (_, _, bench, subject) in enumerate(commits, 1):
        left &= ~(1 << (number - 1))
        equal((bench, subject), (10000 + left, f"Take handicap {number} away"))
    equal(sql(server, "SELECT baseline FROM engines")[0][0], commits[-1][1])


def the_second_change_of_a_file_is_a_retest_that_keeps_its_approval():
    found = document(retest)
    equal((found["retest_of"], found["approved_by"]), (tests[10], "boss"))
    events = [event["message"] for event in document(tests[10])["events"] if event["type"] == "rebased"]
    contains(events[0], f"handicap_9.c was changed by test {tests[9]}, too")


def trials_are_no_tests_of_strength():
    rows = sql(server, "SELECT trial_of, workload, result, units_counted FROM tests WHERE trial_of IS NOT NULL ORDER BY id")
    equal([row[:3] for row in rows], [(tests[number], "fixed", "completed") for number in range(2, 10)])
    true(all(pairs >= 8 for *_, pairs in rows), rows)
    games = sql(server, "SELECT sum(2 * units_counted) FROM tests")[0][0]
    print(f"# {len(tests)} tests, {len(rows)} trials of {2 * sum(pairs for *_, pairs in rows)} games, 1 retest; {games} games in all")


def the_untested_merges_are_counted_and_a_test_of_them_offered():
    untested = dev.api("GET", "/engines").json["items"][0]["merges"]["untested"]
    equal((untested["count"], untested["due"]), (8, False))
    equal(untested["since"], document(tests[1])["merged_commit"])
    page = boss.get("/engines").words
    contains(page, "Test the baseline against that commit")
    link = page.split('href="/tests/new?', 1)[1].split('"', 1)[0].replace("&amp;", "&")
    form = boss.get("/tests/new?" + link).text
    contains(form, untested["since"])


def the_latest_merge_is_undone_and_only_that():
    before, after = (document(tests[number])["merged_commit"] for number in (8, 9))
    equal(boss.api("POST", f"/tests/{tests[8]}/undo", {}).code, "wrong_state")
    equal(dev.api("POST", f"/tests/{tests[9]}/undo", {}).status, 403)
    contains(boss.get(f"/tests/{tests[9]}").words, "Undo the merge")
    reply = boss.api("POST", f"/tests/{tests[9]}/undo", {})
    equal(reply.status, 200, reply)
    undone, snapshots = reply.json["baseline"], {}
    for commit in (before, after, undone):
        snapshots[commit] = sql(server, "SELECT snapshot, bench FROM known_commits WHERE sha = ?", commit)[0]
    equal(snapshots[undone], snapshots[before])
    true(snapshots[undone] != snapshots[after], snapshots)
    equal(boss.api("POST", f"/tests/{tests[9]}/merge", {}).code, "merged")
    equal(boss.api("POST", f"/tests/{tests[9]}/undo", {}).code, "wrong_state")


def the_audit_agrees():
    server.stop()
    contains(server.command("check", server.data), ", 0 differences")
    server.start()


def machine_of(name):
    token = server.client(name).api("POST", "/tokens", {"name": "machine", "scope": "worker"}).json["token"]
    return Worker(server, "--concurrency", "1", "--token", token)


def main():
    global server, dev, boss
    with tempfile.TemporaryDirectory() as folder:
        book = pathlib.Path(folder) / "mates.epd"
        write_book(book)
        with Server(init_options=["--engine-source", str(ENGINE), "--book", str(book)]) as server:
            for name, *roles in (("dev", "developer"), ("boss", "maintainer"), ("one",), ("two",)):
                server.add_user(name, *roles)
            dev, boss = server.client("dev"), server.client("boss")
            with machine_of("one"), machine_of("two"):
                run(ten_patches_are_accepted_side_by_side, the_page_says_what_a_merge_does, nine_are_merged_with_one_new_test,
                    each_commit_of_the_branch_has_the_count_of_its_tree, the_second_change_of_a_file_is_a_retest_that_keeps_its_approval,
                    trials_are_no_tests_of_strength, the_untested_merges_are_counted_and_a_test_of_them_offered,
                    the_latest_merge_is_undone_and_only_that, the_audit_agrees)


if __name__ == "__main__":
    main()
