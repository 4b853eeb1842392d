#!/usr/bin/python3
# test: sanitized only
"""Whether a server was reached from outside: each way in, on a server of its own state; what is none; that the state is written
before the reply and stays; and who gets tasks in it, with `trust` set and not set.

Public addresses are those of the loopback of a network of the script's own."""

import contextlib
import os
import pathlib
import socket
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import add_test, sql, write_plain_book  # noqa: E402
from own_network import own_network  # noqa: E402
from protocol import claim  # noqa: E402
from server import PATIENCE, Client, Server, wait_until  # noqa: E402
from tap import contains, equal, run, skipped, true  # noqa: E402
from worker import Worker  # noqa: E402

PUBLIC, PRIVATE = ("203.0.113.7", "100.64.0.7", "2001:db8::7"), ("192.168.7.7", "10.7.7.7", "fd00::7", "169.254.7.7")
ADDRESS, LINE, FORWARDED, HTTPS, ABSENT, HOST = (
    "a request from a public address", "a request with a proxy's line X-Forwarded-…",
    "a request with a proxy's line Forwarded", "a request by https", "a request that does not name its Host",
    "a request for a name or an address that is not of a private network")
server, alone = None, False


def send(data, address="127.0.0.1", on=None):
    """The whole answer to bytes that ask for the end of their connection."""
    with socket.create_connection((address, (on or server).port), 5 * PATIENCE) as sock:
        sock.sendall(data)
        answer = b""
        while piece := sock.recv(65536):
            answer += piece
        return answer


def get(*lines, host="Host: localhost", target="/api/v1/health", version="1.1"):
    head = [f"GET {target} HTTP/{version}", "Connection: close", *([host] if host else []), *lines]
    return "\r\n".join([*head, "", ""]).encode("latin-1")


def state():
    """(reason, number of events); the reason is None while the server was not reached."""
    found = sql(server, "SELECT reason FROM reached")
    return (found[0][0] if found else None), sql(server, "SELECT count(*) FROM events WHERE type = 'reached'")[0][0]


def mode(on=None):
    return sql(on or server, "SELECT mode FROM trust")[0][0]


def afresh(*options, env=None):
    """The server begins again as a new one that was never reached."""
    server.kill()
    sql(server, "DELETE FROM reached")
    sql(server, "DELETE FROM events WHERE type = 'reached'")
    sql(server, "DELETE FROM settings WHERE name = 'trust'")
    server.run_options, server.env = options, {**os.environ, **(env or {})}
    server.start()


def seen(reason, data, address="127.0.0.1"):
    """Such a request, the first of its kind, is what the server was reached by, as soon as it is answered."""
    afresh()
    equal(state(), (None, 0), "before")
    answer = send(data, address)
    true(answer.startswith(b"HTTP/1.1 "), answer)
    equal(state(), (reason, 1), data)
    equal(mode(), "roles")
    contains(server.log(), f"reached from outside: {reason} (peer {address}")


# ---- ways in -----------------------------------------------------------------------------------------------------------------

def a_public_address_is_a_way_in():
    for address in PUBLIC:
        seen(ADDRESS, get(host="Host: localhost"), address)


def lines_that_a_proxy_writes_are_ways_in():
    for line in ("X-Forwarded-For: 127.0.0.1", "x-forwarded-proto: http", "X-FORWARDED-HOST:"):
        seen(LINE, get(line))
    seen(FORWARDED, get("forwarded: for=127.0.0.1"))


def https_is_a_way_in():
    seen(HTTPS, get(target="https://localhost/api/v1/health"))
    seen(LINE, get("X-Forwarded-Proto: https"))


def a_host_that_is_not_private_is_a_way_in():
    """test_inside.c has all forms of it."""
    for host in ("Example.ORG:8080", "evil.localhost", "box.local", "8.8.8.8", "[2001:db8::1]:8080", "134744072", "user@localhost"):
        seen(HOST, get(host=f"Host: {host}"))


def the_second_of_two_hosts_is_a_way_in():
    seen(HOST, get("Host: example.org"))
    seen(HOST, get("host: localhost", host="Host: example.org"))


def a_request_without_a_host_is_a_way_in():
    seen(ABSENT, get(host=None, version="1.0"))
    seen(HOST, get(host="Host:"))


