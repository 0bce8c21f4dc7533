// Products of reflectors by matmuls, and V^T from V, run on the host: the results are those of LAPACK but for rounding.
// The last reflector of a square matrix of real numbers is the identity.
//
// RUN: braid-compile %s --passes=none -o %t.so
// RUN: braid-run %t.so --ranks=1 --print | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-solvers{target=cuda}))' -o %t.mlir
// RUN: FileCheck %s --check-prefix=OPS < %t.mlir
// RUN: braid-compile %t.mlir --passes=none -o %t.decomposed.so
// RUN: braid-run %t.decomposed.so --ranks=1 --print | FileCheck %s

// CHECK:      result0: tensor<2x3x3xf64> = {{\[\[\[}}-0.33333333333333{{[0-9]*}}, -0.66666666666666{{[0-9]*}}, -0.66666666666666{{[0-9]*}}],
// CHECK-SAME:     [0.84327404271156{{[0-9]*}}, 0.1054092553389{{[0-9]*}}, -0.5270462766947{{[0-9]*}}],
// CHECK-SAME:     [0.421637021355{{[0-9]*}}, -0.7378647873726{{[0-9]*}}, 0.5270462766947{{[0-9]*}}]],
// CHECK-SAME:     [-0.1092309227358{{[0-9]*}}, -0.928462843254{{[0-9]*}}, -0.3550004988915{{[0-9]*}}],
// CHECK-NEXT: result1: {{.*}}[-0.33333333333333{{[0-9]*}}, -0.66666666666666{{[0-9]*}}, -0.66666666666666{{[0-9]*}}], [-0.66666666666666{{[0-9]*}}, 0.66666666666666{{[0-9]*}}, -0.33333333333333{{[0-9]*}}]
// CHECK-NEXT: result2: {{.*}}(-0.3162277660168{{[0-9]*}}, -0.3162277660168{{[0-9]*}}), (-0.6324555320336{{[0-9]*}}, {{.*}}[(0.8392543274162{{[0-9]*}}, -0.093250480824{{[0-9]*}}), (-0.186500961648{{[0-9]*}}, {{.*}} (-0.4662524041201{{[0-9]*}}, -0.1865009616480{{[0-9]*}})
// CHECK-SAME:     (0.771844984987{{[0-9]*}}, 0.110263569283{{[0-9]*}})
// CHECK-NEXT: result3: {{.*}}[0.8815624723806{{[0-9]*}}, 0.4649740055113{{[0-9]*}}, 0.0815277958054{{[0-9]*}}]
// CHECK-NEXT: result4: {{.*}}[0.3469462477349{{[0-9]*}}, 0.9378850149046{{[0-9]*}}], [0.9378850149046{{[0-9]*}}, -0.3469462477349{{[0-9]*}}]
// CHECK-NEXT: result5: {{.*}}[(-0.3706590847776{{[0-9]*}}, -0.3250851668055{{[0-9]*}}), (-0.569341992488{{[0-9]*}}, -0.3287945378336{{[0-9]*}})]
// OPS-NOT: "orgqr"
// OPS-NOT: "gesvd"
func.func @main() -> (tensor<2x3x3xf64>, tensor<2x2x3xf64>, tensor<1x2x2x3xcomplex<f64>>, tensor<2x2x3xf64>, tensor<2x2x2xf64>,
    tensor<3x2xcomplex<f64>>) {
  %a = arith.constant dense<[[[1.0, 2.0, 2.0], [3.0, 1.0, -1.0], [4.0, 0.0, 3.0]],
                             [[2.0, -1.0, 2.0], [0.0, 4.0, 1.0], [1.0, 1.0, 5.0]]]> : tensor<2x3x3xf64>
  %t = tensor.empty() : tensor<2x3xf64>
  %r, %tau = library.call "geqrf" outs(%a, %t : tensor<2x3x3xf64>, tensor<2x3xf64>) -> tensor<2x3x3xf64>, tensor<2x3xf64>
  %q = library.call "orgqr" ins(%tau : tensor<2x3xf64>) outs(%r : tensor<2x3x3xf64>) -> tensor<2x3x3xf64>

  // One reflector, two columns.
  %one = tensor.extract_slice %tau[0, 0] [2, 1] [1, 1] : tensor<2x3xf64> to tensor<2x1xf64>
  %columns = tensor.extract_slice %r[0, 0, 0] [2, 2, 3] [1, 1, 1] : tensor<2x3x3xf64> to tensor<2x2x3xf64>
  %q1 = library.call "orgqr" ins(%one : tensor<2x1xf64>) outs(%columns : tensor<2x2x3xf64>) -> tensor<2x2x3xf64>

  %z = arith.constant dense<[[[[(1.0, 1.0), (2.0, 0.0), (0.0, 2.0)], [(3.0, 0.0), (1.0, -1.0), (0.0, 1.0)]],
                              [[(0.0, 2.0), (1.0, 0.0), (1.0, 1.0)], [(2.0, 1.0), (0.0, 0.0), (4.0, 0.0)]]]]>
      : tensor<1x2x2x3xcomplex<f64>>
  %tz = tensor.empty() : tensor<1x2x2xcomplex<f64>>
  %rz, %tauz = library.call "geqrf" outs(%z, %tz : tensor<1x2x2x3xcomplex<f64>>, tensor<1x2x2xcomplex<f64>>)
      -> tensor<1x2x2x3xcomplex<f64>>, tensor<1x2x2xcomplex<f64>>
  %qz = library.call "orgqr" ins(%tauz : tensor<1x2x2xcomplex<f64>>) outs(%rz : tensor<1x2x2x3xcomplex<f64>>)
      -> tensor<1x2x2x3xcomplex<f64>>

  %m = arith.constant dense<[[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 3.0, 1.0], [4.0, 1.0, 0.0]]]> : tensor<2x2x3xf64>
  %s = tensor.empty() : tensor<2x2xf64>
  %u = tensor.empty() : tensor<2x2x3xf64>
  %vt = tensor.empty() : tensor<2x2x2xf64>
  %is = tensor.empty() : tensor<2xi32>
  %m1, %s1, %u1, %vt1, %i1 = library.call "gesvd"
      outs(%m, %s, %u, %vt, %is : tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>)
      {flags = "S"} -> tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>

  // One complex matrix of two rows and three columns.
  %c = arith.constant dense<[[(1.0, 1.0), (0.0, 2.0)], [(0.0, 2.0), (1.0, 0.0)], [(3.0, 0.0), (0.0, 1.0)]]>
      : tensor<3x2xcomplex<f64>>
  %sc = tensor.empty() : tensor<2xf64>
  %uc = tensor.empty() : tensor<2x2xcomplex<f64>>
  %vtc = tensor.empty() : tensor<3x2xcomplex<f64>>
  %i = tensor.empty() : tensor<i32>
  %m2, %s2, %u2, %vt2, %i2 = library.call "gesvd" outs(%c, %sc, %uc, %vtc, %i
      : tensor<3x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>, tensor<i32>)
      {flags = "S"}
      -> tensor<3x2xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>, tensor<i32>
  return %q, %q1, %qz, %u1, %vt1, %vt2
      : tensor<2x3x3xf64>, tensor<2x2x3xf64>, tensor<1x2x2x3xcomplex<f64>>, tensor<2x2x3xf64>, tensor<2x2x2xf64>,
        tensor<3x2xcomplex<f64>>
}
