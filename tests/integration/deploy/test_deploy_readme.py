#!/usr/bin/python3
# test: plain only
"""README.md as a newcomer reads it: each command of its fenced blocks runs as printed, in the folder that the page names, with a
real server and a real worker. A command that this test does not know fails it."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "kit_py"))
from builds import BUILD  # noqa: E402
from ports import free_ports  # noqa: E402
from server import PATIENCE, ROOT, Client, wait_until  # noqa: E402
from tap import LOAD_FACTOR, contains, equal, run, true  # noqa: E402

TEXT = (ROOT / "README.md").read_text()
LOCAL = "127.0.0.1:8080"

# The placeholders in commands of the page, each with the sentence of the page that says what to put in its place.
PLACEHOLDERS = {
    "https://patchmate.example.org": "Put the address of your server in place of `https://patchmate.example.org`. "
                                     f"A server that you run yourself (see below) has the address `http://{LOCAL}`.",
    "1878055": "Put the number of nodes that `bench` prints in place of `1878055`",
    "DATA": "DATA is a new folder",
}

# The commands of the page, in its order. Those with a file are not run here: they install packages or run for minutes, and the
# file tests them.
CLONE = "git clone https://patchmate.example.org/git/anvil.git ../anvil && cd ../anvil"
BENCH = "make && ./anvil bench"
COMMIT = 'git commit -am "Reduce late moves a little more" -m "Bench: 1878055"'
SHOW = "git format-patch -1 --stdout"
BASE = "git clone https://patchmate.example.org/git/anvil.git ../base && make -C ../base"
MATCH = ("make && build/match -engine cmd=../anvil/anvil name=new -engine cmd=../base/anvil name=base -each tc=8+0.08 -rounds 500 "
         "-repeat -concurrency 4 -openings file=tests/data/books/anvil.epd order=random -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 "
         "-pgnout file=games.pgn")
SELF_TEST = "make && build/worker --self-test"
WORKER = "build/worker --server https://patchmate.example.org"
INIT = "make && build/server init DATA"
SERVE = f"build/server run DATA --listen {LOCAL}"
ELSEWHERE = {"make demo": "integration/deploy/test_demo.py", "make check": "run.py"}
KNOWN = [*ELSEWHERE, CLONE, BENCH, COMMIT, SHOW, BASE, MATCH, SELF_TEST, WORKER, INIT, SERVE]


def commands(text):
    """The commands of the blocks marked `sh`, without comments; continued lines are joined. Every block must be marked."""
    found, kind = [], None
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("```") and kind is None:
            kind = line[3:]
            true(kind in ("sh", "text"), f"a block of README.md is neither `sh` nor `text`: {line!r}")
        elif line.startswith("```"):
            kind = None
        elif kind == "sh" and line.split("#")[0].strip():
            found.append(" ".join(re.sub(r"\s#.*", "", line).split()))
    return found


def must_be_known(text):
    equal(sorted(commands(text)), sorted(KNOWN), "the commands of README.md")


class Session:
    """A folder with a copy of the source and of the built programs, and the processes that run there."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="patchmate-readme-"))
        self.folder.chmod(0o755)  # run by root, the worker becomes another user
        self.source, self.running, self.bench, self.page = self.folder / "patchmate", [], None, ""
        hidden = shutil.ignore_patterns("__pycache__", "obj")
        for name in ("engine", "server", "sprt", "sql", "worker", "web", "deploy", "tests"):
            shutil.copytree(ROOT / name, self.source / name, symlinks=True, ignore=hidden)
        for name in ("Makefile", "README.md"):
            shutil.copy2(ROOT / name, self.source)
        others = {"tests", "sanitize", "fuzz", "demo", "screenshots"}  # of the folder of the build
        shutil.copytree(BUILD, self.source / "build", symlinks=True,
                        ignore=lambda folder, names: others & set(names) if pathlib.Path(folder) == BUILD else ())
        self.port = free_ports(1)[0]
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "GIT_", "BUILD"))}
        self.env.update(HOME=str(self.folder), GIT_AUTHOR_NAME="Ada", GIT_AUTHOR_EMAIL="ada@example.org", GIT_COMMITTER_NAME="Ada",
                        GIT_COMMITTER_EMAIL="ada@example.org", GIT_CONFIG_NOSYSTEM="1")

    def printed(self, command, more=""):
        """The command with what the page says to put in place of its placeholders. The port that the page names may be taken
        on this machine, and so may the folder of a worker that root starts (`more`)."""
        text = command.replace("https://patchmate.example.org", f"http://{LOCAL}").replace(LOCAL, f"127.0.0.1:{self.port}")
        return (text.replace("1878055", str(self.bench)) if self.bench else text) + more

    def do(self, *block):
        """The commands of one block, in one shell, which begins in the folder of the page; what they print."""
        script = "\n".join(["set -e", *map(self.printed, block)])
        done = subprocess.run(["bash", "-c", script], cwd=self.source, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500 * LOAD_FACTOR, check=False)
        equal(done.returncode, 0, f"status of {block!r}: {done.stdout[-2000:]}")
        return done.stdout

    def start(self, command, more=""):
        """A command that runs until it is interrupted."""
        log = self.folder / f"log-{len(self.running)}"
        with open(log, "wb") as out:
            process = subprocess.Popen(["bash", "-c", self.printed(command, more)], cwd=self.source, env=self.env, stdout=out,
                                       stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
        self.running.append(process)
        return process, lambda: log.read_text(errors="replace")

    def interrupt(self, process, times=1):
        """Ctrl-C on its terminal; its status."""
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            try:
                return process.wait(2 if times > 1 else 60 * PATIENCE)
            except subprocess.TimeoutExpired:
                pass
        return process.wait(60 * PATIENCE)

    def close(self):
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def every_command_of_the_page_is_known():
    must_be_known(TEXT)
    for command, file in ELSEWHERE.items():
        true((TESTS / file).exists(), f"{file}, which is to test `{command}`")


def a_new_command_and_an_unmarked_block_are_noticed():
    for text in (TEXT + "\n```sh\nmake install\n```\n", TEXT.replace("build/server init DATA", "build/server init"),
                 TEXT + "\n```\nmake\n```\n"):
        try:
            must_be_known(text)
        except AssertionError:
            continue
        raise AssertionError(f"nothing was noticed in {text[-60:]!r}")


def the_page_explains_every_placeholder():
    words = " ".join(TEXT.split())
    for placeholder, sentence in PLACEHOLDERS.items():
        true(any(placeholder in command for command in KNOWN), f"no command has {placeholder}")
        contains(words, sentence)
    left = re.findall(r"\b[A-Z]{3,}\b|https?://[^ /]+|(?<=: )\d+", " ".join(KNOWN))
    equal(set(left), set(PLACEHOLDERS), "the placeholders in the commands")


def an_operator_starts_a_server():
    session.page = session.do(INIT)
    _, log = session.start(SERVE)
    wait_until(lambda: f"listening on http://127.0.0.1:{session.port}" in log(), 30)
    equal(Client(session).api("GET", "/server").status, 200)


def a_developer_sends_a_change():
    session.do(CLONE)
    reduce = session.folder / "anvil/search/prune.c"
    old = reduce.read_text()
    reduce.write_text(old.replace("node->eval - 80 * ", "node->eval - 70 * "))
    true(reduce.read_text() != old, "the change")
    session.bench = int(re.search(r"Nodes searched *: *(\d+)", session.do("cd ../anvil", BENCH))[1])
    session.do("cd ../anvil", COMMIT)
    client = Client(session)
    name, password = (re.search(rf"^{what}: (\S+)", session.page, re.M)[1] for what in ("admin account", "password"))
    equal(client.login(name, password).status, 200)
    sent = client.api("POST", "/tests", {"patch": session.do("cd ../anvil", SHOW), "preset": "STC"})
    equal(sent.status, 201, sent)
    test = client.api("GET", f"/tests/{sent.json['id']}").json
    equal((test["title"], test["new"]["bench"]), ("Reduce late moves a little more", session.bench))


def a_developer_plays_a_match_until_ctrl_c():
    session.do(BASE)
    process, log = session.start(MATCH)
    wait_until(lambda: "Finished game" in log() or process.poll() is not None, 90)
    contains(log(), "Finished game")
    session.interrupt(process, 2)
    contains((session.source / "games.pgn").read_text(), '[White "')


def a_volunteer_tests_the_machine():
    contains(session.do(SELF_TEST), "this machine can work for a server")


def a_volunteer_runs_a_worker_until_ctrl_c():
    process, log = session.start(WORKER, f" --cache {session.folder}/cache")
    machines = lambda: Client(session).api("GET", "/machines?online=1").json["items"]
    wait_until(lambda: machines() or process.poll() is not None, 60)
    true(machines(), log())
    equal(session.interrupt(process), 0, log())


session = Session()
try:
    run(every_command_of_the_page_is_known, a_new_command_and_an_unmarked_block_are_noticed, the_page_explains_every_placeholder,
        an_operator_starts_a_server, a_developer_sends_a_change, a_developer_plays_a_match_until_ctrl_c, a_volunteer_tests_the_machine,
        a_volunteer_runs_a_worker_until_ctrl_c)
finally:
    session.close()
