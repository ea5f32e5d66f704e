#include "tools/aicf-run/report.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "schema/artifact.h"
#include "tools/aicf-run/check_text.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using Json = nlohmann::ordered_json;

// Reads the peak from /proc, because the maximum of getrusage includes what the process used before
// exec.
uint64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    uint64_t kib = 0;
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

std::string DeviceText(const Report& report) {
  std::string text = Escape(report.device);
  if (!report.on_cuda)
    text += StrCat(", ", report.threads, report.threads == 1 ? " thread" : " threads");
  if (report.reference) text += ", reference kernels in place of the plan's CUDA kernels";
  return text;
}

const EntryInfo& EntryOf(const Report& report) {
  return report.program->entries()[report.selection->choice.entry];
}

/// ", entry six" where there is more than one.
std::string EntryText(const Report& report) {
  if (report.program->entries().size() == 1) return "";
  return StrCat(", entry ", Escape(EntryOf(report).name));
}

std::string StateText(const Report& report) {
  const uint64_t bytes = report.memory.state_bytes;
  return bytes == 0 ? "" : StrCat(", state ", FormatBytes(bytes));
}

std::string TensorTable(const Report& report) {
  Table table({{"tensor"}, {"dtype"}, {"shape"}, {""}});
  const Selection& selection = *report.selection;
  for (size_t i = 0; i < selection.inputs.size(); ++i) {
    const InputSource& input = selection.inputs[i];
    const Dims& whole = EntryOf(report).inputs[i].shape;
    const std::string padded =
        input.info.shape == whole ? "" : StrCat(", padded to ", ToString(whole));
    table.Add({Escape(input.info.name), std::string(DTypeName(input.info.dtype)),
               ToString(input.info.shape), StrCat("input: ", Escape(input.origin), padded)});
  }
  for (size_t o = 0; o < selection.outputs.size(); ++o) {
    const TensorInfo& output = selection.outputs[o];
    const bool dynamic = output.dynamic_axis >= 0;
    table.Add({Escape(output.name), std::string(DTypeName(output.dtype)),
               ToString(report.output_shapes[o]),
               dynamic ? StrCat("output, at most ", ToString(output.shape)) : "output"});
  }
  for (const InputSource& meta : selection.metas) {
    table.Add({Escape(meta.info.name), std::string(DTypeName(meta.info.dtype)),
               ToString(meta.info.shape), StrCat("meta: ", Escape(meta.origin))});
  }
  for (const InputSource& state : selection.states) {
    table.Add({Escape(state.info.name), std::string(DTypeName(state.info.dtype)),
               ToString(state.info.shape),
               StrCat("state: begins with ", Escape(state.origin),
                      report.options->keep_state ? ", kept from run to run" : "")});
  }
  return table.ToString("  ");
}

std::string MemoryText(const Report& report) {
  const schema::Program& plan = report.program->artifact().program();
  const MemoryReport& m = report.memory;
  std::string out = "=== Memory ===\n";
  out += KeyLine(10, "weights",
                 FormatBytes(m.weights_bytes) + "  shared by the sessions of a program");
  std::string bound = "planned " + FormatBytes(plan.arena_bytes);
  if (plan.arena_lower_bound > 0) {
    const double ratio = static_cast<double>(plan.arena_bytes) / plan.arena_lower_bound;
    bound += StrCat(", ", FormatNumber(ratio), " x the lower bound");
  }
  out += KeyLine(10, "arena", StrCat(FormatBytes(m.arena_bytes), "  ", bound));
  if (m.state_bytes > 0)
    out += KeyLine(10, "state", FormatBytes(m.state_bytes) + "  of each session");
  if (m.staging_bytes > 0)
    out += KeyLine(10, "staging", FormatBytes(m.staging_bytes) + "  pinned host");
  out += KeyLine(10, "total", FormatBytes(m.total_device_bytes));
  out +=
      KeyLine(10, "peak RSS", FormatBytes(PeakRssBytes()) + "  of this process, the tool included");
  return out + "\n";
}

/// trtexec's name where the figure means the same.
std::string_view ComputeName(const Report& report) {
  return report.options->session.transfers ? "GPU (transfers included)" : "GPU Compute";
}

