# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass that DeepCompile calls for each graph of forward and of backward."""

import logging

from .. import _deepcompile_ops, _torch_ops, fx
from .._compiled_graphs import watching
from .._packages import find_function, find_untested_version

#: The version of DeepSpeed whose ops and passes this knows.
TESTED = "0.19"

_NS_PER_MS = 1e6

_log = logging.getLogger("braid.deepspeed")


def get_measured_time(node):
    """What DeepSpeed has measured for a node of compute, the mean of all ranks, in nanoseconds; None where it has not."""
    if _torch_ops.get_family(node.target) is not None or _torch_ops.communicates(node.target):
        return None
    return node.meta["device_time"] * _NS_PER_MS if node.meta.get("device_time") else None


class Overlap:
    """What `register` gives to DeepSpeed. After a compile, `overlap` is the `braid.fx.Overlap` that ordered the graph."""

    def __init__(self, **options):
        if options.get("estimates", "auto") == "auto":
            options["estimates"] = get_measured_time
        self.overlap = fx.Overlap(**options)

    def __call__(
        self, gm, graph_id, graph_order, profiling_results, create_inputs_fn, mem_budget, param_manager, bwd
    ):  # The names are DeepSpeed's.
        """Orders `gm` in place. Returns None, by which DeepSpeed measures no memory of the new order, which all ranks would have to do."""
        group = getattr(getattr(profiling_results.get(graph_id), "process_group", None), "group_name", None)
        for node in gm.graph.nodes if group else ():
            if _torch_ops.get_family(node.target) is not None:
                node.meta[_deepcompile_ops.GROUP] = group
        with watching(f"{'backward' if bwd else 'forward'} of DeepCompile", gm):
            self.overlap(gm.graph)
        gm.graph.lint()
        gm.recompile()


def register(name="braid", **options):
    """Makes `name` a pass for ``engine.compile(schedule=...)``, in this process.

    Parameters
    ----------
    name : str
        What the schedule calls it.
    **options
        Those of `braid.fx.Overlap.with_options`. With ``estimates="auto"`` compute takes what DeepSpeed has measured for it.

    Returns
    -------
    Overlap

    Raises
    ------
    BraidError
        No DeepSpeed, or one without `register_compile_pass`; the message names what is missing.
    braid.schedule.ScheduleError
        An unknown option, or an invalid value of one.
    """
    version = find_untested_version("deepspeed", "DeepSpeed", TESTED)
    if version is not None:
        _log.warning("Braid knows the ops of DeepSpeed %s, not of %s", TESTED, version)
    add = find_function("deepspeed.compile.backend", "register_compile_pass", f"DeepSpeed {TESTED}")
    overlap = Overlap(**options)
    add(name, overlap)
    return overlap
