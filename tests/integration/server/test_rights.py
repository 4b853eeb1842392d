#!/usr/bin/python3
# test: sanitized only
"""Who may do what: machines of blocked people, passwords that strangers guess, limits of sign-ups, scopes of tokens, and a table
of all routes with everybody who may call them."""

import contextlib
import hashlib
import http.client
import json
import pathlib
import re
import sys
import urllib.parse
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import routes  # noqa: E402
from database import add_test, sql, write_plain_book  # noqa: E402
from played import post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import ADMIN, PASSWORD, Client, Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

server = admin = None
FAULT_REPORT = {"pair": 0, "game": 0, "side": "new", "end": "crash", "reason": "White disconnects", "overloaded": False, "pgn": "x"}
HOST = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": 4, "logical_cores": 8, "memory_mib": 8000,
        "compilers": ["gcc 12.2.0"], "sandbox": 2, "isa": "x86-64-v2"}


def person(name, *roles):
    """A new account, signed in."""
    server.add_user(name, *roles)
    return server.client(name)


def token_of(client, scope="worker", name="box"):
    reply = client.api("POST", "/tokens", {"name": name, "scope": scope})
    equal(reply.status, 201, reply)
    return reply.json


def introduce(key, token=None, name=None, at=None, **host):
    """A registration; `at` is the address that the proxy tells."""
    document = {"protocol": 1, "name": name or "host of " + key, "version": "1.0", "machine_key": key.replace(" ", "-").ljust(16, "."),
                "host": {**HOST, **host}, "user_token": token}
    return Client(server).api("POST", "/workers", document, {"X-Forwarded-For": at} if at else None)


def machine(key, token=None, **more):
    reply = introduce(key, token, **more)
    true(reply.status in (200, 201), reply)
    client = Client(server, token=reply.json["token"])
    client.worker = reply.json["worker"]
    return client


def from_address(client, address):
    """The client, seen from elsewhere: `address` is what the trusted proxy tells."""
    plain = client.request
    client.request = lambda method, path, body=None, headers=None: plain(method, path, body, {"X-Forwarded-For": address, **(headers or {})})
    return client


def at(address, **more):
    return from_address(Client(server, **more), address)


def refused(reply, status, code):
    equal((reply.status, reply.code), (status, code), reply)


def post(worker, task, seq):
    return post_batch(worker, task, seq, "2222")


def no_work_is_left_for(worker, task, code):
    """Everything that a machine does, but handing in what it was dealt before, is refused; what it hands in does not count."""
    place = f"/tasks/{task['id']}"
    refused(claim(worker), 403, code)
    refused(worker.api("PUT", place + "/faults/0", {**FAULT_REPORT, "pair": task["first_pair"]}), 403, code)
    refused(worker.api("POST", place + "/bench", {"side": "new", "nodes": 1}), 403, code)
    refused(worker.api("POST", place + "/fail", {"kind": "build", "side": "new", "message": "x", "log": ""}), 403, code)
    reply = post(worker, task, 1)
    equal((reply.status, reply.json["stored"], reply.json["counted"]), (200, True, False), reply)
    reply = worker.api("POST", place + "/heartbeat", {"phase": "play", "plies": 1, "started_pairs": 0})
    equal((reply.status, reply.json["continue"]), (200, False), reply)
    equal(worker.api("POST", place + "/release", {"started_pairs": 0}).status, 200)


def set_state(name, state):
    equal(admin.api("POST", f"/users/{name}/state", {"state": state}).status, 200)


# ---- machines of those who are blocked ---------------------------------------------------------------------------------------

def a_blocked_account_stops_its_machines():
    token = token_of(person("vince"))["token"]
    worker = machine("vinces", token)
    task = claim(worker).json
    equal(post(worker, task, 0).json["counted"], True)
    set_state("vince", "blocked")
    no_work_is_left_for(worker, task, "blocked")
    contains(claim(worker).json["error"]["message"], "account")
    equal(sql(server, "SELECT games FROM workers WHERE id = ?", worker.worker), [(8,)], "credit")


