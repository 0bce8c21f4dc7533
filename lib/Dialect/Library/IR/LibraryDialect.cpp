//===- LibraryDialect.cpp - Calls of library routines ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "braid-rt/Routines.h"
#include "braid/Support/RoutineSignature.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

#include "braid/Dialect/Library/IR/LibraryDialect.cpp.inc"

#define GET_OP_CLASSES
#include "braid/Dialect/Library/IR/LibraryOps.cpp.inc"

namespace {
/// A call may be inlined anywhere.
struct LibraryInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void LibraryDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "braid/Dialect/Library/IR/LibraryOps.cpp.inc"
      >();
  addInterfaces<LibraryInlinerInterface>();
  attachBufferization(*getContext());
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

int32_t CallOp::getRoutineNumber() { return *findRoutine(getRoutine()); }

int32_t braid::library::getDtype(Type type) {
  if (type.isInteger(32))
    return BRAID_RT_I32;
  if (type.isInteger(64))
    return BRAID_RT_I64;
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32()   ? BRAID_RT_COMPLEX_F32
           : complex.getElementType().isF64() ? BRAID_RT_COMPLEX_F64
                                              : -1;
  return type.isF32() ? BRAID_RT_F32 : type.isF64() ? BRAID_RT_F64 : -1;
}

static std::vector<RoutineOperand> describeOperands(ValueRange values) {
  std::vector<RoutineOperand> operands;
  for (Value value : values) {
    auto type = cast<ShapedType>(value.getType());
    RoutineOperand &operand = operands.emplace_back();
    operand.dtype = getDtype(type.getElementType());
    for (int64_t size : type.getShape())
      operand.sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  return operands;
}

LogicalResult CallOp::verify() {
  std::optional<int32_t> routine = findRoutine(getRoutine());
  if (!routine) {
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "has routine '" << getRoutine()
                                    << "', expected one of ";
    for (int32_t number = 0; number != BRAID_RT_ROUTINE_COUNT; ++number)
      diagnostic << (number ? ", " : "") << getRoutineTraits(number)->name;
    return diagnostic;
  }
  auto isBuffer = llvm::IsaPred<MemRefType>;
  bool isOnBuffers = llvm::all_of(getOperandTypes(), isBuffer);
  if (!isOnBuffers && llvm::any_of(getOperandTypes(), isBuffer))
    return emitOpError() << "has tensors and memrefs, expected either";
  RoutineShape shape;
  std::optional<RoutineFault> fault = matchRoutine(
      {*routine,
       {getFlags().data(), getFlags().size()},
       static_cast<int64_t>(getDimensions())},
      describeOperands(getInputs()), describeOperands(getOutputs()), shape);
  if (!fault)
    return success();
  InFlightDiagnostic diagnostic = emitOpError();
  diagnostic << "of \"" << getRoutine() << "\" has ";
  switch (fault->kind) {
  case RoutineFault::Kind::Routine:
    break;
  case RoutineFault::Kind::Flags:
    diagnostic << "flags \"" << getFlags() << "\"";
    break;
  case RoutineFault::Kind::Dimensions:
    diagnostic << "dimensions = " << getDimensions();
    break;
  case RoutineFault::Kind::Count:
    diagnostic << getInputs().size() << " inputs and " << getOutputs().size()
               << " outputs";
    break;
  case RoutineFault::Kind::Input:
    diagnostic << "input #" << fault->number << " of type "
               << getInputs()[fault->number].getType();
    break;
  case RoutineFault::Kind::Output:
    diagnostic << "output #" << fault->number << " of type "
               << getOutputs()[fault->number].getType();
    break;
  }
  return diagnostic << ", expected " << fault->expected;
}

void CallOp::getEffects(Effects &effects) {
  addEffects(*this, effects, [&](OpOperand &output) {
    return readsOutput(getRoutineNumber(),
                       output.getOperandNumber() - getInputs().size());
  });
}

/// The bytes of a value; `defaults` gives its dynamic sizes.
static uint64_t getBytes(Value value, const comm::SizeDefaults &defaults) {
  auto type = cast<ShapedType>(value.getType());
  Type element = type.getElementType();
  uint64_t bytes = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    bytes = 2;
  }
  bytes *= element.getIntOrFloatBitWidth() / 8;
  for (int64_t size : type.getShape())
    bytes = llvm::SaturatingMultiply(
        bytes, static_cast<uint64_t>(
                   ShapedType::isDynamic(size) ? defaults.dynamicSize : size));
  return bytes;
}

/// The short kernels, of 3 us on an H200, that take as long there as the steps
/// of a routine of LAPACK, which follow one another: columns of factors, rows
/// of solutions. 512 columns of Cholesky's factor take 172 us in XLA, 512 rows
/// of 512 solutions 108 us, and of one solution 32 us
/// (docs/performance/results/library-calls.json).
static uint64_t countStepKernels(CallOp op, uint64_t side,
                                 const comm::SizeDefaults &defaults) {
  constexpr uint64_t columns = 9, rows = 14, rowsOfOne = 48;
  if (op.getRoutineNumber() != BRAID_RT_ROUTINE_TRSM)
    return llvm::divideCeil(side, columns);
  auto getSize = [&](Value value, int64_t fromEnd) {
    int64_t size =
        *(cast<ShapedType>(value.getType()).getShape().end() - fromEnd);
    return static_cast<uint64_t>(
        ShapedType::isDynamic(size) ? defaults.dynamicSize : size);
  };
  uint64_t steps = getSize(op.getInputs().front(), 1);
  bool isOne = getSize(op.getOutputs().front(), 1) == 1 ||
               getSize(op.getOutputs().front(), 2) == 1;
  return llvm::divideCeil(steps, isOne ? rowsOfOne : rows);
}

comm::Work CallOp::getWork(const comm::SizeDefaults &defaults) {
  comm::Work work;
  for (Value input : getInputs())
    work.addBytes(getBytes(input, defaults), 0);
  for (auto [number, output] : llvm::enumerate(getOutputs())) {
    uint64_t bytes = getBytes(output, defaults);
    work.addBytes(readsOutput(getRoutineNumber(), number) ? bytes : 0, bytes);
  }
  // What the routine computes, by the array that it transforms, or by its first
  // matrix.
  int64_t thirds = getRoutineTraits(getRoutineNumber())->thirds;
  Value array = thirds ? getOutputs().front() : getInputs().front();
  auto type = cast<ShapedType>(array.getType());
  Type element = type.getElementType();
  bool isComplex = isa<ComplexType>(element);
  if (isComplex)
    element = cast<ComplexType>(element).getElementType();
  SmallVector<uint64_t> sizes;
  uint64_t count = 1;
  for (int64_t size : type.getShape()) {
    sizes.push_back(static_cast<uint64_t>(
        ShapedType::isDynamic(size) ? defaults.dynamicSize : size));
    count = llvm::SaturatingMultiply(count, sizes.back());
  }
  uint64_t operations;
  auto getLevels = [](uint64_t points) -> uint64_t {
    return points ? llvm::Log2_64_Ceil(points) : 0;
  };
  if (thirds < 0) {
    operations = llvm::SaturatingMultiply(
        count, getLevels(sizes.empty() ? 1 : sizes.back()));
  } else if (thirds) {
    uint64_t side = sizes.empty() ? 1 : sizes.back();
    if (sizes.size() > 1)
      side = std::min(side, sizes[sizes.size() - 2]);
    operations = llvm::SaturatingMultiply(llvm::SaturatingMultiply(count, side),
                                          static_cast<uint64_t>(thirds) *
                                              (isComplex ? 4 : 1)) /
                 3;
    work.extraKernels = countStepKernels(*this, side, defaults);
  } else {
    uint64_t points = 1;
    for (uint64_t size : ArrayRef<uint64_t>(sizes).take_back(getDimensions()))
      points = llvm::SaturatingMultiply(points, size);
    operations =
        llvm::SaturatingMultiply(count, uint64_t(5) * getLevels(points));
  }
  work.addOperations(element, operations);
  return work;
}

void library::addEffects(DestinationStyleOpInterface op, Effects &effects,
                         function_ref<bool(OpOperand &)> readsOutput) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isOutput = op.isDpsInit(&operand);
    if (!isOutput || readsOutput(operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isOutput)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

uint64_t library::getByteSize(Value value) {
  auto type = cast<ShapedType>(value.getType());
  uint64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape())
    bytes = llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(size));
  return bytes;
}
