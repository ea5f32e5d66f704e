#include "compiler/plan/contents.h"

#include <utility>

namespace aicf {

void SetAlgorithm(schema::Step& step, const LibraryAlgorithm& algorithm) {
  step.algorithm = algorithm.bytes;
  step.library_version = algorithm.library_version;
  step.workspace_bytes = algorithm.workspace_bytes;
}

schema::Contents TakeContents(schema::Program program, WeightsBuilder& weights,
                              std::vector<std::byte> images) {
  schema::Contents contents;
  contents.weights = weights.Take();
  contents.program = std::move(program);
  contents.program.weights_bytes = contents.weights.size();
  contents.images = std::move(images);
  return contents;
}

}  // namespace aicf
