#include "tests/states/paged_program.h"

#include <cmath>

#include "compiler/compiler.h"
#include "compiler/emit/merge_plans.h"
#include "compiler/ir/text.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf::states {
namespace {

std::string Strides(const Dims& shape) {
  return ToListString(abi::DenseView(DType::kF32, shape).strides);
}
std::string Dense(const char* dtype, const Dims& shape) {
  return StrCat(dtype, " ", ToString(shape), " ", Strides(shape), "+0");
}
std::string Declare(int id, const char* role, const char* name, const char* dtype,
                    const Dims& shape) {
  return StrCat("%", id, " = ", role, " \"", name, "\" ", dtype, " ", ToString(shape), "\n");
}

// Rows of the pool by page and row, so that a pair of indices names one: the pool with its heads
// and rows exchanged.
std::string PoolByRow() {
  const Dims strides{Paged::kGroups * Paged::kPage * Paged::kHead, Paged::kHead,
                     Paged::kPage * Paged::kHead, 1};
  return StrCat("f32 ", ToString(Dims{Paged::kPool, Paged::kPage, Paged::kGroups, Paged::kHead}),
                " ", ToListString(strides), "+0");
}

std::string ScatterStep(int64_t rows, const char* name, int past, int update, int present) {
  return StrCat("step [\"", name, "\"] (%", past, ", %5, %", update, ") -> (%", present,
                ") : scatter math=fp32 kind=1 reduction=0 axis=0 core=3 in(", PoolByRow(), ", ",
                Dense("i64", {Paged::kRequests, rows, 2}), ", ",
                Dense("f32", {Paged::kRequests, rows, Paged::kGroups, Paged::kHead}), ") out(",
                PoolByRow(), ") pro id epi id\n");
}

std::string LayerText(int64_t rows) {
  const Dims pool{Paged::kPool, Paged::kGroups, Paged::kPage, Paged::kHead},
      q{Paged::kRequests, Paged::kHeads, rows, Paged::kHead};
  const Dims now{Paged::kRequests, rows, Paged::kGroups, Paged::kHead};
  std::string text = "lowered \"paged\"\n";
  text += Declare(0, "input", "keys", "f32", pool) + Declare(1, "input", "values", "f32", pool);
  text += Declare(2, "input", "q", "f32", q);
  text += Declare(3, "input", "k", "f32", now) + Declare(4, "input", "v", "f32", now);
  text += Declare(5, "meta", "slots", "i64", {Paged::kRequests, rows, 2});
  text += Declare(6, "meta", "table", "i32", {Paged::kRequests, Paged::kTable});
  text += Declare(7, "meta", "lengths", "i32", {Paged::kRequests});
  text += Declare(8, "output", "keys_next", "f32", pool);
  text += Declare(9, "output", "values_next", "f32", pool);
  text += Declare(10, "output", "y", "f32", q);
  text += "inputs %0, %1, %2, %3, %4, %5, %6, %7\noutputs %8, %9, %10\n";
  text += "state %0 %8\nstate %1 %9\n";
  text += ScatterStep(rows, "store_keys", 0, 3, 8) + ScatterStep(rows, "store_values", 1, 4, 9);
  char scale[32];
  std::snprintf(scale, sizeof scale, "%a", 1 / std::sqrt(double{Paged::kHead}));
  text += StrCat(
      "step [\"attend\"] (%2, %8, %9, %7, %6) -> (%10) : attention math=fp32 scale=", scale,
      " lengths=1 pages=1 rows=1 offset=0 window_left=-1 window_right=0 core=5 ", "in(",
      Dense("f32", q), ", ", Dense("f32", pool), ", ", Dense("f32", pool), ", ",
      Dense("i32", {Paged::kRequests}), ", ", Dense("i32", {Paged::kRequests, Paged::kTable}),
      ") out(", Dense("f32", q), ") pro id epi id score id\n");
  return text;
}

Result<schema::Contents> PlanLayer(int64_t rows, const CompileOptions& options,
                                   DecisionLog& decisions) {
  AICF_ASSIGN_OR_RETURN(ir::Lowered lowered, ir::ParseLowered(LayerText(rows)));
  AICF_RETURN_IF_ERROR(ir::Verify(lowered));
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.decisions = &decisions;
  AICF_RETURN_IF_ERROR(UpdateStates(lowered, context));
  return MakePlan(lowered, options, context);
}

}  // namespace

Result<PagedProgram> CompilePaged(const std::string& target, int64_t prompt, bool images) {
  CompileOptions options;
  options.target = target == "cpu" ? "cpu:baseline" : target;
  options.images = images;
  PagedProgram out;
  std::vector<NamedPlan> plans;
  for (const auto& [name, rows] : {std::pair("prefill", prompt), {"decode", int64_t{1}}}) {
    AICF_ASSIGN_OR_RETURN(schema::Contents plan, PlanLayer(rows, options, out.decisions));
    plans.push_back({name, std::move(plan)});
  }
  AICF_ASSIGN_OR_RETURN(out.contents, MergePlans(std::move(plans)));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(out.contents));
  AICF_ASSIGN_OR_RETURN(out.program, Program::FromBytes(bytes));
  return out;
}

}  // namespace aicf::states
