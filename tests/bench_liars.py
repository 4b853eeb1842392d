"""The second half of `make bench PARTS=attacks`: owners that are many, results that are slanted, false reports, an engine that cheats."""

import contextlib
import itertools
import json
import os

from attack_table import limit_of_share, nelo_of, said
from public_server import BATCH, Machine, Visitor, good
from server import PASSWORD, wait_until
from worker import Worker

PONDERED = 24  # games: from 20 on the server judges


# ---- many who are one -----------------------------------------------------------------------------------------------------------


def accounts(lab, count, address):
    """So many accounts that sign up from one address, as far as they may: their tokens, and the last answer."""
    tokens = []
    for number in range(count):
        visitor = Visitor(lab, address)
        reply = visitor.api("POST", "/users", {"name": f"sock-{number}", "password": PASSWORD})
        if reply.status not in (200, 201):
            break
        visitor.csrf = reply.json["csrf"]
        tokens.append(good(visitor.api("POST", "/tokens", {"name": "box", "scope": "worker"})).json["token"])
    return tokens, reply


def forty_accounts(lab, table):
    """The accounts that sign-up refuses are made by the operator's command, as if the attacker had waited for hours."""
    address, wanted = "203.0.113.7", 40
    table.attack(f"{wanted} accounts behind one address, all of whose games are won, and which then report a failure")
    tokens, reply = accounts(lab, wanted, address)
    table.line("stopped by", f"{said(reply)} (after {len(tokens)} accounts; the others sign up later)")
    for number in range(len(tokens), wanted):
        lab.server.add_user(f"sock-{number}")
        client = lab.server.client(f"sock-{number}")
        tokens.append(good(client.api("POST", "/tokens", {"name": "box", "scope": "worker"})).json["token"])
    machines = [Machine(lab, address, token) for token in tokens]
    lab.begin()
    for _ in range(4):
        lab.vouched_play(19 * BATCH)
        for machine in lab.rng.sample(machines, 10):
            machine.play(lambda size: "4" * size, batches=8)
    limit_of_share(lab, table)
    failed = 0
    for machine in machines:
        lab.vouched_play(19 * BATCH if failed < 3 else 0)
        task = machine.claim()
        if task:
            failed += machine.fail(task).status == 200
    state = lab.state()
    table.limit(f"reports of unproven owners end and pause nothing while vouched ones play: {failed} failures reported, the test is {state}",
                state == "active")
    one = Machine(lab, address, tokens[0])
    good(lab.boss.api("POST", f"/machines/{one.id}/vouch", {}))
    one.fail(one.claim())
    levels = [lab.anyone.api("GET", f"/machines/{machine.id}").json["machine"]["trust"]["level"] for machine in machines]
    table.line("   vouched", f"a click for one of them: {levels.count('vouched')} vouched, {levels.count('unproven')} unproven; its failure leaves "
                             f"the test {lab.state()}")


# ---- results that are slanted -----------------------------------------------------------------------------------------------------

SLANT, OWNERS = 20, 20


def both(lab):
    """The LLR of all pairs, and what the test keeps of those of proven owners."""
    state = json.loads(lab.sql("SELECT counts FROM tests WHERE id = ?", lab.test)[0][0])
    return state["sprt"], state.get("proven")


