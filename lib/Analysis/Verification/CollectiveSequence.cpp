//===- CollectiveSequence.cpp - What all ranks of a communicator do alike -===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveSequence.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace braid;
using namespace mlir;

static std::string getName(const StartedOperation &operation) {
  Operation *op = operation.op;
  return ("'" + op->getName().getStringRef() + "'").str();
}

static std::string spell(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream, /*elideType=*/true);
  return text;
}

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return text;
}

bool braid::haveSameData(Type a, Type b, bool onlyCount) {
  auto shapedA = dyn_cast<ShapedType>(a), shapedB = dyn_cast<ShapedType>(b);
  if (!shapedA || !shapedB ||
      shapedA.getElementType() != shapedB.getElementType())
    return a == b;
  if (!shapedA.hasRank() || !shapedB.hasRank())
    return true;
  if (shapedA.hasStaticShape() && shapedB.hasStaticShape())
    return onlyCount ? shapedA.getNumElements() == shapedB.getNumElements()
                     : shapedA.getShape() == shapedB.getShape();
  if (onlyCount)
    return true;
  return shapedA.getRank() == shapedB.getRank() &&
         llvm::all_of(llvm::zip(shapedA.getShape(), shapedB.getShape()),
                      [](auto sizes) {
                        auto [sizeA, sizeB] = sizes;
                        return sizeA == sizeB || ShapedType::isDynamic(sizeA) ||
                               ShapedType::isDynamic(sizeB);
                      });
}

static SmallVector<Type> getSourceTypes(const StartedOperation &operation) {
  auto start = cast<comm::AsyncStartOpInterface>(operation.op.getOperation());
  return llvm::map_to_vector(start.getSources(),
                             [](Value value) { return value.getType(); });
}

/// `type` with an open size along dim 0.
static Type getPartType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() == 0)
    return type;
  SmallVector<int64_t> sizes(shaped.getShape());
  sizes.front() = ShapedType::kDynamic;
  return RankedTensorType::get(sizes, shaped.getElementType());
}

using Sizes = ArrayRef<std::optional<int64_t>>;

/// True if the parts that `operation` exchanges have sizes of their own, so
/// that members may have operands of different sizes.
static bool hasSplits(const StartedOperation &operation) {
  auto exchange = dyn_cast<comm::AllToAllOp>(operation.op.getOperation());
  return exchange && exchange.hasSplits();
}

static std::string spell(Sizes sizes) {
  std::string text = "[";
  for (std::optional<int64_t> size : sizes)
    text += (text.size() == 1 ? "" : ", ") +
            (size ? std::to_string(*size) : std::string("?"));
  return text + "]";
}

/// The product of `sizes`; none if one of them is not known.
static std::optional<int64_t> getCount(Sizes sizes) {
  int64_t count = 1;
  for (std::optional<int64_t> size : sizes)
    if (!size || llvm::MulOverflow(count, *size, count))
      return std::nullopt;
  return count;
}

/// What the sizes of the operands of `a` and `b`, which meet, have not in
/// common.
static std::optional<std::pair<std::string, std::string>>
findSizeDifference(const StartedOperation &a, const StartedOperation &b) {
  size_t skipped = hasSplits(a) || hasSplits(b) ? 1 : 0;
  for (auto [sizesA, sizesB] : llvm::zip(a.sizes, b.sizes))
    for (auto [dim, sizeA, sizeB] : llvm::enumerate(sizesA, sizesB))
      if (dim >= skipped && sizeA && sizeB && *sizeA != *sizeB)
        return std::make_pair(getName(a) + " has an operand of sizes " +
                                  spell(Sizes(sizesA)),
                              spell(Sizes(sizesB)));
  return std::nullopt;
}

