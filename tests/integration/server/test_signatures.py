#!/usr/bin/python3
"""Signatures of batches: what is not signed by its machine counts nothing, and what the server refuses loses nothing."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import signing  # noqa: E402
from database import add_test, sql  # noqa: E402
from played import played_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import Server  # noqa: E402
from tap import equal, run, true  # noqa: E402

OTHER = bytes(range(1, 33))
OUTCOMES = "2134"
server = None


def path_of(task):
    return f"/tasks/{task['id']}/batches"


def refused(worker, task, body, status, code, field):
    reply = worker.api("POST", path_of(task), body)
    equal((reply.status, reply.code, reply.json["error"]["field"]), (status, code, field), reply)
    equal(sql(server, "SELECT count(*) FROM batches WHERE task_id = ?", task["id"]), [(0,)])


def a_batch_counts_only_as_its_machine_signed_it():
    worker = server.worker(key="a" * 32)
    task = claim(worker).json
    body = played_batch(worker, task, 0, OUTCOMES)
    good = signing.signed(server, path_of(task), body)
    signed_again = lambda **changed: signing.signed(server, path_of(task), {**body, **changed})
    for member in ("key", "signature"):
        refused(worker, task, {**good, member: good[member].upper() + "g"}, 422, "bad_signature", member)
        refused(worker, task, {**good, member: ""}, 422, "bad_signature", member)
    for other in ({"seq": 1}, {"tc": "10.001+0.100"}, {"thought": 1}, {"games_sha256": "0" * 64},
                  {"result": {**body["result"], "draws": 0}}):
        wrong = signed_again(**other)
        refused(worker, task, {**good, "signature": wrong["signature"]}, 422, "bad_signature", "signature")
    elsewhere = signing.signature(signing.text_of("0" * 32, task["test"]["id"], task["id"], body))
    refused(worker, task, {**good, "signature": elsewhere}, 422, "bad_signature", "signature")
    strange = signing.signed(server, path_of(task), body, OTHER)
    refused(worker, task, strange, 422, "bad_signature", "key")
    refused(worker, task, {**strange, "key": good["key"]}, 422, "bad_signature", "signature")
    equal(worker.api("POST", path_of(task), good).json["counted"], True, "nothing was lost")
    again = worker.api("POST", path_of(task), good).json
    equal((again["repeat"], again["counted"]), (True, True))
    equal(sql(server, "SELECT k.public_key, b.signature FROM batches b JOIN worker_keys k ON k.id = b.key_id WHERE b.task_id = ?", task["id"]),
          [(good["key"], good["signature"])])


def a_batch_without_a_signature_is_refused():
    worker = server.worker(key="b" * 32)
    task = claim(worker).json
    body = signing.signed(server, path_of(task), played_batch(worker, task, 0, OUTCOMES))
    for member in ("key", "signature"):
        reply = worker.request("POST", "/api/v1" + path_of(task), json.dumps({name: value for name, value in body.items() if name != member}),
                               {"Content-Type": "application/json"})
        equal((reply.status, reply.code), (422, "bad_request"), reply)
        true(member in reply.json["error"]["message"], reply)


def a_machine_may_change_its_key_and_the_old_one_stays_valid_for_what_it_signed():
    worker = server.worker(key="c" * 32)
    task = claim(worker).json
    old = signing.signed(server, path_of(task), played_batch(worker, task, 0, OUTCOMES))
    again = server.worker(key="c" * 32, public_key=signing.public_key(OTHER))
    equal(again.worker, worker.worker)
    equal(again.api("POST", path_of(task), old).status, 200)
    new = signing.signed(server, path_of(task), played_batch(again, task, 1, OUTCOMES), OTHER)
    equal(again.api("POST", path_of(task), new).status, 200)
    equal(sql(server, "SELECT k.public_key FROM batches b JOIN worker_keys k ON k.id = b.key_id WHERE b.task_id = ? ORDER BY b.seq", task["id"]),
          [(signing.public_key(),), (signing.public_key(OTHER),)])


def the_key_of_another_machine_serves_no_one_else():
    """Whoever registers with the public key of another machine cannot sign, and what that machine signed fits no other task."""
    victim, thief = server.worker(key="d" * 32), server.worker(key="e" * 32)
    first, second = claim(victim).json, claim(thief).json
    taken = signing.signed(server, path_of(first), played_batch(victim, first, 0, OUTCOMES))
    equal(victim.api("POST", path_of(first), taken).status, 200)
    played_batch(thief, second, 0, OUTCOMES)
    refused(thief, second, taken, 422, "bad_signature", "signature")


def a_machine_has_a_hundred_keys_at_most():
    for i in range(100):
        server.worker(key="f" * 32, public_key=f"{i:064x}")
    client = server.client()
    host = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": 4, "logical_cores": 8,
            "memory_mib": 8000, "compilers": [], "sandbox": 2}
    body = {"protocol": 1, "name": "tester", "version": "1.0", "machine_key": "f" * 32, "host": host}
    reply = client.api("POST", "/workers", {**body, "public_key": f"{100:064x}"})
    equal((reply.status, reply.code), (422, "too_many_keys"), reply)
    equal(client.api("POST", "/workers", {**body, "public_key": f"{7:064x}"}).status, 200)
    for bad in ("", "0" * 63, "G" * 64, "A" * 64):
        reply = client.api("POST", "/workers", {**body, "public_key": bad})
        equal((reply.status, reply.json["error"]["field"]), (422, "public_key"), reply)


if __name__ == "__main__":
    with Server(start=False) as server:
        add_test(server, tc="10+0.1")
        server.start()
        run(a_batch_counts_only_as_its_machine_signed_it, a_batch_without_a_signature_is_refused,
            a_machine_may_change_its_key_and_the_old_one_stays_valid_for_what_it_signed,
            the_key_of_another_machine_serves_no_one_else, a_machine_has_a_hundred_keys_at_most)
