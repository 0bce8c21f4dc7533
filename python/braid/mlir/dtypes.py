# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's element types (braid-rt/Types.h) beside NumPy's."""

import numpy as np

from .errors import ArgumentError

# In the order of braid_rt_dtype. bf16 and 8-bit floats are ml_dtypes'.
NAMES = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "complex<f32>",
         "complex<f64>", "f8E4M3FN", "f8E5M2")
_NUMPY = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.float16, "bfloat16",
          np.float32, np.float64, np.complex64, np.complex128, "float8_e4m3fn",
          "float8_e5m2")


def numpy_dtype(number):
    """The NumPy type of an element type of the runtime."""
    found = _NUMPY[number]
    if not isinstance(found, str):
        return np.dtype(found)
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(f"arrays of {NAMES[number]} need the package ml_dtypes, "
                            "which is not installed") from None
    return np.dtype(getattr(ml_dtypes, found))


def accepts(number, dtype):
    """Whether an array of `dtype` holds elements of this type as they are.

    Integers of the IR have no sign, so unsigned arrays are accepted, too.
    """
    expected = numpy_dtype(number)
    return dtype == expected or (expected.kind == "i" and dtype.kind == "u"
                                 and dtype.itemsize == expected.itemsize)
