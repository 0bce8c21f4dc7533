// Names and labels hold any bytes; the report in a terminal has none that could
// end a line or change what the terminal does.
// RUN: braid-opt %s -o /dev/null --comm-report=machine=ideal 2>&1 | FileCheck %s
// RUN: braid-opt %s -o /dev/null --comm-report=machine=ideal 2>&1 \
// RUN:   | %python -c "import sys; text = sys.stdin.read(); assert 'Timeline' in text and all(c == '\n' or c.isprintable() for c in text), ascii(text)"

comm.group @"gr\0Aoup" all

// CHECK:      ==== Timeline of @na\09me ====
// CHECK-NEXT: 0: comm.all_reduce "a\0Ab\1B[31m\7F\C2\85 é\\" tensor<4xf32>, 100 ns (attribute), runs on gr\0Aoup 0 to 100
// CHECK-NEXT: 1: comm.wait "a\0Ab\1B[31m\7F\C2\85 é\\" tensor<4xf32>, holds
// CHECK:      ==== Collectives of @na\09me ====
// CHECK-NEXT: collective kind group
// CHECK-NEXT: a\0Ab\1B[31m\7F\C2\85 é\\ all_reduce @gr\0Aoup
// CHECK:      ==== Why exposed, @na\09me ====
// CHECK:      a\0Ab\1B[31m\7F\C2\85 é\\ 100 "k\0D" could run beside it, which gains 100 ns
func.func @"na\09me"(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @"gr\0Aoup" {comm.cost_ns = 100 : i64, comm.label = "a\0Ab\1B[31m\7F\C2\85 \C3\A9\\"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k\0D"(%x) {comm.cost_ns = 100 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}
