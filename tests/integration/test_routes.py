#!/usr/bin/python3
"""The server survives any sender: rights are those of the moment of the deed, and no sender takes what others need."""

import pathlib
import json
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from server import ADMIN, Client, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = None  # the one that most tests share


class Slow:
    """A request whose head and first bytes are sent now, and the rest when `end` is called."""

    def __init__(self, client, method, path, document, first=1, address=None):
        self.body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.first = first
        head = {"Host": "x", "Content-Length": len(self.body), "Content-Type": "application/json", "Connection": "close",
                **client._identity(), **({"X-Forwarded-For": address} if address else {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        self.socket = socket.create_connection(("127.0.0.1", client.server.port), timeout=60)
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body[:first])

    def end(self):
        """The reply's status and text."""
        with self.socket:
            self.socket.sendall(self.body[self.first:])
            answer = b""
            while chunk := self.socket.recv(65536):
                answer += chunk
        head, _, text = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), text.decode()


def settled(client):
    """What was sent before on other connections has reached the server when this is answered."""
    equal(client.api("GET", "/health").status, 200)


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


def an_admin_who_stays_one_does_the_deed_however_slowly():
    server.add_user("puppet-e")
    slow = Slow(admin_client("peggy"), "POST", "/api/v1/users/puppet-e/role", {"role": "admin", "grant": True})
    settled(server.client())
    equal((slow.end()[0], is_admin("puppet-e")), (200, True))


if __name__ == "__main__":
    with Server() as server:
        run(an_admin_who_is_demoted_while_the_body_arrives_is_refused,
            an_admin_who_is_blocked_while_the_body_arrives_is_refused,
            a_session_that_ends_while_the_body_arrives_is_refused,
            a_token_that_is_revoked_while_the_body_arrives_is_refused,
            an_admin_who_stays_one_does_the_deed_however_slowly)
