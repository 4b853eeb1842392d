#!/usr/bin/python3
# test: sanitized only
"""The engine's repository over HTTP with git itself, and `server engine` beside a running server."""

import gzip
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import ROOT, Client, Server
from submission import bare, git, row
from tap import contains, equal, run, true

# A copy, so that edits of the engine meanwhile do no harm.
copy = tempfile.TemporaryDirectory()
SOURCE = pathlib.Path(copy.name) / "engine"
shutil.copytree(ROOT / "engine", SOURCE)
(SOURCE / "obj").mkdir(exist_ok=True)
(SOURCE / "obj" / "left.o").write_bytes(b"x")
server = Server(init_options=["--engine-source", str(SOURCE)])
anyone = server.client()
KIND = {"Content-Type": "application/x-git-upload-pack-request"}


def files(folder):
    return {str(path.relative_to(folder)): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
            for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.relative_to(folder).parts}


def baseline():
    return row(server, "SELECT baseline FROM engines")["baseline"]


def a_clone_is_the_baseline_and_holds_the_engines_source():
    clone = server.folder / "clone"
    git("clone", "-q", f"{server.url}/git/anvil.git", clone)
    equal(git("rev-parse", "HEAD", cwd=clone).strip(), baseline())
    equal(git("symbolic-ref", "--short", "HEAD", cwd=clone).strip(), "main")
    true((clone / "Makefile").exists() and (clone / "rules").is_dir(), "engine/ is the top of the repository")
    for path, (content, _) in files(clone).items():
        true((SOURCE / path).read_bytes() == content, f"{path} is as in the source")
    true(not any(path.endswith((".o", ".d")) for path in files(clone)), "build outputs are left out")


def a_shallow_clone_and_a_single_test_reference_work():
    clone = server.folder / "shallow"
    git("clone", "-q", "--depth", "1", f"{server.url}/git/anvil.git", clone)
    git("update-ref", "refs/tests/7", baseline(), cwd=bare(server))
    git("fetch", "-q", f"{server.url}/git/anvil.git", "refs/tests/7", cwd=clone)
    git("update-ref", "-d", "refs/tests/7", cwd=bare(server))


def protocol_versions_0_and_2_are_spoken():
    for version in ("0", "2"):
        out = git("-c", f"protocol.version={version}", "ls-remote", f"{server.url}/git/anvil.git", "HEAD")
        equal(out.split()[0], baseline())


def a_push_is_refused_with_a_sentence_on_what_to_do():
    clone = server.folder / "clone"
    done = git("push", f"{server.url}/git/anvil.git", "HEAD:refs/heads/x", cwd=clone, check=False)
    true(done.returncode != 0, "the push fails")
    equal(git("for-each-ref", "refs/heads/x", cwd=bare(server)), "")
    equal(anyone.get("/git/anvil.git/info/refs?service=git-receive-pack").status, 403)
    equal(anyone.request("POST", "/git/anvil.git/git-receive-pack", b"0000").status, 403)


def paths_of_files_and_strange_names_are_not_served():
    for path in ("/git/anvil.git/HEAD", "/git/anvil.git/config", "/git/anvil.git/objects/info/packs",
                 "/git/anvil.git/../patchmate.db", "/git/none.git/info/refs?service=git-upload-pack",
                 "/git/..%2F..%2Fx.git/info/refs?service=git-upload-pack", "/git/anvil.git/"):
        reply = anyone.get(path)
        true(400 <= reply.status < 500, f"{path}: {reply}")
    equal(anyone.get("/git/anvil.git/info/refs").status, 403)


