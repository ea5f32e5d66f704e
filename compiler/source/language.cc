#include "compiler/source/language.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/interrupted.h"
#include "base/log.h"
#include "base/open_file.h"
#include "base/scanner.h"
#include "compiler/import/gguf/gguf.h"
#include "compiler/import/import_onnx.h"
#include "compiler/import/language/decoder.h"
#include "compiler/import/language/encoder.h"
#include "compiler/import/language/gguf_model.h"
#include "compiler/import/language/hf_model.h"
#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/gguf_tokenizer.h"

namespace aicf {
namespace {

using language::LanguageOptions;
using language::Model;

/// A cache of f32 for this many positions is some hundred MB for models of a billion parameters.
constexpr int64_t kUsualContext = 4096;

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<bool> BeginsAsGguf(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  char magic[4] = {};
  for (size_t done = 0; done < sizeof magic;) {
    const ssize_t n = Uninterrupted([&] {
      return pread(file.fd.get(), magic + done, sizeof magic - done, static_cast<off_t>(done));
    });
    if (n < 0) return Error(Code::kIo, "cannot read ", Quote(path), ": ", std::strerror(errno));
    if (n == 0) return false;
    done += static_cast<size_t>(n);
  }
  return std::memcmp(magic, "GGUF", sizeof magic) == 0;
}

Status CheckAscending(const std::vector<int64_t>& sizes, std::string_view flag, int64_t most) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > most || (i > 0 && sizes[i] <= sizes[i - 1])) {
      return Error(Code::kInvalidArgument, flag, ": sizes ascend from 1 to ", most, ", found ",
                   sizes[i]);
    }
  }
  return OkStatus();
}

// Sizes that are not above the limit; the limit itself where none is.
std::vector<int64_t> UpTo(std::vector<int64_t> sizes, int64_t limit) {
  std::erase_if(sizes, [&](int64_t size) { return size > limit; });
  if (sizes.empty()) sizes = {limit};
  return sizes;
}

Status CompleteContext(const Model& model, LanguageOptions& o) {
  if (o.context < 0 || o.page < 0 || o.cache < 0) {
    return Status(Code::kInvalidArgument, "--context, --page and --cache are not negative");
  }
  if (o.context == 0) o.context = std::min(model.trained_context, kUsualContext);
  if (o.context <= model.trained_context) return OkStatus();
  if (model.Find("position_embd") != nullptr) {
    return Error(Code::kInvalidArgument, "--context=", o.context, ": the model has learned ",
                 model.trained_context, " positions");
  }
  const int64_t made_for = language::ContextMadeFor(model);
  if (o.context > made_for) {
    Log(LogLevel::kWarning, StrCat("--context=", o.context, ": the model was made for ", made_for,
                                   " positions, and text beyond them is likely to be poor"));
  }
  return OkStatus();
}

/// Rows of the prefill entry points. On a CPU the time of a run grows with its rows, filled or not,
/// so there are entry points for short prompts, too. A GPU reads the weights longer than it
/// computes with them until there are some hundred rows.
std::vector<int64_t> UsualPrefill(bool on_cpu) {
  if (on_cpu) return {8, 16, 32, 64, 128, 512, 2048};
  return {128, 512, 2048};
}

/// A prompt goes through several runs, the text of an encoder through one, so these are closer.
std::vector<int64_t> UsualTexts(bool on_cpu) {
  if (on_cpu) return {8, 16, 32, 64, 128, 256, 512};
  return {32, 128, 512};
}

/// An encoder sees a text in one run, so the longest text needs an entry point of its length.
Result<LanguageOptions> CompletedEncoder(LanguageOptions o, const Model& model, bool on_cpu) {
  const bool cached = o.page != 0 || o.cache != 0 || !o.decode.empty() || o.logits;
  if (cached || o.cache_dtype.value_or(DType::kF32) != DType::kF32) {
    return Status(Code::kInvalidArgument,
                  "the model gives embeddings; --decode, --page, --cache, --cache-precision and "
                  "--logits are for models that go on with a text");
  }
  o.cache_dtype = DType::kF32;
  AICF_RETURN_IF_ERROR(CompleteContext(model, o));
  if (o.prefill.empty()) {
    o.prefill = UpTo(UsualTexts(on_cpu), o.context);
    if (o.prefill.back() < o.context) o.prefill.push_back(o.context);
  }
  AICF_RETURN_IF_ERROR(CheckAscending(o.prefill, "--prefill", o.context));
  o.context = o.prefill.back();
  return o;
}

