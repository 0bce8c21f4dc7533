// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-lower-nontemporal-loads))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @lowered
  // CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr %{{.*}}[4]
  // CHECK-NEXT:    %[[G:.*]] = llvm.addrspacecast %[[P]] : !llvm.ptr to !llvm.ptr<1>
  // CHECK-NEXT:    %[[R:.*]] = llvm.inline_asm "ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l" %[[G]]
  // CHECK-COUNT-4: llvm.insertelement
  // CHECK:         %[[X:.*]] = llvm.bitcast %{{.*}} : vector<4xi32> to vector<8xbf16>
  // CHECK-NEXT:    llvm.store %[[X]], %arg1
  llvm.func @lowered(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel} {
    %p = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, vector<8xbf16>
    %x = llvm.load %p {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<8xbf16>
    llvm.store %x, %b {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr
    llvm.return
  }

  // CHECK-LABEL: llvm.func @another_size_or_alignment
  // CHECK-NOT:     inline_asm
  // CHECK:         llvm.return
  llvm.func @another_size_or_alignment(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel} {
    %x = llvm.load %a {alignment = 8 : i64, nontemporal} : !llvm.ptr -> vector<4xf32>
    %y = llvm.load %a {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<2xf32>
    %z = llvm.load %a {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
    llvm.store %x, %b {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
    llvm.store %y, %b {alignment = 16 : i64} : vector<2xf32>, !llvm.ptr
    llvm.store %z, %b {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
    llvm.return
  }

  // The cache of the instruction does not see the store.
  // CHECK-LABEL: llvm.func @written_buffer
  // CHECK-NOT:     inline_asm
  // CHECK:         llvm.return
  llvm.func @written_buffer(%a: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel} {
    %x = llvm.load %a {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<4xf32>
    %p = llvm.getelementptr %a[4] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %x, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
    llvm.return
  }

  // CHECK-LABEL: llvm.func @aliases
  // CHECK-NOT:     inline_asm
  // CHECK:         llvm.return
  llvm.func @aliases(%a: !llvm.ptr, %b: !llvm.ptr) attributes {nvvm.kernel} {
    %x = llvm.load %a {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<4xf32>
    llvm.store %x, %b {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
    llvm.return
  }

  // CHECK-LABEL: llvm.func @no_kernel
  // CHECK-NOT:     inline_asm
  // CHECK:         llvm.return
  llvm.func @no_kernel(%a: !llvm.ptr {llvm.noalias}) -> vector<4xf32> {
    %x = llvm.load %a {alignment = 16 : i64, nontemporal} : !llvm.ptr -> vector<4xf32>
    llvm.return %x : vector<4xf32>
  }
}
