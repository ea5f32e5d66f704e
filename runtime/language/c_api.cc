// The C form of the Generator.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "aicf/generator.h"
#include "aicf/generator_c.h"
#include "runtime/c_api_calls.h"
#include "runtime/handle_table.h"
#include "runtime/language/c_api.h"
#include "runtime/language/generator_impl.h"

namespace aicf::language {
namespace {

using c_api::Call;
using c_api::NotNull;

struct OpenGenerator {
  std::unique_ptr<Generator> generator;
};
using GeneratorTable = HandleTable<OpenGenerator>;

// Never destroyed: a thread may still be inside a call during exit.
GeneratorTable& Generators() {
  static auto* const table = new GeneratorTable(0x47);
  return *table;
}

/// What this thread's last Poll or Wait gave.
thread_local GeneratePart last_part;

/// Calls f(generator) when the handle is good.
template <class F>
aicf_code WithGenerator(aicf_generator handle, F&& f) {
  return Call([&]() -> Status {
    const GeneratorTable::Pin found = Generators().Find(handle);
    if (!found) return c_api::Unknown("generator", handle);
    return f(*found->generator);
  });
}

/// Copies a struct of the caller's version over the defaults in `full`, so that members which his
/// header did not know keep their defaults. The first `least` bytes are the members that every
/// version has.
template <class T>
Status ReadStruct(const T* given, size_t least, std::string_view name, T* full) {
  if (given == nullptr) return OkStatus();
  if (given->struct_bytes < least) {
    return Error(Code::kInvalidArgument, name, ".struct_bytes is ", given->struct_bytes,
                 "; call its init function first");
  }
  std::memcpy(full, given, std::min<size_t>(given->struct_bytes, sizeof(T)));
  return OkStatus();
}

Status ReadRequest(const aicf_generate_request& c, GenerateRequest* request) {
  if (c.prompt_count > 0) AICF_RETURN_IF_ERROR(NotNull(c.prompt, "request.prompt"));
  if (c.stop_token_count > 0) AICF_RETURN_IF_ERROR(NotNull(c.stop_tokens, "request.stop_tokens"));
  if (c.stop_text_count > 0) AICF_RETURN_IF_ERROR(NotNull(c.stop_texts, "request.stop_texts"));
  request->prompt.assign(c.prompt, c.prompt + c.prompt_count);
  request->max_new_tokens = c.max_new_tokens;
  request->temperature = c.temperature;
  request->top_k = c.top_k;
  request->top_p = c.top_p;
  request->min_p = c.min_p;
  request->seed = c.seed;
  request->ignore_end = c.ignore_end != 0;
  request->stop_tokens.assign(c.stop_tokens, c.stop_tokens + c.stop_token_count);
  for (uint64_t i = 0; i < c.stop_text_count; ++i) {
    AICF_RETURN_IF_ERROR(NotNull(c.stop_texts[i], "a stop text"));
    request->stop_texts.emplace_back(c.stop_texts[i]);
  }
  return OkStatus();
}

/// Copies a text out with a NUL behind it, and says how long it is, even where it does not fit.
Status GiveText(const std::string& found, char* text, uint64_t capacity, uint64_t* bytes) {
  *bytes = found.size();
  if (found.size() >= capacity) {
    return Error(Code::kInvalidArgument, "the text and the NUL behind it take ", found.size() + 1,
                 " bytes, the memory has ", capacity);
  }
  AICF_RETURN_IF_ERROR(NotNull(text, "the text's address"));
  std::memcpy(text, found.c_str(), found.size() + 1);
  return OkStatus();
}

void DescribeModel(const LanguageInfo& info, aicf_language_info* out) {
  *out = {};
  out->architecture = info.architecture.c_str();
  out->chat_template = info.chat_template.c_str();
  out->vocabulary = info.vocabulary;
  out->context = info.context;
  out->trained_context = info.trained_context;
  out->page = info.page;
  out->pages = info.pages;
  out->slots = info.slots;
  out->largest_prefill = info.largest_prefill;
  out->largest_decode = info.largest_decode;
  out->end_tokens = info.end_tokens.data();
  out->end_token_count = info.end_tokens.size();
  out->has_tokenizer = info.has_tokenizer ? 1 : 0;
}

void GivePart(GeneratePart part, aicf_generate_part* out) {
  last_part = std::move(part);
  *out = {last_part.tokens.data(), last_part.tokens.size(), last_part.text.c_str(),
          last_part.text.size(), static_cast<aicf_finish_reason>(last_part.finish)};
}

/// Sends the threads that are inside calls of the generator out of it, and drops it after them. The
/// handle is good until they are told to leave, so that none can enter unnoticed in between: what
/// comes in after that finds a generator that takes no requests.
Status Destroy(aicf_generator handle) {
  {
    const GeneratorTable::Pin found = Generators().Find(handle);
    if (!found) return c_api::Unknown("generator", handle);
    // Even where it fails, every request is marked to end with the run that goes on.
    (void)static_cast<GeneratorImpl&>(*found->generator).Close();
  }
  if (Generators().Remove(handle) != nullptr) return OkStatus();
  return c_api::Unknown("generator", handle);  // another thread destroyed it meanwhile
}

}  // namespace

aicf_generator HandleOf(std::unique_ptr<Generator> generator) {
  auto open = std::make_unique<OpenGenerator>();
  open->generator = std::move(generator);
  return Generators().Insert(std::move(open));
}

Result<std::span<const uint32_t>> ReadIds(const uint32_t* ids, uint64_t count) {
  if (count > 0) AICF_RETURN_IF_ERROR(NotNull(ids, "the ids' address"));
  return std::span<const uint32_t>(ids, count);
}

Status GiveIds(const std::vector<uint32_t>& found, uint32_t* ids, uint64_t capacity,
               uint64_t* count) {
  *count = found.size();
  if (found.size() > capacity) {
    return Error(Code::kInvalidArgument, "there are ", found.size(), " ids, the memory takes ",
                 capacity);
  }
  if (!found.empty()) AICF_RETURN_IF_ERROR(NotNull(ids, "the ids' address"));
  std::ranges::copy(found, ids);
  return OkStatus();
}

}  // namespace aicf::language