/// Keys and values are stored as the other values that steps exchange. In another dtype every step
/// would have to convert all of the cache before it multiplies.
DType UsualCacheDtype(DType precision) {
  return precision == DType::kF16 || precision == DType::kBF16 ? precision : DType::kF32;
}

/// What the user left open. `precision`: CompileOptions::precision.
Result<LanguageOptions> Completed(LanguageOptions o, const Model& model, DType precision,
                                  bool on_cpu) {
  constexpr int64_t kMaxRequests = 4096;
  AICF_RETURN_IF_ERROR(CompleteContext(model, o));
  if (!o.cache_dtype) o.cache_dtype = UsualCacheDtype(precision);
  if (o.page == 0) o.page = std::min<int64_t>(on_cpu ? 32 : 64, o.context);
  if (o.decode.empty()) {
    o.decode =
        on_cpu ? std::vector<int64_t>{1, 2, 4, 8} : std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64};
  }
  if (o.prefill.empty()) o.prefill = UpTo(UsualPrefill(on_cpu), o.context);
  AICF_RETURN_IF_ERROR(CheckAscending(o.prefill, "--prefill", o.context));
  if (o.prefill.front() == 1) {
    return Error(Code::kInvalidArgument, o.context == 1 ? "--context" : "--prefill",
                 ": at least 2, because the entry point for one row is a decode");
  }
  AICF_RETURN_IF_ERROR(CheckAscending(o.decode, "--decode", kMaxRequests));
  const int64_t stretches = (o.context + o.page - 1) / o.page;
  if (o.cache == 0) o.cache = 2 * stretches * o.page;
  // Whole pages, and room for one request of the longest context.
  const int64_t asked = o.cache;
  o.cache = (o.cache + o.page - 1) / o.page * o.page;
  if (o.cache < stretches * o.page) {
    return Error(Code::kInvalidArgument, "--cache=", asked, " holds no request of ", o.context,
                 " positions, which takes ", stretches * o.page);
  }
  return o;
}

std::vector<Bucket> EntriesOf(const LanguageOptions& o, bool encoder) {
  std::vector<Bucket> entries;
  const auto add = [&](std::string name, int64_t batch, int64_t tokens) {
    Bucket bucket;
    bucket.name = std::move(name);
    bucket.shapes["tokens"] = {batch, tokens};
    entries.push_back(std::move(bucket));
  };
  for (const int64_t rows : o.prefill) add(StrCat(encoder ? "embed_" : "prefill_", rows), 1, rows);
  for (const int64_t requests : o.decode) add(StrCat("decode_", requests), requests, 1);
  return entries;
}

std::vector<StatePair> StatesOf(const Model& model) {
  if (model.encoder) return {};
  std::vector<StatePair> states = {{"sampled", language::NextName("sampled")}};
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    for (const char* what : {"keys", "values"}) {
      const std::string name = language::StateName(what, layer);
      states.push_back({name, language::NextName(name)});
    }
  }
  return states;
}

schema::LanguageModel Described(const Model& model, const LanguageOptions& o) {
  schema::LanguageModel out;
  out.architecture = model.architecture;
  out.vocabulary = model.vocabulary;
  out.context = o.context;
  out.trained_context = model.trained_context;
  if (model.encoder) {
    out.task = schema::LanguageTask::kEmbed;
  } else {
    out.page = o.page;
    out.pages = o.cache / o.page;
    out.slots = o.decode.back();
  }
  out.end_tokens = model.end_tokens;
  out.chat_template = model.chat_template;
  out.tokenizer = model.tokenizer;
  return out;
}

bool HasBlocks(const Model& model) {
  return std::ranges::any_of(
      model.weights, [](const auto& named) { return InfoOf(named.second.format).elements > 1; });
}

Status CheckNothingElse(const CompileOptions& o) {
  if (o.shapes.empty() && o.values.empty() && !o.auto_states) return OkStatus();
  return Status(Code::kInvalidArgument,
                "a language model's inputs follow from --context, --prefill and --decode; "
                "--shapes, --bind and --state=auto are for other models");
}

