//===- RankExecution.h - One rank on one path ----------------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_RANKEXECUTION_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_RANKEXECUTION_H

#include "Analysis/Memory/BufferAccesses.h"
#include "Analysis/Verification/Values/CollectiveValues.h"
#include "Analysis/Verification/Values/PathValues.h"
#include "Analysis/Verification/Values/RankTrace.h"
#include "BuffersInFlight.h"
#include "TokenUse.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

namespace braid {

/// Tells which ops communicate, themselves or in their regions and callees, and
/// what kernels do.
class CommunicationQuery {
public:
  explicit CommunicationQuery(mlir::SymbolTableCollection &symbolTables)
      : symbolTables(symbolTables) {}

  bool communicates(mlir::Operation *op);
  mlir::FunctionOpInterface getCallee(mlir::CallOpInterface call);
  /// True if `function` has one block, and calls nothing.
  bool isSimple(mlir::FunctionOpInterface function);
  comm::GroupOp getGroup(mlir::Operation *op, mlir::FlatSymbolRefAttr group) {
    return comm::lookupGroup(op, group, symbolTables);
  }
  /// How a kernel accesses operand number `index` of its operands. A kernel
  /// without a body counts as a reader: a finding must be certain.
  KernelAccesses::Access getKernelAccess(mlir::gpu::LaunchFuncOp launch,
                                         unsigned index) {
    return kernels.get(launch, index, symbolTables)
        .value_or(KernelAccesses::Access{/*isRead=*/true, /*isWritten=*/false});
  }

  /// The sizes of the results of an op, and the ops that compute them: copies
  /// apart from the program, in their order.
  struct Shapes {
    llvm::SmallVector<mlir::Operation *> ops;
    mlir::ReifiedRankedShapedTypeDims sizes;
  };
  /// Empty if `op` does not tell the sizes of its results.
  const Shapes &getShapes(mlir::Operation *op);

  /// The body of a linalg op, whose values have slots: its arguments, the
  /// results of its ops, and what it captures.
  struct Body {
    struct Step {
      mlir::Operation *op = nullptr;
      /// The dimension whose index it gives.
      std::optional<unsigned> dim;
      /// An op on scalars alone.
      bool isScalar = false;
      /// The hash of the name and the attributes.
      uint64_t id = 0;
      llvm::SmallVector<unsigned, 3> operands;
      llvm::SmallVector<unsigned, 1> results;
      /// Results of which nothing is known, on which ranks agree and on which
      /// they do not, of an op that computes floats.
      llvm::SmallVector<std::shared_ptr<const PathValue::Scalar>, 1> unknown[2];
    };
    /// False if the elements of an operand are not followed.
    bool isFollowed = false;
    bool hasDims = false;
    unsigned numInputs = 0, numOwnSlots = 0, numPoints = 0;
    std::vector<Step> steps;
    llvm::SmallVector<unsigned> yielded;
    llvm::SmallVector<mlir::Value> captured;
    /// For each point its indices, and the element of each operand.
    std::vector<int64_t> indices, places;
  };
  const Body &getBody(mlir::Operation *op);

private:
  mlir::SymbolTableCollection &symbolTables;
  /// The ops that compute sizes.
  mlir::Block sizeOps;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Shapes>> shapes;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Body>> bodies;
  KernelAccesses kernels;
  llvm::DenseMap<mlir::Operation *, bool> known;
  llvm::DenseMap<mlir::Operation *, bool> simple;
};

/// Follows one rank along one path through an entry function: what it starts
/// and awaits, and which buffers it touches meanwhile. Nothing else is
/// computed.
class RankExecution {
public:
  RankExecution(CommunicationQuery &query, PathChoices &choices,
                Findings &findings, const CollectiveValues &values,
                int64_t rank, int64_t numRanks)
      : query(query), choices(choices), values(values), scalars(choices),
        tokens(findings), buffers(findings), rank(rank), numRanks(numRanks) {}

  RankTrace run(mlir::FunctionOpInterface entry);
  /// The number of ops that were followed.
  uint64_t getNumSteps() const { return numSteps; }

private:
  using Values = llvm::SmallVector<PathValue, 4>;
  using Frame = llvm::DenseMap<mlir::Value, PathValue>;

  // Control flow. Each returns false if the path is not followed any further.
  bool executeRegion(mlir::Region &region, const Values &arguments,
                     Values &results, Frame &frame,
                     mlir::Operation **last = nullptr);
  bool executeOp(mlir::Operation *op, Frame &frame);
  bool executeRegions(mlir::Operation *op, Frame &frame);
  bool executeLoop(mlir::LoopLikeOpInterface loop, Frame &frame);
  bool executeBranch(mlir::RegionBranchOpInterface op, Frame &frame);
  bool executeOnce(mlir::Operation *op, Frame &frame);
  unsigned chooseSuccessor(mlir::Operation *op, mlir::Operation *point,
                           llvm::ArrayRef<mlir::RegionSuccessor> successors);
  llvm::SmallVector<mlir::Attribute> getScalars(mlir::ValueRange values,
                                                bool mayChoose, Frame &frame);
  /// The lower bound, upper bound and step of each dimension of a loop.
  struct LoopDim {
    std::optional<int64_t> lower, upper, step;
  };
  std::optional<llvm::SmallVector<LoopDim, 1>>
  getLoopDims(mlir::LoopLikeOpInterface loop, bool mayChoose, Frame &frame);
  bool executeCall(mlir::CallOpInterface call, Frame &frame);
  bool mayBeSkipped(mlir::Operation *op, Frame &frame);

