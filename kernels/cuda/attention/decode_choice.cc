// What is worth choosing of cuda.attention.decode.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/cuda/attention/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::AttentionShape;
using abi::DeviceSpec;
using abi::Parameters;
using abi::Problem;
using Decode = AttentionDecodeHost;

// Bytes of shared memory that a multiprocessor reserves for a block beside the block's own.
constexpr int64_t kBesideOwn = 1024;

// Blocks of a launch that a multiprocessor holds at a time.
int64_t ResidentBlocks(const AttentionShape& s, const Parameters& c, const DeviceSpec& d) {
  const int64_t registers = 104 + CeilDiv(s.value_head, 16) * 8;  // of a thread
  const int64_t by_registers = 65536 / (registers * 32 * c["warps"]);
  const int64_t by_memory = d.shared_bytes_per_sm / (Decode::SharedBytes(s, c) + kBesideOwn);
  return std::clamp<int64_t>(std::min(by_registers, by_memory), 1, 16);
}

// Number of clusters that run at once with one block on each multiprocessor. A cluster has to lie
// within one group of 16 or so multiprocessors, and an H200 has seven groups of that size.
double ClustersAtOnce(int64_t split, int sm_count) {
  constexpr int64_t kGroup = 16;
  const int64_t groups = std::max<int64_t>(1, sm_count * 9 / 10 / kGroup);
  return static_cast<double>(split <= 2 ? sm_count / split : groups * (kGroup / split));
}

// Keys that a request of the step has at most.
double KeysOf(const Problem& p, const AttentionShape& s) {
  const auto rows = static_cast<double>(s.batch * s.query_heads * s.rows);
  return std::max(1.0, abi::ScoreCount(p) / std::max(1.0, rows));
}

// Bytes of keys and values that all tiles together read.
double ReadBytes(const Problem& p, const AttentionShape& s) {
  const auto head = static_cast<double>(s.head + s.value_head);
  return static_cast<double>(Decode::Tiles(s, Decode::kRows)) * KeysOf(p, s) * head * 2;
}

// Whether a step reads so little that its keys are there before its queries are. It is then as fast
// as its instructions, of which a warp beside three others gets fewer done.
bool ReadsLittle(const Problem& p, const AttentionShape& s) { return ReadBytes(p, s) < 2e6; }

// How often the threads of a block that appends each turn a piece of its queries and its new key,
// or bring one of its new value (NewPart::kAll in attention/decode_append.cuh). Nothing is
// multiplied before that. Appending steps of 64 MB, launched early, were measured to take 18.1
// to 19.6 us with 8 warps, which have one round, and 19.7 to 22.7 with 4, which have two.
double TurnRounds(const Problem& p, const AttentionShape& s, const Parameters& c) {
  constexpr int64_t kTurned = 8;
  const int64_t pairs = p.as<abi::AttentionAttrs>().append_pairs;
  const int64_t width = CeilDiv(s.head, 16) * 16;
  const int64_t of_head = (width - pairs) / kTurned;  // two pieces that turn are one part
  const int64_t parts =
      CeilDiv((Decode::kRows + 1) * of_head, int64_t{32}) * 32 + s.value_head / kTurned;
  return static_cast<double>(CeilDiv(parts, 32 * c["warps"]));
}

// So few turns that one more or one less shows in the time of a step.
constexpr int64_t kFewTurns = 2;

