# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that XLA's partitioner is known to make wrong programs of, in JAX, too.

A convolution whose contracted dimensions some of the ranks split, and others do not, or that
split its operands otherwise: the partitioner may sum over all ranks where it has to sum over
some, with results that are multiples of the right ones.

The gradient of a max pool whose windows overlap along a split dimension: parts of it stand in
wrong places.

A pad, or a pool, that starts before or behind the first element of a dimension that its result
splits, and its operand does not: the partitioner forgets where it starts if what all ranks read has
the size of the operand.

Each such op is kept whole along these dimensions, and the module is partitioned once more.

An update of a slice along a split dimension, whose start is a constant, or that has one element there:
the partitioner leaves out that the start is clamped. Its start is clamped, and the module is partitioned once more.

Other ops end the partitioner, such as gradients of convolutions of groups that are split. Which
ones is found by trial: partition.py asks for a program in which some ops are kept whole.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from . import private_names
from .errors import UnsupportedError
from .walk import walk

_UPDATE = "stablehlo.dynamic_update_slice"
_NAMES = (_UPDATE, "stablehlo.convolution", "stablehlo.pad", "stablehlo.reduce_window", "stablehlo.select_and_scatter")
# Ops that the partitioner does not split dimension by dimension.
_INVOLVED = ("cholesky", "concatenate", "convolution", "custom_call", "dot_general", "dynamic_slice",
             "dynamic_update_slice", "fft", "gather", "pad", "reduce_window", "reshape", "reverse", "rng_bit_generator",
             "scatter", "select_and_scatter", "slice", "sort", "triangular_solve")
_ATTRIBUTES, _NUMBER = "mhlo.frontend_attributes", "braid.number"


@dataclass(frozen=True)
class Fault:
    """An op of a module before it is partitioned, of which the partitioner would make a wrong
    program.

    number: the op's, None for one that XLA has made
    dimensions: those that have to stay whole of the first two operands and of the result; of an
      update of a slice those along which its start is to be clamped
    error: the UnsupportedError that says what is wrong
    """

    number: Any
    dimensions: tuple
    error: Any


def number_ops(module):
    """Gives the ops that the partitioner may get wrong numbers, by which they are found again."""
    for number, op in enumerate(op for op in walk(module) if op.name in _NAMES):
        _write_number(op, str(number))


def drop_numbers(module):
    """Drops the numbers of ops."""
    for op in walk(module):
        if _NUMBER in _read_attributes(op):
            del op.attributes[_ATTRIBUTES]


def find(before, after, channels):
    """The Faults of a module before it is partitioned. after: what the partitioner has made of
    it; channels: the groups of its collectives, by their channels."""
    summed = _find_sums(after, channels)
    faults = []
    for op in walk(before):
        if op.name == "stablehlo.convolution":
            whole, most = _contracted(op)
            number = _read_number(op)
            if summed.get(number, 1) > most:
                faults.append(Fault(number, whole, UnsupportedError(
                    op, "XLA's partitioner makes a wrong program of this convolution: it sums over "
                        "ranks that have the same part")))
        elif op.name == "stablehlo.select_and_scatter":
            overlapping, is_split = _overlapping(op)
            if is_split:
                faults.append(Fault(_read_number(op), (overlapping,) * 3, UnsupportedError(
                    op, "XLA's partitioner makes a wrong program of the gradient of a pool of "
                        "overlapping windows that is split along them")))
        elif op.name in ("stablehlo.pad", "stablehlo.reduce_window"):
            moved = _find_moved(op)
            if moved:
                faults.append(Fault(_read_number(op), (moved,) * 2 * len(op.results), UnsupportedError(
                    op, "XLA's partitioner makes a wrong program of this op: it forgets the padding along dimensions "
                        "that the result splits")))
        elif op.name == _UPDATE:
            unclamped, number = _find_unclamped(op), _read_number(op)
            # One without a number is clamped, or made by XLA.
            if unclamped and number is not None:
                faults.append(Fault(number, unclamped, UnsupportedError(
                    op, "XLA's partitioner makes a wrong program of this op: it does not clamp the start")))
    return faults


