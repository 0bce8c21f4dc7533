// The dialect: what its ops cost, and how its collective meets the others.
#include "Mini.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace braid::comm;
using namespace mlir;

#include "MiniDialect.cpp.inc"

#define GET_OP_CLASSES
#include "MiniOps.cpp.inc"

void mini::MiniDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MiniOps.cpp.inc"
      >();
}

namespace mini {

static uint64_t getSize(Value value, unsigned dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

Work AttentionOp::getWork(const SizeDefaults &) {
  Work work;
  work.addBytes(1 << 20, 1 << 20);
  return work;
}
std::optional<int64_t> AttentionOp::getDurationNs(StringRef machine) {
  return machine == "h100x8" ? std::optional<int64_t>(700) : std::nullopt;
}

Work GemmOp::getWork(const SizeDefaults &) {
  uint64_t rows = getSize(getLeft(), 0), columns = getSize(getRight(), 1),
           operations = 2 * rows * columns * getSize(getLeft(), 1);
  Type elementType = cast<ShapedType>(getLeft().getType()).getElementType();
  Work work;
  work.addOperations(elementType, operations);
  work.matmuls.push_back({elementType, rows, columns, /*batch=*/1, operations});
  return work;
}
bool GemmOp::canLimitMultiprocessors() { return true; }

Work NormOp::getWork(const SizeDefaults &) {
  Work work;
  work.addOperations(cast<ShapedType>(getInput().getType()).getElementType(),
                     67'000'000'000);
  return work;
}
int64_t NormOp::getMultiprocessors() { return getCount(); }

// Both collectives answer alike.
#define MINI_COLLECTIVE(OP)                                                    \
  MutableArrayRef<OpOperand> OP::getSourceOperands() {                         \
    return getInputMutable();                                                  \
  }                                                                            \
  MutableArrayRef<OpOperand> OP::getDestinationOperands() {                    \
    return getOutputMutable();                                                 \
  }                                                                            \
  void OP::setDestinations(ValueRange destinations) {                          \
    getOutputMutable().assign(destinations);                                   \
  }                                                                            \
  Attribute OP::getLane() { return getLaneOfCollective(*this); }               \
  bool OP::canRunInPlace() {                                                   \
    return getTraits(getCollectiveKind()).canRunInPlace;                       \
  }                                                                            \
  LogicalResult OP::reifyValueShape(OpBuilder &builder, unsigned index,        \
                                    SmallVectorImpl<OpFoldResult> &shape) {    \
    return reifyFromOperands(*this, builder, index, shape);                    \
  }                                                                            \
  CollectiveKind OP::getCollectiveKind() {                                     \
    return symbolizeCollectiveKind(getKind()).value_or(                        \
        static_cast<CollectiveKind>(-1));                                      \
  }                                                                            \
  std::optional<ReductionKind> OP::getReductionKind() {                        \
    if (getTraits(getCollectiveKind()).flow == BRAID_RT_FLOW_REDUCE)           \
      return ReductionKind::sum;                                               \
    return std::nullopt;                                                       \
  }                                                                            \
  std::optional<int64_t> OP::getRootIndex() { return getRoot(); }

MINI_COLLECTIVE(ExchangeOp)
MINI_COLLECTIVE(PureExchangeOp)

void ExchangeOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getStartEffects(*this, effects);
}

namespace {
/// Every matmul takes 4242 ns.
struct MatmulCost
    : CostOpInterface::ExternalModel<MatmulCost, linalg::MatmulOp> {
  std::optional<int64_t> getDurationNs(Operation *, StringRef) const {
    return 4242;
  }
};
} // namespace

void registerCosts(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::MatmulOp::attachInterface<MatmulCost>(*context);
  });
}

} // namespace mini
