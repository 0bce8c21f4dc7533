# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records the graphs that Inductor gets of a case, to compile them again without tracing the model again."""

import contextlib
import copy
import functools

import torch
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.virtualized import V

from .compare import Compiled, Distributed, compare


class Graph:
    """A graph as Inductor gets it, with the values of its inputs when it ran."""

    def __init__(self, module, example_inputs, options):
        self.module = copy.deepcopy(module)
        self.example_inputs = list(example_inputs)
        self.options = options
        self.fake_mode = V.fake_mode
        self.context = torch._guards.TracingContext.try_get()
        self.inputs = None

    def compile(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch._guards.tracing(self.context))
            stack.enter_context(V.set_fake_mode(self.fake_mode))
            return compile_fx_inner(copy.deepcopy(self.module), list(self.example_inputs), **self.options)

    def run(self):
        """Outputs and inputs after a run of the graph, compiled with the settings of Inductor that hold.

        Inputs that the graph may overwrite are None.
        """
        inputs = _copy_all(self.inputs)
        kept = [None if index in self.get_donated() else value for index, value in enumerate(inputs)]
        # The compiled function empties the list that it gets.
        outputs = self.compile()(inputs)
        return _copy_all(outputs), _copy_all(kept)

    def get_donated(self):
        """The inputs of a backward that nobody reads behind it."""
        metadata = getattr(self.context, "fw_metadata", None)
        return getattr(metadata, "bw_donated_idxs", None) or () if self.options.get("is_backward") else ()

    def remember(self, inputs):
        if self.inputs is None:
            self.inputs = _copy_all(inputs)


class Recording:
    """The graphs of one step of a case on this rank, in the order in which they were compiled."""

    def __init__(self, case, rank):
        self.case = case
        self.graphs = []
        distributed = Distributed(case, rank)
        #: What the step computes eagerly and compiled, by name.
        self.eager = distributed.run()
        backend = functools.partial(compile_fx, inner_compile=self._compile)
        self.compiled = distributed.run_compiled(Compiled(), backend)

    def _compile(self, module, example_inputs, **options):
        graph = Graph(module, example_inputs, options)
        self.graphs.append(graph)
        compiled = compile_fx_inner(module, example_inputs, **options)

        def run(inputs):
            graph.remember(inputs)
            return compiled(inputs)

        run._boxed_call = True
        return run

    def check_against_eager(self):
        """What differs between the eager and the compiled step by more than rounding."""
        return compare(self.compiled, self.eager, exact=False)

    def replay(self, way):
        """By name all that the graphs compute, compiled in this way."""
        result = {}
        with torch._inductor.config.patch(way.get_patches()):
            for number, graph in enumerate(self.graphs):
                if graph.inputs is None:
                    continue
                torch.manual_seed(5)
                for what, values in zip(("output", "input"), graph.run()):
                    for index, value in enumerate(values):
                        if isinstance(value, torch.Tensor):
                            result[f"graph {number}, {what} {index}"] = value
        return result


def _copy_all(values):
    return [_copy(value) if isinstance(value, torch.Tensor) else value for value in values]


def _copy(value):
    """A copy with the strides of `value`, also where elements share memory."""
    value = value.detach()
    storage = value.untyped_storage().clone()
    return value.new_empty(0).set_(storage, value.storage_offset(), value.size(), value.stride())