def _find_sums(module, channels):
    """The largest number of ranks over which the parts of a convolution are summed, by the
    number of the convolution."""
    found = {}
    for op in walk(module, "stablehlo.all_reduce"):
        # An op of the partitioner has the number of what it is made for; a sum of the program has none.
        number = _read_number(op)
        if number is not None and any(_find_source(value) == "stablehlo.convolution" for value in op.operands):
            channel = stablehlo.ChannelHandle(op.attributes["channel_handle"]).handle
            size = max(map(len, channels[channel]), default=1)
            found[number] = max(size, found.get(number, 1))
    return found


def _find_source(value):
    """The name of the op that a value comes from through ops of one operand; None for an argument."""
    owner = value.owner
    while not isinstance(owner, ir.Block):
        if len(owner.operands) != 1:
            return owner.operation.name
        owner = owner.operands[0].owner
    return None


def list_involved(module):
    """The ops of a module that may end the partitioner."""
    return [op for op in walk(module) if op.name.removeprefix("stablehlo.") in _INVOLVED]


def keep_all_whole(module, numbers):
    """Has some of the ops that `list_involved` gives keep all their dimensions whole."""
    involved, mesh = list_involved(module), find_mesh(module)
    for number in numbers:
        op = involved[number]
        _keep_whole(op, mesh, [range(ir.RankedTensorType(value.type).rank)
                               for value in [*op.operands, *op.results]])


def repair(module, faults):
    """Changes the ops of faults such that the partitioner makes right programs of them, and says whether
    it can: where they are the module's own, and the module has a mesh for those to keep whole."""
    wanted = {fault.number: fault.dimensions for fault in faults}
    if None in wanted:
        return False
    mesh = find_mesh(module)
    for op in walk(module):
        number = _read_number(op)
        if number not in wanted:
            continue
        if op.name == _UPDATE:
            _clamp_starts(op, wanted[number])
        elif mesh is None:
            return False
        else:
            _keep_whole(op, mesh, wanted[number])
    return True


def find_mesh(module):
    """The name of a mesh of a module; None if it has none."""
    return next((ir.StringAttr(op.operation.attributes["sym_name"]).value
                 for op in module.body.operations if op.operation.name == "sdy.mesh"
                 and len(sdy.MeshAttr(op.operation.attributes["mesh"]).axes)), None)


def _keep_whole(op, mesh, whole):
    """whole: the dimensions of the first operands, and of the results, of an op"""
    count = len(op.results)
    for operand, dimensions in enumerate(whole[:-count]):
        with ir.InsertionPoint(op):
            op.operands[operand] = _constrain(op.operands[operand], mesh, dimensions, op)
    for result, dimensions in zip(op.results, whole[-count:]):
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        with ir.InsertionPoint(op):
            constrained = _constrain(result, mesh, dimensions, op)
        constrained.owner.move_after(op)
        for user, operand in uses:
            user.operands[operand] = constrained


def _clamp_starts(op, dimensions):
    """Clamps starts of an update of a slice, which then needs no number."""
    _write_number(op, None)
    sizes, updated = (ir.RankedTensorType(value.type).shape for value in list(op.operands)[:2])
    for d in dimensions:
        start = op.operands[2 + d]
        element = ir.IntegerType(ir.RankedTensorType(start.type).element_type)
        # A type that cannot hold the last start has no start behind it.
        most = 2 ** (element.width - (not element.is_unsigned)) - 1
        with ir.InsertionPoint(op), op.location:
            bounds = [stablehlo.ConstantOp(ir.DenseElementsAttr.get_splat(start.type, ir.IntegerAttr.get(element, bound)))
                      for bound in (0, min(sizes[d] - updated[d], most))]
            op.operands[2 + d] = stablehlo.ClampOp(bounds[0], start, bounds[1]).result


def _constrain(value, mesh, whole, op):
    """A value whose dimensions are not split where they are to stay whole."""
    rank = ir.RankedTensorType(value.type).rank
    dimensions = [sdy.DimensionShardingAttr.get([], is_closed=d in whole) for d in range(rank)]
    sharding = sdy.TensorShardingAttr.get(mesh, dimensions)
    with op.location:
        return ir.Operation.create("sdy.sharding_constraint", results=[value.type],
                                   operands=[value], attributes={"sharding": sharding}).results[0]


def _read_attributes(op):
    if _ATTRIBUTES not in op.attributes:
        return {}
    attributes = ir.DictAttr(op.attributes[_ATTRIBUTES])
    return {attributes[i].name: attributes[i].attr for i in range(len(attributes))}


def _read_number(op):
    number = _read_attributes(op).get(_NUMBER)
    return None if number is None else ir.StringAttr(number).value


