/// What reads a program section field by field and keeps the first error (decode*.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/utf8.h"
#include "schema/artifact_generated.h"
#include "schema/codec.h"

namespace aicf::schema {

template <class... Pieces>
Status BadProgram(const Pieces&... pieces) {
  return Error(Code::kBadArtifact, "program section: ", pieces...);
}

/// Every method reads one kind of field; after the first error the rest return defaults and the
/// error is kept, so that decoding reads as a list of fields.
class Decoder {
 public:
  explicit Decoder(size_t bytes) : budget_(bytes) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  template <class... Pieces>
  void Fail(const Pieces&... pieces) {
    if (status_.ok()) status_ = BadProgram(pieces...);
  }

  /// Charges `count` elements against the buffer's size: no object is visited twice.
  bool Charge(size_t count, size_t element_bytes) {
    const size_t bytes = sizeof(uint32_t) + count * element_bytes;
    if (bytes > budget_) Fail("objects are shared or overlap");
    budget_ = ok() ? budget_ - bytes : 0;
    return ok();
  }

  /// The elements of a vector of scalars or structs, as bytes the caller may reinterpret.
  template <class Stored, class FbVector>
  std::span<const Stored> Items(const FbVector& v) {
    const auto* data = reinterpret_cast<const Stored*>(v.Data());
    if (!Charge(v.size(), sizeof(Stored))) return {};
    // The verifier aligns a vector's length, not its data (a hole it is known for).
    if (v.size() != 0 && reinterpret_cast<uintptr_t>(data) % alignof(Stored) != 0) {
      Fail("a vector is misaligned");
      return {};
    }
    return {data, v.size()};
  }

  /// As above, of a vector that may be absent: then without elements.
  template <class Stored, class FbVector>
  std::span<const Stored> Items(const FbVector* v) {
    return v == nullptr ? std::span<const Stored>() : Items<Stored>(*v);
  }

  std::string Text(const flatbuffers::String& s, size_t limit = kMaxStringBytes) {
    const std::string_view text(s.c_str(), s.size());
    CheckText(text, limit);
    return Charge(text.size() + 1, 1) ? std::string(text) : std::string();
  }
  void CheckText(std::string_view text, size_t limit) {
    if (text.size() > limit) {
      Fail("a string has ", text.size(), " bytes, limit ", limit);
    } else if (!IsCleanText(text)) {
      Fail("a string is not UTF-8 or holds a NUL");
    }
  }

  template <class E>
  E Enum(uint8_t value, int count, std::string_view what) {
    if (value >= count) Fail("unknown ", what, " ", static_cast<int>(value));
    return static_cast<E>(ok() ? value : 0);
  }
  DType Type(uint8_t value) { return Enum<DType>(value, kDTypeCount, "dtype"); }

  Dims Extents(const flatbuffers::Vector<int64_t>& v) {
    const auto items = Items<int64_t>(v);
    if (items.size() > kMaxRank) Fail("rank ", items.size(), ", limit ", kMaxRank);
    return ok() ? Dims(items) : Dims();
  }

  /// Of a vector, or of a pointer to one that may be absent.
  template <class T, class FbVector>
  std::vector<T> Scalars(const FbVector& v) {
    const auto items = Items<T>(v);
    return {items.begin(), items.end()};
  }

  /// Decodes each table of a list with `decode(*this, table)`; stops at the first error.
  template <class T, class Table, class Decode>
  std::vector<T> List(const flatbuffers::Vector<flatbuffers::Offset<Table>>& v, Decode decode) {
    std::vector<T> out;
    if (!Charge(v.size(), sizeof(uint32_t))) return out;
    // A list that shares its tables is longer than the bytes left can pay for.
    out.reserve(std::min<size_t>(v.size(), budget_ / 32));
    for (uint32_t i = 0; i < v.size() && ok(); ++i) {
      if (Charge(1, sizeof(uint32_t))) out.push_back(decode(*this, *v.Get(i)));
    }
    return out;
  }

 private:
  size_t budget_;
  Status status_;
};

}  // namespace aicf::schema
