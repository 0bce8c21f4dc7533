# RUN: %python %s %t %cxx
"""Kernels of all kinds and element types, run on the host, against the host's loops."""
import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

MAPS = """#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>
#one = affine_map<(i) -> (i)>
#back = affine_map<(i) -> (36 - i)>
#window = affine_map<(i, k) -> (i + k)>
#abc = affine_map<(a, b, c) -> (a, b, c)>
#cab = affine_map<(a, b, c) -> (c, a, b)>
#ac = affine_map<(a, b, c) -> (a, c)>
#nothing = affine_map<(a, b, c) -> ()>
"""
P1, P2, P3 = '["parallel"]', '["parallel", "parallel"]', '["parallel", "parallel", "parallel"]'
ROWS, COLS, ALL = '["parallel", "reduction"]', '["reduction", "parallel"]', '["reduction", "reduction"]'


def generic(maps, iterators, ins, outs, arguments, body, yields):
    """A linalg.generic of operands `value : type`."""

    def join(operands):
        values, types = zip(*(operand.split(" : ") for operand in operands))
        return f"({', '.join(values)} : {', '.join(types)})"

    results = [operand.split(" : ")[1] for operand in outs]
    text = f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = {iterators}}} "
    text += (f"ins{join(ins)} " if ins else "") + f"outs{join(outs)} {{\n^bb0({arguments}):\n{body}\n"
    return text + f"linalg.yield {yields}\n}} -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"


def function(arguments, results, *lines, values="%r"):
    args = ", ".join(f"%a{index}: {kind}" for index, kind in enumerate(arguments))
    single = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return MAPS + f"func.func @main({args}) -> {single} {{\n" + "\n".join(lines) + f"\nreturn {values} : {', '.join(results)}\n}}\n"


def pointwise(size, ins, out, body, yields, maps=None, iterators=P1):
    """Elements of `ins` at one place give that of the result."""
    types = [f"tensor<{size}x{kind}>" for kind in ins]
    result = f"tensor<{size}x{out}>"
    arguments = ", ".join(f"%x{index}: {kind}" for index, kind in enumerate(ins)) + f", %o: {out}"
    return function(types, [result], f"%e = tensor.empty() : {result}",
                    "%r = " + generic(maps or ["#one"] * (len(ins) + 1), iterators,
                                      [f"%a{index} : {kind}" for index, kind in enumerate(types)], [f"%e : {result}"], arguments, body, yields))


def reduction(shape, kind, op, init, result, out_map, iterators, in_map="#id"):
    matrix = f"tensor<{shape}x{kind}>"
    return function([matrix], [result], f"%z = arith.constant {init}" + ("" if kind == "i1" else f" : {kind}"),
                    f"%e = tensor.empty() : {result}", f"%f = linalg.fill ins(%z : {kind}) outs(%e : {result}) -> {result}",
                    "%r = " + generic([in_map, out_map], iterators, [f"%a0 : {matrix}"], [f"%f : {result}"], f"%x: {kind}, %o: {kind}",
                                      f"%s = {op} %o, %x : {kind}", f"%s : {kind}"))


def two_results(rows, columns):
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    return function([matrix], [vector, vector], "%z = arith.constant 0.0 : f32", f"%e = tensor.empty() : {vector}",
                    f"%f = linalg.fill ins(%z : f32) outs(%e : {vector}) -> {vector}",
                    "%r:2 = " + generic(["#id", "#row", "#row"], ROWS, [f"%a0 : {matrix}"], [f"%f : {vector}", f"%f : {vector}"],
                                        "%x: f32, %o: f32, %p: f32",
                                        "%s = arith.addf %o, %x : f32\n%n = math.absf %x : f32\n%m = arith.maximumf %n, %p : f32", "%s, %m : f32, f32"),
                    values="%r#0, %r#1")


