"""The third part of `make bench PARTS=attacks`: owners with a record, machines that never report, and other moves at fixed nodes."""

import itertools
import random

from attack_table import counted_elsewhere, evidence, percent, said
from played import post_batch
from public_server import BATCH, EVEN, Machine, good
from server import wait_until

THIRD, ROUNDS = 1 / 3, 60
PREPARATION_S, BATCH_S, PATIENCE = 3330, 300, 3  # server/ledger/task.h: before the first game, and for a batch, or three times what it should take


def owners_with_a_record(lab, table):
    owners = [lab.recorded(f"record-{number}") for number in range(3)]
    table.attack(f"{len(owners)} owners with a record, all of whose games are won")
    lab.begin()
    while lab.state() == "active":
        lab.vouched_play(4 * BATCH)
        for machine in owners:
            machine.play(lambda size: "4" * size, batches=100)
    mine = sum(lab.counted(machine) for machine in owners)
    table.line("bounded by", f"shares: {mine} of {lab.counted()} pairs counted; the test is {lab.state()}")
    largest = lab.document()["without"]["largest"]
    table.line("the page", largest["text"] if largest else "-")
    worst = lab.share_of(1)
    table.limit(f"recorded owners make a third of the counted pairs: at most {percent(worst)} at any time", worst <= THIRD)
    table.line("   vouched", "no limit: see the made up games and the slanted vouched owner")
    table.attack("the same owners report that the patch does not build, and 666 as its bench")
    lab.begin()
    failed, answer = 0, ""
    for machine in owners:
        lab.vouched_play(4 * BATCH)
        if task := machine.claim():
            answer = said(machine.bench(task, 666))
            failed += machine.fail(task).status == 200
    bench = lab.document()["new"]["bench"]
    table.line("stopped by", f"votes: {failed} say so ({answer}); the test is {lab.state()}, the count {bench}")
    table.limit("while a vouched owner could be asked recorded ones end no test and give no bench", lab.state() == "active" and bench is None)


# ---- places that are held -------------------------------------------------------------------------------------------------------


def waiting(lab):
    return lab.sql("SELECT coalesce(sum(units), 0) FROM batches WHERE test_id = ? AND waits = 1", lab.test)[0][0]


def hold(lab, machine):
    """Honest owners play while the machine says again and again that it does. Its task, how many of their pairs wait, and how long at most."""
    task = machine.claim()
    for honest in (lab.ann, lab.ben) * 4:
        honest.play(lab.outcomes, batches=1)
        machine.api("POST", f"/tasks/{task['id']}/heartbeat", {"phase": "play", "started_pairs": 0, "plies": 0})
    (until, expected), = lab.sql("SELECT batch_until - created, expected_s FROM tasks WHERE id = ?", task["id"])
    return task, waiting(lab), until, expected


def held(lab, table):
    """The hours that the server would wait for are over at once: the lease is written down as ended."""
    table.attack("machines that take a task, say that they play it, and never report, so that the batches of others wait")
    for name, machine in (("   stranger", Machine(lab)), ("   recorded", lab.recorded("holder")), ("   vouched", lab.vouched())):
        lab.begin()
        lab.vouched_play(19 * BATCH)
        task, waited, until, expected = hold(lab, machine)
        lab.sql("UPDATE tasks SET lease_until = 0 WHERE id = ?", task["id"])
        wait_until(lambda: not waiting(lab))
        lab.vouched_play(2 * BATCH)
        lost, = lab.sql("SELECT count(*) FROM batches WHERE test_id = ? AND NOT counted", lab.test)[0]
        again = counted_elsewhere(lab, machine, task["first_pair"])
        table.line(name, f"{waited} pairs of others waited, for {until / 60:.0f} minutes at most where a batch should take {expected / 60:.1f}; "
                         f"afterwards {lab.counted()} pairs count")
        table.limit("its time ends whatever it says", waited > 0 and until <= PREPARATION_S + max(BATCH_S, PATIENCE * expected))
        table.limit(f"nothing that others played is lost ({lost} batches are), and one of them plays its pairs", lost == 0 and again == 1)


# ---- other moves at fixed nodes ---------------------------------------------------------------------------------------------------


def same_games(lab, machine, task):
    """The games that each honest machine plays from this pair on: at fixed nodes they repeat."""
    first, size = task["first_pair"], task["test"]["batch_pairs"]
    outcomes = "".join(random.Random(f"{lab.test} {first}").choices("01234", EVEN, k=size))
    good(post_batch(machine, task, 0, outcomes, seed=first + 1))
    machine.release(task, size)


def other_games(lab, machine, task):
    size = task["test"]["batch_pairs"]
    good(machine.post(task, 0, "4" * size))
    machine.release(task, size)


def found_after(lab, machine, honest, batches):
    """After how many claims of the liar it stood on the page of suspects."""
    for number in range(1, ROUNDS + 1):
        for one in itertools.islice(honest, batches):
            if task := one.claim():
                same_games(lab, one, task)
        if task := machine.claim():
            other_games(lab, machine, task)
        if evidence(lab, machine):
            return number
    return None


def other_moves(lab, table):
    """Reruns are a part of the claims, as out of the box: a tenth."""
    table.attack("other moves at fixed nodes: games that were made up, all won")
    lab.server.command("set", lab.server.data, "rerun_percent", "10")
    honest = itertools.cycle((lab.ann, lab.ben, lab.vouched()))
    for name, machine, batches in (("   stranger", Machine(lab), 19), ("   vouched", lab.vouched(), 3)):
        lab.begin(tc="nodes=1000")
        rounds = found_after(lab, machine, honest, batches)
        mine, document = lab.counted(machine), lab.document()
        table.line(name, f"{mine} of {lab.counted()} pairs counted when it was found: {evidence(lab, machine) or 'never'}")
        table.line("   the page", document["rerun_warning"] or "-")
        table.limit(f"a machine that is alone with its games is found within {ROUNDS} of its claims: after {rounds}", rounds is not None)
        reply = good(lab.boss.api("POST", f"/tests/{lab.test}/exclude", {"kind": "owner", "worker": machine.id, "which": "all", "reason": "other moves"}))
        table.line("   a click", f"{lab.counted(machine)} of its pairs count when a maintainer has excluded it")
        table.limit("what was found can be taken out", reply.status == 200 and lab.counted(machine) == 0)
    lab.server.command("set", lab.server.data, "rerun_percent", "0")
