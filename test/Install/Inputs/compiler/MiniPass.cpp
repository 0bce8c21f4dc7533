// A pass that asks Braid what a function communicates and what its ops cost.
#include "Mini.h"

#include "braid/Analysis/Structure/CommunicationSummary.h"
#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
struct CostsPass : PassWrapper<CostsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CostsPass)
  StringRef getArgument() const final { return "mini-costs"; }
  StringRef getDescription() const final { return "Print costs and events"; }

  void runOnOperation() override {
    braid::CostOptions options;
    options.hardware = braid::lookupHardware("h100x8");
    braid::OpCostModel model(options);
    getOperation()->walk([&](Operation *op) {
      if (isa<braid::comm::CostOpInterface, braid::comm::DefaultCostOpInterface,
              braid::comm::AsyncStartOpInterface>(op))
        if (std::optional<braid::Cost> cost = model.getOpCost(op))
          llvm::outs() << op->getName() << ": " << cost->ns << " ns, "
                       << model.getSourceName(cost->source) << "\n";
    });
    using Kind = braid::CommunicationEvent::Kind;
    braid::CommunicationSummary summary(getOperation());
    for (const auto &function : summary.getFunctions())
      for (const braid::CommunicationEvent &event : function.events)
        llvm::outs() << function.name.getValue() << " "
                     << (event.kind == Kind::start  ? "starts "
                         : event.kind == Kind::wait ? "awaits "
                         : event.kind == Kind::call ? "calls "
                                                    : "carries ")
                     << event.name << "\n";
  }
};
} // namespace

void mini::registerPasses() { PassRegistration<CostsPass>(); }
