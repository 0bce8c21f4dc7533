# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured times of PyTorch's own kernels: attention, matmuls in every layout, embeddings and whatever else Inductor does not generate.

A kernel is known by its signature: the op, and what it is called with. `measure` runs each on tensors like those of the graph, one after
the other without a rest, as in a step: the clock of a GPU that has rested is a sixth faster than that of one at its power limit. The first
rank that misses a kernel measures it, for all ranks.
"""

import dataclasses
import hashlib
import json
import logging
import os
import statistics
import time

from .. import _groups
from .._files import write_whole
from .._torch_costs import get_hint
from ..errors import ScheduleError
from .nodes import get_origin

_log = logging.getLogger("braid.inductor")

_VERSION = 1
_WARM_UPS, _REPETITIONS = 3, 7

#: How long a GPU works before its clock counts, in seconds, and the bytes of operands that stand at a time.
_SECONDS_TO_SETTLE = 1.5
_MOST_BYTES = 8 << 30


class KernelTimes:
    """Nanoseconds by signature, and the kernels of compiled graphs that have none yet."""

    def __init__(self):
        self.times = {}
        #: By signature, (op, arguments) of what was asked for in vain.
        self.missing = {}
        self._failed = set()

    def get(self, snode):
        """The nanoseconds of a scheduler node that calls one kernel of PyTorch's; None if nobody has measured it."""
        called = _get_call(snode)
        if called is None:
            return None
        signature = _get_signature(*called)
        if signature not in self.times and signature not in self._failed:
            self.missing.setdefault(signature, called)
        return self.times.get(signature)

    def measure(self):
        """Measures what is missing; returns how many kernels. All ranks of the default process group call this together."""
        # Ranks of one program miss the same kernels, and pipeline stages others.
        missing = _gather(list(self.missing))
        known = set().union(*missing[: _groups.get_rank()])
        own = {signature: called for signature, called in self.missing.items() if signature not in known}
        try:
            measured = _measure(own)
        except Exception as error:  # The other ranks wait for what comes of it.
            _log.warning("%d kernels are not measured: %s: %s", len(own), type(error).__name__, error)
            measured = dict.fromkeys(own)
        measured = {signature: ns for each in _gather(measured) for signature, ns in each.items()}
        self.times.update({signature: ns for signature, ns in measured.items() if ns is not None})
        self._failed.update(signature for signature, ns in measured.items() if ns is None)
        self.missing.clear()
        return len(measured)

    def get_digest(self):
        """A text that is equal for equal times."""
        return hashlib.sha256(json.dumps(sorted(self.times.items())).encode()).hexdigest()

    def save(self, path):
        """Writes the times to a file, in JSON."""
        entries = [{"signature": signature, "ns": ns} for signature, ns in sorted(self.times.items())]
        text = json.dumps({"version": _VERSION, "device": _describe_device(), "kernels": entries}, indent=1)
        write_whole(path, text + "\n")

    def load(self, path):
        """Adds the times of a file that `save` has written.

        Raises
        ------
        braid.schedule.ScheduleError
            The file has no such times; the message says where.
        """
        try:
            with open(path, encoding="utf-8") as file:
                fields = json.load(file)
        except (OSError, ValueError) as error:
            raise ScheduleError(f"{path}: found no times of kernels: {error}") from error
        entries = fields.get("kernels") if isinstance(fields, dict) else None
        if not isinstance(entries, list) or fields.get("version") != _VERSION:
            raise ScheduleError(f'{path}: expected a list "kernels" and "version": {_VERSION}')
        for number, entry in enumerate(entries):
            signature, ns = (entry.get(name) if isinstance(entry, dict) else None for name in ("signature", "ns"))
            if not isinstance(signature, str) or isinstance(ns, bool) or not isinstance(ns, int) or ns < 0:
                raise ScheduleError(f'{path}: kernels[{number}]: expected a text "signature" and a whole number "ns"')
            self.times[signature] = ns
        if fields.get("device") not in (None, _describe_device()):
            _log.warning("%s has times of %s, this is %s", path, fields["device"], _describe_device())


