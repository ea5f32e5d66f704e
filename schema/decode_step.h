/// Steps of a program section, as records and as the tables of older programs (artifact.fbs).
#pragma once

#include <string>
#include <vector>

#include "schema/decoder.h"
#include "schema/program.h"

namespace aicf::schema {

std::string DecodeName(Decoder& d, const fb::Name& name);
abi::Expr DecodeExpr(Decoder& d, const fb::Expr& e);

/// What both forms have in common, with everything else empty.
Step DecodeCommonOfStep(Decoder& d, const fb::Step& s);

/// A step of a program with records. `parameter_names`: Program.parameter_names.
Step DecodeStep(Decoder& d, const fb::Step& s, const std::vector<std::string>& parameter_names);

/// A step of a program without records, as aicf wrote them before.
Step DecodeTablesOfStep(Decoder& d, const fb::Step& s);

}  // namespace aicf::schema
