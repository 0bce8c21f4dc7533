//===- ConvolutionsTest.cpp - Convolutions with cuDNN ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Convolution.h"
#include "FakeCudnn.h"
#include "Reduce/SmallFloat.h"
#include "Setup.h"

#include <functional>

using namespace braid::rt;
using testing::HasSubstr;
using testing::Not;

namespace {

using Sizes = std::array<int64_t, BRAID_RT_CONVOLUTION_MAX_RANK>;

/// y = conv(x, w), of whole numbers, so that all sums are exact.
struct Problem {
  int32_t spatialDims = 2;
  int64_t batch = 2, features = 4, outFeatures = 6, groups = 1;
  Sizes data = {5, 6, 4}, filter = {3, 2, 2}; ///< Spatial sizes.
  Convolution::Dim dim = {2, 1, 1, 0};        ///< Of all spatial dimensions.
  bool areFeaturesLast = true;
  int32_t dtype = BRAID_RT_F32;
  int32_t precision = BRAID_RT_PRECISION_F32;
};

class ConvolutionsTest : public CudaTest {
protected:
  ConvolutionsTest() { fake_cudnn_reset(); }

  /// The call of `kind` of a problem, with new memory.
  void prepare(const Problem &problem, int32_t kind) {
    call = Convolution();
    call.kind = kind;
    call.spatialDims = problem.spatialDims;
    call.dtype = problem.dtype;
    call.precision = problem.precision;
    call.groups = problem.groups;
    Sizes x = {problem.batch, problem.features},
          w = {problem.outFeatures, problem.features / problem.groups},
          y = {problem.batch, problem.outFeatures};
    for (size_t i = 0; i + 2 != call.rank(); ++i) {
      call.window[i] = problem.dim;
      x[2 + i] = problem.data[i];
      w[2 + i] = problem.filter[i];
      y[2 + i] = (x[2 + i] + problem.dim.low + problem.dim.high - 1 -
                  problem.dim.dilation * (w[2 + i] - 1)) /
                     problem.dim.stride +
                 1;
    }
    place(0, x, problem.areFeaturesLast);
    place(1, w, problem.areFeaturesLast);
    place(2, y, problem.areFeaturesLast);
  }

  /// Compares all kinds of a problem with loops.
  void compare(const Problem &problem) {
    for (int32_t kind :
         {BRAID_RT_CONVOLUTION_FORWARD, BRAID_RT_CONVOLUTION_BACKWARD_DATA,
          BRAID_RT_CONVOLUTION_BACKWARD_FILTER}) {
      prepare(problem, kind);
      device().convolve(call);
      size_t output = kind == BRAID_RT_CONVOLUTION_FORWARD         ? 2
                      : kind == BRAID_RT_CONVOLUTION_BACKWARD_DATA ? 0
                                                                   : 1;
      EXPECT_EQ(read(output), compute(output)) << call.describe();
    }
  }

  std::vector<double> read(size_t operand) {
    std::vector<double> numbers;
    size_t count = values[operand].size();
    void *data = call.operands[operand].data;
    if (call.dtype == BRAID_RT_F32)
      for (float number : download<float>(data, count))
        numbers.push_back(number);
    else
      for (uint16_t code : download<uint16_t>(data, count))
        numbers.push_back(call.dtype == BRAID_RT_F16 ? f16ToFloat(code)
                                                     : bf16ToFloat(code));
    return numbers;
  }

  Convolution call;

private:
  /// Memory of the device for an operand, with small whole numbers.
  void place(size_t number, const Sizes &sizes, bool areFeaturesLast) {
    Convolution::Operand &operand = call.operands[number];
    operand.sizes = sizes;
    int64_t count = 1;
    auto add = [&](size_t dim) {
      operand.strides[dim] = count;
      count *= sizes[dim];
    };
    if (areFeaturesLast)
      add(1);
    for (size_t dim = call.rank() - 1; dim != 1; --dim)
      add(dim);
    if (!areFeaturesLast)
      add(1);
    add(0);
    std::vector<float> floats;
    std::vector<uint16_t> codes;
    values[number].clear();
    for (int64_t i = 0; i != count; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      floats.push_back(static_cast<float>(state >> 61) - 3);
      values[number].push_back(floats.back());
      codes.push_back(call.dtype == BRAID_RT_F16 ? floatToF16(floats.back())
                                                 : floatToBf16(floats.back()));
    }
    if (call.dtype == BRAID_RT_F32)
      operand.data = upload(floats);
    else
      operand.data = upload(codes);
  }