def _write_number(op, number):
    known = _read_attributes(op)
    known.pop(_NUMBER, None)
    if number is not None:
        known[_NUMBER] = ir.StringAttr.get(number)
    op.attributes[_ATTRIBUTES] = ir.DictAttr.get(known)


def _contracted(op):
    """The dimensions of the operands of a convolution that it sums over, with those of space of
    the result, and the most ranks that share such a sum: the partitioner splits the smaller operand
    as the larger one."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    image = (*numbers.input_spatial_dimensions, numbers.input_feature_dimension)
    filters = (*numbers.kernel_spatial_dimensions, numbers.kernel_input_feature_dimension)
    shared = [prod(parts[d] for d in dimensions) if (parts := _parts(value)) else 1
              for value, dimensions in zip(op.operands, (image, filters))]
    sizes = [prod(ir.RankedTensorType(value.type).shape) for value in op.operands]
    if sizes[0] < sizes[1]:
        shared.reverse()
    most = shared[0] if shared[0] > 1 else shared[1]
    return (image, filters, tuple(numbers.output_spatial_dimensions)), most


def _overlapping(op):
    """The dimensions along which windows overlap, and whether one of them is split."""
    window = list(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
    strides = (list(ir.DenseI64ArrayAttr(op.attributes["window_strides"]))
               if "window_strides" in op.attributes else [1] * len(window))
    overlapping = tuple(d for d, (size, stride) in enumerate(zip(window, strides)) if size > stride)
    return overlapping, any(parts[d] > 1 for value in [*list(op.operands)[:2], op.results[0]]
                            if (parts := _parts(value)) for d in overlapping)


def _find_unclamped(op):
    """The split dimensions of an update of a slice whose start the partitioner does not clamp."""
    sizes, updated = (ir.RankedTensorType(value.type).shape for value in list(op.operands)[:2])

    def is_clamped(d):
        start = op.operands[2 + d].owner
        if not isinstance(start, ir.Block) and start.operation.name == "stablehlo.constant":
            return 0 <= ir.DenseIntElementsAttr(start.operation.attributes["value"])[0] <= sizes[d] - updated[d]
        return updated[d] > 1

    return tuple(d for d, parts in enumerate(_parts(op.results[0]))
                 if parts > 1 and updated[d] < sizes[d] and not is_clamped(d))


@dataclass(frozen=True)
class _Window:
    """How windows go over a dimension of `length` elements, with `low` more before them."""

    length: int
    low: int
    size: int = 1
    stride: int = 1
    dilation: int = 1
    between: int = 1

    def is_trivial(self):
        return not self.low and self.size == self.stride == self.between == 1

    def count_read(self, windows, parts):
        """The elements, with those before, that equal parts of the windows read."""
        each = -(-windows // parts)
        limit = self.stride * (each * parts - 1) + 1 + (self.size - 1) * self.dilation
        return (limit + self.between - 1 - self.low % self.between) // self.between


def _find_moved(op):
    """The split dimensions of a pad or a pool whose start the partitioner forgets."""
    operand, result = op.operands[0], op.results[0]
    parts = _parts(result)
    split = [d for d, count in enumerate(parts) if count > 1]
    windows, sizes = _read_windows(op), ir.RankedTensorType(result.type).shape
    before = _parts(operand) or [1] * len(windows)
    moved = tuple(d for d in split if windows[d].low and (
        before[d] == 1 or abs(windows[d].low) > -(-windows[d].length // parts[d])))
    is_as_long = all(sizes[d] < parts[d] or windows[d].count_read(sizes[d], parts[d]) == windows[d].length
                     for d in split if not windows[d].is_trivial())
    return moved if is_as_long else ()


def _read_windows(op):
    """The _Window of each dimension of a pad or a pool."""
    shape = list(ir.RankedTensorType(op.operands[0].type).shape)

    def read(name, default=1):
        return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [default] * len(shape)

    if op.name == "stablehlo.pad":
        return [_Window(length, low, between=interior + 1) for length, low, interior in
                zip(shape, read("edge_padding_low"), read("interior_padding"))]
    padding = list(ir.DenseIntElementsAttr(op.attributes["padding"]))[::2] if "padding" in op.attributes else [0] * len(shape)
    names = ("window_dimensions", "window_strides", "window_dilations", "base_dilations")
    return [_Window(*window) for window in zip(shape, padding, *map(read, names))]


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
