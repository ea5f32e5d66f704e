/// cpu.nms.sorted: candidates are visited in the order of their scores, and each is tested against
/// the boxes selected before.
#include <algorithm>
#include <new>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/nms/boxes.h"

namespace aicf::cpu {
namespace {

struct Candidate {
  float score;
  int64_t box;
  bool operator<(const Candidate& other) const {
    return score != other.score ? score > other.score : box < other.box;
  }
};

struct Selected {
  NmsBox place;
  int64_t box;
};

static_assert(sizeof(Candidate) == kNmsCandidateBytes && sizeof(Selected) == kNmsSelectedBytes);

/// The workspace cut into its parts.
struct Scratch {
  Candidate* candidates;
  Selected* selected;
  int64_t* counts;

  Scratch(const NmsExtents& e, void* workspace)
      : candidates(static_cast<Candidate*>(workspace)),
        selected(reinterpret_cast<Selected*>(candidates + e.pairs * e.boxes)),
        counts(reinterpret_cast<int64_t*>(selected + e.pairs * e.most)) {}
};

int64_t SelectPair(const NmsOperands& nms, int64_t pair, Candidate* candidates,
                   Selected* selected) {
  int64_t left = 0, count = 0;
  for (int64_t i = 0; i < nms.extents.boxes; ++i) {
    const float score = nms.Score(pair, i);
    if (nms.IsCandidate(score)) candidates[left++] = {score, i};
  }
  std::sort(candidates, candidates + left);
  for (int64_t i = 0; i < left && count < nms.limit; ++i) {
    const NmsBox place = nms.Box(pair, candidates[i].box);
    const bool covered = std::any_of(selected, selected + count,
                                     [&](const Selected& s) { return nms.Covers(s.place, place); });
    if (!covered) selected[count++] = {place, candidates[i].box};
  }
  return count;
}

}  // namespace

void NmsSorted(const abi::ArgBlock& args) {
  const NmsOperands nms(args);
  const NmsExtents& e = nms.extents;
  const Scratch scratch(e, args.workspace);
  ParallelRanges(args, e.pairs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair) {
      scratch.counts[pair] = SelectPair(nms, pair, scratch.candidates + pair * e.boxes,
                                        scratch.selected + pair * e.most);
    }
  });
  int64_t count = 0;
  for (int64_t pair = 0; pair < e.pairs; ++pair) {
    for (int64_t i = 0; i < scratch.counts[pair]; ++i) {
      nms.StoreRow(count++, pair, scratch.selected[pair * e.most + i].box);
    }
  }
  nms.Finish(count);
}

}  // namespace aicf::cpu
