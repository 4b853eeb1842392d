#!/usr/bin/python3
# test: first, sanitized only
"""The server's core over real sockets: requests and refusals, sessions, turns, waiting, streams, limits, a full disk,
stop and restart, the command line. Worker protocol, patches and pages have tests of their own."""

import concurrent.futures
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import select
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from builds import BUILD  # noqa: E402
from database import write_plain_book  # noqa: E402
from server import ADMIN, PASSWORD, ROOT, Client, Server, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

server = None  # the one that most tests share


def raw(data, port=None):
    """What the server answers to these bytes until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port or server.port), timeout=60 * LOAD_FACTOR) as connection:
        connection.sendall(data)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return answer


def metric(name):
    for line in server.client().get("/metrics").text.splitlines():
        if line.startswith(f"patchmate_{name} "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


# ---- requests and refusals ---------------------------------------------------------------------------


def the_server_names_the_protocols_that_it_supports():
    about = server.client().get("/api/v1/server").json
    equal(about["protocols"], [1])
    equal(about["signup"], "open")
    true(abs(about["time"] - time.time()) < 60, "its clock")
    equal(server.client().get("/api/v1/health").json["ok"], True)


def every_reply_forbids_scripts_from_other_sites():
    for path in ("/api/v1/server", "/api/v1/nothing", "/nothing", "/static/live.js", "/metrics"):
        headers = server.client().get(path).headers
        contains(headers["Content-Security-Policy"], "default-src 'self'")
        contains(headers["Content-Security-Policy"], "frame-ancestors 'none'")
        equal(headers["X-Content-Type-Options"], "nosniff")
        true(headers["Referrer-Policy"], "Referrer-Policy")


def unknown_urls_and_methods_are_told_apart():
    client = server.client()
    reply = client.get("/api/v1/nothing")
    equal((reply.status, reply.code), (404, "not_found"))
    reply = client.api("POST", "/server", {})
    equal((reply.status, reply.code, reply.headers["Allow"]), (405, "method_not_allowed", "GET"))
    reply = client.get("/nothing")
    equal(reply.status, 404)
    true("json" not in reply.headers["Content-Type"], "a page, not JSON")


def head_is_get_without_the_body():
    client = server.client()
    whole, head = client.get("/static/live.js"), client.request("HEAD", "/static/live.js")
    equal((head.status, head.body), (200, b""))
    equal(head.headers["Content-Length"], str(len(whole.body)))


def broken_json_is_refused_with_line_and_column():
    reply = server.client().request("POST", "/api/v1/login", b'{"name": "x",\n "password": }')
    equal((reply.status, reply.code), (400, "bad_json"))
    contains(reply.json["error"]["message"], "line 2, column")
    reply = server.client().request("POST", "/api/v1/login", b'{"name": "\xff"}')
    equal((reply.status, reply.code), (400, "bad_json"))
    reply = server.client().request("POST", "/api/v1/login", b'["name"]')
    equal((reply.status, reply.code), (422, "bad_request"))


def a_member_to_blame_is_named():
    for document, field in (
        ({"name": "a", "password": "b", "colour": "red"}, "colour"),
        ({"name": "a"}, "password"),
        ({"name": 7, "password": "b"}, "name"),
        ({"name": "a", "password": None}, "password"),
    ):
        reply = server.client().api("POST", "/login", document)
        equal((reply.status, reply.json["error"]["field"]), (422, field))
        contains(reply.json["error"]["message"], field)


def a_broken_url_is_refused():
    for target in (b"/api/v1/tokens/%zz/revoke", b"/api/v1/users/%00/role", b"/api/v1/users/%ff/role"):
        true(b" 400 " in raw(b"POST " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), target)
    true(b" 400 " in raw(b"GET /api/v1/server?a=%f HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "the query")


def too_large_a_body_is_refused_by_its_length():
    reply = server.client().request("POST", "/api/v1/login", b"x" * 100_000)
    equal((reply.status, reply.code), (413, "too_large"))
    # A vast one is refused before it is sent.
    answer = raw(b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
    true(b" 413 " in answer, answer[:100])


def too_large_a_body_is_refused_while_it_arrives():
    head = b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    true(b" 413 " in raw(head + chunk * 4 + b"0\r\n\r\n"), "413")


def a_get_takes_no_body():
    equal(server.client().request("GET", "/api/v1/server", b"x" * 10).status, 413)


def compressed_bodies_are_expanded_up_to_the_limit():
    good = gzip.compress(json.dumps({"name": "nobody", "password": "x"}).encode())
    client = server.client()
    reply = client.request("POST", "/api/v1/login", good, {"Content-Encoding": "gzip"})
    equal((reply.status, reply.code), (401, "wrong_password"))
    bomb = gzip.compress(b" " * 1_000_000)
    equal(client.request("POST", "/api/v1/login", bomb, {"Content-Encoding": "gzip"}).status, 413)
    equal(client.request("POST", "/api/v1/login", good[:-9], {"Content-Encoding": "gzip"}).status, 400)
    equal(client.request("POST", "/api/v1/login", b"junk", {"Content-Encoding": "zstd"}).status, 400)
    equal(client.request("POST", "/api/v1/login", good, {"Content-Encoding": "br"}).status, 415)


def headers_have_a_limit():
    try:
        answer = raw(b"GET /api/v1/server HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200_000 + b"\r\n\r\n")
    except ConnectionError:  # closed while the rest was still on its way
        answer = b""
    true(answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:60])
    equal(server.client().get("/api/v1/server").status, 200)


def static_files_are_cached_by_their_content():
    client = server.client()
    first = client.get("/static/live.js")
    equal(first.status, 200)
    equal(client.get("/static/live.js", **{"If-None-Match": first.headers["ETag"]}).status, 304)
    contains(client.get("/static/live.js?v=1").headers["Cache-Control"], "immutable")


def static_files_do_not_lead_out_of_their_folder():
    for path in ("/static/../templates/x", "/static/%2e%2e/%2e%2e/Makefile", "/static//etc/passwd", "/static/%2fetc/passwd"):
        answer = raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        true(b" 404 " in answer, f"{path}: {answer[:100]}")


# ---- accounts ----------------------------------------------------------------------------------------


def a_login_makes_a_session_and_a_logout_ends_it():
    client = server.client()
    reply = client.login()
    equal((reply.status, reply.json["user"]["name"], reply.json["user"]["admin"]), (200, ADMIN, True))
    cookie = reply.headers["Set-Cookie"]
    contains(cookie, "HttpOnly")
    contains(cookie, "SameSite=Lax")
    true("Secure" not in cookie, "no Secure without https")
    kept = dict(client.cookies)
    equal(client.api("GET", "/account").json["user"]["name"], ADMIN)
    equal(client.api("POST", "/logout", {}).status, 200)
    client.cookies = kept
    equal(client.api("GET", "/account").status, 401)


def forms_answer_with_a_redirect_to_the_page_of_the_form():
    for target, where in (("/tests/1", "/tests/1"), ("//evil.example/", "/"), ("https://evil.example", "/"), ("/\\evil", "/")):
        reply = server.client().form("/login", {"name": ADMIN, "password": PASSWORD, "next": target})
        equal((reply.status, reply.headers["Location"]), (303, where))
    equal(server.client().form("/login", {"name": ADMIN, "password": "wrong one"}).status, 401)


def a_write_with_a_cookie_needs_the_sessions_token():
    client = server.client(ADMIN)
    good, client.csrf = client.csrf, None
    document = {"name": "t", "scope": "submit"}
    equal(client.api("POST", "/tokens", document).code, "bad_csrf")
    equal(client.api("POST", "/tokens", document, {"X-CSRF-Token": good[:-1] + "x"}).code, "bad_csrf")
    equal(client.api("POST", "/tokens", document, {"X-CSRF-Token": good}).status, 201)
    equal(client.form("/account/tokens", {**document, "csrf": "no"}).status, 403)
    equal(client.form("/account/tokens", {**document, "csrf": good}).status, 201)


def a_page_of_another_site_can_neither_write_nor_log_in():
    host = {"Host": f"127.0.0.1:{server.port}"}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        reply = server.client().form("/login", {"name": ADMIN, "password": PASSWORD}, {**host, **headers})
        equal(reply.status, 403, headers)
    own = {"Origin": f"http://127.0.0.1:{server.port}", **host}
    equal(server.client().form("/login", {"name": ADMIN, "password": PASSWORD}, own).status, 303)


def ten_wrong_passwords_make_one_wait():
    server.add_user("wendy")
    for _ in range(10):
        equal(server.client().login("wendy", "not this one").status, 401)
    for name in ("wendy", "WENDY"):
        reply = server.client().login(name)  # the right one
        equal((reply.status, reply.code), (429, "too_many_attempts"))
        true(0 < int(reply.headers["Retry-After"]) <= 30, reply.headers["Retry-After"])
    equal(server.client().login().status, 200, "another account")
    # Later it is allowed again, and a right password forgets the wrong ones.
    with database() as db:
        db.execute("UPDATE login_failures SET last = last - 31 WHERE subject LIKE 'user:%'")
    equal(server.client().login("wendy").status, 200)
    equal(server.client().login("wendy", "not this one").status, 401)
    with database() as db:
        db.execute("DELETE FROM login_failures")


def parallel_guesses_do_not_pass_the_limit():
    server.add_user("petra")
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: server.client().login("petra", "not this one").status, range(20)))
    equal(sorted(set(answers)), [401, 429])
    equal(answers.count(401), 10)
    with database() as db:
        db.execute("DELETE FROM login_failures")


def an_unknown_user_and_a_wrong_password_look_the_same():
    first, second = server.client().login(ADMIN, "not this one"), server.client().login("nobody", "not this one")
    equal((first.status, first.body), (second.status, second.body))


def signing_up_obeys_the_operators_policy():
    client = server.client()
    reply = client.api("POST", "/users", {"name": "otto", "password": PASSWORD})
    equal((reply.status, reply.json["state"]), (201, "active"))
    equal(client.api("GET", "/account").json["user"]["name"], "otto")
    for document, code in (
        ({"name": "Otto", "password": PASSWORD}, "name_taken"),
        ({"name": "x", "password": PASSWORD}, "bad_name"),
        ({"name": "a b", "password": PASSWORD}, "bad_name"),
        ({"name": "emil", "password": "short"}, "bad_password"),
    ):
        equal(server.client().api("POST", "/users", document).code, code)
    server.command("set", server.data, "signup", "approved")
    equal(server.client().api("POST", "/users", {"name": "paul", "password": PASSWORD}).json["state"], "pending")
    equal(server.client().login("paul").code, "pending")
    admin = server.client(ADMIN)
    equal(admin.api("POST", "/users/paul/state", {"state": "active"}).status, 200)
    equal(server.client().login("paul").status, 200)
    server.command("set", server.data, "signup", "closed")
    equal(server.client().api("POST", "/users", {"name": "quentin", "password": PASSWORD}).code, "signup_closed")
    server.command("set", server.data, "signup", "open")


def a_new_password_ends_the_other_sessions():
    server.add_user("nina")
    here, elsewhere = server.client("nina"), server.client("nina")
    equal(here.api("POST", "/account/password", {"old": "wrong one", "password": "another horse"}).code, "wrong_password")
    equal(here.api("POST", "/account/password", {"old": PASSWORD, "password": "short"}).code, "bad_password")
    equal(here.api("POST", "/account/password", {"old": PASSWORD, "password": "another horse"}).status, 200)
    equal((here.api("GET", "/account").status, elsewhere.api("GET", "/account").status), (200, 401))
    equal(server.client().login("nina").status, 401)
    equal(server.client().login("nina", "another horse").status, 200)


def the_server_replies_as_the_examples_of_the_api_page_say():
    page = (ROOT / "server" / "API.md").read_text()
    example = {name: json.loads(text) for name, text in re.findall(r"```json (\S+)\n(.*?)```", page, re.S)}

    def speaks(client, name, path, status):
        reply = client.api("POST", path, example[name + ".request"])
        equal(reply.status, status, reply)
        equal(shape(reply.json), shape(example[name + ".reply"]), name)

    client = server.client()
    speaks(client, "users", "/users", 201)
    speaks(client, "login", "/login", 200)
    client.csrf = client.api("GET", "/account").json["csrf"]
    speaks(client, "tokens", "/tokens", 201)
    equal(shape(client.get("/api/v1/server").json), shape(example["server.reply"]))


def shape(value):
    """The document with its values' types in place of the values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__


