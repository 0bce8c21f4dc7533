# REQUIRES: jax, jax-calls, ptxas
# RUN: rm -rf %t && mkdir %t
# RUN: env FAKE_CUDA_DEVICES=2 FAKE_CUDA_FOREIGN_MEMORY=1 %jax_python %s %t %cxx %braid_lib_dir
"""Functions for GPUs, as custom calls of XLA, over fakes of NVIDIA's libraries, whose memory is the host's: JAX's CPUs
are the GPUs, and kernels run on the host."""

import ctypes
import gc
import os
import sys
import unittest
import unittest.mock

import cuda_testing

FOLDER, CXX, FAKES = sys.argv[1:4]
del sys.argv[1:4]
os.environ.update(cuda_testing.fakes(FAKES), XLA_FLAGS="--xla_force_host_platform_device_count=2")

import jax
import jax.numpy as jnp
import numpy as np
import program_emulator
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir
from braid.jax import device_calls

DEVICES = jax.devices()[:2]
MESH = jax.sharding.Mesh(np.array(DEVICES), ("x",))


def compile_function(name, fn, *args):
    return program_emulator.compile_function(fn, args, os.path.join(FOLDER, name), CXX, FAKES)


def step(state, batch, key):
    noise = jax.random.bits(key, (4,), np.uint32) % 8
    return {"w": state["w"] + 2 * batch, "count": state["count"] + np.uint32(1)}, noise, batch.astype(np.int8) > 1


class DeviceCallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        device_calls.PLATFORM = "cpu"
        cls.fn = staticmethod(jax.jit(step, donate_argnums=0))
        cls.key = jax.random.key(3)
        cls.function = compile_function("step", cls.fn, *cls.arguments())
        cls.function(*cls.arguments())

    @classmethod
    def arguments(cls):
        return {"w": jnp.arange(4, dtype=jnp.int32), "count": jnp.uint32(7)}, jnp.arange(4, dtype=jnp.int32), cls.key

    def check(self, found, expected):
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            self.assertIsInstance(one, jax.Array)
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            np.testing.assert_array_equal(one, other)
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))

    def test_steps_take_the_results_of_steps(self):
        state, expected = self.arguments()[0], self.arguments()[0]
        _, batch, key = self.arguments()
        for _ in range(5):
            result, wanted = self.function(state, batch, key), step(expected, batch, key)
            self.check(result, wanted)
            (state, *_), (expected, *_) = result, wanted

    def test_donated_arrays_are_gone(self):
        state, batch, key = self.arguments()
        results = self.function(state, batch, key)
        self.assertTrue(state["w"].is_deleted() and state["count"].is_deleted())
        self.assertFalse(batch.is_deleted())
        self.check(results, step(*self.arguments()))

    def test_the_time_of_a_run(self):
        jax.block_until_ready(self.function(*self.arguments()))
        self.assertGreater(self.function.device_ns, 0)

    def test_calls_under_jit(self):
        """Also several in one computation, and in a loop."""
        _, batch, key = self.arguments()

        @jax.jit
        def twice(state):
            state, noise, _ = self.function(state, batch, key)
            return self.function(jax.tree.map(lambda leaf: leaf + 1, state), batch, key)[0], noise

        @jax.jit
        def many(state):
            return jax.lax.fori_loop(0, 5, lambda _, state: self.function(state, batch, key)[0], state)

        state = self.arguments()[0]
        found, noise = twice(state)
        np.testing.assert_array_equal(found["w"], state["w"] + 4 * batch + 1)
        np.testing.assert_array_equal(noise, step(*self.arguments())[1])
        np.testing.assert_array_equal(many(state)["w"], state["w"] + 10 * batch)
        self.assertFalse(state["w"].is_deleted())

    def test_results_keep_their_memory(self):
        first = self.function(*self.arguments())
        expected = [np.array(leaf) for leaf in jax.tree.leaves(first)]
        for _ in range(4):
            state, batch, key = self.arguments()
            self.function(state, batch + 9, key)
        for one, other in zip(jax.tree.leaves(first), expected, strict=True):
            np.testing.assert_array_equal(one, other)
        view = first[0]["w"][1:]
        del first
        gc.collect()
        self.function(*self.arguments())
        np.testing.assert_array_equal(view, expected[1][1:])

    def test_results_are_arguments_of_jax(self):
        state, _, is_above = self.function(*self.arguments())
        np.testing.assert_array_equal(jax.jit(lambda w, m: jnp.where(m, w, -w).sum())(state["w"], is_above), 12)

    def test_arrays_of_the_host(self):
        state, batch, key = self.arguments()
        host = {name: np.asarray(leaf) for name, leaf in state.items()}
        self.check(self.function(host, np.asarray(batch), key), step(state, batch, key))
        np.testing.assert_array_equal(host["w"], np.arange(4))

    def test_arguments_that_do_not_fit(self):
        state, batch, key = self.arguments()
        for arguments, found in (((state, batch[:3], key), r"argument 2 is int32\[3\], expected int32\[4\]"),
                                 ((state, batch.astype(np.float32), key), r"argument 2 is float32\[4\]"),
                                 ((state, batch, batch), "argument 3 is no key, expected a key of threefry2x32")):
            with self.assertRaisesRegex(braid.mlir.ArgumentError, found):
                self.function(*arguments)
            with self.assertRaisesRegex(braid.mlir.ArgumentError, found):
                jax.jit(lambda *arguments: self.function(*arguments))(*arguments)
        # No argument is donated to a call that does not begin.
        self.check(self.function(state, batch, key), step(*self.arguments()))

    def test_a_failing_run(self):
        """The next call has ranks of its own."""
        driver = ctypes.CDLL(os.path.join(FAKES, "libfake_cuda.so"))
        driver.fake_cuda_fail(b"cuEventRecord", 700, 0)
        with self.assertRaisesRegex(braid.mlir.RankError, "rank 0: .*ILLEGAL_ADDRESS") as caught:
            jax.block_until_ready(self.function(*self.arguments()))
        self.assertEqual([failure.rank for failure in caught.exception.failures], [0])
        self.check(self.function(*self.arguments()), step(*self.arguments()))

    def test_a_process_of_a_launcher(self):
        """All ranks are threads of this process."""
        x = jnp.arange(4, dtype=jnp.int32)
        function = compile_function("launched", jax.jit(lambda x: x + 1), x)
        with unittest.mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="2", LOCAL_RANK="1", MASTER_ADDR="127.0.0.1"):
            np.testing.assert_array_equal(function(x), x + 1)

    def test_a_program_that_is_gone(self):
        fn = jax.jit(lambda x: x * 2)
        x = jnp.arange(4, dtype=jnp.int32)
        function = compile_function("gone", fn, x)
        compiled = jax.jit(function._call).lower(x).compile()
        np.testing.assert_array_equal(compiled(x), 2 * x)
        del function
        gc.collect()
        with self.assertRaisesRegex(ValueError, "a program that this process has not loaded, or has no more"):
            jax.block_until_ready(compiled(x))

    def test_calls_of_other_types(self):
        key = np.int64(self.function._device_call._program.key)
        call = jax.ffi.ffi_call("braid_jax_run", jax.ShapeDtypeStruct((4,), np.int32))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "1 operands and 1 results of the call do not have the types of"):
            jax.block_until_ready(jax.jit(lambda x: call(x, key=key))(jnp.arange(2)))
        self.check(self.function(*self.arguments()), step(*self.arguments()))

    def test_a_rank_that_does_not_come(self):
        kept, device_calls._TIMEOUT = device_calls._TIMEOUT, 0.2
        try:
            mesh = jax.sharding.Mesh(np.array(DEVICES), ("x",))
            fn = jax.jit(jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
            x = jnp.arange(4, dtype=jnp.int32)
            function = compile_function("alone", fn, x)
            function(x)
            call = jax.ffi.ffi_call("braid_jax_run", jax.ShapeDtypeStruct((2,), np.int32))
            with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "1 of 2 ranks have called main within 200 ms"):
                jax.block_until_ready(jax.jit(lambda x: call(x, key=np.int64(function._device_call._program.key)))(x[:2]))
        finally:
            device_calls._TIMEOUT = kept
        np.testing.assert_array_equal(function(x), x + 1)

    def test_empty_arrays_and_no_arguments(self):
        fn = jax.jit(lambda x: (x * 2, jnp.ones((2, 0)), jnp.arange(3)))
        x = jnp.ones((0, 4))
        self.check(compile_function("empty", fn, x)(x), fn(x))
        fn = jax.jit(lambda: jnp.arange(5))
        self.check(compile_function("constant", fn)(), fn())

    def test_ranks_with_parts(self):
        """Both ranks have a row; columns are summed over the ranks."""
        fn = jax.jit(jax.shard_map(lambda x, b: (x + b, jax.lax.psum(x[0], "x")), mesh=MESH, in_specs=(P("x"), P()), out_specs=(P("x"), P())))
        x, b = jnp.arange(8, dtype=jnp.int32).reshape(2, 4), jnp.arange(4, dtype=jnp.int32)
        function = compile_function("parts", fn, x, b)
        expected = np.asarray(x + b), np.asarray(x.sum(0))
        spread = jax.device_put(x, NamedSharding(MESH, P("x"))), jax.device_put(b, NamedSharding(MESH, P()))
        for arguments in ((x, b), spread, (spread[0], np.asarray(b))):
            first, second = found = function(*arguments)
            self.check(found, expected)
            self.assertEqual([shard.data.shape for shard in first.addressable_shards], [(1, 4)] * 2)
            self.assertTrue(second.is_fully_replicated)
        np.testing.assert_array_equal(function(first, b)[0], x + 2 * b)

    def test_more_ranks_than_gpus(self):
        mesh = jax.sharding.AbstractMesh((64,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        program = braid.jax.export(jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x")), jax.ShapeDtypeStruct((64,), np.float32))
        function = braid.jax.Function(program, self.function.executable)
        with self.assertRaisesRegex(braid.mlir.BraidError, "the program has 64 ranks, each with a GPU, and JAX has .* GPUs"):
            function(np.ones(64, np.float32))


class CompileTest(unittest.TestCase):
    def test_machines_without_gpus_compile(self):
        device_calls.PLATFORM = "cuda"
        function = braid.jax.compile(lambda x: x + 1, jnp.ones(4), target="cuda", passes="none")
        self.assertEqual(function.executable.target, "cuda")
        with self.assertRaisesRegex(braid.mlir.BraidError, "the program has 1 rank, each with a GPU, and JAX has 0 GPUs"):
            function(jnp.ones(4))


if __name__ == "__main__":
    unittest.main()
