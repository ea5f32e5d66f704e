#include "compiler/plan/memory.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>

#include "base/checked.h"
#include "compiler/plan/free_space.h"
#include "schema/lifetimes.h"

namespace aicf {
namespace {

using schema::Lifetime;

// The most comparisons that the search for places may make. With this limit a plan is made within
// seconds, whatever the program.
constexpr int64_t kMostComparisons = 2'000'000'000;

// The lowest offset at which the item lies over none of the placed items that it may not share
// bytes with. `placed` is sorted by offset. Adds the comparisons that this takes to `comparisons`.
uint64_t LowestFit(const Lifetime& item, const std::vector<const Lifetime*>& placed,
                   const schema::StepOrder& steps, int64_t& comparisons) {
  uint64_t at = 0;
  for (const Lifetime* other : placed) {
    if (at + item.bytes <= other->offset) break;
    ++comparisons;
    if (other->offset + other->bytes <= at || schema::MayShareBytes(item, *other, steps)) continue;
    at = other->offset + other->bytes;
  }
  return at;
}

// Whether the item is a meta. Metas are placed before all others, so that they get the lowest
// offsets and, since all of them live throughout, lie next to each other without gaps.
bool IsMeta(const schema::Program& program, const Lifetime& item) {
  return item.workspace_of == Lifetime::kBuffer &&
         program.buffers[item.buffers[0]].role == schema::Role::kMeta;
}

using Order = std::vector<size_t>;

template <class Less>
Order SortedBy(const schema::Program& program, const std::vector<Lifetime>& items, Less less) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t x, size_t y) {
    const Lifetime &a = items[x], &b = items[y];
    const bool one = IsMeta(program, a), other = IsMeta(program, b);
    if (one || other) return one && !other;
    return less(a, b);
  });
  return order;
}

// Places the items one after the other, each at the lowest offset. Returns the peak; nullopt when
// that takes more comparisons than `most`.
std::optional<uint64_t> Place(std::vector<Lifetime>& items, const Order& order,
                              const schema::StepOrder& steps, int64_t most) {
  std::vector<const Lifetime*> placed;  // those with bytes, by offset
  uint64_t peak = 0;
  int64_t comparisons = 0;
  for (size_t i : order) {
    items[i].offset = LowestFit(items[i], placed, steps, comparisons);
    comparisons += static_cast<int64_t>(placed.size()) / 64;  // moved by the insertion
    if (comparisons > most) return std::nullopt;
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

// The same for items in the order of their first steps, where all steps are on one stream. An item
// may then share bytes with all items but those that live when it begins to, so that one walk
// through time is enough.
uint64_t PlaceThroughTime(std::vector<Lifetime>& items, const Order& order) {
  const auto later = [&](size_t a, size_t b) { return items[a].last > items[b].last; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> alive(later);
  FreeSpace space;
  uint64_t peak = 0;
  for (size_t i : order) {
    Lifetime& item = items[i];
    item.offset = 0;
    if (item.bytes == 0) continue;
    for (; !alive.empty() && items[alive.top()].last < item.first; alive.pop()) {
      space.Give(items[alive.top()].offset, items[alive.top()].bytes);
    }
    item.offset = space.Take(item.bytes);
    peak = std::max(peak, item.offset + item.bytes);
    alive.push(i);
  }
  return peak;
}

struct Placement {
  std::vector<Lifetime> items;
  std::optional<uint64_t> peak;  // nullopt: it would take too long
};

Placement PlacedByTime(std::vector<Lifetime> items, const Order& order,
                       const schema::StepOrder& steps) {
  Placement out{std::move(items), {}};
  out.peak = steps.serial() ? PlaceThroughTime(out.items, order)
                            : Place(out.items, order, steps, INT64_MAX);
  return out;
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
  AICF_ASSIGN_OR_RETURN(std::vector<Lifetime> items, schema::LifetimesOf(program, 0));
  const schema::StepOrder steps(program, program.entry_points[0]);
  uint64_t total = 0;
  for (const Lifetime& item : items) {
    if (!CheckedAdd(total, item.bytes, &total) || total > (uint64_t{1} << 62)) {
      return Error(Code::kResource, "the program's buffers exceed the address space");
    }
  }
  const Order sizes = SortedBy(program, items, [](const Lifetime& a, const Lifetime& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.first < b.first;
  });
  const Order times = SortedBy(
      program, items, [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; });
  program.arena_lower_bound = std::ranges::max(schema::LiveBytes(items, program.entry_points[0]));
  // Where all buffers have one size, both orders are the same.
  const bool same = sizes == times;
  Placement by_size;
  if (!same) {
    by_size.items = items;
    by_size.peak = Place(by_size.items, sizes, steps, kMostComparisons);
  }
  const Placement by_time = PlacedByTime(std::move(items), times, steps);
  const bool size_wins = same || (by_size.peak && *by_size.peak <= *by_time.peak);
  const Placement& chosen = size_wins && !same ? by_size : by_time;
  const Placement& other = size_wins || same ? by_time : by_size;
  for (const Lifetime& item : chosen.items) {
    if (item.workspace_of == Lifetime::kBuffer) {
      program.buffers[item.buffers[0]].offset = item.offset;
    } else {
      program.steps[static_cast<size_t>(item.workspace_of)].workspace_offset = item.offset;
    }
  }
  program.arena_bytes = *chosen.peak;
  Decision d = context.About(DecisionKind::kMemory, schema::Subject::Named(SubjectForm::kArena),
                             "plan-memory");
  d.choice = size_wins ? "largest first" : "first used first";
  d.Because(Reason::kRule, StrCat("smaller peak; ", program.arena_bytes,
                                  " bytes over a lower bound of ", program.arena_lower_bound));
  d.alternatives = {{size_wins ? "first used first" : "largest first",
                     other.peak ? StrCat("cost: it needs ", *other.peak, " bytes")
                                : StrCat("limits: looking for places takes more than ",
                                         kMostComparisons, " comparisons"),
                     -1}};
  context.Record(std::move(d));
  return OkStatus();
}

}  // namespace aicf
