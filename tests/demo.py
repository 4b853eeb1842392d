#!/usr/bin/python3
"""`make demo`: Patchmate on this machine, from patch to verdict, in a few minutes.

Two patches change one feature of the engine's search, the history heuristic. The first patch removes it
and should be rejected. The second patch restores it in a baseline without it; it should be accepted, and
is then merged. The demo makes a server in build/demo/. A developer submits both patches through the web
form, a maintainer approves them, and a worker builds and plays them. This terminal shows what the worker
does, and the statistics of both tests. Then the server runs until Ctrl-C.

The output fits on a terminal of 24 lines, so the URL and the passwords stay visible. The server and the
worker end with the demo, in whatever way it ends: Ctrl-C once or twice, a closed terminal, a closed pipe,
or SIGKILL.

usage: tests/demo.py [--build DIR] [--folder DIR] [--once] [--swap] [--port N]
  --build   the folder with the built programs (build)
  --folder  the folder for data and logs (build/demo)
  --once    end after the verdicts; the exit status is 0 only if both verdicts are right
  --swap    submit the two patches in the other order
  --port    the port of the server (any free port)
"""
import argparse
import os
import pathlib
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))

# The feature is worth about 200 Elo at this time control. That is far above ELO1, so a wrong verdict is very unlikely.
CLOCK, ELO0, ELO1, BATCH = "1+0.01", 0, 50, 4
FEATURE = "the history heuristic in its order of quiet moves"
TAKE_AWAY = {"patch": "take-away-history.patch", "base": None, "expect": "rejected"}
GIVE_BACK = {"patch": "give-back-history.patch", "base": "main", "expect": "accepted"}
LIMIT_S = 15 * 60


class Failure(Exception):
    """The demo cannot go on; the message is for the person who started it."""


