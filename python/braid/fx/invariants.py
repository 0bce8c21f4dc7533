# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Invariants of a post-grad graph that Inductor relies on, and the edges that keep them.

The passes behind ``post_grad_custom_post_pass`` and the lowering read more from the order of a graph than that nodes
stand behind their operands. This is all of it that is known, with the PyTorch code that relies on it, and what keeps it:

1.  *Copies into inputs are last, in their order* (``reinplace_inplaceable_ops``). AOTAutograd writes the new value of an
    input by ``copy_`` at the end. Reinplacing lets an op overwrite an input in place if nothing reads the input between
    the op and the ``copy_``, and does not look at who reads the op's result behind the ``copy_``. `Epilogue`: the nodes
    at the end that write memory of inputs stay there, in their order.
2.  *Other writes to inputs divide their readers* (the same, in graphs that other passes have changed already). All that
    is computed from an input before a write to the input stays before this write: any of these nodes may become an
    alias of the input. `order_around_writes`.
3.  *No op is done in place while a collective reads the memory* (``any_use_of_views_after_node``). Reinplacing sees the
    use of memory by a collective at its start, and not that it lasts until the wait. An op that may be done in place does
    not move between the two. `order_in_place_ops`.
4.  *Memory*: who reads stays on its side of who writes; a collective reads its operands, and writes its results, until
    its wait (``ir._CollectiveKernel``, "In-Place Collective Safety"). `order_accesses`.
5.  *Random numbers*: ops that draw stay in their order, functional forms of them too (``_chain_random_ops_for_ordering``
    keeps the order which it finds). `chain`.
6.  *Symbols of sizes that come from data* are bound by the first node that makes them (``meta["unbacked_bindings"]``,
    ``GraphLowering.run_node``): nodes with the symbol in a size stay behind it, also if none of their operands leads
    there. Checks of such a size stay in front of those who use the size. `order_symbols`.
7.  *Effects*: ops that are registered as effects have no data that orders them (``_side_effectful_functions``,
    ``_get_effect``, ``with_effects``). They keep their order among themselves and among starts and waits. They may write
    any operand (``resize_storage_bytes_`` and ``fsdp.copy_`` are not declared as writing). Nothing passes those without
    a tensor (events of streams). `order_effects`.
8.  *A collective has one user* (``bucketing``, "Expected single user"): equal gradients become one collective with several
    waits, and whether buckets meet it depends on the order. A new order has the first wait alone. `FxGraph.apply`.
9.  *States beside memory* (ops of an `OpFamily`): who reads a state stays on its side of who writes it. `order_accesses`.
10. *Placeholders are first and the output is last* (``graph.lint``): `FxGraph` does not number them.

What needs no edge:

*   ``stable_topological_sort`` moves nothing in a legal order. ``FakeTensorUpdater`` computes what new nodes have;
    no node is new. ``getitem`` and ``get_attr`` may stand anywhere behind their operands: ``decompose_auto_functionalized``
    and ``decompose_triton_kernel_wrapper_functional`` insert at the op. Tokens of ``with_effects`` and dependences of
    ``control_deps`` are operands.
