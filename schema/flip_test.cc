// Every bit of small artifacts flipped with the hashes recomputed: what is still accepted
// must be a program whose every access stays inside its buffer, found here by walking all elements.
#include <gtest/gtest.h>

#include "schema/codec.h"
#include "schema/testing.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Where a buffer's bytes are, by following aliases the plain way; false when they are nowhere.
bool Locate(const Program& p, uint32_t buffer, uint64_t* begin, uint64_t* limit) {
  for (size_t hops = 0; hops <= p.buffers.size(); ++hops) {
    const Buffer& b = p.buffers[buffer];
    if (b.storage != Storage::kAlias) {
      *begin = b.offset;
      *limit = b.storage == Storage::kWeights ? p.weights_bytes : p.arena_bytes;
      return true;
    }
    buffer = b.alias_of;
    if (buffer >= p.buffers.size()) return false;
  }
  return false;
}

// True when each element of the view lies in the buffer and the buffer in its memory.
bool StaysInside(const Program& p, uint32_t buffer, const abi::View& v) {
  uint64_t begin = 0, limit = 0;
  if (buffer >= p.buffers.size() || !Locate(p, buffer, &begin, &limit)) return false;
  const unsigned __int128 bytes = p.buffers[buffer].bytes;
  if (begin + bytes > limit) return false;
  std::vector<int64_t> index(v.shape.rank(), 0);
  for (int64_t extent : v.shape) {
    if (extent == 0) return true;
  }
  while (true) {
    __int128 at = v.offset;
    for (int d = 0; d < v.shape.rank(); ++d) at += static_cast<__int128>(index[d]) * v.strides[d];
    const __int128 size = DTypeBytes(v.dtype);
    if (at < 0 || (at + 1) * size > static_cast<__int128>(bytes)) return false;
    int d = 0;
    for (; d < v.shape.rank() && ++index[d] == v.shape[d]; ++d) index[d] = 0;
    if (d == v.shape.rank()) return true;
  }
}

// What a caller's smaller tensors are copied into, and cut from.
bool PaddingsInside(const Program& p) {
  for (const EntryPoint& e : p.entry_points) {
    for (const Padding& padding : e.paddings) {
      __int128 lost = -1;
      for (const PaddedInput& i : padding.inputs) {
        if (i.input >= e.inputs.size()) return false;
        const Dims& shape = p.buffers[e.inputs[i.input]].shape;
        if (i.axis >= static_cast<uint32_t>(shape.rank())) return false;
        lost = static_cast<__int128>(shape[static_cast<int>(i.axis)]) - padding.min;
      }
      if (lost < 0) return false;
      for (const PaddedOutput& o : padding.outputs) {
        if (o.output >= e.outputs.size()) return false;
        const Dims& shape = p.buffers[e.outputs[o.output]].shape;
        if (o.axis >= static_cast<uint32_t>(shape.rank())) return false;
        if (shape[static_cast<int>(o.axis)] - lost * o.factor < 0) return false;
      }
    }
  }
  return true;
}

bool AllInside(const Program& p) {
  if (!PaddingsInside(p)) return false;
  for (const Step& s : p.steps) {
    if (s.inputs.size() != s.problem.inputs.size()) return false;
    if (s.outputs.size() != s.problem.outputs.size()) return false;
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      // A packed operand is read as bytes, all of them.
      const bool packed = s.IsPacked(i);
      if (s.inputs[i] >= p.buffers.size()) return false;
      const Buffer& b = p.buffers[s.inputs[i]];
      const abi::View all = abi::DenseView(DType::kU8, {static_cast<int64_t>(b.bytes)});
      if (!StaysInside(p, s.inputs[i], packed ? all : s.problem.inputs[i])) return false;
    }
    for (size_t i = 0; i < s.outputs.size(); ++i) {
      if (!StaysInside(p, s.outputs[i], s.problem.outputs[i])) return false;
    }
  }
  return true;
}

