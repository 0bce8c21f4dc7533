// The table and the entries of a program (braid-rt/Program.h), checked as LLVM IR,
// where a constant is one line.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/entries.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=ENTRIES
// RUN: braid-opt %t/module.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=MODULE
// RUN: braid-opt %t/module.mlir --braid-emit-entry-table | FileCheck %s --check-prefix=ATTRIBUTES --implicit-check-not=braid.entry --implicit-check-not=braid_rt.constants
// RUN: braid-opt %t/device.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=DEVICE
// RUN: braid-opt %t/bare.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=BARE

//--- entries.mlir

// An argument: name, element type, number of dimensions, sizes (-1 where unknown),
// direction (in 0, out 1, inout 2), passing (memref 0, scalar 1). The entry: name,
// function, number of arguments, arguments, site.
// ENTRIES:      @__braid_file_prog.mlir = private constant [10 x i8] c"prog.mlir\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_name = private constant [10 x i8] c"all_kinds\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_arg0_name = private constant [5 x i8] c"arg0\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_arg0_sizes = private constant [2 x i64] [i64 4, i64 -1]
// ENTRIES-NEXT: @__braid_entry_all_kinds_arg1_name = private constant [5 x i8] c"arg1\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_arg2_name = private constant [5 x i8] c"arg2\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_result0_name = private constant [8 x i8] c"result0\00"
// ENTRIES-NEXT: @__braid_entry_all_kinds_result0_sizes = private constant [1 x i64] [i64 6]
// ENTRIES-NEXT: @__braid_entry_all_kinds_arguments = private constant { ptr, i32, i32, ptr, i32, i32{{.*}} } {
// ENTRIES-SAME: ptr @__braid_entry_all_kinds_arg0_name, i32 7, i32 2, ptr @__braid_entry_all_kinds_arg0_sizes, i32 2, i32 0,
// ENTRIES-SAME: ptr @__braid_entry_all_kinds_arg1_name, i32 8, i32 0, ptr null, i32 0, i32 1,
// ENTRIES-SAME: ptr @__braid_entry_all_kinds_arg2_name, i32 5, i32 0, ptr null, i32 0, i32 0,
// ENTRIES-SAME: ptr @__braid_entry_all_kinds_result0_name, i32 3, i32 1, ptr @__braid_entry_all_kinds_result0_sizes, i32 1, i32 0 }
// ENTRIES-NEXT: @__braid_entry_all_kinds_site = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_prog.mlir, ptr null, i32 12, i32 3 }
// ENTRIES-NEXT: @__braid_entry_all_kinds = private constant { ptr, ptr, i64, ptr, ptr } { ptr @__braid_entry_all_kinds_name, ptr @__braid_call_all_kinds, i64 4, ptr @__braid_entry_all_kinds_arguments, ptr @__braid_entry_all_kinds_site }

// The results follow the arguments; index is i64.
// ENTRIES:      @__braid_entry_one_result_arguments = private constant { ptr, i32, i32, ptr, i32, i32{{.*}} } {
// ENTRIES-SAME: ptr @__braid_entry_one_result_result0_name, i32 4, i32 0, ptr null, i32 1, i32 1 }
// ENTRIES:      @__braid_entry_one_result = private constant { ptr, ptr, i64, ptr, ptr } { ptr @__braid_entry_one_result_name, ptr @__braid_call_one_result, i64 1,

// ENTRIES:      @__braid_entry_three_results_arguments = private constant { ptr, i32, i32, ptr, i32, i32{{.*}} } {
// ENTRIES-SAME: ptr @__braid_entry_three_results_arg0_name, i32 0, i32 0, ptr null, i32 0, i32 1,
// ENTRIES-SAME: ptr @__braid_entry_three_results_result0_name, i32 7, i32 1, ptr @__braid_entry_three_results_result0_sizes, i32 1, i32 0,
// ENTRIES-SAME: ptr @__braid_entry_three_results_result1_name, i32 7, i32 0, ptr null, i32 1, i32 1,
// ENTRIES-SAME: ptr @__braid_entry_three_results_result2_name, i32 4, i32 0, ptr null, i32 1, i32 1 }

// ENTRIES:      @__braid_entry_no_arguments = private constant { ptr, ptr, i64, ptr, ptr } { ptr @__braid_entry_no_arguments_name, ptr @__braid_call_no_arguments, i64 0,