def a_blocked_accounts_machine_does_not_come_back():
    refused(introduce("vinces"), 403, "blocked")
    refused(introduce("vinces", token_of(admin)["token"]), 403, "blocked")
    refused(introduce("another", name="host of vinces"), 403, "blocked")
    set_state("vince", "active")
    equal(introduce("vinces", token_of(server.client("vince"))["token"]).status, 200)


def a_revoked_token_stops_its_machine_until_that_has_a_new_one():
    owner = person("rosa")
    old, other = token_of(owner), token_of(owner, name="other box")
    worker, untouched = machine("rosas", old["token"]), machine("rosas other", other["token"])
    task = claim(worker).json
    equal(post(worker, task, 0).json["counted"], True)
    new = token_of(owner, name="new box")
    equal(owner.api("POST", f"/tokens/{old['id']}/revoke").status, 200)
    no_work_is_left_for(worker, task, "token_revoked")
    equal(claim(untouched).status, 200)
    again = machine("rosas", new["token"])
    equal(again.worker, worker.worker)
    equal(claim(again).status, 200)


def a_blocked_machine_does_not_come_back_under_a_new_key():
    owner = person("mick")
    token = token_of(owner)["token"]
    for mine, address in ((None, "2001:db8:7::1"), (token, "2001:db8:8::1")):
        worker = machine(f"first of {mine}"[:20], mine, at=address, name="cheater", cpu="Pentium")
        task = claim(worker).json
        sql(server, "UPDATE tasks SET due = 0 WHERE id = ?", task["id"])  # it waits for no other machine
        equal(post(worker, task, 0).json["counted"], True)
        equal(admin.api("POST", f"/machines/{worker.worker}/block").status, 200)
        no_work_is_left_for(worker, task, "blocked")
        refused(introduce(f"first of {mine}"[:20], mine, at=address, name="cheater", cpu="Pentium"), 403, "blocked")
        refused(introduce("second", mine, at=address, name="cheater", cpu="Pentium"), 403, "blocked")
    # Without an account the name or the hardware is enough; of an account it is the name, from wherever.
    refused(introduce("third", at="2001:db8:7::ffff", name="other", cpu="Pentium"), 403, "blocked")
    refused(introduce("third", at="2001:db8:7::ffff", name="cheater", cpu="other"), 403, "blocked")
    refused(introduce("third", token, at="192.0.2.200", name="cheater", cpu="other"), 403, "blocked")
    equal(introduce("fourth", at="2001:db8:7::ffff", name="other", cpu="other").status, 201)
    equal(introduce("fifth", at="192.0.2.201", name="cheater", cpu="Pentium").status, 201)
    equal(introduce("sixth", token, at="2001:db8:8::1", name="good one", cpu="Pentium").status, 201)


# ---- passwords that strangers guess ------------------------------------------------------------------------------------------

def failed_before(subject, count):
    """Wrong passwords that were counted already: trying them all takes as long as that many scrypts."""
    sql(server, "INSERT INTO login_failures VALUES (?, ?, unixepoch())", subject, count)


def forget_failures():
    sql(server, "DELETE FROM login_failures")


def wrong_passwords_of_one_network_lock_no_other_network_out():
    owner = person("paula")
    for i in range(10):
        refused(at(f"2001:db8:bad::{i + 1:x}").login("paula", "not this one"), 401, "wrong_password")
    reply = at("2001:db8:bad::ffff").login("paula")
    refused(reply, 429, "too_many_attempts")
    true(0 < int(reply.headers["Retry-After"]) <= 30, reply.headers["Retry-After"])
    equal(at("192.0.2.1").login("paula").status, 200, "from elsewhere")
    equal(from_address(owner, "192.0.2.2").api("POST", "/account/password", {"old": PASSWORD, "password": PASSWORD}).status, 200)
    refused(at("2001:db8:bad::1").login("paula"), 429, "too_many_attempts")
    forget_failures()


