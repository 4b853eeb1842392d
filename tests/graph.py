#!/usr/bin/python3
"""Which folder may depend on which, for `make lint`.

An edge leads from one module (thing.c and thing.h) to another where it includes its header, and where its object file names a
symbol that the other one defines (`nm`); so a call through a table is an edge of the file that fills the table. FOLDERS is the
table of allowed edges between folders; each of them is used. There is no circle between folders, and none between modules of
one folder but the ones that CIRCLES names. tests/graph_wrong.txt lists edges that are still wrong; it may only shrink.

usage: tests/graph.py [--root FOLDER] [--print] [--list] OBJECTS…
  --root FOLDER   a git work tree, this one unless told
  --print         prints the folders and what they use
  --list          prints what graph_wrong.txt should hold
  OBJECTS         folders with object files, laid out as the sources are
"""
import argparse
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WRONG = "tests/graph_wrong.txt"
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)

SERVER = "accounts storage git patch ledger http submit pages routes"

# A folder may use itself and what stands here. "server/start" and its like are modules at the top of their part.
FOLDERS = {name: set(allowed.split()) for name, allowed in {
    "server/common": "",
    "server/db": "server/common",
    "server/accounts": "server/common server/db",
    "server/storage": "server/common server/db engine/rules engine/book",
    "server/git": "server/common server/db server/storage",
    "server/patch": "server/common server/git",
    "server/ledger": "server/common server/db server/storage server/git sprt engine/rules",
    "server/proof": "server/common server/db server/storage server/ledger",
    "server/http": "server/common server/db server/accounts",
    "server/submit": "server/common server/db server/accounts server/storage server/git server/patch server/ledger",
    "server/pages": "server/common server/db server/accounts server/storage server/git server/patch server/ledger server/http "
                    "server/submit sprt engine/rules",
    "server/routes": "server/common server/db server/accounts server/storage server/git server/ledger server/http server/submit "
                     "server/pages",
    "server/loop": "server/common server/db server/accounts server/git server/ledger server/http",
    "server/cli": "server/common server/db server/accounts server/storage server/git server/ledger server/submit server/proof "
                  "engine/rules",
    "server/start": "server/common server/db server/storage server/git server/ledger server/http server/submit server/pages "
                    "server/routes server/loop engine/rules",
    "server/main": "server/common server/cli server/start",

    "worker/os": "server/common",
    "worker/console": "server/common worker/os",
    "worker/sandbox": "server/common worker/os",
    "worker/uci": "server/common worker/os",
    "worker/match": "server/common worker/os worker/uci engine/rules",
    "worker/match_cli": "server/common worker/os worker/match sprt engine/rules",
    "worker/api": "server/common worker/os worker/console",
    "worker/cache": "server/common worker/os worker/console worker/api",
    "worker/build": "server/common worker/os worker/console worker/sandbox worker/cache",
    "worker/results": "server/common worker/os worker/console worker/api worker/match",
    "worker/setup": "server/common worker/os worker/sandbox worker/api worker/build worker/results worker/match",
    "worker/task": "server/common worker/os worker/console worker/sandbox worker/uci worker/match worker/api worker/cache worker/build "
                   "worker/results worker/setup engine/rules",
    "worker/selftest": "server/common worker/os worker/sandbox worker/uci worker/match worker/api worker/cache worker/build "
                       "worker/setup",
    "worker/daemon": "server/common worker/os worker/console worker/sandbox worker/api worker/cache worker/results worker/setup "
                     "worker/task",
    "worker/main": "server/common worker/os worker/console worker/sandbox worker/api worker/cache worker/results worker/setup "
                   "worker/daemon worker/selftest",
    "worker/match_main": "server/common worker/os worker/api worker/match worker/match_cli engine/rules",

    "engine/base": "",
    "engine/rules": "",
    "engine/book": "engine/base engine/rules",
    "engine/nnue": "engine/base engine/rules",
    "engine/eval": "engine/base engine/rules",
    "engine/search": "engine/base engine/rules engine/nnue engine/eval",
    "engine/uci": "engine/base engine/rules engine/nnue engine/search",
    "engine/commands": "engine/base engine/rules engine/book engine/nnue engine/eval engine/search",
    "engine/learn": "engine/base engine/rules engine/nnue engine/eval engine/search engine/commands",
    "engine/main": "engine/commands engine/learn engine/uci",

    "sprt": "",
}.items()}

