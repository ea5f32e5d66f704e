#include "compiler/import/safetensors/header.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/scanner.h"
#include "compiler/import/safetensors/json_events.h"
#include "compiler/import/safetensors/safetensors.h"

namespace aicf::safetensors {
namespace {

std::optional<DType> DTypeOf(std::string_view name) {
#define AICF_SAFETENSORS_DTYPE(text, id) \
  if (name == text) return DType::id;
#include "compiler/import/safetensors/dtypes.def"
#undef AICF_SAFETENSORS_DTYPE
  return std::nullopt;
}

class HeaderEvents final : public JsonEvents {
 public:
  Header header;

  bool start_object(size_t) override {
    switch (place_) {
      case Place::kStart:
        return Go(Place::kNames);
      case Place::kMetadata:
        return Go(Place::kMetadataKeys);
      case Place::kTensor:
        return Go(Place::kFields);
      default:
        return Refuse("an object");
    }
  }

  bool end_object() override {
    if (place_ == Place::kNames) return Go(Place::kEnd);
    if (place_ == Place::kMetadataKeys) return Go(Place::kNames);
    if (place_ != Place::kFields) return Refuse("the end of an object");
    if (!has_dtype_ || !has_shape_ || !has_offsets_) return Refuse("the end of the tensor");
    header.entries.push_back(std::move(entry_));
    return Go(Place::kNames);
  }

  bool key(string_t& name) override {
    if (!IsCleanText(name)) return Refuse("a key with a NUL");
    if (place_ == Place::kFields) return Field(name);
    if (place_ == Place::kMetadataKeys) {
      header.metadata.emplace_back(name, "");
      return CountText(name.size() + sizeof header.metadata[0]) && Go(Place::kMetadataText);
    }
    if (name == "__metadata__") {
      if (has_metadata_) return Duplicate(name);
      has_metadata_ = true;
      return Go(Place::kMetadata);
    }
    if (header.entries.size() == kMaxTensors) {
      return Fail(Error(Code::kResource, "more than ", kMaxTensors, " tensors"));
    }
    entry_ = {};
    entry_.name = name;
    has_dtype_ = has_shape_ = has_offsets_ = false;
    return Go(Place::kTensor);
  }

  bool string(string_t& text) override {
    if (place_ == Place::kMetadataText) {
      header.metadata.back().second = text;
      return CountText(text.size()) && Go(Place::kMetadataKeys);
    }
    if (place_ != Place::kDType) return Refuse("a string");
    const std::optional<DType> dtype = DTypeOf(text);
    if (!dtype) {
      return Fail(Error(Code::kUnsupported, "tensor ", Quote(entry_.name), ": the dtype ",
                        Quote(text.substr(0, 40)), " is not supported"));
    }
    entry_.dtype = *dtype;
    return Go(Place::kFields);
  }

  bool start_array(size_t) override {
    if (place_ == Place::kShape) return Go(Place::kExtents);
    if (place_ == Place::kOffsets) return Go(Place::kBegin);
    return Refuse("an array");
  }

  bool end_array() override {
    if (place_ == Place::kExtents || place_ == Place::kOffsetsEnd) return Go(Place::kFields);
    return Refuse("the end of an array");
  }

  bool number_unsigned(uint64_t number) override {
    switch (place_) {
      case Place::kExtents:
        return Extent(number);
      case Place::kBegin:
        entry_.begin = number;
        return Go(Place::kEndOffset);
      case Place::kEndOffset:
        entry_.end = number;
        return Go(Place::kOffsetsEnd);
      default:
        return Refuse("a number");
    }
  }

 private:
  // What the reader expects next.
  enum class Place : uint8_t {
    kStart,
    kNames,
    kMetadata,
    kMetadataKeys,
    kMetadataText,
    kTensor,
    kFields,
    kDType,
    kShape,
    kExtents,
    kOffsets,
    kBegin,
    kEndOffset,
    kOffsetsEnd,
    kEnd,
  };

  std::string Expected() const override {
    static constexpr std::string_view kPlaces[] = {"an object",
                                                   "a name",
                                                   "an object",
                                                   "a key",
                                                   "a string",
                                                   "an object",
                                                   "dtype, shape and data_offsets",
                                                   "a string",
                                                   "an array",
                                                   "an extent",
                                                   "an array",
                                                   "an offset",
                                                   "an offset",
                                                   "two offsets",
                                                   "nothing more"};
    const std::string what(kPlaces[static_cast<int>(place_)]);
    if (place_ < Place::kTensor || place_ == Place::kEnd) return what;
    return StrCat(what, " in tensor ", Quote(entry_.name));
  }

  bool Go(Place next) {
    place_ = next;
    return true;
  }

  bool Duplicate(std::string_view name) {
    return Fail(Error(Code::kBadModel, "there are two keys ", Quote(name)));
  }

  bool Field(const std::string& name) {
    const auto once = [&](bool& seen, Place next) {
      if (seen) return Duplicate(name);
      seen = true;
      return Go(next);
    };
    if (name == "dtype") return once(has_dtype_, Place::kDType);
    if (name == "shape") return once(has_shape_, Place::kShape);
    if (name == "data_offsets") return once(has_offsets_, Place::kOffsets);
    return Refuse(StrCat("the key ", Quote(name)));
  }

  bool Extent(uint64_t extent) {
    if (entry_.shape.rank() == kMaxRank) {
      return Fail(Error(Code::kUnsupported, "tensor ", Quote(entry_.name), " has more than ",
                        kMaxRank, " dimensions"));
    }
    if (extent > uint64_t{std::numeric_limits<int64_t>::max()}) return Refuse("2^63 or more");
    entry_.shape.push_back(static_cast<int64_t>(extent));
    return true;
  }

  bool CountText(size_t bytes) {
    text_bytes_ += bytes;
    if (text_bytes_ <= kMaxTextBytes) return true;
    return Fail(Error(Code::kBadModel, "__metadata__ has more than ", kMaxTextBytes, " bytes"));
  }

  Place place_ = Place::kStart;
  HeaderEntry entry_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
  uint64_t text_bytes_ = 0;
};

Status CheckMetadataKeys(const Header& header) {
  std::vector<std::string_view> keys;
  for (const auto& [key, text] : header.metadata) keys.push_back(key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice == keys.end()) return OkStatus();
  return Error(Code::kBadModel, "__metadata__ has two keys ", Quote(*twice));
}

}  // namespace

Result<Header> ParseHeader(std::string_view json) {
  HeaderEvents events;
  AICF_RETURN_IF_ERROR(ReadJson(json, events));
  Header header = std::move(events.header);
  AICF_RETURN_IF_ERROR(CheckMetadataKeys(header));
  std::ranges::sort(header.entries, {}, &HeaderEntry::name);
  const auto twice = std::ranges::adjacent_find(header.entries, {}, &HeaderEntry::name);
  if (twice == header.entries.end()) return header;
  return Error(Code::kBadModel, "there are two tensors ", Quote(twice->name));
}

}  // namespace aicf::safetensors