def _describe_device():
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def _get_call(snode):
    """(op, arguments) of a scheduler node that is one functional kernel of PyTorch's; None for others."""
    import torch
    from torch._inductor import ir

    node = snode.node
    if not isinstance(node, ir.ExternKernel) or isinstance(node, ir._CollectiveKernel):
        return None
    origin = get_origin(node)
    op = getattr(origin, "target", None)
    is_known = isinstance(op, torch._ops.OpOverload) and op.namespace == "aten" and not op._schema.is_mutable
    if not is_known or "val" not in origin.meta:
        return None
    describe = lambda argument: _describe(torch, argument)  # noqa: E731
    try:
        return op, torch.fx.node.map_aggregate((origin.args, dict(origin.kwargs)), describe)
    except KeyError:  # An operand without a value.
        return None


@dataclasses.dataclass(frozen=True)
class _Tensor:
    """What a measurement has to know of an operand."""

    shape: tuple
    strides: tuple
    dtype: object
    device: str


def _describe(torch, argument):
    value = argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument
    if isinstance(value, torch.Tensor):
        shape, strides = (tuple(map(get_hint, numbers)) for numbers in (value.shape, value.stride()))
        return _Tensor(shape, strides, value.dtype, value.device.type)
    return get_hint(value) if isinstance(value, torch.SymInt) else value


def _get_signature(op, arguments):
    args, kwargs = arguments
    given = [*map(_to_text, args), *(f"{name}={_to_text(value)}" for name, value in kwargs.items())]
    return f"{op}({', '.join(given)})"


def _to_text(value):
    if isinstance(value, _Tensor):
        element = str(value.dtype).removeprefix("torch.")
        return f"{'x'.join(map(str, value.shape))}x{element} by {','.join(map(str, value.strides))}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_to_text, value))}]"
    return str(value)


def _measure(called):
    """Nanoseconds by signature of `called`, the median of some calls; None for what cannot run."""
    import torch

    result = dict.fromkeys(called)
    for signatures in _split(called):
        # The operands end with the call.
        result.update(_time(torch, {signature: _prepare(torch, *called[signature]) for signature in signatures}))
    return result


def _split(called):
    """Signatures whose operands may stand at one time."""
    parts, size = [[]], 0
    for signature, (_, arguments) in called.items():
        own = sum(_get_bytes(value) for value in _flatten(arguments) if isinstance(value, _Tensor))
        if parts[-1] and size + own > _MOST_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(signature)
        size += own
    return parts


def _flatten(value):
    if not isinstance(value, (list, tuple, dict)):
        return [value]
    return [inner for part in (value.values() if isinstance(value, dict) else value) for inner in _flatten(part)]


def _prepare(torch, op, arguments):
    """A call of a kernel that has run before; None if it cannot run."""
    try:
        args, kwargs = torch.fx.node.map_aggregate(arguments, lambda value: _make(torch, value))
        with torch.no_grad():
            op(*args, **kwargs)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
    except Exception as error:  # Operands of a kernel may have to make sense.
        _log.info("no time of %s: %s", op, error)
        return None
    return lambda: op(*args, **kwargs)


