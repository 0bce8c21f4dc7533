# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured times of PyTorch's own kernels: attention, matmuls in every layout, embeddings and whatever else Inductor does not generate.

A kernel is known by its signature: the op, and what it is called with. `measure` runs each on tensors like those of the graph, alone, and all
ranks take what rank 0 has measured.
"""

import dataclasses
import hashlib
import json
import logging
import os
import statistics
import time

from .. import _torch
from .._torch_costs import get_hint
from ..errors import ScheduleError
from .nodes import get_origin

_log = logging.getLogger("braid.inductor")

_VERSION = 1
_WARM_UPS, _REPETITIONS = 3, 7


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
        # Ranks of one program miss the same kernels, and pipeline stages others: rank 0 has the first word, each the rest of its own.
        measured = {} if _torch.get_rank() else {key: _measure(*called) for key, called in self.missing.items()}
        measured = _broadcast(measured)
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
        temporary = f"{os.fspath(path)}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(temporary, path)

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


def _measure(op, arguments):
    """The nanoseconds of a call, the median of some; None where it cannot run."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        args, kwargs = torch.fx.node.map_aggregate(arguments, lambda value: _make(torch, value))
        with torch.no_grad():
            times = [_time(torch, device, lambda: op(*args, **kwargs)) for _ in range(_WARM_UPS + _REPETITIONS)]
    except Exception as error:  # Operands of a kernel may have to make sense.
        _log.info("no time of %s: %s", op, error)
        return None
    return round(statistics.median(times[_WARM_UPS:]))


def _make(torch, value):
    if not isinstance(value, _Tensor):
        return value
    size = 1 + sum((extent - 1) * stride for extent, stride in zip(value.shape, value.strides))
    memory = torch.empty(max(size, 1), dtype=value.dtype, device=value.device)
    filled = memory.normal_() if value.dtype.is_floating_point and value.dtype.itemsize > 1 else memory.zero_()
    return filled.as_strided(value.shape, value.strides)


def _time(torch, device, run):
    if device == "cpu":
        begin = time.perf_counter_ns()
        run()
        return time.perf_counter_ns() - begin
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    # The clock of a stream that waits for the host measures the host.
    torch.cuda._sleep(1_000_000)
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e6


def _broadcast(value):
    import torch.distributed as dist

    if not _torch.has_other_ranks():
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0)
    return box[0]


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
        A file of times, which is read if it exists, and written by rank 0.

    Returns
    -------
    KernelTimes
        The times, which hold for all graphs that are compiled from now on.
    """
    import torch
    import torch._inductor.config as config

    if not callable(step):
        raise ScheduleError(f"found step={step!r}, expected a callable")
    if path is not None and os.path.exists(path):
        kernel_times.load(path)
    # A graph from a cache comes to no pass, which would ask for times.
    with config.patch(force_disable_caches=True):
        torch._dynamo.reset()
        step(*inputs)
        for _ in range(rounds):
            if not _broadcast(kernel_times.measure()):
                break
            torch._dynamo.reset()
            step(*inputs)
    if path is not None and _torch.get_rank() == 0:
        kernel_times.save(path)
    return kernel_times
