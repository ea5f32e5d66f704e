/// Defects for random_graphs.py to find, which shows that it would find real ones.
#pragma once

#include <string_view>

namespace aicf::graphs {

/// From now on the CPU kernel of this key gives results of f32 whose last element is too large.
void PlantWrongKernel(std::string_view key);

}  // namespace aicf::graphs
