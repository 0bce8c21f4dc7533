# RUN: %python %s %t %cxx
"""Kernels of scatters, run on the host, against NumPy and bit for bit against the host's loop."""

import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

BODIES = {
    "add": ("%r = arith.add{f} %old, %update : {kind}", lambda old, update: old + update),
    "set": ("%r = arith.add{f} %update, %update : {kind}", lambda old, update: update + update),
    "max": ("%r = arith.max{m} %old, %update : {kind}", np.maximum),
    # Another order of the updates gives other results.
    "affine": ("%s = arith.mul{f} %old, %c : {kind}\n%r = arith.sub{f} %s, %update : {kind}", lambda old, update: old * old.dtype.type(3) - update),
}


def program(kind, index, shape, batch, indexed, count, body):
    is_float = "f" in kind
    window = [size for dim, size in enumerate(shape) if dim not in batch + indexed]
    rows = [shape[dim] for dim in batch] + [count]

    def tensor(sizes, element):
        return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"

    indices, updates, table = tensor(rows, index), tensor(rows + window, kind), tensor(shape, kind)
    text = BODIES[body][0].format(kind=kind, f="f" if is_float else "i", m="imumf" if is_float else "si")

    def dims(values):
        return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"

    return f"""func.func @main(%indices: {indices}, %updates: {updates}, %table: {table}) -> {table} {{
  %c = arith.constant {3.0 if is_float else 3} : {kind}
  %x = library.scatter ins(%indices, %updates : {indices}, {updates}) outs(%table : {table}) {{
  ^bb0(%old: {kind}, %update: {kind}):
    {text}
    library.yield %r : {kind}
  }} {{batch_dims = {dims(batch)}, indexed_dims = {dims(indexed)}}} -> {table}
  return %x : {table}
}}
"""


# Name, element types, shape of the table, batch dimensions, indexed dimensions, number of updates, body.
CASES = [
    ("rows", "f32", "i32", [70, 24], [], [0], 300, "add"),
    ("order", "f32", "i32", [9, 8], [], [0], 64, "affine"),
    ("bf16", "bf16", "i32", [40, 16], [], [0], 100, "add"),
    ("set", "f32", "i64", [70, 24], [], [0], 300, "set"),
    ("scalars", "i32", "i32", [50], [], [0], 500, "affine"),
    ("bf16_scalars", "bf16", "i32", [2, 30], [0], [1], 100, "add"),
    ("few", "i32", "i32", [6, 40], [0], [1], 3, "affine"),
    ("one", "f32", "i64", [5, 6, 8], [0, 1], [2], 1, "add"),
    ("columns", "f32", "i32", [8, 30], [], [1], 40, "max"),
    ("batches", "i32", "i32", [10, 3, 4, 2], [1], [0, 3], 50, "add"),
    # So many comparisons that the updates are sorted.
    ("sorted", "f32", "i32", [40000, 4], [], [0], 1700, "affine"),
    ("sorted_batches", "i32", "i64", [700, 2, 20, 2], [1], [0, 3], 5800, "affine"),
    ("sorted_set", "i32", "i32", [20000, 3], [], [0], 3000, "set"),
    ("sorted_bf16", "bf16", "i32", [30000, 8], [], [0], 2100, "add"),
    # So long lists that the updates are sorted, too, and chunks of them combined first.
    ("hot", "f32", "i32", [5, 8], [], [0], 1001, "add"),
    ("hot_order", "f32", "i64", [3, 4], [], [0], 500, "affine"),
    ("hot_batches", "bf16", "i32", [3, 2, 6], [1], [0], 300, "add"),
    ("hot_scalars", "i32", "i32", [2, 3], [], [0, 1], 1000, "add"),
    ("hot_max", "f32", "i32", [4, 2, 10], [], [1], 421, "max"),
    ("hot_window", "i32", "i32", [3, 4], [0], [], 260, "add"),
    ("long", "f32", "i32", [600, 6], [], [0], 1100, "add"),
    ("one_window", "i32", "i32", [2, 3, 4], [0], [], 12, "affine"),
    ("no_window", "i32", "i32", [], [], [], 6, "affine"),
    ("no_updates", "f32", "i32", [5, 6], [], [0], 0, "add"),
]


def scatter(indices, updates, table, batch, indexed, combine):
    order = batch + indexed + [dim for dim in range(table.ndim) if dim not in batch + indexed]
    result = table.copy()
    view = result.transpose(order)
    sizes = view.shape[len(batch) : len(batch) + len(indexed)]
    for place in np.ndindex(indices.shape):
        if 0 <= indices[place] < np.prod(sizes, dtype=int):
            window = place[:-1] + tuple(np.unravel_index(indices[place], sizes) if sizes else ())
            view[window] = combine(view[window], updates[place])
    return result


def main(directory, cxx, only=""):
    generator = np.random.default_rng(1)
    for name, kind, index, shape, batch, indexed, count, body in CASES:
        if only not in name:
            continue
        folder = os.path.join(directory, name)
        text = program(kind, index, shape, batch, indexed, count, body)
        element, numbers = bt.ELEMENT_TYPES[kind], bt.ELEMENT_TYPES[index]
        rows = [shape[dim] for dim in batch] + [count]
        windows = int(np.prod([shape[dim] for dim in indexed], dtype=int))
        # Some windows have many updates, some updates have no window.
        indices = generator.integers(-2, windows + 2, rows).astype(numbers.storage)
        window = [size for dim, size in enumerate(shape) if dim not in batch + indexed]
        updates, table = (generator.integers(-9, 9, sizes).astype(np.float32) / 4 if "f" in kind else generator.integers(-9, 9, sizes).astype(np.int32)
                          for sizes in (rows + window, shape))  # fmt: skip
        narrow = element.narrow if kind == "bf16" else lambda values: values
        inputs = [(numbers, indices), (element, narrow(updates)), (element, narrow(table))]
        host = bt.compile_program(text, folder, passes="none")
        expected = bt.run_program(host, 1, folder, [(e, [values]) for e, values in inputs], [element])[0][0]
        with np.errstate(over="ignore"):
            wanted = scatter(indices, updates, table, batch, indexed, BODIES[body][1])
        if kind == "bf16":
            assert np.abs(element.widen(expected).reshape(shape) - wanted).max() <= 0.25, name
        else:
            bt.check_equal(expected.reshape(shape), wanted, f"{name} on the host", element)
        found = kernel_emulator.Emulator(text, folder, cxx).run([values for _, values in inputs])[0]
        bt.check_equal(found, expected, name, element)
        print(name, "right", flush=True)


main(*sys.argv[1:])
