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
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace braid {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// Compares the computation of kernels without captured values, ignoring
/// operands and locations.
struct KernelInfo : public llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() ||
        b == getTombstoneKey())
      return false;
    auto *lhs = const_cast<Operation *>(a), *rhs = const_cast<Operation *>(b);
    // Operands become arguments, so their types alone count; values of the body
    // have to be computed and used alike.
    llvm::DenseMap<Value, Value> counterparts;
    return OperationEquivalence::isEquivalentTo(
        lhs, rhs,
        [&](Value left, Value right) {
          if (llvm::is_contained(lhs->getOperands(), left))
            return success(left.getType() == right.getType());
          return success(counterparts.lookup(left) == right);
        },
        [&](Value left, Value right) { counterparts[left] = right; },
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

/// Holds the numbers of own buffers while kernels are compared.
constexpr StringLiteral kOwnBuffersName = "braid.own_buffers";

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
    op->setAttr(kOwnBuffersName, Builder(op).getDenseI64ArrayAttr(getOwnBuffers(
                                     op, captured.getArrayRef())));
    // A body that reads values from outside is a function of these, too; two
    // such are not compared.
    func::FuncOp kernel;
    if (captured.empty())
      kernel = kernels.lookup(op);
    if (!kernel)
      kernel = create(op, captured.getArrayRef());
    SmallVector<Value> operands(op->getOperands());
    llvm::append_range(operands, captured);
    OpBuilder builder(op);
    func::CallOp::create(builder, op.getLoc(), kernel, operands);
    if (isKey(op)) {
      // The map keeps it to compare with; it goes at the end.
      keys.push_back(op);
      return;
    }
    op->erase();
  }

  void finish() {
    kernels.clear();
    for (Operation *key : keys)
      key->erase();
  }

private:
  bool isKey(Operation *op) {
    auto found = kernels.find(op);
    return found != kernels.end() && found->first == op;
  }

  func::FuncOp create(linalg::LinalgOp op, ArrayRef<Value> captured) {
    // Next to its caller: a call looks its callee up from the start of the
    // module, so constants of runtime calls in between would slow the lookup.
    Operation *caller = module.getBody()->findAncestorOpInBlock(*op);
    Operation *&last = lastKernels.try_emplace(caller, caller).first->second;
    OpBuilder builder(module);
    builder.setInsertionPointAfter(last);
    SmallVector<Type> types(op->getOperandTypes());
    for (Value value : captured)
      types.push_back(value.getType());
    auto kernel = func::FuncOp::create(builder, op.getLoc(), "__braid_kernel",
                                       builder.getFunctionType(types, {}));
    last = kernel;
    kernel.setPrivate();
    kernel->setAttr("passthrough",
                    builder.getArrayAttr(builder.getStringAttr("noinline")));
    // Static shapes and layouts need not be passed in calls.
    if (llvm::all_of(types, [](Type type) {
          auto buffer = dyn_cast<BaseMemRefType>(type);
          return !buffer || LLVMTypeConverter::canConvertToBarePtr(buffer);
        })) {
      kernel->setAttr("llvm.bareptr", builder.getUnitAttr());
      for (int64_t own :
           op->getAttrOfType<DenseI64ArrayAttr>(kOwnBuffersName).asArrayRef())
        kernel.setArgAttr(own, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    }
    symbols.insert(kernel);
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [value, argument] :
         llvm::zip(captured, body->getArguments().take_back(captured.size())))
      mapping.map(value, argument);
    Operation *copy = builder.clone(*op, mapping);
    copy->removeAttr(kOwnBuffersName);
    copy->setOperands(body->getArguments().take_front(op->getNumOperands()));
    func::ReturnOp::create(builder, op.getLoc());
    if (captured.empty())
      kernels[op] = kernel;
    return kernel;
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, func::FuncOp, KernelInfo> kernels;
  SmallVector<Operation *> keys;
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
    outliner.finish();
    return success();
  }
};

} // namespace