def guessing_from_many_networks_is_slow_and_does_not_reach_networks_that_the_owner_knows():
    person("greta")
    equal(at("198.51.100.7").login("greta").status, 200)
    refused(at("203.0.113.1").login("greta", "not this one"), 401, "wrong_password")
    sql(server, "UPDATE login_failures SET count = count + 16 WHERE subject = 'user:' || (SELECT id FROM users WHERE name = 'greta')")
    codes = [at(f"203.0.113.{i}").login("greta", "not this one").code for i in range(2, 8)]
    equal(codes, ["wrong_password"] * 3 + ["too_many_attempts"] * 3)
    reply = at("203.0.113.99").login("greta")
    refused(reply, 429, "too_many_attempts")
    true(0 < int(reply.headers["Retry-After"]) <= 5, reply.headers["Retry-After"])
    equal(at("198.51.100.7").login("greta").status, 200, "where the owner signed in before")
    sql(server, "UPDATE login_failures SET last = last - 6")
    equal(at("203.0.113.99").login("greta").status, 200, "a little later")
    forget_failures()


def others_in_the_same_network_lock_out_no_browser_in_which_the_owner_signed_in():
    person("nora")
    browser, attacker = at("198.51.100.20"), at("198.51.100.20")
    login = {"name": "nora", "password": PASSWORD}
    equal(browser.form("/login", login).status, 303)
    equal(browser.form("/logout", {"csrf": re.search('name="csrf" value="([^"]+)"', browser.get("/account").text)[1]}).status, 303)
    equal(sorted(browser.cookies), ["patchmate_device"])
    for _ in range(10):
        refused(attacker.login("nora", "not this one"), 401, "wrong_password")
    refused(attacker.login("nora"), 429, "too_many_attempts")
    equal(browser.form("/login", login).status, 303)
    refused(attacker.login("nora"), 429, "too_many_attempts")
    other = at("198.51.100.20")
    other.cookies["patchmate_device"] = "guessed"
    refused(other.login("nora"), 429, "too_many_attempts")
    forget_failures()


def what_was_typed_as_a_name_is_not_kept():
    refused(at("192.0.2.50").login("Correct-Horse-Battery", "oops"), 401, "wrong_password")
    subjects = [row[0] for row in sql(server, "SELECT subject FROM login_failures")]
    true(len(subjects) == 3, subjects)
    for subject in subjects:
        true("horse" not in subject.lower(), subject)
    forget_failures()


def logins_and_sign_ups_are_limited_by_network():
    failed_before("network:2001:db8:5::/64", 46)
    codes = [at(f"2001:db8:5::{i + 1:x}").login(f"user{i}", "x").code for i in range(60)]
    equal(codes, ["wrong_password"] * 4 + ["too_many_attempts"] * 56)
    equal(at("2001:db8:6::1").login("user1", "x").code, "wrong_password")
    failed_before("signup:2001:db8:9::/64", 19)
    made = [at(f"2001:db8:9::{i + 1:x}").api("POST", "/users", {"name": f"sock{i}", "password": PASSWORD}).status for i in range(60)]
    equal(made, [201] + [429] * 59)
    forget_failures()


def new_machines_are_limited_by_network():
    """As many as the setting allows for an hour, however many addresses of one /64 they come from."""
    server.command("set", server.data, "registrations_per_hour", "3")
    try:
        codes = [introduce(f"horde{i}", at=f"2001:db8:a::{i + 1:x}", name=f"horde {i}", cpu="horde").code for i in range(6)]
        equal(codes, [None] * 3 + ["too_many_registrations"] * 3)
        pretended = introduce("pretender", at="192.0.2.99, 2001:db8:a::ffff", name="pretender", cpu="horde")
        refused(pretended, 429, "too_many_registrations")  # what stands left of the proxy's own word is the sender's
        equal(introduce("neighbour", at="2001:db8:b::1", name="neighbour", cpu="horde").status, 201)
    finally:
        server.command("set", server.data, "registrations_per_hour", "200")


def an_old_hash_is_replaced_at_login():
    weak = hashlib.scrypt(PASSWORD.encode(), salt=b"00ff" * 8, n=1 << 15, r=8, p=1, maxmem=1 << 28, dklen=32).hex()
    person("olga")
    sql(server, "UPDATE users SET password = ? WHERE name = 'olga'", f"scrypt$32768$8$1${'00ff' * 8}${weak}")
    refused(server.client().login("olga", "not this one"), 401, "wrong_password")
    equal(server.client().login("olga").status, 200)
    contains(sql(server, "SELECT password FROM users WHERE name = 'olga'")[0][0], "scrypt$32768$8$3$")
    equal(server.client().login("olga").status, 200)


