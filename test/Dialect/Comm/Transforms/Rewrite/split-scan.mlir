// Cumulative reductions become scans of blocks and a scan of what the blocks reduce to. The programs compare them with
// reductions of masked elements: the sum of all differences is zero.
//
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}))' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: braid-opt %t.mlir --comm-interpret="ranks=1 rounds=1 entry=sums print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: braid-opt %t.mlir --comm-interpret="ranks=1 rounds=1 entry=maxima print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAXIMA
//
// On hosts they become loops, over blocks where they round.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise),canonicalize)' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=LOOPS
// RUN: braid-opt %t.mlir --comm-interpret="ranks=1 rounds=1 entry=sums print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: braid-opt %t.mlir --comm-interpret="ranks=1 rounds=1 entry=maxima print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAXIMA

#in = affine_map<(i, j, k) -> (i + k, j)>
#window = affine_map<(i, j, k) -> (k)>
#out = affine_map<(i, j, k) -> (i, j)>
#masked = affine_map<(i, j, k) -> (k, j)>
#id = affine_map<(i, j) -> (i, j)>
#all = affine_map<(i, j) -> ()>

// 260 elements are 20 blocks of 13; the sums start at five.
// CHECK-LABEL: func.func @sums
// CHECK:         tensor<20x13x2xi32>
// CHECK:         iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK:           arith.cmpi ule
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:           arith.cmpi ult
// CHECK-NOT:     tensor.pad
// LOOPS-LABEL: func.func @sums
// LOOPS:         %[[EMPTY:.*]] = tensor.empty() : tensor<260x2xi32>
// LOOPS:         scf.for %[[J:.*]] = %c0 to %c2 step %c1 iter_args(%[[OUT:.*]] = %[[EMPTY]])
// LOOPS-NEXT:      scf.for %[[I:.*]] = %c0 to %c260 step %c1 iter_args(%[[NEW:.*]] = %[[OUT]], %[[BEFORE:.*]] = %c0_i32)
// LOOPS:             %[[SUM:.*]] = arith.addi %[[BEFORE]], %{{.*}} : i32
// LOOPS-NEXT:        %[[NEXT:.*]] = tensor.insert %[[SUM]] into %[[NEW]][%[[I]], %[[J]]]
// LOOPS-NEXT:        scf.yield %[[NEXT]], %[[SUM]]
// LOOPS-NOT:     tensor.pad
// SUMS:          results on rank 0 with argument 1: 0 : i32 4927 : i32
func.func @sums() -> (tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %none = arith.constant dense<0> : tensor<i32>
  %five = arith.constant dense<5> : tensor<260x2xi32>
  %empty = tensor.empty() : tensor<260x2xi32>
  %x = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<260x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.muli %i, %i : index
    %c = arith.constant 37 : index
    %q = arith.remui %p, %c : index
    %r = arith.addi %q, %j : index
    %s = arith.index_cast %r : index to i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %padded = tensor.pad %x low[259, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i32
  } : tensor<260x2xi32> to tensor<519x2xi32>
  %size = tensor.empty() : tensor<260xf32>
  %scan = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %size : tensor<519x2xi32>, tensor<260xf32>) outs(%five : tensor<260x2xi32>) {
  ^bb0(%a: i32, %w: f32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %plain = linalg.generic {indexing_maps = [#masked, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<260x2xi32>) outs(%five : tensor<260x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %m = arith.cmpi ule, %k, %i : index
    %g = arith.select %m, %a, %zero : i32
    %s = arith.addi %g, %o : i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #all, #all], iterator_types = ["reduction", "reduction"]}
      ins(%scan, %plain : tensor<260x2xi32>, tensor<260x2xi32>) outs(%none, %none : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32, %o: i32, %l: i32):
    %d = arith.subi %a, %b : i32
    %e = arith.muli %d, %d : i32
    %s = arith.addi %o, %e : i32
    %m = arith.maxsi %l, %a : i32
    linalg.yield %s, %m : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// Each element is the maximum from its place on.
// CHECK-LABEL: func.func @maxima
// CHECK:           arith.cmpi uge
// CHECK:           arith.cmpi ugt
// CHECK-NOT:     tensor.pad
// LOOPS-LABEL: func.func @maxima
// LOOPS:           scf.for %[[STEP:.*]] = %c0 to %c260
// LOOPS-NEXT:        %[[I:.*]] = arith.subi %c259, %[[STEP]]
// LOOPS:             tensor.insert %{{.*}} into %{{.*}}[%[[I]], %{{.*}}]
// LOOPS-NOT:     tensor.pad
// MAXIMA:        results on rank 0 with argument 1: 0 : i32 31 : i32
func.func @maxima() -> (tensor<i32>, tensor<i32>) {
  %least = arith.constant -2147483648 : i32
  %none = arith.constant dense<0> : tensor<i32>
  %init = arith.constant dense<-2147483648> : tensor<260x2xi32>
  %empty = tensor.empty() : tensor<260x2xi32>
  %x = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<260x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.muli %i, %i : index
    %c = arith.constant 37 : index
    %q = arith.remui %p, %c : index
    %r = arith.subi %q, %i : index
    %t = arith.addi %r, %j : index
    %s = arith.index_cast %t : index to i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %padded = tensor.pad %x low[0, 0] high[259, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %least : i32
  } : tensor<260x2xi32> to tensor<519x2xi32>
  %size = tensor.empty() : tensor<260xf32>
  %scan = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %size : tensor<519x2xi32>, tensor<260xf32>) outs(%init : tensor<260x2xi32>) {
  ^bb0(%a: i32, %w: f32, %o: i32):
    %s = arith.maxsi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %plain = linalg.generic {indexing_maps = [#masked, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<260x2xi32>) outs(%init : tensor<260x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %m = arith.cmpi uge, %k, %i : index
    %g = arith.select %m, %a, %least : i32
    %s = arith.maxsi %g, %o : i32
    linalg.yield %s : i32
  } -> tensor<260x2xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #all, #all], iterator_types = ["reduction", "reduction"]}
      ins(%scan, %plain : tensor<260x2xi32>, tensor<260x2xi32>) outs(%none, %none : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32, %o: i32, %l: i32):
    %d = arith.subi %a, %b : i32
    %e = arith.muli %d, %d : i32
    %s = arith.addi %o, %e : i32
    %m = arith.maxsi %l, %a : i32
    linalg.yield %s, %m : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// Another padding makes no scan. A host does not split a short one, but takes it in a loop.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: tensor.pad
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
// LOOPS-LABEL: func.func @others
// LOOPS:         tensor.pad %arg0
// LOOPS-NOT:     tensor.pad
// LOOPS:         scf.for %{{.*}} = %c0 to %c2
// LOOPS-NEXT:      scf.for %{{.*}} = %c0 to %c16
func.func @others(%x: tensor<260x2xi32>, %o: tensor<260x2xi32>, %s: tensor<16x2xi32>, %p: tensor<16x2xi32>) -> (tensor<260x2xi32>, tensor<16x2xi32>) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %padded = tensor.pad %x low[259, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : i32
  } : tensor<260x2xi32> to tensor<519x2xi32>
  %size = tensor.empty() : tensor<260xf32>
  %scan = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %size : tensor<519x2xi32>, tensor<260xf32>) outs(%o : tensor<260x2xi32>) {
  ^bb0(%a: i32, %w: f32, %c: i32):
    %t = arith.addi %c, %a : i32
    linalg.yield %t : i32
  } -> tensor<260x2xi32>
  %short = tensor.pad %s low[15, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i32
  } : tensor<16x2xi32> to tensor<31x2xi32>
  %window = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%short, %window : tensor<31x2xi32>, tensor<16xf32>) outs(%p : tensor<16x2xi32>) {
  ^bb0(%a: i32, %w: f32, %c: i32):
    %t = arith.addi %c, %a : i32
    linalg.yield %t : i32
  } -> tensor<16x2xi32>
  return %scan, %r : tensor<260x2xi32>, tensor<16x2xi32>
}

// 260 floats are 16 blocks of 17, the last of which has fewer; a row of 16 elements is scanned at once.
// LOOPS-LABEL: func.func @rows
// LOOPS:         scf.for %[[BLOCK:.*]] = %c0 to %c16 step %c1 iter_args(%{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) -> (tensor<260x16xf32>, tensor<16xf32>)
// LOOPS-NEXT:      %[[BEGIN:.*]] = arith.muli %[[BLOCK]], %c17
// LOOPS-NEXT:      %[[LEFT:.*]] = arith.subi %c260, %[[BEGIN]]
// LOOPS-NEXT:      %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c17
// LOOPS:           scf.for %[[STEP:.*]] = %c0 to %[[COUNT]] step %c1 iter_args(%[[OUT:.*]] = %{{.*}}, %[[WITHIN:.*]] = %{{.*}})
// LOOPS-NEXT:        %[[I:.*]] = arith.addi %[[BEGIN]], %[[STEP]]
// LOOPS-NEXT:        %[[ROW:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [1, 16] [1, 1]
// LOOPS:             %[[PAIR:.*]]:2 = linalg.generic {{.*}} ins(%[[ROW]], %[[WITHIN]], %[[BEFORE]]
// LOOPS:             %[[NEXT:.*]] = tensor.insert_slice %[[PAIR]]#1 into %[[OUT]][%[[I]], 0]
// LOOPS-NEXT:        scf.yield %[[NEXT]], %[[PAIR]]#0
func.func @rows(%x: tensor<260x16xf32>) -> tensor<260x16xf32> {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : tensor<260x16xf32>
  %padded = tensor.pad %x low[259, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<260x16xf32> to tensor<519x16xf32>
  %size = tensor.empty() : tensor<260xf32>
  %scan = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %size : tensor<519x16xf32>, tensor<260xf32>) outs(%init : tensor<260x16xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<260x16xf32>
  return %scan : tensor<260x16xf32>
}
