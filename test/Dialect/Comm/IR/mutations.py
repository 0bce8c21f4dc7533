# RUN: %python %s 3 | FileCheck %s
#
# Mutates valid ops in the generic form (operands, types, attributes, regions
# dropped, added or exchanged) and runs what comes out: an error or a result,
# never a crash. `mutations.py BATCHES [SEED]` runs more of them by hand.

import random
import re
import subprocess
import sys

SEGMENTS = "operandSegmentSizes"
TENSOR, MEMREF = "tensor<4xf32>", "memref<4xf32>"
TOKEN = "!comm.token<tensor<4xf32>>"
DYNAMIC = "-9223372036854775808"
YIELD = '({\n^bb0(%z: tensor<4xf32>):\n"comm.yield"(%z) : (tensor<4xf32>) -> ()\n})'

# Name, attributes, operand types, result types, regions.
OPS = [
    ("all_reduce", f"group = @tp; reduction = 0 : i32; {SEGMENTS} = array<i32: 0, 1, 0>", [TENSOR], [TOKEN], ""),
    ("all_reduce", f"group = @tp; reduction = 8 : i32; {SEGMENTS} = array<i32: 1, 1, 0>", ["f32", TENSOR], [TOKEN], ""),
    ("all_reduce", f"group = @tp; reduction = 0 : i32; {SEGMENTS} = array<i32: 0, 2, 2>", [MEMREF] * 4, ["!comm.token"] * 2, ""),
    ("reduce", f"group = @tp; reduction = 0 : i32; root = 0 : i64; {SEGMENTS} = array<i32: 0, 1, 0>", [TENSOR], [TOKEN], ""),
    ("reduce_scatter", f"group = @tp; reduction = 0 : i32; dim = 0 : i64; {SEGMENTS} = array<i32: 0, 1, 0>", ["tensor<8xf32>"], [TOKEN], ""),
    ("broadcast", f"group = @tp; root = 0 : i64; {SEGMENTS} = array<i32: 1, 0>", [TENSOR], [TOKEN], ""),
    ("all_gather", f"group = @tp; dim = 0 : i64; {SEGMENTS} = array<i32: 1, 0>", [TENSOR], ["!comm.token<tensor<8xf32>>"], ""),
    ("all_gather", f"group = @tp; dim = 0 : i64; {SEGMENTS} = array<i32: 1, 1>", [MEMREF, "memref<8xf32>"], ["!comm.token"], ""),
    ("all_to_all", f"group = @tp; {SEGMENTS} = array<i32: 1, 0, 0, 0>", [TENSOR], [TOKEN], ""),
    ("all_to_all", f"group = @tp; {SEGMENTS} = array<i32: 1, 0, 1, 1>; staticSendSizes = array<i64: {DYNAMIC}, 1>; staticReceiveSizes = array<i64: 1, {DYNAMIC}>", [TENSOR, "index", "index"], ["!comm.token<tensor<?xf32>>"], ""),
    ("all_to_all", f"group = @tp; {SEGMENTS} = array<i32: 1, 0, 0, 0>; splitMatrix = [array<i64: 1, 3>, array<i64: 2, 2>]", [TENSOR], ["!comm.token<tensor<?xf32>>"], ""),
    ("gather", f"group = @tp; root = 0 : i64; {SEGMENTS} = array<i32: 1, 0>", [TENSOR], ["!comm.token<tensor<8xf32>>"], ""),
    ("scatter", f"group = @tp; root = 0 : i64; {SEGMENTS} = array<i32: 1, 0>", ["tensor<8xf32>"], [TOKEN], ""),
    ("permute", f"group = @tp; pairs = [array<i64: 0, 1>]; {SEGMENTS} = array<i32: 1, 0>", [TENSOR], [TOKEN], ""),
    ("send", "group = @tp; staticPeer = 1 : i64", [TENSOR], ["!comm.token"], ""),
    ("recv", f"group = @tp; staticPeer = 1 : i64; {SEGMENTS} = array<i32: 0, 0, 1>", ["index"], ["!comm.token<tensor<?xf32>>"], ""),
    ("recv", f"group = @tp; {SEGMENTS} = array<i32: 1, 1, 0>", [MEMREF, "index"], ["!comm.token"], ""),
    ("barrier", "group = @tp", [], ["!comm.token"], ""),
    ("rank", "group = @tp", [], ["index"], ""),
    ("size", "group = @tp", [], ["index"], ""),
    ("wait", f"{SEGMENTS} = array<i32: 1, 0, 0>", [TOKEN], [TENSOR], ""),
    ("wait", f"{SEGMENTS} = array<i32: 1, 1, 1>", ["!comm.token", MEMREF, MEMREF], [], ""),
    ("compute", 'kernel = "k"', [TENSOR, "f32"], [TENSOR], "({})"),
    ("compute", 'kernel = "k"; async = unit', [TENSOR], [TOKEN], "({})"),
    ("compute", 'kernel = "k"; async = unit', [MEMREF, "f32"], ["!comm.token"], "({})"),
    ("compute", 'kernel = "k"; async = unit', [TENSOR], [TOKEN], YIELD),
    ("group", 'sym_name = "x"; ranks = [array<i64: 7>]', [], [], ""),
]
TYPES = """tensor<4xf32> tensor<?xf32> tensor<f32> tensor<4x8xf32> tensor<*xf32> tensor<0xf32>
    tensor<4xi4> tensor<4xi1> tensor<4xcomplex<f32>> tensor<9223372036854775807xf32> memref<4xf32>
    memref<8xf32> memref<?xf32> memref<*xf32> memref<f32> memref<4x8xf32,strided<[16,1]>> f32 index
    i64 vector<4xf32> none !comm.token !comm.token<tensor<4xf32>> !comm.token<tensor<?xf32>>""".split()
