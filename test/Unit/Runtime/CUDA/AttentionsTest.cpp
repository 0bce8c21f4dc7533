//===- AttentionsTest.cpp - Attention with cuDNN --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Attention.h"
#include "FakeCudnn.h"
#include "Reduce/SmallFloat.h"
#include "Setup.h"

#include <cmath>
#include <functional>

using namespace braid::rt;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Sizes and options, and numbers on the host that the reference computes with.
struct Problem {
  int64_t batch = 1, heads = 2, keyHeads = 2, queries = 6, keys = 8;
  int64_t depth = 8, valueDepth = 16;
  int64_t window = 0;
  bool causal = false, headsFirst = false;
  int64_t biasBatch = 0, biasHeads = 1; ///< 0: no bias.
  bool hasBiasGradient = false;
  int32_t dtype = BRAID_RT_BF16;
};

/// Elements by batch, head, position and element.
struct Array {
  Attention::Sizes sizes;
  std::vector<double> elements;

  explicit Array(const Attention::Sizes &sizes)
      : sizes(sizes), elements(static_cast<size_t>(sizes[0] * sizes[1] *
                                                   sizes[2] * sizes[3])) {}
  size_t place(int64_t b, int64_t h, int64_t s, int64_t d) const {
    return static_cast<size_t>(((b * sizes[1] + h) * sizes[2] + s) * sizes[3] +
                               d);
  }
  double &at(int64_t b, int64_t h, int64_t s, int64_t d) {
    return elements[place(b % sizes[0], h % sizes[1], s, d)];
  }
};

class AttentionsTest : public CudaTest {
protected:
  AttentionsTest() { fake_cudnn_reset(); }

  /// Memory of the device with the elements of an array, rounded.
  void place(Attention::Operand &operand, Array &array, bool headsFirst,
             int32_t dtype) {
    const Attention::Sizes &n = array.sizes;
    operand.dtype = dtype;
    operand.sizes = n;
    operand.strides = {n[1] * n[2] * n[3], n[2] * n[3], n[3], 1};
    if (!headsFirst)
      operand.strides = {n[1] * n[2] * n[3], n[3], n[1] * n[3], 1};
    if (dtype == BRAID_RT_F32) {
      operand.data = upload(std::vector<float>(array.elements.size()));
      return;
    }
    std::vector<uint16_t> bits(array.elements.size());
    for (int64_t b = 0; b != n[0]; ++b)
      for (int64_t h = 0; h != n[1]; ++h)
        for (int64_t s = 0; s != n[2]; ++s)
          for (int64_t d = 0; d != n[3]; ++d) {
            double &element = array.at(b, h, s, d);
            auto rounded = static_cast<float>(element);
            uint16_t code = dtype == BRAID_RT_F16 ? floatToF16(rounded)
                                                  : floatToBf16(rounded);
            element =
                dtype == BRAID_RT_F16 ? f16ToFloat(code) : bf16ToFloat(code);
            bits[offset(operand, b, h, s, d)] = code;
          }
    operand.data = upload(bits);
  }

  static size_t offset(const Attention::Operand &operand, int64_t b, int64_t h,
                       int64_t s, int64_t d) {
    const Attention::Sizes &strides = operand.strides;
    return static_cast<size_t>(b * strides[0] + h * strides[1] +
                               s * strides[2] + d * strides[3]);
  }

