#!/usr/bin/python3
"""Strings of strangers on the pages: a server is filled with markup in every string that users and machines choose. No page
makes an element of it, runs it, asks another place for anything, or breaks its own Content-Security-Policy."""

import http.server
import pathlib
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from browser import DESKTOP, PHONE, Browser  # noqa: E402
from builds import BUILD  # noqa: E402
from database import sql  # noqa: E402
from played import played, post_batch, upload  # noqa: E402
from protocol import batch, claim, game  # noqa: E402
from server import ADMIN, PASSWORD, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

SHOTS = BUILD / "screenshots"
server = browser = trap = None


class Trap(http.server.BaseHTTPRequestHandler):
    """The place that the strings would ask for something. By its other name, localhost, it serves a page whose author forgot
    to escape them: /bare, and under the server's own policy /bare?policy."""

    asked, policy = [], ""

    def do_GET(self):
        is_bare = self.path.startswith("/bare")
        if not is_bare and self.path != "/favicon.ico":
            self.asked.append(self.path)
        body = f"<!doctype html><title>bare</title>{long_text()}".encode() if is_bare else b""
        self.send_response(200 if is_bare else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if self.path.endswith("?policy"):
            self.send_header("Content-Security-Policy", self.policy)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def line():
    """At most 64 bytes, the shortest limit: ends an attribute and a text area, asks, runs, and is a template."""
    return f"""'"></textarea><img src=//{place()} onerror=pwned=1>{{{{{{a}}}}}}"""


def long_line():
    """More ways in, in at most 300 bytes."""
    return (line() + """</title></script></style></select><svg onload=pwned=1></svg><script>pwned=1</script>"""
            """ javascript:pwned=1 " autofocus onfocus="pwned=1" x=' onmouseover='pwned=1 {{#items}}{{viewer.csrf}}""")


def long_text():
    """With line breaks, and characters that a line may not hold."""
    return (long_line() + f"\n<script src=//{place()}/script></script>\n<link rel=stylesheet href=//{place()}/style>\n"
            f"<style>@import '//{place()}/import'; * {{ color: red }}</style>\n<p style='color: red'>\n"
            f"<iframe srcdoc='<script>top.pwned=1</script>'></iframe>\n<object data=//{place()}/object></object>\n"
            f"\"}};pwned=1;//\n'-pwned=1-'\n]]><!--\n\u2028pwned=1\u2029 \u202eright to left\u202c \u200b\ufeff\n" + "W" * 300 + "\n")


# What the machines count of what engines say: enough to be shown with the names of the machines.
def wrong(games):
    plies = sum(len(game["clock_ms"]) for game in games)
    return {side: {"moves": moves, "illegal_pv": moves, "other_move": 0, "false_mate": 0, "no_score": 0}
            for side, moves in (("new", plies // 2), ("base", plies - plies // 2))}


def place():
    return f"127.0.0.1:{trap.server_port}"


# ---- the detectors ---------------------------------------------------------------------------------------------------

# What the strings would leave on a page, beside what the pages themselves have.
MADE = """
return [...document.querySelectorAll('img, iframe, object, embed, base, style, [style], [onload], [onerror], [onfocus], ' +
        '[onmouseover], a[href^="javascript:"], script:not([src^="/static/"]), link:not([href^="/static/"])')]
    .filter((e) => !e.closest('figure')) // where a script of ours places its readout
    .map((e) => e.outerHTML.slice(0, 200));
"""


def seen():
    """What happened on the page that is shown: elements made of strings, a script that ran, reports of the policy, lines of
    the console, requests to another place, and what the trap was asked for."""
    asked, Trap.asked[:] = list(Trap.asked), []
    return {"made": browser.run(MADE), "ran": browser.run("return typeof pwned === 'undefined' ? [] : [pwned]"),
            "reports": browser.reports(), "console": [line[:200] for line in browser.problems() if "status of 4" not in line],
            "elsewhere": [url for url in browser.requests() if not url.startswith(server.url + "/")],
            "asked": asked}


def nothing_happened(what):
    equal({name: found for name, found in seen().items() if found}, {}, what)


def the_detectors_see_a_string_that_is_not_escaped():
    browser.driver.get(f"http://localhost:{trap.server_port}/bare?policy")
    for directive in ("script-src-elem", "script-src-attr", "style-src-elem", "style-src-attr"):
        browser.until(lambda wanted=directive: any(wanted in report for report in browser.reports()), 10, "a report of " + directive)
    found = seen()
    true(found["made"] and found["console"], found)
    equal((found["ran"], found["asked"]), ([], []), "under the policy")
    browser.driver.get(f"http://localhost:{trap.server_port}/bare")
    found = seen()
    true(found["made"] and found["elsewhere"], found)
    equal((found["ran"], found["reports"]), ([1], []), "without the policy")
    true({"/", "/script", "/style", "/import", "/object"} <= set(found["asked"]), found["asked"])


# ---- filling the server ----------------------------------------------------------------------------------------------


def ok(reply, *statuses):
    true(reply.status in (statuses or (200, 201)), reply)
    return reply


def quoted(name):
    """A file's name as git writes it in a patch."""
    return '"' + name.replace('"', '\\"') + '"'


def mail(number):
    """A patch as a mail, whose author, subject, message, file and lines are hostile."""
    name = f"{number}{line().replace('//', '')}.c"
    added = long_text().replace("\u2028", "").splitlines()
    return (f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: {line()[:40].replace('<', '').replace('>', '')} <a@example.org>\n"
            f"Date: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: [PATCH] {long_line()}\n\n{long_text()}\n---\n"
            f"diff --git {quoted('a/' + name)} {quoted('b/' + name)}\nnew file mode 100644\n--- /dev/null\n+++ {quoted('b/' + name)}\n"
            f"@@ -0,0 +1,{len(added)} @@\n" + "".join(f"+{text}\n" for text in added) + "-- \n2.39.2\n")


def submit(author, number, **fields):
    return ok(author.api("POST", "/tests", {
        "title": f"{number} {line()}{line()}"[:120], "description": long_text(), "patch": mail(number),
        "new_options": {"Hash": "16", "Text": line()}, "base_options": {"Hash": "16", "Text": line()}, "tc": "nodes=1000",
        "batch_pairs": 4, **fields})).json["id"]


def machine(number):
    return server.worker(key=f"{number}" * 32, name=line(), version=line()[:32], host={
        "os": long_line()[:100], "arch": line()[:16], "cpu": long_line()[:100], "physical_cores": 4, "logical_cores": 8,
        "memory_mib": 8000, "compilers": [line(), line()], "sandbox": 2, "isa": line()[:32]})


def play(worker):
    """A batch with a crash and its report, and games whose moves are none; the engine lists an option of such a name."""
    task = claim(worker).json
    ok(worker.api("POST", f"/tasks/{task['id']}/bench", {
        "side": "new", "nodes": 1000, "options": f"option name {long_line()} type string default {long_line()}\n"}))
    ok(post_batch(worker, task, 0, "1222", crashes=1))
    pgn = "".join(f'[{tag} "{line()}"]\n' for tag in ("Event", "White", "Black")) + f"\n1. e4 {{{long_text()}}} e5 *\n"
    talk = {"new": long_text(), "base": f"< id name {long_text()}"}
    ok(worker.api("PUT", f"/tasks/{task['id']}/faults/0", {
        "pair": task["first_pair"], "game": 0, "side": "new", "end": "crash", "reason": long_line()[:160], "overloaded": True,
        "pgn": pgn, "protocol_log": talk, "errors": talk}))
    lines = [{**game, "end": long_line(), "reason": long_line(), "moves": line() + " e2e4"} for game in played(task, 1, "2222")]
    sha = ok(upload(worker, task, 1, lines)).json["sha256"]
    refused = worker.api("POST", f"/tasks/{task['id']}/batches", batch(1, "2222", sha))
    equal(refused.code, "replay_mismatch", refused)
    return task


def fail(worker):
    task = claim(worker).json
    ok(worker.api("POST", f"/tasks/{task['id']}/fail", {"kind": "build", "side": "new", "message": long_line(), "log": long_text()}))


def fill():
    """A test in each state, machines, faults, failures, exclusions, nets, tokens and people."""
    admin, author = server.client(ADMIN), server.client("dora")
    for client, scope in ((author, "worker"), (admin, "admin")):
        ok(client.api("POST", "/tokens", {"name": line(), "scope": scope}))
    ok(server.client().api("POST", "/users", {"name": "emil", "password": PASSWORD, "email": long_line()[:200]}))
    query = urllib.parse.urlencode({"engine": "anvil", "name": line(), "note": long_line()})
    ok(author.request("POST", f"/api/v1/nets?{query}", long_text().encode(), {"Content-Type": "application/octet-stream"}))
    test = submit(author, 1)
    ok(admin.api("POST", f"/tests/{test}/approve", {"unseen": True}))
    first, second, third = machine(1), machine(2), machine(3)
    play(first)
    task = claim(second).json
    games = played(task, 0, "2222")
    sha = ok(upload(second, task, 0, games)).json["sha256"]
    ok(second.api("POST", f"/tasks/{task['id']}/batches", batch(0, "2222", sha, said=wrong(games))))
    ok(admin.api("POST", f"/tests/{test}/exclude", {"kind": "machine", "worker": second.worker, "which": "all", "reason": long_line()}))
    ok(admin.api("POST", f"/tests/{test}/include", {"exclusion": 1, "reason": long_line()}))
    sql(server, "INSERT INTO reopenings (test_id, user_id, reason, created, result, verdict) VALUES (?, 1, ?, 1, 'accepted', 'LLR 3')", test, long_line())
    fail(third)
    ok(admin.api("POST", f"/machines/{first.worker}/block", {"reason": long_line()}))
    for number, verb in ((2, "stop"), (3, "harmful")):
        ok(admin.api("POST", f"/tests/{submit(author, number)}/{verb}", {"reason": long_line()}))
    for _ in range(2):
        submit(author, 4)  # the page of each names the other
    return author


# ---- looking ---------------------------------------------------------------------------------------------------------


def no_page_interprets_the_strings_that_it_shows():
    pages = ["/", "/tests/finished", "/events", "/nets", "/machines", "/machines/1", "/machines/2", "/suspects", "/users/dora", "/users/emil",
             "/account", "/admin", "/health", "/faults/1", "/tests/1/faults", "/tests/new", "/tests/new?like=1", *(f"/tests/{n}?diff=all" for n in range(1, 5))]
    shown = 0
    for path in pages:
        browser.go(path)
        nothing_happened(path)
        shown += "onerror=pwned" in browser.text()
        browser.screenshot(SHOTS, f"hostile{path.split('?')[0].replace('/', '-')}-desktop-light")
    true(shown >= len(pages) - 3, f"only {shown} of {len(pages)} pages show a string")


def no_page_interprets_its_own_address():
    text = urllib.parse.quote(long_text()[:900], safe="")
    for path in ("/login?next={0}", "/login?next=javascript:pwned=1", "/login?pending={0}", "/events?type={0}&user={0}&text={0}",
                 "/tests/finished?text={0}&user={0}&color={0}&ltc={0}&engine={0}", "/nets?engine={0}&test={0}&sha256={0}&name={0}",
                 "/machines?online={0}&before={0}", "/tests/new?preset={0}&title={0}&patch={0}&tc={0}", "/tests/1?diff={0}",
                 "/account?made={0}&changed={0}", "/nowhere/{0}", "/tests/{0}", "/users/{0}", "/machines/{0}", "/faults/{0}", "/static/{0}", "/git/{0}.git/HEAD"):
        browser.go(path.format(text))
        nothing_happened(path)


# Puts a string into every field of a form, whatever the field would let a person type, and sends it.
SEND = """
const form = document.querySelector(arguments[0]);
for (const field of form.elements)
    if (field.name && field.name !== 'csrf' && /^(text|search|email|password|hidden|textarea)$/.test(field.type)) {
        field.removeAttribute('maxlength');
        if (field.type === 'email') field.type = 'text';
        field.value = arguments[1];
    }
form.noValidate = true;
window.isSent = true;
(form.querySelector('button.primary') || form.querySelector('button')).click();
"""


def no_form_that_is_shown_again_interprets_the_typed_text():
    for path, form in (("/signup", "main form"), ("/login", "main form"), ("/tests/new", "#new-test"), ("/nets", "#upload form"),
                       ("/account", "form[action='/account/tokens']"), ("/account", "form[action='/account/password']"),
                       ("/tests/4", "form[action$='/modify']")):
        browser.go(path)
        browser.run(SEND, form, long_text())
        browser.until(lambda: browser.run("return document.readyState === 'complete' && !window.isSent"), 20, f"the answer of {path}")
        nothing_happened(f"{form} of {path}")
        contains(browser.text("main"), "Not accepted" if path != "/tests/4" else "422")


def no_check_interprets_what_it_tells():
    for fields, told in (({name: long_text() for name in ("title", "patch", "commit", "tc", "base", "engine", "elo1")}, "would be refused"),
                         ({"title": line(), "patch": mail(9), "preset": "", "elo1": "2"}, "Risky:")):
        browser.go("/tests/new")
        browser.run("""const form = document.getElementById("new-test");
            for (const [name, value] of Object.entries(arguments[0])) {
                form.elements.namedItem(name)?.removeAttribute("maxlength");
                if (form.elements.namedItem(name)) form.elements.namedItem(name).value = value;
            }
            form.querySelector("button[formaction]").click();""", fields)
        browser.until(lambda: browser.all("#check"), 20, "the check")
        nothing_happened(told)
        contains(browser.text("#check"), told)
        equal(browser.all("#check img, #check svg, #check script"), [], told)


def an_open_page_does_not_interpret_a_string_that_arrives():
    browser.go("/events")
    browser.until(lambda: browser.text("#live") == "live", 10, "the stream")
    submit(author, 5)
    browser.until(lambda: "#5" in browser.text("#list"), 20, "the new line")
    nothing_happened("the live page")


def signing_in_leads_to_no_address_of_a_stranger():
    for address in ("javascript:pwned=1", f"//{place()}/", f"/\\{place()}/", f"http://{place()}/", f"/%09/{place()}/"):
        browser.driver.delete_all_cookies()
        sign_in("/login?next=" + urllib.parse.quote(address, safe=""))
        true(browser.driver.current_url.startswith(server.url + "/"), f"{address} led to {browser.driver.current_url}")
        nothing_happened(address)


def no_string_makes_a_page_wider_than_a_phone():
    browser.size(PHONE)
    for path in ("/", "/tests/finished", "/events", "/nets", "/machines", "/machines/1", "/users/dora", "/account", "/admin", "/faults/1",
                 "/tests/1/faults", "/tests/1", "/tests/2", "/tests/4", "/nowhere/" + "W" * 300):
        browser.go(path)
        browser.screenshot(SHOTS, f"hostile{path.replace('/', '-')[:40]}-phone-light")
        equal(browser.overflow(), 0, f"{path}: pixels too wide")
    browser.size(DESKTOP)


def sign_in(path="/login"):
    browser.go(path)
    browser.type("#name", ADMIN)
    browser.type("#password", PASSWORD)
    browser.click("main button.primary")
    browser.until(lambda: "/login" not in browser.driver.current_url, 10, "being signed in")


def main():
    global server, browser, trap, author
    trap = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=trap.serve_forever, daemon=True).start()
    true(len(line().encode()) <= 64 and len(long_line().encode()) <= 300, (len(line()), len(long_line())))
    with Server() as server:
        server.add_user("dora", "developer")
        author = fill()
        Trap.policy = author.get("/").headers["Content-Security-Policy"]
        with Browser(server.url, network=True) as browser:
            sign_in()
            run(the_detectors_see_a_string_that_is_not_escaped, no_page_interprets_the_strings_that_it_shows,
                no_page_interprets_its_own_address, no_form_that_is_shown_again_interprets_the_typed_text,
                no_check_interprets_what_it_tells,
                an_open_page_does_not_interpret_a_string_that_arrives, signing_in_leads_to_no_address_of_a_stranger,
                no_string_makes_a_page_wider_than_a_phone)


if __name__ == "__main__":
    main()
