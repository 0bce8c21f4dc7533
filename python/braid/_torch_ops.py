# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch's ops do, as their schemas and PyTorch's registries say: communicate, draw random numbers, have effects.

PyTorch's own `is_impure` is no answer for an order: it says what may not be dropped, and takes all that may draw
random numbers for impure, with it all fused attention. Random numbers order the ops that draw them among themselves.
"""

import torch

#: Namespaces of collectives that return at once, and whose results have to be awaited.
_FUNCTIONAL = ("_c10d_functional", "_c10d_functional_autograd")

#: Namespaces of ops that communicate in ways of their own, also where no argument says so.
_COMMUNICATION = (*_FUNCTIONAL, "c10d", "symm_mem")


#: Inductor's forms of random ops. Its kernels draw from a seed; as ops (`fallback_by_default`) they take numbers from the
#: generator, which no tag of theirs says.
_UNTAGGED_DRAWS = ("prims::inductor_random", "prims::inductor_randint")


class OpFamily:
    """What the ops of a namespace do beyond their schemas, for namespaces of which Braid knows more than PyTorch's registries."""

    def is_collective(self, op):
        """True for an op that other ranks take part in, and that returns before it is done."""
        return False

    def get_behaviour(self, node):
        """The `Behaviour` of a node of FX."""
        raise NotImplementedError

    def get_group(self, node):
        """The name of the process group of a collective; for another op that runs beside compute, what runs it."""
        raise NotImplementedError

    def describe(self, node):
        """What has to be the same on all ranks of a collective."""
        raise NotImplementedError

    def get_cost(self, node, machine, groups):
        """(ns, demand, link) on a `Machine`; demand and link are None where nobody knows. `groups`: `CollectiveGroups`."""
        raise NotImplementedError

    def get_hidden_buffer(self, node):
        """(bytes, nodes): memory that an op allocates and no result shows, and the nodes from which on a result does."""
        return 0, ()


#: The `OpFamily` of each namespace that has one.
_families = {}


def add_family(namespace, family):
    _families[namespace] = family


def get_family(op):
    """The `OpFamily` of an op, None if it has none."""
    return _families.get(get_name(op)[0]) if _families else None


def get_name(op):
    """(namespace, name) of an op; empty if it is none of PyTorch's."""
    if isinstance(op, torch._ops.OpOverload):
        return op.namespace, op._schema.name.split("::")[-1]
    return "", ""


def is_wait(op):
    return get_name(op) == ("_c10d_functional", "wait_tensor")


def is_collective(op):
    """True for a functional collective, in place or not. Sends and receives are none: PyTorch registers them as
    effects, and their partners run other graphs."""
    namespace, _ = get_name(op)
    if namespace in _families:
        return _families[namespace].is_collective(op)
    return namespace in _FUNCTIONAL and _has_group(op) and not _is_registered(op)


def communicates(op):
    """True if other ranks may wait for this op."""
    namespace, _ = get_name(op)
    if namespace in _COMMUNICATION:
        return not is_wait(op)
    # Its ops fill memory for a collective, and some of them ask which group that is.
    return namespace not in ("", "bucketing") and _has_group(op)


def _has_group(op):
    return any(
        argument.name == "group_name" or "ProcessGroup" in str(argument.type) for argument in op._schema.arguments
    )


def _is_registered(op):
    """True if PyTorch has it as an op with effects, whatever its schema says."""
    from torch._higher_order_ops.effects import _get_effect
    from torch.fx.node import _side_effectful_functions

    if op in _side_effectful_functions or getattr(op, "_overloadpacket", None) in _side_effectful_functions:
        return True
    is_op = isinstance(op, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))
    return is_op and _get_effect(op) is not None


def is_check(op):
    """True for an op that only checks what a size or another scalar is, and raises."""
    from torch._higher_order_ops.effects import _get_effect

    namespace, _ = get_name(op)
    if namespace != "aten" or op._schema.returns or _get_effect(op) is not None or not _is_registered(op):
        return False
    return str(op._schema.arguments[0].type) in ("Scalar", "number", "int", "SymInt")


def has_effect(op):
    """True if an op does more than to compute its results and to write what its schema says."""
    return communicates(op) or _is_registered(op) and not (is_wait(op) or is_check(op))


def may_draw(op, arguments=None):
    """True if an op may take numbers from a random generator. `arguments`: their values by name, if they are known."""
    if torch.Tag.nondeterministic_seeded not in getattr(op, "tags", ()):
        return isinstance(op, torch._ops.OpOverload) and op.name() in _UNTAGGED_DRAWS
    # Attention without dropout draws none.
    return not arguments or arguments.get("dropout_p", 1) != 0


