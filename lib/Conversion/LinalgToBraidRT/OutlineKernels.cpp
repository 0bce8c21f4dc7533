//===- OutlineKernels.cpp - Outline kernels into functions ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/Support/ProgramAttributes.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace braid {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// Compares kernels, ignoring their names and locations.
struct KernelInfo : public llvm::DenseMapInfo<func::FuncOp> {
  static unsigned getHashValue(func::FuncOp kernel) {
    return llvm::hash_combine(
        kernel.getFunctionType(), kernel.getArgAttrsAttr(),
        OperationEquivalence::computeHash(
            &kernel.front().front(), OperationEquivalence::ignoreHashValue,
            OperationEquivalence::ignoreHashValue,
            OperationEquivalence::IgnoreLocations));
  }
  static bool isEqual(func::FuncOp a, func::FuncOp b) {
    if (a == b || llvm::is_contained({getEmptyKey(), getTombstoneKey()}, a) ||
        llvm::is_contained({getEmptyKey(), getTombstoneKey()}, b))
      return a == b;
    return a.getFunctionType() == b.getFunctionType() &&
           a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
           OperationEquivalence::isRegionEquivalentTo(
               &a.getBody(), &b.getBody(),
               OperationEquivalence::IgnoreLocations);
  }
};

/// True if `root` is an argument of an entry point to which it writes a result.
bool isResultOfEntry(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  auto values = function
                    ? function->getAttrOfType<ArrayAttr>(braid::kEntryAttrName)
                    : ArrayAttr();
  return values &&
         argument.getArgNumber() >= llvm::count_if(values, [](Attribute value) {
           return cast<DictionaryAttr>(value).getAs<StringAttr>("direction") !=
                  "out";
         });
}

/// True if `a` and `b` have no memory in common for sure.
bool areDisjoint(Value a, Value b) {
  a = memref::skipViewLikeOps(cast<MemrefValue>(a));
  b = memref::skipViewLikeOps(cast<MemrefValue>(b));
  auto isOwn = [](Value root) {
    return root.getDefiningOp<memref::AllocOp>() || isResultOfEntry(root);
  };
  auto isPlain = [&](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return isOwn(root) || root.getDefiningOp<memref::GetGlobalOp>() ||
           (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
  };
  return a != b && ((isOwn(a) && isPlain(b)) || (isPlain(a) && isOwn(b)));
}

/// The numbers of the buffers that `op` writes, and that have no memory in
/// common with other operands or `captured` values.
SmallVector<int64_t> getOwnBuffers(linalg::LinalgOp op,
                                   ArrayRef<Value> captured) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, captured);
  SmallVector<int64_t> own;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    unsigned number = init.getOperandNumber();
    if (llvm::all_of(llvm::enumerate(values), [&](auto value) {
          return value.index() == number ||
                 !isa<MemRefType>(value.value().getType()) ||
                 areDisjoint(init.get(), value.value());
        }))
      own.push_back(number);
  }
  return own;
}

class Outliner {
public:
  Outliner(ModuleOp module) : module(module), symbols(module) {}

  void outline(linalg::LinalgOp op) {
    for (NamedAttribute attribute :
         SmallVector<NamedAttribute>(op->getDiscardableAttrs()))
      if (isa_and_nonnull<braid::comm::CommDialect>(attribute.getNameDialect()))
        op->removeAttr(attribute.getName());
    llvm::SetVector<Value> captured;
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, region, captured);
    SmallVector<Value> operands(op->getOperands());
    llvm::append_range(operands, captured);
    // Next to its caller: a call looks its callee up from the start of the
    // module, so constants of runtime calls in between would slow the lookup.
    Operation *caller = module.getBody()->findAncestorOpInBlock(*op);
    Operation *&last = lastKernels.try_emplace(caller, caller).first->second;
    OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
    Location loc = op.getLoc();
    func::FuncOp kernel = create(op, captured.getArrayRef());
    auto [known, isNew] = kernels.insert(kernel);
    if (isNew) {
      symbols.insert(kernel, std::next(last->getIterator()));
      last = kernel;
    } else {
      kernel.erase();
    }
    func::CallOp::create(builder, loc, *known, operands);
  }

private:
  /// Moves `op` to a function of its operands and the `captured` values.
  static func::FuncOp create(linalg::LinalgOp op, ArrayRef<Value> captured) {
    OpBuilder builder(op->getContext());
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, TypeRange(ValueRange(captured)));
    auto kernel = func::FuncOp::create(op.getLoc(), "__braid_kernel",
                                       builder.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr("passthrough",
                    builder.getArrayAttr(builder.getStringAttr("noinline")));
    // Static shapes and layouts need not be passed in calls.
    if (llvm::all_of(types, [](Type type) {
          auto buffer = dyn_cast<BaseMemRefType>(type);
          return !buffer || LLVMTypeConverter::canConvertToBarePtr(buffer);
        })) {
      kernel->setAttr("llvm.bareptr", builder.getUnitAttr());
      for (int64_t own : getOwnBuffers(op, captured))
        kernel.setArgAttr(own, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    }
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    func::ReturnOp::create(builder, op.getLoc());
    op->moveBefore(body, body->begin());
    for (auto [value, argument] :
         llvm::zip(captured, body->getArguments().take_back(captured.size())))
      for (Region &region : op->getRegions())
        replaceAllUsesInRegionWith(value, argument, region);
    op->setOperands(body->getArguments().take_front(op->getNumOperands()));
    return kernel;
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseSet<func::FuncOp, KernelInfo> kernels;
  /// The last op of a function and its kernels.
  llvm::DenseMap<Operation *, Operation *> lastKernels;
};

struct OutlineKernelsPass
    : public braid::StructuralPass<
          braid::impl::OutlineKernelsPassBase<OutlineKernelsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && op->getNumResults() == 0)
        ops.push_back(op);
    });
    Outliner outliner(getOperation());
    for (linalg::LinalgOp op : ops)
      outliner.outline(op);
    return success();
  }
};

} // namespace
