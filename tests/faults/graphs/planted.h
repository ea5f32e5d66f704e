/// Plants defects, to show that random_graphs.py would find real ones.
#pragma once

#include <string_view>

namespace aicf::graphs {

/// From now on the last element of f32 results of this CPU kernel is too large.
void PlantWrongKernel(std::string_view key);

}  // namespace aicf::graphs
