// Moves tiles of an operand into shared memory: asynchronously where memory and shared memory hold
// the same type and a thread's piece is 4, 8 or 16 bytes, through registers (converting) otherwise.
#pragma once

namespace aicf {

/// Element type in shared memory from storage type: the same, or widened and converted.
template <class T, class S>
AICF_DEVICE T ToTile(S v) {
  if constexpr (kSame<T, S>)
    return v;
  else if constexpr (kSame<T, f16> || kSame<T, bf16>)
    return Narrow<T>::Of(static_cast<float>(Widen(v)));
  else
    return static_cast<T>(Widen(v));
}

/// A tile of kRows x kCols elements of T, rows kPitch apart. The reduced dimension k runs along the
/// columns (kStaticRows: operand A) or along the rows (operand B); the other one is fixed for the
/// block.
///
/// Source says where elements are: MakeStatic(i) prepares row i of A or column i of B (a Static),
/// MakeDynamic(k) an index along k (a Dynamic), and At(static, dynamic, &valid) gives the element's
/// address, which is read only when valid. V elements that follow each other along the columns
/// (kAlongCols) or along the rows are neighbours in memory, aligned, and all valid or none.
template <class Source, class T, int kThreads, int kRows, int kCols, int kPitch, bool kStaticRows,
          bool kAlongCols, int V>
struct TileLoader {
  typedef typename Source::S S;
  static constexpr int kLanes = (kAlongCols ? kCols : kRows) / V;
  static constexpr int kLines = kAlongCols ? kRows : kCols;
  static constexpr int kStep = kThreads / kLanes;
  static constexpr int kCount = (kLines + kStep - 1) / kStep;
  static_assert(kThreads >= kLanes, "a line is loaded at once");
  static constexpr bool kStaticLines = kStaticRows == kAlongCols;
  static constexpr int kBytes = static_cast<int>(sizeof(S)) * V;
  static constexpr bool kAsync =
      kSame<T, S> && (kAlongCols || V == 1) && (kBytes == 4 || kBytes == 8 || kBytes == 16);

  typename Source::Static fixed[kStaticLines ? kCount : 1];
  T held[kAsync ? 1 : kCount][V];

  /// Threads that do not fill a whole line load nothing.
  static AICF_DEVICE bool Idle(int thread) {
    return kThreads % kLanes != 0 && thread >= kStep * kLanes;
  }
  static AICF_DEVICE int Lane(int thread) { return thread % kLanes * V; }
  static AICF_DEVICE int Line(int thread, int i) { return thread / kLanes + i * kStep; }
  static AICF_DEVICE int Place(int thread, int i) {
    const int lane = Lane(thread), line = Line(thread, i);
    return kAlongCols ? line * kPitch + lane : lane * kPitch + line;
  }

  AICF_DEVICE void Init(const Source& source, int thread, index_t base) {
    if constexpr (kStaticLines) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) fixed[i] = source.MakeStatic(base + Line(thread, i));
    } else {
      fixed[0] = source.MakeStatic(base + Lane(thread));
    }
  }

  AICF_DEVICE void Move(const S* from, bool valid, int place, int i, T* tile) {
    if constexpr (kAsync) {
      CopyAsync<kBytes>(tile + place, valid ? from : nullptr, valid);
    } else {
      Pack<S, V> pack = {};
      if (valid) pack = *reinterpret_cast<const Pack<S, V>*>(from);
#pragma unroll
      for (int j = 0; j < V; ++j) held[i][j] = valid ? ToTile<T>(pack.v[j]) : T{};
    }
  }

  /// Starts loading the tile whose first k is k0.
  AICF_DEVICE void Fetch(const Source& source, int thread, index_t k0, T* tile) {
    if (Idle(thread)) return;
    typename Source::Dynamic moving = source.MakeDynamic(k0 + (kStaticLines ? Lane(thread) : 0));
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (kLines % kStep != 0 && Line(thread, i) >= kLines) break;
      if constexpr (!kStaticLines) moving = source.MakeDynamic(k0 + Line(thread, i));
      bool valid = false;
      const S* from = source.At(fixed[kStaticLines ? i : 0], moving, &valid);
      Move(from, valid, Place(thread, i), i, tile);
    }
  }

  /// Puts what Fetch holds in registers into its place. Nothing to do for asynchronous loads.
  AICF_DEVICE void Commit(int thread, T* tile) {
    if constexpr (!kAsync) {
      if (Idle(thread)) return;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (kLines % kStep != 0 && Line(thread, i) >= kLines) break;
        T* to = tile + Place(thread, i);
#pragma unroll
        for (int j = 0; j < V; ++j) to[kAlongCols ? j : j * kPitch] = held[i][j];
      }
    }
  }
};

}  // namespace aicf
