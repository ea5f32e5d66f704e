#include "compiler/passes/pass.h"

#include <chrono>

#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/plan/streams.h"

namespace aicf {
namespace {

constexpr PassInfo GraphRow(std::string_view name, Status (*run)(ir::Graph&, PassContext&),
                            bool required, std::string_view why) {
  return {name, Stage::kGraph, why, required, run, nullptr, nullptr};
}

constexpr PassInfo LoweredRow(std::string_view name, Status (*run)(ir::Lowered&, PassContext&),
                              bool required, std::string_view why) {
  return {name, Stage::kLowered, why, required, nullptr, run, nullptr};
}

constexpr PassInfo PlanRow(std::string_view name, Status (*run)(schema::Program&, PassContext&),
                           bool required, std::string_view why) {
  return {name, Stage::kPlan, why, required, nullptr, nullptr, run};
}

// A plan without memory is no whole program yet; VerifyProgram looks at it in the end.
Status Verify(const schema::Program& /*program*/) { return OkStatus(); }

template <class Ir>
Status RunOne(const PassInfo& pass, Status (*run)(Ir&, PassContext&), Ir& ir,
              PassContext& context) {
  const Status status = run(ir, context);
  if (!status.ok()) return status.WithContext(StrCat("pass ", pass.name));
  const Status verified = Verify(ir);
  if (verified.ok()) return verified;
  return Error(Code::kInternal, "after pass ", pass.name, ": ", verified.message());
}

}  // namespace

Decision PassContext::About(DecisionKind kind, schema::Subject subject,
                            std::string_view pass) const {
  Decision d;
  d.kind = kind;
  d.subject = std::move(subject);
  d.subject.entry = entry;
  d.pass = pass;
  return d;
}

void PassContext::Record(const Decision& decision) { decisions->Record(decision); }

const std::vector<PassInfo>& AllPasses() {
  static const std::vector<PassInfo> passes = {
#define AICF_GRAPH_PASS(name, run, required, why) GraphRow(name, run, required, why),
#define AICF_LOWERED_PASS(name, run, required, why) LoweredRow(name, run, required, why),
#define AICF_PLAN_PASS(name, run, required, why) PlanRow(name, run, required, why),
#include "compiler/passes/pass_list.def"
#undef AICF_GRAPH_PASS
#undef AICF_LOWERED_PASS
#undef AICF_PLAN_PASS
  };
  return passes;
}

Status PassRunner::CheckNames() const {
  auto find = [](std::string_view name) -> const PassInfo* {
    for (const PassInfo& p : AllPasses()) {
      if (p.name == name) return &p;
    }
    return nullptr;
  };
  for (const std::string& name : options_.disabled) {
    const PassInfo* pass = find(name);
    if (pass == nullptr) return Error(Code::kInvalidArgument, "no pass is named '", name, "'");
    if (pass->required) {
      return Error(Code::kInvalidArgument, "pass '", name,
                   "' cannot be disabled: ", pass->why_here);
    }
  }
  for (const std::string& name : options_.dump_after) {
    if (name != "all" && find(name) == nullptr) {
      return Error(Code::kInvalidArgument, "no pass is named '", name, "'");
    }
  }
  return OkStatus();
}

namespace {

template <class Ir>
Status RunStage(const RunnerOptions& options, std::vector<PassTiming>& timings, Stage stage,
                Status (*PassInfo::*member)(Ir&, PassContext&), Ir& ir, PassContext& context) {
  for (const PassInfo& pass : AllPasses()) {
    if (pass.stage != stage || options.disabled.contains(pass.name)) continue;
    const auto start = std::chrono::steady_clock::now();
    AICF_RETURN_IF_ERROR(RunOne(pass, pass.*member, ir, context));
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    timings.push_back({pass.name, spent.count()});
    const bool dump = options.dump_after.contains(pass.name) || options.dump_after.contains("all");
    if (dump && options.dump) options.dump(pass.name, context.entry, ToString(ir));
  }
  return OkStatus();
}

}  // namespace

Status PassRunner::Run(ir::Graph& graph, PassContext& context) {
  return RunStage(options_, timings_, Stage::kGraph, &PassInfo::run_graph, graph, context);
}

Status PassRunner::Run(ir::Lowered& lowered, PassContext& context) {
  return RunStage(options_, timings_, Stage::kLowered, &PassInfo::run_lowered, lowered, context);
}

Status PassRunner::Run(schema::Program& program, PassContext& context) {
  return RunStage(options_, timings_, Stage::kPlan, &PassInfo::run_plan, program, context);
}

}  // namespace aicf
