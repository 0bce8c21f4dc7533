#!/usr/bin/env python3
"""Keeps the time of a clean build where it is, by counts that are the same on every machine.

The processor time of a source is mostly that of three things: a start, which reads the
precompiled headers (tools/cmake/Precompiled); the text of headers that are not among
them; and the source's own text. From these the script estimates the processor time of
the sources that `make demo` compiles. Findings are
 - a source that reads more than HEADERS of headers that are not precompiled;
 - a demo whose estimate is more than DEMO.
The text is that of Braid's headers, of LLVM's and of LIBRARIES', without the C++
library's and what TableGen writes for Braid. Sources of a library share a start and their headers, 12 at
a time (BRAID_UNITY_BUILD). The exit status is 1 if there is a finding.
"""
import argparse
import collections
import os
import pathlib
import re
import sys

import local_names

LLVM = pathlib.Path("/usr/lib/llvm-22/include")
LIBRARIES = ("CLI/", "nlohmann/")
PRECOMPILED = "tools/cmake/Precompiled"

HEADERS = 600  # KB a source
# More for those that cannot do without.
MORE_HEADERS = {
    "lib/Target/Host/HostTarget.cpp": 2800,  # LLVM's pipelines, trip counts
    # Whole traces and files in JSON.
    "lib/Report/ReportTrace.cpp": 1100,
    "lib/Report/TraceWriter.cpp": 1100,
    "tools/braid-run/Failures/Dumps.cpp": 1100,
    "tools/braid-run/Run/Measurements.cpp": 1100,
    "tools/braid-run/Timing/Trace.cpp": 1100,
}
DEMO = 450  # processor seconds of CI's machine, which has two cores: less than four minutes
# CI's machine measured 462 s for a demo whose counts below gave 271 s. That includes the
# set-up and the run.
CI = 1.7
# Processor seconds on a fast machine, fitted to a build of all sources: a start with
# these headers; 100 KB of headers; 1 KB of a source.
START = {"MLIR": 0.25, "LLVM": 0.05, "Standard": 0.15}
PER_HEADERS = 0.1
PER_SOURCE = 0.055
# Beside the sources: the precompiled headers, TableGen, what TableGen wrote, links.
FIXED = 36

# Sources that are compiled as one.
BATCH = 12

# Of these the demo compiles nothing.
OTHERS = ("lib/CAPI", "lib/Runtime/MPI", "lib/Runtime/CUDA")

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"\n]+)[>"]', re.M)


class Reader:
    """Reads each file of a checkout, and of LLVM's headers, once."""

    def __init__(self, root):
        self.root = root
        self.tools = sorted(path for path in (root / "tools").iterdir() if path.is_dir())
        self.files = {}

    def read(self, path):
        """The size of a file and the files of Braid and LLVM that it includes itself."""
        if path not in self.files:
            self.files[path] = self.parse(path)
        return self.files[path]

    def parse(self, path):
        text = path.read_bytes()
        folders = [self.root / "include", self.root / "lib", self.root / "lib/Runtime", LLVM]
        folders += [tool for tool in self.tools if path.is_relative_to(tool)]
        included = []
        for quote, name in INCLUDE.findall(text):
            name = name.decode()
            beside = [path.parent] if quote == b'"' else []
            if name.startswith(LIBRARIES) or path.is_relative_to("/usr/include"):
                beside.append(pathlib.Path("/usr/include"))
            found = next((folder / name for folder in beside + folders if (folder / name).is_file()), None)
            # Of what TableGen writes for sources, others take lists of names.
            if found and not name.endswith(".cpp.inc"):
                included.append(pathlib.Path(os.path.normpath(found)))
        return len(text), included

    def reach(self, paths, known=frozenset()):
        """All files that `paths` include, in any number of steps, without those known."""
        found, stack = set(), list(paths)
        while stack:
            path = stack.pop()
            if path in found or path in known:
                continue
            found.add(path)
            stack += self.read(path)[1]
        return found

    def kilobytes(self, paths, known=frozenset()):
        return sum(self.read(path)[0] for path in self.reach(paths, known)) / 1000


def kind_of(headers):
    """Which precompiled headers a source has: those of the libraries that it includes."""
    names = {path.relative_to(LLVM).parts[0] for path in headers if path.is_relative_to(LLVM)}
    return "MLIR" if "mlir" in names else "LLVM" if "llvm" in names else "Standard"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--demo", type=int, default=DEMO, help="the limit of the demo (%(default)s)")
    parser.add_argument("--all", action="store_true", help="print the counts of every source")
    options = parser.parse_args()
    reader = Reader(options.root)
    precompiled = {kind: reader.reach([options.root / PRECOMPILED / f"{kind}.h"]) for kind in START}
    findings = []
    demo = collections.defaultdict(list)
    # What braid-opt, braid-compile and braid-run are made of, and the rest of lib.
    folders = ("lib", "tools/braid-opt", "tools/braid-compile", "tools/braid-run")
    for path in sorted(path for folder in folders for path in (options.root / folder).rglob("*.cpp")):
        name = str(path.relative_to(options.root))
        size, direct = reader.read(path)
        kind = kind_of(reader.reach(direct))
        known = precompiled[kind]
        text = reader.kilobytes(direct, known)
        if not name.startswith(OTHERS):
            demo[local_names.library_of(options.root, path)].append(path)
        if options.all:
            print(f"{text:6.0f} KB {size / 1000:5.1f} KB {kind:8} {name}")
        limit = MORE_HEADERS.get(name, HEADERS)
        if text > limit:
            parts = sorted(((reader.kilobytes([part], known), part.name) for part in direct), reverse=True)
            largest = ", ".join(f"{part} {amount:.0f} KB" for amount, part in parts[:3])
            findings.append(
                f"{name}: reads {text:.0f} KB of headers that are not precompiled, at most {limit} KB: {largest}")
    rooms = collections.Counter()
    for sources in demo.values():
        for first in range(0, len(sources), BATCH):
            batch = sources[first:first + BATCH]
            direct = [header for path in batch for header in reader.read(path)[1]]
            kind = kind_of(reader.reach(direct))
            size = sum(reader.read(path)[0] for path in batch)
            seconds = START[kind] + PER_HEADERS * reader.kilobytes(direct, precompiled[kind]) / 100 + PER_SOURCE * size / 1000
            rooms["/".join(str(batch[0].relative_to(options.root)).split("/")[:2])] += CI * seconds
    total = CI * FIXED + sum(rooms.values())
    estimate = f"make demo: estimated {total:.0f} s of processor time on CI's machine, at most {options.demo} s"
    if total > options.demo:
        largest = ", ".join(f"{room} {seconds:.0f} s" for room, seconds in rooms.most_common(5))
        findings.append(f"{estimate}: {largest}")
    else:
        print(estimate, file=sys.stderr)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
