//===- Machine.h - The state of all ranks --------------------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_INTERPRETER_MACHINE_H
#define BRAID_LIB_INTERPRETER_MACHINE_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Interpreter/Interpreter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <memory>
#include <random>
#include <unordered_map>

namespace braid::interpreter {

/// The most elements of an array.
constexpr int64_t mostElements = 1 << 20;
/// True if an array of `sizes` is one that the interpreter takes.
bool isSmall(llvm::ArrayRef<int64_t> sizes);

/// One allocation of one rank, or the elements of a tensor.
struct Memory {
  std::vector<mlir::Attribute> elements;
  /// The operations in flight that read and write each element.
  std::vector<unsigned> readers, writers;
  bool isFreed = false;
};

struct Launch;

/// A value of one rank: a scalar, a tensor or memref, or a token.
struct RuntimeValue {
  mlir::Attribute scalar;
  std::shared_ptr<Memory> memory;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 2> sizes, strides;
  std::shared_ptr<Launch> launch;
  unsigned token = 0;

  int64_t getNumElements() const;
  /// The position of element number `index`, row-major, in the memory.
  int64_t getPosition(int64_t index) const;
  int64_t getPosition(llvm::ArrayRef<int64_t> indices) const;
};

/// One operation that one rank has started.
struct Launch {
  mlir::Operation *op = nullptr;
  unsigned rank = 0;
  std::vector<RuntimeValue> sources, destinations;
  /// What the rank multiplies its sources by; null without a scale.
  mlir::Attribute scale;
  /// The address of its group in the program.
  const void *group = nullptr;
  /// The members of its communicator, and the place of the rank among them.
  llvm::SmallVector<int64_t> members;
  int64_t index = 0;
  /// The rank that a message comes from or goes to; -1 for other operations.
  int64_t peer = -1;
  /// The messages that a rank starts with no wait between them.
  unsigned batch = 0;
  std::vector<bool> isAwaited;
  bool hasEnded = false;
  /// The sizes of the parts that an exchange sends to and receives from each
  /// member; empty if the parts are equal.
  llvm::SmallVector<int64_t> sendSizes, receiveSizes;
  /// The sizes of each value that the launch gives as a tensor; the number of a
  /// dynamic dimension is -1 where the data tell it.
  std::vector<llvm::SmallVector<int64_t>> valueSizes;
};
using LaunchPtr = std::shared_ptr<Launch>;

/// By the address of the value in the program; references stay valid.
using Environment = std::unordered_map<const void *, RuntimeValue>;

/// A block that a rank is in.
struct Frame {
  mlir::Block *block;
  mlir::Block::iterator next;
  std::shared_ptr<Environment> values;
  /// The op whose region or callee this is; null for the entry.
  mlir::Operation *owner = nullptr;
  /// Of a loop with bounds: the first variable, the step and the number of
  /// iterations of each dimension, the number of the next iteration, and how
  /// many there are.
  struct Loop {
    llvm::SmallVector<llvm::APInt, 1> lower, step;
    llvm::SmallVector<uint64_t, 1> counts;
    uint64_t next = 0, total = 1;
  };
  std::optional<Loop> loop;
  /// Of a body that runs on its own: where its results go.
  llvm::SmallVectorImpl<RuntimeValue> *yielded = nullptr;
};

struct Rank {
  std::vector<Frame> frames;
  /// The operations that the rank has started and that have not ended, by lane
  /// and all together.
  std::map<std::tuple<const void *, int64_t, const void *, bool>,
           std::vector<LaunchPtr>>
      lanes;
  std::vector<LaunchPtr> open;
  /// All operations that the rank has started.
  std::vector<LaunchPtr> launches;
  std::vector<RuntimeValue> results;
  std::map<const void *, unsigned> batches;
  bool isFinished = false;
};

class Machine {
public:
  Machine(const InterpreterOptions &options)
      : options(options), random(options.seed), ranks(options.numRanks) {}

  InterpreterResult run(mlir::FunctionOpInterface entry);

private:
  using Values = llvm::SmallVector<RuntimeValue, 4>;

  bool fail(InterpreterFailure failure, mlir::Operation *op,
            const llvm::Twine &message);
  bool hasFailed() const { return result.failure != InterpreterFailure::None; }
  bool unsupported(mlir::Operation *op) {
    return fail(InterpreterFailure::Unsupported, op,
                "is not known to the interpreter");
  }

