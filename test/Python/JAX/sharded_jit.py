# REQUIRES: jax
# RUN: %jax_python %s
"""`jax.jit` with shardings: every small program of `jax_sharded_ops.py` gives what JAX gives
on one device, or is refused with its op and line.

Programs run in batches, each over one mesh with one way to split its arguments and results:
over a square of ranks, a line, or a square whose devices stand in another order.
`--every-layout [MESH]` takes all ways, which takes an hour.
"""

import itertools
import sys
import unittest

import jax
import jax.numpy as jnp
import jax_sharded_ops as ops
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
from braid.jax.partition import WholeOpWarning

MESHES = {"line": ops.LINE, "square": ops.SQUARE, "shuffled": ops.SHUFFLED}
BATCH = 24


class Programs:
    """Several cases as one program, each with its own layout of arguments and results."""

    def __init__(self, mesh, items):
        """items: (case, specs of its arguments, shardings of its results or None)"""
        self.items = items
        self.arguments = [case.args for case, _, _ in items]
        layout = [[jax.sharding.NamedSharding(mesh, spec) for spec in specs]
                  for _, specs, _ in items]
        self.plain = jax.jit(lambda args: [case.fn(*a) for (case, _, _), a in zip(items, args)])
        self.sharded = jax.jit(self.plain, in_shardings=(layout,),
                               out_shardings=[out for _, _, out in items])

    def run(self):
        """The results of each case, and those that JAX gives on one device."""
        found = braid.jax.compile(self.sharded, self.arguments)(self.arguments)
        return found, self.plain(self.arguments)


