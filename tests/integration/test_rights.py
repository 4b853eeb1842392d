#!/usr/bin/python3
"""Who may do what: machines of blocked people, passwords that strangers guess, limits of sign-ups, scopes of tokens, and a table
of all routes with everybody who may call them."""

import hashlib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from protocol import batch, claim, games_body, put_games  # noqa: E402
from server import ADMIN, PASSWORD, Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = admin = None
EVIDENCE = {"pair": 0, "game": 0, "side": "new", "end": "crash", "reason": "White disconnects", "overloaded": False, "pgn": "x"}
HOST = {"os": "Linux", "arch": "x86_64", "cpu": "test", "physical_cores": 4, "logical_cores": 8, "memory_mib": 8000,
        "compilers": ["gcc 12.2.0"], "sandbox": 2, "isa": "x86-64-v2"}


def person(name, *roles):
    """An account with the password of the admin, without the time that another scrypt takes."""
    sql(server, "INSERT INTO users (name, password, state, created) SELECT ?, password, 'active', 1 FROM users WHERE name = ?", name, ADMIN)
    for role in roles:
        sql(server, "INSERT INTO roles SELECT u.id, e.id, ? FROM users u, engines e WHERE u.name = ?", role, name)
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
    return worker.api("POST", f"/tasks/{task['id']}/batches", batch(seq, "2222"))


def no_work_is_left_for(worker, task, code):
    """Everything that a machine does, but handing in what it was dealt before, is refused; what it hands in does not count."""
    place = f"/tasks/{task['id']}"
    refused(claim(worker), 403, code)
    refused(put_games(worker, task["id"], 1, games_body(task["first_pair"] + 4, 4)), 403, code)
    refused(worker.api("PUT", place + "/evidence/0", {**EVIDENCE, "pair": task["first_pair"]}), 403, code)
    refused(worker.api("POST", place + "/bench", {"side": "new", "nodes": 1}), 403, code)
    refused(worker.api("POST", place + "/fail", {"kind": "build", "side": "new", "message": "x", "log": ""}), 403, code)
    reply = post(worker, task, 1)
    equal((reply.status, reply.json["stored"], reply.json["counted"]), (200, True, False), reply)
    reply = worker.api("POST", place + "/beat", {"phase": "play", "plies": 1, "begun": 0})
    equal((reply.status, reply.json["continue"]), (200, False), reply)
    equal(worker.api("POST", place + "/release", {"begun": 0}).status, 200)


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


def wrong_passwords_of_one_network_lock_nobody_else_out():
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


def an_old_hash_is_made_anew_at_login():
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
            wrong_passwords_of_one_network_lock_nobody_else_out,
            guessing_from_many_networks_is_slow_and_does_not_reach_networks_that_the_owner_knows,
            what_was_typed_as_a_name_is_not_kept, logins_and_sign_ups_are_limited_by_network, an_old_hash_is_made_anew_at_login,
            a_new_password_ends_the_tokens_unless_they_are_to_stay)
    finally:
        server.close()


if __name__ == "__main__":
    main()
