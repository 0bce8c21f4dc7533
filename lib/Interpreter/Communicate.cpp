//===- Communicate.cpp - Starts, waits and matches ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

/// Adds `change` to the operations in flight on the buffers of token `token`.
void Machine::setInFlight(const Launch &launch, unsigned token, int change) {
  auto mark = [&](const RuntimeValue &value,
                  std::vector<unsigned> Memory::*counts) {
    for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
      ((*value.memory).*counts)[value.getPosition(i)] += change;
  };
  auto isBuffer = [&](const std::vector<RuntimeValue> &values, size_t index) {
    return index < values.size() && values[index].memory;
  };
  // A source that is its own destination is written alone.
  auto isInPlace = [&](size_t index) {
    return isBuffer(launch.destinations, index) &&
           isBuffer(launch.sources, index) &&
           launch.sources[index].memory == launch.destinations[index].memory &&
           launch.sources[index].offset == launch.destinations[index].offset;
  };
  bool isBufferForm =
      cast<comm::AsyncStartOpInterface>(launch.op).isBufferForm();
  if (!isBufferForm)
    return;
  if (isBuffer(launch.destinations, token))
    mark(launch.destinations[token], &Memory::writers);
  if (isBuffer(launch.sources, token) && !isInPlace(token))
    mark(launch.sources[token], &Memory::readers);
}

/// The members of the communicator of `rank`; empty if `rank` is in no list.
static SmallVector<int64_t> getMembers(comm::GroupOp group, unsigned rank,
                                       unsigned numRanks) {
  if (group.isAll())
    return llvm::to_vector(llvm::seq<int64_t>(0, numRanks));
  SmallVector<int64_t> members;
  for (ArrayRef<int64_t> list : group.getRankLists())
    if (llvm::is_contained(list, rank))
      members.assign(list.begin(), list.end());
  return members;
}

bool Machine::findMembers(Launch &launch) {
  auto collective = cast<comm::CollectiveOpInterface>(launch.op);
  // Which parts these move, only ops of the dialect say.
  braid_rt_flow flow = collective.getCollectiveTraits().flow;
  if ((flow == BRAID_RT_FLOW_EXCHANGE || flow == BRAID_RT_FLOW_PAIRS ||
       flow == BRAID_RT_FLOW_MESSAGE) &&
      !isa<comm::CommDialect>(launch.op->getDialect()))
    return unsupported(launch.op);
  comm::GroupOp group =
      comm::lookupGroup(launch.op, collective.getGroupAttr(), symbolTables);
  launch.group = group.getAsOpaquePointer();
  launch.members = getMembers(group, launch.rank, ranks.size());
  if (launch.members.empty())
    return fail(InterpreterFailure::Mismatch, launch.op,
                "runs on rank " + Twine(launch.rank) + ", which is in no list");
  int64_t numRanks = ranks.size();
  const int64_t *outside = llvm::find_if(
      launch.members, [&](int64_t member) { return member >= numRanks; });
  if (outside != launch.members.end())
    return fail(InterpreterFailure::Mismatch, launch.op,
                "runs in a group that has rank " + Twine(*outside) +
                    ", expected ranks below " + Twine(numRanks));
  launch.index =
      llvm::find(launch.members, launch.rank) - launch.members.begin();
  return true;
}

bool Machine::findPeer(Launch &launch) {
  auto collective = cast<comm::CollectiveOpInterface>(launch.op);
  if (!collective.isPointToPoint())
    return true;
  OpFoldResult number = collective.getCallArguments().front().numbers.front();
  std::optional<int64_t> peer = getNumber(launch.rank, number);
  if (!peer)
    return unsupported(launch.op);
  if (*peer < 0 || *peer >= static_cast<int64_t>(launch.members.size()) ||
      launch.members[*peer] == launch.rank)
    return fail(InterpreterFailure::Mismatch, launch.op,
                "has peer " + Twine(*peer) + " on rank " + Twine(launch.rank));
  launch.peer = launch.members[*peer];
  launch.batch = ranks[launch.rank].batches[launch.group];
  return true;
}

