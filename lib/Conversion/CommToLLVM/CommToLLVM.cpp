//===- CommToLLVM.cpp - The comm dialect as runtime calls -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/CommToLLVM/CommToLLVM.h"

#include "../Support/RuntimeCalls.h"
#include "braid-rt/Types.h"
#include "braid/Conversion/RuntimeDialects.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// The number of `reduction` in the runtime's ABI.
constexpr int32_t getRuntimeReduction(ReductionKind reduction) {
  return static_cast<int32_t>(reduction);
}
#define BRAID_RT_REDUCTION(NAME, name, boolean, integer, real, complex)        \
  static_assert(getRuntimeReduction(ReductionKind::name) == BRAID_RT_##NAME);
#include "braid-rt/Reductions.def"

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

/// Converts a start to a call of the function with the name of its kind. The
/// arguments are the group, the operands as views, the reduction, the arguments
/// of `CollectiveOpInterface::getCallArguments`, and the site.
class ConvertStart
    : public OpInterfaceConversionPattern<CollectiveOpInterface> {
public:
  ConvertStart(const LLVMTypeConverter &converter)
      : OpInterfaceConversionPattern(converter, &converter.getContext()) {}

  LogicalResult
  matchAndRewrite(CollectiveOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override;

private:
  FailureOr<Value> createViews(MutableArrayRef<OpOperand> buffers,
                               ArrayRef<Value> operands, Location loc,
                               RuntimeCallBuilder &calls,
                               OpBuilder &builder) const;
};

/// Stores the converted `buffers` as an array of views (braid_rt_view) on the
/// stack.
FailureOr<Value> ConvertStart::createViews(MutableArrayRef<OpOperand> buffers,
                                           ArrayRef<Value> operands,
                                           Location loc,
                                           RuntimeCallBuilder &calls,
                                           OpBuilder &builder) const {
  const auto &converter =
      *static_cast<const LLVMTypeConverter *>(getTypeConverter());
  SmallVector<Value> views;
  for (OpOperand &operand : buffers) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || !getRuntimeDtype(type.getElementType()))
      return failure();
    MemRefDescriptor descriptor(operands[operand.getOperandNumber()]);
    views.push_back(calls.createView(
        descriptor.bufferPtr(builder, loc, converter, type), type,
        [&](unsigned dim) { return descriptor.size(builder, loc, dim); }));
  }
  return calls.storeArray(views);
}

/// An argument of the interface: a number, or a pointer to a list.
Value createArgument(const CallArgument &argument, RuntimeCallBuilder &calls,
                     ConversionPatternRewriter &rewriter) {
  auto convert = [&](OpFoldResult number) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(number))
      return calls.getI64(*constant);
    return rewriter.getRemappedValue(cast<Value>(number));
  };
  if (!argument.isList)
    return convert(argument.numbers.front());
  if (std::optional<SmallVector<int64_t>> constants =
          getConstantIntValues(argument.numbers))
    return calls.getConstantArray(*constants);
  return calls.storeArray(llvm::map_to_vector(argument.numbers, convert));
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
  std::string function =
      ("braid_rt_" + stringifyCollectiveKind(kind) + op.getCallSuffix()).str();
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
    if (Value factor = op.getScale())
      scale = calls.storeArray(rewriter.getRemappedValue(factor));
    arguments.push_back(scale);
  }
  for (const CallArgument &argument : op.getCallArguments())
    arguments.push_back(createArgument(argument, calls, rewriter));
  arguments.push_back(calls.getSite());

  // A coalesced launch is one request, which is awaited once for each token.
  Value request = calls.call(function, calls.getPointer(), arguments);
  scope.reset();
  rewriter.replaceOp(op, SmallVector<Value>(start.getTokens().size(), request));
  return success();
}

//===----------------------------------------------------------------------===//
// Waits and groups
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
    auto staging = lane.getAs<IntegerAttr>("staging");
    int32_t number = BRAID_RT_TRANSPORT_DEFAULT;
    if (transport && transport == "symmetric")
      number = BRAID_RT_TRANSPORT_SYMMETRIC;
    else if (transport && transport == "copy")
      number = BRAID_RT_TRANSPORT_COPY;
    lanes.push_back({lane.getAs<StringAttr>("name").str(),
                     ctas ? static_cast<int32_t>(ctas.getInt()) : 0, number,
                     staging ? staging.getInt() : 0});
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
    context->loadDialect<LLVM::LLVMDialect, BraidRTDialect>();
  });
}
