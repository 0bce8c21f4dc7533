"""Graphs, searches and results of braid.schedule, as a user has them from the wheel."""

# REQUIRES: package
# RUN: %package_python %s

import json
import math
import os
import pickle
import tempfile
import unittest

from braid import schedule


def make_example():
    """Two collectives of a lane, a matmul that needs neither, a sum that needs both."""
    graph = schedule.Graph()
    gather = graph.start("gather", 300, lane="world", bytes=100)
    gathered = graph.wait("gathered", gather)
    product = graph.compute("product", 500, bytes=64)
    reduce = graph.start("reduce", 300, lane="world", bytes=64)
    reduced = graph.wait("reduced", reduce)
    graph.compute("sum", 100, after=[gathered, product, reduced], bytes=10, output=True)
    return graph


class Search(unittest.TestCase):
    def test_best_order(self):
        found = schedule.schedule(make_example())
        self.assertEqual(found.makespan, 700)
        self.assertEqual(found.bound, 700)
        self.assertEqual(found.gap, 0)
        self.assertTrue(found.optimal)
        self.assertEqual(found.names, ["gather", "reduce", "product", "gathered", "reduced", "sum"])
        self.assertEqual(found.exposed, 100)

    def test_program_and_its_reasons(self):
        program = schedule.schedule(make_example()).program
        self.assertEqual(program.makespan, 1200)
        self.assertEqual(
            [str(reason) for reason in program.reasons],
            [
                "gather exposed for 300 ns: product could run beside it, which gains 300 ns",
                "reduce exposed for 300 ns: product could run beside it, which gains 300 ns",
            ],
        )
        self.assertEqual([reason.kind for reason in program.reasons], ["not-moved", "not-moved"])

    def test_timeline(self):
        found = schedule.schedule(make_example())
        slices = {piece.name: piece for piece in found.timeline}
        self.assertEqual((slices["gather"].start, slices["gather"].end, slices["gather"].lane), (0, 300, "world"))
        self.assertEqual((slices["reduce"].start, slices["reduce"].end), (300, 600))
        self.assertEqual((slices["product"].start, slices["product"].end, slices["product"].lane), (0, 500, None))
        self.assertEqual((slices["sum"].start, slices["sum"].end), (600, 700))
        self.assertEqual(slices["reduce"].exposed, 100)

    def test_memory_lives_from_its_node_to_its_last_reader(self):
        program = schedule.schedule(make_example()).program
        self.assertEqual(program.memory, [100, 100, 164, 228, 228, 238])
        self.assertEqual(program.peak, 238)

    def test_a_collective_holds_its_operand_until_its_wait(self):
        graph = schedule.Graph(live_bytes=1000)
        operand = graph.compute("operand", 10, bytes=64)
        start = graph.start("start", 10, after=operand)
        graph.compute("between", 10)
        graph.wait("wait", start)
        graph.compute("behind", 10)
        found = schedule.schedule(graph, algorithm="program-order")
        self.assertEqual(found.memory, [1064, 1064, 1064, 1064, 1000])

    def test_same_arguments_same_order(self):
        orders = {tuple(schedule.schedule(make_example()).order) for _ in range(3)}
        self.assertEqual(len(orders), 1)

    def test_keep_order_of_starts(self):
        graph = schedule.Graph()
        late = graph.compute("late", 100)
        first = graph.start("first", 50, after=late)
        second = graph.start("second", 50)
        graph.compute("end", 10, awaits=[first, second])
        free, kept = schedule.schedule(graph), schedule.schedule(graph, keep_order=True)
        self.assertLess(free.names.index("second"), free.names.index("first"))
        self.assertLess(kept.names.index("first"), kept.names.index("second"))

    def test_limit_on_operations_in_flight(self):
        found = schedule.schedule(make_example(), max_in_flight=1)
        self.assertLess(found.names.index("gathered"), found.names.index("reduce"))
        unlimited = schedule.schedule(make_example(), max_in_flight=1 << 40)
        self.assertEqual(unlimited.names, schedule.schedule(make_example()).names)

    def test_no_order_within_the_limit_on_operations_in_flight(self):
        graph = schedule.Graph()
        starts = [graph.start(name, 10) for name in ("first", "second")]
        graph.wait("both", starts)
        with self.assertRaises(schedule.ScheduleError) as raised:
            schedule.schedule(graph, max_in_flight=1)
        self.assertEqual(
            str(raised.exception),
            "found no order within max_in_flight=1; in the program's, node 1 is operation 2 in flight on lane 0, "
            "which may have 1",
        )

    def test_limit_on_memory(self):
        graph = schedule.Graph()
        for which in "ab":
            big = graph.compute(f"make {which}", 10, bytes=100)
            graph.compute(f"use {which}", 10, after=big)
        self.assertEqual(schedule.schedule(graph, max_memory=100).peak, 100)
        with self.assertRaises(schedule.MemoryLimitError) as raised:
            schedule.schedule(graph, max_memory=99)
        self.assertTrue(raised.exception.proven)
        self.assertEqual((raised.exception.excess, raised.exception.least_peak), (1, 100))

    def test_efforts_and_steps(self):
        for effort in ("low", "default", "high"):
            self.assertEqual(schedule.schedule(make_example(), effort=effort).makespan, 700)
        self.assertEqual(schedule.schedule(make_example(), steps=1, seed=7).makespan, 700)

    def test_a_graph_without_nodes(self):
        found = schedule.schedule(schedule.Graph())
        self.assertEqual((found.order, found.makespan, found.gap), ([], 0, None))
        found.to_html()

    def test_edges_that_lead_back_give_another_program_order(self):
        graph = schedule.Graph()
        first = graph.compute("first", 10)
        second = graph.compute("second", 10, bytes=8)
        graph.transient(first, 100)
        graph.order(second, first)
        found = schedule.schedule(graph)
        self.assertEqual(found.order, [1, 0])
        self.assertEqual(found.names, ["second", "first"])
        self.assertEqual(found.memory, [8, 100])

    def test_floats_become_whole_nanoseconds(self):
        graph = schedule.Graph()
        graph.compute("short", 0.2)
        graph.compute("long", 2.6)
        self.assertEqual(schedule.schedule(graph).makespan, 4)


