//===- MatmulChoiceTest.cpp - The choice of an algorithm for a matmul -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulSetup.h"

using namespace braid::rt;
using testing::HasSubstr;

namespace {
/// The first eight proposals, or the choice of another rank.
class MeasuringHooks final : public cuda::DeviceHooks {
public:
  int32_t chooseAlgorithm(const std::string &matmul,
                          const std::function<int32_t()> &measure) override {
    matmuls.push_back(matmul);
    measured.push_back(chosen < 0 ? measure() : chosen);
    return measured.back();
  }

  std::vector<std::string> matmuls;
  std::vector<int32_t> measured;
  int32_t chosen = -1;
};

class MatmulChoiceTest : public CudaTest {
protected:
  MeasuringHooks &measureMatmuls() {
    auto owned = std::make_unique<MeasuringHooks>();
    MeasuringHooks &result = *owned;
    hooks = std::move(owned);
    return result;
  }
};
} // namespace

TEST_F(MatmulChoiceTest, takeTheFirstProposalOfARankAlone) {
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(matmulOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_STREQ(fake_cuda_log(), "stream 1: matmul algorithm 1 compute 68 "
                                "multiprocessors 0\n");
}

TEST_F(MatmulChoiceTest, takeTheFirstProposalWhereNothingIsMeasured) {
  MeasuringHooks &measuring = measureMatmuls();
  options.measureAlgorithms = false;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(matmulOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("matmul algorithm 1 "));
  EXPECT_TRUE(measuring.matmuls.empty());
}

TEST_F(MatmulChoiceTest, takeTheFastestProposal) {
  MeasuringHooks &measuring = measureMatmuls();
  const int64_t costs[] = {4000, -1, 2000, 3000};
  fake_cublaslt_set_costs(costs, 4);
  Comparison{matmulOf(BRAID_RT_F32, 5, 7, 3)}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{2});
  // Twice the same matmul is measured once.
  fake_cuda_clear_log();
  Comparison{matmulOf(BRAID_RT_F32, 5, 7, 3)}.run(device());
  EXPECT_THAT(fake_cuda_log(), HasSubstr("matmul algorithm 3 "));
  EXPECT_EQ(measuring.measured.size(), 1U);
}

TEST_F(MatmulChoiceTest, measureBesideWhatTheProgramWaitsFor) {
  MeasuringHooks &measuring = measureMatmuls();
  auto *memory = upload(std::vector<float>(1024, 1.0F));
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  cuda::Driver &cuda = driver();
  // The compute stream waits for a stream that waits for the other device, as
  // for a message that another rank has yet to send.
  cuda::ContextHandle other = nullptr;
  cuda::Stream sender = nullptr;
  cuda::Event sent = nullptr;
  cuda.devicePrimaryCtxRetain(&other, 1);
  cuda.ctxSetCurrent(other);
  cuda.streamCreateWithPriority(&sender, cuda::STREAM_NON_BLOCKING, 0);
  cuda.eventCreate(&sent, cuda::EVENT_NO_TIMING);
  fake_cuda_block(1);
  cuda.eventRecord(sent, sender);
  device().gpu().makeCurrent();
  cuda.streamWaitEvent(device().gpu().stream, sent, 0);
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{2});
  EXPECT_EQ(cuda.streamQuery(device().gpu().stream), cuda::ERROR_NOT_READY);
  fake_cuda_unblock(1);
  EXPECT_EQ(download<float>(memory + 512, 4), std::vector<float>(4, 2.0F));
  cuda.ctxSetCurrent(other);
  cuda.eventDestroy(sent);
  cuda.streamDestroy(sender);
  cuda.devicePrimaryCtxRelease(1);
  device().gpu().makeCurrent();
}

TEST_F(MatmulChoiceTest, measureWithTheBiasOfTheProgram) {
  measureMatmuls();
  Matmul p = matmulOf(BRAID_RT_F32, 4, 6, 5);
  Comparison{p, /*hasBias=*/true}.run(device());
}

TEST_F(MatmulChoiceTest, preferTheLibrarysOrderWhereTimesAreClose) {
  MeasuringHooks &measuring = measureMatmuls();
  const int64_t costs[] = {-1, 10000, 9810, 9790, 9700};
  fake_cublaslt_set_costs(costs, 5);
  Comparison{matmulOf(BRAID_RT_F32, 5, 7, 3)}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{3});
}

