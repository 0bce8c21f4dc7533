"""Runs braid-run --show-binding on some or all cores as one of a number of ranks on a
node: the line must end with the advice for that case."""

import os
import subprocess
import sys

total = os.cpu_count()
allowed = sorted(os.sched_getaffinity(0))


def count(number):
    return f"{number} core" + ("" if number == 1 else "s")


openmpi = "mpirun --map-by slot:PE={} --bind-to core"
slurm = "srun --cpus-per-task={} --cpu-bind=cores"
one = allowed[:1]
more = "more ranks than cores: ranks take turns; start at most "
ranks = "rank" if total == 1 else "ranks"
# The cores, the ranks of the node, a command of srun, the advice.
cases = [
    (one, total, False, "ok"),
    (one, total + 1, False, f"{more}{total} {ranks} on this node"),
]
if total > 1:
    could = f"each rank could have {count(total)}: "
    cases.append((one, 1, False, could + openmpi.format(total)))
    cases.append((one, 1, True, could + slurm.format(total)))
if len(allowed) == total:
    cases.append((allowed, 1, False, "ok"))
if len(allowed) == total > 1:
    each = "ranks may get into each other's way; to give each 1 core of its own: "
    cases.append((allowed, total, False, each + openmpi.format(1)))
    cases.append((allowed, total, True, each + slurm.format(1)))

failed = False
for cores, size, isSlurm, advice in cases:
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    if isSlurm:
        environment.update(
            PMIX_RANK="0",
            SLURM_STEP_NUM_TASKS=str(size),
            SLURM_LOCALID="0",
            SLURM_NODEID="0",
            SLURM_STEP_TASKS_PER_NODE=str(size),
        )
    else:
        environment.update(
            OMPI_COMM_WORLD_RANK="0",
            OMPI_COMM_WORLD_SIZE=str(size),
            OMPI_COMM_WORLD_LOCAL_RANK="0",
            OMPI_COMM_WORLD_LOCAL_SIZE=str(size),
        )
    os.sched_setaffinity(0, cores)
    result = subprocess.run(
        ["braid-run", "--show-binding"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    expected = (
        f" may use {len(cores)} of {count(total)}, "
        f"1 BLAS thread (OPENBLAS_NUM_THREADS): {advice}\n"
    )
    if result.returncode != 0 or not result.stdout.endswith(expected):
        print(f"found {result.stdout}{result.stderr}, expected {expected}")
        failed = True
os.sched_setaffinity(0, one)
result = subprocess.run(
    ["braid-run", "--show-binding"],
    capture_output=True,
    text=True,
    check=False,
    env=dict(
        os.environ,
        OMPI_COMM_WORLD_RANK="0",
        OMPI_COMM_WORLD_SIZE=str(total),
        OMPI_COMM_WORLD_LOCAL_RANK="0",
        OMPI_COMM_WORLD_LOCAL_SIZE=str(total),
        OPENBLAS_NUM_THREADS="2",
    ),
)
if "2 BLAS threads (OPENBLAS_NUM_THREADS): OPENBLAS_NUM" not in result.stdout:
    print(f"found {result.stdout}, expected advice on OPENBLAS_NUM_THREADS")
    failed = True
sys.exit(failed)
