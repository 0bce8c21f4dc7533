# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %braid_src_root/test %t
"""The programs of test/Integration/Host with their ranks as processes of mpirun: the
results are those of NumPy, as with threads.

A share of the programs keeps this short. All of them:

  BRAID_MPI_SHARE=1 python3 programs.py braid/test DIRECTORY [SCRIPT ...]

with test/Inputs on the PYTHONPATH and the tools on the PATH.
"""

import os
import sys
import time

import braid_testing as bt

#: By script: every how many of its programs runs under mpirun, and variables.
SCRIPTS = {
    "collectives_buffers.py": (8, {}),
    "collectives_groups.py": (8, {}),
    "collectives_shapes.py": (16, {}),
    "collectives_types.py": (2, {}),
    "element_types.py": (7, {}),
    "random_programs.py": (4, {"BRAID_RANDOM_PROGRAMS": "10", "BRAID_RANDOM_SEED": "100"}),
    "tokens_control_flow.py": (24, {}),
}


def main():
    source, directory, *names = sys.argv[1:]
    for name in names or SCRIPTS:
        share, variables = SCRIPTS[name]
        share = os.environ.get("BRAID_MPI_SHARE", share)
        # What is set outside counts, so that all random programs can be asked for.
        os.environ.update({key: os.environ.get(key, value)
                           for key, value in variables.items()})
        os.environ["BRAID_TEST_LAUNCHER"] = f"mpirun:{share}"
        begin = time.monotonic()
        bt.command([sys.executable, os.path.join(source, "Integration", "Host", name),
                    os.path.join(directory, name)])
        print(f"{name}: one in {share} under mpirun, {time.monotonic() - begin:.1f} s",
              flush=True)


main()
