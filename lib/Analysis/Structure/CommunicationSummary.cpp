//===- CommunicationSummary.cpp - What a program communicates -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/CommunicationSummary.h"

#include "StartOperands.h"

#include "braid/Analysis/Memory/InFlightAccesses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;
using Kind = CommunicationEvent::Kind;

namespace {

/// Collects the communication of one function.
class SummaryBuilder {
public:
  SummaryBuilder(FunctionCommunication &function, bool collectsCalls)
      : function(function), collectsCalls(collectsCalls) {}

  void visitFunction(Region &body);
  bool hasBuffers() const { return isOnBuffers; }

private:
  void visit(Region &region);
  void visit(Operation &op);
  bool isPlainBody(Region &region);
  bool isCall(Operation &op);
  void numberArguments(Region &region);
  CommunicationEvent &append(Operation &op, Kind kind);
  void addEvent(Operation &op, Kind kind);
  void number(Value token) { numbers[token] = function.numTokens++; }

  FunctionCommunication &function;
  bool collectsCalls;
  bool isOnBuffers = false;
  llvm::DenseMap<Value, unsigned> numbers;
  /// The ops that are calls, by their names.
  llvm::DenseMap<OperationName, bool> areCalls;
};

} // namespace

static bool isToken(Type type) { return isa<comm::TokenType>(type); }

static StartSummary summarize(comm::AsyncStartOpInterface start) {
  StartSummary summary = {
      start->getName(),    start.getLoc(), {}, {}, {}, {}, {}, {}, {}, {}, {},
      start.isBufferForm()};
  for (Value source : start.getSources())
    summary.sources.push_back(source.getType());
  if (start.isBufferForm()) {
    for (Value destination : start.getDestinations())
      summary.values.push_back(destination.getType());
  } else {
    for (unsigned index = 0, end = start.getTokens().size(); index != end;
         ++index)
      if (Type type = start.getInFlightType(index))
        summary.values.push_back(type);
  }
  auto collective = dyn_cast<comm::CollectiveOpInterface>(*start);
  if (!collective)
    return summary;
  summary.kind = collective.getCollectiveKind();
  summary.group = collective.getGroupAttr();
  summary.reduction = collective.getReductionKind();
  if (collective.getCollectiveTraits().hasDim)
    summary.splitDim = collective.getSplitDim();
  for (const comm::CallArgument &argument : collective.getCallArguments())
    for (OpFoldResult number : argument.numbers)
      summary.arguments.push_back(dyn_cast<Attribute>(number));
  using comm::CommDialect;
  summary.lane = {start->getDiscardableAttr(CommDialect::kLaneAttrName),
                  start->getDiscardableAttr(CommDialect::kCtasAttrName),
                  start->getDiscardableAttr(CommDialect::kTransportAttrName)};
  return summary;
}

CommunicationEvent &SummaryBuilder::append(Operation &op, Kind kind) {
  CommunicationEvent event = {kind, op.getName(), op.getLoc(), &op};
  event.firstTaken = function.takenTokens.size();
  event.firstGiven = function.numTokens;
  function.events.push_back(event);
  return function.events.back();
}

void SummaryBuilder::addEvent(Operation &op, Kind kind) {
  CommunicationEvent &event = append(op, kind);
  for (Value operand : op.getOperands())
    if (isToken(operand.getType())) {
      // A token of a block that comes later has no number.
      auto it = numbers.find(operand);
      function.takenTokens.push_back(it == numbers.end() ? ~0u : it->second);
      ++event.numTaken;
    }
  for (Value result : op.getResults())
    if (isToken(result.getType())) {
      number(result);
      ++event.numGiven;
    }
  if (kind == Kind::wait)
    return;
  if (comm::AsyncStartOpInterface start = comm::getAsyncStart(&op)) {
    event.kind = Kind::start;
    event.number = function.starts.size();
    function.starts.push_back(summarize(start));
    StartSummary &summary = function.starts.back();
    for (Value source : start.getSources())
      summary.origins.push_back(getOperandOrigin(source, numbers));
    if (start.isBufferForm())
      for (Value destination : start.getDestinations())
        summary.origins.push_back(getOperandOrigin(destination, numbers));
    isOnBuffers |= start.isBufferForm();
  } else if (auto call = dyn_cast<CallOpInterface>(op)) {
    if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
      event.callee = callee.getLeafReference();
  }
}

static bool hasTokens(Operation &op) {
  // Most values have the type of the one before, which need not be read again.
  Type known;
  auto isNewToken = [&](Type type) {
    if (type == known)
      return false;
    known = type;
    return isToken(type);
  };
  for (OpOperand &operand : op.getOpOperands())
    if (isNewToken(operand.get().getType()))
      return true;
  return llvm::any_of(op.getResultTypes(), isNewToken);
}

bool SummaryBuilder::isCall(Operation &op) {
  auto [it, isNew] = areCalls.try_emplace(op.getName(), false);
  if (isNew)
    it->second = isa<CallOpInterface>(op);
  return it->second;
}

