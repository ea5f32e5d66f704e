#include "schema/lifetimes.h"

#include <algorithm>

#include "base/checked.h"
#include "schema/loop_tree.h"
#include "schema/roots.h"

namespace aicf::schema {
namespace {

class Collector {
 public:
  Collector(const Program& program, const EntryPoint& entry)
      : p_(program),
        e_(entry),
        serial_(StepOrder(program, entry).serial()),
        roots_(RootsOf(program)),
        lives_(program.buffers.size()),
        named_(program.buffers.size()),
        steps_(serial_ ? 0 : program.buffers.size()) {}

  Result<std::vector<Lifetime>> Run() {
    for (int64_t s = e_.first_step; s < End(); ++s) NameOperands(s);
    AICF_RETURN_IF_ERROR(ExtendThroughLoops());
    ExtendForTheCaller();
    AICF_RETURN_IF_ERROR(AddBuffers());
    AICF_RETURN_IF_ERROR(AddWorkspaces());
    return std::move(out_);
  }

 private:
  struct Span {
    int64_t first = 0, last = -1;
  };

  int64_t End() const { return int64_t{e_.first_step} + e_.step_count; }

  uint32_t Root(uint32_t buffer) const { return roots_[buffer]; }

  void Extend(uint32_t buffer, int64_t step) {
    named_[buffer] = true;
    Span& span = lives_[Root(buffer)];
    if (span.last < span.first) span = {step, step};
    span.first = std::min(span.first, step);
    span.last = std::max(span.last, step);
  }

  void Name(uint32_t buffer, int64_t step) {
    Extend(buffer, step);
    if (serial_) return;
    std::vector<int64_t>& steps = steps_[Root(buffer)];
    if (steps.empty() || steps.back() != step) steps.push_back(step);
  }

  void NameOperands(int64_t s) {
    const Step& step = p_.steps[static_cast<size_t>(s)];
    for (uint32_t b : step.inputs) Name(b, s);
    for (uint32_t b : step.outputs) Name(b, s);
    for (const Guard& g : step.guards) Name(g.buffer, s);
  }

  Status ExtendThroughLoops() {
    AICF_ASSIGN_OR_RETURN(const LoopTree loops, LoopTree::Build(e_));
    for (Span& span : lives_) {
      if (span.last < span.first) continue;
      const auto [first, last] = loops.LiveRange(span.first, span.last);
      span = {first, last};
    }
    return OkStatus();
  }

  void ExtendForTheCaller() {
    const auto always = [&](uint32_t b) {
      Extend(b, e_.first_step);
      Extend(b, End());
    };
    for (uint32_t b : e_.inputs) always(b);
    for (uint32_t b : e_.metas) always(b);
    for (uint32_t b : e_.outputs) Extend(b, End());
  }

  Status AddBuffers() {
    std::vector<int64_t> item_of(p_.buffers.size(), -1);
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      const Buffer& buffer = p_.buffers[b];
      if (buffer.storage != Storage::kArena || lives_[b].last < lives_[b].first) continue;
      item_of[b] = static_cast<int64_t>(out_.size());
      Lifetime item{lives_[b].first, lives_[b].last, buffer.offset, 0, {b}, Lifetime::kBuffer};
      if (!CheckedAlignUp(buffer.bytes, kBufferAlignment, &item.bytes)) {
        return Error(Code::kResource, "buffer '", buffer.name, "' of ", buffer.bytes, " bytes");
      }
      if (!serial_) item.steps = std::move(steps_[b]);
      out_.push_back(std::move(item));
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      if (p_.buffers[b].storage != Storage::kAlias || !named_[b]) continue;
      const int64_t item = item_of[Root(b)];
      if (item >= 0) out_[static_cast<size_t>(item)].buffers.push_back(b);
    }
    return OkStatus();
  }

  Status AddWorkspaces() {
    for (int64_t s = e_.first_step; s < End(); ++s) {
      const Step& step = p_.steps[static_cast<size_t>(s)];
      if (step.workspace_bytes == 0) continue;
      Lifetime item{s, s, step.workspace_offset, 0, {}, s};
      if (!CheckedAlignUp(step.workspace_bytes, kBufferAlignment, &item.bytes)) {
        return Error(Code::kResource, "workspace of step ", s);
      }
      if (!serial_) item.steps = {s};
      out_.push_back(std::move(item));
    }
    return OkStatus();
  }

  const Program& p_;
  const EntryPoint& e_;
  const bool serial_;                        // the entry point's steps are on one stream
  const std::vector<uint32_t> roots_;        // by buffer
  std::vector<Span> lives_;                  // of roots
  std::vector<bool> named_;                  // by the entry point
  std::vector<std::vector<int64_t>> steps_;  // that name a root; empty when serial_
  std::vector<Lifetime> out_;
};

}  // namespace

Result<std::vector<Lifetime>> LifetimesOf(const Program& program, size_t entry) {
  return Collector(program, program.entry_points[entry]).Run();
}

bool MayShareBytes(const Lifetime& a, const Lifetime& b, const StepOrder& order) {
  if (a.first <= b.last && b.first <= a.last) return false;
  if (order.serial()) return true;
  const Lifetime& early = a.first < b.first ? a : b;
  const Lifetime& late = a.first < b.first ? b : a;
  for (int64_t before : early.steps) {
    for (int64_t after : late.steps) {
      if (!order.Before(before, after)) return false;
    }
  }
  return true;
}

std::vector<uint64_t> LiveBytes(const std::vector<Lifetime>& lifetimes, const EntryPoint& entry) {
  std::vector<uint64_t> live(entry.step_count + 2, 0);
  for (const Lifetime& item : lifetimes) {
    live[static_cast<size_t>(item.first - entry.first_step)] += item.bytes;
    live[static_cast<size_t>(item.last - entry.first_step) + 1] -= item.bytes;
  }
  live.pop_back();
  for (size_t s = 1; s < live.size(); ++s) live[s] += live[s - 1];
  return live;
}

}  // namespace aicf::schema
