# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated code does with the lanes that `braid.inductor` has planned.

A lane is a process group with the members of one of the program's, whose collectives run beside those of the other lanes, with at most so
many thread blocks, or by copy engines. The first run of a graph makes the lanes and the memory that it needs: all members come there,
because the collectives of the graph need them as well, and the order that they run has been compared before (`_first_run`).
Where one rank cannot, all ranks run the collectives as the program has them, and say why.
"""

import hashlib
import json
import logging
import math
import threading
import weakref
from dataclasses import dataclass

from . import _groups
from ._registered_memory import Memory, place

_log = logging.getLogger("braid.inductor")


@dataclass(frozen=True)
class Planned:
    """A collective that runs in a lane."""

    #: As ``torch.ops._c10d_functional`` has it.
    op: str
    #: The number of the program's process group, by first use.
    group: int
    #: "default", or "copy" for copy engines.
    transport: str
    #: The most thread blocks; 0 for no limit.
    max_ctas: int
    #: Of a result in registered memory: its shape and element type, and the places in the order from which and to which it lives.
    shape: "list | None" = None
    dtype: "str | None" = None
    first: int = 0
    last: int = 0

    @property
    def lane(self):
        return self.transport, self.max_ctas


class Lanes:
    """The collectives of a graph that run in lanes, as functions by their number.

    `begin` comes before all of them in each run of the graph.
    """

    def __init__(self, text):
        fields = json.loads(text)
        self._device = fields["device"]
        self._names = fields["groups"]
        self._planned = [Planned(**entry) for entry in fields["planned"]]
        self._digest = int(hashlib.sha256(json.dumps(fields["planned"]).encode()).hexdigest()[:12], 16)
        #: By default process group and stream, the functions of a run; those of the program where lanes are not possible.
        self._bound = weakref.WeakKeyDictionary()
        #: The functions of the run in this thread: others may run the graph at the same time, on other streams.
        self._run = threading.local()

    def __getitem__(self, number):
        return self._run.functions[number]

    def begin(self):
        import torch.distributed as dist

        stream, bound = self._get_stream(), self._bound.setdefault(dist.group.WORLD, {})
        if stream not in bound:
            if self._is_capturing():
                # Nothing can be made now: what another stream has, or the program's own.
                self._run.functions = next(reversed(bound.values()), None) or self._get_plain()
                return
            bound[stream] = self._bind(stream)
        self._run.functions = bound[stream]

    def _get_stream(self):
        import torch

        return torch.cuda.current_stream().cuda_stream if self._device == "cuda" else None

    def _is_capturing(self):
        import torch

        return self._device == "cuda" and torch.cuda.is_current_stream_capturing()

    def _get_plain(self):
        import torch

        return [getattr(torch.ops._c10d_functional, planned.op).default for planned in self._planned]

    def _bind(self, stream):
        """The functions for runs on `stream`. All members of the groups come here together."""
        rooms = [_Room.get(name, self._device, stream) for name in self._names]
        bound = self._get_plain()
        for number, room in enumerate(rooms):
            own = [index for index, planned in enumerate(self._planned) if planned.group == number]
            for index, function in zip(own, room.bind([self._planned[index] for index in own], self._digest)):
                bound[index] = function or bound[index]
        return bound


class _Room:
    """The lanes of one of the program's process groups, for runs on one stream."""

    #: By default process group. Nothing here keeps a group or its store alive, whose end ends threads and closes ports.
    _of_world = weakref.WeakKeyDictionary()

    def __init__(self, name, device):
        import torch

        self.name = name
        self.device = torch.device("cuda", torch.cuda.current_device()) if device == "cuda" else torch.device(device)
        self.lanes = {}
        self.has_failed = False

    @property
    def group(self):
        return _groups.resolve(self.name)

    @classmethod
    def get(cls, name, device, stream):
        import torch.distributed as dist

        rooms = cls._of_world.setdefault(dist.group.WORLD, {})
        key = name, device, stream
        if key not in rooms:
            rooms[key] = cls(name, device)
        return rooms[key]

    def bind(self, planned, digest):
        """A function for each of `planned`, None for the program's own."""
        if not self._agrees(digest):
            self._give_up("the ranks of the group have planned different graphs")
        if self.has_failed:
            return [None] * len(planned)
        try:
            functions, error = self._make(planned), None
        except Exception as caught:  # All ranks have to know.
            # The exception itself would keep the frames of the step, with all tensors in them, until garbage is collected.
            functions, error = [], f"{type(caught).__name__}: {caught}"
        if not self._is_true_for_all(error is None):
            self._give_up(self._say_who_cannot(error))
            return [None] * len(planned)
        return functions

    def _say_who_cannot(self, error):
        """The same on all ranks: what the first rank with an error says. `error`: the text of this rank's, None without one."""
        import torch.distributed as dist

        texts = [None] * self.group.size()
        dist.all_gather_object(texts, error, group=self.group)
        number = next(number for number, text in enumerate(texts) if text)
        return f"rank {dist.get_global_rank(self.group, number)} cannot make them: {texts[number]}"

    def _give_up(self, why):
        self.has_failed = True
        _log.warning("the collectives of the group %r run without lanes of their own: %s", self.name, why)

    def _agrees(self, digest):
        """Whether all members have the same plan, and memory of the same sizes."""
        state = [(str(key), lane.memory.sizes if lane.memory else []) for key, lane in sorted(self.lanes.items())]
        state = int(hashlib.sha256(json.dumps([digest, state, self.has_failed]).encode()).hexdigest()[:12], 16)
        least, most = self._get_least(state, -state)
        return least == -most

    def _is_true_for_all(self, value):
        return bool(*self._get_least(int(value)))

    def _get_least(self, *numbers):
        """The least that a member has of each number."""
        import torch
        import torch.distributed as dist

        found = torch.tensor(numbers, device=self.device)
        dist.all_reduce(found, op=dist.ReduceOp.MIN, group=self.group)
        return found.tolist()

    def _make(self, planned):
        functions = []
        for key in dict.fromkeys(each.lane for each in planned):
            if key not in self.lanes:
                self.lanes[key] = _Lane(self.group, self.device, *key)
        places = {}
        for key, lane in self.lanes.items():
            own = [each for each in planned if each.shape is not None and each.lane == key]
            places.update(zip(map(id, own), lane.place(own)))
        for each in planned:
            lane = self.lanes[each.lane]
            functions.append(lane.make_gather(places[id(each)]) if id(each) in places else lane.make_plain(each.op))
        return functions


