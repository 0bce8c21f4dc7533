# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of small transformers, as PyTorch functions with functional collectives.

Each step takes parameters and tokens and returns gradients, so that forward and backward are one
graph. Collectives belong to `group`, the name of a group of all ranks, or to what `new_group` makes of ranks.
"""

import argparse

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F


def start_fake_group(ranks):
    """Makes this process rank 0 of `ranks`, the others of which do not exist."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())


class ReduceGradient(torch.autograd.Function):
    """Data parallelism: the gradient of a parameter is summed over all ranks."""

    @staticmethod
    def forward(ctx, parameter, group):
        ctx.group = group
        return parameter.view_as(parameter)

    @staticmethod
    def backward(ctx, gradient):
        return funcol.all_reduce(gradient.contiguous(), "sum", ctx.group), None


class Gather(torch.autograd.Function):
    """Fully sharded data parallelism: gathers a parameter, scatters its gradient."""

    @staticmethod
    def forward(ctx, shard, group):
        ctx.group = group
        return funcol.all_gather_tensor(shard, 0, group)

    @staticmethod
    def backward(ctx, gradient):
        return funcol.reduce_scatter_tensor(gradient.contiguous(), "sum", 0, ctx.group), None


class Enter(torch.autograd.Function):
    """Tensor parallelism: into the part that each rank computes of its own."""

    @staticmethod
    def forward(ctx, value, group):
        ctx.group = group
        return value.view_as(value)

    @staticmethod
    def backward(ctx, gradient):
        return funcol.all_reduce(gradient.contiguous(), "sum", ctx.group), None


class Leave(torch.autograd.Function):
    """Tensor parallelism: the sum of what all ranks have computed."""

    @staticmethod
    def forward(ctx, value, group):
        return funcol.all_reduce(value.contiguous(), "sum", group)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Exchange(torch.autograd.Function):
    """Mixture of experts: tokens go to the ranks of their experts, or come back."""

    @staticmethod
    def forward(ctx, value, group):
        ctx.group = group
        return funcol.all_to_all_single(value.contiguous(), None, None, group)

    @staticmethod
    def backward(ctx, gradient):
        return funcol.all_to_all_single(gradient.contiguous(), None, None, ctx.group), None


def attention(x, qkv, out, heads):
    tokens, width = x.shape
    q, k, v = (x @ qkv).view(tokens, 3, heads, -1).unbind(1)
    scores = torch.softmax(q.transpose(0, 1) @ k.permute(1, 2, 0) / 8.0, -1)
    return (scores @ v.transpose(0, 1)).transpose(0, 1).reshape(tokens, -1) @ out


def block(x, weights, heads, wrap=lambda weight: weight, enter=lambda x: x, leave=lambda x: x):
    qkv, out, up, down = (wrap(weight) for weight in weights)
    norm = lambda x: F.rms_norm(x, x.shape[-1:])  # noqa: E731
    x = x + leave(attention(enter(norm(x)), qkv, out, heads))
    return x + leave(F.gelu(enter(norm(x)) @ up) @ down)


def get_gradients(forward):
    def step(parameters, *inputs):
        parameters = [[weight.detach().requires_grad_() for weight in layer] for layer in parameters]
        flat = [weight for layer in parameters for weight in layer]
        return torch.autograd.grad(forward(parameters, *inputs), flat)

    return step


