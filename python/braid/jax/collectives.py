# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives in two steps.

`mark` runs before the legalisation of StableHLO, while element types have signs and
reductions are ops with names. It makes of each collective an op `braid.<kind>` of no
dialect, which the legalisation leaves alone, with transposes around it where the
comm dialect has no dimension to name. `finish` runs after it and makes of each a
start and a wait.
"""

import itertools
import re

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .element_types import PASSED
from .errors import UnsupportedError
from .rewrites import bodies
from .rewrites.tensors import element_of, integer_splat, replace, reshape, shape_of, transpose
from .walk import terminator_of

_PREFIX = "braid."

# comm's ReductionKind, by the op of the reduction's body.
_REDUCTIONS = {"stablehlo.add": "sum", "stablehlo.multiply": "product",
               "stablehlo.minimum": "min", "stablehlo.maximum": "max",
               "stablehlo.and": "band", "stablehlo.or": "bor", "stablehlo.xor": "bxor"}
# Booleans add up and multiply as logic does.
_BOOLEAN = {"sum": "bor", "product": "band", "min": "band", "max": "bor"}
_REDUCTION_NUMBERS = {"sum": 0, "product": 1, "min": 2, "max": 3, "band": 5, "bor": 6,
                      "bxor": 7}


def _i64(value):
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _lists(lists):
    return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(row) for row in lists])


# ===-----------------------------------------------------------------------===#
# Before the legalisation
# ===-----------------------------------------------------------------------===#


def mark(op, world):
    """Replaces a collective of StableHLO, or an op that reads the rank. Gives
    whether it was one."""
    marker = _MARKERS.get(op.name)
    if marker is None:
        return False
    elements = {str(element_of(value)) for value in op.operands} - set(PASSED)
    if elements and marker is not _identity:
        raise UnsupportedError(op, f"ranks cannot exchange elements of type {min(elements)}, "
                                   f"expected one of {', '.join(PASSED)}")
    with ir.InsertionPoint(op), op.location:
        results = _alone(op, world) if world.size == 1 else marker(op, world)
    return replace(op, *results)


def _alone(op, world):
    """The results of a collective, or of an op that reads the rank, on the only rank."""
    if not op.operands:
        return [integer_splat(result.type, 0) for result in op.results]
    if op.name == "stablehlo.collective_permute" and not world.permute_pairs(op):
        return [_zeros(result.type) for result in op.results]
    return list(op.operands)


def _zeros(type):
    type = ir.RankedTensorType(type)
    if isinstance(type.element_type, ir.ComplexType):
        part = _zeros(ir.RankedTensorType.get(type.shape, ir.ComplexType(
            type.element_type).element_type))
        return stablehlo.complex(part, part)
    zero = "0" if isinstance(type.element_type, ir.IntegerType) else "0.0"
    return stablehlo.constant(ir.Attribute.parse(f"dense<{zero}> : {type}"))


def _create(kind, operands, types, **attributes):
    return list(ir.Operation.create(_PREFIX + kind, results=types, operands=operands,
                                    attributes=attributes).results)


def _reduction(op):
    """The reduction of the comm dialect that an op's body computes; None if it has no such
    one: for elements of complex numbers it has sums only, and bodies of several ops none."""
    block = op.regions[0].blocks[0]
    first, second = block.arguments
    value = terminator_of(block).operands[0]
    if isinstance(value.owner, ir.Block):
        raise UnsupportedError(op, "its body gives one of its arguments, expected one of "
                                   f"{', '.join(_REDUCTIONS)} of both")
    name, operands = value.owner.name, list(value.owner.operands)
    if len(block.operations) > 2 and _uses(value) >= {0, 1}:
        return None
    if name not in _REDUCTIONS or operands not in ([first, second], [second, first]):
        raise UnsupportedError(op, f"its body computes {name}, expected one of "
                                   f"{', '.join(_REDUCTIONS)} of both arguments")
    reduction = _REDUCTIONS[name]
    elements = {str(element_of(operand)) for operand in op.operands}
    if "i1" in elements:
        return _BOOLEAN.get(reduction, reduction)
    if reduction != "sum" and any(e.startswith("complex") for e in elements):
        return None
    return reduction


def _uses(value):
    """The numbers of the arguments of a body that a value of the body depends on."""
    if isinstance(value.owner, ir.Block):
        return {ir.BlockArgument(value).arg_number}
    return {number for operand in value.owner.operands for number in _uses(operand)}


def _is_unsigned(element):
    return str(element).startswith("ui")


def _flip_signs(values):
    """Moves unsigned integers to signed order and back: comm orders signed ones."""
    flipped = []
    for value in values:
        top = 1 << (ir.IntegerType(element_of(value)).width - 1)
        signs = ir.Attribute.parse(f"dense<{top}> : {value.type}")
        flipped.append(stablehlo.xor(value, stablehlo.constant(signs)))
    return flipped


def _reduce(kind):
    def marker(op, world):
        reduction = _reduction(op)
        if reduction is None:
            return _fold(kind, op, world)
        operands = list(op.operands)
        ordered = reduction in ("min", "max") and _is_unsigned(element_of(operands[0]))
        attributes = {"reduction": ir.StringAttr.get(reduction),
                      "group": _lists(world.collective_groups(op))}
        if kind == "reduce_scatter":
            attributes["dim"] = op.attributes["scatter_dimension"]
        results = _create(kind, _flip_signs(operands) if ordered else operands,
                          [r.type for r in op.results], **attributes)
        return _flip_signs(results) if ordered else results
    return marker


def _fold(kind, op, world):
    """A reduction that the comm dialect lacks: ranks exchange what they have, and each one
    applies the body, in the order of the ranks."""
    groups = world.collective_groups(op)
    sizes = {len(members) for members in groups}
    if len(sizes) != 1:
        raise UnsupportedError(op, f"its groups have {', '.join(map(str, sorted(sizes)))} members; "
                                   "for its body all have to have one number of members")
    count, = sizes
    results = []
    for value in op.operands:
        shape, element = shape_of(value), element_of(value)
        if kind == "reduce_scatter":
            dim = ir.IntegerAttr(op.attributes["scatter_dimension"]).value
            parts = shape[:dim] + [count, shape[dim] // count] + shape[dim + 1:]
            order = [dim] + [d for d in range(len(parts)) if d != dim]
            mine = transpose(reshape(value, parts), order)
            theirs = _create("all_to_all", [mine], [mine.type], group=_lists(groups))[0]
        else:
            whole = ir.RankedTensorType.get([count, *shape], element)
            theirs = _create("all_gather", [reshape(value, [1, *shape])], [whole],
                             dim=_i64(0), group=_lists(groups))[0]
        rest = shape_of(theirs)[1:]
        found = None
        for member in range(count):
            part = stablehlo.slice(theirs, [member] + [0] * len(rest), [member + 1, *rest],
                                   [1] * (1 + len(rest)))
            part = reshape(part, rest)
            found = part if found is None else bodies.apply(op, op.regions[0].blocks[0], [found, part])[0]
        results.append(found)
    return results


def _all_gather(op, world):
    return _create("all_gather", list(op.operands), [r.type for r in op.results],
                   dim=op.attributes["all_gather_dim"],
                   group=_lists(world.collective_groups(op)))


def _permute(op, world):
    return _create("permute", list(op.operands), [r.type for r in op.results],
                   pairs=_lists(world.permute_pairs(op)), group=_lists(world.every_rank()))


def _broadcast(op, world):
    groups = world.collective_groups(op)
    missing = set(range(world.size)) - {rank for members in groups for rank in members}
    if missing:
        raise UnsupportedError(op, f"rank {min(missing)} is in none of its groups")
    return _create("broadcast", list(op.operands), [r.type for r in op.results], root=_i64(0),
                   group=_lists(groups))


def _all_to_all(op, world):
    """comm.all_to_all splits and joins dimension 0; others are brought there."""
    split = ir.IntegerAttr(op.attributes["split_dimension"]).value
    concat = ir.IntegerAttr(op.attributes["concat_dimension"]).value
    count = ir.IntegerAttr(op.attributes["split_count"]).value
    group = _lists(world.collective_groups(op))
    results = []
    for value, result in zip(op.operands, op.results):
        shape = shape_of(value)
        if split == concat == 0:
            results += _create("all_to_all", [value], [result.type], group=group)
            continue
        parts = shape[:split] + [count, shape[split] // count] + shape[split + 1:]
        order = [split] + [d for d in range(len(parts)) if d != split]
        moved = transpose(reshape(value, parts), order)
        exchanged = _create("all_to_all", [moved], [moved.type], group=group)[0]
        # The members' parts now stand in dimension 0; they go before `concat`.
        order = list(range(1, concat + 1)) + [0] + list(range(concat + 1, len(parts)))
        back = transpose(exchanged, order)
        results.append(reshape(back, shape_of(result)))
    return results


def _rank(op, world):
    """The partition or the replica that this rank is."""
    result = op.results[0].type
    rank = _create("rank", [], [result], group=_lists(world.every_rank()))[0]
    if op.name == "stablehlo.partition_id":
        if world.replicas == 1:
            return [rank]
        return [stablehlo.remainder(rank, integer_splat(result, world.partitions))]
    if world.partitions == 1:
        return [rank]
    return [stablehlo.divide(rank, integer_splat(result, world.partitions))]


def _identity(op, world):
    del world
    return list(op.operands)


_MARKERS = {
    "stablehlo.all_reduce": _reduce("all_reduce"),
    "stablehlo.reduce_scatter": _reduce("reduce_scatter"),
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_permute": _permute,
    "stablehlo.collective_broadcast": _broadcast,
    "stablehlo.partition_id": _rank,
    "stablehlo.replica_id": _rank,
    "stablehlo.optimization_barrier": _identity,
    "sdy.sharding_constraint": _identity,
    "sdy.propagation_barrier": _identity,
}


def is_collective(op):
    """Whether ranks exchange values in an op of StableHLO or Shardy."""
    return op.name in _MARKERS and _MARKERS[op.name] not in (_identity, _rank)


def maximum(value, world):
    """The maxima of an array of signed integers over all ranks, as `mark` leaves them."""
    return _create("all_reduce", [value], [value.type], reduction=ir.StringAttr.get("max"),
                   group=_lists(world.every_rank()))[0]


# ===-----------------------------------------------------------------------===#
# After the legalisation
# ===-----------------------------------------------------------------------===#


class Groups:
    """The comm.group ops of a module: one for each set of lists."""

    def __init__(self, world):
        self._lists = {}  # by symbol
        self._symbols = {}  # by the text of the lists
        self.any_order = world.partitioned
        self._names = {str(_lists(world.every_rank())): "world"}
        for mesh in world.meshes.values():
            for axes in _subsets(list(mesh.axes)):
                name = re.sub(r"\W", "_", "_".join(axes))
                self._names.setdefault(str(_lists(mesh.groups(axes))),
                                       name if name[0].isalpha() else f"axis_{name}")

    def symbol(self, lists):
        """The reference to the group of these lists: named after the axes of a mesh
        that it joins, where there are such."""
        key = str(lists)
        if key not in self._symbols:
            name = self._names.get(key, "group")
            names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
            symbol = next(n for n in names if n not in self._lists)
            self._symbols[key] = symbol
            self._lists[symbol] = lists
        return ir.FlatSymbolRefAttr.get(self._symbols[key])

    def define(self, module):
        """Puts the groups at the head of the module."""
        with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
            for symbol, lists in self._lists.items():
                ir.Operation.create("comm.group", attributes={
                    "sym_name": ir.StringAttr.get(symbol), "ranks": lists})


def _subsets(names):
    """The choices of names, in their order, short ones first."""
    return [list(subset) for size in range(1, len(names) + 1)
            for subset in itertools.combinations(names, size)]


def finish(op, groups):
    """Makes a start and a wait of what `mark` has left. Gives whether it was that."""
    if not op.name.startswith(_PREFIX):
        return False
    kind = op.name[len(_PREFIX):]
    with ir.InsertionPoint(op), op.location:
        if kind == "rank":
            results = [_read_rank(op, groups)]
        else:
            results = _start_and_wait(kind, op, groups)
    return replace(op, *results)


def _read_rank(op, groups):
    result = ir.RankedTensorType(op.results[0].type)
    rank = ir.Operation.create("comm.rank", results=[ir.IndexType.get()], attributes={
        "group": groups.symbol(op.attributes["group"])}).result
    number = ir.Operation.create("arith.index_cast", results=[result.element_type],
                                 operands=[rank]).result
    return ir.Operation.create("tensor.from_elements", results=[result],
                               operands=[number]).result


def _start_and_wait(kind, op, groups):
    attributes = {name: op.attributes[name] for name in ("dim", "root", "pairs")
                  if name in op.attributes}
    attributes["group"] = groups.symbol(op.attributes["group"])
    if "reduction" in op.attributes:
        number = _REDUCTION_NUMBERS[ir.StringAttr(op.attributes["reduction"]).value]
        attributes["reduction"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)
        if groups.any_order:
            attributes["comm.any_order"] = ir.UnitAttr.get()
    operands = list(op.operands)
    segments = [0, len(operands), 0] if "reduction" in attributes else [len(operands), 0]
    if kind == "all_to_all":
        segments += [0, 0]
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
    tokens = [ir.Type.parse(f"!comm.token<{result.type}>") for result in op.results]
    starts = ir.Operation.create(f"comm.{kind}", results=tokens, operands=operands,
                                 attributes=attributes)
    segments = ir.DenseI32ArrayAttr.get([1, 0, 0])
    return [ir.Operation.create("comm.wait", results=[result.type], operands=[token],
                                attributes={"operandSegmentSizes": segments}).result
            for token, result in zip(starts.results, op.results)]
