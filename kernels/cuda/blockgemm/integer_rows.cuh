// How a block of cuda.blockgemm.decode or cuda.blockgemm.stream makes integers of its part of the
// row of A (panel_integers.cuh). The elements of a group become multiples of one power of two, of
// which the largest element has 2^13 to 2^14, so that each is off by at most 2^-14 of the largest.
// A group that has an infinity or a NaN has NaN for that power.
//
// A row that is normalised (kNormalizesRows) is multiplied with the gain here; the factor that
// normalises it scales the finished sums instead, so that nobody waits for it.
#pragma once

#include "blockgemm/panel_integers.cuh"

namespace aicf {

/// What belongs to a group of the row: an element is its integer times 2^kCodeShift * unit. `sum`
/// is the sum of the elements, as their integers represent them, and `start` cancels what codes are
/// too large by.
struct alignas(16) IntegerGroup {
  float unit, sum;
  int start, unused;
};

/// The row's part for one chunk. For every set it has the lanes' parts of the fragment, where each
/// lane's part belongs to the columns of one slot, then a part of zeros, then the groups of the
/// slots.
struct IntegerChunk {
  static constexpr int kZerosAt = SlotPlaces::kZerosAt, kGroupsAt = kZerosAt + 16;
  static constexpr int kSetBytes =
      kGroupsAt + kIntegerSlots * static_cast<int>(sizeof(IntegerGroup));
  static constexpr int kBytes = kIntegerSets * kSetBytes;
  typedef Pack<u32, 2> Words;

  char* at;
  int lane;

  AICF_DEVICE void Load(int set, int place, u32 (&b)[2]) const {
    const Words words = *reinterpret_cast<const Words*>(at + place + set * kSetBytes);
    b[0] = words.v[0];
    b[1] = words.v[1];
  }
  AICF_DEVICE IntegerGroup Of(int set) const { return *Group(set, lane % 4); }

  AICF_DEVICE Words* Part(int set, int of_lane) const {
    return reinterpret_cast<Words*>(at + set * kSetBytes + of_lane * 8);
  }
  AICF_DEVICE Words* Zeros(int set) const {
    return reinterpret_cast<Words*>(at + set * kSetBytes + kZerosAt);
  }
  AICF_DEVICE IntegerGroup* Group(int set, int slot) const {
    return reinterpret_cast<IntegerGroup*>(at + set * kSetBytes + kGroupsAt) + slot;
  }
};

/// kCount elements of one group as integers, of which four threads have as many each.
template <int kCount>
struct Integers {
  /// In the lowest two bytes 128 more than the integer, so that these are its high and its low part
  /// but for the latter's highest bit.
  u32 numbers[kCount];
  int sum;       ///< of the whole group's
  u32 exponent;  ///< biased, of the power of two that their unit is 2^-13 of
  bool finite;

  AICF_DEVICE explicit Integers(const float* x) {
    float largest = 0.0f;
    bool ordered = true;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      largest = fmaxf(largest, fabsf(x[e]));
      ordered = ordered && x[e] == x[e];
    }
    if (!ordered) largest = __uint_as_float(0x7f800000u);
    largest = fmaxf(largest, ShuffleXor(largest, 1));
    largest = fmaxf(largest, ShuffleXor(largest, 2));
    const u32 bits = __float_as_uint(largest);
    finite = bits < 0x7f800000u;
    // Smaller groups are as if they had an element of 2^-107: their unit is a normal number, too.
    exponent = MaxOf(bits >> 23, 20u);
    const float factor = __uint_as_float((267 - exponent) << 23);
    u32 all = 0;
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      // Adding 1.5 * 2^23 rounds to a whole number, which is then in the lowest bits.
      numbers[e] = __float_as_uint(fmaf(x[e], factor, 12582912.0f + 128.0f));
      all += numbers[e] - (0x4b400000u + 128u);
    }
    all += ShuffleXor(all, 1);
    all += ShuffleXor(all, 2);
    sum = finite ? static_cast<int>(all) : 0;
  }
  AICF_DEVICE IntegerGroup Group() const {
    const float nan = __uint_as_float(0x7fc00000u);
    const float unit = __uint_as_float((exponent - 13) << 23);
    const float of_codes = __uint_as_float((exponent - 13 - kCodeShift) << 23);
    return {finite ? of_codes : nan, finite ? static_cast<float>(sum) * unit : nan,
            -kCodeZero * sum, 0};
  }
};

class IntegerRows {
 public:
  static constexpr int kSquaresBytes = kNormalizesRows ? (kWarps * 4 + 15) / 16 * 16 : 0;
  /// Bytes of the block's part of the row, and how often the block has it: with kApart once for
  /// each kAlongK warps, which share out k.
  static constexpr int kCopyBytes = static_cast<int>(kPartChunks) * IntegerChunk::kBytes;
  static constexpr int kCopies = kApart != 0 ? kWarps / kAlongK : 1;
  static constexpr int kChunksBytes = kCopies * kCopyBytes;
  /// Of shared memory, at its beginning.
  static constexpr int kBytes = kChunksBytes + kSquaresBytes;

  AICF_DEVICE IntegerRows(const Args& args, const Warp& warp)
      : a_(static_cast<const In0::S*>(args.in[0])),
        gain_(static_cast<const GainView::S*>(args.in[kGainInput])),
        warp_(warp) {}

