//===- General.cpp - Kernels for dynamic sizes ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"
#include "Reduction.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace braid::kernels;

namespace {

/// Emits a kernel that takes dynamic sizes, strides and offsets as arguments. A
/// thread computes one iteration of the parallel loops.
class GeneralKernel {
public:
  GeneralKernel(KernelModule &kernels, linalg::LinalgOp op)
      : kernels(kernels), op(op), host(op.getLoc(), op),
        b(op.getLoc(), op.getContext()), nest{op.getLoc()} {
    nest.body = op.getBlock();
    for (OpOperand &output : op.getDpsInitsMutable()) {
      Access &access = nest.outputs.emplace_back();
      access.elementType = getElementTypeOrSelf(output.get());
      access.argument = op.getMatchingBlockArgument(&output);
    }
  }

  void emit();

private:
  /// A constant, or the argument `argument` of the kernel.
  struct Number {
    std::optional<int64_t> constant;
    unsigned argument = 0;
  };
  /// The descriptor of a buffer.
  struct Memory {
    unsigned base;
    Number offset;
    SmallVector<Number> sizes, strides;
  };

  unsigned addArgument(Value value);
  Number addNumber(OpFoldResult value);
  void addBuffer(Value buffer);
  void addOutside(Value value);
  void addOperands();

  OpFoldResult get(const Number &number);
  Value getIndex(const Number &number);
  void openKernel();
  void emitThread();
  SmallVector<Value> getIndices(OpOperand &operand);
  Value load(OpOperand &operand);
  Value createConstant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  KernelModule &kernels;
  linalg::LinalgOp op;
  ImplicitLocOpBuilder host, b;
  /// The body and the outputs alone.
  LoopNest nest;
  gpu::GPUFuncOp kernel;
  SmallVector<Value> launchOperands;
  llvm::MapVector<Value, Memory> buffers;
  llvm::MapVector<Value, unsigned> scalars;
  llvm::SetVector<Value> constants;
  /// The size of each loop of the op.
  SmallVector<Number> sizes;
  SmallVector<Value> indices;
  SmallVector<unsigned> parallel, reductions;
  /// The values in the kernel for values of the host.
  IRMapping inKernel;
};

unsigned GeneralKernel::addArgument(Value value) {
  launchOperands.push_back(value);
  return launchOperands.size() - 1;
}

GeneralKernel::Number GeneralKernel::addNumber(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {constant};
  return {std::nullopt, addArgument(cast<Value>(value))};
}

void GeneralKernel::addBuffer(Value buffer) {
  if (buffers.contains(buffer))
    return;
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  auto metadata = memref::ExtractStridedMetadataOp::create(host, buffer);
  // Only the type decides what is constant, so that the types in the kernel
  // agree.
  auto add = [&](int64_t known, Value value) {
    return ShapedType::isDynamic(known)
               ? Number{std::nullopt, addArgument(value)}
               : Number{known};
  };
  Memory memory{addArgument(metadata.getBaseBuffer()),
                add(offset, metadata.getOffset()),
                {},
                {}};
  for (auto [known, value] : llvm::zip(type.getShape(), metadata.getSizes()))
    memory.sizes.push_back(add(known, value));
  for (auto [known, value] : llvm::zip(strides, metadata.getStrides()))
    memory.strides.push_back(add(known, value));
  buffers.insert({buffer, std::move(memory)});
}

void GeneralKernel::addOutside(Value value) {
  if (isa<MemRefType>(value.getType()))
    addBuffer(value);
  else if (matchPattern(value, m_Constant()))
    constants.insert(value);
  else if (!scalars.contains(value))
    scalars.insert({value, addArgument(value)});
}

void GeneralKernel::addOperands() {
  for (Value operand : op->getOperands())
    addOutside(operand);
  for (Value captured : getCaptured(*op.getBlock()))
    addOutside(captured);
  for (Range range : op.createLoopRanges(host, op.getLoc()))
    sizes.push_back(addNumber(range.size));
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? reductions : parallel)
        .push_back(loop);
}

OpFoldResult GeneralKernel::get(const Number &number) {
  if (number.constant)
    return b.getIndexAttr(*number.constant);
  return OpFoldResult(kernel.getArgument(number.argument));
}

Value GeneralKernel::getIndex(const Number &number) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), get(number));
}

void GeneralKernel::openKernel() {
  kernel = kernels.create(
      op.getLoc(), "general",
      host.getFunctionType(ValueRange(launchOperands).getTypes(), {}), {});
  kernel.setKnownBlockSizeAttr(
      host.getDenseI32ArrayAttr({static_cast<int32_t>(kBlockSize), 1, 1}));
  b.setInsertionPointToStart(&kernel.getBody().front());
  for (auto &[buffer, memory] : buffers) {
    auto getAll = [&](ArrayRef<Number> numbers) {
      return llvm::map_to_vector(
          numbers, [&](const Number &number) { return get(number); });
    };
    Value view = memref::ReinterpretCastOp::create(
        b, cast<MemRefType>(buffer.getType()), kernel.getArgument(memory.base),
        get(memory.offset), getAll(memory.sizes), getAll(memory.strides));
    inKernel.map(buffer, view);
  }
  for (auto &[value, argument] : scalars)
    inKernel.map(value, kernel.getArgument(argument));
  for (Value constant : constants)
    inKernel.map(constant,
                 b.clone(*constant.getDefiningOp())
                     ->getResult(cast<OpResult>(constant).getResultNumber()));
}

