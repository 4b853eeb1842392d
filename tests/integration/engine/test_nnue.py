#!/usr/bin/python3
"""Nets as their users meet them: the published net and its example outputs, the commands eval, net and bench, the option
EvalFile, and the build with a net of one's own."""
import hashlib
import json
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kit_py"))
from tap import Skip, contains, equal, run, true  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENGINE = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "engine"))
SHARED = pathlib.Path(os.environ.get("PATCHMATE_SHARED", ROOT / ".." / "shared"))
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
SCRATCH = tempfile.TemporaryDirectory(prefix="patchmate-nnue-")
FOLDER = pathlib.Path(SCRATCH.name)


def engine(*words, lines=(), status=0):
    """Output and complaints of one command."""
    done = subprocess.run([ENGINE, *map(str, words)], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True)
    equal(done.returncode, status, f"status of {words}: {done.stderr}")
    return done.stdout, done.stderr


def published_net():
    """The net of the shared data, unpacked once."""
    packed, path = SHARED / "data/nets/nn-62ef826d1a6d.nnue.xz", FOLDER / "published.nnue"
    if not packed.exists():
        raise Skip("needs ../shared")
    if not path.exists():
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


def vectors():
    path = SHARED / "data/vectors/nnue.json"
    if not path.exists():
        raise Skip("needs ../shared")
    return json.loads(path.read_text())