// Decoding mostly waits for memory. Short requests wait for their length, then for the table, then
// for the first tile. Where few tiles are under way, the time of a warp's turns counts. A
// multiprocessor gets no more bytes in a round trip than it has requested, and no more than its
// port lets through. The numbers are in us and bytes, for an H200; the work of a turn and the room
// for clusters were fitted to 8 heads of 65,536 keys each, and what counts where little is read to
// 3 heads of 64 with 1,280 keys: a token of SmolLM2-135M took 341 us with 8 blocks of 8 warps and
// 32 keys, 336 with 16 keys, 335 with 4 warps and 32 keys, 319 with 4 warps and 16 keys, 344 with
// 4 blocks of these and 327 with 16. Where a request of 1,024 keys has few turns, warps between 4
// and 8 are better than both (bench/results/h200_language.md): a token of SmolLM2 takes 301.5 us
// with 5 and 305 with 4, one of 8 layers of Llama-3.2-1B 306 with 5 and 309 with 8.
double DecodeUs(const Problem& p, const Parameters& c, const DeviceSpec& d) {
  constexpr double kStart = 1.6, kMerge = 0.5, kExchange = 0.7, kRoundTrip = 1.1;
  constexpr double kPort = 8e4;  // bytes per us
  const AttentionShape s = abi::AttentionShapeOf(p);
  const double keys = KeysOf(p, s);
  const auto tile = static_cast<double>(c["tile_keys"]), warps = static_cast<double>(c["warps"]);
  const auto head = static_cast<double>(s.head + s.value_head);
  const double tiles = static_cast<double>(Decode::Tiles(s, Decode::kRows));
  const double blocks = tiles * static_cast<double>(c["split"]);

  const auto resident = static_cast<double>(ResidentBlocks(s, c, d));
  const double waves =
      std::max(std::ceil(blocks / (d.sm_count * resident)),
               std::ceil(tiles / (ClustersAtOnce(c["split"], d.sm_count) * resident)));
  const double turns = std::ceil(keys / (tile * static_cast<double>(c["split"]) * warps));
  const bool little = ReadsLittle(p, s);
  const double later_turns_us = turns > 1 && !little ? 0.3 : 0.0;
  const double alone_us =
      turns * ((little ? 0.1 : 0.25) + 0.35 * tile / 16 * head / 256) + later_turns_us;
  const bool short_parts = little || turns <= kFewTurns;
  const double wide_us = short_parts && c["split"] > 8 ? (little ? 0.3 : 0.5) : 0.0;
  // What more warps take to merge counts where each has few tiles.
  const double warp_us = little ? 0.25 : short_parts ? 0.2 : 0.0;
  const double beside_us = warp_us * std::max(0.0, warps - 4) + wide_us;

  const double busy = std::min<double>(d.sm_count, blocks);
  const double held = std::min(resident, std::ceil(blocks / d.sm_count));
  const double asked = held * warps * static_cast<double>(c["stages"] - 1) * tile * head * 2;
  const double stream_us =
      little ? 0.0 : ReadBytes(p, s) / (busy * std::min(kPort, asked / kRoundTrip));
  // What the warps of one multiprocessor take for all their turns.
  const double turn_us = 0.11 + 0.24 / (held * warps);  // of one turn, with so many warps at work
  const double work_us = little ? 0.0 : tiles * keys / 16 * (head / 256) * turn_us / busy;
  // Requests differ in length. Two blocks on every multiprocessor even that out and wait less;
  // `idle` is the share of these blocks that is missing. Blocks without clusters lose more
  // where half of the multiprocessors have none: 8 requests of 2,048 keys take 21.8 us with 128
  // blocks, and 25 with 64.
  const double idle = std::max(0.0, 1 - blocks / (2.0 * d.sm_count));
  const bool half_empty = c["split"] == 1 && 2 * blocks <= d.sm_count;
  const double memory_us =
      abi::ByteCount(p) / (0.85 * d.bytes_per_us) * (1 + 0.03 * idle + (half_empty ? 0.08 : 0));
  const double exchange_us =
      c["split"] > 1 ? kExchange + 0.02 * static_cast<double>(c["split"]) : 0.0;
  const double turn_rows_us = abi::AppendsRows(p) ? 0.4 : 0.0;
  // What a second round costs was measured for one wave of blocks that read much; where several
  // waves follow each other, other blocks are at work meanwhile.
  const bool second_round = abi::AppendsRows(p) && !little && waves == 1 && TurnRounds(p, s, c) > 1;
  const double second_round_us = second_round ? 1.2 : 0.0;
  // A cluster of 16 blocks fills a group of multiprocessors by itself. It was measured to take 1.2
  // to 1.4 times as long as two clusters of 8 with as many warps together, from 4 to 256 MB.
  const double crowded = c["split"] > 8 ? 1.25 : 1.0;
  return d.launch_us + waves * (kStart + kMerge + turn_rows_us) + exchange_us + beside_us +
         second_round_us + crowded * std::max({waves * alone_us, stream_us, work_us, memory_us});
}

