# RUN: rm -rf %t && mkdir %t
# RUN: %cc -shared -fPIC -I%braid_include_dir %braid_src_root/test/Tools/braid-run/Inputs/device_program.c -L%braid_lib_dir -lbraid_rt -o %t/p.so
# RUN: %cc -shared -fPIC -DDYNAMIC -I%braid_include_dir %braid_src_root/test/Tools/braid-run/Inputs/device_program.c -L%braid_lib_dir -lbraid_rt -o %t/dynamic.so
# RUN: %cc -shared -fPIC -DSUMS=1 -I%braid_include_dir %braid_src_root/test/Tools/braid-run/Inputs/device_program.c -L%braid_lib_dir -lbraid_rt -o %t/planned.so
# DEFINE: %{fakes} = env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so BRAID_NCCL_LIBRARY=%braid_lib_dir/libfake_nccl.so FAKE_CUDA_DEVICES=2
# RUN: %{fakes} %python %s %t DeviceTest
# RUN: %{fakes} FAKE_CUDA_MEMORY=67371008 %python %s %t MemoryTest
"""braid.mlir: programs for GPUs, over fakes of NVIDIA's libraries: arrays of the host and
of GPUs in, arrays of GPUs out."""

import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import types
import unittest

import numpy as np

from braid.mlir import ArgumentError, BraidError, DeviceArray, Executable

FOLDER = sys.argv.pop(1)


def numbers(start):
    return np.arange(start, start + 16, dtype=np.float32).reshape(4, 4)


class Exporter:
    """A DeviceArray of which DLPack says something else."""

    def __init__(self, array, device=None, **changes):
        self.array, self.device, self.changes = array, device, changes

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None):
        self.stream = stream
        kept = {name: getattr(self.array, name) for name in self.changes}
        for name, value in self.changes.items():
            setattr(self.array, name, value)
        try:
            return self.array.__dlpack__(stream=stream)
        finally:
            for name, value in kept.items():
                setattr(self.array, name, value)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # state = x state; result = sum over ranks of state
        cls.program = Executable(os.path.join(FOLDER, "p.so"))

    def run_program(self, xs, states, **options):
        return [results[0] for results in self.program.run(list(map(list, zip(xs, states))), **options)]

    def make_device_arrays(self, values):
        """Two arrays on each GPU, with the sum of `values` as their content."""
        identity = np.eye(4, dtype=np.float32)
        return self.run_program([identity] * 2, values)


