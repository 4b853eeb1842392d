#!/usr/bin/python3
# test: sanitized only
"""What one liar can do to the others over the worker protocol: take their work, end their tests, set their bench counts. Machines
come from addresses of their own, as behind a proxy."""

import hashlib
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, counts, sql, write_plain_book  # noqa: E402
from played import post_batch  # noqa: E402
from protocol import claim, side_of  # noqa: E402
from server import ROOT, Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = anyone = boss = dev = dev2 = None
BATCH = 4
PLAYED = 100_000


class Machine(Client):
    """A worker at an address of its own, registered with 4 cores."""

    made = 0

    def __init__(self, address, cores=4, token=None):
        super().__init__(server)
        Machine.made += 1
        self.address = address
        host = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": cores, "logical_cores": cores,
                "memory_mib": 8000, "compilers": ["gcc 12.2.0"], "sandbox": 2}
        reply = self.api("POST", "/workers", {"protocol": 1, "name": f"machine {Machine.made}", "version": "1.0",
                                              "machine_key": f"{'k' * 24}{Machine.made:08}", "host": host, "user_token": token})
        equal(reply.status, 201, reply)
        self.token, self.id = reply.json["token"], reply.json["worker"]

    def _identity(self):
        return {**super()._identity(), "X-Forwarded-For": self.address}

    def claim(self, **fields):
        """The task that it is dealt, or None."""
        reply = claim(self, **fields)
        return reply.json if reply.status == 200 else None

    def post(self, task, seq=0, outcomes="2" * BATCH):
        sql(server, "UPDATE tasks SET due = 0 WHERE id = ?", task["id"])  # it waits for no other machine
        return post_batch(self, task, seq, outcomes)

    def release(self, task, begun=0):
        return self.api("POST", f"/tasks/{task['id']}/release", {"started_pairs": begun})

    def fail(self, task, kind="build", **fields):
        return self.api("POST", f"/tasks/{task['id']}/fail",
                        {"kind": kind, "side": "new", "message": "invented", "log": "", **fields})

    def bench(self, task, nodes, side="new"):
        return self.api("POST", f"/tasks/{task['id']}/bench", {"side": side, "nodes": nodes})


def begin(**fields):
    """A new test, alone: the others are paused and their machines were not heard of for long."""
    sql(server, "UPDATE tests SET state = 'paused' WHERE state = 'active'")
    sql(server, "UPDATE workers SET last_seen = 0")
    sql(server, "DELETE FROM vouches")
    return add_test(server, **{"tc": "10+0.1", **fields})


def vouched_owners_have_played():
    """Long tests begin as if vouched owners had counted many pairs: before that, others get no work."""
    sql(server, f"CREATE TRIGGER played AFTER INSERT ON tests WHEN NEW.pairs_max > {2 * PLAYED} "
                f"BEGIN UPDATE tests SET units_counted = {PLAYED} WHERE id = NEW.id; END")


def honest(count, network="192.0.2", **more):
    return [Machine(f"{network}.{i + 1}", **more) for i in range(count)]


def proven(machine):
    """A maintainer vouches for its owner."""
    sql(server, "INSERT OR IGNORE INTO vouches (owner, user_id, reason, created) "
                "SELECT w.owner, u.id, '', 1 FROM workers w JOIN users u ON u.name = 'boss' WHERE w.id = ?", machine.id)
    return machine


def invented_cores_send_no_machine_to_another_test():
    for cores, batches in ((4, 0), (4096, 0), (4096, 1)):  # more than were registered, registered as well, after a batch
        first = begin(priority=1)
        liar = Machine("198.51.100.1", cores=cores)
        for _ in range(batches):
            liar.post(liar.claim(cores=4096))
        liar.claim(cores=4096)
        second = add_test(server, tc="10+0.1", priority=1)
        got = [machine.claim()["test"]["id"] for machine in honest(30)]
        true(got.count(first) >= 10 and got.count(second) >= 10, f"the honest went to {got}")


def cores_that_were_not_registered_are_not_shown():
    test = begin()
    Machine("198.51.100.1").claim(cores=4096)
    equal(anyone.api("GET", f"/tests/{test}").json["cores"], 4)