def column_bounds(rows, columns):
    """The largest bf16 and the least f32 of each column, and a vector that all rows share."""
    matrix, large, small = (f"tensor<{size}x{kind}>" for size, kind in ((f"{rows}x{columns}", "bf16"), (columns, "bf16"), (columns, "f32")))
    return function([matrix, small], [large, small], "%z = arith.constant 0xFF80 : bf16\n%i = arith.constant 0x7F800000 : f32",
                    f"%e = tensor.empty() : {large}\n%f = linalg.fill ins(%z : bf16) outs(%e : {large}) -> {large}",
                    f"%g = tensor.empty() : {small}\n%h = linalg.fill ins(%i : f32) outs(%g : {small}) -> {small}",
                    "%r:2 = " + generic(["#id", "#col", "#col", "#col"], COLS, [f"%a0 : {matrix}", f"%a1 : {small}"], [f"%f : {large}", f"%h : {small}"],
                                        "%x: bf16, %y: f32, %o: bf16, %p: f32", "%w = arith.extf %x : bf16 to f32\n%t = arith.mulf %w, %y : f32\n"
                                        "%s = arith.maximumf %o, %x : bf16\n%m = arith.minimumf %t, %p : f32", "%s, %m : bf16, f32"),
                    values="%r#0, %r#1")


def arg_max(rows, columns):
    matrix, values, places = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>", f"tensor<{rows}xi32>"
    body = """%j = linalg.index 1 : index
%c = arith.index_cast %j : index to i32
%g = arith.cmpf ogt, %x, %o : f32
%s = arith.select %g, %x, %o : f32
%q = arith.select %g, %c, %p : i32"""
    return function([matrix], [values, places], "%z = arith.constant 0xFF800000 : f32\n%zi = arith.constant 0 : i32",
                    f"%e = tensor.empty() : {values}\n%ei = tensor.empty() : {places}",
                    f"%f = linalg.fill ins(%z : f32) outs(%e : {values}) -> {values}",
                    f"%fi = linalg.fill ins(%zi : i32) outs(%ei : {places}) -> {places}",
                    "%r:2 = " + generic(["#id", "#row", "#row"], ROWS, [f"%a0 : {matrix}"], [f"%f : {values}", f"%fi : {places}"],
                                        "%x: f32, %o: f32, %p: i32", body, "%s, %q : f32, i32"), values="%r#0, %r#1")


def weighted_sum(rows, columns, result, out_map, iterators):
    """A reduction whose body applies a map to indices, as what is left of a gather."""
    matrix = f"tensor<{rows}x{columns}xi32>"
    body = """%i = linalg.index 0 : index
%j = linalg.index 1 : index
%k = affine.apply affine_map<(a, b) -> (a * 3 + b)>(%i, %j)
%w = arith.index_cast %k : index to i32
%m = arith.muli %x, %w : i32
%s = arith.addi %o, %m : i32"""
    return function([matrix], [result], "%z = arith.constant 0 : i32", f"%e = tensor.empty() : {result}",
                    f"%f = linalg.fill ins(%z : i32) outs(%e : {result}) -> {result}",
                    "%r = " + generic(["#id", out_map], iterators, [f"%a0 : {matrix}"], [f"%f : {result}"], "%x: i32, %o: i32", body, "%s : i32"))


def long_softmax_sum(rows, columns):
    """Reductions of rows that are too long for registers, of which one reads the result of the other."""
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    return function([matrix], [vector], "%z = arith.constant 0.0 : f32\n%n = arith.constant 0xFF800000 : f32", f"%e = tensor.empty() : {vector}",
                    f"%f = linalg.fill ins(%n : f32) outs(%e : {vector}) -> {vector}\n%g = linalg.fill ins(%z : f32) outs(%e : {vector}) -> {vector}",
                    f"%m = linalg.reduce {{ arith.maximumf }} ins(%a0 : {matrix}) outs(%f : {vector}) dimensions = [1]",
                    "%r = " + generic(["#id", "#row", "#row"], ROWS, [f"%a0 : {matrix}", f"%m : {vector}"], [f"%g : {vector}"], "%x: f32, %y: f32, %o: f32",
                                      "%d = arith.subf %x, %y : f32\n%t = math.exp %d : f32\n%s = arith.addf %o, %t : f32", "%s : f32"))


