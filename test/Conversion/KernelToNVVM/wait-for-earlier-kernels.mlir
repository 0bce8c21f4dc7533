// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-wait-for-earlier-kernels))' | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-wait-for-earlier-kernels, braid-wait-for-earlier-kernels))' | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-wait-for-earlier-kernels{chip=sm_100a}))' | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-wait-for-earlier-kernels{chip=sm_80}))' \
// RUN:   | FileCheck %s --check-prefix=OLD --implicit-check-not=braid_kernels_wait --implicit-check-not=griddepcontrol
// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-wait-for-earlier-kernels, braid-attach-kernel-target), gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s --check-prefix=PTX

// CHECK-DAG:  #[[$A:.*]] = #llvm.alias_scope<id = distinct[1]<>, domain = #[[DOMAIN:.*]]>
// CHECK-DAG:  #[[$B:.*]] = #llvm.alias_scope<id = distinct[2]<>, domain = #[[DOMAIN]]>
// CHECK:      gpu.module @kernels {
// CHECK-NEXT:   llvm.mlir.global external constant @braid_kernels_wait(1 : i8) {addr_space = 1 : i32} : i8
gpu.module @kernels {
  // What the arguments point to changes during the wait, so that accesses say what does not overlap.
  // CHECK-LABEL: llvm.func @kernel(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
  // CHECK-NEXT:    nvvm.griddepcontrol {{ *}}wait
  // CHECK-NEXT:    llvm.load %arg0 {alias_scopes = [#[[$A]]], noalias_scopes = [#[[$B]]]}
  // CHECK-NEXT:    llvm.store %{{.*}}, %arg1 {alias_scopes = [#[[$B]]], noalias_scopes = [#[[$A]]]}
  // OLD-LABEL: llvm.func @kernel(%arg0: !llvm.ptr {llvm.noalias}
  // OLD-NEXT:    llvm.load
  // The variable is visible to the driver, and nothing is loaded before the wait.
  // PTX:      .visible .global .align 1 .{{[bu]}}8 braid_kernels_wait
  // PTX:      .entry kernel
  // PTX-NOT:  ld.global
  // PTX:      griddepcontrol.wait;
  // PTX:      ld.global.b32
  llvm.func @kernel(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %a : !llvm.ptr -> f32
    llvm.store %x, %b : f32, !llvm.ptr
    llvm.return
  }

  // CHECK-LABEL: llvm.func @no_kernel
  // CHECK-NEXT:    llvm.return
  llvm.func @no_kernel() {
    llvm.return
  }

  // CHECK: llvm.func @__nv_expf(f32) -> f32
  llvm.func @__nv_expf(f32) -> f32
}
