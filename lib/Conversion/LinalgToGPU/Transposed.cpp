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

#include <numeric>

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
/// Several loops are one loop of the tile if each of them is too short.
class TransposedKernel {
public:
  TransposedKernel(KernelModule &kernels, Operation *op, LoopNest &nest)
      : nest(nest), builder(kernels, op, "transposed"), b(builder.b),
        parts(nest) {}

  bool emit();

private:
  using AccessSet = llvm::SmallPtrSet<const Access *, 4>;

  bool orderLoops();
  std::optional<unsigned> findLoopAlongInputs();
  void mergeLoops(unsigned last, unsigned count, AccessSet &divided);
  void findTransposed();
  /// True if elements of `access` that are adjacent along the results are
  /// adjacent in memory.
  bool isAlongResults(const Access &access) const {
    return access.strides[inner] == 1 && !dividedResults.contains(&access);
  }
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
  Value getAddress(const Access &access, Value alongInputs, Value alongResults);
  /// A vector of `elements`, or the only one of them.
  Value combine(ArrayRef<Value> elements);
  /// Loads what the body reads of an input without a tile.
  Value loadInput(const Access &access, Value alongInputs, Value alongResults);
  void loadTiles();
  void emitResults();

  LoopNest &nest;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  SmallVector<Access *> transposed;
  /// The loop along the results, which is the last, and the loop along the
  /// inputs `transposed`, which is the one before it.
  unsigned inner = 0, other = 0;
  /// The nest with the loops that `inner` and `other` consist of.
  LoopNest parts;
  unsigned numResultParts = 1, numInputParts = 1;
  /// Accesses that are linear in the parts of `inner` or `other` alone.
  AccessSet dividedResults, dividedInputs;
  /// The sizes of the tile along the results and along the inputs.
  int64_t resultTile = 0, inputTile = 0;
  int64_t lanes = 1;
  SmallVector<int64_t> inputLanes;
  Value thread, innerStart, otherStart;
  SmallVector<Value> outerIndices;
};

/// The loop along which the body reads adjacent elements of `access`; none if
/// it reads none, or if this is the last loop or the elements are equal along
/// it.
static std::optional<unsigned> findOtherLoop(const Access &access) {
  int64_t stride = access.strides.back();
  const auto *loop = llvm::find(access.strides, 1);
  if (access.argument.use_empty() || stride == 0 || stride == 1 ||
      loop == access.strides.end())
    return std::nullopt;
  return loop - access.strides.begin();
}

/// The loop along which most bytes are adjacent of the inputs that are read
/// along other loops than the last one.
std::optional<unsigned> TransposedKernel::findLoopAlongInputs() {
  llvm::MapVector<unsigned, int64_t> bytes;
  for (const Access &access : nest.inputs) {
    std::optional<unsigned> loop = findOtherLoop(access);
    if (!loop)
      continue;
    int64_t size = getByteSize(access.elementType);
    for (auto [extent, stride] : llvm::zip_equal(nest.sizes, access.strides))
      size *= stride == 0 ? 1 : extent;
    bytes[*loop] += size;
  }
  if (bytes.empty())
    return std::nullopt;
  return llvm::max_element(bytes, llvm::less_second())->first;
}

/// `first` and loops around it, the innermost one last, until they have the
/// iterations of a tile: their elements in `accesses` are adjacent.
static SmallVector<unsigned> growLoop(const LoopNest &nest, unsigned first,
                                      ArrayRef<const Access *> accesses,
                                      ArrayRef<unsigned> taken) {
  SmallVector<unsigned> loops = {first};
  int64_t size = nest.sizes[first];
  while (size < kLargeTile) {
    auto all = llvm::seq<unsigned>(0, nest.getNumLoops());
    auto next = llvm::find_if(all, [&](unsigned loop) {
      return !llvm::is_contained(taken, loop) &&
             llvm::all_of(accesses, [&](const Access *access) {
               return access->strides[loop] == size;
             });
    });
    if (next == all.end())
      break;
    loops.insert(loops.begin(), *next);
    size *= nest.sizes[*next];
  }
  return loops;
}

/// Merges `count` loops, `last` the innermost one of them. The stride of a
/// `divided` access, which is not linear then, divides all its strides.
void TransposedKernel::mergeLoops(unsigned last, unsigned count,
                                  AccessSet &divided) {
  for (unsigned loop = last; loop > last + 1 - count; --loop) {
    SmallVector<int64_t> strides;
    for (Access *access : nest.getAccesses()) {
      int64_t stride = access->strides[loop], outer = access->strides[loop - 1];
      if (outer != stride * nest.sizes[loop]) {
        divided.insert(access);
        stride = std::gcd(stride, outer);
      }
      strides.push_back(stride);
    }
    nest.merge(loop);
    for (auto [access, stride] : llvm::zip_equal(nest.getAccesses(), strides))
      access->strides[loop - 1] = stride;
  }
}

