# REQUIRES: jax
# RUN: env BRAID_OPTIMIZATION_LEVEL=3 %jax_python %s
"""Programs of JAX through Braid, against JAX: steps of training with collectives,
control flow, and the ops of a transformer."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import braid.mlir

LINE = jt.make_mesh((4,), ("r",))
TOLERANCE = 4e-6  # of products and sums in f32


def shard(fn, in_specs=P("r"), out_specs=P("r"), mesh=LINE):
    return jax.jit(jax.shard_map(fn, mesh=mesh, in_specs=in_specs, out_specs=out_specs,
                                 check_vma=False))


class StepsTest(jt.JaxTestCase):
    """Four SPMD steps with work to hide their collectives behind, in bf16: each
    array has one part a rank."""

    LAYERS = 4

    def check_step(self, step, *shapes, tolerance=0.02):
        for ranks in (2, 4, 8):
            with self.subTest(ranks=ranks):
                mesh = jt.make_mesh((ranks,), ("r",))
                args = [(jt.normals((ranks, *shape), seed=i) / 4).astype(jnp.bfloat16)
                        for i, shape in enumerate(shapes)]

                def body(*parts):
                    results = step(*[part[0] for part in parts])
                    return jax.tree.map(lambda t: t[None], results)

                self.check_equal(shard(body, mesh=mesh), *args, tolerance=tolerance)

    def test_matmuls_beside_an_all_reduce(self):
        def step(a):
            reduced = lax.psum(a, "r")
            g = a @ a
            c = jax.nn.relu(a)
            d = c @ c
            f = d * c * reduced
            return (d + reduced + lax.psum(f, "r")) @ g
        self.check_step(step, (32, 32))

    def test_fully_sharded_weights(self):
        def step(x, *weights):
            for w in weights:
                x = jax.nn.relu(x @ lax.all_gather(w, "r", tiled=True)[:32])
            return x
        self.check_step(step, (8, 32), *[(16, 32)] * self.LAYERS)

    def test_gradients_of_data_parallel_layers(self):
        def step(dy, *inputs_and_weights):
            xs = inputs_and_weights[:self.LAYERS]
            weights = inputs_and_weights[self.LAYERS:]
            gradients = []
            for x, w in zip(reversed(xs), reversed(weights)):
                gradients.append(lax.psum(x.T @ dy, "r"))
                dy = dy @ w.T
            return [g * 0.5 for g in gradients] + [dy]
        self.check_step(step, *[(16, 32)] * (1 + self.LAYERS), *[(32, 32)] * self.LAYERS)

    def test_two_micro_batches_of_tensor_parallel_layers(self):
        def step(x1, x2, *weights):
            for up, down in zip(weights[::2], weights[1::2]):
                x1 = lax.psum(jax.nn.relu(x1 @ up) @ down, "r")
                x2 = lax.psum(jax.nn.relu(x2 @ up) @ down, "r")
            return x1, x2
        self.check_step(step, (16, 32), (16, 32), *[(32, 16), (16, 32)] * 2)


class ControlFlowTest(jt.JaxTestCase):
    def test_scan_around_a_permute(self):
        def ring(x):
            def body(carry, _):
                pairs = [(i, (i + 1) % 4) for i in range(4)]
                return lax.ppermute(carry, "r", pairs) * 2, carry[0]
            carry, rows = lax.scan(body, x, None, length=4)
            return carry + rows
        program = self.check_equal(shard(ring), jt.integers((16, 3)))
        self.assertIn("scf.for", program.text)
        self.assertNotIn("scf.while", program.text)

    def test_fori_loop_around_an_all_reduce(self):
        self.check_equal(shard(lambda x: lax.fori_loop(
            0, 5, lambda i, c: c + i * lax.psum(x, "r"), x)), jt.integers((8, 3)))

    def test_short_loops_of_elementwise_ops_are_unrolled(self):
        def draw(x):
            key = jax.random.fold_in(jax.random.key(2**31 + 7), lax.axis_index("r"))
            return jnp.where(jax.random.bernoulli(key, 0.7, x.shape), x, 0)

        def count(x):
            start = x.astype(jnp.uint8), x.astype(jnp.uint8), jnp.array([3, 250], jnp.uint8), jnp.array([7, 1], jnp.uint8)
            return lax.fori_loop(-2, 5, lambda i, c: (c[1] - i * c[0] + c[2][0], c[0] + c[3][1], c[3] + c[2], c[2]), start)[0]

        for function in draw, count:
            program = self.check_equal(shard(function), jt.integers((16, 3)))
            self.assertNotIn("scf.", program.text)

    def test_loops_that_are_long_or_have_other_ops_stay(self):
        for function in (lambda x: lax.fori_loop(0, 17, lambda i, c: c + i, x),
                         lambda x: lax.fori_loop(0, 3, lambda i, c: c @ jnp.ones((3, 3)), x)):
            program = self.check_equal(shard(function), jt.integers((16, 3)))
            self.assertIn("scf.for", program.text)

    def test_counters_are_indices_of_loops(self):
        def loops(x):
            rows = lax.scan(lambda c, row: (c + row @ jnp.ones((3, 3)), c * row), x[0], x, reverse=True)[1]
            nested = lax.fori_loop(1, 4, lambda i, c: lax.fori_loop(2, 4, lambda j, c: c.at[i].add(c[j - i] * j), c), x)
            chosen = lax.fori_loop(0, 3, lambda i, c: lax.cond(i == 1, lambda c: c @ c.T @ c, lambda c: c.at[i].set(0.0), c), x)
            never = lax.fori_loop(5, 2, lambda i, c: c @ jnp.ones((3, 3)) + i, x)
            i, down, long, sums = lax.while_loop(lambda s: s[0] < 7, lambda s: (
                s[0] + 1, s[1] - 3, s[2] + np.uint8(100), lax.dynamic_slice(s[3], (s[1] % 2, 0), (3, 3)).sum() + s[3] * s[1] + s[2]),
                (2, 1, np.uint8(7), x))
            turned = lax.fori_loop(0, 3, lambda i, c: ((c[1] @ jnp.ones((3, 3))).real * 1j, c[0] + i), (1j + jnp.zeros((4, 3)), x + 0j))
            return rows, nested, chosen, never, sums + i * down + long, turned

        program = self.check_equal(shard(loops), jt.integers((16, 3)))
        # A GPU's host would read these.
        self.assertNotRegex(program.text, r"tensor\.extract %\w+\[\]")
        self.assertNotRegex(program.text, r"scf\.for .*tensor<i32>")

    def test_gradients_of_layers_over_parts(self):
        """The backward loop reads the starts of parts from a stack of the forward one."""
        def layer(x, w, reverse):
            def put(out, start):
                part = jnp.tanh(lax.dynamic_slice_in_dim(x, start, 2) @ w)
                return lax.dynamic_update_slice_in_dim(out, part, start, 0), ()
            return lax.scan(put, jnp.zeros(x.shape), jnp.arange(0, x.shape[0] - 1, 2), reverse=reverse)[0]

        for reverse in (False, True):
            self.check_equal(shard(jax.grad(lambda x, w: (layer(layer(x, w, reverse), w, False) ** 3).sum(), (0, 1)),
                                   in_specs=(P("r"), P()), out_specs=P("r")),
                             jt.normals((60, 6)), jt.normals((6, 6), seed=1), tolerance=TOLERANCE)

    def test_loop_of_a_number_of_iterations_that_the_rank_decides(self):
        self.check_equal(shard(lambda x: lax.fori_loop(
            0, lax.axis_index("r"), lambda i, c: c * 2, x)), jt.integers((8, 3)))

    def test_loops_that_count_to_values(self):
        def loops(x, begin, end, ends):
            def step(state):
                i, n, c = state
                return i + 1, n, lax.fori_loop(i, n, lambda j, c: c + j * c.at[j % 2].get() + i, c)

            last, _, up = lax.while_loop(lambda s: s[0] < s[1], step, (begin, end, x))
            none, _, same = lax.while_loop(lambda s: s[0] < s[1], step, (end, begin, x))
            # The end changes, the step is two, and an array has the end.
            moved = lax.while_loop(lambda s: s[0] < s[1], lambda s: (s[0] + 1, s[1] - 1, s[2] * 2), (begin, end, x))
            long = lax.while_loop(lambda s: s[0] < end, lambda s: (s[0] + 2, s[1] + s[0]), (begin, x))
            own = lax.fori_loop(begin, ends[0] + lax.axis_index("r"), lambda i, c: c + i, x)
            return jax.tree.map(lambda r: jnp.broadcast_to(r, x.shape), (last, up, none, same, *moved, *long, own))

        program = self.check_equal(shard(loops, (P("r"), P(), P(), P("r"))), jt.integers((8, 3)), np.int32(-3), np.int32(4),
                                   np.full(4, 2, np.int32))
        self.assertEqual(program.text.count("scf.while"), 2)
        self.assertNotIn("cf.assert", program.text)

    def test_ranks_compare_arguments_that_loops_count_to(self):
        def loop(x, n, m, k):
            x = lax.fori_loop(0, n, lambda i, c: c + i * lax.psum(x, "r"), x)
            end = m.astype(jnp.int32) + n
            return lax.while_loop(lambda s: s[1] < end, lambda s: (lax.pmax(s[0], "r") + k, s[1] + 3), (x, n))[0]

        numbers = np.int32(5), np.uint8(250), np.int32(2)
        program = self.check_equal(shard(loop, (P("r"), P(), P(), P())), jt.integers((8, 3)), *numbers)
        # Nothing depends on the last one but values.
        self.assertEqual(program.text.count("cf.assert"), 2)
        self.assertEqual(program.text.count("comm.all_reduce max"), 2)
        executable = program.compile().executable
        parts = program.shard(jt.integers((8, 3)), *numbers)
        for argument in (1, 2):
            for rank in range(4):
                given = [list(part) for part in parts]
                given[rank][argument] = given[rank][argument] - 3
                with self.assertRaises(braid.mlir.RankError) as caught:
                    executable.run(given, timeout=10.0)
                self.assertEqual(sorted(failure.rank for failure in caught.exception.failures), [0, 1, 2, 3])
                self.assertIn(f"different values of argument {argument}, which", str(caught.exception))
        executable.run(parts)

    def test_ranks_compare_no_arguments_that_decide_nothing_together(self):
        def loop_of_rank(x, n, ns):
            x = lax.fori_loop(0, ns[0] + n, lambda i, c: c + i * lax.psum(x, "r"), x)
            return lax.fori_loop(0, n, lambda i, c: c + i * x, x)

        program = self.check_equal(shard(loop_of_rank, (P("r"), P(), P("r"))), jt.integers((8, 3)), np.int32(3), np.full(4, 5, np.int32))
        self.assertNotIn("cf.assert", program.text)

    def test_while_loop_to_a_constant(self):
        self.check_equal(jax.jit(lambda x: lax.while_loop(lambda c: c < 100.0, lambda c: c * 2.0 + 1.0, x)), np.float32(3.0))

    def test_while_loop_that_all_ranks_end_together(self):
        self.check_equal(shard(lambda x: lax.while_loop(
            lambda c: lax.pmax(jnp.abs(c).max(), "r") > 0.25, lambda c: c * 0.5, x)),
            jt.integers((8, 3)))

    def test_cond(self):
        self.check_equal(shard(lambda x: lax.cond(
            lax.axis_index("r") > 1, lambda x: x * 2, lambda x: x - 1, x)),
            jt.integers((8, 3)))

    def test_switch_clamps_its_index(self):
        self.check_equal(shard(lambda x: lax.switch(
            lax.axis_index("r") * 2 - 1, [lambda x: x * 2, lambda x: x - 1, jnp.negative], x)),
            jt.integers((8, 3)))

    def test_clipping_by_the_norm_of_many_gradients(self):
        """The sum that decides is longer than Python's stack is deep."""
        def clip(x):
            norm = jnp.sqrt(sum(jnp.sum(row * row) for row in x))
            return lax.select(norm < 1, x[0], x[0] / norm)

        self.check_equal(jax.jit(clip), jt.normals((400, 4)), tolerance=TOLERANCE)

    def test_remat_of_a_gradient(self):
        def loss(x):
            return lax.psum(jax.checkpoint(lambda x: jnp.sin(x @ x.T))(x).sum(), "r")
        self.check_equal(shard(jax.grad(loss)), jt.normals((8, 16)), tolerance=TOLERANCE)


