# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of FX graphs, and runs of what Inductor's post-grad passes make of a program in another order.

The graphs are those that Inductor lowers, reinplaced ops included, and run op by op: no C++ is compiled, so that many
orders of one trace take little time.
"""

import copy
import random

import torch


def precedes(read, first, second):
    """Whether every order of an `FxGraph` has the node at `first` before the one at `second`."""
    pending, seen = [second], set()
    while pending:
        place = pending.pop()
        if place == first:
            return True
        if place not in seen:
            seen.add(place)
            pending.extend([*read.before[place], *read.awaits[place]])
    return False


def draw_order(read, seed):
    """A random legal order of an `FxGraph`: the same for the same graph and seed."""
    draw = random.Random(seed)
    count = len(read.nodes)
    before = [set(places) | set(read.awaits[place]) for place, places in enumerate(read.before)]
    users = [[] for _ in range(count)]
    for place, places in enumerate(before):
        for other in places:
            users[other].append(place)
    left = [len(places) for places in before]
    # Some orders defer waits, some collectives, and some nothing.
    late = draw.choice(("wait", "start", "compute", None))
    keys = [draw.random() + (read.kinds[place] == late) for place in range(count)]
    ready, order = sorted((keys[place], place) for place in range(count) if not left[place]), []
    while ready:
        _, place = ready.pop(0)
        order.append(place)
        for user in users[place]:
            left[user] -= 1
            if not left[user]:
                ready.append((keys[user], user))
        ready.sort()
    assert len(order) == count, "found a circle of edges"
    return order


class Drawn:
    """A pass that takes a random order of Braid's own graph; `moved` counts the graphs that have changed."""

    def __init__(self, seed):
        self.seed = seed
        self.moved = 0

    def __call__(self, graph):
        from braid.fx.nodes import FxGraph

        read = FxGraph(graph)
        order = draw_order(read, self.seed)
        self.moved += order != sorted(order)
        read.apply(order)

    def uuid(self):
        return None


class Lowered(torch.fx.Interpreter):
    """Runs a graph that has been made for lowering."""

    def call_function(self, target, args, kwargs):
        if target in (torch.ops.prims.inductor_random.default, torch.ops.prims.inductor_randint.default):
            # As lowered, numbers come from the operand that is a seed, and from nothing else.
            seed = next(value for value in args if torch.is_tensor(value))
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(int(seed))
                return target(*args, **kwargs)
        result = super().call_function(target, args, kwargs)
        # Where `_foreach_add` is done in place, Inductor takes the operands for the results.
        return args[0] if result is None and str(target).startswith("aten._foreach_") else result


class Runs:
    """A backend of `torch.compile` that compiles up to lowering, once for each pass, and runs the graphs of the pass
    number `current`. `passes` has None for the order as it came."""

    def __init__(self, passes, **settings):
        self.passes, self.settings = passes, settings
        self.current = 0

    def compile(self, module, inputs):
        from torch._inductor import config
        from torch._inductor.compile_fx import compile_fx

        with config.patch(fx_graph_cache=False, **self.settings):
            return compile_fx(module, inputs, inner_compile=self._run_passes)

    def _run_passes(self, module, inputs, *, is_inference=False, **_):
        from torch._inductor import config
        from torch._inductor.compile_fx import fake_tensor_prop
        from torch._inductor.fx_passes.post_grad import post_grad_passes, view_to_reshape
        from torch._inductor.virtualized import V

        view_to_reshape(module)
        with torch.no_grad():
            fake_mode = fake_tensor_prop(module, inputs)
        modules = []
        for one in self.passes:
            copied = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
            with V.set_fake_mode(fake_mode), config.patch(post_grad_custom_post_pass=one, **self.settings):
                post_grad_passes(copied, is_inference=is_inference)
            copied.recompile()
            modules.append(copied)

        def call(values):
            return Lowered(modules[self.current]).run(*values)

        call._boxed_call = True
        return call
