# REQUIRES: mpi
# RUN: %python %s
"""braid.mlir under mpirun: each process is one rank."""

import os
import subprocess
import sys
import unittest

import numpy as np

import braid.mlir

SUM = """comm.group @world all
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %t = comm.all_reduce sum %x on @world {comm.label = "ar0"} : tensor<?x2xf32>
  %s = comm.wait %t : !comm.token<tensor<?x2xf32>>
  return %s : tensor<?x2xf32>
}
"""

RANK = """comm.group @world all
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %t = comm.permute %x on @world pairs [[0, 1], [1, 2], [2, 0]] : tensor<2xi32>
  %s = comm.wait %t : !comm.token<tensor<2xi32>>
  return %s : tensor<2xi32>
}
"""


def run_sums(world):
    """Two runs of one program, then one of another."""
    executable = braid.mlir.Program(SUM).compile()
    for rows in (3, 5):
        (results,) = executable.run([[np.full((rows, 2), world.rank + 1, np.float32)]], world=world)
        expected = sum(range(1, world.size + 1))
        assert np.array_equal(results[0], np.full((rows, 2), expected, np.float32)), results
    other = braid.mlir.Program(RANK).compile()
    (results,) = other.run([[np.full(2, world.rank, np.int32)]], world=world)
    assert results[0].tolist() == [(world.rank - 1) % 3] * 2, results


def run_different_shapes(world):
    """The ranks disagree; the world cannot be used again."""
    executable = braid.mlir.Program(SUM).compile()
    inputs = [[np.ones((1 + world.rank, 2), np.float32)]]
    try:
        executable.run(inputs, world=world)
    except braid.mlir.RankError as error:
        print(f"rank {error.rank} of {world.size}: {error.op}", flush=True)
    try:
        executable.run(inputs, world=world)
    except braid.mlir.BraidError as error:
        print(error, flush=True)


def run_one_failing_rank(world):
    """An exception of Python on one rank ends the job."""
    executable = braid.mlir.Program(SUM).compile()
    if world.rank == 0:
        raise ValueError("rank 0 gives up")
    executable.run([[np.ones((1, 2), np.float32)]], world=world)


def run_bad_arguments(world):
    executable = braid.mlir.Program(SUM).compile()
    one = [np.ones((1, 2), np.float32)]
    for arguments, given in (([one, one], world), ([], world), ([one], "mpi"), ([[]], world)):
        try:
            executable.run(arguments, world=given)
        except braid.mlir.ArgumentError as error:
            if world.rank == 1:
                print(error, flush=True)


def launch(ranks, name, timeout=5):
    command = ["mpirun", "-n", str(ranks), sys.executable, __file__, name, str(timeout)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


class MPITest(unittest.TestCase):
    def test_each_process_is_one_rank(self):
        done = launch(3, "run_sums", timeout=30)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_ranks_that_disagree_raise_an_error_that_names_the_operation(self):
        done = launch(2, "run_different_shapes")
        lines = sorted(done.stdout.splitlines())
        self.assertEqual([line for line in lines if line.startswith("rank")],
                         [f"rank {rank} of 2: all_reduce sum tensor<{1 + rank}x2xf32>" for rank in (0, 1)])
        self.assertEqual([line for line in lines if line.startswith("a run")],
                         [f"a run on rank {rank} has failed: the world cannot be used again" for rank in (0, 1)])

    def test_an_exception_on_one_rank_ends_the_job(self):
        done = launch(2, "run_one_failing_rank")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ValueError: rank 0 gives up", done.stderr)

    def test_bad_arguments(self):
        done = launch(2, "run_bad_arguments", timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "`arguments` has the lists of 2 ranks, expected one list: this process is rank 1 alone",
            "no rank: `arguments` has a list for each rank, found none",
            "world is 'mpi', expected an MPIWorld or None",
            "rank 1 has 0 arguments, expected 1: tensor<?x2xf32>"])

    def test_a_process_without_mpirun_is_the_only_rank(self):
        code = "import braid.mlir; world = braid.mlir.MPIWorld(); print(world, world.rank, world.size)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "<rank 0 of 1> 0 1\n"), done.stderr)

    def test_bad_timeouts(self):
        for timeout in (0, -1, float("nan"), float("inf"), "soon"):
            with self.assertRaisesRegex(braid.mlir.ArgumentError, "expected seconds, above 0"):
                braid.mlir.MPIWorld(timeout)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        globals()[sys.argv[1]](braid.mlir.MPIWorld(float(sys.argv[2])))
    else:
        assert "OMPI_COMM_WORLD_RANK" not in os.environ
        unittest.main()
