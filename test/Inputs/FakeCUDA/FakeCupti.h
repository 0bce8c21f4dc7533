//===- FakeCupti.h - Control of the fake CUPTI ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// CUPTI's activity API on the fake CUDA driver: records hold the host's times
// of what the streams' threads run. What CUPTI's manual forbids ends the
// process with a message that starts with `fake CUPTI:`.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_INPUTS_FAKECUDA_FAKECUPTI_H
#define BRAID_TEST_INPUTS_FAKECUDA_FAKECUPTI_H

extern "C" {

/// Restores the defaults, and forgets the records that are not delivered.
void fake_cupti_reset(void);

void fake_cupti_set_version(unsigned version); ///< 130001 for CUDA 13.0.

/// All calls of cuptiSubscribe return `result`.
void fake_cupti_fail_subscription(unsigned result);

/// The next flushes deliver nothing.
void fake_cupti_hold(int flushes);

/// What the clock of the library is ahead of the one that it was given.
void fake_cupti_set_clock_offset(long long ns);

/// Whether calls have no external correlation, as those of other threads.
void fake_cupti_forget_correlations(int forget);

/// How many kinds of activities are enabled.
int fake_cupti_enabled(void);
}

#endif // BRAID_TEST_INPUTS_FAKECUDA_FAKECUPTI_H
