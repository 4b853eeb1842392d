#!/usr/bin/python3
# test: sanitized only
"""The server survives any sender: rights are those of the moment of the deed, and no sender takes what others need."""

import collections
import concurrent.futures
import gzip
import json
import pathlib
import select
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import protocol  # noqa: E402
import routes  # noqa: E402
from builds import BUILD  # noqa: E402
from server import ADMIN, Client, Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

server = None  # the one that most tests share


class Slow:
    """A request whose head and first bytes are sent now, and the rest when `end` is called."""

    def __init__(self, client, method, path, document, first=1, headers=None):
        self.body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.first = first
        head = {"Host": "x", "Content-Length": len(self.body), "Content-Type": "application/json", "Connection": "close",
                **client._identity(), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        self.socket = socket.create_connection(("127.0.0.1", client.server.port), timeout=60 * LOAD_FACTOR)
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body[:first])

    def send_rest(self):
        self.socket.sendall(self.body[self.first:])

    def end(self):
        """The reply's status and text."""
        with self.socket:
            self.send_rest()
            answer = b""
            while chunk := self.socket.recv(65536):
                answer += chunk
        head, _, text = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), text.decode()


def settled(client):
    """What was sent before on other connections has reached the server when this is answered."""
    equal(client.api("GET", "/health").status, 200)


def a_proxy_that_is_not_declared_is_warned_of_once():
    with Server() as own:
        client = own.client()
        equal(client.api("GET", "/health").json.get("undeclared_proxy"), False)
        for _ in range(3):
            client.get("/", **{"X-Forwarded-For": "192.0.2.7"})
        equal(own.log().count("127.0.0.1 sends X-Forwarded-For"), 1)
        contains(own.log(), "--trusted-proxy 127.0.0.1")
        equal(client.api("GET", "/health").json["undeclared_proxy"], True)
        contains(client.get("/health").text, "A proxy that is not declared")
    visits(3)
    true("sends X-Forwarded-For" not in server.log(), "a declared proxy is not warned of")
    true("A proxy that is not declared" not in server.client().get("/health").text, "nor shown")


def streams(count, address):
    """So many streams, opened a few at a time; and the statuses."""
    opened, statuses = [], []
    for at in range(0, count, 50):
        some = flood("GET /api/v1/stream", min(50, count - at), address)
        statuses += [int(each.recv(4096).split()[1]) for each in some]
        opened += some
    return opened, collections.Counter(statuses)


def streams_of_an_address_are_counted_and_others_still_get_one():
    mine, statuses = streams(220, "192.0.2.1")
    equal(statuses, {200: 200, 429: 20})
    other, statuses = streams(1, "198.51.100.7")
    equal(statuses, {200: 1})
    for each in mine + other:
        each.close()


def when_all_streams_are_taken_the_greediest_address_gives_one_up():
    wait_until(lambda: metric("streams") == 0)
    held = []
    for i, count in enumerate([198] * 3 + [200] + [198] * 6 + [18]):
        opened, statuses = streams(count, f"192.0.2.{i + 1}")
        equal(statuses, {200: count})
        held += opened
    other, statuses = streams(1, "198.51.100.7")
    equal(statuses, {200: 1})
    (ended,) = wait_until(lambda: ended_of(held))
    true(3 * 198 <= ended < 3 * 198 + 200, f"stream {ended} ended, which is not of the address that has most")
    for each in held + other:
        each.close()


def ended_of(sockets):
    """Which connections the server has ended."""
    poll = select.poll()
    for each in sockets:
        poll.register(each, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(0)}
    return [number for number, each in enumerate(sockets) if each.fileno() in ready and is_at_end(each)]


def is_at_end(connection):
    """Comments of streams that live are taken on the way."""
    return connection.recv(4096)[-5:] in (b"", b"0\r\n\r\n")


# ---- rights ------------------------------------------------------------------------------------------


def is_admin(name):
    users = server.client(ADMIN).api("GET", "/users").json["items"]
    return next(bool(user["admin"]) for user in users if user["name"] == name)


def grant(name, value):
    return server.client(ADMIN).api("POST", f"/users/{name}/role", {"role": "admin", "grant": value})


def state(name, value):
    return server.client(ADMIN).api("POST", f"/users/{name}/state", {"state": value})


def attempt(name, client, between):
    """The deed of an admin whose body ends after `between` was done to the admin."""
    server.add_user("puppet-" + name)
    slow = Slow(client, "POST", f"/api/v1/users/puppet-{name}/role", {"role": "admin", "grant": True})
    settled(server.client())
    between()
    status, text = slow.end()
    equal((is_admin("puppet-" + name), status), (False, status), text)
    return status, json.loads(text)["error"]["code"]


