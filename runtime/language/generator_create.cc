#include <utility>

#include "base/guard.h"
#include "runtime/language/generator_impl.h"
#include "runtime/language/layout.h"
#include "runtime/language/runner.h"
#include "schema/artifact.h"
#include "schema/language_model.h"

namespace aicf {
namespace {

/// Layout::run_cost_rows: the number of rows with which a prefill takes twice the time of a run
/// without any. On a CPU, computing with the weights takes as long as reading them after 12 rows
/// (four layers of Llama-3.2-1B in Q4_K) to 18 (SmolLM2 in Q4_1, two cores with AVX-512); a GPU
/// computes hundreds of rows in the time that reading takes.
constexpr int64_t kCpuRunRows = 16;
constexpr int64_t kGpuRunRows = 256;

Result<schema::LanguageModel> ModelOf(const Program& program) {
  const auto bytes = program.artifact().bytes(schema::SectionKind::kLanguage);
  if (bytes.empty()) {
    return Error(Code::kUnsupported,
                 "the artifact has no language model: it was not compiled from one");
  }
  return schema::ParseLanguageModel(bytes);
}

Result<std::unique_ptr<Generator>> MakeFor(std::shared_ptr<const Program> program,
                                           const GeneratorOptions& options) {
  if (program == nullptr) return Error(Code::kInvalidArgument, "the program is null");
  AICF_ASSIGN_OR_RETURN(schema::LanguageModel model, ModelOf(*program));
  AICF_ASSIGN_OR_RETURN(language::Layout layout,
                        language::ReadLayout(model, program->entries(), program->states()));
  layout.run_cost_rows = program->target().starts_with("cuda") ? kGpuRunRows : kCpuRunRows;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<language::Runner> runner,
                        language::MakeSessionRunner(std::move(program), options.session));
  return language::MakeGenerator(std::move(model), layout, std::move(runner), options);
}

}  // namespace

Result<std::unique_ptr<Generator>> Generator::Create(std::shared_ptr<const Program> program,
                                                     const GeneratorOptions& options) {
  return Guarded([&] { return MakeFor(std::move(program), options); });
}

}  // namespace aicf