bool Machine::findSizes(Launch &launch) {
  auto collective = cast<comm::CollectiveOpInterface>(launch.op);
  auto start = cast<comm::AsyncStartOpInterface>(launch.op);
  if (Value scale = collective.getScale())
    launch.scale = get(launch.rank, scale).scalar;
  auto getAllNumbers = [&](ArrayRef<OpFoldResult> values) {
    return llvm::map_to_vector(values, [&](OpFoldResult value) {
      return getIndex(launch.rank, value);
    });
  };
  if (auto exchange = dyn_cast<comm::AllToAllOp>(launch.op)) {
    launch.sendSizes = getAllNumbers(exchange.getMixedSendSizes());
    launch.receiveSizes = getAllNumbers(exchange.getMixedReceiveSizes());
    if (std::optional<ArrayAttr> matrix = exchange.getSplitMatrix())
      for (auto [member, row] :
           llvm::enumerate(matrix->getAsRange<DenseI64ArrayAttr>())) {
        if (static_cast<int64_t>(member) == launch.index)
          launch.sendSizes.assign(row.asArrayRef().begin(),
                                  row.asArrayRef().end());
        if (launch.index < row.size())
          launch.receiveSizes.push_back(row[launch.index]);
      }
  }
  if (start.isBufferForm())
    return !hasFailed();
  // The sizes of values; those along which data are joined or split follow from
  // the number of elements.
  auto receive = dyn_cast<comm::RecvOp>(launch.op);
  for (size_t i = 0, e = launch.op->getNumResults(); i != e; ++i) {
    auto type = dyn_cast_if_present<ShapedType>(start.getInFlightType(i));
    SmallVector<int64_t> &sizes = launch.valueSizes.emplace_back();
    if (!type)
      continue;
    unsigned numDynamic = 0;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      if (ShapedType::isStatic(size))
        sizes.push_back(size);
      else if (receive && !receive.getOutput())
        sizes.push_back(
            getIndex(launch.rank, receive.getSizes()[numDynamic++]));
      else if (collective.getCollectiveTraits().shape != BRAID_RT_SHAPE_SAME &&
               static_cast<int64_t>(dim) == collective.getSplitDim())
        sizes.push_back(-1);
      else if (i < launch.sources.size() &&
               dim < launch.sources[i].sizes.size())
        sizes.push_back(launch.sources[i].sizes[dim]);
      else
        return unsupported(launch.op);
    }
  }
  return !hasFailed();
}

bool Machine::accessBuffers(const Launch &launch) {
  Attribute element;
  for (const RuntimeValue &source : launch.sources)
    for (int64_t i = 0, e = source.getNumElements(); i != e; ++i)
      if (!read(launch.op, source, source.getPosition(i), element))
        return false;
  for (const RuntimeValue &destination : launch.destinations)
    for (int64_t i = 0, e = destination.getNumElements(); i != e; ++i) {
      int64_t position = destination.getPosition(i);
      if (!isInBounds(destination) ||
          !write(launch.op, destination, position,
                 destination.memory->elements[position]))
        return unsupported(launch.op);
    }
  return true;
}

void Machine::createTokens(const LaunchPtr &launch) {
  launch->isAwaited.assign(launch->op->getNumResults(), false);
  for (OpResult token : launch->op->getResults()) {
    RuntimeValue value;
    value.launch = launch;
    value.token = token.getResultNumber();
    get(launch->rank, token) = value;
    setInFlight(*launch, value.token, 1);
  }
}

std::vector<LaunchPtr> &Machine::getLane(const Launch &launch) {
  auto name =
      StringAttr::get(launch.op->getContext(), comm::getLaneName(launch.op));
  return ranks[launch.rank]
      .lanes[{launch.group, launch.members.front(), name.getAsOpaquePointer(),
              launch.peer >= 0}];
}

void Machine::open(const LaunchPtr &launch) {
  getLane(*launch).push_back(launch);
  ranks[launch->rank].open.push_back(launch);
  ranks[launch->rank].launches.push_back(launch);
}

void Machine::close(const LaunchPtr &launch) {
  launch->hasEnded = true;
  llvm::erase(getLane(*launch), launch);
  llvm::erase(ranks[launch->rank].open, launch);
}

bool Machine::start(unsigned rank, comm::AsyncStartOpInterface start) {
  Operation *op = start;
  if (!isa<comm::CollectiveOpInterface>(op))
    return startCompute(rank, start);
  auto launch = std::make_shared<Launch>();
  launch->op = op;
  launch->rank = rank;
  bool isBufferForm = start.isBufferForm();
  for (Value source : start.getSources())
    launch->sources.push_back(get(rank, source));
  if (isBufferForm)
    for (Value destination : start.getDestinations())
      launch->destinations.push_back(get(rank, destination));
  if (!findMembers(*launch) || !findPeer(*launch) || !findSizes(*launch) ||
      (isBufferForm && !accessBuffers(*launch)))
    return false;
  createTokens(launch);
  open(launch);
  return true;
}