# The search calls itself: a node searches its moves, and a move is a node.
CIRCLES = [{"engine/search/alphabeta", "engine/search/extend", "engine/search/prune", "engine/search/pvs"}]


def folder_of(module):
    """Modules at the top of server/, worker/ and engine/ are folders of their own; all of sprt/ is one."""
    parts = module.split("/")
    return parts[0] if parts[0] == "sprt" else "/".join(parts[:2])


def sources(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "server/*.[ch]", "worker/*.[ch]", "engine/*.[ch]", "sprt/*.[ch]"],
                            cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if "/inside/" not in path and os.path.exists(os.path.join(root, path))]


def header_path(path, name):
    """An include of engine/ starts at engine/. The headers that the build makes of sql/ stand for server/db, which they call."""
    if name.startswith("sql/"):
        return "server/db/query.h"
    return f"engine/{name}" if path.startswith("engine/") else name


class Graph:
    def __init__(self, root=ROOT):
        self.root = root
        self.edges = collections.defaultdict(lambda: collections.defaultdict(set))  # module → module → reasons
        self.functions = collections.Counter()  # by module
        self.modules = set()

    def add(self, user, used, why):
        if user != used:
            self.edges[user][used].add(why)

    def read_includes(self):
        for path in sources(self.root):
            module = path.rsplit(".", 1)[0]
            self.modules.add(module)
            with open(os.path.join(self.root, path), encoding="utf-8") as f:
                text = f.read()
            for match in INCLUDE.finditer(text):
                used = header_path(path, match.group(1))
                if "/" in used:
                    self.add(module, used.rsplit(".", 1)[0], f"{path}:{text[:match.start()].count(chr(10)) + 1} includes {match.group(1)}")

    def read_objects(self, folders):
        defined, undefined = {}, collections.defaultdict(set)
        for module, path in objects(self.root, folders):
            for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
                kind, symbol = line.split()[-2:]
                if kind == "U":
                    undefined[module].add(symbol)
                elif kind in "TDBRCVW":
                    defined[symbol] = module
                if kind in "Tt":
                    self.functions[module] += 1
        for module, symbols in undefined.items():
            for symbol in symbols & defined.keys():
                self.add(module, defined[symbol], f"{module}.c uses {symbol}")

    def folders(self):
        """Folder → folder → the first edge between modules, with its reason."""
        result = collections.defaultdict(dict)
        for user in sorted(self.edges):
            for used in sorted(self.edges[user]):
                if folder_of(user) != folder_of(used):
                    result[folder_of(user)].setdefault(folder_of(used), min(self.edges[user][used]))
        return result

    def wrong(self):
        """(user, used) → reason, for edges between folders that the table does not allow."""
        found = {}
        for user, targets in self.edges.items():
            for used, reasons in targets.items():
                a, b = folder_of(user), folder_of(used)
                if a != b and b not in FOLDERS.get(a, set()):
                    found[user, used] = min(reasons)
        return found

    def unused(self):
        """(folder, folder that it may use and does not), of the table."""
        found = self.folders()
        return [(user, used) for user, allowed in FOLDERS.items() for used in sorted(allowed - found[user].keys())]

    def circles(self):
        return [c for c in components({m: set(t) for m, t in self.edges.items()}) if not any(c <= allowed for allowed in CIRCLES)]


