#include <unordered_set>

#include "base/scanner.h"
#include "compiler/import/tokenizer/parts.h"

namespace aicf::tokenizer_json {
namespace {

// Nesting is bounded, because reading the parts and freeing them recurses.
constexpr int kMaxDepth = 64;

// Watches a file while it is read, for depth and repeated keys, which its tree would no longer
// show.
class JsonWatch {
 public:
  bool See(int depth, Json::parse_event_t event, const Json& value) {
    deep_ |= depth > kMaxDepth;
    if (depth > kMaxDepth) return false;
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys_.empty()) keys_.pop_back();
    // Readers disagree about which of two equal keys counts.
    if (event == Json::parse_event_t::key && !keys_.empty() && repeated_.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) repeated_ = key.empty() ? " " : key;
    }
    return true;
  }
  bool deep() const { return deep_; }
  const std::string& repeated() const { return repeated_; }

 private:
  bool deep_ = false;
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are open
  std::string repeated_;
};

}  // namespace

Result<Json> ParseObject(std::string_view name, std::string_view text) {
  JsonWatch watch;
  const auto see = [&](int depth, Json::parse_event_t event, Json& value) {
    return watch.See(depth, event, value);
  };
  Json file = Json::parse(text.begin(), text.end(), see, /*allow_exceptions=*/false);
  if (file.is_discarded() || !file.is_object() || watch.deep()) {
    return Error(Code::kBadModel, name, ": no JSON object, or nested deeper than ", kMaxDepth);
  }
  if (!watch.repeated().empty()) {
    return Error(Code::kBadModel, name, ": the key ", Quote(watch.repeated()),
                 " is there twice in an object");
  }
  return file;
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string Text(const Json& object, const char* key, const std::string& otherwise) {
  const Json& member = Member(object, key);
  return member.is_string() ? member.get<std::string>() : otherwise;
}

bool Flag(const Json& object, const char* key, bool otherwise) {
  const Json& member = Member(object, key);
  return member.is_boolean() ? member.get<bool>() : otherwise;
}

std::optional<uint32_t> IdOf(const schema::TokenizerData& data, const std::string& spelling) {
  for (const schema::AddedToken& added : data.added) {
    if (data.tokens[added.id] == spelling) return added.id;
  }
  return std::nullopt;
}

}  // namespace aicf::tokenizer_json
