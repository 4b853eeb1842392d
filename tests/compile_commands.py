#!/usr/bin/python3
"""Prints a compilation database (compile_commands.json) for the C files named, for `make compile_commands`.

usage: tests/compile_commands.py 'COMPILER FLAGS…' FILE.c…
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    command, files = sys.argv[1], sys.argv[2:]
    json.dump([{"directory": ROOT, "file": path, "command": f"{command} -c {path}"} for path in files], sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
