#include "tools/aicf-run/bench_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/cpu/threads/thread_pool.h"
#include "tools/aicf-run/generate.h"
#include "tools/common/process.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string Rate(const BenchRow& row) {
  const MeanAndDeviation rate = Summarize(row.TokensPerSecond());
  char text[64];
  std::snprintf(text, sizeof text, "%.2f ± %.2f", rate.mean, rate.deviation);
  return text;
}

std::string Backend(const BenchReport& report) {
  return report.device == "cpu" ? report.target : StrCat(report.target, ", ", report.device);
}

std::vector<BenchTest> TestsOf(const GenerateOptions& o) {
  std::vector<BenchTest> tests;
  for (const int64_t batch : o.bench_batches) {
    for (const int64_t prompt : o.bench_prompts) {
      if (prompt > 0) tests.push_back({prompt, 0, batch});
    }
    for (const int64_t text : o.bench_tokens) {
      for (const int64_t depth : o.bench_depths) {
        if (text > 0) tests.push_back({0, text, batch, depth});
      }
    }
  }
  return tests;
}

using Cells = std::vector<std::string>;

std::string MarkdownRow(const Cells& cells, const std::vector<size_t>& widths) {
  std::string out = "|";
  for (size_t c = 0; c < cells.size(); ++c) {
    // The last two columns, test and rate, are aligned to the right, as numbers are.
    const std::string pad(widths[c] - DisplayWidth(cells[c]), ' ');
    out +=
        c + 2 < cells.size() ? StrCat(" ", cells[c], pad, " |") : StrCat(" ", pad, cells[c], " |");
  }
  return out + "\n";
}

std::string MarkdownTable(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Cells& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  std::string out = MarkdownRow(rows[0], widths) + "|";
  for (size_t c = 0; c < widths.size(); ++c) {
    const bool right = c + 2 >= widths.size();
    out += StrCat(" ", std::string(widths[c] - right, '-'), right ? ":" : "", " |");
  }
  out += "\n";
  for (size_t r = 1; r < rows.size(); ++r) out += MarkdownRow(rows[r], widths);
  return out;
}

}  // namespace

std::string BenchText(const BenchReport& report) {
  std::vector<Cells> rows = {{"model", "size", "params", "backend", "threads", "test", "t/s"}};
  const std::string threads = report.threads > 0 ? StrCat(report.threads) : "-";
  for (const BenchRow& row : report.rows) {
    rows.push_back({Escape(report.model), FormatBytes(report.model_bytes),
                    report.parameters.empty() ? "-" : Escape(report.parameters),
                    Escape(Backend(report)), threads, row.test.Name(), Rate(row)});
  }
  return MarkdownTable(rows);
}

std::string BenchJson(const RunOptions& options, const BenchReport& report) {
  Json out;
  out["model_filename"] = options.artifact;
  out["model_type"] = report.model;
  out["model_size"] = report.model_bytes;
  if (!report.parameters.empty()) out["model_n_params"] = report.parameters;
  out["target"] = report.target;
  out["device"] = report.device;
  if (report.threads > 0) out["n_threads"] = report.threads;
  out["tests"] = Json::array();
  for (const BenchRow& row : report.rows) {
    const std::vector<double> rates = row.TokensPerSecond();
    const MeanAndDeviation rate = Summarize(rates), ms = Summarize(row.ms);
    out["tests"].push_back(Json{{"test", row.test.Name()},
                                {"n_prompt", row.test.prompt},
                                {"n_gen", row.test.text},
                                {"n_batch", row.test.batch},
                                {"n_depth", row.test.depth},
                                {"avg_ns", ms.mean * 1e6},
                                {"stddev_ns", ms.deviation * 1e6},
                                {"avg_ts", rate.mean},
                                {"stddev_ts", rate.deviation},
                                {"samples_ts", rates}});
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status RunBench(const RunOptions& options) {
  const GenerateOptions& o = options.generate;
  const std::vector<BenchTest> tests = TestsOf(o);
  if (tests.empty()) {
    return Error(Code::kInvalidArgument,
                 "--bench-llm: with -p 0 and -n 0 nothing is left to measure");
  }
  AICF_ASSIGN_OR_RETURN(const OpenGenerator open, OpenModel(options));
  BenchReport report;
  report.model = open.generator->info().architecture;
  report.model_bytes = open.program->weights_bytes();
  report.parameters = open.program->metadata("parameters");
  report.target = open.program->target();
  report.device = open.generator->device_name();
  if (report.device == "cpu") {
    const int threads = options.session.threads;
    report.threads = threads > 0 ? threads : cpu::ThreadPool::DefaultThreads();
  }
  AICF_ASSIGN_OR_RETURN(report.rows, Bench(*open.generator, tests, o.repetitions));
  Print(options.json ? BenchJson(options, report) : BenchText(report));
  return OkStatus();
}

}  // namespace aicf::tools