def a_compressed_request_and_a_broken_one_are_answered():
    want = f"want {baseline()}\n".encode()
    body = b"%04x%s" % (len(want) + 4, want) + b"00000009done\n"
    reply = anyone.request("POST", "/git/anvil.git/git-upload-pack", gzip.compress(body), {**KIND, "Content-Encoding": "gzip"})
    equal((reply.status, reply.headers["Content-Type"]), (200, "application/x-git-upload-pack-result"), reply.body[:80])
    contains(reply.body[:100], b"PACK")
    reply = anyone.request("POST", "/git/anvil.git/git-upload-pack", gzip.compress(body)[:-9], {**KIND, "Content-Encoding": "gzip"})
    equal(reply.status, 400, reply)
    equal(anyone.request("POST", "/git/anvil.git/git-upload-pack", None, KIND).status, 400)


def line(text):
    return b"%04x%s" % (len(text) + 4, text.encode())


def broken_lines_of_a_client_are_its_own_fault():
    want, none = f"want {baseline()}\n", f"want {'1' * 40}\n"
    for body in (b"nonsense", b"000", b"0003", b"0004", b"ffff", b"\xfd00b", line("want xyz\n") + b"0000", line("junk") + b"0000", line(want),
                 line(want)[:-9], line(want) + b"0000" + line("have xyz"), line(want) + line("deepen -1") + b"0000",
                 line(want) + line("deepen-not none") + b"0000", line(want) + line("shallow x") + b"0000", line(none) + b"0000" + line("done"),
                 line("want " + "y" * 60000) + b"0000"):
        reply = anyone.request("POST", "/git/anvil.git/git-upload-pack", body, KIND)
        equal(reply.status, 400, f"{body[:60]!r}: {reply}")
        contains(reply.text, "the request is broken")
    for body in (b"0001", line("command=none\n") + b"0000", line("none\n") + b"0000", line("command=fetch") + b"0002", line("command=ls-refs") + b"00010001",
                 line("command=fetch") + b"0001" + line(none) + line("done") + b"0000", line("command=fetch") + b"0001" + line("none") + b"0000"):
        reply = anyone.request("POST", "/git/anvil.git/git-upload-pack", body, {**KIND, "Git-Protocol": "version=2"})
        equal(reply.status, 400, f"{body[:60]!r}: {reply}")
    contains(anyone.request("POST", "/git/anvil.git/git-upload-pack", b"zzzz", KIND).words, "bad line length character: zzzz")


def a_damaged_repository_is_the_servers_fault():
    tree = git("rev-parse", "HEAD^{tree}", cwd=bare(server)).strip()
    file = bare(server) / "objects" / tree[:2] / tree[2:]
    kept = file.rename(server.folder / "tree")
    try:
        reply = anyone.request("POST", "/git/anvil.git/git-upload-pack", line(f"want {baseline()}\n") + b"0000" + line("done\n"), KIND)
        equal(reply.status, 502, reply)
    finally:
        kept.rename(file)


def import_moves_the_baseline_and_export_gives_it_back():
    tree = server.folder / "tree"
    git("clone", "-q", f"{server.url}/git/anvil.git", tree)
    (tree / "NOTES").write_text("imported\n")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "search.o").write_bytes(b"\x7fELF")
    (tree / "anvil").write_bytes(b"\x7fELF\x02")
    (tree / "link").symlink_to("/etc/passwd")
    before = baseline()
    contains(server.command("engine", "import", server.data, tree, "--message", "Notes\n\nBench: 4242"), "main is now at")
    equal(git("rev-parse", f"{baseline()}^", cwd=bare(server)).strip(), before)
    commit = row(server, "SELECT * FROM known_commits WHERE sha = ?", baseline())
    equal((commit["bench"], commit["subject"]), (4242, "Notes"))
    contains(server.command("engine", "import", server.data, tree), "nothing to import")
    out = server.folder / "out"
    server.command("engine", "export", server.data, "main", out)
    equal(set(files(tree)) - set(files(out)), {"search.o", "anvil", "link"})
    equal(files(out)["run.sh"], (b"#!/bin/sh\n", True))
    done = server.command("engine", "export", server.data, "main", out, check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "not empty")


