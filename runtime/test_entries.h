/// A program of several entry points made by hand, for the runtime's tests. Tests only.
#pragma once

#include "runtime/test_program.h"

namespace aicf::testing {

struct TestEntry {
  std::string name;
  Dims shape;
  int axis = -1;     ///< the axis that may be padded; -1: none
  uint64_t min = 1;  ///< least positions of this axis that are served
};

/// Each computes y = -x in its own shape; all lie over each other in one arena.
inline schema::Contents EntriesContents(const std::string& target,
                                        const std::vector<TestEntry>& entries) {
  schema::Contents contents;
  schema::Program& p = contents.program;
  p.target = target;
  for (const TestEntry& entry : entries) {
    uint64_t end = 0;
    const auto add = [&](const std::string& name, schema::Role role) {
      schema::Buffer buffer;
      buffer.name = name;
      buffer.shape = entry.shape;
      buffer.bytes = static_cast<uint64_t>(*ElementCount(entry.shape) * 4);
      buffer.role = role;
      buffer.offset = end;
      end += Padded(buffer.bytes);
      p.buffers.push_back(buffer);
      return static_cast<uint32_t>(p.buffers.size() - 1);
    };
    const uint32_t x = add("x", schema::Role::kInput), y = add("y", schema::Role::kOutput);
    schema::EntryPoint e{entry.name, {x}, {y}, static_cast<uint32_t>(p.steps.size()), 1};
    if (entry.axis >= 0) {
      const auto axis = static_cast<uint32_t>(entry.axis);
      e.paddings.push_back({entry.min, {{0, axis}}, {{0, axis, 1}}});
    }
    p.steps.push_back(Negate(target, DType::kF32, entry.shape, x, y));
    p.entry_points.push_back(std::move(e));
    p.arena_bytes = std::max(p.arena_bytes, end);
  }
  p.arena_lower_bound = p.arena_bytes;
  if (target.starts_with("cuda")) {
    contents.images = EmptyCubin();
    p.images.push_back(
        {"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()});
  }
  return contents;
}

/// "six" and "ten" may pad their batch, "two" serves its exact shape alone, "wide" may pad its
/// inner axis.
inline std::vector<TestEntry> SomeEntries() {
  return {{"six", {6, 4}, 0, 2}, {"two", {2, 4}}, {"wide", {2, 8}, 1, 5}, {"ten", {10, 4}, 0, 1}};
}

}  // namespace aicf::testing
