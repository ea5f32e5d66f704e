#include "compiler/compiler.h"

#include <algorithm>

#include "compiler/edit/named_nodes.h"
#include "compiler/emit/merge_plans.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/source/calibrate_source.h"
#include "compiler/source/provenance.h"
#include "compiler/source/source.h"
#include "schema/golden.h"

namespace aicf {

namespace {

// Everything after lowering, for all entry points.
struct Planned {
  schema::Contents contents;  // program, weights and images
  DecisionLog decisions;
  std::vector<std::pair<std::string, ir::Lowered>> optimised;
};

struct PlannedEntry {
  DecisionLog decisions;
  ir::Lowered lowered;  // where it is kept
  schema::Contents contents;
};

Result<PlannedEntry> PlanEntry(SourceEntry source, const Source& all, const CompileOptions& options,
                               PassRunner& runner) {
  PlannedEntry out;
  out.decisions = std::move(source.decisions);
  AICF_ASSIGN_OR_RETURN(PassContext context, ContextFor(options));
  context.decisions = &out.decisions;
  if (all.named) context.entry = source.name;
  AICF_RETURN_IF_ERROR(runner.Run(source.lowered, context));
  if (options.keep_lowered) out.lowered = source.lowered;
  AICF_ASSIGN_OR_RETURN(out.contents,
                        MakePlan(std::move(source.lowered), options, context, runner));
  out.decisions.Append(source.padding_decisions);
  out.contents.program.metadata = all.metadata;
  out.contents.program.entry_points[0].paddings = source.paddings;
  return out;
}

// Whether the lowered programs are still there afterwards: of a model of a million nodes each takes
// a gigabyte.
enum class Sources : uint8_t { kKeep, kTake };

Result<Planned> Plan(Source& source, Sources sources, const CompileOptions& options,
                     PassRunner& runner) {
  Planned out;
  PlanMerger plans;
  std::vector<DecisionLog> logs;
  for (SourceEntry& entry : source.entries) {
    const std::string name = entry.name;
    SourceEntry own = sources == Sources::kTake ? std::move(entry) : entry;
    entry.name = name;
    auto one = PlanEntry(std::move(own), source, options, runner);
    if (!one.ok()) {
      if (!source.named) return one.status();
      return one.status().WithContext(StrCat("bucket '", name, "'"));
    }
    AICF_RETURN_IF_ERROR(plans.Add({name, std::move(one->contents)}));
    if (options.keep_lowered) {
      out.optimised.emplace_back(source.named ? name : "", std::move(one->lowered));
    }
    logs.push_back(std::move(one->decisions));
  }
  AICF_ASSIGN_OR_RETURN(out.contents, plans.Take());
  for (size_t e = 0; e < logs.size(); ++e) {
    out.decisions.Append(std::move(logs[e]), source.named ? source.entries[e].name : "",
                         out.contents.program.entry_points[e].first_step);
  }
  return out;
}

std::vector<StepSources> SourcesOf(const schema::Program& program, bool named) {
  std::vector<StepSources> out;
  for (const schema::EntryPoint& entry : program.entry_points) {
    for (uint32_t s = 0; s < entry.step_count; ++s) {
      out.push_back({named ? entry.name : "", program.steps[entry.first_step + s].sources});
    }
  }
  return out;
}

bool HasEdits(const CompileOptions& options) {
  return options.decisions || !options.sets.empty() || options.policy.NamesSteps();
}

// Edits speak of the plan that is made without them: makes it, and turns them into wishes.
Status ResolveEdits(Source& source, CompileOptions& options) {
  if (!HasEdits(options)) return OkStatus();
  CompileOptions plain = options;
  plain.images = false;
  PassRunner runner(RunnerOptions{options.passes.disabled, {}, {}});
  AICF_ASSIGN_OR_RETURN(const Planned natural, Plan(source, Sources::kKeep, plain, runner));
  std::vector<std::vector<std::string>> sources;
  for (const schema::Step& s : natural.contents.program.steps) sources.push_back(s.sources);
  AICF_RETURN_IF_ERROR(options.policy.NameSteps(sources));
  Wishes edits;
  if (options.decisions) {
    AICF_ASSIGN_OR_RETURN(edits, FindEdits(natural.decisions, *options.decisions));
  }
  for (const std::string& text : options.sets) {
    AICF_ASSIGN_OR_RETURN(Wish wish, ParseSet(text, natural.decisions));
    AICF_RETURN_IF_ERROR(edits.AddUnlessContrary(std::move(wish)));
  }
  // These replace what an artifact that is compiled once more was edited with.
  for (const Wish& w : edits.all()) options.wishes.Add(w);
  return OkStatus();
}

Status CheckNames(const Source& source, const CompileOptions& options) {
  std::vector<const ir::Lowered*> programs;
  for (const SourceEntry& entry : source.entries) programs.push_back(&entry.lowered);
  AICF_RETURN_IF_ERROR(CheckUnfusedNodes(options.no_fusion, programs));
  return CheckPolicyNodes(options.policy, options.policy_strict, programs);
}

// A pass runs once for every entry point.
std::vector<PassTiming> SumByPass(const std::vector<PassTiming>& timings) {
  std::vector<PassTiming> sums;
  for (const PassTiming& t : timings) {
    const auto known = std::ranges::find(sums, t.name, &PassTiming::name);
    if (known == sums.end()) {
      sums.push_back(t);
    } else {
      known->milliseconds += t.milliseconds;
    }
  }
  return sums;
}

// An artifact's samples are checked against its plan, not against the lowered program that a plan
// is made of again.
Status CheckCarriedGolden(std::span<const std::byte> section, const schema::Program& program) {
  if (section.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const schema::Golden golden, schema::ParseGolden(section));
  return schema::CheckGolden(golden, program)
      .WithContext("the golden section does not belong to the lowered program");
}

// Samples that are given now, or those of the artifact that the options come from.
Status AddGolden(const Source& source, const CompileOptions& options, schema::Contents& contents) {
  AICF_RETURN_IF_ERROR(CheckCarriedGolden(options.golden_section, contents.program));
  contents.golden = options.golden_section;
  std::vector<const ir::Lowered*> lowered;
  for (const SourceEntry& entry : source.entries) lowered.push_back(&entry.lowered);
  return AttachGolden(options.golden, lowered, contents);
}

// Where there are wishes: with all source nodes of a large program this is a copy of its names.
Status CheckWishes(const CompileOptions& options, const Planned& planned, bool named) {
  if (options.wishes.empty()) return OkStatus();
  return CheckHonoured(options.wishes, planned.decisions,
                       SourcesOf(planned.contents.program, named));
}

Result<CompileResult> CompileSource(Source source, CompileOptions options, PassRunner& runner) {
  AICF_RETURN_IF_ERROR(CheckNames(source, options));
  AICF_RETURN_IF_ERROR(CalibrateSource(source, options));
  AICF_RETURN_IF_ERROR(ResolveEdits(source, options));
  CompileResult result;
  LoweredSections lowered;
  if (!options.strip) lowered = SectionsOf(source);
  // Samples are computed from the lowered programs.
  const Sources sources = options.golden.empty() ? Sources::kTake : Sources::kKeep;
  AICF_ASSIGN_OR_RETURN(Planned planned, Plan(source, sources, options, runner));
  AICF_RETURN_IF_ERROR(CheckWishes(options, planned, source.named));
  result.model_hash = source.model_hash;
  result.contents = std::move(planned.contents);
  result.decisions = std::move(planned.decisions);
  result.optimised = std::move(planned.optimised);
  result.contents.language = source.language;
  if (!options.strip) {
    AttachLowered(std::move(lowered), result.contents);
    result.contents.decisions =
        result.decisions.ToJsonLines(options.budgets.Of(Budget::kDecisionBytes));
  }
  AICF_RETURN_IF_ERROR(AddGolden(source, options, result.contents));
  const Provenance provenance{"", source.model_hash, "", options, source.values};
  result.contents.provenance = WriteProvenance(provenance, result.contents.program);
  AICF_ASSIGN_OR_RETURN(result.bytes, schema::Serialize(std::move(result.contents)));
  result.timings = SumByPass(runner.timings());
  return result;
}

}  // namespace

Result<CompileResult> Compile(const std::string& model_path, const CompileOptions& options) {
  PassRunner runner(options.passes);
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_RETURN_IF_ERROR(abi::FindDevice(options.target).status());
  AICF_ASSIGN_OR_RETURN(ImportedModel imported, ImportModel(model_path, options));
  AICF_ASSIGN_OR_RETURN(Source source, SourceFromModel(model_path, imported, runner));
  return CompileSource(std::move(source), std::move(imported.options), runner);
}

Result<CompileResult> Recompile(const std::shared_ptr<const schema::Artifact>& artifact,
                                const CompileOptions& options) {
  PassRunner runner(options.passes);
  AICF_RETURN_IF_ERROR(runner.CheckNames());
  AICF_ASSIGN_OR_RETURN(Source source, SourceFromArtifact(artifact));
  return CompileSource(std::move(source), options, runner);
}

Result<CompileOptions> OptionsOf(const schema::Artifact& artifact) {
  AICF_ASSIGN_OR_RETURN(const Provenance provenance,
                        ReadProvenance(artifact.text(schema::SectionKind::kProvenance)));
  CompileOptions options = provenance.options;
  const std::span<const std::byte> golden = artifact.bytes(schema::SectionKind::kGolden);
  options.golden_section.assign(golden.begin(), golden.end());
  return options;
}

}  // namespace aicf
