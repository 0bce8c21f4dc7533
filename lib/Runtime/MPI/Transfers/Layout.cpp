//===- Layout.cpp - Where MPI finds the data of operands --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Transfers/Layout.h"

using namespace braid::rt;

MPI_Datatype braid::rt::movedType(int64_t elementBytes) {
  switch (elementBytes) {
  case 1:
    return MPI_BYTE;
  case 2:
    return MPI_INT16_T;
  case 4:
    return MPI_INT32_T;
  case 8:
    return MPI_INT64_T;
  default:
    return MPI_C_DOUBLE_COMPLEX;
  }
}

int64_t braid::rt::countRows(const Sizes &sizes, int64_t dim) {
  return elementCount(Sizes(sizes.begin(), sizes.begin() + dim));
}

PartType braid::rt::makePartType(MPI_Datatype element, const Sizes &part,
                                 int64_t dim, int64_t parts,
                                 Requests &requests) {
  int64_t rows = countRows(part, dim);
  int count = countOf(Sizes(part.begin() + dim, part.end()));
  if (rows <= 1)
    return {element, count};
  MPI_Aint lowerBound = 0, bytes = 0;
  CHECK_MPI(MPI_Type_get_extent(element, &lowerBound, &bytes));
  auto release = [](MPI_Datatype *owned) {
    MPI_Type_free(owned);
    delete owned;
  };
  MPI_Datatype vector = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  CHECK_MPI(MPI_Type_vector(static_cast<int>(rows), count,
                            count * static_cast<int>(parts), element, &vector));
  CHECK_MPI(MPI_Type_create_resized(vector, 0, count * bytes, &type));
  MPI_Type_free(&vector);
  requests.kept.push_back(
      std::shared_ptr<MPI_Datatype>(new MPI_Datatype(type), release));
  CHECK_MPI(MPI_Type_commit(&type));
  return {type, 1};
}
