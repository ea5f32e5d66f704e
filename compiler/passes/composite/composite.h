/// Composite ops: ops of the standard and of exporters that can be written as a graph of simpler
/// ones. Shape inference replaces them by that graph. That keeps the number of lowerings small, and
/// everything after it (folding, fusion, copy elimination) treats attention like any other graph.
#pragma once

#include <string_view>

#include "base/status.h"

namespace aicf {

class Composer;

/// Emits the nodes that compute the outputs of composer.node(). REQUIRES: the node has a number of
/// inputs that its row of ops.def allows. Errors: kBadModel naming the rule that is broken;
/// kUnsupported naming the input or attribute. The caller adds the node's name.
using ExpandComposite = Status (*)(Composer&);

/// The expansion of an op; nullptr when the op is not a composite.
ExpandComposite FindComposite(std::string_view op);

}  // namespace aicf
