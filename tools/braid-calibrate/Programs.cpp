//===- Programs.cpp - What programs multiply and exchange -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "Cost/Profile/Profile.h"
#include "Support/JsonFile.h"
#include "braid/Support/ChildProcess.h"
#include "braid/Support/CleanUp.h"
#include "llvm/Support/Program.h"

#include <cstring>

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

std::optional<int32_t> braid::calibrate::findKind(StringRef name) {
  for (int32_t kind :
       {BRAID_RT_ALL_REDUCE, BRAID_RT_ALL_GATHER, BRAID_RT_REDUCE_SCATTER,
        BRAID_RT_ALL_TO_ALL, BRAID_RT_BROADCAST, BRAID_RT_REDUCE})
    if (name == braid_rt_kind_name(kind))
      return kind;
  return std::nullopt;
}

void braid::calibrate::addMatmul(const MatmulCall &matmul,
                                 std::vector<MatmulCall> &matmuls) {
  auto isSame = [&](const MatmulCall &other) {
    return shapeOf(other) == shapeOf(matmul);
  };
  if (llvm::none_of(matmuls, isSame))
    matmuls.push_back(matmul);
}

/// The element type of the first operand of `linalg.matmul(?x?xbf16, ...`.
static std::optional<int32_t> readElement(StringRef family) {
  StringRef type = family.split('(').second.take_until(
      [](char c) { return c == ',' || c == ')'; });
  type = type.rsplit('x').second;
  for (int32_t dtype : {BRAID_RT_BF16, BRAID_RT_F16, BRAID_RT_F32})
    if (type == braid_rt_dtype_name(dtype))
      return dtype;
  return std::nullopt;
}

/// The matmul of a signature; nothing if the signature is of another op, or of
/// a batch. Square operands count as not transposed.
static std::optional<MatmulCall> readMatmul(const ParsedSignature &signature) {
  // Two matrices and the result.
  if (!StringRef(signature.op).starts_with("linalg.matmul") ||
      llvm::ArrayRef<unsigned>({0, 0, 1, 1, 2, 2}) !=
          llvm::ArrayRef(signature.typeOfSize))
    return std::nullopt;
  std::optional<int32_t> dtype = readElement(signature.family);
  if (!dtype)
    return std::nullopt;
  MatmulCall matmul;
  const std::vector<int64_t> &sizes = signature.sizes;
  matmul.rows = sizes[4];
  matmul.columns = sizes[5];
  bool isLeft = sizes[0] != matmul.rows;
  matmul.depth = isLeft ? sizes[0] : sizes[1];
  matmul.transposed =
      getTransposedOperands(isLeft, /*isRight=*/sizes[2] != matmul.depth);
  matmul.dtype = *dtype;
  return matmul;
}

static void addSignature(const ParsedSignature &signature, int64_t ranks,
                         ProgramShapes &shapes) {
  if (!signature.isCollective) {
    if (std::optional<MatmulCall> matmul = readMatmul(signature))
      addMatmul(*matmul, shapes.matmuls);
    return;
  }
  StringRef name = signature.op;
  std::optional<int32_t> kind =
      name.consume_front("comm.") ? findKind(name) : std::nullopt;
  std::string ofRanks = ", " + std::to_string(ranks) + " ranks,";
  if (kind && !signature.sizes.empty() &&
      StringRef(signature.family).contains(ofRanks))
    shapes.collectives[*kind].insert(signature.sizes.front());
}

static constexpr StringRef expectedReport =
    "expected a report that comm-report has written with format=json";

