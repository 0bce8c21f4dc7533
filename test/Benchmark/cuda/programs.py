"""The programs of the kernel benchmark: what they compute as MLIR on tensors, and the same in PyTorch in float64."""

MIB = 1 << 20
BYTES = {"bf16": 2, "f32": 4}
COLUMNS = 4096


def shape_of(dtype, mib):
    """A matrix of `mib` MiB."""
    return mib * MIB // BYTES[dtype] // COLUMNS, COLUMNS


HEAD = """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>
#t = affine_map<(i, j) -> (j, i)>
"""


def generic(maps, kinds, ins, outs, body, result, arguments, yields):
    """The text of a linalg.generic: `ins` and `outs` are (value, type) pairs."""

    def operands(pairs):
        return ", ".join(v for v, _ in pairs) + " : " + ", ".join(t for _, t in pairs)

    text = f"linalg.generic {{indexing_maps = [{', '.join('#' + m for m in maps)}], "
    text += "iterator_types = [" + ", ".join(f'"{k}"' for k in kinds) + "]}"
    if ins:
        text += f" ins({operands(ins)})"
    text += f" outs({operands(outs)}) {{\n  ^bb0({arguments}):\n{body}    linalg.yield {yields}\n  }} -> {result}"
    return text


PARALLEL = ("parallel", "parallel")
ROWS = ("parallel", "reduction")
COLS = ("reduction", "parallel")
ALL = ("reduction", "reduction")