def a_new_password_ends_the_tokens_unless_they_are_to_stay():
    owner = person("tess")
    script = lambda: Client(server, token=token_of(owner, "submit")["token"])
    first, second = script(), script()
    change = {"old": PASSWORD, "password": PASSWORD}
    equal(owner.api("POST", "/account/password", {**change, "end_tokens": False}).status, 200)
    equal(owner.form("/account/password", change).status, 303)
    equal(first.api("GET", "/account").status, 200)
    contains(owner.get("/account").text, 'name="end_tokens" value="1" checked')
    equal(owner.form("/account/password", {**change, "end_tokens": "1"}).status, 303)
    refused(first.api("GET", "/account"), 401, "bad_token")
    third = script()
    equal(owner.api("POST", "/account/password", change).status, 200)
    refused(third.api("GET", "/account"), 401, "bad_token")
    refused(second.api("GET", "/account"), 401, "bad_token")
    equal(owner.api("GET", "/account").status, 200, "the session that did it")


# ---- lines of text -----------------------------------------------------------------------------------------------------------

def lines_of_text_that_act_or_are_not_seen_are_refused_with_their_field_and_the_character():
    owner = person("lena", "developer", "maintainer")
    worker = machine("lenas")
    add_test(server)  # with all openings of its book, which is short
    task = claim(worker).json
    fault_report = {**FAULT_REPORT, "pair": task["first_pair"]}
    for character, name in (("\u202e", r"\u202e"), ("\x9b", r"\x9b"), ("\x7f", r"\x7f"), ("\u2028", r"\u2028"), ("\n", r"\x0a"),
                            *((chr(code), rf"\u{code:04x}") for code in (0x200B, 0xAD, 0x180E, 0x3164, 0x2800, 0xFE0F, 0xFFFE, 0x200D)),
                            ("\U000e0041", r"\U000e0041")):
        text = f"a{character}b"
        for field, reply in (
            ("name", introduce("new machine", name=text)), ("cpu", introduce("new machine", cpu=text)),
            ("compilers", introduce("new machine", compilers=[text])),
            ("name", owner.api("POST", "/tokens", {"name": text, "scope": "worker"})),
            ("title", owner.api("POST", "/tests", {"title": text, "commit": "main"})),
            ("reason", owner.api("POST", f"/machines/{worker.worker}/block", {"reason": text})),
            ("reason", owner.api("POST", "/tests/1/exclude", {"kind": "machine", "worker": worker.worker, "which": "all", "reason": text})),
            ("reason", admin.api("POST", "/tests/1/stop", {"reason": text})),
            ("reason", worker.api("PUT", f"/tasks/{task['id']}/faults/0", {**fault_report, "reason": text})),
            ("email", Client(server).api("POST", "/users", {"name": "emil", "password": PASSWORD, "email": text})),
            ("name", owner.request("POST", "/api/v1/nets?engine=anvil&name=" + urllib.parse.quote(text), b"x")),
        ):
            equal((reply.status, reply.json["error"]["field"]), (422, field), reply)
            contains(reply.json["error"]["message"], field + " must be one line")
            contains(reply.json["error"]["message"], name)


# ---- machines that never came back -------------------------------------------------------------------------------------------

