//===- CommToLLVM.cpp - The comm dialect as runtime calls -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/CommToLLVM/CommToLLVM.h"

#include "braid-rt/Types.h"
#include "braid/Conversion/RuntimeCalls.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// The number of a reduction in the runtime's ABI.
int32_t getRuntimeReduction(ReductionKind reduction) {
  switch (reduction) {
  case ReductionKind::sum:
    return BRAID_RT_SUM;
  case ReductionKind::product:
    return BRAID_RT_PRODUCT;
  case ReductionKind::min:
    return BRAID_RT_MIN;
  case ReductionKind::max:
    return BRAID_RT_MAX;
  case ReductionKind::avg:
    return BRAID_RT_AVG;
  case ReductionKind::band:
    return BRAID_RT_BAND;
  case ReductionKind::bor:
    return BRAID_RT_BOR;
  case ReductionKind::bxor:
    return BRAID_RT_BXOR;
  case ReductionKind::premul_sum:
    return BRAID_RT_PREMUL_SUM;
  }
  llvm_unreachable("unknown reduction");
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

/// A start becomes a call of the function named after its kind, with the group,
/// the operands as views, what only its kind has, and its site.
class ConvertStart
    : public OpInterfaceConversionPattern<CollectiveOpInterface> {
public:
  ConvertStart(const LLVMTypeConverter &converter)
      : OpInterfaceConversionPattern(converter, &converter.getContext()) {}

  LogicalResult
  matchAndRewrite(CollectiveOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override;

private:
  const LLVMTypeConverter &getConverter() const {
    return *static_cast<const LLVMTypeConverter *>(getTypeConverter());
  }
  FailureOr<Value> createViews(MutableArrayRef<OpOperand> buffers,
                               ArrayRef<Value> operands, Location loc,
                               RuntimeCallBuilder &calls,
                               OpBuilder &builder) const;
  void addSplits(AllToAllOp op, ArrayRef<Value> operands,
                 RuntimeCallBuilder &calls, std::string &function,
                 SmallVectorImpl<Value> &arguments) const;
};

/// Stores the converted `buffers` as an array of views (braid_rt_view) on the
/// stack.
FailureOr<Value> ConvertStart::createViews(MutableArrayRef<OpOperand> buffers,
                                           ArrayRef<Value> operands,
                                           Location loc,
                                           RuntimeCallBuilder &calls,
                                           OpBuilder &builder) const {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto viewType = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {calls.getPointer(), calls.getPointer(), i32, i32});
  Value views = calls.allocate(viewType, buffers.size());
  for (auto [index, operand] : llvm::enumerate(buffers)) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    std::optional<int32_t> dtype =
        type ? getRuntimeDtype(type.getElementType()) : std::nullopt;
    if (!dtype)
      return failure();
    MemRefDescriptor descriptor(operands[operand.getOperandNumber()]);
    Value data = descriptor.bufferPtr(builder, loc, getConverter(), type);
    Value sizes;
    if (type.hasStaticShape() && type.getRank() > 0) {
      sizes = calls.getConstantArray(type.getShape());
    } else if (type.getRank() > 0) {
      sizes = calls.allocate(i64, type.getRank());
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        calls.storeElement(descriptor.size(builder, loc, dim), sizes, dim);
    }
    Value view = createStruct(
        builder, loc, viewType,
        {data, sizes, calls.getI32(*dtype), calls.getI32(type.getRank())});
    calls.storeElement(view, views, index);
  }
  return views;
}

