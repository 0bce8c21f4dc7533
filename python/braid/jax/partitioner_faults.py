# ===- partitioner_faults.py - What XLA's partitioner gets wrong -----------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Programs that XLA's partitioner is known to make wrong programs of.

A convolution with a split spatial dimension whose filters are split, too: the partitioner of
jaxlib 0.10.2 sums over all ranks where it has to sum over some, with results that are
multiples of the right ones. JAX has them itself on as many devices.

The gradient of a max pool whose windows overlap along a split dimension: parts of it stand in
wrong places, in JAX, too.
"""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import private_names
from .errors import UnsupportedError
from .walk import walk


def refuse_wrong(module):
    """Raises UnsupportedError for an op of a module before it is partitioned, of which the
    partitioner would make a wrong program."""
    for op in walk(module, "stablehlo.convolution"):
        numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        image, filters = (_parts(value) for value in op.operands)
        result = _parts(op.results[0])
        spatial = [image[d] for d in numbers.input_spatial_dimensions if image]
        spatial += [result[d] for d in numbers.output_spatial_dimensions if result]
        if max(spatial, default=1) > 1 and max(filters, default=1) > 1:
            raise UnsupportedError(op, "XLA's partitioner makes a wrong program of a convolution "
                                       "of split filters that is split along a spatial dimension")
    for op in walk(module, "stablehlo.select_and_scatter"):
        window = list(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
        strides = (list(ir.DenseI64ArrayAttr(op.attributes["window_strides"]))
                   if "window_strides" in op.attributes else [1] * len(window))
        for value in [*list(op.operands)[:2], op.results[0]]:
            for size, stride, parts in zip(window, strides, _parts(value)):
                if size > stride and parts > 1:
                    raise UnsupportedError(op, "XLA's partitioner makes a wrong program of the gradient "
                                               "of a pool of overlapping windows that is split along them")


def _parts(value):
    """The number of parts of each dimension of a value; nothing where it is not split."""
    text = _sharding(value)
    if text is None:
        return []
    sharding = private_names.read_sharding(text)
    if not sharding.is_tiled():
        return []
    return list(sharding.tile_assignment_dimensions())[:ir.RankedTensorType(value.type).rank]


def _sharding(value):
    """The text of the sharding that propagation has given a value, None if there is none."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        function = owner.owner
        if function.operation.name != "func.func" or "arg_attrs" not in function.attributes:
            return None
        attributes = ir.ArrayAttr(function.attributes["arg_attrs"])[ir.BlockArgument(
            value).arg_number]
        attributes = ir.DictAttr(attributes)
    else:
        attributes = owner.attributes
    if "mhlo.sharding" not in attributes:
        return None
    return ir.StringAttr(attributes["mhlo.sharding"]).value
