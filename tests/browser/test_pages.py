#!/usr/bin/python3
"""The pages as people use them: sign up, paste a patch, have it approved by another person, and watch a real worker's verdict
appear on the open page; every page in light and dark, at a desk and on a phone, and without script."""

import difflib
import hashlib
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kit_py"))
from browser import DESKTOP, PHONE, Browser  # noqa: E402
from builds import BUILD  # noqa: E402
from database import add_test, build_quickly, sql, write_book  # noqa: E402
from patches import demo  # noqa: E402
from played import post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import PASSWORD, ROOT, Server  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402
from worker import Worker  # noqa: E402

SHOTS = BUILD / "screenshots"
TITLE = "Take reductions away & <b>see</b>"
PAGES = {"home": "/", "test": "/tests/1", "pending": "/tests/2", "new": "/tests/new", "finished": "/tests/finished",
         "faults": "/tests/1/faults", "fault": "/faults/1", "events": "/events", "nets": "/nets", "books": "/books", "book": "/books/1", "engines": "/engines",
         "machines": "/machines", "machine": "/machines/1", "suspects": "/suspects", "user": "/users/dora", "account": "/account", "roles": "/roles",
         "login": "/login", "signup": "/signup", "missing": "/nowhere"}
server = browser = None


def patch_of_several_hunks():
    """What `make demo` takes away, and remarks at three places of another file."""
    old = (ROOT / "engine" / "search" / "tt.c").read_text().splitlines(keepends=True)
    new = list(old)
    for at in (len(old) - 2, len(old) // 2, 1):
        new.insert(at, "// looked at here\n")
    return demo("take-away-history") + "".join(difflib.unified_diff(old, new, "a/search/tt.c", "b/search/tt.c"))


def sign_in(who, name):
    who.go("/login")
    who.type("#name", name)
    who.type("#password", PASSWORD)
    who.click("main button.primary")
    who.until(lambda: name in who.text(".who"), 10, "being signed in")


# ---- the walk of a patch


def the_test_sees_messages_of_the_console():
    browser.go("/")
    browser.run("console.error('on purpose')")
    contains(" ".join(browser.problems()), "on purpose")
    browser.run("document.body.setAttribute('style', 'color: red')")
    contains(" ".join(browser.problems()), "Content Security Policy")


def a_visitor_makes_an_account_and_is_signed_in():
    browser.go("/signup")
    browser.type("#name", "dora")
    browser.type("#password", "short")
    browser.click("main button.primary")
    browser.until(lambda: "Not accepted" in browser.text(), 10, "a refusal")
    equal(browser.find("#name").get_attribute("value"), "dora", "the name is kept")
    browser.type("#password", PASSWORD)
    browser.click("main button.primary")
    browser.until(lambda: "dora" in browser.text(".who"), 10, "being signed in")


def a_form_with_an_error_keeps_all_that_was_typed():
    server.command("user", "role", server.data, "dora", "anvil", "developer")
    browser.go("/tests/new")
    browser.type("#title", TITLE)
    browser.paste("#patch", patch_of_several_hunks())
    for field, value in (("tc", "soon"), ("elo0", "-600"), ("elo1", "-300"), ("description", "They cost more than they bring.")):
        browser.type("#" + field, value)
    browser.select("#model", "logistic")
    browser.click("form#new-test button.primary")
    browser.until(lambda: "Not accepted" in browser.text(), 10, "a refusal")
    contains(browser.text("#tc-hint"), "soon")
    browser.until(lambda: browser.run("return document.activeElement.id") == "tc", 10, "the focus on the field to blame")
    equal(browser.find("#patch").get_attribute("value").strip(), patch_of_several_hunks().strip(), "the patch")
    for field, value in (("title", TITLE), ("elo0", "-600"), ("model", "logistic"), ("description", "They cost more than they bring.")):
        equal(browser.find("#" + field).get_attribute("value"), value, field)


def a_preset_fills_in_its_fields_and_leaves_the_others():
    browser.click(".presets a[href$='LTC']")
    equal(browser.find("#tc").get_attribute("value"), "60+0.6")
    equal(browser.find("#title").get_attribute("value"), TITLE)
    browser.click(".presets a[href$='Fixed games'], .presets a[href$='Fixed%20games']")
    equal(browser.find("#workload").get_attribute("value"), "fixed")
    true(not browser.find("#elo0").is_displayed(), "bounds mean nothing to a fixed test")
    browser.click(".presets a[href$='LTC']")
    true(browser.find("#elo0").is_displayed(), "the fields follow the preset")


OF_WORKLOAD = {"sprt": ["elo0", "elo1", "model", "alpha", "beta"], "fixed": [], "width": ["error", "unit"]}


def shown_parameters():
    """The fields of single workloads that the form shows."""
    names = [name for fields in OF_WORKLOAD.values() for name in fields]
    return [name for name in names if browser.find("#" + name).is_displayed()]


def choosing_a_workload_shows_its_fields_and_hides_the_others():
    browser.click("details.panel > summary")
    for workload in ("width", "fixed", "sprt", "width"):
        browser.select("#workload", workload)
        equal(shown_parameters(), OF_WORKLOAD[workload], workload)
    for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
        browser.size(size)
        for workload in ("sprt", "fixed", "width"):
            browser.select("#workload", workload)
            equal(browser.overflow(), 0, f"{workload} on a {kind}: pixels too wide")
            browser.screenshot(SHOTS, f"new-{workload}-{kind}-light")
    browser.size(DESKTOP)


def an_error_keeps_the_chosen_workload_and_the_values_of_its_fields():
    browser.type("#error", "200")
    browser.select("#unit", "normalized")
    browser.click("form#new-test button.primary")
    browser.until(lambda: "200" in browser.text("#error-hint"), 10, "a refusal")
    equal([browser.find("#" + name).get_attribute("value") for name in ("workload", "error", "unit", "title")],
          ["width", "200", "normalized", TITLE])
    equal(browser.find("#elo0").get_attribute("value"), "0.5", "what was hidden is kept, too")
    true(not browser.find("#elo0").is_displayed() and browser.find("#error").is_displayed(), "the fields of the workload")
    browser.select("#workload", "sprt")


def a_check_shows_the_figures_keeps_what_was_typed_and_submits_nothing():
    browser.type("#elo0", "8")
    browser.click("form#new-test button[formaction]")
    browser.until(lambda: browser.all("#check"), 20, "the check")
    contains(browser.text("#check-says"), "would be refused")
    contains(browser.text("#elo1-hint"), "is not above")
    browser.type("#elo0", "0.5")
    browser.run("const form = document.getElementById('new-test'); form.elements.namedItem('bench').value = ''")
    browser.click("form#new-test button[formaction]")
    browser.until(lambda: "Nothing is wrong" in browser.text("#check"), 20, "the check")
    figures = [row.text for row in browser.all("#expected tbody tr")]
    equal(len(figures), 5)
    true(figures[0].startswith("0.00 normalized Elo"), figures[0])
    equal(browser.find("#title").get_attribute("value"), TITLE)
    equal(browser.find("#patch").get_attribute("value").strip(), patch_of_several_hunks().strip(), "the patch")
    equal(sql(server, "SELECT count(*) FROM tests"), [(0,)])
    for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
        browser.size(size)
        equal(browser.overflow(), 0, f"a check on a {kind}: pixels too wide")
        browser.screenshot(SHOTS, f"new-checked-{kind}-light")
    browser.size(DESKTOP)


def a_pasted_patch_of_several_hunks_becomes_a_test():
    for field, value in (("tc", "nodes=1000"), ("elo0", "-600"), ("elo1", "-300"), ("new_options", "Hash=16"),
                         ("base_options", "Hash=16"), ("batch_pairs", "1")):
        if not browser.find("#" + field).is_displayed():
            browser.click("details.panel > summary")
        browser.type("#" + field, value)
    browser.select("#model", "logistic")
    browser.click("form#new-test button.primary")
    browser.until(lambda: "pending" in browser.text("#head"), 20, "the test's page")
    contains(browser.text("#head h1"), TITLE)
    refused = [line for line in browser.problems() if "status of 422" not in line]  # the browser's own lines
    equal(refused, [], "console")


def the_diff_is_shown_with_its_hunks_and_numbers():
    true(len(browser.all("#diff tr.hunk")) >= 4, "hunks")
    true(browser.all("#diff tr.add") and browser.all("#diff tr.delete"), "lines that came and went")
    numbers = [cell.text for cell in browser.all("#diff tr.context td.no")]
    true(numbers and all(number.isdigit() for number in numbers), "line numbers")
    contains(browser.text("#actions"), "needs the role maintainer")


def another_maintainer_approves_it():
    with Browser(server.url) as other:
        sign_in(other, "mia")
        other.go("/")
        contains(other.text("#pending"), TITLE)
        other.go("/tests/1")
        other.click("#actions form[action$='/approve'] button")
        other.until(lambda: "active" in other.text("#head"), 10, "approval")
        equal(other.problems(), [], "console")


def the_approval_shows_on_the_open_page():
    browser.until(lambda: "active" in browser.text("#head"), 10, "the live page")
    equal(browser.text("#live"), "live")


def the_verdict_of_a_real_worker_appears_without_reload():
    browser.run("window.sameDocument = true")
    browser.type("#reason", "half a thou")
    browser.click("#workers details summary")
    browser.run("window.scrollTo(0, 120)")
    with Worker(server, "--concurrency", "1") as worker:
        try:
            browser.until(lambda: "games" in browser.text("#chart-llr figcaption") and browser.all("#chart-llr polyline"), 120, "a batch")
            equal(browser.run("return document.getElementById('reason') ? document.getElementById('reason').value : 'half a thou'"),
                  "half a thou", "what was typed")
            browser.until(lambda: "accepted" in browser.text("#head"), 120, "the verdict")
        except AssertionError:
            raise AssertionError(f"{sys.exc_info()[1]}; the worker says: {worker.log()[-2000:]}") from None
    true(browser.run("return window.sameDocument === true"), "the page was loaded again")
    true(browser.find("#workers details").get_attribute("open"), "what was opened is open")
    equal(browser.run("return window.scrollY"), 120, "scrolled to")
    contains(browser.text("#verdict-text"), "LLR: ")
    contains(browser.text("#verdict-text"), "{-600.00,-300.00}")
    contains(browser.text("#verdict-text"), "\nAccepted above ")
    contains(browser.text("#bounds-note"), "2.94 corrected for overshoot. The LLR moves in steps")
    contains(browser.text("#log"), "verdict")
    equal(browser.problems(), [], "console")


def the_charts_are_drawn():
    # Where all batches had the same result, a line has no height.
    for name, shape, side in (("llr", "polyline.line", "width"), ("elo", "polyline.line", "width"), ("pairs", "rect.column", "height")):
        sizes = browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.getBBox()[arguments[1]])",
                            f"#chart-{name} {shape}", side)
        true(any(size > 0 for size in sizes), f"ink on chart {name}: {sizes}")


