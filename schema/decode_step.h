/// Steps of a program section, as records and as the tables of older programs (artifact.fbs).
#pragma once

#include <string>
#include <vector>

#include "schema/decoder.h"
#include "schema/program.h"

namespace aicf::schema {

std::string DecodeName(Decoder& d, const fb::Name& name);
/// The same, where the name has to be one of a parameter.
std::string DecodeParameterName(Decoder& d, const flatbuffers::String& name);
abi::Expr DecodeExpr(Decoder& d, const fb::Expr& e);

/// What a tensor map has beside its axes, as a record (fb::Map) or a table (fb::TensorMap).
template <class Stored>
abi::TensorMap DecodeMapWithoutAxes(Decoder& d, const Stored& m) {
  abi::TensorMap out;
  out.operand = m.operand();
  out.offset = m.offset();
  out.swizzle =
      d.Enum<abi::Swizzle>(m.swizzle(), static_cast<int>(abi::Swizzle::kCount), "swizzle");
  out.fill = d.Enum<abi::BoxFill>(m.fill(), static_cast<int>(abi::BoxFill::kCount), "fill");
  out.tf32 = m.tf32();
  return out;
}

/// What both forms have in common, with everything else empty.
Step DecodeCommonOfStep(Decoder& d, const fb::Step& s);

/// A step of a program with records. `parameter_names`: Program.parameter_names.
Step DecodeStep(Decoder& d, const fb::Step& s, const std::vector<std::string>& parameter_names);

/// A step of a program without records, as aicf wrote them before.
Step DecodeTablesOfStep(Decoder& d, const fb::Step& s);

}  // namespace aicf::schema
