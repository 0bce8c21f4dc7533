//===- Npy.cpp - Files of NumPy arrays --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Npy.h"
#include "Common/Failure.h"
#include "Tensors/NpyHeader.h"
#include "braid/Support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

using namespace braid::run;

/// NumPy's names of an element type, which stand behind a mark of the byte
/// order. The first one is used for writing.
static std::vector<std::string> namesOf(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_I1:
    return {"b1", "?"};
  case BRAID_RT_I8:
    return {"i1"};
  case BRAID_RT_I16:
    return {"i2"};
  case BRAID_RT_I32:
    return {"i4"};
  case BRAID_RT_I64:
    return {"i8"};
  case BRAID_RT_F16:
    return {"f2"};
  case BRAID_RT_BF16:
    return {"V2", "u2"};
  case BRAID_RT_F32:
    return {"f4"};
  case BRAID_RT_F64:
    return {"f8"};
  case BRAID_RT_COMPLEX_F32:
    return {"c8"};
  case BRAID_RT_COMPLEX_F64:
    return {"c16"};
  default:
    return {"V1", "u1"};
  }
}

static size_t elementSize(int32_t dtype) {
  return static_cast<size_t>(braid_rt_dtype_size(dtype));
}

/// The bytes that another order of bytes reverses: of a complex number each
/// half.
static size_t numberSize(int32_t dtype) {
  bool isComplex =
      dtype == BRAID_RT_COMPLEX_F32 || dtype == BRAID_RT_COMPLEX_F64;
  return elementSize(dtype) / (isComplex ? 2 : 1);
}

/// The name that NumPy writes.
static std::string writtenName(int32_t dtype) {
  std::string code = namesOf(dtype).front();
  bool hasOrder = numberSize(dtype) > 1 && code.front() != 'V';
  return (hasOrder ? "<" : "|") + code;
}

/// Whether `descr` names the type; sets `isBigEndian`.
static bool isNameOf(const std::string &descr, int32_t dtype,
                     bool &isBigEndian) {
  std::vector<std::string> names = namesOf(dtype);
  bool hasMark = !descr.empty() &&
                 std::string("<>=|").find(descr.front()) != std::string::npos;
  std::string code = descr.substr(hasMark);
  // Raw bytes have no order.
  isBigEndian = hasMark && descr.front() == '>' && code.front() != 'V';
  return std::find(names.begin(), names.end(), code) != names.end();
}

/// Fortran order: the first index varies fastest.
static void reorderFromFortran(Tensor &tensor) {
  Tensor result(tensor.dtype, tensor.sizes);
  size_t size = elementSize(tensor.dtype);
  std::vector<int64_t> index(tensor.sizes.size(), 0);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int64_t position = 0;
    for (size_t d = index.size(); d-- > 0;)
      position = position * tensor.sizes[d] + index[d];
    std::memcpy(result.data + i * static_cast<int64_t>(size),
                tensor.data + position * static_cast<int64_t>(size), size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.sizes[d])
        break;
      index[d] = 0;
    }
  }
  tensor = result;
}

static void reverseBytes(Tensor &tensor) {
  size_t size = numberSize(tensor.dtype);
  for (int64_t at = 0; at < tensor.bytes(); at += static_cast<int64_t>(size))
    std::reverse(tensor.data + at, tensor.data + at + size);
}

/// The bytes that `sizes` need; throws if they are too many. Sizes behind a
/// zero count as well, as in NumPy.
static int64_t bytesOf(int32_t dtype, const std::vector<int64_t> &sizes) {
  int64_t bytes = braid_rt_dtype_size(dtype);
  bool isEmpty = false;
  for (int64_t size : sizes) {
    isEmpty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
      throw RunError(Tensor::typeName(dtype, sizes) + " is too large");
  }
  return isEmpty ? 0 : bytes;
}

/// Reads `count` bytes, or those that there are. Grows with the bytes that
/// there are, not with what a header claims.
static std::string readBytes(std::istream &stream, int64_t count) {
  std::string bytes;
  constexpr int64_t piece = 1 << 20;
  while (stream && static_cast<int64_t>(bytes.size()) < count) {
    size_t before = bytes.size();
    int64_t most = std::max<int64_t>(piece, static_cast<int64_t>(before));
    auto more = std::min(count - static_cast<int64_t>(before), most);
    bytes.resize(before + static_cast<size_t>(more));
    stream.read(bytes.data() + before, static_cast<std::streamsize>(more));
    bytes.resize(before + static_cast<size_t>(stream.gcount()));
  }
  return bytes;
}

