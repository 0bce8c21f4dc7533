// A program beside a given trace of a run on a device.
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal trace=%S/Inputs/device-run.json measured-profile=%t.profile.json" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal format=json trace=%S/Inputs/device-run.json" 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: FileCheck %s --check-prefix=PROFILE --input-file=%t.profile.json

comm.group @world [[0, 1]]

func.func @step(%x: tensor<8x4xbf16>, %w: tensor<4x8xbf16>, %s: tensor<4x8xbf16>, %z: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %t = comm.all_gather %s on @world dim 0 {comm.label = "gather", comm.cost_ns = 250 : i64} : tensor<4x8xbf16> -> tensor<8x8xbf16>
  %a = arith.addf %x, %x {comm.cost_ns = 100 : i64} : tensor<8x4xbf16>
  %b = linalg.matmul {comm.label = "first", comm.cost_ns = 100 : i64} ins(%a, %w : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%z : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %g = comm.wait %t : !comm.token<tensor<8x8xbf16>>
  %c = linalg.matmul {comm.cost_ns = 300 : i64} ins(%b, %g : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%z : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %c : tensor<8x8xbf16>
}

// The ops that deviate most come first. Times count from the first work of the device.
// TEXT:      ==== Predicted and measured, @step, rank 0 ====
// TEXT-NEXT: predicted 550 ns, measured 1200 ns, +118.2 %
// TEXT-NEXT: predicted {{[.=]+}}  compute
// TEXT-NEXT: measured  {{[.=]+}}  compute
// TEXT-NEXT: predicted {{[.#]+}}  world
// TEXT-NEXT: measured  {{[.#]+}}  world
// TEXT-NEXT:      off ns  predicted ns   measured ns  op
// TEXT-NEXT:        +600           300           900  matmul 8x8x8 bf16
// TEXT-NEXT:        +100           100           200  first
// TEXT-NEXT:         +50           250           300  gather
// TEXT-NEXT:         -50           100            50  kernels before first
// TEXT-EMPTY:
// TEXT-NEXT: ==== Timeline of @step ====

// JSON:      "comparison": {
// JSON-NEXT:   "function": "step",
// JSON-NEXT:   "rank": 0,
// JSON-NEXT:   "predicted_ns": 550,
// JSON-NEXT:   "measured_ns": 1200,
// JSON-NEXT:   "ops": [
// JSON-NEXT:     {
// JSON-NEXT:       "name": "matmul 8x8x8 bf16",
// JSON-NEXT:       "lane": "compute",
// JSON-NEXT:       "predicted_start_ns": 250,
// JSON-NEXT:       "predicted_end_ns": 550,
// JSON-NEXT:       "measured_start_ns": 300,
// JSON-NEXT:       "measured_end_ns": 1200,
// JSON-NEXT:       "deviation_ns": 600
// JSON-NEXT:     },
// JSON:        "unmatched": []

// Costs as the run has them, for the next schedule.
// PROFILE:      "version": 1,
// PROFILE-NEXT: "machine": "ideal",
// PROFILE:      "signature": "arith.addf(8x4xbf16, 8x4xbf16) -> (8x4xbf16)",
// PROFILE-NEXT: "ns": [
// PROFILE-NEXT:   50
// PROFILE:      "signature": "comm.all_gather bf16, 2 ranks, 128 bytes",
// PROFILE-NEXT: "ns": [
// PROFILE-NEXT:   300
// PROFILE:      "signature": "linalg.matmul(8x4xbf16, 4x8xbf16) -> (8x8xbf16)",
// PROFILE-NEXT: "ns": [
// PROFILE-NEXT:   200
// PROFILE:      "signature": "linalg.matmul(8x8xbf16, 8x8xbf16) -> (8x8xbf16)",
// PROFILE-NEXT: "ns": [
// PROFILE-NEXT:   900
