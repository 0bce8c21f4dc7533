# RUN: %python %s
"""Keywords of braid.mlir and options of passes by their names of the last release: each one works, and a warning says the
new name."""

import unittest
import warnings

from braid.mlir import Program

PROGRAM = """comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}
"""


def report(**options):
    return Program(PROGRAM).report(**options)


def compile_object(**keywords):
    program = Program(PROGRAM)
    program.compile(**keywords)
    return None


# A call, its old and its new keyword.
KEYWORDS = (
    (report, {"hardware": "cpu"}, {"machine": "cpu"}),
    (report, {"world_size": 2}, {"ranks": 2}),
    (compile_object, {"verify_program": "off"}, {"verify": "off"}),
)


class Renamed(unittest.TestCase):
    def test_old_keywords_work_with_a_warning(self):
        for call, old, new in KEYWORDS:
            with self.subTest(old=old):
                with self.assertWarnsRegex(FutureWarning, f"{next(iter(old))}= is the old name of {next(iter(new))}="):
                    found = call(**old)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    self.assertEqual(found, call(**new))
                with self.assertRaisesRegex(TypeError, f"expected {next(iter(new))}= alone"):
                    call(**old, **new)

    def test_old_options_of_passes_work(self):
        self.assertEqual(
            Program(PROGRAM).run_passes("comm-schedule{hardware=ideal world-size=2 min-gain=1}").text,
            Program(PROGRAM).run_passes("comm-schedule{machine=ideal ranks=2 min-gain=0.01}").text,
        )


if __name__ == "__main__":
    unittest.main()