def tokens_carry_their_scope_and_can_be_revoked():
    server.add_user("tina")
    tina = server.client("tina")
    equal(tina.api("POST", "/tokens", {"name": "x", "scope": "admin"}).status, 403)
    equal(tina.api("POST", "/tokens", {"name": "x", "scope": "all"}).code, "bad_scope")
    made = tina.api("POST", "/tokens", {"name": "script", "scope": "submit"}).json
    script = Client(server, token=made["token"])
    equal(script.api("GET", "/account").json["user"]["name"], "tina")
    equal(script.api("POST", "/tokens", {"name": "y", "scope": "submit"}).status, 403)
    true(made["token"] not in server.client("tina").api("GET", "/account").text, "tokens are shown once")
    equal(tina.api("POST", f"/tokens/{made['id']}/revoke").status, 200)
    reply = script.api("GET", "/account")
    equal((reply.status, reply.code), (401, "bad_token"))
    worker = tina.api("POST", "/tokens", {"name": "box", "scope": "worker"}).json
    equal(Client(server, token=worker["token"]).api("GET", "/account").status, 401)


def an_admin_with_a_token_of_less_scope_is_no_admin():
    admin = server.client(ADMIN)
    for scope, status in (("submit", 403), ("admin", 200)):
        token = admin.api("POST", "/tokens", {"name": scope, "scope": scope}).json["token"]
        equal(Client(server, token=token).api("GET", "/users").status, status)
    equal(server.client().api("GET", "/users").status, 401)