/// The parts of an all-to-all that are not equal, and the function that takes
/// them.
void ConvertStart::addSplits(AllToAllOp op, ArrayRef<Value> operands,
                             RuntimeCallBuilder &calls, std::string &function,
                             SmallVectorImpl<Value> &arguments) const {
  if (ArrayAttr matrix = op.getSplitMatrixAttr()) {
    SmallVector<int64_t> elements;
    for (auto row : matrix.getAsRange<DenseI64ArrayAttr>())
      llvm::append_range(elements, row.asArrayRef());
    function += "_matrix";
    arguments.push_back(calls.getI64(matrix.size()));
    arguments.push_back(calls.getConstantArray(elements));
    return;
  }
  function += "_splits";
  auto store = [&](ArrayRef<int64_t> constants, unsigned position) {
    Value array =
        calls.allocate(IntegerType::get(op.getContext(), 64), constants.size());
    for (auto [index, constant] : llvm::enumerate(constants)) {
      Value size = ShapedType::isDynamic(constant) ? operands[position++]
                                                   : calls.getI64(constant);
      calls.storeElement(size, array, index);
    }
    return array;
  };
  arguments.push_back(calls.getI64(op.getStaticSendSizes()->size()));
  arguments.push_back(
      store(*op.getStaticSendSizes(), op.getODSOperandIndexAndLength(2).first));
  arguments.push_back(store(*op.getStaticReceiveSizes(),
                            op.getODSOperandIndexAndLength(3).first));
}

LogicalResult
ConvertStart::matchAndRewrite(CollectiveOpInterface op,
                              ArrayRef<Value> operands,
                              ConversionPatternRewriter &rewriter) const {
  auto start = cast<AsyncStartOpInterface>(op.getOperation());
  Location loc = op.getLoc();
  MutableArrayRef<OpOperand> sources = start.getSourceOperands();
  MutableArrayRef<OpOperand> destinations = start.getDestinationOperands();
  bool hasOperands = !sources.empty() || !destinations.empty();
  if (hasOperands && !start.isBufferForm())
    return rewriter.notifyMatchFailure(op, "is not on buffers");

  RuntimeCallBuilder calls(rewriter, op);
  CollectiveKind kind = op.getCollectiveKind();
  std::string function = ("braid_rt_" + stringifyCollectiveKind(kind)).str();
  std::optional<StackScope> scope;
  if (hasOperands)
    scope.emplace(calls);

  SmallVector<Value> arguments = {
      calls.getGroup(op.getGroupAttr().getValue(), getLaneName(op))};
  if (hasOperands)
    arguments.push_back(
        calls.getI64(std::max(sources.size(), destinations.size())));
  for (MutableArrayRef<OpOperand> buffers : {sources, destinations}) {
    if (buffers.empty())
      continue;
    FailureOr<Value> views =
        createViews(buffers, operands, loc, calls, rewriter);
    if (failed(views))
      return rewriter.notifyMatchFailure(
          op, "has an element type that the runtime does not know");
    arguments.push_back(*views);
  }
  if (std::optional<ReductionKind> reduction = op.getReductionKind()) {
    arguments.push_back(calls.getI32(getRuntimeReduction(*reduction)));
    Value scale = calls.getNull();
    if (*reduction == ReductionKind::premul_sum) {
      // The only operand that is neither source nor destination.
      Value converted = operands.front();
      scale = calls.allocate(converted.getType(), 1);
      calls.storeElement(converted, scale, 0);
    }
    arguments.push_back(scale);
  }
  if (std::optional<int64_t> root = op.getRootIndex())
    arguments.push_back(calls.getI64(*root));
  if (kind == CollectiveKind::all_gather ||
      kind == CollectiveKind::reduce_scatter)
    arguments.push_back(calls.getI64(op.getSplitDim()));
  if (auto allToAll = dyn_cast<AllToAllOp>(op.getOperation());
      allToAll && allToAll.hasSplits())
    addSplits(allToAll, operands, calls, function, arguments);
  auto addPeer = [&](Value peer, std::optional<int64_t> staticPeer,
                     unsigned position) {
    arguments.push_back(peer ? operands[position] : calls.getI64(*staticPeer));
  };
  if (auto send = dyn_cast<SendOp>(op.getOperation()))
    addPeer(send.getPeer(), send.getStaticPeer(),
            send.getODSOperandIndexAndLength(1).first);
  if (auto recv = dyn_cast<RecvOp>(op.getOperation()))
    addPeer(recv.getPeer(), recv.getStaticPeer(),
            recv.getODSOperandIndexAndLength(1).first);
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    SmallVector<int64_t> pairs;
    for (auto pair : permute.getPairs().getAsRange<DenseI64ArrayAttr>())
      llvm::append_range(pairs, pair.asArrayRef());
    arguments.push_back(calls.getI64(permute.getPairs().size()));
    arguments.push_back(calls.getConstantArray(pairs));
  }
  arguments.push_back(calls.getSite());

  // A coalesced launch is one request, which is awaited once for each token.
  Value request = calls.call(function, calls.getPointer(), arguments);
  scope.reset();
  rewriter.replaceOp(op, SmallVector<Value>(start.getTokens().size(), request));
  return success();
}

