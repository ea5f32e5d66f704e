// The shape of cuda.attention.hopper (attention/hopper.cuh): its tile, its shared memory, and which
// rows and keys a block takes.
#pragma once

#include "attention/keys.cuh"
#include "common/mbarrier.cuh"
#include "common/wgmma.cuh"

namespace aicf {

typedef In0::S tile_t;
static_assert(kSame<tile_t, bf16> || kSame<tile_t, f16>, "multiplies bf16 and f16");
static_assert(kSame<raw_t, float>, "scores are f32");

constexpr int kWarpgroup = 128;
constexpr int kWarpgroupRows = 64;
constexpr int kLineBytes = 128;      ///< of a tile in shared memory
constexpr int kPatternBytes = 1024;  ///< of the swizzle
constexpr int kLine = 64;            ///< elements
constexpr int kDepth = 16;           ///< of one product

constexpr int kRows = kWarpgroupRows * kConsumers;
/// Number of query heads whose rows share a tile. Tiles treat them as one head with kTileRows rows,
/// in which the rows of these heads alternate.
constexpr int kPacked = kPack ? kGroup : 1;
constexpr int kHeads = kQueryHeads / kPacked;  ///< heads in this sense
constexpr i64 kTileRows = static_cast<i64>(kQueries) * kPacked;

constexpr int kHeadPanels = (kHead + kLine - 1) / kLine;
constexpr int kHeadSteps = (kHead + kDepth - 1) / kDepth;
constexpr int kValuePanels = (kValueHead + kLine - 1) / kLine;

/// The fewest columns that tensor cores take at once and that hold a value.
AICF_DEVICE constexpr int ColumnsOfValue() {
  constexpr int kColumns[] = {16, 32, 40, 48, 64, 80, 96, 112, 128, 192};
  for (int columns : kColumns) {
    if (columns >= kValueHead) return columns;
  }
  return 256;
}
constexpr int kColumns = ColumnsOfValue();

constexpr int kQueryBytes = kHeadPanels * kRows * kLineBytes;
constexpr int kKeyBytes = kHeadPanels * kTileKeys * kLineBytes;     ///< of a stage
constexpr int kValueBytes = kValuePanels * kTileKeys * kLineBytes;  ///< of a stage
constexpr int kBarriers = 2 * kQueryStages + 4 * kStages;           ///< that there is room for
/// A word for each stage: which boxes of its keys are in no page of the pool.
constexpr int kAbsentBytes = attr_pages ? 4 * kStages : 0;
constexpr int kSharedBytes = kPatternBytes + kQueryStages * kQueryBytes +
                             kStages * (kKeyBytes + kValueBytes) + 8 * kBarriers + kAbsentBytes;
static_assert(kDynamicShared >= kSharedBytes, "the launch has the tile's shared memory");
static_assert(kBlockX == kWarpgroup * (kConsumers + kProducer), "one warpgroup for each role");
static_assert(kRows % kPacked == 0, "a query's heads are in one tile");

/// Keys and values come in rounds. Round r of a tile brings the r-th block of keys that is worked
/// on and the values of the block before it. Both are multiplied at the same time, so one barrier
/// tells of both. The first round brings keys alone, and the last, after all blocks, values alone.
/// With a producer every round uses a stage. Without one every block of keys has a stage of its
/// own, and there is one round more than there are stages.
constexpr int kRounds = kProducer ? kStages : kStages + 1;

/// Shared memory: the rings of queries, of keys and of values, then their barriers, and the words
/// of absent boxes.
struct SharedLayout {
  unsigned start, barriers;
  static constexpr int kKeysAt = kQueryStages * kQueryBytes;
  static constexpr int kValuesAt = kKeysAt + kStages * kKeyBytes;