def roles_are_given_and_taken():
    server.command("user", "add", server.data, "rita", "--password-file", server.folder / "password")
    server.command("user", "role", server.data, "rita", "anvil", "developer")
    equal(server.client("rita").api("GET", "/account").json["user"]["roles"], [{"engine": "anvil", "role": "developer"}])
    server.command("user", "role", "--", server.data, "rita", "anvil", "-developer")
    admin = server.client(ADMIN)
    equal(server.client("rita").api("POST", "/users/rita/role", {"role": "admin", "grant": True}).status, 403)
    equal(admin.api("POST", "/users/rita/role", {"role": "maintainer", "grant": True, "engine": "anvil"}).status, 200)
    equal(server.client("rita").api("GET", "/account").json["user"]["roles"], [{"engine": "anvil", "role": "maintainer"}])
    equal(admin.api("POST", "/users/rita/role", {"role": "maintainer", "grant": False, "engine": "anvil"}).status, 200)
    equal(server.client("rita").api("GET", "/account").json["user"]["roles"], [])
    equal(admin.api("POST", "/users/rita/role", {"role": "king", "grant": True}).code, "bad_role")
    equal(admin.api("POST", f"/users/{ADMIN}/role", {"role": "admin", "grant": False}).code, "own_role")
    rita = server.client("rita")
    equal(admin.api("POST", "/users/rita/state", {"state": "blocked"}).status, 200)
    equal(rita.api("GET", "/account").status, 401)


