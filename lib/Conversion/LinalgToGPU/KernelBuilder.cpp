//===- KernelBuilder.cpp - Kernels and their launches ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "BufferAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

#include <numeric>

using namespace mlir;
using namespace braid::kernels;

llvm::SetVector<Value> braid::kernels::getCaptured(Block &body) {
  llvm::SetVector<Value> captured;
  Region &region = *body.getParent();
  getUsedValuesDefinedAbove(region, region, captured);
  return captured;
}

int64_t braid::kernels::getAlignedLanes(const Access &access,
                                        const LoopNest &nest, unsigned loop,
                                        int64_t lanes) {
  int64_t size = getByteSize(access.elementType);
  // The common alignment of all addresses, in bytes, without the vector loop.
  int64_t alignment = getAlignment(access.buffer);
  alignment = std::gcd(alignment, access.base * size);
  for (auto [other, stride] : llvm::enumerate(access.strides))
    if (other != loop)
      alignment = std::gcd(alignment, stride * size);
  while (lanes > 1 && alignment % (lanes * size) != 0)
    lanes /= 2;
  return lanes;
}

//===----------------------------------------------------------------------===//
// KernelModule
//===----------------------------------------------------------------------===//

gpu::GPUFuncOp KernelModule::create(Location loc, StringRef name,
                                    FunctionType type,
                                    TypeRange workgroupMemory) {
  if (!kernels)
    if ((kernels = module.lookupSymbol<gpu::GPUModuleOp>("kernels")))
      symbols.emplace(kernels);
  if (!kernels) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    SymbolTable(module).insert(kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
    symbols.emplace(kernels);
  }
  OpBuilder builder(module.getContext());
  auto kernel =
      gpu::GPUFuncOp::create(builder, loc, name, type, workgroupMemory);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  symbols->insert(kernel);
  return kernel;
}

/// A hash that is equal for equal kernels.
static size_t hashKernel(gpu::GPUFuncOp kernel) {
  llvm::hash_code hash = hash_value(kernel.getFunctionType());
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, op->getName(), op->getAttrDictionary(),
        llvm::hash_combine_range(op->getResultTypes().begin(),
                                 op->getResultTypes().end()));
  });
  return hash;
}

gpu::GPUFuncOp KernelModule::share(gpu::GPUFuncOp kernel) {
  StringRef blocks = NVVM::NVVMDialect::getMinctasmAttrName();
  SmallVector<gpu::GPUFuncOp> &candidates = byHash[hashKernel(kernel)];
  for (gpu::GPUFuncOp other : candidates)
    if (other.getFunctionType() == kernel.getFunctionType() &&
        other.getArgAttrsAttr() == kernel.getArgAttrsAttr() &&
        other.getKnownBlockSizeAttr() == kernel.getKnownBlockSizeAttr() &&
        other->getDiscardableAttr(blocks) ==
            kernel->getDiscardableAttr(blocks) &&
        OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &kernel.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      symbols->erase(kernel);
      return other;
    }
  candidates.push_back(kernel);
  return kernel;
}

//===----------------------------------------------------------------------===//
// KernelBuilder: operands
//===----------------------------------------------------------------------===//

void KernelBuilder::addBuffer(Value buffer, bool isWritten) {
  bool &entry = buffers.try_emplace(buffer, false).first->second;
  entry |= isWritten;
}

void KernelBuilder::addScalar(Value value) {
  if (isa<MemRefType>(value.getType()))
    addBuffer(sharesWrittenBuffers ? getRoot(value) : value,
              /*isWritten=*/false);
  else if (matchPattern(value, m_Constant()))
    constants.insert(value);
  else
    scalars.insert(value);
}

void KernelBuilder::addOperands(LoopNest &nest) {
  for (Access &access : nest.inputs)
    addBuffer(access.buffer, /*isWritten=*/false);
  for (Access &access : nest.outputs)
    addBuffer(access.buffer, /*isWritten=*/true);
  for (auto &[value, argument] : nest.scalars)
    addScalar(value);
  for (Value value : getCaptured(*nest.body))
    addScalar(value);
  for (Value value : nest.fills)
    if (value)
      addScalar(value);
}

Value KernelBuilder::getInitial(const LoopNest &nest, unsigned output,
                                ArrayRef<Value> indices) {
  if (Value value = nest.fills[output])
    return fromHost.lookup(value);
  const Access &access = nest.outputs[output];
  return load(getMemory(access.buffer), getAddress(access, indices), 1);
}

