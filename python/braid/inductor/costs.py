# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long Inductor's scheduler nodes take."""

import logging

from .. import _groups, _torch_costs
from .measured_kernels import kernel_times
from .nodes import get_origin

_NS_PER_MS = 1e6

#: Inductor and Braid's roofline may name machines that differ by so much. PyTorch 2.11 does not know an H200 by
#: its name and takes it for 0.54 TFLOP/s, so that compute takes 1,800 times as long.
_MOST_DISAGREEMENT = 30

_log = logging.getLogger("braid.inductor")


class Costs:
    """(ns, demand, link) of each node of a `SchedulerGraph`; demand and link are None without contention."""

    def __init__(self, overlap, graph):
        self.graph = graph
        self.estimates = overlap.options["estimates"]
        self.contention = overlap.has_contention()
        self.has_profile = overlap.get_profile() is not None
        if self.has_profile and self.estimates == "auto":
            # Estimates of others know nothing of what was measured.
            self.estimates = "braid"
        if self.estimates == "auto" and _groups.has_other_ranks():
            # Inductor may measure, and each rank measures something else.
            self.estimates = "braid"
        self.machine = overlap.get_machine()
        self.groups = _torch_costs.CollectiveGroups(self.machine)
        self._times = {}

    def get(self):
        records, snodes = self.graph.records, self.graph.snodes
        inductor = [None] * len(snodes)
        if self.estimates in ("auto", "inductor"):
            inductor = [self._ask_inductor(record, snode) for record, snode in zip(records, snodes)]
            starts = [cost for record, cost in zip(records, inductor) if record.kind == "start"]
            if self.estimates == "auto" and not any(starts):
                # No estimates for this device: all of one kind.
                inductor = [None] * len(snodes)
            elif self.estimates == "auto" and not self._is_plausible(inductor):
                inductor = [None] * len(snodes)
        if callable(self.estimates):
            inductor = [None if record.kind == "wait" else self.estimates(snode) for record, snode in zip(records, snodes)]
        result = []
        for record, snode, cost in zip(records, snodes, inductor):
            demand = link = None
            if record.kind == "wait":
                cost = 0
            elif cost is None or self.contention:
                own, demand, link = self._estimate(record, snode)
                measured = kernel_times.get(snode) if record.kind == "compute" else None
                if measured is not None:
                    own, demand = measured, self._stretch(demand, own, measured)
                cost = own if cost is None else cost
            if not self.contention:
                demand = link = None
            result.append((cost, demand, link))
        return result

    def _is_plausible(self, inductor):
        """Whether the compute of all nodes takes about as long as a roofline says."""
        pairs = [
            (cost, self._estimate(record, snode)[0])
            for record, snode, cost in zip(self.graph.records, self.graph.snodes, inductor)
            if record.kind not in ("start", "wait")
        ]
        theirs, ours = (sum(costs) for costs in zip(*pairs)) if pairs else (0, 0)
        if ours <= theirs * _MOST_DISAGREEMENT and theirs <= ours * _MOST_DISAGREEMENT:
            return True
        _log.info(
            "Inductor estimates %.3f ms of compute, where the roofline says %.3f ms: taking Braid's estimates",
            theirs / _NS_PER_MS,
            ours / _NS_PER_MS,
        )
        return False

    @staticmethod
    def _ask_inductor(record, snode):
        from torch._inductor.comms import estimate_op_runtime

        return 0 if record.kind == "wait" else estimate_op_runtime(snode) * _NS_PER_MS

    def _estimate(self, record, snode):
        if record.kind == "start":
            kind = _torch_costs.get_collective_kind(str(snode.node.op_overload or snode.node.python_kernel_name))
            if kind is not None and record.lane != "unknown group":
                return self._estimate_collective(kind, record, snode)
        time = self._estimate_matmul(snode) if record.kind == "compute" else None
        if time is not None:
            return time.ns, time, None
        size = max(int(snode.get_read_write_buffers_sizes() or 0), self._get_bytes_of_data(snode))
        flops, dtype = self._count(snode)
        cost, demand = _torch_costs.get_roofline(self.machine, flops, size, dtype)
        if record.kind == "start":
            demand = {"memory_bytes": size}
        return (0 if self._is_free(snode) else cost), demand, None

    @staticmethod
    def _stretch(demand, estimated, measured):
        """The demand of a kernel that takes `measured` ns: what limits it is what was taken to limit it."""
        if not isinstance(demand, dict):
            return demand
        arithmetic = demand.get("arithmetic_ns", 0)
        return {**demand, "arithmetic_ns": measured if arithmetic >= estimated > 0 else min(arithmetic, measured)}

    def _estimate_matmul(self, snode):
        """The time of a node that is one matmul, where tiles count; None for others."""
        if not self.has_profile:
            return None
        origins = [get_origin(inner.node) for inner in snode.get_nodes() if inner.node is not None]
        matmuls = [_torch_costs.get_matmul(origin) for origin in origins if origin is not None]
        if len(matmuls) != 1 or matmuls[0] is None:
            return None
        rows, columns, depth, element, batch, transposed = matmuls[0]
        return self.machine.matmul(rows, columns, depth, element, batch=batch, transposed=transposed)

    def _estimate_collective(self, kind, record, snode):
        ranks, nodes = self.groups.describe(record.lane)
        inputs, outputs = self._get_bytes(kind, ranks, snode)
        transport, max_ctas = record.choice or (None, 0)
        key = kind, inputs, outputs, ranks, nodes, transport, max_ctas
        time = self._times.get(key)
        if time is None:
            time = self.machine.collective(
                kind, inputs, outputs, ranks=ranks, nodes=nodes, transport=transport, max_ctas=max_ctas
            )
            self._times[key] = time
        return time.ns, time, "inter-node" if nodes > 1 else "intra-node"

    def is_measured(self, group, kind, result_bytes, lane):
        """Whether the profile says what a collective with a result of so many bytes takes in a `Lane` of the group."""
        ranks, nodes = self.groups.describe(group)
        sizes = (result_bytes // ranks, result_bytes) if kind == "all_gather" else (result_bytes * ranks, result_bytes)
        options = {"ranks": ranks, "nodes": nodes, "transport": lane.transport, "max_ctas": lane.max_ctas}
        return nodes == 1 and self.machine.collective(kind, *sizes, **options).measured

    @classmethod
    def _get_bytes(cls, kind, ranks, snode):
        inputs = list(snode.node.inputs)
        schema = getattr(snode.node.op_overload, "_schema", None)
        # Memory for the results stands behind.
        results = [
            argument
            for argument in (schema.arguments if schema else ())
            if argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write
        ]
        inputs = inputs[: len(inputs) - len(results)]
        size = sum(cls._get_size(value.get_numel(), value.get_dtype()) for value in inputs)
        if kind == "all_gather":
            return size, size * ranks
        if kind == "reduce_scatter":
            return size, size // ranks
        return size, size

    @staticmethod
    def _get_size(numel, dtype):
        """Bytes of so many elements, a number or an expression, where sizes that come from data count as elsewhere
        (`_torch_costs.get_hint`)."""
        from torch._inductor import config
        from torch._inductor.virtualized import V

        fallback = config.unbacked_symint_fallback
        return max(0, int(V.graph.sizevars.optimization_hint(numel, fallback=fallback))) * dtype.itemsize

    @classmethod
    def _get_bytes_of_data(cls, snode):
        """The bytes that a node reads and writes, if sizes come from data; Inductor takes such sizes for 0."""
        from torch._inductor.virtualized import V

        deps = [dep for dep in snode.read_writes.reads_and_writes() if V.graph.try_get_buffer(dep.name) is not None]
        if not any(dep.has_unbacked_symbols() for dep in deps):
            return 0
        size = 0
        for dep in deps:
            try:
                size += cls._get_size(dep.get_numel(), V.graph.get_dtype(dep.name))
            except NotImplementedError:  # What has no layout of its own.
                continue
        return size

    @staticmethod
    def _is_free(snode):
        from torch._inductor import ir
        from torch._inductor.scheduler import NopKernelSchedulerNode

        return isinstance(snode, NopKernelSchedulerNode) or isinstance(snode.node, ir.MultiOutput)

    @staticmethod
    def _count(snode):
        """(operations, element type) of all nodes in it."""
        flops, dtype = 0, None
        for inner in snode.get_nodes():
            if inner.node is None:
                continue
            origin = get_origin(inner.node)
            count = _torch_costs.count_flops(origin) if origin is not None else 0
            if count:
                flops += count
                # A kernel with several results, such as attention, has no type of its own.
                dtype = inner.node.maybe_get_dtype() or _torch_costs.get_element_type(origin)
        return flops, dtype
