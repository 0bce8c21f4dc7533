# RUN: %python %s %t %cxx %braid_lib_dir
"""Loops whose conditions are computed on the GPU, whole: host code, memory plan, kernels and replays of iterations."""
import ctypes
import os
import sys

import cuda_testing
import numpy as np
import program_emulator

SIZE = 64
VECTOR, MATRIX = f"tensor<{SIZE}xi32>", f"tensor<{SIZE}x{SIZE}xi32>"


class Writer:
    """Writes ops, whose results have numbers."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def affine(self, value, factor, term):
        """factor * value + term, a number or the name of one."""
        if isinstance(term, int):
            term = self.add(f"arith.constant {term} : i32")
        return self._generic([(value, "#vector", VECTOR)], '"parallel"', f"{self.add('tensor.empty() : ' + VECTOR)}", [
            f"%p = arith.constant {factor} : i32", "%y = arith.muli %a0, %p : i32", f"%r = arith.addi %y, {term} : i32"])  # fmt: skip

    def product(self, matrix, vector):
        """The sums of the rows of the matrix times the vector."""
        zero = self.add("arith.constant 0 : i32")
        filled = self.add(f"linalg.fill ins({zero} : i32) outs({self.add('tensor.empty() : ' + VECTOR)} : {VECTOR}) -> {VECTOR}")
        inputs = [(matrix, "#matrix", MATRIX), (vector, "#column", VECTOR)]
        return self._generic(inputs, '"parallel", "reduction"', filled, ["%y = arith.muli %a0, %a1 : i32", "%r = arith.addi %y, %o : i32"], "#row")

    def add_vectors(self, first, second):
        inputs = [(first, "#vector", VECTOR), (second, "#vector", VECTOR)]
        return self._generic(inputs, '"parallel"', self.add("tensor.empty() : " + VECTOR), ["%r = arith.addi %a0, %a1 : i32"])

    def is_below(self, vector, limit):
        """Whether the first element is below a limit."""
        zero, bound = self.add("arith.constant 0 : index"), self.add(f"arith.constant {limit} : i32")
        element = self.add(f"tensor.extract {vector}[{zero}] : {VECTOR}")
        return self.add(f"arith.cmpi slt, {element}, {bound} : i32")

    def _generic(self, inputs, loops, output, body, output_map="#vector"):
        maps = ", ".join([one for _, one, _ in inputs] + [output_map])
        operands, types = (", ".join(one[part] for one in inputs) for part in (0, 2))
        arguments = ", ".join(f"%a{number}: i32" for number in range(len(inputs)))
        body = "\n".join([*body, "linalg.yield %r : i32"])
        return self.add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} ins({operands} : {types}) "
                        f"outs({output} : {VECTOR}) {{\n^bb0({arguments}, %o: i32):\n{body}\n}} -> {VECTOR}")  # fmt: skip


HEAD = f"""#vector = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#matrix = affine_map<(i, j) -> (i, j)>
func.func @main(%x: {VECTOR}, %m: {MATRIX}) -> {VECTOR} {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c5 = arith.constant 5 : index
"""


def carried_result():
    """Each outer iteration computes with what the condition of an inner loop has computed last in the iteration before."""
    w = Writer()
    w.lines.append(f"%out = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> ({VECTOR}) {{")
    # This takes the first free places of the memory, and no iteration shares it.
    w.lines.append("%k = arith.index_cast %i : index to i32")
    filled = w.add(f"linalg.fill ins(%k : i32) outs({w.add('tensor.empty() : ' + MATRIX)} : {MATRIX}) -> {MATRIX}")
    square = w.add(f"linalg.matmul ins(%m, %m : {MATRIX}, {MATRIX}) outs({filled} : {MATRIX}) -> {MATRIX}")
    begin = w.add_vectors("%a", w.product("%m", w.product(square, "%x")))
    w.lines.append(f"%w = scf.while (%c = {begin}) : ({VECTOR}) -> {VECTOR} {{")
    last = w.affine("%c", 3, 1)
    w.lines.append(f"scf.condition({w.is_below('%c', 9000)}) {last} : {VECTOR}\n}} do {{\n^bb0(%d: {VECTOR}):")
    w.lines.append(f"scf.yield {w.product('%m', w.affine('%d', 1, 2))} : {VECTOR}\n}}")
    w.lines.append(f"scf.yield %w : {VECTOR}\n}}\nreturn %out : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_carried_result(x, m):
    a = x
    for i in range(5):
        c = a + m @ ((m @ m + i) @ x)
        while c[0] < 9000:
            c = m @ (3 * c + 1 + 2)
        a = 3 * c + 1
    return a


def carried_pairs():
    """An iteration of the outer loop exchanges two vectors; one of the inner loop replaces the older of two, and keeps one."""
    w, pair = Writer(), f"{VECTOR}, {VECTOR}"
    w.lines.append(f"%out:2 = scf.while (%a = %x, %b = {w.product('%m', '%x')}) : ({pair}) -> ({pair}) {{")
    w.lines.append(f"scf.condition({w.is_below('%a', 3000)}) %a, %b : {pair}\n}} do {{\n^bb0(%c: {VECTOR}, %d: {VECTOR}):")
    w.lines.append(f"%in:3 = scf.while (%e = %c, %f = %d, %g = %d) : ({pair}, {VECTOR}) -> ({pair}, {VECTOR}) {{")
    w.lines.append(f"scf.condition({w.is_below('%e', 500)}) %e, %f, %g : {pair}, {VECTOR}\n}} do {{\n^bb0(%h: {VECTOR}, %i: {VECTOR}, %k: {VECTOR}):")
    sums = w.affine(w.add_vectors("%h", w.product("%m", "%i")), 1, 3)
    w.lines.append(f"scf.yield {sums}, %h, {w.affine(sums, 2, 0)} : {pair}, {VECTOR}\n}}")
    w.lines.append(f"scf.yield {w.affine('%in#1', 3, 1)}, {w.add_vectors('%in#0', '%in#2')} : {pair}\n}}")
    w.lines.append(f"return {w.add_vectors(w.affine('%out#0', 5, 0), '%out#1')} : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_carried_pairs(x, m):
    a, b = x, m @ x
    while a[0] < 3000:
        e, f, g = a, b, b
        while e[0] < 500:
            e, f = e + m @ f + 3, e
            g = 2 * e
        a, b = 3 * f + 1, e + g
    return 5 * a + b


def nested_loops():
    """An outer loop passes what it carries to an inner one, which may have no iterations, and carries the result."""
    w = Writer()
    w.lines.append(f"%out = scf.for %n = %c0 to %c5 step %c1 iter_args(%a = %x) -> ({VECTOR}) {{")
    w.lines.append("%number = arith.index_cast %n : index to i32")
    # The inner loop runs in every other iteration.
    one, steps = w.add("arith.constant 1 : i32"), w.add("arith.constant 700 : i32")
    is_odd = w.add(f"arith.andi %number, {one} : i32")
    limit = w.add(f"arith.muli {w.add(f'arith.muli {is_odd}, {steps} : i32')}, %number : i32")
    w.lines.append(f"%in = scf.while (%b = %a) : ({VECTOR}) -> {VECTOR} {{")
    element = w.add(f"tensor.extract %b[%c0] : {VECTOR}")
    w.lines.append(f"scf.condition({w.add(f'arith.cmpi slt, {element}, {limit} : i32')}) %b : {VECTOR}\n}} do {{\n^bb0(%c: {VECTOR}):")
    w.lines.append(f"scf.yield {w.affine(w.product('%m', '%c'), 2, 1)} : {VECTOR}\n}}")
    w.lines.append(f"scf.yield %in : {VECTOR}\n}}")
    w.lines.append(f"return {w.add_vectors('%out', '%x')} : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_nested_loops(x, m):
    a = x
    for n in range(5):
        while a[0] < (n & 1) * 700 * n:
            a = 2 * (m @ a) + 1
    return a + x


def long_iterations():
    """Iterations of as many kernels as are worth a graph."""
    w = Writer()
    w.lines.append(f"%out = scf.while (%c = %x) : ({VECTOR}) -> {VECTOR} {{")
    w.lines.append(f"scf.condition({w.is_below('%c', 20)}) %c : {VECTOR}\n}} do {{\n^bb0(%d: {VECTOR}):")
    value = "%d"
    for number in range(12):
        value = w.product("%m", w.affine(value, 1, -number))
    w.lines.append(f"scf.yield {w.add_vectors(w.affine(value, 0, 1), '%d')} : {VECTOR}\n}}\nreturn %out : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_long_iterations(x, _):
    while x[0] < 20:
        x = x + 1
    return x


def device_places():
    """Each iteration inserts a row and an element at a place that it has computed, before the first or behind the last one, too."""
    w = Writer()
    w.lines.append(f"%w:2 = scf.while (%c = %x, %t = %m) : ({VECTOR}, {MATRIX}) -> ({VECTOR}, {MATRIX}) {{")
    w.lines.append(f"scf.condition({w.is_below('%c', 120)}) %c, %t : {VECTOR}, {MATRIX}\n}} do {{\n^bb0(%d: {VECTOR}, %u: {MATRIX}):")
    shifted = w.affine("%d", 1, -20)
    element = w.add(f"tensor.extract {shifted}[%c1] : {VECTOR}")
    last = w.add(f"arith.constant {SIZE - 1} : index")
    place = w.add(f"arith.index_cast {element} : i32 to index")
    place = w.add(f"arith.minsi {w.add(f'arith.maxsi {place}, %c0 : index')}, {last} : index")
    row = w.affine("%d", 1, 7)
    matrix = w.add(f"tensor.insert_slice {row} into %u[{place}, 0] [1, {SIZE}] [1, 1] : {VECTOR} into {MATRIX}")
    inserted = w.add(f"tensor.extract_slice {row}[5] [1] [1] : {VECTOR} to tensor<i32>")
    vector = w.add(f"tensor.insert_slice {inserted} into {row}[{place}] [1] [1] : tensor<i32> into {VECTOR}")
    w.lines.append(f"scf.yield {vector}, {matrix} : {VECTOR}, {MATRIX}\n}}")
    w.lines.append(f"return {w.add_vectors(w.product('%w#1', '%x'), '%w#0')} : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_device_places(x, m):
    c, t = x, m.copy()
    while c[0] < 120:
        place = min(max(c[1] - 20, 0), SIZE - 1)
        c = c + 7
        t[place] = c
        c[place] = c[5]
    return t @ x + c


def counters():
    """Tensors count the iterations of loops: an inner one as often as a branch says, and each inserts at its number."""
    w, number = Writer(), "tensor<i32>"

    def scalar(type, body, *inputs):
        maps = ", ".join(["affine_map<() -> ()>"] * (len(inputs) + 1))
        names, types = ", ".join(inputs), ", ".join([number] * len(inputs))
        arguments = "".join(f"%a{place}: i32, " for place in range(len(inputs)))
        return w.add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = []}} ins({names} : {types}) outs({w.add(f'tensor.empty() : {type}')} : "
                     f"{type}) {{\n^bb0({arguments}%o: {type[7:-1]}):\n{body}\nlinalg.yield %r : {type[7:-1]}\n}} -> {type}")  # fmt: skip

    def condition(first, second):
        less = scalar("tensor<i1>", "%r = arith.cmpi slt, %a0, %a1 : i32", first, second)
        return w.add(f"tensor.extract {less}[] : tensor<i1>")

    zero, three, four, step = (w.add(f"arith.constant dense<{value}> : {number}") for value in (0, 3, 4, 2))
    w.lines.append(f"%out:2 = scf.while (%i = {zero}, %a = %x) : ({number}, {VECTOR}) -> ({number}, {VECTOR}) {{")
    w.lines.append(f"scf.condition({condition('%i', four)}) %i, %a : {number}, {VECTOR}\n}} do {{\n^bb0(%j: {number}, %b: {VECTOR}):")
    w.lines.append(f"%end = scf.if {condition('%j', step)} -> ({number}) {{\nscf.yield {three} : {number}\n}} else {{\nscf.yield %j : {number}\n}}")
    w.lines.append(f"%in:2 = scf.while (%k = {zero}, %c = %b) : ({number}, {VECTOR}) -> ({number}, {VECTOR}) {{")
    w.lines.append(f"scf.condition({condition('%k', '%end')}) %k, %c : {number}, {VECTOR}\n}} do {{\n^bb0(%l: {number}, %d: {VECTOR}):")
    place = w.add(f"arith.index_cast {w.add(f'tensor.extract %l[] : {number}')} : i32 to index")
    total = scalar(number, "%r = arith.addi %a0, %a1 : i32", "%j", "%l")
    inserted = w.add(f"tensor.insert_slice {total} into {w.affine(w.product('%m', '%d'), 1, 1)}[{place}] [1] [1] : {number} into {VECTOR}")
    one = "%one = arith.constant 1 : i32\n%r = arith.addi %a0, %one : i32"
    w.lines.append(f"scf.yield {scalar(number, one, '%l')}, {inserted} : {number}, {VECTOR}\n}}")
    w.lines.append(f"scf.yield {scalar(number, one, '%j')}, %in#1 : {number}, {VECTOR}\n}}\nreturn %out#1 : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_counters(x, m):
    for j in range(4):
        for k in range(3 if j < 2 else j):
            x = m @ x + 1
            x[k] = j + k
    return x


def decisions():
    """Loops, and a choice between three cases in the inner one, that go by what kernels have computed."""
    w = Writer()

    def decide(type, body, vector):
        """A number that `body` computes of the sum %s of a vector, which has more elements than the host would read."""
        zero = w.add("arith.constant dense<0> : tensor<i32>")
        total = w.add(f'linalg.generic {{indexing_maps = [#vector, affine_map<(i) -> ()>], iterator_types = ["reduction"]}} ins({vector} : {VECTOR}) '
                      f"outs({zero} : tensor<i32>) {{\n^bb0(%y: i32, %o: i32):\n%r = arith.addi %y, %o : i32\nlinalg.yield %r : i32\n}} -> tensor<i32>")  # fmt: skip
        decided = w.add(f"linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}} ins({total} : tensor<i32>) "
                        f"outs({w.add(f'tensor.empty() : tensor<{type}>')} : tensor<{type}>) {{\n^bb0(%s: i32, %o: {type}):\n{body}\n"
                        f"linalg.yield %r : {type}\n}} -> tensor<{type}>")  # fmt: skip
        return w.add(f"tensor.extract {decided}[] : tensor<{type}>")

    def is_below(vector, limit):
        return decide("i1", f"%l = arith.constant {limit} : i32\n%r = arith.cmpi slt, %s, %l : i32", vector)

    w.lines.append(f"%out:2 = scf.while (%a = %x, %b = %x) : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR}) {{")
    w.lines.append(f"scf.condition({is_below('%a', 20000)}) %a, %b : {VECTOR}, {VECTOR}\n}} do {{\n^bb0(%c: {VECTOR}, %d: {VECTOR}):")
    w.lines.append(f"%in = scf.while (%e = %d) : ({VECTOR}) -> {VECTOR} {{")
    w.lines.append(f"scf.condition({is_below('%e', 3000)}) %e : {VECTOR}\n}} do {{\n^bb0(%f: {VECTOR}):")
    choice = decide("i32", "%l = arith.constant 3 : i32\n%r = arith.andi %s, %l : i32", "%f")
    choice = w.add(f"arith.index_cast {choice} : i32 to index")
    w.lines.append(f"%g = scf.index_switch {choice} -> {VECTOR}\ncase 0 {{")
    w.lines.append(f"scf.yield {w.affine('%f', 1, 5)} : {VECTOR}\n}}\ncase 1 {{")
    w.lines.append(f"scf.yield {w.product('%m', w.affine('%f', 1, 11))} : {VECTOR}\n}}\ndefault {{")
    w.lines.append(f"scf.yield {w.add_vectors('%f', w.affine('%x', 1, 2))} : {VECTOR}\n}}\nscf.yield %g : {VECTOR}\n}}")
    total = w.add_vectors("%c", "%in")
    w.lines.append(f"%h = scf.if {is_below('%in', 3100)} -> ({VECTOR}) {{\nscf.yield %c : {VECTOR}\n}} else {{")
    w.lines.append(f"scf.yield {w.affine('%c', -1, 9)} : {VECTOR}\n}}\nscf.yield {total}, %h : {VECTOR}, {VECTOR}\n}}")
    w.lines.append(f"return {w.add_vectors('%out#0', '%out#1')} : {VECTOR}\n}}")
    return HEAD + "\n".join(w.lines)


def model_of_decisions(x, m):
    a = b = x
    while a.sum() < 20000:
        while b.sum() < 3000:
            choice = b.sum() & 3
            b = b + 5 if choice == 0 else m @ (b + 11) if choice == 1 else b + x + 2
        a, b = a + b, a if b.sum() < 3100 else 9 - a
    return a + b


def count_reads(name, source, directory, cxx, libraries):
    """Nobody waits for what tensors have counted or decided."""
    executable = program_emulator.Program(source, os.path.join(directory, name + "_reads"), cxx, libraries).executable()
    driver = ctypes.CDLL(os.path.join(libraries, "libfake_cuda.so"), mode=ctypes.RTLD_GLOBAL)
    driver.fake_cuda_log.restype = ctypes.c_char_p
    inputs = [[np.ones(SIZE, np.int32), np.eye(SIZE, dtype=np.int32)]]
    for _ in range(3):
        driver.fake_cuda_clear_log()
        executable.run(inputs, timeout=120)
    reads = driver.fake_cuda_log().decode().count("copy to host")
    assert reads <= 1, f"{name}: the host reads {reads} times"


def check(name, source, model, directory, cxx, libraries):
    program = program_emulator.Program(source, os.path.join(directory, name), cxx, libraries)
    executable = program.executable()
    generator = np.random.default_rng(7)
    m = np.eye(SIZE, dtype=np.int32)[generator.permutation(SIZE)]
    m[0] = np.eye(SIZE, dtype=np.int32)[0]
    for repetition in range(3):
        x = generator.integers(0, 9, SIZE, dtype=np.int32)
        found = np.array(executable.run([[x, m]], timeout=120)[0][0])
        np.testing.assert_array_equal(found, model(x, m), f"{name}, run {repetition}")


if __name__ == "__main__":
    folder, compiler, fakes = sys.argv[1:]
    os.environ.update(cuda_testing.fakes(fakes))
    check("carried_result", carried_result(), model_of_carried_result, folder, compiler, fakes)
    check("carried_pairs", carried_pairs(), model_of_carried_pairs, folder, compiler, fakes)
    check("counters", counters(), model_of_counters, folder, compiler, fakes)
    count_reads("counters", counters(), folder, compiler, fakes)
    check("decisions", decisions(), model_of_decisions, folder, compiler, fakes)
    count_reads("decisions", decisions(), folder, compiler, fakes)
    check("device_places", device_places(), model_of_device_places, folder, compiler, fakes)
    check("nested_loops", nested_loops(), model_of_nested_loops, folder, compiler, fakes)
    check("long_iterations", long_iterations(), model_of_long_iterations, folder, compiler, fakes)
