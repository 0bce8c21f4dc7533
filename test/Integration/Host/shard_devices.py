# RUN: rm -rf %t
# RUN: %python %s %t
"""Halos, messages, indices of devices and sizes of shards of the shard dialect on ranks,
against NumPy.
"""

import itertools
import math
import os
import sys

import braid_testing as bt
import numpy as np
import shard_model as model

PASSES = "convert-shard-to-comm,comm-verify,comm-schedule"
I64, F32 = bt.ELEMENT_TYPES["i64"], bt.ELEMENT_TYPES["f32"]


def run(shape, name, text, arguments, elements):
    """The results of @main on the grid `shape`, by rank."""
    directory = os.path.join(sys.argv[1], "x".join(map(str, shape)), name)
    text = f"shard.grid @grid(shape = {'x'.join(map(str, shape))})\n{text}"
    program = bt.compile_program(text, directory, passes=PASSES)
    return bt.run_program(program, math.prod(shape), directory, arguments, elements)


def check(found, number, expected, what):
    for rank, array in enumerate(expected):
        bt.check_equal(found[rank][number], array, f"{what}, result {number}, rank {rank}")


def check_halos(shape, split_axes, halos, sizes, form):
    """`form` is static, dynamic (shape and halos), or buffer."""
    random = np.random.RandomState(sum(sizes))
    arrays = [random.randint(-99, 99, sizes).astype(np.float32)
              for _ in range(math.prod(shape))]
    flat = [size for pair in halos for size in pair]
    axes = ", ".join(str(list(a)) for a in split_axes)
    static = "x".join(map(str, sizes)) + "xf32"
    if form == "dynamic":
        kind = "tensor<" + "?x" * len(sizes) + "f32>"
        parameters = "".join(f", %h{i}: i64" for i in range(len(flat)))
        text = (f"func.func @main(%x: {kind}{parameters}) -> {kind} {{\n"
                f"  %r = shard.update_halo %x on @grid split_axes = [{axes}] halo_sizes = "
                f"[{', '.join(f'%h{i}' for i in range(len(flat)))}] : {kind}\n"
                f"  return %r : {kind}\n}}\n")
    else:
        kind = f"memref<{static}>" if form == "buffer" else f"tensor<{static}>"
        text = (f"func.func @main(%x: {kind}) -> {kind} {{\n"
                f"  %r = shard.update_halo %x on @grid split_axes = [{axes}] halo_sizes = "
                f"{flat} : {kind}\n  return %r : {kind}\n}}\n")
    name = f"halo-{form}-" + "".join(c for c in axes + str(flat) if c.isalnum())
    scalars = [(I64, [np.array(size)] * len(arrays)) for size in flat]
    found = run(shape, name, text, [(F32, arrays)] + (scalars if form == "dynamic" else []),
                [F32])
    check(found, 0, model.update_halo(shape, split_axes, arrays, halos),
          f"{shape}: halos {halos} along {split_axes}, {form}")


def check_corners():
    """The halos of a device inside are the data around its own."""
    shape, whole = (3, 3), np.arange(144, dtype=np.float32).reshape(12, 12)
    arrays = []
    for row, column in itertools.product(range(3), range(3)):
        array = np.full((7, 6), -1, np.float32)
        array[1:5, 1:5] = whole[4 * row:4 * row + 4, 4 * column:4 * column + 4]
        arrays.append(array)
    result = model.update_halo(shape, [[0], [1]], arrays, [(1, 2), (1, 1)])
    bt.check_equal(result[4], whole[3:10, 3:9], "the model of the device inside")
    # A device at the edge keeps what it has.
    bt.check_equal(result[0][0], arrays[0][0], "the model of the device at the edge")
    check_halos(shape, [[0], [1]], [(1, 2), (1, 1)], (7, 6), "static")