def the_same_idempotency_key_gives_the_same_reply():
    admin, key = server.client(ADMIN), {"Idempotency-Key": "one-and-the-same"}
    first = admin.api("POST", "/tests", {"title": "once", "commit": "main"}, key)
    again = admin.api("POST", "/tests", {"title": "once", "commit": "main"}, key)
    equal((first.status, first.body), (201, again.body))
    equal(admin.api("POST", "/tests", {"title": "other", "commit": "main"}, key).code, "key_reused")
    with database(server) as db:
        equal(db.execute("SELECT count(*) FROM tests").fetchone(), (1,))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def post(_):
            client = Client(server)
            client.cookies, client.csrf = dict(admin.cookies), admin.csrf
            send = lambda: client.api("POST", "/tests", {"title": "storm", "commit": "main"}, {"Idempotency-Key": "storm"})
            # One submission of a user at a time: the others come again, as they are told to.
            return wait_until(lambda: (reply := send()).code != "one_at_a_time" and reply.body)
        equal(len(set(pool.map(post, range(8)))), 1)


def secrets_are_not_kept_for_repeats():
    admin, key = server.client(ADMIN), {"Idempotency-Key": "a-secret"}
    token = admin.api("POST", "/tokens", {"name": "secret", "scope": "submit"}, key).json["token"]
    equal(admin.api("POST", "/account/password", {"old": PASSWORD, "password": PASSWORD}, key).status, 200)
    with database(server) as db:
        equal(db.execute("SELECT body FROM idempotency WHERE key = 'a-secret' OR instr(body, ?)", (token,)).fetchall(), [])


def writes_of_one_address_are_limited():
    with Server("--trusted-proxy", "127.0.0.1") as own:
        own.command("set", own.data, "writes_per_minute", "5")
        client, here, there = own.client(), {"X-Forwarded-For": "192.0.2.7"}, {"X-Forwarded-For": "192.0.2.8"}
        replies = [client.api("POST", "/logout", {}, here) for _ in range(6)]
        equal([reply.status for reply in replies], [200] * 5 + [429])
        equal((replies[5].code, replies[5].headers["Retry-After"]), ("too_many_writes", "12"))
        equal(client.api("GET", "/server", None, here).status, 200, "reading goes on")
        equal(client.api("POST", "/logout", {}, there).status, 200, "others are not concerned")


def an_api_call_without_an_identity_is_refused():
    equal(server.client().api("GET", "/account").code, "unauthorized")
    reply = Client(server, token="nonsense").api("GET", "/account")
    equal((reply.status, reply.code), (401, "bad_token"))


# ---- turns -------------------------------------------------------------------------------------------


