#!/usr/bin/python3
"""Bundles: a stranger checks the verdict of a test, and finds what was changed, by an owner or by the server's operator."""

import contextlib
import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import signing  # noqa: E402
from builds import BUILD  # noqa: E402
from database import add_test, sql  # noqa: E402
from played import packed, played, post_batch  # noqa: E402
from protocol import claim  # noqa: E402
from server import Server, wait_until  # noqa: E402
from tap import contains, equal, run, true  # noqa: E402

server = None
TEST = 0
FOLDER = None


def post(worker, task, seq, outcomes):
    """Some random games come to where none of the outcomes is left; then others are played."""
    for seed in range(100):
        with contextlib.suppress(subprocess.CalledProcessError):
            return post_batch(worker, task, seq, outcomes, seed=1000 * task["id"] + 100 * seq + seed)
    raise RuntimeError("no such games were found")


def play_to_the_end():
    """An SPRT that three machines bring to its verdict."""
    workers = [server.worker(key=f"{i:032x}", name=f"machine {i}") for i in range(3)]
    patterns = ["3334", "4343", "2334"]
    while sql(server, "SELECT state FROM tests WHERE id = ?", TEST) == [("active",)]:
        for number, worker in enumerate(workers):
            reply = claim(worker)
            if reply.status != 200:
                break
            task = reply.json
            for seq in range(min(3, task["pairs"] // 4)):
                if not post(worker, task, seq, patterns[(number + seq) % 3]).json["continue"]:
                    break
            worker.api("POST", f"/tasks/{task['id']}/release", {"started_pairs": 0})


def bundle(name="good.tar", data=None, test=None):
    path = FOLDER / name
    path.unlink(missing_ok=True)
    words = server.command("bundle", data or server.data, test or TEST, path)
    contains(words, f"server verify {path}")
    return path


def verify(path):
    """Exit status, and what it says."""
    done = subprocess.run([BUILD / "server", "verify", path], capture_output=True, text=True, env={"PATH": "/nowhere"})
    return done.returncode, done.stdout + done.stderr


def replay(data, test=None):
    done = server.command("replay", data, test or TEST, check=False)
    return done.returncode, done.stdout + done.stderr


def members(path):
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}


def write_bundle(name, content, sums=True):
    """A bundle of other members, with sums that fit: what a liar would write. Its headers are those of the server's."""
    if sums:
        content = {**content, "SHA256SUMS": "".join(f"{hashlib.sha256(data).hexdigest()}  {member}\n"
                                                    for member, data in content.items() if member != "SHA256SUMS").encode()}
    with tarfile.open(FOLDER / name, "w", format=tarfile.USTAR_FORMAT) as tar:
        for member, data in content.items():
            info = tarfile.TarInfo(member)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    data = (FOLDER / name).read_bytes()
    end = len(data.rstrip(b"\0"))  # tarfile fills its last record
    end += -end % 512 + 1024
    (FOLDER / name).write_bytes(data[:end])
    return FOLDER / name


def a_bundle_of_a_decided_test_holds():
    path = bundle()
    status, words = verify(path)
    equal(status, 0, words)
    batches = sql(server, "SELECT count(*) FROM batches WHERE test_id = ?", TEST)[0][0]
    contains(words, f"holds  files: {batches + 4} files")
    contains(words, f"holds  signatures: {batches} batches")
    contains(words, f"holds  games: {8 * batches} games of {batches} batches")
    contains(words, "holds  places: no pair counts twice")
    true(re.search(r"holds  verdict: \d+ pairs in the order of their positions make: LLR \d\.\d+ .* accepted", words), words)
    contains(words, "network of machine 1: ")
    true("127.0.0.1" not in "".join(data.decode(errors="replace") for data in members(path).values()), "addresses are not for strangers")
    true(re.search(r"machines: [23], vouched for", words), words)
    contains(words, "everything that can be checked holds")


def standard_tools_open_it():
    path = bundle()
    folder = FOLDER / "unpacked"
    folder.mkdir()
    subprocess.run(["tar", "-xf", path, "-C", folder], check=True)
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=True)
    equal(json.loads((folder / "manifest.json").read_text())["test"]["result"], "accepted")


