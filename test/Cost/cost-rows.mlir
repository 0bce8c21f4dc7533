// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// A kernel of rows reads each element once, for its reductions and what follows.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

comm.group @world all

// The maximum and the sum of a softmax take no time of their own, nor does their fill.

// CHECK-LABEL: Timeline of @softmax ====
// CHECK: linalg.fill {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 33571 ns
func.func @softmax(%x: tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xbf16>) outs(%f : tensor<4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.maximumf %w, %o : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : tensor<4096x2048xbf16>, tensor<4096xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%a: bf16, %m: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %d = arith.subf %w, %m : f32
    %s = arith.addf %d, %o : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  %r = tensor.empty() : tensor<4096x2048xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4096x2048xbf16>, tensor<4096xf32>) outs(%r : tensor<4096x2048xbf16>) {
  ^bb0(%a: bf16, %m: f32, %o: bf16):
    %t = arith.truncf %m : f32 to bf16
    %d = arith.mulf %a, %t : bf16
    linalg.yield %d : bf16
  } -> tensor<4096x2048xbf16>
  return %y : tensor<4096x2048xbf16>
}

// One value for each row may be computed in between.

// CHECK-LABEL: Timeline of @values ====
// CHECK: linalg.fill {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 33571 ns
func.func @values(%x: tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xbf16>) outs(%f : tensor<4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.addf %w, %o : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %root = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.rsqrt %a : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %r = tensor.empty() : tensor<4096x2048xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : tensor<4096x2048xbf16>, tensor<4096xf32>) outs(%r : tensor<4096x2048xbf16>) {
  ^bb0(%a: bf16, %m: f32, %o: bf16):
    %t = arith.truncf %m : f32 to bf16
    %d = arith.mulf %a, %t : bf16
    linalg.yield %d : bf16
  } -> tensor<4096x2048xbf16>
  return %y : tensor<4096x2048xbf16>
}

// A collective in between may move out of the way.

// CHECK-LABEL: Timeline of @collective_between ====
// CHECK: linalg.fill {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 33571 ns
func.func @collective_between(%x: tensor<4096x2048xbf16>, %z: tensor<8xf32>) -> (tensor<4096x2048xbf16>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xbf16>) outs(%f : tensor<4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.addf %w, %o : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %t = comm.all_reduce sum %z on @world : tensor<8xf32>
  %r = tensor.empty() : tensor<4096x2048xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4096x2048xbf16>, tensor<4096xf32>) outs(%r : tensor<4096x2048xbf16>) {
  ^bb0(%a: bf16, %m: f32, %o: bf16):
    %t1 = arith.truncf %m : f32 to bf16
    %d = arith.mulf %a, %t1 : bf16
    linalg.yield %d : bf16
  } -> tensor<4096x2048xbf16>
  %w = comm.wait %t : !comm.token<tensor<8xf32>>
  return %y, %w : tensor<4096x2048xbf16>, tensor<8xf32>
}

// A matmul has no rows, so what follows takes its time: 12,582,912 bytes.

// CHECK-LABEL: Timeline of @matmul ====
// CHECK: linalg.matmul {{.*}}, 1073742 ns
// CHECK: linalg.generic {{.*}}, 12583 ns
func.func @matmul(%x: tensor<2048x256xbf16>, %w: tensor<256x1024xbf16>, %b: tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2048x1024xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
  %y = linalg.matmul ins(%x, %w : tensor<2048x256xbf16>, tensor<256x1024xbf16>)
                     outs(%f : tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<2048x1024xbf16>, tensor<2048x1024xbf16>) outs(%e : tensor<2048x1024xbf16>) {
  ^bb0(%a: bf16, %m: bf16, %o: bf16):
    %d = arith.addf %a, %m : bf16
    linalg.yield %d : bf16
  } -> tensor<2048x1024xbf16>
  return %z : tensor<2048x1024xbf16>
}

// Registers do not hold rows of 32,768 elements.

// CHECK-LABEL: Timeline of @long ====
// CHECK: linalg.fill {{.*}}, 0 ns
// CHECK: linalg.generic {{.*}}, 16778 ns
// CHECK: linalg.generic {{.*}}, 33555 ns
func.func @long(%x: tensor<256x32768xbf16>) -> tensor<256x32768xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<256x32768xbf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.addf %w, %o : f32
    linalg.yield %m : f32
  } -> tensor<256xf32>
  %r = tensor.empty() : tensor<256x32768xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<256x32768xbf16>, tensor<256xf32>) outs(%r : tensor<256x32768xbf16>) {
  ^bb0(%a: bf16, %m: f32, %o: bf16):
    %t = arith.truncf %m : f32 to bf16
    %d = arith.mulf %a, %t : bf16
    linalg.yield %d : bf16
  } -> tensor<256x32768xbf16>
  return %y : tensor<256x32768xbf16>
}

// The kernel that computes many elements sums them, too, unless it computes long before few threads of the sum.

#all = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: Timeline of @sum ====
// CHECK: linalg.generic {{.*}}, {{[1-9][0-9]*}} ns
// CHECK: linalg.generic {{.*}}, 0 ns
func.func @sum(%x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<1024x1024xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y, %r : tensor<1024x1024xf32>, tensor<f32>
}

// Few elements are one row of a kernel of their own.
// CHECK-LABEL: Timeline of @few ====
// CHECK: linalg.generic {{.*}}, {{[1-9][0-9]*}} ns
// CHECK: linalg.generic {{.*}}, {{[1-9][0-9]*}} ns
func.func @few(%x: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<256x256xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y, %r : tensor<256x256xf32>, tensor<f32>
}