  /// Where an element is in the memory of an operand.
  size_t offset(size_t operand, const Sizes &index) const {
    int64_t sum = 0;
    for (size_t i = 0; i != index.size(); ++i)
      sum += index[i] * call.operands[operand].strides[i];
    return static_cast<size_t>(sum);
  }

  /// Calls `body` for each index of `sizes`; sizes of 0 count as 1.
  template <typename Body> static void forEach(const Sizes &sizes, Body body) {
    Sizes i = {};
    for (;;) {
      body(i);
      size_t dim = 0;
      while (dim != i.size() && ++i[dim] >= sizes[dim])
        i[dim++] = 0;
      if (dim == i.size())
        return;
    }
  }

  std::vector<double> compute(size_t output) {
    std::vector<double> sums(values[output].size());
    const Sizes &x = call.operands[0].sizes, &w = call.operands[1].sizes;
    forEach(call.operands[2].sizes, [&](const Sizes &place) {
      forEach(w, [&](Sizes tap) {
        if (tap[0] != place[1])
          return;
        Sizes at = place;
        at[1] = place[1] / (w[0] / call.groups) * w[1] + tap[1];
        for (size_t i = 0; i + 2 != call.rank(); ++i) {
          const Convolution::Dim &dim = call.window[i];
          at[2 + i] =
              place[2 + i] * dim.stride + tap[2 + i] * dim.dilation - dim.low;
          if (at[2 + i] < 0 || at[2 + i] >= x[2 + i])
            return;
        }
        size_t places[] = {offset(0, at), offset(1, tap), offset(2, place)};
        double product = 1;
        for (size_t i = 0; i != 3; ++i)
          if (i != output)
            product *= values[i][places[i]];
        sums[places[output]] += product;
      });
    });
    return sums;
  }

  ScopedVariable library{"BRAID_CUDNN_LIBRARY", FAKE_CUDNN};
  std::array<std::vector<double>, BRAID_RT_CONVOLUTION_OPERANDS> values;
  uint64_t state = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(ConvolutionsTest, haveAllTypesAndLayouts) {
  for (bool areFeaturesLast : {true, false})
    for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_F16}) {
      Problem problem;
      problem.areFeaturesLast = areFeaturesLast;
      problem.dtype = dtype;
      compare(problem);
    }
  // Sums with 8 significant bits.
  Problem problem;
  problem.dtype = BRAID_RT_BF16;
  problem.features = problem.outFeatures = problem.batch = 1;
  problem.data = problem.filter = {2, 2, 2};
  compare(problem);
}

TEST_F(ConvolutionsTest, haveWindows) {
  for (Convolution::Dim dim : {Convolution::Dim{1, 1, 0, 0},
                               {1, 1, 1, 1},
                               {1, 2, 2, 1},
                               {3, 2, 0, 2},
                               {2, 1, 0, 3}}) {
    Problem problem;
    problem.dim = dim;
    compare(problem);
  }
}

TEST_F(ConvolutionsTest, haveGroups) {
  for (int64_t groups : {2, 4}) {
    Problem problem;
    problem.groups = groups;
    problem.outFeatures = 8;
    compare(problem);
  }
}

TEST_F(ConvolutionsTest, haveOneToThreeDimensions) {
  for (int32_t spatialDims : {1, 2, 3})
    for (bool areFeaturesLast : {true, false}) {
      Problem problem;
      problem.spatialDims = spatialDims;
      problem.areFeaturesLast = areFeaturesLast;
      compare(problem);
    }
}

//===----------------------------------------------------------------------===//
// Plans and recordings
//===----------------------------------------------------------------------===//

TEST_F(ConvolutionsTest, arePlannedOnce) {
  compare(Problem());
  EXPECT_EQ(fake_cudnn_plans(), 3);
  compare(Problem()); // other memory
  EXPECT_EQ(fake_cudnn_plans(), 3);
  Problem other;
  other.dim.high = 2;
  compare(other);
  EXPECT_EQ(fake_cudnn_plans(), 6);
  prepare(Problem(), BRAID_RT_CONVOLUTION_FORWARD);
  // Memory that is less aligned is another signature.
  call.operands[0].data = static_cast<char *>(call.operands[0].data) + 4;
  call.operands[0].sizes[0] = call.operands[2].sizes[0] = 1;
  device().convolve(call);
  device().convolve(call);
  EXPECT_EQ(fake_cudnn_plans(), 7);
}

TEST_F(ConvolutionsTest, areReplayedBetweenReads) {
  prepare(Problem(), BRAID_RT_CONVOLUTION_FORWARD);
  EXPECT_THAT(logOfReplay([&] { device().convolve(call); }),
              HasSubstr("graph of 8 operations"));
}

