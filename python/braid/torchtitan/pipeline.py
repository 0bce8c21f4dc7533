# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchtitan's default passes with Braid's among them."""

import functools
import logging

from .. import fx, inductor
from .._compiled_graphs import watching
from ..errors import BraidError
from . import hooks

#: What ``--compile.disable_passes`` calls Braid's pass.
PASS_NAME = "braid_overlap_pass"

_FULL = "full_inductor_compilation_pass"

_log = logging.getLogger("braid.torchtitan")


class Pipeline:
    """Makes the list of passes for a graph, as torchtitan asks for it."""

    def __init__(self, options):
        self.inductor = inductor.Overlap(**options)
        self.fx = fx.Overlap(**{name: value for name, value in options.items() if name in fx.Overlap.DEFAULTS})

    def __call__(self, traced_result, config, *, parallel_dims=None):
        construct = hooks.find("passes", "construct_default_graph_passes")
        passes = construct(traced_result, config, parallel_dims=parallel_dims)
        return self.insert(passes, config.compile)

    def insert(self, passes, compile_config):
        """Braid's pass behind all that change the graph and before those that compile it.

        Where Inductor compiles the whole graph, it finds an order of its own, and Braid's pass is one of Inductor's.
        """
        if PASS_NAME in compile_config.disable_passes:
            return passes
        terminal = hooks.find("passes", "final_inductor_compile_passes")(compile_config, use_cudagraph=True)
        names = {_get_name(one) for one in terminal}
        names_here = [_get_name(one) for one in passes]
        place = next((place for place, name in enumerate(names_here) if name in names), None)
        if place is None:
            _log.warning("Braid keeps the order of this graph: found no pass that compiles it, as with a precompiled artifact")
            return passes
        if _FULL in names_here:
            place = names_here.index(_FULL)
            return [*passes[:place], self._order_in_inductor(passes[place]), *passes[place + 1 :]]
        return [*passes[:place], self._make_pass(), *passes[place:]]

    def _make_pass(self):
        def braid_overlap_pass(gm, example_inputs):
            with watching("step of torchtitan", gm):
                self.fx(gm.graph)
            gm.graph.lint()
            gm.recompile()
            return gm

        return braid_overlap_pass

    def _order_in_inductor(self, compile_all):
        @functools.wraps(getattr(compile_all, "func", compile_all))
        def compile_ordered(gm, example_inputs):
            import torch._inductor.config as config

            settings = {
                "reorder_for_compute_comm_overlap": True,
                "reorder_for_compute_comm_overlap_passes": [self.inductor],
            }
            with config.patch(settings):
                return compile_all(gm, example_inputs)

        return compile_ordered


def _get_name(one):
    return getattr(one, "func", one).__name__


#: By name, the pipelines for stages of pipeline parallelism.
_pipelines = {}


def register(name="braid", **options):
    """Makes ``compile.pass_pipeline = name`` a pipeline with Braid's order, in this process.

    Parameters
    ----------
    name : str
        What the configuration calls it.
    **options
        Those of `braid.inductor.Overlap.with_options`. `profile` and `lanes` are for graphs that Inductor compiles whole
        (``compile.inductor_compilation = "full"``); others are ordered by `braid.fx`, which has no such options.

    Raises
    ------
    BraidError
        No torchtitan, or one that lacks a hook; the message names it.
    braid.schedule.ScheduleError
        An unknown option, or an invalid value of one.
    """
    hooks.check_version()
    add = hooks.find("registry", "register_pass_pipeline")
    for needed in ("construct_default_graph_passes", "final_inductor_compile_passes"):
        hooks.find("passes", needed)
    pipeline = Pipeline(options)
    _add_to_stages()
    add(name)(pipeline)
    _pipelines[name] = pipeline


def _add_to_stages():
    """Has stages of pipeline parallelism, whose passes torchtitan takes from no registry, ask the pipelines of Braid."""
    if _pipelines:
        return
    where, name = "graph_pp.graph_builder", "final_inductor_compile_passes"
    try:
        final = hooks.find(where, name)
    except BraidError as error:
        _log.warning("Stages of pipeline parallelism keep the order of torchtitan: %s", error)
        return

    @functools.wraps(final)
    def find_passes(compile_config, **settings):
        passes = final(compile_config, **settings)
        pipeline = _pipelines.get(compile_config.pass_pipeline)
        return passes if pipeline is None else pipeline.insert(passes, compile_config)

    hooks.replace(where, name, find_passes)