def causal_softmax(rows, columns):
    """A run of ops of which one asks for indices."""
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    masked = """%i = linalg.index 0 : index
%j = linalg.index 1 : index
%c = arith.cmpi ule, %j, %i : index
%n = arith.constant -1.0e30 : f32
%s = arith.select %c, %x, %n : f32"""

    def reduce(name, op, init, of):
        return (f"%{name}z = arith.constant {init} : f32\n%{name}e = tensor.empty() : {vector}\n"
                f"%{name}f = linalg.fill ins(%{name}z : f32) outs(%{name}e : {vector}) -> {vector}\n"
                f"%{name} = linalg.reduce {{ {op} }} ins({of} : {matrix}) outs(%{name}f : {vector}) dimensions = [1]")

    return function([matrix], [matrix], f"%e = tensor.empty() : {matrix}",
                    "%k = " + generic(["#id", "#id"], P2, [f"%a0 : {matrix}"], [f"%e : {matrix}"], "%x: f32, %o: f32", masked, "%s : f32"),
                    reduce("m", "arith.maximumf", "0xFF800000", "%k"),
                    "%p = " + generic(["#id", "#row", "#id"], P2, [f"%k : {matrix}", f"%m : {vector}"], [f"%e : {matrix}"], "%x: f32, %y: f32, %o: f32",
                                      "%s = arith.subf %x, %y : f32\n%t = math.exp %s : f32", "%t : f32"),
                    reduce("s", "arith.addf", "0.0", "%p"),
                    "%r = " + generic(["#id", "#row", "#id"], P2, [f"%p : {matrix}", f"%s : {vector}"], [f"%e : {matrix}"], "%x: f32, %y: f32, %o: f32",
                                      "%t = arith.divf %x, %y : f32", "%t : f32"))


def transposed_sum(batch, heads, rows, columns):
    """Elements of scores that several ops read in another order, which kernels keep in that of the scores."""
    scores, moved, sums = (f"tensor<{shape}xi32>" for shape in (f"{batch}x{heads}x{rows}x{columns}", f"{batch}x{rows}x{columns}x{heads}", f"{batch}x{rows}x{heads}"))
    maps = [f"affine_map<(b, t, s, n) -> ({dims})>" for dims in ("b, n, t, s", "b, t, s, n", "b, t, n")]
    parallel = ["parallel"] * 4
    mask = "%i = linalg.index 1 : index\n%j = linalg.index 2 : index\n%c = arith.cmpi ule, %j, %i : index\n%y0 = arith.select %c, %x, %a : i32\n"
    # Too many ops to be computed again.
    mask += "\n".join(f"%y{n + 1} = arith.divsi %y{n}, %k{n} : i32" for n in range(8))
    return function([scores], [scores, sums], "%z = arith.constant 0 : i32\n%a = arith.constant -7 : i32",
                    "\n".join(f"%k{n} = arith.constant {n % 3 + 1} : i32" for n in range(8)),
                    f"%e = tensor.empty() : {moved}\n%v = tensor.empty() : {sums}\n%w = tensor.empty() : {scores}",
                    f"%f = linalg.fill ins(%z : i32) outs(%v : {sums}) -> {sums}",
                    "%m = " + generic(maps[:2], str(parallel).replace("'", '"'), [f"%a0 : {scores}"], [f"%e : {moved}"], "%x: i32, %o: i32", mask, "%y8 : i32"),
                    "%s = " + generic(maps[1:], '["parallel", "parallel", "reduction", "parallel"]', [f"%m : {moved}"], [f"%f : {sums}"], "%x: i32, %o: i32",
                                      "%y = arith.addi %x, %o : i32", "%y : i32"),
                    "%r = " + generic([maps[1], maps[2], maps[0]], str(parallel).replace("'", '"'), [f"%m : {moved}", f"%s : {sums}"], [f"%w : {scores}"],
                                      "%x: i32, %u: i32, %o: i32", "%y = arith.muli %x, %u : i32", "%y : i32"), values="%r, %s")