def a_machine_that_was_never_given_a_task_is_forgotten_after_a_day():
    workers = {name: machine(name, name=name, cpu="cpu of " + name) for name in ("idle", "recent", "busy", "blocked", "talked of")}
    equal(claim(workers["busy"]).status, 200)
    for verb in ("block", "unblock"):
        equal(admin.api("POST", f"/machines/{workers['talked of'].worker}/{verb}").status, 200)
    equal(admin.api("POST", f"/machines/{workers['blocked'].worker}/block").status, 200)
    games = sql(server, "SELECT sum(games) FROM workers")[0][0]
    contains(Client(server).get("/metrics").text, f"\npatchmate_games {games}\n")
    for name, age in (("idle", 86500), ("recent", 86300), ("busy", 86500), ("blocked", 86500), ("talked of", 86500)):
        sql(server, "UPDATE workers SET last_seen = last_seen - ?, created = created - ? WHERE id = ?", age, age, workers[name].worker)
    wait_until(lambda: not sql(server, "SELECT 1 FROM workers WHERE id = ?", workers["idle"].worker))
    for name in ("recent", "busy", "blocked", "talked of"):
        equal(Client(server).api("GET", f"/machines/{workers[name].worker}").status, 200, name)
    refused(claim(workers["idle"]), 401, "bad_token")
    equal(introduce("idle", name="idle").status, 201)
    equal(admin.api("POST", f"/machines/{workers['blocked'].worker}/unblock").status, 200)


# ---- all routes and everybody ------------------------------------------------------------------------------------------------

SESSIONS = {"volunteer", "author", "developer", "maintainer", "admin"}
SCRIPTS = {"author's submit", "developer's submit", "maintainer's submit", "admin's submit", "admin's admin"}
# Who may: a session, or a token by whose it is and its scope; "author" is that of test 1 and has no role. Some may call it and
# are told apart afterwards: the calls are such that nothing comes of them (404, 409, 422).
GRANTED = {
    "user": SESSIONS | SCRIPTS,
    "person": SESSIONS | {"admin's admin"},
    "developer": {"developer", "maintainer", "admin", "developer's submit", "maintainer's submit", "admin's submit", "admin's admin"},
    "author": {"author", "maintainer", "admin", "author's submit", "admin's admin"},
    "maintainer": {"maintainer", "admin", "admin's admin"},
    "admin": {"admin", "admin's admin"},
    "machine": {"machine"},
    "any machine": {"machine", "barred machine"},
    "nobody": set(),
}
NO_ACCOUNT = {"anonymous", "blocked", "developer's worker", "machine", "barred machine"}  # 401 where an account is needed
ROUTES = """
anyone: GET / /books /books/{id} /engines /events /faults/{id} /health /login /machines /machines/{id} /metrics /nets /signup /static/{name...} /suspects /tests/finished
anyone: GET /tests/new /tests/{id} /tests/{id}/faults /users/{name} /git/{engine}.git/info/refs /git/{engine}.git/{rest...}
anyone: GET /api/v1/blobs/{sha256} /api/v1/books /api/v1/books/{id} /api/v1/engines /api/v1/events /api/v1/faults/{id} /api/v1/health /api/v1/machines /api/v1/machines/{id}
anyone: GET /api/v1/nets /api/v1/overview /api/v1/server /api/v1/stream /api/v1/suspects /api/v1/tests /api/v1/tests/form /api/v1/tests/{id}
anyone: GET /api/v1/tests/{id}/diff /api/v1/tests/{id}/faults /api/v1/tests/{id}/history /api/v1/users/{name}
anyone: GET /tests/{id}/games.pgn /tests/{id}/games.jsonl /api/v1/tests/{id}/games.pgn /api/v1/tests/{id}/games.jsonl
anyone: POST /login /signup /api/v1/login /api/v1/users /api/v1/workers /git/{engine}.git/git-upload-pack
nobody: POST /git/{engine}.git/git-receive-pack
user: GET /account /api/v1/account /roles /api/v1/roles
person: POST /roles /api/v1/roles
person: POST /account/password /account/tokens /account/tokens/{id}/revoke
person: POST /api/v1/account/password /api/v1/tokens /api/v1/tokens/{id}/revoke
developer: POST /nets /tests/check /tests/new /api/v1/nets /api/v1/tests /api/v1/tests/check
author: POST /tests/{id}/modify /tests/{id}/pause /tests/{id}/resume /tests/{id}/stop
author: POST /api/v1/tests/{id}/modify /api/v1/tests/{id}/pause /api/v1/tests/{id}/resume /api/v1/tests/{id}/stop
maintainer: POST /books /api/v1/books
person: POST /roles/{id}/give /roles/{id}/decline /api/v1/roles/{id}/give /api/v1/roles/{id}/decline
maintainer: POST /tests/{id}/approve /tests/{id}/exclude /tests/{id}/harmful /tests/{id}/include /tests/{id}/merge
maintainer: POST /api/v1/tests/{id}/approve /api/v1/tests/{id}/exclude /api/v1/tests/{id}/harmful /api/v1/tests/{id}/include
maintainer: POST /tests/{id}/readmit /api/v1/tests/{id}/readmit /tests/{id}/reopen /api/v1/tests/{id}/reopen
maintainer: POST /api/v1/tests/{id}/merge /tests/{id}/bench /api/v1/tests/{id}/bench /tests/{id}/undo /api/v1/tests/{id}/undo
maintainer: POST /machines/{id}/vouch /machines/{id}/unvouch /api/v1/machines/{id}/vouch /api/v1/machines/{id}/unvouch
maintainer: POST /machines/{id}/block /machines/{id}/unblock /api/v1/machines/{id}/block /api/v1/machines/{id}/unblock
maintainer: POST /machines/{id}/retest /api/v1/machines/{id}/retest
admin: GET /admin /api/v1/users
admin: POST /admin/users/{name}/role /admin/users/{name}/state /api/v1/users/{name}/role /api/v1/users/{name}/state
machine: POST /api/v1/tasks/claim /api/v1/tasks/{task}/bench /api/v1/tasks/{task}/fail
machine: PUT /api/v1/tasks/{task}/endings/{game} /api/v1/tasks/{task}/faults/{seq}
any machine: POST /api/v1/tasks/{task}/batches /api/v1/tasks/{task}/heartbeat /api/v1/tasks/{task}/release
any machine: PUT /api/v1/tasks/{task}/games/{seq}
anyone: POST /logout /api/v1/logout
"""
# What is said with a call, so that nothing comes of it.
BODIES = {"password": {"old": "x", "password": "short"}, "tokens": {"name": "x", "scope": "king"}, "role": {"role": "king", "grant": "1"},
          "state": {"state": "asleep"}, "exclude": {"kind": "none", "which": "none"}, "include": {"exclusion": "999"}, "readmit": {"worker": "999"},
          "modify": {"wings": "two"}, "tests": {"title": "x", "commit": "nothing"}, "new": {"title": "x", "commit": "nothing"},
          "check": {"title": "x", "commit": "nothing"}}
