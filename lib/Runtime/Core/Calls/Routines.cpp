//===- Routines.cpp - Routines of libraries ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Routines.h"
#include "Core/Context.h"
#include "Engine/Routine.h"

using namespace braid;
using namespace braid::rt;

static std::vector<RoutineOperand>
getOperands(const std::vector<braid_rt_view> &views) {
  std::vector<RoutineOperand> operands;
  for (const braid_rt_view &view : views)
    operands.push_back({view.dtype, {view.sizes, view.sizes + view.rank}});
  return operands;
}

/// `2x3 of f32`.
static std::string describe(const braid_rt_view &view) {
  std::string text = "a scalar";
  for (int32_t i = 0; i < view.rank; ++i)
    text = (i ? text + 'x' : "") + std::to_string(view.sizes[i]);
  const char *name = braid_rt_dtype_name(view.dtype);
  return text + " of " + (name ? name : std::to_string(view.dtype));
}

/// Throws an Error unless the operands of the call fit its routine.
static void check(RoutineCall &call) {
  std::optional<RoutineFault> fault = matchRoutine(
      {call.routine, call.flags, call.dimensions}, getOperands(call.inputs),
      getOperands(call.outputs), call.shape);
  if (!fault)
    return;
  std::string found;
  switch (fault->kind) {
  case RoutineFault::Kind::Routine:
    throw Error("the program asks for routine number " +
                std::to_string(call.routine) + ", expected " + fault->expected);
  case RoutineFault::Kind::Flags:
    found = "the flags are '" + call.flags + "'";
    break;
  case RoutineFault::Kind::Dimensions:
    found = "the number of dimensions is " + std::to_string(call.dimensions);
    break;
  case RoutineFault::Kind::Count:
    found = "there are " + std::to_string(call.inputs.size()) + " inputs and " +
            std::to_string(call.outputs.size()) + " outputs";
    break;
  case RoutineFault::Kind::Input:
    found = "input " + std::to_string(fault->number) + " is " +
            describe(call.inputs[fault->number]);
    break;
  case RoutineFault::Kind::Output:
    found = "output " + std::to_string(fault->number) + " is " +
            describe(call.outputs[fault->number]);
    break;
  }
  throw Error(std::string(call.name()) + ": " + found + ", expected " +
              fault->expected);
}

void braid_rt_call_routine(int32_t routine, const char *flags,
                           int64_t dimensions, int64_t inputCount,
                           const braid_rt_view *inputs, int64_t outputCount,
                           const braid_rt_view *outputs,
                           const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    context.atSite(site, [&]() {
      RoutineCall call = {routine,
                          flags,
                          dimensions,
                          {inputs, inputs + inputCount},
                          {outputs, outputs + outputCount},
                          {}};
      check(call);
      if (call.batch() != 0 && !context.skips(BRAID_RT_SKIP_COMPUTE))
        context.device.callRoutine(call);
    });
  });
}