  /// Loads the gain if registers suffice for all pieces. It is a constant, so this may come before
  /// the wait for the preceding kernel.
  AICF_DEVICE void HoldGain() {
    if constexpr (kHoldsGain) LoadFrom<GainView>(gain_, 0, gains_);
  }
  /// Brings the row, after the wait for the preceding kernel: all of it for all warps, or with
  /// kApart for each warp what that multiplies. All threads of the block have to call this. `asked`
  /// is called when the thread has asked for its first elements.
  template <class Asked>
  AICF_DEVICE void Bring(const Asked& asked) {
    float squares = 0.0f;
#pragma unroll 1
    for (int first = 0; first < kCount; first += kTogether) {
      float x[kTogether][8];
      LoadFrom<In0>(a_, first, x);
      if (first == 0) asked();
      if constexpr (kNormalizesRows && !kHoldsGain) LoadFrom<GainView>(gain_, first, gains_);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if constexpr (kNormalizesRows) Multiply(x[i], gains_[i], squares);
        Store(PieceAt(first + i), x[i]);
      }
    }
    if constexpr (kNormalizesRows) StoreSquares(squares);
    if constexpr (kApart != 0)
      __syncwarp();
    else
      __syncthreads();
  }
  /// What the warp multiplies in its step number `step`.
  AICF_DEVICE IntegerChunk Chunk(int step) const {
    return ChunkOfPart(warp_.FirstChunk() + step * kAlongK);
  }
  /// By what the finished sums are multiplied.
  static AICF_DEVICE float Factor() {
    constexpr int kSquares = kApart != 0 ? kAlongK : kWarps;  // of one copy of the row
    // A warp with the whole row may not have met any other.
    const float* const squares =
        Squares() + (kSquares == 1 ? static_cast<int>(threadIdx.x) / 32 : 0);
    float all = 0.0f;
#pragma unroll
    for (int w = 0; w < kSquares; ++w) all = all + squares[w];
    return 1.0f / sqrtf(all / static_cast<float>(kLength) + static_cast<float>(attr_rms_epsilon));
  }

 private:
  static constexpr int kAll = kPartRuns * 4;         ///< pieces of eight elements
  static constexpr int kOfChunk = Chunk::kRuns * 4;  ///< pieces of a chunk
  /// Threads that share out a copy, and how many pieces of it each has.
  static constexpr int kSharers = kApart != 0 ? 32 : kBlockX;
  static constexpr int kCount =
      ((kApart != 0 ? kMostSteps * kOfChunk : kAll) + kSharers - 1) / kSharers;
  static constexpr int kTogether = MinOf(4, kCount);  ///< pieces of a thread under way at once
  static constexpr bool kHoldsGain = kNormalizesRows && kCount <= 2;

  static AICF_DEVICE float* Squares() {
    return reinterpret_cast<float*>(DynamicShared() + kChunksBytes);
  }
  AICF_DEVICE IntegerChunk ChunkOfPart(int number) const {
    const int copy = kCopies > 1 ? warp_.number / kAlongK : 0;
    return {DynamicShared() + copy * kCopyBytes + number * IntegerChunk::kBytes, warp_.lane};
  }
  /// The thread's piece number `number`.
  AICF_DEVICE Eight PieceAt(int number) const {
    if constexpr (kApart == 0) return Eight(number * kBlockX + static_cast<int>(threadIdx.x));
    const int i = number * 32 + warp_.lane;
    const int chunk = warp_.FirstChunk() + i / kOfChunk * kAlongK;
    return Eight(chunk < kPartChunks ? chunk * kOfChunk + i % kOfChunk : kAll);
  }
  template <class V>
  AICF_DEVICE void LoadFrom(const typename V::S* base, int first, float (*to)[8]) const {
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      PieceAt(first + i).template Load<V>(base, warp_.Chunk0(), to[i]);
    }
  }
  static AICF_DEVICE void Multiply(float (&x)[8], const float (&gain)[8], float& squares) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      squares = fmaf(x[e], x[e], squares);
      x[e] = x[e] * gain[e];
    }
  }
  AICF_DEVICE void Store(const Eight& piece, const float (&x)[8]) const {
    constexpr int kElements = 8 / kGroupsOfRun;
    const IntegerChunk chunk = ChunkOfPart(piece.run / Chunk::kRuns);
#pragma unroll
    for (int g = 0; g < kGroupsOfRun; ++g) {
      const Integers<kElements> own(x + g * kElements);
      if (!piece.valid) continue;
      const int group = piece.run % Chunk::kRuns * kGroupsOfRun + g;
      const int slot = group / kOwn, set = group % kOwn;
      typename IntegerChunk::Words high, low;
#pragma unroll
      for (int word = 0; word < 2; ++word) {
        u32 own_of[4];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
          const int e = ElementOfByte(word, byte) - g * kElements;
          own_of[byte] = e >= 0 && e < kElements ? own.numbers[e & (kElements - 1)] : 128u;
        }
        const u32 even = __byte_perm(own_of[0], own_of[1], 0x5410);
        const u32 odd = __byte_perm(own_of[2], own_of[3], 0x5410);
        low.v[word] = __byte_perm(even, odd, 0x6420) ^ 0x80808080u;
        high.v[word] = __byte_perm(even, odd, 0x7531);
      }
      *chunk.Part(set, slot * 8 + piece.t) = high;
      *chunk.Part(set, slot * 8 + 4 + piece.t) = low;
      if (piece.t == 0) *chunk.Group(set, slot) = own.Group();
      if (piece.t == 1 && slot == 0) *chunk.Zeros(set) = {0u, 0u};
    }
  }
  AICF_DEVICE void StoreSquares(float squares) const {
#pragma unroll
    for (int other = 1; other < 32; other *= 2) squares = squares + ShuffleXor(squares, other);
    if (warp_.lane == 0) Squares()[warp_.number] = squares;
  }

  const In0::S* const a_;
  const GainView::S* const gain_;
  const Warp& warp_;
  float gains_[kNormalizesRows ? kTogether : 1][8];
};

}  // namespace aicf