std::string SummaryText(const Report& report) {
  const Measurement& m = report.measurement;
  const std::vector<double>& percentiles = report.options->percentiles;
  std::string out = "=== Performance summary ===\n";
  out += StrCat("Throughput: ", FormatNumber(m.latency.size() / m.wall_s), " qps\n");
  out += StrCat("Latency: ", SummaryLine(Samples(m.latency), percentiles), "\n");
  if (!m.enqueue.empty()) {
    out += StrCat("Enqueue Time: ", SummaryLine(Samples(m.enqueue), percentiles), "\n");
  }
  const Samples compute(m.compute);
  if (!compute.empty()) {
    out += StrCat(ComputeName(report), " Time: ", SummaryLine(compute, percentiles), "\n");
  }
  out += StrCat("Total Host Walltime: ", FormatNumber(m.wall_s), " s\n");
  if (!compute.empty()) {
    out += StrCat("Total ", ComputeName(report), " Time: ", FormatNumber(compute.sum() / 1000),
                  " s (", compute.size(), " replays back to back)\n");
  }
  return out;
}

Json LatencyJson(const Samples& samples) {
  return {{"min", samples.min()},          {"max", samples.max()},
          {"mean", samples.mean()},        {"median", samples.median()},
          {"p90", samples.Percentile(90)}, {"p95", samples.Percentile(95)},
          {"p99", samples.Percentile(99)}};
}

Json ProfileJson(const Report& report) {
  auto steps = Json::array();
  for (const StepRow& row : report.profile) {
    Json step = {{"step", row.step}, {"kernel", row.kernel}, {"sources", row.sources},
                 {"ms", row.ms},     {"bytes", row.bytes},   {"flop", row.flop}};
    if (row.roofline >= 0) step["roofline"] = row.roofline;
    if (!row.grid.empty()) step["grid"] = row.grid;
    if (!row.block.empty()) step["block"] = row.block;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::string HeadText(const Report& report) {
  const Program& program = *report.program;
  std::string out = Escape(report.options->artifact) + "\n\n";
  out += KeyLine(
      10, "target",
      StrCat(program.target(), ", ", EntryOf(report).step_count, " steps", EntryText(report)));
  out += KeyLine(10, "device", DeviceText(report));
  out += KeyLine(10, "memory",
                 StrCat(FormatBytes(report.memory.total_device_bytes), " (weights ",
                        FormatBytes(report.memory.weights_bytes), ", arena ",
                        FormatBytes(report.memory.arena_bytes), StateText(report), ")"));
  out += KeyLine(10, "load", FormatNumber(report.load_ms) + " ms");
  out += KeyLine(10, "first", FormatNumber(report.first_ms) + " ms");
  return out + "\n" + TensorTable(report) + "\n";
}

std::string CheckText(const Report& report) {
  if (report.checks.empty()) return "";
  return StrCat("=== Check (", report.tolerance.ToString(), ") ===\n",
                CheckLines(report.checks, report.tolerance), OverallLine(report.checks), "\n");
}

std::string TailText(const Report& report) {
  std::string out;
  if (report.options->memory) out += MemoryText(report);
  if (report.options->profile) {
    const Measurement& m = report.measurement;
    const Samples replay(m.compute.empty() ? m.latency : m.compute);
    out += "=== Profile ===\n" + ProfileTable(report.profile, replay.median()) + "\n";
  }
  return out + SummaryText(report);
}

std::string JsonText(const Report& report) {
  const Measurement& m = report.measurement;
  Json out;
  out["artifact"] = report.options->artifact;
  out["target"] = report.program->target();
  out["device"] = report.device;
  if (!report.on_cuda) out["threads"] = report.threads;
  out["load_ms"] = report.load_ms;
  out["first_ms"] = report.first_ms;
  out["latency_ms"] = LatencyJson(Samples(m.latency));
  if (!m.enqueue.empty()) out["enqueue_ms"] = LatencyJson(Samples(m.enqueue));
  if (!m.compute.empty())
    out[report.options->session.transfers ? "gpu_with_transfers_ms" : "gpu_compute_ms"] =
        LatencyJson(Samples(m.compute));
  out["iterations"] = m.latency.size();
  out["throughput_qps"] = m.latency.size() / m.wall_s;
  out["peak_memory_bytes"] = report.memory.total_device_bytes;
  out["memory_bytes"] = {{"arena", report.memory.arena_bytes},
                         {"weights", report.memory.weights_bytes},
                         {"state", report.memory.state_bytes},
                         {"staging", report.memory.staging_bytes},
                         {"peak_rss", PeakRssBytes()}};
  out["entry"] = EntryOf(report).name;
  out["steps"] = EntryOf(report).step_count;
  for (const InputSource& state : report.selection->states) {
    out["states"].push_back(Json{
        {"name", state.info.name}, {"bytes", state.info.bytes}, {"begins_with", state.origin}});
  }
  if (!report.checks.empty()) {
    out["pass"] = AllPass(report.checks);
    out["checks"] = ChecksJson(report.checks);
  }
  if (!report.profile.empty()) out["profile"] = ProfileJson(report);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aicf::tools