/// What `a` and `b`, which meet, have not in common: what each of them has.
static std::optional<std::pair<std::string, std::string>>
findDifference(const StartedOperation &a, const StartedOperation &b) {
  comm::CollectiveOpInterface opA = a.op, opB = b.op;
  if (opA == opB)
    return findSizeDifference(a, b);
  if (opA.getCollectiveKind() != opB.getCollectiveKind())
    return std::make_pair("starts " + getName(a), "starts " + getName(b));
  if (auto reductionA = opA.getReductionKind(),
      reductionB = opB.getReductionKind();
      reductionA != reductionB)
    return std::make_pair(getName(a) + " has reduction " +
                              comm::stringifyReductionKind(*reductionA).str(),
                          "reduction " +
                              comm::stringifyReductionKind(*reductionB).str());
  // Root, dimension, pairs and splits are attributes.
  for (StringRef name : {"root", "dim", "pairs", "splitMatrix"}) {
    Attribute valueA = opA->getAttr(name), valueB = opB->getAttr(name);
    if (valueA != valueB && valueA && valueB)
      return std::make_pair(
          (getName(a) + " has " + name.str() + " " + spell(valueA)),
          name.str() + " " + spell(valueB));
  }
  SmallVector<Type> typesA = getSourceTypes(a), typesB = getSourceTypes(b);
  if (typesA.size() != typesB.size())
    return std::make_pair(getName(a) + " has " + std::to_string(typesA.size()) +
                              " operands",
                          std::to_string(typesB.size()));
  if (hasSplits(a) != hasSplits(b))
    return std::make_pair(getName(a) + " has " +
                              (hasSplits(a) ? "splits" : "equal parts"),
                          hasSplits(b) ? "splits" : "equal parts");
  for (auto [typeA, typeB] : llvm::zip_equal(typesA, typesB))
    if (!haveSameData(hasSplits(a) ? getPartType(typeA) : typeA,
                      hasSplits(b) ? getPartType(typeB) : typeB,
                      /*onlyCount=*/false))
      return std::make_pair(getName(a) + " has operand type " + spell(typeA),
                            spell(typeB));
  return findSizeDifference(a, b);
}

bool CollectiveMatching::collect() {
  std::map<std::tuple<const void *, int64_t, const void *>, unsigned> numbers;
  std::map<Route, unsigned> routes;
  bool isRight = true;
  matchOf.resize(traces.size());
  for (unsigned rank = 0; rank != traces.size(); ++rank) {
    const RankTrace &trace = *traces[rank];
    matchOf[rank].assign(trace.operations.size(), ~0u);
    llvm::DenseMap<Operation *, SmallVector<int64_t>> membersOf;
    for (auto [index, operation] : llvm::enumerate(trace.operations)) {
      comm::GroupOp group = operation.group;
      auto [it, isNew] = membersOf.try_emplace(group);
      if (isNew)
        it->second = getMembers(group, rank, traces.size());
      ArrayRef<int64_t> members = it->second;
      if (members.empty()) {
        findings.add({operation.op,
                      "runs on rank " + std::to_string(rank) +
                          ", which is in no list of group '" +
                          group.getSymName().str() +
                          "', expected a member of the group",
                      {{group.getLoc(), "the group is here"}}});
        isRight = false;
        continue;
      }
      const void *key = group.getAsOpaquePointer();
      if (!operation.peer) {
        auto [number, isFirst] = numbers.try_emplace(
            {key, members.front(), operation.lane.getAsOpaquePointer()},
            communicators.size());
        if (isFirst)
          communicators.push_back(
              {SmallVector<int64_t>(members),
               std::vector<std::vector<unsigned>>(members.size())});
        unsigned position = llvm::find(members, rank) - members.begin();
        communicators[number->second].operations[position].push_back(index);
        continue;
      }
      int64_t peer = *operation.peer;
      bool isInRange = peer >= 0 && peer < static_cast<int64_t>(members.size());
      if (!isInRange || members[peer] == rank) {
        findings.add({operation.op,
                      "has peer " + std::to_string(peer) + " on rank " +
                          std::to_string(rank) +
                          (isInRange ? ", which is the rank itself"
                                     : ", which is not in its communicator") +
                          ", expected the index of another member"});
        isRight = false;
        continue;
      }
      comm::CollectiveOpInterface op = operation.op;
      bool isSend = op.getCollectiveKind() == comm::CollectiveKind::send;
      int64_t sender = isSend ? rank : members[peer];
      int64_t receiver = isSend ? members[peer] : rank;
      Route route = {key, members.front(), sender, receiver};
      auto [number, isFirst] = routes.try_emplace(route, messages.size());
      if (isFirst)
        messages.push_back({route, {}});
      Messages &list = messages[number->second].second;
      (isSend ? list.sends : list.receives)
          .push_back({rank, static_cast<unsigned>(index)});
    }
  }
  return isRight;
}

