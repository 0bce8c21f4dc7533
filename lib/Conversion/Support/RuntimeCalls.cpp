//===- RuntimeCalls.cpp - Calls of the Braid runtime ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "ProgramAttributes.h"
#include "braid-rt/Types.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;

std::optional<int32_t> braid::getRuntimeDtype(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return BRAID_RT_COMPLEX_F32;
    if (complex.getElementType().isF64())
      return BRAID_RT_COMPLEX_F64;
    return std::nullopt;
  }
  if (type.isIndex())
    return BRAID_RT_I64;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return BRAID_RT_I1;
    case 8:
      return BRAID_RT_I8;
    case 16:
      return BRAID_RT_I16;
    case 32:
      return BRAID_RT_I32;
    case 64:
      return BRAID_RT_I64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<int32_t>>(type)
      .Case([](Float16Type) { return BRAID_RT_F16; })
      .Case([](BFloat16Type) { return BRAID_RT_BF16; })
      .Case([](Float32Type) { return BRAID_RT_F32; })
      .Case([](Float64Type) { return BRAID_RT_F64; })
      .Case([](Float8E4M3FNType) { return BRAID_RT_F8E4M3FN; })
      .Case([](Float8E5M2Type) { return BRAID_RT_F8E5M2; })
      .Default([](Type) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LLVM::GlobalOp
braid::createConstant(OpBuilder &builder, ModuleOp module, Location loc,
                      Type type, StringRef name,
                      llvm::function_ref<Value(OpBuilder &)> initialize) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Private, name, Attribute());
  Block *block = builder.createBlock(&global.getInitializerRegion());
  builder.setInsertionPointToStart(block);
  LLVM::ReturnOp::create(builder, loc, initialize(builder));
  return global;
}

LLVM::GlobalOp braid::createString(OpBuilder &builder, ModuleOp module,
                                   Location loc, StringRef name,
                                   StringRef text) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  std::string terminated = text.str();
  terminated.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::Private, name,
                                builder.getStringAttr(terminated));
}

Value braid::createStruct(OpBuilder &builder, Location loc,
                          ArrayRef<Value> fields) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value value = LLVM::UndefOp::create(
      builder, loc,
      LLVM::LLVMStructType::getLiteral(
          builder.getContext(), llvm::map_to_vector(fields, [&](Value field) {
            return field ? field.getType() : pointer;
          })));
  for (auto [index, field] : llvm::enumerate(fields)) {
    Value element = field ? field : LLVM::ZeroOp::create(builder, loc, pointer);
    value = LLVM::InsertValueOp::create(builder, loc, value, element, index);
  }
  return value;
}

LLVM::GlobalOp braid::createIntegers(OpBuilder &builder, ModuleOp module,
                                     Location loc, StringRef name,
                                     ArrayRef<int64_t> values, unsigned width) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  Type element = builder.getIntegerType(width);
  auto type = LLVM::LLVMArrayType::get(element, values.size());
  SmallVector<APInt> elements;
  for (int64_t value : values)
    elements.emplace_back(width, value, /*isSigned=*/true);
  auto shape =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::Private, name,
                                DenseElementsAttr::get(shape, elements));
}

LLVM::GlobalOp braid::createStructConstant(OpBuilder &builder, ModuleOp module,
                                           Location loc, StringRef name,
                                           ArrayRef<ConstantField> fields) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto getType = [&](const ConstantField &field) -> Type {
    if (field.width == 0)
      return pointer;
    return builder.getIntegerType(field.width);
  };
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), llvm::map_to_vector(fields, getType));
  return createConstant(
      builder, module, loc, type, name, [&](OpBuilder &builder) {
        SmallVector<Value> values;
        for (const ConstantField &field : fields) {
          Value &value = values.emplace_back();
          if (field.width != 0)
            value = LLVM::ConstantOp::create(
                builder, loc, getType(field),
                builder.getIntegerAttr(getType(field), field.value));
          else if (field.symbol)
            value = LLVM::AddressOfOp::create(builder, loc, pointer,
                                              field.symbol.getValue());
        }
        return createStruct(builder, loc, values);
      });
}

