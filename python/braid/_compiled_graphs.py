# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A record of the graphs that Inductor compiles: whether it called a pass of Braid, and why not.

Inductor has no hook for graphs whose passes it does not call, so `watch` puts a function around
`torch._inductor.compile_fx._compile_fx_inner`, through which every graph comes, as PyTorch's own tests do.
Graphs from AOTAutograd's cache do not even come there; PyTorch's counters tell of them.
"""

import contextlib
import dataclasses
import functools
import itertools
import logging
import os
import re
import threading
from collections import deque

from . import _frames, _groups

_log = logging.getLogger("braid.inductor")

#: Namespaces of PyTorch's ops whose graphs have something to hide.
_COLLECTIVES = ("_c10d_functional", "_c10d_functional_autograd", "c10d_functional", "torchrec")

#: FSDP2 and DDP in their usual mode issue their collectives outside of the graphs that are compiled.
NO_COLLECTIVES = (
    "no collective in this graph: FSDP2 and DDP issue theirs between compiled graphs, where no pass can move them "
    "(docs/start/fsdp.md says how a graph has them)"
)

#: The first frame of the stack that an op of a graph carries: the file, the line and the function.
_FRAME = re.compile(r'File "(.*?)", line (\d+), in (\S+)')

#: The most graphs that are remembered, the last ones.
_MOST_GRAPHS = 10_000

#: The most calls whose graphs stay in memory until somebody asks for more about them, the last ones.
_MOST_QUESTIONS = 16


@dataclasses.dataclass
class Call:
    """What a pass of Braid did to a graph; times are predicted nanoseconds, None where the pass did not simulate it."""

    name: str
    changed: bool
    #: Why the order stayed, if it did.
    why: "str | None"
    before: "int | None"
    after: "int | None"
    #: No order takes less than this.
    bound: "int | None" = None
    #: Communication that the new order leaves exposed.
    exposed: "int | None" = None
    #: Bytes at once, before and after.
    peaks: "tuple[int, int] | None" = None
    #: The machine that the times are predicted for.
    machine: "str | None" = None
    #: What limits the order of the collectives, and their lanes.
    notes: "tuple[str, ...]" = ()
    #: Whether collectives have left the program's lanes.
    has_lanes: bool = False

    def __str__(self):
        what = " and ".join(["the order"] * self.changed + ["the lanes"] * self.has_lanes)
        if not what:
            lines = [f"{self.name} kept the order: {self.why}"]
        elif self.after is None:
            lines = [f"{self.name} changed {what}, without times: {self.why}"]
        else:
            times = f"{_describe_gain(self.before, self.after)}, predicted for {self.machine}"
            lines = [f"{self.name} changed {what}: {times}"]
            if self.bound is not None:
                lines.append(f"no order takes less than {_ms(self.bound)} ms")
            if self.exposed is not None:
                why = "(`reasons` of the pass's `last` say why)"
                lines.append(f"{_ms(self.exposed)} ms of communication stay exposed {why}")
            if self.peaks is not None:
                lines.append(f"peak memory {' -> '.join(map(_mib, self.peaks))} MiB")
        return "\n    ".join([*lines, *self.notes])


def _describe_gain(before, after):
    return f"{_ms(before)} -> {_ms(after)} ms" + (f", {100 * (1 - after / before):.1f} % less" if before else "")


def _ms(ns):
    return f"{ns / 1e6:.4g}"


def _mib(size):
    return f"{size / 2**20:.4g}"


@dataclasses.dataclass
class CompiledGraph:
    """A graph that this process compiled, or took from a cache.

    `collectives` is None where nobody saw the graph. `calls` has the passes of Braid that Inductor called, and `why`
    says why it did not call `braid.inductor`; None if it did.
    """

    number: int
    name: str
    collectives: "int | None"
    calls: "list[Call]" = dataclasses.field(default_factory=list)
    why: "str | None" = None

    @property
    def called(self) -> bool:
        return bool(self.calls)

    @property
    def changed(self) -> bool:
        return any(call.changed for call in self.calls)

    def __str__(self):
        return "\n  ".join([f"graph {self.number} ({self._get_title()})", *self._get_lines()])

    def _get_last_calls(self):
        """Those with times of the last pass, which Inductor calls for the graph and for each region of it."""
        return [call for call in self.calls if call.name == self.calls[-1].name and call.before and call.after]

    def _get_title(self):
        if self.collectives is None:
            return self.name
        return f"{self.name}, {self.collectives} collective{'s' * (self.collectives != 1)}"

    def _get_lines(self):
        lines = [*map(str, self.calls)]
        if self.why is not None:
            lines.append(f"braid.inductor was not called: {self.why}")
        return lines


class Explanation(list[CompiledGraph]):
    """The `CompiledGraph`s of a process, the last one last; as a text, a few lines for each, once for graphs without collectives
    that follow each other, and what all take together."""

    def __str__(self):
        lines = []
        for (is_empty, _), graphs in itertools.groupby(self, lambda graph: (graph.collectives == 0, graph._get_lines())):
            first, *others = graphs
            if is_empty and others:
                title = f"graphs {first.number} to {others[-1].number} (from {first._get_title()})"
                lines.append("\n  ".join([title, *first._get_lines()]))
            else:
                lines += map(str, [first, *others])
        graphs = [calls for calls in (graph._get_last_calls() for graph in self) if calls]
        if len(graphs) > 1:
            before, after = (sum(getattr(call, name) for calls in graphs for call in calls) for name in ("before", "after"))
            changed = sum(any(call.changed or call.has_lanes for call in calls) for calls in graphs)
            lines.append(f"{changed} of {len(graphs)} graphs with collectives changed: {_describe_gain(before, after)}")
        return "\n".join(lines) or "no graph was compiled since braid.inductor was imported"


class _Watch:
    def __init__(self):
        self.graphs = deque(maxlen=_MOST_GRAPHS)
        #: (call, function that gives more of the reason why the call kept an order).
        self.questions = deque(maxlen=_MOST_QUESTIONS)
        self.count = 0
        self.local = threading.local()
        self.lock = threading.Lock()
        self.is_installed = False
        self.said = set()
        self.was_called = False
        self.cache_hits = 0

    def add(self, name, collectives):
        with self.lock:
            graph = CompiledGraph(self.count, name, collectives)
            self.count += 1
            self.graphs.append(graph)
        return graph

    def get_stack(self):
        """The graphs that this thread is compiling, the innermost one last."""
        if not hasattr(self.local, "stack"):
            self.local.stack = []
        return self.local.stack

    def say(self, kind, level, text, *arguments):
        """Logs once what is of one kind."""
        if kind not in self.said:
            self.said.add(kind)
            _log.log(level, text, *arguments)


_watch = _Watch()


def watch():
    """Begins to remember graphs; does nothing where PyTorch is not installed, and the second time."""
    if _watch.is_installed:
        return
    try:
        from torch._dynamo.callback import callback_handler
        from torch._inductor import compile_fx

        inner = compile_fx._compile_fx_inner
    except (ImportError, AttributeError) as error:
        _log.debug("graphs without a call are not seen: %s", error)
        return

    @functools.wraps(inner)
    def compile_inner(gm, *args, **kwargs):
        return _compile(inner, gm, args, kwargs)

    compile_fx._compile_fx_inner = compile_inner
    # `torch._dynamo.reset` forgets it; then graphs from that cache are seen with the next one, or by `explain`.
    callback_handler.register_end_callback(_see_cached)
    _frames.watch()
    _watch.is_installed = True


def is_compiling():
    """Whether Inductor itself works on a graph of this thread, behind what AOTAutograd does."""
    return bool(_watch.get_stack())


def note(overlap, changed, has_lanes=False):
    """Remembers what the pass `overlap` did to the graph that this thread is compiling: whether its order and its lanes have changed."""
    _watch.was_called = True
    stack = _watch.get_stack()
    if not stack:
        return
    why = None
    if not changed:
        why = overlap.reason or overlap.unchanged or "it is the best one that the search has found"
    if changed and overlap.last is None:
        why = overlap.reason
    times = _describe_times(overlap, changed or has_lanes)
    call = Call(overlap.log.name, changed, why, *times, notes=tuple(overlap.notes), has_lanes=has_lanes)
    # Those of regions that came before.
    stack[-1].calls[:] = [each for each in stack[-1].calls if each.name != call.name or each.why != NO_COLLECTIVES]
    stack[-1].calls.append(call)
    if why is not None and why == overlap.unchanged and overlap.explain_more is not None:
        _watch.questions.append((call, overlap.explain_more))
    overlap.explain_more = None


def has_outcome(name):
    """Whether the pass `name` has seen collectives in another part of the graph that this thread is compiling."""
    stack = _watch.get_stack()
    return bool(stack) and any(call.name == name and call.why != NO_COLLECTIVES for call in stack[-1].calls)


def _describe_times(overlap, changed):
    """The fields of a `Call` from `before` to `machine`."""
    before, last = overlap.before, overlap.last
    if before is None or last is None or not changed:
        return (before and before.makespan), (last and last.makespan)
    machine = overlap.get_machine().name
    return before.makespan, last.makespan, last.bound, last.exposed, (before.peak, last.peak), machine


@contextlib.contextmanager
def watching(name, gm):
    """Remembers a graph that Inductor does not compile whole, while passes of Braid are called for it."""
    graph = _watch.add(name, _count_collectives(gm))
    stack = _watch.get_stack()
    stack.append(graph)
    try:
        yield
    finally:
        stack.remove(graph)


def explain():
    """The outcome for each graph that this process has compiled since `braid.inductor` was imported.

    Returns
    -------
    Explanation
        A list with a `CompiledGraph` for each graph: whether Inductor called passes of Braid, or the setting because of
        which it did not, and whether these changed the order, or why not. ``print(explain())`` shows all.
    """
    if _watch.is_installed:
        _see_cached()
    while _watch.questions:
        call, explain_more = _watch.questions.popleft()
        try:
            call.why += explain_more()
        except Exception as error:  # The shorter reason stays true.
            _log.debug("no more is known of why a graph was kept: %s", error)
    return Explanation(_watch.graphs)


def _compile(inner, gm, args, kwargs):
    graph = None
    _see_cached()
    try:
        graph = _watch.add(_get_name(gm, kwargs), _count_collectives(gm))
        _watch.get_stack().append(graph)
        hits = _get_counter("inductor", "fxgraph_cache_hit")
    except Exception as error:  # A compile does not fail because somebody watches.
        _log.debug("a graph is not seen: %s", error)
    failure = None
    try:
        return inner(gm, *args, **kwargs)
    except BaseException as error:
        # The error itself would keep the frames of the compile until garbage is collected.
        failure = type(error).__name__
        raise
    finally:
        if graph is not None and graph in _watch.get_stack():
            _watch.get_stack().remove(graph)
            if not any(call.name == "braid.inductor" for call in graph.calls):
                try:
                    is_cached = _get_counter("inductor", "fxgraph_cache_hit") > hits
                    _find_why(graph, is_cached, failure)
                except Exception as error:
                    graph.why = f"nobody knows: {error}"


def _get_name(gm, kwargs):
    """The kind of a graph, the function that was compiled, and PyTorch's number of the compile."""
    from torch._guards import CompileContext

    kind = "backward" if kwargs.get("is_backward") else "inference" if kwargs.get("is_inference") else "forward"
    function = _find_function(gm)
    return f"{kind} of {CompileContext.current_compile_id()}" + (f", {function}" if function else "")


