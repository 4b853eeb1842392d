#!/usr/bin/python3
# test: sanitized only
"""Nets over real HTTP: a patch of one line names one, the file is uploaded before or after it, a real worker lays it down
before the build, and a merge puts it into the tree; and everything that is refused on the way.

The engine is the toy engine; its bench depends on the bytes of the net that it was built with."""

import contextlib
import hashlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from database import sql, write_plain_book  # noqa: E402
from protocol import claim, side_of  # noqa: E402
from server import ROOT, Client, Server, wait_until  # noqa: E402
from submission import accept, bare, git  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402
from toy_engine import MAIN, MAKEFILE, write_toy_source  # noqa: E402
from worker import Worker  # noqa: E402

EXAMPLES = {name: json.loads(text) for name, text in
            re.findall(r"```json (\S+)\n(.*?)```", (ROOT / "server" / "API.md").read_text(), re.S)}
NET_MAIN = MAIN.replace("BENCH = 4711", "BENCH = 4711 + NET % 10000")
NET_MAKEFILE = """NET := $(filter-out none,$(shell cat net))
SUM := $(if $(NET),$(firstword $(shell cksum <nets/$(NET))),0)
""" + MAKEFILE.replace("-D_GNU_SOURCE", "-D_GNU_SOURCE -DNET=$(SUM)u")
FIRST, SECOND, THIRD = b"the first net\n" * 300, b"the second net\n" * 300, b"a third\n" * 40
LARGE = bytes(range(256)) * 12 * 1024  # 3 MiB
PLAY = {"workload": "fixed", "games": 4, "tc": "5+0.05", "batch_pairs": 1, "new_options": "Hash=16", "base_options": "Hash=16",
        "draw": "off", "resign": "off", "max_moves": 10}
server = dev = boss = joe = None
merged = 0  # the test that brought FIRST


def sha(net):
    return hashlib.sha256(net).hexdigest()


def bench(net):
    crc = int(subprocess.run(["cksum"], input=net, capture_output=True, check=True).stdout.split()[0]) if net else 0
    return 4711 + crc % 10000


def naming(new, old=None):
    """The patch of one line."""
    line = lambda net: net if isinstance(net, str) else sha(net) if net else "none"
    return f"--- a/net\n+++ b/net\n@@ -1 +1 @@\n-{line(old)}\n+{line(new)}\n"


def submit(patch, status=201, **fields):
    reply = dev.api("POST", "/tests", {"title": "A net", "patch": patch, **PLAY, **fields})
    equal(reply.status, status, reply)
    return reply.json


def upload(net, query="", client=None, **headers):
    return (client or dev).request("POST", "/api/v1/nets" + query, net, {"Content-Type": "application/octet-stream", **headers})


def multipart(fields, files):
    """Bytes of a form and its headers; files are {field: (name, bytes)}."""
    mark, parts = "PatchmateBoundary", []
    for name, value in fields.items():
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, (filename, data) in files.items():
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
                     f"Content-Type: application/octet-stream\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{mark}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={mark}"}


def document(test, client=None):
    return (client or dev).api("GET", f"/tests/{test}").json


def approve(test, status=200):
    reply = boss.api("POST", f"/tests/{test}/approve")
    equal(reply.status, status, reply)
    return reply


def stop(test):
    equal(boss.api("POST", f"/tests/{test}/stop").status, 200)


def finished(test, worker):
    def look():
        state, result, reason = sql(server, "SELECT state, result, reason FROM tests WHERE id = ?", test)[0]
        return (result, reason) if state == "finished" else None
    try:
        return wait_until(look, 90, 0.1)
    except AssertionError:
        raise AssertionError(f"test {test} does not end; the worker says: {worker.log()[-3000:]}") from None


def play(test):
    """Approves it and lets a new worker play it: its result, and {side: bench} as they stand afterwards."""
    approve(test)
    with Worker(server, "--concurrency", "1", "--verbose") as worker:
        result, reason = finished(test, worker)
    true(result == "completed", f"{result}: {reason}")
    return result, {side: document(test)[side]["bench"] for side in ("new", "base")}


def merge(test):
    """As if it had been accepted."""
    accept(server, test)
    return boss.api("POST", f"/tests/{test}/merge")


def tree():
    """{path: bytes} of what a clone shows of nets."""
    with tempfile.TemporaryDirectory() as folder:
        git("clone", "-q", f"{server.url}/git/anvil.git", folder)
        top = pathlib.Path(folder)
        return {str(path.relative_to(top)): path.read_bytes() for path in [top / "net", *sorted(top.glob("nets/*"))]}


