// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(convert-reductions-to-loops))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @sums_of_rows
// CHECK-SAME:    (%[[A:.*]]: memref<8x37xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[OLD:.*]] = memref.load %[[B]][%[[ROW]]]
// CHECK:           %[[ZEROS:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:           %[[SUMS:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %[[ZEROS]]) -> (vector<16xf32>)
// CHECK-NEXT:        %[[IN:.*]] = vector.load %[[A]][%[[ROW]], %[[I]]] : memref<8x37xf32>, vector<16xf32>
// CHECK-NEXT:        %[[SQUARE:.*]] = arith.mulf %[[IN]], %[[IN]] : vector<16xf32>
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[SUM]], %[[SQUARE]] : vector<16xf32>
// CHECK-NEXT:        scf.yield %[[NEXT]]
// CHECK:           vector.shuffle %[[SUMS]], %[[SUMS]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT:      vector.shuffle %[[SUMS]], %[[SUMS]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK-NEXT:      arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK:           arith.addf %{{.*}}, %{{.*}} : vector<1xf32>
// CHECK:           %[[FIRST:.*]] = arith.addf %[[OLD]], %{{.*}} : f32
// CHECK:           %[[ALL:.*]] = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]]) -> (f32)
// CHECK:             arith.addf %[[SUM]], %{{.*}} : f32
// CHECK:           memref.store %[[ALL]], %[[B]][%[[ROW]]]
func.func @sums_of_rows(%a: memref<8x37xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x37xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %s = arith.addf %out, %square fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// The largest element left of the diagonal.
// CHECK-LABEL: func.func @masks_by_index
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK:           arith.constant 0xFF800000 : f32
// CHECK:           scf.for %[[I:.*]] = %{{.*}} iter_args
// CHECK:             %[[ROWS:.*]] = vector.broadcast %[[ROW]] : index to vector<16xindex>
// CHECK:             %[[FROM:.*]] = vector.broadcast %[[I]] : index to vector<16xindex>
// CHECK:             %[[COLUMNS:.*]] = arith.addi %[[FROM]], %{{.*}} : vector<16xindex>
// CHECK:             arith.cmpi slt, %[[COLUMNS]], %[[ROWS]] : vector<16xindex>
// CHECK:             arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:             arith.maximumf %{{.*}} : vector<16xf32>
func.func @masks_by_index(%a: memref<8x32xf32>, %b: memref<8xf32>, %low: f32) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x32xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_left = arith.cmpi slt, %j, %i : index
    %x = arith.select %is_left, %in, %low : f32
    %m = arith.maximumf %out, %x : f32
    linalg.yield %m : f32
  }
  return
}

// CHECK-LABEL: func.func @largest_of_bf16
// CHECK:         vector.load %{{.*}} : memref<8x32xbf16>, vector<16xbf16>
// CHECK-NEXT:    arith.maximumf %{{.*}} : vector<16xbf16>
func.func @largest_of_bf16(%a: memref<8x32xbf16>, %b: memref<8xbf16>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x32xbf16>) outs(%b : memref<8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %m = arith.maximumf %in, %out : bf16
    linalg.yield %m : bf16
  }
  return
}

// Four groups of maxima, then one, then numbers.
// CHECK-LABEL: func.func @groups_of_maxima
// CHECK:         %[[LOW:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:         %[[MAXIMA:.*]]:4 = scf.for %[[I:.*]] = %{{.*}} to %[[END:.*]] step %{{.*}} iter_args(%[[M0:.*]] = %[[LOW]], %{{.*}} = %[[LOW]], %{{.*}} = %[[LOW]], %[[M3:.*]] = %[[LOW]])
// CHECK:           vector.load %{{.*}}[%{{.*}}, %[[I]]]
// CHECK-NEXT:      arith.maximumf %[[M0]], %{{.*}} : vector<16xf32>
// CHECK-COUNT-3:   vector.load
// CHECK-NEXT:      arith.maximumf %[[M3]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:      scf.yield
// CHECK:         arith.maximumf %[[MAXIMA]]#0, %[[MAXIMA]]#1 : vector<16xf32>
// CHECK-NEXT:    arith.maximumf %{{.*}}, %[[MAXIMA]]#2
// CHECK-NEXT:    %[[GROUP:.*]] = arith.maximumf %{{.*}}, %[[MAXIMA]]#3
// CHECK:         scf.for %{{.*}} iter_args(%{{.*}} = %[[GROUP]]) -> (vector<16xf32>)
// CHECK:         scf.for %{{.*}} -> (f32)
func.func @groups_of_maxima(%a: memref<8x151xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x151xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %out, %in : f32
    linalg.yield %m : f32
  }
  return
}

// CHECK-LABEL: func.func @maxima_of_f64
// CHECK:         %[[MAXIMA:.*]]:4 = scf.for %{{.*}} -> (vector<16xf64>, vector<16xf64>, vector<16xf64>, vector<16xf64>)
// CHECK:         arith.minimumf %[[MAXIMA]]#0, %[[MAXIMA]]#2 : vector<16xf64>
// CHECK-NEXT:    arith.maximumf %[[MAXIMA]]#1, %[[MAXIMA]]#3 : vector<16xf64>
func.func @maxima_of_f64(%a: memref<8x64xf64>, %b: memref<8xf64>, %c: memref<8xf64>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x64xf64>) outs(%b, %c : memref<8xf64>, memref<8xf64>) {
  ^bb0(%in: f64, %x: f64, %y: f64):
    %low = arith.minimumf %x, %in : f64
    %high = arith.maximumf %y, %in : f64
    linalg.yield %low, %high : f64, f64
  }
  return
}

// CHECK-LABEL: func.func @short_strided_and_dynamic_ones_are_scalars
// CHECK-NOT:     vector
// CHECK-COUNT-3: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK-NOT:     linalg.generic
func.func @short_strided_and_dynamic_ones_are_scalars(%a: memref<8x15xf32>, %b: memref<8xf32>,
                                                      %c: memref<8x64xf32, strided<[1, 8]>>, %d: memref<8x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x15xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%c : memref<8x64xf32, strided<[1, 8]>>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%d : memref<8x?xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @other_loops_and_results_stay
// CHECK-COUNT-2: linalg.generic
func.func @other_loops_and_results_stay(%a: memref<8x32xf32>, %b: memref<8xf32>, %c: memref<32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
    ins(%a : memref<8x32xf32>) outs(%c : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x32xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.divf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}