TEST_F(ConvolutionsTest, areNotPlannedWhileRecorded) {
  options.graphs = cuda::GraphUse::On;
  prepare(Problem(), BRAID_RT_CONVOLUTION_FORWARD);
  std::function<void()> body = [&] {
    device().convolve(call);
    ++call.window[0].high;
  };
  call.window[0].stride = 1000;
  call.operands[2].sizes[2] = 1;
  invoke(body);
  EXPECT_THAT(errorOf([&] { invoke(body); }),
              HasSubstr("a recording begins before the first use"));
  device().failInvocation();
}

//===----------------------------------------------------------------------===//
// Choices of the library
//===----------------------------------------------------------------------===//

TEST_F(ConvolutionsTest, preferDeterministicEngines) {
  fake_cudnn_engine engines[] = {FAKE_CUDNN_UNSUPPORTED,
                                 FAKE_CUDNN_NONDETERMINISTIC,
                                 FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_engines(engines, 3);
  compare(Problem());
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 2"));
  EXPECT_THAT(fake_cuda_log(), Not(HasSubstr("convolution engine 1")));
  // Also where only the fallbacks have one.
  fake_cudnn_set_engines(engines, 2);
  fake_cudnn_engine fallbacks[] = {
      FAKE_CUDNN_UNSUPPORTED, FAKE_CUDNN_UNSUPPORTED, FAKE_CUDNN_UNSUPPORTED,
      FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_fallbacks(fallbacks, 4);
  Problem problem;
  problem.batch = 1;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 3"));
  // Else another one is better than none.
  fake_cudnn_set_fallbacks(nullptr, 0);
  problem.batch = 3;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 1"));
}

TEST_F(ConvolutionsTest, takeTheProposalsOfModeB) {
  fake_cudnn_engine engines[] = {FAKE_CUDNN_UNSUPPORTED,
                                 FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_engines_of_mode_b(engines, 2);
  compare(Problem());
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 1"));
  EXPECT_THAT(fake_cuda_log(), Not(HasSubstr("convolution engine 0")));
  // Those of mode A where there are none.
  fake_cudnn_set_engines_of_mode_b(engines, 1);
  Problem problem;
  problem.batch = 1;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 0"));
}

TEST_F(ConvolutionsTest, roundToTF32WhereTheProgramSaysSo) {
  fake_cudnn_engine engines[] = {FAKE_CUDNN_DOWN_CONVERTING,
                                 FAKE_CUDNN_TENSOR_CORE,
                                 FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_engines(engines, 3);
  auto check = [&](int32_t dtype, int32_t precision, const char *engine) {
    Problem problem;
    problem.dtype = dtype;
    problem.precision = precision;
    prepare(problem, BRAID_RT_CONVOLUTION_FORWARD);
    device().convolve(call);
    std::string log = fake_cuda_log();
    EXPECT_THAT(log.substr(log.rfind("convolution engine")), HasSubstr(engine));
  };
  check(BRAID_RT_F32, BRAID_RT_PRECISION_F32, "engine 2");
  check(BRAID_RT_F32, BRAID_RT_PRECISION_TF32, "engine 1");
  check(BRAID_RT_F16, BRAID_RT_PRECISION_F32, "engine 0");
}

TEST_F(ConvolutionsTest, multiplyInTF32WhereAllMatmulsDo) {
  options.tf32 = true;
  fake_cudnn_engine engines[] = {FAKE_CUDNN_TENSOR_CORE,
                                 FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_engines(engines, 2);
  compare(Problem());
  EXPECT_THAT(fake_cuda_log(), HasSubstr("convolution engine 0"));
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

namespace {
/// The fastest engine, or the choice of another rank.
class TrialHooks final : public cuda::DeviceHooks {
public:
  int32_t chooseAlgorithm(const std::string &operation,
                          const std::function<int32_t()> &measure) override {
    operations.push_back(operation);
    measured.push_back(chosen < 0 ? measure() : chosen);
    return measured.back();
  }

  std::vector<std::string> operations;
  std::vector<int32_t> measured;
  int32_t chosen = -1;
};

class ConvolutionTrialsTest : public ConvolutionsTest {
protected:
  ConvolutionTrialsTest() {
    auto owned = std::make_unique<TrialHooks>();
    trials = owned.get();
    hooks = std::move(owned);
  }

  /// Proposes engines, with their costs.
  static void propose(const std::vector<fake_cudnn_engine> &engines,
                      const std::vector<int64_t> &costs) {
    fake_cudnn_set_engines(engines.data(), static_cast<int>(engines.size()));
    fake_cudnn_set_costs(costs.data(), static_cast<int>(costs.size()));
  }
  /// Runs a convolution of 64 x 64 products, and says which engine did.
  std::string engineOf(int32_t dtype = BRAID_RT_F32) {
    Problem problem;
    problem.dtype = dtype;
    prepare(problem, BRAID_RT_CONVOLUTION_FORWARD);
    fake_cuda_clear_log();
    device().convolve(call);
    std::string log = fake_cuda_log();
    log = log.substr(log.rfind("stream "));
    EXPECT_THAT(log, HasSubstr("stream 1: convolution engine "));
    return log.substr(log.find("engine"), strlen("engine 0"));
  }

  TrialHooks *trials;
};
constexpr fake_cudnn_engine good = FAKE_CUDNN_DETERMINISTIC;
} // namespace

TEST_F(ConvolutionTrialsTest, takeTheFastestEngine) {
  propose({good, good, good, good}, {4000, -1, 2000, 3000});
  compare(Problem());
  EXPECT_EQ(trials->measured, (std::vector<int32_t>{2, 2, 2}));
  EXPECT_EQ(engineOf(), "engine 2");
  EXPECT_EQ(trials->measured.size(), 3U);
}

TEST_F(ConvolutionTrialsTest, preferTheLibrarysOrderWhereTimesAreClose) {
  propose({good, good, good}, {10000, 9810, 9790});
  EXPECT_EQ(engineOf(), "engine 2");
  propose({good, good}, {10000, 9810});
  EXPECT_EQ(engineOf(BRAID_RT_F16), "engine 0");
}

TEST_F(ConvolutionTrialsTest, countDeterministicEnginesAlone) {
  propose({FAKE_CUDNN_NONDETERMINISTIC, good, FAKE_CUDNN_UNSUPPORTED,
           FAKE_CUDNN_TENSOR_CORE, good},
          {100, 3000, 100, 100, 2000});
  EXPECT_EQ(engineOf(), "engine 4");
  EXPECT_EQ(engineOf(BRAID_RT_F16), "engine 3");
  // The numbers count what may be chosen.
  EXPECT_EQ(trials->measured, (std::vector<int32_t>{1, 2}));
}

TEST_F(ConvolutionTrialsTest, takeTheEngineThatTheRanksAgreeOn) {
  trials->chosen = 1;
  propose({good, good, good}, {3000, 2000, 1000});
  EXPECT_EQ(engineOf(), "engine 1");
  EXPECT_EQ(fake_cudnn_plans(), 1);
}

TEST_F(ConvolutionTrialsTest, takeAnotherEngineWhereTheAgreedOneIsNone) {
  trials->chosen = 7;
  propose({good, good}, {});
  EXPECT_EQ(engineOf(), "engine 0");
  trials->chosen = 1;
  propose({good, FAKE_CUDNN_UNSUPPORTED}, {});
  EXPECT_EQ(engineOf(BRAID_RT_F16), "engine 0");
  trials->chosen = 0;
  propose({FAKE_CUDNN_UNSUPPORTED, good}, {});
  EXPECT_EQ(engineOf(BRAID_RT_BF16), "engine 1");
}

TEST_F(ConvolutionTrialsTest, takeTheFirstEngineWhereNothingIsMeasured) {
  options.measureAlgorithms = false;
  propose({good, good}, {2000, 1000});
  EXPECT_EQ(engineOf(), "engine 0");
  EXPECT_TRUE(trials->operations.empty());
}

TEST_F(ConvolutionTrialsTest, takeTheFirstEngineWhereNothingIsLeftToMeasureIn) {
  propose({good, good}, {2000, 1000});
  fake_cuda_fail("cuMemAllocAsync", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_EQ(engineOf(), "engine 0");
}

TEST_F(ConvolutionTrialsTest, takeTheFirstEngineOfThoseThatNeedMuchMemory) {
  propose({good, good}, {2000, 1000});
  fake_cudnn_set_workspace((int64_t(256) << 20) + 1);
  EXPECT_EQ(engineOf(), "engine 0");
}

TEST_F(ConvolutionTrialsTest, areNoneOfOneEngine) {
  propose({FAKE_CUDNN_NONDETERMINISTIC, good}, {1000, 2000});
  EXPECT_EQ(engineOf(), "engine 1");
  EXPECT_TRUE(trials->operations.empty());
}

TEST_F(ConvolutionTrialsTest, haveOneNameOnAllDevices) {
  propose({good, good}, {});
  engineOf();
  // Model, library, kind, dimensions, type, rounding and groups; windows; sizes
  // and strides with the operands' alignments.
  EXPECT_EQ(trials->operations,
            std::vector<std::string>{
                "Fake GPU, cuDNN 92000, convolution 0 2 7 1 1 2 1 1 0 2 1 1 0 "
                "0 0 0 0 2 4 5 6 0 120 1 24 4 0 16 6 4 3 2 0 24 1 8 4 0 16 2 6 "
                "2 3 0 36 1 18 6 0 16"});
  // What another version has chosen does not count.
  fake_cudnn_set_version(92100);
  engineOf(BRAID_RT_F16);
  EXPECT_THAT(trials->operations.back(), HasSubstr("GPU, cuDNN 92100, "));
}

TEST_F(ConvolutionTrialsTest, areNotMadeWhileRecorded) {
  options.graphs = cuda::GraphUse::On;
  propose({good, good}, {2000, 1000});
  prepare(Problem(), BRAID_RT_CONVOLUTION_FORWARD);
  call.window[0].stride = 1000;
  call.operands[2].sizes[2] = 1;
  std::function<void()> body = [&] { device().convolve(call); };
  invoke(body);
  EXPECT_EQ(trials->measured, std::vector<int32_t>{1});
  ++call.window[0].high;
  EXPECT_THAT(errorOf([&] { invoke(body); }),
              HasSubstr("a recording begins before the first use"));
  EXPECT_EQ(trials->measured.size(), 1U);
  device().failInvocation();
}

TEST_F(ConvolutionTrialsTest, returnToTheComputeStreamAfterAnError) {
  propose({good, good}, {2000, 1000});
  fake_cuda_fail("cuEventElapsedTime", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_NE(errorOf([&] { engineOf(); }), "");
  EXPECT_EQ(engineOf(), "engine 1");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(ConvolutionsTest, sayWhatIsNotSupported) {
  prepare(Problem(), BRAID_RT_CONVOLUTION_BACKWARD_DATA);
  fake_cudnn_set_engines(nullptr, 0);
  EXPECT_EQ(errorOf([&] { device().convolve(call); }),
            "convolution_backward_data 2x4x5x6 by 6x4x3x2 f32 on device 0 "
            "(Fake GPU): cuDNN 92000 does not support this convolution; "
            "compile the program with --convolution=decompose");
  fake_cudnn_reset();
  call.dtype = BRAID_RT_F64;
  EXPECT_THAT(errorOf([&] { device().convolve(call); }),
              HasSubstr("expected f32, f16 or bf16"));
}

TEST_F(ConvolutionsTest, nameTheLibraryThatIsMissing) {
  prepare(Problem(), BRAID_RT_CONVOLUTION_FORWARD);
  ScopedVariable nowhere("BRAID_CUDNN_LIBRARY", "/nowhere/libcudnn.so.9");
  EXPECT_THAT(errorOf([&] { device().convolve(call); }),
              AllOf(HasSubstr("cuDNN cannot be loaded"),
                    HasSubstr("/nowhere/libcudnn.so.9")));
}

TEST_F(ConvolutionsTest, releaseWhatTheyCreate) {
  int before = fake_cudnn_leaks();
  {
    ScopedVariable library("BRAID_CUDNN_LIBRARY", FAKE_CUDNN);
    TrialHooks ownHooks;
    braid::rt::cuda::Blas blas;
    CudaDevice own(driver(), blas, 0, options, ownHooks);
    fake_cudnn_engine engines[] = {FAKE_CUDNN_DETERMINISTIC,
                                   FAKE_CUDNN_DETERMINISTIC};
    fake_cudnn_set_engines(engines, 2);
    own.beginInvocation({"main", nullptr, 0, nullptr, nullptr}, nullptr);
    prepare(Problem(), BRAID_RT_CONVOLUTION_BACKWARD_FILTER);
    for (const char *function :
         {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendFinalize"})
      for (int skipped = 0; skipped != 80; ++skipped) {
        fake_cudnn_fail(function, 2000, skipped);
        errorOf([&] { own.convolve(call); });
        ++call.window[0].high;
        call.window[0].stride = 1000;
        call.operands[2].sizes[2] = 1;
      }
    fake_cudnn_reset();
    own.convolve(call);
    own.endInvocation();
    EXPECT_GT(fake_cudnn_leaks(), before);
  }
  EXPECT_EQ(fake_cudnn_leaks(), before);
}