def admin_client(name, token=None):
    server.add_user(name, "admin")
    client = server.client(name)
    if not token:
        return client
    reply = client.api("POST", "/tokens", {"name": "t", "scope": token})
    return Client(server, token=reply.json["token"])


def an_admin_who_is_demoted_while_the_body_arrives_is_refused():
    equal(attempt("a", admin_client("mallory"), lambda: grant("mallory", False)), (403, "forbidden"))


def an_admin_who_is_blocked_while_the_body_arrives_is_refused():
    equal(attempt("b", admin_client("trent"), lambda: state("trent", "blocked")), (401, "unauthorized"))


def a_session_that_ends_while_the_body_arrives_is_refused():
    client = admin_client("oscar")
    other = Client(server)
    other.cookies, other.csrf = dict(client.cookies), client.csrf
    equal(attempt("c", client, lambda: other.api("POST", "/logout", {})), (401, "unauthorized"))


def a_token_that_is_revoked_while_the_body_arrives_is_refused():
    client = admin_client("wendy", "admin")
    token = server.client("wendy").api("GET", "/account").json["user"]["tokens"][0]["id"]
    equal(attempt("d", client, lambda: server.client("wendy").api("POST", f"/tokens/{token}/revoke", {})), (401, "bad_token"))


def an_admin_who_stays_one_succeeds_even_if_the_body_is_slow():
    server.add_user("puppet-e")
    slow = Slow(admin_client("peggy"), "POST", "/api/v1/users/puppet-e/role", {"role": "admin", "grant": True})
    settled(server.client())
    equal((slow.end()[0], is_admin("puppet-e")), (200, True))


# ---- shares ------------------------------------------------------------------------------------------


def flood(head, count, address="192.0.2.1", body=b"", length=None):
    """So many connections of one address, each of which has sent this."""
    lines = f"{head} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: {address}\r\n"
    if body or length:
        lines += f"Content-Length: {length or len(body)}\r\n"
    return send_all(lines.encode() + b"\r\n" + body, count)


def send_all(request, count):
    sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=60 * LOAD_FACTOR) for _ in range(count)]
    for each in sockets:
        try:
            each.sendall(request)
        except OSError:
            pass  # refused already
    return sockets


def replies(sockets):
    """How many of each status, and the text of a 429; closes the connections."""
    counts, refusal = collections.Counter(), ""
    for each in sockets:
        with each:
            answer = b""
            try:
                while chunk := each.recv(65536):
                    answer += chunk
            except OSError:
                pass
        status = int(answer.split()[1]) if answer else 0
        refusal = answer.decode(errors="replace") if status == 429 else refusal
        counts[status] += 1
    return counts, refusal


def visits(count=20, address="198.51.100.7"):
    """What a visitor of another address gets for the home page."""
    client = server.client(timeout=60 * LOAD_FACTOR)
    return collections.Counter(client.get("/", **{"X-Forwarded-For": address}).status for _ in range(count))


def a_flood_of_one_address_leaves_another_visitor_served():
    sockets = flood("GET /git/anvil.git/info/refs?service=git-upload-pack", 600)
    equal(visits(), {200: 20})
    counts, refusal = replies(sockets)
    equal(sorted(counts), [200, 429], counts)
    contains(refusal, "Retry-After: 1")
    contains(refusal, "64 requests of this address are being answered")


def twenty_tabs_of_a_visitor_are_all_served():
    counts, _ = replies(flood("GET /", 20) + flood("GET /static/style.css", 20) + flood("GET /api/v1/tests", 20))
    equal(counts, {200: 60})


def fifty_machines_behind_one_address_are_all_served():
    server.command("set", server.data, "registrations_per_hour", "1000", check=False)
    machines = [server.worker(key=f"{i:032}") for i in range(50)]
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        equal(collections.Counter(pool.map(lambda machine: protocol.claim(machine).status, machines)), {204: 50})


def a_machine_has_eight_requests_at_a_time_and_its_network_is_served_beside():
    machine = server.worker(key="e" * 32)
    request = (f"GET /git/anvil.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
               f"Authorization: Bearer {machine.token}\r\n\r\n").encode()
    equal(replies(send_all(request, 8))[0], {200: 8})
    sockets = send_all(request, 100)
    equal(visits(3, "127.0.0.1"), {200: 3})  # the network that the machine without account belongs to
    counts, refusal = replies(sockets)
    true(set(counts) == {200, 429} and counts[200] >= 8, counts)
    contains(refusal, "8 requests of this machine are being answered")


