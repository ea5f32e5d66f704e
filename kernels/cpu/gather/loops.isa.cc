#include "kernels/cpu/gather/loops.h"

#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN
namespace {

/// kPlain: index and output are contiguous.
template <bool kPlain, class Word, class Index>
void Move(const GatherLine& l) {
  const Word* data = static_cast<const Word*>(l.data);
  const Index* index = static_cast<const Index*>(l.index);
  Word* out = static_cast<Word*>(l.out);
  const int64_t index_step = kPlain ? 1 : l.index_step, out_step = kPlain ? 1 : l.out_step;
  for (int64_t i = 0; i < l.count; ++i) {
    int64_t at = static_cast<int64_t>(index[i * index_step]);
    at += at < 0 ? l.extent : 0;
    const bool inside = static_cast<uint64_t>(at) < static_cast<uint64_t>(l.extent);
    out[i * out_step] = inside ? data[at * l.axis_stride + i * l.data_step] : Word{};
  }
}

template <class Word, class Index>
void Typed(const GatherLine& l) {
  l.index_step == 1 && l.out_step == 1 ? Move<true, Word, Index>(l) : Move<false, Word, Index>(l);
}

template <class Word>
void Words(const GatherLine& l) {
  l.narrow_index ? Typed<Word, int32_t>(l) : Typed<Word, int64_t>(l);
}

}  // namespace

void MoveElements(const GatherLine& line) {
  switch (line.element) {
    case 1:
      return Words<uint8_t>(line);
    case 2:
      return Words<uint16_t>(line);
    case 4:
      return Words<uint32_t>(line);
    default:
      return Words<uint64_t>(line);
  }
}

AICF_ISA_END
