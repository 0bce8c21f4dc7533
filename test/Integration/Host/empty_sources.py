# RUN: %python %s %t
"""Every kind of collective compiles and runs on a tensor without contents, also where its
token passes a loop or a branch, or the tensor has other users."""
import os
import subprocess
import sys

EMPTY = "%e = tensor.empty() : tensor<4xf32>\n"
KINDS = {
    "all_reduce": ("comm.all_reduce sum %e on @pair : tensor<4xf32>", "tensor<4xf32>"),
    "broadcast": ("comm.broadcast %e on @pair root 0 : tensor<4xf32>", "tensor<4xf32>"),
    "reduce": ("comm.reduce sum %e on @pair root 0 : tensor<4xf32>", "tensor<4xf32>"),
    "permute": ("comm.permute %e on @pair pairs [[0, 1], [1, 0]] : tensor<4xf32>", "tensor<4xf32>"),
    "all_to_all": ("comm.all_to_all %e on @pair : tensor<4xf32>", "tensor<4xf32>"),
    "gather": ("comm.gather %e on @pair root 0 : tensor<4xf32> -> tensor<8xf32>", "tensor<8xf32>"),
    "all_gather": ("comm.all_gather %e on @pair dim 0 : tensor<4xf32> -> tensor<8xf32>", "tensor<8xf32>"),
    "reduce_scatter": ("comm.reduce_scatter sum %e on @pair dim 0 : tensor<4xf32> -> tensor<2xf32>", "tensor<2xf32>"),
    "scatter": ("comm.scatter %e on @pair root 0 : tensor<4xf32> -> tensor<2xf32>", "tensor<2xf32>"),
}


def function(name, body, result="tensor<4xf32>"):
    return f"func.func private @{name}() -> {result} {{\n{body}}}\n"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    text, calls = "comm.group @pair [[0, 1]]\n", ""
    for kind, (start, result) in KINDS.items():
        text += function(kind, f"{EMPTY}%t = {start}\n%s = comm.wait %t : !comm.token<{result}>\nreturn %s : {result}\n", result)
        calls += f"%{kind} = call @{kind}() : () -> {result}\n"
    start, result = KINDS["all_reduce"]
    text += function("two_starts", f"{EMPTY}%t = {start}\n%u = {start}\n%a = comm.wait %t : !comm.token<{result}>\n"
                     f"%b = comm.wait %u : !comm.token<{result}>\n%s = arith.addf %a, %b : {result}\nreturn %s : {result}\n")
    text += function("filled_too", f"{EMPTY}%one = arith.constant 1.0 : f32\n%t = {start}\n"
                     f"%f = linalg.fill ins(%one : f32) outs(%e : {result}) -> {result}\n"
                     f"%a = comm.wait %t : !comm.token<{result}>\nreturn %f : {result}\n")
    text += function("in_a_loop", f"{EMPTY}%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
                     f"%c3 = arith.constant 3 : index\n%t = {start}\n"
                     f"%u = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %t) -> !comm.token<{result}> {{\n"
                     f"%a = comm.wait %v : !comm.token<{result}>\n%w = {start}\nscf.yield %w : !comm.token<{result}>\n}}\n"
                     f"%s = comm.wait %u : !comm.token<{result}>\nreturn %s : {result}\n")
    text += function("in_a_branch", f"{EMPTY}%r = comm.rank on @pair\n%c0 = arith.constant 0 : index\n%c = arith.cmpi eq, %r, %c0 : index\n"
                     f"%t = {start}\n%s = scf.if %c -> {result} {{\n%a = comm.wait %t : !comm.token<{result}>\n"
                     f"scf.yield %a : {result}\n}} else {{\n%b = comm.wait %t : !comm.token<{result}>\nscf.yield %b : {result}\n}}\n"
                     f"return %s : {result}\n")
    for name in ("two_starts", "filled_too", "in_a_loop", "in_a_branch"):
        calls += f"%{name} = call @{name}() : () -> {result}\n"
    text += f"func.func @main() -> {result} {{\n{calls}return %filled_too : {result}\n}}\n"
    program = os.path.join(folder, "program.mlir")
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    for passes in ("none", "default"):
        done = subprocess.run(["braid-run", program, "--ranks=2", f"--passes={passes}", "--print"], check=False,
                              capture_output=True, text=True)
        if done.returncode or done.stdout.count("= [1, 1, 1, 1]") != 2:
            sys.exit(f"--passes={passes}: status {done.returncode}\n{done.stdout}{done.stderr}")


main()