def every_changed_byte_is_found():
    """In each member, in each kind of header field, in what fills blocks, and at the end."""
    path = bundle()
    data = path.read_bytes()
    with tarfile.open(path) as tar:
        heads = [member.offset for member in tar.getmembers()]
        bodies = [member.offset_data for member in tar.getmembers()]
    places = [*heads, *[head + at for head in heads[:2] for at in (101, 110, 125, 137, 150, 156, 160, 258, 264, 266, 300, 330, 340, 400, 511)],
              *[body + at for body in bodies for at in (0, 70)], heads[1] - 1, len(data) - 1, len(data) - 1024]
    for at in places:
        changed = bytearray(data)
        changed[at] ^= 1
        (FOLDER / "changed.tar").write_bytes(changed)
        status, words = verify(FOLDER / "changed.tar")
        equal(status, 1, f"byte {at}: {words}")
        contains(words, "get ")
        contains(words, "again from where it came from" if "again from" in words else "damaged")


def a_file_that_is_cut_off_or_longer_is_refused():
    path = bundle()
    data = path.read_bytes()
    for other in (b"", b"x", data[:100], data[:512], data[:len(data) // 2], data[:-512], data[:-1024], data + b"\0" * 512, data + b"x", data + data):
        (FOLDER / "cut.tar").write_bytes(other)
        status, words = verify(FOLDER / "cut.tar")
        equal(status, 1, words)
        contains(words, "again")
    equal(verify(FOLDER / "nothing.tar")[0], 1)


def a_missing_file_is_named():
    whole = members(bundle())
    for name in list(whole)[1:]:
        status, words = verify(write_bundle("missing.tar", {member: data for member, data in whole.items() if member != name}, sums=False))
        equal(status, 1)
        contains(words, f"{name}")
        contains(words, "missing")
    games = [name for name in whole if name.startswith("games/")]
    status, words = verify(write_bundle("missing.tar", {member: data for member, data in whole.items() if member != games[1]}))
    equal(status, 1)
    contains(words, "WRONG  games: batch")
    contains(words, f"{games[1]} is not in the bundle")


def lie(change_test=None, change_batches=None, change_games=None, name="lie.tar"):
    """What `verify` says of a bundle that its operator changed, with sums that fit."""
    content = members(bundle())
    manifest = json.loads(content["manifest.json"])
    batches = [json.loads(line) for line in content["batches.jsonl"].splitlines()]
    if change_test:
        change_test(manifest)
    if change_batches:
        change_batches(batches)
    if change_games:
        change_games(content, batches)
    content["manifest.json"] = json.dumps(manifest).encode()
    content["batches.jsonl"] = "".join(json.dumps(batch) + "\n" for batch in batches).encode()
    status, words = verify(write_bundle(name, content))
    return status, words


def found(words, *wanted, **how):
    status, said = lie(**how)
    equal(status, 1, said)
    contains(said, words)
    for word in wanted:
        contains(said, word)


def what_an_operator_changes_in_a_bundle_is_found():
    def other(result):
        result["outcomes"] = "4444"
        result.update(wins=8, losses=0, draws=0)
    found("WRONG  signatures: batch", "is not what its machine signed", "WRONG  games", change_batches=lambda b: other(b[0]["result"]))
    found("WRONG  games", "outcomes are digits 0 to 4", "WRONG  verdict: 20 pairs count", change_batches=lambda b: b[0]["result"].update(outcomes="xxxx"))
    found("WRONG  signatures", change_batches=lambda b: b[1].update(tc="9.000+0.100"))
    found("WRONG  signatures", change_batches=lambda b: b[1].update(signature=b[0]["signature"]))
    found("has no signature", change_batches=lambda b: b[1].update(signature=""))
    found("its machine did not register", change_test=lambda m: m["keys"].pop())
    found("WRONG  places: task", "is missing or comes twice", change_batches=lambda b: b.pop(1))
    found("WRONG  verdict", "comes next", change_batches=lambda b: b[0].update(position=2))
    found("WRONG  verdict", "comes next", change_batches=lambda b: b.append(b.pop(0)))
    found("WRONG  verdict", "is not in its place", change_batches=lambda b: b[1].update(position=None))
    found("WRONG  verdict: the test is rejected, and its batches make: accepted", change_test=lambda m: m["test"].update(result="rejected"))
    found("WRONG  verdict", "counting again gives", change_test=lambda m: m["test"]["counts"].update(wins=1))
    found("WRONG  verdict", change_test=lambda m: m["test"]["parameters"].update(alpha=0.01))
    found("WRONG  games", "opening", change_test=lambda m: m["test"].update(seed=43))
    found("WRONG  games", "was to play at", change_test=lambda m: [side.update(tc="20+0.2") for side in m["sides"]])
    found("WRONG  verdict", "nothing yet", change_test=lambda m: m["exclusions"].append(
        {"kind": "machine", "machine": 1, "which": "all", "undone": None, "reason": "\x1b[31mluck", "user": "root"}))
    found("WRONG  evidence", change_test=lambda m: m["test"].update(workload="dice"))


def strange_forms_are_refused_in_words():
    for bad in ({"batch_pairs": 0}, {"batch_pairs": 1 << 50}, {"pairs_max": -1}, {"scale_min": 0}, {"adjudication": 7}, {"parameters": []},
                {"parameters": {"elo0": "x"}}, {"installation": "x\ny"}):
        found("WRONG  evidence", change_test=lambda m, bad=bad: m["test"].update(bad))
    for bad in ({"units": 1 << 40}, {"level": 9}, {"first_pair": -4}, {"result": 7}, {"told": None}, {"speed": 0}, {"owner": "x" * 300}, {"tc": "1" * 70}):
        found("batch 2 of the log cannot be read", change_batches=lambda b, bad=bad: b[1].update(bad))
    found("use the program of the version that wrote it", change_test=lambda m: m.update(format="patchmate bundle 2"))


def an_owner_who_lied_about_a_result_is_found():
    """The machine signed counts that its own games contradict, and the server let it pass."""
    def sign(batch, manifest, task):
        body = {"seq": batch["seq"], "result": batch["result"], "tc": batch["tc"], "thought": batch["thought"], "games_sha256": batch["games"]}
        batch["signature"] = signing.signature(signing.text_of(manifest["test"]["installation"], manifest["test"]["id"], task, body))

    manifest = json.loads(members(bundle())["manifest.json"])

    def counts(batches):
        batches[0]["result"].update(outcomes="4444", wins=8, losses=0, draws=0)
        sign(batches[0], manifest, batches[0]["task"])

    def draws(batches):
        batches[0]["result"].update(wins=batches[0]["result"]["wins"] + 1, losses=batches[0]["result"]["losses"] + 1, draws=batches[0]["result"]["draws"] - 2)
        sign(batches[0], manifest, batches[0]["task"])

    def games(content, batches):
        batch = batches[0]
        task = {"first_pair": batch["first_pair"], "test": {"batch_pairs": 4, "adjudication": manifest["test"]["adjudication"], "variant": "standard"},
                "openings": [{"fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "moves": "e2e4 c7c5"}] * 4,
                "sides": [{"name": "new", "tc": "10+0.1"}]}
        invented = packed(played(task, 0, batch["result"]["outcomes"]))
        del content[f"games/{batch['games']}.jsonl.zst"]
        batch["games"] = hashlib.sha256(invented).hexdigest()
        content[f"games/{batch['games']}.jsonl.zst"] = invented
        sign(batch, manifest, batch["task"])

    for change in ({"change_batches": counts}, {"change_batches": draws}, {"change_games": games}):
        status, words = lie(**change)
        equal(status, 1, words)
        contains(words, "holds  signatures")
        contains(words, "WRONG  games: batch 0 of task")


def an_operator_who_changes_the_database_is_found():
    """`bundle` writes what the database says, and `verify` and `replay` find it."""
    for statement in ("UPDATE batches SET result = json_set(result, '$.outcomes', '4444', '$.wins', 8, '$.losses', 0, '$.draws', 0) WHERE id = {}",
                      "UPDATE batches SET position = -position WHERE id = {}", "DELETE FROM batches WHERE id = {}",
                      "UPDATE batches SET speed = 2e6 WHERE id = {}", "UPDATE batches SET signature = NULL, key_id = NULL WHERE id = {}",
                      "UPDATE tests SET result = 'rejected' WHERE id = {test}"):
        data = FOLDER / "data"
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(server.data, data)
        copy = type("Copy", (), {"data": data})
        sql(copy, statement.format("(SELECT min(id) FROM batches WHERE test_id = {test})", test=TEST).format(test=TEST))
        for status, words in (verify(bundle("other.tar", data)), replay(data)):
            equal(status, 1, f"{statement}: {words}")
            contains(words, "WRONG  ")


def a_test_is_replayed_where_it_is():
    status, words = replay(server.data)
    equal(status, 0, words)
    contains(words, "everything that can be checked holds")
    equal(replay(server.data, 999), (1, "server: there is no test 999\n"))
    equal(replay(server.data, "x")[0], 1)
    equal(replay(FOLDER / "nowhere")[0], 1)


def dropped_games_are_named():
    data = FOLDER / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(server.data, data)
    copy = type("Copy", (), {"data": data})
    shas = [sha for sha, in sql(copy, "SELECT games_sha256 FROM batches WHERE test_id = ?", TEST)]
    for sha in shas:
        (data / "blobs" / sha[:2] / sha).unlink()
    done = server.command("bundle", data, TEST, FOLDER / "lost.tar", check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "restore the blobs from a backup")
    true(not (FOLDER / "lost.tar").exists(), "half a bundle")
    sql(copy, "UPDATE tests SET games_dropped = 1790000000 WHERE id = ?", TEST)
    done = server.command("bundle", data, TEST, FOLDER / "lost.tar")
    contains(done, f"The games of {len(shas)} batches are not in it")
    for status, words in (verify(FOLDER / "lost.tar"), replay(data)):
        equal(status, 0, words)
        contains(words, f"not checked: the games of {len(shas)} batches")
        contains(words, f"holds  signatures: {len(shas)} batches")


def a_bundle_overwrites_nothing():
    path = bundle()
    done = server.command("bundle", server.data, TEST, path, check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "cannot create")
    equal(verify(path)[0], 0)
    equal(server.command("bundle", server.data, 999, FOLDER / "none.tar", check=False).returncode, 1)
    true(not (FOLDER / "none.tar").exists(), "a bundle of nothing")
    equal([server.command(*words, check=False).returncode for words in (["verify"], ["replay", server.data], ["bundle", server.data])], [2, 2, 2])


def tests_of_other_workloads_hold_as_well():
    for workload in ("fixed", "width"):
        test = add_test(server, workload=workload, tc="10+0.1", pairs_max=8)
        worker = server.worker(key="w" * 32)
        for outcomes in ("1234", "2201"):
            task = wait_until(lambda: (reply := claim(worker)).status == 200 and reply.json)
            equal(task["test"]["id"], test)
            equal(post(worker, task, 0, outcomes).status, 200)
        equal(sql(server, "SELECT result FROM tests WHERE id = ?", test), [("completed",)])
        status, words = verify(bundle(f"{workload}.tar", test=test))
        equal(status, 0, words)
        contains(words, "8 pairs in the order of their positions make")


if __name__ == "__main__":
    with Server(start=False) as server, tempfile.TemporaryDirectory(prefix="patchmate-bundle-") as folder:
        TEST, FOLDER = add_test(server, tc="10+0.1", parameters=json.dumps(
            {"elo0": 0, "elo1": 50, "model": "logistic", "alpha": 0.05, "beta": 0.05})), pathlib.Path(folder)
        server.start()
        play_to_the_end()
        run(a_bundle_of_a_decided_test_holds, standard_tools_open_it, every_changed_byte_is_found,
            a_file_that_is_cut_off_or_longer_is_refused, a_missing_file_is_named, what_an_operator_changes_in_a_bundle_is_found,
            strange_forms_are_refused_in_words, an_owner_who_lied_about_a_result_is_found, an_operator_who_changes_the_database_is_found,
            a_test_is_replayed_where_it_is, dropped_games_are_named, a_bundle_overwrites_nothing, tests_of_other_workloads_hold_as_well)