def get_arguments(node):
    """(argument of the schema, value) of all arguments of a node of FX whose target is an `OpOverload`."""
    arguments = node.target._schema.arguments
    yield from zip(arguments, node.args)
    for argument in arguments[len(node.args) :]:
        if argument.name in node.kwargs:
            yield argument, node.kwargs[argument.name]
        elif argument.has_default_value():
            yield argument, argument.default_value


class Behaviour:
    """What one node of FX does, with all that is inside of a higher-order op."""

    __slots__ = ("kind", "draws", "writes_operands", "is_fence", "reads", "writes")

    def __init__(self, kind="compute", draws=False, writes_operands=False, is_fence=False, reads=(), writes=()):
        #: "compute", "start", "wait", "check" or "effect".
        self.kind = kind
        #: The op may take numbers from a random generator.
        self.draws = draws
        #: The op may write any of its operands.
        self.writes_operands = writes_operands
        #: An effect on nothing that an operand names: nothing passes it.
        self.is_fence = is_fence
        #: Names of states beside memory that it reads and writes.
        self.reads, self.writes = reads, writes


def get_behaviour(node):
    """The `Behaviour` of a node of a graph of FX."""
    if node.op != "call_function":
        return Behaviour()
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        family = get_family(target)
        return _get_behaviour_of_op(node) if family is None else family.get_behaviour(node)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return _get_behaviour_of_higher_order(node)
    if getattr(target, "__module__", "") in ("_operator", "math") and not _is_registered(target):
        return Behaviour()
    return Behaviour() if _is_arithmetic_of_sizes(node) else _make_effect(node)


def _make_effect(node, draws=False):
    has_tensors = any(_has_tensor(operand) for operand in node.all_input_nodes)
    return Behaviour("effect", draws, writes_operands=True, is_fence=not has_tensors)


def _has_tensor(node):
    from torch.utils._pytree import tree_leaves

    return any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(node.meta.get("val")))


def _get_behaviour_of_op(node):
    op = node.target
    if is_wait(op):
        return Behaviour("wait")
    if is_collective(op):
        return Behaviour("start")
    if is_check(op):
        return Behaviour("check")
    draws = may_draw(op)
    if draws:
        draws = may_draw(op, {argument.name: value for argument, value in get_arguments(node)})
    return _make_effect(node, draws) if has_effect(op) else Behaviour(draws=draws)


def _is_arithmetic_of_sizes(node):
    """True for a function of numbers, symbolic or not, that returns one."""
    numbers = (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool)
    values = [other.meta.get("val") for other in (node, *node.all_input_nodes)]
    return not _is_registered(node.target) and all(isinstance(value, numbers) for value in values)


#: These have their kernel in a table and neither an op nor a graph among their operands.
_KERNELS = ("triton_kernel_wrapper_functional", "triton_kernel_wrapper_mutation")


def _get_behaviour_of_higher_order(node):
    """That of the ops and graphs among its operands. One that has none may do anything."""
    from torch.utils._pytree import tree_leaves

    if node.target.name() in _KERNELS:
        return Behaviour(writes_operands=node.target.name() == _KERNELS[1])
    leaves = tree_leaves((node.args, node.kwargs))
    ops = [leaf for leaf in leaves if isinstance(leaf, (torch._ops.OpOverload, torch._ops.HigherOrderOperator))]
    graphs = [graph for graph in (_get_graph(node.graph, leaf) for leaf in leaves) if graph is not None]
    # PyTorch registers `control_deps`, an order of what is inside, lest it is dropped.
    is_registered = _is_registered(node.target) and node.target.name() != "control_deps"
    if is_registered or not (ops or graphs) or any(has_effect(op) or is_wait(op) for op in ops):
        return _make_effect(node, any(may_draw(op) for op in ops))
    inside = [get_behaviour(other) for graph in graphs for other in graph.nodes]
    draws = any(may_draw(op) for op in ops) or any(one.draws for one in inside)
    if any(one.kind not in ("compute", "check") for one in inside):
        return _make_effect(node, draws)
    # Functional forms of ops that write copy what they are given.
    writes = any(one.writes_operands for one in inside) or any(_writes(graph) for graph in graphs)
    return Behaviour(draws=draws, writes_operands=writes)


def _writes(graph):
    return any(
        isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable for node in graph.nodes
    )


def _get_graph(graph, leaf):
    """The graph that an operand of a higher-order op stands for, if it does."""
    if isinstance(leaf, torch.fx.Node) and leaf.op == "get_attr":
        found = graph.owning_module
        for name in leaf.target.split("."):
            found = getattr(found, name, None)
        leaf = found
    return leaf.graph if isinstance(leaf, torch.fx.GraphModule) else None