bool TransposedKernel::orderLoops() {
  nest.orderByMemory();
  nest.collapse(/*mayDivide=*/true);
  if (nest.getNumLoops() < 2)
    return false;
  for (Access &access : nest.outputs)
    if (access.strides.back() != 1 || !access.argument.use_empty())
      return false;
  std::optional<unsigned> alongInputs = findLoopAlongInputs();
  if (!alongInputs)
    return false;
  SmallVector<const Access *> outputs, inputs;
  for (const Access &access : nest.outputs)
    outputs.push_back(&access);
  SmallVector<unsigned> results =
      growLoop(nest, nest.getNumLoops() - 1, outputs, *alongInputs);
  for (const Access &access : nest.inputs)
    if (findOtherLoop(access) == alongInputs)
      inputs.push_back(&access);
  SmallVector<unsigned> others = growLoop(nest, *alongInputs, inputs, results);

  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!llvm::is_contained(results, loop) && !llvm::is_contained(others, loop))
      order.push_back(loop);
  llvm::append_range(order, others);
  llvm::append_range(order, results);
  nest.permute(order);
  parts = nest;
  numResultParts = results.size();
  numInputParts = others.size();
  mergeLoops(nest.getNumLoops() - 1, numResultParts, dividedResults);
  mergeLoops(nest.getNumLoops() - 2, numInputParts, dividedInputs);
  inner = nest.getNumLoops() - 1;
  other = inner - 1;
  if (nest.sizes[inner] < kMinSize || nest.sizes[other] < kMinSize)
    return false;
  findTransposed();
  return true;
}

/// Finds the inputs that are adjacent along `other`. What does not fit into
/// shared memory has no tile.
void TransposedKernel::findTransposed() {
  int64_t bytes = 0;
  for (Access &access : nest.inputs) {
    if (access.argument.use_empty() || access.strides[other] != 1 ||
        dividedInputs.contains(&access) || access.strides[inner] == 0 ||
        isAlongResults(access))
      continue;
    bytes += getByteSize(access.elementType);
    if (kSmallTile * (kSmallTile + kBankBytes) * bytes > kMaxWorkgroupBytes)
      break;
    transposed.push_back(&access);
  }
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
    if (!isAlongResults(*access))
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
  SmallVector<int64_t> sizes(ArrayRef(nest.sizes).take_front(other));
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

Value TransposedKernel::getAddress(const Access &access, Value alongInputs,
                                   Value alongResults) {
  SmallVector<Value> indices = outerIndices;
  if (!dividedResults.contains(&access) && !dividedInputs.contains(&access)) {
    indices.append({alongInputs, alongResults});
    return builder.getAddress(access, indices);
  }
  ArrayRef<int64_t> sizes = ArrayRef(parts.sizes).drop_front(other);
  llvm::append_range(
      indices,
      builder.delinearize(alongInputs, sizes.take_front(numInputParts)));
  llvm::append_range(
      indices,
      builder.delinearize(alongResults, sizes.drop_front(numInputParts)));
  for (auto [merged, part] :
       llvm::zip_equal(nest.getAccesses(), parts.getAccesses()))
    if (merged == &access)
      return builder.getAddress(*part, indices);
  llvm_unreachable("expected an access of the nest");
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
      Value value = builder.loadIf(
          builder.both(isRow, isColumn), builder.getMemory(access->buffer),
          getAddress(*access, alongInputs, alongResults), wide);
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

Value TransposedKernel::combine(ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  auto type = VectorType::get({static_cast<int64_t>(elements.size())},
                              elements.front().getType());
  return vector::FromElementsOp::create(b, type, elements);
}

Value TransposedKernel::loadInput(const Access &access, Value alongInputs,
                                  Value alongResults) {
  Value memory = builder.getMemory(access.buffer);
  if (lanes == 1 || access.strides[inner] == 0 || isAlongResults(access))
    return builder.load(memory, getAddress(access, alongInputs, alongResults),
                        access.strides[inner] == 0 ? 1 : lanes,
                        /*isReadOnce=*/false,
                        getAlignedLanes(access, nest, inner, lanes));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(
        builder.load(memory,
                     getAddress(access, alongInputs,
                                builder.addConstant(alongResults, lane)),
                     1));
  return combine(elements);
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
    IRMapping mapping;
    builder.mapCaptured(nest, mapping);
    for (Access &access : nest.inputs) {
      if (access.argument.use_empty())
        continue;
      const auto *tiled = llvm::find(transposed, &access);
      if (tiled == transposed.end()) {
        mapping.map(access.argument,
                    loadInput(access, alongInputs, alongResults));
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
      mapping.map(access.argument, combine(elements));
    }
    SmallVector<Value> indices = outerIndices;
    indices.append({alongInputs, alongResults});
    for (auto [access, value] : llvm::zip(
             nest.outputs,
             emitBody(b, *nest.body, mapping, lanes,
                      builder.getAskedIndices(nest, indices, lanes, inner))))
      builder.store(value, builder.getMemory(access.buffer),
                    getAddress(access, alongInputs, alongResults),
                    getAlignedLanes(access, nest, inner, lanes));
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
  builder.setIndexType(parts);
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
  for (unsigned loop = 0; loop < other; ++loop)
    blocks *= nest.sizes[loop];
  builder.launch(blocks);
  return true;
}

} // namespace

bool braid::kernels::emitTransposed(KernelModule &kernels, Operation *op,
                                    LoopNest nest) {
  return TransposedKernel(kernels, op, nest).emit();
}