bool IsTyped(Code code) {
  return code == Code::kBadArtifact || code == Code::kUnsupported || code == Code::kResource;
}

struct Tally {
  int accepted = 0;
  int refused = 0;
};

// Flips every `step`-th bit of `bytes`, lets `load` read the damaged copy, and judges the outcome.
template <class Load>
Tally FlipAll(std::vector<std::byte> bytes, size_t step, Load load) {
  Tally tally;
  for (size_t bit = 0; bit < bytes.size() * 8; bit += step) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    const Result<Program> program = load(bytes);
    if (program.ok()) {
      ++tally.accepted;
      EXPECT_TRUE(AllInside(*program)) << "bit " << bit << "\n" << ToString(*program);
    } else {
      ++tally.refused;
      EXPECT_TRUE(IsTyped(program.status().code())) << bit << ": " << program.status().ToString();
    }
    bytes[bit / 8] ^= mask;
  }
  return tally;
}

Result<Program> LoadResealed(std::vector<std::byte> file) {
  Reseal(file);
  auto artifact = Artifact::Parse(file, true);
  if (!artifact.ok()) return artifact.status();
  EXPECT_TRUE(VerifyProgram((*artifact)->program()).ok());
  return (*artifact)->program();
}

Result<Program> DecodeAndVerify(std::span<const std::byte> bytes) {
  AICF_ASSIGN_OR_RETURN(Program program, DecodeProgram(bytes));
  AICF_RETURN_IF_ERROR(VerifyProgram(program));
  return program;
}

// Every family on both backends, a packed operand, and several entry points with padding: hostile
// problems reach all of these kernels' host functions.
std::vector<Program> LargerPrograms() {
  return {ConcatProgram(), FamiliesProgram(), AttentionProgram(),
          PackedProgram(), EntriesProgram(),  OnDevice(FamiliesProgram())};
}

TEST(FlipTest, EveryBitOfASealedArtifact) {
  const auto file = Serialize(ContentsOf(ChainProgram()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_LT(file->size(), 8192u);
  const Tally tally = FlipAll(*file, 1, LoadResealed);
  // Some bits say nothing a verifier could doubt (a weight, a letter of a name); most do.
  EXPECT_GT(tally.accepted, 100);
  EXPECT_GT(tally.refused, 10000);
}

TEST(FlipTest, BitsOfTheLargerPrograms) {
  for (const Program& p : LargerPrograms()) {
    const auto bytes = EncodeProgram(p);
    ASSERT_TRUE(bytes.ok());
    // Three is prime to eight: over the bytes every position of a bit has its turn.
    const Tally tally = FlipAll(*bytes, bytes->size() < 3000 ? 1 : 3, DecodeAndVerify);
    EXPECT_GT(tally.refused, tally.accepted);
  }
}

// Bytes at extreme values find what single bits do not: huge counts, offsets that wrap.
TEST(FlipTest, EveryWordAtExtremeValues) {
  for (const Program& p : LargerPrograms()) {
    const auto bytes = EncodeProgram(p);
    ASSERT_TRUE(bytes.ok());
    for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      for (size_t at = 0; at + 4 <= bytes->size(); at += 4) {
        std::vector<std::byte> damaged = *bytes;
        std::memcpy(damaged.data() + at, &value, sizeof value);
        const Result<Program> program = DecodeAndVerify(damaged);
        if (program.ok()) {
          EXPECT_TRUE(AllInside(*program)) << at;
        } else {
          EXPECT_TRUE(IsTyped(program.status().code())) << at << program.status().ToString();
        }
      }
    }
  }
}

// The walk itself must be able to find a fault.
TEST(FlipTest, TheWalkFindsAPlantedFault) {
  Program p = ChainProgram();
  ASSERT_TRUE(AllInside(p));
  p.steps[0].problem.outputs[0].offset = 1;
  EXPECT_FALSE(AllInside(p));
  p = ChainProgram();
  p.arena_bytes -= 1;
  EXPECT_FALSE(AllInside(p));
}

}  // namespace
}  // namespace aicf::schema
