# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %t %braid_src_root/test/Integration/Host/disagreement.mlir
# RUN: %python %s %t %braid_src_root/test/Integration/Host/kernels_on_slices.mlir
# RUN: %python %s %t %braid_src_root/test/Integration/Host/loops_of_blocks.mlir
# RUN: %python %s %t %braid_src_root/test/Specs/test_c10d_common/timeouts.mlir
"""The RUN lines of other tests with `braid-run --ranks=N` as `mpirun -n N braid-run`:
the same checks hold for messages and printed results.

More of them: python3 run_lines.py DIRECTORY FILE..., with test/Inputs on the
PYTHONPATH and LLVM's and Braid's tools on the PATH.
"""

import os
import re
import subprocess
import sys

import mpi_testing as mt

#: What needs threads: other ranks than processes can be, or capabilities that the
#: engine mpi lacks.
THREADS_ALONE = re.compile(r"--link=|--trace=")


def commands(file):
    """The RUN lines, continued ones joined. (lit reads this file, too: no keyword
    of its own may stand in the code.)"""
    text = re.sub(r"\\\n//\s*RUN[:]", " ", open(file).read())
    return re.findall(r"^// RUN[:] (.*)$", text, re.M)


def under_mpirun(command):
    """The command with mpirun, and how many programs it runs so."""
    def replace(match):
        words = mt.mpirun_words(match[2], ["braid-run"])
        return f"{' '.join(words)} {match[1]} --engine=mpi"
    # Not across a pipe or a second command.
    return re.subn(r"\bbraid-run ([^|&;]*?)--ranks=(\d+)", replace, command)


def main():
    directory, *files = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    environment = {**os.environ, **mt.ENVIRONMENT}
    for file in files:
        total = 0
        place = os.path.join(directory, os.path.basename(file))
        for command in commands(file):
            if THREADS_ALONE.search(command) or "%python" in command:
                continue
            command, count = under_mpirun(command)
            total += count
            command = command.replace("%s", file).replace("%t", place)
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command],
                                  env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{command}\nexit status {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")
        if total == 0:
            sys.exit(f"{file}: no RUN line runs a program on ranks")
        print(f"{os.path.basename(file)}: {total} programs under mpirun", flush=True)


main()
