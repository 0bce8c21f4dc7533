//===- Npy.cpp - Files of NumPy arrays --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/Npy.h"
#include "Options.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

using namespace braid::run;

/// NumPy's names of an element type. The first one is used for writing.
static std::vector<std::string> descriptors(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_I1:
    return {"|b1"};
  case BRAID_RT_I8:
    return {"|i1"};
  case BRAID_RT_I16:
    return {"<i2"};
  case BRAID_RT_I32:
    return {"<i4"};
  case BRAID_RT_I64:
    return {"<i8"};
  case BRAID_RT_F16:
    return {"<f2"};
  case BRAID_RT_BF16:
    return {"|V2", "<V2", "<u2"};
  case BRAID_RT_F32:
    return {"<f4"};
  case BRAID_RT_F64:
    return {"<f8"};
  case BRAID_RT_COMPLEX_F32:
    return {"<c8"};
  case BRAID_RT_COMPLEX_F64:
    return {"<c16"};
  default:
    return {"|V1", "<V1", "|u1"};
  }
}

/// The text after `'key':` in the header's dictionary.
static std::string headerValue(const std::string &header,
                               const std::string &key) {
  size_t at = header.find("'" + key + "':");
  if (at == std::string::npos)
    return "";
  at = header.find_first_not_of(' ', at + key.size() + 3);
  if (at == std::string::npos)
    return "";
  char closing = header[at] == '(' ? ')' : header[at] == '\'' ? '\'' : ',';
  size_t end = header.find(closing, at + 1);
  if (end == std::string::npos)
    return "";
  return header.substr(at, end - at + (closing == ',' ? 0 : 1));
}

static std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> sizes;
  if (text.size() < 2 || text.front() != '(')
    throw RunError("the header has no shape");
  const char *next = text.data() + 1, *end = text.data() + text.size() - 1;
  while (next < end) {
    if (*next == ' ' || *next == ',') {
      ++next;
      continue;
    }
    int64_t size = 0;
    auto [after, code] = std::from_chars(next, end, size);
    if (code != std::errc() || size < 0)
      throw RunError("the header's shape is '" + text + "'");
    sizes.push_back(size);
    next = after;
  }
  return sizes;
}

/// Fortran order: the first index varies fastest.
static void reorderFromFortran(Tensor &tensor) {
  Tensor result(tensor.dtype, tensor.sizes);
  auto size = static_cast<size_t>(braid_rt_dtype_size(tensor.dtype));
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

Tensor braid::run::readNpy(const std::string &file, int32_t dtype) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw RunError("cannot open " + file + ": " + std::strerror(errno));
  unsigned char start[12] = {};
  stream.read(reinterpret_cast<char *>(start), 10);
  if (!stream || std::memcmp(start, "\x93NUMPY", 6) != 0)
    throw RunError(file + " is no .npy file");
  size_t length = start[8] | start[9] << 8;
  if (start[6] >= 2) {
    stream.read(reinterpret_cast<char *>(start + 10), 2);
    length |= static_cast<size_t>(start[10]) << 16 |
              static_cast<size_t>(start[11]) << 24;
  }
  if (length > 1 << 20)
    throw RunError(file + ": the header is longer than 1 MiB");
  std::string header(length, ' ');
  stream.read(header.data(), static_cast<std::streamsize>(length));
  if (!stream)
    throw RunError(file + " ends within its header");
  std::string found = headerValue(header, "descr");
  if (found.size() >= 2)
    found = found.substr(1, found.size() - 2);
  std::vector<std::string> known = descriptors(dtype);
  if (std::find(known.begin(), known.end(), found) == known.end())
    throw RunError(file + " holds elements of type '" + found +
                   "', expected '" + known[0] + "' (" +
                   braid_rt_dtype_name(dtype) + ")");
  Tensor tensor;
  try {
    tensor = Tensor(dtype, parseShape(headerValue(header, "shape")));
  } catch (const RunError &error) {
    throw RunError(file + ": " + error.what());
  }
  stream.read(tensor.data, tensor.bytes());
  if (stream.gcount() != tensor.bytes())
    throw RunError(file + " ends after " + std::to_string(stream.gcount()) +
                   " bytes of data, expected " +
                   std::to_string(tensor.bytes()));
  if (headerValue(header, "fortran_order") == "True")
    reorderFromFortran(tensor);
  return tensor;
}

void braid::run::writeNpy(const std::string &file, const Tensor &tensor) {
  std::string header = "{'descr': '" + descriptors(tensor.dtype)[0] +
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
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << start << header;
  stream.write(tensor.data, tensor.bytes());
  stream.close();
  if (!stream)
    throw RunError("cannot write " + file + ": " + std::strerror(errno));
}
