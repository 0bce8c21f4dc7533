# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `braid.inductor` and `braid.fx` share: versions, options, costs, agreement of ranks."""

import functools
import hashlib
import logging
import math
import pickle
import re
from collections import Counter

from . import __version__
from .errors import BraidError, ScheduleError
from .schedule import Machine, Schedule, schedule
from .schedule.graph import _MOST
from .schedule.machine import TRANSPOSED
from .schedule.problem import Problem, _limit
from .schedule.search import check_algorithm, check_effort

#: Versions of PyTorch that this was tested with: at least, and below.
SUPPORTED = ((2, 11), (2, 14))

#: The machine whose models are used where neither the caller nor the GPU says which one.
DEFAULT_MACHINE = "h100x8"

#: The steps of a search, where nobody asks for an effort: a compile waits for it.
_STEPS_PER_NODE, _MOST_STEPS = 20_000, 15_000_000


class KeepOrder(BraidError):
    """Why a pass leaves the order as it is."""


def check_version(torch):
    """Raises `KeepOrder` for a version of PyTorch that nobody has tested."""
    match = re.match(r"(\d+)\.(\d+)", torch.__version__)
    version = tuple(map(int, match.groups())) if match else (0, 0)
    if not SUPPORTED[0] <= version < SUPPORTED[1]:
        least, below = (".".join(map(str, part)) for part in SUPPORTED)
        raise KeepOrder(f"found PyTorch {torch.__version__}, expected at least {least} and below {below}")


class OverlapPass:
    """The base of both passes: options, and what happens when something is not known."""

    #: Options and their defaults; `with_options` of the passes documents them.
    DEFAULTS = {
        "estimates": "auto",
        "machine": None,
        "contention": None,
        "min_gain": 0.01,
        "memory_budget": 0.2,
        "max_memory": None,
        "max_in_flight": None,
        "keep_order": None,
        "algorithm": None,
        "effort": "default",
        "agree": True,
        "report": None,
    }

    def __init__(self, **options):
        unknown = sorted(set(options) - set(self.DEFAULTS))
        if unknown:
            raise ScheduleError(f"found the option {unknown[0]!r}, expected one of: {' '.join(self.DEFAULTS)}")
        self.options = {**self.DEFAULTS, **options}
        self._check_options()
        self.log = logging.getLogger(type(self).__module__.rpartition(".")[0])
        #: The `Schedule` of the last graph, and that of the order it came with; None if it was left alone.
        self.last = None
        self.before = None
        #: Why the last graph was left as it was; None if it was not.
        self.reason = None
        self._count = 0

    def with_options(self, **options):
        return type(self)(**{**self.options, **options})

    def __deepcopy__(self, memo):
        # Inductor copies its configuration; `last` belongs to the one that the user has.
        return self

    def __reduce__(self):
        # Inductor's caches pickle their keys. A rank that finds a graph in its cache does not come here,
        # and the others would wait for it: no key, no cache.
        if self.has_to_agree():
            raise pickle.PicklingError("ranks agree on an order: graphs are not cached")
        return _make, (type(self), self.options)

    def _check_options(self):
        options = self.options
        estimates = options["estimates"]
        if not callable(estimates) and estimates not in ("auto", "inductor", "braid"):
            raise ScheduleError(f"found estimates={estimates!r}, expected auto, inductor, braid or a callable")
        gain = options["min_gain"]
        if isinstance(gain, bool) or not (isinstance(gain, (int, float)) and 0 <= gain < 1):
            raise ScheduleError(f"found min_gain={gain!r}, expected a number of at least 0 and below 1")
        budget = options["memory_budget"]
        is_number = isinstance(budget, (int, float)) and not isinstance(budget, bool)
        if budget is not None and not (is_number and 0 <= budget < math.inf):
            raise ScheduleError(f"found memory_budget={budget!r}, expected a finite number of at least 0, or None")
        _limit(options["max_memory"], "max_memory", 0)
        _limit(options["max_in_flight"], "max_in_flight", 1)
        check_effort(options["effort"])
        if options["algorithm"] is not None:
            check_algorithm(options["algorithm"])
        if options["machine"] is not None:
            self.get_machine()

    def get_machine(self):
        machine = self.options["machine"]
        return machine if isinstance(machine, Machine) else Machine(machine or find_machine())

    def has_to_agree(self):
        """True if there are other processes that compile the same graph, and the caller has not said that
        they come to the same order anyway."""
        return self.options["agree"] and has_other_ranks()

    def keeps_order(self):
        """True if collectives keep their order."""
        keep = self.options["keep_order"]
        return has_other_ranks() and not self.options["agree"] if keep is None else keep

    def get_options_of_all_ranks(self):
        """The options that an order depends on."""
        names = ("memory_budget", "max_memory", "max_in_flight", "keep_order", "algorithm", "effort", "min_gain")
        options = {name: self.options[name] for name in names}
        options["contention"] = self.has_contention()
        if self.has_contention():
            options["machine"] = self.get_machine().name
        return options

    def has_contention(self):
        """True if compute and communication slow each other down."""
        return bool(self.options["contention"])

    def keep(self, error):
        """Says why a graph stays as it is."""
        self.reason = str(error) or type(error).__name__
        self.log.warning("Braid keeps the order of this graph: %s", self.reason)

    def find_order(self, graph):
        """The best order of `graph`, whose program order is the one that it came with."""
        options = self.options
        machine = self.get_machine() if self.has_contention() else None
        problem = Problem(graph, machine)
        self.before = before = Schedule(problem, problem.to_native(problem.program_order()), "program order")
        # No search where even the work of the stream or of a lane alone would be no gain. The whole bound would
        # take longer than it saves.
        work = Counter()
        for node in graph.nodes:
            work[node.lane] += node.cost
        found = None if self._is_good_enough(before, max(work.values())) else self._search(graph, machine, before)
        if found is None or self._is_good_enough(before, found.makespan):
            found = before
            self.log.info("keeping the order: the gain is less than %g %%", 100 * options["min_gain"])
        self.last = found
        self._report(found)
        return found.order

    def _search(self, graph, machine, before):
        """The best order of `graph` within the limits, which the order `before` sets in part."""
        options = self.options
        is_default = options["effort"] == "default"
        limit = options["max_memory"]
        if limit is None and options["memory_budget"] is not None:
            limit = int(min(before.peak * (1 + options["memory_budget"]), _MOST))
        found = schedule(
            graph,
            machine,
            max_memory=limit,
            max_in_flight=options["max_in_flight"],
            keep_order=self.keeps_order(),
            algorithm=options["algorithm"],
            # Beside a compile the order counts, and good bounds take as long as the search.
            effort="low" if is_default else options["effort"],
            steps=min(_MOST_STEPS, _STEPS_PER_NODE * len(graph)) if is_default else None,
        )
        self.log.info(
            "%d nodes: %d ns before, %d ns by %s, no order below %d ns; peak %d bytes before, %d now",
            len(graph), before.makespan, found.makespan, found.method, found.bound, before.peak, found.peak,
        )  # fmt: skip
        return found

    def _is_good_enough(self, before, makespan):
        """Whether the order `before`, which the graph came with, stays beside one that takes `makespan`: models
        are not so exact that a small gain is one."""
        limit = self.options["max_memory"]
        keeps_limits = self.options["max_in_flight"] is None and (limit is None or before.peak <= limit)
        return keeps_limits and makespan > before.makespan * (1 - self.options["min_gain"])

    def _report(self, found):
        path = self.options["report"]
        if path is None or get_rank() != 0:
            return
        path = f"{path}.{self._count}"
        self._count += 1
        try:
            found.to_html(f"{path}.html")
            found.to_perfetto(f"{path}.json")
        except Exception as error:  # The other ranks, which write none, have the new order.
            self.log.warning("%s: Braid cannot write the report of this graph: %s", path, error)


