#include "compiler/select/memory.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "schema/loop_tree.h"

namespace aicf {
namespace {

// One thing to place: a root buffer with everything that aliases it, or a step's workspace.
struct Item {
  uint64_t bytes = 0;
  int first = 0, last = -1;  // steps, inclusive
  int buffer = -1;           // or
  int workspace_of = -1;
  uint64_t offset = 0;
};

void Extend(Item& item, int step) {
  if (item.last < item.first) item.first = item.last = step;
  item.first = std::min(item.first, step);
  item.last = std::max(item.last, step);
}

uint32_t Root(const schema::Program& program, uint32_t buffer) {
  while (program.buffers[buffer].storage == schema::Storage::kAlias) {
    buffer = program.buffers[buffer].alias_of;
  }
  return buffer;
}

Result<std::vector<Item>> Collect(const schema::Program& program) {
  std::vector<Item> items(program.buffers.size());
  const int end = static_cast<int>(program.steps.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (uint32_t b : program.steps[s].inputs) Extend(items[Root(program, b)], static_cast<int>(s));
    for (uint32_t b : program.steps[s].outputs) Extend(items[Root(program, b)], static_cast<int>(s));
    for (const schema::Guard& g : program.steps[s].guards) {
      Extend(items[Root(program, g.buffer)], static_cast<int>(s));
    }
  }
  AICF_ASSIGN_OR_RETURN(const schema::LoopTree loops,
                        schema::LoopTree::Build(program));
  for (Item& item : items) {
    if (item.last < item.first) continue;
    const auto [first, last] = loops.LiveRange(item.first, item.last);
    item.first = static_cast<int>(first);
    item.last = static_cast<int>(last);
  }
  std::vector<Item> placed;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const schema::Buffer& buffer = program.buffers[b];
    const uint32_t root = Root(program, static_cast<uint32_t>(b));
    const bool caller_writes = buffer.role != schema::Role::kTemp &&
                               buffer.role != schema::Role::kCarried &&
                               buffer.role != schema::Role::kOutput;
    if (buffer.role == schema::Role::kOutput || caller_writes) Extend(items[root], end);
    if (caller_writes) Extend(items[root], 0);
  }
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const schema::Buffer& buffer = program.buffers[b];
    if (buffer.storage != schema::Storage::kArena) continue;
    Item item = items[b];
    item.buffer = static_cast<int>(b);
    if (!CheckedAlignUp(buffer.bytes, schema::kBufferAlignment, &item.bytes)) {
      return Error(Code::kResource, "buffer '", buffer.name, "' of ", buffer.bytes, " bytes");
    }
    placed.push_back(item);
  }
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (program.steps[s].workspace_bytes == 0) continue;
    Item item;
    item.first = item.last = item.workspace_of = static_cast<int>(s);
    if (!CheckedAlignUp(program.steps[s].workspace_bytes, schema::kBufferAlignment, &item.bytes)) {
      return Error(Code::kResource, "workspace of step ", s);
    }
    placed.push_back(item);
  }
  return placed;
}

bool LiveTogether(const Item& a, const Item& b) { return a.first <= b.last && b.first <= a.last; }

// Lowest offset at which the item fits among those placed that live at the same time.
uint64_t LowestFit(const Item& item, const std::vector<const Item*>& placed) {
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (const Item* other : placed) {
    if (LiveTogether(item, *other) && other->bytes > 0) {
      taken.emplace_back(other->offset, other->offset + other->bytes);
    }
  }
  std::sort(taken.begin(), taken.end());
  uint64_t at = 0;
  for (auto [begin, stop] : taken) {
    if (at + item.bytes <= begin) break;
    at = std::max(at, stop);
  }
  return at;
}

template <class Less>
uint64_t Place(std::vector<Item>& items, Less less) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return less(items[a], items[b]); });
  std::vector<const Item*> placed;
  uint64_t peak = 0;
  for (size_t i : order) {
    items[i].offset = LowestFit(items[i], placed);
    peak = std::max(peak, items[i].offset + items[i].bytes);
    placed.push_back(&items[i]);
  }
  return peak;
}

uint64_t LowerBound(const std::vector<Item>& items, int steps) {
  std::vector<uint64_t> start(steps + 2, 0), stop(steps + 2, 0);
  for (const Item& item : items) {
    if (item.last < item.first) continue;
    start[item.first] += item.bytes;
    stop[item.last + 1] += item.bytes;
  }
  uint64_t live = 0, peak = 0;
  for (int s = 0; s <= steps; ++s) {
    live += start[s];
    live -= stop[s];
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace

Status PlanMemory(schema::Program& program, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(std::vector<Item> by_size, Collect(program));
  std::vector<Item> by_time = by_size;
  uint64_t total = 0;
  for (const Item& item : by_size) {
    if (!CheckedAdd(total, item.bytes, &total) || total > (uint64_t{1} << 62)) {
      return Error(Code::kResource, "the program's buffers exceed the address space");
    }
  }
  const uint64_t peak_by_size = Place(by_size, [](const Item& a, const Item& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.first < b.first;
  });
  const uint64_t peak_by_time =
      Place(by_time, [](const Item& a, const Item& b) { return a.first < b.first; });
  const bool size_wins = peak_by_size <= peak_by_time;
  for (const Item& item : size_wins ? by_size : by_time) {
    if (item.buffer >= 0) program.buffers[item.buffer].offset = item.offset;
    if (item.workspace_of >= 0) program.steps[item.workspace_of].workspace_offset = item.offset;
  }
  program.arena_bytes = size_wins ? peak_by_size : peak_by_time;
  program.arena_lower_bound = LowerBound(by_size, static_cast<int>(program.steps.size()));
  context.decisions->Record(
      {"memory", "arena", size_wins ? "largest first" : "first used first",
       StrCat("rule: smaller peak; ", program.arena_bytes, " bytes over a lower bound of ",
              program.arena_lower_bound),
       "plan-memory", -1,
       {{size_wins ? "first used first" : "largest first",
         StrCat("needs ", size_wins ? peak_by_time : peak_by_size, " bytes"), -1}}});
  return OkStatus();
}

}  // namespace aicf