class Algorithms(unittest.TestCase):
    def test_every_algorithm_gives_a_legal_order(self):
        graph = make_example()
        for name in schedule.algorithms():
            found = schedule.schedule(graph, algorithm=name)
            self.assertEqual(sorted(found.order), list(range(len(graph))), name)
            self.assertGreaterEqual(found.makespan, 700, name)

    def test_names_that_the_documentation_has(self):
        self.assertLessEqual({"inductor", "list", "latency-hiding", "xla"}, set(schedule.algorithms()))

    def test_inductor_is_the_passes_of_2_4(self):
        graph = make_example()
        self.assertEqual(
            schedule.schedule(graph, algorithm="inductor").order,
            schedule.schedule(graph, algorithm="reorder-sink-raise").order,
        )

    def test_compare(self):
        found = schedule.compare(make_example())
        self.assertEqual(found["search"].makespan, 700)
        self.assertEqual(found["program-order"].makespan, 1200)
        self.assertEqual(found["list"].makespan, 900)


class Machines(unittest.TestCase):
    def test_known_machines(self):
        self.assertIn("h100x8", schedule.machines())
        machine = schedule.Machine("h100x8")
        self.assertEqual((machine.ranks_per_node, machine.multiprocessors), (8, 132))
        self.assertTrue(machine.is_shared)

    def test_collectives_take_longer_with_more_bytes(self):
        machine = schedule.Machine("h100x8")
        short, long = (machine.collective("all_reduce", size) for size in (1 << 20, 1 << 26))
        self.assertLess(short.ns, long.ns)
        self.assertTrue(short.exact)
        # 2 (n - 1) / n of the bytes.
        self.assertEqual(long.link_bytes, (1 << 26) * 14 // 8)

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            with open(path, "w") as file:
                json.dump({"base": "h100x8", "launch_ns": 7000}, file)
            machine = schedule.Machine(path)
        self.assertEqual((machine.name, machine.launch_ns), ("mine", 7000))
        again = pickle.loads(pickle.dumps(machine))
        self.assertEqual((again.name, again.launch_ns), ("mine", 7000))

    def test_another_process_has_the_profile_as_well(self):
        machines = [schedule.Machine("h200x8", profile) for profile in ("none", "shipped")]
        times = [[each.matmul(4096, 4096, 4096).ns for each in (one, pickle.loads(pickle.dumps(one)))] for one in machines]
        self.assertEqual([here for here, _ in times], [there for _, there in times])
        self.assertNotEqual(*times)

    def test_groups_by_stride_on_an_oversubscribed_network(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cluster.json")
            with open(path, "w") as file:
                json.dump({"base": "h100x8", "network": {"leaf_ports": 64, "oversubscription": 4}}, file)
            machine = schedule.Machine(path)
        times = {stride: machine.collective("all_gather", 1 << 20, 1 << 30, ranks=8, stride=stride) for stride in (1, 8, 64)}
        self.assertEqual([time.link for time in times.values()], ["intra-node", "inter-node", "spine"])
        self.assertLess(3 * times[8].ns, times[64].ns)
        self.assertEqual(times[8].ns, machine.collective("all_gather", 1 << 20, 1 << 30, ranks=8, nodes=8).ns)
        # Two at a time share the spine, but not with those of the ports.
        for links, factor in ((("spine", "spine"), 2), (("spine", "inter-node"), 1)):
            graph = schedule.Graph()
            starts = [
                graph.start(str(lane), times[64].ns, lane=str(lane), link=link, demand={"link_bytes": times[64].link_bytes})
                for lane, link in enumerate(links)
            ]
            graph.wait("all", starts)
            self.assertAlmostEqual(schedule.schedule(graph, machine).makespan / times[64].ns, factor, delta=0.02)
        for arguments in ({"nodes": 1, "stride": 1}, {"stride": 0}):
            with self.assertRaises(schedule.ScheduleError):
                machine.collective("all_gather", 1, ranks=2, **arguments)
        with self.assertRaisesRegex(schedule.ScheduleError, "has the link 2, expected -1 to 1"):
            schedule.schedule(graph, "h100x8")

    def test_launches_and_contention(self):
        graph = schedule.Graph()
        graph.compute("product", 1000000, demand={"arithmetic_ns": 1000000})
        start = graph.start("reduce", 1000000, link="intra-node", demand={"multiprocessors": 66})
        graph.wait("reduced", start)
        alone = schedule.schedule(graph).makespan
        shared = schedule.schedule(graph, "h100x8")
        self.assertEqual(alone, 1000000)
        self.assertGreater(shared.makespan, 1000000)
        self.assertLess(shared.makespan, 2100000)

    def test_a_profile_gives_times_of_collectives_and_products(self):
        model, measured = schedule.Machine("h200x8", "none"), schedule.Machine("h200x8")
        time = measured.collective("all_reduce", 1 << 26, ranks=2)
        self.assertEqual((time.ns, time.measured), (247553, True))
        self.assertFalse(model.collective("all_reduce", 1 << 26, ranks=2).measured)
        # Limits of blocks: those that were measured, or else the next one below.
        limited = [measured.collective("all_reduce", 1 << 26, ranks=2, max_ctas=n).ns for n in (4, 8, 9)]
        self.assertEqual(limited, [822308, 439450, 439450])
        # A model that the caller names has not been measured.
        self.assertFalse(measured.collective("all_reduce", 1 << 26, ranks=2, model="link").measured)
        self.assertLess(model.matmul(4096, 4096, 4096).ns, measured.matmul(4096, 4096, 4096).ns)

    def test_a_machine_known_by_name_has_its_shipped_profile(self):
        def is_measured(*arguments):
            return schedule.Machine(*arguments).matmul(4096, 4096, 4096).measured

        for profile in ((), ("auto",), ("shipped",)):
            self.assertTrue(is_measured("h200x8", *profile))
        for profile in ("none", None):
            self.assertFalse(is_measured("h200x8", profile))
        # Braid has none of this machine, and a file may describe another one.
        self.assertFalse(is_measured("a100x8"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "h200x8.json")
            with open(path, "w") as file:
                json.dump({"base": "h200x8"}, file)
            self.assertFalse(is_measured(path))

    def test_sizes_are_numbers_or_texts(self):
        machine = schedule.Machine("cpu")
        for text, size in (("32MiB", 1 << 25), ("1.5KB", 1500), ("7", 7), ("64B", 64), ("1e3B", 1000)):
            self.assertEqual(machine.collective("all_gather", text), machine.collective("all_gather", size), text)
        graph = make_example()
        peak = schedule.schedule(graph).peak
        self.assertEqual(schedule.schedule(graph, max_memory=f"{peak}B").peak, peak)

    def test_a_profile_of_matmuls(self):
        profile = {
            "version": 2, "date": "2026-11-22", "spread": 0.05, "software": {"nccl": "2.28.9"},
            "machine": {"name": "h200x8", "gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
            "matmuls": [
                {"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "ns": 179000},
                {"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "multiprocessors": 124, "ns": 197000},
                {"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "transposed": "left", "ns": 185000},
            ],
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lab.json")
            with open(path, "w") as file:
                json.dump(profile, file)
            machine = schedule.Machine("h200x8", path)
        all_of_them, some = (machine.matmul(4096, 4096, 4096, multiprocessors=n) for n in (0, 124))
        self.assertEqual((all_of_them.ns, all_of_them.measured, all_of_them.blocks), (179000, True, -1))
        self.assertEqual((some.ns, some.blocks), (197000, 124))
        self.assertEqual(machine.matmul(4096, 4096, 4096, transposed="left").ns, 185000)

    def test_matmuls_take_waves_of_tiles(self):
        machine = schedule.Machine("h100x8")
        fitting, more = machine.matmul(128 * 33, 1024, 4096), machine.matmul(128 * 34, 1024, 4096)
        self.assertEqual((fitting.tiles, fitting.arithmetic_ns), (132, int(fitting.ns)))
        self.assertGreater(more.ns, 1.05 * fitting.ns)
        self.assertAlmostEqual(machine.matmul(4096, 4096, 4096, batch=4).ns / machine.matmul(4096, 4096, 16384).ns, 1, 1)
        self.assertEqual(schedule.Machine("cpu").matmul(64, 64, 64, "f32").blocks, 0)

    def test_matmuls_that_leave_room_let_collectives_in(self):
        """On a machine whose multiprocessors are queued for."""
        machine = schedule.Machine("h200x8", "shipped")

        def simulate(max_ctas, target):
            graph = schedule.Graph()
            product = machine.matmul(8192, 8192, 8192, multiprocessors=target)
            first = graph.compute("first", product.ns, demand=product)
            time = machine.collective("all_reduce", 1 << 25, ranks=2, max_ctas=max_ctas)
            start = graph.start("reduce", time.ns, link="intra-node", after=first, demand=time)
            second = graph.compute("second", product.ns, after=first, demand=product)
            graph.compute("sum", 1000, after=[graph.wait("reduced", start), second])
            return next(piece for piece in schedule.schedule(graph, machine).timeline if piece.name == "reduce")

        self.assertLess(simulate(8, 124).end, simulate(0, 0).end)

    def test_matmuls_slow_down_more_what_moves_data_one_way(self):
        machine = schedule.Machine("h100x8", "shipped")
        self.assertFalse(machine.collective("all_reduce", 1 << 25, ranks=2).one_way)
        time = machine.collective("all_gather", 1 << 24, 1 << 25, ranks=2, max_ctas=8)
        self.assertTrue(time.one_way)

        def simulate(demand):
            graph = schedule.Graph()
            start = graph.start("gather", time.ns, link="intra-node", demand=demand)
            product = machine.matmul(8192, 8192, 8192, multiprocessors=120)
            beside = graph.compute("beside", product.ns, demand=product)
            graph.compute("sum", 1000, after=[graph.wait("gathered", start), beside])
            return next(piece for piece in schedule.schedule(graph, machine).timeline if piece.name == "gather")

        fields = ("memory_bytes", "link_bytes", "multiprocessors", "blocks", "one_way")
        demand = {field: getattr(time, field) for field in fields}
        self.assertEqual(simulate(demand).end, simulate(time).end)
        self.assertGreater(simulate(demand).end, simulate({**demand, "one_way": False}).end)
        with self.assertRaisesRegex(schedule.ScheduleError, "^gather: found one_way 1, expected True or False$"):
            simulate({**demand, "one_way": 1})


class Pictures(unittest.TestCase):
    def test_page(self):
        found = schedule.schedule(make_example())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            page = found.to_html(path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), page)
        self.assertIn("product: 0 to 500 ns", page)
        self.assertIn("1.2 us", page)
        self.assertIn("<svg", found._repr_html_())

    def test_names_cannot_break_the_page(self):
        graph = schedule.Graph()
        graph.compute("<script>", 10)
        self.assertNotIn("<script>", schedule.schedule(graph).to_html())

    def test_trace(self):
        trace = json.loads(schedule.schedule(make_example()).to_perfetto())
        events = {event["name"]: event for event in trace["traceEvents"] if event["ph"] == "X"}
        self.assertEqual((events["reduce"]["ts"], events["reduce"]["dur"]), (0.3, 0.3))
        rows = [event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"]
        self.assertEqual(rows, ["compute", "world"])


class Networkx(unittest.TestCase):
    def make(self):
        import networkx

        graph = networkx.DiGraph()
        # Against the program order on purpose.
        graph.add_node("sum", cost=100)
        graph.add_node("wait", kind="wait")
        graph.add_node("gather", kind="start", cost=300, lane="world")
        graph.add_node("product", cost=500)
        graph.add_edges_from([("gather", "wait"), ("wait", "sum"), ("product", "sum")])
        return graph

    def test_a_digraph(self):
        found = schedule.schedule(self.make())
        self.assertEqual(found.makespan, 600)
        self.assertEqual(found.names, ["gather", "product", "wait", "sum"])

    def test_a_cycle_is_named(self):
        graph = self.make()
        graph.add_edge("sum", "gather")
        with self.assertRaisesRegex(schedule.CycleError, "gather -> wait -> sum -> gather|wait -> sum -> gather"):
            schedule.schedule(graph)

    def test_awaits_names_one_node_or_several(self):
        import networkx

        for awaits in ("one", ["one"], {"one"}, ("one", "two"), {"two", "one"}, iter(["one"])):
            graph = networkx.DiGraph()
            graph.add_node("one", kind="start", cost=300)
            graph.add_node("two", kind="start", cost=30, lane="other")
            graph.add_node("wait", kind="wait", awaits=awaits)
            several = len(awaits) == 2 if isinstance(awaits, (set, tuple)) else False
            found = schedule.Graph.from_networkx(graph).nodes[-1].awaits
            self.assertEqual(found, (0, 1) if several else (0,), awaits)
        graph = networkx.DiGraph()
        graph.add_node(("x", 0), kind="start", cost=3)
        graph.add_node("sum", cost=5, awaits=("x", 0))
        self.assertEqual(schedule.Graph.from_networkx(graph).nodes[1].awaits, (0,))

    def test_wrong_awaits(self):
        for awaits, text in (
            (5, "wait: found awaits=5, expected a node or several"),
            ("all", "wait: found that it awaits 'all', expected a node before it"),
            (["gather", ["gather"]], "wait: found that it awaits ['gather'], expected a node before it"),
        ):
            graph = self.make()
            graph.nodes["wait"]["awaits"] = awaits
            with self.assertRaises(schedule.ScheduleError) as raised:
                schedule.schedule(graph)
            self.assertEqual(str(raised.exception), text)

    def test_parallel_edges(self):
        import networkx

        with self.assertRaisesRegex(schedule.ScheduleError, "expected a graph without parallel edges"):
            schedule.schedule(networkx.MultiDiGraph(self.make()))

    def test_wrong_attributes(self):
        graph = self.make()
        graph.nodes["product"]["colour"] = "red"
        with self.assertRaisesRegex(schedule.ScheduleError, "product: found attributes that a compute does not have"):
            schedule.schedule(graph)
        graph = self.make()
        del graph.nodes["product"]["cost"]
        with self.assertRaisesRegex(schedule.ScheduleError, "product: found no cost"):
            schedule.schedule(graph)
        graph = self.make()
        for kind in ("magic", ["compute"]):
            graph.nodes["product"]["kind"] = kind
            with self.assertRaises(schedule.ScheduleError) as raised:
                schedule.schedule(graph)
            self.assertIn(f"found the kind {kind!r}, expected one of: compute start", str(raised.exception))


class BadInput(unittest.TestCase):
    def check(self, text, function, *arguments, **options):
        with self.assertRaises(schedule.ScheduleError) as raised:
            function(*arguments, **options)
        self.assertIn(text, str(raised.exception))

    def test_costs(self):
        graph = schedule.Graph()
        for cost, text in (
            (-1, "found cost -1, expected at least 0"),
            (-0.5, "found cost -0.5, expected at least 0"),
            (math.nan, "found cost nan, expected a finite number"),
            (math.inf, "found cost inf, expected a finite number"),
            ("7", "found cost '7', expected a number"),
            (None, "found cost None, expected a number"),
            (True, "found cost True, expected a number"),
            (1 << 62, "expected at most 2^61"),
        ):
            self.check(f"x: {text}" if text.startswith("found") else text, graph.compute, "x", cost)
        self.assertEqual(len(graph), 0)

    def test_sums_of_costs(self):
        graph = schedule.Graph()
        for _ in range(3):
            graph.compute("long", 1 << 60)
        self.check("all ns add up to more than 2^61", schedule.schedule, graph)

    def test_bytes(self):
        self.check("found bytes -4, expected at least 0", schedule.Graph().compute, "x", 1, bytes=-4)

    def test_nodes_of_other_graphs(self):
        other = schedule.Graph().compute("other", 1)
        self.check("expected a node of this graph", schedule.Graph().compute, "x", 1, after=[other])
        self.check("expected a node of this graph", schedule.Graph().compute, "x", 1, after=["other"])

    def test_waits(self):
        graph = schedule.Graph()
        compute = graph.compute("compute", 1)
        self.check("expected a start", graph.wait, "x", compute)
        self.check("found a wait for nothing", graph.wait, "x", [])

    def test_lanes_and_links(self):
        graph = schedule.Graph()
        self.check("found the lane 7, expected a name", graph.start, "x", 1, lane=7)
        self.check("found the link 'pcie', expected one of", graph.start, "x", 1, link="pcie")
        self.check("found the link ['own'], expected one of", graph.start, "x", 1, link=["own"])
        graph.start("first", 1, lane="world", link="intra-node")
        self.check("has another one already", graph.start, "x", 1, lane="world", link="inter-node")

    def test_cycles(self):
        graph = schedule.Graph()
        nodes = [graph.compute(name, 1) for name in "abc"]
        for before, after in zip(nodes, nodes[1:] + nodes[:1]):
            graph.order(before, after)
        with self.assertRaises(schedule.CycleError) as raised:
            schedule.schedule(graph)
        self.assertIn("found the cycle", str(raised.exception))
        itself = schedule.Graph()
        node = itself.compute("a", 1)
        itself.order(node, node)
        self.check("a has to stay after itself", schedule.schedule, itself)

    def test_sizes(self):
        collective = schedule.Machine("cpu").collective
        self.check("found input_bytes='32 MiB', expected a whole number or a size", collective, "all_gather", "32 MiB")
        graph = make_example()
        for size in ("1XiB", "KiB", "iB", "1Ki", "-1B", "0x10", "nan", "infGB", ""):
            self.check(
                f"found max_memory={size!r}, expected a whole number, a size", schedule.schedule, graph, max_memory=size
            )

    def test_options(self):
        graph = make_example()
        for text, options in (
            ("found max_memory=-1, expected at least 0", {"max_memory": -1}),
            ("found max_memory='1 GB', expected a whole number, a size", {"max_memory": "1 GB"}),
            ("found max_memory='1e99GB', expected a whole number, a size", {"max_memory": "1e99GB"}),
            ("found max_in_flight=0, expected at least 1", {"max_in_flight": 0}),
            ("found the effort 'more', expected one of: low default high", {"effort": "more"}),
            ("found the effort ['low'], expected one of: low default high", {"effort": ["low"]}),
            ("found seed=-1", {"seed": -1}),
            ("found steps=0, expected at least 1", {"steps": 0}),
            ("found progress=7, expected a callable", {"progress": 7}),
            ("found no algorithm called 'magic', expected one of: program-order list", {"algorithm": "magic"}),
            ("found no algorithm called ['list'], expected one of: program-order", {"algorithm": ["list"]}),
            ("found no algorithm called 'list\\x00x', expected one of: program-order", {"algorithm": "list\0x"}),
            ("found no algorithm called '\\udcff', expected one of: program-order", {"algorithm": "\udcff"}),
            ("found no machine called 'abacus', expected one of: v100x8", {"machine": "abacus"}),
            ("found 7 as a machine", {"machine": 7}),
            ("no-such-file.json: found no machine", {"machine": "no-such-file.json"}),
        ):
            self.check(text, schedule.schedule, graph, **options)
        self.check("found 7, expected a braid.schedule.Graph", schedule.schedule, 7)
        self.assertIsInstance(self.catch(graph, machine="abacus"), schedule.UnknownNameError)

    def catch(self, graph, **options):
        with self.assertRaises(schedule.ScheduleError) as raised:
            schedule.schedule(graph, **options)
        return raised.exception

    def test_demands(self):
        graph = schedule.Graph()
        for demand in (5, "tiles", [("tiles", 5)]):
            text = f"x: found the demand {demand!r}, expected a dict, or what Machine.collective or Machine.matmul returns"
            self.check(text, graph.compute, "x", 1, demand=demand)

    def test_names_that_the_library_cannot_read(self):
        graph = schedule.Graph()
        machine = schedule.Machine("h100x8")
        for name, expected in (("a\0b", "expected no NUL character"), ("\udcff", "expected characters that UTF-8 has")):
            self.check(f"found the name {name!r}, {expected}", graph.compute, name, 1)
            self.check(f"x: found the lane {name!r}, {expected}", graph.start, "x", 1, lane=name)
            self.check(f"found the machine {name!r}, {expected}", schedule.Machine, name)
            self.check(f"found the kind {name!r}, {expected}", machine.collective, name, 1)
            self.check(f"found the model {name!r}, {expected}", machine.collective, "all_reduce", 1, model=name)
        self.check("found no machine: embedded null byte", schedule.Machine, "a\0b.json")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, os.fsdecode(b"\xff.json"))
            with open(path, "w") as file:
                file.write("{}")
            self.check("found the name '\\udcff', expected characters", schedule.Machine, path)
            path = os.path.join(folder, "nul.json")
            with open(path, "w") as file:
                file.write("{}\0")
            self.check("nul.json: found the text '{}\\x00', expected no NUL character", schedule.Machine, path)

    def test_messages_that_the_library_cuts_inside_of_a_character(self):
        self.check("found no machine called 'a\u00e9", schedule.Machine, "a\u00e9" * 700)

    def test_collectives(self):
        machine = schedule.Machine("h100x8")
        self.check("found no collective called 'all_sing'", machine.collective, "all_sing", 1)
        self.check("found no model of collectives called 'mine'", machine.collective, "all_reduce", 1, model="mine")
        for size in (-1, -1 << 64):
            self.check("found a negative number of bytes", machine.collective, "all_reduce", size)
        self.check("found 2 ranks on 4 nodes", machine.collective, "all_reduce", 1, ranks=2, nodes=4)
        self.check("found the kind None, expected the name of a collective", machine.collective, None, 1)
        self.check("found the model 7, expected a name or None", machine.collective, "all_reduce", 1, model=7)
        self.check("found no model of collectives called ''", machine.collective, "all_reduce", 1, model="")
        for text, options in (
            ("found input_bytes=1024.0, expected a whole number", {"input_bytes": 1024.0}),
            ("found input_bytes=True, expected a whole number", {"input_bytes": True}),
            (f"found input_bytes={1 << 64}, expected at most 2^61", {"input_bytes": 1 << 64}),
            (f"found output_bytes={1 << 64}, expected at most 2^61", {"output_bytes": 1 << 64}),
            (f"found ranks={(1 << 64) + 8}, expected at most 2^61", {"ranks": (1 << 64) + 8}),
            (f"found nodes={(1 << 64) + 1}, expected at most 2^61", {"nodes": (1 << 64) + 1}),
            (f"found max_ctas={1 << 64}, expected at most 2^61", {"max_ctas": 1 << 64}),
        ):
            self.check(text, machine.collective, "all_reduce", **{"input_bytes": 1024, **options})
        cpu = schedule.Machine("cpu")
        self.check("expected a machine that NCCL runs on", cpu.collective, "all_reduce", 1, model="nccl")

    def test_limits_and_products(self):
        machine = schedule.Machine("h100x8")
        self.check("found a limit of -1 thread blocks", machine.collective, "all_reduce", 1, max_ctas=-1)
        self.check("found a matmul of size 0, expected 1 to 2^24", machine.matmul, 0, 1, 1)
        self.check("found elements 'b16', expected one of: f64 f32", machine.matmul, 1, 1, 1, "b16")
        self.check("found rows=16.0, expected a whole number", machine.matmul, 16.0, 16, 16)
        self.check("found depth=None, expected a whole number", machine.matmul, 16, 16, None)
        for name in ("rows", "columns", "depth", "batch", "multiprocessors"):
            sizes = {"rows": 16, "columns": 16, "depth": 16, name: (1 << 64) + 16}
            self.check(f"found {name}={(1 << 64) + 16}, expected at most 2^61", machine.matmul, **sizes)
        with self.assertRaises(schedule.ScheduleError) as raised:
            machine.matmul(1, 1, 1, transposed="up")
        self.assertEqual(str(raised.exception), "found transposed='up', expected one of: none left right both")
        with self.assertRaises(schedule.ScheduleError) as raised:
            machine.matmul(1, 1, 1, multiprocessors=133)
        self.assertEqual(str(raised.exception), "found a matmul on 133 multiprocessors, expected 0 to 132")
        graph = schedule.Graph()
        self.check("found blocks -2, expected at least 0", graph.compute, "product", 1, demand={"blocks": -2})

    def test_profiles(self):
        self.check("found no profile of the machine 'a100x8'", schedule.Machine, "a100x8", "shipped")
        self.check("found 7 as a profile", schedule.Machine, "h200x8", 7)
        for text, expected in (
            ('{"version": 1, "machine": "a100x8", "entries": []}', "found a profile of the machine 'a100x8', expected one of 'h200x8'"),
            ('{"version": 1, "entries": []}', "found a profile without a machine, expected version 2"),
            ('{"version": 3}', "version"),
        ):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(text)
                file.flush()
                self.check(expected, schedule.Machine, "h200x8", file.name)

    def test_a_machine_file_with_a_mistake(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"base": "h100x8", "lunch": 7}')
            file.flush()
            self.check("lunch", schedule.Machine, file.name)


if __name__ == "__main__":
    unittest.main()
