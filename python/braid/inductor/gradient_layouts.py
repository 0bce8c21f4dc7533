# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients leave their graph with the strides of their parameters.

Autograd keeps a gradient as it comes if it has the strides of its parameter, and copies it otherwise: by a kernel between graphs that
nothing overlaps and that reads along the wrong dimension. The weight of ``x @ w.transpose(1, 2)``, as experts have it, gets such a
gradient. A copy inside of the graph has the same bits, and Inductor tiles it.
"""

import logging

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files

_log = logging.getLogger("braid.inductor")


class GradientLayouts(CustomGraphPass):
    """A pass for ``torch._inductor.config.joint_custom_post_pass``."""

    def __call__(self, graph):
        """Adds copies to `graph`, a ``torch.fx.Graph`` of forward and backward, where gradients would be copied outside of it."""
        try:
            changed = [_copy(graph, *pair) for pair in _find_gradients(graph) if _is_copied(*pair)]
        except Exception as error:  # A compile does not fail because of a layout.
            _log.warning("gradients keep their layouts: %s: %s", type(error).__name__, error)
            return
        if changed:
            _log.info("%d gradients get the layout of their parameters", len(changed))

    def __eq__(self, other):
        return type(other) is type(self)

    def __hash__(self):
        return hash(type(self))

    def uuid(self):
        return get_hash_for_files((__file__,))


def _find_gradients(graph):
    """(input, index of its gradient among the outputs) of a joint graph. Parts of tensor subclasses, whose wrappers know strides of their
    own, are not among them."""
    output = graph.output_node()
    inputs = {node.meta["desc"]: node for node in graph.find_nodes(op="placeholder") if "desc" in node.meta}
    described = enumerate(output.meta.get("desc") or ())
    return [(inputs[desc.grad_of], index) for index, desc in described if getattr(desc, "grad_of", None) in inputs]


def _is_copied(node, index):
    """Whether autograd copies this output because its strides are not those of the input, a contiguous one."""
    gradient = node.graph.output_node().args[0][index]
    if not isinstance(gradient, torch.fx.Node):
        return False
    value, own = (each.meta.get("val") for each in (node, gradient))
    for each in (value, own):
        # Asking for a symbolic size would add a guard.
        if type(each) is not torch._subclasses.FakeTensor or not all(isinstance(size, int) for size in (*each.shape, *each.stride())):
            return False
    return value.is_contiguous() and not own.is_contiguous() and (value.shape, value.dtype) == (own.shape, own.dtype)


def _copy(graph, node, index):
    output = graph.output_node()
    outputs = list(output.args[0])
    gradient = outputs[index]
    with graph.inserting_before(output):
        outputs[index] = graph.call_function(
            torch.ops.aten.clone.default, (gradient,), {"memory_format": torch.contiguous_format}
        )
    meta = {name: value for name, value in gradient.meta.items() if name != "val"}
    outputs[index].meta = {**meta, "val": gradient.meta["val"].clone(memory_format=torch.contiguous_format)}
    output.args = (type(output.args[0])(outputs), *output.args[1:])
    return index