void KernelBuilder::start(int64_t size, TypeRange workgroupMemory) {
  blockSize = size;
  OpBuilder host(before);
  Location loc = before->getLoc();
  SmallVector<Type> types;
  for (auto &[buffer, isWritten] : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    Value operand = buffer;
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (succeeded(type.getStridesAndOffset(strides, offset)) &&
        ShapedType::isDynamic(offset)) {
      auto metadata =
          memref::ExtractStridedMetadataOp::create(host, loc, buffer);
      operand = metadata.getBaseBuffer();
      offsets[buffer] = metadata.getOffset();
    }
    launchOperands.push_back(operand);
    types.push_back(operand.getType());
  }
  for (Value scalar : scalars) {
    launchOperands.push_back(scalar);
    types.push_back(scalar.getType());
  }
  for (auto &[buffer, isWritten] : buffers)
    if (Value offset = offsets.lookup(buffer)) {
      launchOperands.push_back(offset);
      types.push_back(offset.getType());
    }

  kernel = kernels.create(loc, name, host.getFunctionType(types, {}),
                          workgroupMemory);
  kernel.setKnownBlockSizeAttr(
      host.getDenseI32ArrayAttr({static_cast<int32_t>(size), 1, 1}));
  b.setInsertionPointToStart(&kernel.getBody().front());

  unsigned index = 0, offsetIndex = buffers.size() + scalars.size();
  for (auto &[buffer, isWritten] : buffers) {
    bool written = isWritten;
    if (getBaseAlignment(buffer) >= kAccessBytes)
      kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        host.getI64IntegerAttr(kAccessBytes));
    Value self = buffer;
    // What is noalias does not change at a barrier.
    if (!(written && sharesWrittenBuffers) &&
        llvm::all_of(buffers, [&](const auto &other) {
          return other.first == self || !(written || other.second) ||
                 !mayOverlap(self, other.first);
        }))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        host.getUnitAttr());
    Value argument = kernel.getArgument(index++);
    if (Value offset = offsets.lookup(buffer))
      offsets[buffer] = kernel.getArgument(offsetIndex++);
    fromHost.map(buffer, argument);
  }
  for (Value scalar : scalars)
    fromHost.map(scalar, kernel.getArgument(index++));
  for (Value constant : constants)
    fromHost.map(constant,
                 b.clone(*constant.getDefiningOp())
                     ->getResult(cast<OpResult>(constant).getResultNumber()));
  flattenBuffers();
}

void KernelBuilder::flattenBuffers() {
  for (auto &[buffer, isWritten] : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(type.getStridesAndOffset(strides, offset)))
      continue;
    int64_t span = 1;
    for (auto [extent, stride] : llvm::zip(type.getShape(), strides))
      span += (extent - 1) * stride;
    auto flat =
        MemRefType::get({span}, type.getElementType(),
                        StridedLayoutAttr::get(b.getContext(), offset, {1}),
                        type.getMemorySpace());
    OpFoldResult start = b.getIndexAttr(offset);
    if (Value value = offsets.lookup(buffer))
      start = value;
    memory[buffer] = memref::ReinterpretCastOp::create(
        b, flat, fromHost.lookup(buffer), start, {b.getIndexAttr(span)},
        {b.getIndexAttr(1)});
  }
}

Value KernelBuilder::getWorkgroupMemory(unsigned index) {
  return kernel.getWorkgroupAttributions()[index];
}

Value KernelBuilder::getMemory(Value buffer) { return memory.lookup(buffer); }

void KernelBuilder::mapCaptured(const LoopNest &nest, IRMapping &mapping) {
  for (Value value : getCaptured(*nest.body)) {
    Value inKernel = fromHost.lookupOrNull(value);
    bool isView = !inKernel;
    if (isView)
      inKernel = fromHost.lookup(getRoot(value));
    if (isView || inKernel.getType() != value.getType()) {
      // A body that reads a buffer indexes it by the buffer's own type. The
      // kernel takes a dynamic offset as a separate argument.
      auto type = cast<MemRefType>(value.getType());
      auto [strides, offset] = type.getStridesAndOffset();
      OpFoldResult start = b.getIndexAttr(offset);
      if (Value dynamic = offsets.lookup(value))
        start = dynamic;
      inKernel = memref::ReinterpretCastOp::create(
          b, type, inKernel, start,
          getAsIndexOpFoldResult(b.getContext(), type.getShape()),
          getAsIndexOpFoldResult(b.getContext(), strides));
    }
    mapping.map(value, inKernel);
  }
  for (auto &[value, argument] : nest.scalars)
    if (argument)
      mapping.map(argument, fromHost.lookup(value));
  for (auto &[value, argument] : nest.constants)
    if (!argument.use_empty())
      mapping.map(argument, arith::ConstantOp::create(b, value));
}