//===----------------------------------------------------------------------===//
// Waits, groups and questions about them
//===----------------------------------------------------------------------===//

struct ConvertWait : public ConvertOpToLLVMPattern<WaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getValue())
      return rewriter.notifyMatchFailure(op, "is not on buffers");
    RuntimeCallBuilder calls(rewriter, op);
    calls.call("braid_rt_wait", Type(), {adaptor.getToken(), calls.getSite()});
    rewriter.eraseOp(op);
    return success();
  }
};

/// The lanes that `group` lists.
SmallVector<RuntimeLane> getLanes(GroupOp group) {
  SmallVector<RuntimeLane> lanes;
  auto list = group->getAttrOfType<ArrayAttr>(CommDialect::kLanesAttrName);
  if (!list)
    return lanes;
  for (auto lane : list.getAsRange<DictionaryAttr>()) {
    auto ctas = lane.getAs<IntegerAttr>("ctas");
    auto transport = lane.getAs<StringAttr>("transport");
    int32_t number = BRAID_RT_TRANSPORT_DEFAULT;
    if (transport && transport == "symmetric")
      number = BRAID_RT_TRANSPORT_SYMMETRIC;
    else if (transport && transport == "copy")
      number = BRAID_RT_TRANSPORT_COPY;
    lanes.push_back({lane.getAs<StringAttr>("name").str(),
                     ctas ? static_cast<int32_t>(ctas.getInt()) : 0, number});
  }
  return lanes;
}

struct ConvertGroup : public ConvertOpToLLVMPattern<GroupOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(GroupOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    createGroup(rewriter, op->getParentOfType<ModuleOp>(), op.getLoc(),
                op.getSymName(), op.getRankLists(), getLanes(op));
    rewriter.eraseOp(op);
    return success();
  }
};

template <typename OpTy>
struct ConvertGroupQuery : public ConvertOpToLLVMPattern<OpTy> {
  ConvertGroupQuery(const LLVMTypeConverter &converter, StringRef function)
      : ConvertOpToLLVMPattern<OpTy>(converter), function(function) {}

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCallBuilder calls(rewriter, op);
    Value group = calls.getGroup(op.getGroup());
    rewriter.replaceOp(op, calls.call(function, rewriter.getI64Type(),
                                      {group, calls.getSite()}));
    return success();
  }

private:
  StringRef function;
};

struct CommToLLVMInterface : public ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &target, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const final {
    target.addIllegalDialect<CommDialect>();
    populateCommToLLVMConversionPatterns(converter, patterns);
  }
};

} // namespace

void braid::populateCommToLLVMConversionPatterns(LLVMTypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  converter.addConversion([](TokenType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  patterns.add<ConvertStart, ConvertWait, ConvertGroup>(converter);
  patterns.add<ConvertGroupQuery<RankOp>>(converter, "braid_rt_rank");
  patterns.add<ConvertGroupQuery<SizeOp>>(converter, "braid_rt_size");
}

void braid::registerConvertCommToLLVMInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CommDialect *dialect) {
    dialect->addInterfaces<CommToLLVMInterface>();
    context->loadDialect<LLVM::LLVMDialect>();
  });
}