*   Bucketing and overlap passes of Inductor run behind and derive what they need from the new order.
*   Lowering realizes all readers of a buffer before the buffer is mutated (``mark_buffer_mutated``).
"""

import torch


def order_accesses(read):
    """Edges between readers and writers of the same memory, or of the same state, in the order of the graph."""
    writer, readers = {}, {}
    for place, node in enumerate(read.nodes):
        if node.op != "call_function":
            continue
        before, behaviour = read.before[place], read.behaviours[node]
        reads, writes = set(behaviour.reads), set(behaviour.writes)
        # Until its wait an operation may read its operands, and write its results.
        for other in (node, *(read.nodes[start] for start in read.awaits[place])):
            reads |= read.memory.get_read(other)
            writes |= read.memory.get_written(other)
        for accessed in reads | writes:
            if accessed in writer:
                before.add(writer[accessed])
        for accessed in reads:
            readers.setdefault(accessed, []).append(place)
        for accessed in writes:
            before.update(readers.get(accessed, ()))
            writer[accessed], readers[accessed] = place, []
        before.discard(place)


def _find_epilogue(read):
    """The place of the first of the nodes at the end that write memory of inputs."""
    first = len(read.nodes)
    while first and _writes_input(read, read.nodes[first - 1]):
        first -= 1
    return first


def _writes_input(read, node):
    if node.op != "call_function":
        return False
    return any(root.op in ("placeholder", "get_attr") for root in read.memory.get_written(node))


def keep_epilogue(read):
    """Keeps the nodes that write memory of inputs at the end, in their order. Returns the place of the first one."""
    first = _find_epilogue(read)
    if first < len(read.nodes):
        read.before[first].update(range(first))
        chain(read, range(first, len(read.nodes)))
    return first


def order_around_writes(read, end):
    """Keeps readers of an input, of the nodes before `end`, before the write to it."""
    memory = read.memory
    writes = {}
    for place in range(end):
        if _writes_input(read, read.nodes[place]):
            writes[place] = [root for root in memory.get_written(read.nodes[place]) if root.op != "call_function"]
    inputs = sorted({root for roots in writes.values() for root in roots}, key=lambda root: root.name)
    bit = {root: 1 << index for index, root in enumerate(inputs)}
    if not bit:
        return
    # By place, the inputs that a node is computed from, and by input the nodes that are.
    known, users = [], {root: [] for root in inputs}
    for place in range(end):
        mask = 0
        for root in memory.get_read(read.nodes[place]):
            mask |= bit.get(root, 0)
        for operand in read.nodes[place].all_input_nodes:
            mask |= known[read.place[operand]] if operand in read.place else 0
        known.append(mask)
        for root in writes.get(place, ()):
            read.before[place].update(users[root])
        for root in inputs:
            if mask & bit[root]:
                users[root].append(place)


def _get_in_place_operands(node):
    """The operands that Inductor may let `node` overwrite."""
    from torch._inductor.fx_passes import reinplace
    from torch._inductor.fx_passes.reinplace import inplaceable_ops

    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator):
        return node.all_input_nodes
    known = inplaceable_ops.get(target)
    if known is not None:
        found = [node.args[index] for index in known.mutated_args if index < len(node.args)]
    elif target in reinplace.inplaceable_foreach_ops or target in reinplace._SCATTER_OP_TO_VIEW:
        found = [node.args[0]]
    else:
        return []
    flat = [value for one in found for value in (one if isinstance(one, (tuple, list)) else [one])]
    return [value for value in flat if isinstance(value, torch.fx.Node)]


def order_in_place_ops(read):
    """Keeps ops that Inductor may run in place out of the time in which a collective reads their memory."""
    waits = read.get_waits()
    # By storage, the collectives that read it and the ops that may overwrite it.
    reading, overwriting = {}, {}
    for place, node in enumerate(read.nodes):
        if node.op != "call_function":
            continue
        if read.kinds[place] == "start":
            for storage in read.memory.get_read(node):
                read.before[place].update(overwriting.get(storage, ()))
        for storage in read.memory.get_roots(_get_in_place_operands(node)):
            for start in reading.get(storage, ()):
                # Where the program itself awaits the start later, the pass keeps that.
                read.before[place].update(wait for wait in waits.get(start, ()) if wait < place)
            overwriting.setdefault(storage, []).append(place)
        if read.kinds[place] == "start":
            for storage in read.memory.get_read(node):
                reading.setdefault(storage, []).append(place)


def chain(read, places):
    """Keeps nodes in their order."""
    last = None
    for place in places:
        if last is not None:
            read.before[place].add(last)
        last = place


def _get_bindings(node):
    """The symbols that a node makes, under all the names that they have."""
    bindings = node.meta.get("unbacked_bindings") or {}
    symbols = set(bindings)
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else [value]
    for value in values:
        shape_env = getattr(getattr(value, "node", None), "shape_env", None)
        shape_env = shape_env or getattr(getattr(value, "fake_mode", None), "shape_env", None)
        renamings = getattr(shape_env, "unbacked_renamings", None) or {}
        symbols.update(renamings.get(symbol, symbol) for symbol in bindings)
    return symbols


def order_symbols(read):
    """Keeps users of a size that comes from data after its producer and after its checks."""
    if not any(node.meta.get("unbacked_bindings") for node in read.nodes) and "check" not in read.kinds:
        return
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    known, bound, checked = {}, {}, {}
    for place, node in enumerate(read.nodes):
        values = node.meta.get("val")
        known[node] = set(free_unbacked_symbols(values)) if values is not None else set()
        used = set(known[node])
        for operand in node.all_input_nodes:
            used |= known.get(operand, set())
        for symbol in used:
            if symbol in bound:
                read.before[place].add(bound[symbol])
            if read.kinds[place] == "check":
                checked.setdefault(symbol, []).append(place)
            else:
                read.before[place].update(checked.get(symbol, ()))
        read.before[place].discard(place)
        for symbol in _get_bindings(node):
            bound.setdefault(symbol, place)


def order_effects(read):
    """Keeps collectives and waits from passing effects, effects in order, and all nodes from passing a fence."""
    last_effect, since = None, []
    last_fence, behind = None, []
    for place, kind in enumerate(read.kinds):
        if last_fence is not None:
            read.before[place].add(last_fence)
        if read.is_fence(place):
            read.before[place].update(behind)
            last_fence, behind = place, []
        else:
            behind.append(place)
        if kind in ("compute", "check"):
            continue
        if last_effect is not None:
            read.before[place].add(last_effect)
        if kind == "effect":
            read.before[place].update(since)
            last_effect, since = place, []
        else:
            since.append(place)


def keep(read):
    """Adds all edges to an `FxGraph`."""
    order_accesses(read)
    order_in_place_ops(read)
    order_around_writes(read, keep_epilogue(read))
    chain(read, (place for place, node in enumerate(read.nodes) if read.behaviours[node].draws))
    order_symbols(read)
    order_effects(read)
