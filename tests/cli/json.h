/// JSON, which the programs write.
#pragma once

#include <nlohmann/json.hpp>

namespace aicf::testing {

using Json = nlohmann::json;

}  // namespace aicf::testing