def window_gradient(rows, columns):
    """The sum of values that fills have at every second place, where bits say so, and without the border, as the gradient of a pooling."""
    small, large, inside = f"{rows}x{rows}x{columns}", f"{2 * rows + 1}x{2 * rows + 1}x{columns}", f"{2 * rows - 1}x{2 * rows - 1}x{columns}"
    same = "affine_map<(i, j, k) -> (i, j, k)>"
    lines = [f"%e = tensor.empty() : tensor<{large}xf32>\n%b = tensor.empty() : tensor<{large}xi1>\n%z = arith.constant 0.0 : f32\n%n = arith.constant false",
             f"%s0 = linalg.fill ins(%z : f32) outs(%e : tensor<{large}xf32>) -> tensor<{large}xf32>",
             f"%f = linalg.fill ins(%n : i1) outs(%b : tensor<{large}xi1>) -> tensor<{large}xi1>"]
    for number, (i, j) in enumerate(((0, 0), (0, 1), (1, 2), (2, 2)), 1):
        for name, kind, source, fill in (("v", "f32", "%a0", "%s0"), ("m", "i1", f"%a{number}", "%f")):
            at = f"[{i}, {j}, 0] [{rows - i // 2}, {rows - j // 2}, {columns}]"
            taken = f"tensor<{rows - i // 2}x{rows - j // 2}x{columns}x{kind}>"
            lines.append(f"%t{name}{number} = tensor.extract_slice {source}[0, 0, 0] {at.split('] ')[1]} [1, 1, 1] : tensor<{small}x{kind}> to {taken}\n"
                         f"%{name}{number} = tensor.insert_slice %t{name}{number} into {fill}{at} [2, 2, 1] : {taken} into tensor<{large}x{kind}>")
        lines.append(f"%s{number} = " + generic([same] * 4, P3, [f"%m{number} : tensor<{large}xi1>", f"%v{number} : tensor<{large}xf32>",
                                                                f"%s{number - 1} : tensor<{large}xf32>"], [f"%e : tensor<{large}xf32>"],
                                                "%m: i1, %v: f32, %s: f32, %o: f32", "%t = arith.addf %s, %v : f32\n%r = arith.select %m, %t, %s : f32", "%r : f32"))
    lines.append(f"%r = tensor.extract_slice %s4[1, 1, 0] [{2 * rows - 1}, {2 * rows - 1}, {columns}] [1, 1, 1] : tensor<{large}xf32> to tensor<{inside}xf32>")
    lines.append(f"%p = tensor.empty() : tensor<{inside}xf32>\n%q = " + generic([same] * 2, P3, [f"%r : tensor<{inside}xf32>"], [f"%p : tensor<{inside}xf32>"],
                                                                               "%x: f32, %o: f32", "%t = arith.addf %x, %x : f32", "%t : f32"))
    return function([f"tensor<{small}xf32>"] + [f"tensor<{small}xi1>"] * 4, [f"tensor<{inside}xf32>"], *lines, values="%q")


def rounded_rows(rows, columns):
    """bf16 from one op of a run to the next: rounded there, as in memory."""
    matrix, vector = f"tensor<{rows}x{columns}xbf16>", f"tensor<{rows}xf32>"
    return function([matrix, matrix], [matrix, vector], f"%e = tensor.empty() : {matrix}\n%z = arith.constant 0xFF800000 : f32\n%v = tensor.empty() : {vector}",
                    "%k = " + generic(["#id", "#id", "#id"], P2, [f"%a0 : {matrix}", f"%a1 : {matrix}"], [f"%e : {matrix}"], "%x: bf16, %y: bf16, %o: bf16",
                                      "%s = arith.mulf %x, %y : bf16", "%s : bf16") + " ",
                    f"%f = linalg.fill ins(%z : f32) outs(%v : {vector}) -> {vector}",
                    "%m = " + generic(["#id", "#row"], ROWS, [f"%k : {matrix}"], [f"%f : {vector}"], "%x: bf16, %o: f32",
                                      "%w = arith.extf %x : bf16 to f32\n%s = arith.maximumf %o, %w : f32", "%s : f32"), values="%k, %m")


