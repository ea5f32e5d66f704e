#include "compiler/buckets/padding.h"
#include "compiler/emit/model_hash.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/source/provenance.h"
#include "compiler/source/row_program.h"
#include "compiler/source/source.h"
#include "compiler/stages/stages.h"
#include "compiler/states/state_paddings.h"

namespace aicf {
namespace {

Result<ir::Graph> Bound(const ir::Graph& model, const CompileOptions& options) {
  ir::Graph bound = model;
  AICF_RETURN_IF_ERROR(BindValues(bound, options.values));
  return bound;
}

// Before anything is compiled: names, inputs and shapes of the buckets.
Status CheckEntries(const ir::Graph& model, const CompileOptions& options,
                    const std::vector<Bucket>& entries) {
  if (options.buckets.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const ir::Graph bound, Bound(model, options));
  return InputShapes(bound, entries).status();
}

// The model is taken where it may be: with a million nodes a copy is a gigabyte.
Result<SourceEntry> LowerEntry(ir::Graph& model, bool last, const CompileOptions& options,
                               const Bucket& bucket, PassRunner& runner, PassContext context,
                               Source& source) {
  SourceEntry entry;
  entry.name = bucket.name;
  context.decisions = &entry.decisions;
  if (!options.buckets.empty()) context.entry = bucket.name;
  CompileOptions own = options;
  own.shapes = bucket.shapes;
  const bool row = IsQuantized(options.precision) && !options.calibrate.samples.empty();
  ir::Graph own_model = last && !row ? std::move(model) : model;
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph,
                        PrepareGraph(std::move(own_model), own, runner, context));
  AICF_ASSIGN_OR_RETURN(entry.lowered, LowerVerified(graph, own, context));
  if (row) entry.row = RowProgram(model, options, bucket, entry.lowered);
  if (source.metadata.empty()) source.metadata = graph.metadata;
  return entry;
}

const ir::LoweredBuffer* FindState(const ir::Lowered& lowered, std::string_view name) {
  for (const ir::LoweredState& s : lowered.states) {
    if (lowered.buffers[s.past].name == name) return &lowered.buffers[s.past];
  }
  return nullptr;
}

// The entry points share each state, so it is the same everywhere.
Status CheckStatesAgree(const Source& source) {
  for (const SourceEntry& one : source.entries) {
    for (const ir::LoweredState& s : one.lowered.states) {
      const ir::LoweredBuffer& state = one.lowered.buffers[s.past];
      for (const SourceEntry& other : source.entries) {
        const ir::LoweredBuffer* same = FindState(other.lowered, state.name);
        const std::string found = same == nullptr ? "no state" : ir::TypeText(*same);
        if (found == ir::TypeText(state)) continue;
        return Error(Code::kInvalidArgument, "state '", state.name, "' is ", ir::TypeText(state),
                     " in bucket '", one.name, "' and ", found, " in bucket '", other.name,
                     "': all entry points share it, so its shape must not depend on the bucket");
      }
    }
  }
  return OkStatus();
}

// What may be padded at run time, for a compilation with buckets.
Status ProveAll(const ir::Graph& model, const CompileOptions& options,
                const std::vector<Bucket>& entries, PassContext context, Source& source) {
  if (options.buckets.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const ir::Graph bound, Bound(model, options));
  AICF_ASSIGN_OR_RETURN(const auto shapes, InputShapes(bound, entries));
  for (size_t e = 0; e < entries.size(); ++e) {
    context.decisions = &source.entries[e].padding_decisions;
    AICF_ASSIGN_OR_RETURN(const auto proven, ProvePaddings(bound, shapes, e, context));
    source.entries[e].paddings = PaddingsBesideStates(proven, source.entries[e].lowered, context);
  }
  return OkStatus();
}

}  // namespace

Result<Source> SourceFromModel(const std::string& model_path, ImportedModel& imported,
                               PassRunner& runner) {
  const CompileOptions& options = imported.options;
  ir::Graph& model = imported.graph;
  AICF_ASSIGN_OR_RETURN(const std::vector<Bucket> entries,
                        EntryPointsOf(options.shapes, options.buckets));
  Source source;
  source.named = !options.buckets.empty();
  AICF_ASSIGN_OR_RETURN(source.model_hash, HashModelFile(IdentityFile(model_path)));
  for (const auto& [name, value] : options.values) source.values[name] = DescribeValue(value);
  AICF_ASSIGN_OR_RETURN(const PassContext context, ContextFor(options));
  AICF_RETURN_IF_ERROR(CheckEntries(model, options, entries));
  for (const Bucket& bucket : entries) {
    const bool last = options.buckets.empty();
    auto entry = LowerEntry(model, last, options, bucket, runner, context, source);
    if (!entry.ok()) {
      const std::string label = EntryLabel(options.buckets, bucket);
      return label.empty() ? entry.status() : entry.status().WithContext(label);
    }
    source.entries.push_back(*std::move(entry));
  }
  AICF_RETURN_IF_ERROR(CheckStatesAgree(source));
  if (imported.language) {
    // Its entry points are chosen by who runs it, by name: nothing is padded behind his back.
    source.language = schema::SerializeLanguageModel(*imported.language);
    return source;
  }
  AICF_RETURN_IF_ERROR(ProveAll(model, options, entries, context, source));
  return source;
}

}  // namespace aicf
