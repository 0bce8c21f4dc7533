# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `braid.inductor` and `braid.fx` share: versions, options."""

import functools
import hashlib
import logging
import math
import os
import re
from collections import Counter

from . import __version__, _groups
from ._agreement import Agreement
from ._compiled_graphs import NO_COLLECTIVES, has_outcome
from ._first_run import Record
from ._groups import KeepOrder
from ._margin import search_with_margin, slower_collectives
from .errors import MemoryLimitError, ScheduleError
from .schedule import Machine, Schedule, schedule
from .schedule.graph import _MOST
from .schedule.problem import Problem, _limit, _size_limit
from .schedule.search import check_algorithm, check_effort

#: Versions of PyTorch that this was tested with: the first and the last. Older ones are refused.
TESTED = ((2, 11), (2, 14))

#: The machine whose models are used where neither the caller nor the GPU says which one.
DEFAULT_MACHINE = "h100x8"

#: The steps of a search, where nobody asks for an effort: a compile waits for it.
_STEPS_PER_NODE, _MOST_STEPS = 20_000, 15_000_000

#: The steps of a search that only compares two ways.
_FEW_STEPS = 500_000


def check_version(torch, log):
    """Raises `KeepOrder` for a version of PyTorch that is too old; warns once of one that was never tested: what it lacks
    has a name in the error that the graph is then kept for."""
    match = re.match(r"(\d+)\.(\d+)", torch.__version__)
    version = tuple(map(int, match.groups())) if match else None
    least, last = (".".join(map(str, part)) for part in TESTED)
    if version and version < TESTED[0]:
        raise KeepOrder(f"found PyTorch {torch.__version__}, expected {least} or newer")
    if not version or version > TESTED[1]:
        _warn_once(log, f"Braid was never tested with PyTorch {torch.__version__}, only with {least} to {last}")


@functools.lru_cache(maxsize=None)
def _warn_once(log, text):
    log.warning("%s", text)