def moved_heads(source, target, sizes, *masks):
    """The loops of `target` read other orders of its loops, of which masks lack some, and ask for indices of loops that tiles merge."""
    loops = ", ".join(target)
    shapes = ["x".join(str(sizes[loop]) for loop in order) for order in (source, *masks, target)]
    types = [f"tensor<{shape}xi32>" for shape in shapes]
    maps = [f"affine_map<({loops}) -> ({', '.join(order)})>" for order in (source, *masks, target)]
    body = [f"%i{n} = linalg.index {n} : index\n%j{n} = arith.index_cast %i{n} : index to i32" for n in range(len(target))]
    value = "%x0"
    for n in range(len(masks)):
        body.append(f"%m{n} = arith.addi {value}, %x{n + 1} : i32")
        value = f"%m{n}"
    for n in range(len(target)):
        body.append(f"%k{n} = arith.muli {value}, %c : i32\n%s{n} = arith.addi %k{n}, %j{n} : i32")
        value = f"%s{n}"
    return function(types[:-1], types[-1:], f"%e = tensor.empty() : {types[-1]}\n%c = arith.constant 11 : i32",
                    "%r = " + generic(maps, str(["parallel"] * len(target)).replace("'", '"'), [f"%a{n} : {kind}" for n, kind in enumerate(types[:-1])],
                                      [f"%e : {types[-1]}"], ", ".join(f"%x{n}: i32" for n in range(len(types) - 1)) + ", %o: i32", "\n".join(body), f"{value} : i32"))