def same_members(got, wanted):
    equal(sorted(got), sorted(wanted), got)


# ---- a net's way


def a_test_of_a_net_that_is_not_here_waits_for_it():
    global merged
    reply = submit(naming(FIRST), bench=bench(FIRST))
    merged = reply["id"]
    equal(reply["missing_nets"], [{"sha256": sha(FIRST)}])
    test = document(merged)
    equal(test["missing_nets"], [{"sha256": sha(FIRST)}])
    equal((test["new"]["net"], test["base"]["net"]), (sha(FIRST), None))
    equal((test["new"]["net_missing"], test["base"]["net_missing"]), (True, False))
    equal(test["new"]["files"], [{"blob": sha(FIRST), "path": "nets/" + sha(FIRST)}])
    page = dev.get(f"/tests/{merged}").text
    contains(page, "A net is missing")
    contains(page, sha(FIRST))
    true(f"/api/v1/blobs/{sha(FIRST)}" not in page, "a link to what is not there")
    equal(approve(merged, 409).code, "net_missing")
    equal(document(merged, boss)["actions"]["approve"], {"ok": False, "why": f"its net {sha(FIRST)[:12]} has not been uploaded yet"})


def its_page_has_a_field_for_the_file_for_those_who_may_bring_it():
    equal(document(merged)["actions"]["upload_net"], {"ok": True})
    contains(dev.get(f"/tests/{merged}").text, 'name="net"')
    for client, word in ((joe, "needs the role developer of anvil"), (Client(server), "Sign in")):
        text = client.get(f"/tests/{merged}").text
        contains(text.split("A net is missing")[1].split("</div>")[0], word)
        true('name="net"' not in text, "a form that would be refused")


def another_file_is_not_taken_for_it():
    reply = upload(SECOND, f"?sha256={sha(FIRST)}")
    equal((reply.status, reply.code, reply.json["error"]["field"]), (422, "wrong_net", "net"), reply)
    contains(reply.json["error"]["message"], sha(SECOND))
    body, kind = multipart({"csrf": dev.csrf, "test": merged, "sha256": sha(FIRST)}, {"net": ("x.net", SECOND)})
    reply = dev.request("POST", "/nets", body, kind)
    equal(reply.status, 422, reply)
    contains(reply.text, "it is another file")
    reply = form(("x", b"x"), patch="--- a/main.c\n+++ b/main.c\n@@ -1 +1,2 @@\n+// x\n #include <stdio.h>\n")
    equal(reply.status, 422, reply)
    contains(reply.text, "the change names no net")
    equal(sql(server, "SELECT count(*) FROM nets"), [(0,)])
    equal(approve(merged, 409).code, "net_missing")


def uploaded_later_it_lets_the_test_be_approved_and_is_laid_down_before_the_build():
    body, kind = multipart({"csrf": dev.csrf, "test": merged, "sha256": sha(FIRST)}, {"net": ("gen/first.net", FIRST)})
    reply = dev.request("POST", "/nets", body, kind)
    equal((reply.status, reply.headers["Location"]), (303, f"/tests/{merged}"), reply)
    shown = document(merged)
    equal((shown["missing_nets"], "upload_net" in shown["actions"]), ([], False))
    true("A net is missing" not in dev.get(f"/tests/{merged}").text, "the page asks no more")
    equal(play(merged), ("completed", {"new": bench(FIRST), "base": bench(None)}))
    equal(sql(server, "SELECT message FROM events WHERE type = 'net'"), [(f"anvil: net {sha(FIRST)[:12]} (first.net), {len(FIRST)} bytes",)])


def a_merge_puts_the_net_into_the_tree_on_top_of_the_tested_commit():
    tested = document(merged)["new"]["commit"]
    reply = merge(merged)
    equal(reply.status, 200, reply)
    tip = reply.json["merged"]
    equal(git("rev-parse", f"{tip}^", "main", cwd=bare(server)).split(), [tested, tip])
    equal(tree(), {"net": (sha(FIRST) + "\n").encode(), "nets/" + sha(FIRST): FIRST})
    equal(git("log", "-1", "--format=%cn|%s", tip, cwd=bare(server)).strip(), f"boss|Add net {sha(FIRST)[:12]}")
    equal(sql(server, "SELECT net, files, bench FROM known_commits WHERE sha = ?", tip), [(sha(FIRST), "[]", bench(FIRST))])