/// True for a body, such as that of a linalg op, without anything to collect.
bool SummaryBuilder::isPlainBody(Region &region) {
  return region.hasOneBlock() &&
         llvm::none_of(region.getArgumentTypes(), isToken) &&
         llvm::none_of(region.front(), [&](Operation &op) {
           return op.getNumRegions() != 0 || hasTokens(op) ||
                  (collectsCalls && isCall(op));
         });
}

void SummaryBuilder::visit(Operation &op) {
  if (hasTokens(op)) {
    auto wait = dyn_cast<comm::WaitOp>(op);
    if (wait)
      isOnBuffers |= !wait.getReads().empty() || !wait.getWrites().empty();
    addEvent(op, wait ? Kind::wait : isCall(op) ? Kind::call : Kind::carry);
  } else if (collectsCalls && isCall(op)) {
    addEvent(op, Kind::call);
  }
  for (Region &region : op.getRegions()) {
    if (region.empty() || isPlainBody(region))
      continue;
    append(op, Kind::open).number = region.getRegionNumber();
    size_t size = function.events.size();
    numberArguments(region);
    function.events.back().numGiven =
        function.numTokens - function.events.back().firstGiven;
    visit(region);
    // Regions that do not communicate may come and go.
    if (function.events.size() == size)
      function.events.pop_back();
    else
      append(op, Kind::close);
  }
}

void SummaryBuilder::numberArguments(Region &region) {
  for (Block &block : region)
    for (Value argument : block.getArguments())
      if (isToken(argument.getType()))
        number(argument);
}

void SummaryBuilder::visitFunction(Region &body) {
  function.numInputs = body.getNumArguments();
  numberArguments(body);
  function.numArguments = function.numTokens;
  visit(body);
}

void SummaryBuilder::visit(Region &region) {
  for (Block &block : region) {
    bool isFirst = &block == &region.front();
    if (!isFirst)
      append(*region.getParentOp(), Kind::block);
    size_t size = function.events.size();
    for (Operation &op : block)
      visit(op);
    if (!isFirst && function.events.size() == size)
      function.events.pop_back();
  }
}

/// Drops the calls of functions that do not communicate, which a pass may
/// create and erase.
void CommunicationSummary::dropSilentCalls() {
  llvm::DenseSet<StringAttr> communicating;
  auto hasTokens = [](const CommunicationEvent &event) {
    return event.numTaken != 0 || event.numGiven != 0;
  };
  auto communicates = [&](const CommunicationEvent &event) {
    return event.kind == Kind::start || event.kind == Kind::wait ||
           event.kind == Kind::carry || hasTokens(event) ||
           communicating.contains(event.callee);
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (const FunctionCommunication &function : functions)
      if (!communicating.contains(function.name) &&
          llvm::any_of(function.events, communicates))
        hasChanged |= communicating.insert(function.name).second;
  }
  for (FunctionCommunication &function : functions) {
    std::vector<CommunicationEvent> kept;
    for (CommunicationEvent &event : function.events) {
      if (event.kind == Kind::call && !communicates(event))
        continue;
      if (event.kind == Kind::close || event.kind == Kind::block)
        while (!kept.empty() && kept.back().kind == Kind::block)
          kept.pop_back();
      if (event.kind == Kind::close && !kept.empty() &&
          kept.back().kind == Kind::open) {
        kept.pop_back();
        continue;
      }
      kept.push_back(event);
    }
    // The end of a function closes its last blocks.
    while (!kept.empty() && kept.back().kind == Kind::block)
      kept.pop_back();
    function.events = std::move(kept);
  }
}

CommunicationSummary::CommunicationSummary(Operation *root) {
  // A pass on a function may not look at others, which may be changing.
  bool isModule = root->hasTrait<OpTrait::SymbolTable>();
  bool hasCalls = false;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return WalkResult::advance();
    if (function.isExternal())
      return WalkResult::skip();
    functions.push_back({function.getNameAttr(), function.getLoc(), function});
    SummaryBuilder builder(functions.back(), isModule);
    builder.visitFunction(function.getFunctionBody());
    isOnBuffers |= builder.hasBuffers();
    hasCalls |= llvm::any_of(functions.back().events,
                             [](const CommunicationEvent &event) {
                               return event.kind == Kind::call;
                             });
    return WalkResult::skip();
  });
  if (hasCalls)
    dropSilentCalls();
  llvm::erase_if(functions, [](const FunctionCommunication &function) {
    return function.events.empty();
  });
  if (!isOnBuffers)
    return;
  std::vector<Operation *> communication;
  for (const FunctionCommunication &function : functions)
    for (const CommunicationEvent &event : function.events)
      if (event.kind == Kind::start || event.kind == Kind::wait)
        communication.push_back(event.op);
  for (const comm::InFlightAccess &access :
       comm::findInFlightAccesses(communication))
    accessesInFlight.push_back(access.op->getLoc());
}
