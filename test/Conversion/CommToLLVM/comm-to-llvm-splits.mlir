// Sizes of parts that are all constant become constant arrays.
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts --canonicalize | FileCheck %s

comm.group @tp [[0, 1], [2, 3]]

// CHECK-LABEL: llvm.func @constant_splits(
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-NEXT:    %[[RECEIVED:.*]] = llvm.mlir.addressof @[[$RECEIVED_SIZES:__braid_array_[0-9]+]] :
// CHECK-NEXT:    %[[SENT:.*]] = llvm.mlir.addressof @[[$SENT_SIZES:__braid_array_[0-9]+]] :
// CHECK-NEXT:    %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.call @braid_rt_all_to_all_splits(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[TWO]], %[[SENT]], %[[RECEIVED]], %[[SITE]])
func.func @constant_splits(%a: memref<6xf32>, %b: memref<6xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_to_all %a into %b on @tp splits [3, 3] into [3, 3] : memref<6xf32>, memref<6xf32>
  return %t : !comm.token
}

// CHECK: llvm.mlir.global private constant @[[$SENT_SIZES]](dense<3> : tensor<2xi64>)
// CHECK: llvm.mlir.global private constant @[[$RECEIVED_SIZES]](dense<3> : tensor<2xi64>)