def a_target_that_names_another_place_is_a_way_in():
    seen(HOST, get(target="http://example.org/api/v1/health"))
    seen(HOST, b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    seen(HOST, get(target="http://localhost@example.org/"))


def a_request_that_is_refused_is_a_way_in_too():
    """Whatever its answer is, and whichever thread makes it."""
    public = "Host: example.org"
    for data, status in ((get(host=public, target="/nothing"), 404), (get(host=public, target="/account"), 303),
                         (get("Authorization: Bearer x", host=public), 401), (get(host=public, target="/%zz"), 404),
                         (get(host=public, target="/static/none"), 404), (get(host=public, target="/"), 200),
                         (b"DELETE / HTTP/1.1\r\nConnection: close\r\nHost: example.org\r\n\r\n", 405),
                         (b"POST /login HTTP/1.1\r\nConnection: close\r\nHost: example.org\r\nContent-Length: 99999999\r\n\r\n", 413)):
        afresh()
        contains(send(data).split(b"\r\n")[0].decode(), f" {status} ")
        equal(state(), (HOST, 1), data)


def headers_are_enough_and_the_rest_of_the_request_may_never_come():
    """The state is written when the headers have arrived: a request that never ends has no reply."""
    afresh()
    with socket.create_connection(("127.0.0.1", server.port), 5 * PATIENCE) as sock:
        sock.sendall(b"POST /login HTTP/1.1\r\nHost: example.org\r\nContent-Length: 10\r\n\r\n")
        wait_until(lambda: state() == (HOST, 1))


# ---- no ways in --------------------------------------------------------------------------------------------------------------

def what_comes_from_inside_is_no_way_in():
    afresh()
    for address in ("127.0.0.1", *PRIVATE):
        if alone or address.startswith("127"):
            send(get(), address)
    for host in ("localhost", "LOCALHOST:8080", "localhost.", "box", "box:80", "127.0.0.1:8080", "0.0.0.0:8080", "192.168.1.5", "[::1]:8080",
                 "[fe80::1]", "[fd00::1]:80", "[::ffff:10.0.0.1]", "172.31.0.1:1", "169.254.1.1"):
        true(b" 200 " in send(get(host=f"Host: {host}")), host)
    for line in ("Via: 1.1 x", "Forwarded-For: 8.8.8.8", "X-Forwarded: 1", "Origin: https://example.org", "Referer: https://example.org/",
                 "Cookie: Host=example.org", "User-Agent: example.org", "X-Host: example.org"):
        send(get(line))
    for target in ("/?x=http://example.org", "//example.org/", "http://localhost/api/v1/health", "/example.org"):
        send(get(target=target))
    send(get(host="HOST: box", version="1.0"))
    equal((state(), mode()), ((None, 0), "private"))
    true("reached from outside:" not in server.log().split("listening")[-1].split("Every machine that registers")[-1], "nothing is logged")


# ---- the state stays ---------------------------------------------------------------------------------------------------------

def the_state_is_on_disk_before_the_reply():
    """The server is killed as soon as a byte of the reply is here. (test_durability sees the sync before the reply.)"""
    for _ in range(5):
        afresh()
        with socket.create_connection(("127.0.0.1", server.port), 5 * PATIENCE) as sock:
            sock.sendall(get(host="Host: example.org"))
            equal(sock.recv(1), b"H")
            server.kill()
        equal(state(), (HOST, 1))
        server.start()
        equal(Client(server).api("GET", "/health").json["trust"]["mode"], "roles")


def many_at_once_are_one_event_and_the_first_reason_stays():
    afresh()
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 5 * PATIENCE)) for _ in range(20)]
        for i, sock in enumerate(socks):
            sock.sendall(get(host="Host: example.org") if i % 2 else get("X-Forwarded-For: 8.8.8.8"))
        for sock in socks:
            equal(sock.recv(1), b"H")
    reason, events = state()
    true(reason in (HOST, LINE) and events == 1, (reason, events))
    send(get("Forwarded: for=8.8.8.8"))
    equal(state(), (reason, 1))


def it_stays_after_a_restart_and_the_start_says_why():
    seen(LINE, get("X-Forwarded-For: 8.8.8.8"))
    server.stop()
    before = len(server.log())
    server.start()
    said = server.log()[before:]
    contains(said, f"Only machines of people with a role get tasks, because this server was reached from outside ({LINE}) and trust is not set.")
    contains(said, "`server set DATA trust public`")
    equal(state(), (LINE, 1), "no second event")