/// The bytes from here to the end of a stream that can be searched.
static std::optional<int64_t> bytesLeft(std::istream &stream) {
  std::istream::pos_type here = stream.tellg();
  if (here == std::istream::pos_type(-1) || !stream.seekg(0, std::ios::end)) {
    stream.clear();
    return std::nullopt;
  }
  int64_t left = stream.tellg() - here;
  stream.seekg(here);
  return left;
}

static Tensor readData(std::istream &stream, int32_t dtype,
                       const std::vector<int64_t> &sizes) {
  int64_t bytes = bytesOf(dtype, sizes);
  auto failShort = [&](int64_t found) {
    throw RunError("the file ends after " + std::to_string(found) +
                   " bytes of data, expected " + std::to_string(bytes));
  };
  std::optional<int64_t> left = bytesLeft(stream);
  if (left && *left < bytes)
    failShort(*left);
  if (!left) {
    std::string all = readBytes(stream, bytes);
    if (static_cast<int64_t>(all.size()) != bytes)
      failShort(static_cast<int64_t>(all.size()));
    Tensor tensor(dtype, sizes);
    std::memcpy(tensor.data, all.data(), all.size());
    return tensor;
  }
  Tensor tensor(dtype, sizes);
  stream.read(tensor.data, bytes);
  if (stream.gcount() != bytes)
    failShort(stream.gcount());
  return tensor;
}

static NpyHeader readHeader(std::istream &stream) {
  std::string start = readBytes(stream, 8);
  if (start.size() < 8 || start.compare(0, 6, "\x93NUMPY") != 0)
    throw RunError("the file is no .npy file");
  auto byteOf = [](const std::string &bytes, size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
  };
  size_t major = byteOf(start, 6), minor = byteOf(start, 7);
  if (major < 1 || major > 3 || minor != 0)
    throw RunError("the format is " + std::to_string(major) + "." +
                   std::to_string(minor) + ", expected 1.0, 2.0 or 3.0");
  std::string number = readBytes(stream, major == 1 ? 2 : 4);
  if (number.size() < (major == 1 ? 2 : 4))
    throw RunError("the file ends within its header");
  size_t length = 0;
  for (size_t i = number.size(); i-- > 0;)
    length = length << 8 | byteOf(number, i);
  // A character of UTF-8 has up to four bytes.
  if (length > longestNpyHeader * (major == 3 ? 4 : 1))
    throw RunError("the header has " + std::to_string(length) +
                   " bytes, expected at most " +
                   std::to_string(longestNpyHeader) + " characters");
  std::string header = readBytes(stream, static_cast<int64_t>(length));
  if (header.size() != length)
    throw RunError("the file ends within its header");
  return parseNpyHeader(header, static_cast<int>(major));
}

Tensor braid::run::readNpy(std::istream &stream, int32_t dtype) {
  NpyHeader header = readHeader(stream);
  bool isBigEndian = false;
  if (!isNameOf(header.descr, dtype, isBigEndian))
    throw RunError("the file holds elements of type '" + header.descr +
                   "', expected '" + writtenName(dtype) + "' (" +
                   braid_rt_dtype_name(dtype) + ")");
  Tensor tensor = readData(stream, dtype, header.shape);
  if (isBigEndian)
    reverseBytes(tensor);
  // Programs read one bit of a boolean, NumPy the whole byte.
  if (dtype == BRAID_RT_I1)
    for (int64_t i = 0; i < tensor.bytes(); ++i)
      tensor.data[i] = tensor.data[i] != 0;
  if (header.isFortran)
    reorderFromFortran(tensor);
  return tensor;
}

Tensor braid::run::readNpy(const std::string &file, int32_t dtype) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw RunError("cannot open " + file + ": " + std::strerror(EISDIR));
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  try {
    return readNpy(stream, dtype);
  } catch (const RunError &error) {
    throw RunError(file + ": " + error.what());
  }
}

/// The part of the file before the data.
static std::string formatStart(const Tensor &tensor) {
  std::string header = "{'descr': '" + writtenName(tensor.dtype) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.sizes)
    header += std::to_string(size) + ", ";
  // NumPy writes (4,) and (4, 8).
  if (tensor.sizes.size() > 1)
    header.resize(header.size() - 2);
  else if (!tensor.sizes.empty())
    header.resize(header.size() - 1);
  header += "), }";
  // The data start at a multiple of 64; the header ends with a newline.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

static std::string_view dataOf(const Tensor &tensor) {
  return {tensor.data, static_cast<size_t>(tensor.bytes())};
}

std::string braid::run::formatNpy(const Tensor &tensor) {
  return formatStart(tensor).append(dataOf(tensor));
}

void braid::run::writeNpy(const std::string &file, const Tensor &tensor) {
  braid::OutputFile output(file);
  output.write(formatStart(tensor));
  output.write(dataOf(tensor));
  if (std::string error = output.finish(); !error.empty())
    throw RunError(error);
}
