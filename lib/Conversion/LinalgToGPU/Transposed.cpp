//===- Transposed.cpp - Kernels that exchange dimensions ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace braid::kernels;

static constexpr int64_t kLargeTile = 64, kSmallTile = 32;
/// The bytes that a block reads of a row of an input. With 128 bytes transposes
/// of bf16 are 2 % slower (docs/performance/README.md).
static constexpr int64_t kRowBytes = 256;
/// The width of a bank of shared memory.
static constexpr int64_t kBankBytes = 4;
/// Loops with fewer iterations get no tile.
static constexpr int64_t kMinSize = 8;

namespace {

/// Emits the kernel of an op without reductions that writes along one loop and
/// reads some inputs along another loop. A block computes a tile of the two
/// loops. The block reads these inputs along their loop into shared memory
/// and then computes the results along the other loop. The rows in shared
/// memory are padded so that the elements of a column are in different banks.
class TransposedKernel {
public:
  TransposedKernel(KernelModule &kernels, Operation *op, LoopNest &nest)
      : nest(nest), builder(kernels, op, "transposed"), b(builder.b) {}

  bool emit();

private:
  bool orderLoops();
  void chooseShape();
  int64_t chooseInputTile(int64_t elementBytes) const;
  int64_t getPitch(const Access &access) const {
    return inputTile +
           std::max<int64_t>(1, kBankBytes / getByteSize(access.elementType));
  }
  void emitPlace();
  /// The index of `loop` at position `inTile` of the tile that starts at
  /// `start`, and the condition that it is in range, or null if it always is.
  std::pair<Value, Value> getIndex(Value start, Value inTile, unsigned loop);
  SmallVector<Value> getIndices(Value alongResults, Value alongInputs);
  void loadTiles();
  void emitResults();