LLVM::GlobalOp braid::createSite(OpBuilder &builder, ModuleOp module,
                                 StringRef name, Location loc,
                                 StringRef label) {
  auto position = loc->findInstanceOf<FileLineColLoc>();
  LLVM::GlobalOp file, labelText;
  if (position) {
    // One constant for each file, at the start of the module so that the lookup
    // is fast.
    std::string fileName = "__braid_file_" + position.getFilename().str();
    file = module.lookupSymbol<LLVM::GlobalOp>(fileName);
    if (!file) {
      file = createString(builder, module, loc, fileName,
                          position.getFilename().getValue());
      file->moveBefore(&module.getBody()->front());
    }
  }
  if (!label.empty())
    labelText =
        createString(builder, module, loc, (name + "_label").str(), label);
  return createStructConstant(
      builder, module, loc, name,
      {file, labelText, ConstantField::i32(position ? position.getLine() : 0),
       ConstantField::i32(position ? position.getColumn() : 0)});
}

std::string braid::getGroupGlobalName(StringRef name, StringRef lane) {
  return ("__braid_group_" + name + (lane.empty() ? "" : ":") + lane).str();
}

/// A constant that describes `lane` of the group called `group`.
static LLVM::GlobalOp createLane(OpBuilder &builder, ModuleOp module,
                                 Location loc, StringRef group,
                                 const RuntimeLane &lane) {
  std::string name = ("__braid_lane_" + group + ":" + lane.name).str();
  LLVM::GlobalOp text =
      createString(builder, module, loc, name + "_name", lane.name);
  return createStructConstant(builder, module, loc, name,
                              {text, ConstantField::i32(lane.ctas),
                               ConstantField::i32(lane.transport),
                               ConstantField::i64(lane.staging)});
}

void braid::createGroup(OpBuilder &builder, ModuleOp module, Location loc,
                        StringRef name, ArrayRef<ArrayRef<int64_t>> lists,
                        ArrayRef<RuntimeLane> lanes) {
  std::string global = getGroupGlobalName(name);
  auto nameText = createString(builder, module, loc, global + "_name", name);
  LLVM::GlobalOp offsetsGlobal, ranksGlobal;
  if (!lists.empty()) {
    SmallVector<int64_t> offsets = {0}, ranks;
    for (ArrayRef<int64_t> list : lists) {
      llvm::append_range(ranks, list);
      offsets.push_back(ranks.size());
    }
    offsetsGlobal =
        createIntegers(builder, module, loc, global + "_offsets", offsets, 32);
    ranksGlobal =
        createIntegers(builder, module, loc, global + "_ranks", ranks, 32);
  }
  auto createDescriptor = [&](StringRef lane, LLVM::GlobalOp laneGlobal) {
    createStructConstant(builder, module, loc, getGroupGlobalName(name, lane),
                         {nameText, ConstantField::i32(lists.empty()),
                          ConstantField::i32(lists.size()), offsetsGlobal,
                          ranksGlobal, laneGlobal});
  };
  createDescriptor({}, LLVM::GlobalOp());
  for (const RuntimeLane &lane : lanes)
    createDescriptor(lane.name, createLane(builder, module, loc, name, lane));
}

//===----------------------------------------------------------------------===//
// RuntimeCallBuilder
//===----------------------------------------------------------------------===//

RuntimeCallBuilder::RuntimeCallBuilder(OpBuilder &builder, Operation *at)
    : builder(builder), at(at), module(at->getParentOfType<ModuleOp>()),
      loc(at->getLoc()),
      pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

Value RuntimeCallBuilder::getI32(int32_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                  builder.getI32IntegerAttr(value));
}

Value RuntimeCallBuilder::getI64(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(value));
}