bool CollectiveMatching::reportMissing(Member a, unsigned other,
                                       unsigned position) {
  const StartedOperation &operation = get(a);
  comm::GroupOp group = operation.group;
  Finding finding = {operation.op,
                     "starts operation #" + std::to_string(position) +
                         " of rank " + std::to_string(a.rank) + " on group '" +
                         group.getSymName().str() + "', where rank " +
                         std::to_string(other) + " starts only " +
                         std::to_string(position) +
                         ", expected the same operations on all members"};
  finding.notes.push_back(
      {operation.op.getLoc(),
       describeSequence(*traces[a.rank], a.rank, a.operation)});
  finding.notes.push_back(
      {operation.op.getLoc(),
       describeSequence(*traces[other], other, a.operation)});
  findings.add(std::move(finding));
  return false;
}

bool CollectiveMatching::reportDifference(Member a, Member b,
                                          unsigned position) {
  const StartedOperation &operationA = get(a), &operationB = get(b);
  auto difference = findDifference(operationA, operationB);
  if (!difference)
    return true;
  comm::GroupOp group = operationA.group;
  comm::CollectiveOpInterface kindA = operationA.op, kindB = operationB.op;
  bool differsInKind = kindA.getCollectiveKind() != kindB.getCollectiveKind();
  std::string text;
  if (differsInKind)
    text = "is operation #" + std::to_string(position) + " of rank " +
           std::to_string(b.rank) + " on group '" + group.getSymName().str() +
           "', where rank " + std::to_string(a.rank) + " " + difference->first +
           ", expected the same operations in the same order on all members";
  else
    text = "on rank " + std::to_string(b.rank) + " meets that of rank " +
           std::to_string(a.rank) + " on group '" + group.getSymName().str() +
           "', where " + difference->first + ", expected the same, found " +
           difference->second;
  Finding finding = {operationB.op, std::move(text)};
  finding.notes.push_back(
      {operationA.op.getLoc(),
       "rank " + std::to_string(a.rank) + " starts its operation here"});
  if (differsInKind) {
    finding.notes.push_back(
        {operationA.op.getLoc(),
         describeSequence(*traces[a.rank], a.rank, a.operation)});
    finding.notes.push_back(
        {operationB.op.getLoc(),
         describeSequence(*traces[b.rank], b.rank, b.operation)});
  }
  findings.add(std::move(finding));
  return false;
}

bool CollectiveMatching::matchCommunicator(const Communicator &communicator) {
  const std::vector<unsigned> &first = communicator.operations.front();
  unsigned firstRank = communicator.members.front();
  // All are compared with the first member; the first difference counts.
  for (auto [index, own] : llvm::enumerate(communicator.operations)) {
    unsigned rank = communicator.members[index];
    size_t shared = std::min(own.size(), first.size());
    for (unsigned position = 0; position != shared; ++position)
      if (!reportDifference({firstRank, first[position]}, {rank, own[position]},
                            position))
        return false;
    if (own.size() > shared)
      return reportMissing({rank, own[shared]}, firstRank, shared);
    if (first.size() > shared)
      return reportMissing({firstRank, first[shared]}, rank, shared);
  }
  for (unsigned position = 0; position != first.size(); ++position) {
    Match matched;
    for (auto [index, own] : llvm::enumerate(communicator.operations)) {
      unsigned rank = communicator.members[index];
      matchOf[rank][own[position]] = matches.size();
      matched.push_back({rank, own[position]});
    }
    if (!matchSplits(matched))
      return false;
    matches.push_back(std::move(matched));
  }
  return true;
}

/// The sizes of the parts that an exchange sends or receives, from the program
/// or its split matrix.
static SmallVector<std::optional<int64_t>>
getParts(const StartedOperation &operation, size_t index, bool isSent) {
  auto exchange = cast<comm::AllToAllOp>(operation.op.getOperation());
  std::optional<ArrayAttr> matrix = exchange.getSplitMatrix();
  if (!matrix)
    return isSent ? operation.sendSizes : operation.receiveSizes;
  SmallVector<std::optional<int64_t>> parts;
  for (auto [number, row] :
       llvm::enumerate(matrix->getAsRange<DenseI64ArrayAttr>())) {
    if (isSent && number == index)
      parts.assign(row.asArrayRef().begin(), row.asArrayRef().end());
    else if (!isSent && static_cast<int64_t>(index) < row.size())
      parts.push_back(row[index]);
  }
  return parts;
}