// The entries in their order, and the program: version, target, name, groups, entries.
// ENTRIES:      @__braid_entries = private constant { ptr, ptr, ptr, ptr } { ptr @__braid_entry_all_kinds, ptr @__braid_entry_one_result, ptr @__braid_entry_three_results, ptr @__braid_entry_no_arguments }
// ENTRIES-NEXT: @braid_program = constant { i32, i32, ptr, i64, ptr, i64, ptr, ptr, ptr } { i32 4, i32 0, ptr null, i64 0, ptr null, i64 4, ptr @__braid_entries, ptr null, ptr null }

// A memref is read from its descriptor field by field: two pointers, offset, sizes,
// strides. A scalar is one element.
// ENTRIES-LABEL: define internal void @__braid_call_all_kinds(ptr %0)
// ENTRIES-NEXT:    %[[D0:.*]] = load ptr, ptr %0
// ENTRIES-NEXT:    %[[ALLOCATED0:.*]] = load ptr, ptr %[[D0]]
// ENTRIES-NEXT:    %[[P1:.*]] = getelementptr i64, ptr %[[D0]], i32 1
// ENTRIES-NEXT:    %[[ALIGNED0:.*]] = load ptr, ptr %[[P1]]
// ENTRIES-NEXT:    %[[P2:.*]] = getelementptr i64, ptr %[[D0]], i32 2
// ENTRIES-NEXT:    %[[OFFSET0:.*]] = load i64, ptr %[[P2]]
// ENTRIES-NEXT:    %[[P3:.*]] = getelementptr i64, ptr %[[D0]], i32 3
// ENTRIES-NEXT:    %[[SIZE0:.*]] = load i64, ptr %[[P3]]
// ENTRIES-NEXT:    %[[P4:.*]] = getelementptr i64, ptr %[[D0]], i32 4
// ENTRIES-NEXT:    %[[SIZE1:.*]] = load i64, ptr %[[P4]]
// ENTRIES-NEXT:    %[[P5:.*]] = getelementptr i64, ptr %[[D0]], i32 5
// ENTRIES-NEXT:    %[[STRIDE0:.*]] = load i64, ptr %[[P5]]
// ENTRIES-NEXT:    %[[P6:.*]] = getelementptr i64, ptr %[[D0]], i32 6
// ENTRIES-NEXT:    %[[STRIDE1:.*]] = load i64, ptr %[[P6]]
// ENTRIES-NEXT:    %[[A1:.*]] = getelementptr ptr, ptr %0, i32 1
// ENTRIES-NEXT:    %[[D1:.*]] = load ptr, ptr %[[A1]]
// ENTRIES-NEXT:    %[[SCALAR:.*]] = load double, ptr %[[D1]]
// ENTRIES-NEXT:    %[[A2:.*]] = getelementptr ptr, ptr %0, i32 2
// ENTRIES-NEXT:    %[[D2:.*]] = load ptr, ptr %[[A2]]
// ENTRIES-NEXT:    %[[ALLOCATED2:.*]] = load ptr, ptr %[[D2]]
// ENTRIES-NEXT:    %[[P21:.*]] = getelementptr i64, ptr %[[D2]], i32 1
// ENTRIES-NEXT:    %[[ALIGNED2:.*]] = load ptr, ptr %[[P21]]
// ENTRIES-NEXT:    %[[P22:.*]] = getelementptr i64, ptr %[[D2]], i32 2
// ENTRIES-NEXT:    %[[OFFSET2:.*]] = load i64, ptr %[[P22]]
// ENTRIES-NEXT:    %[[A3:.*]] = getelementptr ptr, ptr %0, i32 3
// ENTRIES-NEXT:    %[[D3:.*]] = load ptr, ptr %[[A3]]
// ENTRIES-NEXT:    %[[ALLOCATED3:.*]] = load ptr, ptr %[[D3]]
// ENTRIES-NEXT:    %[[P31:.*]] = getelementptr i64, ptr %[[D3]], i32 1
// ENTRIES-NEXT:    %[[ALIGNED3:.*]] = load ptr, ptr %[[P31]]
// ENTRIES-NEXT:    %[[P32:.*]] = getelementptr i64, ptr %[[D3]], i32 2
// ENTRIES-NEXT:    %[[OFFSET3:.*]] = load i64, ptr %[[P32]]
// ENTRIES-NEXT:    %[[P33:.*]] = getelementptr i64, ptr %[[D3]], i32 3
// ENTRIES-NEXT:    %[[SIZE3:.*]] = load i64, ptr %[[P33]]
// ENTRIES-NEXT:    %[[P34:.*]] = getelementptr i64, ptr %[[D3]], i32 4
// ENTRIES-NEXT:    %[[STRIDE3:.*]] = load i64, ptr %[[P34]]
// ENTRIES-NEXT:    call void @all_kinds(ptr %[[ALLOCATED0]], ptr %[[ALIGNED0]], i64 %[[OFFSET0]], i64 %[[SIZE0]], i64 %[[SIZE1]], i64 %[[STRIDE0]], i64 %[[STRIDE1]], double %[[SCALAR]],
// ENTRIES-SAME:      ptr %[[ALLOCATED2]], ptr %[[ALIGNED2]], i64 %[[OFFSET2]], ptr %[[ALLOCATED3]], ptr %[[ALIGNED3]], i64 %[[OFFSET3]], i64 %[[SIZE3]], i64 %[[STRIDE3]])
// ENTRIES-NEXT:    ret void
llvm.func @all_kinds(%a0: !llvm.ptr, %a1: !llvm.ptr, %a2: i64, %a3: i64, %a4: i64, %a5: i64, %a6: i64, %s: f64,
                     %b0: !llvm.ptr, %b1: !llvm.ptr, %b2: i64, %c0: !llvm.ptr, %c1: !llvm.ptr, %c2: i64, %c3: i64, %c4: i64)
    attributes {braid.entry = [{direction = "inout", name = "arg0", type = memref<4x?xf32>},
                               {direction = "in", name = "arg1", type = f64},
                               {direction = "in", name = "arg2", type = memref<f16>},
                               {direction = "out", name = "result0", type = memref<6xi32>}]} {
  llvm.return
} loc("prog.mlir":12:3)