def a_machine_has_one_waiting_claim_and_the_newer_replaces_the_older():
    machine = server.worker(key="w" * 32)
    other = Client(server, token=machine.token)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(protocol.claim, machine, wait_s=50)
        wait_until(lambda: waiting_claims() == 1)
        slow = Slow(other, "POST", "/api/v1/tasks/claim", {"protocol": 1, "cores": 4, "memory_mib": 100000, "speeds": {},
                    "snapshots": [], "holding": [], "wait_s": 50}, headers={"Idempotency-Key": "the-newer-claim"})
        slow.send_rest()
        equal(first.result().status, 204)
        equal(waiting_claims(), 1)
    slow.socket.close()


def waiting_claims():
    for line in server.client().get("/metrics").text.splitlines():
        if line.startswith("patchmate_waiting"):
            return int(float(line.split()[1]))
    raise AssertionError("no metric of waiting claims")


def bodies_that_never_end_are_bounded_by_sender_and_in_all():
    size, held, before = 250 << 10, [], memory_mib()
    for i in range(20):
        held += flood("POST /git/anvil.git/git-upload-pack", 40, f"192.0.2.{100 + i}", b"0" * (size - 1), size)
    login = {"name": "nobody", "password": "wrong one"}
    equal(server.client().api("POST", "/login", login, {"X-Forwarded-For": "198.51.100.7"}).code, "wrong_password")
    if "sanitize" not in str(BUILD):  # which keeps what is freed
        true(memory_mib() < before + 190, f"{memory_mib() - before} MiB more than before")
    arriving = metric("body_bytes")
    true(arriving <= 128 << 20, f"{arriving} bytes of bodies are held")
    true(arriving >= 64 << 20, f"only {arriving} bytes of bodies are held")
    for each in held:
        each.close()
    wait_until(lambda: metric("body_bytes") == 0)


def memory_mib():
    lines = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) >> 10


def a_small_body_that_expands_without_end_is_refused():
    server.add_user("gina", "developer")
    gina, kind = server.client("gina"), {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    body = b'{"title": [' + b"{}," * 1000000 + b"{}]}"
    reply = gina.request("POST", "/api/v1/tests", gzip.compress(body, 1), kind)
    equal((reply.status, reply.code), (400, "bad_json"), reply)
    contains(reply.text, "over 10000 values")
    reply = gina.request("POST", "/api/v1/nets", gzip.compress(b"0" * (60 << 20), 1), {**kind, "Content-Type": "application/octet-stream"})
    equal((reply.status, reply.code), (413, "too_large"), reply)


def every_route_at_its_worst_leaves_another_visitor_served():
    attacked = routes.Attacked()
    try:
        visitor, unserved, table = attacked.server.client(timeout=60 * LOAD_FACTOR), [], routes.table(attacked.server)
        true(len(table) > 80, f"only {len(table)} routes")
        for route in table:
            flood = routes.Flood(attacked, route, 40)
            try:
                for _ in range(2):
                    attacked.visit(visitor)
                    flood.repeat()
            except (AssertionError, OSError) as why:
                unserved.append(f"{route.method} {route.pattern}: {why}")
            broken = {status for status in flood.end() if status == 500}
            unserved += [f"{route.method} {route.pattern}: {status}" for status in broken]
        equal(unserved, [])
    finally:
        attacked.close()


def metric(name):
    for line in server.client().get("/metrics").text.splitlines():
        if line.startswith(f"patchmate_{name} "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


def a_large_body_for_git_is_refused():
    reply = server.client().request("POST", "/git/anvil.git/git-upload-pack", b"0" * (300 << 10))
    equal(reply.status, 413)


if __name__ == "__main__":
    with Server("--trusted-proxy", "127.0.0.1") as server:
        run(a_flood_of_one_address_leaves_another_visitor_served,
            twenty_tabs_of_a_visitor_are_all_served,
            fifty_machines_behind_one_address_are_all_served,
            a_machine_has_eight_requests_at_a_time_and_its_network_is_served_beside,
            a_machine_has_one_waiting_claim_and_the_newer_replaces_the_older,
            bodies_that_never_end_are_bounded_by_sender_and_in_all,
            a_large_body_for_git_is_refused,
            streams_of_an_address_are_counted_and_others_still_get_one,
            when_all_streams_are_taken_the_greediest_address_gives_one_up,
            a_proxy_that_is_not_declared_is_warned_of_once,
            a_small_body_that_expands_without_end_is_refused,
            every_route_at_its_worst_leaves_another_visitor_served,
            an_admin_who_is_demoted_while_the_body_arrives_is_refused,
            an_admin_who_is_blocked_while_the_body_arrives_is_refused,
            a_session_that_ends_while_the_body_arrives_is_refused,
            a_token_that_is_revoked_while_the_body_arrives_is_refused,
            an_admin_who_stays_one_succeeds_even_if_the_body_is_slow)
