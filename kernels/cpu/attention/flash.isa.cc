// One tile of flash attention. It walks over blocks of keys, from the first key that any of its
// rows sees to the last.
#include "kernels/cpu/attention/flash.h"

#include "kernels/cpu/attention/flash_parts.h"
#include "kernels/cpu/attention/keys.h"
#include "kernels/cpu/expr/block_ops.h"

AICF_ISA_BEGIN
namespace {

constexpr float kNone = -__builtin_inff();

int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }

class Tile {
 public:
  Tile(const FlashRun& run, int64_t item, float* scratch)
      : run_(run), args_(*run.args), s_(run.shape), part_(run.parts), scratch_(scratch) {
    PlaceFlashTile(run, item, &place_);
    wide_ = Padded(s_.value_head);
    for (int64_t i = 0; i < place_.rows * wide_; ++i) scratch_[part_.sums + i] = 0;
    for (int64_t i = part_.zeros; i < part_.total; ++i) scratch_[i] = 0;
  }

  void Run() {
    const KeyRows keys(args_, s_, 1, place_.batch, place_.key_head);
    const KeyRows values(args_, s_, 2, place_.batch, place_.key_head);
    LoadQuery();
    const abi::KeyRange all = place_.all;
    FlashBlock block;
    for (block.first = all.begin; block.first < all.end; block.first += block.count) {
      block.count = Least(all.end - block.first, kFlashKeys);
      block.holes = keys.Find(block.first, block.count, block.key);
      values.Find(block.first, block.count, block.value);
      Scores(keys.element_stride(), block);
      Apply(block);
      Mask(block);
      Add(values.element_stride(), block);
    }
    for (int64_t r = 0; r < place_.rows; ++r) Store(r);
  }

 private:
  static int64_t Padded(int64_t n) { return (n + 15) / 16 * 16; }

  // Address of the tile's first element of a view of [B, Hq, Tq, ...].
  const char* At(const abi::TensorArg& t) const {
    const int64_t at = t.offset + place_.batch * t.strides[0] + place_.head * t.strides[1] +
                       place_.row * t.strides[2];
    return static_cast<const char*>(t.data) + at * DTypeBytes(t.dtype);
  }

  // Loads the query rows already multiplied by the scale, which takes one multiplication per
  // element of the query instead of one per score.
  void LoadQuery() {
    const abi::TensorArg& q = args_.tensors[0];
    const char* address[kFlashRows];
    for (int64_t r = 0; r < place_.rows; ++r) {
      address[r] = At(q) + r * q.strides[place_.axis] * DTypeBytes(q.dtype);
    }
    const int64_t pitch = Padded(s_.head);
    float* query = scratch_ + part_.query;
    WidenRows({address, place_.rows, s_.head, q.strides[3], q.dtype}, query, pitch);
    for (int64_t i = 0; i < place_.rows * pitch; ++i) query[i] *= run_.scale;
  }

  void Scores(int64_t stride, const FlashBlock& block) {
    const FlashRows rows{block.key, block.count, s_.head, stride, args_.tensors[1].dtype};
    float* query = scratch_ + part_.query;
    float* scores = scratch_ + part_.scores;
    if (place_.rows <= kFlashFewRows && rows.stride == 1) {
      return DotRows(rows, query, Padded(s_.head), place_.rows, scores);
    }
    float* packed = scratch_ + part_.keys;
    TransposeRows(rows, packed);
    MultiplyTile(query, Padded(s_.head), place_.rows, s_.head, packed, kFlashKeys,
                 (block.count + 15) / 16 * 16, scores, kFlashKeys);
  }