def a_new_machine_gets_one_small_task():
    begin(batch_pairs=16)
    liar = Machine("198.51.100.1", cores=4096)
    task = liar.claim(cores=4096, speeds={"anvil": 1e11})
    true(task["pairs"] <= 32, f"{task['pairs']} pairs")
    equal(liar.claim(cores=4096, holding=[task["id"]]), None, "a second task")


def no_owner_holds_all_pairs_of_a_test():
    test = begin(workload="fixed", pairs_max=2000)
    sql(server, "UPDATE settings SET value = 'private' WHERE name = 'trust'")
    others = honest(2)
    for machine in others:
        sql(server, "UPDATE workers SET last_seen = ? WHERE id = ?", time.time(), machine.id)
    held = 0
    for i in range(12):  # machines without account of one network are one owner
        liar = Machine("198.51.100.1", cores=64)
        tasks = []
        while len(tasks) < 8 and (task := liar.claim(cores=64, speeds={"anvil": 1e11}, holding=[t["id"] for t in tasks])):
            liar.post(task)
            tasks.append(task)
        held += sum(task["pairs"] for task in tasks)
    true(held <= 1200, f"one owner holds {held} of 2000 pairs")
    for machine in others:
        equal(machine.claim()["test"]["id"], test)
    sql(server, "UPDATE settings SET value = 'public' WHERE name = 'trust'")