void KernelBuilder::launch(int64_t numBlocks) {
  b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(b);
  kernel = kernels.share(kernel);
  ImplicitLocOpBuilder host(before->getLoc(), before);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, value);
  };
  Value one = constant(1);
  gpu::LaunchFuncOp::create(
      host, kernel, gpu::KernelDim3{constant(numBlocks), one, one},
      gpu::KernelDim3{constant(blockSize), one, one},
      /*dynamicSharedMemorySize=*/Value(), launchOperands);
}

//===----------------------------------------------------------------------===//
// KernelBuilder: indices
//===----------------------------------------------------------------------===//

void KernelBuilder::setIndexType(int64_t end) {
  // Idle threads have indices beyond the last iteration.
  bool fits = end < std::numeric_limits<int32_t>::max() / 2;
  indexType = fits ? b.getI32Type() : b.getI64Type();
}

void KernelBuilder::setIndexType(ArrayRef<const LoopNest *> nests) {
  int64_t end = 0;
  for (const LoopNest *nest : nests) {
    end = std::max(end, nest->getNumIterations());
    for (const Access *access : nest->getAccesses()) {
      int64_t farthest = std::abs(access->base);
      for (auto [size, stride] : llvm::zip(nest->sizes, access->strides))
        farthest += std::abs(stride) * (size - 1);
      end = std::max(end, farthest);
    }
  }
  setIndexType(end);
}

Value KernelBuilder::constantIndex(int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(indexType, value));
}

Value KernelBuilder::blockId() {
  return arith::IndexCastUIOp::create(
      b, indexType, gpu::BlockIdOp::create(b, gpu::Dimension::x));
}

Value KernelBuilder::threadId() {
  return arith::IndexCastUIOp::create(
      b, indexType, gpu::ThreadIdOp::create(b, gpu::Dimension::x));
}

Value KernelBuilder::toIndex(Value value) {
  // No linear index is negative.
  return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
}

Value KernelBuilder::add(Value a, Value other) {
  if (!a || !other)
    return a ? a : other;
  return arith::AddIOp::create(b, a, other);
}

Value KernelBuilder::addConstant(Value value, int64_t constant) {
  if (constant == 0)
    return value;
  return arith::AddIOp::create(b, value, constantIndex(constant));
}

Value KernelBuilder::multiply(Value value, int64_t factor) {
  if (factor == 1)
    return value;
  return arith::MulIOp::create(b, value, constantIndex(factor));
}

Value KernelBuilder::divide(Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  return arith::DivUIOp::create(b, value, constantIndex(divisor));
}

Value KernelBuilder::remainder(Value value, int64_t divisor) {
  return arith::RemUIOp::create(b, value, constantIndex(divisor));
}

Value KernelBuilder::isLess(Value value, int64_t bound) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                               constantIndex(bound));
}

SmallVector<Value> KernelBuilder::delinearize(Value linear,
                                              ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (unsigned loop = sizes.size(); loop-- > 1;) {
    indices[loop] = remainder(linear, sizes[loop]);
    linear = divide(linear, sizes[loop]);
  }
  if (!sizes.empty())
    indices[0] = linear;
  return indices;
}

Value KernelBuilder::getAddress(const Access &access, ArrayRef<Value> indices) {
  Value address;
  for (auto [index, stride] : llvm::zip(indices, access.strides))
    if (stride != 0 && index)
      address = add(address, multiply(index, stride));
  if (!address)
    return constantIndex(access.base);
  return addConstant(address, access.base);
}

SmallVector<Value> KernelBuilder::getAskedIndices(const LoopNest &nest,
                                                  ArrayRef<Value> indices,
                                                  int64_t lanes,
                                                  unsigned vectorLoop) {
  SmallVector<Value> asked;
  if (!nest.usesIndices)
    return asked;
  for (const DimensionIndex &dimension : nest.dimensions) {
    if (dimension.loop < 0) {
      asked.push_back(arith::ConstantIndexOp::create(b, 0));
      continue;
    }
    int64_t divisor = dimension.divisor, size = dimension.size;
    bool isWhole = divisor * size == nest.sizes[dimension.loop];
    Value index = indices[dimension.loop];
    if (dimension.loop != static_cast<int>(vectorLoop) ||
        divisor % lanes == 0) {
      index = divide(index, divisor);
      asked.push_back(toIndex(isWhole ? index : remainder(index, size)));
      continue;
    }
    auto type = VectorType::get({lanes}, b.getIndexType());
    auto spread = [&](Value value) -> Value {
      return vector::BroadcastOp::create(b, type, value);
    };
    auto constant = [&](int64_t value) {
      return spread(arith::ConstantIndexOp::create(b, value));
    };
    // All lanes have the same row.
    if (divisor == 1 && !isWhole && size % lanes == 0) {
      index = remainder(index, size);
      isWhole = true;
    }
    index = arith::AddIOp::create(b, spread(toIndex(index)),
                                  vector::StepOp::create(b, type));
    if (divisor != 1)
      index = arith::DivUIOp::create(b, index, constant(divisor));
    if (!isWhole)
      index = arith::RemUIOp::create(b, index, constant(size));
    asked.push_back(index);
  }
  return asked;
}

