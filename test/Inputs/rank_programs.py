# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies of a function on two ranks, some wrong and some right: comm-verify has to find an error in the wrong ones alone."""

import bisect
import re
import subprocess

# Every case has these values.
FRAME = """comm.group @world all
{callee}func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>, %d: tensor<?xf32>, %m: memref<4xf32>,
                %k: memref<8xf32>, %ints: tensor<2xi32>, %n: index, %c: i1) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %rank = comm.rank on @world
  %next = arith.addi %rank, %c1 : index
  %first = arith.cmpi eq, %rank, %c0 : index
  %r = arith.index_cast %rank : index to i32
{body}
  return
}}
"""

# The functions that a case may call, by name.
CALLEES = {
    "reduce_all": """(%v: tensor<?xf32>) {
  %t = comm.all_reduce sum %v on @world : tensor<?xf32>
  %w = comm.wait %t : !comm.token<tensor<?xf32>>
  return
}
""",
    "unknown": "(memref<1xi32>)\n",
    "unknown_pointer": "(index)\n",
    "store_one": """(%a: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %i1 = arith.constant 1 : i32
  memref.store %i1, %a[%c0] : memref<1xi32>
  return
}
""",
    "store_back": """(%a: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0] : memref<1xi32>
  memref.store %v, %a[%c0] : memref<1xi32>
  return
}
""",
    "is_any": """(%r: index) -> i1 {
  %c0 = arith.constant 0 : index
  %f = arith.cmpi sge, %r, %c0 : index
  return %f : i1
}
""",
    "is_first": """(%r: index) -> i1 {
  %c0 = arith.constant 0 : index
  %f = arith.cmpi eq, %r, %c0 : index
  return %f : i1
}
""",
}

# Short forms of what the cases repeat.
MACROS = {
    # WAIT t TYPE
    "WAIT": lambda t, type: f"%{t}_w = comm.wait %{t} : !comm.token<{type}>",
    # EMPTY name size
    "EMPTY": lambda name, size: f"%{name} = tensor.empty({size}) : tensor<?xf32>",
    # SUM t value
    "SUM": lambda t, value: f"%{t} = comm.all_reduce sum {value} on @world : tensor<?xf32>\n"
    f"%{t}_w = comm.wait %{t} : !comm.token<tensor<?xf32>>",
    # PICK name a b: a on rank 0, b on others
    "PICK": lambda name, a, b: f"%{name} = arith.select %first, {a}, {b} : index",
    # EXCHANGE a b c d: the parts that a rank sends, and those that it receives
    "EXCHANGE": lambda *p: f"%e = comm.all_to_all %x on @world splits [{p[0]}, {p[1]}] into "
    f"[{p[2]}, {p[3]}] : tensor<4xf32> -> tensor<?xf32>\n"
    "%e_w = comm.wait %e : !comm.token<tensor<?xf32>>",
    # BARRIER-WHERE condition
    "BARRIER-WHERE": lambda condition: f"scf.if {condition} {{\n%b = comm.barrier on @world\ncomm.wait %b : !comm.token\n}}",
    # STORE value: into the buffer %a of one integer
    "STORE": lambda value: f"memref.store {value}, %a[%c0] : memref<1xi32>",
    # BARRIER-ON buffer: a barrier if its integer is not zero
    "BARRIER-ON": lambda buffer: f"%el = memref.load {buffer}[%c0] : memref<1xi32>\n"
    "%go = arith.cmpi ne, %el, %i0 : i32\nscf.if %go {\n%b = comm.barrier on @world\ncomm.wait %b : !comm.token\n}",
    # BARRIER-IF value index: a barrier if the element is not zero
    "BARRIER-IF": lambda value, index: f"%el = tensor.extract {value}[{index}] : tensor<{{size}}xi32>\n"
    "%go = arith.cmpi ne, %el, %i0 : i32\nscf.if %go {\n"
    "%b = comm.barrier on @world\ncomm.wait %b : !comm.token\n}",
}


def expand(text):
    lines = []
    for line in text.strip().splitlines():
        words = line.split()
        if words and words[0].startswith("BARRIER-IF:"):
            # BARRIER-IF:size value index
            name, size = words[0].split(":")
            lines.append(MACROS[name](*words[1:]).replace("{size}", size))
        elif words and words[0] in MACROS:
            lines.append(MACROS[words[0]](*words[1:]))
        else:
            lines.append(line)
    return "\n".join("  " + line for line in lines)


def make_program(body):
    called = [name for name in CALLEES if f"@{name}(" in body]
    callees = "".join(f"func.func private @{name}{CALLEES[name]}" for name in called)
    return FRAME.format(callee=callees, body=expand(body))


def check(kinds):
    """Prints, for each kind, how many programs of it comm-verify judges rightly, and the others.

    `kinds`: by name, the bodies that are "wrong" and those that are "right".
    """
    cases = [
        (kind, verdict, number, body)
        for kind, verdicts in kinds.items()
        for verdict, bodies in verdicts.items()
        for number, body in enumerate(bodies)
    ]
    programs = [make_program(body) for *_, body in cases]
    done = subprocess.run(
        ["braid-opt", "--split-input-file", "--allow-unregistered-dialect", "--mlir-print-op-on-diagnostic=false",
         "--comm-verify=ranks=2"],
        input="// -----\n".join(programs),
        capture_output=True,
        text=True,
    )
    # The line at which each program begins, as diagnostics count them.
    begins, line = [], 1
    for program in programs:
        begins.append(line)
        line += program.count("\n") + 1
    found = {}
    for line, text in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M):
        found.setdefault(bisect.bisect_right(begins, int(line)) - 1, text)
    for kind in kinds:
        counts = {}
        for number, (of, verdict, place, body) in enumerate(cases):
            if of != kind:
                continue
            text = found.get(number)
            total, right = counts.get(verdict, (0, 0))
            is_right = (text is not None and "expected" in text) if verdict == "wrong" else text is None
            counts[verdict] = (total + 1, right + is_right)
            if not is_right:
                print(f"{kind}, {verdict} #{place}: {text or 'no error'}\n{body}")
        print(f"{kind}: {counts['wrong'][1]} of {counts['wrong'][0]} wrong programs found,",
              f"{counts['right'][0] - counts['right'][1]} false alarms on {counts['right'][0]}")

