#!/usr/bin/python3
# test: plain only
"""Each script of `make lint` on a small tree of its own: it passes without a fault, and names the fault that is planted."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "kit_py"))
from tap import contains, equal, run, true  # noqa: E402

folder = None  # for trees
trees = 0

TURN = {"server/db/turn.h": "typedef struct Turn {\n    int at;\n} Turn;\n"}
BITBOARD = {"engine/rules/bitboard.h": "static inline int square_bb(int s) {\n    return 1 << s;\n}\n"}


def tree(files):
    """A git work tree with these files: path → text."""
    global trees
    trees += 1
    root = folder / str(trees)
    root.mkdir()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for command in ["init", "-q"], ["add", "."]:
        subprocess.run(["git", "-C", root, *command], check=True)
    return root


def lint(script, root, *arguments):
    """Exit status and output."""
    done = subprocess.run([sys.executable, TESTS / script, "--root", root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def passes(script, files, *arguments):
    status, output = lint(script, tree(files), *arguments)
    equal(status, 0, f"{script} on {', '.join(files)}: {output}")


def fails(script, files, line, *arguments):
    """`line`: a line of its output, or the beginning of one."""
    status, output = lint(script, tree(files), *arguments)
    equal(status, 1, f"{script} on {', '.join(files)}: {output}")
    contains("\n" + output, "\n" + line)


# ---- names.py ------------------------------------------------------------------------------------

STRUCT, OPAQUE = "typedef struct Job {\n    int a;\n} Job;\n", "typedef struct Job Job;\n"


def names_allows_what_only_one_file_shows():
    passes("names.py", TURN)
    passes("names.py", TURN | {"server/cli/a.c": STRUCT, "server/http/b.c": STRUCT})
    passes("names.py", TURN | {"server/cli/a.c": STRUCT, "worker/task/b.h": STRUCT})
    passes("names.py", TURN | {"server/cli/a.h": OPAQUE, "server/http/b.h": OPAQUE, "server/cli/a.c": "struct Job {\n    int a;\n};\n"})


def names_finds_a_name_that_is_given_twice():
    line = "one name, two meanings: {} is in {} and in {}"
    fails("names.py", TURN | {"server/cli/a.h": STRUCT, "worker/task/b.h": STRUCT}, line.format("Job", "server/cli/a.h", "worker/task/b.h"))
    fails("names.py", TURN | {"server/cli/a.c": STRUCT, "server/http/b.h": STRUCT}, line.format("Job", "server/cli/a.c", "server/http/b.h"))
    fails("names.py", TURN | {"server/cli/a.c": STRUCT, "server/http/b.h": OPAQUE, "server/http/b.c": STRUCT},
          line.format("Job", "server/cli/a.c", "server/http/b.c"))
    fails("names.py", TURN | {"server/cli/a.h": "enum { PAIRS_MAX = 2000 };\n", "worker/task/b.h": "enum { PAIRS_MAX = 20000 };\n"},
          line.format("PAIRS_MAX", "server/cli/a.h", "worker/task/b.h"))


def names_fails_if_it_sees_no_header():
    fails("names.py", {"server/db/turn.c": TURN["server/db/turn.h"]}, "tests/names.py: Turn of server/db/turn.h is not seen")


# ---- sizes.py ------------------------------------------------------------------------------------

def function(lines):
    return "int f(void) {\n" + "    ;\n" * (lines - 3) + "    return 0;\n}\n"


def sizes_allows_70_lines_400_lines_and_100_columns():
    passes("sizes.py", BITBOARD | {"sprt/a.c": function(70), "sprt/b.h": "\n" * 400, "sprt/c.c": f"// {'é' * 97}\n"})
    passes("sizes.py", BITBOARD | {"sprt/a.c": "// sizes: table\n" + "\n" * 400, "tests/data/b.c": "/" * 101 + "\n"})


def sizes_finds_long_functions_long_files_and_wide_lines():
    for path in "sprt/a.c", "sprt/a.h":
        fails("sizes.py", BITBOARD | {path: function(71)}, f"too long: 71 lines, {path}:1 f\n")
        fails("sizes.py", BITBOARD | {path: "\n" * 401}, f"too long: 401 lines, {path}\n")
        fails("sizes.py", BITBOARD | {path: f"\n// {'é' * 98}\n"}, f"too wide: 101 columns, {path}:2\n")


def sizes_fails_if_it_sees_no_header():
    fails("sizes.py", {"sprt/a.c": function(7)}, "tests/sizes.py: square_bb of engine/rules/bitboard.h is not seen")


# ---- words.py ------------------------------------------------------------------------------------

def words_allows_code_and_names():
    passes("words.py", {"server/a.c": 'int his; // of the user "nobody"\nint n = query_count;\n', "README.md": "x " * 60 + "\n"})


WRONG_WORDS = (
    ("worker/a.c", "\n// Nobody asks.\n", "worker/a.c:2: plain English: // Nobody asks."),
    ("web/a.html", "<p>his test</p>\n", "web/a.html:1: plain English: <p>his test</p>"),
    ("worker/a.h", "int a; // for the courier\n", "worker/a.h:1: the field's words: int a; // for the courier"),
    ("sprt/a.c", "    strcpy(a, b);\n", "sprt/a.c:1: functions that are never right: strcpy(a, b);"),
    ("server/a.c", "Query q = query_open(db, SQL_X);\n", "server/a.c:1: queries by their functions: Query q = query_open(db, SQL_X);"),
    ("server/a.c", "sql_x_with(db, err, &values);\n", "server/a.c:1: queries by their functions: "),
    ("server/README.md", "word " * 25 + "\n", "server/README.md:1: prose of more than 120 characters a line: "),
)


def words_finds_what_the_style_refuses():
    for path, text, line in WRONG_WORDS:
        fails("words.py", {path: text}, line)


def words_accepts_what_its_list_names_and_no_more():
    rule = "plain English"
    listed = {"tests/words_wrong.txt": f"# known\nworker/a.c\t{rule}\t1\n"}
    passes("words.py", listed | {"worker/a.c": "// Nobody asks.\n"})
    fails("words.py", listed | {"worker/a.c": "// Nobody asks.\n// Nobody tells.\n"}, f"worker/a.c:2: {rule}: // Nobody tells.")
    fails("words.py", listed | {"worker/a.c": "// Fine.\n"}, f"tests/words_wrong.txt: worker/a.c, {rule}: 0 are left, not 1")


# ---- graph.py ------------------------------------------------------------------------------------

def graph_table():
    spec = importlib.util.spec_from_file_location("graph", TESTS / "graph.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FOLDERS


def include(used, user):
    """A line that includes the header of folder `used`. An include of engine/ starts at engine/."""
    return f'#include "{used.removeprefix("engine/") if user.startswith("engine/") else used}/m.h"\n'


def modules():
    """A module in each folder of the table, which uses all that the table allows it."""
    files = {}
    for user, allowed in graph_table().items():
        files[f"{user}/m.h"] = "#pragma once\n"
        files[f"{user}/m.c"] = "".join(include(used, user) for used in sorted(allowed))
    return files


def compiled(sources):
    """A folder of object files: path of the .c → code."""
    out = tree(sources)
    for path in sources:
        subprocess.run(["gcc", "-c", path, "-o", path[:-2] + ".o"], cwd=out, check=True)
    return out


def graph(files, line=None, objects=None):
    place = compiled(objects or {})
    if line:
        fails("graph.py", files, line, place)
    else:
        passes("graph.py", files, place)


def graph_allows_what_its_table_allows():
    true(len(graph_table()) > 30, "the table is read")
    graph(modules())
    graph(modules(), objects={"server/ledger/m.c": "int b(void); int a(void) { return b(); }\n", "server/db/m.c": "int b(void) { return 0; }\n"})


def graph_finds_a_wrong_include():
    files = modules()
    files["server/db/m.h"] += include("server/routes", "server/db")
    graph(files, "wrong edge: server/db may not use server/routes: server/db/m.h:2 includes server/routes/m.h")


def graph_finds_a_wrong_call():
    graph(modules(), "wrong edge: server/ledger may not use server/pages: server/ledger/m.c uses b",
          {"server/ledger/m.c": "int b(void); int a(void) { return b(); }\n", "server/pages/m.c": "int b(void) { return 0; }\n"})


def graph_finds_an_allowed_edge_that_is_not_used():
    files = modules()
    files["server/routes/m.c"] = files["server/routes/m.c"].replace(include("server/db", "server/routes"), "")
    graph(files, "tests/graph.py: server/routes may use server/db and does not")


def graph_finds_a_circle_in_a_folder():
    graph(modules() | {"sprt/a.h": '#include "sprt/b.h"\n', "sprt/b.h": '#include "sprt/a.h"\n'}, "circle: sprt/a sprt/b")


def graph_finds_a_folder_that_is_not_in_the_table():
    graph(modules() | {"server/new/a.c": "\n"}, "server/new is not in the table of folders in tests/graph.py")


def graph_accepts_what_its_list_names_and_no_more():
    edge = "server/accounts/m -> server/storage/m"
    files = modules() | {"tests/graph_wrong.txt": f"# known\n{edge}\n"}
    graph(files, f"tests/graph_wrong.txt: no longer wrong, take it out: {edge}")
    files["server/accounts/m.c"] += include("server/storage", "server/accounts")
    graph(files)
    files["server/accounts/m.c"] += include("server/git", "server/accounts")
    graph(files, "wrong edge: server/accounts may not use server/git: server/accounts/m.c:4 includes server/git/m.h")


# ---- the tags of editors -------------------------------------------------------------------------

def tags_has_the_types_of_headers():
    place = folder / "tags"
    subprocess.run(["make", "-s", "tags", f"BUILD={place}"], cwd=TESTS.parent, check=True)
    contains((place / "tags").read_text(), "\nTurn\tserver/db/turn.h\t")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    run(names_allows_what_only_one_file_shows, names_finds_a_name_that_is_given_twice, names_fails_if_it_sees_no_header,
        sizes_allows_70_lines_400_lines_and_100_columns, sizes_finds_long_functions_long_files_and_wide_lines, sizes_fails_if_it_sees_no_header,
        words_allows_code_and_names, words_finds_what_the_style_refuses, words_accepts_what_its_list_names_and_no_more,
        graph_allows_what_its_table_allows, graph_finds_a_wrong_include, graph_finds_a_wrong_call,
        graph_finds_an_allowed_edge_that_is_not_used, graph_finds_a_circle_in_a_folder, graph_finds_a_folder_that_is_not_in_the_table,
        graph_accepts_what_its_list_names_and_no_more, tags_has_the_types_of_headers)
