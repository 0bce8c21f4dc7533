"""Runs braid-run under mpirun with programs and options that fail: exit status
and message, which must stand there as often as said."""

import os
import subprocess
import sys

folder = sys.argv[1]
program = os.path.join(folder, "p.so")
usage = "(braid-run --help lists the options)"
waiting = (
    "ended by signal 15 while waiting for all_reduce sum tensor<4xf32> at "
    "prog.mlir:12:8 (ar0)"
)
# The words after braid-run, the status, texts of stderr and how often.
cases = [
    (["--nonsense"], 2, [("unknown option '--nonsense'", 1), (usage, 1)]),
    ([program, "--ranks=2"], 2, [("but Open MPI has started 3", 1)]),
    (
        [program, "--arg=ones", "--link=latency=1us"],
        2,
        [("--link: engine mpi cannot", 1), (usage, 1)],
    ),
    ([program, "--arg=twos"], 2, [("--arg: found 'twos'", 1), (usage, 1)]),
    ([program, "--arg=ones", "--out=o.npy"], 2, [("are 3 ranks, but", 1)]),
    ([program, "--entry=nothing"], 2, [("no entry 'nothing'", 1)]),
    (
        [os.path.join(folder, "broken.mlir")],
        1,
        [
            ("use of undeclared SSA value", 1),
            ("braid-compile could not compile", 1),
        ],
    ),
    (["nowhere.mlir"], 1, [("cannot open nowhere.mlir", 1)]),
    (["nowhere.so"], 1, [("cannot load nowhere.so", 1)]),
    (
        # There are files of two ranks only.
        [program, f"--arg={folder}/out.{{rank}}.npy"],
        1,
        [(f"cannot open {folder}/out.2.npy", 1)],
    ),
    (
        [
            os.path.join(folder, "biased.so"),
            f"--compare-results={program}",
            "--arg=iota",
        ],
        1,
        [
            ("main: rank 0: result 0 (result0) differs at [2]: 7.5", 1),
            ("main: rank 1: result 0 (result0) differs at [2]: 7.5", 1),
            ("main: rank 2: result 0 (result0) differs at [2]: 7.5", 1),
        ],
    ),
    (
        [program, "--entry=disagree"],
        1,
        [
            ("rank 0: the ranks of group @world disagree", 1),
            ("rank 1: the ranks of group @world disagree", 1),
            ("rank 2: the ranks of group @world disagree", 1),
        ],
    ),
    (
        [program, "--entry=late", "--timeout=100ms"],
        1,
        [("rank 0: timed out after 100 ms: rank 1 has not started", 1)],
    ),
    (
        [program, "--entry=crash"],
        1,
        [
            ("rank 1: the program touched memory that is not its own", 1),
            (f"braid-run: error: rank 0: {waiting}", 1),
            (f"braid-run: error: rank 2: {waiting}", 1),
        ],
    ),
]

failed = False
for words, status, texts in cases:
    environment = dict(os.environ)
    if "--entry=crash" in words:
        # Where other work runs, a rank needs more than a second from the signal that ends it to its last words.
        environment["OMPI_MCA_odls_base_sigkill_timeout"] = "5"
    result = subprocess.run(
        ["mpirun", "-q", "-n", "3", "braid-run", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    found = [result.stderr.count(text) for text, _ in texts]
    if result.returncode != status or found != [count for _, count in texts]:
        print(words, result.returncode, found, result.stderr)
        failed = True
    if result.stdout:
        print(words, result.stdout)
        failed = True
sys.exit(failed)
