#include "tools/inspect/arena.h"

#include <algorithm>

#include "tools/common/text.h"

namespace aicf::tools {

Result<ArenaView> ViewArena(const schema::Program& program, size_t entry) {
  ArenaView view;
  AICF_ASSIGN_OR_RETURN(view.lifetimes, schema::LifetimesOf(program, entry));
  view.live = schema::LiveBytes(view.lifetimes, program.entry_points[entry]);
  const auto peak = std::ranges::max_element(view.live);
  view.peak = static_cast<size_t>(peak - view.live.begin());
  view.peak_bytes = *peak;
  return view;
}

std::string LifetimeText(const schema::Lifetime& lifetime, const schema::EntryPoint& entry) {
  const int64_t begin = entry.first_step, end = begin + entry.step_count;
  if (lifetime.last >= end) {
    if (lifetime.first == begin) return "always";
    if (lifetime.first >= end) return "after the last step";
    return StrCat("step ", lifetime.first, " to the end");
  }
  if (lifetime.first == lifetime.last) return StrCat("step ", lifetime.first);
  return StrCat("steps ", lifetime.first, " to ", lifetime.last);
}

namespace {

Json ItemJson(const schema::Program& program, const schema::Lifetime& item) {
  Json out;
  if (item.workspace_of == schema::Lifetime::kBuffer) {
    out["value"] = item.buffers[0];
    out["name"] = program.buffers[item.buffers[0]].name;
    out["role"] = schema::RoleName(program.buffers[item.buffers[0]].role);
  } else {
    out["workspace_of"] = item.workspace_of;
  }
  out["offset"] = item.offset;
  out["bytes"] = item.bytes;
  out["first"] = item.first;
  out["last"] = item.last;
  for (size_t i = 1; i < item.buffers.size(); ++i) {
    out["in_place"].push_back(
        Json{{"value", item.buffers[i]}, {"name", program.buffers[item.buffers[i]].name}});
  }
  return out;
}

}  // namespace

Json ArenaJson(const schema::Program& program, size_t entry, const ArenaView& view) {
  const schema::EntryPoint& e = program.entry_points[entry];
  Json out{{"name", e.name},
           {"first_step", e.first_step},
           {"step_count", e.step_count},
           {"peak_step", e.first_step + view.peak},
           {"peak_bytes", view.peak_bytes},
           {"live_bytes", view.live},
           {"items", Json::array()}};
  for (const schema::Lifetime& item : view.lifetimes) {
    out["items"].push_back(ItemJson(program, item));
  }
  return out;
}

}  // namespace aicf::tools
