/// The type with which tests parse the JSON that the programs write.
#pragma once

#include <nlohmann/json.hpp>

namespace aicf::testing {

using Json = nlohmann::json;

}  // namespace aicf::testing
