#!/usr/bin/python3
# test: sanitized only
"""Machines whose speed in play does not fit their clock, over real HTTP: who is told, what follows, and who takes it back."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test  # noqa: E402
from played import post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

NODES = 1_000_000.0  # a second, of the reference
server = anyone = boss = None
machines = {}


def machine(owner):
    if owner not in machines:
        token = server.client(owner).api("POST", "/tokens", {"name": "machines", "scope": "worker"}).json["token"]
        machines[owner] = server.worker(key=owner.ljust(32, "-"), name=f"{owner}<b>", user_token=token)
    return machines[owner]


def play(owner, measured=1.0, in_play=1.0):
    """Two batches of eight games and the end of the task; speeds are in units of the reference's. False: it gets no task."""
    worker = machine(owner)
    task = claim(worker, cores=8)
    if task.status == 204:
        return False
    load = {"delay": 0, "steal": 0, "swap_mib": 0, "rest_new": 0, "rest_base": 0, "speed": in_play and in_play * NODES, "speed_before": None}
    path = f"/tasks/{task.json['id']}"
    for seq in range(2):
        reply = post_batch(worker, task.json, seq, "1322", tc=f"{10 / measured:.3f}+{0.1 / measured:.3f}", speed=measured * NODES, load=load)
        equal((reply.status, reply.json.get("counted")), (200, True), repr(reply))
    equal(worker.api("POST", f"{path}/release", {"started_pairs": 8}).status, 200)
    return True


def document():
    return anyone.api("GET", "/tests/1").json


def readmit(client, worker):
    return client.api("POST", "/tests/1/readmit", {"worker": worker})


def honest_machines_fit_whatever_their_speed_is():
    for owner, measured in (("ann", 0.5), ("ben", 2.0), ("cyd", 1.0)):
        true(play(owner, measured, measured), owner)
    test = document()
    equal((test["misfits"], test["misfit_warning"]), ([], None))


def a_machine_that_measures_half_its_speed_gets_no_further_task():
    before = document()["stats"]["pairs"]
    true(play("dan", 0.5, 1.0), "its first task")
    true(not play("dan", 0.5, 1.0), "no other")
    true(play("ann", 0.5, 0.5), "others play on")
    test = document()
    equal(test["stats"]["pairs"], before + 16, "its games count")
    equal((test["state"], test["exclusions"]), ("active", []))
    contains(server.command("check", server.data), "0 differences")


def it_is_said_wherever_people_look():
    sentence = "The speed of machine dan<b> (dan) does not fit its clock: in its latest 16 games the base searched 2.00 times as many " \
               "nodes a second as the machine had measured; on other machines it was 1.00 times. It gets no further task of this test; " \
               "its batches count like all others."
    test, worker = document(), machine("dan").worker
    equal([(m["worker"], m["user"], m["games"], m["ratio"], m["text"]) for m in test["misfits"]], [(worker, "dan", 16, 2.0, sentence)])
    equal(test["misfit_warning"], sentence)
    true(sentence in test["warnings"], "it is one of the warnings")
    equal([o["misfits"] for o in test["owners"] if o["user"] == "dan"], [1])
    equal(sum(o["misfits"] for o in test["owners"]), 1, "no other owner is flagged")
    for path in (f"/machines/{worker}", "/users/dan"):
        equal([m["text"] for m in anyone.api("GET", path).json["misfits"]], [sentence], path)
        contains(anyone.get(path).words, sentence.replace("<b>", "&lt;b&gt;"))
    page = anyone.get("/tests/1")
    contains(page.words, sentence.replace("<b>", "&lt;b&gt;"))
    true("/tests/1/readmit" not in page.text, "a visitor sees no button")
    contains(boss.get("/tests/1").text, 'action="/tests/1/readmit"')
    equal(anyone.api("GET", f"/machines/{machine('ann').worker}").json["misfits"], [])
    contains(anyone.get("/events?type=misfit").words, "It gets no further task of this test")