bool CollectiveMatching::matchSplits(const Match &matched) {
  if (!hasSplits(get(matched.front())))
    return true;
  for (auto [from, sender] : llvm::enumerate(matched)) {
    const StartedOperation &sending = get(sender);
    auto sent = getParts(sending, from, /*isSent=*/true);
    std::optional<int64_t> sum = 0;
    for (std::optional<int64_t> size : sent)
      sum = sum && size ? std::optional(*sum + *size) : std::nullopt;
    if (std::optional<int64_t> whole = sending.sizes.front().front();
        sum && whole && *sum != *whole) {
      findings.add(
          {sending.op, "on rank " + std::to_string(sender.rank) +
                           " sends parts of sizes " + spell(Sizes(sent)) +
                           ", expected sizes of sum " + std::to_string(*whole) +
                           ", the size along dim 0"});
      return false;
    }
    for (auto [to, receiver] : llvm::enumerate(matched)) {
      const StartedOperation &receiving = get(receiver);
      auto received = getParts(receiving, to, /*isSent=*/false);
      if (to >= sent.size() || from >= received.size() || !sent[to] ||
          !received[from] || *sent[to] == *received[from])
        continue;
      findings.add(
          {receiving.op,
           "receives a part of size " + std::to_string(*received[from]) +
               " on rank " + std::to_string(receiver.rank) + ", where rank " +
               std::to_string(sender.rank) + " sends " +
               std::to_string(*sent[to]) + ", expected the same size on both",
           {{sending.op.getLoc(), "rank " + std::to_string(sender.rank) +
                                      " starts its operation here"}}});
      return false;
    }
  }
  return true;
}

bool CollectiveMatching::matchMessages() {
  for (auto &[route, list] : messages) {
    auto [group, first, sender, receiver] = route;
    if (list.sends.size() != list.receives.size()) {
      bool isSend = list.sends.size() > list.receives.size();
      Member member = isSend ? list.sends[list.receives.size()]
                             : list.receives[list.sends.size()];
      unsigned other = isSend ? receiver : sender;
      findings.add(
          {get(member).op,
           std::string("has no matching ") + (isSend ? "receive" : "send") +
               ": rank " + std::to_string(sender) + " sends " +
               std::to_string(list.sends.size()) + " times to rank " +
               std::to_string(receiver) + ", which receives " +
               std::to_string(list.receives.size()) +
               " times, expected as many receives as sends",
           {{get(member).op.getLoc(),
             describeSequence(*traces[member.rank], member.rank,
                              member.operation)},
            {get(member).op.getLoc(),
             describeSequence(*traces[other], other, member.operation)}}});
      return false;
    }
    for (auto [send, receive] : llvm::zip_equal(list.sends, list.receives)) {
      Type sent = getSourceTypes(get(send)).front();
      auto start =
          cast<comm::AsyncStartOpInterface>(get(receive).op.getOperation());
      SmallVector<Value> destinations = start.getDestinations();
      Type received = destinations.empty() ? start.getInFlightType(0)
                                           : destinations.front().getType();
      if (received && !haveSameData(sent, received, /*onlyCount=*/true)) {
        findings.add({get(receive).op,
                      "receives " + spell(received) + " on rank " +
                          std::to_string(receiver) + ", where rank " +
                          std::to_string(sender) + " sends " + spell(sent) +
                          ", expected the same number and type of elements",
                      {{get(send).op.getLoc(), "the send is here"}}});
        return false;
      }
      Sizes sentSizes(get(send).sizes.front());
      Sizes receivedSizes(get(receive).sizes.front());
      std::optional<int64_t> sentCount = getCount(sentSizes);
      std::optional<int64_t> receivedCount = getCount(receivedSizes);
      if (sentCount && receivedCount && *sentCount != *receivedCount) {
        findings.add({get(receive).op,
                      "receives a value of sizes " + spell(receivedSizes) +
                          " on rank " + std::to_string(receiver) +
                          ", where rank " + std::to_string(sender) +
                          " sends one of sizes " + spell(sentSizes) +
                          ", expected the same number of elements",
                      {{get(send).op.getLoc(), "the send is here"}}});
        return false;
      }
      matchOf[send.rank][send.operation] = matches.size();
      matchOf[receive.rank][receive.operation] = matches.size();
      matches.push_back({send, receive});
    }
  }
  return true;
}

bool CollectiveMatching::match() {
  bool isRight = collect();
  for (const Communicator &communicator : communicators)
    isRight &= matchCommunicator(communicator);
  return isRight && matchMessages();
}