TEST_F(MatmulChoiceTest, tryProposalsForFewerMultiprocessors) {
  MeasuringHooks &measuring = measureMatmuls();
  const int64_t costs[] = {4000, 3000}, fewer[] = {9000, 1000};
  fake_cublaslt_set_costs(costs, 2);
  fake_cublaslt_set_costs_of_whole_clusters(fewer, 2);
  Matmul p = matmulOf(BRAID_RT_F32, 5, 7, 3);
  p.options.multiprocessors = 124;
  fake_cuda_clear_log();
  Comparison{p}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{3});
  EXPECT_THAT(fake_cuda_log(),
              HasSubstr("algorithm 4 compute 68 multiprocessors 124\n"));
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 2);
  // All multiprocessors, and a number that whole clusters fill.
  p.options.multiprocessors = 0;
  Comparison{p}.run(device());
  p.options.multiprocessors = 120;
  Comparison{p}.run(device());
  EXPECT_EQ(measuring.measured, (std::vector<int32_t>{3, 1, 3}));
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 4);
}

TEST_F(MatmulChoiceTest, askOnceForFewerMultiprocessorsIfNothingIsMeasured) {
  measureMatmuls();
  options.measureAlgorithms = false;
  Matmul p = matmulOf(BRAID_RT_F32, 5, 7, 3);
  p.options.multiprocessors = 124;
  Comparison{p}.run(device());
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 1);
}

TEST_F(MatmulChoiceTest, preferLargeClustersThatLeaveMultiprocessors) {
  MeasuringHooks &measuring = measureMatmuls();
  const int64_t costs[] = {10000, 9850, 9950, 10200, 9900};
  // 2x1x1, 1x1x1, 4x2x1, 4x4x1 and 2x4x1.
  const uint16_t shapes[] = {3, 2, 7, 10, 9};
  fake_cublaslt_set_costs(costs, 5);
  fake_cublaslt_set_cluster_shapes(shapes, 5);
  Matmul p = matmulOf(BRAID_RT_F32, 5, 7, 3);
  Comparison{p}.run(device());
  p.options.multiprocessors = 120;
  Comparison{p}.run(device());
  // Clusters of 16 take 3.6 % longer; the first of those of 8 wins.
  EXPECT_EQ(measuring.measured, (std::vector<int32_t>{0, 2}));
}

TEST_F(MatmulChoiceTest, measureWithoutAddingTwice) {
  measureMatmuls();
  Matmul p = matmulOf(BRAID_RT_F32, 5, 7, 3);
  p.beta = 1;
  Comparison{p}.run(device());
}

TEST_F(MatmulChoiceTest, takeTheFirstProposalWhereNothingIsLeftToMeasureIn) {
  MeasuringHooks &measuring = measureMatmuls();
  Matmul p = matmulOf(BRAID_RT_F32, 5, 7, 3);
  p.beta = 1;
  fake_cuda_fail("cuMemAllocAsync", cuda::ERROR_OUT_OF_MEMORY, 0);
  Comparison{p}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{0});
}

TEST_F(MatmulChoiceTest, takeTheProposalThatTheRanksAgreeOn) {
  MeasuringHooks &measuring = measureMatmuls();
  measuring.chosen = 1;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(matmulOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_STREQ(fake_cuda_log(), "stream 1: matmul algorithm 2 compute 68 "
                                "multiprocessors 0\n");
}

TEST_F(MatmulChoiceTest, haveOneNameOnAllDevices) {
  MeasuringHooks &measuring = measureMatmuls();
  auto *memory = upload(std::vector<float>(1024));
  device().multiply(matmulOf(BRAID_RT_F32, 2, 3, 4), memory, memory + 256,
                    memory + 512);
  // Model, library, all of the matmul, and the operands' alignments.
  EXPECT_EQ(measuring.matmuls,
            std::vector<std::string>{"Fake GPU, cuBLASLt 130200, 7 0 1 2 3 4 4 "
                                     "3 3 0 0 0 0 7 256 256 256"});
}

TEST_F(MatmulChoiceTest, areNotMeasuredWhereOneProposalIsAll) {
  MeasuringHooks &measuring = measureMatmuls();
  const int64_t cost = 1000;
  fake_cublaslt_set_costs(&cost, 1);
  Comparison{matmulOf(BRAID_RT_F32, 2, 2, 2)}.run(device());
  EXPECT_TRUE(measuring.matmuls.empty());
}