using aicf::Generator;
using aicf::Status;
using aicf::c_api::NotNull;
using aicf::language::WithGenerator;

void aicf_generator_options_init(aicf_generator_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->struct_bytes = sizeof(*options);
  options->prefills_in_a_row = aicf::GeneratorOptions().prefills_in_a_row;
}

aicf_code aicf_generator_create(aicf_program program, const aicf_generator_options* options,
                                aicf_generator* generator) {
  return aicf::c_api::Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(generator, "the generator's address"));
    *generator = 0;
    aicf_generator_options full;
    aicf_generator_options_init(&full);
    AICF_RETURN_IF_ERROR(aicf::language::ReadStruct(
        options, offsetof(aicf_generator_options, device), "options", &full));
    aicf::GeneratorOptions wanted;
    wanted.session.device = full.device != nullptr ? full.device : "";
    wanted.session.threads = full.threads;
    wanted.batch_invariant = full.batch_invariant != 0;
    wanted.prefills_in_a_row = full.prefills_in_a_row;
    AICF_ASSIGN_OR_RETURN(auto found, aicf::c_api::ProgramOf(program));
    AICF_ASSIGN_OR_RETURN(auto made, Generator::Create(std::move(found), wanted));
    *generator = aicf::language::HandleOf(std::move(made));
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_destroy(aicf_generator generator) {
  return aicf::c_api::Call([&] { return aicf::language::Destroy(generator); });
}

aicf_code aicf_generator_get_info(aicf_generator generator, aicf_language_info* info) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(info, "the info's address"));
    aicf::language::DescribeModel(g.info(), info);
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_free_pages(aicf_generator generator, int64_t* pages) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(pages, "the number's address"));
    *pages = g.free_pages();
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_unfinished(aicf_generator generator, uint64_t* unfinished) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(unfinished, "the number's address"));
    *unfinished = g.unfinished();
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_memory(aicf_generator generator, aicf_memory_report* report) {
  return WithGenerator(generator,
                       [&](Generator& g) { return aicf::c_api::GiveMemory(g.memory(), report); });
}

