"""The collectives of real_models.late show what is read or written in flight."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import unittest

import torch
import torch.distributed._functional_collectives as funcol
from real_models import late

ops = torch.ops._c10d_functional


class Late(unittest.TestCase):
    def test_values(self):
        value = torch.tensor([1.0, 2.0, 3.0, 4.0])
        for expected, found in (
            ([1, 2, 3, 4, 1.0625, 2.125, 3.1875, 4.25], funcol.all_gather_tensor(value, 0, "0")),
            ([2.0625, 4.125], funcol.reduce_scatter_tensor(value, "sum", 0, "0")),
            ([1.0625, 2.125, 3.1875, 4.25], funcol.all_reduce(value, "max", "0")),
            ([1, 2, 3.1875, 4.25], funcol.all_to_all_single(value, [2, 2], [2, 2], "0")),
        ):
            torch.testing.assert_close(funcol.wait_tensor(found), torch.tensor(expected))
        (found,) = ops.all_reduce_coalesced_([value], "avg", "0")
        torch.testing.assert_close(ops.wait_tensor(found), torch.tensor([1.0, 2, 3, 4]) * 33 / 32)
        self.assertEqual(found.data_ptr(), value.data_ptr())

    def test_in_flight(self):
        value = torch.ones(2)
        result = ops.all_gather_into_tensor(value, 2, "0")
        self.assertTrue(result.isnan().all())
        read = result + 1
        value.fill_(5)
        ops.wait_tensor(result)
        self.assertTrue(read.isnan().all())
        torch.testing.assert_close(result[:2], torch.full([2], 5.0))
        # A second wait changes nothing.
        torch.testing.assert_close(ops.wait_tensor(result)[:2], torch.full([2], 5.0))
        numbers = ops.all_gather_into_tensor(torch.arange(2), 2, "0")
        self.assertNotEqual(numbers.tolist(), [0, 1, 0, 1])
        self.assertEqual(ops.wait_tensor(numbers).tolist(), [0, 1, 0, 1])
        self.assertFalse(late._in_flight)


if __name__ == "__main__":
    late.start_group(2)
    unittest.main()