// An artifact's options, with which it is rebuilt, have the entry points and metas that follow from
// the model. Others were asked for.
Status CheckSame(const CompileOptions& given, const CompileOptions& made) {
  const auto refuse = [](std::string_view flag) {
    return Error(Code::kInvalidArgument, flag, " is for other models: a language model's entry ",
                 "points and metas follow from --context, --prefill and --decode");
  };
  const auto name = [](const Bucket& bucket) -> const std::string& { return bucket.name; };
  const bool same = std::ranges::equal(given.buckets, made.buckets, {}, name, name);
  if (!given.buckets.empty() && !same) return refuse("--bucket");
  if (!given.metas.empty() && given.metas != made.metas) return refuse("--meta");
  return given.nan_branches ? refuse("--impossible-branches") : OkStatus();
}

// "134.5 M": what users call the size of a model.
std::string ParametersText(const Model& model) {
  double count = 0;
  for (const auto& [role, weight] : model.weights) {
    count += static_cast<double>(ElementCount(weight.shape).value_or(0));
  }
  const bool billions = count >= 1e9;
  const auto tenths = static_cast<int64_t>(std::lround(count / (billions ? 1e8 : 1e5)));
  return StrCat(tenths / 10, ".", tenths % 10, billions ? " B" : " M");
}

Result<Model> ReadGgufModel(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const gguf::GgufFile file, gguf::ReadGguf(path));
  AICF_ASSIGN_OR_RETURN(Model model, language::ModelFromGguf(file));
  AICF_ASSIGN_OR_RETURN(auto tokenizer, ReadGgufTokenizer(file));
  if (tokenizer) {
    model.tokenizer = std::move(tokenizer->data);
    model.end_tokens = std::move(tokenizer->end_tokens);
  }
  AICF_ASSIGN_OR_RETURN(const auto chat, file.Find<std::string_view>("tokenizer.chat_template"));
  if (chat) model.chat_template = RecognizeChatTemplate(*chat);
  return model;
}

Result<Model> ReadLanguageModel(const std::string& path, const NamedFiles& files) {
  if (IsFolder(path)) return language::ModelFromHfFolder(path, files);
  return ReadGgufModel(path);
}

Result<ImportedModel> ImportLanguage(const std::string& path, const CompileOptions& given) {
  AICF_RETURN_IF_ERROR(CheckNothingElse(given));
  AICF_ASSIGN_OR_RETURN(const Model model, ReadLanguageModel(path, given.files));
  ImportedModel out;
  out.options = given;
  CompileOptions& o = out.options;
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec device, abi::FindDevice(o.target));
  const bool on_cpu = device.backend == abi::Backend::kCpu;
  AICF_ASSIGN_OR_RETURN(o.language, model.encoder
                                        ? CompletedEncoder(o.language, model, on_cpu)
                                        : Completed(o.language, model, o.precision, on_cpu));
  AICF_ASSIGN_OR_RETURN(out.graph, model.encoder ? language::BuildEncoder(model)
                                                 : language::BuildDecoder(model, o.language));
  if (!o.math_given && on_cpu && HasBlocks(model)) o.math = abi::MathMode::kInt8;
  o.buckets = EntriesOf(o.language, model.encoder);
  o.states = StatesOf(model);
  o.metas.clear();
  for (const ir::ValueId input : out.graph.inputs) {
    const std::string& name = out.graph.values[input].name;
    const bool state =
        std::ranges::any_of(o.states, [&](const StatePair& pair) { return pair.past == name; });
    if (!state) o.metas.push_back(name);
  }
  AICF_RETURN_IF_ERROR(CheckSame(given, o));
  out.graph.metadata.emplace_back("parameters", ParametersText(model));
  out.language = Described(model, o.language);
  return out;
}

}  // namespace

std::string IdentityFile(const std::string& path) {
  return IsFolder(path) ? path + "/config.json" : path;
}

Result<bool> IsLanguageModel(const std::string& path) {
  return IsFolder(path) ? Result<bool>(true) : BeginsAsGguf(path);
}

Result<ImportedModel> ImportModel(const std::string& path, const CompileOptions& options) {
  AICF_ASSIGN_OR_RETURN(const bool is_language, IsLanguageModel(path));
  if (is_language) {
    auto imported = ImportLanguage(path, options);
    return imported.ok() ? std::move(imported) : imported.status().WithContext(path);
  }
  if (options.language != LanguageOptions()) {
    return Status(Code::kInvalidArgument,
                  "--context, --cache, --cache-precision, --page, --prefill, --decode and --logits "
                  "are for language models");
  }
  ImportedModel out;
  out.options = options;
  AICF_ASSIGN_OR_RETURN(out.graph, ImportOnnx(path, options.budgets, options.files));
  return out;
}

}  // namespace aicf
