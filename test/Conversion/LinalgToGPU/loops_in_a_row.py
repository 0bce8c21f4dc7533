# RUN: %python %s > %t.mlir
# RUN: braid-opt %t.mlir --convert-linalg-to-gpu | FileCheck %s
"""Loops in a row that exchange two arguments of the program: each buffer is known along 2^100 paths."""

# The vector that the last loop gives begins where an argument does.
# CHECK-COUNT-100: scf.for
# CHECK: gpu.func
# CHECK: vector.load {{.*}} : memref<64xf32{{.*}}>, vector<4xf32>

BUFFER = "memref<64xf32>"
first, second = "%x", "%y"
print(f"""func.func @main(%x: {BUFFER}, %y: {BUFFER}, %out: {BUFFER}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index""")
for number in range(100):
    print(f"  %r{number}:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = {first}, %b = {second}) -> ({BUFFER}, {BUFFER}) {{")
    print(f"    scf.yield %b, %a : {BUFFER}, {BUFFER}\n  }}")
    first, second = f"%r{number}#0", f"%r{number}#1"
print(f"""  linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins({first} : {BUFFER}) outs(%out : {BUFFER}) {{
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %p : f32
    linalg.yield %sum : f32
  }}
  return
}}""")
