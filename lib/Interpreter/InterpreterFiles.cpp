//===- InterpreterFiles.cpp - Arguments and results in files --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Interpreter/Interpreter.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace braid;
using namespace mlir;

/// The type of the parts of a complex number; `type` for others.
static Type getPart(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

/// The name of an element type in `entries`; empty if it has none.
static std::string getElementName(Type type) {
  if (type.isIndex())
    return "i64";
  Type part = getPart(type);
  if (!part.isIntOrFloat() || part.getIntOrFloatBitWidth() > 64 ||
      (isa<IntegerType>(part) && !part.isSignlessInteger()))
    return "";
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

static Type getElement(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getElementType() : type;
}

static ArrayRef<int64_t> getSizes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? shaped.getShape() : ArrayRef<int64_t>();
}

static unsigned getNumBits(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

static size_t getNumBytes(Type type) {
  size_t part = llvm::divideCeil(getNumBits(getPart(type)), 8);
  return isa<ComplexType>(type) ? 2 * part : part;
}

static std::string getPath(StringRef folder, const Twine &name) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// Writes `bytes` to a file.
static LogicalResult writeFile(Operation *op, const std::string &path,
                               StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError(op->getLoc())
           << "cannot write '" << path << "': " << error.message();
  return success();
}

/// The first argument or result of `function` whose type has no form in files;
/// null if there is none.
static Type findOtherType(FunctionOpInterface function) {
  for (ArrayRef<Type> types :
       {function.getArgumentTypes(), function.getResultTypes()})
    for (Type type : types) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (getElementName(getElement(type)).empty() ||
          (shaped && !shaped.hasRank()))
        return type;
    }
  return {};
}

LogicalResult braid::writeInterpreterEntries(ModuleOp module,
                                             StringRef folder) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    stream << "entry " << function.getName() << "\n";
    // Other entries run all the same.
    if (Type type = findOtherType(function)) {
      stream << "other " << type << "\n";
      continue;
    }
    auto add = [&](StringRef direction, Type type) {
      stream << direction << " " << getElementName(getElement(type));
      for (int64_t size : getSizes(type))
        stream << " " << (ShapedType::isDynamic(size) ? -1 : size);
      stream << "\n";
    };
    for (BlockArgument argument : function.getArguments()) {
      bool isDonated = static_cast<bool>(function.getArgAttr(
          argument.getArgNumber(), comm::CommDialect::kDonatedAttrName));
      add(isDonated ? "inout" : "in", argument.getType());
    }
    for (Type type : function.getResultTypes())
      add("out", type);
  }
  return writeFile(module, getPath(folder, "entries"), text);
}

static Attribute readElement(Type type, const char *bytes) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return ArrayAttr::get(type.getContext(),
                          {readElement(part, bytes),
                           readElement(part, bytes + getNumBytes(part))});
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes, getNumBytes(type));
  APInt bits(getNumBits(type), word, /*isSigned=*/false,
             /*implicitTrunc=*/true);
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType,
                          APFloat(floatType.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

LogicalResult braid::readInterpreterArguments(FunctionOpInterface entry,
                                              StringRef folder,
                                              InterpreterOptions &options) {
  for (int64_t rank = 0; rank != options.numRanks; ++rank) {
    options.arguments.emplace_back();
    for (BlockArgument argument : entry.getArguments()) {
      std::string path = getPath(
          folder, Twine(rank) + "." + Twine(argument.getArgNumber()) + ".in");
      llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
          llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
      if (!file)
        return emitError(entry.getLoc())
               << "cannot read '" << path << "': " << file.getError().message();
      StringRef bytes = (*file)->getBuffer();
      Type type = argument.getType(), element = getElement(type);
      InterpreterTensor tensor;
      size_t numDims = getSizes(type).size(), used = numDims * sizeof(int64_t);
      bool fits = !getElementName(element).empty() && bytes.size() >= used;
      if (fits) {
        tensor.sizes.resize(numDims);
        std::memcpy(tensor.sizes.data(), bytes.data(), used);
        for (auto [size, expected] : llvm::zip(tensor.sizes, getSizes(type)))
          fits &= size >= 0 &&
                  (ShapedType::isDynamic(expected) || size == expected);
      }
      int64_t count = fits ? ShapedType::getNumElements(tensor.sizes) : 0;
      if (!fits || bytes.size() - used != count * getNumBytes(element))
        return emitError(entry.getLoc())
               << "'" << path << "' does not hold an argument of type " << type;
      for (int64_t i = 0; i != count; ++i)
        tensor.elements.push_back(readElement(
            element, bytes.data() + used + i * getNumBytes(element)));
      options.arguments.back().push_back(std::move(tensor));
    }
  }
  return success();
}

LogicalResult braid::writeInterpreterResults(
    FunctionOpInterface entry, StringRef folder,
    ArrayRef<std::vector<InterpreterTensor>> results) {
  for (auto [rank, tensors] : llvm::enumerate(results))
    for (auto [number, tensor] : llvm::enumerate(tensors)) {
      Type type = getElement(entry.getResultTypes()[number]);
      std::string bytes;
      auto append = [&](uint64_t word, size_t size) {
        bytes.append(reinterpret_cast<const char *>(&word), size);
      };
      for (int64_t size : tensor.sizes)
        append(size, sizeof(size));
      auto appendElement = [&](Attribute element, size_t size) {
        uint64_t word = 0;
        if (auto number = dyn_cast_if_present<FloatAttr>(element))
          word = number.getValue().bitcastToAPInt().getZExtValue();
        else if (auto number = dyn_cast_if_present<IntegerAttr>(element))
          word = number.getValue().getZExtValue();
        append(word, size);
      };
      for (Attribute element : tensor.elements) {
        auto pair = dyn_cast_if_present<ArrayAttr>(element);
        if (!pair) {
          appendElement(element, getNumBytes(type));
          continue;
        }
        for (Attribute part : pair)
          appendElement(part, getNumBytes(getPart(type)));
      }
      if (failed(writeFile(
              entry,
              getPath(folder, Twine(rank) + "." + Twine(number) + ".out"),
              bytes)))
        return failure();
    }
  return success();
}
