# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings `stablehlo.scatter`, which the legalisation to linalg lacks, to `library.scatter` if
each update is a whole window: one index along each scattered dimension, all of the others.
Other scatters become loops.

The body of a scatter computes with scalars. A `stablehlo.map` holds the body while the program is
legalised, and gives its scalar ops to `library.scatter` afterwards.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..errors import UnsupportedError
from ..walk import terminator_of
from .scatter_loops import make_loop
from .tensors import element_of, replace, shape_of, tensor_type

# So many updates at constant places become slices.
_FEW_UPDATES = 4


def rewrite(op):
    """Replaces a scatter by `library.scatter` or a loop. Gives whether it was one."""
    if op.name != "stablehlo.scatter":
        return False
    with ir.InsertionPoint(op), op.location:
        windows = _Windows(op)
        results = [windows.scatter()] if windows.are_whole() else make_loop(op)
    return replace(op, *results)


def _integer(like, value):
    """An array like `like` of one integer."""
    type = ir.RankedTensorType(like.type)
    attribute = ir.IntegerAttr.get(type.element_type, value)
    return stablehlo.constant(ir.DenseElementsAttr.get_splat(type, attribute))


def _is_constant(value):
    return not isinstance(value.owner, ir.Block) and value.owner.name == "stablehlo.constant"


class _Windows:
    """The dimensions of a scatter, and its form as `library.scatter`."""

    def __init__(self, op):
        numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        self.op = op
        self.arrays = len(op.results)
        self.array, self.indices, self.updates = op.operands[0], op.operands[self.arrays], op.operands[self.arrays + 1]
        self.shape = shape_of(self.array)
        self.indexed = list(numbers.scattered_dims_to_operand_dims)
        self.batches = list(numbers.input_batching_dims)
        self.vector = numbers.index_vector_dim
        self.window_dims = list(numbers.update_window_dims)
        update_shape = shape_of(self.updates)
        dropped = list(numbers.inserted_window_dims) + self.batches
        sizes = iter([update_shape[d] for d in self.window_dims])
        self.window = [1 if d in dropped else next(sizes) for d in range(len(self.shape))]
        # Dimensions of the updates that are not those of a window, those of the batch first.
        rows = [d for d in range(len(update_shape)) if d not in self.window_dims]
        of_batches = [d - (d > self.vector) for d in numbers.scatter_indices_batching_dims]
        self.row_order = of_batches + [d for d in range(len(rows)) if d not in of_batches]
        self.row_dims = [rows[d] for d in self.row_order]
        sizes = [update_shape[d] for d in self.row_dims]
        self.row_shape = [*sizes[:len(self.batches)], prod(sizes[len(self.batches):])]

    def are_whole(self):
        """Whether `library.scatter` can do the same."""
        if self.arrays != 1 or not self.indexed or self._is_slices():
            return False
        if any(self.window[d] != (1 if d in self.indexed else self.shape[d])
               for d in range(len(self.shape)) if d not in self.batches):
            return False
        # The map that holds the body takes no values from outside but constants.
        block = self.op.regions[0].blocks[0]
        inner = [each.operation for each in block.operations]
        known = [*block.arguments, *(result for each in inner for result in each.results)]
        return all(not len(each.regions) and all(operand in known or _is_constant(operand) for operand in each.operands)
                   for each in inner)

    def _is_slices(self):
        return _is_constant(self.indices) and prod(self.row_shape) <= _FEW_UPDATES

    def _arrange(self, value, order, shape):
        if order != sorted(order):
            value = stablehlo.transpose(value, order)
        return stablehlo.reshape(tensor_type(shape, element_of(value)), value)

    def scatter(self):
        body = self.op.regions[0].blocks[0]
        constants = _take_constants(body)
        others = [d for d in range(len(self.shape)) if d not in self.batches and d not in self.indexed]
        updates = self._arrange(self.updates, self.row_dims + self.window_dims,
                                self.row_shape + [self.shape[d] for d in others])
        op = ir.Operation.create(
            "library.scatter", results=[self.array.type], operands=[self._number_windows(), updates, self.array], regions=1,
            attributes={"batch_dims": ir.DenseI64ArrayAttr.get(self.batches),
                        "indexed_dims": ir.DenseI64ArrayAttr.get(sorted(self.indexed)),
                        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1])})
        scalar = tensor_type([], element_of(self.array))
        block = op.regions[0].blocks.append(scalar, scalar, arg_locs=[self.op.location] * 2)
        with ir.InsertionPoint(block):
            held = ir.Operation.create("stablehlo.map", results=[scalar], operands=[*block.arguments, *constants], regions=1,
                                       attributes={"dimensions": ir.DenseI64ArrayAttr.get([])})
            body.append_to(held.regions[0])
            ir.Operation.create("library.yield", operands=[held.result])
        return op.result

    def _number_windows(self):
        """For each update the number of its window; -1 if an index is out of bounds."""
        vectors = len(shape_of(self.indices)) > self.vector
        order = [d + (vectors and d >= self.vector) for d in self.row_order] + ([self.vector] if vectors else [])
        count = len(self.indexed)
        indices = self._arrange(self.indices, order, [*self.row_shape, count])
        indices = self._make_signed(indices)
        number = inside = None
        for dim in sorted(self.indexed):
            starts = [0] * len(self.row_shape) + [self.indexed.index(dim)]
            column = stablehlo.slice(indices, starts, [*self.row_shape, starts[-1] + 1], [1] * len(starts))
            column = stablehlo.reshape(tensor_type(self.row_shape, element_of(column)), column)
            if count == 1:
                return column
            for direction, bound in (("GE", 0), ("LT", self.shape[dim])):
                test = stablehlo.compare(column, _integer(column, bound), stablehlo.ComparisonDirectionAttr.get(direction))
                inside = test if inside is None else stablehlo.and_(inside, test)
            if number is not None:
                number = stablehlo.multiply(number, _integer(number, self.shape[dim]))
                column = stablehlo.add(number, column)
            number = column
        return stablehlo.select(inside, number, _integer(number, -1))

    def _make_signed(self, indices):
        """The indices as i32, or as i64 if their type or the number of windows needs that."""
        old = ir.IntegerType(element_of(indices))
        windows = prod(self.shape[d] for d in self.indexed)
        is_wide = old.width + old.is_unsigned > 32 or windows >= 2**31
        new = ir.IntegerType.get_signless(64 if is_wide else 32)
        return indices if old == new else stablehlo.convert(tensor_type(shape_of(indices), new), indices)