  AICF_DEVICE SharedLayout() {
    const unsigned memory = SharedAddress(DynamicShared());
    start = (memory + kPatternBytes - 1) / kPatternBytes * kPatternBytes;
    // Held in a register: the compiler would otherwise compute it anew for every block of keys.
    HoldOperand(start);
    barriers = start + kValuesAt + kStages * kValueBytes;
  }
  AICF_DEVICE unsigned Query(int stage) const { return start + stage * kQueryBytes; }
  AICF_DEVICE unsigned Keys(int stage) const { return start + kKeysAt + stage * kKeyBytes; }
  /// The values that come in the round.
  AICF_DEVICE unsigned Values(int round) const {
    return start + kValuesAt + (kProducer ? round : round - 1) * kValueBytes;
  }
  AICF_DEVICE unsigned Full(int round) const { return barriers + (kProducer ? 32 : 8) * round; }
  /// This and ValuesEmpty exist only with a producer.
  AICF_DEVICE unsigned KeysEmpty(int stage) const { return barriers + 8 + 32 * stage; }
  AICF_DEVICE unsigned ValuesEmpty(int stage) const { return barriers + 16 + 32 * stage; }
  AICF_DEVICE unsigned QueryFull(int stage) const { return barriers + 32 * kStages + 16 * stage; }
  AICF_DEVICE unsigned QueryEmpty(int stage) const { return QueryFull(stage) + 8; }
  AICF_DEVICE unsigned Absent(int stage) const { return barriers + 8 * kBarriers + 4 * stage; }
};

/// A stage of a ring of kLength, and the parity of its phase.
template <int kLength>
struct RingPlace {
  int stage = 0;
  unsigned parity = 0;

  AICF_DEVICE void Next() {
    if (++stage == kLength) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// The tiles of a block, one after the other. Tiles of kSection pairs of request and head, whose
/// keys and values fit the second-level cache together, follow each other. The last rows of every
/// pair come first, because they see the most keys where a window ends at the row's position. With
/// kFold a block that has taken the n-th tile of a pair from the end takes the n-th from the start
/// after it, so that all blocks have the same work without knowing of each other.
struct TileWalk {
  static constexpr unsigned kPairs = static_cast<unsigned>(In0::extent(0) * kHeads);
  static constexpr unsigned kTiles = static_cast<unsigned>((kTileRows + kRows - 1) / kRows);
  static constexpr unsigned kTurnsOfPair = kFold ? (kTiles + 1) / 2 : kTiles;
  static constexpr unsigned kTurnsOfAll = kPairs * kTurnsOfPair;

  unsigned turn = blockIdx.x;
  bool folded = false;
  unsigned tile;  ///< of the pair
  int b, h;       ///< request, and one of kHeads
  i64 first;      ///< row

  AICF_DEVICE TileWalk() { Place(); }
  AICF_DEVICE bool Valid() const { return turn < kTurnsOfAll; }
  AICF_DEVICE void Next() {
    if constexpr (kFold) {
      const unsigned mirrored = kTiles - 1 - tile;
      if (!folded && mirrored != tile) {
        folded = true;
        tile = mirrored;
        first = static_cast<i64>(tile) * kRows;
        return;
      }
      folded = false;
    }
    turn += static_cast<unsigned>(kGridX);
    Place();
  }
  AICF_DEVICE void Place() {
    constexpr unsigned kTogether = static_cast<unsigned>(kSection) < kPairs ? kSection : kPairs;
    constexpr unsigned kSectionTurns = kTogether * kTurnsOfPair;
    const unsigned section = turn / kSectionTurns, rest = turn % kSectionTurns;
    const unsigned left = kPairs - section * kTogether;
    // Only the last section may have fewer pairs; divisors that are constants are cheap.
    unsigned pair, place;
    if (kPairs % kTogether == 0 || left >= kTogether) {
      pair = rest % kTogether;
      place = rest / kTogether;
    } else {
      pair = rest % left;
      place = rest / left;
    }
    pair += section * kTogether;
    tile = kTiles - 1 - place;
    first = static_cast<i64>(tile) * kRows;
    b = static_cast<int>(pair / kHeads);
    h = static_cast<int>(pair % kHeads);
  }
  AICF_DEVICE int KeyHead() const { return kPack ? h : h / kGroup; }
};

/// Blocks of keys [begin, end) that some row of the tile sees.
struct KeyBlocks {
  int begin = 0, end = 0;

  AICF_DEVICE KeyBlocks(const Request& request, const TileWalk& tile) {
    const i64 last = tile.first + kRows < kTileRows ? tile.first + kRows : kTileRows;
    const int first_key = request.Begin(static_cast<int>(tile.first / kPacked));
    const int end_key = request.End(static_cast<int>((last - 1) / kPacked));
    if (end_key <= first_key) return;
    begin = first_key / kTileKeys;
    end = (end_key + kTileKeys - 1) / kTileKeys;
  }
};

}  // namespace aicf
