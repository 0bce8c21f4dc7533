"""Times of PyTorch's own kernels that braid.inductor has measured, and the one line that gives torch.compile all of Braid."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import json
import os
import sys
import tempfile
import threading
import unittest
from unittest import mock

import braid.inductor
import torch
import torch._inductor.config as config
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid import _agreement, _groups
from braid.inductor import costs
from braid.inductor import measured_kernels as module
from braid.inductor.measured_kernels import KernelTimes
from braid.schedule import ScheduleError

#: `braid.inductor.overlap` is the pass.
overlaps = sys.modules["braid.inductor.overlap"]


def attend(q, k, v, w):
    weight = funcol.all_reduce(w, "sum", "0")
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return attended.reshape(q.shape[2], -1) @ weight


def make_inputs():
    q, k, v = (torch.empty(1, 4, 16, 8) for _ in range(3))
    return q, k, v, torch.empty(32, 32)


def compile_with(overlap):
    return torch_steps.compile_until_scheduled(attend, make_inputs(), [overlap])


class Signatures(unittest.TestCase):
    def test_kernels_that_inductor_does_not_generate_are_asked_for(self):
        times = KernelTimes()
        with mock.patch.object(costs, "kernel_times", times):
            compile_with(braid.inductor.Overlap(machine="cpu"))
        attention, product = sorted(times.missing)
        self.assertRegex(attention, r"^aten\._scaled_dot_product_\w+\.default\(1x4x16x8xfloat32 by 512,128,8,1, .* True\)$")
        self.assertRegex(product, r"^aten\.mm\.default\(16x32xfloat32 by 32,1, \d+x32xfloat32 by 32,1\)$")

    def test_measured_times_count(self):
        times = KernelTimes()
        with mock.patch.object(costs, "kernel_times", times):
            compile_with(braid.inductor.Overlap(machine="cpu"))
            times.times.update(dict.fromkeys(times.missing, 5_000_000))
            overlap = braid.inductor.Overlap(machine="cpu")
            compile_with(overlap)
        taken = [slice.end - slice.start for slice in (overlap.last or overlap.before).timeline]
        self.assertEqual(taken.count(5_000_000), 2)

    def test_a_matmul_whose_result_is_added_up_in_place_counts(self):
        """Inductor writes that the buffer of the matmul comes from the collective."""

        def step(x, w):
            return funcol.all_reduce(x @ w, "sum", "0") + 1, w @ w

        times, matmuls = KernelTimes(), []

        def find(snodes):
            matmuls.extend(each for each in snodes if str(getattr(each.node, "op_overload", "")).startswith("aten.mm"))
            return snodes

        with mock.patch.object(costs, "kernel_times", times):
            passes = [find, braid.inductor.Overlap(machine="cpu")]
            torch_steps.compile_until_scheduled(step, (torch.empty(16, 32), torch.empty(32, 32)), passes)
        self.assertEqual([str(each.node.get_origin_node().target) for each in matmuls], ["_c10d_functional.wait_tensor.default", "aten.mm.default"])
        self.assertEqual([costs.Costs._count(each)[0] for each in matmuls], [2 * 16 * 32 * 32, 2 * 32 * 32 * 32])
        self.assertEqual(len(times.missing), 2)

    def test_an_order_is_decided_on_again_after_a_measurement(self):
        """The collective whose kernel takes longer comes first, whatever was decided before."""

        def step(q, k, v, w):
            attended = torch.nn.functional.scaled_dot_product_attention(funcol.all_reduce(q, "sum", "0"), k, v)
            return attended, funcol.all_reduce(w, "sum", "0") @ w

        times, orders, store = KernelTimes(), [], dist.HashStore()
        with (
            mock.patch.object(costs, "kernel_times", times),
            mock.patch.object(overlaps, "kernel_times", times),
            mock.patch.object(_groups, "has_other_ranks", lambda: True),
            mock.patch.object(_agreement.Store, "__init__", lambda self: setattr(self, "_store", store)),
        ):
            for attention in (1_000, 5_000_000):
                overlap = braid.inductor.Overlap(machine="h100x8", min_gain=0)
                torch_steps.compile_until_scheduled(step, make_inputs(), [overlap])
                for signature in list(times.missing):
                    times.times[signature] = 1_000_000
                times.missing.clear()
                times.times.update({signature: attention for signature in times.times if "attention" in signature})
                (order,) = torch_steps.compile_until_scheduled(step, make_inputs(), [overlap])
                orders.append([snode.get_name() for snode in order if "all_reduce" in str(getattr(snode.node, "op_overload", ""))])
                self.assertFalse([note for note in overlap.notes if "earlier compile" in note])
        self.assertEqual(orders[0], orders[1][::-1])
        self.assertEqual(len(orders[0]), 2)

    def test_measuring(self):
        times = KernelTimes()
        with mock.patch.object(costs, "kernel_times", times):
            compile_with(braid.inductor.Overlap(machine="cpu"))
        wanted = set(times.missing)
        self.assertEqual(times.measure(), 2)
        self.assertEqual(set(times.times), wanted)
        self.assertTrue(all(ns > 0 for ns in times.times.values()))
        self.assertEqual((times.missing, times.measure()), ({}, 0))

    def test_a_kernel_that_cannot_run_alone_is_asked_for_once(self):
        times = KernelTimes()
        with mock.patch.object(costs, "kernel_times", times):
            compile_with(braid.inductor.Overlap(machine="cpu"))
            with mock.patch.object(module, "_make", side_effect=RuntimeError("no memory")):
                times.measure()
            self.assertEqual(times.times, {})
            compile_with(braid.inductor.Overlap(machine="cpu"))
        self.assertEqual(times.missing, {})

    def test_operands_that_are_expanded(self):
        operand = module._Tensor((3, 4), (0, 1), torch.float32, "cpu")
        self.assertEqual(module._make(torch, operand).stride(), (0, 1))


class FakeGPU:
    """CUDA events on a GPU whose kernels take 5 us at first and 6 us after 20 rounds, when it has got warm."""

    def __init__(self):
        self.now = self.count = self.waited = 0
        self.cuda = self

    def run(self):
        self.count += 1
        self.now += 5 if self.count <= 20 else 6

    def Event(self, enable_timing):
        event = mock.Mock(enable_timing=enable_timing, at=None)
        event.record.side_effect = lambda: setattr(event, "at", self.now)
        event.elapsed_time.side_effect = lambda end: (end.at - event.at) / 1e3
        event.synchronize.side_effect = lambda: setattr(self, "waited", event.at)
        return event

    def _sleep(self, cycles):
        pass

    def synchronize(self):
        self.waited = self.now


class Clocks(unittest.TestCase):
    def test_a_gpu_is_measured_when_it_has_got_warm(self):
        gpu = FakeGPU()
        times = iter(range(1000))
        with mock.patch.object(module.time, "monotonic", lambda: next(times) / 20):
            found = module._time_on_gpu(gpu, {"one": gpu.run})
        self.assertEqual(found["one"][-5:], [6000] * 5)
        self.assertEqual((len(found["one"]), gpu.waited), (7, gpu.now))

    def test_operands_stand_in_parts_of_the_memory(self):
        half = module._Tensor((1 << 30, 2), (2, 1), torch.float16, "cpu")
        called = {str(number): (None, ((half,), {"other": [half]})) for number in range(3)}
        with mock.patch.object(module, "_MOST_BYTES", 16 << 30):
            self.assertEqual(module._split(called), [["0", "1"], ["2"]])
        self.assertEqual(module._split(called), [["0"], ["1"], ["2"]])


class Ranks(unittest.TestCase):
    """Two ranks, as threads of this process."""

    def run_ranks(self, function):
        """What `function` returns or raises on each rank, given its number."""
        barrier, values, local, results = threading.Barrier(2, timeout=60), [None, None], threading.local(), [None, None]

        def gather(value):
            values[local.rank] = value
            barrier.wait()
            found = list(values)
            barrier.wait()
            return found

        def run(rank):
            local.rank = rank
            try:
                results[rank] = function(rank)
            except Exception as error:
                results[rank] = error

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(2)]
        with mock.patch.object(module, "_gather", gather), mock.patch.object(_groups, "get_rank", lambda: local.rank):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return results

    def measure(self, measure, *missing):
        """By rank, the number of measured kernels, and the times, where the ranks miss `missing`."""

        def run(rank):
            times = KernelTimes()
            times.missing = dict.fromkeys(missing[rank])
            return times.measure(), times.times, times.missing

        with mock.patch.object(module, "_measure", measure):
            return self.run_ranks(run)

    def test_each_kernel_is_measured_once(self):
        asked = []

        def measure(called):
            asked.extend(called)
            return {signature: len(asked) for signature in called}

        first, second = self.measure(measure, "ab", "bcd")
        self.assertEqual(first, second)
        self.assertEqual((first[0], sorted(first[1]), sorted(asked)), (4, list("abcd"), list("abcd")))

    def test_a_rank_that_cannot_measure(self):
        def measure(called):
            if "a" in called:
                raise RuntimeError("no memory")
            return dict.fromkeys(called, 7)

        with self.assertLogs("braid.inductor", "WARNING") as logs:
            results = self.measure(measure, "ab", "bc")
        self.assertEqual(results, [(3, {"c": 7}, {})] * 2)
        self.assertIn("2 kernels are not measured: RuntimeError: no memory", logs.output[0])

    def test_a_file_that_only_the_first_rank_has(self):
        results = self.run_ranks(lambda rank: module._do_on_first_rank(lambda: f"of rank {rank}"))
        self.assertEqual(results, ["of rank 0"] * 2)

    def test_an_error_of_the_first_rank_is_one_of_all(self):
        results = self.run_ranks(lambda rank: module._do_on_first_rank(lambda: module._read("/")))
        self.assertEqual([(type(error), str(error)[:37]) for error in results], [(ScheduleError, "/: found no times of kernels: [Errno ")] * 2)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "times.json")

    def test_what_was_saved_is_loaded(self):
        times, other = KernelTimes(), KernelTimes()
        times.times = {"aten.mm.default(1x1xfloat32 by 1,1)": 12}
        times.save(self.path)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["times.json"])
        other.load(self.path)
        self.assertEqual(other.times, times.times)
        self.assertEqual(other.get_digest(), times.get_digest())
        self.assertNotEqual(other.get_digest(), KernelTimes().get_digest())

    def check_error(self, content, text):
        with open(self.path, "w") as file:
            file.write(content)
        with self.assertRaisesRegex(ScheduleError, f"times.json: {text}"):
            KernelTimes().load(self.path)

    def test_files_that_are_none(self):
        self.check_error("{", "found no times of kernels: ")
        self.check_error("[]", 'expected a list "kernels" and "version": 1')
        self.check_error(json.dumps({"version": 2, "kernels": []}), 'expected a list "kernels" and "version": 1')
        entry = {"signature": "aten.mm", "ns": -1}
        self.check_error(json.dumps({"version": 1, "kernels": [entry]}), r"kernels\[0\]: expected a text")
        with self.assertRaisesRegex(ScheduleError, "/nowhere/times.json: found no times of kernels: "):
            KernelTimes().load("/nowhere/times.json")

    def test_times_of_another_device(self):
        with open(self.path, "w") as file:
            json.dump({"version": 1, "device": "NVIDIA H900", "kernels": []}, file)
        with self.assertLogs("braid.inductor") as logs:
            KernelTimes().load(self.path)
        self.assertIn("times.json has times of NVIDIA H900, this is", logs.output[0])


class Options(unittest.TestCase):
    def test_they_are_settings_of_inductor(self):
        known = config.get_config_copy()
        options = braid.inductor.options(cuda_graphs=True, machine="cpu")
        self.assertLessEqual(set(options), set(known))
        self.assertEqual(options["reorder_for_compute_comm_overlap_passes"][0].options["machine"], "cpu")
        self.assertTrue(options["triton.cudagraphs"])
        self.assertNotIn("triton.cudagraphs", braid.inductor.options())

    def test_torch_compile_takes_them(self):
        options = braid.inductor.options(machine="cpu")
        step = lambda x: (funcol.all_reduce(x @ x, "sum", "0"), x @ x @ x)  # noqa: E731
        with config.patch(force_disable_caches=True):
            torch.compile(step, options=options)(torch.ones(4, 4))
        self.assertIsNotNone(options["reorder_for_compute_comm_overlap_passes"][0].last)

    def test_unknown_options(self):
        with self.assertRaisesRegex(ScheduleError, "found the option 'lains', expected one of: "):
            braid.inductor.options(lains=True)
        with self.assertRaisesRegex(ScheduleError, "found lanes=3, expected True, False, None or a dict"):
            braid.inductor.options(lanes=3)
        with self.assertRaisesRegex(ScheduleError, "found margin=-1, expected a fraction of at least 0"):
            braid.inductor.options(margin=-1)

    def test_tuning_needs_a_step(self):
        with self.assertRaisesRegex(ScheduleError, "found step=3, expected a callable"):
            braid.inductor.tune(3)
        for rounds in (-1, 1.5, True):
            with self.assertRaisesRegex(ScheduleError, f"found rounds={rounds}, expected a whole number of at least 0"):
                braid.inductor.tune(print, rounds=rounds)

    def test_tuning(self):
        """The step runs until no kernel lacks a time, and each compile is a new one."""
        times = KernelTimes()
        compiled = torch.compile(lambda x, w: x @ w.t() @ w, options=braid.inductor.options(machine="cpu"))
        with mock.patch.object(module, "kernel_times", times):
            found = braid.inductor.tune(compiled, torch.ones(4, 4), torch.ones(4, 4))
        # No graph with a collective, no cost.
        self.assertEqual((found, found.times), (times, {}))


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
