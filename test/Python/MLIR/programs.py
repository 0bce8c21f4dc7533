# RUN: %python %s
# RUN: %python %s Interrupted
"""braid.mlir: programs from text to results, and what it says of bad input."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy as np

import braid.errors
import braid.mlir
from braid.mlir import ArgumentError, NotFoundError, Program, RankError, ToolError

# A matmul and the sum of it over all ranks.
SUMS = os.path.join(os.path.dirname(__file__), "..", "..", "Tools", "braid-run", "Inputs", "sums.mlir")

SUM = """comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %square = arith.mulf %x, %x : tensor<4xf32>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  %y = arith.addf %square, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

DYNAMIC = """comm.group @world all
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %t = comm.all_reduce sum %x on @world {comm.label = "ar0"} : tensor<?x2xf32>
  %s = comm.wait %t : !comm.token<tensor<?x2xf32>>
  return %s : tensor<?x2xf32>
}
"""


def fill(*values):
    return [[np.full(4, value, np.float32)] for value in values]


class ProgramTest(unittest.TestCase):
    def test_text_is_that_of_braid_opt(self):
        self.assertIn("%all_reduce = comm.all_reduce sum %arg0 on @world", Program(SUM).text)

    def test_run_passes(self):
        moved = Program(SUM.replace("  %square", "  %early").replace("%square", "%early"))
        text = moved.run_passes("func.func(comm-sink-waits)").text
        self.assertLess(text.index("arith.mulf"), text.index("comm.wait"))

    def test_report_as_text(self):
        report = Program(SUM).report(passes="comm-schedule", machine="h200x8")
        self.assertIn("machine h200x8", report)
        self.assertIn("Timeline of @main after", report)

    def test_report_as_json(self):
        report = Program(SUM).report(format="json")
        self.assertIsInstance(report, dict)

    def test_timelines_of_reports(self):
        report = Program(SUM).report(format="json", machine="h200x8")
        function = report["functions"][0]
        timeline = braid.mlir.Timeline(function)
        self.assertEqual((timeline.name, timeline.makespan), ("main", function["makespan_ns"]))
        starts = [piece for piece in timeline.timeline if piece.kind == "start"]
        self.assertEqual([(piece.name, piece.lane) for piece in starts], [("comm.all_reduce", "world")])
        self.assertEqual(max(piece.end for piece in timeline.timeline), timeline.makespan)
        self.assertEqual({piece.lane for piece in timeline.timeline if piece.kind != "start"}, {None})
        with self.assertRaises(braid.mlir.ArgumentError) as raised:
            braid.mlir.Timeline(report)
        self.assertIn("found no function of a report", str(raised.exception))

    def test_report_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            self.assertIsNone(Program(SUM).report(format="html", output=path))
            with open(path, encoding="utf-8") as file:
                self.assertIn("<html", file.read())

    def test_names_of_files_are_what_the_caller_says(self):
        names = ["a b", "it's", 'a"b', "x{y.json", "a}b", "{a}", "'a'", '"a"', "a=b", "a,b", "a(b", "a]b", "a\nb", "a\tb",
                 "a\\b", "é", "-a", "a;b", "a'{b", "'{a\" b}'", "a} machine=tpu output={b"]
        for name in names:
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                Program(SUM).report(output=path, passes="func.func(comm-sink-waits)", machine="h200x8")
                self.assertEqual(os.listdir(folder), [name])
                with open(path, encoding="utf-8") as file:
                    self.assertIn("machine h200x8", file.read())

    def test_pipelines_with_files_in_quotation_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = os.path.join(folder, "it's mine.json")
            with open(profile, "w", encoding="utf-8") as file:
                file.write('{"version": 1, "entries": []}')
            self.assertIn("passes", Program(SUM).report(passes=f'comm-schedule{{profile="{profile}"}}'))

    def test_what_options_of_passes_cannot_say(self):
        for name in (" a", "a ", "a\0b"):
            with self.assertRaisesRegex(ArgumentError, "option machine: found .*, expected text without blanks at"):
                Program(SUM).report(machine=name)
        with self.assertRaisesRegex(ArgumentError, "expected text with one kind of quotation marks"):
            Program(SUM).report(machine="it's \"mine")
        with self.assertRaisesRegex(ArgumentError, "found 'a b' as the name of an option"):
            Program(SUM).report(**{"a b": 1})

    def test_error_of_text_names_place_and_op(self):
        with self.assertRaises(ToolError) as caught:
            Program(SUM.replace("on @world", "on @nobody"))
        self.assertEqual(str(caught.exception.location), "<stdin>:3:8")
        self.assertEqual(caught.exception.op, "comm.all_reduce")
        self.assertIn("unknown group 'nobody'", str(caught.exception))

    def test_error_of_a_file_names_the_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write("func.func @main() {\n  oops\n}\n")
            file.flush()
            with self.assertRaises(ToolError) as caught:
                Program.from_file(file.name)
            location = caught.exception.location
            self.assertEqual((location.file, location.line), (file.name, 2))

    def test_messages_that_are_not_utf_8(self):
        with self.assertRaisesRegex(ToolError, "<stdin>:3:8: error: .* unknown group 'g\ufffd'"):
            Program(SUM.replace("@world", r'@"g\FF"').replace("comm.group", "// ", 1))

    def test_messages_stay_short(self):
        dump = "LLVM ERROR: out of memory\nStack dump:\n" + "#0 frame\n" * 1000
        error = ToolError("braid-opt", -6, dump)
        self.assertEqual((str(error), error.details), ("braid-opt: LLVM ERROR: out of memory; exit status -6", dump))
        place = "a.mlir:1:2: error: found "
        self.assertEqual(str(ToolError("braid-opt", 1, place + "x" * 5000)), f"braid-opt: {place + 'x' * 475}...")
        self.assertEqual(str(ToolError("braid-opt", 7, "")), "braid-opt: exit status 7")

    def test_unknown_pass(self):
        with self.assertRaisesRegex(ToolError, "comm-nothing"):
            Program(SUM).run_passes("comm-nothing")

    def test_unknown_format(self):
        with self.assertRaisesRegex(ArgumentError, "'pdf', expected one of text, json"):
            Program(SUM).report(format="pdf")

    def test_unknown_target(self):
        with self.assertRaisesRegex(ArgumentError, "'tpu', expected 'host' or 'cuda'"):
            Program(SUM).compile(target="tpu")

    def test_level_of_optimization(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            path, objects = os.path.join(folder, "program.so"), {}
            for level in (None, "0", "3"):
                os.environ.pop("BRAID_OPTIMIZATION_LEVEL", None)
                if level:
                    os.environ["BRAID_OPTIMIZATION_LEVEL"] = level
                executable = Program(SUM).compile(output=path)
                self.assertEqual(executable.run(fill(2))[0][0].tolist(), [6] * 4)
                with open(path, "rb") as file:
                    objects[level] = file.read()
            self.assertEqual(objects["3"], objects[None])
            self.assertNotEqual(objects["0"], objects[None])
            os.environ["BRAID_OPTIMIZATION_LEVEL"] = "fast"
            with self.assertRaisesRegex(ArgumentError, "BRAID_OPTIMIZATION_LEVEL is 'fast', expected a level of "
                                        "optimization, 0 to 3"):
                Program(SUM).compile()

    def test_error_of_braid_compile(self):
        opaque = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""
        with self.assertRaises(ToolError) as caught:
            Program(opaque).compile()
        self.assertEqual(caught.exception.tool, "braid-compile")
        self.assertEqual(caught.exception.location.line, 2)

    def test_operations_without_partners_are_found_unless_turned_off(self):
        program = Program("""comm.group @world [[0, 1]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %rank = comm.rank on @world
  %zero = arith.constant 0 : index
  %is_first = arith.cmpi eq, %rank, %zero : index
  %y = scf.if %is_first -> tensor<4xf32> {
    %t = comm.all_reduce sum %x on @world : tensor<4xf32>
    %z = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}""")
        with self.assertRaisesRegex(ToolError, "expected the same operations on all members"):
            program.compile()
        program.compile(verify="off")


class RunTest(unittest.TestCase):
    def test_ranks_get_and_give_lists(self):
        results = Program(SUM).compile().run(fill(1, 2, 3))
        for rank, (result,) in enumerate(results):
            np.testing.assert_array_equal(result, np.full(4, (rank + 1) ** 2 + 6, np.float32))

    def test_passes_do_not_change_results(self):
        program = Program(SUM)
        one = program.compile(passes="none").run(fill(0.1, 0.2))
        other = program.compile(passes="braid-overlap-inductor").run(fill(0.1, 0.2))
        np.testing.assert_array_equal(one, other)

    def test_programs_record_sums_in_another_order(self):
        with open(SUMS, encoding="utf-8") as file:
            program = Program(file.read())
        written = program.compile(passes="none").numerics
        self.assertEqual(written.reordered_sums, [])
        self.assertTrue(written.has_same_bits(ranks=4))
        chunks = program.compile(passes="comm-pipeline-matmul{chunks=2}").numerics
        product, reduction = chunks.reordered_sums
        self.assertEqual((product.operation, product.reason, product.members),
                         ("linalg.matmul", "in 2 chunks", None))
        self.assertEqual((product.location.line, product.location.column), (7, 8))
        self.assertEqual((reduction.operation, reduction.members), ("all_reduce sum", 0))
        # On the host collectives add in the order of the ranks.
        self.assertEqual(chunks.may_reorder(ranks=4), [product])
        self.assertFalse(chunks.has_same_bits(ranks=2))

    def test_one_executable_on_several_numbers_of_ranks(self):
        executable = Program(SUM).compile()
        for ranks in (1, 4, 2):
            results = executable.run(fill(*[1] * ranks))
            self.assertEqual(results[ranks - 1][0][0], 1 + ranks)

    def test_dynamic_sizes(self):
        executable = Program(DYNAMIC).compile()
        self.assertEqual(executable.signature(), (["tensor<?x2xf32>"], ["tensor<?x2xf32>"]))
        for rows in (0, 1, 1000):
            x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
            results = executable.run([[x], [x]])
            np.testing.assert_array_equal(results[1][0], 2 * x)

    def test_results_outlive_the_executable(self):
        x = np.ones((1000, 2), np.float32)
        result = Program(DYNAMIC).compile().run([[x], [x]])[0][0]
        np.testing.assert_array_equal(result, 2 * x)

    def test_element_types(self):
        for name, dtype in (("i1", np.bool_), ("i8", np.int8), ("i16", np.int16),
                            ("i32", np.int32), ("i64", np.int64), ("f16", np.float16),
                            ("f64", np.float64), ("complex<f32>", np.complex64)):
            with self.subTest(name=name):
                text = ("func.func @main(%x: tensor<2x3xE>, %y: tensor<2x3xE>) -> "
                        "(tensor<2x3xE>, tensor<2x3xE>) {\n  return %y, %x : "
                        "tensor<2x3xE>, tensor<2x3xE>\n}").replace("E", name)
                x = np.array([[0, 1, 0], [1, 1, 0]]).astype(dtype)
                results = Program(text).compile().run([[x, ~x if name == "i1" else x + x]])
                self.assertEqual(results[0][1].dtype, dtype)
                np.testing.assert_array_equal(results[0][1], x)

    def test_unsigned_arrays_for_signless_integers(self):
        text = "func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {\n return %x : tensor<2xi8>\n}"
        result = Program(text).compile().run([[np.array([200, 3], np.uint8)]])[0][0]
        np.testing.assert_array_equal(result.view(np.uint8), [200, 3])

    def test_scalars(self):
        text = """func.func @main(%x: f32, %i: index) -> (f32, index) {
  %y = arith.addf %x, %x : f32
  return %y, %i : f32, index
}"""
        y, i = Program(text).compile().run([[np.float32(1.5), np.int64(7)]])[0]
        self.assertEqual((float(y), int(i)), (3.0, 7))

    def test_entries_by_name(self):
        text = "".join(f"func.func @{name}(%x: tensor<1xf32>) -> tensor<1xf32> {{\n"
                       f"  %y = {op} %x, %x : tensor<1xf32>\n  return %y : tensor<1xf32>\n}}\n"
                       for name, op in (("add", "arith.addf"), ("mul", "arith.mulf")))
        executable = Program(text).compile()
        x = [[np.array([3], np.float32)]]
        self.assertEqual(executable.run(x, entry="add")[0][0][0], 6)
        self.assertEqual(executable.run(x, entry="mul")[0][0][0], 9)
        with self.assertRaisesRegex(ArgumentError, "which entry of add, mul"):
            executable.run(x)
        with self.assertRaisesRegex(ArgumentError, "no entry 'sub'; it has add, mul"):
            executable.run(x, entry="sub")

    def test_other_memory_layouts_are_copied(self):
        x = np.arange(16, dtype=np.float32).reshape(2, 8)[:, ::2][1]
        executable = Program(SUM).compile(passes="none")
        result = executable.run([[x]])[0][0]
        np.testing.assert_array_equal(result, x * x + x)
        self.assertEqual(executable.copied_bytes, 16)


DONATED = """func.func @main(%x: tensor<4xf32> {comm.donated}) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}"""


class ThreadTest(unittest.TestCase):
    """Whether a thread beside the caller's makes the call."""

    def count(self, ranks, short_ns):
        """The threads that two runs have used."""
        executable = Program(SUM).compile()
        with (unittest.mock.patch("braid.mlir.executable._SHORT_NS", short_ns),
              unittest.mock.patch("braid.mlir.worlds.ThreadWorld.run", autospec=True,
                                  side_effect=lambda world, function: function()) as run):
            for _ in range(2):
                np.testing.assert_array_equal(executable.run(fill(*[3.0] * ranks))[0][0], np.full(4, 9 + 3 * ranks))
        return run.call_count

    def test_one_rank_is_on_the_thread_of_the_caller_after_a_short_run(self):
        self.assertEqual(self.count(1, short_ns=10**18), 1)

    def test_long_runs_leave_the_thread_of_the_caller_alone(self):
        self.assertEqual(self.count(1, short_ns=0), 2)

    def test_several_ranks_leave_the_thread_of_the_caller_alone(self):
        self.assertEqual(self.count(2, short_ns=10**18), 2)


class MemoryTest(unittest.TestCase):
    def test_large_arguments_are_not_copied(self):
        count = 16 << 20
        text = f"""comm.group @world all
func.func @main(%x: tensor<{count}xf32>) -> tensor<1xf32> {{
  %part = tensor.extract_slice %x[{count - 1}] [1] [1] : tensor<{count}xf32> to tensor<1xf32>
  %t = comm.all_reduce sum %part on @world : tensor<1xf32>
  %s = comm.wait %t : !comm.token<tensor<1xf32>>
  return %s : tensor<1xf32>
}}"""
        executable = Program(text).compile()
        arrays = [np.empty(count, np.float32) for _ in range(2)]
        for rank, array in enumerate(arrays):
            array.fill(rank + 1)
        executable.run([[array[:]] for array in arrays])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        results = executable.run([[array] for array in arrays])
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertEqual(results[0][0][0], 3)
        self.assertEqual(executable.copied_bytes, 0)
        self.assertLess(grown, 16 << 10, "KiB more at the second run")

    def test_arrays_of_any_alignment(self):
        memory = np.zeros(4 * 1024 + 128, np.uint8)
        executable = Program(SUM.replace("tensor<4xf32>", "tensor<1021xf32>")).compile()
        for offset in range(0, 64, 4):
            begin = -memory.ctypes.data % 64 + offset
            x = memory[begin:begin + 4 * 1021].view(np.float32)
            x[:] = np.arange(1021)
            np.testing.assert_array_equal(executable.run([[x]])[0][0], x * x + x)
            self.assertEqual(executable.copied_bytes, 0)
        self.assertEqual(braid.mlir.empty((3, 5), np.float32).ctypes.data % 64, 0)

    def test_donated_arguments_are_kept_without_donate(self):
        x = np.arange(4, dtype=np.float32)
        result = Program(DONATED).compile().run([[x]])[0][0]
        np.testing.assert_array_equal(x, np.arange(4))
        np.testing.assert_array_equal(result, 2 * np.arange(4))

    def test_donated_arguments_are_handed_over(self):
        x = np.ones(4, np.float32)
        executable = Program(DONATED).compile()
        result = executable.run([[x]], donate=True)[0][0]
        np.testing.assert_array_equal(result, np.full(4, 2))
        self.assertEqual(executable.copied_bytes, 0)
        x.flags.writeable = False
        with self.assertRaisesRegex(ArgumentError, "argument 0 of rank 0 cannot be donated"):
            executable.run([[x]], donate=True)


class FailureTest(unittest.TestCase):
    def test_ranks_that_disagree(self):
        executable = Program(DYNAMIC).compile()
        good, bad = np.ones((1, 2), np.float32), np.ones((3, 2), np.float32)
        with self.assertRaises(RankError) as caught:
            executable.run([[good], [bad]])
        error = caught.exception
        self.assertEqual((error.rank, error.label), (0, "ar0"))
        self.assertEqual(str(error.location), "<stdin>:3:8")
        self.assertEqual(error.op, "all_reduce sum tensor<1x2xf32>")
        self.assertEqual([f.op for f in error.failures],
                         ["all_reduce sum tensor<1x2xf32>", "all_reduce sum tensor<3x2xf32>"])
        # The program can be run again.
        np.testing.assert_array_equal(executable.run([[good], [good]])[0][0], 2 * good)

    def test_a_rank_that_does_not_come(self):
        text = """comm.group @world all
func.func @main(%x: tensor<1xi1>) -> tensor<1xi1> {
  %zero = arith.constant 0 : index
  %comes = tensor.extract %x[%zero] : tensor<1xi1>
  %y = scf.if %comes -> tensor<1xi1> {
    %t = comm.all_reduce bor %x on @world : tensor<1xi1>
    %s = comm.wait %t : !comm.token<tensor<1xi1>>
    scf.yield %s : tensor<1xi1>
  } else {
    scf.yield %x : tensor<1xi1>
  }
  return %y : tensor<1xi1>
}"""
        with self.assertRaises(RankError) as caught:
            Program(text).compile().run([[np.array([True])], [np.array([False])]])
        self.assertEqual(caught.exception.rank, 0)
        self.assertEqual(caught.exception.op, "all_reduce bor tensor<1xi1>")
        self.assertEqual(caught.exception.location.line, 6)
        self.assertIn("rank 1 has ended its program", str(caught.exception))

    def test_arguments_that_do_not_fit(self):
        executable = Program(SUM).compile()
        for arguments, message in (
                ([], "has a list for each rank, found none"),
                ([[]], r"rank 0 has 0 arguments, expected 1: tensor<4xf32>"),
                ([[np.ones(4)]], r"argument 0 of rank 0 is an array of float64 of shape "
                 r"\(4,\), expected tensor<4xf32> \(float32\)"),
                (fill(1) + [[np.ones(5, np.float32)]],
                 r"argument 0 of rank 1 is an array of float32 of shape \(5,\)"),
                ([[np.ones((4, 1), np.float32)]], r"of shape \(4, 1\), expected")):
            with self.assertRaisesRegex(ArgumentError, message):
                executable.run(arguments)

    def test_timeouts_that_are_none(self):
        executable = Program(SUM).compile()
        for timeout in (True, "5", "soon", None, [], 0, -1, float("nan"), float("inf")):
            with self.assertRaises(ArgumentError) as caught:
                executable.run(fill(1), timeout=timeout)
            self.assertEqual(str(caught.exception), f"timeout is {timeout!r}, expected seconds, "
                             "above 0 and below 9e9")

    def test_tools_are_not_there(self):
        code = "import braid.mlir; braid.mlir.find_tool('braid-opt')"
        done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                              env={**os.environ, "BRAID_ROOT": "/nowhere"}, check=False)
        self.assertIn("NotFoundError: braid-opt is not in /nowhere/bin, where BRAID_ROOT says",
                      done.stderr)
        self.assertTrue(issubclass(NotFoundError, braid.errors.BraidError))


class Interrupted(unittest.TestCase):
    """In a process of its own: the ranks are still running when it ends."""

    def test_ctrl_c_ends_the_call(self):
        if "Interrupted" not in sys.argv:
            self.skipTest("needs a process of its own")
        text = """func.func @main(%x: tensor<f64>) -> tensor<f64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
  %start = tensor.extract %x[] : tensor<f64>
  %sum = scf.for %i = %zero to %many step %one iter_args(%s = %start) -> f64 {
    %d = arith.divf %s, %start : f64
    %next = arith.addf %d, %start : f64
    scf.yield %next : f64
  }
  %y = tensor.from_elements %sum : tensor<f64>
  return %y : tensor<f64>
}"""
        executable = Program(text).compile(passes="none")
        # Who runs the test may ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT]).start()
        with self.assertRaises(KeyboardInterrupt):
            executable.run([[np.float64(3)]])


if __name__ == "__main__":
    unittest.main()
