/// cpu.nms.ref: the best box that is left is selected and removes what it covers, again and again.
#include <cstring>

#include "kernels/cpu/nms/boxes.h"

namespace aicf::cpu {
namespace {

/// Box with the highest score among those left, the first of equals; -1 when none is.
int64_t BestLeft(const NmsOperands& nms, int64_t pair, const unsigned char* gone) {
  int64_t best = -1;
  for (int64_t i = 0; i < nms.extents.boxes; ++i) {
    if (gone[i] != 0) continue;
    if (best < 0 || nms.Score(pair, i) > nms.Score(pair, best)) best = i;
  }
  return best;
}

}  // namespace

void NmsRef(const abi::ArgBlock& args) {
  const NmsOperands nms(args);
  auto* gone = static_cast<unsigned char*>(args.workspace);
  const int64_t boxes = nms.extents.boxes;
  int64_t count = 0;
  for (int64_t pair = 0; pair < nms.extents.pairs; ++pair) {
    for (int64_t i = 0; i < boxes; ++i) gone[i] = nms.IsCandidate(nms.Score(pair, i)) ? 0 : 1;
    for (int64_t taken = 0; taken < nms.limit; ++taken) {
      const int64_t best = BestLeft(nms, pair, gone);
      if (best < 0) break;
      nms.StoreRow(count++, pair, best);
      gone[best] = 1;
      for (int64_t i = 0; i < boxes; ++i) {
        if (gone[i] == 0 && nms.Covers(nms.Box(pair, best), nms.Box(pair, i))) gone[i] = 1;
      }
    }
  }
  nms.Finish(count);
}

}  // namespace aicf::cpu