def check_messages(shape, axes):
    """Every device sends along the first of `axes` to the next one in the row-major order of
    the axes as written, around the group, and receives from the one before."""
    sizes = [shape[axis] for axis in axes]
    count = math.prod(sizes)
    linear = "  %z = arith.constant 0 : index\n"
    value = "%z"
    for n, size in enumerate(sizes):
        linear += (f"  %s{n} = arith.constant {size} : index\n"
                   f"  %m{n} = arith.muli {value}, %s{n} : index\n"
                   f"  %l{n} = arith.addi %m{n}, %i{n} : index\n")
        value = f"%l{n}"

    def member(name, step):
        """The multi-index of the device `step` further."""
        text = (f"  %{name}step = arith.constant {step % count} : index\n"
                f"  %{name}count = arith.constant {count} : index\n"
                f"  %{name}sum = arith.addi {value}, %{name}step : index\n"
                f"  %{name}rest{len(sizes)} = arith.remui %{name}sum, %{name}count : index\n")
        for n in reversed(range(len(sizes))):
            text += (f"  %{name}{n} = arith.remui %{name}rest{n + 1}, %s{n} : index\n"
                     f"  %{name}rest{n} = arith.divui %{name}rest{n + 1}, %s{n} : index\n")
        return text
    types = ", ".join(["index"] * len(axes))
    grid = f"on @grid grid_axes = {list(axes)}"

    def multi(name):
        return ", ".join(f"%{name}{n}" for n in range(len(axes)))
    results = f"%i:{len(axes)}" if len(axes) > 1 else "%i0"
    rename = "".join(f"  %i{n} = arith.addi %i#{n}, %zero : index\n"
                     for n in range(len(axes))) if len(axes) > 1 else ""
    text = f"""func.func @main(%x: tensor<3xf32>, %y: tensor<?x2xf32>)
    -> (tensor<3xf32>, tensor<?x2xf32>, tensor<3xf32>) {{
  %zero = arith.constant 0 : index
  {results} = shard.process_multi_index on @grid axes = {list(axes)} : {types}
{rename}{linear}{member("t", 1)}{member("f", -1)}
  %a = shard.send %x {grid} destination = [{multi("t")}] : (tensor<3xf32>, {types}) -> tensor<3xf32>
  %b = shard.send %y {grid} destination = [{multi("t")}] : (tensor<?x2xf32>, {types}) -> tensor<?x2xf32>
  %p = shard.recv %x {grid} source = [{multi("f")}] : (tensor<3xf32>, {types}) -> tensor<3xf32>
  %q = shard.recv %y {grid} source = [{multi("f")}] : (tensor<?x2xf32>, {types}) -> tensor<?x2xf32>
  return %p, %q, %a : tensor<3xf32>, tensor<?x2xf32>, tensor<3xf32>
}}
"""
    ranks = math.prod(shape)
    x = [np.full(3, rank, np.float32) for rank in range(ranks)]
    y = [np.full((2, 2), -rank, np.float32) for rank in range(ranks)]
    found = run(shape, "messages-" + "".join(map(str, axes)), text, [(F32, x), (F32, y)],
                [F32, F32, F32])
    expected_x, expected_y = list(x), list(y)
    for members in model.groups(shape, axes):
        for position, device in enumerate(members):
            expected_x[device] = x[members[position - 1]]
            expected_y[device] = y[members[position - 1]]
    what = f"{shape}: messages along {axes}"
    check(found, 0, expected_x, what)
    check(found, 1, expected_y, what)
    check(found, 2, x, what)


