// Conditions and scalars that the host reads from the device are counted, control flow
// stays on the host, and constants are data that the runtime copies.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=llvm -o %t.ll && FileCheck %s < %t.ll

// CHECK-DAG: @__braid_device = private constant { i64, ptr, i64, ptr, i64, i64, i64 } { i64 1, ptr @__braid_images, i64 1, ptr @__braid_constants, i64 {{[0-9]+}}, i64 2, i64 0 }
// CHECK-DAG: @__braid_constants = private constant { ptr } { ptr @[[CONSTANT:__braid_constant_[^ ]*]] }
// CHECK-DAG: @[[CONSTANT]]_data = private constant [4 x float] [float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 4.000000e+00]
// CHECK-DAG: call void @braid_rt_read(ptr {{.*}}, ptr {{.*}}, i64 4, ptr {{.*}})
// CHECK-DAG: call void @braid_rt_read(ptr {{.*}}, ptr {{.*}}, i64 1, ptr {{.*}})
// CHECK-DAG: call void @braid_rt_write(ptr {{.*}}, ptr {{.*}}, i64 4, ptr {{.*}})
// CHECK-DAG: call ptr @braid_rt_device_constant(ptr {{.*}}@[[CONSTANT]], ptr {{.*}})
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>, %i: index) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %go = tensor.extract %p[] : tensor<i1>
  %r = scf.if %go -> tensor<4xf32> {
    %s = arith.addf %x, %c : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    %w = arith.addf %v, %v : f32
    %s = tensor.insert %w into %x[%i] : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
