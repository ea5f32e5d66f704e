#include "tools/aicf-run/profile.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "kernels/abi/kernel.h"
#include "schema/artifact.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using Json = nlohmann::ordered_json;

/// Least time the device needs for a step: the larger of moving its bytes and doing its arithmetic.
double LimitMs(const abi::DeviceSpec& device, const abi::Problem& problem, double bytes,
               double flop) {
  const bool product = problem.family == abi::Family::kGemm || problem.family == abi::Family::kConv;
  const bool tensor_cores =
      product && problem.math != abi::MathMode::kFp32 && device.tensor_flops_per_us > 0;
  const double peak = tensor_cores ? device.tensor_flops_per_us : device.fp32_flops_per_us;
  if (peak <= 0 || device.bytes_per_us <= 0) return -1;
  return std::max(bytes / device.bytes_per_us, flop / peak) / 1000;
}

/// "12.3 M": decimal prefixes, as FLOP and transfer rates are given.
std::string Prefixed(double value) {
  constexpr const char* kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  char text[48];
  std::snprintf(text, sizeof text, prefix == 0 ? "%.0f%s" : "%.2f%s", value, kPrefixes[prefix]);
  return text;
}

std::string Percent(double share) {
  if (share < 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

}  // namespace

Result<std::vector<StepRow>> ProfileSteps(Session& session, const Program& program, bool on_cuda,
                                          int iterations) {
  AICF_ASSIGN_OR_RETURN(const std::vector<StepProfile> profile, session.Profile(iterations));
  const schema::Program& plan = program.artifact().program();
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec target, abi::FindDevice(plan.target));
  const bool reference = target.backend == abi::Backend::kCuda && !on_cuda;
  std::vector<StepRow> rows;
  for (const StepProfile& p : profile) {
    const schema::Step& step = plan.steps[p.step];
    StepRow row;
    row.step = p.step;
    row.kernel = reference ? abi::ReferenceKey(step.problem.family) : step.kernel;
    row.sources = step.sources;
    if (on_cuda && step.image >= 0) {
      row.grid = abi::ExtentText(step.launch.grid);
      row.block = abi::ExtentText(step.launch.block);
    }
    row.ms = p.median_us / 1000;
    row.bytes = abi::ByteCount(step.problem);
    row.flop = abi::FlopCount(step.problem);
    const double limit = reference ? -1 : LimitMs(target, step.problem, row.bytes, row.flop);
    if (limit >= 0 && row.ms > 0) row.roofline = limit / row.ms;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string ProfileTable(const std::vector<StepRow>& rows, double replay_ms) {
  using enum Table::Align;
  const bool launches =
      std::any_of(rows.begin(), rows.end(), [](const StepRow& r) { return !r.grid.empty(); });
  std::vector<Table::Column> columns = {{"step", kRight},  {"ms", kRight},   {"share", kRight},
                                        {"bytes", kRight}, {"FLOP", kRight}, {"roofline", kRight}};
  if (launches) columns.insert(columns.end(), {{"grid", kLeft}, {"block", kLeft}});
  columns.insert(columns.end(), {{"kernel", kLeft}, {"source nodes", kLeft}});
  Table table(columns);
  double sum = 0;
  for (const StepRow& row : rows) sum += row.ms;
  for (const StepRow& row : rows) {
    std::vector<std::string> cells = {
        std::to_string(row.step), FormatNumber(row.ms), Percent(sum > 0 ? row.ms / sum : 0),
        Prefixed(row.bytes),      Prefixed(row.flop),   Percent(row.roofline)};
    if (launches) cells.insert(cells.end(), {row.grid, row.block});
    cells.insert(cells.end(), {row.kernel, Shorten(Escape(Join(row.sources, " + ")), 72)});
    table.Add(std::move(cells));
  }
  return table.ToString() + StrCat("\nSum of steps: ", FormatNumber(sum),
                                   " ms; whole replay: ", FormatNumber(replay_ms),
                                   " ms (median)\n");
}

std::string ProfileTrace(const std::vector<StepRow>& rows, const std::string& device,
                         double replay_ms) {
  auto events = Json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "aicf"}}}});
  events.push_back(
      {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", device}}}});
  double start_us = 0;
  for (const StepRow& row : rows) {
    Json event;
    event["name"] = row.sources.empty() ? row.kernel : Join(row.sources, " + ");
    event["cat"] = row.kernel.substr(0, row.kernel.rfind('.'));
    event["ph"] = "X";
    event["ts"] = start_us;
    event["dur"] = row.ms * 1000;
    event["pid"] = 1;
    event["tid"] = 1;
    event["args"] = {
        {"step", row.step}, {"kernel", row.kernel}, {"bytes", row.bytes}, {"flop", row.flop}};
    if (row.roofline >= 0) event["args"]["roofline"] = row.roofline;
    if (!row.grid.empty()) event["args"]["grid"] = row.grid;
    if (!row.block.empty()) event["args"]["block"] = row.block;
    events.push_back(std::move(event));
    start_us += row.ms * 1000;
  }
  Json trace;
  trace["traceEvents"] = std::move(events);
  trace["displayTimeUnit"] = "ms";
  trace["otherData"] = {{"replay_us", replay_ms * 1000}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aicf::tools
