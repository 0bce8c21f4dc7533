#!/usr/bin/env bash
# The main job on the GPUs of this machine: estimate Inductor's program in bf16 as
# written and reordered, run both on 2 GPUs, compare every bit. Without GPUs, says
# what is missing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ranks=2 size=${BRAID_DEMO_SIZE:-4096}
gpus=0 missing=()
if ! command -v nvidia-smi >/dev/null; then
  missing+=("a GPU with its driver (there is no nvidia-smi)")
else
  gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU' || true)
  [ "$gpus" -ge $ranks ] || missing+=("$ranks GPUs (found $gpus)")
fi
# As lib/Runtime/CUDA/API looks for them: the variable's file, or the loader's.
needLibrary() {
  [ -n "${!1:-}" ] || ldconfig -p 2>/dev/null | grep -q "$2" || missing+=("$2 ($3); $1 may name the file")
}
needLibrary BRAID_CUDA_LIBRARY libcuda.so.1 "the CUDA driver"
needLibrary BRAID_CUBLASLT_LIBRARY libcublasLt.so "cuBLASLt, for matmuls"
needLibrary BRAID_NCCL_LIBRARY libnccl.so.2 "NCCL, which connects the GPUs"
if [ ${#missing[@]} -gt 0 ]; then
  fail "make demo TARGET=cuda: this machine lacks" "${missing[@]}" \
    "(make demo runs without them; make bundle takes programs to another machine)"
fi

BRAID_SETUP_SETS=build "$ROOT/tools/dev/build.sh" braid-opt braid-compile braid-run braid_rt_cuda
export PATH=$BUILD/bin:$PATH
cd "$ROOT"
program=$BUILD/demo-cuda.mlir
python3 test/Benchmark/cuda/overlap_programs.py seed --ranks=$ranks --size="$size" >"$program"

machine=h100x8
nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | grep -q H200 && machine=h200x8
costs="machine=$machine ranks=$ranks"
passes="braid-overlap{$costs}"

step "what the reordering should gain"
braid-opt "$program" --braid-prepare=target=cuda "--comm-report=$costs passes=$passes" -o /dev/null

step "the same on $ranks of $gpus GPUs"
run=(braid-run "$program" --target=cuda --passes="$passes" --ranks=$ranks --arg='random:1*0.017' --compare-results --repeat=20)
printf '\n$ %s\n' "${run[*]}"
"${run[@]}"
