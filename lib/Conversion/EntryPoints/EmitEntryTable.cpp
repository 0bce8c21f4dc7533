//===- EmitEntryTable.cpp - The table of entry points ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "../Support/RuntimeCalls.h"
#include "RecordNumerics.h"
#include "braid-rt/Numerics.h"
#include "braid-rt/Program.h"
#include "braid/Conversion/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace braid {
#define GEN_PASS_DEF_EMITENTRYTABLEPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

class TableEmitter {
public:
  TableEmitter(ModuleOp module)
      : module(module), context(module.getContext()), builder(context),
        pointer(LLVM::LLVMPointerType::get(context)) {}

  void emitEntry(LLVM::LLVMFuncOp function, ArrayAttr arguments);
  void emitProgram();

private:
  LLVM::LLVMFuncOp emitThunk(LLVM::LLVMFuncOp function, ArrayAttr arguments);
  LLVM::GlobalOp emitArguments(Location loc, StringRef prefix,
                               ArrayAttr arguments);
  LLVM::GlobalOp emitPointers(Location loc, StringRef name,
                              ArrayRef<LLVM::GlobalOp> globals);
  SmallVector<LLVM::GlobalOp> findDescriptors(StringRef prefix);
  LLVM::GlobalOp emitDeviceProgram();
  LLVM::GlobalOp emitReorderedSum(StringRef name, const RecordedSum &sum);
  void emitNumerics(ArrayAttr sums, bool isOnHost);

  ModuleOp module;
  MLIRContext *context;
  OpBuilder builder;
  Type pointer;
  SmallVector<LLVM::GlobalOp> entries;
};

StringRef getName(DictionaryAttr argument) {
  return argument.getAs<StringAttr>("name").getValue();
}

Type getType(DictionaryAttr argument) {
  return argument.getAs<TypeAttr>("type").getValue();
}

