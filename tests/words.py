#!/usr/bin/python3
"""What the house's style refuses and a machine can see, for `make lint`: words that a reader whose first language is not English
stumbles over, words of our own where the field has a term, C functions that are never right, long lines of prose, and rows of the
database that are written or read by counting.

tests/words_wrong.txt holds what is still wrong, by file and rule; it may only shrink.

usage: tests/words.py [--root FOLDER] [--list] [FILE…]
  --root FOLDER   a git work tree, this one unless told
  --list          prints what words_wrong.txt should hold
  FILE            shows each line of it that is wrong
"""
import argparse
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WRONG = "tests/words_wrong.txt"
PROSE_MAX = 120

CODE = (".c", ".h")
TEXT = (".md", ".html", ".sql", ".py", ".js", ".css", ".awk", ".sh", ".service", ".conf", *CODE)

# Name → (files, what a line must not hold). Of code, words are looked for in comments and strings, which is where prose is.
RULES = {
    "plain English": (TEXT, re.compile(  # `nobody` in quotes is a name: the account of Unix, or of a test
        r"(?<![\w\"'`/=*.])(nobody|somebody|whoever|lest|ere|he|his|him|himself)\b(?![\"'`:])", re.I)),
    "the field's words": (TEXT, re.compile(
        r"\b(couriers?|cages?|overstepped|for mercy|farewell|workshop|hunger|untold|(?:lay|lays|laid) down|in vain|heart ?beats? and letters)\b", re.I)),
    "functions that are never right": (CODE, re.compile(r"(?<![\w.>])(strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|gmtime|localtime|system|popen)\(")),
    "queries by their functions": (CODE, re.compile(r"\bquery_\w+\(|\bsql_\w+_with\(")),
}
ASKS = re.compile(r"^server/(?!db/query\.)")  # all but what the functions are made of
LONG_PROSE = "prose of more than 120 characters a line"
SKIP = re.compile(r"^(tests/(data|fuzz/corpus)/|tests/(words|integration/lint/test_lint_gates)\.py$|server/books/|tests/tools/bench_)")
STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//.*|/\*.*?\*/')


def files(root, named):
    listed = named or subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    return [path for path in listed if path.endswith(TEXT) and not SKIP.search(path) and os.path.isfile(os.path.join(root, path))]


def prose_of(path, line):
    """The part of a line in which words count: all of it in texts, comments and strings in C."""
    return " ".join(STRING_OR_COMMENT.findall(line)) if path.endswith(CODE) else line


def long_prose(lines):
    """Numbers of lines of Markdown that are too long, tables, code, links and the like aside."""
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.startswith("```")
        if len(line) > PROSE_MAX and not fenced and not line.startswith(("|", "    ", "#", "```")) and "](" not in line and " " in line[PROSE_MAX // 2:]:
            yield number


def complaints(root, path):
    """(rule, line number, line) of a file."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    for rule, (endings, pattern) in RULES.items():
        if not path.endswith(endings) or (rule == "queries by their functions" and not ASKS.search(path)):
            continue
        words = rule in ("plain English", "the field's words")
        for number, line in enumerate(lines, 1):
            if pattern.search(prose_of(path, line) if words else line):
                yield rule, number, line.strip()
    if path.endswith(".md"):
        for number in long_prose(lines):
            yield LONG_PROSE, number, lines[number - 1][:60] + "…"


def known_wrong(root):
    known, path = collections.Counter(), os.path.join(root, WRONG)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    name, rule, count = line.strip().split("\t")
                    known[name, rule] = int(count)
    return known


def self_test():
    """Each rule finds what it is for, and leaves code alone."""
    for rule, text in (("plain English", "nobody asks"), ("plain English", "his test"), ("the field's words", "a courier"),
                       ("functions that are never right", "    strcpy(a, b);"), ("queries by their functions", "query_open(db, SQL_X)")):
        assert RULES[rule][1].search(text), (rule, text)
    assert not RULES["plain English"][1].search(prose_of("a.c", "int his = 1;"))
    assert not RULES["queries by their functions"][1].search("db_query_text(SQL_X)")
    assert not RULES["functions that are never right"][1].search("snprintf(a, 1, b); my_system(1);")


def main():
    self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    found, shown = collections.Counter(), []
    for path in files(arguments.root, arguments.files):
        for rule, number, line in complaints(arguments.root, path):
            found[path, rule] += 1
            shown.append((path, rule, f"{path}:{number}: {rule}: {line}"))
    if arguments.list:
        print("\n".join(f"{path}\t{rule}\t{count}" for (path, rule), count in sorted(found.items())))
        return 0
    if arguments.files:
        print("\n".join(text for _, _, text in shown))
        return 1 if shown else 0
    known, bad = known_wrong(arguments.root), 0
    for path, rule, text in shown:
        if found[path, rule] > known[path, rule]:
            print(text)
            bad += 1
    for (path, rule), count in sorted(known.items()):
        if found[path, rule] < count:
            print(f"{WRONG}: {path}, {rule}: {found[path, rule]} are left, not {count}; correct the line")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
