// Program <-> bytes and Program <-> text, over programs of every family.
#include "schema/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "schema/attr_codec.h"
#include "schema/testing.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

std::vector<Program> ValidPrograms() {
  return {AddProgram(),      ChainProgram(),     ConcatProgram(),
          FamiliesProgram(), AttentionProgram(), PackedProgram()};
}

// Every field at a value that is not its default; it need not verify.
Program OddProgram() {
  Program p = FamiliesProgram();
  p.target = "cuda:sm_90a";
  p.math = abi::MathMode::kBf16;
  p.arena_lower_bound = 7;
  p.buffers[0].name = "n\"a\\me\n\u00e9";
  p.buffers[1].role = Role::kState;
  p.buffers[1].storage = Storage::kState;
  p.state_bytes = 4096;
  p.buffers[2].role = Role::kMeta;
  p.buffers[3].shape = {0, 5};
  p.buffers[3].origin = {"a \"layout\"", {~0ull, 5}};
  Step& s = p.steps[0];
  s.sources = {"a", "", "c d"};
  s.problem.math = abi::MathMode::kTf32;
  s.packed_inputs = 0x80000001u;
  s.workspace_offset = 512;
  s.workspace_bytes = 1024;
  s.launch = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10};
  s.image = 1;
  s.symbol = "aicf_symbol";
  s.algorithm = {0, 1, 254, 255};
  s.library_version = std::numeric_limits<uint64_t>::max();
  s.problem.inputs[0].strides = {-1, 0, 4, 1};
  s.problem.inputs[0].offset = -3;
  p.images = {{"sm_90a", "nvrtc 13.0", {1, 2}, 64, 100}, {"sm_80", "", {~0ull, 3}, 0, 0}};
  p.entry_points.push_back({"second", {1, 2}, {}, 3, 4});
  p.entry_points[1].metas = {5, 6};
  return p;
}

TEST(CodecTest, RoundTripsBytes) {
  std::vector<Program> programs = ValidPrograms();
  programs.push_back(OddProgram());
  for (const Program& p : programs) {
    const auto bytes = EncodeProgram(p);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto back = DecodeProgram(*bytes);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(ToString(p), ToString(*back));
    EXPECT_EQ(*bytes, *EncodeProgram(*back));
  }
}

TEST(CodecTest, RoundTripsText) {
  std::vector<Program> programs = ValidPrograms();
  programs.push_back(OddProgram());
  for (const Program& p : programs) {
    const std::string text = ToString(p);
    const auto back = ParseProgram(text);
    ASSERT_TRUE(back.ok()) << back.status().ToString() << "\n" << text;
    EXPECT_EQ(text, ToString(*back));
    EXPECT_EQ(*EncodeProgram(p), *EncodeProgram(*back)) << text;
  }
}

TEST(CodecTest, TextNamesTheLineOfAnError) {
  const std::string text = ToString(AddProgram());
  const struct {
    std::string_view from, to, expected;
  } kEdits[] = {
      {"program", "programme", "line 1"},
      {"math=fp32", "math=fp3", "math mode"},
      {"f32 2x3 input", "f33 2x3 input", "a dtype"},
      {"input arena", "inptu arena", "a role"},
      {"arena+0", "arens+0", "'arena'"},
      {"buffer %1", "buffer %7", "buffer %1"},
      {"entry", "entrance", "expected"},
      {"steps 0 1", "steps 0 4294967296", "a smaller integer"},
      {"step \"", "stepp \"", "'\"'"},
  };
  for (const auto& edit : kEdits) {
    std::string broken = text;
    const size_t at = broken.find(edit.from);
    ASSERT_NE(at, std::string::npos) << edit.from;
    broken.replace(at, edit.from.size(), edit.to);
    const auto parsed = ParseProgram(broken);
    ASSERT_FALSE(parsed.ok()) << edit.from;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find(edit.expected), std::string::npos)
        << parsed.status().message();
  }
}

