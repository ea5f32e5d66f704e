#include "compiler/import/safetensors/shard_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/scanner.h"
#include "compiler/import/safetensors/folder.h"
#include "compiler/import/safetensors/json_events.h"

namespace aicf::safetensors {
namespace {

constexpr std::string_view kSuffix = ".safetensors";

bool IsShardName(std::string_view name) {
  return name.size() > kSuffix.size() && name.ends_with(kSuffix) && IsCleanText(name) &&
         name.find_first_of("/\\") == std::string_view::npos;
}

class IndexEvents final : public JsonEvents {
 public:
  ShardIndex index;
  std::map<std::string, uint32_t, std::less<>> shards;
  bool has_map = false;

  bool start_object(size_t) override {
    if (depth_ == 0) return ++depth_ > 0;
    if (depth_ == 1 && (part_ == Part::kMap || part_ == Part::kMetadata)) return ++depth_ > 0;
    return Refuse("an object");
  }

  bool end_object() override {
    --depth_;
    part_ = Part::kNone;
    return true;
  }

  bool key(string_t& name) override {
    if (!IsCleanText(name)) return Refuse("a key with a NUL");
    if (depth_ == 1) return Section(name);
    key_ = name;
    if (part_ == Part::kMetadata) {
      if (name != "total_size") return true;
      return !std::exchange(has_total_, true) || Duplicate(name);
    }
    if (index.tensors.size() < kMaxTensors) return true;
    return Fail(Error(Code::kResource, "more than ", kMaxTensors, " tensors"));
  }

  bool string(string_t& text) override {
    if (InMetadata()) return key_ != "total_size" || Refuse("a string");
    if (depth_ != 2 || part_ != Part::kMap) return Refuse("a string");
    if (!IsShardName(text)) {
      return Fail(Error(Code::kBadModel, "the shard ", Quote(text.substr(0, 200)), " of tensor ",
                        Quote(key_), " is no file name that ends in \"", kSuffix, "\""));
    }
    const auto shard = shards.emplace(text, static_cast<uint32_t>(shards.size())).first;
    if (shards.size() > kMaxShards) {
      return Fail(Error(Code::kResource, "more than ", kMaxShards, " shards"));
    }
    index.tensors.emplace_back(std::move(key_), shard->second);
    return true;
  }

  bool number_unsigned(uint64_t number) override {
    if (!InMetadata()) return Refuse("a number");
    if (key_ == "total_size") index.total_bytes = number;
    return true;
  }
  // Some tools write the size as a float; whole numbers up to 2^53 are exact in it.
  bool number_float(double number, const string_t& text) override {
    if (!InMetadata()) return Refuse("a number");
    if (key_ != "total_size") return true;
    if (!(number >= 0 && number <= 0x1p53 && number == std::floor(number))) {
      return Refuse(StrCat("the number ", std::string_view(text).substr(0, 40)));
    }
    index.total_bytes = static_cast<uint64_t>(number);
    return true;
  }
  bool number_integer(int64_t) override {
    return (InMetadata() && key_ != "total_size") || Refuse("a negative number");
  }
  bool boolean(bool) override { return (InMetadata() && key_ != "total_size") || Refuse("a bool"); }
  bool null() override { return (InMetadata() && key_ != "total_size") || Refuse("null"); }

 private:
  enum class Part : uint8_t { kNone, kMetadata, kMap };

  std::string Expected() const override {
    if (depth_ == 0) return "an object";
    if (part_ == Part::kNone) return "metadata and weight_map";
    if (depth_ == 1) return "an object";
    return part_ == Part::kMap ? "a shard's name" : StrCat("a plain value of ", Quote(key_));
  }

  bool InMetadata() const { return depth_ == 2 && part_ == Part::kMetadata; }

  bool Duplicate(std::string_view name) {
    return Fail(Error(Code::kBadModel, "there are two keys ", Quote(name)));
  }

  bool Section(const std::string& name) {
    if (name == "weight_map") {
      part_ = Part::kMap;
      return !std::exchange(has_map, true) || Duplicate(name);
    }
    if (name != "metadata") return Refuse(StrCat("the key ", Quote(name)));
    part_ = Part::kMetadata;
    return !std::exchange(has_metadata_, true) || Duplicate(name);
  }

  int depth_ = 0;
  Part part_ = Part::kNone;
  bool has_metadata_ = false, has_total_ = false;
  std::string key_;
};

// Shards have been numbered in the order in which they came. Renumbers them in the order of their
// names.
void SortShards(IndexEvents& events) {
  std::vector<uint32_t> place(events.shards.size());
  for (const auto& [name, number] : events.shards) {
    place[number] = static_cast<uint32_t>(events.index.shards.size());
    events.index.shards.push_back(name);
  }
  for (auto& [name, shard] : events.index.tensors) shard = place[shard];
}

}  // namespace

Result<ShardIndex> ParseShardIndex(std::string_view json) {
  IndexEvents events;
  AICF_RETURN_IF_ERROR(ReadJson(json, events));
  if (!events.has_map) return Error(Code::kBadModel, "the index has no weight_map");
  SortShards(events);
  auto& tensors = events.index.tensors;
  std::ranges::sort(tensors);
  const auto twice = std::ranges::adjacent_find(
      tensors, [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == tensors.end()) return std::move(events.index);
  return Error(Code::kBadModel, "the weight_map has two keys ", Quote(twice->first));
}

}  // namespace aicf::safetensors