def import_to_a_branch_leaves_the_baseline_alone():
    tree = server.folder / "tree"
    (tree / "NOTES").write_text("on a branch\n")
    before = baseline()
    contains(server.command("engine", "import", server.data, tree, "--branch", "side"), "side is now at")
    equal(baseline(), before)
    equal(git("rev-parse", "refs/heads/side^", cwd=bare(server)).strip(), before)
    equal(server.command("engine", "import", server.data, tree, "--branch", "main", check=False).returncode, 1)


def fetch_brings_branches_and_baseline_only_moves_forward():
    other = server.folder / "other"
    git("clone", "-q", f"{server.url}/git/anvil.git", other)
    (other / "NOTES").write_text("from elsewhere\n")
    git("commit", "-qam", "Elsewhere", cwd=other)
    git("branch", "feature", cwd=other)
    contains(server.command("engine", "fetch", server.data, other, "feature", "--branch", "ours"), "ours is now at")
    done = server.command("engine", "fetch", server.data, other, "no-such", check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "no-such")
    old = baseline()
    contains(server.command("engine", "baseline", server.data, "ours"), "main is now at")
    equal(baseline(), git("rev-parse", "feature", cwd=other).strip())
    done = server.command("engine", "baseline", server.data, old, check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "only moves forward")
    contains(server.command("engine", "list", server.data), baseline())


def the_reference_speed_is_the_operators():
    contains(server.command("engine", "reference", server.data, "1500000", "--machine", "a Pentium"), "1500000 nodes/s, measured on a Pentium")
    equal(row(server, "SELECT reference_speed AS s FROM engines")["s"], 1.5e6)
    contains(server.command("engine", "list", server.data), "at 1500000 nodes/s, measured on a Pentium")
    contains(Client(server).get("/engines").words, "1,500,000 nodes/s of one slot, which a worker measured on a Pentium")
    for arguments, told in [(["fast", "--machine", "x"], "'fast' is not a speed"), (["1500000"], "with --machine NAME"),
                            (["1500000", "--machine", "two\nlines"], "machine"), ([], "with --worker"), (["--worker", "0"], "'0' is not the number"),
                            (["1500000", "--machine", "x", "--worker", "1"], "either"), (["--worker", "1", "--machine", "x"], "either"),
                            (["--worker", "1"], "machine 1 has measured no speed")]:
        done = server.command("engine", "reference", server.data, *arguments, check=False)
        equal(done.returncode, 1, arguments)
        contains(done.stderr, told)
    equal(row(server, "SELECT reference_speed AS s FROM engines")["s"], 1.5e6)
    equal(server.command("engine", "dance", server.data, check=False).returncode, 2)


def the_margin_of_an_engine_is_the_operators():
    contains(server.command("engine", "margin", server.data, "250"), "250 ms")
    equal(row(server, "SELECT margin_ms FROM engines")["margin_ms"], 250)
    for wrong in ("251", "5ms", ""):
        done = server.command("engine", "margin", server.data, wrong, check=False)
        equal(done.returncode, 1, wrong)
        contains(done.stderr, f"'{wrong}' is not a margin in milliseconds (0 to 250)")
    equal(row(server, "SELECT margin_ms FROM engines")["margin_ms"], 250)


try:
    run(a_clone_is_the_baseline_and_holds_the_engines_source,
        a_shallow_clone_and_a_single_test_reference_work,
        protocol_versions_0_and_2_are_spoken,
        a_push_is_refused_with_a_sentence_on_what_to_do,
        paths_of_files_and_strange_names_are_not_served,
        a_compressed_request_and_a_broken_one_are_answered,
        broken_lines_of_a_client_are_its_own_fault,
        a_damaged_repository_is_the_servers_fault,
        import_moves_the_baseline_and_export_gives_it_back,
        import_to_a_branch_leaves_the_baseline_alone,
        fetch_brings_branches_and_baseline_only_moves_forward,
        the_reference_speed_is_the_operators, the_margin_of_an_engine_is_the_operators)
finally:
    server.close()
    copy.cleanup()
