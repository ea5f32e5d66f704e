#include "tools/aicf-run/generate.h"

#include <cstdio>
#include <utility>

#include "aicf/embedder.h"
#include "tools/aicf-run/embed.h"
#include "tools/aicf-run/generate_report.h"
#include "tools/aicf-run/load.h"
#include "tools/aicf-run/measure.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

Result<std::vector<uint32_t>> PromptIds(const Generator& generator, const GenerateOptions& o) {
  if (!o.tokens.empty()) return o.tokens;
  if (!o.chat) return generator.Encode(o.prompt, o.special);
  std::vector<ChatMessage> messages;
  if (!o.system.empty()) messages.push_back({"system", o.system});
  messages.push_back({"user", o.prompt});
  return generator.EncodeChat(messages);
}

GenerateRequest RequestFor(const GenerateOptions& o, std::vector<uint32_t> prompt) {
  GenerateRequest request;
  request.prompt = std::move(prompt);
  request.max_new_tokens = o.most_tokens;
  request.temperature = static_cast<float>(o.temperature);
  request.top_k = o.top_k;
  request.top_p = static_cast<float>(o.top_p);
  request.min_p = static_cast<float>(o.min_p);
  request.seed = o.seed;
  request.ignore_end = o.ignore_end;
  request.stop_texts = o.stops;
  return request;
}

/// What is shown of a run's tokens: their text, or their ids where there is no tokenizer.
std::string Shown(const GenerateProgress& progress, bool has_tokenizer, bool* first) {
  if (has_tokenizer) return std::string(progress.text);
  std::string out;
  for (const uint32_t token : progress.tokens) {
    out += StrCat(*first ? "" : ",", token);
    *first = false;
  }
  return out;
}

/// Makes a generator on a program. `start` is when the loading of the program began.
Result<OpenGenerator> OpenProgram(std::shared_ptr<const Program> program, const RunOptions& options,
                                  double start) {
  OpenGenerator open;
  open.program = std::move(program);
  GeneratorOptions wanted;
  wanted.session = options.session;
  wanted.session.transfers = true;  // every Step reads its tokens from the device anyway
  wanted.batch_invariant = options.generate.batch_invariant;
  // Texts that are timed at some depth have to begin together, so all prompts are read before the
  // first decode.
  if (options.generate.mode == GenerateMode::kBench) wanted.prefills_in_a_row = 1 << 20;
  auto made = Generator::Create(open.program, wanted);
  if (!made.ok()) return made.status().WithContext(options.artifact);
  open.generator = *std::move(made);
  open.load_ms = NowMs() - start;
  return open;
}

}  // namespace

Result<OpenGenerator> OpenModel(const RunOptions& options) {
  const double start = NowMs();
  AICF_ASSIGN_OR_RETURN(auto program, LoadProgram(options.artifact, options.signature));
  return OpenProgram(std::move(program), options, start);
}

Status RunGenerate(const RunOptions& options) {
  const GenerateOptions& o = options.generate;
  const double start = NowMs();
  AICF_ASSIGN_OR_RETURN(auto program, LoadProgram(options.artifact, options.signature));
  if (Embedder::Serves(*program)) return RunEmbed(std::move(program), options);
  AICF_ASSIGN_OR_RETURN(const OpenGenerator open, OpenProgram(std::move(program), options, start));
  Generator& generator = *open.generator;
  GenerateReport report;
  AICF_ASSIGN_OR_RETURN(report.prompt, PromptIds(generator, o));
  report.load_ms = open.load_ms;
  report.device = generator.device_name();
  report.memory = generator.memory();
  GenerateRequest request = RequestFor(o, report.prompt);
  const bool has_tokenizer = generator.info().has_tokenizer;
  if (!options.json) {
    request.on_progress = [&, first = true](const GenerateProgress& progress) mutable {
      PrintNow(Shown(progress, has_tokenizer, &first));
      // Nobody reads the rest. A request that has ended meanwhile is left as it is.
      if (!OutputIsRead()) (void)generator.Cancel(progress.id);
    };
  }
  AICF_ASSIGN_OR_RETURN(const uint64_t id, generator.Submit(std::move(request)));
  AICF_ASSIGN_OR_RETURN(report.result, generator.Wait(id));
  if (options.json) {
    Print(GenerateJson(options, report));
    return OkStatus();
  }
  PrintNow("\n");
  // A generation that was cut short has no times, and a failed write is reported by RunTool.
  if (!OutputIsRead()) return OkStatus();
  const std::string text = GenerateText(report, o.show_tokens);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return OkStatus();
}

}  // namespace aicf::tools
