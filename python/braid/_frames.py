# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that Dynamo gives up to compile, for instance after `torch._dynamo.config.recompile_limit` graphs.

From then on it runs as Python has it where no graph fits, with the collectives in the order of the program. Peers that run a graph in
another order would take one collective for another. So all ranks give up the code together, and all of its graphs.
"""

import functools
import logging
import os

from . import _groups

_log = logging.getLogger("braid")

#: By Dynamo's number of a code object, the process groups of its graphs in a changed order.
_changed = {}


def remember(groups):
    """The graph that this thread compiles, or takes from a cache, has another order of the collectives of `groups`, names."""
    from torch._guards import CompileContext

    compiled = CompileContext.current_compile_id()
    if compiled is not None and compiled.frame_id is not None:
        _changed.setdefault(compiled.frame_id, {}).update(dict.fromkeys(groups))


def watch():
    """Has Dynamo ask the peers before it gives up code whose graphs have a changed order."""
    try:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
        from torch._dynamo import convert_frame

        convert = convert_frame.ConvertFrame.__call__
    except (ImportError, AttributeError) as error:
        _log.debug("code that Dynamo gives up is not seen: %s", error)
        return

    @functools.wraps(convert)
    def convert_or_compare(self, frame, cache_entry, hooks, frame_state, *args, **kwargs):
        if "_id" not in frame_state:
            # `torch._dynamo.reset` begins with the numbers anew.
            _changed.pop(getattr(convert_frame, "FRAME_COUNTER", None), None)
        result = convert(self, frame, cache_entry, hooks, frame_state, *args, **kwargs)
        if getattr(result, "guarded_code", result) is None and _compare(frame.f_code, frame_state.get("_id")):
            # A graph that one rank has for the next sizes is one that another rank may not have.
            result.frame_exec_strategy = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
        return result

    convert_frame.ConvertFrame.__call__ = convert_or_compare


def _compare(code, number):
    """Whether `code` has graphs in a changed order; returns when all ranks that share them have given it up."""
    from ._first_run import compare_without_graph

    groups = [name for name in _changed.get(number, ()) if len(_groups.get_members(name)) > 1]
    if not groups or not _groups.has_other_ranks():
        return False
    name = f"{code.co_name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
    compare_without_graph(groups, name)
    _log.warning("All ranks run %s without graphs from now on, because Dynamo has given it up (recompile_limit)", name)
    return True