PLACES = {"{engine}": "anvil", "{rest...}": "HEAD", "{name...}": "none.css", "{sha256}": "f" * 64, "{task}": "999", "{seq}": "0",
          "{name}": "volunteer"}


def routes_of_the_table():
    for line in ROUTES.strip().splitlines():
        who, _, rest = line.partition(": ")
        method, *patterns = rest.split()
        for pattern in patterns:
            yield who, method, pattern


def everybody():
    """One client for each identity, by its name."""
    people = {"volunteer": person("volunteer"), "author": person("author"), "developer": person("developer", "developer"),
              "maintainer": person("maintainer", "maintainer"), "admin": server.client(ADMIN)}
    for name in SCRIPTS | {"developer's worker"}:
        owner, scope = name.split("'s ")
        people[name] = Client(server, token=token_of(people[owner], scope)["token"])
    blocked = person("bart")
    people["blocked"] = Client(server, token=token_of(blocked, "submit")["token"])
    set_state("bart", "blocked")
    people["anonymous"] = blocked  # has a session that has ended
    people["machine"], people["barred machine"] = machine("good one"), machine("bad one", name="bad")
    equal(admin.api("POST", f"/machines/{people['barred machine'].worker}/block").status, 200)
    sql(server, "UPDATE tests SET author_id = (SELECT id FROM users WHERE name = 'author'), state = 'finished', result = 'rejected',"
                " finished = 1")
    return people


def path_of(pattern):
    for mark, text in PLACES.items():
        pattern = pattern.replace(mark, text)
    path = pattern.replace("{id}", "1" if pattern.lstrip("/").removeprefix("api/v1/").startswith("tests") else "999")
    query = {"nets": "?engine=anvil", "refs": "?service=git-upload-pack"}.get(path.rsplit("/", 1)[1], "")
    return path + query


