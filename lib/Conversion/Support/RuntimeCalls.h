//===- RuntimeCalls.h - Calls of the Braid runtime --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders of calls of the runtime's C ABI (include/braid-rt) and of their
// constant descriptors, for all lowerings to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SUPPORT_RUNTIMECALLS_H
#define BRAID_LIB_CONVERSION_SUPPORT_RUNTIMECALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace braid {

/// The number of the element type `type` in the runtime's ABI (braid_rt_dtype);
/// none if the runtime does not support the type.
std::optional<int32_t> getRuntimeDtype(mlir::Type type);

/// Emits calls of the runtime at the builder's insertion point, and the globals
/// and declarations of these calls in the enclosing module. All globals are
/// constant.
class RuntimeCallBuilder {
public:
  RuntimeCallBuilder(mlir::OpBuilder &builder, mlir::Operation *at);

  mlir::Type getPointer() const { return pointer; }
  mlir::Value getI32(int32_t value);
  mlir::Value getI64(int64_t value);
  mlir::Value getF64(double value);
  mlir::Value getNull();

  /// Calls `name` with `arguments`; `resultType` is null for a function that
  /// returns nothing. Returns the result, if any.
  mlir::Value call(llvm::StringRef name, mlir::Type resultType,
                   mlir::ValueRange arguments);

  /// A pointer to the position and the label of the op `at` (braid_rt_site).
  mlir::Value getSite();

  /// A pointer to lane `lane` of the group called `name` (braid_rt_group). An
  /// empty `lane` is the lane without a name.
  mlir::Value getGroup(llvm::StringRef name, llvm::StringRef lane = {});

  /// A pointer to a constant text, with a closing zero.
  mlir::Value getText(llvm::StringRef text);

  /// A pointer to a constant array of 64-bit integers.
  mlir::Value getConstantArray(llvm::ArrayRef<int64_t> values);

  /// Allocates `count` elements of `type` on the stack; see `StackScope`.
  mlir::Value allocate(mlir::Type type, int64_t count);

  /// Stores `values`, which have one type, as an array on the stack; null if
  /// there are none.
  mlir::Value storeArray(mlir::ValueRange values);

  /// A view (braid_rt_view) of the buffer of type `type` at `data`, whose
  /// dynamic sizes `getSize` gives as 64-bit integers.
  mlir::Value createView(mlir::Value data, mlir::MemRefType type,
                         llvm::function_ref<mlir::Value(unsigned)> getSize);

private:
  friend class StackScope;

  mlir::OpBuilder &builder;
  mlir::Operation *at;
  mlir::ModuleOp module;
  mlir::Location loc;
  mlir::Type pointer;
};

/// Frees, at the end of its lifetime, all stack memory that was allocated
/// during its lifetime, so that a start in a loop does not overflow the stack.
class StackScope {
public:
  explicit StackScope(RuntimeCallBuilder &calls);
  ~StackScope();

private:
  RuntimeCallBuilder &calls;
  mlir::Value saved;
};

/// Creates the constants that describe a site: a private global `name` with the
/// position of `loc` and `label`, which may be empty, in `module`.
mlir::LLVM::GlobalOp createSite(mlir::OpBuilder &builder, mlir::ModuleOp module,
                                llvm::StringRef name, mlir::Location loc,
                                llvm::StringRef label);

/// A lane of a group (braid_rt_lane).
struct RuntimeLane {
  std::string name;
  int32_t ctas;
  int32_t transport;
  int64_t staging;
};

/// Creates the constants that describe a group of `lists`, or of all ranks if
/// `lists` is empty: one for the lane without a name, and one for each of
/// `lanes`. `RuntimeCallBuilder::getGroup` refers to these globals.
void createGroup(mlir::OpBuilder &builder, mlir::ModuleOp module,
                 mlir::Location loc, llvm::StringRef name,
                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> lists,
                 llvm::ArrayRef<RuntimeLane> lanes = {});

/// The name of the global of lane `lane` of the group called `name`. An empty
/// `lane` is the lane without a name.
std::string getGroupGlobalName(llvm::StringRef name, llvm::StringRef lane = {});

/// The prefixes of the names of globals with images (braid_rt_image) and
/// constants (braid_rt_constant).
constexpr llvm::StringLiteral kImageGlobalPrefix = "__braid_image_";
constexpr llvm::StringLiteral kConstantGlobalPrefix = "__braid_constant_";

/// Creates a private constant of type `type` called `name` at the end of
/// `module`; `initialize` builds its value.
mlir::LLVM::GlobalOp
createConstant(mlir::OpBuilder &builder, mlir::ModuleOp module,
               mlir::Location loc, mlir::Type type, llvm::StringRef name,
               llvm::function_ref<mlir::Value(mlir::OpBuilder &)> initialize);

/// A field of a constant: an integer, or the address of a symbol, which may be
/// null.
struct ConstantField {
  ConstantField(mlir::LLVM::GlobalOp global)
      : symbol(global ? global.getSymNameAttr() : mlir::StringAttr()) {}
  ConstantField(mlir::LLVM::LLVMFuncOp function)
      : symbol(function.getSymNameAttr()) {}
  static ConstantField i32(int64_t value) { return {32, value}; }
  static ConstantField i64(int64_t value) { return {64, value}; }

  /// 0 of addresses.
  unsigned width = 0;
  int64_t value = 0;
  mlir::StringAttr symbol;

private:
  ConstantField(unsigned width, int64_t value) : width(width), value(value) {}
};

/// Creates a private constant struct called `name` at the end of `module`.
mlir::LLVM::GlobalOp createStructConstant(mlir::OpBuilder &builder,
                                          mlir::ModuleOp module,
                                          mlir::Location loc,
                                          llvm::StringRef name,
                                          llvm::ArrayRef<ConstantField> fields);

/// Creates a private constant array of `values`, of `width` bits each.
mlir::LLVM::GlobalOp createIntegers(mlir::OpBuilder &builder,
                                    mlir::ModuleOp module, mlir::Location loc,
                                    llvm::StringRef name,
                                    llvm::ArrayRef<int64_t> values,
                                    unsigned width);

/// Creates a private constant with `text` and a closing zero.
mlir::LLVM::GlobalOp createString(mlir::OpBuilder &builder,
                                  mlir::ModuleOp module, mlir::Location loc,
                                  llvm::StringRef name, llvm::StringRef text);

/// A struct value with the fields `fields`; a null field is a null pointer.
mlir::Value createStruct(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::Value> fields);

/// Adds `count` to the number of ops of `module` that make the host wait for
/// the device.
void addHostReads(mlir::ModuleOp module, int64_t count);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_SUPPORT_RUNTIMECALLS_H
