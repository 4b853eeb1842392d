#!/usr/bin/python3
"""A verdict whose batches are excluded: it stays, all places say so, it is merged only by an explicit choice, and a maintainer
reopens the test with a reason."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from played import post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import ROOT, Client  # noqa: E402
from submission import patch, submission_server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in re.findall(r"```json ((?:reopen|merge).request)\n(.*?)```", (ROOT / "server/API.md").read_text(), re.S)}
server = dev = boss = anyone = None
good = bad = None
seeds = 0
TEST = "/tests/1"
WON, EVEN = ("4344", "4434", "4344"), ("1133",)


def document():
    return anyone.api("GET", TEST).json


def touched():
    return [(test["id"], test["result"], test["stands"], test["merged"]) for test in anyone.api("GET", "/overview").json["touched"]["items"]]


def play(worker, outcomes):
    """One task after the other, until the batches are posted or the test has ended."""
    global seeds
    task, seq = claim(worker).json, 0
    for result in outcomes:
        if seq * task["test"]["batch_pairs"] == len(task["openings"]):
            task, seq = claim(worker).json, 0
        seeds += 1
        reply = post_batch(worker, task, seq, result, seed=seeds, tc="1.000+0.010")
        equal(reply.status, 200, reply.json)
        equal(reply.json["counted"], True)
        seq += 1
        if not reply.json["continue"]:
            return
    worker.api("POST", f"/tasks/{task['id']}/release", {"started_pairs": 0})


def a_machine_brings_a_verdict():
    global good, bad
    body = {"title": "A patch", "tc": "1+0.01", "bench": 1234567, "patch": patch().decode(), "model": "logistic", "elo0": 0, "elo1": 130,
            "batch_pairs": 4}
    equal(dev.api("POST", "/tests", body).status, 201)
    equal(boss.api("POST", f"{TEST}/approve").status, 200)
    good, bad = server.worker(key="g" * 32, name="good"), server.worker(key="b" * 32, name="bad")
    play(good, EVEN)
    play(bad, WON)
    equal((document()["result"], document()["verdict_mark"], touched()), ("accepted", None, []))
    equal(boss.api("POST", f"{TEST}/reopen", {"reason": "it stands"}).code, "wrong_state")
    true("reopen-reason" not in boss.get(TEST).text, "a button that does nothing")


def its_exclusion_is_said_everywhere_and_reopens_nothing():
    reply = boss.api("POST", f"{TEST}/exclude", {"kind": "machine", "worker": bad.worker, "which": "all", "reason": "overclocked"})
    equal((reply.status, reply.json["state"]), (200, "finished"), reply)
    test = document()
    mark = test["verdict_mark"]
    equal((test["result"], mark["turned"], mark["excluded_after"], mark["result_now"]), ("accepted", True, 8, None), mark)
    words = ("8 pairs were excluded after the verdict.", "after 4 pairs: no verdict.")
    for text in (mark["text"], test["stats"]["text"].replace("\n", ". ") + ".", anyone.get(TEST).words, boss.get(TEST).words):
        for sentence in words:
            contains(text, sentence.rstrip("."))
    contains(boss.get(TEST).text, 'name="turned" value="1" required')
    contains(anyone.get("/").words, words[1])
    equal(touched(), [(1, "accepted", False, False)])


def no_merge_goes_by_the_mark():
    for body in (None, {}, {"turned": False}):
        equal(boss.api("POST", f"{TEST}/merge", body).code, "verdict_turned", body)
    equal(boss.api("POST", f"{TEST}/merge", {"turned": "yes"}).code, "bad_request")
    equal(boss.form(f"{TEST}/merge", {}).status, 409)
    equal(document()["merged_commit"], None)


def only_a_maintainer_reopens_it_and_says_why():
    equal(dev.api("POST", f"{TEST}/reopen", {"reason": "mine"}).code, "forbidden")
    equal(anyone.api("POST", f"{TEST}/reopen", {"reason": "mine"}).status, 401)
    for body in (None, {}, {"reason": ""}, {"reason": "r" * 600}, {"reason": "two\nlines"}):
        equal(boss.api("POST", f"{TEST}/reopen", body).code, "bad_field", body)
    equal(document()["state"], "finished")
    contains(boss.get(TEST).text, f'action="{TEST}/reopen"')
    true(f'action="{TEST}/reopen"' not in dev.get(TEST).text, "the author sees the button")
    equal(boss.form(f"{TEST}/reopen", EXAMPLES["reopen.request"]).status, 303)
    test = document()
    equal((test["state"], test["result"], test["verdict_mark"]["reopened"]), ("active", None, 1))
    event = anyone.api("GET", "/events?type=reopened").json["items"]
    equal([(each["user"], each["test"]) for each in event], [("boss", 1)])
    contains(event[0]["message"], EXAMPLES["reopen.request"]["reason"])
    equal(boss.api("POST", f"{TEST}/reopen", {"reason": "again"}).code, "wrong_state")
    contains(server.command("check", server.data), "0 differences")


def the_next_verdict_keeps_the_mark_and_is_merged_by_choice():
    play(good, WON)
    test = document()
    equal((test["result"], test["verdict_mark"]["turned"], test["verdict_mark"]["excluded_before"]), ("accepted", True, 8))
    contains(test["stats"]["text"], "Its verdict had been: accepted, LLR")
    equal(boss.api("POST", f"{TEST}/merge").code, "verdict_turned")
    reply = boss.api("POST", f"{TEST}/merge", EXAMPLES["merge.request"])
    equal(reply.status, 200, reply)
    equal(touched(), [])
    contains(server.command("check", server.data), "0 differences")


def what_proves_bad_after_a_merge_stands_on_the_first_page():
    equal(boss.api("POST", f"{TEST}/exclude", {"kind": "owner", "worker": good.worker, "which": "all"}).status, 200)
    equal(touched(), [(1, "accepted", False, True)])
    contains(anyone.get("/").words, "accepted and merged")
    equal(boss.api("POST", f"{TEST}/reopen", {"reason": "too late"}).code, "merged")


with submission_server() as server:
    dev, boss, anyone = server.client("dev"), server.client("boss"), Client(server)
    run(a_machine_brings_a_verdict, its_exclusion_is_said_everywhere_and_reopens_nothing, no_merge_goes_by_the_mark,
        only_a_maintainer_reopens_it_and_says_why, the_next_verdict_keeps_the_mark_and_is_merged_by_choice,
        what_proves_bad_after_a_merge_stands_on_the_first_page)
