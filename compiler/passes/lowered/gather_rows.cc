// Copies that move whole rows become one gather of rows by a constant index.
//
// Windows of an image that is rolled first (shifted windows) are three copies in a row: no strides
// express the roll, nor the windows of what was rolled. Row by row it is one step; and a gather has
// an epilogue, which takes what is computed from the rows next (a residual sum).
#include <algorithm>
#include <map>

#include "base/checked.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/row_map.h"

namespace aicf {
namespace {

constexpr std::string_view kGatherRows = "gather-rows";
constexpr const char* kOneGather = "one gather of rows";
// With rows shorter than this, reading the index would cost as much as reading the rows.
constexpr int64_t kLeastRowBytes = 32;
constexpr int64_t kMaxElements = int64_t{1} << 24;
// Elements that are followed in all copies of a program together. The limit bounds the time that
// the pass takes.
constexpr int64_t kMaxFollowed = int64_t{1} << 28;

// Copies in a row: each is the only reader of the one before it, and each reads a single buffer.
struct Chain {
  std::vector<int> copies;
  RowMap map;
  std::string refusal;
};

// The one buffer that the copy reads, or nothing.
std::optional<ir::BufferId> SourceOf(const ir::StepEditor& editor, int s) {
  const ir::LoweredStep& step = editor.step(s);
  if (!IsPureCopy(step) || step.inputs.empty() || ReadsOtherBits(editor, step)) return {};
  const bool one =
      std::ranges::all_of(step.inputs, [&](ir::BufferId b) { return b == step.inputs[0]; });
  return one ? std::optional(step.inputs[0]) : std::nullopt;
}

// The copy that makes what copy `s` reads, if `s` is its only reader; -1: none.
int CopyBefore(const ir::StepEditor& editor, int s) {
  const ir::BufferId b = *SourceOf(editor, s);
  const int before = editor.OnlyWriter(b);
  if (before < 0 || editor.buffer(b).role != schema::Role::kTemp || editor.OnlyReader(b) != s ||
      !SourceOf(editor, before)) {
    return -1;
  }
  const ir::LoweredStep &one = editor.step(before), &other = editor.step(s);
  return one.loop == other.loop && one.guards == other.guards ? before : -1;
}

int64_t CountOf(const ir::StepEditor& editor, ir::BufferId b) {
  return *ElementCount(editor.buffer(b).shape);
}

// What all copies of the chain do together, or why that is no gather of rows.
void FindMap(const ir::StepEditor& editor, const PassContext& context, int64_t& followed,
             Chain& chain) {
  const ir::BufferId source = *SourceOf(editor, chain.copies.front());
  const ir::BufferId made = editor.step(chain.copies.back()).outputs[0];
  if (editor.buffer(made).role == schema::Role::kCarried ||
      editor.buffer(source).role == schema::Role::kCarried) {
    chain.refusal = "loop: what a loop carries changes where it is";
    return;
  }
  ElementMap map;
  for (int c : chain.copies) {
    const int64_t count = CountOf(editor, editor.step(c).outputs[0]);
    if (count == 0 || count > kMaxElements || CountOf(editor, source) > kMaxElements) {
      chain.refusal = StrCat("limits: ", NamesOf(editor.step(c)), " moves ", count,
                             " elements, at most ", kMaxElements, " are followed");
      return;
    }
    followed += count;
    if (followed > kMaxFollowed) {
      chain.refusal = StrCat("limits: copies after this one move ", kMaxFollowed,
                             " elements already, which were followed");
      return;
    }
    const auto step = editor.OnlyWriter(editor.step(c).outputs[0]) == c
                          ? MapOf(editor.step(c), count)
                          : std::nullopt;
    if (!step) {
      chain.refusal = StrCat("whole: ", NamesOf(editor.step(c)), " writes only a part of '",
                             editor.buffer(editor.step(c).outputs[0]).name, "'");
      return;
    }
    map = map.empty() ? *step : Compose(map, *step);
  }
  const DType dtype = editor.buffer(made).dtype;
  const int64_t bytes = DTypeBytes(dtype == DType::kF32 ? context.storage : dtype);
  auto rows = RowsOf(map, CountOf(editor, source), CeilDiv(kLeastRowBytes, bytes));
  if (rows) {
    chain.map = *std::move(rows);
    return;
  }
  chain.refusal = StrCat("domain: whole rows that they move have less than the ", kLeastRowBytes,
                         " bytes that are worth an index");
}

// The gather that replaces the chain. Buffer `indices` holds the map's rows.
ir::LoweredStep GatherOf(const ir::StepEditor& editor, const Chain& chain, ir::BufferId indices) {
  const ir::LoweredStep& last = editor.step(chain.copies.back());
  ir::LoweredStep step = last;
  step.sources.clear();
  for (int c : chain.copies) {
    for (const std::string& name : editor.step(c).sources) {
      if (std::ranges::find(step.sources, name) == step.sources.end()) step.sources.push_back(name);
    }
  }
  const ir::BufferId source = *SourceOf(editor, chain.copies.front());
  const DType dtype = editor.buffer(source).dtype;
  const auto rows = static_cast<int64_t>(chain.map.rows.size());
  step.problem = {};
  step.problem.family = abi::Family::kGather;
  step.problem.attrs = abi::GatherAttrs{};
  step.problem.inputs = {
      abi::DenseView(dtype, {CountOf(editor, source) / chain.map.row, chain.map.row}),
      abi::DenseView(DType::kI32, {rows})};
  step.problem.outputs = {abi::DenseView(dtype, {rows, chain.map.row})};
  step.problem.core_inputs = 2;
  step.inputs = {source, indices};
  return step;
}

std::string NeedsKernel(const abi::Problem& gather, const abi::DeviceSpec& device) {
  abi::Problem dense = gather;  // which every kernel for rows takes
  dense.outputs = {abi::DenseView(gather.outputs[0].dtype, gather.outputs[0].shape)};
  dense.inputs.resize(2);
  dense.epilogue = {};
  return LosesKernel(dense, gather, device);
}

// Why a chain of a single copy stays a copy; empty if it becomes a gather. One copy costs no more
// than a gather, unless the step behind it becomes the gather's epilogue.
std::string CheckSingle(const ir::StepEditor& editor, const PassContext& context,
                        const Chain& chain) {
  const int c = chain.copies[0];
  const ir::LoweredStep& copy = editor.step(c);
  const int reader = editor.OnlyReader(copy.outputs[0]);
  if (reader < 0 || !IsElementwise(editor.step(reader)) || IsPureCopy(editor.step(reader))) {
    return "single-use: it is one copy, and no elementwise step is all that reads it";
  }
  const std::vector<CopyPiece> pieces = PiecesOf(copy);
  const int producer = editor.OnlyWriter(pieces[0].from);
  if (producer >= 0 && pieces.size() == 1 &&
      ir::Remap(editor.step(producer).problem.outputs[0], pieces[0].source, pieces[0].window)) {
    return "domain: its producer may write in the copy's order itself";
  }
  std::string refusal = CheckProducer(editor, context, c, reader);
  if (!refusal.empty()) return refusal;
  const ir::LoweredStep gather = GatherOf(editor, chain, copy.inputs[0]);
  const Fusion fused = AppendConsumer(gather, editor.step(reader));
  if (!fused.ok()) return fused.refusal;
  return LosesKernel(gather.problem, fused.step.problem, context.device);
}

Status Decide(const ir::StepEditor& editor, PassContext& context, int64_t& followed, Chain& chain) {
  const ir::LoweredStep& last = editor.step(chain.copies.back());
  for (int c : chain.copies) {
    if (!KeepByWish(context, CopyDecision(context, editor.step(c), kGatherRows))) continue;
    chain.refusal = "policy: one of the copies is kept";
    return OkStatus();
  }
  FindMap(editor, context, followed, chain);
  if (chain.refusal.empty()) {
    chain.refusal = NeedsKernel(GatherOf(editor, chain, last.outputs[0]).problem, context.device);
  }
  if (chain.refusal.empty() && chain.copies.size() == 1) {
    chain.refusal = CheckSingle(editor, context, chain);
  }
  Decision d = CopyDecision(context, last, kGatherRows);
  if (chain.refusal.empty()) {
    d.choice = kOneGather;
    d.Because(
        Reason::kRule,
        StrCat(chain.copies.size(), chain.copies.size() == 1 ? " copy moves " : " copies move ",
               chain.map.rows.size(), " rows of ", chain.map.row, " elements"));
  } else {
    d.choice = "copy";
    d.Because(Reason::kOnlyLegal);
    d.alternatives.push_back({kOneGather, chain.refusal, -1});
  }
  return RecordCopyDecision(context, std::move(d));
}

// Chains as long as possible, last first.
Result<std::vector<Chain>> FindChains(const ir::StepEditor& editor, PassContext& context) {
  std::vector<Chain> chains;
  int64_t followed = 0;
  std::vector<bool> taken(static_cast<size_t>(editor.size()), false);
  for (int s = editor.size() - 1; s >= 0; --s) {
    if (taken[static_cast<size_t>(s)] || !SourceOf(editor, s)) continue;
    Chain chain;
    for (int c = s; c >= 0; c = CopyBefore(editor, c)) {
      chain.copies.insert(chain.copies.begin(), c);
      taken[static_cast<size_t>(c)] = true;
    }
    AICF_RETURN_IF_ERROR(Decide(editor, context, followed, chain));
    if (chain.refusal.empty()) chains.push_back(std::move(chain));
  }
  return chains;
}

ir::LoweredBuffer IndexBuffer(const std::vector<int32_t>& rows, const std::string& made) {
  const Dims shape = {static_cast<int64_t>(rows.size())};
  return {StrCat("rows of ", made), DType::kI32, shape, schema::Role::kConstant,
          ir::Tensor::FromValues<int32_t>(DType::kI32, shape, rows)};
}

}  // namespace

Status GatherRows(ir::Lowered& lowered, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(const std::vector<Chain> chains,
                        FindChains(ir::StepEditor(lowered), context));
  if (chains.empty()) return OkStatus();
  // Chains that move the same rows, as blocks of one size in a network do, share one index.
  std::map<std::vector<int32_t>, ir::BufferId> indices;
  for (const Chain& chain : chains) {
    const auto [at, fresh] =
        indices.emplace(chain.map.rows, static_cast<ir::BufferId>(lowered.buffers.size()));
    if (!fresh) continue;
    const ir::BufferId made = lowered.steps[static_cast<size_t>(chain.copies.back())].outputs[0];
    lowered.buffers.push_back(IndexBuffer(at->first, lowered.buffers[made].name));
  }
  ir::StepEditor editor(lowered);
  for (const Chain& chain : chains) {
    ir::LoweredStep gather = GatherOf(editor, chain, indices.at(chain.map.rows));
    for (int c : chain.copies) {
      if (c != chain.copies.back()) editor.Erase(c);
    }
    editor.Replace(chain.copies.back(), std::move(gather));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