def make_parameters(layers, width, new, rows=1, columns=1):
    """Weights of blocks; rows and columns are split into so many parts."""
    shapes = [
        (width // rows, 3 * width // columns),
        (width // columns // rows, width),
        (width // rows, 4 * width // columns),
        (4 * width // columns // rows, width),
    ]
    return [[new(*shape) for shape in shapes] for _ in range(layers)]


def data_parallel(layers, width, tokens, new, group="0", new_group=None):
    def forward(parameters, x):
        for weights in parameters:
            x = block(x, weights, 16, wrap=lambda weight: ReduceGradient.apply(weight, group))
        return x.float().square().sum()

    return get_gradients(forward), (make_parameters(layers, width, new), new(tokens, width))


def fully_sharded(layers, width, tokens, new, group="0", new_group=None):
    def forward(parameters, x):
        for weights in parameters:
            x = block(x, weights, 16, wrap=lambda weight: Gather.apply(weight, group))
        return x.float().square().sum()

    parameters = make_parameters(layers, width, new, rows=dist.get_world_size())
    return get_gradients(forward), (parameters, new(tokens, width))


def tensor_parallel(layers, width, tokens, new, group="0", new_group=None):
    """Two micro-batches, one after the other."""

    def forward(parameters, first, second):
        loss = 0
        for x in (first, second):
            for weights in parameters:
                x = block(
                    x,
                    weights,
                    16 // dist.get_world_size(),
                    enter=lambda x: Enter.apply(x, group),
                    leave=lambda x: Leave.apply(x, group),
                )
            loss = loss + x.float().square().sum()
        return loss

    parameters = make_parameters(layers, width, new, columns=dist.get_world_size())
    return get_gradients(forward), (parameters, new(tokens // 2, width), new(tokens // 2, width))


def mixture_of_experts(layers, width, tokens, new, group="0", new_group=None):
    """The second half of each block is an expert on another rank, beside one that all tokens share."""

    def forward(parameters, x):
        norm = lambda x: F.rms_norm(x, x.shape[-1:])  # noqa: E731
        for qkv, out, up, down in parameters:
            x = x + attention(norm(x), ReduceGradient.apply(qkv, group), ReduceGradient.apply(out, group), 16)
            y = norm(x)
            routed = Exchange.apply(F.gelu(Exchange.apply(y, group) @ up) @ down, group)
            shared = F.gelu(y @ up) @ down
            x = x + routed + shared
        return x.float().square().sum()

    return get_gradients(forward), (make_parameters(layers, width, new), new(tokens, width))


def hybrid_sharded(layers, width, tokens, new, group="0", new_group=None):
    """Parameters are sharded over `group`; gradients are summed over replicas as well, ranks 0 and 1."""
    replicas = (new_group or dist.new_group)([0, 1]).group_name

    def forward(parameters, x):
        for weights in parameters:
            x = block(
                x, weights, 16, wrap=lambda weight: Gather.apply(ReduceGradient.apply(weight, replicas), group)
            )
        return x.float().square().sum()

    parameters = make_parameters(layers, width, new, rows=dist.get_world_size())
    return get_gradients(forward), (parameters, new(tokens, width))


STEPS = {
    "data parallel": data_parallel,
    "fully sharded": fully_sharded,
    "tensor parallel": tensor_parallel,
    "mixture of experts": mixture_of_experts,
    "hybrid sharded": hybrid_sharded,
}


class Stop(Exception):
    """Ends a compile behind the scheduler."""


def make_parser(description):
    """A parser with the size of the steps and the machine that costs are taken from."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--machine", default="h100x8")
    return parser


def compile_until_scheduled(step, inputs, passes):
    """Runs Inductor on `step` up to the passes over its scheduler nodes, with fake tensors.

    `passes` are called in turn with the scheduler nodes. Returns what they have returned.
    """
    import torch._inductor.config as config
    from torch._inductor.compile_fx import compile_fx
    from torch.fx.experimental.proxy_tensor import make_fx

    results = []

    def run(snodes):
        results.extend(one(list(snodes)) for one in passes)
        raise Stop

    graph = make_fx(step, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
    with config.patch(
        reorder_for_compute_comm_overlap=True,
        reorder_for_compute_comm_overlap_passes=[run],
        fx_graph_cache=False,
        compile_threads=1,
    ):
        try:
            compile_fx(graph, list(inputs))
        except Exception as error:
            if "Stop" not in f"{type(error).__name__} {error}":
                raise
    return results
