#!/usr/bin/python3
# test: plain only
"""tests/run.py itself, on programs made up for it: each is told of when it ends, what it says of itself is read, and nothing passes by
saying nothing."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "kit_py"), str(TESTS)]
import run  # noqa: E402
import tap  # noqa: E402

# Runs shell scripts as the programs of one part.
RUN = """
import sys
sys.path.insert(0, {tests!r})
import run
run.BESIDE.clear()
run.PARTS = {{"made_up": lambda _: [run.Program(name, ["sh", "-c", script]) for name, script in {scripts!r}.items()]}}
sys.exit(run.main())
"""


@contextlib.contextmanager
def running(**scripts):
    with subprocess.Popen([sys.executable, "-c", RUN.format(tests=str(TESTS), scripts=scripts)], text=True, stdout=subprocess.PIPE) as process:
        yield process


def a_program_is_told_of_when_it_ends_though_earlier_ones_go_on():
    with tempfile.TemporaryDirectory() as folder:
        slow = f"until [ -e {folder}/go ]; do sleep 0.05; done; echo ok 1 - slow"
        with running(slow=slow, quick="echo ok 1 - quick") as process:
            first = process.stdout.readline()
            pathlib.Path(folder, "go").touch()
            rest = process.stdout.read().splitlines()
        tap.true(first.split()[:3] == ["quick", "1", "passed"], first)
        tap.true(first.split()[-2:] == ["s", "CPU"], first)
        tap.equal(rest[0].split()[0], "slow")
        tap.equal((rest[-1], process.returncode), ("2 passed, 0 failed, 0 skipped", 0))


def what_fails_says_nothing_or_is_killed_counts_as_a_failure():
    for script, line in (("echo not ok 1 - bad", "1 FAILED"), ("true", "1 FAILED"), ("echo ok 1; kill -9 $$", "1 passed, 1 FAILED")):
        with running(bad=script) as process:
            said = process.stdout.read().splitlines()
        tap.contains(said[0], line)
        tap.true(" 1 failed, 0 skipped" in said[-1] and process.returncode == 1, said)


def properties_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        return run.properties(file.name)


def a_script_says_its_properties_in_its_head():
    tap.equal(properties_of("#!/usr/bin/python3\n# test: first, plain if LONG\n"), {"first", "plain if LONG"})
    tap.equal(properties_of("#!/usr/bin/python3\nimport os\n"), set())


def an_unknown_property_is_an_error():
    try:
        properties_of("# test: first, plain if SHORT\n")
    except SystemExit as error:
        tap.contains(str(error), '"plain if SHORT"; there are: alone, first')
    else:
        raise AssertionError("it was taken")


def every_script_is_in_some_part():
    listed = set()
    for part in ("integration", "sanitized", "browser"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            sys.argv[1:] = ["--list", part]
            tap.equal(run.main(), 0)
        listed |= {line.rsplit("/", 1)[1] for line in out.getvalue().splitlines()}
    scripts = {path.stem.removeprefix("test_") for folder in ("integration", "browser") for path in (TESTS / folder).rglob("test_*.py")}
    tap.equal(sorted(scripts - listed), [])


if __name__ == "__main__":
    tap.run(a_program_is_told_of_when_it_ends_though_earlier_ones_go_on, what_fails_says_nothing_or_is_killed_counts_as_a_failure,
            a_script_says_its_properties_in_its_head, an_unknown_property_is_an_error, every_script_is_in_some_part)
