# REQUIRES: jax, jax-calls, ptxas
# RUN: rm -rf %t && mkdir %t
# RUN: env FAKE_CUDA_FOREIGN_MEMORY=1 %jax_python %s %t %cxx %braid_lib_dir
"""Functions for GPUs whose ranks are the processes of `jax.distributed`, over fakes as in device_calls.py. Each process
runs the same tests."""

import ctypes
import os
import subprocess
import sys
import unittest

import cuda_testing
import ports

PROCESSES = 2
FOLDER, CXX, FAKES = sys.argv[1:4]
del sys.argv[1:4]

if "TEST_PROCESS" not in os.environ:
    given = {**os.environ, **cuda_testing.fakes(FAKES), "FAKE_NCCL_DIRECTORY": os.path.join(FOLDER, "nccl"),
             "TEST_PORT": str(ports.find_free_port())}
    os.mkdir(given["FAKE_NCCL_DIRECTORY"])
    runs = []
    for process in range(PROCESSES):
        folder = os.path.join(FOLDER, str(process))
        os.mkdir(folder)
        runs.append(subprocess.Popen([sys.executable, __file__, folder, CXX, FAKES, *sys.argv[1:]],
                                     env={**given, "TEST_PROCESS": str(process)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    outputs = [run.communicate()[0].decode() for run in runs]
    print("\n".join(outputs))
    sys.exit(any(run.returncode for run in runs))

import jax
import numpy as np
import program_emulator
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir
from braid.jax import device_calls

PROCESS = int(os.environ["TEST_PROCESS"])
jax.distributed.initialize(f"127.0.0.1:{os.environ['TEST_PORT']}", PROCESSES, PROCESS)
device_calls.PLATFORM = "cpu"
MESH = jax.sharding.Mesh(np.array(jax.devices()), ("x",))


def compile_function(name, fn, *args):
    return program_emulator.compile_function(fn, args, os.path.join(FOLDER, name), CXX, FAKES)


class ProcessCallTest(unittest.TestCase):
    def test_parts_of_processes(self):
        """Each process has a row; columns are summed over the processes."""
        fn = jax.jit(jax.shard_map(lambda x, b: (x + b, jax.lax.psum(x[0], "x")), mesh=MESH, in_specs=(P("x"), P()), out_specs=(P("x"), P())))
        x, b = np.arange(8, dtype=np.int32).reshape(2, 4), np.arange(4, dtype=np.int32)
        function = compile_function("parts", fn, x, b)
        own = slice(PROCESS, PROCESS + 1)
        sharded = jax.make_array_from_process_local_data(NamedSharding(MESH, P("x")), x[own], x.shape)
        for first in (x, sharded):
            rows, sums = function(first, b)
            np.testing.assert_array_equal(rows.addressable_data(0), (x + b)[own])
            np.testing.assert_array_equal(sums.addressable_data(0), x.sum(0))
        for step in range(4):
            rows, _ = function(rows, b)
            np.testing.assert_array_equal(rows.addressable_data(0), (x + (step + 2) * b)[own])

    def test_programs_that_differ(self):
        fn = jax.jit(jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P("x"), out_specs=P("x")))
        x = np.arange(8 + 2 * PROCESS, dtype=np.int32)
        program = braid.jax.export(fn, jax.ShapeDtypeStruct(x.shape, x.dtype))
        function = program.compile("cuda", passes="none")
        with self.assertRaisesRegex(braid.mlir.BraidError, "process 1 runs another program than process 0:"):
            function(x)

    def test_other_ranks_than_processes(self):
        mesh = jax.sharding.AbstractMesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        fn = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        x = np.arange(8, dtype=np.int32)
        for fn, expected in ((jax.jit(lambda x: x + 1), "the program has 1 rank, and JAX has 2 processes with 2 GPUs: expected as many processes"),
                             (fn, "the program has 4 ranks, each with a GPU, and JAX has 2 GPUs")):
            function = braid.jax.compile(fn, jax.ShapeDtypeStruct(x.shape, x.dtype), target="cuda", passes="none")
            with self.assertRaisesRegex(braid.mlir.BraidError, expected):
                function(x)

    def test_a_failing_process(self):
        """Both processes have an error, and no later call."""
        fn = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "x") + 1, mesh=MESH, in_specs=P("x"), out_specs=P()))
        x = np.arange(4, dtype=np.int32)
        function = compile_function("failing", fn, x)
        np.testing.assert_array_equal(function(x).addressable_data(0), x[:2] + x[2:] + 1)
        if PROCESS == 1:
            ctypes.CDLL(os.path.join(FAKES, "libfake_cuda.so")).fake_cuda_fail(b"cuEventRecord", 700, 0)
        for _ in range(2):
            with self.assertRaisesRegex(braid.mlir.RankError, "rank 1: .*ILLEGAL_ADDRESS"):
                jax.block_until_ready(function(x))


if __name__ == "__main__":
    unittest.main()