def call(client, method, pattern):
    """The status and, of the API, the code."""
    path, body = path_of(pattern), BODIES.get(pattern.rsplit("/", 1)[1], {})
    if pattern == "/api/v1/stream":
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60 * LOAD_FACTOR)
        with contextlib.closing(connection):
            connection.request("GET", path, headers=client._identity())
            return connection.getresponse().status, None
    if method == "GET":
        reply = client.get(path)
    elif path.startswith("/git/"):
        reply = client.request(method, path, b"")
    elif path.startswith("/api/"):
        reply = client.request(method, path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    else:
        reply = client.form(path, body)
    to_login = reply.status == 303 and reply.headers["Location"].startswith("/login?next=")
    return 401 if to_login else reply.status, reply.code


def expected(who, name):
    """The status of a refusal; None: none."""
    if name == "blocked":
        return 401
    if who == "anyone" or name in GRANTED[who]:
        return None
    if who in ("machine", "any machine"):
        return 403 if name == "barred machine" else 401
    return 401 if who != "nobody" and name in NO_ACCOUNT else 403


def every_route_is_open_to_the_callers_that_the_table_names_and_to_no_others():
    table = list(routes_of_the_table())
    equal({(method, pattern) for _, method, pattern in table} ^ {(route.method, route.pattern) for route in routes.table(server)}, set(), "routes without a row, rows without a route")
    people, wrong = everybody(), []
    for who, method, pattern in table:
        for name, client in people.items():
            status, code = call(client, method, pattern)
            wanted = expected(who, name)
            refusal = status in (401, 403, 429) or status >= 500
            if status != wanted if wanted else refusal and code != "wrong_password":
                wrong.append(f"{method} {pattern} as {name}: {status} {code}, wanted {wanted or 'no refusal'}")
    equal(wrong, [], f"{len(table)} routes")


def a_maintainers_token_of_scope_submit_blocks_no_machine():
    owner = person("mona", "maintainer")
    script = Client(server, token=token_of(owner, "submit")["token"])
    worker = machine("monas target")
    for verb in ("block", "unblock", "retest"):
        refused(script.api("POST", f"/machines/{worker.worker}/{verb}"), 403, "forbidden")
    true(script.api("GET", f"/machines/{worker.worker}").json["actions"]["block"]["ok"] is False, "the page says so")
    equal(claim(worker).status in (200, 204), True)
    for verb in ("block", "unblock"):
        equal(owner.api("POST", f"/machines/{worker.worker}/{verb}").status, 200)


def main():
    global server, admin
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        book = write_plain_book(pathlib.Path(folder) / "book.epd")
        server = Server("--trusted-proxy", "127.0.0.1", init_options=["--book", str(book)], start=False)
    try:
        add_test(server)
        server.command("set", server.data, "writes_per_minute", "1000000")
        server.start()
        admin = server.client(ADMIN)
        run(a_blocked_account_stops_its_machines, a_blocked_accounts_machine_does_not_come_back,
            a_revoked_token_stops_its_machine_until_that_has_a_new_one, a_blocked_machine_does_not_come_back_under_a_new_key,
            wrong_passwords_of_one_network_lock_no_other_network_out,
            guessing_from_many_networks_is_slow_and_does_not_reach_networks_that_the_owner_knows,
            others_in_the_same_network_lock_out_no_browser_in_which_the_owner_signed_in,
            what_was_typed_as_a_name_is_not_kept, logins_and_sign_ups_are_limited_by_network, new_machines_are_limited_by_network,
            an_old_hash_is_replaced_at_login,
            a_new_password_ends_the_tokens_unless_they_are_to_stay, a_maintainers_token_of_scope_submit_blocks_no_machine,
            a_machine_that_was_never_given_a_task_is_forgotten_after_a_day,
            lines_of_text_that_act_or_are_not_seen_are_refused_with_their_field_and_the_character,
            every_route_is_open_to_the_callers_that_the_table_names_and_to_no_others)
    finally:
        server.close()


if __name__ == "__main__":
    main()