VALUES = f"""0 : i64|1 : i64|-1 : i64|9223372036854775807 : i64|0 : i32|9 : i32|"s"|unit|true|[]|[0]|@tp|@one
    |@uneven|@world|@f|@nope|@a::@b|1.0 : f32|i32|[array<i64: 0, 1>]|[array<i64>]|[array<i32: 0>]
    |[array<i64: 9223372036854775807, 1>, array<i64: 1, 1>]|array<i64: 2, 2>|array<i64>
    |array<i64: {DYNAMIC}, {DYNAMIC}>|array<i64: -1, -1>|array<i32: 1, -1, 1>
    |array<i32: 2147483647, 2147483647>|array<i32: 1, 1>|dense<1> : tensor<2xi64>""".split("|")
NAMES = """group dim root reduction staticSendSizes staticReceiveSizes splitMatrix pairs staticPeer ranks
    sym_visibility async kernel""".split()
REGIONS = ["", "({})", "({}, {})", YIELD, '({\n"comm.yield"() : () -> ()\n})', "({\n^bb0:\n})"]
PROGRAM = """
"comm.group"() <{{ranks = [array<i64: 0, 1>, array<i64: 2, 3>], sym_name = "tp"}}> : () -> ()
"comm.group"() <{{ranks = [array<i64: 0>], sym_name = "one"}}> : () -> ()
"comm.group"() <{{ranks = [array<i64: 0>, array<i64: 1, 2>], sym_name = "uneven"}}> : () -> ()
"comm.group"() <{{sym_name = "world"}}> : () -> ()
func.func @f({arguments}) {{
{results}"comm.{name}"({operands}) {attributes} {regions} : ({types}) -> ({result_types})
{waits}return
}}
"""


def mutate(source, op):
    name, text, operands, results, regions = op
    attributes = dict(part.strip().split(" = ", 1) for part in text.split(";"))
    operands, results = list(operands), list(results)
    for _ in range(source.choice([0, 1, 1, 1, 2, 3])):
        what = source.choice(["operand", "result", "attribute", "attribute", "segments", "region"])
        if what in ("operand", "result"):
            types = operands if what == "operand" else results
            place = source.randint(0, len(types))
            # Dropped, added or exchanged.
            types[place : place + source.randint(0, 1)] = source.sample(TYPES, source.randint(0, 1))
        elif what == "attribute":
            key = source.choice([*attributes, source.choice(NAMES)])
            attributes[key] = source.choice(VALUES).strip()
            if source.random() < 0.2:
                del attributes[key]
        elif what == "segments" and SEGMENTS in attributes:
            sizes = [0] * (attributes[SEGMENTS].count(",") + 1)
            for _ in operands:
                sizes[source.randrange(len(sizes))] += 1
            attributes[SEGMENTS] = f"array<i32: {', '.join(map(str, sizes))}>"
        elif what == "region" and (regions or source.random() < 0.1):
            regions = source.choice(REGIONS)
    return name, attributes, operands, results, regions


def render(source, op):
    name, attributes, operands, results, regions = op
    # A value is named again for an operand of its type now and then.
    values = [
        source.choice([i, *(j for j in range(i) if operands[j] == operands[i])])
        for i in range(len(operands))
    ]
    waits = ""
    for i, token in enumerate(results):
        value = re.fullmatch(r"!comm.token<(.*)>", token)
        if value and source.random() < 0.7:
            waits += f"%w{i} = comm.wait %r#{i} : {token}\n"
            waits += f"%i{i} = arith.constant 0 : index\n%d{i} = tensor.dim %w{i}, %i{i} : {value[1]}\n"
            waits += f'comm.compute "use"(%d{i}) : (index) -> ()\n'
    properties = ", ".join(k if v == "unit" else f"{k} = {v}" for k, v in attributes.items())
    return PROGRAM.format(
        arguments=", ".join(f"%a{i}: {t}" for i, t in enumerate(operands)),
        results=f"%r:{len(results)} = " if results else "",
        name=name,
        operands=", ".join(f"%a{i}" for i in values),
        attributes=f"<{{{properties}}}>" if properties else "",
        regions=regions,
        types=", ".join(operands),
        result_types=", ".join(results),
        waits=waits,
    )


def main():
    batches, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    source = random.Random(seed)
    command = ["braid-opt", "--split-input-file", "--verify-roundtrip"]
    command += ["--resolve-ranked-shaped-type-result-dims", "--canonicalize", "--cse"]
    valid = errors = 0
    for _ in range(batches):
        programs = [render(source, mutate(source, source.choice(OPS))) for _ in range(200)]
        text = "// -----\n".join(programs)
        result = subprocess.run(command, input=text, capture_output=True, text=True)
        if result.returncode not in (0, 1):
            for program in programs:
                single = subprocess.run(command, input=program, capture_output=True, text=True)
                if single.returncode not in (0, 1):
                    print("crash:", program, single.stderr[:2000])
                    break
            return 1
        valid += result.stdout.count("func.func @f")
        errors += result.stderr.count("error:")
    # CHECK-NOT: crash
    # CHECK: {{[1-9][0-9]+}} programs ran, {{[1-9][0-9]+}} errors
    print(valid, "programs ran,", errors, "errors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