class Bits:
    """Bits that fill bytes from the lowest on."""

    def __init__(self):
        self.value = self.count = 0

    def put(self, value, count):
        self.value |= value << self.count
        self.count += count

    def bytes(self):
        return self.value.to_bytes((self.count + 7) // 8, "little")


def row_of(weight, k=4):
    """256 times the same weight: no difference from another row, k, and each in Rice's code."""
    row, folded = Bits(), 2 * weight if weight >= 0 else -2 * weight - 1
    row.put(0, 1)
    row.put(k, 4)
    for _ in range(256):
        row.put((1 << (folded >> k)) - 1, (folded >> k) + 1)
        row.put(folded % (1 << k), k)
    return row


def small_net(name="small.net", bias=100):
    """A compact net of one bucket in which own pawns count for and theirs against the side to move: written here by the
    description of the form, not by the engine."""
    bits = Bits()
    for feature in range(640):
        row = row_of({0: 8, 1: -8}.get(feature // 64, 0))
        bits.put(row.value, row.count)
    dense = struct.pack("<32i", *[0] * 32) + bytes([1] * 256 + [255] * 256) * 32
    dense += struct.pack("<32i", *[0] * 32) + b"".join(bytes(64 if i == o else 0 for i in range(32)) for o in range(32))
    dense += struct.pack("<i", 0) + bytes([10] * 32)
    rows = bits.bytes()
    text = b"AnvilNet" + struct.pack("<II", 1, 1) + bytes(32) + struct.pack("<256h", *[bias] * 256) + dense
    text += struct.pack("<I", len(rows)) + rows
    path = FOLDER / name
    path.write_bytes(text + struct.pack("<I", zlib.crc32(text)))
    return path


# ---- the published net --------------------------------------------------------------------------------------------------------


def every_example_output_agrees_in_every_field():
    positions, net = vectors()["positions"], published_net()
    fens = [position["fen"] for position in positions]
    lines = engine("eval", "--net", net, "--features", lines=fens)[0].splitlines()
    equal(len(lines), len(positions), "lines")
    fields = ("raw", "value", "in_check", "legal_moves", "features", "index_sum", "acc_sum", "clipped_sum", "h1", "h2")
    for position, line in zip(positions, lines):
        ours = json.loads(line)
        for field in fields:
            equal(ours[field], position[field], f"{field} of {position['group']} {position['fen']}")


def eval_prints_raw_outputs_one_a_line():
    positions, net = vectors()["positions"], published_net()
    lines = engine("eval", "--net", net, lines=[position["fen"] for position in positions])[0].splitlines()
    equal([int(line) for line in lines], [position["raw"] for position in positions])


def the_published_net_is_written_as_it_was_read():
    net, again = published_net(), FOLDER / "again.nnue"
    contains(engine("net", net, "--published", again)[0], "41024, 64 kinds")
    wanted = vectors()["net"]["sha256"]
    equal(hashlib.sha256(again.read_bytes()).hexdigest(), wanted, "SHA-256")


# ---- nets of one's own ----------------------------------------------------------------------------------------------------------


def a_valid_compact_net_is_read_with_its_values():
    # With a pawn more, 256 inputs are greater by 16 than the other 256: 64 after the shift, in each of 32, ten times.
    fens = [START, "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b - - 0 1"]
    net = small_net(bias=50)
    equal(engine("eval", "--net", net, lines=fens)[0].split(), ["0", str(32 * 10 * 64), "0"])
    contains(engine("net", net)[0], "640, 2 kinds")


def a_compact_net_in_the_published_form_says_the_same():
    net, published = small_net(), FOLDER / "expanded.nnue"
    engine("net", net, "--published", published)
    equal(published.stat().st_size, 21022697, "bytes")
    fens = ["r1bqkb1r/pppp1ppp/2n2n2/4p3/4P3/5N2/PPP2PPP/RNBQKB1R w KQkq - 0 1", "8/pp6/8/3k4/8/4K3/5P2/8 b - - 0 1"]
    equal(engine("eval", "--net", published, lines=fens), engine("eval", "--net", net, lines=fens))


def damaged_nets_are_refused_with_a_reason():
    net, bad = small_net(), FOLDER / "bad.net"
    text = net.read_bytes()
    for broken, reason in ((text[:-1], "bytes long, but should be"), (text[:100], "within its header"),
                           (text[:5000] + b"\x77" + text[5001:], "CRC-32"), (b"", "ends at byte 0"), (b"nothing", "ends at byte 7"),
                           (b"no net at all, but long enough for a header", "the version is 0x6E206F6E")):
        bad.write_bytes(broken)
        for words in (("eval", "--net", bad), ("net", bad), ("bench", "--net", bad, "1")):
            contains(engine(*words, status=1)[1], reason)
    contains(engine("eval", "--net", FOLDER / "nowhere", status=1)[1], "cannot open it")


def bad_positions_are_named_and_the_rest_is_judged():
    net = small_net()
    out, complaints = engine("eval", "--net", net, lines=["no position", "", START], status=1)
    equal(out.split(), ["0"])
    contains(complaints, "no position")


def without_a_net_eval_prints_the_classical_score():
    out, _ = engine("eval", "--net", "none", lines=[START])
    true(out.endswith(f" {START}\n"), out)
    engine("eval", "--net", "none", "--features", status=2)


def bench_counts_other_nodes_with_a_net():
    plain, other = (engine("bench", "--net", net, "5")[0] for net in ("none", small_net()))
    count = [line.split(":")[1] for text in (plain, other) for line in text.splitlines() if line.startswith("Nodes searched")]
    true(count[0] != count[1], f"nodes {count}")
    engine("bench", "--net", status=2)


# ---- UCI --------------------------------------------------------------------------------------------------------------------------


def eval_file_takes_a_net_and_none():
    net = small_net("a net with blanks.net", bias=50)
    fen = "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"
    out, _ = engine(lines=["uci", f"position fen {fen}", f"setoption name EvalFile value {net}", "eval",
                           "setoption name EvalFile value /no/such/net", "eval", "go depth 4", "setoption name EvalFile value none",
                           "quit"])
    contains(out, "option name EvalFile type string default <default>")
    score = 32 * 10 * 64 * 100 // 3328
    equal(out.count(f"eval {score} cp for the side to move"), 2, out)
    contains(out, "setoption: EvalFile: /no/such/net: cannot open it: No such file or directory; the old net stays")
    contains(out, "bestmove ")


def eval_file_none_is_the_classical_evaluation():
    net, fen = small_net(), START
    plain = engine(lines=["setoption name EvalFile value none", f"position fen {fen}", "eval", "quit"])[0]
    back = engine(lines=[f"setoption name EvalFile value {net}", "setoption name EvalFile value none", f"position fen {fen}", "eval",
                         "quit"])[0]
    equal(back, plain)


# ---- the build ----------------------------------------------------------------------------------------------------------------------


def make(folder, *words):
    done = subprocess.run(["make", "-C", folder, "LTO=", "OPT=-O0", "ARCH=", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def name_net(folder, net):
    """Makes `net` the default net of the engine in `folder`."""
    name = hashlib.sha256(net.read_bytes()).hexdigest()
    shutil.copy(net, folder / "nets" / name)
    (folder / "net").write_text(name + "\n")


def copy_of_the_engine():
    folder = FOLDER / "engine"
    if not folder.exists():
        shutil.copytree(ROOT / "engine", folder, ignore=shutil.ignore_patterns("obj", "anvil", "nets", "net"))
        (folder / "nets").mkdir()
    return folder


def the_build_embeds_the_net_that_the_file_net_names():
    folder = copy_of_the_engine()
    name_net(folder, small_net(bias=50))
    status, said = make(folder, "-j2")
    equal(status, 0, said)
    fen = "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"

    def ask():
        return subprocess.run([folder / "anvil", "eval"], input=fen + "\n", capture_output=True, text=True).stdout
    equal(ask(), f"{32 * 10 * 64}\n")
    (folder / "net").write_text("none\n")
    status, said = make(folder)
    equal(status, 0, said)
    true(ask().endswith(f" {fen}\n"), "the net is still there")


def a_net_that_is_missing_or_damaged_ends_the_build_with_a_sentence():
    folder = copy_of_the_engine()
    target = folder / "obj/nnue/embedded.o"
    (folder / "net").write_text("ab" * 32 + "\n")
    status, said = make(folder, target.relative_to(folder))
    true(status != 0, "the build went on")
    contains(said, "anvil: the file net names " + "ab" * 32 + ", and nets/ has no file of that name")
    (folder / "nets" / ("ab" * 32)).write_bytes(b"something else")
    status, said = make(folder, target.relative_to(folder))
    true(status != 0, "the build went on")
    contains(said, "is damaged: its SHA-256 is not its name")


def a_64_bit_arm_says_the_same():
    arm, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"
    if not shutil.which(arm) or not shutil.which(emulator):
        raise Skip(f"needs {arm} and {emulator}")
    folder, net = copy_of_the_engine(), small_net(bias=50)
    name_net(folder, net)
    status, said = make(folder, "-j2", f"CC={arm}", "EXTRA=-static", "OBJ=obj-arm", "EXE=anvil-arm")
    equal(status, 0, said)
    fens = [START, "rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", "8/pp6/8/3k4/8/4K3/5P2/8 b - - 0 1",
            "r1bqkb1r/pppp1ppp/2n2n2/4p3/4P3/5N2/PPP2PPP/RNBQKB1R w KQkq - 0 1"]

    def there(*words, lines=()):
        return subprocess.run([emulator, folder / "anvil-arm", *map(str, words)], input="".join(f"{line}\n" for line in lines),
                              capture_output=True, text=True, check=True).stdout
    contains(there("net", "<default>"), "NEON")
    equal(there("eval", lines=fens), engine("eval", "--net", net, lines=fens)[0])
    nets = [net] + ([published_net()] if (SHARED / "data/nets").exists() else [])
    for other in nets:
        equal(there("eval", "--net", other, "--features", lines=fens), engine("eval", "--net", other, "--features", lines=fens)[0])
        equal(there("eval", "--net", other, lines=fens), engine("eval", "--net", other, lines=fens)[0])

    def nodes(text):
        return [line for line in text.splitlines() if line.startswith("Nodes searched")]
    equal(nodes(there("bench", "4")), nodes(engine("bench", "--net", net, "4")[0]))


run(every_example_output_agrees_in_every_field, eval_prints_raw_outputs_one_a_line, the_published_net_is_written_as_it_was_read,
    a_valid_compact_net_is_read_with_its_values, a_compact_net_in_the_published_form_says_the_same,
    damaged_nets_are_refused_with_a_reason, bad_positions_are_named_and_the_rest_is_judged,
    without_a_net_eval_prints_the_classical_score, bench_counts_other_nodes_with_a_net, eval_file_takes_a_net_and_none,
    eval_file_none_is_the_classical_evaluation, the_build_embeds_the_net_that_the_file_net_names,
    a_net_that_is_missing_or_damaged_ends_the_build_with_a_sentence, a_64_bit_arm_says_the_same)
