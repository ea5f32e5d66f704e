/// Tokens per second of a language model, for reading prompts and for generating text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aicf/generator.h"
#include "base/status.h"

namespace aicf::tools {

/// One row of the benchmark: either prompts or texts of a given length, with `batch` requests at
/// once.
struct BenchTest {
  int64_t prompt = 0;  ///< tokens of each prompt; 0 in a test of texts
  int64_t text = 0;    ///< tokens of each text; 0 in a test of prompts
  int64_t batch = 1;
  int64_t depth = 0;  ///< tokens of each request that are in the cache before its text is timed

  /// "pp512" or "tg128"; "tg128 x8" for more than one request, "tg128 @ d1024" for a depth.
  std::string Name() const;
  /// Tokens of all requests of one measurement.
  int64_t tokens() const { return (prompt + text) * batch; }
};

struct BenchRow {
  BenchTest test;
  std::vector<double> ms;  ///< of each repetition

  std::vector<double> TokensPerSecond() const;
};

struct MeanAndDeviation {
  double mean = 0;
  double deviation = 0;  ///< of the sample; 0 for one value
};
MeanAndDeviation Summarize(const std::vector<double>& values);

/// Runs every test once unmeasured and then `repetitions` times. Errors: those of Generator.
Result<std::vector<BenchRow>> Bench(Generator& generator, const std::vector<BenchTest>& tests,
                                    int repetitions);

}  // namespace aicf::tools
