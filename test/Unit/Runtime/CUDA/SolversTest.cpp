//===- SolversTest.cpp - Linear algebra with cuSOLVER ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Routine.h"
#include "Setup.h"

using namespace braid::rt;
using testing::HasSubstr;
using testing::Not;

namespace {
class SolversTest : public CudaTest {
protected:
  /// What runs for the reflectors of a batch of matrices with one column.
  std::string factor(int64_t batch, int64_t rows) {
    return factor(batch, rows, [&](const RoutineCall &call) {
      TestProgram program;
      device().prepare(program.get());
      fake_cuda_clear_log();
      device().callRoutine(call);
      download<float>(call.outputs[0].data, 1);
      return std::string(fake_cuda_log());
    });
  }

  /// The result of `run` for these calls.
  template <typename Run>
  std::string factor(int64_t batch, int64_t rows, Run run) {
    RoutineCall call = {BRAID_RT_ROUTINE_GEQRF, "", 0, {}, {}, {}};
    call.shape.dtype = BRAID_RT_F32;
    call.shape.batch = {batch};
    call.shape.sizes.fill(-1);
    call.shape.sizes['m' - 'a'] = rows;
    call.shape.sizes['n' - 'a'] = call.shape.sizes['p' - 'a'] = 1;
    std::vector<float> ones(static_cast<size_t>(batch * rows), 1);
    int64_t sizes[] = {batch, 1, rows};
    call.outputs = {{upload(ones), sizes, BRAID_RT_F32, 3},
                    {upload(ones), sizes, BRAID_RT_F32, 2}};
    return run(call);
  }

private:
  ScopedVariable library{"BRAID_CUSOLVER_LIBRARY", FAKE_CUSOLVER};
};
} // namespace

TEST_F(SolversTest, manyShortMatricesAreFactoredAtOnce) {
  EXPECT_THAT(factor(2, 32), HasSubstr(": geqrfBatched"));
}

TEST_F(SolversTest, fewLongMatricesAreFactoredOneAfterTheOther) {
  EXPECT_THAT(factor(2, 48), Not(HasSubstr("geqrfBatched")));
}

TEST_F(SolversTest, matricesOfManyRowsAreFactoredOneAfterTheOther) {
  EXPECT_THAT(factor(17, 272), Not(HasSubstr("geqrfBatched")));
}

TEST_F(SolversTest, areReplayedBetweenReads) {
  std::string log = factor(2, 48, [&](const RoutineCall &call) {
    return logOfReplay([&] {
      // A call need not outlive its sizes.
      std::vector<int64_t> sizes(call.outputs[0].sizes,
                                 call.outputs[0].sizes + 3);
      RoutineCall copy = call;
      for (braid_rt_view &view : copy.outputs)
        view.sizes = sizes.data();
      device().callRoutine(copy);
      sizes.assign(3, -1);
    });
  });
  EXPECT_THAT(log, HasSubstr("graph of 16 operations"));
  EXPECT_THAT(log, Not(HasSubstr(": geqrf")));
}