def check_branches():
    """The first device sends to the last one; both name the other in a branch."""
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %i = shard.process_linear_index on @grid : index
  %first = arith.cmpi eq, %i, %c0 : index
  %last = arith.cmpi eq, %i, %c3 : index
  scf.if %first {
    %s = shard.send %x on @grid grid_axes = [0] destination = [3] : (tensor<3xf32>) -> tensor<3xf32>
  }
  %r = scf.if %last -> tensor<3xf32> {
    %v = shard.recv %x on @grid grid_axes = [0] source = [0] : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %v : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
"""
    x = [np.full(3, rank, np.float32) for rank in range(4)]
    found = run((4,), "branches", text, [(F32, x)], [F32])
    check(found, 0, [x[0], x[1], x[2], x[0]], "a message in a branch")


def check_indices(shape, axes):
    rank = len(shape)
    all_types = ", ".join(["index"] * rank)
    some_types = ", ".join(["index"] * len(axes))
    device = ", ".join(f"%all#{n}" for n in range(rank)) if rank > 1 else "%all"
    some = [f"%some#{n}" for n in range(len(axes))] if len(axes) > 1 else ["%some"]
    sizes = [f"%sizes#{n}" for n in range(rank)] if rank > 1 else ["%sizes"]

    def results(name, count):
        return f"%{name}:{count}" if count > 1 else f"%{name}"
    lines, values = [], [*device.split(", "), *some, "%linear", *sizes]
    for axis in range(rank):
        lines.append(f"  %n{axis}:2 = shard.neighbors_linear_indices on @grid[{device}] "
                     f"split_axes = [{axis}] : index, index")
        values += [f"%n{axis}#0", f"%n{axis}#1"]
    casts = [f"  %v{n} = arith.index_cast {value} : index to i64"
             for n, value in enumerate(values)]
    newline = "\n"
    text = f"""func.func @main() -> tensor<{len(values)}xi64> {{
  {results("all", rank)} = shard.process_multi_index on @grid : {all_types}
  {results("some", len(axes))} = shard.process_multi_index on @grid axes = {list(axes)} : {some_types}
  %linear = shard.process_linear_index on @grid : index
  {results("sizes", rank)} = shard.grid_shape @grid : {all_types}
{newline.join(lines)}
{newline.join(casts)}
  %t = tensor.from_elements {", ".join(f"%v{n}" for n in range(len(values)))} : tensor<{len(values)}xi64>
  return %t : tensor<{len(values)}xi64>
}}
"""
    found = run(shape, "indices-" + "".join(map(str, axes)), text, [], [I64])
    expected = []
    for linear in range(math.prod(shape)):
        index = [int(i) for i in np.unravel_index(linear, shape)]
        numbers = [*index, *[index[axis] for axis in axes], linear, *shape]
        for axis in range(rank):
            for step in (-1, 1):
                other = list(index)
                other[axis] += step
                inside = 0 <= other[axis] < shape[axis]
                numbers.append(int(np.ravel_multi_index(other, shape)) if inside else -1)
        expected.append(np.array(numbers, np.int64))
    check(found, 0, expected, f"{shape}: indices")


def check_buffers():
    """A write behind an all-reduce of a buffer does not change what is reduced."""
    text = """func.func @main(%x: memref<3xf32>) -> (memref<3xf32>, memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %nine = arith.constant 9.0 : f32
  %r = shard.all_reduce %x on @grid grid_axes = [0] : memref<3xf32> -> memref<3xf32>
  memref.store %nine, %x[%c0] : memref<3xf32>
  %s = shard.all_reduce %x on @grid grid_axes = [0] reduction = max : memref<3xf32> -> memref<3xf32>
  return %r, %s : memref<3xf32>, memref<3xf32>
}
"""
    x = [np.full(3, rank, np.float32) for rank in range(4)]
    found = run((4,), "buffers", text, [(F32, x)], [F32, F32])
    check(found, 0, [np.array([6, 6, 6], np.float32)] * 4, "the first all-reduce of a buffer")
    check(found, 1, [np.array([9, 3, 3], np.float32)] * 4, "the second all-reduce of a buffer")


def check_shard_shapes():
    """A dimension without offsets, one with offsets, one that is not split."""
    text = """func.func @main(%n: i64) -> tensor<4xi64> {
  %d = arith.index_cast %n : i64 to index
  %s = shard.sharding @grid split_axes = [[1], [0]] : !shard.sharding
  %o = shard.sharding @grid split_axes = [[1]] sharded_dims_offsets = [0, 2, 5, 9] : !shard.sharding
  %i:2 = shard.process_multi_index on @grid : index, index
  %a:3 = shard.shard_shape dims = [11, %d, 7] sharding = %s device = [%i#0, %i#1]
      : index, index, index
  %b = shard.shard_shape dims = [9] sharding = %o device = [%i#0, %i#1] : index
  %0 = arith.index_cast %a#0 : index to i64
  %1 = arith.index_cast %a#1 : index to i64
  %2 = arith.index_cast %a#2 : index to i64
  %3 = arith.index_cast %b : index to i64
  %t = tensor.from_elements %0, %1, %2, %3 : tensor<4xi64>
  return %t : tensor<4xi64>
}
"""
    found = run((2, 3), "shard-shapes", text, [(I64, [np.array(5)] * 6)], [I64])
    expected = [np.array([[3, 4, 4][column], [2, 3][row], 7, [2, 3, 4][column]])
                for row, column in itertools.product(range(2), range(3))]
    check(found, 0, expected, "the shapes of shards")


def main():
    check_corners()
    for form in ["static", "dynamic", "buffer"]:
        check_halos((2, 3), [[1], [0]], [(2, 1), (0, 3)], (6, 9), form)
    check_halos((4,), [[], [0]], [(1, 1)], (2, 3), "static")
    check_halos((2, 3), [[1, 0]], [(1, 2)], (7, 2), "static")
    check_halos((2, 2, 2), [[2], [0], [1]], [(1, 1), (1, 0), (0, 1)], (4, 3, 3), "static")
    for shape, axes in [((4,), (0,)), ((2, 3), (1, 0)), ((2, 2, 2), (2,)), ((2, 2, 2), (2, 0))]:
        check_messages(shape, axes)
        check_indices(shape, axes)
    check_branches()
    check_buffers()
    check_shard_shapes()


main()