bool Machine::startCompute(unsigned rank, comm::AsyncStartOpInterface op) {
  auto compute = dyn_cast<comm::ComputeOp>(*op);
  if (!compute || compute.isOpaque() || !op.getDestinations().empty() ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
    return unsupported(op);
  auto launch = std::make_shared<Launch>();
  launch->op = op;
  launch->rank = rank;
  Values values;
  if (!runBody(rank, op, compute.getBody(), getAll(rank, compute.getInputs()),
               values))
    return false;
  launch->destinations.assign(values.begin(), values.end());
  launch->hasEnded = true;
  createTokens(launch);
  ranks[rank].launches.push_back(launch);
  return true;
}

/// Writes `elements` to `destination`, unless it is freed.
static void store(ArrayRef<Attribute> elements,
                  const RuntimeValue &destination) {
  if (destination.memory->isFreed)
    return;
  for (auto [index, element] : llvm::enumerate(elements))
    destination.memory->elements[destination.getPosition(index)] = element;
}

bool Machine::wait(unsigned rank, comm::WaitOp op) {
  RuntimeValue token = get(rank, op.getToken());
  if (!token.launch)
    return unsupported(op);
  Launch &launch = *token.launch;
  if (launch.isAwaited[token.token])
    return fail(InterpreterFailure::Token, op,
                "awaits an operation a second time on rank " + Twine(rank));
  launch.isAwaited[token.token] = true;
  setInFlight(launch, token.token, -1);
  if (launch.peer >= 0)
    ++ranks[rank].batches[launch.group];
  if (op.getValue())
    get(rank, op.getValue()) = token.token < launch.destinations.size()
                                   ? launch.destinations[token.token]
                                   : RuntimeValue();
  return true;
}

/// True if no message of an older batch is open in the lane of `launch`.
bool Machine::isOldest(const LaunchPtr &launch) {
  for (const LaunchPtr &other : ranks[launch->rank].open)
    if (other->peer >= 0 && other->members == launch->members &&
        other->batch < launch->batch &&
        cast<comm::CollectiveOpInterface>(other->op).getGroupAttr() ==
            cast<comm::CollectiveOpInterface>(launch->op).getGroupAttr())
      return false;
  return true;
}

/// The matches of operations that all of their ranks have started and that
/// nothing keeps from running.
std::vector<std::vector<LaunchPtr>> Machine::findReady() {
  std::vector<std::vector<LaunchPtr>> ready;
  auto getFirst = [](const std::vector<LaunchPtr> &lane,
                     function_ref<bool(const LaunchPtr &)> counts) {
    for (const LaunchPtr &launch : lane)
      if (counts(launch))
        return launch;
    return LaunchPtr();
  };
  for (Rank &rank : ranks)
    for (auto &[key, lane] : rank.lanes) {
      if (!std::get<3>(key)) {
        // The first member speaks for all.
        if (lane.empty() || lane.front()->index != 0)
          continue;
        LaunchPtr first = lane.front();
        std::vector<LaunchPtr> matched;
        for (int64_t member : first->members)
          if (auto &others = ranks[member].lanes[key]; !others.empty())
            matched.push_back(others.front());
        if (matched.size() != first->members.size())
          continue;
        if (match(matched))
          ready.push_back(std::move(matched));
        continue;
      }
      for (const LaunchPtr &send : lane) {
        if (!isa<comm::SendOp>(send->op) || !isOldest(send))
          continue;
        // The first open message of each route counts.
        LaunchPtr first = getFirst(lane, [&](const LaunchPtr &launch) {
          return isa<comm::SendOp>(launch->op) && launch->peer == send->peer;
        });
        LaunchPtr receive = getFirst(ranks[send->peer].lanes[key],
                                     [&](const LaunchPtr &launch) {
                                       return isa<comm::RecvOp>(launch->op) &&
                                              launch->peer == send->rank;
                                     });
        if (first != send || !receive || !isOldest(receive))
          continue;
        std::vector<LaunchPtr> matched = {send, receive};
        if (match(matched))
          ready.push_back(std::move(matched));
      }
    }
  return ready;
}

/// The types of the elements of `values`.
static SmallVector<Type> getElementTypes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) {
    return getElementTypeOrSelf(value.getType());
  });
}

/// Fails if the parts that members of a match send are not those that others
/// receive.
bool Machine::matchSplits(ArrayRef<LaunchPtr> matched) {
  size_t numMembers = matched.size();
  for (const LaunchPtr &launch : matched) {
    bool fits = launch->sendSizes.size() == numMembers &&
                launch->receiveSizes.size() == numMembers;
    int64_t sent = 0;
    for (auto [member, size] : llvm::enumerate(launch->sendSizes)) {
      if (!fits || size < 0)
        return fail(InterpreterFailure::Mismatch, launch->op,
                    "of rank " + Twine(launch->rank) + " has sizes for " +
                        Twine(launch->sendSizes.size()) +
                        " members, expected sizes that are not negative for " +
                        Twine(numMembers));
      sent += size;
      int64_t received = matched[member]->receiveSizes.size() == numMembers
                             ? matched[member]->receiveSizes[launch->index]
                             : size;
      if (size != received)
        return fail(InterpreterFailure::Mismatch, launch->op,
                    "of rank " + Twine(launch->rank) + " sends " + Twine(size) +
                        " to rank " + Twine(matched[member]->rank) +
                        ", which receives " + Twine(received));
    }
    if (!fits || sent != launch->sources.front().sizes.front())
      return fail(InterpreterFailure::Mismatch, launch->op,
                  "of rank " + Twine(launch->rank) + " sends " + Twine(sent) +
                      " along dim 0, expected " +
                      Twine(launch->sources.front().sizes.front()));
  }
  return true;
}