// One result is stored as it is.
// ENTRIES-LABEL: define internal void @__braid_call_one_result(ptr %0)
// ENTRIES-NEXT:    %[[D:.*]] = load ptr, ptr %0
// ENTRIES-NEXT:    %[[R:.*]] = call i64 @one_result()
// ENTRIES-NEXT:    store i64 %[[R]], ptr %[[D]]
// ENTRIES-NEXT:    ret void
llvm.func @one_result() -> i64
    attributes {braid.entry = [{direction = "out", name = "result0", result, type = index}]} {
  %0 = llvm.mlir.constant(7 : i64) : i64
  llvm.return %0 : i64
}

// Several results come in a struct, each to its own place.
// ENTRIES-LABEL: define internal void @__braid_call_three_results(ptr %0)
// ENTRIES-NEXT:    %[[D0:.*]] = load ptr, ptr %0
// ENTRIES-NEXT:    %[[C:.*]] = load i1, ptr %[[D0]]
// ENTRIES-NEXT:    %[[A1:.*]] = getelementptr ptr, ptr %0, i32 1
// ENTRIES-NEXT:    %[[D1:.*]] = load ptr, ptr %[[A1]]
// ENTRIES-NEXT:    %[[A2:.*]] = getelementptr ptr, ptr %0, i32 2
// ENTRIES-NEXT:    %[[D2:.*]] = load ptr, ptr %[[A2]]
// ENTRIES-NEXT:    %[[A3:.*]] = getelementptr ptr, ptr %0, i32 3
// ENTRIES-NEXT:    %[[D3:.*]] = load ptr, ptr %[[A3]]
// ENTRIES-NEXT:    %[[R:.*]] = call { { ptr, ptr, i64, [1 x i64], [1 x i64] }, float, i64 } @three_results(i1 %[[C]])
// ENTRIES-NEXT:    %[[R0:.*]] = extractvalue {{.*}} %[[R]], 0
// ENTRIES-NEXT:    store { ptr, ptr, i64, [1 x i64], [1 x i64] } %[[R0]], ptr %[[D1]]
// ENTRIES-NEXT:    %[[R1:.*]] = extractvalue {{.*}} %[[R]], 1
// ENTRIES-NEXT:    store float %[[R1]], ptr %[[D2]]
// ENTRIES-NEXT:    %[[R2:.*]] = extractvalue {{.*}} %[[R]], 2
// ENTRIES-NEXT:    store i64 %[[R2]], ptr %[[D3]]
// ENTRIES-NEXT:    ret void
llvm.func @three_results(%c: i1) -> !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, f32, i64)>
    attributes {braid.entry = [{direction = "in", name = "arg0", type = i1},
                               {direction = "out", name = "result0", result, type = memref<?xf32>},
                               {direction = "out", name = "result1", result, type = f32},
                               {direction = "out", name = "result2", result, type = i64}]} {
  %0 = llvm.mlir.zero : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, f32, i64)>
  llvm.return %0 : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, f32, i64)>
}

