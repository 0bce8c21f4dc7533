// The short form of a division gives the bits of the division, for all kinds of
// numbers: main returns how many of 16 million quotients differ.

// REQUIRES: mlir-opt
// RUN: braid-opt %s --braid-expand-divisions --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm \
// RUN:   --convert-cf-to-llvm --convert-func-to-llvm --convert-arith-to-llvm --reconcile-unrealized-casts -o %t
// RUN: FileCheck %s --check-prefix=SHORT --input-file=%t
// RUN: mlir-runner %t -e main --entry-point-result=i32 | FileCheck %s

// SHORT: llvm.intr.fma
// CHECK: {{^}}0{{$}}

// 32 random bits of `state`, which counts up (the finalizer of MurmurHash3).
func.func private @bits(%state: i32) -> i32 {
  %c16 = arith.constant 16 : i32
  %c13 = arith.constant 13 : i32
  %a = arith.constant 0x85ebca6b : i32
  %b = arith.constant 0xc2b2ae35 : i32
  %0 = arith.shrui %state, %c16 : i32
  %1 = arith.xori %state, %0 : i32
  %2 = arith.muli %1, %a : i32
  %3 = arith.shrui %2, %c13 : i32
  %4 = arith.xori %2, %3 : i32
  %5 = arith.muli %4, %b : i32
  %6 = arith.shrui %5, %c16 : i32
  %7 = arith.xori %5, %6 : i32
  return %7 : i32
}

// A number of f32 with random sign and significand: every fourth significand
// has only ones or only zeros in its upper bits. The exponent is any in every
// fourth number, infinite ones and those below the normal numbers included, and
// from -32 to 31 in the others.
func.func private @number(%state: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c9 = arith.constant 9 : i32
  %c23 = arith.constant 23 : i32
  %hash = arith.constant 0x9e3779b9 : i32
  %signAndSignificand = arith.constant 0x807fffff : i32
  %few = arith.constant 0x8000000f : i32
  %upper = arith.constant 0x007ffff0 : i32
  %c63 = arith.constant 63 : i32
  %c255 = arith.constant 255 : i32
  %lowest = arith.constant 95 : i32
  %x = func.call @bits(%state) : (i32) -> i32
  %other = arith.xori %x, %hash : i32
  %y = func.call @bits(%other) : (i32) -> i32

  %random = arith.andi %x, %signAndSignificand : i32
  %zeros = arith.andi %x, %few : i32
  %ones = arith.ori %zeros, %upper : i32
  %kind = arith.andi %y, %c7 : i32
  %isZeros = arith.cmpi eq, %kind, %c0 : i32
  %isOnes = arith.cmpi eq, %kind, %c1 : i32
  %0 = arith.select %isZeros, %zeros, %random : i32
  %1 = arith.select %isOnes, %ones, %0 : i32

  %shifted = arith.shrui %y, %c9 : i32
  %any = arith.andi %shifted, %c255 : i32
  %near = arith.andi %shifted, %c63 : i32
  %middle = arith.addi %near, %lowest : i32
  %choice = arith.shrui %y, %c3 : i32
  %range = arith.andi %choice, %c3 : i32
  %isAny = arith.cmpi eq, %range, %c0 : i32
  %exponent = arith.select %isAny, %any, %middle : i32
  %placed = arith.shli %exponent, %c23 : i32
  %2 = arith.ori %1, %placed : i32
  %3 = arith.bitcast %2 : i32 to f32
  return %3 : f32
}

func.func private @divide_vector(%x: vector<4xf32>, %s: f32) -> vector<4xf32> {
  %d = vector.broadcast %s : f32 to vector<4xf32>
  %r = arith.divf %x, %d : vector<4xf32>
  return %r : vector<4xf32>
}

func.func private @divide_small_floats(%x: vector<4xf16>, %s: f16) -> vector<4xf16> {
  %d = vector.broadcast %s : f16 to vector<4xf16>
  %r = arith.divf %x, %d : vector<4xf16>
  return %r : vector<4xf16>
}