# Name, program, and how far results may be from the host's, in units of the largest; 0 is bit for bit.
CASES = [
    ("i1_result", pointwise(1003, ["f32", "f32"], "i1", "%s = arith.cmpf olt, %x0, %x1 : f32", "%s : i1"), 0),
    ("i1_whole", pointwise(4096, ["f32", "f32"], "i1", "%s = arith.cmpf olt, %x0, %x1 : f32", "%s : i1"), 0),
    ("i1_operand", pointwise(4096, ["i1", "f32"], "f32", "%z = arith.constant 1.0 : f32\n%s = arith.select %x0, %x1, %z : f32", "%s : f32"), 0),
    ("i8", pointwise(4100, ["i8", "i8"], "i8", "%s = arith.addi %x0, %x1 : i8", "%s : i8"), 0),
    ("i8_to_f64", pointwise(8192, ["i8"], "f64", "%s = arith.sitofp %x0 : i8 to f64", "%s : f64"), 0),
    ("i64", pointwise(513, ["i64", "i64"], "i64", "%s = arith.muli %x0, %x1 : i64", "%s : i64"), 0),
    ("f16", pointwise(4096, ["f16", "f16"], "f16", "%s = arith.mulf %x0, %x1 : f16\n%t = arith.addf %s, %x1 : f16", "%t : f16"), 0),
    ("f64", pointwise(4098, ["f64", "f64"], "f64", "%s = arith.mulf %x0, %x1 : f64\n%t = arith.addf %s, %x1 : f64", "%t : f64"), 0),
    ("complex", pointwise(300, ["complex<f32>", "complex<f32>"], "complex<f32>", "%s = complex.mul %x0, %x1 : complex<f32>", "%s : complex<f32>"), 0),
    ("reversed", pointwise(37, ["f32"], "f32", "", "%x0 : f32", ["#back", "#one"]), 0),
    ("indices", pointwise("9x64", ["f32"], "i64", "%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%s = arith.muli %i, %j : index\n"
                          "%t = arith.index_cast %s : index to i64", "%t : i64", ["#id", "#id"], P2), 0),
    ("one_element", function(["tensor<f32>"], ["tensor<f32>"], "%r = arith.addf %a0, %a0 : tensor<f32>"), 0),
    ("transposed_sum", function(["tensor<40x72xf32>", "tensor<72x40xf32>"], ["tensor<72x40xf32>"], "%e = tensor.empty() : tensor<72x40xf32>",
                                "%r = " + generic(["#t", "#id", "#id"], P2, ["%a0 : tensor<40x72xf32>", "%a1 : tensor<72x40xf32>"], ["%e : tensor<72x40xf32>"],
                                                  "%x: f32, %y: f32, %o: f32", "%s = arith.addf %x, %y : f32", "%s : f32")), 0),
    ("transposed_i8", function(["tensor<64x128xi8>"], ["tensor<128x64xi8>"], "%e = tensor.empty() : tensor<128x64xi8>",
                               "%r = linalg.transpose ins(%a0 : tensor<64x128xi8>) outs(%e : tensor<128x64xi8>) permutation = [1, 0]"), 0),
    # Tiles of 64 x 128, the last ones in part outside of the matrix.
    ("transposed_f16", function(["tensor<72x248xf16>"], ["tensor<248x72xf16>"], "%e = tensor.empty() : tensor<248x72xf16>",
                                "%r = linalg.transpose ins(%a0 : tensor<72x248xf16>) outs(%e : tensor<248x72xf16>) permutation = [1, 0]"), 0),
    ("transposed_f64", function(["tensor<33x70xf64>"], ["tensor<70x33xf64>"], "%e = tensor.empty() : tensor<70x33xf64>",
                                "%r = linalg.transpose ins(%a0 : tensor<33x70xf64>) outs(%e : tensor<70x33xf64>) permutation = [1, 0]"), 0),
    ("permuted", function(["tensor<48x3x40xf32>"], ["tensor<3x40x48xf32>"], "%e = tensor.empty() : tensor<3x40x48xf32>",
                          "%r = " + generic(["#cab", "#abc"], P3, ["%a0 : tensor<48x3x40xf32>"], ["%e : tensor<3x40x48xf32>"], "%x: f32, %o: f32", "", "%x : f32")), 0),
    # The indices of two loops that the kernel merges, and of the loop along the input.
    ("permuted_indices", function(["tensor<48x3x40xi32>"], ["tensor<3x40x48xi32>"], "%e = tensor.empty() : tensor<3x40x48xi32>",
                                  "%r = " + generic(["#cab", "#abc"], P3, ["%a0 : tensor<48x3x40xi32>"], ["%e : tensor<3x40x48xi32>"], "%x: i32, %o: i32",
                                                    "%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%k = linalg.index 2 : index\n"
                                                    "%m = affine.apply affine_map<(a, b, c) -> (a * 10000 + b * 100 + c)>(%i, %j, %k)\n"
                                                    "%w = arith.index_cast %m : index to i32\n%s = arith.addi %x, %w : i32", "%s : i32")), 0),
    # Two loops along the results, or along the inputs, as one loop of the tile; sizes that divide no tile, and such that do.
    ("two_result_loops", moved_heads("bktgs", "bkstg", {"b": 2, "k": 3, "t": 37, "g": 2, "s": 70}, "bt", "bts", "kg"), 0),
    ("two_result_loops_whole", moved_heads("bktgs", "bkstg", {"b": 2, "k": 2, "t": 64, "g": 2, "s": 128}, "bt", "bts", "kg"), 0),
    ("two_input_loops", moved_heads("bkstg", "bktgs", {"b": 2, "k": 3, "t": 37, "g": 2, "s": 70}, "bt", "bts", "kg"), 0),
    ("two_input_loops_whole", moved_heads("bkstg", "bktgs", {"b": 2, "k": 2, "t": 64, "g": 2, "s": 128}, "bt", "bts", "kg"), 0),
    ("three_loops", moved_heads("abdc", "abcd", {"a": 3, "b": 20, "c": 36, "d": 68}, "dab", "cb"), 0),
    ("window", function(["tensor<100xf32>", "tensor<5xf32>"], ["tensor<96xf32>"], "%e = tensor.empty() : tensor<96xf32>\n%z = arith.constant 0.0 : f32",
                        "%f = linalg.fill ins(%z : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>",
                        "%r = " + generic(["#window", "#col", "#row"], ROWS, ["%a0 : tensor<100xf32>", "%a1 : tensor<5xf32>"], ["%f : tensor<96xf32>"],
                                          "%x: f32, %y: f32, %o: f32", "%s = arith.mulf %x, %y : f32\n%t = arith.addf %o, %s : f32", "%t : f32")), 1e-6),
    ("window_gradient", window_gradient(7, 12), 0),
    ("window_gradient_odd", window_gradient(6, 5), 0),
    ("one_plus_erf", pointwise(1000, ["f32"], "f32", """%four = arith.constant 4.0 : f32
%one = arith.constant 1.0 : f32
%wide = arith.mulf %x0, %four : f32
%erf = math.erf %wide : f32
%s = arith.addf %erf, %one : f32""", "%s : f32"), 1.5e-7),
    ("slices", function(["tensor<64x64xf32>"], ["tensor<64x64xf32>"],
                        "%s = tensor.extract_slice %a0[3, 5] [8, 16] [1, 1] : tensor<64x64xf32> to tensor<8x16xf32>",
                        "%d = arith.addf %s, %s : tensor<8x16xf32>",
                        "%r = tensor.insert_slice %d into %a0[4, 8] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<64x64xf32>"), 0),
    ("arg_max", arg_max(37, 50), 0),
    ("two_results", two_results(37, 600), 1e-5),
    ("causal_softmax", causal_softmax(70, 520), 1e-5),
    ("transposed_sums", transposed_sum(2, 8, 64, 272), 0),
    ("rounded_rows", rounded_rows(33, 300), 0),
    ("sum_of_maps", weighted_sum(37, 50, "tensor<37xi32>", "#row", ROWS), 0),
    ("split_of_maps", weighted_sum(520, 516, "tensor<i32>", "#none", ALL), 0),
    ("sum_f64", reduction("19x700", "f64", "arith.addf", "0.0", "tensor<19xf64>", "#row", ROWS), 1e-13),
    ("product", reduction("19x40", "f32", "arith.mulf", "1.0", "tensor<19xf32>", "#row", ROWS), 1e-5),
    ("sum_bf16", reduction("300x40", "bf16", "arith.addf", "0.0", "tensor<40xbf16>", "#col", COLS), 0.004),
    ("long_sum_f16", reduction("19x5000", "f16", "arith.addf", "0.0", "tensor<19xf16>", "#row", ROWS), 0.0005),
    ("max_f16", reduction("19x700", "f16", "arith.maximumf", "0xFC00", "tensor<19xf16>", "#row", ROWS), 0),
    ("sum_i8", reduction("19x700", "i8", "arith.addi", "0", "tensor<19xi8>", "#row", ROWS), 0),
    ("xor_i64", reduction("300x50", "i64", "arith.xori", "0", "tensor<50xi64>", "#col", COLS), 0),
    ("and_i1", reduction("33x20", "i1", "arith.andi", "true", "tensor<33xi1>", "#row", ROWS), 0),
    ("min_i32_columns", reduction("1001x24", "i32", "arith.minsi", "2147483647", "tensor<24xi32>", "#col", COLS), 0),
    ("middle", reduction("6x50x24", "f32", "arith.maximumf", "0xFF800000", "tensor<6x24xf32>", "#ac", '["parallel", "reduction", "parallel"]', "#abc"), 0),
    # Few rows of many columns, which each thread has for itself; the last block is not full in the first one.
    ("few_rows", reduction("701x9x210", "i32", "arith.addi", "0", "tensor<701x210xi32>", "#ac", '["parallel", "reduction", "parallel"]', "#abc"), 0),
    ("few_rows_bf16", reduction("600x20x520", "bf16", "arith.maximumf", "0xFF80", "tensor<600x520xbf16>", "#ac",
                                '["parallel", "reduction", "parallel"]', "#abc"), 0),
    ("windows", function(["tensor<4x65x65x32xf32>", "tensor<3x3xf32>"], ["tensor<4x32x32x32xf32>"], "%z = arith.constant 0xFF800000 : f32",
                         "%e = tensor.empty() : tensor<4x32x32x32xf32>\n%f = linalg.fill ins(%z : f32) outs(%e : tensor<4x32x32x32xf32>) -> tensor<4x32x32x32xf32>",
                         "%r = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>} ins(%a0, %a1 : tensor<4x65x65x32xf32>, tensor<3x3xf32>) "
                         "outs(%f : tensor<4x32x32x32xf32>) -> tensor<4x32x32x32xf32>"), 0),
    # Ops that need nothing of each other: each has blocks of its own.
    ("independent", function(["tensor<65x36xf32>", "tensor<101xi32>", "tensor<f32>"],
                             ["tensor<65x36xf32>", "tensor<101xi32>", "tensor<f32>"], "%r = arith.addf %a0, %a0 : tensor<65x36xf32>",
                             "%s = arith.muli %a1, %a1 : tensor<101xi32>", "%t = arith.negf %a2 : tensor<f32>", values="%r, %s, %t"), 0),
    ("long_row", reduction("40x1000", "i32", "arith.addi", "0", "tensor<i32>", "#none", ALL), 0),
    ("split", reduction("700x1024", "i32", "arith.addi", "0", "tensor<i32>", "#none", ALL), 0),
    ("split_columns", reduction("8192x40", "i32", "arith.addi", "0", "tensor<40xi32>", "#col", COLS), 0),
    # A loop too short for all parts, bf16 that is wide between the steps, and a long row that is read in a loop.
    ("split_loops", reduction("6x96x512", "i32", "arith.addi", "0", "tensor<i32>", "#nothing", '["reduction", "reduction", "reduction"]', "#abc"), 0),
    ("split_bf16", column_bounds(8192, 40), 0),
    ("long_softmax_sum", long_softmax_sum(3, 17003), 1e-5),
    ("streamed", reduction("512x16640", "i8", "arith.xori", "0", "tensor<512xi8>", "#row", ROWS), 0),
    ("matmul", function(["tensor<20x30xf32>", "tensor<30x24xf32>"], ["tensor<20x24xf32>"], "%e = tensor.empty() : tensor<20x24xf32>\n%z = arith.constant 0.0 : f32",
                        "%f = linalg.fill ins(%z : f32) outs(%e : tensor<20x24xf32>) -> tensor<20x24xf32>",
                        "%r = linalg.matmul ins(%a0, %a1 : tensor<20x30xf32>, tensor<30x24xf32>) outs(%f : tensor<20x24xf32>) -> tensor<20x24xf32>"), 1e-5),
]