// ENTRIES-LABEL: define internal void @__braid_call_no_arguments(ptr %0)
// ENTRIES-NEXT:    call void @no_arguments()
// ENTRIES-NEXT:    ret void
llvm.func @no_arguments() attributes {braid.entry = []} {
  llvm.return
}

//--- module.mlir

// The name of the module and its groups stand in the table: the structs named after
// groups, not the arrays that these point at.
// MODULE:      @__braid_groups = private constant { ptr, ptr } { ptr @__braid_group_tp, ptr @__braid_group_world }
// MODULE-NEXT: @__braid_entries = private constant { ptr } { ptr @__braid_entry_main }
// MODULE-NEXT: @__braid_program_name = private constant [9 x i8] c"training\00"
// MODULE-NEXT: @braid_program = constant { i32, i32, ptr, i64, ptr, i64, ptr, ptr, ptr } { i32 4, i32 0, ptr @__braid_program_name, i64 2, ptr @__braid_groups, i64 1, ptr @__braid_entries, ptr null, ptr null }
module @training attributes {braid_rt.constants = 5 : i64} {
  llvm.mlir.global private constant @__braid_group_tp_name("tp\00") {addr_space = 0 : i32}
  llvm.mlir.global private constant @__braid_group_tp() {addr_space = 0 : i32} : !llvm.struct<(ptr, i32, i32, ptr, ptr)> {
    %0 = llvm.mlir.zero : !llvm.struct<(ptr, i32, i32, ptr, ptr)>
    llvm.return %0 : !llvm.struct<(ptr, i32, i32, ptr, ptr)>
  }
  llvm.mlir.global private constant @__braid_group_world_name("world\00") {addr_space = 0 : i32}
  llvm.mlir.global private constant @__braid_group_world() {addr_space = 0 : i32} : !llvm.struct<(ptr, i32, i32, ptr, ptr)> {
    %0 = llvm.mlir.zero : !llvm.struct<(ptr, i32, i32, ptr, ptr)>
    llvm.return %0 : !llvm.struct<(ptr, i32, i32, ptr, ptr)>
  }
  llvm.mlir.global private constant @__braid_site_0() {addr_space = 0 : i32} : !llvm.struct<(ptr, ptr, i32, i32)> {
    %0 = llvm.mlir.zero : !llvm.struct<(ptr, ptr, i32, i32)>
    llvm.return %0 : !llvm.struct<(ptr, ptr, i32, i32)>
  }

  // The program exports its table alone; declarations stay as they are.
  // MODULE:      define internal void @main()
  llvm.func @main() attributes {braid.entry = []} {
    llvm.return
  }
  // MODULE:      define internal void @helper()
  llvm.func @helper() {
    llvm.return
  }
  // MODULE:      declare void @external()
  llvm.func @external()

  // No two allocations overlap.
  // MODULE:      declare noalias ptr @_mlir_memref_to_llvm_alloc(i64)
  // MODULE:      declare noalias ptr @_mlir_memref_to_llvm_aligned_alloc(i64, i64)
  // MODULE:      declare ptr @other(i64)
  llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
  llvm.func @_mlir_memref_to_llvm_aligned_alloc(i64, i64) -> !llvm.ptr
  llvm.func @other(i64) -> !llvm.ptr

  // The attributes that the lowering needed are gone.
  // ATTRIBUTES: module @training {
  // ATTRIBUTES: llvm.func internal @main() {
}

//--- device.mlir

// A constant's data may be a struct, too: a complex number.
// DEVICE:      @__braid_constants = private constant { ptr } { ptr @__braid_constant_number }
// DEVICE-NEXT: @__braid_device = private constant { i64, ptr, i64, ptr, i64, i64, i64 } { i64 0, ptr null, i64 1, ptr @__braid_constants, i64 0, i64 0, i64 0 }
module attributes {braid_rt.target = "cuda"} {
  llvm.mlir.global private constant @__braid_constant_number_data([1.0 : f32, 2.0 : f32]) {addr_space = 0 : i32} : !llvm.struct<(f32, f32)>
  llvm.mlir.global private constant @__braid_constant_number() {addr_space = 0 : i32} : !llvm.struct<(ptr, i64)> {
    %0 = llvm.mlir.zero : !llvm.struct<(ptr, i64)>
    llvm.return %0 : !llvm.struct<(ptr, i64)>
  }
}

//--- bare.mlir

// Only the table.
// BARE:     @braid_program = constant { i32, i32, ptr, i64, ptr, i64, ptr, ptr, ptr } { i32 4, i32 0, ptr null, i64 0, ptr null, i64 0, ptr null, ptr null, ptr null }
// BARE-NOT: @__braid
module {
}
