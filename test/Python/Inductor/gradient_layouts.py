"""Gradients leave their graph in the layout of their parameters, so that autograd copies nothing."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import functools
import unittest
from unittest import mock

import braid.inductor
import torch
from braid.inductor import gradient_layouts
from torch._inductor.utils import fresh_cache
from torch.utils.checkpoint import checkpoint

#: No kernel is compiled.
SETTINGS = {"fallback_by_default": True}


def multiply(rows, weight):
    """The gradient of `weight` is that of its transpose, transposed."""
    return (rows @ weight.transpose(1, 2)).sin()


class Copies(unittest.TestCase):
    def train(self, options, function=multiply, shape=(2, 3, 4), dynamic=None):
        """The gradient of a weight, and whether autograd has copied it."""
        torch._dynamo.reset()
        torch.manual_seed(0)
        rows, weight = torch.randn(2, 5, 4), torch.randn(shape, requires_grad=True)
        with fresh_cache():
            compiled = torch.compile(function, options={**SETTINGS, **options}, dynamic=dynamic, fullgraph=True)
            compiled(rows, weight).sum().backward()
            weight.grad = None
            loss = compiled(rows, weight).sum()
            with torch.profiler.profile() as profile:
                loss.backward()
        events = [event for event in profile.events() if event.name == "torch::autograd::AccumulateGrad"]
        copies = [child for event in events for child in event.cpu_children if child.name in ("aten::copy_", "aten::clone")]
        return weight.grad, bool(copies)

    def check(self, expected, *words, **more):
        gradient, copied = self.train({}, *words, **more)
        own, own_copied = self.train(braid.inductor.options(machine="cpu"), *words, **more)
        self.assertTrue(torch.equal(gradient, own))
        self.assertEqual(gradient.stride(), own.stride())
        self.assertEqual((copied, own_copied), expected)

    def test_transposed(self):
        self.check((True, False))

    def test_as_it_is(self):
        """A gradient that has the layout of its parameter gets no copy."""
        with mock.patch.object(gradient_layouts, "_copy") as copy:
            self.check((False, False), lambda rows, weight: (rows @ weight).sin(), (2, 4, 3))
        copy.assert_not_called()

    def test_symbolic_sizes(self):
        """No guard is added for a size."""
        self.check((True, True), dynamic=True)

    def test_checkpoint(self):
        """Values that backward computes again."""
        self.check((True, False), lambda rows, weight: checkpoint(multiply, rows, weight, use_reentrant=False))

    def test_value_of_forward(self):
        """The gradient is an input as it is, along other dimensions."""
        self.check((True, False), lambda rows, weight: rows.transpose(1, 2) * weight, (2, 4, 5))

    def test_compiled_autograd(self):
        """The backward as one graph copies once, in the graph."""
        found = []
        for options in ({}, braid.inductor.options(machine="cpu")):
            compile = functools.partial(torch.compile, options={**SETTINGS, **options})
            with torch._dynamo.compiled_autograd._enable(compile):
                found.append(self.train(options)[0])
        self.assertTrue(torch.equal(*found))
        self.assertEqual(found[0].stride(), found[1].stride())

    def test_another_output(self):
        """The sum that is an output beside the gradient keeps its own layout."""
        options = braid.inductor.options(machine="cpu")
        self.assertIn("joint_custom_post_pass", options)
        found = torch.compile(lambda x: (x @ x).t(), options={**SETTINGS, **options})(torch.ones(2, 3, 3)[0])
        self.assertEqual(found.stride(), (1, 3))

    def test_failure(self):
        """What the pass cannot read it leaves alone, and the compile goes on."""
        with mock.patch.object(gradient_layouts, "_find_gradients", side_effect=KeyError("desc")):
            with self.assertLogs("braid.inductor") as logs:
                _, copied = self.train(braid.inductor.options(machine="cpu"))
        self.assertTrue(copied)
        self.assertIn("gradients keep their layouts: KeyError: 'desc'", logs.output[0])


if __name__ == "__main__":
    unittest.main()
