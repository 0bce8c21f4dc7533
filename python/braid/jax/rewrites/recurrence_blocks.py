# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear recurrence, h[t] = a[t] * h[t - 1] + b[t], and its gradient, as few passes over memory.

The steps of a block run one after the other, those of all blocks at once: what a block
makes of its first state, the states between blocks, again by blocks, and all states.
"""

import jax.numpy as jnp
from jax import lax

# A thread holds the elements of the steps of a block in registers.
_STEPS = 8


def has_blocks(length):
    """Whether blocks of at least two steps make a short recurrence of one of this length."""
    while length > 2 * _STEPS:
        steps = _choose_steps(length)
        if steps == 1:
            return False
        length //= steps
    return True


def forward(a, b, axis):
    """The states h."""
    steps = _choose_steps(a.shape[axis])
    return _merge(_scan(_split(a, axis, steps), _split(b, axis, steps), axis, False), axis)


def backward(a, h, gradient, axis):
    """The gradients of a and b, from that of the states h."""
    steps = _choose_steps(a.shape[axis])
    factors, states = _split(a, axis, steps), _split(h, axis, steps)
    # g[t] = gradient[t] + a[t + 1] * g[t + 1].
    g = _scan([*factors[1:], _shift(factors[0], axis, -1)], _split(gradient, axis, steps), axis, True)
    before = [_shift(states[-1], axis, 1), *states[:-1]]
    return _merge([x * y for x, y in zip(g, before)], axis), _merge(g, axis)


def _choose_steps(length):
    return next(steps for steps in range(_STEPS, 0, -1) if length % steps == 0)


def _split(value, axis, steps):
    """Step i of all blocks, for each i."""
    return [lax.slice_in_dim(value, i, None, steps, axis) for i in range(steps)]


def _merge(parts, axis):
    """What `_split` has split."""
    shape = parts[0].shape
    whole = jnp.concatenate([jnp.expand_dims(part, axis + 1) for part in parts], axis + 1)
    return whole.reshape(*shape[:axis], -1, *shape[axis + 1:])


def _shift(value, axis, by):
    """Element t - `by` at t, zeros where there is none."""
    widths = [(0, 0, 0)] * value.ndim
    widths[axis] = (by, -by, 0)
    return lax.pad(value, jnp.zeros((), value.dtype), widths)


def _run(factors, values, order, state):
    """The states of the steps in `order`, from one before them or none."""
    states = list(values)
    for step in order:
        if state is not None:
            states[step] = factors[step] * state + values[step]
        state = states[step]
    return states


def _scan(factors, values, axis, reverse):
    """The states of all steps of all blocks, the last one first if `reverse`."""
    order = range(len(values))[::-1] if reverse else range(len(values))
    first, count = order[0], values[0].shape[axis]
    ends, whole = values[first], factors[first]
    for step in order[1:]:
        ends, whole = factors[step] * ends + values[step], factors[step] * whole
    steps = count if count <= 2 * _STEPS else _choose_steps(count)
    whole, ends = _split(whole, axis, steps), _split(ends, axis, steps)
    if steps == count:
        between = _run(whole, ends, range(count)[::-1] if reverse else range(count), None)
    else:
        between = _scan(whole, ends, axis, reverse)
    between = _merge(between, axis)
    # No state is before the first block, whatever its factor is.
    is_first = lax.broadcasted_iota(jnp.int32, values[first].shape, axis) == (count - 1 if reverse else 0)
    before = _shift(between, axis, -1 if reverse else 1)
    states = jnp.where(is_first, values[first], factors[first] * before + values[first])
    found = _run(factors, values, order[1:], states)
    found[first] = states
    return found