  Array random(const Attention::Sizes &sizes) {
    Array array(sizes);
    for (double &element : array.elements) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      element = static_cast<double>(state >> 40) / (1 << 23) - 1;
    }
    return array;
  }

  /// Compares what an operand holds with `expected`.
  void expect(const char *what, const Attention::Operand &operand,
              Array expected) {
    size_t count = expected.elements.size();
    double most = 0;
    for (double element : expected.elements)
      most = std::max(most, std::abs(element));
    double limit = most * (operand.dtype == BRAID_RT_F32 ? 1e-5 : 2e-2);
    std::vector<float> found;
    if (operand.dtype == BRAID_RT_F32)
      found = download<float>(operand.data, count);
    else
      for (uint16_t code : download<uint16_t>(operand.data, count))
        found.push_back(operand.dtype == BRAID_RT_F16 ? f16ToFloat(code)
                                                      : bf16ToFloat(code));
    const Attention::Sizes &n = expected.sizes;
    for (int64_t b = 0; b != n[0]; ++b)
      for (int64_t h = 0; h != n[1]; ++h)
        for (int64_t s = 0; s != n[2]; ++s)
          for (int64_t d = 0; d != n[3]; ++d)
            ASSERT_NEAR(found[offset(operand, b, h, s, d)],
                        expected.at(b, h, s, d), limit)
                << what << " " << b << " " << h << " " << s << " " << d;
  }

  /// Both calls of a problem, with new memory.
  void prepare(const Problem &problem);
  /// Runs both calls beside loops.
  void compare(const Problem &problem);

  Attention forward, backward;
  std::vector<Array> arrays; ///< By role.

private:
  ScopedVariable library{"BRAID_CUDNN_LIBRARY", FAKE_CUDNN};
  uint64_t state = 1;
};

constexpr double scale = 0.5;

void AttentionsTest::prepare(const Problem &p) {
  forward = backward = Attention();
  arrays.clear();
  bool hasBias = p.biasBatch > 0;
  Attention::Sizes queries = {p.batch, p.heads, p.queries, p.depth};
  Attention::Sizes keys = {p.batch, p.keyHeads, p.keys, p.depth};
  Attention::Sizes values = {p.batch, p.keyHeads, p.keys, p.valueDepth};
  Attention::Sizes result = {p.batch, p.heads, p.queries, p.valueDepth};
  Attention::Sizes bias = {hasBias ? p.biasBatch : 1, p.biasHeads, p.queries,
                           p.keys};
  Attention::Sizes all[] = {queries, keys,    values,
                            bias,    result,  {p.batch, p.heads, p.queries, 1},
                            result,  queries, keys,
                            values,  bias};
  backward.isBackward = true;
  backward.options = {scale, p.window, p.causal, 0};
  forward.options = backward.options;
  for (int32_t role = 0; role != BRAID_RT_ATTENTION_BACKWARD_OPERANDS; ++role) {
    arrays.push_back(random(all[role]));
    bool isBias = role == BRAID_RT_ATTENTION_BIAS;
    bool isBiasGradient = role == BRAID_RT_ATTENTION_BIAS_GRADIENT;
    if ((isBias && !hasBias) || (isBiasGradient && !p.hasBiasGradient))
      continue;
    bool isSum = role == BRAID_RT_ATTENTION_LOG_SUMS;
    place(backward.operands[static_cast<size_t>(role)], arrays.back(),
          p.headsFirst || isBias || isBiasGradient || isSum,
          isSum ? BRAID_RT_F32 : p.dtype);
  }
  std::copy_n(backward.operands.begin(), size_t(BRAID_RT_ATTENTION_OPERANDS),
              forward.operands.begin());
}