def _take_constants(block):
    """Makes arguments of a block of the constants that its ops use, also those from outside; gives copies of them."""
    constants = []
    for each in [each.operation for each in block.operations]:
        for number, operand in enumerate(each.operands):
            if _is_constant(operand):
                constants.append(stablehlo.constant(operand.owner.attributes["value"]))
                each.operands[number] = block.add_argument(operand.type, each.location)
    for each in [each.operation for each in block.operations]:
        if each.name == "stablehlo.constant":
            each.erase()
    return constants


def finish(op):
    """Gives a `library.scatter` the scalar ops of its body. Gives whether it was one."""
    if op.name != "library.scatter":
        return False
    element = element_of(op.results[0])
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create("library.scatter", results=[op.results[0].type], operands=list(op.operands), regions=1,
                                  attributes={name: op.attributes[name] for name in op.attributes})
        target = new.regions[0].blocks.append(element, element, arg_locs=[op.location] * 2)
        value = _move_body(new, op.regions[0].blocks[0], target)
        with ir.InsertionPoint(target):
            ir.Operation.create("library.yield", operands=[value])
    return replace(op, new.results[0])


def _move_body(op, block, target):
    """Moves the scalar ops of the `linalg.generic` in `block` to `target`. Gives the result."""
    scalars = dict(zip([argument.arg_number for argument in block.arguments], target.arguments))

    def find(value):
        if isinstance(value.owner, ir.Block) and value.owner == block:
            return scalars[ir.BlockArgument(value).arg_number]
        with ir.InsertionPoint(op), op.location:
            return ir.Operation.create("tensor.extract", results=[element_of(value)], operands=[value]).result

    (held,) = terminator_of(block).operands
    if isinstance(held.owner, ir.Block):
        return find(held)
    if held.owner.name != "linalg.generic":
        raise UnsupportedError(op, f"its body has {held.owner.name}, expected elementwise ops")
    body = held.owner.regions[0].blocks[0]
    # The last argument is the output, which no elementwise op reads.
    for argument, operand in zip(list(body.arguments)[:-1], list(held.owner.operands)[:-1]):
        argument.replace_all_uses_with(find(operand))
    # The canonicalizer moves constants of the body to the block around it.
    constants = [each for each in block.operations if each.operation.name == "arith.constant"]
    for each in [*constants, *body.operations]:
        target.append(each)
    terminator = terminator_of(target)
    value = terminator.operands[0]
    terminator.erase()
    return value