def slanted(lab, table):
    table.attack(f"{OWNERS} slanted owners, +{SLANT} normalized Elo each, on a patch worth 0 by <0, 2>")
    lab.begin(elo0=0, elo1=2, batch_pairs=200, pairs_max=120000)
    machines = itertools.cycle([Machine(lab) for _ in range(OWNERS)])
    while lab.state() == "active":
        lab.vouched_play(1600)
        if lab.state() == "active":
            next(machines).play(lambda size: lab.outcomes(size, SLANT))
    sprt, proven = both(lab)
    table.line("stopped by", f"shares and two LLRs: {lab.state()} at LLR {sprt['llr']:.2f}, {proven['sprt']['llr']:.2f} without unproven owners")
    table.line("after", f"{lab.counted()} pairs; vouched owners {nelo_of(lab, 2):+.1f}, unproven ones {nelo_of(lab, 0):+.1f} nElo")
    limit_of_share(lab, table)
    table.limit(f"no test is accepted without the LLR of proven owners, whose verdict is {proven['sprt']['verdict']}",
                lab.state() != "finished accepted" or proven["sprt"]["verdict"] == 1)
    table.attack(f"a slanted vouched owner in their place, +{10 * SLANT} by <0, 20>: ten times the slant and the bounds")
    lab.begin(elo0=0, elo1=20, batch_pairs=BATCH)
    vic = lab.vouched()
    while lab.state() == "active":
        lab.vouched_play(16)
        if lab.state() == "active":
            vic.play(lambda size: lab.outcomes(size, 10 * SLANT), batches=4)
    largest = lab.document()["without"]["largest"]
    table.line("   vouched", f"{lab.state()} after {lab.counted()} pairs, {lab.counted(vic)} of them its own")
    table.line("   the page", largest["text"] if largest else "-")


def vetoed(lab, table):
    table.attack("two honest owners and a liar, all of whose games are lost: a patch worth +15 normalized Elo by <0, 10>")
    lab.begin(elo0=0, elo1=10, batch_pairs=10)
    liar, begun, first, size = Machine(lab), 0, None, 10
    while lab.state() == "active":
        for machine in (lab.ann, lab.ben):
            if lab.state() == "active":
                machine.play(lambda size: lab.outcomes(size, 15), batches=4)
        _, proven = both(lab)
        if proven and proven["beyond"]:
            first, begun = first or proven["beyond"], proven["beyond"]
        if lab.state() == "active":
            liar.play(lambda size: "0" * size, batches=4)
    sprt, proven = both(lab)
    pairs = proven["sprt"]["pairs"]
    table.line("stopped by", f"the LLR of proven owners: {lab.state()} at LLR {proven['sprt']['llr']:.2f}, {sprt['llr']:.2f} with the liar's "
                             f"{lab.counted(liar)} pairs{'; it decided alone' if proven['decides'] else ''}")
    table.line("after", f"{pairs:.0f} proven pairs; their LLR was first beyond its bound after {first or pairs:.0f}, and stayed from {begun or pairs:.0f} on")
    table.limit(f"an unproven liar delays a verdict by a tenth more pairs and a batch: {(pairs / begun - 1) * 100 if begun else 0:.1f} %",
                not begun or pairs < 1.1 * begun + size)
    limit_of_share(lab, table)


# ---- false reports ----------------------------------------------------------------------------------------------------------------


def bench_of(lab):
    return lab.document()["new"]["bench"]


def false_benches(lab, table):
    table.attack("false benches")
    lab.begin()
    lab.vouched_play(19 * BATCH * 4)
    task = lab.ann.claim()
    lab.ann.bench(task, 4711)
    strangers = [Machine(lab) for _ in range(3)]
    answers = []
    for machine in strangers:
        lab.vouched_play(19 * BATCH)
        answers.append(said(machine.bench(machine.claim(), 666)))
    heard = bench_of(lab)
    other = lab.ben.claim()
    lab.ben.bench(other, 4711)
    table.line("stopped by", f"votes of proven owners: three owners said 666 ({answers[0]}) to one who said 4711; the count was {heard}, "
                             f"and {bench_of(lab)} when a second vouched owner had said it")
    table.limit("a count of unproven owners is not heard", heard is None and bench_of(lab) == 4711)
    lab.begin()
    vic = lab.vouched()
    lab.ann.bench(lab.ann.claim(), 4711)
    vic.bench(vic.claim(), 666)
    before = (bench_of(lab), lab.state())
    lab.ben.bench(lab.ben.claim(), 4711)
    table.line("   vouched", f"against one other: the count is {before[0]}, the test {before[1]}; against two: {bench_of(lab)}, {lab.state()}")


