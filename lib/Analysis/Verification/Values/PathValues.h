//===- PathValues.h - What values are on one path of one rank - -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHVALUES_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHVALUES_H

#include "PathBuffers.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace braid {

/// What a value is on one path of one rank. Equal ids are equal values: an op
/// without effects gives equal results for equal operands, on every rank.
struct PathValue {
  struct Scalar;
  uint64_t id = 0;
  /// A number, or the element of a tensor without dimensions; null for other
  /// values.
  std::shared_ptr<const Scalar> scalar;
  /// The memory of a memref; null for other values.
  std::shared_ptr<const PathBuffer> buffer;
  /// The number of a token; none for other values.
  std::optional<unsigned> token;
  /// The elements, row-major, of a tensor of numbers with dimensions; null
  /// where nothing is known of them, and for other values.
  std::shared_ptr<const std::vector<PathValue>> elements;
  /// What all elements of a larger tensor of numbers are; null where nothing is
  /// known of them, and for other values.
  std::shared_ptr<const PathValue> uniform;
  /// The sizes of a tensor with dynamic sizes; null where nothing is known.
  std::shared_ptr<const std::vector<PathValue>> sizes;
  /// The value of a collective, or computed from one, of which other ranks tell
  /// more.
  bool isOpen = false;
};

/// A number that is computed when something asks for it.
struct PathValue::Scalar {
  /// Known without looking further.
  mlir::Attribute constant;
  /// The op that computes it from `operands`; null if it comes from elsewhere.
  mlir::Operation *op = nullptr;
  unsigned resultNumber = 0;
  llvm::SmallVector<PathValue, 2> operands;
  /// How many ops compute it one after the other.
  unsigned depth = 0;
  /// The value in the program, or the tensor that has this element or size.
  mlir::Value value;
  /// The type of the scalar.
  mlir::Type type;
  /// Ranks have different values.
  bool dependsOnRank = false;
};

/// The values that one path gives to the scalars that the program does not
/// tell: arguments, contents of memory, comparisons of floats. The paths of a
/// program differ in these choices alone, and all ranks make the same.
class PathChoices {
public:
  struct Choice {
    /// Null for a choice between successors of `op`.
    mlir::Value value;
    /// The op that defines the value, or whose block does.
    mlir::Operation *op = nullptr;
    /// The values to choose from, and the one that is chosen.
    llvm::SmallVector<int64_t, 8> pool;
    unsigned chosen;
  };

  /// `constants`: what the program compares integers with.
  PathChoices(std::vector<unsigned> prefix, llvm::ArrayRef<int64_t> constants)
      : prefix(std::move(prefix)), constants(constants) {}

  /// The value of the scalar `id` of `type`, which the program knows as
  /// `value`; the first call for an id chooses.
  int64_t choose(uint64_t id, mlir::Value value, mlir::Type type);

  /// The number of the successor, out of `count`, to which control in `op`
  /// goes.
  unsigned chooseSuccessor(uint64_t id, mlir::Operation *op, unsigned count);

  llvm::ArrayRef<Choice> getChoices() const { return choices; }
  /// The value that was chosen.
  static int64_t getValue(const Choice &choice) {
    return choice.pool[choice.chosen];
  }

private:
  int64_t add(uint64_t id, Choice choice);

  std::vector<unsigned> prefix;
  llvm::ArrayRef<int64_t> constants;
  std::vector<Choice> choices;
  llvm::DenseMap<uint64_t, int64_t> chosen;
};

/// Computes scalars.
class ScalarEvaluator {
public:
  explicit ScalarEvaluator(PathChoices &choices) : choices(choices) {}

  /// The value of `value`, an integer or index; chooses what the program does
  /// not tell. None for other values, and for numbers of more than 64 bits.
  std::optional<int64_t> evaluate(const PathValue &value);
  /// The same without choosing; none if that takes a choice.
  std::optional<int64_t> evaluateKnown(const PathValue &value);
  /// The same for floats, too; null if that takes a choice. Does not count as
  /// asking for the value.
  mlir::TypedAttr evaluateNumber(const PathValue &value);

  /// The same, but chooses if `value` depends on the rank, and only what all
  /// ranks agree on.
  std::optional<int64_t> evaluateForAll(const PathValue &value);

  /// True for a float that is not known, and for values other than numbers.
  bool isUnknownFloat(const PathValue &value) const;

  /// True if a value that was asked for is open.
  bool hasUsedOpen() const { return usedOpen; }
  /// True if a value that was asked for depends on the rank.
  bool hasUsedRank() const { return usedRank; }

private:
  /// What may be chosen: nothing, everything, or what all ranks agree on.
  enum class Choosing { Nothing, All, Shared };
  mlir::Attribute compute(const PathValue &value, Choosing choosing);
  mlir::Attribute computeNew(const PathValue &value, Choosing choosing);

  PathChoices &choices;
  llvm::DenseMap<uint64_t, mlir::Attribute> known;
  bool usedRank = false;
  bool usedOpen = false;
};

/// `number` as a constant of `type`, an integer or index; bits that `type` does
/// not have are cut off.
mlir::IntegerAttr getNumberAttr(mlir::Type type, int64_t number);

/// A scalar with the value `number`.
PathValue getConstantScalar(mlir::Type type, int64_t number,
                            bool dependsOnRank);

/// The scalar `number`, an integer or a float.
PathValue getConstantScalar(mlir::TypedAttr number, bool dependsOnRank);

/// An unknown scalar of `type` with `id`: an element or a size of `value`.
PathValue getUnknownScalar(mlir::Value value, mlir::Type type, uint64_t id);

/// Element number `index` of `tensor`, which is the value of `value`: known, or
/// unknown and equal to the same element of an equal tensor.
PathValue getElement(const PathValue &tensor, mlir::Value value, int64_t index);

/// The elements of `value`, whose value is `tensor`, all of them.
std::vector<PathValue> getElements(const PathValue &tensor, mlir::Value value);

/// A tensor of `type` with `elements`: one scalar where there are no
/// dimensions.
PathValue makeTensor(mlir::Type type, std::vector<PathValue> elements);

/// True for the types of scalars, and of tensors and memrefs of them whose
/// elements are followed: those of static shape with few elements.
bool hasKnownElements(mlir::Type type);

/// True for the types of larger tensors of numbers, of which is followed what
/// all of their elements are.
bool mayBeUniform(mlir::Type type);

/// A tensor of `type` all of whose elements are `element`; one of which nothing
/// is known for types that are not followed.
PathValue makeUniform(mlir::Type type, const PathValue &element);

/// True for the types of scalars that decide where ranks go: integers.
bool isScalarType(mlir::Type type);

/// `type`, or the type of the element of a tensor without dimensions; null for
/// types of other values than one scalar.
mlir::Type getScalarType(mlir::Type type);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHVALUES_H