def a_net_in_the_tree_is_part_of_the_snapshot_and_only_the_other_is_placed():
    equal(upload(SECOND, "?name=second").status, 201)
    test = submit(naming(SECOND, FIRST), bench=bench(SECOND))
    equal(test["missing_nets"], [])
    shown = document(test["id"])
    equal((shown["base"]["net"], shown["base"]["files"]), (sha(FIRST), []))
    equal(play(test["id"]), ("completed", {"new": bench(SECOND), "base": bench(FIRST)}))
    equal(merge(test["id"]).status, 200)
    equal(tree(), {"net": (sha(SECOND) + "\n").encode(), "nets/" + sha(SECOND): SECOND})


def both_sides_may_need_a_net_of_their_own():
    equal(upload(FIRST).status, 200)  # it is known
    first = submit(naming(FIRST, SECOND))["id"]
    equal(upload(THIRD).status, 201)
    approve(first)
    equal(boss.api("POST", f"/tests/{first}/pause").status, 200)
    second = submit(naming(THIRD, FIRST), base=f"test:{first}")["id"]
    approve(second)
    task = claim(server.worker()).json
    for side, net in (("new", THIRD), ("base", FIRST)):
        equal(side_of(task, side)["files"], [{"blob": sha(net), "path": "nets/" + sha(net)}], side)
        equal(side_of(task, side)["build"]["files"], [], side)
        same_members(side_of(task, side), side_of(EXAMPLES["claim.reply"], side))
    equal((task["scale"]["build"]["files"], task["scale"]["reference_files"]), ([], []))
    same_members(task["scale"], EXAMPLES["claim.reply"]["scale"])
    for test in (first, second):
        stop(test)


def a_patch_that_leaves_the_net_alone_merges_as_before():
    test = submit("--- a/main.c\n+++ b/main.c\n@@ -1 +1,2 @@\n+// a remark\n #include <stdio.h>\n")["id"]
    equal(document(test)["new"]["net"], sha(SECOND))
    equal(document(test)["new"]["files"], [])
    reply = merge(test)
    equal((reply.status, reply.json["merged"]), (200, document(test)["new"]["commit"]), reply)


def a_test_on_an_older_baseline_keeps_its_net_when_it_is_offered_again():
    first = submit(naming(THIRD, SECOND))["id"]
    other = submit("--- a/main.c\n+++ b/main.c\n@@ -1 +1,2 @@\n+// another remark\n // a remark\n")["id"]
    equal(merge(other).status, 200)
    reply = merge(first)
    equal(reply.status, 201, reply)
    again = document(reply.json["id"])
    equal((again["new"]["net"], again["base"]["net"], again["missing_nets"]), (sha(THIRD), sha(SECOND), []))
    stop(again["id"])


def a_net_too_large_for_the_repository_is_tested_and_not_merged():
    equal(upload(LARGE).status, 201)
    test = submit(naming(LARGE, SECOND))["id"]
    reply = merge(test)
    equal((reply.status, reply.code), (409, "net_too_large"), reply)
    contains(reply.json["error"]["message"], "3.0 MiB")
    shown = document(test, boss)["actions"]["merge"]
    true(not shown["ok"] and "larger than what the repository takes" in shown["why"], shown)


def the_approval_covers_the_place_of_a_net():
    test = submit(naming(THIRD, SECOND))["id"]
    seen = document(test)["approval_hash"]
    sql(server, "UPDATE commits SET files = replace(files, 'nets/', 'other/') WHERE sha = ?", document(test)["new"]["commit"])
    equal(boss.api("POST", f"/tests/{test}/approve", {"hash": seen}).code, "changed")
    stop(test)


# ---- with the form of a test


def form(net=None, **fields):
    values = {"csrf": dev.csrf, "title": "By form", "tc": "10+0.1", "patch": naming(THIRD, SECOND), **fields}
    files = {"net": net} if net else {}
    body, kind = multipart(values, {"patch_file": ("", b""), **files})
    return dev.request("POST", "/tests/new", body, kind)


def a_form_brings_patch_and_net_together():
    fresh = b"only by form\n"
    reply = form(("new.net", fresh), patch=naming(fresh, SECOND))
    equal(reply.status, 303, reply)
    test = int(reply.headers["Location"].rsplit("/", 1)[1])
    equal(document(test)["missing_nets"], [])
    stored = [net for net in dev.api("GET", "/nets").json["items"] if net["sha256"] == sha(fresh)]
    equal([(net["name"], net["user"], net["size"]) for net in stored], [("new.net", "dev", len(fresh))])
    equal(form(("", b"")).status, 303, "no file was chosen")