  LoopNest &nest;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  SmallVector<Access *> transposed;
  /// The loop along the results, which is the last, and the loop along the
  /// inputs `transposed`.
  unsigned inner = 0, other = 0;
  /// The sizes of the tile along the results and along the inputs.
  int64_t resultTile = 0, inputTile = 0;
  int64_t lanes = 1;
  SmallVector<int64_t> inputLanes;
  Value thread, innerStart, otherStart;
  SmallVector<Value> outerIndices;
};

bool TransposedKernel::orderLoops() {
  nest.orderByMemory();
  nest.collapse(/*mayDivide=*/true);
  if (nest.getNumLoops() < 2)
    return false;
  inner = nest.getNumLoops() - 1;
  for (Access &access : nest.outputs)
    if (access.strides[inner] != 1 || !access.argument.use_empty())
      return false;
  std::optional<unsigned> found;
  for (Access &access : nest.inputs) {
    int64_t stride = access.strides[inner];
    if (access.argument.use_empty() || stride == 0 || stride == 1)
      continue;
    const auto *loop = llvm::find(access.strides, 1);
    if (loop == access.strides.end())
      return false;
    unsigned along = loop - access.strides.begin();
    if (found && *found != along)
      return false;
    found = along;
    transposed.push_back(&access);
  }
  if (!found)
    return false;
  other = *found;
  return nest.sizes[inner] >= kMinSize && nest.sizes[other] >= kMinSize;
}

/// The size of a large tile along the inputs. A wide tile leaves at most an
/// eighth of the positions idle. Wide tiles of bytes have not been measured.
int64_t TransposedKernel::chooseInputTile(int64_t elementBytes) const {
  int64_t wide = kRowBytes / elementBytes, size = nest.sizes[other];
  int64_t positions = llvm::divideCeil(size, wide) * wide;
  bool isWide =
      elementBytes > 1 && wide > kLargeTile && positions <= size + size / 8;
  return isWide ? wide : kLargeTile;
}

void TransposedKernel::chooseShape() {
  lanes = kAccessBytes;
  for (Access *access : nest.getAccesses()) {
    if (access->strides[inner] != 1)
      continue;
    lanes = std::min(lanes, kAccessBytes / getByteSize(access->elementType));
    if (!access->elementType.isInteger(1))
      lanes = getAlignedLanes(*access, nest, inner, lanes);
  }
  lanes = getVectorLanes(nest, inner, std::min<int64_t>(lanes, 8));
  while (nest.sizes[inner] % lanes != 0)
    lanes /= 2;
  int64_t bytes = 0, smallest = kAccessBytes;
  bool isNarrow = lanes == 1;
  for (Access *access : transposed) {
    int64_t size = getByteSize(access->elementType);
    int64_t wide = getAlignedLanes(*access, nest, other,
                                   std::min<int64_t>(kAccessBytes / size, 8));
    while (nest.sizes[other] % wide != 0)
      wide /= 2;
    inputLanes.push_back(wide);
    isNarrow |= wide == 1;
    bytes += size;
    smallest = std::min(smallest, size);
  }
  resultTile = kLargeTile;
  auto fits = [&] {
    return resultTile * (inputTile + kBankBytes) * bytes <= kMaxWorkgroupBytes;
  };
  inputTile = chooseInputTile(smallest);
  if (!fits())
    inputTile = kLargeTile;
  if (isNarrow || !fits())
    resultTile = inputTile = kSmallTile;
  // Every thread has a vector of the tile.
  int64_t widest = resultTile * inputTile / kBlockSize;
  lanes = std::min(lanes, widest);
  for (int64_t &wide : inputLanes)
    wide = std::min(wide, widest);
}

void TransposedKernel::emitPlace() {
  thread = builder.threadId();
  Value block = builder.blockId();
  int64_t tiles = llvm::divideCeil(nest.sizes[inner], resultTile);
  innerStart = builder.multiply(builder.remainder(block, tiles), resultTile);
  block = builder.divide(block, tiles);
  SmallVector<int64_t> sizes;
  for (unsigned loop = 0; loop < inner; ++loop)
    if (loop != other)
      sizes.push_back(nest.sizes[loop]);
  sizes.push_back(llvm::divideCeil(nest.sizes[other], inputTile));
  outerIndices = builder.delinearize(block, sizes);
  otherStart = builder.multiply(outerIndices.pop_back_val(), inputTile);
}

std::pair<Value, Value> TransposedKernel::getIndex(Value start, Value inTile,
                                                   unsigned loop) {
  Value index = builder.add(start, inTile);
  bool isCertain =
      nest.sizes[loop] % (loop == inner ? resultTile : inputTile) == 0;
  return {index, isCertain ? Value() : builder.isLess(index, nest.sizes[loop])};
}

SmallVector<Value> TransposedKernel::getIndices(Value alongResults,
                                                Value alongInputs) {
  SmallVector<Value> indices = outerIndices;
  indices.insert(indices.begin() + other, alongInputs);
  indices.push_back(alongResults);
  return indices;
}

/// Reads the tiles: first all loads of a thread, then all stores to shared
/// memory.
void TransposedKernel::loadTiles() {
  struct Part {
    Value value, address;
    int64_t lanes;
    unsigned input;
  };
  SmallVector<Part> parts;
  for (auto [input, access] : llvm::enumerate(transposed)) {
    int64_t wide = inputLanes[input], vectors = inputTile / wide;
    for (int64_t start = 0; start < resultTile * vectors; start += kBlockSize) {
      Value place = builder.addConstant(thread, start);
      Value row = builder.divide(place, vectors);
      Value column = builder.multiply(builder.remainder(place, vectors), wide);
      auto [alongResults, isRow] = getIndex(innerStart, row, inner);
      auto [alongInputs, isColumn] = getIndex(otherStart, column, other);
      SmallVector<Value> indices = getIndices(alongResults, alongInputs);
      Value value = builder.loadIf(builder.both(isRow, isColumn),
                                   builder.getMemory(access->buffer),
                                   builder.getAddress(*access, indices), wide);
      parts.push_back(
          {value, builder.add(builder.multiply(row, getPitch(*access)), column),
           wide, static_cast<unsigned>(input)});
    }
  }
  for (const Part &part : parts)
    for (int64_t lane = 0; lane < part.lanes; ++lane) {
      Value element =
          part.lanes == 1
              ? part.value
              : Value(vector::ExtractOp::create(b, part.value, lane));
      memref::StoreOp::create(
          b, element, builder.getWorkgroupMemory(part.input),
          builder.toIndex(builder.addConstant(part.address, lane)));
    }
}

void TransposedKernel::emitResults() {
  int64_t vectors = resultTile / lanes;
  for (int64_t start = 0; start < inputTile * vectors; start += kBlockSize) {
    Value place = builder.addConstant(thread, start);
    Value row = builder.divide(place, vectors);
    Value column = builder.multiply(builder.remainder(place, vectors), lanes);
    auto [alongResults, isColumn] = getIndex(innerStart, column, inner);
    auto [alongInputs, isRow] = getIndex(otherStart, row, other);
    OpBuilder::InsertionGuard guard(b);
    if (Value condition = builder.both(isRow, isColumn))
      b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
    SmallVector<Value> indices = getIndices(alongResults, alongInputs);
    IRMapping mapping;
    builder.mapCaptured(nest, mapping);
    for (Access &access : nest.inputs) {
      if (access.argument.use_empty())
        continue;
      const auto *tiled = llvm::find(transposed, &access);
      if (tiled == transposed.end()) {
        mapping.map(access.argument,
                    builder.load(builder.getMemory(access.buffer),
                                 builder.getAddress(access, indices),
                                 access.strides[inner] == 1 ? lanes : 1));
        continue;
      }
      SmallVector<Value> elements;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value address =
            builder.add(builder.multiply(builder.addConstant(column, lane),
                                         getPitch(access)),
                        row);
        elements.push_back(memref::LoadOp::create(
            b, builder.getWorkgroupMemory(tiled - transposed.begin()),
            builder.toIndex(address)));
      }
      mapping.map(access.argument,
                  lanes == 1
                      ? elements.front()
                      : Value(vector::FromElementsOp::create(
                            b, VectorType::get({lanes}, access.elementType),
                            elements)));
    }
    for (auto [access, value] : llvm::zip(
             nest.outputs,
             emitBody(b, *nest.body, mapping, lanes,
                      builder.getAskedIndices(nest, indices, lanes, inner))))
      builder.store(value, builder.getMemory(access.buffer),
                    builder.getAddress(access, indices));
  }
}

bool TransposedKernel::emit() {
  if (!isVectorizable(*nest.body) ||
      llvm::any_of(nest.getAccesses(),
                   [](Access *access) {
                     return isa<ComplexType>(access->elementType);
                   }) ||
      !orderLoops())
    return false;
  chooseShape();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  SmallVector<Type> types;
  for (Access *access : transposed)
    types.push_back(builder.getWorkgroupType(resultTile * getPitch(*access),
                                             access->elementType));
  builder.start(kBlockSize, types);
  emitPlace();
  loadTiles();
  gpu::BarrierOp::create(b);
  emitResults();
  int64_t blocks = llvm::divideCeil(nest.sizes[inner], resultTile) *
                   llvm::divideCeil(nest.sizes[other], inputTile);
  for (unsigned loop = 0; loop < inner; ++loop)
    if (loop != other)
      blocks *= nest.sizes[loop];
  builder.launch(blocks);
  return true;
}

} // namespace

bool braid::kernels::emitTransposed(KernelModule &kernels, Operation *op,
                                    LoopNest nest) {
  return TransposedKernel(kernels, op, nest).emit();
}