class database:
    """The server's own database, opened beside it."""

    def __init__(self, of=None):
        self.db = sqlite3.connect(str((of or server).data / "patchmate.db"), timeout=60 * LOAD_FACTOR, isolation_level=None)

    def __enter__(self):
        return self.db

    def __exit__(self, *_):
        self.db.close()


def in_one_turn(calls):
    """Makes all calls at once while the database is locked, so that one turn takes together those that arrive in time."""
    with database() as db, concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        db.execute("BEGIN IMMEDIATE")
        # The first call enters a turn and waits there for the lock; the others gather behind it.
        futures = [pool.submit(calls[0])]
        time.sleep(0.5)
        futures += [pool.submit(call) for call in calls[1:]]
        time.sleep(1.5)
        db.execute("COMMIT")
        return [future.result() for future in futures]


def a_constraint_error_beside_good_requests_undoes_only_itself():
    admin = server.client(ADMIN)

    def token(name):
        client = Client(server)
        client.cookies, client.csrf = dict(admin.cookies), admin.csrf
        return lambda: client.api("POST", "/tokens", {"name": name, "scope": "submit"}).status

    def shared_a_turn():
        equal(in_one_turn([token("a"), token("b"), token("bad"), token("c"), token("bad"), token("d")]), [201, 201, 409, 201, 409, 201])
        names = [token["name"] for token in admin.api("GET", "/account").json["user"]["tokens"]]
        equal(sorted(name for name in names if name in ("a", "b", "c", "d", "bad")), ["a", "b", "c", "d"])
        with database() as db:
            made = db.execute("DELETE FROM api_tokens WHERE name IN ('a', 'b', 'c', 'd') RETURNING created").fetchall()
        return len(set(made)) < 4

    with database() as db:  # a constraint that one of the requests will meet
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON api_tokens WHEN new.name = 'bad' "
                   "BEGIN SELECT raise(ABORT, 'no such name'); END")
    try:
        true(any(shared_a_turn() for _ in range(10)), "each was made in a turn of its own")
    finally:
        with database() as db:
            db.execute("DROP TRIGGER refuse")


def a_locked_database_answers_503_and_heals():
    with Server() as own:
        client, worker = own.client(ADMIN), own.worker()
        claim = {"protocol": 1, "cores": 2, "memory_mib": 1000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 8}
        with database(own) as db, concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(worker.api, "POST", "/tasks/claim", claim, {"Idempotency-Key": "claim-locked"})
            wait_until(lambda: own.metric("waiting_claims") == 1)
            db.execute("BEGIN IMMEDIATE")
            reply = client.api("POST", "/tokens", {"name": "late", "scope": "submit"})  # 10 s
            equal(waiting.result().status, 503)
            equal((reply.status, reply.code), (503, "unavailable"))
            true(reply.headers["Retry-After"], "Retry-After")
            db.execute("ROLLBACK")
        equal(client.api("POST", "/tokens", {"name": "late", "scope": "submit"}).status, 201)
        equal(len(client.api("GET", "/account").json["user"]["tokens"]), 1)


def a_full_disk_answers_503_loses_nothing_and_heals():
    with Server() as own:
        client = own.client(ADMIN)
        equal(client.api("POST", "/tokens", {"name": "before", "scope": "submit"}).status, 201)
        # No file may grow beyond what the log has now: what the disk says when it is full.
        size = (own.data / "patchmate.db-wal").stat().st_size
        _, hard = resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (size + 5000, hard))

        def post(name):
            other = Client(own)
            other.cookies, other.csrf = dict(client.cookies), client.csrf
            return other.api("POST", "/tokens", {"name": name, "scope": "submit"})

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(post, [f"full{i}" for i in range(40)]))
        true(any(reply.status == 503 for reply in replies), "the disk was full")
        true(all(reply.status in (201, 503) for reply in replies), replies)
        equal(client.get("/api/v1/server").status, 200, "reading goes on")
        resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        equal(post("after").status, 201)
        wanted = {"before", "after"} | {f"full{i}" for i, reply in enumerate(replies) if reply.status == 201}
        got = {token["name"] for token in client.api("GET", "/account").json["user"]["tokens"]}
        equal(got, wanted, "exactly what was acknowledged")
        own.kill()
        contains(own.command("check", own.data), "database: sound")


