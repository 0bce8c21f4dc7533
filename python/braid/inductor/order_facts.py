# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Inductor has derived from the order of scheduler nodes before a pass runs, and what a new order makes of it.

A pass drops dependences that only keep collectives in order. All facts below come from dependences or places, so each
of them either does not depend on what was dropped, or is computed again after the pass, or is renewed here.

=====================================  ==============================  ===========================================
fact                                   who relies on it after a pass   under a new order
=====================================  ==============================  ===========================================
``read_writes``,                       later passes, graph partitions  renewed: each collective depends on the one
``unmet_dependencies``                                                 before it in the new order, as Inductor has it
``ancestors`` of nodes and of the      in-place reuse                  renewed: those by the dependences that hold
nodes inside of fused ones             (``decide_inplace_update``),    now. Those inside of a fused node stay, which
                                       reduction loops of Triton,      kernels of several reductions need
                                       fusion inside of groups
``min_order``, ``max_order``           fusion inside of groups         renewed: places in the new order
``min_input_distance``,                which of two legal fusions      true: depths in the graph as it was before
``max_input_distance``                 inside of a group is made       fusion, which only rank what is legal
``mpi_buffer``, ``mpi_node``           passes that keep to a limit of  renewed by Inductor's own functions
                                       memory, graph partitions
``last_usage``                         frees, reuse of buffers         true: Inductor computes it behind the passes,
                                                                       without dependences that only order
memory plan of the generated code      reuse of buffers                true: computed from the generated lines
``completed_operations``               in-place reuse                  true: grows as code is generated
``users`` of buffers                   in-place reuse                  true. Users by a dropped dependence on another
                                                                       collective stay: these only prevent a reuse
``mutation_renames``,                  names in generated code         true: the order of writes of a buffer, and of
``mutation_real_name``                                                 reads before and after each of them, stays
nodes removed as dead, fused nodes,    generated code                  true: these do not depend on the order
streams, outputs
nodes grouped by other passes          ``process_grouped_nodes``       true: such a node moves as a whole, and keeps
                                                                       its place among collectives
=====================================  ==============================  ===========================================

