//===- BufferProgramsTest.cpp - Buffer programs mean the same after -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Random programs on buffers, with views of the same buffers, operations in
// flight, several waits of one start, loops and opaque ops, are interpreted
// before and after the scheduling passes: memory is the same at the end, and no
// one touches a buffer in flight.
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace braid;
using namespace mlir;

namespace {

constexpr int numBuffers = 4;
constexpr int bufferSize = 16;

struct Piece {
  int buffer, offset, size;

  bool overlaps(const Piece &other) const {
    return buffer == other.buffer && offset < other.offset + other.size &&
           other.offset < offset + size;
  }
};

/// Memory, and what is in flight.
class Machine {
public:
  Machine() : cells(numBuffers * bufferSize) {
    for (size_t i = 0; i != cells.size(); ++i)
      cells[i] = i + 1;
  }

  /// False if `piece` may not be read or written now.
  bool mayRead(const Piece &piece) const {
    return llvm::none_of(inFlight, [&](const auto &entry) {
      return entry.second.destination.overlaps(piece);
    });
  }
  bool mayWrite(const Piece &piece) const {
    return mayRead(piece) && llvm::none_of(inFlight, [&](const auto &entry) {
             return entry.second.source.overlaps(piece);
           });
  }

  void copy(const Piece &from, const Piece &to, uint64_t id) {
    ok &= mayRead(from) && mayWrite(to);
    std::vector<uint64_t> values = read(from);
    write(to, values, id);
  }
  void start(const Piece &from, const Piece &to, uint64_t id) {
    ok &= mayRead(from) && mayWrite(to);
    inFlight[id] = {from, to, read(from)};
  }
  void wait(uint64_t id) {
    auto it = inFlight.find(id);
    ok &= it != inFlight.end();
    if (it == inFlight.end())
      return;
    Operation operation = it->second;
    inFlight.erase(it);
    write(operation.destination, operation.values, id);
  }
  void trace(uint64_t id) { log.push_back(id); }

  std::vector<uint64_t> cells;
  /// What opaque ops did, in order.
  std::vector<uint64_t> log;
  bool ok = true;

  struct Operation {
    Piece source, destination;
    std::vector<uint64_t> values;
  };
  std::map<uint64_t, Operation> inFlight;

private:
  std::vector<uint64_t> read(const Piece &piece) const {
    auto begin = cells.begin() + piece.buffer * bufferSize + piece.offset;
    return {begin, begin + piece.size};
  }
  void write(const Piece &piece, const std::vector<uint64_t> &values,
             uint64_t id) {
    for (int i = 0; i != piece.size; ++i)
      cells[piece.buffer * bufferSize + piece.offset + i] =
          values[i] * 6364136223846793005u + id;
  }
};

/// Writes a random program, and runs it on a machine to stay within the rules.
class Generator {
public:
  explicit Generator(uint64_t seed) : engine(seed) {}

  std::string generate(unsigned numOps) {
    text = "comm.group @world all\nfunc.func @main(";
    for (int buffer = 0; buffer != numBuffers; ++buffer)
      text += llvm::formatv("{0}%b{1}: memref<{2}xf32>", buffer ? ", " : "",
                            buffer, bufferSize);
    text += ") {\n";
    for (unsigned i = 0; i != numOps; ++i)
      addOp();
    while (!tokens.empty())
      addWait();
    text += "  return\n}\n";
    return text;
  }

private:
  uint64_t below(uint64_t bound) { return engine() % bound; }

  Piece pick(int size) {
    return {static_cast<int>(below(numBuffers)),
            static_cast<int>(below(bufferSize / size) * size), size};
  }
  /// The SSA name of a view of `piece`, made now or, mostly, before.
  std::string view(const Piece &piece) {
    std::string key =
        llvm::formatv("%v_{0}_{1}_{2}", piece.buffer, piece.offset, piece.size);
    if (views.insert({key, true}).second)
      text += llvm::formatv("  {0} = memref.subview %b{1}[{2}] [{3}] [1] : "
                            "memref<{4}xf32> to {5}\n",
                            key, piece.buffer, piece.offset, piece.size,
                            bufferSize, type(piece));
    return key;
  }
  static std::string type(const Piece &piece) {
    return llvm::formatv("memref<{0}xf32, strided<[1], offset: {1}>>",
                         piece.size, piece.offset);
  }

  void addOp() {
    switch (below(8)) {
    case 0:
    case 1:
      return addStart();
    case 2:
      return addWait();
    case 3:
      if (below(6) == 0) {
        machine.trace(nextId);
        text += llvm::formatv("  vector.print str \"{0}\"\n", nextId++);
      }
      return;
    default:
      return addCopy();
    }
  }
  void addCopy() {
    int size = 1 << below(4);
    Piece from = pick(size), to = pick(size);
    if (from.overlaps(to) || !machine.mayRead(from) || !machine.mayWrite(to))
      return;
    machine.copy(from, to, nextId);
    std::string source = view(from), target = view(to);
    text += llvm::formatv("  linalg.copy {{tag = {0}} ins({1} : {2}) outs({3} "
                          ": {4})\n",
                          nextId++, source, type(from), target, type(to));
  }
  void addStart() {
    int size = 1 << below(4);
    Piece from = pick(size), to = below(2) ? from : pick(size);
    bool inPlace = from.buffer == to.buffer && from.offset == to.offset;
    if ((!inPlace && from.overlaps(to)) || !machine.mayRead(from) ||
        !machine.mayWrite(to) || !machine.mayWrite(from))
      return;
    machine.start(from, to, nextId);
    std::string source = view(from), target = view(to);
    text += llvm::formatv(
        "  %t{0} = comm.all_reduce sum {1} into {2} on "
        "@world {{tag = {0}, comm.cost_ns = {5} : i64} : {3}, {4}\n",
        nextId, source, target, type(from), type(to), below(50));
    std::string reads =
        inPlace ? ""
                : llvm::formatv("reads({0} : {1}) ", source, type(from)).str();
    tokens.push_back({nextId++, llvm::formatv("{0}writes({1} : {2})", reads,
                                              target, type(to))});
  }
  void addWait() {
    if (tokens.empty())
      return;
    size_t which = below(tokens.size());
    auto [id, buffers] = tokens[which];
    tokens.erase(tokens.begin() + which);
    machine.wait(id);
    text += llvm::formatv("  comm.wait %t{0} {1} {{tag = {0}} : !comm.token\n",
                          id, buffers);
  }

