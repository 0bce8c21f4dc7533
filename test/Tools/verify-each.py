# RUN: %python %s %braid_src_root/test
#
# --verify=each has no false alarm on the programs of other tests: on the way
# to the host and to CUDA, comm-verify finds nothing wrong after any pass in a program
# that is right. By hand, `--all` takes every program with communication below the
# folder, in some minutes.
"""Compiles programs with --verify=each; see the top of the file."""

import argparse
import pathlib
import re
import subprocess
import tempfile

ALARM = "the program is wrong after the pass"
COMMANDS = {
    "host": ["braid-compile", "--emit=mlir"],
    "cuda": ["braid-compile", "--target=cuda", "--emit=mlir"],
    "prepared": ["braid-opt", "--braid-prepare", "--braid-overlap", "--braid-lower-to-host"],
}
# The fewest programs that each command takes to its end: less is no test.
FEWEST = {"host": 15, "cuda": 15}


def split(path):
    """The programs of a file with communication."""
    parts = re.split(r"(?m)^// -----.*$|^//--- .*$", path.read_text())
    return [part for part in parts if "comm." in part and "func" in part]


def select(root, is_all):
    if is_all:
        return sorted(root.rglob("*.mlir"))
    specs = sorted((root / "Specs").rglob("*.mlir"))
    return sorted((root / "Integration").rglob("*.mlir")) + sorted((root / "Examples").glob("*.mlir")) + specs[::4]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="all programs through all commands")
    arguments = parser.parse_args()
    names = list(COMMANDS) if arguments.all else list(FEWEST)
    quiet = dict.fromkeys(names, 0)
    alarms = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.mlir"
        for path in select(arguments.root, arguments.all):
            for text in split(path):
                program.write_text(text)
                for name in names:
                    tool, *options = COMMANDS[name]
                    command = [tool, program, "--verify=each", *options, "-o", "/dev/null"]
                    result = subprocess.run(command, capture_output=True, text=True, check=False)
                    quiet[name] += result.returncode == 0
                    if ALARM in result.stderr:
                        alarms.append(f"{path}, {name}:\n{result.stderr[:1000]}")
    print("programs without a finding:", quiet)
    assert not alarms, "\n".join(alarms)
    for name in names:
        assert quiet[name] >= FEWEST.get(name, 1), f"{name} compiles {quiet[name]} programs, expected {FEWEST[name]}"


if __name__ == "__main__":
    main()