def a_form_with_another_file_or_without_a_line_comes_back_and_says_so():
    count = sql(server, "SELECT count(*) FROM tests")
    reply = form(("x", b"something else"), title="Kept & shown")
    equal(reply.status, 422, reply)
    contains(reply.text, "it is another file")
    contains(reply.text, 'value="Kept &amp; shown"')
    reply = form(("x", b"something else"), patch="--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@\n-// another remark\n+// a word\n")
    equal(reply.status, 422, reply)
    contains(reply.text, "it is another file")
    equal(sql(server, "SELECT count(*) FROM tests"), count)


def a_line_that_is_not_the_name_of_a_net_is_refused_with_the_form_that_it_must_have():
    reply = submit(naming("nn-13406b1dcbe0.nnue", SECOND), 422)
    equal((reply["error"]["code"], reply["error"]["field"]), ("bad_net", "patch"))
    contains(reply["error"]["message"], "'nn-13406b1dcbe0.nnue'")
    contains(reply["error"]["message"], "SHA-256")


# ---- uploading


def the_reply_and_the_list_are_as_documented():
    reply = upload(b"documented", "?name=second.net&note=" + "two%20million%20games")
    equal(reply.status, 201, reply)
    same_members(reply.json, EXAMPLES["net.reply"])
    equal((reply.json["name"], reply.json["note"], reply.json["engine"]), ("second.net", "two million games", "anvil"))
    page = Client(server).api("GET", "/nets").json
    same_members(page, EXAMPLES["nets.reply"])
    same_members(page["items"][0], EXAMPLES["nets.reply"]["items"][0])
    same_members(page["engines"][0], EXAMPLES["nets.reply"]["engines"][0])
    known = next(net for net in page["items"] if net["sha256"] == sha(FIRST))
    same_members(known["tests"][0], EXAMPLES["nets.reply"]["items"][0]["tests"][0])
    equal((known["tests_total"], known["tests"][-1]["id"]), (4, merged))
    equal(page["may_upload"], False)
    equal(dev.api("GET", "/nets").json["may_upload"], True)
    equal(dev.api("GET", "/nets?engine=none").json["items"], [])
    equal([net["sha256"] for net in dev.api("GET", f"/nets?sha256={sha(FIRST)}").json["items"]], [sha(FIRST)])
    first = dev.api("GET", "/nets?limit=1").json
    second = dev.api("GET", f"/nets?limit=1&before={first['next']}").json
    equal([first["items"][0]["sha256"], second["items"][0]["sha256"]], [net["sha256"] for net in page["items"][:2]])


def the_page_lists_nets_and_what_was_typed_cannot_break_out_of_it():
    evil = "<script>alert(1)</script>"
    body, kind = multipart({"csrf": dev.csrf, "name": evil, "note": evil}, {"net": (evil, b"evil")})
    equal(dev.request("POST", "/nets", body, kind).headers["Location"], "/nets")
    text = dev.get("/nets").text
    true(evil not in text, "escaped")
    contains(text, "&lt;script&gt;")
    contains(text, "first.net")
    contains(text, f"/tests/{merged}")
    contains(Client(server).get("/nets").text, "Sign in")


def a_net_is_downloaded_whole_or_in_part_by_anybody():
    anyone = Client(server)
    reply = anyone.get(f"/api/v1/blobs/{sha(FIRST)}")
    equal((reply.status, reply.body), (200, FIRST))
    reply = anyone.request("GET", f"/api/v1/blobs/{sha(FIRST)}", None, {"Range": "bytes=100-"})
    equal((reply.status, reply.body), (206, FIRST[100:]))


def the_same_file_again_is_the_same_net():
    before = sql(server, "SELECT count(*) FROM nets")
    reply = upload(FIRST, "?name=another%20name")
    equal((reply.status, reply.json["name"]), (200, "first.net"), reply)
    equal(sql(server, "SELECT count(*) FROM nets"), before)


def bytes_that_a_bad_disk_has_changed_are_put_right_by_the_same_file():
    blob = server.data / "blobs" / sha(FIRST)[:2] / sha(FIRST)
    blob.write_bytes(FIRST[:-1] + b"?")
    equal(upload(FIRST).status, 200)
    equal(Client(server).get(f"/api/v1/blobs/{sha(FIRST)}").body, FIRST)


