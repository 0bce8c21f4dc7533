# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generated code of a graph has to know of lanes and of launches (`braid._lanes`)."""

import hashlib
import json

from .._agreement import number_groups
from .lanes import Lane, get_layout

#: The lane of the program: its process group.
_PROGRAM = Lane("program")


class Plan:
    """The collectives of a graph that leave the program's lanes, or share a launch."""

    def __init__(self, graph, candidates):
        """`candidates`: the `Candidates` for lanes; None if all stay in the program's."""
        records = graph.records
        chosen = [place for place, record in enumerate(records) if record.choice is not None or place in graph.launches]
        self.groups, numbers = number_groups(records[place].lane for place in chosen)
        self._graph, self._candidates = graph, candidates
        self._places, self.snodes, self.planned = chosen, [], []
        self.device = get_layout(graph.snodes[chosen[0]].node).device.type
        for place, number in zip(chosen, numbers):
            snode, lane = graph.snodes[place], records[place].choice or _PROGRAM
            node = snode.node
            entry = {
                "op": node.op_overload._schema.name.partition("::")[2],
                "group": number,
                "transport": lane.transport,
                "max_ctas": lane.max_ctas,
            }
            if place in graph.launches:
                entry["launch"] = graph.launches[place][0]
            if lane.transport == "copy" and entry["op"] == "all_gather_into_tensor":
                entry["shape"] = [int(size) for size in node.layout.size]
                entry["dtype"] = str(node.layout.dtype).removeprefix("torch.")
            self.snodes.append(snode)
            self.planned.append(entry)

    def to_text(self):
        """The plan as the generated code has it, for the order that all passes have left: with the lifetimes of results, and without the
        launches whose starts a pass has moved apart."""
        order = self._graph.snodes[0].scheduler.nodes
        lives = self._candidates.get_lifetimes(order) if self._candidates else {}
        position = {snode: number for number, snode in enumerate(order)}
        for place, entry in zip(self._places, self.planned):
            if "shape" in entry:
                entry["first"], entry["last"] = lives[place]
            positions = [position[self._graph.snodes[other]] for other in self._graph.launches.get(place, ())]
            if positions and max(positions) - min(positions) >= len(positions):
                entry.pop("launch", None)
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
