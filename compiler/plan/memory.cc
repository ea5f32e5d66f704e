#include "compiler/plan/memory.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "schema/lifetimes.h"

namespace aicf {
namespace {

using schema::Lifetime;

// Lowest offset at which the item fits among those placed, which are sorted by their own, that it
// may not lie over.
uint64_t LowestFit(const Lifetime& item, const std::vector<const Lifetime*>& placed,
                   const schema::StepOrder& steps) {
  uint64_t at = 0;
  for (const Lifetime* other : placed) {
    if (at + item.bytes <= other->offset) break;
    if (other->offset + other->bytes <= at || schema::MayShareBytes(item, *other, steps)) continue;
    at = other->offset + other->bytes;
  }
  return at;
}

// Metas before all others: whatever is placed first lies at the lowest offsets, without gaps where
// all of it lives throughout.
bool IsMeta(const schema::Program& program, const Lifetime& item) {
  return item.workspace_of == Lifetime::kBuffer &&
         program.buffers[item.buffers[0]].role == schema::Role::kMeta;
}

template <class Less>
uint64_t Place(std::vector<Lifetime>& items, const schema::StepOrder& steps, Less less) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return less(items[a], items[b]); });
  std::vector<const Lifetime*> placed;  // those with bytes, by offset
  uint64_t peak = 0;
  for (size_t i : order) {
    items[i].offset = LowestFit(items[i], placed, steps);
    peak = std::max(peak, items[i].offset + items[i].bytes);
    if (items[i].bytes == 0) continue;
    const auto after = [](uint64_t offset, const Lifetime* other) {
      return offset < other->offset;
    };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), items[i].offset, after),
                  &items[i]);
  }
  return peak;
}

}  // namespace

Status PlanStates(schema::Program& program) {
  program.state_bytes = 0;
  for (schema::Buffer& b : program.buffers) {
    if (!schema::IsState(b)) continue;
    b.offset = program.state_bytes;
    uint64_t end = 0;
    if (!CheckedAdd(b.offset, b.bytes, &end) ||
        !CheckedAlignUp(end, schema::kBufferAlignment, &program.state_bytes)) {
      return Status(Code::kResource, "the program's states exceed the address space");
    }
  }
  return OkStatus();
}

Status PlanMemory(schema::Program& program, PassContext& context) {
  AICF_RETURN_IF_ERROR(PlanStates(program));
  AICF_ASSIGN_OR_RETURN(std::vector<Lifetime> by_size, schema::LifetimesOf(program, 0));
  std::vector<Lifetime> by_time = by_size;
  const schema::StepOrder steps(program, program.entry_points[0]);
  uint64_t total = 0;
  for (const Lifetime& item : by_size) {
    if (!CheckedAdd(total, item.bytes, &total) || total > (uint64_t{1} << 62)) {
      return Error(Code::kResource, "the program's buffers exceed the address space");
    }
  }
  const auto metas_first = [&](auto less) {
    return [&program, less](const Lifetime& a, const Lifetime& b) {
      const bool one = IsMeta(program, a), other = IsMeta(program, b);
      if (one || other) return one && !other;
      return less(a, b);
    };
  };
  const uint64_t peak_by_size =
      Place(by_size, steps, metas_first([](const Lifetime& a, const Lifetime& b) {
              return a.bytes != b.bytes ? a.bytes > b.bytes : a.first < b.first;
            }));
  const uint64_t peak_by_time =
      Place(by_time, steps,
            metas_first([](const Lifetime& a, const Lifetime& b) { return a.first < b.first; }));
  const bool size_wins = peak_by_size <= peak_by_time;
  for (const Lifetime& item : size_wins ? by_size : by_time) {
    if (item.workspace_of == Lifetime::kBuffer) {
      program.buffers[item.buffers[0]].offset = item.offset;
    } else {
      program.steps[static_cast<size_t>(item.workspace_of)].workspace_offset = item.offset;
    }
  }
  program.arena_bytes = size_wins ? peak_by_size : peak_by_time;
  program.arena_lower_bound = std::ranges::max(schema::LiveBytes(by_size, program.entry_points[0]));
  Decision d = context.About(DecisionKind::kMemory, schema::Subject::Named(SubjectForm::kArena),
                             "plan-memory");
  d.choice = size_wins ? "largest first" : "first used first";
  d.Because(Reason::kRule, StrCat("smaller peak; ", program.arena_bytes,
                                  " bytes over a lower bound of ", program.arena_lower_bound));
  d.alternatives = {{size_wins ? "first used first" : "largest first",
                     StrCat("cost: it needs ", size_wins ? peak_by_time : peak_by_size, " bytes"),
                     -1}};
  context.Record(std::move(d));
  return OkStatus();
}

}  // namespace aicf