TEST(CodecTest, TruncatedTextIsRefused) {
  const std::string text = ToString(ChainProgram());
  const size_t last_line = text.rfind("entry");
  for (size_t n = 0; n + 1 < text.size(); ++n) {
    const auto parsed = ParseProgram(std::string_view(text).substr(0, n));
    // A cut between two items, or inside a number, leaves text of another program; the last line
    // ends in a bracket, so no cut of it parses.
    if (n > last_line) {
      EXPECT_FALSE(parsed.ok()) << n;
    }
    if (parsed.ok()) {
      EXPECT_NE(ToString(*parsed), text);
    }
  }
}

TEST(CodecTest, AttributesRoundTripAndAreChecked) {
  abi::ResizeAttrs a;
  a.mode = abi::ResizeMode::kCubic;
  a.exclude_outside = true;
  a.scales = {1, 2.5, -0.0};
  AttrWriter w;
  a.Visit(w);
  abi::ResizeAttrs b;
  AttrReader r(w.ints, w.reals);
  b.Visit(r);
  EXPECT_TRUE(r.Finished());
  EXPECT_EQ(b.scales, a.scales);
  EXPECT_TRUE(std::signbit(b.scales[2]));
  EXPECT_EQ(b.mode, a.mode);
  EXPECT_TRUE(b.exclude_outside);
  // Every integer out of its range, and every list one short or one long.
  for (size_t i = 0; i < w.ints.size(); ++i) {
    for (const int64_t bad : {int64_t{-1}, int64_t{1} << 40, std::numeric_limits<int64_t>::min()}) {
      AttrWriter broken = w;
      broken.ints[i] = bad;
      abi::ResizeAttrs c;
      AttrReader reader(broken.ints, broken.reals);
      c.Visit(reader);
      EXPECT_FALSE(reader.Finished()) << i << " " << bad;
    }
  }
  const std::span<const int64_t> ints(w.ints);
  const std::span<const double> reals(w.reals);
  for (size_t i = 0; i < ints.size(); ++i) {
    AttrReader reader(ints.first(i), reals);
    abi::ResizeAttrs c;
    c.Visit(reader);
    EXPECT_FALSE(reader.Finished());
  }
  for (size_t i = 0; i < reals.size(); ++i) {
    AttrReader reader(ints, reals.first(i));
    abi::ResizeAttrs c;
    c.Visit(reader);
    EXPECT_FALSE(reader.Finished());
  }
  std::vector<int64_t> longer = w.ints;
  longer.push_back(0);
  AttrReader reader(longer, reals);
  abi::ResizeAttrs c;
  c.Visit(reader);
  EXPECT_FALSE(reader.Finished());
}

TEST(CodecTest, AnAddedAttributeIsStoredOnlyWhereItSaysSomethingNew) {
  const auto stored = [](int64_t halves) {
    abi::GemmAttrs a;
    a.halves = halves;
    AttrWriter w;
    a.Visit(w);
    return w.ints;
  };
  EXPECT_EQ(stored(1), std::vector<int64_t>{});
  EXPECT_EQ(stored(2), std::vector<int64_t>{2});
  const auto read = [](std::vector<int64_t> ints, abi::GemmAttrs& a) {
    AttrReader reader(ints, {});
    a.Visit(reader);
    return reader.Finished();
  };
  abi::GemmAttrs a;
  EXPECT_TRUE(read({2}, a));
  EXPECT_EQ(a.halves, 2);
  abi::GemmAttrs before;
  EXPECT_TRUE(read({}, before));
  EXPECT_EQ(before.halves, 1);
  EXPECT_FALSE(read({1}, a)) << "a step has one form";
  EXPECT_FALSE(read({2, 0}, a)) << "a step has one form";
}