// 1 if the bits differ and the quotient is a number.
func.func private @differs(%found: f32, %expected: f32) -> i32 {
  %a = arith.bitcast %found : f32 to i32
  %b = arith.bitcast %expected : f32 to i32
  %isOther = arith.cmpi ne, %a, %b : i32
  %isFoundNumber = arith.cmpf ord, %found, %found : f32
  %isExpectedNumber = arith.cmpf ord, %expected, %expected : f32
  %isNumber = arith.ori %isFoundNumber, %isExpectedNumber : i1
  %isWrong = arith.andi %isOther, %isNumber : i1
  %wrong = arith.extui %isWrong : i1 to i32
  return %wrong : i32
}

func.func @main() -> i32 {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %rounds = arith.constant 0x200000 : i32
  %count = scf.for %i = %c0 to %rounds step %c1 iter_args(%wrong = %zero) -> (i32) : i32 {
    %first = arith.muli %i, %c5 : i32
    %s = func.call @number(%first) : (i32) -> f32
    %f1 = arith.addi %first, %c1 : i32
    %f2 = arith.addi %f1, %c1 : i32
    %f3 = arith.addi %f2, %c1 : i32
    %f4 = arith.addi %f3, %c1 : i32
    %x1 = func.call @number(%f1) : (i32) -> f32
    %x2 = func.call @number(%f2) : (i32) -> f32
    %x3 = func.call @number(%f3) : (i32) -> f32
    %x4 = func.call @number(%f4) : (i32) -> f32
    %x = vector.from_elements %x1, %x2, %x3, %x4 : vector<4xf32>
    %r = func.call @divide_vector(%x, %s) : (vector<4xf32>, f32) -> vector<4xf32>
    %r1, %r2, %r3, %r4 = vector.to_elements %r : vector<4xf32>
    %e1 = arith.divf %x1, %s : f32
    %e2 = arith.divf %x2, %s : f32
    %e3 = arith.divf %x3, %s : f32
    %e4 = arith.divf %x4, %s : f32
    %w1 = func.call @differs(%r1, %e1) : (f32, f32) -> i32
    %w2 = func.call @differs(%r2, %e2) : (f32, f32) -> i32
    %w3 = func.call @differs(%r3, %e3) : (f32, f32) -> i32
    %w4 = func.call @differs(%r4, %e4) : (f32, f32) -> i32

    // The same in f16.
    %sn = arith.truncf %s : f32 to f16
    %xn = arith.truncf %x : vector<4xf32> to vector<4xf16>
    %n = func.call @divide_small_floats(%xn, %sn) : (vector<4xf16>, f16) -> vector<4xf16>
    %n1, %n2, %n3, %n4 = vector.to_elements %n : vector<4xf16>
    %y1, %y2, %y3, %y4 = vector.to_elements %xn : vector<4xf16>
    %m1 = arith.divf %y1, %sn : f16
    %m2 = arith.divf %y2, %sn : f16
    %m3 = arith.divf %y3, %sn : f16
    %m4 = arith.divf %y4, %sn : f16
    %a1 = arith.extf %n1 : f16 to f32
    %a2 = arith.extf %n2 : f16 to f32
    %a3 = arith.extf %n3 : f16 to f32
    %a4 = arith.extf %n4 : f16 to f32
    %b1 = arith.extf %m1 : f16 to f32
    %b2 = arith.extf %m2 : f16 to f32
    %b3 = arith.extf %m3 : f16 to f32
    %b4 = arith.extf %m4 : f16 to f32
    %v1 = func.call @differs(%a1, %b1) : (f32, f32) -> i32
    %v2 = func.call @differs(%a2, %b2) : (f32, f32) -> i32
    %v3 = func.call @differs(%a3, %b3) : (f32, f32) -> i32
    %v4 = func.call @differs(%a4, %b4) : (f32, f32) -> i32

    %0 = arith.addi %w1, %w2 : i32
    %1 = arith.addi %w3, %w4 : i32
    %2 = arith.addi %v1, %v2 : i32
    %3 = arith.addi %v3, %v4 : i32
    %4 = arith.addi %0, %1 : i32
    %5 = arith.addi %2, %3 : i32
    %6 = arith.addi %4, %5 : i32
    %7 = arith.addi %wrong, %6 : i32
    scf.yield %7 : i32
  }
  return %count : i32
}
