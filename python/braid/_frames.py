# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that has graphs in a changed order, and runs without them, as Python has it, with the collectives in the order of the program:

* Dynamo gives it up, for instance after `torch._dynamo.config.recompile_limit` graphs;
* `torch.compiler.set_stance` says so.

Peers that run a graph would take one collective for another. So all ranks do this together (`_runs`).
"""

import contextlib
import functools
import logging
import os
import weakref

from . import _groups

_log = logging.getLogger("braid")

#: By Dynamo's number of a code object, the names of the process groups that have another order in its graphs: whether in some forward.
_changed = {}
#: By `ConvertFrame` or `ConvertFrameAssert` (`fullgraph=True`) of a `torch.compile`, the numbers of the code that it has compiled.
_numbers = weakref.WeakKeyDictionary()
#: By module or code, (backend, `_numbers`) of those that compile it: Dynamo gives all that have equal backends the same graphs.
_compiled = weakref.WeakKeyDictionary()


def remember(groups, is_backward):
    """The graph that this thread compiles, or takes from a cache, has another order of the collectives of `groups`, names."""
    from torch._guards import CompileContext

    compiled = CompileContext.current_compile_id()
    if groups and compiled is not None and compiled.frame_id is not None:
        known = _changed.setdefault(compiled.frame_id, {})
        known.update({name: known.get(name, False) or not is_backward for name in groups})


def watch():
    """Has Dynamo ask the peers before code that has graphs in a changed order runs without them."""
    try:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
        from torch._dynamo import convert_frame, eval_frame
        from torch._dynamo.types import ConvertFrameReturn

        convert, choose = convert_frame.ConvertFrame.__call__, eval_frame._callback_from_stance
        convert_whole = convert_frame.ConvertFrameAssert.__call__
        compile_function = eval_frame._TorchDynamoContext.__call__
    except (ImportError, AttributeError) as error:
        _log.debug("code that runs without its graphs is not seen: %s", error)
        return

    def make_strategy(action):
        return _FrameExecStrategy(action, action)

    # `ConvertFrame` calls one of these, and `fullgraph=True` has this one alone.
    @functools.wraps(convert_whole)
    def convert_and_remember(self, frame, cache_entry, hooks, frame_state, *args, **kwargs):
        if "_id" not in frame_state:
            # `torch._dynamo.reset` begins with the numbers anew.
            _changed.pop(getattr(convert_frame, "FRAME_COUNTER", None), None)
        result = convert_whole(self, frame, cache_entry, hooks, frame_state, *args, **kwargs)
        _numbers.setdefault(self, set()).add(frame_state.get("_id"))
        return result

    @functools.wraps(convert)
    def convert_or_compare(self, frame, cache_entry, hooks, frame_state, *args, **kwargs):
        result = convert(self, frame, cache_entry, hooks, frame_state, *args, **kwargs)
        number = frame_state.get("_id")
        _numbers.setdefault(self, set()).add(number)
        name = _describe(frame.f_code)
        if getattr(result, "guarded_code", result) is None and _compare([number], f"has given up to compile {name} (recompile_limit)"):
            # A graph that one rank has for the next sizes is one that another rank may not have.
            result.frame_exec_strategy = make_strategy(_FrameAction.SKIP)
            _log.warning("All ranks run %s without graphs from now on, because Dynamo has given it up (recompile_limit)", name)
        return result

    @functools.wraps(choose)
    def choose_or_compare(callback):
        chosen = choose(callback)
        if chosen is callback or not _changed:
            return chosen
        numbers = _get_numbers(callback)
        if chosen is False and any(number in _changed for number in numbers):
            return make_callback(callback)
        if chosen is None or eval_frame._stance.backend is not None:
            _compare(numbers, f"runs without its graphs (torch.compiler.set_stance: {eval_frame._stance.stance})")
        return chosen

    def make_callback(callback):
        """What takes the graphs of `callback`, and makes none."""

        def run_without_graph(frame, _cache_entry, frame_state):
            what = f"runs {_describe(frame.f_code)} without a graph (torch.compiler.set_stance: eager_on_recompile)"
            _compare([frame_state.get("_id")], what)
            return ConvertFrameReturn(frame_exec_strategy=make_strategy(_FrameAction.DEFAULT))

        run_without_graph._torchdynamo_orig_backend = callback
        return run_without_graph

    @functools.wraps(compile_function)
    def compile_and_share(self, function):
        converts = (convert_frame.ConvertFrame, convert_frame.ConvertFrameAssert)
        found = [each for each in _unwrap(self.callback) if isinstance(each, converts)]
        if found:
            _share_numbers(found[0], eval_frame.innermost_fn(function))
        return compile_function(self, function)

    eval_frame._TorchDynamoContext.__call__ = compile_and_share
    convert_frame.ConvertFrameAssert.__call__ = convert_and_remember
    convert_frame.ConvertFrame.__call__ = convert_or_compare
    eval_frame._callback_from_stance = choose_or_compare


def _unwrap(callback):
    """A callback of Dynamo and what it calls, down to the backend."""
    while callback not in (None, False):
        yield callback
        callback = getattr(callback, "_torchdynamo_orig_backend", None)


def _share_numbers(convert, function):
    """Has `convert` know what all others with an equal backend compile of `function`."""
    from torch._dynamo import external_utils

    what = getattr(function, "__self__", None)
    what = getattr(function, "__code__", function) if what is None else what
    if getattr(what, "co_filename", None) == external_utils.__file__:
        # The code of a wrapper that all functions share.
        return
    *_, backend = _unwrap(convert)
    try:
        known = _compiled.setdefault(what, [])
    except TypeError:  # No object that can be remembered.
        return
    for other, numbers in known:
        if other == backend:
            _numbers[convert] = numbers
            return
    known.append((backend, _numbers.setdefault(convert, set())))


def _get_numbers(callback):
    """The numbers of the code that `callback` of Dynamo has compiled."""
    for each in _unwrap(callback):
        with contextlib.suppress(KeyError, TypeError):
            return sorted(_numbers[each])
    return []


def _describe(code):
    return f"{code.co_name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _compare(numbers, what):
    """Whether code with these numbers has graphs in a changed order; returns when all ranks that share them have come to `what`."""
    import torch

    known = [pair for number in numbers for pair in _changed.get(number, {}).items()]
    # The backward of what runs under no_grad does not come.
    groups = dict.fromkeys(name for name, is_forward in known if is_forward or torch.is_grad_enabled())
    groups = sorted(name for name in groups if len(_groups.get_members(name)) > 1)
    if not groups or not _groups.has_other_ranks():
        return False
    from ._first_run import change

    change(groups, True, what)
    return True
