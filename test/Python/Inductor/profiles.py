"""Measured times in braid.inductor: matmuls and collectives take theirs from a profile."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import types
import unittest
from unittest import mock

import torch
import torch.distributed._functional_collectives as funcol
import torch.utils.flop_counter
import torch_steps
from braid._torch_costs import count_flops, get_matmul
from braid.inductor import Overlap
from braid.schedule import Machine, ScheduleError


def schedule_step(name, *passes, tokens=2048, width=4096):
    new = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
    with torch._subclasses.fake_tensor.FakeTensorMode():
        step, inputs = torch_steps.STEPS[name](2, width, tokens, new)
        torch_steps.compile_until_scheduled(step, inputs, passes)


class Measured(unittest.TestCase):
    def test_matmuls_take_their_time_from_the_profile(self):
        measured = Overlap(machine="h200x8", profile="shipped")
        datasheet = Overlap(machine="h200x8", profile=None)
        schedule_step("tensor parallel", measured, datasheet)
        self.assertGreater(measured.last.compute, 1.1 * datasheet.last.compute)

    def test_transposed_operands_are_found_by_their_strides(self):
        rows, columns, depth = 64, 48, 32
        of = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
        for left, right, transposed in (
            (of(rows, depth), of(depth, columns), "none"),
            (of(depth, rows).t(), of(depth, columns), "left"),
            (of(rows, depth), of(columns, depth).t(), "right"),
            (of(depth, rows).t(), of(columns, depth).t(), "both"),
        ):
            operands = [types.SimpleNamespace(meta={"val": value}) for value in (left, right)]
            product = get_matmul(types.SimpleNamespace(target=torch.ops.aten.mm.default, args=operands))
            self.assertEqual(product, (rows, columns, depth, "bf16", 1, transposed))


class Operations(unittest.TestCase):
    @staticmethod
    def count(op, *args):
        nodes = torch.fx.Graph()
        operands = []
        for value in args:
            node = nodes.placeholder("operand") if isinstance(value, torch.Tensor) else value
            if isinstance(value, torch.Tensor):
                node.meta["val"] = value
            operands.append(node)
        called = nodes.call_function(op, tuple(operands))
        called.meta["val"] = args[0]
        return count_flops(called)

    def test_attention_counts_as_much_as_the_op_of_the_library(self):
        query, key = torch.empty(2, 8, 256, 64), torch.empty(2, 2, 384, 64)
        of_pair = 3 * 128 + 256
        attention = torch.ops.aten._scaled_dot_product_flash_attention.default
        self.assertEqual(self.count(attention, query, key, key), 2 * 8 * 256 * 384 * of_pair)
        causal = self.count(attention, query, key, key, 0.0, True)
        self.assertEqual(causal, 2 * 8 * 256 * 257 // 2 * of_pair)
        longer = self.count(attention, torch.empty(2, 8, 512, 64), key, key, 0.0, True)
        self.assertEqual(longer, 2 * 8 * (384 * 385 // 2 + 128 * 384) * of_pair)
        # Kernels compute whole tiles of 128.
        self.assertEqual(self.count(attention, query[:, :, :129], key, key), self.count(attention, query, key, key))

    def test_gradients_of_attention_count_more(self):
        query, key = torch.empty(2, 8, 256, 64), torch.empty(2, 2, 384, 64)
        backward = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default
        counted = self.count(backward, query, query, key, key, None, query, query, query, query, 0.0, [True] * 4, False)
        self.assertEqual(counted, 2 * 8 * 256 * 384 * (9 * 5 * 64 // 4 + 1760))

    def test_attention_runs_at_the_rate_of_its_operands(self):
        """Its several results have no type in common."""

        def step(q, k, w):
            weight = funcol.all_reduce(w, "sum", "0")
            return torch.nn.functional.scaled_dot_product_attention(q, k, k), weight @ weight

        overlap = Overlap(machine="h200x8", profile=None)
        with torch._subclasses.fake_tensor.FakeTensorMode():
            shapes = (1, 4, 1024, 64), (1, 4, 2048, 64), (64, 64)
            torch_steps.compile_until_scheduled(step, [torch.empty(*shape, dtype=torch.bfloat16) for shape in shapes], [overlap])
        taken = [slice.end - slice.start for slice in (overlap.last or overlap.before).timeline]
        operations = 4 * 1024 * 2048 * (3 * 128 + 256)
        self.assertIn(round(operations / Machine("h200x8", profile="none").peaks["bf16"] * 1e9), taken)

    def test_a_formula_that_refuses_its_op_counts_nothing(self):
        def refuse(*args, out_val, **kwargs):
            raise AssertionError("no such shapes")

        with mock.patch.dict(torch.utils.flop_counter.flop_registry, {torch.ops.aten.relu: refuse}):
            self.assertEqual(self.count(torch.ops.aten.relu.default, torch.empty(2, 3)), 0)


class BadInput(unittest.TestCase):
    def test_wrong_profiles(self):
        for text, make in (
            ("no profile of the machine 'a100x8' that Braid ships", lambda: Overlap(machine="a100x8", profile="shipped")),
            ("absent.json: found no profile", lambda: Overlap(machine="h200x8", profile="absent.json")),
            ("found a profile beside a Machine", lambda: Overlap(machine=Machine("h200x8"), profile="shipped")),
        ):
            with self.assertRaises(ScheduleError) as raised:
                make()
            self.assertIn(text, str(raised.exception))


if __name__ == "__main__":
    torch_steps.start_fake_group(2)
    unittest.main()
