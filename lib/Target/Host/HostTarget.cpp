//===- HostTarget.cpp - Code for the host ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Target/Host/HostTarget.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace braid;

std::unique_ptr<HostTarget> HostTarget::create(const HostTargetOptions &options,
                                               Location loc) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    emitError(loc) << "cannot generate code for " << triple.str() << ": "
                   << error;
    return nullptr;
  }
  bool isNative = options.cpu == "native";
  std::string cpu = isNative ? llvm::sys::getHostCPUName().str() : options.cpu;
  std::string features;
  if (isNative)
    for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
      if (!features.empty())
        features += ',';
      features += (feature.second ? "+" : "-") + feature.first().str();
    }
  auto level = static_cast<llvm::CodeGenOptLevel>(options.optimizationLevel);
  llvm::TargetOptions targetOptions;
  // Do not contract products and sums, because the bits would depend on the
  // surrounding code.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, features, targetOptions,
                                  llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine) {
    emitError(loc) << "cannot generate code for " << triple.str();
    return nullptr;
  }
  if (!isNative && !machine->getMCSubtargetInfo()->isCPUStringValid(cpu)) {
    emitError(loc) << "found CPU '" << cpu
                   << "', expected 'native' or one that "
                   << "LLVM knows for " << triple.str();
    return nullptr;
  }
  return std::unique_ptr<HostTarget>(
      new HostTarget(std::move(machine), options.optimizationLevel));
}

/// Functions with more instructions are not optimized.
static constexpr unsigned largeFunctionSize = 20000;

/// Marks very large functions `optnone`, because LLVM's time is more than
/// quadratic in their size. These functions are lists of calls; the loops are
/// in functions of their own.
static void skipLargeFunctions(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.getInstructionCount() < largeFunctionSize)
      continue;
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

/// Makes functions touch every page of a large frame in turn, so that a program
/// that uses up its stack ends at the guard page behind the stack, and does not
/// write to whatever is beyond that page.
static void probeStack(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("probe-stack", "inline-asm");
}

/// Loads and stores booleans as bytes, which they are in memory: LLVM
/// vectorizes no accesses of single bits.
static void widenBooleans(llvm::Module &module) {
  llvm::Type *bit = llvm::Type::getInt1Ty(module.getContext());
  llvm::Type *byte = llvm::Type::getInt8Ty(module.getContext());
  for (llvm::Function &function : module)
    for (llvm::Instruction &op :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto place = op.getIterator();
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&op);
          load && load->getType() == bit) {
        auto *wide =
            new llvm::LoadInst(byte, load->getPointerOperand(), "", place);
        load->replaceAllUsesWith(new llvm::TruncInst(wide, bit, "", place));
        load->eraseFromParent();
      } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&op);
                 store && store->getValueOperand()->getType() == bit) {
        auto *wide =
            new llvm::ZExtInst(store->getValueOperand(), byte, "", place);
        new llvm::StoreInst(wide, store->getPointerOperand(), place);
        store->eraseFromParent();
      }
    }
}

/// Iterations of an innermost loop that are worth vectors.
static constexpr unsigned vectorIterations = 16;

/// Lets LLVM unroll innermost loops alone: a copy of 32 x 16 rows would become
/// one block of 512 copies, and the time to order a block is quadratic. Not
/// those that fill vectors: unrolled, the loop around them would be vectorized,
/// with gathers and scatters.
static void keepLoops(llvm::Module &module) {
  llvm::TargetLibraryInfoImpl libraryInfo(module.getTargetTriple());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    llvm::TargetLibraryInfo library(libraryInfo, &function);
    llvm::AssumptionCache assumptions(function);
    llvm::ScalarEvolution evolution(function, library, assumptions, dominators,
                                    loops);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (!loop->isInnermost() ||
          (!loop->isOutermost() &&
           evolution.getSmallConstantTripCount(loop) >= vectorIterations))
        loop->setLoopAlreadyUnrolled();
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::OptimizationLevel optimizationLevel =
      level == 0   ? llvm::OptimizationLevel::O0
      : level == 1 ? llvm::OptimizationLevel::O1
      : level == 2 ? llvm::OptimizationLevel::O2
                   : llvm::OptimizationLevel::O3;
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(optimizationLevel)
                 : builder.buildPerModuleDefaultPipeline(optimizationLevel);
  passes.run(module, modules);
}

std::unique_ptr<llvm::Module>
HostTarget::translate(ModuleOp module, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "braid");
  if (!llvmModule)
    return nullptr;
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  skipLargeFunctions(*llvmModule);
  probeStack(*llvmModule);
  widenBooleans(*llvmModule);
  keepLoops(*llvmModule);
  optimize(*llvmModule, *machine, optimizationLevel);
  return llvmModule;
}

LogicalResult HostTarget::emitObject(llvm::Module &module, Location loc,
                                     llvm::raw_pwrite_stream &output) {
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, output, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return emitError(loc) << "cannot write objects for "
                          << machine->getTargetTriple().str();
  passes.run(module);
  return success();
}