  // Communication.
  void executeStart(comm::AsyncStartOpInterface start, Frame &frame);
  void startCollective(comm::CollectiveOpInterface collective, Values inputs,
                       Frame &frame);
  void executeWait(comm::WaitOp wait, Frame &frame);
  void bindCollectiveValue(comm::WaitOp wait, unsigned operation,
                           unsigned index, Frame &frame);

  // Everything else.
  bool bindGroupQuery(mlir::Operation *op, Frame &frame);
  bool bindSize(mlir::Operation *op, Frame &frame);
  bool bindElements(mlir::Operation *op, Frame &frame);
  bool bindUniform(mlir::Operation *op, Frame &frame);
  void runStep(const CommunicationQuery::Body::Step &step,
               llvm::ArrayRef<int64_t> indices,
               llvm::MutableArrayRef<PathValue> slots, Frame &frame);
  bool bindBody(mlir::Operation *op, Frame &frame);
  void bindResults(mlir::Operation *op, Frame &frame);
  void bindScalars(mlir::Operation *op, Frame &frame);
  void setSizes(mlir::Operation *op, Frame &frame);
  PathValue getSize(mlir::Value value, int64_t dim, Frame &frame);
  PathValue computeScalar(mlir::OpResult result, uint64_t id,
                          llvm::ArrayRef<PathValue> operands);
  PathValue makeScalar(mlir::Operation *op, unsigned resultNumber,
                       llvm::ArrayRef<PathValue> operands);
  void settle(PathValue::Scalar &scalar, const PathValue &value);
  llvm::SmallVector<std::optional<int64_t>> getSizes(mlir::Value value,
                                                     Frame &frame);
  void bindUnknown(mlir::Operation *op, Frame &frame);
  PathValue makeUnknown(mlir::Value value, uint64_t id);
  bool bindBuffer(mlir::Operation *op, Frame &frame);
  std::shared_ptr<PathBuffer> makeView(mlir::Operation *op,
                                       const PathBuffer &source, Frame &frame);
  std::shared_ptr<PathBuffer>
  makeRoot(mlir::Value value, uint64_t id,
           llvm::ArrayRef<std::optional<int64_t>> sizes);
  void accessMemory(mlir::Operation *op, Frame &frame);
  void access(mlir::Operation *op, mlir::Value buffer, BufferAccessKind kind,
              Frame &frame);

  // Contents of buffers.
  /// `alloc` has made the whole `buffer`.
  void trackContents(mlir::Operation *alloc, const PathBuffer &buffer);
  /// Something else may have been written to `buffer`.
  void forgetContents(const PathBuffer &buffer);
  void setContents(const PathBuffer &buffer,
                   llvm::ArrayRef<PathValue> elements);
  /// The value of a memref, with its elements if one of them is known.
  PathValue getContents(mlir::Value value, Frame &frame);
  bool bindLoad(mlir::Operation *op, Frame &frame);
  /// Keeps what `op` writes, if it says so.
  void writeContents(mlir::Operation *op, Frame &frame);
  /// Forgets buffers that `op` may hand to others unseen.
  void releaseContents(mlir::Operation *op, Frame &frame);
  /// True if `op` may read or write numbers in buffers that are followed.
  bool usesNumbers(mlir::Operation *op, Frame &frame);
  /// Forgets what `op`, which is not followed or not in full, may have written.
  void forgetNested(mlir::Operation *op, Frame &frame);

  const PathValue &get(mlir::Value value, Frame &frame);
  void bind(mlir::ValueRange values, const Values &bound, Frame &frame);
  Values getAll(mlir::ValueRange values, Frame &frame);
  std::optional<int64_t> getKnown(mlir::OpFoldResult value, Frame &frame);
  llvm::SmallVector<Finding::Note> describePath();
  /// The number of runs of `op` so far.
  uint64_t countRun(mlir::Operation *op) { return runs[op]++; }

  CommunicationQuery &query;
  PathChoices &choices;
  const CollectiveValues &values;
  ScalarEvaluator scalars;
  TokenUse tokens;
  BuffersInFlight buffers;
  int64_t rank;
  int64_t numRanks;
  RankTrace trace;
  mlir::Operation *entryOp = nullptr;
  llvm::DenseMap<mlir::Operation *, uint64_t> runs;
  llvm::DenseMap<mlir::Attribute, unsigned> globals;
  /// The number of writes to each buffer.
  std::vector<uint64_t> versions;
  /// Elements of this many bytes at most are followed.
  static constexpr int64_t mostElementBytes = 8;
  /// What is known of elements, by the root of the buffer and the first byte.
  llvm::DenseMap<unsigned, std::map<int64_t, PathValue>> contents;
  unsigned numLaunches = 0;
  /// The launch of each token that a start gave.
  std::vector<unsigned> launchOf;
  unsigned callDepth = 0;
  uint64_t numSteps = 0;
};

/// True for the types of values from which conditions and sizes may come.
bool mayDecide(mlir::Type type);

/// Calls `visit` with the indices of all elements of an array of `sizes`.
void visitIndices(llvm::ArrayRef<int64_t> sizes,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// The element of `buffer` that a load or store names; an unknown part of the
/// buffer if an index is not known.
std::shared_ptr<const PathBuffer>
getAccessedElement(const PathBuffer &buffer,
                   llvm::ArrayRef<std::optional<int64_t>> indices);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_RANKEXECUTION_H