  // Applies the score expression, a few rows at a time: as many as one block evaluation takes.
  void Apply(const FlashBlock& block) {
    if (run_.score == nullptr) return;
    constexpr int64_t kRows = kBlockElements / kFlashKeys;
    const int64_t first = s_.core_inputs;
    for (int64_t r = 0; r < place_.rows; r += kRows) {
      float* scores = scratch_ + part_.scores + r * kFlashKeys;
      BlockInput inputs[abi::kMaxExprInputs];
      inputs[0] = {scores, kFlashKeys, 1, DType::kF32};
      for (int k = 0; k < run_.score_operands; ++k) {
        const abi::TensorArg& t = args_.tensors[first + k];
        const int64_t at = r * t.strides[place_.axis] + block.first * t.strides[3];
        inputs[k + 1] = {At(t) + at * DTypeBytes(t.dtype), t.strides[place_.axis], t.strides[3],
                         t.dtype};
      }
      int64_t origin[4] = {place_.batch, place_.head, place_.row, block.first};
      origin[place_.axis] += r;
      const BlockOrigin point{origin, place_.axis, 3};
      const BlockOutput out{scores, kFlashKeys, 1, DType::kF32};
      EvalBlock(*run_.score, Least(kRows, place_.rows - r), block.count, inputs, &out, &point);
    }
  }

  // Sets the scores of keys that a row does not see to -inf, so that their weight is 0.
  void Mask(const FlashBlock& block) {
    for (int64_t r = 0; r < place_.rows; ++r) {
      float* scores = scratch_ + part_.scores + r * kFlashKeys;
      const int64_t begin = Most(0, Least(block.count, place_.range[r].begin - block.first));
      const int64_t end = Most(begin, Least(block.count, place_.range[r].end - block.first));
      for (int64_t c = 0; c < begin; ++c) scores[c] = kNone;
      for (int64_t c = end; c < kFlashKeys; ++c) scores[c] = kNone;
      for (int64_t c = begin; c < end && block.holes; ++c) {
        if (block.key[c] == nullptr) scores[c] = kNone;
      }
    }
  }

  void Add(int64_t stride, const FlashBlock& block) {
    float factor[kFlashRows];
    float* weights = scratch_ + part_.scores;
    for (int64_t r = 0; r < place_.rows; ++r)
      factor[r] = SoftmaxRow(weights + r * kFlashKeys, &state_[r]);
    const FlashRows rows{block.value, block.count, s_.value_head, stride, args_.tensors[2].dtype};
    float* product = scratch_ + part_.product;
    if (place_.rows <= kFlashFewRows && rows.stride == 1) {
      SumRows(rows, weights, place_.rows, scratch_ + part_.zeros, product, wide_);
    } else {
      float* packed = scratch_ + part_.values;
      WidenRows(rows, packed, wide_);
      MultiplyTile(weights, kFlashKeys, place_.rows, block.count, packed, wide_, wide_, product,
                   wide_);
    }
    for (int64_t r = 0; r < place_.rows; ++r) {
      RescaleRow(scratch_ + part_.sums + r * wide_, product + r * wide_, factor[r], wide_);
    }
  }

  void Store(int64_t r) {
    float* sums = scratch_ + part_.sums + r * wide_;
    const FlashRow& state = state_[r];
    // A row without a key of weight above 0 has the result 0: its sums are 0, and are divided by 1.
    const float total = state.sum == 0 ? 1 : state.sum;
    for (int64_t i = 0; i < wide_; ++i) sums[i] /= total;
    const abi::TensorArg& out = args_.tensors[args_.input_count];
    char* to = const_cast<char*>(At(out)) + r * out.strides[place_.axis] * DTypeBytes(out.dtype);
    StoreBlock({sums, 1}, 1, s_.value_head, {to, 0, out.strides[3], out.dtype});
    if (args_.output_count < 2) return;
    const abi::TensorArg& log = args_.tensors[args_.input_count + 1];
    const float sum = state.sum == 0 ? kNone : state.max + __builtin_logf(state.sum);
    char* at = const_cast<char*>(At(log)) + r * log.strides[place_.axis] * DTypeBytes(log.dtype);
    __builtin_memcpy(at, &sum, sizeof sum);
  }

  const FlashRun& run_;
  const abi::ArgBlock& args_;
  const abi::AttentionShape& s_;
  const FlashScratch& part_;
  float* const scratch_;
  FlashPlace place_;
  int64_t wide_;
  FlashRow state_[kFlashRows];
};

}  // namespace

void RunFlashTile(const FlashRun& run, int64_t item, float* scratch) {
  Tile(run, item, scratch).Run();
}

AICF_ISA_END
