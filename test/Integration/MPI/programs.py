# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %braid_src_root/test %t
"""The programs of test/Integration/Host with their ranks as processes of mpirun: the
results are those of NumPy, as with threads.

A share of the programs keeps this short. All of them:

  BRAID_MPI_SHARE=1 python3 programs.py braid/test DIRECTORY [SCRIPT ...]

with test/Inputs on the PYTHONPATH and the tools on the PATH; random programs then
run, too, as many as BRAID_RANDOM_PROGRAMS says.
"""

import os
import sys
import time

import braid_testing as bt

#: By script: every how many of its programs runs under mpirun, and the arguments of
#: the script. random_programs.py beside this file has its share of random ones.
SCRIPTS = {
    "collectives_buffers.py": (16, []),
    "collectives_groups.py": (16, []),
    "collectives_shapes.py": (32, []),
    "collectives_types.py": (8, ["bf16", "complex<f32>"]),
    "element_types.py": (14, []),
    "shard_collectives.py": (12, []),
    "shard_devices.py": (12, []),
    "shard_mlp.py": (4, []),
    "tokens_control_flow.py": (24, []),
}


def main():
    source, directory, *names = sys.argv[1:]
    share = os.environ.get("BRAID_MPI_SHARE")
    scripts = SCRIPTS
    if share:
        scripts = {name: (int(share), arguments) for name, (_, arguments) in SCRIPTS.items()}
        scripts["collectives_types.py"] = (int(share), list(bt.ELEMENT_TYPES))
        scripts["random_programs.py"] = (int(share), [])
    for name in names or scripts:
        one_in, arguments = scripts[name]
        os.environ["BRAID_TEST_LAUNCHER"] = f"mpirun:{one_in}"
        begin = time.monotonic()
        bt.command([sys.executable, os.path.join(source, "Integration", "Host", name),
                    os.path.join(directory, name), *arguments])
        print(f"{name}: one program in {one_in} under mpirun, "
              f"{time.monotonic() - begin:.1f} s", flush=True)


main()