/// Adds the signatures of the nodes of the function or body at `path`, and of
/// the bodies of its loops and branches.
static Error addNodes(const json::Value &value, StringRef path, int64_t ranks,
                      ProgramShapes &shapes) {
  const json::Object *parent = value.getAsObject();
  const json::Array *nodes = parent ? parent->getArray("nodes") : nullptr;
  if (!nodes)
    return makeJsonError(path, "no list \"nodes\", " + expectedReport);
  for (auto [position, node] : llvm::enumerate(*nodes)) {
    std::string nodePath =
        appendToJsonPath(appendToJsonPath(path, "nodes"), position);
    const json::Object *fields = node.getAsObject();
    if (std::optional<StringRef> text =
            fields ? fields->getString("signature") : std::nullopt) {
      std::string problem;
      std::optional<ParsedSignature> signature =
          ParsedSignature::parse(*text, problem);
      if (!signature)
        return makeJsonError(appendToJsonPath(nodePath, "signature"),
                             "found signature \"" + *text + "\", expected " +
                                 problem);
      addSignature(*signature, ranks, shapes);
    }
    if (const json::Array *bodies =
            fields ? fields->getArray("bodies") : nullptr)
      for (auto [number, body] : llvm::enumerate(*bodies))
        if (Error error = addNodes(
                body,
                appendToJsonPath(appendToJsonPath(nodePath, "bodies"), number),
                ranks, shapes))
          return error;
  }
  return Error::success();
}

/// Adds the signatures of all functions of a report.
static Error addFunctions(const json::Value &file, int64_t ranks,
                          ProgramShapes &shapes) {
  const json::Object *root = file.getAsObject();
  const json::Array *functions = root ? root->getArray("functions") : nullptr;
  if (!functions)
    return makeJsonError("", "no list \"functions\", " + expectedReport);
  for (auto [index, function] : llvm::enumerate(*functions))
    if (Error error = addNodes(function, appendToJsonPath("functions", index),
                               ranks, shapes))
      return error;
  return Error::success();
}

/// Adds the shapes of a report, which messages call `name`.
static Error readReport(StringRef path, StringRef name, int64_t ranks,
                        ProgramShapes &shapes) {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readRegularFile(path);
  if (!text)
    return llvm::createStringError(name + ": " +
                                   llvm::toString(text.takeError()));
  Expected<json::Value> file = parseJson((*text)->getBuffer());
  Error error = file ? addFunctions(*file, ranks, shapes) : file.takeError();
  if (error)
    return llvm::createStringError(name + ": " +
                                   llvm::toString(std::move(error)));
  return Error::success();
}

/// The options of braid-opt that write the report of a program. Signatures, the
/// only part that is read, are the same for every machine.
static std::string reportOption(int64_t ranks, StringRef output) {
  // A name that MLIR would split stands in quotation marks (see passOption in
  // braid-run).
  StringRef mark = output.find_first_of(" =,{}()[]'\"") == StringRef::npos ? ""
                   : output.contains('\'') ? "\""
                                           : "'";
  return ("--comm-report=format=json machine=h100x8 ranks=" +
          llvm::Twine(ranks) + " output=" + mark + output + mark)
      .str();
}

/// Adds the shapes of a program in MLIR.
static Error readProgram(StringRef path, int64_t ranks, ProgramShapes &shapes) {
  llvm::ErrorOr<std::string> tool = llvm::sys::findProgramByName("braid-opt");
  if (!tool)
    return llvm::createStringError(
        path +
        ": found no braid-opt in PATH, which reads programs; expected "
        "the report that it writes elsewhere: braid-opt " +
        path + " \"" + reportOption(ranks, "report.json") + "\" -o /dev/null");
  CleanUp cleanUp;
  TemporaryFolder folder("braid-calibrate");
  if (!folder.getError().empty())
    return llvm::createStringError(path + ": " + folder.getError());
  std::string report = folder.at("report.json");
  // Its errors go to stderr.
  int error = 0;
  int status = runProgram({*tool, fileArgument(path.str()),
                           reportOption(ranks, report), "-o", "/dev/null"},
                          /*log=*/"", error);
  if (status != 0)
    return llvm::createStringError(
        path + ": " +
        (status < 0
             ? "cannot start braid-opt: " + std::string(std::strerror(error))
             : "braid-opt cannot write its report"));
  return readReport(report, path, ranks, shapes);
}

Error braid::calibrate::readShapes(StringRef path, int64_t ranks,
                                   ProgramShapes &shapes) {
  if (path.ends_with(".mlir"))
    return readProgram(path, ranks, shapes);
  return readReport(path, path, ranks, shapes);
}
