//===- Types.cpp - Names and sizes of the ABI's enumerations ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Types.h"
#include "Base/Error.h"
#include "Base/TextSink.h"
#include "braid-rt/CollectiveTraits.h"

using namespace braid::rt;

namespace {
struct DtypeInfo {
  const char *name;
  int64_t size;
  enum Class { Bool, Integer, Float, Complex } cls;
};
} // namespace

static constexpr DtypeInfo dtypes[BRAID_RT_DTYPE_COUNT] = {
    {"i1", 1, DtypeInfo::Bool},
    {"i8", 1, DtypeInfo::Integer},
    {"i16", 2, DtypeInfo::Integer},
    {"i32", 4, DtypeInfo::Integer},
    {"i64", 8, DtypeInfo::Integer},
    {"f16", 2, DtypeInfo::Float},
    {"bf16", 2, DtypeInfo::Float},
    {"f32", 4, DtypeInfo::Float},
    {"f64", 8, DtypeInfo::Float},
    {"complex<f32>", 8, DtypeInfo::Complex},
    {"complex<f64>", 16, DtypeInfo::Complex},
    {"f8E4M3FN", 1, DtypeInfo::Float},
    {"f8E5M2", 1, DtypeInfo::Float}};

namespace {
struct ReductionInfo {
  const char *name;
  bool isDefined[4]; ///< By DtypeInfo::Class.
};
} // namespace

static constexpr ReductionInfo reductions[BRAID_RT_REDUCTION_COUNT] = {
#define BRAID_RT_REDUCTION(NAME, name, boolean, integer, real, complex)        \
  {#name, {boolean, integer, real, complex}},
#include "braid-rt/Reductions.def"
};

static const DtypeInfo *find(int32_t dtype) {
  return dtype >= 0 && dtype < BRAID_RT_DTYPE_COUNT ? &dtypes[dtype] : nullptr;
}

int64_t braid_rt_dtype_size(int32_t dtype) {
  const DtypeInfo *info = find(dtype);
  return info ? info->size : 0;
}

const char *braid_rt_dtype_name(int32_t dtype) {
  const DtypeInfo *info = find(dtype);
  return info ? info->name : nullptr;
}

const char *braid_rt_reduction_name(int32_t reduction) {
  return reduction >= 0 && reduction < BRAID_RT_REDUCTION_COUNT
             ? reductions[reduction].name
             : nullptr;
}

const char *braid_rt_kind_name(int32_t kind) {
  const braid_rt_collective_traits *traits = braid_rt_get_traits(kind);
  return traits ? traits->name : nullptr;
}

int32_t braid_rt_reduction_allowed(int32_t reduction, int32_t dtype) {
  const DtypeInfo *info = find(dtype);
  if (!info || !braid_rt_reduction_name(reduction))
    return 0;
  return reductions[reduction].isDefined[info->cls];
}

Error::~Error() = default;

void braid::rt::printSite(TextSink &text, const braid_rt_site &site) {
  if (site.file) {
    text << site.file;
    if (site.line > 0) {
      text << ":" << int64_t(site.line);
      if (site.column > 0)
        text << ":" << int64_t(site.column);
    }
  }
  if (site.label)
    text << (site.file ? " (" : "(") << site.label << ")";
}

std::string braid::rt::describeSite(const braid_rt_site &site) {
  StringSink sink;
  printSite(sink, site);
  return sink.text;
}

std::string braid::rt::messagePrefix(const braid_rt_site &site, int32_t rank) {
  std::string text = describeSite(site);
  if (!text.empty())
    text += ": ";
  return text + "rank " + std::to_string(rank) + ": ";
}