aicf_code aicf_generator_device_name(aicf_generator generator, char* name, uint64_t capacity) {
  return WithGenerator(generator, [&](Generator& g) {
    return aicf::c_api::GiveName(g.device_name(), name, capacity);
  });
}

aicf_code aicf_generator_encode(aicf_generator generator, const char* text, int32_t parse_special,
                                int32_t add_special, uint32_t* ids, uint64_t capacity,
                                uint64_t* count) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(text, "the text"));
    AICF_RETURN_IF_ERROR(NotNull(count, "the count's address"));
    AICF_ASSIGN_OR_RETURN(const auto found, g.Encode(text, parse_special != 0, add_special != 0));
    return aicf::language::GiveIds(found, ids, capacity, count);
  });
}

aicf_code aicf_generator_encode_chat(aicf_generator generator, const char* const* roles,
                                     const char* const* contents, uint32_t count_of_messages,
                                     uint32_t* ids, uint64_t capacity, uint64_t* count) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(count, "the count's address"));
    std::vector<aicf::ChatMessage> messages;
    for (uint32_t i = 0; i < count_of_messages; ++i) {
      AICF_RETURN_IF_ERROR(NotNull(roles, "the roles' address"));
      AICF_RETURN_IF_ERROR(NotNull(contents, "the contents' address"));
      AICF_RETURN_IF_ERROR(NotNull(roles[i], "a role"));
      AICF_RETURN_IF_ERROR(NotNull(contents[i], "a content"));
      messages.push_back({roles[i], contents[i]});
    }
    AICF_ASSIGN_OR_RETURN(const auto found, g.EncodeChat(messages));
    return aicf::language::GiveIds(found, ids, capacity, count);
  });
}

aicf_code aicf_generator_decode(aicf_generator generator, const uint32_t* ids, uint64_t count,
                                char* text, uint64_t capacity, uint64_t* bytes) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(bytes, "the number's address"));
    AICF_ASSIGN_OR_RETURN(const auto given, aicf::language::ReadIds(ids, count));
    AICF_ASSIGN_OR_RETURN(const std::string found, g.Decode(given));
    return aicf::language::GiveText(found, text, capacity, bytes);
  });
}

void aicf_generate_request_init(aicf_generate_request* request) {
  if (request == nullptr) return;
  *request = {};
  request->struct_bytes = sizeof(*request);
  request->top_p = 1;
}

aicf_code aicf_generator_submit(aicf_generator generator, const aicf_generate_request* request,
                                uint64_t* id) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(request, "the request"));
    AICF_RETURN_IF_ERROR(NotNull(id, "the number's address"));
    *id = 0;
    aicf_generate_request full;
    aicf_generate_request_init(&full);
    AICF_RETURN_IF_ERROR(aicf::language::ReadStruct(
        request, offsetof(aicf_generate_request, max_new_tokens), "request", &full));
    aicf::GenerateRequest wanted;
    AICF_RETURN_IF_ERROR(aicf::language::ReadRequest(full, &wanted));
    AICF_ASSIGN_OR_RETURN(*id, g.Submit(std::move(wanted)));
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_step(aicf_generator generator, uint64_t* unfinished) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(g.Step().status());
    if (unfinished != nullptr) *unfinished = g.unfinished();
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_poll(aicf_generator generator, uint64_t id, aicf_generate_part* part) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(part, "the part's address"));
    AICF_ASSIGN_OR_RETURN(aicf::GeneratePart found, g.Poll(id));
    aicf::language::GivePart(std::move(found), part);
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_wait(aicf_generator generator, uint64_t id, aicf_generate_part* part) {
  return WithGenerator(generator, [&](Generator& g) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(part, "the part's address"));
    AICF_ASSIGN_OR_RETURN(aicf::GenerateResult found, g.Wait(id));
    aicf::language::GivePart({std::move(found.tokens), std::move(found.text), found.finish}, part);
    return aicf::OkStatus();
  });
}

aicf_code aicf_generator_cancel(aicf_generator generator, uint64_t id) {
  return WithGenerator(generator, [&](Generator& g) { return g.Cancel(id); });
}

aicf_code aicf_generator_forget(aicf_generator generator, uint64_t id) {
  return WithGenerator(generator, [&](Generator& g) { return g.Forget(id); });
}