def _find_function(gm):
    """Where the first op comes from that knows, as the trace has it: the function that calls all others; None if no op knows."""
    for node in gm.graph.nodes:
        # What compiled autograd traces has its own function there.
        match = _FRAME.search(node.meta.get("stack_trace") or "")
        if match and not match[1].endswith("compiled_autograd.py"):
            return f"{match[3]} ({os.path.basename(match[1])}:{match[2]})"
    return None


def _count_collectives(gm):
    import torch

    from . import _torch_ops

    count = 0
    for module in gm.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            family = _torch_ops.get_family(node.target)
            if family is not None:
                count += family.is_collective(node.target)
            elif isinstance(node.target, torch._ops.OpOverload) and node.target.namespace in _COLLECTIVES:
                count += node.target._opname != "wait_tensor"
    return count


def _get_counter(group, name):
    from torch._dynamo.utils import counters

    return counters[group][name]


def _see_cached(*_):
    """Remembers what came from AOTAutograd's cache since the last call."""
    try:
        hits = _get_counter("aot_autograd", "autograd_cache_hit")
        with _watch.lock:
            # Users may clear the counters.
            new = hits - min(_watch.cache_hits, hits)
            _watch.cache_hits = hits
        for _ in range(new):
            graph = _watch.add("forward and backward", None)
            graph.why = (
                "it came from AOTAutograd's cache, with the order of the compile that filled the cache "
                "(torch._functorch.config.enable_autograd_cache)"
            )
            _watch.say("aot cache", logging.INFO, "A graph came from AOTAutograd's cache, which calls no pass")
    except Exception as error:
        _log.debug("graphs from a cache are not seen: %s", error)