// Keys of a tile: few where rows are long, and where little is read, because the first products
// can then begin earlier.
int64_t TileOfKeys(const Problem& p, const AttentionShape& s) {
  return s.head + s.value_head > 160 || ReadsLittle(p, s) ? 16 : 32;
}

// The parameters with the most stages with which `blocks` blocks fit a multiprocessor, but no more
// stages than a warp's keys fill: further ones would take memory in which blocks of the next kernel
// could start. nullopt where not even two stages fit.
std::optional<Parameters> SharedBy(const AttentionShape& s, int64_t tile, int64_t split,
                                   int64_t warps, int64_t blocks, const DeviceSpec& d) {
  const int64_t turns = CeilDiv(s.keys, tile * split * warps);
  for (int64_t stages = std::clamp<int64_t>(turns + 1, 2, 8); stages >= 2; --stages) {
    const Parameters c = {{"split", split},    {"warps", warps}, {"stages", stages},
                          {"tile_keys", tile}, {"ahead", 0},     {"room", 0}};
    const int64_t bytes = Decode::SharedBytes(s, c);
    if (bytes > d.max_shared_bytes) continue;
    if ((bytes + kBesideOwn) * blocks <= d.shared_bytes_per_sm) return c;
  }
  return std::nullopt;
}

// The parameters with so much shared memory for a block that a multiprocessor holds only one, where
// all blocks find a multiprocessor of their own but two would fit one. Where three would fit, a
// block has little to read, and stays as it is. Blocks of a step that is launched early start where
// the kernel before it ends first. There two of them would gather, while other multiprocessors had
// none.
Parameters Spread(const AttentionShape& s, const Parameters& c, const DeviceSpec& d) {
  const int64_t half = d.shared_bytes_per_sm / 2 - kBesideOwn, needed = Decode::SharedBytes(s, c);
  const int64_t room = half / 1024 + 1;  // in KiB
  const bool two_fit = needed <= half && 2 * needed > half && room * 1024 <= d.max_shared_bytes;
  const auto tiles = static_cast<double>(Decode::Tiles(s, Decode::kRows));
  const bool one_each = tiles <= ClustersAtOnce(c["split"], d.sm_count);
  if (!two_fit || !one_each) return c;
  std::vector<abi::Parameter> list(c.begin(), c.end());
  std::ranges::find(list, "room", &abi::Parameter::name)->value = room;
  return Parameters(std::move(list));
}

// The cuts with which two blocks fit a multiprocessor, and one.
void AddCuts(const Problem& p, int64_t split, int64_t warps, const DeviceSpec& d,
             std::vector<abi::Candidate>& all) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const int64_t tile = TileOfKeys(p, s);
  if (split > 1 && split / 2 * warps * Decode::kRows >= s.keys) return;  // blocks without keys
  const bool between = (warps & (warps - 1)) != 0;
  if (between && CeilDiv(s.keys, tile * split * warps) > kFewTurns) return;
  std::optional<Parameters> last;
  for (int64_t blocks : {2, 1}) {
    const std::optional<Parameters> c = SharedBy(s, tile, split, warps, blocks, d);
    if (!c || c == last || !Decode::Refuse(p, *c, d).empty()) continue;
    last = c;
    const Parameters spread = Spread(s, *c, d);
    all.push_back(CandidateOf<Decode>(p, spread, DecodeUs(p, spread, d)));
  }
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<AttentionDecodeHost>(const Problem& p,
                                                               const DeviceSpec& d) {
  std::vector<abi::Candidate> all;
  for (int64_t split = 1; split <= std::min(16, d.max_cluster); split *= 2) {
    for (int64_t warps : {4, 8, 2, 5, 6}) AddCuts(p, split, warps, d, all);
  }
  return all;
}

}  // namespace aicf::cuda
