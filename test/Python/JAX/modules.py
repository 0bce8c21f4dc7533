# REQUIRES: jax
# RUN: %jax_python %s
"""Modules of StableHLO whose collectives JAX's CPU backend does not make: groups by
axes of a mesh, by replicas and by partitions, paddings, broadcasts, other bodies."""

import unittest

import numpy as np

import braid.jax
import braid.mlir
from braid.jax import groups, hlo_groups, lowering, partitioner

SUM = """({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    })"""


def make_module(op, replicas=1, partitions=4, meshes="", results="tensor<2xf32>",
                arguments="%x: tensor<2xf32>"):
    return f"""module attributes {{mhlo.num_replicas = {replicas} : i32,
                   mhlo.num_partitions = {partitions} : i32}} {{
  {meshes}
  func.func public @main({arguments}) -> {results} {{
    %r = {op}
    return %r : {results}
  }}
}}"""


def all_reduce(attributes):
    return (f'"stablehlo.all_reduce"(%x) <{{{attributes}}}> {SUM} : '
            "(tensor<2xf32>) -> tensor<2xf32>")


def channel(number):
    return f"channel_handle = #stablehlo.channel_handle<handle = {number}, type = 1>"


class ModulesTest(unittest.TestCase):
    def translate(self, text):
        module = partitioner.parse(text)
        with module.context:
            world = groups.World(module)
        return braid.mlir.Program(lowering.to_text(module, world)[0])

    def check_sums(self, lists, attributes, **options):
        """Each rank has the sum over its list."""
        program = self.translate(make_module(all_reduce(attributes), **options))
        ranks = sum(len(members) for members in lists)
        results = program.compile().run(
            [[np.full(2, 10.0**rank, np.float32)] for rank in range(ranks)])
        for members in lists:
            for rank in members:
                np.testing.assert_array_equal(results[rank][0],
                                              np.full(2, sum(10.0**r for r in members)))

    def test_groups_by_axes_of_a_mesh(self):
        mesh = 'sdy.mesh @mesh = <["a"=2, "b"=2]>'
        for axis, lists in (("a", [[0, 2], [1, 3]]), ("b", [[0, 1], [2, 3]])):
            self.check_sums(lists, f"""{channel(1)}, use_global_device_ids, replica_groups =
                #stablehlo.replica_group_mesh_axes<mesh = @mesh,
                  axes = [#stablehlo.axis_ref<name = "{axis}">]>""", meshes=mesh)

    def test_groups_by_axes_of_a_mesh_of_devices_in_another_order(self):
        self.check_sums([[3, 1], [2, 0]], f"""{channel(1)}, use_global_device_ids,
            replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh,
              axes = [#stablehlo.axis_ref<name = "b">]>""",
                        meshes='sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[3, 1, 2, 0]>')

    def test_groups_by_axes_whose_names_the_text_escapes(self):
        for name in (r"a\22b", r"a\\", r"\C3\A9", "{a}, <b]"):
            self.check_sums([[0, 2], [1, 3]], f"""{channel(1)}, use_global_device_ids,
                replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh,
                  axes = [#stablehlo.axis_ref<name = "{name}">]>""",
                            meshes=f'sdy.mesh @mesh = <["{name}"=2, "c"=2]>')

    def test_groups_of_unequal_lengths(self):
        self.check_sums([[2], [3, 0, 1]], f"""{channel(1)}, use_global_device_ids,
            replica_groups = dense<[[2, -1, -1], [3, 0, 1]]> : tensor<2x3xi64>""")

    def test_no_groups_are_everyone(self):
        self.check_sums([[0, 1, 2, 3]], f"""{channel(1)}, replica_groups = dense<> :
            tensor<0x0xi64>""")

    def test_groups_of_replicas(self):
        self.check_sums([[0, 2], [1, 3]], "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
                        replicas=2, partitions=2)

    def test_groups_of_replicas_with_all_their_partitions(self):
        self.check_sums([[0, 1], [2, 3]],
                        f"{channel(1)}, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>",
                        replicas=2, partitions=2)

    def test_two_operands_are_one_launch(self):
        op = all_reduce(f"{channel(1)}, use_global_device_ids, replica_groups = "
                        "dense<[[0, 1]]> : tensor<1x2xi64>")
        op = op.replace("(%x)", "(%x, %x)").replace(
            "(tensor<2xf32>) -> tensor<2xf32>",
            "(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)")
        text = make_module(op, partitions=2).replace("%r = ", "%r:2 = ").replace("%r :", "%r#1 :")
        program = self.translate(text)
        self.assertIn("%all_reduce:2 = comm.all_reduce sum %arg0, %arg0", program.text)
        x = np.ones(2, np.float32)
        np.testing.assert_array_equal(program.compile().run([[x], [x]])[0][0], 2 * x)

    def test_permute_of_replicas(self):
        program = self.translate(make_module(
            '"stablehlo.collective_permute"(%x) <{source_target_pairs = '
            "dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>",
            replicas=2, partitions=2))
        self.assertIn("pairs [[0, 2], [1, 3]]", program.text)

    def test_partition_and_replica(self):
        for op, expected in (("partition_id", [0, 1, 0, 1]), ("replica_id", [0, 0, 1, 1])):
            program = self.translate(make_module(
                f"stablehlo.{op} : tensor<ui32>", replicas=2, partitions=2,
                results="tensor<ui32>", arguments=""))
            results = program.compile().run([[]] * 4)
            self.assertEqual([int(result[0]) for result in results], expected)

    def test_broadcast(self):
        program = self.translate(make_module(
            f'"stablehlo.collective_broadcast"(%x) <{{{channel(1)}, replica_groups = '
            "dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>"))
        results = program.compile().run([[np.full(2, r, np.float32)] for r in range(4)])
        self.assertEqual([result[0][0] for result in results], [1, 1, 2, 2])

    def check_refused(self, message, op, **options):
        with self.assertRaisesRegex(braid.jax.UnsupportedError, message):
            self.translate(make_module(op, **options))

    def test_broadcast_that_leaves_ranks_out(self):
        self.check_refused("stablehlo.collective_broadcast: rank 2 is in none of its groups",
                           f'"stablehlo.collective_broadcast"(%x) <{{{channel(1)}, '
                           "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : "
                           "(tensor<2xf32>) -> tensor<2xf32>")

    def test_groups_along_a_part_of_an_axis(self):
        self.check_refused(
            "stablehlo.all_reduce: its groups are along a part of an axis",
            all_reduce(f"""{channel(1)}, use_global_device_ids, replica_groups =
                #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [
                  #stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>]>"""),
            meshes='sdy.mesh @mesh = <["a"=4]>')

    def test_reduction_that_comm_lacks(self):
        op = all_reduce("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>")
        self.check_refused("all_reduce: its body computes stablehlo.subtract, expected one of "
                           "stablehlo.add, ", op.replace("stablehlo.add", "stablehlo.subtract"))
        self.check_refused("all_reduce: its body computes stablehlo.add, expected one of .* of "
                           "both arguments", op.replace("%a, %b :", "%a, %a :"))