SmallVector<Value> GeneralKernel::getIndices(OpOperand &operand) {
  SmallVector<Value> result;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    result.push_back(
        affine::expandAffineExpr(b, b.getLoc(), expr, indices, {}));
  return result;
}

Value GeneralKernel::load(OpOperand &operand) {
  return memref::LoadOp::create(b, inKernel.lookup(operand.get()),
                                getIndices(operand));
}

void GeneralKernel::emitThread() {
  SmallVector<Value> values;
  for (OpOperand &output : op.getDpsInitsMutable())
    values.push_back(load(output));
  auto getSize = [&](unsigned loop) { return getIndex(sizes[loop]); };
  auto mapIteration = [&](ValueRange args, IRMapping &mapping) {
    mapping = inKernel;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      if (op.isDpsInit(&operand)) {
        unsigned output = operand.getOperandNumber() - op.getNumDpsInputs();
        mapping.map(argument, args[output]);
      } else if (isa<MemRefType>(operand.get().getType())) {
        mapping.map(argument, load(operand));
      } else {
        mapping.map(argument, inKernel.lookup(operand.get()));
      }
    }
    return indices;
  };
  reduceInOrder(b, nest, reductions, getSize, indices, values, mapIteration);
  for (auto [output, value] : llvm::zip(op.getDpsInitsMutable(), values))
    memref::StoreOp::create(b, value, inKernel.lookup(output.get()),
                            getIndices(output));
}

void GeneralKernel::emit() {
  addOperands();
  openKernel();
  Value thread = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, gpu::BlockIdOp::create(b, gpu::Dimension::x),
                            createConstant(kBlockSize)),
      gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value threads = createConstant(1);
  for (unsigned loop : parallel)
    threads = arith::MulIOp::create(b, threads, getIndex(sizes[loop]));
  auto isActive = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread, threads));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isActive.thenBlock());
    indices.assign(sizes.size(), Value());
    // Adjacent threads run adjacent iterations of the last loop.
    for (unsigned loop : llvm::reverse(parallel)) {
      Value size = getIndex(sizes[loop]);
      indices[loop] = arith::RemUIOp::create(b, thread, size);
      thread = arith::DivUIOp::create(b, thread, size);
    }
    emitThread();
  }
  gpu::ReturnOp::create(b);
  kernel = kernels.share(kernel);

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, value);
  };
  Value numThreads = constant(1);
  for (unsigned loop : parallel) {
    const Number &size = sizes[loop];
    numThreads =
        arith::MulIOp::create(host, numThreads,
                              size.constant ? constant(*size.constant)
                                            : launchOperands[size.argument]);
  }
  Value roundedUp =
      arith::AddIOp::create(host, numThreads, constant(kBlockSize - 1));
  Value blocks = arith::DivUIOp::create(host, roundedUp, constant(kBlockSize));
  Value one = constant(1);
  gpu::LaunchFuncOp::create(host, kernel, gpu::KernelDim3{blocks, one, one},
                            gpu::KernelDim3{constant(kBlockSize), one, one},
                            /*dynamicSharedMemorySize=*/Value(),
                            launchOperands);
}

/// The reason why kernels cannot access `buffer`; empty if they can.
std::string findFault(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return getByteSize(buffer.getType()) == 0
               ? "has a type that kernels cannot access"
               : "";
  if (getByteSize(type.getElementType()) == 0)
    return "has elements that kernels cannot access";
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return "has a layout that is not strided";
  return "";
}

} // namespace

LogicalResult braid::kernels::checkGeneral(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands())
    if (std::string fault = findFault(operand.get()); !fault.empty())
      return op->emitOpError()
             << "has no kernel: operand #" << operand.getOperandNumber()
             << " of type " << operand.get().getType() << " " << fault;
  for (Value value : getCaptured(*op.getBlock()))
    if (std::string fault = findFault(value); !fault.empty())
      return op->emitOpError()
             << "has no kernel: a value of type " << value.getType()
             << ", which its body reads from outside, " << fault;
  if (hasTooManyIterations(op.getStaticLoopRanges()))
    return op->emitOpError("has no kernel: it runs more than 2^47 iterations");
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (OpOperand &output : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    for (auto [loop, kind] : llvm::enumerate(kinds))
      if (kind == utils::IteratorType::reduction && map.isFunctionOfDim(loop))
        return op->emitOpError()
               << "has no kernel: the place of operand #"
               << output.getOperandNumber()
               << " that it writes depends on the reduction loop d" << loop;
  }
  return success();
}

void braid::kernels::emitGeneral(KernelModule &kernels, linalg::LinalgOp op) {
  GeneralKernel(kernels, op).emit();
}