@functools.lru_cache(maxsize=None)
def find_machine():
    """The machine that the GPU of this process is part of, as far as Braid knows it."""
    import torch

    name = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    match = re.search(r"\b(V100|A100|H100|H200|B200)\b", name)
    return f"{match[1].lower()}x8" if match else DEFAULT_MACHINE


@functools.lru_cache(maxsize=None)
def has_shipped_profile(machine):
    """Whether Braid has a profile of the machine of this name."""
    try:
        Machine(machine, "shipped")
    except ScheduleError:
        return False
    return True


def _make(cls, options):
    return cls(**options)


def get_rank():
    import torch.distributed as dist

    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def has_other_ranks():
    """True if there are other processes that compile the same graph."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2:
        return False
    # The ranks of this backend do not exist.
    return dist.get_backend() != "fake"


def get_fingerprint(graph, limits):
    """A digest of all that an order depends on but the costs: options, nodes, edges and memory."""
    digest = hashlib.sha256(f"{__version__} {sorted(limits.items(), key=str)}".encode())
    for node in graph.nodes:
        digest.update(f"{node.name} {node.kind} {node.lane} {node.bytes} {node.awaits}\n".encode())
    digest.update(graph._edges.tobytes())
    # Budgets of memory limit orders.
    memory = graph.live_bytes, sorted(graph._buffers), sorted(graph._transients.items())
    digest.update(str(memory).encode())
    return digest.hexdigest()


def agree(failure, fingerprint, costs):
    """Makes all ranks of the default group schedule the same graph with the costs of rank 0.

    Every rank has to call this, also one that could not read its graph (`failure`, a text).
    Returns rank 0's costs; raises `KeepOrder` on all ranks if the ranks' graphs differ, or if one
    of them could not read its own.
    """
    import torch
    import torch.distributed as dist

    gathered = [None] * dist.get_world_size()
    # Under Inductor's Python dispatcher a collective holds the interpreter's lock, which Gloo's thread
    # needs to free the tensors of the collective before: both would wait for each other.
    with torch._C._DisablePythonDispatcher():
        dist.all_gather_object(gathered, (failure, fingerprint))
    for rank, (reason, _) in enumerate(gathered):
        if reason is not None:
            raise KeepOrder(f"rank {rank}: {reason}" if rank != dist.get_rank() else reason)
    differing = [rank for rank, (_, other) in enumerate(gathered) if other != gathered[0][1]]
    if differing:
        raise KeepOrder(f"the graphs of ranks {differing} differ from that of rank 0")
    box = [costs]
    with torch._C._DisablePythonDispatcher():
        dist.broadcast_object_list(box, src=0)
    return box[0]


class CollectiveGroups:
    """How large groups are, and over how many nodes they are spread."""

    def __init__(self, machine):
        self.machine = machine
        self._known = {}

    def describe(self, name):
        """(ranks, nodes) of the process group called `name`."""
        if name not in self._known:
            from torch.distributed import distributed_c10d as c10d

            ranks = c10d.get_process_group_ranks(c10d._resolve_process_group(name))
            per_node = max(1, self.machine.ranks_per_node)
            self._known[name] = (len(ranks), len({rank // per_node for rank in ranks}))
        return self._known[name]


#: Parts of the names of PyTorch's collectives, and what Braid calls them.
_COLLECTIVES = (
    ("all_reduce", "all_reduce"),
    ("all_gather", "all_gather"),
    ("reduce_scatter", "reduce_scatter"),
    ("all_to_all", "all_to_all"),
    ("alltoall", "all_to_all"),
    ("broadcast", "broadcast"),
)


def get_collective_kind(name):
    """What Braid calls the collective that PyTorch calls `name`; None if it has no such."""
    for part, kind in _COLLECTIVES:
        if part in name:
            return kind
    return None


#: Element types as machines name their peaks.
_PEAKS = {
    "torch.float64": "f64",
    "torch.float32": "f32",
    "torch.bfloat16": "bf16",
    "torch.float16": "f16",
    "torch.int8": "i8",
}


def get_peak(machine, dtype):
    """Operations per second of `machine` on elements of `dtype`."""
    name = str(dtype)
    if name.startswith("torch.float8"):
        return machine.peaks["f8"]
    return machine.peaks[_PEAKS.get(name, "f32")]


def get_roofline(machine, flops, size, dtype):
    """(ns, demand) of compute that does `flops` operations on elements of `dtype` and moves `size` bytes."""
    arithmetic = flops / get_peak(machine, dtype) * 1e9 if flops else 0
    memory = size / machine.memory_bandwidth * 1e9
    cost = max(arithmetic, memory)
    return cost, {"arithmetic_ns": min(arithmetic, cost), "memory_bytes": size}


#: Where products have their operands.
_PRODUCTS = {"aten.mm": 0, "aten.addmm": 1, "aten.bmm": 0, "aten.baddbmm": 1}


def get_product(fx_node):
    """(rows, columns, depth, element, batch, transposed) of a node of an FX graph; None if it is no product of matrices."""
    first = _PRODUCTS.get(str(getattr(fx_node.target, "overloadpacket", None)))
    if first is None:
        return None
    a, b = (fx_node.args[first + i].meta["val"] for i in range(2))
    element = _PEAKS.get(str(a.dtype), "f8" if "float8" in str(a.dtype) else None)
    if element is None:
        return None
    batch = get_hint(a.shape[0]) if a.dim() == 3 else 1
    transposed = TRANSPOSED[_is_transposed(a) + 2 * _is_transposed(b)]
    return get_hint(a.shape[-2]), get_hint(b.shape[-1]), get_hint(a.shape[-1]), element, batch, transposed


def _is_transposed(matrix):
    """Whether the rows of a matrix change fastest in memory."""
    outer, inner = (get_hint(stride) for stride in matrix.stride()[-2:])
    return inner != 1 and outer == 1


def get_hint(value):
    """A whole number for a size that may be symbolic; the hint of the trace."""
    if isinstance(value, int):
        return value
    hint = getattr(getattr(value, "node", None), "hint", None)
    return int(hint) if hint is not None else int(value)


def count_flops(fx_node):
    """Operations of a node of an FX graph by PyTorch's own formulas; 0 if it has none."""
    # The formula of most of them, without its detours: a compile has thousands.
    product = get_product(fx_node)
    if product is not None:
        rows, columns, depth, _, batch, _ = product
        return 2 * rows * columns * depth * batch

    import torch
    from torch.utils._pytree import tree_map
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(fx_node.target, "overloadpacket", None))
    if formula is None:
        return 0
    value = lambda argument: argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument  # noqa: E731
    args, kwargs = tree_map(value, (fx_node.args, fx_node.kwargs))
    return get_hint(formula(*args, **kwargs, out_val=fx_node.meta["val"]))
