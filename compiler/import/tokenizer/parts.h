/// The parts of a tokenizer.json, each read into what it sets of the data.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::tokenizer_json {

using Json = nlohmann::json;

/// The text of the file `name`, an object. Errors: kBadModel naming the file, also for objects that
/// lie too deep in each other and for a key that is there twice in one.
Result<Json> ParseObject(std::string_view name, std::string_view text);

/// The added token of that spelling.
std::optional<uint32_t> IdOf(const schema::TokenizerData& data, const std::string& spelling);

/// A member that may be absent, or of another type than it should be: both are `otherwise`.
std::string Text(const Json& object, const char* key, const std::string& otherwise = "");
bool Flag(const Json& object, const char* key, bool otherwise = false);
/// A member, or null.
const Json& Member(const Json& object, const char* key);

/// These read one part of the file each; null stands for an absent part.
Status ReadModel(const Json& model, schema::TokenizerData* data);
Status ReadNormalizer(const Json& normalizer, schema::TokenizerData* data);
/// Sets the kind kByteBpe where this part says that the vocabulary is one of bytes.
Status ReadPreTokenizer(const Json& pre_tokenizer, schema::TokenizerData* data);

}  // namespace aicf::tokenizer_json
