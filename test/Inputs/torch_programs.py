# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs whose results depend on what is written in place, and when.

Each function takes the rank and the name of a second group of all ranks, and returns a program, its inputs and settings
of Inductor. The ranks are two.
"""

import torch
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def new(*shape):
    return torch.randn(*shape)


def reduce(x, group="0"):
    return funcol.all_reduce(x, "sum", group)


@program
def sgd(rank, other):
    def step(p, g, x):
        p.sub_(0.1 * reduce(g))
        g.zero_()
        return x @ x

    return step, [new(8, 8) for _ in range(3)], {}


@program
def momentum_of_many(rank, other):
    def step(parameters, gradients, momenta, x):
        sums = [reduce(gradient) for gradient in gradients]
        torch._foreach_mul_(momenta, 0.9)
        torch._foreach_add_(momenta, sums)
        torch._foreach_add_(parameters, momenta, alpha=-0.1)
        torch._foreach_zero_(gradients)
        return x @ x

    return step, [*([new(8, 8) for _ in range(3)] for _ in range(3)), new(8, 8)], {}


@program
def adam(rank, other):
    def step(parameters, gradients, firsts, seconds, count, x):
        sums = funcol.all_reduce_coalesced(gradients, "sum", "0")
        count.add_(1)
        torch._foreach_lerp_(firsts, sums, 0.1)
        torch._foreach_mul_(seconds, 0.99)
        torch._foreach_addcmul_(seconds, sums, sums, 0.01)
        scale = torch._foreach_sqrt(seconds)
        torch._foreach_add_(scale, 1e-3)
        torch._foreach_addcdiv_(parameters, firsts, scale, -0.1)
        for gradient in gradients:
            gradient.zero_()
        return x @ x / count

    return step, [*([new(8, 8).abs() for _ in range(2)] for _ in range(4)), torch.tensor(1.0), new(8, 8)], {}


@program
def batch_norm(rank, other):
    def step(x, weight, mean, variance, late):
        y = F.batch_norm(x @ weight, mean, variance, training=True)
        total = reduce(y.sum(0))
        grown = late @ late
        late.mul_(2)
        return total + mean, grown, late + 1

    return step, [new(8, 8), new(8, 8), torch.zeros(8), torch.ones(8), new(8, 8)], {}


@program
def key_value_cache(rank, other):
    def step(cache, index, keys, queries, lengths):
        total = reduce(keys)
        cache[:, index] = total.unsqueeze(1)
        lengths.add_(1)
        seen = reduce(queries @ cache.flatten(0, 1).t(), other)
        cache[0].mul_(0.5)
        return seen, cache.sum() + lengths

    return step, [new(4, 6, 8), torch.tensor([2]), new(4, 8), new(4, 8), torch.tensor(3)], {}


@program
def in_place_views(rank, other):
    def step(x, y, z):
        first = reduce(x)
        x.view(-1)[::2].add_(1)
        y.t().copy_(first)
        second = reduce(y + x, other)
        y[1:3].zero_()
        z.diagonal().fill_(3)
        return first @ second, z @ z

    return step, [new(8, 8) for _ in range(3)], {}


@program
def one_operand_of_two_collectives(rank, other):
    """The reduction, in place where nothing uses its operand behind it, must not write what the gather still reads."""

    def step(x, w):
        big = torch.sin(x)
        gathered = funcol.all_gather_tensor(big, 0, other)
        total = reduce(big)
        indexed = big.index_put((torch.tensor([1]),), w[0])
        return gathered * 2, total + 1, w @ w, indexed

    return step, [new(512, 512), new(512, 512)], {}


@program
def swapped_inputs(rank, other):
    def step(a, b, w):
        sum_of_a, sum_of_b = reduce(a), reduce(b, other)
        old = a.clone()
        a.copy_(b)
        b.copy_(old)
        return sum_of_a - sum_of_b, w @ w

    return step, [new(8, 8) for _ in range(3)], {}


@program
def gradients_with_dropout(rank, other):
    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value.view_as(value)

        @staticmethod
        def backward(ctx, gradient):
            return reduce(gradient.contiguous())

    def step(w, v, x):
        y = F.dropout(reduce(x) @ Reduce.apply(w), 0.5)
        y = F.dropout(torch.relu(y @ Reduce.apply(v)), 0.25) + torch.rand_like(y)
        y.sum().backward()
        return y, w.grad, v.grad

    return step, [new(8, 8).requires_grad_(), new(8, 8).requires_grad_(), new(8, 8)], {}


@program
def random_numbers_by_fallbacks(rank, other):
    def step(x, w):
        first = torch.rand_like(x)
        total = reduce(x + first)
        second = torch.bernoulli(torch.sigmoid(x))
        q = x.view(1, 2, 4, 8)
        attention = F.scaled_dot_product_attention(q, q, q)
        third = torch.randn_like(x)
        return total + second, third, attention, w @ w

    return step, [new(8, 8), new(8, 8)], {"fallback_random": True}


@program
def sizes_from_data(rank, other):
    counts = torch.tensor([[3, 1], [0, 4]][rank])

    def step(tokens, counts, w, total):
        received = funcol.all_to_all_single(counts, None, None, "0")
        send, receive = counts.tolist(), received.tolist()
        for n in (*send, *receive):
            torch._check_is_size(n)
        got = funcol.all_to_all_single(tokens, receive, send, "0")
        total.add_(reduce(torch.ones(()) * got.shape[0], other))
        back = funcol.all_to_all_single(torch.relu(got @ w), send, receive, "0")
        chosen = tokens[torch.nonzero(tokens[:, 0] > 0).squeeze(1)]
        return back + tokens @ w, (w @ w) @ w, reduce(chosen.sum(0), other)

    return step, [new(4, 8), counts, new(8, 8), torch.zeros(())], {}


@program
def collectives_that_write(rank, other):
    c10d = torch.ops._c10d_functional

    def gather(x):
        if torch.__version__ < "2.12":
            # There, only Inductor's own bucketing makes gathers that write.
            return c10d.wait_tensor(c10d.all_gather_into_tensor(x, 2, "0"))
        return c10d.wait_tensor(c10d.all_gather_into_tensor_out(x, 2, "0", out=torch.empty(16, 8)))

    def step(x, y, w):
        gathered = gather(x.sin())
        parts = [c10d.wait_tensor(part) for part in c10d.all_gather_into_tensor_coalesced([x.cos(), y.cos()], 2, "0")]
        scattered = [
            c10d.wait_tensor(part) for part in c10d.reduce_scatter_tensor_coalesced([x + 1, y + 2], "sum", 2, other)
        ]
        sent = c10d.wait_tensor(c10d.broadcast(y.exp(), 0, other))
        y.add_(1)
        return gathered, parts, scattered, sent, w @ w

    return step, [new(8, 8) for _ in range(3)], {}


@program
def clipped_gradients(rank, other):
    def step(g, h, p, q, w, scale):
        norm = reduce(g.square().sum() + h.square().sum())
        bad = funcol.all_reduce((~torch.isfinite(g)).any().float(), "max", other)
        a, b = reduce(g), reduce(h)
        factor = torch.clamp(1.0 / norm.sqrt(), max=1.0)
        p.sub_(factor * a / scale)
        q.sub_(factor * b / scale)
        scale.copy_(torch.where(bad > 0, scale * 0.5, scale * 2))
        g.zero_()
        h.zero_()
        return w @ w, norm

    return step, [*(new(8, 8) for _ in range(5)), torch.tensor(1024.0)], {}
