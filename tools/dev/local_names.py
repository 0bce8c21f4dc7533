#!/usr/bin/env python3
"""Checks that sources which are compiled together keep their local names apart.

    local_names.py [--root FOLDER]

A build with BRAID_UNITY_BUILD compiles several sources of a library as one. Functions,
variables, types and macros that are local to their sources need names of their own then.
Overloads of one name need them, too: a call would find those of the other source. The
script reads the sources as clang-format has them: what is local begins a line. It prints a
line for each name that two sources of a library share, and exits with 1 if there is one.
"""
import argparse
import collections
import pathlib
import re
import sys

# Folders whose sources are compiled together, beside those that have a CMakeLists.txt.
MORE_LIBRARIES = ("lib/Runtime/MPI",)

TEMPLATE = re.compile(r"template <.*>\s*")
NAME = re.compile(r"(\w+)(?:\[\w*\])*\s*[({;=]")
MORE_VARIABLES = re.compile(r", (\w+) = ")
TYPE = re.compile(r"(?:class|struct|union|enum class|enum) (\w+)(;?)")
ALIAS = re.compile(r"using (\w+) =")
MACRO = re.compile(r"#define (\w+)")
# Names that a source defines for a file that it includes next, which ends them.
FOR_INCLUDES = re.compile(r"GEN_PASS_|GET_|DEBUG_TYPE$")


def statements(text):
    """What begins at the start of a line, and whether an unnamed namespace surrounds it."""
    lines = text.splitlines()
    unnamed = False
    for number, line in enumerate(lines):
        if line == "namespace {":
            unnamed = True
        elif line == "} // namespace":
            unnamed = False
        elif line and (line[0].isalpha() or line[0] == "#") and not line.endswith(":"):
            # A name may stand below its type.
            yield TEMPLATE.sub("", " ".join(lines[number:number + 3])), unnamed


def local_names(path):
    names = set()
    for text, unnamed in statements(path.read_text()):
        if found := MACRO.match(text):
            if not FOR_INCLUDES.match(found[1]):
                names.add(found[1])
        elif found := ALIAS.match(text):
            names.add(found[1])
        elif found := TYPE.match(text):
            if unnamed and not found[2]:
                names.add(found[1])
        elif text.startswith(("static ", "constexpr ", "const ")) or unnamed:
            # Members that are defined outside of their class have qualified names.
            found = NAME.search(text)
            if found and not text[:found.start()].endswith("::") and found[1] != "struct":
                names.add(found[1])
                if found[0].endswith("="):
                    names.update(MORE_VARIABLES.findall(text.split(";")[0]))
    return names


def library_of(root, path):
    for folder in MORE_LIBRARIES:
        if path.is_relative_to(root / folder):
            return folder
    return next(folder for folder in path.parents if (folder / "CMakeLists.txt").exists() or folder == root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    users = collections.defaultdict(list)
    for path in sorted(path for folder in ("lib", "tools") for path in (root / folder).rglob("*.cpp")):
        for name in local_names(path):
            users[library_of(root, path), name].append(str(path.relative_to(root)))
    findings = sorted((paths, name) for (_, name), paths in users.items() if len(paths) > 1)
    for paths, name in findings:
        print(f"{name} is local to {' and to '.join(paths)}, which are compiled together")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
