/// FlatBuffers edited in place: programs that pass the FlatBuffers verifier and are still wrong.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "schema/artifact_generated.h"
#include "schema/codec.h"
#include "schema/testing.h"

namespace aicf::schema::testing {

/// An encoded program whose tables a test can find and change in place.
class Editable {
 public:
  explicit Editable(const Program& p = ChainProgram()) : bytes_(*EncodeProgram(p)) {
    bytes_.reserve(size_t{4} << 20);  // appending moves no table
  }

  const fb::Program& root() const { return *fb::GetProgram(bytes_.data()); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  // Where a field of a table is stored; 0 when it is absent.
  template <class Table>
  size_t FieldAt(const Table* table, flatbuffers::voffset_t field) const {
    const uint8_t* at = reinterpret_cast<const flatbuffers::Table*>(table)->GetAddressOf(field);
    return at == nullptr ? 0 : static_cast<size_t>(at - Data());
  }
  template <class T>
  void Put(size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  template <class T>
  T Get(size_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  size_t PositionOf(const void* p) const { return static_cast<const uint8_t*>(p) - Data(); }
  // Makes the offset stored at `at` lead to `target`, which lies after it.
  void Point(size_t at, size_t target) { Put(at, static_cast<uint32_t>(target - at)); }

  // Appends raw bytes at the next position that is `phase` modulo 8; gives the position.
  size_t Append(std::span<const std::byte> raw, size_t phase) {
    while (bytes_.size() % 8 != phase) bytes_.push_back(std::byte{});
    const size_t at = bytes_.size();
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    bytes_.resize(bytes_.size() + 8);  // the verifier wants bytes after the last object
    return at;
  }

  Status Decode() const { return DecodeProgram(bytes_).status(); }

 private:
  const uint8_t* Data() const { return reinterpret_cast<const uint8_t*>(bytes_.data()); }
  std::vector<std::byte> bytes_;
};

/// A FlatBuffers vector: the count, then the elements.
template <class T>
std::vector<std::byte> VectorOf(const std::vector<T>& items) {
  const uint32_t count = static_cast<uint32_t>(items.size());
  std::vector<std::byte> raw(sizeof count + items.size() * sizeof(T));
  std::memcpy(raw.data(), &count, sizeof count);
  if (!items.empty()) std::memcpy(raw.data() + sizeof count, items.data(), raw.size() - 4);
  return raw;
}

/// A table of `bytes` zero bytes with the given vtable; gives the table's position.
inline size_t AppendTable(Editable& e, const std::vector<uint16_t>& vtable, size_t bytes) {
  const size_t vtable_at = e.Append(std::as_bytes(std::span(vtable)), 0);
  const size_t table_at = e.Append(std::vector<std::byte>(bytes), 0);
  e.Put(table_at, static_cast<int32_t>(table_at - vtable_at));
  return table_at;
}

}  // namespace aicf::schema::testing