def _find_why(graph, is_cached, failure):
    """Says why Inductor has not called `braid.inductor` for `graph`, in the order in which Inductor asks.

    `failure`: the name of the error of the compile, None without one.
    """
    import torch._inductor.config as config

    from .inductor.overlap import Overlap

    passes = config.reorder_for_compute_comm_overlap_passes
    is_listed = any(isinstance(one, Overlap) for one in passes)
    level = logging.WARNING if is_listed or _watch.was_called else logging.INFO
    if failure is not None:
        kind, level = "failure", logging.INFO
        graph.why = f"the compile failed before: {failure}"
    elif not graph.collectives:
        kind = "no collective"
        graph.why = "the graph has no collective"
        if _groups.has_other_ranks():
            graph.why += "; FSDP2 and DistributedDataParallel communicate outside of what torch.compile sees"
        if not _groups.has_other_ranks() or any(one.collectives for one in _watch.graphs):
            level = logging.INFO
    elif is_cached:
        kind, level = "cache", logging.INFO
        graph.why = (
            "it came from Inductor's cache, with the order of the compile that filled the cache "
            "(torch._inductor.config.fx_graph_cache)"
        )
    elif config.deterministic:
        kind = "deterministic"
        graph.why = (
            "torch._inductor.config.deterministic is set (torch.use_deterministic_algorithms(True) sets it), and "
            "Inductor calls no reordering pass then; braid.fx.overlap is called, and what braid.inductor.options() has for that"
        )
    elif not config.reorder_for_compute_comm_overlap:
        kind = "off"
        graph.why = "torch._inductor.config.reorder_for_compute_comm_overlap is False"
    elif not is_listed:
        kind = "not listed"
        names = ", ".join(one if isinstance(one, str) else getattr(one, "__name__", repr(one)) for one in passes)
        graph.why = (
            "torch._inductor.config.reorder_for_compute_comm_overlap_passes has no pass of Braid when the graph is "
            f"compiled, but: {names or 'none'}"
        )
    else:
        kind, graph.why = "unknown", "Inductor did not come to its reordering passes"
    is_fx = any(call.name == "braid.fx" for call in graph.calls)
    _watch.say(
        kind, logging.INFO if is_fx else level,
        "Inductor did not call braid.inductor for a graph: %s. braid.inductor.explain() tells of all graphs.", graph.why,
    )  # fmt: skip
