# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generated code of a graph has to know of its lanes (`braid._lanes`)."""

import hashlib
import json

from .._agreement import number_groups
from .lanes import get_layout


class Plan:
    """The collectives of a graph that leave the program's lanes."""

    def __init__(self, candidates):
        graph, records = candidates.graph, candidates.graph.records
        chosen = [place for place, record in enumerate(records) if record.choice is not None]
        self.groups, numbers = number_groups(records[place].lane for place in chosen)
        self._candidates = candidates
        self._places, self.snodes, self.planned = chosen, [], []
        self.device = get_layout(graph.snodes[chosen[0]].node).device.type
        for place, number in zip(chosen, numbers):
            snode, lane = graph.snodes[place], records[place].choice
            node = snode.node
            entry = {
                "op": node.op_overload._schema.name.partition("::")[2],
                "group": number,
                "transport": lane.transport,
                "max_ctas": lane.max_ctas,
            }
            if lane.transport == "copy":
                entry["shape"] = [int(size) for size in node.layout.size]
                entry["dtype"] = str(node.layout.dtype).removeprefix("torch.")
            self.snodes.append(snode)
            self.planned.append(entry)

    def to_text(self):
        """The plan as the generated code has it, with the lifetimes of results: of the order that all passes have left."""
        lives = self._candidates.get_lifetimes(self._candidates.graph.snodes[0].scheduler.nodes)
        for place, entry in zip(self._places, self.planned):
            if "shape" in entry:
                entry["first"], entry["last"] = lives[place]
        return self._dump()

    def _dump(self):
        return json.dumps({"device": self.device, "groups": self.groups, "planned": self.planned})

    def write(self):
        """Has the generated code run the collectives in their lanes."""
        from torch._inductor.utils import DelayReplaceLine
        from torch._inductor.virtualized import V

        wrapper = V.graph.wrapper_code
        while getattr(wrapper, "parent_wrapper", None) is not None:
            wrapper = wrapper.parent_wrapper
        name = f"braid_lanes_{hashlib.sha256(self._dump().encode()).hexdigest()[:16]}"
        wrapper.header.writeline("from braid._lanes import Lanes as BraidLanes")
        # Passes behind this one may change the order.
        wrapper.header.writeline(DelayReplaceLine("PLAN", lambda: repr(self.to_text()), f"{name} = BraidLanes(PLAN)"))
        wrapper.lines.insert(0, f"{name}.begin()")
        for number, (snode, entry) in enumerate(zip(self.snodes, self.planned)):
            snode.node.python_kernel_name = f"{name}[{number}]"
            if "shape" in entry:
                # The memory is another's after the last reader.
                V.graph.never_reuse_buffers.update(snode.get_buffer_names())


def can_write():
    """Whether the code of the graph that is being compiled can run collectives in lanes."""
    from torch._inductor.virtualized import V

    graph = V.graph
    if getattr(graph, "wrapper_code", None) is None or not hasattr(graph, "never_reuse_buffers"):
        return False
    return not (graph.aot_mode or graph.cpp_wrapper or getattr(graph, "fx_wrapper", False))
