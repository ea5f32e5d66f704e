/// What a Loop node comes to.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace aicf {

struct LoopForm {
  const ir::Body* body = nullptr;
  size_t carried = 0;            ///< number of carried values
  size_t scans = 0;              ///< number of results that are stacked over the trips
  bool limited = false;          ///< has a trip count
  std::optional<int64_t> trips;  ///< where it is known
  bool whole = false;            ///< nothing but the known trip count ends it
};

}  // namespace aicf