class TupleTest(unittest.TestCase):
    CALL = """
        %0 = stablehlo.custom_call @pair(%x) : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
        %1 = """

    def normalize(self, use):
        module = partitioner.parse(f"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
            {self.CALL}{use}
            return %1 : tensor<2xf32>
        }}""")
        with module.context:
            partitioner._normalize(module, {})
        return str(module)

    def test_parts_of_a_tuple_are_results(self):
        text = self.normalize("stablehlo.get_tuple_element %0[1] : "
                              "(tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>")
        self.assertIn("-> (tensor<2xf32>, tensor<2xf32>)", text)
        self.assertIn("return %0#1", text)
        self.assertNotIn("tuple", text)

    def test_an_op_that_takes_a_whole_tuple_is_refused(self):
        with self.assertRaisesRegex(braid.jax.UnsupportedError,
                                    "stablehlo.custom_call: stablehlo.custom_call takes its results as one"):
            self.normalize("stablehlo.custom_call @sum(%0) : "
                           "(tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>")


class HloGroupsTest(unittest.TestCase):
    """Groups as XLA's text has them."""

    def test_notations(self):
        for text, lists in {
                "{}": [],
                "{{0,2},{1,3}}": [[0, 2], [1, 3]],
                "{{3},{0,1}}": [[3], [0, 1]],
                "[2,2]<=[4]": [[0, 1], [2, 3]],
                "[2,2]<=[2,2]T(1,0)": [[0, 2], [1, 3]],
                "mesh['a'=2,'b'=2] {'a'}": [[0, 2], [1, 3]],
                "mesh['a'=2,'b'=2] {'b'}": [[0, 1], [2, 3]],
                "mesh['a'=2,'b'=2] {'b','a'}": [[0, 2, 1, 3]],
                "mesh['a'=4] {'a':(1)2}": [[0, 2], [1, 3]],
                "mesh['a'=4] {'a':(2)2}": [[0, 1], [2, 3]],
                "mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}": [[0, 1], [2, 3]],
                "mesh['a'=2,'b'=2], device_ids=(3,1,0,2) {'b'}": [[3, 1], [0, 2]]}.items():
            with self.subTest(text=text):
                self.assertEqual(hlo_groups.read_groups(text, 4), lists)

    def test_groups_that_cannot_be(self):
        for text in ("{{0,1},{1,2}}", "{{0,4}}", "mesh['a'=2] {'b'}", "mesh['a'=8] {'a'}",
                     "mesh['a'=4] {'a':(3)2}"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                hlo_groups.read_groups(text, 4)


if __name__ == "__main__":
    unittest.main()
