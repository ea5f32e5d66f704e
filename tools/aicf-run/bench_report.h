/// What --bench-llm prints.
#pragma once

#include <string>
#include <vector>

#include "tools/aicf-run/bench_llm.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

struct BenchReport {
  std::string model;  ///< its architecture
  uint64_t model_bytes = 0;
  std::string parameters;  ///< parameter count from the model's metadata; empty: unknown
  std::string target, device;
  int threads = 0;  ///< CPU; 0 on CUDA
  std::vector<BenchRow> rows;
};

/// A table in Markdown, with the columns of llama-bench.
std::string BenchText(const BenchReport& report);
/// One JSON object. Members that llama-bench has as well have the same names.
std::string BenchJson(const RunOptions& options, const BenchReport& report);

}  // namespace aicf::tools