class DeviceTest(Case):
    def test_programs_record_sums_in_another_order(self):
        self.assertIsNone(self.program.numerics)
        numerics = Executable(os.path.join(FOLDER, "planned.so")).numerics
        found, = numerics.reordered_sums
        self.assertEqual((found.operation, found.reason, str(found.location), found.members),
                         ("all_reduce sum", "8 CTAs, transport copy", "prog.mlir:3:8", 0))
        # Two operands may change places.
        self.assertTrue(numerics.has_same_bits(ranks=2))
        self.assertEqual(numerics.may_reorder(ranks=3), [found])

    def test_arrays_of_the_host_go_to_the_gpus_and_results_stay_there(self):
        x, state = numbers(1), numbers(20)
        results = self.run_program([x, 2 * x], [state, state])
        for rank, result in enumerate(results):
            self.assertIsInstance(result, DeviceArray)
            self.assertEqual((result.device, result.shape, result.dtype), (rank, (4, 4), np.float32))
            np.testing.assert_array_equal(result.numpy(), 3 * x @ state)
            np.testing.assert_array_equal(np.asarray(result), 3 * x @ state)
            self.assertEqual(repr(result), f"<DeviceArray float32 (4, 4) on GPU {rank}>")
        self.assertEqual(self.program.copied_bytes, 4 * 64)
        # The program has overwritten copies.
        np.testing.assert_array_equal(state, numbers(20))

    def test_the_time_of_a_run_is_that_of_the_slowest_gpu(self):
        self.run_program([numbers(0)] * 2, [numbers(0)] * 2)
        self.assertGreater(self.program.device_ns, 0)
        self.assertGreater(self.program.elapsed_ns, 0)

    def test_arrays_of_gpus_are_read_where_they_lie(self):
        xs = self.make_device_arrays([numbers(0), numbers(1)])
        identity = np.eye(4, dtype=np.float32)
        results = self.run_program([Exporter(x) for x in xs], [identity] * 2)
        np.testing.assert_array_equal(results[0].numpy(), 2 * (numbers(0) + numbers(1)))
        self.assertEqual(self.program.copied_bytes, 2 * 64)

    def get_addresses(self):
        """Where the results of a run lie that nobody keeps."""
        return [result.address for result in self.make_device_arrays([numbers(0)] * 2)]

    def test_runs_use_the_memory_of_earlier_ones(self):
        # Two arguments and a result have the same size.
        self.assertEqual(len({self.get_addresses()[0] for _ in range(20)}), 1)

    def test_steps_in_a_row_become_graphs(self):
        program = Executable(os.path.join(FOLDER, "p.so"))
        fakes = ctypes.CDLL(os.environ["BRAID_CUDA_LIBRARY"])
        fakes.fake_cuda_log.restype = ctypes.c_char_p
        state, graphs = [numbers(0)] * 2, []
        for step in range(8):
            fakes.fake_cuda_clear_log()
            # The results of the last step are there until this one has its own.
            state = [results[0] for results in program.run([[np.eye(4, dtype=np.float32), x] for x in state])]
            graphs.append(fakes.fake_cuda_log().count(b": graph of"))
            np.testing.assert_array_equal(state[0].numpy(), 2 ** (step + 1) * numbers(0))
        # The first runs with the two sets of addresses, their recordings, and replays.
        self.assertEqual(graphs, [0, 0, 2, 2, 2, 2, 2, 2])

    def test_memory_is_used_again_when_no_rank_needs_it(self):
        # NCCL takes the memory of all ranks as one window.
        first = self.make_device_arrays([numbers(1)] * 2)
        addresses = [result.address for result in first]
        kept = first.pop()
        del first
        for address, other in zip(addresses, self.get_addresses()):
            self.assertNotEqual(address, other)
        np.testing.assert_array_equal(kept.numpy(), 2 * numbers(1))

    def test_tensors_of_pytorch_are_exported_on_their_gpu(self):
        # PyTorch refuses a tensor of another GPU than the thread's current one.
        torch = types.ModuleType("torch")
        current = [0]

        @contextlib.contextmanager
        def device(number):
            kept, current[0] = current[0], number
            yield
            current[0] = kept

        class Tensor(Exporter):
            def __dlpack__(self, *, stream=None):
                if current[0] != self.array.device:
                    raise BufferError(f"current device: {current[0]}")
                return super().__dlpack__(stream=stream)

        torch.Tensor, torch.cuda = Tensor, types.SimpleNamespace(device=device)
        xs = [Tensor(x) for x in self.make_device_arrays([numbers(0)] * 2)]
        sys.modules["torch"] = torch
        try:
            results = self.run_program(xs, [np.eye(4, dtype=np.float32)] * 2)
        finally:
            del sys.modules["torch"]
        np.testing.assert_array_equal(results[1].numpy(), 4 * numbers(0))
        self.assertEqual(current, [0])

    def test_the_producer_makes_the_legacy_stream_wait(self):
        xs = [Exporter(x) for x in self.make_device_arrays([numbers(0)] * 2)]
        self.run_program(xs, [numbers(0)] * 2)
        self.assertEqual([x.stream for x in xs], [1, 1])

    def test_donated_arrays_of_gpus_are_overwritten(self):
        states = self.make_device_arrays([numbers(0)] * 2)
        twice = 2 * np.eye(4, dtype=np.float32)
        self.run_program([twice] * 2, states)
        np.testing.assert_array_equal(states[0].numpy(), 2 * numbers(0))
        self.assertEqual(self.program.copied_bytes, 4 * 64)
        self.run_program([twice] * 2, states, donate=True)
        np.testing.assert_array_equal(states[0].numpy(), 4 * numbers(0))
        self.assertEqual(self.program.copied_bytes, 2 * 64)

    def test_results_whose_size_the_program_knows(self):
        program = Executable(os.path.join(FOLDER, "dynamic.so"))
        ((result,), (other,)) = program.run([[], []], entry="dynamic")
        np.testing.assert_array_equal(result.numpy(), np.array([4, 5, 6], np.float32))
        np.testing.assert_array_equal(other.numpy(), np.array([4, 5, 6], np.float32))

    def test_a_world_of_another_size(self):
        result = self.program.run([[numbers(0), numbers(0)]])[0][0]
        np.testing.assert_array_equal(result.numpy(), numbers(0) @ numbers(0))

    def test_a_tensor_of_another_gpu(self):
        first, second = self.make_device_arrays([numbers(0)] * 2)
        with self.assertRaisesRegex(ArgumentError, "argument 0 of rank 0 is on GPU 1, expected GPU 0"):
            self.run_program([second, first], [numbers(0)] * 2)

    def test_a_tensor_with_gaps(self):
        first, second = self.make_device_arrays([numbers(0)] * 2)
        import braid.mlir.devices as devices
        kept = devices.contiguous_strides
        devices.contiguous_strides = lambda shape: (8, 1)
        try:
            with self.assertRaisesRegex(ArgumentError, r"rank 0 has the strides \(32, 4\) in bytes, "
                                                       "expected memory without gaps"):
                self.run_program([first, second], [numbers(0)] * 2)
        finally:
            devices.contiguous_strides = kept

    def test_a_tensor_of_another_shape_and_type(self):
        first, second = self.make_device_arrays([numbers(0)] * 2)
        for changes, found in (({"shape": (2, 8)}, r"float32 of shape \(2, 8\)"),
                               ({"_element": "i32"}, r"int32 of shape \(4, 4\)")):
            with self.assertRaisesRegex(ArgumentError, f"argument 0 of rank 0 is an array of {found}, "
                                                       "expected tensor<4x4xf32>"):
                self.run_program([Exporter(first, **changes), second], [numbers(0)] * 2)

    def test_more_ranks_than_gpus(self):
        with self.assertRaisesRegex(BraidError, "3 ranks"):
            self.run_program([numbers(0)] * 3, [numbers(0)] * 3)

    def test_no_driver(self):
        code = ("import sys, numpy as np, braid.mlir\n"
                "x = np.ones((4, 4), np.float32)\n"
                "try: braid.mlir.Executable(sys.argv[1]).run([[x, x]])\n"
                "except braid.mlir.BraidError as error: print(error)")
        done = subprocess.run([sys.executable, "-c", code, os.path.join(FOLDER, "p.so")],
                              env={**os.environ, "BRAID_CUDA_LIBRARY": os.path.join(FOLDER, "none.so")},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("none.so", done.stdout)


class MemoryTest(Case):
    def test_memory_of_gpus_is_freed(self):
        # There are 256 KiB beside what the program needs. Results live as long as they are held.
        held = self.make_device_arrays([numbers(0)] * 2)
        for _ in range(2000):
            self.make_device_arrays([numbers(1)] * 2)
        gc.collect()
        np.testing.assert_array_equal(held[1].numpy(), 2 * numbers(0))


if __name__ == "__main__":
    unittest.main()
