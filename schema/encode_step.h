/// Steps as the records of a program section (artifact.fbs).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/artifact_generated.h"
#include "schema/program.h"

namespace aicf::schema {

/// How an enumeration is stored.
template <class E>
uint8_t Byte(E value) {
  return static_cast<uint8_t>(value);
}

/// Program.parameter_names while steps are encoded: every name once, in the order of first use.
class ParameterNames {
 public:
  uint32_t PositionOf(const std::string& name);
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> positions_;
};

/// Whether the lists of each view, and of each tensor map, have equal ranks: a record has one rank.
bool FitsRecords(const Step& s);

/// REQUIRES: FitsRecords(s).
flatbuffers::Offset<fb::Step> EncodeStep(flatbuffers::FlatBufferBuilder& b, const Step& s,
                                         ParameterNames& names);

}  // namespace aicf::schema