// What comes before the last added integer that says something is stored with it.
TEST(CodecTest, AddedIntegersAreLeftOutFromTheEnd) {
  const auto stored = [](int64_t halves, int64_t terms, int64_t columns) {
    abi::GemmAttrs a;
    a.halves = halves;
    a.scale_terms = terms;
    a.scale_columns = columns;
    AttrWriter w;
    a.Visit(w);
    return w.ints;
  };
  EXPECT_EQ(stored(1, 0, 1), std::vector<int64_t>{});
  EXPECT_EQ(stored(1, 128, 1), (std::vector<int64_t>{1, 128}));
  EXPECT_EQ(stored(2, 128, 64), (std::vector<int64_t>{2, 128, 64}));
  EXPECT_EQ(stored(1, 0, 64), (std::vector<int64_t>{1, 0, 64}));
  const auto read = [](std::vector<int64_t> ints, abi::GemmAttrs& a) {
    AttrReader reader(ints, {});
    a.Visit(reader);
    return reader.Finished();
  };
  abi::GemmAttrs a;
  EXPECT_TRUE(read({1, 128}, a));
  EXPECT_EQ(a.halves, 1);
  EXPECT_EQ(a.scale_terms, 128);
  EXPECT_EQ(a.scale_columns, 1);
  abi::GemmAttrs all;
  EXPECT_TRUE(read({2, 128, 64}, all));
  EXPECT_EQ(all.halves, 2);
  EXPECT_EQ(all.scale_columns, 64);
  abi::GemmAttrs other;
  EXPECT_FALSE(read({2, 0}, other)) << "a step has one form";
  EXPECT_FALSE(read({1, 128, 1}, other)) << "a step has one form";
  EXPECT_TRUE(read({1, 0, 1, 0, 0, 64}, other));
  EXPECT_EQ(other.part_columns, 64);
  EXPECT_FALSE(read({1, 128, 64, 1, 64, 64, 1}, other)) << "there is no such number";
}

TEST(CodecTest, AnAddedNumberIsStoredOnlyWhereItIsOne) {
  const auto stored = [](double epsilon) {
    abi::GemmAttrs a;
    a.rms_epsilon = epsilon;
    AttrWriter w;
    a.Visit(w);
    return w.reals;
  };
  EXPECT_EQ(stored(abi::AddedReal::kAbsent), std::vector<double>{});
  EXPECT_EQ(stored(0), std::vector<double>{0});
  const auto read = [](std::vector<double> reals, abi::GemmAttrs& a) {
    AttrReader reader({}, reals);
    a.Visit(reader);
    return reader.Finished();
  };
  abi::GemmAttrs a;
  EXPECT_TRUE(read({0.5}, a));
  EXPECT_EQ(a.rms_epsilon, 0.5);
  abi::GemmAttrs before;
  EXPECT_TRUE(read({}, before));
  EXPECT_FALSE(before.rms_epsilon.stored());
  EXPECT_FALSE(read({-1}, a)) << "a step has one form";
  EXPECT_FALSE(read({-2, 0.5}, a)) << "a step has one form";
  EXPECT_FALSE(read({std::nan("")}, a));
  EXPECT_FALSE(read({0.5, 0.5, 0.5}, a));
}

TEST(CodecTest, AddedNumbersAreLeftOutFromTheEnd) {
  abi::GemmAttrs a;
  a.moments_epsilon = 0.25;
  AttrWriter w;
  a.Visit(w);
  EXPECT_EQ(w.reals, (std::vector<double>{abi::AddedReal::kAbsent, 0.25}));
  abi::GemmAttrs back;
  AttrReader reader({}, w.reals);
  back.Visit(reader);
  EXPECT_TRUE(reader.Finished());
  EXPECT_FALSE(back.rms_epsilon.stored());
  EXPECT_EQ(back.moments_epsilon, 0.25);
}

TEST(CodecTest, DecodesAtEveryAlignment) {
  const auto bytes = EncodeProgram(ChainProgram());
  ASSERT_TRUE(bytes.ok());
  std::vector<std::byte> room(bytes->size() + 64);
  for (size_t shift = 0; shift < 64; ++shift) {
    std::memcpy(room.data() + shift, bytes->data(), bytes->size());
    const auto back = DecodeProgram(std::span(room).subspan(shift, bytes->size()));
    ASSERT_TRUE(back.ok()) << shift << ": " << back.status().ToString();
  }
}

TEST(CodecTest, RandomBytesAreRefused) {
  std::mt19937 rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(rng() % 200);
    for (std::byte& b : bytes) b = static_cast<std::byte>(rng() % 256);
    if (bytes.size() >= 8) std::memcpy(bytes.data() + 4, "AICP", 4);
    const auto decoded = DecodeProgram(bytes);
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.status().code(), Code::kBadArtifact);
  }
}

}  // namespace
}  // namespace aicf::schema
