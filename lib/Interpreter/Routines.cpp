//===- Routines.cpp - Calls of library routines ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "RoutineReference.h"

#include "braid-rt/Routines.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/TypeUtilities.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

/// The number that `element` is: a float, an integer, or a pair of floats.
static std::optional<std::complex<double>> toNumber(Attribute element) {
  if (auto integer = dyn_cast_if_present<IntegerAttr>(element))
    return static_cast<double>(integer.getInt());
  if (auto number = dyn_cast_if_present<FloatAttr>(element))
    return number.getValueAsDouble();
  auto pair = dyn_cast_if_present<ArrayAttr>(element);
  if (!pair || pair.size() != 2)
    return std::nullopt;
  std::optional<std::complex<double>> real = toNumber(pair[0]),
                                      imaginary = toNumber(pair[1]);
  if (!real || !imaginary)
    return std::nullopt;
  return std::complex<double>(real->real(), imaginary->real());
}

static Attribute toElement(Type type, std::complex<double> number) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return ArrayAttr::get(type.getContext(),
                          {toElement(complex.getElementType(), number.real()),
                           toElement(complex.getElementType(), number.imag())});
  if (isa<IntegerType>(type))
    return IntegerAttr::get(type, static_cast<int64_t>(number.real()));
  return roundTo(
      cast<FloatType>(type),
      FloatAttr::get(Float64Type::get(type.getContext()), number.real()));
}

bool Machine::sortArrays(Operation *op, const RuntimeValue &value) {
  int64_t size = value.sizes.back();
  SmallVector<Attribute> numbers;
  for (int64_t first = 0; first < value.getNumElements(); first += size) {
    numbers.resize(size);
    for (auto [i, number] : llvm::enumerate(numbers))
      if (!read(op, value, value.getPosition(first + i), number))
        return false;
    if (!llvm::all_of(numbers, llvm::IsaAndPresentPred<IntegerAttr>))
      return unsupported(op);
    llvm::sort(numbers, [](Attribute a, Attribute b) {
      return cast<IntegerAttr>(a).getInt() < cast<IntegerAttr>(b).getInt();
    });
    for (auto [i, number] : llvm::enumerate(numbers))
      if (!write(op, value, value.getPosition(first + i), number))
        return false;
  }
  return true;
}

bool Machine::callRoutine(unsigned rank, Operation *op) {
  auto call = cast<library::CallOp>(op);
  Values values = getAll(rank, op->getOperands());
  size_t numInputs = call.getInputs().size();
  std::vector<RoutineOperand> operands[2];
  RoutineOnce once;
  once.request = {call.getRoutineNumber(),
                  {call.getFlags().data(), call.getFlags().size()},
                  static_cast<int64_t>(call.getDimensions())};
  for (auto [number, value] : llvm::enumerate(values)) {
    bool isOutput = number >= numInputs;
    Type element = getElementTypeOrSelf(op->getOperand(number).getType());
    operands[isOutput].push_back(
        {library::getDtype(element), {value.sizes.begin(), value.sizes.end()}});
    // Outputs that are tensors are new values.
    if (isOutput && isa<TensorType>(op->getOperand(number).getType()))
      value = clone(value);
  }
  std::optional<RoutineFault> fault =
      matchRoutine(once.request, operands[0], operands[1], once.shape);
  if (fault)
    return fail(InterpreterFailure::Unsupported, op,
                "has operands that do not fit, expected " + fault->expected);
  if (once.request.routine == BRAID_RT_ROUTINE_SORT) {
    if (!sortArrays(op, values.front()))
      return false;
    if (op->getNumResults() != 0)
      get(rank, op->getResult(0)) = values.front();
    return true;
  }
  int64_t batch = ShapedType::getNumElements(once.shape.batch);
  // The sizes of a transform are those of its real side.
  bool isToReal = once.request.routine == BRAID_RT_ROUTINE_IRFFT;
  ArrayRef<int64_t> sizes = values[isToReal ? numInputs : 0].sizes;
  once.sizes.assign(sizes.end() -
                        std::min<size_t>(sizes.size(), once.request.dimensions),
                    sizes.end());
  for (int64_t matrix = 0; matrix != batch; ++matrix) {
    once.inputs.clear();
    once.outputs.clear();
    for (auto [number, value] : llvm::enumerate(values)) {
      bool isOutput = number >= numInputs;
      bool isRead =
          !isOutput || readsOutput(once.request.routine, number - numInputs);
      int64_t count = value.getNumElements() / batch;
      RoutineElements elements(static_cast<size_t>(count));
      for (int64_t i = 0; isRead && i != count; ++i) {
        Attribute element;
        if (!read(op, value, value.getPosition(matrix * count + i), element))
          return false;
        std::optional<std::complex<double>> read = toNumber(element);
        if (!read)
          return unsupported(op);
        elements[static_cast<size_t>(i)] = *read;
      }
      (isOutput ? once.outputs : once.inputs).push_back(std::move(elements));
    }
    if (!once.run())
      return unsupported(op);
    for (auto [number, elements] : llvm::enumerate(once.outputs)) {
      const RuntimeValue &value = values[numInputs + number];
      Type type = getElementTypeOrSelf(call.getOutputs()[number].getType());
      auto first = static_cast<int64_t>(matrix * elements.size());
      for (auto [i, element] : llvm::enumerate(elements))
        if (!write(op, value,
                   value.getPosition(first + static_cast<int64_t>(i)),
                   toElement(type, element)))
          return false;
    }
  }
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    get(rank, result) = values[numInputs + number];
  return true;
}