def false_failures(lab, table):
    table.attack("false build failures")
    lab.begin()
    lab.vouched_play(19 * BATCH * 4)
    strangers = [Machine(lab) for _ in range(5)]
    failed = 0
    for machine in strangers:
        lab.vouched_play(BATCH)
        task = machine.claim()
        failed += bool(task) and machine.fail(task).status == 200
    state = lab.state()
    table.line("stopped by", f"votes of proven owners: {failed} unproven owners say that it does not build, two vouched ones played it")
    table.limit(f"unproven owners end no test: it is {state}", state == "active")
    table.line("   vouched", f"one: the test is {vouched_failures(lab, 1)}; two, who played nothing: {vouched_failures(lab, 1)}; "
                             f"three: {vouched_failures(lab, 1)}")


def vouched_failures(lab, count):
    for _ in range(count):
        machine = lab.vouched()
        task = machine.claim()
        if task:
            machine.fail(task)
    return lab.state()


def false_ponders(lab, table):
    table.attack("false reports that the patch computes in its opponent's time")
    lab.begin()
    lab.vouched_play(19 * BATCH * 4)
    for name, machine in (("   stranger", Machine(lab)), ("   vouched", lab.vouched())):
        reported = 0
        for _ in range(6):
            lab.vouched_play(19 * BATCH if name == "   stranger" else BATCH)
            task = machine.claim()
            if not task or lab.state() != "active":
                break
            good(machine.post(task, 0, "0000", ponders=2 * BATCH))
            machine.release(task, BATCH)
            reported += 2 * BATCH
        table.line(name, f"{reported} games reported: the test is {lab.state()}; {lab.document()['rest_warning']}")
        if name == "   stranger":
            table.limit(f"unproven owners end no test: it is {lab.state()}", lab.state() == "active")


# ---- an engine that cheats --------------------------------------------------------------------------------------------------------


def ponders(lab, table):
    """A real worker of a vouched owner builds a patch that computes in its opponent's time, and plays it. A second owner confirms it."""
    table.attack("an engine that computes in its opponent's time, played by a real worker")
    lab.begin(patch=lab.patch('"think=0"', '"steal=thread"'), max_moves=8)
    seen = lambda: lab.sql("SELECT coalesce(2 * sum(units), 0), coalesce(sum(ponders), 0) FROM counted_batches WHERE test_id = ?", lab.test)[0]
    with Worker(lab.server, "--concurrency", "1", env={**os.environ, "PATCHMATE_PACING": "0.01"}) as worker:
        number = wait_until(lambda: lab.sql("SELECT id FROM workers WHERE name NOT LIKE 'machine %'"), 90)[0][0]
        good(lab.boss.api("POST", f"/machines/{number}/vouch", {}))
        with contextlib.suppress(AssertionError):
            wait_until(lambda: seen()[0] >= PONDERED or "refused" in worker.log(), 120)
    games, lost = seen()
    table.line("stopped by", f"the worker: {lost} of its {games} games are lost by that; the test is {lab.state()}")
    table.limit("such a game is lost", games >= PONDERED and lost == games)
    lab.ben.play(lambda size: "4" * size, batches=5)
    hidden, before = lab.counted(lab.ben), lab.state()
    task = lab.ann.claim()
    good(lab.ann.post(task, 0, "0" * BATCH, ponders=2 * BATCH))
    table.line("after", f"{games} games of one owner and {2 * BATCH} of a second: {lab.state()}, {reason_of(lab)}")
    table.limit("two vouched owners that see it end the test", lab.state() == "finished failed")
    table.line("   vouched", f"one that hides it had {hidden} pairs counted as won, and the test was {before}")


def reason_of(lab):
    return lab.sql("SELECT reason FROM tests WHERE id = ?", lab.test)[0][0]