void AttentionsTest::compare(const Problem &p) {
  prepare(p);
  device().attend(forward);
  device().attend(backward);
  auto array = [&](int32_t role) -> Array & {
    return arrays[static_cast<size_t>(role)];
  };
  Array &q = array(BRAID_RT_ATTENTION_QUERIES),
        &k = array(BRAID_RT_ATTENTION_KEYS);
  Array &v = array(BRAID_RT_ATTENTION_VALUES),
        &bias = array(BRAID_RT_ATTENTION_BIAS);
  Array &gradient = array(BRAID_RT_ATTENTION_RESULT_GRADIENT);
  Array out(gradient.sizes), sums({p.batch, p.heads, p.queries, 1});
  Array dq(q.sizes), dk(k.sizes), dv(v.sizes), dbias(bias.sizes);
  int64_t group = p.heads / p.keyHeads;
  for (int64_t b = 0; b != p.batch; ++b)
    for (int64_t h = 0; h != p.heads; ++h)
      for (int64_t i = 0; i != p.queries; ++i) {
        std::vector<double> weights(static_cast<size_t>(p.keys));
        double sum = 0, share = 0;
        for (int64_t j = 0; j != p.keys; ++j) {
          double score = p.biasBatch > 0 ? bias.at(b, h, i, j) : 0;
          for (int64_t d = 0; d != p.depth; ++d)
            score += scale * q.at(b, h, i, d) * k.at(b, h / group, j, d);
          bool isRead =
              !p.causal || (j <= i && (p.window == 0 || j > i - p.window));
          sum += weights[static_cast<size_t>(j)] = isRead ? std::exp(score) : 0;
        }
        sums.at(b, h, i, 0) = std::log(sum);
        for (double &weight : weights)
          weight /= sum;
        for (int64_t d = 0; d != p.valueDepth; ++d) {
          for (int64_t j = 0; j != p.keys; ++j)
            out.at(b, h, i, d) +=
                weights[static_cast<size_t>(j)] * v.at(b, h / group, j, d);
          share += out.at(b, h, i, d) * gradient.at(b, h, i, d);
        }
        for (int64_t j = 0; j != p.keys; ++j) {
          double weight = weights[static_cast<size_t>(j)], other = 0;
          for (int64_t d = 0; d != p.valueDepth; ++d) {
            other += gradient.at(b, h, i, d) * v.at(b, h / group, j, d);
            dv.at(b, h / group, j, d) += weight * gradient.at(b, h, i, d);
          }
          double ds = weight * (other - share);
          dbias.at(b, h, i, j) += ds;
          for (int64_t d = 0; d != p.depth; ++d) {
            dq.at(b, h, i, d) += scale * ds * k.at(b, h / group, j, d);
            dk.at(b, h / group, j, d) += scale * ds * q.at(b, h, i, d);
          }
        }
      }
  expect("result", forward.operand(BRAID_RT_ATTENTION_RESULT), out);
  expect("sums", forward.operand(BRAID_RT_ATTENTION_LOG_SUMS), sums);
  expect("dq", backward.operand(BRAID_RT_ATTENTION_QUERY_GRADIENT), dq);
  expect("dk", backward.operand(BRAID_RT_ATTENTION_KEY_GRADIENT), dk);
  expect("dv", backward.operand(BRAID_RT_ATTENTION_VALUE_GRADIENT), dv);
  if (p.hasBiasGradient)
    expect("dbias", backward.operand(BRAID_RT_ATTENTION_BIAS_GRADIENT), dbias);
}

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(AttentionsTest, haveBothLayoutsAndTypes) {
  for (bool headsFirst : {false, true})
    for (int32_t dtype : {BRAID_RT_BF16, BRAID_RT_F16}) {
      Problem problem;
      problem.batch = 2;
      problem.headsFirst = headsFirst;
      problem.dtype = dtype;
      compare(problem);
    }
}

TEST_F(AttentionsTest, haveMasksAndWindows) {
  for (int64_t window : {0, 3}) {
    Problem problem;
    problem.causal = true;
    problem.window = window;
    compare(problem);
  }
  // Queries that read all keys.
  Problem problem;
  problem.causal = true;
  problem.queries = 9;
  problem.keys = 4;
  compare(problem);
}

TEST_F(AttentionsTest, haveGroupedHeads) {
  for (int64_t keyHeads : {1, 2}) {
    Problem problem;
    problem.heads = 4;
    problem.keyHeads = keyHeads;
    problem.batch = 2;
    compare(problem);
  }
}

TEST_F(AttentionsTest, haveBiases) {
  for (int64_t batch : {1, 2})
    for (int64_t heads : {1, 2}) {
      Problem problem;
      problem.batch = 2;
      problem.biasBatch = batch;
      problem.biasHeads = heads;
      problem.causal = heads == 2;
      problem.hasBiasGradient = true;
      compare(problem);
    }
}

//===----------------------------------------------------------------------===//
// Plans and recordings
//===----------------------------------------------------------------------===//