/// Emits the uniform function of an entry, which loads the arguments through an
/// array of pointers and calls `function`.
LLVM::LLVMFuncOp TableEmitter::emitThunk(LLVM::LLVMFuncOp function,
                                         ArrayAttr arguments) {
  Location loc = function.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  Type voidType = LLVM::LLVMVoidType::get(context);
  auto thunk = LLVM::LLVMFuncOp::create(
      builder, loc, ("__braid_call_" + function.getName()).str(),
      LLVM::LLVMFunctionType::get(voidType, pointer), LLVM::Linkage::Internal);
  Block *block = thunk.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value array = block->getArgument(0);

  Type i64 = builder.getI64Type();
  auto loadField = [&](Type type, Value base, int64_t offset) -> Value {
    Value address = base;
    if (offset != 0)
      address = LLVM::GEPOp::create(
          builder, loc, pointer, i64, base,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    return LLVM::LoadOp::create(builder, loc, type, address);
  };
  auto loadArgument = [&](unsigned index) {
    Value address = array;
    if (index != 0)
      address = LLVM::GEPOp::create(
          builder, loc, pointer, pointer, array,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    return LLVM::LoadOp::create(builder, loc, pointer, address).getResult();
  };

  // A descriptor has two pointers, the offset, the sizes and the strides, of
  // eight bytes each. A compiled function takes each of these as an argument.
  SmallVector<Value> operands;
  SmallVector<Value> resultAddresses;
  ArrayRef<Type> parameters = function.getFunctionType().getParams();
  for (auto [index, argument] :
       llvm::enumerate(arguments.getAsRange<DictionaryAttr>())) {
    Value address = loadArgument(index);
    if (argument.get("result")) {
      resultAddresses.push_back(address);
      continue;
    }
    auto memref = dyn_cast<MemRefType>(getType(argument));
    if (!memref) {
      operands.push_back(loadField(parameters[operands.size()], address, 0));
      continue;
    }
    operands.push_back(loadField(pointer, address, 0));
    operands.push_back(loadField(pointer, address, 1));
    for (int64_t field = 0; field < 1 + 2 * memref.getRank(); ++field)
      operands.push_back(loadField(i64, address, 2 + field));
  }
  auto call = LLVM::CallOp::create(builder, loc, function, operands);
  if (resultAddresses.size() == 1) {
    LLVM::StoreOp::create(builder, loc, call.getResult(),
                          resultAddresses.front());
  } else {
    for (auto [index, address] : llvm::enumerate(resultAddresses)) {
      Value result =
          LLVM::ExtractValueOp::create(builder, loc, call.getResult(), index);
      LLVM::StoreOp::create(builder, loc, result, address);
    }
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return thunk;
}

/// The descriptions of an entry's arguments (braid_rt_argument). These need no
/// padding, so that one struct has the fields of all.
LLVM::GlobalOp TableEmitter::emitArguments(Location loc, StringRef prefix,
                                           ArrayAttr arguments) {
  SmallVector<ConstantField> fields;
  for (auto argument : arguments.getAsRange<DictionaryAttr>()) {
    std::string name = (prefix + "_" + getName(argument)).str();
    LLVM::GlobalOp text =
        createString(builder, module, loc, name + "_name", getName(argument));
    auto memref = dyn_cast<MemRefType>(getType(argument));
    LLVM::GlobalOp sizes;
    if (memref && memref.getRank() > 0)
      sizes = createIntegers(
          builder, module, loc, name + "_sizes",
          llvm::map_to_vector(memref.getShape(),
                              [](int64_t size) {
                                return ShapedType::isDynamic(size)
                                           ? int64_t(BRAID_RT_DYNAMIC)
                                           : size;
                              }),
          64);
    StringRef direction = argument.getAs<StringAttr>("direction");
    fields.append(
        {text,
         ConstantField::i32(
             *getRuntimeDtype(getElementTypeOrSelf(getType(argument)))),
         ConstantField::i32(memref ? memref.getRank() : 0), sizes,
         ConstantField::i32(direction == "in"      ? BRAID_RT_IN
                            : direction == "inout" ? BRAID_RT_INOUT
                                                   : BRAID_RT_OUT),
         ConstantField::i32(memref ? BRAID_RT_MEMREF : BRAID_RT_SCALAR)});
  }
  return createStructConstant(builder, module, loc,
                              (prefix + "_arguments").str(), fields);
}

void TableEmitter::emitEntry(LLVM::LLVMFuncOp function, ArrayAttr arguments) {
  Location loc = function.getLoc();
  LLVM::LLVMFuncOp thunk = emitThunk(function, arguments);
  std::string prefix = ("__braid_entry_" + function.getName()).str();
  LLVM::GlobalOp name =
      createString(builder, module, loc, prefix + "_name", function.getName());
  LLVM::GlobalOp descriptions = emitArguments(loc, prefix, arguments);
  LLVM::GlobalOp site = createSite(builder, module, prefix + "_site", loc, "");
  entries.push_back(createStructConstant(
      builder, module, loc, prefix,
      {name, thunk, ConstantField::i64(arguments.size()), descriptions, site}));
}

/// A constant with pointers to `globals`; null if there are none.
LLVM::GlobalOp TableEmitter::emitPointers(Location loc, StringRef name,
                                          ArrayRef<LLVM::GlobalOp> globals) {
  if (globals.empty())
    return LLVM::GlobalOp();
  return createStructConstant(builder, module, loc, name,
                              SmallVector<ConstantField>(globals));
}

/// The structs whose names begin with `prefix`, but for complex numbers that
/// they point to, whose value is an attribute.
SmallVector<LLVM::GlobalOp> TableEmitter::findDescriptors(StringRef prefix) {
  SmallVector<LLVM::GlobalOp> descriptors;
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getSymName().starts_with(prefix) &&
        isa<LLVM::LLVMStructType>(global.getGlobalType()) &&
        !global.getValueAttr())
      descriptors.push_back(global);
  return descriptors;
}

/// Emits the device part of the program (braid_rt_device_program).
LLVM::GlobalOp TableEmitter::emitDeviceProgram() {
  Location loc = module.getLoc();
  SmallVector<LLVM::GlobalOp> images = findDescriptors(kImageGlobalPrefix);
  SmallVector<LLVM::GlobalOp> constants =
      findDescriptors(kConstantGlobalPrefix);
  LLVM::GlobalOp imageList = emitPointers(loc, "__braid_images", images);
  LLVM::GlobalOp constantList =
      emitPointers(loc, "__braid_constants", constants);
  auto getNumber = [&](StringRef name) {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  return createStructConstant(
      builder, module, loc, "__braid_device",
      {ConstantField::i64(images.size()), imageList,
       ConstantField::i64(constants.size()), constantList,
       ConstantField::i64(getNumber(kArenaBytesAttrName)),
       ConstantField::i64(getNumber(kHostReadsAttrName)),
       ConstantField::i64(getNumber(kBufferAllocsAttrName))});
}

/// Emits a braid_rt_reordered_sum.
LLVM::GlobalOp TableEmitter::emitReorderedSum(StringRef name,
                                              const RecordedSum &sum) {
  Location loc = module.getLoc();
  LLVM::GlobalOp operation = createString(
      builder, module, loc, (name + "_operation").str(), sum.operation);
  LLVM::GlobalOp reason =
      createString(builder, module, loc, (name + "_reason").str(), sum.reason);
  LLVM::GlobalOp site =
      createSite(builder, module, (name + "_site").str(), sum.loc, "");
  return createStructConstant(builder, module, loc, name,
                              {operation, reason, site,
                               ConstantField::i32(sum.kind),
                               ConstantField::i32(sum.members)});
}

/// Emits what the program records of its numerics (braid_rt_numerics).
void TableEmitter::emitNumerics(ArrayAttr sums, bool isOnHost) {
  Location loc = module.getLoc();
  SmallVector<LLVM::GlobalOp> descriptions;
  for (auto sum : sums.getAsRange<DictionaryAttr>())
    if (RecordedSum read = readNumerics(sum, isOnHost); !read.reason.empty())
      descriptions.push_back(emitReorderedSum(
          "__braid_sum_" + std::to_string(descriptions.size()), read));
  LLVM::GlobalOp list = emitPointers(loc, "__braid_sums", descriptions);
  LLVM::GlobalOp numerics =
      createStructConstant(builder, module, loc, BRAID_RT_NUMERICS_SYMBOL,
                           {ConstantField::i64(BRAID_RT_NUMERICS_VERSION),
                            ConstantField::i64(descriptions.size()), list});
  numerics.setLinkage(LLVM::Linkage::External);
}

void TableEmitter::emitProgram() {
  Location loc = module.getLoc();
  SmallVector<LLVM::GlobalOp> groups = findDescriptors(getGroupGlobalName(""));
  auto target = module->getAttrOfType<StringAttr>(kTargetAttrName);
  bool isCUDA = target && target == "cuda";
  LLVM::GlobalOp device;
  if (isCUDA)
    device = emitDeviceProgram();
  LLVM::GlobalOp schedule;
  if (auto hash = module->getAttrOfType<StringAttr>(kScheduleAttrName))
    schedule = createString(builder, module, loc, "__braid_schedule", hash);
  if (auto sums = module->getAttrOfType<ArrayAttr>(kNumericsAttrName))
    emitNumerics(sums, /*isOnHost=*/!isCUDA);
  LLVM::GlobalOp groupList = emitPointers(loc, "__braid_groups", groups);
  LLVM::GlobalOp entryList = emitPointers(loc, "__braid_entries", entries);
  LLVM::GlobalOp name;
  if (std::optional<StringRef> symbol = module.getSymName())
    name = createString(builder, module, loc, "__braid_program_name", *symbol);
  LLVM::GlobalOp program = createStructConstant(
      builder, module, loc, BRAID_RT_PROGRAM_SYMBOL,
      {ConstantField::i32(BRAID_RT_ABI_VERSION),
       ConstantField::i32(isCUDA ? BRAID_RT_TARGET_CUDA : BRAID_RT_TARGET_HOST),
       name, ConstantField::i64(groups.size()), groupList,
       ConstantField::i64(entries.size()), entryList, schedule, device});
  program.setLinkage(LLVM::Linkage::External);
}

struct EmitEntryTablePass
    : public braid::impl::EmitEntryTablePassBase<EmitEntryTablePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    TableEmitter emitter(module);
    for (auto function :
         llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
      if (function.isExternal())
        continue;
      // The program exports only its table.
      function.setLinkage(LLVM::Linkage::Internal);
      if (auto arguments = function->getAttrOfType<ArrayAttr>(kEntryAttrName)) {
        function->removeAttr(kEntryAttrName);
        emitter.emitEntry(function, arguments);
      }
    }
    emitter.emitProgram();
    for (StringRef name :
         {StringRef(kConstantsAttrName), StringRef(kTargetAttrName),
          StringRef(kScheduleAttrName), StringRef(kArenaBytesAttrName),
          StringRef(kHostReadsAttrName), StringRef(kBufferAllocsAttrName),
          StringRef(kNumericsAttrName)})
      module->removeAttr(name);
    // Allocations do not overlap. With `noalias` LLVM needs no overlap checks
    // at run time.
    for (StringRef name :
         {"_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_aligned_alloc"})
      if (auto allocate = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
        allocate.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(),
                               UnitAttr::get(module.getContext()));
  }
};

} // namespace
