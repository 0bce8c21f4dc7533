//===- Help.cpp - The text of braid-run --help ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options/Options.h"

const char *const braid::run::helpText =
    R"(usage: braid-run PROGRAM [options]
       mpirun -n N braid-run PROGRAM [options]
       srun -n N braid-run PROGRAM [options]
       torchrun --nproc-per-node=N --no-python braid-run PROGRAM [options]
       braid-run --analyze-dumps=DIR

Runs a program on ranks. PROGRAM is an MLIR file, which braid-compile compiles
first, or a shared object that it has written (the name ends in .so). Under a
launcher each process is one rank; else ranks are threads of this process.

What runs:
  --ranks=N             number of ranks (1; under a launcher: what it has
                        started)
  --target=NAME         what to run on: host, cuda or interpreter (all ranks in
                        one process, op by op, with all checks); default: what a
                        shared object was compiled for, else host
  --engine=NAME         what connects the ranks: inproc (threads of this
                        process), mpi or cuda; default: as the target and the
                        environment say
  --entry=NAME          the function to run ("main", or the only one)
  --arg=VALUE           one for each argument of the entry, or one for all:
                          ones, zeros, ones+rank, iota, a number (a whole one
                                        for integers),
                          random:SEED   the same at every run, different ranks
                                        get different values; random:SEED*0.1
                                        multiplies them
                          FILE.npy      {rank} in the name is the rank
                        VALUE@4x8 gives the sizes of an argument with dynamic
                        ones (a file has its own)
  --send-program        rank 0 sends its program to the other processes, which
                        run it; else each process reads its own file, and all
                        must have the same
  --show-binding        say which cores each rank may use and how to bind it;
                        without PROGRAM nothing is run
  --link=latency=20us,bandwidth=10GB/s
                        let every collective take as long as on such a link
                        (engine inproc)
  --reductions=KIND     engine mpi: ordered (the bits of inproc, the default) or
                        fast (the MPI library's own reductions)

How the program is compiled (a shared object is compiled already):
  --passes=LIST         the passes between preparation and lowering, as a list
                        or as builtin.module(LIST), or none; default:
                        braid-overlap, for this number of ranks
  --pass-pipeline=LIST  the same, by MLIR's name of the option
  --chip=NAME           the GPU to compile for, with the target cuda; default:
                        that of the device
  --attention=KIND      what computes attention, with the target cuda: library
                        (cuDNN, where it supports the op; the default) or
                        decompose (matmuls, sums and elementwise ops)
  --convolution=KIND    the same for convolutions
  --verify=KIND         what becomes of an error that comm-verify finds in the
                        program or its schedule: error (the default), warning,
                        off, or each (error, also after each pass)
  --plans=N             compile the program with the N best plans of
                        multiprocessors and engines, run all in turn, and say
                        which one is the fastest (1)
  --tune=N              run, schedule again with the costs that the run has had,
                        and so on, until the order stays, at most N times; not
                        with --report
  --tuned-profile=FILE  where --tune writes the costs with which the fastest
                        program was scheduled (tuned-profile.json)

Results:
  --out=FILE.npy        write results; {rank} and {result} (from 0) in the name
                        are replaced, and needed where there are several
  --print               print the results of every rank
  --compare-results     run the program as written, too, and compare the results
                        that the entry returns
  --compare-results=REF.so
                        compare with this program instead
  --expect=FILE.npy     compare with results of another run; {rank} and {result}
                        as for --out
  --tolerance=KIND      how: exact (bit by bit), auto (as element type and
                        length of sums allow, with --compare-results only if
                        sums of the program may have another order, else exact)
                        or the largest error, relative to the largest element

Measurements:
  --repeat=N            run N times and report the median time (1)
  --warmup=N            run N times before (0; 3 for the target cuda)
  --idle=TIME           do nothing for this time, such as 500ms, before the
                        first run and before each measurement of
                        --measure-bounds (0s)
  --interleave-with=OTHER.so
                        run this program in turn, too, any number of times; with
                        --compare-results or --expect its results are compared
                        as well
  --measure-bounds      measure compute and communication alone, too
  --show-overlap        say how much of the communication compute hides
  --report              compare the run with the prediction of the model, op by
                        op, as comm-report prints it on stderr
  --report=OPTIONS      the same with options of comm-report, such as
                        "machine=h200x8 format=html output=page.html"
  --measurements=FILE.json
                        write the measurements of all runs
  --trace=FILE.json     write a trace for ui.perfetto.dev; with {rank} in the
                        name one for each rank, as trace tools want them

Failures:
  --timeout=TIME        how long a wait waits for a rank that does not come
                        (30s; engine cuda: 600s)
  --flight-recorder=PREFIX
                        where a failure or SIGUSR1 leaves the last operations
                        of each rank: PREFIX0.json, PREFIX1.json, ...
  --analyze-dumps=DIR   read such files and say which rank is behind and what
                        the others wait for; runs no program

Target interpreter:
  --repeat=N            run N interleavings, which must have the same results (1)
  --interleaving=KIND   which rank goes on: random (a random one, the default) or
                        in-order (the lowest one that does not wait)
  --seed=N              of the first random interleaving (0)
  --passes=LIST         run by braid-opt before; default: none

Engine cuda:
  --device=N            number of this rank's GPU; default: its place among the
                        ranks of this host
  --cuda-graph          record a step once and replay it
  --matmul-tuning=KIND  how to choose the algorithms of the matrix library:
                        measure (before the first run, the default) or heuristic
  --lane=NAME:ctas=8,transport=copy
                        how the collectives of a lane move their data; any
                        number of times
  --engine-option=KEY=VALUE
                        an option of any engine, such as
                        lane.NAME=ctas=8,transport=copy

General:
  --help                this text
  --version             the version of Braid

A time has a unit: ns, us, ms or s.

The environment variable BRAID_DEBUG (OFF, INFO or DETAIL) makes the runtime say
what it does. SIGUSR1 makes braid-run write the last operations of each rank, to
the log unless there is a --flight-recorder. Exit status, of every process:
0 success, 1 the program failed, its results differ or cannot be written, 2 bad
usage.
)";
