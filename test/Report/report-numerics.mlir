// What a report says of the order of sums, beside the program as written.
//
// RUN: split-file %s %t
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4 passes=comm-split-all-reduce{all}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEXT
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4 passes=comm-sink-waits" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SAME
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRITTEN
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-split-all-reduce="all machine=h200x8 ranks=4" --comm-report="machine=h200x8 ranks=4" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEXT
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4 format=json passes=comm-split-all-reduce{all}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=JSON
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4 format=json" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BITS
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=h200x8 ranks=4 format=html passes=comm-split-all-reduce{all}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HTML

// RUN: cd %t && braid-opt attention.mlir -o /dev/null --comm-report="machine=h200x8" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ATTENTION

// ATTENTION: numerics: same terms as the program as written, sums in another order: library.attention at attention.mlir:{{[0-9:]*}} (as one attention){{$}}
// TEXT: numerics: same terms as the program as written, sums in another order: reduce_scatter sum at prog.mlir:4:8 (of an all_reduce){{$}}
// SAME: numerics: same bits as the program as written{{$}}
// WRITTEN-NOT: numerics
// JSON: "numerics": {
// JSON-NEXT: "class": "other order of sums",
// JSON-NEXT: "reordered_sums": [
// JSON-NEXT: {
// JSON-NEXT: "operation": "reduce_scatter sum",
// JSON-NEXT: "site": "prog.mlir:4:8",
// JSON-NEXT: "reason": "of an all_reduce"
// BITS: "class": "same bits",
// BITS-NEXT: "reordered_sums": []
// HTML: "numerics":{"class":"other order of sums","reordered_sums":[{"operation":"reduce_scatter sum","site":"prog.mlir:4:8","reason":"of an all_reduce"}]}

//--- prog.mlir
comm.group @four [[0, 1, 2, 3]]

func.func @sum(%x: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce sum %x on @four : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

//--- attention.mlir
func.func @recognized(%q: tensor<1x16x2x8xbf16>) -> tensor<1x16x2x8xbf16> {
  %o = tensor.empty() : tensor<1x16x2x8xbf16>
  %l = tensor.empty() : tensor<1x2x16xf32>
  %r:2 = library.attention ins(%q, %q, %q : tensor<1x16x2x8xbf16>, tensor<1x16x2x8xbf16>, tensor<1x16x2x8xbf16>)
      outs(%o, %l : tensor<1x16x2x8xbf16>, tensor<1x2x16xf32>)
      {scale = 1.0 : f32, comm.reordered_sums = {divided = "as one attention"}} -> tensor<1x16x2x8xbf16>, tensor<1x2x16xf32>
  return %r#0 : tensor<1x16x2x8xbf16>
}
