// The C form of the Embedder.
#include <algorithm>
#include <utility>
#include <vector>

#include "aicf/embedder.h"
#include "aicf/embedder_c.h"
#include "runtime/c_api_calls.h"
#include "runtime/handle_table.h"
#include "runtime/language/c_api.h"

namespace aicf::language {
namespace {

struct OpenEmbedder {
  std::unique_ptr<Embedder> embedder;
};
using EmbedderTable = HandleTable<OpenEmbedder>;

// Never destroyed: a thread may still be inside a call during exit.
EmbedderTable& Embedders() {
  static auto* const table = new EmbedderTable(0x45);
  return *table;
}

/// Calls f(embedder) when the handle is good.
template <class F>
aicf_code WithEmbedder(aicf_embedder handle, F&& f) {
  return c_api::Call([&]() -> Status {
    const EmbedderTable::Pin found = Embedders().Find(handle);
    if (!found) return c_api::Unknown("embedder", handle);
    return f(*found->embedder);
  });
}

Status CreateEmbedder(aicf_program program, const aicf_session_options* options,
                      aicf_embedder* embedder) {
  AICF_RETURN_IF_ERROR(c_api::NotNull(embedder, "the embedder's address"));
  *embedder = 0;
  SessionOptions wanted;
  AICF_RETURN_IF_ERROR(c_api::ReadOptions(options, &wanted));
  AICF_ASSIGN_OR_RETURN(auto found, c_api::ProgramOf(program));
  auto open = std::make_unique<OpenEmbedder>();
  AICF_ASSIGN_OR_RETURN(open->embedder, Embedder::Create(std::move(found), wanted));
  *embedder = Embedders().Insert(std::move(open));
  return OkStatus();
}

Status EmbedInto(Embedder& embedder, std::span<const uint32_t> ids, float* vector,
                 uint64_t capacity, uint64_t* size) {
  *size = static_cast<uint64_t>(embedder.info().size);
  if (*size > capacity) {
    return Error(Code::kInvalidArgument, "a vector has ", *size, " elements, the memory takes ",
                 capacity);
  }
  AICF_RETURN_IF_ERROR(c_api::NotNull(vector, "the vector's address"));
  AICF_ASSIGN_OR_RETURN(const std::vector<float> found, embedder.Embed(ids));
  std::ranges::copy(found, vector);
  return OkStatus();
}

}  // namespace
}  // namespace aicf::language

using aicf::Embedder;
using aicf::Status;
using aicf::c_api::NotNull;
using aicf::language::WithEmbedder;

aicf_code aicf_embedder_serves(aicf_program program, int32_t* serves) {
  return aicf::c_api::Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(serves, "the answer's address"));
    AICF_ASSIGN_OR_RETURN(const auto found, aicf::c_api::ProgramOf(program));
    *serves = Embedder::Serves(*found) ? 1 : 0;
    return aicf::OkStatus();
  });
}

aicf_code aicf_embedder_create(aicf_program program, const aicf_session_options* options,
                               aicf_embedder* embedder) {
  return aicf::c_api::Call(
      [&] { return aicf::language::CreateEmbedder(program, options, embedder); });
}

aicf_code aicf_embedder_destroy(aicf_embedder embedder) {
  return aicf::c_api::Call([&]() -> Status {
    if (aicf::language::Embedders().Remove(embedder) != nullptr) return aicf::OkStatus();
    return aicf::c_api::Unknown("embedder", embedder);
  });
}

aicf_code aicf_embedder_get_info(aicf_embedder embedder, aicf_embedder_info* info) {
  return WithEmbedder(embedder, [&](Embedder& e) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(info, "the info's address"));
    const aicf::EmbedderInfo& found = e.info();
    *info = {found.architecture.c_str(),
             found.vocabulary,
             found.context,
             found.size,
             found.has_tokenizer ? 1 : 0,
             0};
    return aicf::OkStatus();
  });
}

aicf_code aicf_embedder_memory(aicf_embedder embedder, aicf_memory_report* report) {
  return WithEmbedder(embedder,
                      [&](Embedder& e) { return aicf::c_api::GiveMemory(e.memory(), report); });
}

aicf_code aicf_embedder_device_name(aicf_embedder embedder, char* name, uint64_t capacity) {
  return WithEmbedder(embedder, [&](Embedder& e) {
    return aicf::c_api::GiveName(e.device_name(), name, capacity);
  });
}

aicf_code aicf_embedder_encode(aicf_embedder embedder, const char* text, int32_t parse_special,
                               uint32_t* ids, uint64_t capacity, uint64_t* count) {
  return WithEmbedder(embedder, [&](Embedder& e) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(text, "the text"));
    AICF_RETURN_IF_ERROR(NotNull(count, "the count's address"));
    AICF_ASSIGN_OR_RETURN(const auto found, e.Encode(text, parse_special != 0));
    return aicf::language::GiveIds(found, ids, capacity, count);
  });
}

aicf_code aicf_embedder_embed(aicf_embedder embedder, const uint32_t* ids, uint64_t count,
                              float* vector, uint64_t capacity, uint64_t* size) {
  return WithEmbedder(embedder, [&](Embedder& e) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(size, "the number's address"));
    AICF_ASSIGN_OR_RETURN(const auto given, aicf::language::ReadIds(ids, count));
    return aicf::language::EmbedInto(e, given, vector, capacity, size);
  });
}
