//===- CarriedScalars.cpp - Numbers that loops and branches pass on -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Rewrite/Rewrites.h"

#include "ScalarReader.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Something that an op with regions passes on.
struct Carried {
  /// Arguments of blocks and results that have it.
  SmallVector<Value, 2> values;
  /// What it is set to.
  SmallVector<OpOperand *, 2> sources;
  /// Others that it follows from, and that follow from it, by number.
  SmallVector<unsigned> needs, users;
  bool follows = true, isWanted = false;
};

/// Numbers in tensors without dimensions that loops and branches pass on.
class CarriedNumbers {
public:
  CarriedNumbers(RewriterBase &rewriter, Operation *root);

  /// Makes scalars of those that follow from scalars, if hosts wait for
  /// elements that follow from them.
  void makeScalars();

private:
  void add(ArrayRef<Value> values, ArrayRef<OpOperand *> sources);
  void addLoop(scf::WhileOp loop);
  void addLoop(scf::ForOp loop);
  void addBranches(Operation *op);
  void dropOthers(ScalarReader &reader);
  void findWanted(ScalarReader &reader);
  void makeScalar(Carried &carried);

  RewriterBase &rewriter;
  Operation *root;
  std::vector<Carried> all;
  DenseMap<Value, unsigned> numbers;
};

} // namespace

static bool isNumber(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && !tensor.getEncoding() &&
         (tensor.getElementType().isIntOrIndex() ||
          tensor.getElementType().isF32() || tensor.getElementType().isF64());
}

CarriedNumbers::CarriedNumbers(RewriterBase &rewriter, Operation *root)
    : rewriter(rewriter), root(root) {
  root->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<scf::WhileOp, scf::ForOp>([&](auto loop) { addLoop(loop); })
        .Case<scf::IfOp, scf::IndexSwitchOp>(
            [&](Operation *branches) { addBranches(branches); });
  });
}

void CarriedNumbers::add(ArrayRef<Value> values,
                         ArrayRef<OpOperand *> sources) {
  if (!isNumber(values.front().getType()))
    return;
  for (Value value : values)
    numbers[value] = all.size();
  all.push_back({llvm::to_vector<2>(values), llvm::to_vector<2>(sources)});
}

void CarriedNumbers::addLoop(scf::WhileOp loop) {
  for (auto [argument, init, yielded] :
       llvm::zip_equal(loop.getBeforeArguments(), loop.getInitsMutable(),
                       loop.getYieldOp().getResultsMutable()))
    add({argument}, {&init, &yielded});
  for (auto [argument, result, passed] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults(),
                       loop.getConditionOp().getArgsMutable()))
    add({argument, result}, {&passed});
}

void CarriedNumbers::addLoop(scf::ForOp loop) {
  for (auto [argument, result, init, yielded] : llvm::zip_equal(
           loop.getRegionIterArgs(), loop.getResults(),
           loop.getInitArgsMutable(), *loop.getYieldedValuesMutable()))
    add({argument, result}, {&init, &yielded});
}

void CarriedNumbers::addBranches(Operation *op) {
  for (OpResult result : op->getResults()) {
    SmallVector<OpOperand *> yielded;
    for (Region &region : op->getRegions())
      yielded.push_back(&region.front().getTerminator()->getOpOperand(
          result.getResultNumber()));
    add({result}, yielded);
  }
}

/// Marks those that do not follow from scalars.
void CarriedNumbers::dropOthers(ScalarReader &reader) {
  SmallVector<unsigned> dropped;
  for (auto [number, carried] : llvm::enumerate(all)) {
    for (OpOperand *source : carried.sources) {
      auto needed = reader.findAssumed(source->get(),
                                       *source->getOwner()->getParentRegion());
      if (!needed) {
        carried.follows = false;
        dropped.push_back(number);
        break;
      }
      for (Value value : *needed) {
        carried.needs.push_back(numbers.at(value));
        all[numbers.at(value)].users.push_back(number);
      }
    }
  }
  while (!dropped.empty())
    for (unsigned user : all[dropped.pop_back_val()].users)
      if (std::exchange(all[user].follows, false))
        dropped.push_back(user);
}

/// True if something other than bodies and slices uses `element`, or what is
/// computed from it: the host waits for it.
static bool steersHost(tensor::ExtractOp element) {
  llvm::SetVector<Operation *> ops;
  ops.insert(element);
  for (unsigned number = 0; number != ops.size(); ++number)
    for (Operation *user : ops[number]->getUsers()) {
      if (user->getParentOfType<linalg::LinalgOp>() ||
          isa<OffsetSizeAndStrideOpInterface>(user))
        continue;
      bool isScalar =
          user->getNumRegions() == 0 && user->getNumResults() != 0 &&
          isMemoryEffectFree(user) &&
          llvm::none_of(user->getResultTypes(), llvm::IsaPred<ShapedType>);
      if (!isScalar)
        return true;
      ops.insert(user);
    }
  return false;
}

/// Marks those that elements for which the host waits follow from.
void CarriedNumbers::findWanted(ScalarReader &reader) {
  SmallVector<unsigned> wanted;
  auto want = [&](unsigned number) {
    if (!std::exchange(all[number].isWanted, true))
      wanted.push_back(number);
  };
  root->walk([&](tensor::ExtractOp read) {
    if (read->getParentOfType<linalg::LinalgOp>() || !steersHost(read))
      return;
    auto needed =
        reader.findAssumed(read.getTensor(), *read->getParentRegion());
    if (needed && llvm::all_of(*needed, [&](Value value) {
          return all[numbers.at(value)].follows;
        }))
      for (Value value : *needed)
        want(numbers.at(value));
  });
  while (!wanted.empty())
    for (unsigned number : all[wanted.pop_back_val()].needs)
      want(number);
}

void CarriedNumbers::makeScalar(Carried &carried) {
  auto type = cast<RankedTensorType>(carried.values.front().getType());
  for (OpOperand *source : carried.sources) {
    Operation *owner = source->getOwner();
    rewriter.setInsertionPoint(owner);
    Value element = tensor::ExtractOp::create(rewriter, owner->getLoc(),
                                              source->get(), ValueRange());
    rewriter.modifyOpInPlace(owner, [&] { source->set(element); });
  }
  for (Value value : carried.values) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      rewriter.setInsertionPointToStart(argument.getOwner());
    else
      rewriter.setInsertionPointAfterValue(value);
    value.setType(type.getElementType());
    // An elementwise op, so that others fuse with it.
    Value empty =
        tensor::EmptyOp::create(rewriter, value.getLoc(), type, ValueRange());
    Value tensor = createParallel(
        rewriter, value.getLoc(), empty, {}, {},
        [&](ImplicitLocOpBuilder &, ValueRange) { return value; });
    rewriter.replaceUsesWithIf(value, tensor, [&](OpOperand &use) {
      return !tensor.getDefiningOp()->isProperAncestor(use.getOwner());
    });
  }
}

void CarriedNumbers::makeScalars() {
  ScalarReader reader(
      rewriter,
      llvm::DenseSet<Value>(llvm::from_range, llvm::make_first_range(numbers)));
  dropOthers(reader);
  findWanted(reader);
  for (Carried &carried : all)
    if (carried.isWanted)
      makeScalar(carried);
  computeScalarReads(rewriter, root, steersHost);
}

void braid::comm::carryScalars(RewriterBase &rewriter, Operation *root) {
  CarriedNumbers(rewriter, root).makeScalars();
}
