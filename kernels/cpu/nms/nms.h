/// The variants of the nms family: boxes that no better box of their class covers.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Pairs of batch and class, boxes of each, and rows of the output that one pair may fill.
struct NmsExtents {
  int64_t batches, classes, boxes, pairs, most;

  explicit NmsExtents(const abi::Problem& p)
      : batches(p.inputs[1].shape[0]),
        classes(p.inputs[1].shape[1]),
        boxes(p.inputs[1].shape[2]),
        pairs(batches * classes),
        most(pairs == 0 ? 0 : p.outputs[0].shape[0] / pairs) {
    if (most > boxes) most = boxes;
  }
};

/// By repeated search for the best box; workspace: one byte per box.
void NmsRef(const abi::ArgBlock& args);
/// Candidates sorted once; pairs in parallel, each with the boxes it selected in the workspace.
void NmsSorted(const abi::ArgBlock& args);

/// Bytes that NmsSorted keeps of a candidate and of a selected box.
inline constexpr uint64_t kNmsCandidateBytes = 16, kNmsSelectedBytes = 24;

/// Workspace of NmsSorted: for every pair its candidates, its selection and its count.
inline uint64_t NmsSortedWorkspace(const abi::Problem& p) {
  const NmsExtents e(p);
  return static_cast<uint64_t>(e.pairs) *
         (static_cast<uint64_t>(e.boxes) * kNmsCandidateBytes +
          static_cast<uint64_t>(e.most) * kNmsSelectedBytes + sizeof(int64_t));
}

}  // namespace aicf::cpu
