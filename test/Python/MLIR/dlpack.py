# RUN: %python %s
"""braid.mlir: arrays of other packages through DLPack, in and out. NumPy is the other
package; ../JAX/dlpack.py has JAX."""

import ctypes
import gc
import unittest
import weakref

import numpy as np
from braid.mlir import ArgumentError, Program, from_dlpack, to_dlpack

COPY = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = arith.addf %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


class Exporter:
    """Has __dlpack__ and nothing else that NumPy reads."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class InTest(unittest.TestCase):
    def test_memory_is_shared(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        found = from_dlpack(Exporter(array))
        np.testing.assert_array_equal(found, array)
        array[1, 2] = 9
        self.assertEqual(found[1, 2], 9)

    def test_strides(self):
        array = np.arange(24, dtype=np.int32).reshape(4, 6)
        for part in (array[1::2, ::3], array.T, array[::-1, ::-2], array[:, None]):
            np.testing.assert_array_equal(from_dlpack(Exporter(part)), part)

    def test_element_types(self):
        for dtype in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32,
                      np.float64, np.complex64, np.complex128, np.uint8, np.uint64):
            array = np.ones(3, dtype)
            # NumPy exports no booleans before version 1.25.
            found = from_dlpack(to_dlpack(array) if dtype is np.bool_ else Exporter(array))
            self.assertEqual(found.dtype, array.dtype)
            np.testing.assert_array_equal(found, array)

    def test_no_elements_and_no_dimensions(self):
        self.assertEqual(from_dlpack(Exporter(np.empty((0, 3), np.float32))).shape, (0, 3))
        self.assertEqual(from_dlpack(Exporter(np.array(7.0, np.float32))), 7)

    def test_memory_lives_as_long_as_the_array(self):
        array = np.ones(1000, np.float32)
        owner = weakref.ref(array)
        found = from_dlpack(Exporter(array))[500:]
        del array
        gc.collect()
        self.assertIsNotNone(owner())
        np.testing.assert_array_equal(found, np.ones(500, np.float32))
        del found
        gc.collect()
        self.assertIsNone(owner())

    def test_argument_of_a_program(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        executable = Program(COPY).compile()
        results = executable.run([[Exporter(array)]])
        np.testing.assert_array_equal(results[0][0], 2 * array)
        self.assertEqual(executable.copied_bytes, 0)

    def test_other_device(self):
        with self.assertRaisesRegex(ArgumentError, "DLPack's device 2:3, expected 1:0, the CPU"):
            from_dlpack(Exporter(np.ones(3), (2, 3)))

    def test_elements_that_programs_lack(self):
        capsule = np.ones(3, np.float32).__dlpack__()
        pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"dltensor")
        # DLTensor: data, device, rank, then the type's code.
        ctypes.c_uint8.from_address(pointer + 20).value = 3

        class Opaque(Exporter):
            def __dlpack__(self, **options):
                return capsule
        with self.assertRaisesRegex(ArgumentError, "type code 3, 32 bits and 1 lanes"):
            from_dlpack(Opaque(None))

    def test_capsule_that_was_used(self):
        array = np.ones(3, np.float32)
        capsule = array.__dlpack__()

        class Once(Exporter):
            def __dlpack__(self, **options):
                return capsule
        from_dlpack(Once(array))
        with self.assertRaisesRegex(ArgumentError, "not used before"):
            from_dlpack(Once(array))

    def test_no_dlpack(self):
        with self.assertRaisesRegex(ArgumentError, "found list, expected an object with"):
            from_dlpack([1, 2])


class OutTest(unittest.TestCase):
    def test_numpy_takes_results(self):
        result = Program(COPY).compile().run([[np.ones((2, 3), np.float32)]])[0][0]
        found = np.from_dlpack(to_dlpack(result))
        np.testing.assert_array_equal(found, np.full((2, 3), 2, np.float32))
        result[0, 0] = 5
        self.assertEqual(found[0, 0], 5)

    def test_memory_lives_until_the_consumer_ends(self):
        array = np.arange(1000, dtype=np.float64)
        owner = weakref.ref(array)
        found = np.from_dlpack(to_dlpack(array))
        del array
        gc.collect()
        self.assertEqual(found[999], 999)
        del found
        gc.collect()
        self.assertIsNone(owner())

    def test_capsule_without_consumer(self):
        array = np.ones(3, np.float32)
        owner = weakref.ref(array)
        capsule = to_dlpack(array).__dlpack__()
        del array
        gc.collect()
        self.assertIsNotNone(owner())
        del capsule
        gc.collect()
        self.assertIsNone(owner())

    def test_in_of_out(self):
        array = np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::2]
        np.testing.assert_array_equal(from_dlpack(to_dlpack(array)), array)

    def test_copy(self):
        array = np.zeros(3, np.float32)

        class Copying(Exporter):
            def __dlpack__(self, **options):
                return to_dlpack(self.array).__dlpack__(copy=True)
        found = from_dlpack(Copying(array))
        array[:] = 1
        np.testing.assert_array_equal(found, np.zeros(3, np.float32))

    def test_read_only(self):
        array = np.ones(3, np.float32)
        array.flags.writeable = False
        with self.assertRaisesRegex(BufferError, "read-only"):
            to_dlpack(array).__dlpack__()

    def test_streams_and_devices(self):
        exporter = to_dlpack(np.ones(3, np.float32))
        self.assertEqual(exporter.__dlpack_device__(), (1, 0))
        with self.assertRaisesRegex(BufferError, "stream is 1, expected None"):
            exporter.__dlpack__(stream=1)
        with self.assertRaisesRegex(BufferError, r"dl_device is \(2, 0\), expected \(1, 0\)"):
            exporter.__dlpack__(dl_device=(2, 0))

    def test_elements_that_programs_lack(self):
        with self.assertRaisesRegex(ArgumentError, "elements of type <U1, expected one of i1"):
            to_dlpack(np.array(["a"]))


if __name__ == "__main__":
    unittest.main()