  /// `op` is on an array that `isSmall` does not take.
  bool tooLarge(mlir::Operation *op) {
    return fail(InterpreterFailure::Unsupported, op,
                "is on more than the " + llvm::Twine(mostElements) +
                    " elements that the interpreter takes");
  }

  // Control flow, in Machine.cpp.
  RuntimeValue makeArgument(mlir::Type type, unsigned rank, unsigned number);
  bool isBlocked(unsigned rank);
  void step(unsigned rank);
  bool enter(unsigned rank, mlir::Operation *owner, mlir::Region &region,
             const Values &arguments, bool isCall = false);
  void goTo(Frame &frame, mlir::Block *block, const Values &arguments);
  bool terminate(unsigned rank, mlir::Operation *terminator);
  bool leave(unsigned rank, const Values &results);
  bool execute(unsigned rank, mlir::Operation *op);
  RuntimeValue &get(unsigned rank, mlir::Value value);
  Values getAll(unsigned rank, mlir::ValueRange values);
  /// Null, or none, if `value` is no integer; a number has at most 64 bits.
  mlir::IntegerAttr getInteger(unsigned rank, mlir::OpFoldResult value);
  std::optional<int64_t> getNumber(unsigned rank, mlir::OpFoldResult value);
  /// The same; the run fails, and goes on with 0, if there is no number.
  int64_t getIndex(unsigned rank, mlir::OpFoldResult value);
  /// A new tensor or buffer without elements yet, bound to `value`.
  bool allocate(unsigned rank, mlir::Operation *op,
                llvm::ArrayRef<int64_t> sizes);
  bool isInBounds(const RuntimeValue &value);
  void bind(unsigned rank, mlir::ValueRange values, const Values &bound);
  void finish();

  // Regions, in Regions.cpp.
  /// The scalars of `values`; null for other values.
  llvm::SmallVector<mlir::Attribute> getScalars(unsigned rank,
                                                mlir::ValueRange values);
  /// Enters the region of `op` that its operands choose.
  bool enterBranch(unsigned rank, mlir::RegionBranchOpInterface op);
  /// Goes on where `terminator`, in a region of the innermost frame's owner,
  /// leads to.
  bool terminateBranch(unsigned rank,
                       mlir::RegionBranchTerminatorOpInterface terminator);
  bool enterLoop(unsigned rank, mlir::LoopLikeOpInterface loop);
  bool continueLoop(unsigned rank, const Values &carried);
  bool terminateLoop(unsigned rank, mlir::Operation *terminator);
  /// Runs the body of `owner` to its end, whatever other ranks do.
  bool runBody(unsigned rank, mlir::Operation *owner, mlir::Region &region,
               const Values &arguments, Values &yielded);

  // Scalars, in Compute.cpp.
  bool compute(unsigned rank, mlir::Operation *op);
  bool computeScalars(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> in,
                      llvm::SmallVectorImpl<mlir::Attribute> &out,
                      mlir::Operation *ofElement = nullptr);
  bool computeConstant(unsigned rank, mlir::Operation *op,
                       mlir::Attribute constant);
  bool computeElements(unsigned rank, mlir::Operation *op);

  // Tensors and buffers, in Arrays.cpp and Shapes.cpp.
  bool computeMemory(unsigned rank, mlir::Operation *op);
  bool computeTensor(unsigned rank, mlir::Operation *op);
  bool computeDim(unsigned rank, mlir::Operation *op);
  bool computeView(unsigned rank, mlir::Operation *op);
  bool computeSlice(unsigned rank, mlir::Operation *op);
  bool computeReshape(unsigned rank, mlir::Operation *op);
  bool computeGlobal(unsigned rank, mlir::Operation *op);
  /// The part of `source` that `slice` names, as a view.
  bool getSlice(unsigned rank, mlir::OffsetSizeAndStrideOpInterface slice,
                const RuntimeValue &source,
                const llvm::SmallBitVector &droppedDims, RuntimeValue &view);
  /// `into` with `part` where `slice` says, as a tensor of its own.
  bool insertSlice(unsigned rank, mlir::OffsetSizeAndStrideOpInterface slice,
                   const RuntimeValue &part, const RuntimeValue &into,
                   const llvm::SmallBitVector &droppedDims,
                   RuntimeValue &result);
  /// The sizes of `type`, those that it leaves open by `dynamic`.
  llvm::SmallVector<int64_t> getSizes(unsigned rank, mlir::ShapedType type,
                                      mlir::ValueRange dynamic);
  llvm::SmallVector<int64_t> getIndices(unsigned rank,
                                        mlir::ValueRange indices);

