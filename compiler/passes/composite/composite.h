/// Composite ops: what the standard and exporters name as one op, but is a graph of simpler ones.
/// Shape inference replaces them by that graph, which keeps the number of lowerings small, and
/// everything after it (folding, fusion, copy elimination) works on attention as on any other
/// graph.
#pragma once

#include <string_view>

#include "base/status.h"

namespace aicf {

class Composer;

/// Emits the nodes that compute the outputs of composer.node(), whose inputs are counted as its row
/// of ops.def says. Errors: kBadModel naming the rule that is broken; kUnsupported naming the input
/// or attribute. The caller adds the node's name.
using ExpandComposite = Status (*)(Composer&);

/// nullptr when the op is none.
ExpandComposite FindComposite(std::string_view op);

}  // namespace aicf