void KernelBuilder::emitIf(Value condition, llvm::function_ref<void()> emit) {
  if (!condition)
    return emit();
  auto branch = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
}

Value KernelBuilder::both(Value a, Value other) {
  if (!a || !other)
    return a ? a : other;
  return arith::AndIOp::create(b, a, other);
}

//===----------------------------------------------------------------------===//
// KernelBuilder: memory
//===----------------------------------------------------------------------===//

Type KernelBuilder::getWorkgroupType(int64_t size, Type element) {
  auto space = gpu::AddressSpaceAttr::get(
      b.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  return MemRefType::get({size}, element, MemRefLayoutAttrInterface(), space);
}

Value KernelBuilder::loadIf(Value condition, Value buffer, Value address,
                            int64_t lanes, bool isReadOnce, int64_t widest) {
  if (!condition)
    return load(buffer, address, lanes, isReadOnce, widest);
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  if (lanes > 1)
    type = VectorType::get({lanes}, type);
  auto branch = scf::IfOp::create(b, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, load(buffer, address, lanes, isReadOnce, widest));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      b, arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
  return branch.getResult(0);
}

/// The elements of `type` of one access to memory, at most `widest`.
static int64_t getElementsOfAccess(Type type, int64_t widest) {
  return std::min(kAccessBytes / getByteSize(type), widest);
}

/// What one access to `memory` loads or stores for a vector of `type`: a vector
/// of i1 is packed, but a buffer has one byte for each i1.
static std::pair<Value, VectorType> getStored(ImplicitLocOpBuilder &b,
                                              Value memory, VectorType type) {
  if (!type.getElementType().isInteger(1))
    return {memory, type};
  auto bits = cast<MemRefType>(memory.getType());
  auto bytes = MemRefType::get(bits.getShape(), b.getI8Type(), bits.getLayout(),
                               bits.getMemorySpace());
  return {UnrealizedConversionCastOp::create(b, bytes, memory).getResult(0),
          type.cloneWith({}, b.getI8Type())};
}

static llvm::MaybeAlign getAccessAlignment(VectorType type) {
  return llvm::MaybeAlign(type.getNumElements() *
                          getByteSize(type.getElementType()));
}

Value braid::kernels::loadVector(ImplicitLocOpBuilder &b, VectorType type,
                                 Value memory, ValueRange indices,
                                 bool isReadOnce) {
  auto [place, stored] = getStored(b, memory, type);
  Value loaded = vector::LoadOp::create(b, stored, place, indices, isReadOnce,
                                        getAccessAlignment(type));
  return stored == type ? loaded : arith::TruncIOp::create(b, type, loaded);
}

Value KernelBuilder::load(Value buffer, Value address, int64_t lanes,
                          bool isReadOnce, int64_t widest) {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  Value index = toIndex(address);
  if (lanes == 1)
    return memref::LoadOp::create(b, buffer, index);
  auto vectorType = VectorType::get({lanes}, type);
  int64_t loaded = getElementsOfAccess(type, widest);
  if (lanes <= loaded)
    return loadVector(b, vectorType, buffer, index, isReadOnce);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; lane += loaded) {
    Value part = load(buffer, addConstant(address, lane), loaded, isReadOnce);
    for (int64_t each = 0; each < loaded; ++each)
      elements.push_back(
          loaded == 1 ? part : Value(vector::ExtractOp::create(b, part, each)));
  }
  return vector::FromElementsOp::create(b, vectorType, elements);
}

void KernelBuilder::store(Value value, Value buffer, Value address,
                          int64_t widest) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    memref::StoreOp::create(b, value, buffer, toIndex(address));
    return;
  }
  Type element = type.getElementType();
  int64_t lanes = type.getNumElements();
  int64_t stored = getElementsOfAccess(element, widest);
  if (lanes <= stored) {
    auto [place, memoryType] = getStored(b, buffer, type);
    if (memoryType != type)
      value = arith::ExtUIOp::create(b, memoryType, value);
    vector::StoreOp::create(b, value, place, toIndex(address),
                            /*nontemporal=*/false, getAccessAlignment(type));
    return;
  }
  for (int64_t lane = 0; lane < lanes; lane += stored) {
    SmallVector<Value> elements;
    for (int64_t each = 0; each < stored; ++each)
      elements.push_back(vector::ExtractOp::create(b, value, lane + each));
    Value part = elements.front();
    if (stored > 1)
      part = vector::FromElementsOp::create(
          b, VectorType::get({stored}, element), elements);
    store(part, buffer, addConstant(address, lane), widest);
  }
}