class Demo:
    def __init__(self, build, port, folder=None):
        self.build, self.port = build, port
        self.folder = folder or build / "demo"
        self.lent = None
        self.data = self.folder / "data"
        self.processes = []
        self.passwords = {n: secrets.token_urlsafe(9) for n in ("operator", "dora", "mike")}
        self.url = None
        self.complete = None  # the commit of the engine that has the feature
        self.keeper = Keeper()
        self.screen, self.interrupts, self.phases = Screen(), Interrupts(), None

    # ---- setting up ----------------------------------------------------------------------------------

    def run(self, *argv, **more):
        done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, **more)
        if done.returncode:
            raise Failure(f"{' '.join(map(str, argv))} ended with status {done.returncode}:\n{done.stdout}")
        return done.stdout

    def engine_without(self):
        """The source tree of the baseline: this engine without the feature."""
        tree = self.folder / "baseline"
        shutil.copytree(ROOT / "engine", tree / "engine", ignore=shutil.ignore_patterns("anvil", "obj"))
        # The tree gets its own repository, so that git does not use the one around it.
        self.run("git", "init", "-q", tree)
        self.run("git", "-C", tree, "apply", ROOT / "tests/data/demo" / TAKE_AWAY["patch"])
        return tree / "engine"

    def install(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        server = self.build / "server"
        for name, password in self.passwords.items():
            (self.folder / f"{name}.password").write_text(password + "\n")
        self.run(server, "init", self.data, "--admin", "operator", "--admin-password-file",
                 self.folder / "operator.password", "--engine-source", ROOT / "engine")
        # The first commit has the feature. The baseline, imported on top of it, does not.
        self.complete = self.run("git", "-C", self.data / "git/anvil.git", "rev-parse", "main").strip()
        self.run(server, "engine", "import", self.data, self.engine_without(), "--message",
                 f"Anvil without {FEATURE}")
        for name, role in (("dora", "developer"), ("mike", "maintainer")):
            self.run(server, "user", "add", self.data, name, "--password-file",
                     self.folder / f"{name}.password")
            self.run(server, "user", "role", self.data, name, "anvil", role)

    def start(self, name, *argv):
        log = open(self.folder / f"{name}.log", "w", encoding="utf-8")
        process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True)
        self.keeper.note(process.pid)
        self.processes.append(process)
        return process

    def wait_for_line(self, name, process, text):
        path = self.folder / f"{name}.log"
        for _ in range(200):
            for line in path.read_text(encoding="utf-8").splitlines():
                if text in line:
                    return line
            if process.poll() is not None:
                break
            time.sleep(0.05)
        raise Failure(f"the {name} did not start; its log:\n{path.read_text(encoding='utf-8')}")

    def start_server(self):
        process = self.start("server", self.build / "server", "run", self.data, "--listen",
                             f"127.0.0.1:{self.port}")
        line = self.wait_for_line("server", process, "listening on ")
        self.url = line.split("listening on ")[1].strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def worker_cache(self):
        """The worker's folder. A worker that root starts becomes another user, which cannot read folders below /root."""
        if os.geteuid() != 0:
            return self.folder / "worker"
        self.lent = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-demo-", dir="/var/tmp"))
        self.lent.chmod(0o755)
        return self.lent / "worker"

    def start_worker(self):
        cores = len(os.sched_getaffinity(0))
        self.start("worker", self.build / "worker", "--server", self.url, "--concurrency", cores,
                   "--cache", self.worker_cache(), "--name", "demo-worker")
        return cores

    # ---- the people ----------------------------------------------------------------------------------

    def sign_in(self, name):
        from server import Client  # tests/kit_py
        client = Client(self)
        reply = client.login(name, self.passwords[name])
        if reply.status != 200:
            raise Failure(f"{name} cannot sign in: {reply}")
        return client

    def submit(self, developer, patch):
        text = (ROOT / "tests/data/demo" / patch["patch"]).read_text(encoding="utf-8")
        title = next(line[len("Subject: "):] for line in text.splitlines() if line.startswith("Subject: "))
        reply = developer.form("/tests/new", {
            "title": title, "patch": text, "base": patch["base"] or self.complete, "workload": "sprt", "model": "logistic",
            "elo0": ELO0, "elo1": ELO1, "tc": CLOCK, "batch_pairs": BATCH,
            "new_options": "Hash=16", "base_options": "Hash=16"})
        if reply.status != 303:
            raise Failure(f"the form refused {patch['patch']}: {reply}")
        return int(reply.headers["Location"].rsplit("/", 1)[1]), title

    def post(self, client, path):
        reply = client.form(path, {})
        if reply.status != 303:
            raise Failure(f"POST {path}: {reply}")

    # ---- watching ------------------------------------------------------------------------------------

    def document(self, client, test):
        reply = client.api("GET", f"/tests/{test}")
        if reply.status != 200:
            raise Failure(f"GET /api/v1/tests/{test}: {reply}")
        return reply.json

    def stop(self):
        """Ends the worker, which finishes its running games, and then the server. A second interrupt ends both at once."""
        for process in reversed(self.processes):
            end(process, self.interrupts)
        if self.lent:
            shutil.rmtree(self.lent, ignore_errors=True)


class Keeper:
    """A process that ends the server and the worker as soon as this process has ended, in whatever way."""

    def __init__(self):
        reader, self.writer = os.pipe()
        if os.fork() == 0:
            try:
                os.close(self.writer)
                self.keep(reader)
            finally:
                os._exit(0)
        os.close(reader)

    def note(self, pid):
        os.write(self.writer, f"{pid}\n".encode())

    @staticmethod
    def keep(reader):
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for descriptor in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        programs = []  # descriptors: unlike a process id, they never name another process
        with os.fdopen(reader) as told:
            for pid in told:
                programs.append(os.pidfd_open(int(pid)))
        for number, patience_s in ((signal.SIGINT, 10), (signal.SIGINT, 3), (signal.SIGKILL, 0)):
            for program in reversed(programs):
                try:
                    signal.pidfd_send_signal(program, number)
                    select.select([program], [], [], patience_s)
                except ProcessLookupError:
                    pass