class ComputeTest(jt.JaxTestCase):
    """Ops beside the collectives."""

    def check_parts(self, fn, *args, tolerance=TOLERANCE):
        self.check_equal(shard(fn), *(args or [jt.normals((8, 6, 16))]), tolerance=tolerance)

    def test_matmuls(self):
        for spec in ("btd,df->btf", "bthd,bshd->bhts", "bhid,bhjd->bhij", "abc,dbc->ad",
                     "abc,cbd->ad", "ab,cd->acbd", "ab,ab->a", "ka,kb->ab"):
            with self.subTest(spec=spec):
                left, right = spec.split("->")[0].split(",")
                sizes = dict(zip(sorted(set(left + right)), (2, 3, 4, 5, 6)))
                sizes[left[0]] = 2
                x = jt.normals((8, *[sizes[d] for d in left[1:]]))
                y = jt.normals([sizes[d] for d in right], seed=1)
                self.check_equal(shard(lambda x, y: jnp.einsum(spec, x, y), (P("r"), P())),
                                 x, y, tolerance=TOLERANCE)

    def test_matmuls_between_transposes(self):
        def linear(x, w, factor):
            y = 3 * jnp.einsum("nbui,nuw->nbwi", x, w[None] * jnp.ones((2, 1, 1)))
            return jnp.einsum("nbui,uw->bnwi", y * factor, w) * 0.25 + jnp.einsum("nbui,wu->bnwi", y, w)

        def gradients(*args):
            return jax.value_and_grad(lambda *args: jnp.mean(jnp.sin(linear(*args))), (0, 1, 2))(*args)

        args = jt.normals((2, 5, 7, 3)), jt.normals((7, 7), seed=1), jnp.float32(0.5)
        for fn in linear, gradients:
            self.check_equal(jax.jit(fn), *args, tolerance=TOLERANCE)

    def test_matmuls_of_bf16_are_summed_in_f32(self):
        x = np.ones((4, 4096)).astype(jnp.bfloat16)
        self.check_parts(lambda x: x @ x.T, x, tolerance=0)

    def test_attention(self):
        def attention(x):
            scores = jnp.einsum("btd,bsd->bts", x, x) / 4
            mask = jnp.tril(jnp.ones((6, 6), bool))
            return jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ x
        self.check_parts(attention)

    def test_scores_in_the_order_of_subscripts(self):
        # As Qwen3 of bonsai has them. 2 MiB of scores get the layouts of the ops between matmuls.
        def attention(q, k, v, lengths):
            scores = jnp.einsum("btkgh,bskh->btskg", q, k) / 4
            mask = jnp.arange(k.shape[1])[None, None] <= jnp.arange(q.shape[1])[None, :, None] + lengths[:, None, None]
            weights = jax.nn.softmax(jnp.where(mask[..., None, None], scores, -1e9), axis=2)
            return jnp.einsum("btskg,bskh->btkgh", weights, v)

        def gradients(*args):
            return jax.value_and_grad(lambda *args: jnp.mean(jnp.sin(attention(*args))), (0, 1, 2))(*args)

        args = (jt.normals((2, 32, 4, 2, 16)), *(jt.normals((2, 1024, 4, 16), seed=seed) for seed in (1, 2)), np.array([3, 900], np.int32))
        for fn in attention, gradients:
            program = self.check_equal(jax.jit(fn), *args, tolerance=TOLERANCE)
            self.assertNotIn("library.attention", program.text)

    def test_normalization_and_activations(self):
        self.check_parts(lambda x: (x - x.mean(-1, keepdims=True))
                         * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5))
        self.check_parts(lambda x: (jax.nn.gelu(x), jax.nn.gelu(x, approximate=False),
                                    jax.nn.silu(x), jnp.tanh(x), jnp.sign(x)))

    def test_rotary_embedding(self):
        def rotate(x):
            angles = jnp.arange(6.0)[:, None] / 10 ** jnp.arange(8.0)
            a, b = jnp.split(x, 2, axis=-1)
            sin, cos = jnp.sin(angles), jnp.cos(angles)
            return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
        self.check_parts(rotate)

    def test_lookup(self):
        self.check_equal(shard(lambda table, ids: table[ids], (P(), P("r"))),
                         jt.normals((10, 4)), np.array([3, 1, -1, 9, 20, 0, 0, 5]))

    def test_slices_and_updates(self):
        self.check_parts(lambda x: (
            x[:, ::2], x[:, ::-1], jnp.pad(x, ((0, 0), (1, 2), (0, 0))),
            lax.dynamic_slice(x, (0, lax.axis_index("r"), 0), (1, 2, 16)),
            lax.dynamic_update_slice(x, x[:1, :2] * 2, (0, lax.axis_index("r"), 1))),
            tolerance=0)

    def test_scatters(self):
        rows = jnp.array([0, 1, 0])
        for name, fn in {
                "add": lambda x: x.at[rows].add(1.0),
                "set": lambda x: x.at[:, jnp.array([3, 1])].set(7.0),
                "multiply": lambda x: x.at[1].multiply(x[0]),
                "max": lambda x: x.at[rows, jnp.array([2, -1, 3])].max(0.5),
                "out of bounds": lambda x: x.at[jnp.array([0, 9, -3])].add(5.0),
                "windows": lambda x: x.at[0, 2:5].add(1.0),
                "batches": lambda x: jax.vmap(lambda row, i: row.at[i].add(2.0))(
                    x, jnp.arange(2) + lax.axis_index("r")),
                "gradient": jax.grad(lambda x: (x[rows] ** 2).sum())}.items():
            with self.subTest(name=name):
                self.check_parts(fn, jt.integers((8, 6)), tolerance=0)

    def test_convolution_and_pooling(self):
        w = jt.normals((3, 3, 3, 4), seed=1)
        self.check_equal(shard(lambda x, w: lax.reduce_window(
            lax.conv_general_dilated(x, w, (2, 2), "SAME",
                                     dimension_numbers=("NHWC", "HWIO", "NHWC")),
            -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (P("r"), P())),
            jt.normals((4, 8, 8, 3)), w, tolerance=TOLERANCE)

    def test_integers(self):
        x = jt.integers((8, 16), np.int32)
        self.check_parts(lambda x: (x % 3, x // 3, x << 2, x >> 1, ~x, x & 3, x ^ 5), x,
                         tolerance=0)
        self.check_parts(lambda x: (x % 3, x // 3, x >> 1, x > 7, jnp.maximum(x, 3),
                                    x.astype(jnp.float32)), x.astype(np.uint32), tolerance=0)

    def test_casts(self):
        x = np.abs(jt.normals((8, 16))) * 3
        self.check_parts(lambda x: tuple(x.astype(t) for t in (
            jnp.int32, jnp.uint8, jnp.float16, jnp.bfloat16, jnp.bool_, jnp.complex64)), x,
            tolerance=0)

    def test_random_numbers(self):
        self.check_parts(lambda x: x + jax.random.normal(jax.random.key(0), x.shape))

    def test_reductions_and_scans(self):
        self.check_parts(lambda x: (x.sum(1), x.max(2), x.argmax(-1), jnp.cumsum(x, axis=1),
                                    (x > 0).any(1)))

    def test_values_without_elements(self):
        self.check_parts(lambda x: x[:, :0], tolerance=0)


if __name__ == "__main__":
    unittest.main()
