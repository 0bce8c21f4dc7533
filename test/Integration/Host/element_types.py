# RUN: %python %s %t
#
# A program that computes with every element type the host computes with. It is
# linked with -z defs against the runtime, so that no helper function of the code
# generator is left undefined, and run.
"""Arithmetic on every element type; see the top of the file."""

import sys

import braid_testing as bt

TYPES = ["f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "complex<f32>", "complex<f64>"]


def get_add(element):
    if element.startswith("complex"):
        return "complex.add"
    return "arith.addi" if element.startswith("i") else "arith.addf"


def get_function(name, element):
    matrix, square = f"tensor<4x2x{element}>", f"tensor<2x2x{element}>"
    return f"""
func.func @{name}(%a: {matrix}, %m: {square}, %s: {element}) -> {matrix} {{
  %e = tensor.empty() : {matrix}
  %z = linalg.fill ins(%s : {element}) outs(%e : {matrix}) -> {matrix}
  %y = linalg.matmul ins(%a, %m : {matrix}, {square}) outs(%z : {matrix}) -> {matrix}
  %r = linalg.map ins(%y, %y : {matrix}, {matrix}) outs(%e : {matrix}) (%p: {element}, %q: {element}, %o: {element}) {{
    %t = {get_add(element)} %p, %q : {element}
    linalg.yield %t : {element}
  }}
  return %r : {matrix}
}}
"""


def main():
    program = sys.argv[1] + ".mlir"
    library = sys.argv[1] + ".so"
    with open(program, "w") as file:
        for index, element in enumerate(TYPES):
            file.write(get_function(f"f{index}", element))
    bt.command(["braid-compile", program, "-o", library])
    for index, element in enumerate(TYPES):
        start = bt.braid_run(library, 1)
        if start is None:
            continue
        output = bt.command([*start, f"--entry=f{index}", "--arg=ones", "--print"]).stdout
        # 2 * (1 + 1 * 1 + 1 * 1), and modulo 2 for i1.
        expected = {"i1": "false"}.get(element, "(6, 0)" if element.startswith("complex") else "6")
        wanted = "[" + ", ".join(["[" + ", ".join([expected] * 2) + "]"] * 4) + "]"
        if wanted not in output:
            sys.exit(f"{element}: found {output}, expected {wanted}")


if __name__ == "__main__":
    main()