def a_user_who_may_not_submit_may_not_upload():
    equal(upload(b"x", client=joe).status, 403)
    equal(upload(b"x", client=Client(server)).status, 401)
    body, kind = multipart({}, {"net": ("x", b"x")})
    equal(dev.request("POST", "/nets", body, {**kind, "X-CSRF-Token": "wrong"}).status, 403)


def senseless_uploads_are_refused():
    for net, query, status, code, field in (
            (b"", "", 422, "missing_field", "net"), (b"x", "?engine=stockfish", 422, "no_such_engine", "engine"),
            (b"x", "?name=" + "n" * 101, 422, "bad_field", "name"), (b"x", "?note=" + "n" * 1001, 422, "bad_field", "note"),
            (b"x", "?note=a%0Ab", 422, "bad_field", "note"), (b"x", "?sha256=abc", 422, "bad_field", "sha256")):
        reply = upload(net, query)
        equal((reply.status, reply.code, reply.json["error"]["field"]), (status, code, field), f"{query}: {reply}")
    body, kind = multipart({"csrf": dev.csrf, "note": "kept"}, {})
    reply = dev.request("POST", "/nets", body, kind)
    equal(reply.status, 422, reply)
    contains(reply.text, "choose the file")


def raw(head):
    """A connection on which a request has begun."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60 * LOAD_FACTOR)
    connection.sendall((head + "\r\n\r\n").encode())
    return connection


def beginning(size, name="dev"):
    token = server.client(name).api("POST", "/tokens", {"name": "script", "scope": "submit"}).json["token"]
    return (f"POST /api/v1/nets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/octet-stream\r\nContent-Length: {size}")


def a_file_over_the_limit_is_refused_before_it_is_sent():
    with contextlib.closing(raw(beginning(200 << 20))) as connection:
        contains(connection.recv(65536).decode(), " 413 ")


def large_files_arrive_a_few_at_a_time():
    devs, bosses = beginning(20 << 20), beginning(20 << 20, "boss")
    waiting = [raw(devs), raw(devs)]
    wait_until(lambda: "other large files of yours" in asked(devs), 10)
    waiting += [raw(bosses), raw(bosses)]
    wait_until(lambda: " 503 " in asked(bosses), 10)
    server.add_user("ann", "developer")
    contains(asked(beginning(20 << 20, "ann")), "too many large files are arriving")
    equal(upload(b"a small one").status, 201)
    machine = server.worker()
    games = (f"PUT /api/v1/tasks/1/games/0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {machine.token}\r\n"
             f"Content-Length: {5 << 20}")
    contains(asked(games), " 100 ")
    for connection in waiting:
        connection.close()
    wait_until(lambda: " 100 " in asked(devs), 10)


def asked(head):
    """What a client is told that asks whether a body may come."""
    with contextlib.closing(raw(head + "\r\nExpect: 100-continue")) as connection:
        return connection.recv(65536).decode()


def a_client_that_does_not_ask_first_sends_everything_and_gets_the_reason_of_the_refusal():
    waiting = [raw(beginning(20 << 20)) for _ in range(2)]
    wait_until(lambda: " 503 " in asked(beginning(20 << 20)), 10)
    equal((upload(bytes(20 << 20)).code), "busy")
    for connection in waiting:
        connection.close()


def a_large_file_of_a_user_without_the_role_is_refused_before_it_is_sent():
    contains(asked(beginning(20 << 20, "joe")), "the role developer")


def a_user_fills_no_disk():
    sql(server, "UPDATE blobs SET size = size + ? WHERE sha256 = ?", 1 << 30, sha(THIRD))
    reply = upload(b"one too many")
    equal((reply.status, reply.code), (429, "too_many_nets"), reply)
    equal(upload(b"another's", client=boss).status, 201)
    equal(upload(FIRST).status, 200, "what is here takes no room")
    sql(server, "UPDATE nets SET created = created - 90000")
    equal(upload(b"the next day").status, 201)


# ---- the operator


def the_operator_sets_the_file_that_names_a_net():
    contains(server.command("engine", "nets", server.data, "net.txt", "data/{sha256}.nnue"), "net.txt names the net")
    shown = dev.api("GET", "/nets").json["engines"][0]
    equal((shown["net_file"], shown["net_path"]), ("net.txt", "data/{sha256}.nnue"))
    for file, path in (("../net", "nets/{sha256}"), ("net", "/{sha256}"), ("net", "nets/net")):
        equal(server.command("engine", "nets", server.data, file, path, check=False).returncode, 1, path)
    server.command("engine", "nets", server.data, "none", "nets/{sha256}")
    equal(dev.api("GET", "/nets").json["engines"], [])
    server.command("engine", "nets", server.data, "net", "nets/{sha256}")


def an_imported_tree_may_name_a_net_that_is_not_here_and_is_no_reference_until_it_is():
    net = b"of the operator's own"
    folder = server.folder / "import"
    git("clone", "-q", bare(server), folder)
    (folder / "net").write_text(sha(net) + "\n")
    contains(server.command("engine", "import", server.data, folder, "--message", "Mine"), f"names the net {sha(net)}")
    done = server.command("engine", "reference", server.data, "500000", "--machine", "iron", "--commit", "main", check=False)
    equal(done.returncode, 1)
    contains(done.stderr, sha(net))
    equal(upload(net, client=boss).status, 201)
    server.command("engine", "reference", server.data, "500000", "--machine", "iron", "--commit", "main")
    test = submit("--- a/main.c\n+++ b/main.c\n@@ -1 +1,2 @@\n+// on top\n // another remark\n")
    equal(test["missing_nets"], [])
    approve(test["id"])
    task = claim(server.worker()).json
    wanted = [{"blob": sha(net), "path": "nets/" + sha(net)}]
    equal([*(side["files"] for side in task["sides"]), task["scale"]["reference_files"]], [wanted] * 3)
    stop(test["id"])


def the_server_ends_well():
    equal(server.stop(), 0, "exit status; under sanitizers it tells of leaks")


def set_up(folder):
    global server, dev, boss, joe
    source = write_toy_source(folder / "source")
    (source / "main.c").write_text(NET_MAIN)
    (source / "Makefile").write_text(NET_MAKEFILE)
    (source / "net").write_text("none\n")
    book = write_plain_book(folder / "book.epd")
    server = Server(init_options=["--engine-source", str(source), "--book", str(book)], start=False)
    server.command("set", server.data, "writes_per_minute", "100000")
    for name, role in (("dev", "developer"), ("boss", "maintainer"), ("joe", None)):
        server.add_user(name, *([role] if role else []))
    server.start()
    dev, boss, joe = server.client("dev"), server.client("boss"), server.client("joe")


def main():
    with tempfile.TemporaryDirectory(prefix="patchmate-nets-") as folder:
        set_up(pathlib.Path(folder))
    try:
        run(a_test_of_a_net_that_is_not_here_waits_for_it, its_page_has_a_field_for_the_file_for_those_who_may_bring_it, another_file_is_not_taken_for_it,
            uploaded_later_it_lets_the_test_be_approved_and_is_laid_down_before_the_build,
            a_merge_puts_the_net_into_the_tree_on_top_of_the_tested_commit,
            a_net_in_the_tree_is_part_of_the_snapshot_and_only_the_other_is_placed, both_sides_may_need_a_net_of_their_own,
            a_patch_that_leaves_the_net_alone_merges_as_before,
            a_test_on_an_older_baseline_keeps_its_net_when_it_is_offered_again,
            a_net_too_large_for_the_repository_is_tested_and_not_merged, the_approval_covers_the_place_of_a_net,
            a_form_brings_patch_and_net_together, a_form_with_another_file_or_without_a_line_comes_back_and_says_so,
            a_line_that_is_not_the_name_of_a_net_is_refused_with_the_form_that_it_must_have, the_reply_and_the_list_are_as_documented,
            the_page_lists_nets_and_what_was_typed_cannot_break_out_of_it, a_net_is_downloaded_whole_or_in_part_by_anybody,
            the_same_file_again_is_the_same_net, bytes_that_a_bad_disk_has_changed_are_put_right_by_the_same_file, a_user_who_may_not_submit_may_not_upload, senseless_uploads_are_refused,
            a_file_over_the_limit_is_refused_before_it_is_sent, large_files_arrive_a_few_at_a_time,
            a_client_that_does_not_ask_first_sends_everything_and_gets_the_reason_of_the_refusal,
            a_large_file_of_a_user_without_the_role_is_refused_before_it_is_sent, a_user_fills_no_disk,
            the_operator_sets_the_file_that_names_a_net,
            an_imported_tree_may_name_a_net_that_is_not_here_and_is_no_reference_until_it_is, the_server_ends_well)
    finally:
        server.close()


if __name__ == "__main__":
    main()