TEST_F(AttentionsTest, arePlannedOnce) {
  compare(Problem());
  EXPECT_EQ(fake_cudnn_plans(), 2);
  compare(Problem()); // other memory
  EXPECT_EQ(fake_cudnn_plans(), 2);
  Problem other;
  other.queries = 7;
  compare(other);
  EXPECT_EQ(fake_cudnn_plans(), 4);
  forward.options.scale = 1;
  device().attend(forward);
  EXPECT_EQ(fake_cudnn_plans(), 5);
}

TEST_F(AttentionsTest, getMoreMemoryForALargerPlan) {
  for (int64_t bytes : {int64_t(0), int64_t(1) << 20, int64_t(1) << 10}) {
    fake_cudnn_set_workspace(bytes);
    Problem problem;
    problem.keys = 8 + 8 * (bytes >> 10);
    problem.keys = std::min<int64_t>(problem.keys, 24);
    problem.heads = bytes == 0 ? 2 : 4;
    compare(problem);
  }
}

// `invoke` has an entry for each type of a body.
using Body = std::function<void()>;

TEST_F(AttentionsTest, areRecordedWithAWholeInvocation) {
  options.graphs = cuda::GraphUse::On;
  prepare(Problem());
  int made = 0;
  Body body = [&] {
    ++made;
    device().attend(forward);
  };
  EXPECT_FALSE(invoke(body));
  EXPECT_FALSE(invoke(body));
  EXPECT_TRUE(invoke(body));
  EXPECT_EQ(made, 2);
}

TEST_F(AttentionsTest, areReplayedBetweenReads) {
  prepare(Problem());
  EXPECT_THAT(logOfReplay([&] { device().attend(forward); }),
              HasSubstr("graph of 8 operations"));
}

TEST_F(AttentionsTest, areNotPlannedWhileRecorded) {
  options.graphs = cuda::GraphUse::On;
  prepare(Problem());
  bool isFirst = true;
  Body body = [&] {
    device().attend(isFirst ? forward : backward);
    isFirst = false;
  };
  invoke(body);
  EXPECT_THAT(errorOf([&] { invoke(body); }),
              HasSubstr("a recording begins before the first use"));
  device().failInvocation();
}

//===----------------------------------------------------------------------===//
// Choices of the library
//===----------------------------------------------------------------------===//

TEST_F(AttentionsTest, preferDeterministicEngines) {
  fake_cudnn_engine engines[] = {FAKE_CUDNN_UNSUPPORTED,
                                 FAKE_CUDNN_NONDETERMINISTIC,
                                 FAKE_CUDNN_DETERMINISTIC};
  fake_cudnn_set_engines(engines, 3);
  compare(Problem());
  EXPECT_THAT(fake_cuda_log(),
              HasSubstr("attention engine 2 of 10 operations"));
  EXPECT_THAT(fake_cuda_log(), Not(HasSubstr("attention engine 1")));
}

TEST_F(AttentionsTest, mayAddUpGradientsInAnyOrder) {
  options.fastAttentionGradients = true;
  Problem problem;
  problem.heads = 4;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("of 20 operations"));
  // The gradient of a bias needs those of the scores in memory.
  problem.biasBatch = 1;
  problem.biasHeads = 4;
  problem.hasBiasGradient = true;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("of 21 operations"));
  // Versions that do not clear the sums get no sums.
  problem = Problem();
  problem.queries = 5;
  fake_cudnn_set_version(90500);
  problem.keys = 128;
  compare(problem);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("of 17 operations"));
}

