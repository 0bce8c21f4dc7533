# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program with more arguments than a kernel of a GPU takes.

    many_operands.py sum|norm COUNT

`sum` adds up COUNT vectors; `norm` adds up the sums of COUNT vectors, as the norm of all gradients of a model.
"""

import sys


def generic(maps, iterators, inputs, output, body):
    names = [f"%in{number}" for number in range(len(inputs))] + ["%out"]
    types = ", ".join(type for _, type in inputs)
    return (f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(iterators)}]}} "
            f"ins({', '.join(name for name, _ in inputs)} : {types}) outs({output[0]} : {output[1]}) {{\n"
            f"^bb0({', '.join(f'{name}: f32' for name in names)}):\n{body}\nlinalg.yield %r : f32\n}} -> {output[1]}")


def main():
    kind, count = sys.argv[1], int(sys.argv[2])
    vector, scalar = "tensor<64xf32>", "tensor<f32>"
    added = vector if kind == "sum" else scalar
    rows, one, none = "affine_map<(d0) -> (d0)>", "affine_map<(d0) -> ()>", "affine_map<() -> ()>"
    print(f"func.func @main({', '.join(f'%x{number}: {vector}' for number in range(count))}) -> {added} {{")
    print("%zero = arith.constant 0.0 : f32")
    print(f"%empty = tensor.empty() : {added}")
    terms = [f"%x{number}" for number in range(count)]
    if kind == "norm":
        print(f"%filled = linalg.fill ins(%zero : f32) outs(%empty : {scalar}) -> {scalar}")
        for number in range(count):
            body = "%s = arith.mulf %in0, %in0 : f32\n%r = arith.addf %out, %s : f32"
            print(f"%s{number} =", generic([rows, one], ['"reduction"'], [(f"%x{number}", vector)], ("%filled", scalar), body))
        terms = [f"%s{number}" for number in range(count)]
    maps, iterators = ([rows] * 3, ['"parallel"']) if kind == "sum" else ([none] * 3, [])
    total = terms[0]
    for number, term in enumerate(terms[1:]):
        inputs = [(total, added), (term, added)]
        total = f"%t{number}"
        print(f"{total} =", generic(maps, iterators, inputs, ("%empty", added), "%r = arith.addf %in0, %in1 : f32"))
    print(f"return {total} : {added}\n}}")


if __name__ == "__main__":
    main()