def _make(torch, value):
    if not isinstance(value, _Tensor):
        return value
    memory = torch.empty(_get_bytes(value) // value.dtype.itemsize, dtype=value.dtype, device=value.device)
    filled = memory.normal_() if value.dtype.is_floating_point and value.dtype.itemsize > 1 else memory.zero_()
    return filled.as_strided(value.shape, value.strides)


def _get_bytes(value):
    """The bytes of the memory that a `_Tensor` needs."""
    last = sum((extent - 1) * stride for extent, stride in zip(value.shape, value.strides))
    return max(1 + last, 1) * value.dtype.itemsize


def _time(torch, runs):
    """Nanoseconds by signature of `runs`, which run in turn, but for those that are None."""
    runs = {signature: run for signature, run in runs.items() if run is not None}
    if not runs:
        return {}
    with torch.no_grad():
        times = _time_on_gpu(torch, runs) if torch.cuda.is_available() else _time_on_cpu(runs)
    return {signature: round(statistics.median(each)) for signature, each in times.items()}


def _time_on_cpu(runs):
    times = {signature: [] for signature in runs}
    for number in range(_WARM_UPS + _REPETITIONS):
        for signature, run in runs.items():
            begin = time.perf_counter_ns()
            run()
            if number >= _WARM_UPS:
                times[signature].append(time.perf_counter_ns() - begin)
    return times


def _time_on_gpu(torch, runs):
    """The times of the last rounds, one behind the other, after the clock has settled.

    The host is a round ahead of the GPU: a stream that waits for the host measures the host, and a GPU that waits gets faster.
    """
    rounds, begin = [], time.monotonic()
    # Short kernels come first in the queue behind this.
    torch.cuda._sleep(10_000_000)
    settled = 0
    while settled < _REPETITIONS:
        rounds.append({signature: _launch(torch, run) for signature, run in runs.items()})
        if len(rounds) > 1:
            list(rounds[-2].values())[-1][1].synchronize()
        del rounds[: -_REPETITIONS - 1]
        settled += time.monotonic() - begin > _SECONDS_TO_SETTLE
    torch.cuda.synchronize()
    last = rounds[-_REPETITIONS:]
    return {signature: [events[signature][0].elapsed_time(events[signature][1]) * 1e6 for events in last] for signature in runs}


def _launch(torch, run):
    """The events before and behind a kernel."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    events[0].record()
    run()
    events[1].record()
    return events


def _gather(value):
    """The values of all ranks of the default process group, in their order."""
    import torch.distributed as dist

    if not _groups.has_other_ranks():
        return [value]
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def _do_on_first_rank(function):
    """The result of `function` on rank 0, or its error, on all ranks."""
    result = error = None
    if _groups.get_rank() == 0:
        try:
            result = function()
        except (OSError, ScheduleError) as caught:
            error = caught
    result, error = _gather((result, error))[0]
    if error is not None:
        raise error
    return result


#: The times that all passes take, unless they are told others.
kernel_times = KernelTimes()


def tune(step, *inputs, rounds=3, path=None):
    """Runs a training step, measures the kernels of its graphs, and compiles it again with their times, until none is missing.

    All ranks call this together. The step runs up to `rounds` + 1 times, with all that it does to parameters.

    Parameters
    ----------
    step : callable
        What calls functions or models that are compiled with `options` or the pass `overlap`.
    *inputs
        What it is called with.
    rounds : int
        The most times that it is compiled again.
    path : str, optional
        A file of times, which rank 0 reads if it exists, and writes.

    Returns
    -------
    KernelTimes
        The times, which hold for all graphs that are compiled from now on.

    Raises
    ------
    braid.schedule.ScheduleError
        An argument that is none, or a file that has no times.
    OSError
        The file cannot be written. Both are raised on all ranks.
    """
    import torch
    import torch._inductor.config as config

    if not callable(step):
        raise ScheduleError(f"found step={step!r}, expected a callable")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0:
        raise ScheduleError(f"found rounds={rounds!r}, expected a whole number of at least 0")
    if path is not None:
        kernel_times.times.update(_do_on_first_rank(lambda: _read(path)))
    # A graph from a cache comes to no pass, which would ask for times.
    with config.patch(force_disable_caches=True):
        torch._dynamo.reset()
        step(*inputs)
        for _ in range(rounds):
            if not kernel_times.measure():
                break
            torch._dynamo.reset()
            step(*inputs)
    if path is not None:
        _do_on_first_rank(lambda: kernel_times.save(path))
    return kernel_times


def _read(path):
    """The times of a file, none if it does not exist."""
    found = KernelTimes()
    if os.path.exists(path):
        found.load(path)
    return found.times
