/// Tokens per second of a language model: prompts, and text after an empty prompt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aicf/generator.h"
#include "base/status.h"

namespace aicf::tools {

/// One row: prompts of so many tokens, or texts of so many, by several requests at once.
struct BenchTest {
  int64_t prompt = 0;  ///< 0: text
  int64_t text = 0;    ///< 0: prompts
  int64_t batch = 1;
  int64_t depth = 0;  ///< tokens of each request that the cache holds before a text is timed

  /// "pp512", "tg128"; with more than one request "tg128 x8", behind others "tg128 @ d1024".
  std::string Name() const;
  /// All tokens of one measurement.
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