The same holds for PyTorch 2.11 to 2.14; what a version lacks is left out.
"""

from .._torch import KeepOrder


def renew(graph, order):
    """Renews the facts about the nodes of `graph`, a `SchedulerGraph`, for `order`, the same nodes in a new order.

    Raises `KeepOrder`, and leaves all facts as they were, for what it does not know.
    """
    renewal = _Renewal(graph, order)
    try:
        renewal.run()
    except BaseException:
        renewal.undo()
        raise


def _get_leaves(snode):
    """The nodes inside of a node that has others inside, or itself."""
    inside = getattr(snode, "snodes", None)
    return [snode] if inside is None else [leaf for one in inside for leaf in _get_leaves(one)]


def _get_parents(snode):
    """A node and all inside of it that have others inside, the inner ones first."""
    inside = getattr(snode, "snodes", None)
    return [] if inside is None else [*(parent for one in inside for parent in _get_parents(one)), snode]


class _Renewal:
    def __init__(self, graph, order):
        self.graph = graph
        self.order = order
        self.scheduler = order[0].scheduler
        self.leaves = [leaf for snode in order for leaf in _get_leaves(snode)]
        self.place = {leaf.get_name(): place for place, leaf in enumerate(self.leaves)}
        self.saved = []

    def run(self):
        if len(self.place) != len(self.leaves):
            raise KeepOrder("found two scheduler nodes of one name")
        self._renew_dependences()
        masks = self._get_ancestors()
        self._renew_places()
        self._renew_memory()
        self._renew_ancestors(masks)

    def undo(self):
        for owner, name, value in reversed(self.saved):
            setattr(owner, name, value)

    def _save(self, owner, *names):
        self.saved.extend((owner, name, getattr(owner, name)) for name in names if hasattr(owner, name))

    def _set(self, owner, name, value):
        self._save(owner, name)
        setattr(owner, name, value)

    def _renew_dependences(self):
        """Each collective depends on the one before it, instead of on those that it had to follow."""
        from torch._inductor.dependencies import WeakDep
        from torch._inductor.utils import contains_collective
        from torch.utils._ordered_set import OrderedSet

        dropped_of = {
            snode: record.dropped for snode, record in zip(self.graph.snodes, self.graph.records) if record.dropped
        }
        before = None
        for snode in self.order:
            if not contains_collective(snode):
                continue
            dropped = OrderedSet(dropped_of.pop(snode, ()))
            added = OrderedSet()
            if before is not None:
                own = next(iter(snode.get_buffer_names()), snode.get_name())
                added.update(WeakDep(name, mutating_buf=own, is_fake=True) for name in before.get_buffer_names())
            before = snode
            # A node that stands behind the same collective keeps what it has.
            if dropped == added or (not dropped and self._has_dependence(snode, added)):
                continue
            self._save(snode, "read_writes", "unmet_dependencies")
            expected = (OrderedSet(snode.unmet_dependencies) - dropped) | added
            snode.set_read_writes(snode.read_writes.remove_reads(dropped).with_read(added))
            if set(snode.unmet_dependencies) != set(expected):
                raise KeepOrder(f"{snode.get_name()}: found dependences that its reads do not have")
        for snode in dropped_of:
            raise KeepOrder(f"{snode.get_name()}: found a dropped dependence of a node without a collective")

    @staticmethod
    def _has_dependence(snode, added):
        names = {dep.name for dep in snode.unmet_dependencies}
        return all(dep.name in names for dep in added)

    def _get_definers(self, leaf):
        """The places of the leaves that `leaf` depends on."""
        from torch._inductor.virtualized import V

        name_to_buf = self.scheduler.name_to_buf
        for dep in leaf.unmet_dependencies:
            if dep.name not in name_to_buf:
                raise KeepOrder(f"{leaf.get_name()}: found a dependence on {dep.name}, which no node computes")
            name = name_to_buf[dep.name].defining_op_name()
            if name in self.place:
                yield self.place[name]
            elif name not in V.graph.removed_operations:
                raise KeepOrder(f"{leaf.get_name()}: found a dependence on {name}, which is not in the order")

    def _get_ancestors(self):
        """The ancestors of each leaf, as bits of places."""
        masks = []
        for place, leaf in enumerate(self.leaves):
            mask = 0
            for other in self._get_definers(leaf):
                if other >= place:
                    other_name = self.leaves[other].get_name()
                    raise KeepOrder(f"{leaf.get_name()}: found an order in which {other_name} is not before it")
                mask |= masks[other] | 1 << other
            masks.append(mask)
        return masks

    def _all_parents(self):
        return (parent for snode in self.order for parent in _get_parents(snode))

    def _renew_ancestors(self, masks):
        """The last step, which cannot fail: the sets of a large graph are most of its memory."""
        from .ancestors import Ancestors, Order

        order = Order([leaf.get_name() for leaf in self.leaves])
        for leaf, mask in zip(self.leaves, masks):
            leaf.ancestors = Ancestors(mask, order)
        for parent in self._all_parents():
            leaves = _get_leaves(parent)
            own = sum(1 << self.place[leaf.get_name()] for leaf in leaves)
            mask = 0
            for leaf in leaves:
                mask |= masks[self.place[leaf.get_name()]]
            # Some kinds of nodes hide what is inside of them from those that ask for ancestors.
            if not any(leaf.get_name() in parent.ancestors for leaf in leaves):
                mask &= ~own
            parent.ancestors = Ancestors(mask, order)

    def _renew_places(self):
        for place, leaf in enumerate(self.leaves):
            self._set(leaf, "min_order", place)
            self._set(leaf, "max_order", place)
        for parent in self._all_parents():
            places = [self.place[leaf.get_name()] for leaf in _get_leaves(parent)]
            self._set(parent, "min_order", min(places))
            self._set(parent, "max_order", max(places))

    def _renew_memory(self):
        from torch._inductor import memory
        from torch._inductor.virtualized import V
        from torch.utils._ordered_set import OrderedSet

        scheduler = self.scheduler
        for buffer in scheduler.name_to_buf.values():
            self._save(buffer, "mpi_buffer")
        memory.assign_memory_planning_info_for_scheduler_buffers(self.order, scheduler.name_to_buf)
        if not all(hasattr(snode, "mpi_node") for snode in self.order):
            return
        for snode in self.order:
            self._save(snode, "mpi_node")
        inputs = memory.get_freeable_input_buf(self.order, OrderedSet(V.graph.graph_inputs.keys()))
        memory.assign_memory_planning_info_for_scheduler_nodes(
            self.order, scheduler.name_to_fused_node, scheduler.name_to_buf, inputs
        )