def acknowledged_writes_survive_kill_9():
    with Server() as own:
        client = own.client(ADMIN)
        kept = []

        def write():
            try:
                while True:
                    reply = client.api("POST", "/tokens", {"name": f"t{len(kept)}", "scope": "submit"})
                    if reply.status == 201:
                        kept.append(reply.json["id"])
            except OSError:
                pass
            except Exception:  # http.client's own errors, when the server is gone
                pass

        thread = threading.Thread(target=write)
        thread.start()
        wait_until(lambda: len(kept) > 50)
        own.kill()
        thread.join()
        own.start()
        stored = {token["id"] for token in own.client(ADMIN).api("GET", "/account").json["user"]["tokens"]}
        equal(set(kept) - stored, set())
        true(len(stored - set(kept)) <= 1, "at most one unanswered")


# ---- waiting and streams -----------------------------------------------------------------------------


def a_claim_waits_and_is_answered_when_its_time_is_over():
    claim = {"protocol": 1, "cores": 2, "memory_mib": 1000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 1}
    worker = server.worker()
    start = time.monotonic()
    reply = worker.api("POST", "/tasks/claim", claim, {"Idempotency-Key": "claim-000001"})
    equal(reply.status, 204, reply)
    true(time.monotonic() - start >= 0.9, "it waited")


def waiting_requests_whose_client_left_are_forgotten():
    claim = json.dumps({"protocol": 1, "cores": 2, "memory_mib": 1000, "speeds": {}, "snapshots": [], "holding": [],
                        "wait_s": 50}).encode()
    worker = server.worker(key="z" * 32)
    head = (f"POST /api/v1/tasks/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {worker.token}\r\n"
            f"Idempotency-Key: claim-000002\r\nContent-Length: {len(claim)}\r\n\r\n").encode()
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(head + claim)
    wait_until(lambda: metric("waiting_claims") == 1)
    connection.close()
    wait_until(lambda: metric("waiting_claims") == 0)


def listen(port, path="/api/v1/stream"):
    connection = socket.create_connection(("127.0.0.1", port), timeout=60 * LOAD_FACTOR)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection


def read_until(connection, part):
    text = b""
    while part not in text:
        chunk = connection.recv(65536)
        true(chunk, f"the stream ended before {part!r}: {text!r}")
        text += chunk
    return text


def events_reach_all_streams_after_their_commit():
    streams = [listen(server.port) for _ in range(5)]
    for stream in streams:
        contains(read_until(stream, b"retry: ").decode(), "text/event-stream")
    equal(server.client().api("POST", "/users", {"name": "stella", "password": PASSWORD}).status, 201)
    for stream in streams:
        contains(read_until(stream, b"stella").decode(), "event: event\n")
        stream.close()


def an_undone_request_changes_and_publishes_nothing():
    admin, stream = server.client(ADMIN), listen(server.port)
    test = admin.api("POST", "/tests", {"title": "undone", "commit": "main"}).json["id"]
    read_until(stream, b"retry: ")
    with database() as db:  # fails after the event was published
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON idempotency BEGIN SELECT raise(ABORT, 'no'); END")
    try:
        reply = admin.api("POST", f"/tests/{test}/stop", {"reason": "wanda"}, {"Idempotency-Key": "undone"})
        equal(reply.status, 409)
    finally:
        with database() as db:
            db.execute("DROP TRIGGER refuse")
    equal(server.client().api("POST", "/users", {"name": "visible", "password": PASSWORD}).status, 201)
    true(b"wanda" not in read_until(stream, b"visible"), "the undone event was sent")
    equal(admin.api("GET", f"/tests/{test}").json["state"], "pending")
    stream.close()


# ---- hostile and slow clients ------------------------------------------------------------------------


def a_client_that_never_finishes_its_request_is_cut_off():
    with Server("--timeout", "2") as own:
        with socket.create_connection(("127.0.0.1", own.port), timeout=60 * LOAD_FACTOR) as connection:
            connection.sendall(b"GET /api/v1/server HTTP/1.1\r\nHost: x\r\n")
            connection.settimeout(0.2)

            def is_gone():  # a drop every 0.2 s keeps an idle timeout from striking
                try:
                    connection.sendall(b"X-A: b\r\n")
                    return connection.recv(100) == b""
                except TimeoutError:
                    return False
                except OSError:
                    return True
            wait_until(is_gone)
        equal(own.client().get("/api/v1/server").status, 200)


def waiting_is_no_idleness():
    claim = {"protocol": 1, "cores": 2, "memory_mib": 1000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 9}
    with Server("--timeout", "3") as own:
        stream = listen(own.port)
        read_until(stream, b"retry: ")
        equal(own.worker().api("POST", "/tasks/claim", claim, {"Idempotency-Key": "claim-000004"}).status, 204)
        equal(own.client().api("POST", "/users", {"name": "late", "password": PASSWORD}).status, 201)
        read_until(stream, b"late made")
        stream.close()