  std::mt19937_64 engine;
  Machine machine;
  std::string text;
  uint64_t nextId = 1;
  std::map<std::string, bool> views;
  std::vector<std::pair<uint64_t, std::string>> tokens;
};

/// Runs `function` on a machine; `starts` gets the tags of the starts.
Machine interpret(func::FuncOp function, std::vector<uint64_t> &starts) {
  Machine machine;
  llvm::DenseMap<Value, Piece> pieces;
  for (BlockArgument argument : function.getArguments())
    pieces[argument] = {static_cast<int>(argument.getArgNumber()), 0,
                        bufferSize};
  auto getTag = [](mlir::Operation *op) -> uint64_t {
    return op->getAttrOfType<IntegerAttr>("tag").getInt();
  };
  for (mlir::Operation &op : function.getBody().front()) {
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      Piece piece = pieces[view.getSource()];
      pieces[view.getResult()] = {
          piece.buffer,
          piece.offset + static_cast<int>(view.getStaticOffsets()[0]),
          static_cast<int>(view.getStaticSizes()[0])};
    } else if (auto copy = dyn_cast<linalg::CopyOp>(op)) {
      machine.copy(pieces[copy.getInputs()[0]], pieces[copy.getOutputs()[0]],
                   getTag(copy));
    } else if (auto start = dyn_cast<comm::AllReduceOp>(op)) {
      machine.start(pieces[start.getInputs()[0]], pieces[start.getOutputs()[0]],
                    getTag(start));
      starts.push_back(getTag(start));
    } else if (auto wait = dyn_cast<comm::WaitOp>(op)) {
      machine.wait(getTag(wait));
    } else if (auto print = dyn_cast<vector::PrintOp>(op)) {
      uint64_t id = 0;
      EXPECT_FALSE(cast<StringAttr>(*print.getStringLiteral())
                       .getValue()
                       .getAsInteger(10, id));
      machine.trace(id);
    }
  }
  EXPECT_TRUE(machine.inFlight.empty());
  return machine;
}

class BufferPrograms : public testing::Test {
protected:
  BufferPrograms() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<func::FuncDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, vector::VectorDialect>();
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  OwningOpRef<ModuleOp> parse(llvm::StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  MLIRContext context;
};

TEST_F(BufferPrograms, MeanTheSameAfterEveryPass) {
  using Factory = std::unique_ptr<Pass> (*)();
  const Factory passes[] = {
      [] { return comm::createCommSinkWaitsPass(); },
      [] { return comm::createCommRaiseCollectivesPass(); },
      [] {
        return comm::createCommRaiseCollectivesPass({/*withProducers=*/true});
      },
      [] { return comm::createCommReorderComputeForOverlapPass(); }};

  unsigned numChanged = 0;
  for (uint64_t seed = 0; seed != 150; ++seed) {
    std::string text = Generator(seed).generate(20 + seed);
    OwningOpRef<ModuleOp> original = parse(text);
    ASSERT_TRUE(original) << text;
    std::vector<uint64_t> startsBefore;
    Machine before =
        interpret(*original->getOps<func::FuncOp>().begin(), startsBefore);
    ASSERT_TRUE(before.ok) << text;

    OwningOpRef<ModuleOp> module = original->clone();
    // One after the other, in an order that depends on the seed.
    for (unsigned i = 0; i != 4; ++i) {
      PassManager passManager(&context);
      passManager.addPass(passes[(seed + i * (seed % 2 ? 1 : 3)) % 4]());
      ASSERT_TRUE(succeeded(passManager.run(*module)));
      std::vector<uint64_t> startsAfter;
      Machine after =
          interpret(*module->getOps<func::FuncOp>().begin(), startsAfter);
      std::string printed;
      llvm::raw_string_ostream(printed) << *module;
      ASSERT_TRUE(after.ok) << "seed " << seed << "\n" << text << printed;
      ASSERT_EQ(before.cells, after.cells) << "seed " << seed << "\n"
                                           << text << printed;
      ASSERT_EQ(before.log, after.log) << "seed " << seed;
      ASSERT_EQ(startsBefore, startsAfter) << "seed " << seed;
    }
    std::string first, last;
    llvm::raw_string_ostream(first) << *original;
    llvm::raw_string_ostream(last) << *module;
    numChanged += first != last;
  }
  // Otherwise nothing was tested.
  EXPECT_GT(numChanged, 100u);
}

} // namespace
