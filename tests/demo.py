#!/usr/bin/python3
"""`make demo`: the whole loop on this machine, in a few minutes.

Two patches change one feature of the engine's search, the history heuristic. One takes it away from an
engine that has it and should be rejected; the other gives it back to a baseline that lacks it, should be
accepted, and is merged. A server is made in build/demo/, a developer submits both patches through the
web form, a maintainer approves them, a worker builds and plays them, and this terminal shows what
the statistics say meanwhile. Then the server stays up, to be looked at, until Ctrl-C.

usage: tests/demo.py [--build DIR] [--once] [--swap] [--port N]
  --once  ends by itself; status 0 only if both verdicts were right
  --swap  submits the two patches in the other order: the verdicts follow the patches
"""
import argparse
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit_py"))

# The feature is worth some 200 Elo at this clock: far above ELO1, so that a wrong verdict is no matter of luck.
CLOCK, ELO0, ELO1, BATCH = "1+0.01", 0, 50, 4
FEATURE = "the history heuristic in its order of quiet moves"
TAKE_AWAY = {"patch": "take-away-history.patch", "base": None, "expect": "rejected"}
GIVE_BACK = {"patch": "give-back-history.patch", "base": "main", "expect": "accepted"}
LIMIT_S = 15 * 60


class Failure(Exception):
    """What stopped the demo, said to a person."""


class Demo:
    def __init__(self, build, port):
        self.build, self.port = build, port
        self.folder = build / "demo"
        self.lent = None
        self.data = self.folder / "data"
        self.processes = []
        self.passwords = {n: secrets.token_urlsafe(9) for n in ("operator", "dora", "mike")}
        self.url = None
        self.complete = None  # the commit of the engine that has the feature

    # ---- setting up ----------------------------------------------------------------------------------

    def run(self, *argv, **more):
        done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, **more)
        if done.returncode:
            raise Failure(f"{' '.join(map(str, argv))} ended with status {done.returncode}:\n{done.stdout}")
        return done.stdout

    def engine_without(self):
        """The source tree of the baseline: this engine with the feature taken away."""
        tree = self.folder / "baseline"
        shutil.copytree(ROOT / "engine", tree / "engine", ignore=shutil.ignore_patterns("anvil", "obj"))
        # A repository of its own, so that git does not look at the one around it.
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
        # The history of the baseline has the feature, the baseline itself does not.
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
        """Run by root, the worker becomes another user, who may not reach a clone below /root."""
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
            "title": title, "patch": text, "base": patch["base"] or self.complete, "kind": "sprt", "model": "logistic",
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
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        if self.lent:
            shutil.rmtree(self.lent, ignore_errors=True)


def bar(llr, lower, upper, width=24):
    """The LLR between its bounds: [-----|==    ]."""
    middle = width // 2
    cells = [" "] * width
    reach = round(min(1, abs(llr / (upper if llr > 0 else lower))) * middle)
    for i in range(middle, middle + reach) if llr > 0 else range(middle - reach, middle):
        cells[i] = "=" if llr > 0 else "-"
    cells.insert(middle, "|")
    return "[" + "".join(cells) + "]"


def progress(document):
    stats, plain = document["stats"], document["stats"]["plain"]
    bounds = stats["bounds"]
    line = (f"{stats['games']:5d} games  W {stats['wins']} L {stats['losses']} D {stats['draws']}  "
            f"LLR {stats['llr']:+5.2f} {bar(stats['llr'], bounds['lower'], bounds['upper'])}  ")
    line += f"Elo {plain['elo']:+.0f} ± {plain['error']:.0f}" if plain else "waits for games"
    eta = stats.get("eta") or {}
    if document["state"] == "active" and eta.get("seconds"):
        line += f"  about {eta['seconds'] / 60:.0f} min left"
    return line if document["state"] != "finished" else f"{line}  {document['result'].upper()}"


def watch(demo, client, tests):
    """Shows both tests until they have ended; on a terminal in place, elsewhere every 15 s."""
    terminal = sys.stdout.isatty()
    begun, shown = time.monotonic(), None
    while time.monotonic() - begun < LIMIT_S:
        documents = [demo.document(client, t) for t in tests]
        done = all(d["state"] == "finished" for d in documents)
        if terminal or done or shown is None or time.monotonic() - shown >= 15:
            if terminal and shown is not None:
                print(f"\x1b[{len(tests)}A", end="")
            for number, document in zip(tests, documents):
                print(f"{chr(27) + '[K' if terminal else ''}  test {number}: {progress(document)}")
            sys.stdout.flush()
            shown = time.monotonic()
        if done:
            return documents
        time.sleep(1)
    raise Failure(f"no verdict within {LIMIT_S // 60} minutes; see {demo.folder}/worker.log")


def show(demo, swap):
    demo.install()
    demo.start_server()
    dora, mike = demo.sign_in("dora"), demo.sign_in("mike")
    patches = [GIVE_BACK, TAKE_AWAY] if swap else [TAKE_AWAY, GIVE_BACK]
    print(f"\n  Patchmate is at {demo.url}")
    for name, role in (("dora", "developer"), ("mike", "maintainer"), ("operator", "administrator")):
        print(f"    {name:9} {demo.passwords[name]:14} {role}")
    print(f"\n  A quick setting, so that a verdict takes minutes: clock {CLOCK}, SPRT {{{ELO0},{ELO1}}} "
          f"logistic Elo,\n  alpha = beta = 0.05, batches of {BATCH} pairs. Real tests ask for smaller "
          "differences at longer clocks.\n")
    tests = []
    for patch in patches:
        number, title = demo.submit(dora, patch)
        demo.post(mike, f"/tests/{number}/approve")
        print(f"  test {number}: {title}\n          {demo.url}/tests/{number}")
        tests.append(number)
    cores = demo.start_worker()
    print(f"\n  dora submitted both, mike approved them, a worker with {cores} cores builds and plays:\n")
    documents = watch(demo, dora, tests)
    good = True
    print()
    for patch, number, document in zip(patches, tests, documents):
        result = document["result"]
        good &= result == patch["expect"]
        print(f"  test {number} was {result}" + ("" if result == patch["expect"] else f", not {patch['expect']}!"))
        if result == "accepted":
            demo.post(mike, f"/tests/{number}/merge")
            merged = demo.document(dora, number)["merged_commit"]
            print(f"          mike merged it: {merged[:10]} is the new baseline "
                  f"(git clone {demo.url}/git/anvil.git)")
            good &= bool(merged)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--swap", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    demo = Demo(arguments.build.resolve(), arguments.port)
    begun = time.monotonic()
    try:
        good = show(demo, arguments.swap)
        print(f"\n  {time.monotonic() - begun:.0f} s in all.")
        if not arguments.once:
            print(f"  The server stays at {demo.url} until Ctrl-C.")
            while True:
                time.sleep(3600)
        return 0 if good else 1
    except Failure as failure:
        print(f"\nmake demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        demo.stop()


if __name__ == "__main__":
    sys.exit(main())