class Interrupts:
    """Ctrl-C, a closed terminal and SIGTERM: the first one ends the demo, a second one makes it end at once."""

    def __init__(self):
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.note)

    def note(self, _number, _frame):
        self.count += 1
        if self.count == 1:
            raise KeyboardInterrupt


def end(process, interrupts, patience_s=20, hurried_s=3):
    """Interrupts the process, and again if we are interrupted a second time. Kills it if it does not end."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    begun, hurried = time.monotonic(), None
    while process.poll() is None:
        now = time.monotonic()
        if hurried is None and interrupts.count > 1:
            process.send_signal(signal.SIGINT)
            hurried = now
        if now - begun > patience_s or (hurried is not None and now - hurried > hurried_s):
            process.kill()
            process.wait()
        time.sleep(0.05)


# ---- the terminal --------------------------------------------------------------------------------

class Screen:
    """Prints lines that never wrap. On a terminal, some lines are drawn again in place."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.drawn = None

    def columns(self):
        return shutil.get_terminal_size((100, 24)).columns - 1 if self.terminal else 10000

    def write(self, text):
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as gone:  # the terminal was closed, or the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise KeyboardInterrupt from gone

    def say(self, text=""):
        self.write("".join(line[:self.columns()] + "\n" for line in text.split("\n")))

    def draw(self, lines):
        """Draws the lines in place on a terminal; otherwise prints only the lines that have changed."""
        if self.terminal:
            up = f"\x1b[{len(lines)}A" if self.drawn is not None else ""
            self.write(up + "".join(f"\r\x1b[K{line[:self.columns()]}\n" for line in lines))
        else:
            for line in lines:
                if self.drawn is None or line not in self.drawn:
                    self.say(line)
        self.drawn = lines


def bar(llr, lower, upper, width=24):
    """The LLR between its bounds: [-----|==    ]."""
    middle = width // 2
    cells = [" "] * width
    reach = round(min(1, abs(llr / (upper if llr > 0 else lower))) * middle)
    for i in range(middle, middle + reach) if llr > 0 else range(middle - reach, middle):
        cells[i] = "=" if llr > 0 else "-"
    cells.insert(middle, "|")
    return "[" + "".join(cells) + "]"


PHASES = {"claimed": "takes a task", "fetch": "fetches the source", "build": "builds both engines",
          "bench": "checks the bench of both engines"}


def worker_does(document):
    """What the worker does for a test before it plays. None: it plays, or has no task of the test."""
    open_tasks = [task["phase"] for task in document["tasks"] if task["state"] == "open"]
    return PHASES.get(open_tasks[0]) if open_tasks else None


def progress(document, columns):
    """A line about a test, of at most so many columns. If there is no room, the least important parts are left out."""
    stats, plain = document["stats"], document["stats"]["plain"]
    start = f"  test {document['id']}: "
    if document["state"] != "finished" and not stats["games"]:
        return (start + (f"the worker {worker_does(document)}" if worker_does(document) else
                         "the worker plays its first games" if any(t["state"] == "open" for t in document["tasks"])
                         else "waits for the worker"))[:columns]
    bounds, eta = stats["bounds"], stats.get("eta") or {}
    last = document["result"].upper() if document["state"] == "finished" else \
        f"the worker {worker_does(document)}" if worker_does(document) else \
        f"{eta['seconds'] / 60:.0f} min left" if eta.get("seconds") else ""
    optional = {"bar": bar(stats["llr"], bounds["lower"], bounds["upper"], 24),
                "elo": f"Elo {plain['elo']:+.0f} ± {plain['error']:.0f}" if plain else "",
                "results": f"W {stats['wins']} L {stats['losses']} D {stats['draws']}"}
    for drop in ((), ("results",), ("results", "elo"), ("results", "elo", "bar")):
        some = {name: "" if name in drop else text for name, text in optional.items()}
        line = start + "  ".join(filter(None, (f"{stats['games']:4d} games", some["results"], f"LLR {stats['llr']:+5.2f}",
                                               some["bar"], some["elo"], last)))
        if len(line) <= columns:
            break
    return line[:columns]


