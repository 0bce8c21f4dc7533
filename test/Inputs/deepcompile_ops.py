# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of DeepSpeed's DeepCompile without DeepSpeed, whose own need a GPU: the schemas of its csrc/compile/init.cpp, and kernels
for CPUs that do what those of csrc/compile do as late, and destroy memory as early, as they may.

A gathered parameter is NaN until its wait, and again after its last release; a gradient is read when the backward ends.
"""

import torch

_SCHEMAS = (
    "allgather_param(Tensor a, int graph_id, int id, ScalarType? dtype = None) -> Tensor",
    "prefetch_params_fused(int graph_id, Tensor[] params, int[] ids, ScalarType[]? dtypes = None) -> ()",
    "wait_allgather(Tensor(a) a, int graph_id, int id) -> Tensor(a)",
    "release_param(Tensor(a) a, int graph_id, int id, int n_users) -> Tensor(a)",
    "reduce_grad(Tensor a, int graph_id, int id) -> Tensor",
    "free_tensors(Tensor[] a) -> ()",
    "offload_tensor(Tensor a, int id, int id) -> Tensor",
    "reload_tensor(Tensor a, int id, int id) -> Tensor",
    "wait_offload(Tensor a, int id, int id) -> Tensor",
    "wait_reload(Tensor a, int id, int id) -> Tensor",
    "offload_parameter(Tensor a, int id, int id) -> ()",
    "reload_parameter(Tensor a, int id, int id) -> ()",
    "end_backward(Any deps, int graph_id, bool release_reduce_buckets) -> ()",
    "test_call(Tensor a) -> Tensor",
)


class Registry:
    """What DeepSpeed's ops share."""

    def __init__(self):
        self.reset({})

    def reset(self, parameters):
        """`parameters`: the whole tensors by their numbers."""
        self.parameters, self.gathered, self.pending, self.uses = parameters, {}, set(), {}
        self.gradients, self.tasks, self.log, self.copies = {}, [], [], {}

    def begin(self, number):
        if number not in self.gathered:
            self.gathered[number] = torch.full_like(self.parameters[number], torch.nan)
            self.pending.add(number)
            self.log.append(("gather", number))
        return self.gathered[number]

    def allgather_param(self, shard, graph, number, dtype=None):
        return self.begin(number).view_as(self.parameters[number])

    def prefetch_params_fused(self, graph, shards, numbers, dtypes=None):
        for number in numbers:
            self.begin(number)

    def wait_allgather(self, value, graph, number):
        if number in self.pending:
            self.pending.remove(number)
            self.gathered[number].copy_(self.parameters[number])
        return value

    def release_param(self, result, graph, number, users):
        self.uses[number] = (self.uses.get(number) or users) - 1
        if not self.uses[number]:
            self.gathered.pop(number).fill_(torch.nan)
        return result

    def reduce_grad(self, gradient, graph, number):
        self.log.append(("reduce", number))
        self.tasks.append((number, gradient))
        return gradient.new_empty(0)

    def end_backward(self, results, graph, release):
        for number, gradient in self.tasks:
            self.gradients[number] = self.gradients.get(number, 0) + gradient.clone()
        self.tasks = []

    def free_tensors(self, tensors):
        for tensor in tensors:
            tensor.fill_(torch.nan)

    def offload_tensor(self, value, graph, number):
        self.copies[number] = value
        return torch.full_like(value, torch.nan)

    def wait_offload(self, value, graph, number):
        return value.copy_(self.copies.pop(number)).clone()

    def reload_tensor(self, value, graph, number):
        self.copies[number] = value
        return torch.full_like(value, torch.nan)

    wait_reload = wait_offload


registry = Registry()


def _fake(name):
    if name == "reduce_grad":
        return lambda value, graph, number: value.new_empty(0)
    if name == "allgather_param":
        return lambda value, graph, number, dtype=None: torch.empty_like(value, dtype=dtype)
    return lambda value, *_, **__: value if "->" in name else None


def _define():
    library = torch.library.Library("dc", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
        name = schema.partition("(")[0]
        kernel = getattr(Registry, name, None)
        if kernel is not None:
            for key in ("CPU", "Undefined"):
                library.impl(name, lambda *words, _name=name, **more: getattr(registry, _name)(*words, **more), key)
    return library


_library = _define()


def gather_parameters(gm, numbers, prefetch=0):
    """Does to a graph what DeepSpeed's `zero3_compile` does: placeholders whose names `numbers` has are parameters.

    The first `prefetch` parameters are fetched before anything else, as DeepSpeed's `prefetch` may.
    """
    graph = gm.graph
    parameters = [node for node in graph.nodes if node.op == "placeholder" and node.name in numbers and node.users]
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for node in parameters:
        number, users = numbers[node.name], [user for user in node.users if user.op != "output"]
        with graph.inserting_before(first):
            gather = graph.call_function(torch.ops.dc.allgather_param.default, (node, 7, number), {"dtype": torch.float32})
            wait = graph.call_function(torch.ops.dc.wait_allgather.default, (gather, 7, number))
        gather.meta["val"] = wait.meta["val"] = node.meta["val"]
        for user in users:
            user.replace_input_with(node, wait)
            # A view is no use of its own.
            for real in _get_real_uses(user):
                _add_behind(real, torch.ops.dc.release_param.default, 7, number, _count_uses(users))
    if prefetch:
        some = parameters[:prefetch]
        with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
            fetched = (7, some, [numbers[node.name] for node in some])
            graph.call_function(torch.ops.dc.prefetch_params_fused.default, fetched)
    graph.lint()
    gm.recompile()


_VIEWS = (torch.ops.aten.t.default, torch.ops.aten.permute.default, torch.ops.aten.view.default)


def _get_real_uses(node):
    return [real for user in node.users for real in _get_real_uses(user)] if node.target in _VIEWS else [node]


def _count_uses(users):
    return sum(len(_get_real_uses(user)) for user in users)


def _add_behind(node, op, *more):
    graph = node.graph
    with graph.inserting_after(node):
        new = graph.call_function(op, (node, *more))
    for user in list(node.users):
        if user is not new:
            user.replace_input_with(node, new)
    # DeepSpeed has no value for these.
    new.meta["val"] = None
    return new


def reduce_gradients(gm, numbers):
    """Does to a graph what DeepSpeed does to a backward: its outputs at the places that `numbers` has are gradients."""
    graph, output = gm.graph, gm.graph.output_node()
    results, reduces = list(output.args[0]), []
    for place, number in numbers.items():
        reduces.append(_add_behind(results[place], torch.ops.dc.reduce_grad.default, 7, number))
        results[place] = None
    with graph.inserting_before(output):
        graph.call_function(torch.ops.dc.end_backward.default, (reduces, 7, True))
    output.args = (tuple(results),)
    graph.lint()
    gm.recompile()