class OverlapPass:
    """The base of both passes: options, and what happens when something is not known."""

    #: The module that puts the record of a graph's collectives into its code.
    check = None

    #: Options and their defaults; `with_options` of the passes documents them.
    DEFAULTS = {
        "estimates": "auto",
        "machine": None,
        "contention": None,
        "margin": None,
        "min_gain": 0.01,
        "memory_budget": 0.2,
        "max_memory": None,
        "max_in_flight": None,
        "keep_order": None,
        "deterministic": None,
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
        #: Why the last graph, for which the pass has looked for an order, has the one that it came with; None if it
        #: has another one.
        self.unchanged = None
        #: Gives a text to put behind `unchanged`, for those who ask: it searches once more. None if there is no more to say.
        self.explain_more = None
        #: The peak in bytes that `memory_budget` is above; None for that of the order that is searched from.
        self.program_peak = None
        #: What limits the order of the collectives of the last graph.
        self.notes = []
        self._count = 0
        #: What the log has as a reason: trainers compile many graphs alike.
        self._said = set()

    def with_options(self, **options):
        return type(self)(**{**self.options, **options})

    def __eq__(self, other):
        # Dynamo compiles again for a backend that differs in an option: each layer of its own `torch.compile`, up to its limit.
        return type(other) is type(self) and other.options == self.options

    def __hash__(self):
        return hash(type(self))

    def __deepcopy__(self, memo):
        # Inductor copies its configuration; `last` belongs to the one that the user has.
        return self

    def __repr__(self):
        # Code, as scripts that PyTorch writes for debugging have it among the settings; estimates by a function are the default there.
        changed = {name for name, value in self.options.items() if value != self.DEFAULTS[name] and not callable(value)}
        return f"__import__({type(self).__module__!r}, fromlist=['']).{type(self).__name__}({self._describe_options(changed)})"

    def __reduce__(self):
        # Inductor's caches pickle their keys.
        if callable(self.options["estimates"]):
            from torch._inductor.codecache import BypassFxGraphCache

            # After another error Inductor would cache no graph of any pass.
            raise BypassFxGraphCache("found estimates by a function: nobody knows when it changes")
        return _make, (type(self), self.options, self._get_cache_key())

    def _get_cache_key(self):
        """What an order, and whether the code compares it with other ranks, depend on beside the graph."""
        return f"braid {__version__} {self._describe_options(self.DEFAULTS)} {self._digest_surroundings()}"

    def _describe_measurements(self):
        """A text that differs where something was measured since an order was decided on, the same on all ranks."""
        return ""

    def _digest_surroundings(self):
        """A text for what a `Machine` or files say, and for the process groups."""
        digest = hashlib.sha256(repr([_groups.has_other_ranks(), _groups.get_all_ranks()]).encode())
        if isinstance(self.options["machine"], Machine):
            digest.update(repr(self.options["machine"].__getstate__()).encode())
        for name in ("machine", "profile"):
            path = self.options.get(name)
            if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):
                with open(path, "rb") as file:
                    digest.update(file.read())
        return digest.hexdigest()

    def _describe_options(self, names):
        return ", ".join(f"{name}={_describe_option(self.options[name])}" for name in sorted(names))

    def _check_options(self):
        options = self.options
        estimates = options["estimates"]
        if not callable(estimates) and estimates not in ("auto", "inductor", "braid"):
            raise ScheduleError(f"found estimates={estimates!r}, expected auto, inductor, braid or a callable")
        if options["min_gain"] == "auto":
            options["min_gain"] = self.DEFAULTS["min_gain"]
        gain = options["min_gain"]
        if isinstance(gain, bool) or not (isinstance(gain, (int, float)) and 0 <= gain < 1):
            raise ScheduleError(f"found min_gain={gain!r}, expected a fraction of at least 0 and below 1, or auto")
        margin = options["margin"]
        if isinstance(margin, bool) or not (margin is None or (isinstance(margin, (int, float)) and 0 <= margin < 10)):
            raise ScheduleError(f"found margin={margin!r}, expected a fraction of at least 0 and below 10, or None")
        budget = options["memory_budget"]
        is_number = isinstance(budget, (int, float)) and not isinstance(budget, bool)
        if budget is not None and not (is_number and 0 <= budget < math.inf):
            raise ScheduleError(f"found memory_budget={budget!r}, expected a finite number of at least 0, or None")
        for name in ("deterministic", "keep_order"):
            if options[name] not in (None, True, False):
                raise ScheduleError(f"found {name}={options[name]!r}, expected True, False or None")
        options["max_memory"] = _size_limit(options["max_memory"], "max_memory")
        _limit(options["max_in_flight"], "max_in_flight", 1)
        check_effort(options["effort"])
        if options["algorithm"] is not None:
            check_algorithm(options["algorithm"])
        if options["machine"] is not None:
            self.get_machine()

    def get_machine(self):
        machine = self.options["machine"]
        return machine if isinstance(machine, Machine) else Machine(machine or find_machine(), "none")

    def has_to_agree(self):
        """True if there are other ranks, and the caller has not said that they come to the same order anyway."""
        return self.options["agree"] and _groups.has_other_ranks()

    def has_check(self):
        """Whether the code of the graph that is being compiled can compare its order with other ranks."""
        return self.check.has_check()

    def record_failure(self, get_collectives, program):
        """Has the code of `program` say that its collectives keep their order, for ranks where they do not."""
        try:
            if self.has_to_agree() and self.has_check():
                collectives = get_collectives()
                if collectives:
                    self.check.add_check(self.make_record(collectives, None), program)
        except Exception as error:
            self.log.info("no record of the collectives of this graph: %s", error)

    def keeps_order(self):
        """True if collectives keep their order."""
        keep = self.options["keep_order"]
        if self.has_to_agree() and not self.has_check():
            return True
        return _groups.has_other_ranks() and not self.options["agree"] if keep is None else keep

    def make_agreement(self, graph, collectives):
        """The `Agreement` on the order of the collectives of `graph`; None where they keep their order, or are too few."""
        if len(collectives) < 2 or self.keeps_order():
            return None
        names = set(self.DEFAULTS) - {"agree", "report", "deterministic"}
        options = f"{type(self).__module__} {self._describe_options(names)} {self._describe_measurements()}"
        return Agreement(graph, collectives, f"{options}, deterministic={self.is_deterministic()}")

    def _say_why_order_is_kept(self):
        if self.options["keep_order"]:
            return "keep_order=True"
        if not self.options["agree"]:
            return "with agree=False nobody compares the orders of the ranks"
        return "the generated code cannot compare the orders of the ranks (AOTInductor)"

    def is_deterministic(self):
        """True if the order of collectives follows from the collectives alone."""
        import torch
        import torch._inductor.config as config

        wanted = self.options["deterministic"]
        if wanted is None:
            return torch.are_deterministic_algorithms_enabled() or getattr(config, "deterministic", False)
        return wanted

    def _decide(self, agreement, order):
        """The order of collectives that holds; `order`, one of all nodes, is this rank's."""
        if self.is_deterministic():
            return agreement.decide(agreement.find_structural_order(self.options["min_gain"]))
        return agreement.decide(agreement.get_order(order))

    def make_record(self, collectives, agreement, order=None):
        """The `Record` of the collectives in an order of all nodes; in the order of the program without one."""
        changed = {name for name, value in self.DEFAULTS.items() if self.options[name] != value}
        options = f"{type(self).__module__.rpartition('.')[0]}, {self._describe_options(changed) or 'default options'}"
        number = {collective.node: index for index, collective in enumerate(collectives)}
        places = range(len(collectives)) if order is None else [number[node] for node in order if node in number]
        return Record.make(collectives, places, agreement and agreement.key, options)

    def has_contention(self):
        """True if compute and communication slow each other down."""
        return bool(self.options["contention"])

    def keep(self, error):
        """Says why a graph stays as it is."""
        self.reason = str(error) or type(error).__name__
        self._say(logging.WARNING, f"Braid keeps the order of this graph: {self.reason}")

    def forget(self, has_collectives):
        """Forgets the last graph, before another one. Returns whether there is one to look at: a region of control flow, or what is around
        regions, has no outcome of its own beside the parts of a graph that have collectives. `has_collectives`: a function."""
        if has_outcome(self.log.name) and not has_collectives():
            return False
        self.last = self.before = self.reason = self.unchanged = self.explain_more = self.program_peak = None
        self.notes = []
        return True

    def keep_without_collectives(self, eager=0):
        """Says that there is nothing to reorder; `eager`: how many collectives there are that no pass can tell from other calls."""
        self.reason = NO_COLLECTIVES
        if eager:
            self.reason = f"Inductor calls the collectives of this graph ({eager}) as eager ops (fallback_by_default), which keep their place"
        self._say(logging.INFO, self.reason)

    def _say(self, level, text):
        self.log.log(logging.DEBUG if text in self._said else level, "%s", text)
        self._said.add(text)

    def find_order(self, graph, agreement=None):
        """The best order of `graph`, whose program order is the one that it came with.

        `agreement`: the `Agreement` of the ranks on the order of collectives, if they need one.
        """
        self.unchanged = self.explain_more = None
        if self.keeps_order() and sum(node.kind == "start" for node in graph.nodes) > 1:
            self.notes.append(f"the collectives keep their order: {self._say_why_order_is_kept()}")
        machine = self.get_machine() if self.has_contention() else None
        self.before = before = self.simulate_program(graph)
        # Ranks with equal graphs find equal orders of all nodes. An order of collectives alone would let each rank place
        # its compute elsewhere, and collectives wait for the last rank.
        found = before if agreement and self.is_deterministic() else self._find_best(graph, machine, before)
        if agreement:
            decided = self._decide(agreement, found.order)
            if decided != agreement.get_order(found.order) or self.is_deterministic():
                found = self._adopt(graph, machine, before, agreement, decided)
        self.last = found
        self._report(found)
        return found.order

    def simulate_program(self, graph):
        """The `Schedule` of `graph` in the order that it came with."""
        problem = Problem(graph, self.get_machine() if self.has_contention() else None)
        return Schedule(problem, problem.to_native(problem.program_order()), "program order")

    def take_order(self, graph, agreement, error):
        """An order of `graph` without costs, because of `error`: the program's, or one with the collectives as they were
        decided before."""
        self.keep(error)
        program = Problem(graph).program_order()
        decided = self._decide(agreement, program)
        agreement.constrain(graph, decided)
        return Problem(graph).program_order()

    def _find_best(self, graph, machine, before):
        # No search where even the work of the stream or of a lane alone would be no gain. The whole bound would
        # take longer than it saves.
        work = Counter()
        for node in graph.nodes:
            work[node.lane] += node.cost
        most, found = max(work.values()), before
        if self._is_good_enough(before, most):
            self.unchanged = (
                f"no order gains {100 * self.options['min_gain']:g} % (min_gain): compute alone, or the collectives of one "
                f"group alone, take {most / 1e6:.4g} of {before.makespan / 1e6:.4g} ms"
            )
        else:
            found = self._search(graph, machine, before, counts=lambda makespan: not self._is_good_enough(before, makespan))
            if self._is_good_enough(before, found.makespan):
                self._explain_small_gain(graph, machine, before, found)
                found = before
        if self.unchanged:
            self.log.info("keeping the order: %s", self.unchanged)
        return found

    def _get_memory_limit(self, before):
        """The most bytes that an order may take, None for no limit."""
        limit, budget = self.options["max_memory"], self.options["memory_budget"]
        peak = before.peak if self.program_peak is None else self.program_peak
        return int(min(peak * (1 + budget), _MOST)) if limit is None and budget is not None else limit

    def _explain_small_gain(self, graph, machine, before, found):
        """Why `found` gains too little to be worth a change: often no order gains more, or none within the limit."""
        gain = 100 * (1 - found.makespan / max(before.makespan, 1))
        self.unchanged = (
            f"the best order found gains {gain:.2g} %, less than {100 * self.options['min_gain']:g} % (min_gain), and none gains more "
            f"than {100 * max(0, 1 - found.bound / max(before.makespan, 1)):.2g} %"
        )
        limit = self._get_memory_limit(before)
        if limit is not None:
            self.explain_more = functools.partial(
                self._explain_limit, graph, machine, before, limit, self.keeps_order()
            )

    def _explain_limit(self, graph, machine, before, limit, keep_order):
        """Whether an order above the limit of memory would gain enough."""
        free = schedule(
            graph,
            machine,
            max_in_flight=self.options["max_in_flight"],
            keep_order=keep_order,
            algorithm=self.options["algorithm"],
            effort="low",
            steps=min(_MOST_STEPS, _STEPS_PER_NODE * len(graph)) // 10,
        )
        # Limits of this pass may be those of a later graph.
        if self._gains_too_little(before, free.makespan):
            return ""
        name = "memory_budget" if self.options["max_memory"] is None else "max_memory"
        return (
            f"; without the limit of memory ({name}) an order that takes {free.makespan / 1e6:.4g} ms instead of "
            f"{before.makespan / 1e6:.4g} ms has a peak of {free.peak / 2**20:.4g} MiB, above {limit / 2**20:.4g}"
        )

    def _adopt(self, graph, machine, before, agreement, decided):
        """The best order in which collectives run as another rank, or this one for a graph before, has decided."""
        why = (
            "follows from the collectives alone (deterministic)"
            if self.is_deterministic()
            else "another rank, or an earlier compile, has decided on (see `agree`)"
        )
        self.notes.append(f"the collectives have the order that {why}")
        self.log.info("taking the order of collectives that %s", why)
        if decided == agreement.get_order(before.order):
            # The program's order has it as well.
            agreement.constrain(graph, decided)
            return self._find_best(graph, machine, before)
        agreement.constrain(graph, decided)
        try:
            return self._search(graph, machine, before)
        except MemoryLimitError as error:
            self.log.warning("the order of collectives that was decided before takes more memory: %s", error)
            return self._search(graph, machine, before, has_limit=False)

    def estimate_best(self, graph):
        """(makespan, peak) in nanoseconds and bytes of the best order of `graph` that a short search finds; with a margin the mean of
        the makespans for predicted and for longer times of collectives, and the higher peak."""
        machine = self.get_machine() if self.has_contention() else None
        margin = self.get_margin()
        found = self._estimate_once(graph, machine)
        if not margin:
            return found.makespan, found.peak
        with slower_collectives(graph, 1 + margin):
            slower = self._estimate_once(graph, machine)
        return (found.makespan + slower.makespan) // 2, max(found.peak, slower.peak)

    def _estimate_once(self, graph, machine):
        before = self.simulate_program(graph)
        try:
            found = self._search_once(graph, machine, before, most_steps=_FEW_STEPS)
        except MemoryLimitError:
            return before
        return found if found.makespan < before.makespan or not self.keeps_memory(before.peak, before) else before

    def keeps_memory(self, peak, before):
        """Whether `peak` bytes are within the limit beside the order `before`."""
        limit = self._get_memory_limit(before)
        return limit is None or peak <= limit

    def get_margin(self):
        """By which fraction collectives may take longer than predicted."""
        margin = self.options["margin"]
        return (0.5 if self.has_contention() else 0) if margin is None else margin

    def _search(self, graph, machine, before, has_limit=True, **options):
        """The best order of `graph` within the limits, also where collectives take longer than predicted. `options`: those of
        `search_with_margin`."""
        search = functools.partial(self._search_once, graph, machine, before, has_limit)
        return search_with_margin(graph, machine, self.get_margin(), search, **options)

    def _search_once(self, graph, machine, before, has_limit=True, most_steps=_MOST_STEPS):
        """The best order of `graph` within the limits, which the order `before` sets in part."""
        options = self.options
        is_default = options["effort"] == "default"
        limit = self._get_memory_limit(before)
        found = schedule(
            graph,
            machine,
            max_memory=limit if has_limit else None,
            max_in_flight=options["max_in_flight"],
            keep_order=self.keeps_order(),
            algorithm=options["algorithm"],
            # Beside a compile the order counts, and good bounds take as long as the search.
            effort="low" if is_default else options["effort"],
            steps=min(most_steps, _STEPS_PER_NODE * len(graph)) if is_default else None,
        )
        self.log.info(
            "%d nodes: %d ns before, %d ns by %s, no order below %d ns; peak %d bytes before, %d now",
            len(graph), before.makespan, found.makespan, found.method, found.bound, before.peak, found.peak,
        )  # fmt: skip
        return found

    def _is_good_enough(self, before, makespan):
        """Whether the order `before`, which the graph came with, stays beside one that takes `makespan`."""
        keeps_limits = self.options["max_in_flight"] is None and self.keeps_memory(before.peak, before)
        return keeps_limits and self._gains_too_little(before, makespan)

    def _gains_too_little(self, before, makespan):
        """Whether `makespan` is not less enough than that of `before`: models are not so exact that a small gain is one."""
        return makespan > before.makespan * (1 - self.options["min_gain"])

    def _report(self, found):
        path = self.options["report"]
        if path is None or _groups.get_rank() != 0:
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


def _make(cls, options, _key):
    return cls(**options)


def _describe_option(value):
    """The same text on all ranks for the same value."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    return repr(value.name if isinstance(value, Machine) else value)


def get_default_group_name():
    """The name of the default process group, None without one."""
    import torch.distributed as dist

    return dist.group.WORLD.group_name if dist.is_available() and dist.is_initialized() else None


def get_collective_name(overload):
    """The name of a collective without the suffixes for how its result is stored."""
    return overload._schema.name.split("::")[-1].removesuffix("_").removesuffix("_out")


def describe_collective(name, strings, dtypes):
    """What has to be the same on all ranks: the name, texts like "sum", and element types."""
    elements = [str(dtype).removeprefix("torch.") for dtype in dtypes]
    if len(set(elements)) == 1:
        elements = elements[:1] if len(elements) == 1 else [f"{len(elements)} x {elements[0]}"]
    return " ".join([name, *strings, *elements])