def objects(root, folders):
    """Module and path of each object file. The engine's own makefile names its objects without engine/."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                module = os.path.relpath(path, folder)[:-2]
                if name.endswith(".o") and not module.startswith(("tests/", "anvil/")):
                    module = module if module.startswith(("server/", "worker/", "engine/", "sprt/")) else "engine/" + module
                    # Objects of sources that have gone or moved stay in the build folder.
                    if os.path.exists(os.path.join(root, module + ".c")):
                        yield module, path


def components(edges):
    """Sets of modules that reach each other, of two or more (Tarjan's algorithm, without recursion)."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(edges):
        work = [(start, iter(sorted(edges[start])))] if start not in number else []
        if work:
            number[start] = low[start] = len(number)
            stack.append(start)
            on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component = set(stack[stack.index(node):])
                    del stack[stack.index(node):]
                    on_stack -= component
                    if len(component) > 1:
                        found.append(component)
    return found


def known_wrong(root):
    path = os.path.join(root, WRONG)
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as f:
        return {line.strip() for line in f if line.strip() and not line.startswith("#")}


def complaints(graph):
    """What lint says: new wrong edges, new circles, and lines of the list that are no longer needed."""
    known, used, said = known_wrong(graph.root), set(), []
    for (user, target), reason in sorted(graph.wrong().items()):
        line = f"{user} -> {target}"
        used.add(line)
        if line not in known:
            said.append(f"wrong edge: {folder_of(user)} may not use {folder_of(target)}: {reason}")
    for circle in graph.circles():
        line = "circle " + " ".join(sorted(circle))
        used.add(line)
        if line not in known:
            smaller = [k for k in known if k.startswith("circle ") and circle <= set(k.split()[1:])]
            used.update(smaller)
            if not smaller:
                said.append(f"circle: {' '.join(sorted(circle))}")
    for line in sorted(known - used):
        said.append(f"{WRONG}: no longer wrong, take it out: {line}")
    for user, used in graph.unused():
        said.append(f"tests/graph.py: {user} may use {used} and does not; take the edge out of the table")
    for folder in sorted({folder_of(m) for m in graph.modules} - FOLDERS.keys()):
        said.append(f"{folder} is not in the table of folders in tests/graph.py")
    return said


def print_graph(graph):
    folders, sizes = graph.folders(), collections.Counter(map(folder_of, graph.modules))
    functions = collections.Counter()
    for module, count in graph.functions.items():
        functions[folder_of(module)] += count
    print(f"{'folder':<20} {'modules':>7} {'functions':>9}  uses")
    for folder in sorted(sizes, key=lambda f: list(FOLDERS).index(f) if f in FOLDERS else 999):
        print(f"{folder:<20} {sizes[folder]:>7} {functions[folder]:>9}  {' '.join(sorted(folders[folder]))}")
    for circle in graph.circles():
        print(f"circle of {len(circle)}: {' '.join(sorted(circle))}")
    for (_, _), reason in sorted(graph.wrong().items()):
        print(f"wrong: {reason}")
    print(f"{sum(sizes.values())} modules in {len(sizes)} folders, {len(graph.circles())} circles, {len(graph.wrong())} wrong edges")


def self_test():
    """A made-up wrong edge and a made-up circle are found; an allowed edge is not."""
    graph = Graph()
    graph.add("server/db/db", "server/common/log", "allowed")
    assert not graph.wrong() and not graph.circles()
    graph.add("server/db/db", "server/routes/tests", "made up")
    assert graph.wrong() == {("server/db/db", "server/routes/tests"): "made up"}, graph.wrong()
    graph.add("server/common/log", "server/common/str", "made up")
    graph.add("server/common/str", "server/common/log", "made up")
    assert graph.circles() == [{"server/common/log", "server/common/str"}], graph.circles()
    order = {name: number for number, name in enumerate(FOLDERS)}
    assert not components({name: set(allowed) for name, allowed in FOLDERS.items()}), "the table itself has a circle"
    assert all(name in order for allowed in FOLDERS.values() for name in allowed), "the table names a folder that is not in it"


def main():
    self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    graph = Graph(arguments.root)
    graph.read_includes()
    graph.read_objects(arguments.objects)
    if arguments.print:
        print_graph(graph)
    if arguments.list:  # the list of what is wrong now, for tests/graph_wrong.txt
        print("\n".join([f"{a} -> {b}" for a, b in sorted(graph.wrong())] + ["circle " + " ".join(sorted(c)) for c in graph.circles()]))
        return 0
    said = complaints(graph)
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