def unproven_owners_get_nothing_before_vouched_owners_have_played():
    test = begin()
    sql(server, "UPDATE tests SET units_counted = 0 WHERE id = ?", test)
    stranger, good = Machine("198.51.100.1"), proven(honest(1)[0])
    equal(stranger.claim(), None)
    for _ in range(19 * 2):
        task = good.claim()
        for seq in range(task["pairs"] // BATCH):
            equal(good.post(task, seq).json["counted"], True)
    played = sql(server, "SELECT units_counted FROM tests WHERE id = ?", test)[0][0]
    task = stranger.claim()
    equal(task["test"]["id"], test)
    true(task["pairs"] <= played / 19, f"{task['pairs']} pairs beside {played}")
    equal(stranger.post(task).json["counted"], True)
    shares = anyone.api("GET", f"/tests/{test}").json["shares"]
    equal(shares, {"vouched": played, "recorded": 0, "unproven": BATCH, "author": 0, "waits": None})
    equal(boss.api("POST", f"/tests/{test}/exclude", {"kind": "machine", "worker": good.id, "which": "all"}).status, 200)
    said = "A verdict waits for pairs of vouched owners: recorded owners made 0.0\u00a0% and unproven owners made 100.0\u00a0%"
    contains(anyone.api("GET", f"/tests/{test}").json["shares"]["waits"], said)
    contains(anyone.get(f"/tests/{test}").text, said)
    equal(stranger.claim(holding=[task["id"]]), None)


def pairs_that_were_begun_are_dealt_to_others():
    begin()
    liar, other, another = Machine("198.51.100.1"), *honest(2)
    other.claim()
    task = liar.claim()
    equal(liar.release(task, begun=task["pairs"]).status, 200)
    true(liar.claim()["first_pair"] > task["first_pair"], "a second try at the same pairs")
    equal(another.claim()["first_pair"], task["first_pair"])


def a_machine_that_takes_and_gives_back_has_to_wait():
    begin()
    liar = Machine("198.51.100.1")
    honest(1)[0].claim()
    replies = []
    for _ in range(12):
        reply = claim(liar)
        replies.append(reply)
        if reply.status == 200:
            liar.release(reply.json, begun=reply.json["pairs"])
    equal(replies[0].status, 200)
    equal((replies[-1].status, replies[-1].code), (429, "wait"))
    waits = int(replies[-1].headers["Retry-After"])
    true(10 <= waits <= 3600, f"Retry-After: {waits}")
    true(sql(server, "SELECT max(next_pair) FROM tests WHERE state = 'active'")[0][0] < 200, "openings were burnt")


def state_of(test):
    found = anyone.api("GET", f"/tests/{test}").json
    return found["state"], found["result"]


def one_machine_ends_no_test():
    tests = [begin(), add_test(server, tc="10+0.1"), add_test(server, tc="10+0.1")]
    liar = Machine("198.51.100.1")
    for _ in tests:
        liar.fail(liar.claim())
    equal([state_of(test) for test in tests], [("paused", None)] * 3)
    for test in tests:
        equal(boss.api("POST", f"/tests/{test}/resume", {}).json["state"], "active")


def invented_failures_change_nothing_while_owners_with_a_record_play():
    test = begin()
    good = [proven(machine) for machine in honest(2)]
    for machine in good:
        equal(machine.post(machine.claim()).json["counted"], True)
    sql(server, "UPDATE workers SET last_seen = 0")  # they are away for a while
    for i in range(5):
        liar = Machine(f"198.51.100.{i + 1}")
        liar.fail(liar.claim())
    equal(state_of(test), ("active", None))


def accounts_of_one_network_have_one_voice():
    test = begin()
    good = honest(2)
    for machine in good:
        equal(machine.post(machine.claim()).json["counted"], True)
    for name in ("sock1", "sock2", "sock3"):
        liar = Machine("198.51.100.1", token=token_of(name))
        liar.fail(liar.claim())
    equal(state_of(test), ("active", None))


def token_of(name, scope="worker"):
    """Of an account of this name that has no usable password."""
    token = f"token-of-{name}"
    sql(server, "INSERT OR IGNORE INTO users (name, password, created) VALUES (?, 'x', 1)", name)
    sql(server, "INSERT INTO api_tokens (user_id, token_hash, scope, name, created) SELECT id, ?, ?, 't', 1 FROM users WHERE name = ?",
        hashlib.sha256(token.encode()).hexdigest(), scope, name)
    return token


def developer(name):
    token = token_of(name, "submit")
    sql(server, "INSERT INTO roles (user_id, engine_id, role) SELECT id, 1, 'developer' FROM users WHERE name = ?", name)
    return Client(server, token=token)


def a_test_that_machines_failed_is_resumed_by_a_maintainer():
    test = begin()
    sql(server, "UPDATE tests SET author_id = (SELECT id FROM users WHERE name = 'dev') WHERE id = ?", test)
    good = [proven(machine) for machine in honest(3)]
    equal(good[0].post(good[0].claim()).json["counted"], True)
    for machine in good[1:]:
        machine.fail(machine.claim())
    equal(state_of(test), ("finished", "failed"))
    contains(boss.get(f"/tests/{test}").text, f'action="/tests/{test}/resume"')
    equal(dev.api("POST", f"/tests/{test}/resume", {}).code, "forbidden")
    equal(boss.api("POST", f"/tests/{test}/resume", {}).json["state"], "active")
    equal(counts(server, test)["ptnml"][2], BATCH)
    true(good[1].claim(), "a machine that failed before is not asked again")
    sql(server, f"UPDATE tests SET units_counted = units_counted - {PLAYED} WHERE units_counted >= {PLAYED}")
    sql(server, f"UPDATE history SET units = units - {PLAYED} WHERE units >= {PLAYED}")
    contains(server.command("check", server.data), " 0 differences")


def puppets_set_no_bench_beside_an_owner_with_a_record():
    begin()
    sql(server, "UPDATE trees SET bench = NULL")
    good = proven(honest(1)[0])
    for i in range(3):
        liar = Machine(f"198.51.100.{i + 1}")
        equal(liar.bench(liar.claim(), 666).json["bench"], None)
    equal(good.bench(good.claim(), 1934567).json["bench"], 1934567)


PATCH = """--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
+A word more.
 {first}
"""


def submitted(who, **fields):
    first = (ROOT / "engine" / "README.md").read_text().splitlines()[0]
    return who.api("POST", "/tests", {"title": "a word", "patch": PATCH.format(first=first), "tc": "10+0.1", **fields})


def approved(reply):
    equal(reply.status, 201, reply)
    equal(boss.api("POST", f"/tests/{reply.json['id']}/approve", {}).status, 200)
    return reply.json["id"]


def no_counts_are_known():
    begin(state="paused")
    sql(server, "UPDATE trees SET bench = NULL")
    sql(server, "DELETE FROM benches")


def bench_of(test, side="base"):
    return anyone.api("GET", f"/tests/{test}").json[side]["bench"]


def a_declared_bench_of_the_base_is_not_that_of_other_tests():
    no_counts_are_known()
    poisoned, other = approved(submitted(dev, base_bench=1)), approved(submitted(dev))
    equal((bench_of(poisoned), bench_of(other)), (1, None))
    equal(submitted(dev, base_bench=1934567).status, 201, "the truth")
    bases = {task["test"]["id"]: side_of(task, "base") for task in (machine.claim() for machine in honest(2))}
    equal((bases[poisoned]["bench"], bases[other]["bench"]), (1, None))


def a_commit_of_anothers_test_keeps_its_bench():
    no_counts_are_known()
    own = approved(submitted(dev))
    reply = dev2.api("POST", "/tests", {"title": "theft", "commit": f"test:{own}", "bench": 666, "tc": "10+0.1"})
    equal((reply.status, bench_of(own, "new"), bench_of(reply.json["id"], "new")), (201, None, 666))


def machines_confirm_a_declared_bench_by_their_first_batch():
    no_counts_are_known()
    test = approved(submitted(dev, bench=1234567, base_bench=1934567))
    good = proven(honest(1)[0])
    equal(good.post(good.claim(), outcomes="2" * 16).json["counted"], True)
    equal(sql(server, "SELECT bench FROM known_commits c JOIN sides s ON s.sha = c.sha WHERE s.test_id = ? "
              "ORDER BY bench", test), [(1234567,), (1934567,)])


def a_wrong_bench_of_the_baseline_is_corrected_by_a_maintainer():
    no_counts_are_known()
    sql(server, "INSERT INTO trees (engine_id, snapshot, bench) SELECT engine_id, snapshot, 667 FROM commits WHERE sha = (SELECT baseline FROM engines) ON CONFLICT DO UPDATE SET bench = 667")
    test = approved(submitted(dev))
    good = honest(1)[0]
    good.fail(good.claim(), "bench", side="base", bench=1934567)
    equal(state_of(test), ("paused", None))
    told = submitted(dev, base_bench=1934567).json["error"]
    equal((told["code"], told["field"]), ("bad_bench", "base_bench"))
    contains(told["message"], "ask a maintainer of anvil to correct it")
    equal(dev.api("POST", f"/tests/{test}/bench", {"side": "base", "nodes": 1934567}).code, "forbidden")
    contains(boss.get(f"/tests/{test}").text, f'action="/tests/{test}/bench"')
    equal(boss.form(f"/tests/{test}/bench", {"side": "base", "nodes": "nonsense"}).status, 422)
    equal(boss.form(f"/tests/{test}/bench", {"side": "base", "nodes": "1934567"}).status, 303)
    equal(boss.api("POST", f"/tests/{test}/resume", {}).json["state"], "active")
    contains(anyone.api("GET", "/events?type=bench").json["items"][0]["message"], "is 1934567 now, and was 667")
    equal(side_of(good.claim(), "base")["bench"], 1934567)
    equal(submitted(dev, base_bench=1934567).status, 201)


def a_test_shows_how_much_each_owner_brought():
    test = begin()
    machines = [Machine("192.0.2.1"), Machine("192.0.2.1"), proven(Machine("192.0.2.2", token=token_of("ann")))]
    for machine in (*machines, machines[0]):
        equal(machine.post(machine.claim()).json["counted"], True)
    found = anyone.api("GET", f"/tests/{test}").json
    again = {"again_pairs": 0, "again_score": None, "score": 0.5, "misfits": 0}
    equal(found["owners"], [{"user": None, "machines": 2, "pairs": 3 * BATCH, "share": 0.75, "level": "unproven", "dropped": 1, **again,
                             "dropped_text": "Machines without an account did not report 1 of 4 batches that began (25.0 %)."},
                            {"user": "ann", "machines": 1, "pairs": BATCH, "share": 0.25, "level": "vouched", "dropped": 0, **again,
                             "dropped_text": None}])
    equal([text for text in found["warnings"] if "owner" in text],
          ["One unproven owner (machines without an account) played 75\u00a0% of the pairs that count."])
    page = anyone.get(f"/tests/{test}").text
    contains(page, "75.0\u00a0%")
    contains(page, "machines without an account")
    true("192.0.2" not in page + str(found), "an address")


def a_maintainer_vouches_on_the_page_of_a_machine():
    begin()
    machine = Machine("192.0.2.77")
    path, dev_path = f"/machines/{machine.id}", f"/api/v1/machines/{machine.id}/vouch"
    trust = lambda: anyone.api("GET", path).json["machine"]["trust"]
    contains(boss.get("/health").text, "Tests cannot end")
    contains(anyone.api("GET", "/health").json["unvouched"], "no machine's owner is vouched for")
    equal(trust(), {"level": "unproven", "vouch": None,
                    "words": "Unproven: it has no account, and only an account earns a record."})
    equal(dev.request("POST", dev_path).status, 403)
    contains(boss.get(path).text, f'action="{path}/vouch"')
    equal(boss.form(path + "/vouch", {"reason": "a friend's machine"}).status, 303)
    found = trust()
    equal((found["level"], found["vouch"]["user"], found["vouch"]["reason"]), ("vouched", "boss", "a friend's machine"))
    page = boss.get(path).text
    contains(page, "A maintainer vouches for its owner.")
    contains(page, f'action="{path}/unvouch"')
    equal(anyone.api("GET", "/health").json["unvouched"], None)
    sql(server, "UPDATE workers SET last_seen = last_seen - 90000")
    contains(anyone.api("GET", "/health").json["unvouched"], "for a day no machine")
    equal(boss.api("POST", path + "/unvouch", {}).json["vouched"], False)
    equal(trust()["level"], "unproven")
    equal([e["type"] for e in anyone.api("GET", "/events?limit=2").json["items"]], ["unvouched", "vouched"])


def an_operator_corrects_a_bench_on_the_command_line():
    no_counts_are_known()
    test = approved(submitted(dev))
    contains(server.command("engine", "bench", server.data, "main", "777"), "bench of ")
    equal(bench_of(test), 777)
    equal(server.command("engine", "bench", server.data, "main", "many", check=False).returncode, 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, \
            Server("--trusted-proxy", "127.0.0.1", trust="public",
                   init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False) as server:
        server.command("set", server.data, "registrations_per_hour", "100000")
        server.command("set", server.data, "writes_per_minute", "100000")
        server.add_user("boss", "maintainer")
        vouched_owners_have_played()
        server.start()
        anyone, boss, dev, dev2 = Client(server), server.client("boss"), developer("dev"), developer("dev2")
        run(invented_cores_send_no_machine_to_another_test,
            cores_that_were_not_registered_are_not_shown,
            a_new_machine_gets_one_small_task,
            no_owner_holds_all_pairs_of_a_test,
            unproven_owners_get_nothing_before_vouched_owners_have_played,
            pairs_that_were_begun_are_dealt_to_others,
            a_machine_that_takes_and_gives_back_has_to_wait,
            one_machine_ends_no_test,
            invented_failures_change_nothing_while_owners_with_a_record_play,
            accounts_of_one_network_have_one_voice,
            a_test_that_machines_failed_is_resumed_by_a_maintainer,
            puppets_set_no_bench_beside_an_owner_with_a_record,
            a_declared_bench_of_the_base_is_not_that_of_other_tests,
            a_commit_of_anothers_test_keeps_its_bench,
            machines_confirm_a_declared_bench_by_their_first_batch,
            a_wrong_bench_of_the_baseline_is_corrected_by_a_maintainer,
            a_maintainer_vouches_on_the_page_of_a_machine, a_test_shows_how_much_each_owner_brought,
            an_operator_corrects_a_bench_on_the_command_line)