def the_charts_show_their_values_at_the_pointer_and_with_the_arrow_keys():
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    history = browser.run("return JSON.parse(document.getElementById('history').dataset.history)")
    last = f"{history['games'][-1]:,} games"
    for name, words in (("llr", f"LLR {abs(history['points']['llr'][-1]):.2f}"), ("elo", f"± {history['error'][-1]:.2f}")):
        drawing = browser.find(f"#chart-{name} svg")
        browser.run("arguments[0].scrollIntoView({block: 'center'})", drawing)
        ActionChains(browser.driver).move_to_element_with_offset(drawing, drawing.rect["width"] // 2 - 2, 0).perform()
        contains(browser.text(f"#chart-{name} .readout"), last)
        contains(browser.text(f"#chart-{name} .readout").replace("+", "").replace("\u2212", ""), words)
    browser.screenshot(SHOTS, "test-readout-desktop-light")
    browser.find("#chart-llr").send_keys(Keys.HOME)
    contains(browser.text("#chart-llr .readout"), f"{history['games'][0]:,} games")
    browser.find("#chart-llr").send_keys(Keys.END)
    contains(browser.text("#chart-llr .readout"), last)


# ---- what machines tell of themselves and of engines


PGN = """[Event "test 1"]
[White "new"]
[Black "base"]
[Result "0-1"]
[Termination "abandoned"]

1. e4 {+0.31/14 0.8s} e5 {-0.28/13 0.7s} 2. Nf3 {+0.35/15 0.9s} Nc6 {-0.30/14 0.8s} 3. Bb5 {+0.33/14 0.7s} a6 {-0.25/15 1.1s}
4. Ba4 {+0.30/15 0.8s} Nf6 {White disconnects} 0-1
"""


def a_crash_report_is_read_on_its_own_page():
    machine = server.worker(key="m" * 32, name="attic-mini")
    first, task = sql(server, "SELECT min(first_pair), min(id) FROM tasks WHERE test_id = 1")[0]
    sql(server, "UPDATE tasks SET worker_id = ? WHERE id = ?", machine.worker, task)
    sql(server, "UPDATE batches SET result = json_set(result, '$.crashes', 1, '$.time_losses', 1) WHERE task_id = ? AND seq = 0", task)
    talk = "".join(f"12.0{i} > position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 \n12.0{i} > go wtime 99{i}0 btime 9950\n"
                   f"12.1{i} < info depth {i + 9} score cp 3{i} nodes {1000 * i} pv e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8\n" for i in range(9))
    for seq, (side, end, reason, overloaded) in enumerate((("new", "crash", "White disconnects", False),
                                                           ("base", "time", "Black loses on time", True))):
        equal(machine.api("PUT", f"/tasks/{task}/faults/{seq}", {
            "pair": first, "game": seq, "side": side, "end": end, "reason": reason, "overloaded": overloaded, "pgn": PGN,
            "protocol_log": {"new": talk, "base": talk[:300]},
            "errors": {"new": "search.c:120: search: Assertion `depth > 0' failed.\n", "base": ""}}).status, 200)
    sql(server, "UPDATE batches SET flags = 'busy', limit_busy = 0, busy = 0.2 WHERE id = 1")
    sql(server, "UPDATE said SET illegal_pv = min(moves, 2), no_score = 1 WHERE side = 'new' AND moves > 2 AND batch_id % 2 = 1")
    browser.go("/tests/1")
    contains(browser.text("#faults"), "crash of the patch")
    contains(browser.text("#faults"), "machine overloaded")
    contains(browser.text("#flagged"), "Flagged pairs: 1")
    contains(browser.text("#said-warning"), "with an illegal move in the PV")
    browser.click("#faults tbody tr:last-child a")
    browser.until(lambda: "White disconnects" in browser.text("#head, .head"), 10, "the report")
    contains(browser.text("#protocol-new"), "Assertion `depth > 0' failed.")
    contains(browser.text("#pgn"), "Nf6")
    equal(len(browser.all(".board .square")), 64)
    equal(len([s for s in browser.all(".board .square") if s.text]), 32, "men on the board")
    equal(browser.problems(), [], "console")


def each_workload_has_its_panel_and_only_its_charts():
    def facts():
        names = browser.all("#verdict .facts dt")
        return dict(zip((name.text for name in names), (value.text for value in browser.all("#verdict .facts dd"))))

    machine = server.worker(key="measures" * 4)
    tests = {workload: add_test(server, title=f"By {workload}", workload=workload, priority=9) for workload in ("fixed", "width")}
    for workload, test in tests.items():
        browser.go(f"/tests/{test}")
        equal(browser.all("#width b")[0].text if workload == "width" else browser.all("#width"), "± 3 Elo" if workload == "width" else [])
        true("Elo" not in facts(), "an estimate of nothing")
        for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
            browser.size(size)
            equal(browser.overflow(), 0, f"{workload} on a {kind}: pixels too wide")
        browser.size(DESKTOP)
    for _ in tests:
        task = claim(machine).json
        equal(post_batch(machine, task, 0, "2134").json["counted"], True)
    for workload, test in tests.items():
        browser.go(f"/tests/{test}")
        stats = browser.run("return JSON.parse(document.getElementById('history').dataset.stats)")
        equal(facts()["Elo"].split(" [")[0], f"+{stats['plain']['elo']:.2f} ± {stats['plain']['error']:.2f}")
        equal([figure.get_attribute("id") for figure in browser.all(".charts figure")], ["chart-elo", "chart-pairs"])
        equal(browser.all("#verdict .gauge"), [], "a gauge without bounds")
        true(browser.find("#drawing-elo svg").is_displayed(), "the chart of Elo")
        if workload == "width":
            contains(facts()["Stops at"], f"now ± {stats['width']['error']:.2f}")
            contains(browser.text("#arguments"), "± 3 Elo")
        for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
            browser.size(size)
            equal(browser.overflow(), 0, f"{workload} on a {kind}: pixels too wide")
            browser.screenshot(SHOTS, f"test-{workload}-{kind}-light")
        browser.size(DESKTOP)
    undecided = add_test(server, "finished", title="Too short", result="undecided", started=1, finished=2,
                         reason="its games were too few for a verdict: LLR 0.00 (-2.94, 2.94) after 8 games")
    browser.go(f"/tests/{undecided}")
    equal(browser.text("#head .mark.grey"), "undecided")
    contains(browser.text("#head .reason"), "too few for a verdict")
    browser.screenshot(SHOTS, "test-undecided-desktop-light")
    sql(server, "UPDATE tests SET state = 'finished', result = 'completed', finished = started + 60 WHERE workload IN ('fixed', 'width')")
    browser.go("/tests/finished")
    contains(browser.text(f"#test-{tests['width']}"), stats["summary"])
    equal(browser.problems(), [], "console")


def a_maintainer_excludes_a_machine_and_blocks_it_with_forms():
    with Browser(server.url) as other:
        sign_in(other, "mia")
        other.go("/tests/1")
        games = other.text("#verdict-text")
        other.type("#exclude-reason", "it was busy")
        other.click("#exclude button")
        other.until(lambda: "Excluded: flagged batches" in other.text("#workers"), 10, "the exclusion")
        true(other.text("#verdict-text") != games, "the totals follow")
        contains(other.text("#head"), "accepted")
        other.click("#workers form[action$='/include'] button")
        other.until(lambda: "Excluded" not in other.text("#workers .note"), 10, "taking it back")
        equal(other.text("#verdict-text"), games)
        other.go("/machines/1")
        other.type("#reason", "its clock runs backwards")
        other.click("#actions button.danger")
        other.until(lambda: "blocked" in other.text("#about"), 10, "the block")
        other.screenshot(SHOTS, "machine-blocked-desktop-light")
        other.click("#actions button")
        other.until(lambda: "blocked" not in other.text("#about"), 10, "the end of the block")
        other.go("/tests/1")
        other.screenshot(SHOTS, "test-maintainer-desktop-light")
        equal(other.problems(), [], "console")


def a_patch_that_was_tested_is_named_to_its_author_to_the_approver_and_beside_merge():
    browser.go("/tests/new")
    browser.type("#title", "An idea of mine")
    browser.paste("#patch", patch_of_several_hunks())
    browser.click("form#new-test button.primary")
    browser.until(lambda: "pending" in browser.text("#head"), 20, "the test's page")
    test = int(browser.find("#head").get_attribute("data-test"))
    contains(browser.text("#ideas"), "test 1 (the same tree, accepted)")
    contains(browser.text("#idea-1"), TITLE)
    contains(browser.text("#idea-1"), "{-600.00, -300.00}")
    browser.go("/tests/1")
    contains(browser.text(f"#idea-{test}"), "pending")
    with Browser(server.url) as other:
        sign_in(other, "mia")
        other.go(f"/tests/{test}")
        contains(other.text("#actions .warnings"), "test 1 (the same tree, accepted)")
        other.screenshot(SHOTS, "test-seen-before-pending-desktop-light")
        sql(server, "UPDATE tests SET state = 'finished', result = 'accepted', approved_hash = 'x', finished = 1790000000, units_counted = 64 "
            "WHERE id = ?", test)
        other.go(f"/tests/{test}")
        contains(other.text("#merge-ideas"), "at least one of 2 SPRTs of this idea accepts it with a probability of 10 %.")
        for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
            other.size(size)
            equal(other.overflow(), 0, f"on a {kind}: pixels too wide")
            other.screenshot(SHOTS, f"test-seen-before-{kind}-light")
        for dark in (False, True):
            other.dark(dark)
            equal(other.run(CONTRAST), [], f"dark {dark}: contrast below 4.5")
        equal(other.problems(), [], "console")


# ---- nets


NET = b"no net that plays, but one that has a name\n" * 50000


def naming(net):
    """The patch that makes it Anvil's."""
    name, line = ROOT / "engine" / "net", hashlib.sha256(net).hexdigest() + "\n"
    old = name.read_text().splitlines(keepends=True) if name.exists() else []
    return "".join(difflib.unified_diff(old, [line], "a/net" if old else "/dev/null", "b/net"))


def a_patch_that_names_a_net_asks_for_it_on_its_page():
    browser.go("/tests/new")
    browser.type("#title", "A net of nothing")
    browser.paste("#patch", naming(NET))
    browser.until(lambda: "does not have" in browser.text("#net-said"), 10, "the word beside the field")
    contains(browser.text("#net-said"), hashlib.sha256(NET).hexdigest()[:10])
    browser.screenshot(SHOTS, "new-net-missing-desktop-light")
    browser.click("form#new-test button.primary")
    browser.until(lambda: "pending" in browser.text("#head"), 20, "the test's page")
    contains(browser.text("#missing-nets"), "A net is missing.")
    contains(browser.text("#missing-nets"), hashlib.sha256(NET).hexdigest())
    contains(browser.text("#arguments"), hashlib.sha256(NET).hexdigest()[:10])
    browser.screenshot(SHOTS, "test-net-missing-desktop-light")


def file_of(data):
    path = server.folder / "second.net"
    path.write_bytes(data)
    return str(path)


def too_large_a_file_is_refused_before_it_is_sent():
    field = browser.find("#missing-nets input[type=file]")
    path = server.folder / "large.net"
    with open(path, "wb") as file:
        file.truncate(65 << 20)
    field.send_keys(str(path))
    contains(field.get_attribute("validationMessage"), "A net may have at most 64 MiB")
    field.send_keys(file_of(b"another"))
    equal(field.get_attribute("validationMessage"), "")


def another_file_comes_back_with_both_names():
    browser.find("#missing-nets input[type=file]").send_keys(file_of(b"another"))
    browser.click("#missing-nets button")
    browser.until(lambda: "Not accepted" in browser.text(), 10, "a refusal")
    contains(browser.text("#net-hint"), hashlib.sha256(b"another").hexdigest())
    contains(browser.text("#net-hint"), hashlib.sha256(NET).hexdigest())
    contains(browser.text("#upload h2"), "for test #")
    browser.screenshot(SHOTS, "nets-refused-desktop-light")


def the_right_file_leads_back_to_the_test_and_the_test_no_longer_asks_for_it():
    browser.type("#note", "from games that were never played")
    browser.find("#upload input[type=file]").send_keys(file_of(NET))
    browser.click("#upload button.primary")
    browser.until(lambda: "pending" in browser.text("#head"), 20, "the test's page")
    equal(browser.text("#missing-nets"), "")
    contains(browser.text("#actions"), "needs the role maintainer")
    browser.go("/nets")
    contains(browser.text("#list"), "second.net")
    contains(browser.text("#list"), "from games that were never played")
    contains(browser.text("#list"), "A net of nothing")
    contains(browser.text("#list"), "2.05")  # MiB
    browser.go("/tests/new")
    browser.paste("#patch", naming(NET))
    browser.until(lambda: "The server has" in browser.text("#net-said"), 10, "the word beside the field")
    refused = [line for line in browser.problems() if "status of 422" not in line]
    equal(refused, [], "console")


def an_open_page_shows_that_the_net_was_uploaded():
    fresh = NET + b"more\n"
    browser.go("/tests/new")
    browser.type("#title", "A net of a little more")
    browser.paste("#patch", naming(fresh))
    browser.click("form#new-test button.primary")
    browser.until(lambda: "A net is missing" in browser.text("#missing-nets"), 20, "the test's page")
    browser.until(lambda: browser.text("#live") == "live", 10, "the stream")
    with Browser(server.url) as other:
        sign_in(other, "mia")
        other.go("/nets")
        other.find("#upload input[type=file]").send_keys(file_of(fresh))
        other.click("#upload button.primary")
        other.until(lambda: "second.net" in other.text("#list"), 10, "the list")
    browser.until(lambda: browser.text("#missing-nets") == "", 10, "the live page")


# ---- every page


def each(sizes, dark):
    for name, path in PAGES.items():
        for size in sizes:
            browser.dark(dark)
            browser.size(size)
            browser.go(path)
            time.sleep(0.2)
            kind = "phone" if size == PHONE else "desktop"
            browser.screenshot(SHOTS, f"{name}-{kind}-{'dark' if dark else 'light'}")
            yield f"{name} on a {kind}, {'dark' if dark else 'light'}"


def no_page_writes_to_the_console():
    add_test(server, "pending", title="One that waits")
    browser.problems()
    for dark in (False, True):
        for what in each((DESKTOP,), dark):
            wanted = 1 if what.startswith("missing") else 0  # the browser's own line about 404
            problems = [line for line in browser.problems() if "favicon" not in line]
            equal(len(problems), wanted, f"{what}: {problems}")


def no_page_is_wider_than_a_phone():
    for what in each((PHONE,), False):
        equal(browser.overflow(), 0, f"{what}: pixels too wide")
    browser.size(DESKTOP)


CONTRAST = """
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); };
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const ground = (e) => {
    for (; e; e = e.parentElement) {
        const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
};
const bad = new Set();
for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg") || !e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim())) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
}
return [...bad];
"""


def all_text_has_enough_contrast_in_light_and_dark():
    for dark in (False, True):
        browser.dark(dark)
        for name, path in PAGES.items():
            browser.go(path)
            equal(browser.run(CONTRAST), [], f"{name}, dark {dark}: contrast below 4.5")
    browser.dark(False)


def all_fields_have_labels_and_the_keyboard_finds_the_content():
    for path in PAGES.values():
        browser.go(path)
        bare = browser.run("return [...document.querySelectorAll('input:not([type=hidden]):not([hidden]), select, textarea')]"
                           ".filter((f) => !f.labels.length && !f.ariaLabel).map((f) => f.outerHTML)")
        equal(bare, [], f"{path}: fields without a label")
    browser.go("/")
    from selenium.webdriver.common.keys import Keys
    browser.find("body").send_keys(Keys.TAB)
    equal(browser.run("return document.activeElement.textContent"), "Skip to the content")


def the_pages_can_be_read_without_scripts():
    browser.script(False)
    try:
        browser.go("/tests/1")
        contains(browser.text("#verdict-text"), "LLR: ")
        true(browser.find("#drawing-llr svg").is_displayed(), "the server's own drawing")
        true(browser.find("#drawing-pairs svg").is_displayed(), "the server's own drawing")
        browser.screenshot(SHOTS, "test-without-script")
        browser.go("/")
        contains(browser.text("#finished"), TITLE)
        browser.click(".top a[href='/tests/new']")
        browser.click(".presets a[href$='LTC']")
        equal(browser.find("#tc").get_attribute("value"), "60+0.6")
    finally:
        browser.script(True)


def a_token_is_shown_once():
    browser.go("/account")
    browser.type("#token-name", "laptop")
    browser.click("form[action='/account/tokens'] button")
    browser.until(lambda: browser.all("#made pre"), 10, "the token")
    token = browser.text("#made pre")
    true(len(token) > 20, token)
    browser.go("/account")
    contains(browser.text(), "laptop")
    true(token not in browser.text(), "shown again")


def main():
    global server, browser
    with tempfile.TemporaryDirectory(prefix="patchmate-book-") as folder:
        server = Server(init_options=["--book", str(write_book(pathlib.Path(folder) / "book.epd", 500))], start=False)
    try:
        build_quickly(server)
        server.add_user("mia", "maintainer")
        server.start()
        with Browser(server.url) as browser:
            run(the_test_sees_messages_of_the_console, a_visitor_makes_an_account_and_is_signed_in,
                a_form_with_an_error_keeps_all_that_was_typed, a_preset_fills_in_its_fields_and_leaves_the_others,
                choosing_a_workload_shows_its_fields_and_hides_the_others,
                an_error_keeps_the_chosen_workload_and_the_values_of_its_fields,
                a_check_shows_the_figures_keeps_what_was_typed_and_submits_nothing,
                a_pasted_patch_of_several_hunks_becomes_a_test, the_diff_is_shown_with_its_hunks_and_numbers,
                another_maintainer_approves_it, the_approval_shows_on_the_open_page,
                the_verdict_of_a_real_worker_appears_without_reload, the_charts_are_drawn,
                the_charts_show_their_values_at_the_pointer_and_with_the_arrow_keys, a_crash_report_is_read_on_its_own_page,
                each_workload_has_its_panel_and_only_its_charts,
                a_maintainer_excludes_a_machine_and_blocks_it_with_forms,
                a_patch_that_was_tested_is_named_to_its_author_to_the_approver_and_beside_merge, a_patch_that_names_a_net_asks_for_it_on_its_page,
                too_large_a_file_is_refused_before_it_is_sent, another_file_comes_back_with_both_names,
                the_right_file_leads_back_to_the_test_and_the_test_no_longer_asks_for_it, an_open_page_shows_that_the_net_was_uploaded,
                no_page_writes_to_the_console, no_page_is_wider_than_a_phone, all_text_has_enough_contrast_in_light_and_dark,
                all_fields_have_labels_and_the_keyboard_finds_the_content, the_pages_can_be_read_without_scripts,
                a_token_is_shown_once)
    finally:
        server.close()


if __name__ == "__main__":
    main()
