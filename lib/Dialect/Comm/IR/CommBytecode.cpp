//===- CommBytecode.cpp - The comm dialect in bytecode --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytecode records the version of the dialect. A change of ops, attributes
// or types that makes older files mean something else raises `currentVersion`,
// and `upgradeFromVersion` changes what older files say.
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// The version of the dialect that this Braid writes.
constexpr uint64_t currentVersion = 2;

/// The number of a type in bytecode; never given to another type.
enum TypeNumber : uint64_t { valuelessToken = 0, tokenOfValue = 1 };

struct CommVersion : public DialectVersion {
  explicit CommVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

struct CommBytecodeInterface : public BytecodeDialectInterface {
  explicit CommBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(currentVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number = 0;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number <= currentVersion)
      return std::make_unique<CommVersion>(number);
    reader.emitError() << "found version " << number
                       << " of the dialect 'comm', expected at most "
                       << currentVersion
                       << ": a newer Braid has written this bytecode";
    return nullptr;
  }

  LogicalResult upgradeFromVersion(Operation *top,
                                   const DialectVersion &version) const final {
    // Before version 2 `comm.machine` had another name.
    if (static_cast<const CommVersion &>(version).number < 2)
      top->walk([](ModuleOp module) {
        if (Attribute machine = module->removeAttr("comm.hardware"))
          module->setAttr(CommDialect::kMachineAttrName, machine);
      });
    return success();
  }

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const final {
    auto token = dyn_cast<TokenType>(type);
    if (!token)
      return failure();
    if (Type valueType = token.getValueType()) {
      writer.writeVarInt(tokenOfValue);
      writer.writeType(valueType);
    } else {
      writer.writeVarInt(valuelessToken);
    }
    return success();
  }

  Type readType(DialectBytecodeReader &reader) const final {
    uint64_t number = 0;
    if (failed(reader.readVarInt(number)))
      return {};
    if (number == valuelessToken)
      return TokenType::get(getContext());
    RankedTensorType valueType;
    if (number == tokenOfValue && succeeded(reader.readType(valueType)))
      return TokenType::get(valueType);
    reader.emitError() << "found no type of the dialect 'comm' where its type "
                       << number << " stands";
    return {};
  }
};
} // namespace

void CommDialect::addBytecodeInterface() {
  addInterfaces<CommBytecodeInterface>();
}
