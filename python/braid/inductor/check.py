# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a graph's collectives in the code that Inductor generates, so that it stays there in Inductor's caches.

The code calls the check before anything else: `call` of a Python wrapper (which CUDA graphs run once before they record), and
the entry of a C++ wrapper. Code without Python, of AOTInductor, has nobody to ask.
"""

import functools
import hashlib
import textwrap

from .. import _first_run, _groups, _torch
from .._agreement import Collective


def has_check():
    """Whether the code of the graph that is being compiled can call the check."""
    from torch._inductor.virtualized import V

    graph = V.graph
    if getattr(graph, "wrapper_code", None) is None:
        return False
    return not graph.aot_mode and not getattr(graph, "fx_wrapper", False)


def get_collectives(snodes, kinds):
    """The `Collective`s with other ranks among scheduler nodes of these kinds; node 0 of the graph stands before them."""
    from .nodes import SchedulerGraph

    found = []
    for place, (snode, kind) in enumerate(zip(snodes, kinds)):
        if kind != "start":
            continue
        name = SchedulerGraph.get_group(snode)
        if len(_groups.get_group_ranks(name)) > 1:
            found.append(Collective(place + 1, name, _describe(snode.node), _get_size(snode.node)))
    return found


def _describe(node):
    """Kind, reduction and element types. In place or not is a choice of Inductor, which ranks may make differently."""
    operands = [operand.get_dtype() for operand in node.inputs]
    strings = [argument for argument in (node.constant_args or ())[:-1] if isinstance(argument, str)]
    name = _torch.get_collective_name(node.op_overload)
    return _torch.describe_collective(name, strings, operands)


def _get_size(node):
    sizes = [operand.get_numel() for operand in node.inputs]
    if "all_to_all" in str(node.op_overload) or not all(getattr(size, "is_Integer", True) for size in sizes):
        return None
    return sum(map(int, sizes))


def find_earlier(snodes):
    """The check that `braid.fx` has put into the graph; None if there is none."""
    return next((snode.node for snode in snodes if getattr(snode.node, "is_braid_check", False)), None)


def add_check(record, snodes):
    """Has the generated code call the check of `record`."""
    from torch._inductor.virtualized import V

    earlier = find_earlier(snodes)
    whole = earlier and earlier.record.then(record)
    if whole:
        earlier.record = whole
    else:
        write_check(V.graph.wrapper_code, record)


def write_check(wrapper, record):
    """Puts the call before all that `wrapper` or, if it is that of a part of the graph, the whole graph's does."""
    from torch._inductor.utils import IndentedBuffer
    from torch._inductor.virtualized import V

    while getattr(wrapper, "parent_wrapper", None) is not None:
        wrapper = wrapper.parent_wrapper
    arguments = repr(record.to_text())
    if V.graph.is_backward:
        arguments += ", is_backward=True"
    if _is_recorded():
        arguments += ", is_counted=False"
    name = f"braid_check_{hashlib.sha256(arguments.encode()).hexdigest()[:16]}"
    # The header of a C++ wrapper begins with Python as well, and goes over to C++.
    header = IndentedBuffer()
    header.writeline("from braid._first_run import Check as BraidCheck")
    if V.graph.cpp_wrapper:
        header.writeline(f"{name} = BraidCheck.make_named({name!r}, {arguments})")
        wrapper.lines.insert(0, _CPP % name)
    else:
        header.writeline(f"{name} = BraidCheck({arguments})")
        wrapper.lines.insert(0, f"{name}()")
    header.splice(wrapper.header)
    wrapper.header = header


def _is_recorded():
    """Whether a CUDA graph runs in place of the code that calls the check. Graphs of its parts, as PyTorch makes them, run inside of it."""
    import torch._inductor.config as config

    has_parts = config.graph_partition and getattr(config, "cudagraph_policy", None) is None
    return config.triton.cudagraphs and not has_parts


_CPP = textwrap.dedent(
    """\
    {
        py::gil_scoped_acquire_simple acquire;
        static PyObject* check = nullptr;
        if (!check) {
            RAIIPyObject braid(PyImport_ImportModule("braid._first_run"));
            check = PyObject_CallMethod(braid.get(), "get_check", "s", "%s");
        }
        RAIIPyObject error(check ? PyObject_CallMethod(check, "run_for_cpp", nullptr) : nullptr);
        if (!error.get()) {
            throw std::runtime_error("Braid cannot compare the order of collectives");
        }
        const char* text = PyUnicode_AsUTF8(error.get());
        if (*text) {
            throw std::runtime_error(text);
        }
    }"""
)


@functools.lru_cache(maxsize=None)
def register_lowering():
    """Teaches Inductor the op ``braid::check_order`` of `braid.fx`."""
    import torch
    from torch._inductor import ir
    from torch._inductor.lowering import register_lowering as register
    from torch._inductor.virtualized import V
    from torch.utils._ordered_set import OrderedSet

    class CheckOrder(ir.ExternKernel):
        """Computes nothing, as `ir.AssertScalar`."""

        is_braid_check = True

        def __init__(self, text):
            super().__init__(None, ir.NoneLayout(device=torch.device("cpu")), [])
            self.record = _first_run.Record.from_text(text)

        def get_reads(self):
            return OrderedSet()

        def should_allocate(self):
            return False

        def has_side_effects(self):
            return True

        def codegen(self, wrapper):
            write_check(wrapper, self.record)

    @register(torch.ops.braid.check_order.default, type_promotion_kind=None)
    def check_order(text):
        node = CheckOrder(text)
        V.graph.register_buffer(node, set_name=True)
        V.graph.register_operation(node)