def connections_of_one_address_are_limited():
    with Server("--connections-per-address", "5") as own:
        held = [socket.create_connection(("127.0.0.1", own.port), timeout=60 * LOAD_FACTOR) for _ in range(5)]
        time.sleep(0.2)
        try:
            more = socket.create_connection(("127.0.0.1", own.port), timeout=60 * LOAD_FACTOR)
            more.sendall(b"GET /api/v1/server HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = more.recv(100)
        except OSError:
            answer = b""
        equal(answer, b"")
        for connection in held:
            connection.close()
        wait_until(lambda: answers(own))


def connections_never_take_the_descriptors_that_the_server_itself_needs():
    """With room for 100 open files and 150 connections, one that came early still has git and pages opened for it."""
    with Server(start=False) as own:
        own.start(prefix=("prlimit", "--nofile=100:100"))
        early = own.client()
        equal(early.request("GET", "/").status, 200)
        held = [socket.create_connection(("127.0.0.1", own.port), 10) for _ in range(150)]
        try:
            equal(early.request("GET", "/git/anvil.git/info/refs?service=git-upload-pack").status, 200, "git for one who is in")
            equal(early.request("GET", "/machines").status, 200, "a page for one who is in")
            wait_until(lambda: "raise LimitNOFILE" in own.log())
        finally:
            for connection in held:
                connection.close()


def answers(own):
    try:
        return own.client().get("/api/v1/server").status == 200
    except OSError:
        return False
    except Exception:
        return False


def garbage_is_refused_and_the_server_lives():
    for data in (b"\0" * 1000, b"GET\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60 * LOAD_FACTOR) as connection:
            connection.sendall(data)
    equal(server.client().get("/api/v1/server").status, 200)


def clients_behind_a_trusted_proxy_have_their_own_address():
    with Server("--trusted-proxy", "127.0.0.1") as own:
        def failures():
            with database(own) as db:
                return {row[0] for row in db.execute("SELECT subject FROM login_failures WHERE subject LIKE 'network:%'")}
        client = own.client()
        headers = {"X-Forwarded-For": "6.6.6.6, 192.0.2.7", "X-Forwarded-Proto": "https"}
        client.api("POST", "/login", {"name": "x", "password": "y"}, headers)
        equal(failures(), {"network:192.0.2.7"})
        reply = client.api("POST", "/login", {"name": ADMIN, "password": PASSWORD}, headers)
        contains(reply.headers["Set-Cookie"], "Secure")
    with Server() as own:
        own.client().api("POST", "/login", {"name": "x", "password": "y"}, {"X-Forwarded-For": "192.0.2.7"})
        with database(own) as db:
            equal(db.execute("SELECT subject FROM login_failures WHERE subject LIKE 'network:%'").fetchall(), [("network:127.0.0.1",)])


# ---- start, stop, command line -----------------------------------------------------------------------


def a_second_server_on_the_same_data_is_refused():
    done = server.command("run", server.data, "--listen", "127.0.0.1:0", check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "another server runs")


def a_stop_answers_the_requests_that_wait_and_ends_cleanly():
    with Server() as own:
        worker = own.worker()
        claim = {"protocol": 1, "cores": 2, "memory_mib": 1000, "speeds": {}, "snapshots": [], "holding": [], "wait_s": 50}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(worker.api, "POST", "/tasks/claim", claim, {"Idempotency-Key": "claim-000003"})
            stream = listen(own.port)
            read_until(stream, b"retry: ")
            wait_until(lambda: own.metric("waiting_claims") == 1)
            equal(own.stop(), 0)
            equal(waiting.result().status, 503)
            stream.close()
        own.start()
        equal(own.client(ADMIN).api("GET", "/account").status, 200)


def a_stop_answers_the_requests_that_wait_for_a_reader():
    """Tried again if the reader was done with all of them before the stop came."""
    with Server("--readers", "1", start=False) as own:
        body = json.dumps({"name": "nobody", "password": "wrong horse"})
        guess = ("POST /api/v1/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

        def statuses():
            own.start()
            sockets = [socket.create_connection(("127.0.0.1", own.port), timeout=60 * LOAD_FACTOR) for _ in range(20)]
            for each in sockets:
                each.sendall(guess)
            select.select(sockets, [], [], 60 * LOAD_FACTOR)
            equal(own.stop(), 0)
            found = {int(read_until(each, b"\r\n").split()[1]) for each in sockets}
            for each in sockets:
                each.close()
            with database(own) as db:
                db.execute("DELETE FROM login_failures")
            true(found <= {401, 429, 503}, found)
            return found
        true(any(503 in statuses() for _ in range(20)), "none was answered too late")


def systemd_is_told_when_the_server_is_ready():
    with Server(start=False) as own, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        path = str(own.folder / "notify")
        notify.bind(path)
        notify.settimeout(60 * LOAD_FACTOR)
        own.env["NOTIFY_SOCKET"] = path
        own.start()
        equal(notify.recv(100), b"READY=1")
        own.stop()
        equal(notify.recv(100), b"STOPPING=1")


def init_refuses_a_folder_that_is_there():
    done = server.command("init", server.data, check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "cannot create")
    equal(os.stat(server.data).st_mode & 0o777, 0o700)


def init_makes_the_default_book_without_a_search():
    line = (ROOT / "server/books/anvil.walks").read_bytes().split(b"\n", 1)[0].decode()
    count = re.search(r"count=(\d+)", line)[1]
    with Server(start=False, own_books=True) as own:
        contains(own.command("book", "list", own.data), f"anvil anvil: {count} openings")
        lines = "".join(f"{epd} 0 1\t\n" for epd in subprocess.run([BUILD / "engine", "walks", "print", ROOT / "server/books/anvil.walks"],
                                                                 capture_output=True, text=True, check=True).stdout.splitlines())
        blob = hashlib.sha256(lines.encode()).hexdigest()
        equal((own.data / "blobs" / blob[:2] / blob).read_bytes(), lines.encode())
        equal(own.command("book", "make", own.data), "anvil has this book already: anvil\n")
    # An installation that was made with books of its own gets it by `book make`; a damaged file is refused, and nothing of it stays.
    with tempfile.TemporaryDirectory() as folder:
        own = Server(start=False, init_options=["--book", str(write_plain_book(pathlib.Path(folder) / "plain.epd"))])
    with own:
        bad = own.folder / "bad.walks"
        whole = (ROOT / "server/books/anvil.walks").read_bytes()
        bad.write_bytes(whole[:-1000] + bytes([whole[-1000] ^ 1]) + whole[-999:])
        done = own.command("book", "add", own.data, "anvil", "bad", bad, check=False)
        equal(done.returncode, 1)
        contains(done.stderr, "bad.walks")
        own.command("book", "make", own.data, "anvil")
        listed = own.command("book", "list", own.data)
        contains(listed, f"anvil anvil: {count} openings")
        true("bad" not in listed, "nothing of a damaged file stays")


def a_wrong_command_line_gets_the_usage():
    for words in ((), ("fly",), ("run",), ("user", "add"), ("book",), ("book", "add", "x", "anvil"), ("book", "bake", "x"), ("backup", "x"), ("set", "x", "y")):
        done = server.command(*words, check=False)
        equal(done.returncode, 2, words)
        contains(done.stderr, "server ")
    done = server.command("set", server.data, "signup", "sometimes", check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "open|approved|closed")


def a_backup_of_a_running_server_can_be_restored():
    archive = server.folder / "backup.tar"
    text = server.command("backup", server.data, archive)
    contains(text, "To restore")
    restored = server.folder / "restored"
    restored.mkdir(mode=0o700)
    with tarfile.open(archive) as tar:
        tar.extractall(restored)
    contains(server.command("check", restored), "database: sound")
    true((restored / "git" / "anvil.git" / "HEAD").exists(), "the repository is in it")
    equal(server.command("user", "list", restored), server.command("user", "list", server.data))
    equal(server.command("backup", server.data, archive, check=False).returncode, 1)


def streams_whose_clients_left_are_forgotten():
    """At the next sign of life sent there, so not at once; the tests in between have other things to do meanwhile."""
    wait_until(lambda: metric("streams") == 0, seconds=40)


# With servers of their own, and full of waiting.
BESIDE = (a_locked_database_answers_503_and_heals, a_full_disk_answers_503_loses_nothing_and_heals, acknowledged_writes_survive_kill_9,
          a_client_that_never_finishes_its_request_is_cut_off, waiting_is_no_idleness, connections_of_one_address_are_limited,
          connections_never_take_the_descriptors_that_the_server_itself_needs,
          writes_of_one_address_are_limited)


def main():
    global server
    with Server() as server:
        run(*(test for name, test in globals().items()
              if callable(test) and getattr(test, "__module__", "") == "__main__" and not isinstance(test, type)
              and test.__code__.co_argcount == 0 and name != "main" and test not in BESIDE), beside=BESIDE)


if __name__ == "__main__":
    main()