Value RuntimeCallBuilder::getF64(double value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getF64Type(),
                                  builder.getF64FloatAttr(value));
}

Value RuntimeCallBuilder::getNull() {
  return LLVM::ZeroOp::create(builder, loc, pointer);
}

Value RuntimeCallBuilder::call(StringRef name, Type resultType,
                               ValueRange arguments) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    Type result =
        resultType ? resultType : LLVM::LLVMVoidType::get(builder.getContext());
    function = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(result,
                                    SmallVector<Type>(arguments.getTypes())));
  }
  auto call = LLVM::CallOp::create(builder, loc, function, arguments);
  return resultType ? call.getResult() : Value();
}

/// A number that no other global of `module` has in its name.
static int64_t getNextNumber(ModuleOp module) {
  auto attribute = module->getAttrOfType<IntegerAttr>(kConstantsAttrName);
  int64_t number = attribute ? attribute.getInt() : 0;
  module->setAttr(kConstantsAttrName,
                  Builder(module).getI64IntegerAttr(number + 1));
  return number;
}

Value RuntimeCallBuilder::getSite() {
  LLVM::GlobalOp site = createSite(
      builder, module, "__braid_site_" + std::to_string(getNextNumber(module)),
      loc, comm::getLabel(at));
  return LLVM::AddressOfOp::create(builder, loc, site);
}

Value RuntimeCallBuilder::getGroup(StringRef name, StringRef lane) {
  return LLVM::AddressOfOp::create(builder, loc, pointer,
                                   getGroupGlobalName(name, lane));
}

Value RuntimeCallBuilder::getText(StringRef text) {
  LLVM::GlobalOp constant = createString(
      builder, module, loc,
      "__braid_text_" + std::to_string(getNextNumber(module)), text);
  return LLVM::AddressOfOp::create(builder, loc, constant);
}

Value RuntimeCallBuilder::getConstantArray(ArrayRef<int64_t> values) {
  LLVM::GlobalOp array = createIntegers(
      builder, module, loc,
      "__braid_array_" + std::to_string(getNextNumber(module)), values, 64);
  return LLVM::AddressOfOp::create(builder, loc, array);
}

Value RuntimeCallBuilder::allocate(Type type, int64_t count) {
  return LLVM::AllocaOp::create(builder, loc, pointer, type, getI64(count));
}

Value RuntimeCallBuilder::storeArray(ValueRange values) {
  if (values.empty())
    return getNull();
  Type type = values.front().getType();
  Value array = allocate(type, values.size());
  for (auto [index, value] : llvm::enumerate(values)) {
    Value address = array;
    if (index != 0)
      address = LLVM::GEPOp::create(
          builder, loc, pointer, type, array,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
  return array;
}

Value RuntimeCallBuilder::createView(
    Value data, MemRefType type, llvm::function_ref<Value(unsigned)> getSize) {
  int64_t rank = type.getRank();
  Value sizes;
  if (type.hasStaticShape() && rank > 0)
    sizes = getConstantArray(type.getShape());
  else if (rank > 0)
    sizes =
        storeArray(llvm::map_to_vector(llvm::seq<unsigned>(0, rank), getSize));
  return createStruct(builder, loc,
                      {data, sizes,
                       getI32(*getRuntimeDtype(type.getElementType())),
                       getI32(rank)});
}

StackScope::StackScope(RuntimeCallBuilder &calls) : calls(calls) {
  saved = LLVM::StackSaveOp::create(calls.builder, calls.loc, calls.pointer);
}

StackScope::~StackScope() {
  LLVM::StackRestoreOp::create(calls.builder, calls.loc, saved);
}

void braid::addHostReads(ModuleOp module, int64_t count) {
  if (auto known = module->getAttrOfType<IntegerAttr>(kHostReadsAttrName))
    count += known.getInt();
  module->setAttr(kHostReadsAttrName, Builder(module).getI64IntegerAttr(count));
}