def no_request_undoes_it():
    """Not even an admin's: no route writes the state or the setting."""
    seen(HOST, get(host="Host: example.org"))
    admin = server.client("root")
    for path in ("/settings", "/trust", "/health", "/settings/trust", "/admin"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            true(admin.api(method, path, {"trust": "private"}).status in (404, 405), path)
            true(admin.request(method, path, b"trust=private").status in (404, 405), path)
    send(get())
    equal((state(), mode()), ((HOST, 1), "roles"))


def a_database_that_cannot_be_written_answers_503_and_the_next_request_tries_again():
    afresh()
    with contextlib.closing(sqlite3.connect(server.data / "patchmate.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # the server waits for ten seconds and then gives up
        contains(send(get(host="Host: example.org", target="/static/style.css")).split(b"\r\n")[0].decode(), " 503 ")
        other.execute("ROLLBACK")
    equal(state(), (None, 0))
    contains(send(get(host="Host: example.org")).split(b"\r\n")[0].decode(), " 200 ")
    equal(state(), (HOST, 1))


def a_server_may_begin_in_it():
    for options, env, reason in ((("--trusted-proxy", "127.0.0.1"), {}, "started with --trusted-proxy"),
                                 ((), {"PATCHMATE_OUTSIDE": "1"}, "started with PATCHMATE_OUTSIDE")):
        afresh(*options, env=env)
        equal((state(), mode()), ((reason, 1), "roles"))
        server.stop()
        server.run_options, server.env = (), {**os.environ}
        server.start()
        equal((state(), mode()), ((reason, 1), "roles"), "afterwards without it")
    afresh(env={"PATCHMATE_OUTSIDE": ""})
    equal((state(), mode()), ((None, 0), "private"))


# ---- who gets tasks ----------------------------------------------------------------------------------------------------------

def accounts():
    """Workers by name: without an account, with one, and of people with a role."""
    with contextlib.suppress(Exception):
        server.add_user("joe")
        server.add_user("dev", "developer")
        server.add_user("boss", "maintainer")
        server.add_user("chief", "admin")
    made = {None: server.worker(key="nobody" * 6)}
    for name in ("joe", "dev", "boss", "chief"):
        token = server.client(name).api("POST", "/tokens", {"name": "box", "scope": "worker"}).json["token"]
        made[name] = server.worker(key=name * 20, user_token=token)
    return made


def outcomes(workers, answers=None):
    """What a claim of each gets: the code of a refusal, or the status. A task is given back."""
    found = {}
    for name, worker in workers.items():
        reply = claim(worker)
        found[name] = reply.code or reply.status
        if answers is not None:
            answers[name] = reply
        if reply.status == 200:
            equal(worker.api("POST", f"/tasks/{reply.json['id']}/release", {"started_pairs": 0}).status, 200)
            sql(server, "UPDATE workers SET rest_until = 0, fruitless = 0")
    return found


NOT_YET, ALL = "role_required", {None: 200, "joe": 200, "dev": 200, "boss": 200, "chief": 200}
VOUCHED_FIRST = {**ALL, None: 204, "joe": 204}  # unproven owners play a share of what vouched ones have played
KNOWN = {None: NOT_YET, "joe": NOT_YET, "dev": 200, "boss": 200, "chief": 200}


def only_people_with_a_role_get_tasks_while_trust_is_not_set():
    afresh()
    workers, answers = accounts(), {}
    equal(outcomes(workers), ALL, "before")
    send(get(host="Host: example.org"))
    equal(outcomes(workers, answers), KNOWN, "after")
    for name, who in ((None, "this machine has no account (--token-file)"), ("joe", "the account joe of this machine has none")):
        equal(answers[name].status, 403)
        for part in ("only machines of people with a role get tasks here", who, "ask the operator for a role", "`server set DATA trust public`"):
            contains(answers[name].json["error"]["message"], part)
    for trust, wanted in (("public", VOUCHED_FIRST), ("private", ALL), ("unset", KNOWN)):
        server.command("set", server.data, "trust", trust)
        equal(outcomes(workers), wanted, trust)


def a_role_that_is_given_or_taken_counts_at_the_next_claim():
    afresh()
    workers = accounts()
    send(get(host="Host: example.org"))
    server.command("user", "role", server.data, "joe", "anvil", "developer")
    equal(outcomes(workers)["joe"], 200)
    server.command("user", "role", "--", server.data, "joe", "anvil", "-developer")
    equal(outcomes(workers)["joe"], NOT_YET)
    sql(server, "UPDATE users SET state = 'blocked' WHERE name = 'dev'")
    equal(outcomes(workers)["dev"], "blocked")
    equal(sql(server, "SELECT u.name FROM role_holders h JOIN users u ON u.id = h.user_id ORDER BY u.name"), [("boss",), ("chief",), ("root",)])
    sql(server, "UPDATE users SET state = 'active' WHERE name = 'dev'")


def a_test_that_waits_says_why():
    afresh()
    idle = lambda: server.client().api("GET", "/tests/1").json["idle"]
    sql(server, "UPDATE workers SET last_seen = 0")
    equal(idle(), "No machine is online.")
    send(get(host="Host: example.org"))
    equal(idle(), "No machine of a person with a role is online, and others get no tasks (see Health).")
    accounts()
    equal(idle(), "Of the machines online (5), 2 are of no people with a role (see Health), 3 may be about to take it, have just left or are "
                  "short of memory.")
    server.command("set", server.data, "trust", "public")
    contains(idle(), "2 have had their share until vouched owners have played more of the test")
    server.command("set", server.data, "trust", "unset")


def a_claim_that_waits_is_refused_when_the_server_is_reached():
    afresh()
    sql(server, "UPDATE tests SET state = 'paused'")
    workers = accounts()
    with contextlib.ExitStack() as stack:
        waiting = {}
        for name in (None, "dev"):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60 * PATIENCE))
            body = ('{"protocol": 1, "cores": 4, "memory_mib": 100000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 50}').encode()
            sock.sendall(f"POST /api/v1/tasks/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                         f"Authorization: Bearer {workers[name].token}\r\nIdempotency-Key: a-waiting-claim\r\n\r\n".encode() + body)
            waiting[name] = sock
        wait_until(lambda: server.metric("waiting_claims") == 2)
        send(get(host="Host: example.org"))
        contains(waiting[None].recv(65536).decode(), "role_required")
        equal(server.metric("waiting_claims"), 1)
    sql(server, "UPDATE tests SET state = 'active'")


def the_page_says_why_and_what_the_operator_can_do():
    afresh()
    page = server.client().get("/health").words
    contains(page, "Every machine that registers is vouched for, because trust is not set and no request came from outside yet.")
    send(get(host="Host: <b>casino</b>.example"))
    page = server.client().get("/health").words
    for part in ("Only machines of people with a role get tasks", HOST, "Sign-up is open, so an account alone says nothing about its owner",
                 "<code>server user role DATA NAME ENGINE developer</code>", "<code>server set DATA trust public</code>",
                 "<code>server set DATA trust private</code>", "This stays"):
        contains(page, part)
    true("casino" not in page and "casino" not in server.client().api("GET", "/events").text, "words of a stranger stand on no page")
    server.command("set", server.data, "signup", "closed")
    true("Sign-up is open" not in server.client().get("/health").words, "it is not open now")
    server.command("set", server.data, "signup", "open")
    server.command("set", server.data, "trust", "private")
    page = server.client().get("/health").words
    contains(page, "Every machine that registers is vouched for, because the setting trust says so. This server was reached from outside")


def a_real_worker_prints_the_reason_and_starts_when_the_operator_has_chosen():
    afresh()
    send(get(host="Host: example.org"))
    with Worker(server, "--concurrency", "1", env={**os.environ, "PATCHMATE_PACING": "0.01"}) as worker:
        wait_until(lambda: "gives no work: only machines of people with a role get tasks here, and this machine has no account" in worker.log())
        contains(worker.log(), "ask the operator for a role")
        server.command("set", server.data, "trust", "private")
        wait_until(lambda: sql(server, "SELECT count(*) FROM tasks WHERE state = 'open'")[0][0], 90)


def main():
    global server, alone
    alone = own_network(*PUBLIC, *PRIVATE)
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "book.epd"))], start=False, listen="[::]" if alone else "127.0.0.1")
    add_test(server)
    with server:
        server.start()
        run(a_public_address_is_a_way_in if alone else skipped("a public address is a way in", "no network namespace"),
            lines_that_a_proxy_writes_are_ways_in, https_is_a_way_in, a_host_that_is_not_private_is_a_way_in,
            the_second_of_two_hosts_is_a_way_in, a_request_without_a_host_is_a_way_in, a_target_that_names_another_place_is_a_way_in,
            a_request_that_is_refused_is_a_way_in_too, headers_are_enough_and_the_rest_of_the_request_may_never_come,
            what_comes_from_inside_is_no_way_in, the_state_is_on_disk_before_the_reply,
            many_at_once_are_one_event_and_the_first_reason_stays, it_stays_after_a_restart_and_the_start_says_why,
            no_request_undoes_it, a_database_that_cannot_be_written_answers_503_and_the_next_request_tries_again,
            a_server_may_begin_in_it, only_people_with_a_role_get_tasks_while_trust_is_not_set,
            a_role_that_is_given_or_taken_counts_at_the_next_claim, a_test_that_waits_says_why, a_claim_that_waits_is_refused_when_the_server_is_reached,
            the_page_says_why_and_what_the_operator_can_do,
            a_real_worker_prints_the_reason_and_starts_when_the_operator_has_chosen)


if __name__ == "__main__":
    main()
