/// What all builders of a program have in common: how a step gets a library's algorithm, and how
/// the contents of an artifact are put together.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/costs/library_algorithms.h"
#include "compiler/plan/weights.h"
#include "schema/artifact.h"
#include "schema/program.h"

namespace aicf {

/// Sets the fields of a step that runs a library's algorithm.
void SetAlgorithm(schema::Step& step, const LibraryAlgorithm& algorithm);

/// The parts of an artifact that execution needs; takes the weights out of their builder.
schema::Contents TakeContents(schema::Program program, WeightsBuilder& weights,
                              std::vector<std::byte> images);

}  // namespace aicf