  // Bodies on elements, in Structured.cpp.
  bool computeLinalg(unsigned rank, mlir::linalg::LinalgOp op);
  bool computeGenerate(unsigned rank, mlir::Operation *op);
  bool computeBody(unsigned rank, mlir::Block &block,
                   llvm::DenseMap<mlir::Value, mlir::Attribute> &scalars,
                   llvm::ArrayRef<int64_t> indices,
                   llvm::SmallVectorImpl<mlir::Attribute> &yielded);
  bool copy(mlir::Operation *op, const RuntimeValue &from,
            const RuntimeValue &to);
  /// `value` as a tensor with elements of its own.
  RuntimeValue clone(const RuntimeValue &value);
  bool read(mlir::Operation *op, const RuntimeValue &value, int64_t position,
            mlir::Attribute &element);
  bool write(mlir::Operation *op, const RuntimeValue &value, int64_t position,
             mlir::Attribute element);

  // Communication, in Communicate.cpp.
  bool start(unsigned rank, comm::AsyncStartOpInterface op);
  /// Sets the group of `launch`, its members and the place of the rank.
  bool findMembers(Launch &launch);
  /// Sets the peer and the batch of `launch` if it is a message.
  bool findPeer(Launch &launch);
  /// Sets the sizes that the operands of `launch` give.
  bool findSizes(Launch &launch);
  /// Runs an asynchronous `comm.compute` on tensors, which ends as it starts.
  bool startCompute(unsigned rank, comm::AsyncStartOpInterface op);
  /// Accesses the buffers of `launch`: others may have them in flight.
  bool accessBuffers(const Launch &launch);
  /// Sets the tokens of `launch`, which puts its buffers in flight.
  void createTokens(const LaunchPtr &launch);
  std::vector<LaunchPtr> &getLane(const Launch &launch);
  /// Adds `launch` to its lane, and takes it from there when it ends.
  void open(const LaunchPtr &launch);
  void close(const LaunchPtr &launch);
  bool wait(unsigned rank, comm::WaitOp op);
  std::vector<std::vector<LaunchPtr>> findReady();
  bool match(llvm::ArrayRef<LaunchPtr> matched);
  bool matchSplits(llvm::ArrayRef<LaunchPtr> matched);
  bool end(llvm::ArrayRef<LaunchPtr> matched);
  bool isOldest(const LaunchPtr &launch);
  void setInFlight(const Launch &launch, unsigned token, int change);
  bool checkSequences();

  InterpreterOptions options;
  std::mt19937_64 random;
  std::vector<Rank> ranks;
  InterpreterResult result;
  mlir::SymbolTableCollection symbolTables;
  /// The ops that all ranks have run together.
  uint64_t numSteps = 0;
  /// The globals of each rank.
  std::map<std::pair<unsigned, const void *>, RuntimeValue> globals;
  /// The element that the innermost body computes.
  llvm::ArrayRef<int64_t> bodyIndices;
};

/// A tensor or buffer with `sizes` and `elements`, row-major.
RuntimeValue makeElements(llvm::ArrayRef<int64_t> sizes,
                          std::vector<mlir::Attribute> elements);

/// `number` in `type`, rounded to the nearest.
mlir::FloatAttr roundTo(mlir::FloatType type, mlir::FloatAttr number);

/// Elements, row-major.
using Elements = std::vector<mlir::Attribute>;

/// Moves the data of a match, whose launches are in the order of the members:
/// the elements of destination number `operand` of each of them; none for a
/// member that gets nothing. Fails for what the interpreter does not know.
bool moveData(llvm::ArrayRef<LaunchPtr> matched, unsigned operand,
              std::vector<std::optional<Elements>> &destinations);

/// `sources`, each multiplied by its element of `scales` unless there are none,
/// combined one by one; none if a result is not known.
std::optional<Elements> reduceElements(comm::ReductionKind kind,
                                       llvm::ArrayRef<Elements> sources,
                                       llvm::ArrayRef<mlir::Attribute> scales);

} // namespace braid::interpreter

#endif // BRAID_LIB_INTERPRETER_MACHINE_H
