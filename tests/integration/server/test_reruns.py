#!/usr/bin/python3
# test: sanitized only
"""Games at fixed nodes that are played again on other machines, over real HTTP: the tasks, the comparison, and who is told."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql  # noqa: E402
from played import post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = anyone = None
machines, first_task = {}, None


def machine(owner):
    if owner not in machines:
        token = server.client(owner).api("POST", "/tokens", {"name": "machines", "scope": "worker"}).json["token"]
        machines[owner] = server.worker(key=owner.ljust(32, "-"), name=f"{owner}<b>", user_token=token)
    return machines[owner]


def document():
    return anyone.api("GET", "/tests/1").json


def play(owner, seed):
    """One batch, and the end of the task, which it returns."""
    worker = machine(owner)
    task = claim(worker, cores=8)
    equal(task.status, 200)
    reply = post_batch(worker, task.json, 0, "1322", seed=seed)
    equal(reply.status, 200, repr(reply))
    worker.api("POST", f"/tasks/{task.json['id']}/release", {"started_pairs": 4})
    return task.json, reply.json


def play_again(owner, seed):
    """The same where the test has no pairs left that could count, so that its task is a rerun."""
    sql(server, "UPDATE tests SET pairs_max = units_counted")
    task, reply = play(owner, seed)
    sql(server, "UPDATE tests SET pairs_max = 400000")
    equal((reply["counted"], reply["continue"]), (False, False))
    return task


def one_machine_is_told_to_be_alone():
    global first_task
    first_task, reply = play("ann", seed=1)
    equal(reply["counted"], True)
    reruns = document()["reruns"]
    equal((reruns["same"], reruns["due"], reruns["differences"]), (0, 1, []))
    contains(reruns["text"], "Only one machine has played this test")
    contains(anyone.get("/tests/1").words, "Only one machine has played this test")


def the_task_of_a_rerun_looks_like_any_other():
    task = play_again("ben", seed=1)
    equal(sorted(task), sorted(first_task), "members")
    equal((task["first_pair"], task["pairs"]), (first_task["first_pair"], 4))
    equal(task["openings"], first_task["openings"][:4])
    test = document()
    equal((test["reruns"]["same"], test["reruns"]["due"], test["rerun_warning"]), (1, 0, None))
    contains(test["reruns"]["text"], "Batches played again: 1, with the same games: 1, waiting: 0.")
    equal((test["stats"]["pairs"], test["uncounted"]["batches"]), (4, 0), "it changes no result")
    equal(anyone.api("GET", f"/machines/{machine('ben').worker}").json["machine"]["games"], 8, "and is credited")


def other_games_are_found_and_a_third_machine_settles_it():
    play("ann", seed=2)
    play_again("ben", seed=3)
    test = document()
    equal([d["state"] for d in test["reruns"]["differences"]], ["third"])
    sentence = test["rerun_warning"]
    for words in ("The games from pair", "differ between ann<b>", "and ben<b>", "ply", "A third machine like the first has not settled"):
        contains(sentence, words)
    true(sentence in test["warnings"], "it is one of the warnings")
    contains(anyone.get("/tests/1").words, sentence.replace("<b>", "&lt;b&gt;"))
    equal(anyone.api("GET", "/suspects").json["items"], [], "nobody is suspected yet")
    play_again("cyd", seed=2)
    test = document()
    equal([d["state"] for d in test["reruns"]["differences"]], ["second"])
    contains(test["rerun_warning"], "A third machine agreed with ann<b>, so ben<b> is alone.")
    suspects = anyone.api("GET", "/suspects").json["items"]
    equal([(m["id"], [e["text"] for e in m["evidence"]]) for m in suspects],
          [(machine("ben").worker, ["1 batch with other games than two further machines played"])])
    contains(anyone.get("/events?type=rerun").words, "is alone with its games from pair")
    equal((test["exclusions"], test["state"]), ([], "active"), "nothing is excluded by itself")


def state_of(task, owner):
    reply = machine(owner).api("POST", f"/tasks/{task['id']}/heartbeat", {"phase": "play", "plies": task["id"], "started_pairs": 4}).json
    return reply["continue"], reply["why"]


def a_verdict_ends_no_check():
    """The last batch of a test may be the one that was made up."""
    test = add_test(server, tc="nodes=1000", workload="fixed", pairs_max=4)
    sql(server, "UPDATE tests SET state = 'paused' WHERE id = 1")
    play("ann", seed=4)
    sql(server, "UPDATE tests SET state = 'active', result = NULL, finished = NULL WHERE id = ?", test)
    early = claim(machine("ben"), cores=8).json
    sql(server, "UPDATE tests SET pairs_max = 8 WHERE id = ?", test)
    task, reply = play("ann", seed=5)
    equal((task["test"]["id"], reply["test"]["state"]), (test, "finished"))
    equal((early["first_pair"], state_of(early, "ben")), (0, (True, "")), "a rerun that was under way")
    equal(post_batch(machine("ben"), early, 0, "1322", seed=4).json["uncounted"], "rerun")
    late = claim(machine("ben"), cores=8).json
    equal((late["test"]["id"], late["first_pair"], late["pairs"]), (test, task["first_pair"], 4))
    equal(state_of(late, "ben"), (True, ""))
    equal(claim(machine("cyd"), cores=8).status, 204, "no new pair is dealt")
    equal(post_batch(machine("ben"), late, 0, "1322", seed=6).json["uncounted"], "rerun")
    play("cyd", seed=6)
    found = anyone.api("GET", f"/tests/{test}").json
    equal((found["reruns"]["same"], found["reruns"]["due"]), (1, 0))
    contains(found["rerun_warning"], "A third machine agreed with ben<b>, so ann<b> is alone.")
    equal((found["state"], found["stats"]["units"]), ("finished", 8))


def a_test_under_way_is_checked_before_one_that_has_ended():
    """What is found there can still change a verdict."""
    ended = add_test(server, tc="nodes=1000", workload="fixed", pairs_max=4)
    equal(play("ann", seed=7)[1]["test"]["state"], "finished")
    test = add_test(server, tc="nodes=1000", workload="fixed")
    play("ann", seed=8)
    sql(server, "UPDATE tests SET pairs_max = units_counted WHERE id = ?", test)
    equal([play("ben", seed=seed)[0]["test"]["id"] for seed in (8, 7)], [test, ended])
    equal(server.client("boss").api("POST", f"/tests/{test}/stop").status, 200)


def a_person_who_stops_a_test_ends_the_checks():
    test = add_test(server, tc="nodes=1000", workload="fixed")
    play("ann", seed=6)
    sql(server, "UPDATE tests SET pairs_max = units_counted WHERE id = ?", test)
    task = claim(machine("ben"), cores=8).json
    equal((task["test"]["id"], task["first_pair"]), (test, 0), "a rerun")
    equal(server.client("boss").api("POST", f"/tests/{test}/stop").status, 200)
    equal(state_of(task, "ben"), (False, "finished"))
    equal(claim(machine("cyd"), cores=8).status, 204)


def nothing_is_lost_and_the_server_ends_well():
    contains(server.command("check", server.data), "0 differences")
    equal(server.stop(), 0, "exit status")


def main():
    global server, anyone
    server = Server(start=False, reruns=True)
    try:
        add_test(server, tc="nodes=1000")
        for name in ("ann", "ben", "cyd"):
            server.add_user(name, "developer")
        server.add_user("boss", "maintainer")
        server.start()
        anyone = Client(server)
        for name in ("ann", "ben", "cyd"):
            machine(name)
        run(one_machine_is_told_to_be_alone, the_task_of_a_rerun_looks_like_any_other,
            other_games_are_found_and_a_third_machine_settles_it, a_verdict_ends_no_check,
            a_test_under_way_is_checked_before_one_that_has_ended, a_person_who_stops_a_test_ends_the_checks,
            nothing_is_lost_and_the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