TEST_F(AttentionsTest, takeWhatElseTheLibraryHas) {
  fake_cudnn_engine unsupported = FAKE_CUDNN_UNSUPPORTED;
  fake_cudnn_engine fallback = FAKE_CUDNN_NONDETERMINISTIC;
  fake_cudnn_set_engines(&unsupported, 1);
  fake_cudnn_set_fallbacks(&fallback, 1);
  compare(Problem());
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(AttentionsTest, sayWhatIsNotSupported) {
  prepare(Problem());
  fake_cudnn_set_engines(nullptr, 0);
  EXPECT_EQ(errorOf([&] { device().attend(forward); }),
            "attention 1x2x6x8x8 bf16 on device 0 (Fake GPU): cuDNN 92000 does "
            "not support this attention; compile the program with "
            "--attention=decompose");
  fake_cudnn_reset();
  auto *data = static_cast<char *>(forward.operands[0].data);
  forward.operands[0].data = data + 8;
  EXPECT_THAT(errorOf([&] { device().attend(forward); }),
              HasSubstr("expected a multiple of 16"));
  forward.operands[0].data = data;
  forward.operands[0].dtype = BRAID_RT_F32;
  EXPECT_THAT(errorOf([&] { device().attend(forward); }),
              HasSubstr("expected bf16 or f16"));
}

TEST_F(AttentionsTest, refuseVersionsWithWrongResults) {
  prepare(Problem());
  fake_cudnn_set_version(91001);
  EXPECT_THAT(errorOf([&] { device().attend(forward); }),
              HasSubstr("the results of cuDNN 91001 are wrong, expected at "
                        "least 91002"));
  fake_cudnn_set_version(91500);
  EXPECT_EQ(errorOf([&] { device().attend(forward); }), "");
  EXPECT_THAT(errorOf([&] { device().attend(backward); }),
              HasSubstr("expected at least 91501 (9.15.1) for gradients of 8 "
                        "keys, no multiple of 128"));
}

TEST_F(AttentionsTest, nameTheLibraryThatIsMissingOrOld) {
  prepare(Problem());
  {
    ScopedVariable nowhere("BRAID_CUDNN_LIBRARY", "/nowhere/libcudnn.so.9");
    EXPECT_THAT(errorOf([&] { device().attend(forward); }),
                AllOf(HasSubstr("cuDNN cannot be loaded"),
                      HasSubstr("/nowhere/libcudnn.so.9")));
  }
  fake_cudnn_set_version(90000);
  EXPECT_THAT(errorOf([&] { device().attend(forward); }),
              HasSubstr("has version 90000, expected 90100 (9.1) or newer"));
}

TEST_F(AttentionsTest, passOnErrorsOfTheLibrary) {
  prepare(Problem());
  for (const char *function :
       {"cudnnCreate", "cudnnSetStream", "cudnnBackendCreateDescriptor",
        "cudnnBackendSetAttribute", "cudnnBackendFinalize",
        "cudnnBackendExecute"}) {
    fake_cudnn_fail(function, 2000, 0);
    EXPECT_THAT(errorOf([&] { device().attend(forward); }),
                HasSubstr(std::string(function) +
                          " failed: CUDNN_STATUS_BAD_PARAM (fake detail)"));
  }
  EXPECT_EQ(errorOf([&] { device().attend(forward); }), "");
}

TEST_F(AttentionsTest, releaseWhatTheyCreate) {
  int before = fake_cudnn_leaks();
  {
    ScopedVariable library("BRAID_CUDNN_LIBRARY", FAKE_CUDNN);
    braid::rt::cuda::DeviceHooks ownHooks;
    braid::rt::cuda::Blas blas;
    CudaDevice own(driver(), blas, 0, options, ownHooks);
    own.beginInvocation({"main", nullptr, 0, nullptr, nullptr}, nullptr);
    prepare(Problem());
    for (const char *function :
         {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendFinalize"})
      for (int skipped = 0; skipped != 150; skipped += 3) {
        fake_cudnn_fail(function, 2000, skipped);
        errorOf([&] { own.attend(backward); });
        forward.options.scale = skipped;
        errorOf([&] { own.attend(forward); });
      }
    fake_cudnn_reset();
    own.attend(forward);
    own.attend(backward);
    own.endInvocation();
    EXPECT_GT(fake_cudnn_leaks(), before);
  }
  EXPECT_EQ(fake_cudnn_leaks(), before);
}
