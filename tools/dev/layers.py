#!/usr/bin/env python3
"""Checks every include in lib, include and tools against layers.txt, the table of rooms.

    layers.py [--root FOLDER] [--table FILE] [--dump]

Prints a line for each include that the table does not allow and exits with 1 if there is
one. --dump prints which room includes which others instead.
"""

import argparse
import os
import re
import sys

# Libraries by the first folder of their headers.
LIBRARIES = {"llvm": "LLVM", "llvm-c": "LLVM", "mlir": "MLIR"}
# Where the files of a room stand, and what the rooms in there are called.
FOLDERS = [("include/braid/", ""), ("include/braid-c/", "braid-c/"), ("include/braid-rt/", "braid-rt/"), ("lib/", ""), ("tools/", "tools/")]
# Where a header named in quotes is looked for after the folder of the file: the
# compiler's libraries and the runtime's have their private headers there.
PRIVATE = ["lib", "lib/Runtime"]
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)([">])')


def fail(text):
    sys.exit(f"error: {text}")


def read_table(path):
    """Maps each room to the rooms and libraries that it may include."""
    table = {}
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            place = f"{path}:{number}"
            room, colon, names = line.partition(":")
            if not colon:
                fail(f"{place}: found '{line}', expected 'room: rooms that it may include'")
            if room in table:
                fail(f"{place}: {room} has a line already")
            for name in names.split():
                if name not in table and name not in LIBRARIES.values():
                    fail(f"{place}: {room} names {name}; no line above defines it")
            table[room] = names.split()
    return table


def get_room(table, path):
    """The innermost room that `path`, a path in the project, is in; None if there is none."""
    for folder, prefix in FOLDERS:
        if path.startswith(folder):
            room = prefix + path[len(folder):].split(".")[0]
            while room and room not in table:
                room = os.path.dirname(room)
            return room or None
    return None


class Checker:
    def __init__(self, root, table):
        self.root = root
        self.table = table
        self.findings = []
        self.included = {room: set() for room in table}

    def run(self):
        for top in ("include", "lib", "tools"):
            for folder, folders, files in os.walk(os.path.join(self.root, top)):
                folders.sort()
                for name in sorted(files):
                    if name.endswith((".h", ".cpp", ".c")):
                        self.check_file(os.path.relpath(os.path.join(folder, name), self.root))

    def check_file(self, file):
        room = get_room(self.table, file)
        if not room:
            self.findings.append(f"{file}:1: no room of the table has this file")
            return
        with open(os.path.join(self.root, file)) as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                finding = self.check_include(file, room, match[1], match[2] == ">")
                if finding:
                    self.findings.append(f"{file}:{number}: {finding}")

    def check_include(self, file, room, name, is_system):
        target = LIBRARIES.get(name.split("/")[0])
        if not target and name.startswith(("braid/", "braid-c/", "braid-rt/")):
            target = get_room(self.table, f"include/{name}")
            if not target:
                return f"{room} includes {name}, which is in no room of the table"
        if not target and not is_system:
            path = self.find_private(file, name)
            # Generated headers of a library stand in its build folder.
            if not path and not name.endswith(".inc"):
                return f"{room} includes {name}, which stands neither beside the file nor in {' or '.join(PRIVATE)}"
            if path and path.startswith("lib/") and file.startswith("include/"):
                return f"{room} includes {path} in a public header; that header is not installed"
            target = get_room(self.table, path) if path else None
        if not target or target == room:
            return None
        self.included[room].add(target)
        allowed = self.table[room]
        if target in allowed:
            return None
        return f"{room} includes {name} of {target}, but may include {', '.join(allowed) or 'no other room'} only"

    def find_private(self, file, name):
        folders = [os.path.dirname(file)] + PRIVATE
        if file.startswith("tools/"):
            # The folder of the tool, whose files may stand in folders below it.
            folders.append("/".join(file.split("/")[:2]))
        for folder in folders:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(os.path.join(self.root, path)):
                return path
        return None


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(here)))
    parser.add_argument("--table", default=os.path.join(here, "layers.txt"))
    parser.add_argument("--dump", action="store_true")
    options = parser.parse_args()
    checker = Checker(options.root, read_table(options.table))
    checker.run()
    if options.dump:
        for room, included in checker.included.items():
            print(f"{room}: {' '.join(sorted(included))}".rstrip())
        return 0
    for finding in checker.findings:
        print(finding)
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
