//===- RoutineSignature.cpp - Operands of library routines ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/RoutineSignature.h"

#include "braid-rt/Routines.h"

#include <algorithm>

using namespace braid;

static constexpr RoutineTraits routines[BRAID_RT_ROUTINE_COUNT] = {
#define BRAID_RT_ROUTINE(NAME, name, inputs, outputs, flags, thirds, place)    \
  {#name, inputs, outputs, flags, thirds, RoutinePlace::place},
#include "braid-rt/Routines.def"
};

const RoutineTraits *braid::getRoutineTraits(int32_t routine) {
  return routine >= 0 && routine < BRAID_RT_ROUTINE_COUNT ? &routines[routine]
                                                          : nullptr;
}

std::optional<int32_t> braid::findRoutine(std::string_view name) {
  for (int32_t routine = 0; routine != BRAID_RT_ROUTINE_COUNT; ++routine)
    if (name == routines[routine].name)
      return routine;
  return std::nullopt;
}

bool braid::isTransform(int32_t routine) {
  return routines[routine].thirds == 0;
}

bool braid::givesRealNumbers(int32_t transform) {
  return transform == BRAID_RT_ROUTINE_IRFFT ||
         transform == BRAID_RT_ROUTINE_BRFFT;
}

/// The words of `text`.
static std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool braid::readsOutput(int32_t routine, size_t output) {
  std::vector<std::string_view> outputs = split(routines[routine].outputs);
  return output < outputs.size() && outputs[output].front() == '&';
}

namespace {
/// Matches the operands of one call.
class Matcher {
public:
  Matcher(const RoutineRequest &request, RoutineShape &shape)
      : request(request), shape(shape) {
    shape.sizes.fill(-1);
  }

  std::optional<RoutineFault> run(const std::vector<RoutineOperand> &inputs,
                                  const std::vector<RoutineOperand> &outputs);

private:
  using Fault = RoutineFault;

  std::string checkFlags() const;
  std::string matchElements(char element, int32_t dtype);
  std::string matchOperand(std::string_view signature,
                           const RoutineOperand &operand);
  std::string matchSize(char letter, int64_t size);
  /// Sizes that follow from flags and from other sizes.
  std::string checkSizes();

  const RoutineRequest &request;
  RoutineShape &shape;
  bool isFirst = true;
  bool isDouble = false, hasWidth = false;
};
} // namespace

std::string Matcher::checkFlags() const {
  std::vector<std::string_view> flags = split(routines[request.routine].flags);
  std::string expected;
  for (std::string_view choices : flags)
    expected += (expected.empty() ? "one of " : ", then one of ") +
                std::string(choices);
  bool isRight = request.flags.size() == flags.size();
  for (size_t i = 0; isRight && i != flags.size(); ++i)
    isRight = flags[i].find(request.flags[i]) != std::string_view::npos;
  return isRight ? "" : expected.empty() ? "none" : expected;
}

std::string Matcher::matchElements(char element, int32_t dtype) {
  if (element == 'i')
    return dtype == BRAID_RT_I32 ? "" : "elements of type i32";
  if (element == 'j')
    return dtype == BRAID_RT_I64 ? "" : "elements of type i64";
  bool isComplex =
      dtype == BRAID_RT_COMPLEX_F32 || dtype == BRAID_RT_COMPLEX_F64;
  bool isReal = dtype == BRAID_RT_F32 || dtype == BRAID_RT_F64;
  if (!isReal && !isComplex)
    return "elements of type f32, f64, complex<f32> or complex<f64>";
  bool isOfDoubles = dtype == BRAID_RT_F64 || dtype == BRAID_RT_COMPLEX_F64;
  if (hasWidth && isOfDoubles != isDouble)
    return isDouble ? "elements of 64 bits, as in other operands"
                    : "elements of 32 bits, as in other operands";
  isDouble = isOfDoubles;
  hasWidth = true;
  if (element == 'R' && !isReal)
    return "real numbers";
  if (element == 'C' && !isComplex)
    return "complex numbers";
  if (element == 'T' && shape.dtype >= 0 && shape.dtype != dtype)
    return "elements of the type of other operands";
  if (element == 'T')
    shape.dtype = dtype;
  return "";
}

std::string Matcher::matchSize(char letter, int64_t size) {
  int64_t &known = shape.sizes[static_cast<size_t>(letter - 'a')];
  if (known >= 0 && size >= 0 && known != size)
    return std::to_string(known) + " instead of " + std::to_string(size) +
           ", by the sizes of other operands";
  known = std::max(known, size);
  // The sizes that follow from others.
  int64_t m = shape['m'], n = shape['n'];
  if (n >= 0)
    shape.sizes['q' - 'a'] = std::max<int64_t>(n - 1, 0);
  if (m >= 0 && n >= 0)
    shape.sizes['p' - 'a'] = std::min(m, n);
  return "";
}

std::string Matcher::matchOperand(std::string_view signature,
                                  const RoutineOperand &operand) {
  if (signature.front() == '&')
    signature.remove_prefix(1);
  std::string fault = matchElements(signature.front(), operand.dtype);
  if (!fault.empty())
    return fault;
  std::string_view letters = signature.substr(1);
  bool isTransform = letters == "*";
  size_t count =
      isTransform ? static_cast<size_t>(request.dimensions) : letters.size();
  const std::vector<int64_t> &sizes = operand.sizes;
  if (sizes.size() < count)
    return std::to_string(count) + " dimensions at least";
  size_t batchRank = sizes.size() - count;
  if (isFirst)
    shape.batch.assign(sizes.begin(),
                       sizes.end() - static_cast<ptrdiff_t>(count));
  isFirst = false;
  if (batchRank != shape.batch.size())
    return std::to_string(shape.batch.size() + count) + " dimensions";
  for (size_t i = 0; i != batchRank; ++i) {
    int64_t &known = shape.batch[i];
    if (known >= 0 && sizes[i] >= 0 && known != sizes[i])
      return "a batch of size " + std::to_string(known) + " instead of " +
             std::to_string(sizes[i]) + " in dimension " + std::to_string(i);
    known = std::max(known, sizes[i]);
  }
  for (size_t i = 0; !isTransform && i != count; ++i)
    if (fault = matchSize(letters[i], sizes[batchRank + i]); !fault.empty())
      return "a size of " + fault;
  return "";
}

std::string Matcher::checkSizes() {
  int64_t m = shape['m'], n = shape['n'], k = shape['k'];
  auto flag = [&](size_t number) { return request.flags[number]; };
  auto isMore = [](int64_t size, int64_t limit) {
    return size >= 0 && limit >= 0 && size > limit;
  };
  switch (request.routine) {
  case BRAID_RT_ROUTINE_TRSM:
  case BRAID_RT_ROUTINE_ORMQR: {
    int64_t side = flag(0) == 'L' ? m : n;
    if (side >= 0 && shape['a'] >= 0 && side != shape['a'])
      return std::string(flag(0) == 'L' ? "rows" : "columns") + " of number " +
             std::to_string(shape['a']) + ", which the first input has";
    if (request.routine == BRAID_RT_ROUTINE_ORMQR && isMore(k, side))
      return "at least " + std::to_string(k) + " rows or columns";
    return "";
  }
  case BRAID_RT_ROUTINE_ORGQR:
    return isMore(n, m) || isMore(k, n)
               ? "as many rows as columns, and as many columns as reflectors, "
                 "at least"
               : "";
  case BRAID_RT_ROUTINE_GESDD:
  case BRAID_RT_ROUTINE_GESVD:
  case BRAID_RT_ROUTINE_GESVDJ: {
    int64_t rows = flag(0) == 'A' ? m : shape['p'];
    int64_t columns = flag(0) == 'A' ? n : shape['p'];
    auto differs = [](int64_t size, int64_t wanted) {
      return size >= 0 && wanted >= 0 && size != wanted;
    };
    return flag(0) != 'N' &&
                   (differs(shape['u'], rows) || differs(shape['v'], columns))
               ? "results of " + std::to_string(rows) + " columns and " +
                     std::to_string(columns) + " rows"
               : "";
  }
  default:
    return "";
  }
}

/// What is wrong with the sizes of a transform: the last one of the complex
/// numbers is half of the real ones'.
static std::string checkTransform(const RoutineRequest &request,
                                  const RoutineOperand &input,
                                  const RoutineOperand &output) {
  auto dimensions = static_cast<size_t>(request.dimensions);
  bool isReal = request.routine == BRAID_RT_ROUTINE_RFFT,
       isInverse = givesRealNumbers(request.routine);
  for (size_t i = 1; i <= dimensions; ++i) {
    int64_t in = input.sizes[input.sizes.size() - i];
    int64_t out = output.sizes[output.sizes.size() - i];
    if (in < 0 || out < 0)
      continue;
    bool isHalf = i == 1 && (isReal || isInverse);
    int64_t whole = isInverse ? out : in, part = isInverse ? in : out;
    if (part != (isHalf ? whole / 2 + 1 : whole))
      return isHalf ? "a last size that gives the other one, halved and 1 more"
                    : "the sizes of the input";
  }
  return "";
}

std::optional<RoutineFault>
Matcher::run(const std::vector<RoutineOperand> &inputs,
             const std::vector<RoutineOperand> &outputs) {
  const RoutineTraits &traits = routines[request.routine];
  if (std::string expected = checkFlags(); !expected.empty())
    return Fault{Fault::Kind::Flags, 0, expected};
  bool transforms = isTransform(request.routine);
  if (transforms && (request.dimensions < 1 || request.dimensions > 3))
    return Fault{Fault::Kind::Dimensions, 0, "1 to 3"};
  std::vector<std::string_view> signatures[] = {split(traits.inputs),
                                                split(traits.outputs)};
  if (inputs.size() != signatures[0].size() ||
      outputs.size() != signatures[1].size())
    return Fault{Fault::Kind::Count, 0,
                 std::to_string(signatures[0].size()) + " inputs and " +
                     std::to_string(signatures[1].size()) + " outputs"};
  for (size_t i = 0; i != inputs.size(); ++i)
    if (std::string expected = matchOperand(signatures[0][i], inputs[i]);
        !expected.empty())
      return Fault{Fault::Kind::Input, i, expected};
  for (size_t i = 0; i != outputs.size(); ++i)
    if (std::string expected = matchOperand(signatures[1][i], outputs[i]);
        !expected.empty())
      return Fault{Fault::Kind::Output, i, expected};
  std::string expected = transforms
                             ? checkTransform(request, inputs[0], outputs[0])
                             : checkSizes();
  if (!expected.empty())
    return Fault{Fault::Kind::Output, 0, expected};
  if (transforms)
    shape.dtype = isDouble ? BRAID_RT_COMPLEX_F64 : BRAID_RT_COMPLEX_F32;
  return std::nullopt;
}

std::optional<RoutineFault> braid::matchRoutine(
    const RoutineRequest &request, const std::vector<RoutineOperand> &inputs,
    const std::vector<RoutineOperand> &outputs, RoutineShape &shape) {
  if (!getRoutineTraits(request.routine))
    return RoutineFault{RoutineFault::Kind::Routine, 0,
                        "0 to " + std::to_string(BRAID_RT_ROUTINE_COUNT - 1)};
  return Matcher(request, shape).run(inputs, outputs);
}
