"""Names of braid.schedule in the last release: each one works, and a warning says the new name."""

# REQUIRES: package
# RUN: %package_python %s

import os
import tempfile
import unittest

from braid import schedule

PROFILE = """{"version": 2, "date": "2026-11-22", "spread": 0.05, "software": {}, "hardware": "h200x8",
 "machine": {"gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
 "products": [{"rows": 4096, "columns": 4096, "depth": 4096, "element": "bf16", "ns": 179000}]}"""


class Renamed(unittest.TestCase):
    def test_the_old_name_of_a_method_works_with_a_warning(self):
        machine = schedule.Machine("cpu")
        with self.assertWarnsRegex(FutureWarning, "Machine.product is the old name of Machine.matmul"):
            self.assertEqual(machine.product(64, 64, 64, "f32"), machine.matmul(64, 64, 64, "f32"))
        with self.assertWarnsRegex(FutureWarning, "ProductTime is the old name of MatmulTime"):
            self.assertIs(schedule.ProductTime, schedule.MatmulTime)

    def test_old_keys_of_a_profile_work_with_warnings(self):
        """The library prints them to the process's error output."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as printed:
            path = os.path.join(folder, "profile.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(PROFILE)
            saved = os.dup(2)
            os.dup2(printed.fileno(), 2)
            try:
                machine = schedule.Machine("h200x8", path)
            finally:
                os.dup2(saved, 2)
                os.close(saved)
            printed.seek(0)
            text = printed.read().decode()
        self.assertEqual(machine.matmul(4096, 4096, 4096).ns, 179000)
        rest = ", expected the new one, which alone works from the next release on"
        self.assertIn('profile:1:70: the field "hardware" is the old spelling of "machine.name"' + rest, text)
        self.assertIn('profile:3:2: the field "products" is the old spelling of "matmuls"' + rest, text)


if __name__ == "__main__":
    unittest.main()