def the_page_of_suspects_names_it_until_it_was_blocked_and_unblocked():
    worker, text = machine("dan").worker, "1 test from which it is barred because its speed does not fit its clock"
    evidence = [{"kind": "misfit", "count": 1, "of": None, "expected": None, "text": text}]
    item = {"id": worker, "name": "dan<b>", "user": "dan", "blocked": False, "evidence": evidence}
    suspects = anyone.api("GET", "/suspects").json
    equal((suspects["items"], suspects["blocked"]), ([item], []))
    equal(anyone.api("GET", f"/machines/{worker}").json["machine"]["suspected"], item)
    equal(anyone.api("GET", f"/machines/{machine('ann').worker}").json["machine"]["suspected"], None)
    for path in ("/suspects", f"/machines/{worker}"):
        contains(anyone.get(path).words, text)
    contains(anyone.get("/suspects").text, "dan&lt;b&gt;")
    for page in ("/machines", "/health"):
        contains(anyone.get(page).text, 'href="/suspects"')
    equal(boss.api("POST", f"/machines/{worker}/block", {"reason": "measures wrong"}).status, 200)
    suspects, said = anyone.api("GET", "/suspects").json, f"machine blocked: measures wrong. It is suspected of: {text}"
    equal(suspects["items"], [{**item, "blocked": True}])
    equal([(m["id"], m["user"], m["blocked_by"], m["message"]) for m in suspects["blocked"]], [(worker, "dan", "boss", said)])
    contains(anyone.get("/suspects").words, said)
    equal(claim(machine("dan"), cores=8).code, "blocked")
    equal(boss.form(f"/machines/{worker}/unblock", {"reason": "measures right"}).status, 303)
    equal([anyone.api("GET", "/suspects").json[name] for name in ("items", "blocked")], [[], []])
    contains(anyone.get("/events?type=unblocked").words, f"machine unblocked: measures right. It is suspected of: {text}")


def only_a_maintainer_readmits_and_only_a_barred_machine():
    worker = machine("dan").worker
    for client in (anyone, server.client("dan"), server.client("dev")):
        true(readmit(client, worker).status in (401, 403), repr(readmit(client, worker)))
    for number, status, code in ((machine("ann").worker, 409, "not_misfit"), (999, 404, "no_such_machine"), ("x", 422, None)):
        reply = readmit(boss, number)
        equal(reply.status, status, repr(reply))
        true(code in (None, reply.code), repr(reply))
    equal(boss.api("POST", "/tests/9/readmit", {"worker": worker}).status, 404)
    true(not play("dan"), "it is still barred")


def a_machine_that_is_readmitted_is_judged_by_its_next_tasks():
    equal(readmit(boss, machine("dan").worker).json, {"id": 1, "worker": machine("dan").worker, "url": "/tests/1#workers"})
    equal((document()["misfits"], document()["misfit_warning"]), ([], None))
    true(play("dan", 1.0, 1.0) and play("dan", 1.0, 1.0), "it is honest now")
    true(play("dan", 1.0, 0.5), "its last task")
    true(not play("dan"), "barred again")
    contains(document()["misfit_warning"], "0.50 times")
    page = boss.form("/tests/1/readmit", {"worker": str(machine("dan").worker)})
    equal(page.status, 303)
    true(play("dan"), "the form does the same")


def a_batch_cannot_hide_how_fast_it_was():
    true(play("dan", 1.0, None), "the last one")
    true(not play("dan"), "hidden is not honest")


def an_exclusion_is_the_maintainers():
    equal(boss.api("POST", "/tests/1/exclude", {"kind": "machine", "worker": machine("dan").worker, "which": "all"}).status, 200)
    contains(document()["misfit_warning"], "its batches are excluded")


def the_server_ends_well():
    equal(server.stop(), 0, "exit status")


def main():
    global server, anyone, boss
    server = Server(start=False)
    try:
        add_test(server, tc="10+0.1")
        for name in ("dev", "boss", "ann", "ben", "cyd", "dan"):
            server.add_user(name, "maintainer" if name == "boss" else "developer")
        server.start()
        anyone, boss = Client(server), server.client("boss")
        run(honest_machines_fit_whatever_their_speed_is, a_machine_that_measures_half_its_speed_gets_no_further_task,
            it_is_said_wherever_people_look,
            the_page_of_suspects_names_it_until_it_was_blocked_and_unblocked, only_a_maintainer_readmits_and_only_a_barred_machine,
            a_machine_that_is_readmitted_is_judged_by_its_next_tasks, a_batch_cannot_hide_how_fast_it_was,
            an_exclusion_is_the_maintainers, the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