def watch(demo, client, tests):
    """Shows both tests until they have finished."""
    begun = told = time.monotonic()
    while time.monotonic() - begun < LIMIT_S:
        documents = [demo.document(client, t) for t in tests]
        done = all(d["state"] == "finished" for d in documents)
        phases = [worker_does(d) for d in documents]
        if demo.screen.terminal or done or demo.phases != phases or time.monotonic() - told >= 15:
            demo.screen.draw([progress(d, min(demo.screen.columns(), 119)) for d in documents])
            demo.phases, told = phases, time.monotonic()
        if done:
            return documents
        time.sleep(0.5)
    raise Failure(f"there was no verdict within {LIMIT_S // 60} minutes; see {demo.folder}/worker.log")


def introduce(demo):
    demo.screen.say(f"\n  Patchmate is at {demo.url}")
    for name, role in (("dora", "developer"), ("mike", "maintainer"), ("operator", "administrator")):
        demo.screen.say(f"    {name:9} {demo.passwords[name]:14} {role}")
    demo.screen.say(f"\n  Quick settings, so that a verdict takes minutes: time control {CLOCK},\n"
                    f"  SPRT {{{ELO0},{ELO1}}}, alpha = beta = 0.05, batches of {BATCH} pairs. Real tests look for\n"
                    "  smaller differences, with more time for each move.\n")


def tell_results(demo, mike, dora, patches, documents):
    good = True
    for patch, document in zip(patches, documents):
        number, result = document["id"], document["result"]
        good &= result == patch["expect"]
        demo.screen.say(f"  test {number} was {result}" + ("" if result == patch["expect"] else f", not {patch['expect']}!"))
        if result == "accepted":
            demo.post(mike, f"/tests/{number}/merge")
            merged = demo.document(dora, number)["merged_commit"]
            demo.screen.say(f"  mike merged it into the baseline: git clone {demo.url}/git/anvil.git")
            good &= bool(merged)
    return good


def show(demo, swap):
    demo.screen.say("  Making a server with the engine's repository in build/demo …")
    demo.install()
    demo.start_server()
    dora, mike = demo.sign_in("dora"), demo.sign_in("mike")
    patches = [GIVE_BACK, TAKE_AWAY] if swap else [TAKE_AWAY, GIVE_BACK]
    introduce(demo)
    tests = []
    for patch in patches:
        number, title = demo.submit(dora, patch)
        demo.post(mike, f"/tests/{number}/approve")
        demo.screen.say(f"  test {number}: {title}")
        tests.append(number)
    cores = demo.start_worker()
    demo.screen.say(f"\n  dora submitted both, mike approved both, and a worker ({cores} cores) started.\n")
    documents = watch(demo, dora, tests)
    demo.screen.say()
    return tell_results(demo, mike, dora, patches, documents)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--swap", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    demo = Demo(arguments.build.resolve(), arguments.port, arguments.folder)
    begun = time.monotonic()
    try:
        good = show(demo, arguments.swap)
        demo.screen.say(f"  {time.monotonic() - begun:.0f} s in total.")
        if not arguments.once:
            demo.screen.say(f"  The server runs at {demo.url} until you press Ctrl-C.")
            while True:
                time.sleep(3600)
        return 0 if good else 1
    except Failure as failure:
        print(f"\nmake demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return finish(demo, arguments.once)
    finally:
        demo.stop()


def finish(demo, once):
    """After an interrupt. With --once there are no verdicts yet, so the exit status is 1."""
    demo.interrupts.count = max(demo.interrupts.count, 1)
    try:
        demo.screen.say("\n  Stopping: the worker finishes its games. Press Ctrl-C again to end at once.")
    except KeyboardInterrupt:
        pass
    return 1 if once else 0


if __name__ == "__main__":
    sys.exit(main())