class _Lane:
    """A process group beside one of the program's, and its memory."""

    def __init__(self, base, device, transport, max_ctas):
        import torch
        import torch.distributed as dist

        group = _make_group(base, device, transport, max_ctas)
        self.name = group.group_name
        # The first collective connects the members.
        dist.all_reduce(torch.zeros(1, device=device), group=group)
        self.memory = Memory(device, self.name if device.type == "cuda" else None) if transport == "copy" else None

    def place(self, planned):
        """A tensor for each of `planned`, results of gathers."""
        import torch

        if not planned:
            return []
        dtypes = [getattr(torch, each.dtype) for each in planned]
        intervals = [(each.first, each.last, math.prod(each.shape) * dtype.itemsize) for each, dtype in zip(planned, dtypes)]
        places, more = place(intervals, self.memory.sizes)
        if more:
            self.memory.grow(more)
        return [self.memory.view(*where, each.shape, dtype) for where, each, dtype in zip(places, planned, dtypes)]

    def make_plain(self, op):
        import torch

        function, name = getattr(torch.ops._c10d_functional, op).default, self.name
        return lambda *arguments: function(*arguments[:-1], name)

    def make_gather(self, result):
        """A gather into `result`, of which this rank's part is sent from where it ends up."""
        import torch

        group = _groups.resolve(self.name)
        name, members, part = self.name, group.size(), result.chunk(group.size())[group.rank()]
        gather = torch.ops._c10d_functional.all_gather_into_tensor_out.default

        def run(operand, _members, _group):
            with torch.no_grad():
                part.copy_(operand)
                gather(part, members, name, out=result)
            return result

        return run


def _make_group(base, device, transport, max_ctas):
    """A group with the members of `base`, which all come here together."""
    import torch.distributed as dist

    description = f"{transport} lane of Braid" + (f", {max_ctas} thread blocks" if max_ctas else "")
    ranks = dist.get_process_group_ranks(base)
    if device.type != "cuda":
        return dist.new_group(ranks, use_local_synchronization=True, group_desc=description)
    given = base._get_backend(device).options
    options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=given.is_high_priority_stream)
    options._timeout = given._timeout
    if transport == "copy":
        options.config.cta_policy = 2  # NCCL_CTA_POLICY_ZERO
    if max_ctas:
        options.config.max_ctas = max_ctas
    if dist.group.WORLD.bound_device_id is not None:
        # A new group would be split from the default one, by all of its ranks.
        return dist.split_group(
            base, [list(range(len(ranks)))], timeout=given._timeout, pg_options=options, group_desc=description
        )
    return dist.new_group(
        ranks,
        timeout=given._timeout,
        backend="nccl",
        pg_options=options,
        use_local_synchronization=True,
        group_desc=description,
    )
