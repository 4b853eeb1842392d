#!/usr/bin/python3
# test: plain only
"""Two machines in a private network, with a new server: no account, no setting. They play a test to its end, and its patch is
merged with one click. What one of them says about a patch decides, since both are vouched for.

The machines have private addresses of their own: those of the loopback of a network of the script's own."""

import difflib
import pathlib
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql  # noqa: E402
from own_network import own_network  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import contains, equal, run, skipped, true  # noqa: E402
from toy_engine import write_toy_source  # noqa: E402
from worker import Worker  # noqa: E402

HOME = ("192.168.7.7", "192.168.7.8")
QUICK = "Hash=16"
EVEN, LOST = '.scores = "0"', '.scores = "-700"'  # what the toy engine says of every position
folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-home-"))
server = None


def patch(old, new, file="main.c"):
    before = (folder / "source" / file).read_text()
    after = before.replace(old, new)
    true(before != after, old)
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{file}", f"b/{file}"))


def submit(diff, **fields):
    form = {"title": "At home", "patch": diff, "workload": "sprt", "model": "logistic", "elo0": 0, "elo1": 20, "tc": "5+0.05",
            "batch_pairs": 4, "new_options": QUICK, "base_options": QUICK, "draw": "off", "max_moves": 20, **fields}
    client = server.client("root")
    reply = client.api("POST", "/tests", form)
    equal(reply.status, 201, repr(reply))
    equal(client.api("POST", f"/tests/{reply.json['id']}/approve", {}).status, 200)
    return reply.json["id"]


def document(test):
    return server.client().api("GET", f"/tests/{test}").json


def finished(test):
    found = document(test)
    return found["state"] == "finished" and found


def a_machine(address, *options):
    return Worker(types.SimpleNamespace(url=f"http://{address}:{server.port}"), "--concurrency", "1", "--name", f"at {address}", *options)


def two_machines_play_a_test_to_its_end_and_one_click_merges_it():
    """The base says at each move that it is lost, and so loses by its score. No bench is known of either side."""
    equal(sql(server, "SELECT name FROM settings WHERE name <> 'self_approval'"), [], "nothing is set")
    test = submit(patch(LOST, EVEN, "tests/tools/toy.c"), resign="on", resign_count=3)
    with a_machine(HOME[0]), a_machine(HOME[1]):
        found = wait_until(lambda: finished(test), 180)
    equal(found["result"], "accepted", repr(found["stats"]))
    true(found["stats"]["wins"] > 20 * found["stats"]["losses"], "the base mates once in a while before it gives up")
    played = sql(server, "SELECT DISTINCT w.network, w.user_id FROM batches b JOIN workers w ON w.id = b.worker_id WHERE b.position IS NOT NULL")
    true(played and set(played) <= {(address, None) for address in HOME}, played)  # one may be so slow that it is not needed
    server.command("check", server.data)
    reply = server.client("root").api("POST", f"/tests/{test}/merge", {})
    equal(reply.status, 200, repr(reply))
    equal(sql(server, "SELECT baseline FROM engines"), [(document(test)["merged_commit"],)])


def a_build_that_fails_on_one_machine_ends_its_test_while_the_other_is_there():
    """The other machine plays another test meanwhile."""
    busy = submit(patch("#include <stdio.h>", "#include <stdio.h>\n// long"), workload="fixed", games=100000, priority=5)
    with a_machine(HOME[0]):
        wait_until(lambda: document(busy)["stats"]["games"])
        test = submit(patch("BENCH = 4711", "BENCH = forty_seven"), priority=9)
        with a_machine(HOME[1]):
            found = wait_until(lambda: finished(test), 120)
    equal(found["result"], "failed")
    contains(found["reason"], "build")


def the_server_was_never_reached_from_outside():
    equal(server.client().api("GET", "/health").json["trust"]["reached"], None)
    true(all(f"http://{address}:" not in server.log() for address in HOME), "and warned of none of them")


def main():
    global server
    if not own_network(*HOME):
        run(skipped("two machines play a test to its end and one click merges it", "no network namespace"))
    folder.chmod(0o755)
    source = write_toy_source(folder / "source")
    toy = source / "tests/tools/toy.c"
    toy.write_text(toy.read_text().replace(EVEN, LOST))
    server = Server(init_options=["--engine-source", str(source), "--self-approval"], start=False, listen="0.0.0.0", reruns=True)
    with server:
        sql(server, "UPDATE engines SET build = json_set(build, '$.command', 'make -j2 EXE=anvil')")
        server.start()
        run(two_machines_play_a_test_to_its_end_and_one_click_merges_it,
            a_build_that_fails_on_one_machine_ends_its_test_while_the_other_is_there, the_server_was_never_reached_from_outside)


if __name__ == "__main__":
    main()