def differs(found, expected, tolerance):
    """What differs between the results of a case; None if nothing does."""
    found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
    if len(found) != len(expected):
        return f"{len(found)} results, expected {len(expected)}"
    for one, other in zip(found, map(np.asarray, expected)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{one.dtype}{one.shape}, expected {other.dtype}{other.shape}"
        if tolerance:
            scale = np.abs(other).max()
            if not np.allclose(one, other, rtol=0, atol=tolerance * scale):
                return f"{one}, expected {other}"
        elif not np.array_equal(one, other):
            return f"{one}, expected {other}"
    return None


def mesh_of(number):
    """The mesh of a case: most run over a square, which splits two dimensions."""
    return ops.SHUFFLED if number % 7 == 0 else ops.LINE if number % 3 == 0 else ops.SQUARE


def layouts_of(case, mesh, number):
    """One way to split a case, another one for each number."""
    specs, outs = ops.layouts(case, mesh), ops.outputs(case, mesh)
    return case, specs[number % len(specs)], outs[number % len(outs)]


def batches(items):
    items = iter(items)
    while batch := list(itertools.islice(items, BATCH)):
        yield batch


class ShardedJitTest(jt.JaxTestCase):
    def check(self, mesh, batch):
        found, expected = Programs(mesh, batch).run()
        for (case, specs, out), one, other in zip(batch, found, expected):
            with self.subTest(case=case.name, specs=specs, out=out):
                self.assertIsNone(differs(one, other, case.tolerance))

    def check_cases(self, mesh):
        cases = [case for case in ops.make_cases(mesh) if not case.refused]
        items = [(number, case) for number, case in enumerate(cases) if mesh_of(number) is mesh]
        self.assertGreater(len(items), 15)
        for batch in batches(layouts_of(case, mesh, number) for number, case in items):
            self.check(mesh, batch)

    def test_on_a_square(self):
        self.check_cases(ops.SQUARE)

    def test_on_a_line(self):
        self.check_cases(ops.LINE)

    def test_devices_in_another_order(self):
        self.check_cases(ops.SHUFFLED)

    def test_refused_with_op_and_line(self):
        for case in ops.make_cases(ops.LINE):
            if case.refused:
                with self.subTest(case=case.name):
                    _, specs, out = layouts_of(case, ops.LINE, 0)
                    with self.assertRaises(braid.jax.UnsupportedError) as caught:
                        braid.jax.export(ops.jit(case.fn, specs, out, ops.LINE), *case.args)
                    error = caught.exception
                    self.assertEqual(error.op, case.refused)
                    self.assertEqual((error.location.file, error.location.line),
                                     (case.fn.__code__.co_filename,
                                      case.fn.__code__.co_firstlineno))

    def test_what_xla_partitions_wrongly(self):
        """Convolutions of split filters, and pools of overlapping windows, split along dimensions of space."""
        splits = {"convolution": [[P(None, "i"), P(None, None, None, "j")],
                                  [P("i", None, "j"), P(None, None, None, ("i", "j"))]],
                  "largest": [[P(None, "i", "j")], [P("j", None, "i")]]}
        cases = ops.make_cases(ops.SQUARE)
        items = [(case, specs[number % 2], None) for word, specs in splits.items()
                 for number, case in enumerate(case for case in cases if word in case.name)]
        self.assertGreater(len(items), 8)
        self.check(ops.SQUARE, items)

    def test_gradients_of_operands_that_are_split_otherwise(self):
        """The sum for the filters is over the ranks that have parts of the larger operand."""
        def gradient(x, w, split=lambda y: y):
            return jax.grad(lambda w: (split(ops.convolve(feature_group_count=4)(x, w)) ** 2).sum())(w)

        def sharded(x, w):
            return gradient(x, w, lambda y: lax.with_sharding_constraint(y, NamedSharding(ops.SQUARE, P("j"))))

        args = ops.IMAGES, ops.FILTERS[:, :, :1]
        found = braid.jax.compile(ops.jit(sharded, (P("j", "i"), P()), None, ops.SQUARE), *args)(*args)
        self.assertIsNone(differs(found, jax.jit(gradient)(*args), 0.0))

    def test_gathers_of_reversed_filters(self):
        """Each filter is gathered once, unless it is split along a dimension of which gradients read the reversal."""
        def gradients(x, *filters):
            def loss(*filters):
                y = x
                for w in filters:
                    y = lax.conv_general_dilated(y, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
                return (y ** 2).sum()
            return jax.grad(loss, argnums=tuple(range(len(filters))))(*filters)

        x = jt.integers((4, 6, 6, 4))
        for split, gathers in ((P(None, None, None, "i"), 3), (P("i"), 5)):
            with self.subTest(split=split):
                filters = [jt.integers((4, 3, 4, 4), seed=seed) for seed in range(3)]
                sharded = ops.jit(gradients, (P("i"), split, split, split), None, ops.LINE)
                program = braid.jax.export(sharded, x, *filters)
                self.assertEqual(program.text.count("comm.all_gather"), gathers)
                found = braid.jax.compile(sharded, x, *filters)(x, *filters)
                self.assertIsNone(differs(found, jax.jit(gradients)(x, *filters), ops.TOLERANCE))

    def test_pads_and_pools_of_whole_operands(self):
        """Their results are split."""
        def moved(x, pooled, *shardings):
            kept = [lax.with_sharding_constraint(part, sharding) for part, sharding in zip(x, shardings)] if shardings else x
            pads = [lax.pad(kept[0], np.float32(7), ((low, high, between), (0, 0, 0)))
                    for low, high, between in ((-1, 1, 0), (1, -1, 0), (-2, 2, 0), (3, -3, 0), (1, 0, 0), (-1, 2, 1))]
            pool = lax.reduce_window(pooled, -np.inf, lax.max, (2, 1), (2, 1), ((1, 1), (0, 0)))
            scan = jax.grad(lambda x: (lax.associative_scan(lax.mul, x) * pooled[:8, :3]).sum())(kept[1])
            return pads, pool, scan

        x = jt.integers((2, 8, 3))
        pooled = jt.integers((14, 4), seed=2)
        whole, split = (NamedSharding(ops.LINE, P(*names)) for names in ((), ("i",)))
        sharded = jax.jit(lambda x, pooled: moved(x, pooled, whole, split), in_shardings=(whole, whole),
                          out_shardings=([split] * 4 + [whole] * 2, split, whole))
        found = braid.jax.compile(sharded, x, pooled)(x, pooled)
        self.assertIsNone(differs(found, jax.jit(moved)(x, pooled), ops.TOLERANCE))

    def test_updates_of_slices_whose_starts_are_clamped(self):
        """Their operands are split along the slices."""
        def update(x, row, starts):
            return [lax.dynamic_update_slice(x, -x[:size, :2], (start, start * 0))
                    for size in (1, 2) for start in (-20, 7, 8, 2**31 - 1, starts[0], starts[1])] + [
                    lax.dynamic_update_slice(x, x[:2], (jnp.uint8(200), jnp.uint8(0))),
                    lax.dynamic_update_index_in_dim(x, row, starts[1], 0)]

        args = jt.integers((8, 4)), jt.integers((4,)), np.int32([7, 100])
        sharded = ops.jit(update, (P("i"), P(), P()), None, ops.LINE)
        found = braid.jax.compile(sharded, *args)(*args)
        self.assertIsNone(differs(found, jax.jit(update)(*args), 0.0))

    def test_ops_that_end_the_partitioner(self):
        """Every rank computes these whole, and no others."""
        def ops_of_both_kinds(x, w, y):
            def loss(x, w):
                return (ops.convolve(feature_group_count=2)(x, w) ** 2).sum()
            gradients = jax.grad(loss, argnums=(0, 1))(x, w)
            return gradients, lax.pad(y, np.float32(7), ((-1, 4, 2), (2, -3, 1))), y[1:5] @ y.T

        args = ops.IMAGES, ops.FILTERS[:, :, :2], ops.X
        specs = P(None, None, None, "i"), P(None, None, "j"), P(("i", "j"))
        out = ((NamedSharding(ops.SQUARE, P("i", "j")), NamedSharding(ops.SQUARE, P(None, None, "i", "j"))), None, None)
        with self.assertWarns(WholeOpWarning) as caught:
            found = braid.jax.compile(ops.jit(ops_of_both_kinds, specs, out, ops.SQUARE), *args)(*args)
        self.assertIsNone(differs(found, ops_of_both_kinds(*args), 0.0))
        first = ops_of_both_kinds.__code__.co_firstlineno
        said = sorted(str(w.message) for w in caught.warnings if w.category is WholeOpWarning)
        self.assertEqual(len(said), 2, said)
        self.assertIn("stablehlo.convolution (from conv_general_dilated): XLA cannot partition this op", said[0])
        self.assertRegex(said[1], rf"sharded_jit.py:{first + 4}:\d+: stablehlo.pad \(from pad\): ")

    def test_without_a_mesh_to_keep_whole(self):
        """A module with XLA's own shardings names no mesh: what would be wrong is refused."""
        text = """
        module attributes {mhlo.num_partitions = 4 : i32} {
          func.func @main(%x: tensor<4x8x8x4xf32> {mhlo.sharding = "{devices=[1,2,1,1,2]<=[4] last_tile_dim_replicate}"},
                          %w: tensor<3x3x4x8xf32> {mhlo.sharding = "{devices=[1,1,1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"})
              -> tensor<4x8x8x8xf32> {
            %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
              window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
              : (tensor<4x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<4x8x8x8xf32>
            return %0 : tensor<4x8x8x8xf32>
          }
        }"""
        with self.assertRaisesRegex(braid.jax.UnsupportedError, "stablehlo.convolution.*: XLA's partitioner makes a "
                                    "wrong program of this convolution"):
            braid.jax.from_stablehlo(text)


def run_every_layout(names):
    """Runs all layouts, and prints the programs that differ or fail."""
    count = 0
    for name in names:
        mesh = MESHES[name]
        items = ((case, specs, out) for case in ops.make_cases(mesh) if not case.refused
                 for specs in ops.layouts(case, mesh)
                 for out in ops.outputs(case, mesh))
        for batch in batches(items):
            count += len(batch)
            try:
                results = zip(batch, *Programs(mesh, batch).run())
            except Exception:
                results = itertools.chain.from_iterable(map(run_alone, itertools.repeat(mesh), batch))
            for (case, specs, out), found, expected in results:
                message = differs(found, expected, case.tolerance)
                if message:
                    print(f"{name}: {case.name}: {specs} -> {out}: {message}", flush=True)
        print(f"{name}: {count} programs", flush=True)


def run_alone(mesh, item):
    try:
        yield item, *(one[0] for one in Programs(mesh, [item]).run())
    except Exception as error:
        print(f"{item[0].name}: {item[1:]}: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    if "--every-layout" in sys.argv:
        run_every_layout(sys.argv[sys.argv.index("--every-layout") + 1:] or MESHES)
    else:
        unittest.main()
