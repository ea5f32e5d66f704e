#include "tools/aicf-run/bench_llm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tools/aicf-run/measure.h"

namespace aicf::tools {
namespace {

/// A random prompt. All runs of the tool use the same prompts, but no two of a run are alike.
std::vector<uint32_t> MadeUpPrompt(int64_t tokens, int64_t vocabulary, std::mt19937& random) {
  std::vector<uint32_t> ids;
  for (int64_t i = 0; i < tokens; ++i) {
    ids.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(vocabulary)));
  }
  return ids;
}

/// The request of a test. A test of prompts draws one token, because reading a prompt ends with
/// that. A text at depth 0 follows a prompt of one token, so that drawing each of its tokens takes
/// one decode. At a greater depth the prompt has `depth` tokens, and one more token is asked for:
/// the one that ends the prompt, which is not timed.
GenerateRequest RequestOf(const BenchTest& test, const LanguageInfo& info, std::mt19937& random) {
  GenerateRequest request;
  const int64_t prompt = test.prompt > 0 ? test.prompt : std::max<int64_t>(1, test.depth);
  request.prompt = MadeUpPrompt(prompt, info.vocabulary, random);
  request.max_new_tokens = test.prompt > 0 ? 1 : test.text + (test.depth > 0 ? 1 : 0);
  request.ignore_end = true;
  return request;
}

/// The error of texts at some depth that do not all go on at the same time.
Status NotTogether(const BenchTest& test, const LanguageInfo& info) {
  return Error(Code::kInvalidArgument, test.batch, " requests of ", test.depth + test.text,
               " tokens do not fit into the cache together: it takes a slot for each, of which the "
               "artifact has ",
               info.slots, " (aicf-compile --decode), and pages for all of them with one more to ",
               "grow by for each, where the cache has ", info.pages, " pages of ", info.page,
               " tokens (--cache)");
}

/// Steps until the prompts of all requests are in the cache. That is so when prefills have drawn
/// one token per request: a request's first token is drawn by the run that ends its prompt. A
/// decode before that means that some requests have to wait for others to end (OpenProgram sets no
/// limit to prefills in a row). Their tokens would be counted, but not all of them timed.
Status ReachDepth(Generator& generator, const BenchTest& test) {
  for (int64_t begun = 0; begun < test.batch;) {
    AICF_ASSIGN_OR_RETURN(const StepReport step, generator.Step());
    if (step.kind == StepReport::Kind::kIdle) break;
    if (step.kind == StepReport::Kind::kDecode || step.preempted > 0) {
      return NotTogether(test, generator.info());
    }
    begun += step.drawn;
  }
  return OkStatus();
}

Result<double> MeasureOnce(Generator& generator, const BenchTest& test, std::mt19937& random) {
  std::vector<GenerateRequest> requests;
  for (int64_t i = 0; i < test.batch; ++i) {
    requests.push_back(RequestOf(test, generator.info(), random));
  }
  std::vector<uint64_t> ids;
  double start = NowMs();
  for (GenerateRequest& request : requests) {
    AICF_ASSIGN_OR_RETURN(const uint64_t id, generator.Submit(std::move(request)));
    ids.push_back(id);
  }
  if (test.depth > 0) {
    AICF_RETURN_IF_ERROR(ReachDepth(generator, test));
    start = NowMs();
  }
  const int64_t expected = test.text + (test.depth > 0 ? 1 : 0);
  for (const uint64_t id : ids) {
    AICF_ASSIGN_OR_RETURN(const GenerateResult result, generator.Wait(id));
    // A request that gave its pages back has computed its prompt again while the texts were timed.
    if (test.depth > 0 && result.preemptions > 0) return NotTogether(test, generator.info());
    if (test.text > 0 && static_cast<int64_t>(result.tokens.size()) != expected) {
      return Error(Code::kInvalidArgument, "a text of ", test.text, " tokens",
                   test.depth > 0 ? StrCat(" behind ", test.depth) : "",
                   " does not fit the context of ", generator.info().context);
    }
  }
  return NowMs() - start;
}

}  // namespace

std::string BenchTest::Name() const {
  const std::string name = prompt > 0 ? StrCat("pp", prompt) : StrCat("tg", text);
  const std::string deep = depth == 0 ? name : StrCat(name, " @ d", depth);
  return batch == 1 ? deep : StrCat(deep, " x", batch);
}

std::vector<double> BenchRow::TokensPerSecond() const {
  std::vector<double> out;
  for (const double each : ms) out.push_back(static_cast<double>(test.tokens()) * 1000 / each);
  return out;
}

MeanAndDeviation Summarize(const std::vector<double>& values) {
  MeanAndDeviation out;
  const auto count = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (count - 1));
  return out;
}

Result<std::vector<BenchRow>> Bench(Generator& generator, const std::vector<BenchTest>& tests,
                                    int repetitions) {
  std::mt19937 random(1);
  std::vector<BenchRow> rows;
  for (const BenchTest& test : tests) {
    BenchRow row{test, {}};
    AICF_RETURN_IF_ERROR(MeasureOnce(generator, test, random).status());
    for (int i = 0; i < repetitions; ++i) {
      AICF_ASSIGN_OR_RETURN(const double ms, MeasureOnce(generator, test, random));
      row.ms.push_back(ms);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace aicf::tools
