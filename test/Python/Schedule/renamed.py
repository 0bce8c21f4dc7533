"""Names of braid.schedule in the last release: each one works, and a warning says the new name."""

# REQUIRES: package
# RUN: %package_python %s

import unittest

from braid import schedule


class Renamed(unittest.TestCase):
    def test_the_old_name_of_a_method_works_with_a_warning(self):
        machine = schedule.Machine("cpu")
        with self.assertWarnsRegex(FutureWarning, "Machine.product is the old name of Machine.matmul"):
            self.assertEqual(machine.product(64, 64, 64, "f32"), machine.matmul(64, 64, 64, "f32"))
        with self.assertWarnsRegex(FutureWarning, "ProductTime is the old name of MatmulTime"):
            self.assertIs(schedule.ProductTime, schedule.MatmulTime)


if __name__ == "__main__":
    unittest.main()