class Program:
    """One program of some element type and size."""

    def __init__(self, kind, dtype, mib):
        self.kind, self.dtype, self.mib = kind, dtype, mib
        self.name = f"{kind}_{dtype}_{mib}"
        self.m, self.n = shape_of(dtype, mib)

    def mlir(self):
        return HEAD + getattr(self, "write_" + self.kind)()

    # Types.
    def matrix(self, dtype=None):
        return f"tensor<{self.m}x{self.n}x{dtype or self.dtype}>"

    def function(self, arguments, result, lines, value):
        args = ", ".join(f"%{n}: {t}" for n, t in arguments)
        return f"func.func @main({args}) -> {result} {{\n" + "".join(f"  {l}\n" for l in lines) + f"  return {value} : {result}\n}}\n"

    def wide(self, value):
        """Lines of a body that make `value` an f32."""
        return (f"    %w = arith.extf %{value} : bf16 to f32\n", "%w") if self.dtype == "bf16" else ("", f"%{value}")

    def pointwise(self, inputs, body, yields, result=None):
        result = result or self.dtype
        ins = [(f"%{n}", self.matrix()) for n in inputs]
        arguments = ", ".join(f"%{n}_: {self.dtype}" for n in inputs) + f", %o_: {result}"
        lines = [f"%e = tensor.empty() : {self.matrix(result)}",
                 "%r = " + generic(["id"] * (len(inputs) + 1), PARALLEL, ins, [("%e", self.matrix(result))], body,
                                   self.matrix(result), arguments, yields)]
        return self.function([(n, self.matrix()) for n in inputs], self.matrix(result), lines, "%r")

    def write_copy(self):
        return self.pointwise(["a"], "", f"%a_ : {self.dtype}")

    def write_relu(self):
        body = f"    %z = arith.constant 0.0 : {self.dtype}\n    %m = arith.maximumf %a_, %z : {self.dtype}\n"
        return self.pointwise(["a"], body, f"%m : {self.dtype}")

    def write_muladd(self):
        body = f"    %m = arith.mulf %a_, %b_ : {self.dtype}\n    %s = arith.addf %m, %c_ : {self.dtype}\n"
        return self.pointwise(["a", "b", "c"], body, f"%s : {self.dtype}")

    def write_gelu(self):
        extend, wide = self.wide("a_")
        body = extend + f"""    %h = arith.constant 0.5 : f32
    %q = arith.constant 0.70710678118654752 : f32
    %one = arith.constant 1.0 : f32
    %s = arith.mulf {wide}, %q : f32
    %e1 = math.erf %s : f32
    %e2 = arith.addf %e1, %one : f32
    %e3 = arith.mulf {wide}, %h : f32
    %e4 = arith.mulf %e3, %e2 : f32
"""
        if self.dtype == "f32":
            return self.pointwise(["a"], body, "%e4 : f32")
        return self.pointwise(["a"], body + "    %n = arith.truncf %e4 : f32 to bf16\n", "%n : bf16")

    def write_cast(self):
        if self.dtype == "bf16":
            return self.pointwise(["a"], "    %w = arith.extf %a_ : bf16 to f32\n", "%w : f32", "f32")
        return self.pointwise(["a"], "    %w = arith.truncf %a_ : f32 to bf16\n", "%w : bf16", "bf16")

    def write_bias(self):
        d, vector = self.dtype, f"tensor<{self.n}x{self.dtype}>"
        lines = [f"%e = tensor.empty() : {self.matrix()}",
                 "%r = " + generic(["id", "col", "id"], PARALLEL, [("%a", self.matrix()), ("%b", vector)], [("%e", self.matrix())],
                                   f"    %s = arith.addf %a_, %b_ : {d}\n", self.matrix(), f"%a_: {d}, %b_: {d}, %o_: {d}", f"%s : {d}")]
        return self.function([("a", self.matrix()), ("b", vector)], self.matrix(), lines, "%r")

    def reduction(self, result, map_name, kinds):
        extend, wide = self.wide("a_")
        lines = ["%z = arith.constant 0.0 : f32", f"%e = tensor.empty() : {result}",
                 f"%f = linalg.fill ins(%z : f32) outs(%e : {result}) -> {result}",
                 "%r = " + generic(["id", map_name], kinds, [("%a", self.matrix())], [("%f", result)],
                                   extend + f"    %s = arith.addf %o_, {wide} : f32\n", result, f"%a_: {self.dtype}, %o_: f32", "%s : f32")]
        return self.function([("a", self.matrix())], result, lines, "%r")

    def write_sum_rows(self):
        return self.reduction(f"tensor<{self.m}xf32>", "row", ROWS)

    def write_sum_columns(self):
        return self.reduction(f"tensor<{self.n}xf32>", "col", COLS)

    def write_sum_all(self):
        return self.reduction("tensor<f32>", "none", ALL)

    def rows(self, name, matrix, op, init):
        """Lines that reduce the rows of `matrix`, in f32, to %name."""
        vector, tensor = f"tensor<{self.m}xf32>", self.matrix("f32")
        return [f"%{name}_i = arith.constant {init} : f32", f"%{name}_e = tensor.empty() : {vector}",
                f"%{name}_f = linalg.fill ins(%{name}_i : f32) outs(%{name}_e : {vector}) -> {vector}",
                f"%{name} = linalg.reduce {{ {op} }} ins({matrix} : {tensor}) outs(%{name}_f : {vector}) dimensions = [1]"]

    def widen(self):
        if self.dtype == "f32":
            return [], "%a"
        return [f"%ew = tensor.empty() : {self.matrix('f32')}",
                "%x = " + generic(["id", "id"], PARALLEL, [("%a", self.matrix())], [("%ew", self.matrix("f32"))],
                                  "    %w = arith.extf %a_ : bf16 to f32\n", self.matrix("f32"), "%a_: bf16, %o_: f32", "%w : f32")], "%x"

    def by_row(self, name, matrix, vector, body, yields, result="f32", more=(), more_arguments=""):
        out = self.matrix(result)
        ins = [(matrix, self.matrix("f32")), (vector, f"tensor<{self.m}xf32>")] + [(v, t) for v, t in more]
        maps = ["id", "row"] + ["col"] * len(more) + ["id"]
        return [f"%{name}_e = tensor.empty() : {out}",
                f"%{name} = " + generic(maps, PARALLEL, ins, [(f"%{name}_e", out)], body, out,
                                        f"%x_: f32, %v_: f32{more_arguments}, %o_: {result}", yields)]

    def narrow(self, value):
        """Lines of a body that end it with `value`, an f32."""
        if self.dtype == "f32":
            return "", f"{value} : f32"
        return f"    %n = arith.truncf {value} : f32 to bf16\n", "%n : bf16"

    def write_softmax(self):
        lines, x = self.widen()
        lines += self.rows("m", x, "arith.maximumf", "0xFF800000")
        lines += self.by_row("p", x, "%m", "    %d = arith.subf %x_, %v_ : f32\n    %q = math.exp %d : f32\n", "%q : f32")
        lines += self.rows("s", "%p", "arith.addf", "0.0")
        end, yields = self.narrow("%q")
        lines += self.by_row("r", "%p", "%s", "    %q = arith.divf %x_, %v_ : f32\n" + end, yields, self.dtype)
        return self.function([("a", self.matrix())], self.matrix(), lines, "%r")

    def write_layer_norm(self):
        vector, scale = f"tensor<{self.m}xf32>", f"tensor<{self.n}xf32>"
        lines, x = self.widen()
        lines += self.rows("s", x, "arith.addf", "0.0")
        lines += [f"%c = arith.constant dense<{float(self.n)}> : {vector}", f"%mean = arith.divf %s, %c : {vector}"]
        lines += self.by_row("d", x, "%mean", "    %q = arith.subf %x_, %v_ : f32\n", "%q : f32")
        lines += [f"%dd = arith.mulf %d, %d : {self.matrix('f32')}"]
        lines += self.rows("ss", "%dd", "arith.addf", "0.0")
        lines += [f"%var = arith.divf %ss, %c : {vector}", f"%eps = arith.constant dense<1.0e-5> : {vector}",
                  f"%ve = arith.addf %var, %eps : {vector}", f"%rs = math.rsqrt %ve : {vector}"]
        end, yields = self.narrow("%q3")
        body = "    %q1 = arith.mulf %x_, %v_ : f32\n    %q2 = arith.mulf %q1, %g_ : f32\n    %q3 = arith.addf %q2, %b_ : f32\n" + end
        lines += self.by_row("r", "%d", "%rs", body, yields, self.dtype, [("%g", scale), ("%b", scale)], ", %g_: f32, %b_: f32")
        return self.function([("a", self.matrix()), ("g", scale), ("b", scale)], self.matrix(), lines, "%r")

    def write_transpose(self):
        result = f"tensor<{self.n}x{self.m}x{self.dtype}>"
        lines = [f"%e = tensor.empty() : {result}",
                 f"%r = linalg.transpose ins(%a : {self.matrix()}) outs(%e : {result}) permutation = [1, 0]"]
        return self.function([("a", self.matrix())], result, lines, "%r")


KINDS = ["copy", "relu", "muladd", "gelu", "cast", "bias", "sum_rows", "sum_columns", "sum_all", "softmax", "layer_norm", "transpose"]


def all_programs(sizes=(64, 128)):
    return [Program(kind, dtype, mib) for mib in sizes for kind in KINDS for dtype in ("bf16", "f32")]
