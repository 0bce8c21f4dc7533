# RUN: %python %s %t
#
# Every 8-bit float becomes wider floats, floats that lie at, next to and between
# the 8-bit ones become these, and arithmetic rounds once.
"""Conversions and arithmetic of 8-bit floats; see the top of the file."""

import sys

import braid_testing as bt
import numpy as np

TYPES = ["f8E4M3FN", "f8E5M2"]
WIDE = ["f16", "bf16", "f32", "f64"]


def get_map(name, source, target, body):
    of_source, of_target = f"tensor<?x{source}>", f"tensor<?x{target}>"
    return f"""
func.func @{name}(%x: {of_source}) -> {of_target} {{
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : {of_source}
  %e = tensor.empty(%size) : {of_target}
  %r = linalg.map ins(%x : {of_source}) outs(%e : {of_target}) (%a: {source}, %o: {target}) {{
    {body}
    linalg.yield %b : {target}
  }}
  return %r : {of_target}
}}
"""


def get_program(element):
    text = ""
    for wide in WIDE:
        text += get_map(f"extend_to_{wide}", element, wide,
                        f"%b = arith.extf %a : {element} to {wide}")
        text += get_map(f"truncate_{wide}", wide, element,
                        f"%b = arith.truncf %a : {wide} to {element}")
    # Each of the two operations rounds.
    text += get_map("multiply_and_add", element, element,
                    f"%c = arith.constant 1.5 : {element}\n"
                    f"    %p = arith.mulf %a, %c : {element}\n"
                    f"    %b = arith.addf %p, %a : {element}")
    return text


def around(element):
    """Values at all numbers, at the midpoints of neighbours, and next to these."""
    finite = np.sort(element.widen(np.arange(128, dtype=np.uint8)).astype(np.float64))
    finite = finite[np.isfinite(finite)]
    limit = finite[-1] + (finite[-1] - finite[-2]) / 2
    points = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, [limit, 2 * limit]])
    return np.concatenate([points, -points, [np.nan, np.inf, -np.inf]])


def get_inputs(name, element):
    """Numbers of type `name` that are hard to round to `element`."""
    if name == "f16":
        return np.arange(65536, dtype=np.uint16).view(np.float16)
    if name == "bf16":
        return np.arange(65536, dtype=np.uint16)
    points = around(element).astype(np.float32 if name == "f32" else np.float64)
    with np.errstate(invalid="ignore"):
        near = [np.nextafter(points, np.inf, dtype=points.dtype),
                np.nextafter(points, -np.inf, dtype=points.dtype)]
    random = np.random.RandomState(1).standard_normal(1000) * 100
    return np.concatenate([points, *near, random.astype(points.dtype)])


def round_f64(element, values):
    """To the nearest code, of the even one of two, without a step in between."""
    # The nearest f32 away from ties decides as the value does.
    single = values.astype(np.float32)
    with np.errstate(invalid="ignore"):
        is_moved = single.astype(np.float64) != values
        back = np.where(single.astype(np.float64) > values, -np.inf, np.inf).astype(np.float32)
        other = np.nextafter(single, back)
    single = np.where(is_moved & (single.view(np.uint32) % 2 == 0), other, single)
    return element.narrow(single)


def check(program, directory, entry, source, target, inputs, expected):
    found = bt.run_program(program, 1, directory, [(source, [inputs])], [target], entry)[0][0]
    is_nan = np.isnan(target.widen(expected).astype(np.float64))
    bt.check_equal(np.isnan(target.widen(found).astype(np.float64)), is_nan, entry)
    bt.check_equal(found[~is_nan], expected[~is_nan], f"{source.name}: {entry}")


def main():
    for name in TYPES:
        element = bt.ELEMENT_TYPES[name]
        directory = f"{sys.argv[1]}/{name}"
        program = bt.compile_program(get_program(name), directory)
        codes = np.arange(256, dtype=np.uint8)
        for wide in WIDE:
            other = bt.ELEMENT_TYPES[wide]
            values = element.widen(codes)
            expected = values.astype(np.float64) if wide == "f64" else other.narrow(values)
            check(program, directory, f"extend_to_{wide}", element, other, codes, expected)
            inputs = get_inputs(wide, element)
            expected = (round_f64(element, inputs) if wide == "f64"
                        else element.narrow(other.widen(inputs)))
            check(program, directory, f"truncate_{wide}", other, element, inputs, expected)
        with np.errstate(invalid="ignore"):
            product = element.narrow(element.widen(codes) * np.float32(1.5))
            total = element.narrow(element.widen(product) + element.widen(codes))
        check(program, directory, "multiply_and_add", element, element, codes, total)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
