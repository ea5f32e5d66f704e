/// Extents that inputs share by name.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/graph.h"

namespace aicf {

using Symbols = std::map<std::string, int64_t, std::less<>>;

/// What the graph's inputs with shapes say.
Symbols BoundSymbols(const ir::Graph& graph);

/// Gives extents that are open their symbols' values. True: all are known now.
bool FillExtents(ir::Value& value, const Symbols& symbols);

}  // namespace aicf