def random(element, shape, generator):
    if element.kind == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_) | (generator.random(shape) < 0.9)
    if element.kind == "int":
        return generator.integers(-100, 100, shape).astype(element.storage)
    values = generator.standard_normal(shape)
    if element.kind == "complex":
        values = values + 1j * generator.standard_normal(shape)
    return element.narrow(values.astype(np.float32)) if element.name == "bf16" else values.astype(element.storage)


def main(directory, cxx, only=""):
    generator = np.random.default_rng(1)
    for name, program, tolerance in CASES:
        if only not in name:
            continue
        folder = os.path.join(directory, name)
        emulator = kernel_emulator.Emulator(program, folder, cxx)
        elements = [(bt.ELEMENT_TYPES[b["type"]], b) for b in emulator.buffers.values() if b["direction"] != "scratch"]
        inputs = [(e, random(e, b["shape"], generator)) for e, b in elements if b["direction"] == "in"]
        results = [e for e, b in elements if b["direction"] == "out"]
        found = emulator.run([values for _, values in inputs])
        host = bt.compile_program(program, folder, passes="none")
        expected = bt.run_program(host, 1, folder, [(e, [values]) for e, values in inputs], results)[0]
        for element, one, other in zip(results, found, expected):
            if tolerance == 0:
                bt.check_equal(one, other, name, element)
                continue
            one, other = (np.asarray(element.widen(x)).astype(np.float64) for x in (one, other))
            if one.shape != other.shape or not (np.abs(one - other) <= tolerance * np.abs(other).max()).all():
                sys.exit(f"{name}: {np.abs(one - other).max()} apart of {np.abs(other).max()}")
        print(name, "right", flush=True)


main(*sys.argv[1:])