/// Fails if the operations of a match differ.
bool Machine::match(ArrayRef<LaunchPtr> matched) {
  const Launch &first = *matched.front();
  auto getCounts = [](const std::vector<RuntimeValue> &values) {
    return llvm::map_to_vector(values, [](const RuntimeValue &value) {
      return value.getNumElements();
    });
  };
  auto collective = cast<comm::CollectiveOpInterface>(first.op);
  SmallVector<Type> elements =
      getElementTypes(cast<comm::AsyncStartOpInterface>(first.op).getSources());
  for (const LaunchPtr &launch : matched.drop_front()) {
    auto other = cast<comm::CollectiveOpInterface>(launch->op);
    auto start = cast<comm::AsyncStartOpInterface>(launch->op);
    bool isMessage = first.peer >= 0;
    bool isSame =
        isMessage ||
        (collective.getCollectiveKind() == other.getCollectiveKind() &&
         collective.getReductionKind() == other.getReductionKind() &&
         collective.getRootIndex() == other.getRootIndex() &&
         collective.getSplitDim() == other.getSplitDim() &&
         first.op->getAttr("pairs") == launch->op->getAttr("pairs") &&
         first.sendSizes.empty() == launch->sendSizes.empty() &&
         (!first.sendSizes.empty() ||
          getCounts(first.sources) == getCounts(launch->sources)) &&
         elements == getElementTypes(start.getSources()));
    if (isSame && isMessage) {
      int64_t count =
          launch->destinations.empty()
              ? ShapedType::getNumElements(launch->valueSizes.front())
              : launch->destinations.front().getNumElements();
      Type received = launch->destinations.empty()
                          ? start.getInFlightType(0)
                          : start.getDestinations()[0].getType();
      isSame = count == first.sources.front().getNumElements() &&
               elements.front() == getElementTypeOrSelf(received);
    }
    if (!isSame)
      return fail(InterpreterFailure::Mismatch, launch->op,
                  "of rank " + Twine(launch->rank) + " meets '" +
                      first.op->getName().getStringRef() + "' of rank " +
                      Twine(first.rank));
  }
  return first.sendSizes.empty() || matchSplits(matched);
}

/// Sets the size of -1 in `sizes`, if there is one, for `count` elements; 0 if
/// no size gives as many.
static void setOpenSize(SmallVectorImpl<int64_t> &sizes, int64_t count) {
  auto *open = llvm::find(sizes, -1);
  if (open == sizes.end())
    return;
  *open = 1;
  int64_t others = ShapedType::getNumElements(sizes);
  *open = others == 0 ? 0 : count / others;
}

/// Moves the data of a match and ends its operations.
bool Machine::end(ArrayRef<LaunchPtr> matched) {
  unsigned numOperands = matched.front()->sources.size();
  for (unsigned operand = 0; operand != numOperands; ++operand) {
    std::vector<std::optional<Elements>> data;
    if (!moveData(matched, operand, data))
      return unsupported(matched.front()->op);
    for (auto [launch, elements] : llvm::zip(matched, data)) {
      if (!elements)
        continue;
      // The program may be for another number of ranks.
      bool isBufferForm =
          cast<comm::AsyncStartOpInterface>(launch->op).isBufferForm();
      SmallVector<int64_t> sizes;
      if (isBufferForm) {
        llvm::append_range(sizes, launch->destinations[operand].sizes);
      } else {
        sizes = launch->valueSizes[operand];
        setOpenSize(sizes, elements->size());
      }
      int64_t expected = ShapedType::getNumElements(sizes);
      if (static_cast<int64_t>(elements->size()) != expected)
        return fail(InterpreterFailure::Mismatch, launch->op,
                    "gives rank " + Twine(launch->rank) + " " +
                        Twine(elements->size()) + " elements, expected " +
                        Twine(expected));
      if (!isBufferForm) {
        launch->destinations.push_back(
            makeElements(sizes, std::move(*elements)));
      } else {
        store(*elements, launch->destinations[operand]);
      }
    }
  }
  for (const LaunchPtr &launch : matched)
    close(launch);
  return true;
}

bool Machine::checkSequences() {
  for (const Rank &rank : ranks)
    if (!rank.open.empty())
      return fail(InterpreterFailure::Mismatch, rank.open.front()->op,
                  "of rank " + Twine(rank.open.front()->rank) +
                      " has nobody to meet");
  return true;
}
