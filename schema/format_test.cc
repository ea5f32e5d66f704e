// Header, section table, placement, hashes, truncation.
#include "schema/format.h"

#include <gtest/gtest.h>

#include <functional>

#include "schema/testing.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

std::vector<std::byte> SmallFile() {
  auto file = Serialize(ContentsOf(ChainProgram()));
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return *file;
}

Status StatusOf(std::span<const std::byte> file, bool with_optional = true) {
  return Artifact::Parse(file, with_optional).status();
}

void ExpectFileRefused(std::span<const std::byte> file, Code code, std::string_view sentence) {
  const Status status = StatusOf(file);
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
}

// Edits the raw header and table, then reseals.
using Edit = std::function<void(RawHeader&, RawSection*)>;
std::vector<std::byte> Edited(std::vector<std::byte> file, const Edit& edit) {
  RawHeader h;
  std::memcpy(&h, file.data(), sizeof h);
  std::vector<RawSection> table(h.section_count);
  std::memcpy(table.data(), file.data() + sizeof h, table.size() * sizeof(RawSection));
  edit(h, table.data());
  std::memcpy(file.data(), &h, sizeof h);
  std::memcpy(file.data() + sizeof h, table.data(), table.size() * sizeof(RawSection));
  Reseal(file);
  return file;
}

TEST(FormatTest, EqualContentsGiveEqualBytes) { EXPECT_EQ(SmallFile(), SmallFile()); }

TEST(FormatTest, ReadsBackWhatWasWritten) {
  const Contents c = ContentsOf(FamiliesProgram());
  const auto file = Serialize(c);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto artifact = Artifact::Parse(*file, true);
  ASSERT_TRUE(artifact.ok()) << artifact.status().ToString();
  const Artifact& a = **artifact;
  EXPECT_EQ(ToString(a.program()), ToString(c.program));
  EXPECT_TRUE(
      std::equal(a.weights().begin(), a.weights().end(), c.weights.begin(), c.weights.end()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.weights().data()) % 4096, 0u);
  EXPECT_EQ(a.text(SectionKind::kDecisions), c.decisions);
  EXPECT_EQ(a.text(SectionKind::kLowered), c.lowered);
  EXPECT_EQ(a.text(SectionKind::kProvenance), c.provenance);
  EXPECT_TRUE(a.images().empty());
  EXPECT_TRUE(a.bytes(SectionKind::kGolden).empty());
  EXPECT_EQ(a.header().peak_device_bytes, c.program.arena_bytes + c.program.weights_bytes);
  for (const HeaderInfo::Section& s : a.header().sections) {
    EXPECT_EQ(s.offset % SectionAlignment(s.kind), 0u);
  }
}

TEST(FormatTest, ResealingAnIntactFileChangesNothing) {
  auto file = SmallFile();
  const auto before = file;
  Reseal(file);
  EXPECT_EQ(file, before);
}

TEST(FormatTest, OptionalSectionsAreKeptOnlyOnRequestAndAlwaysHashed) {
  auto file = SmallFile();
  const auto lean = Artifact::Parse(file, false);
  ASSERT_TRUE(lean.ok());
  EXPECT_TRUE((*lean)->text(SectionKind::kDecisions).empty());
  EXPECT_FALSE((*lean)->text(SectionKind::kProvenance).empty());
  const auto full = Artifact::Parse(file, true);
  ASSERT_TRUE(full.ok());
  for (const HeaderInfo::Section& s : (*full)->header().sections) {
    if (s.kind == SectionKind::kDecisions) file[s.offset] ^= std::byte{1};
  }
  ExpectFileRefused(file, Code::kBadArtifact, "decisions section: hash mismatch");
  EXPECT_EQ(StatusOf(file, false).ToString(), StatusOf(file, true).ToString());
}

TEST(FormatTest, TruncationAtEveryByteIsRefused) {
  const auto file = SmallFile();
  for (size_t n = 0; n < file.size(); ++n) {
    const Status status = StatusOf(std::span(file).first(n));
    ASSERT_EQ(status.code(), Code::kBadArtifact) << n << ": " << status.ToString();
  }
}

TEST(FormatTest, ExtraBytesAreRefused) {
  auto file = SmallFile();
  file.push_back(std::byte{});
  ExpectFileRefused(file, Code::kBadArtifact, "the header says");
}

TEST(FormatTest, EveryFlippedBitIsRefused) {
  Contents contents = ContentsOf(ChainProgram());
  contents.lowered_weights.assign(64, std::byte{7});
  const auto sealed = Serialize(contents);
  ASSERT_TRUE(sealed.ok()) << sealed.status().ToString();
  auto file = *sealed;
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    file[bit / 8] ^= mask;
    // As a tool reads it, and as the runtime does.
    for (const bool with_optional : {true, false}) {
      const Code code = StatusOf(file, with_optional).code();
      ASSERT_TRUE(code == Code::kBadArtifact || code == Code::kUnsupported)
          << "bit " << bit << ": " << CodeName(code);
    }
    file[bit / 8] ^= mask;
  }
  EXPECT_TRUE(StatusOf(file).ok());
}

TEST(FormatTest, HeaderFaults) {
  const auto file = SmallFile();
  const auto size = file.size();
  const struct {
    std::string_view name;
    Edit edit;
    Code code;
    std::string_view sentence;
  } kFaults[] = {
      {"magic", [](RawHeader& h, RawSection*) { h.magic[0] = 'a'; }, Code::kBadArtifact,
       "not an aicf artifact"},
      {"newline translation", [](RawHeader& h, RawSection*) { h.magic[4] = '\n'; },
       Code::kBadArtifact, "not an aicf artifact"},
      {"newer major", [](RawHeader& h, RawSection*) { h.major = 2; }, Code::kUnsupported,
       "format version 2.0"},
      {"older major", [](RawHeader& h, RawSection*) { h.major = 0; }, Code::kUnsupported,
       "format version 0.0"},
      {"feature bit", [](RawHeader& h, RawSection*) { h.required_features = 1ull << 63; },
       Code::kUnsupported, "requires features"},
      {"kernel contract", [](RawHeader& h, RawSection*) { h.kernel_abi += 1; }, Code::kUnsupported,
       "kernel contract version"},
      {"reserved", [](RawHeader& h, RawSection*) { h.reserved = 1; }, Code::kBadArtifact,
       "reserved"},
      {"no sections", [](RawHeader& h, RawSection*) { h.section_count = 0; }, Code::kBadArtifact,
       "0 sections"},
      {"many sections", [](RawHeader& h, RawSection*) { h.section_count = 65; }, Code::kBadArtifact,
       "65 sections"},
      {"one section less", [](RawHeader& h, RawSection*) { h.section_count -= 1; },
       Code::kBadArtifact, "is at"},
      {"file size", [](RawHeader& h, RawSection*) { h.file_bytes += 1; }, Code::kBadArtifact,
       "the header says"},
      {"peak memory", [](RawHeader& h, RawSection*) { h.peak_device_bytes += 1; },
       Code::kBadArtifact, "peak device memory"},
      {"unknown kind", [](RawHeader& h, RawSection* s) { s[h.section_count - 1].kind = 11; },
       Code::kBadArtifact, "unknown section 11"},
      {"kind zero", [](RawHeader&, RawSection* s) { s[0].kind = 0; }, Code::kBadArtifact,
       "unknown section 0"},
      {"program missing",
       [](RawHeader&, RawSection* s) {
         s[0].kind = 2;
         s[1].kind = 3;
       },
       Code::kBadArtifact, "section 2 is at"},
      {"order", [](RawHeader&, RawSection* s) { std::swap(s[1], s[2]); }, Code::kBadArtifact,
       "section 4 is at"},
      {"repeated", [](RawHeader&, RawSection* s) { s[1].kind = 1; }, Code::kBadArtifact,
       "section 1 is out of order"},
      {"overlap of the header", [](RawHeader&, RawSection* s) { s[0].offset = 0; },
       Code::kBadArtifact, "section 1 is at 0"},
      {"gap", [](RawHeader&, RawSection* s) { s[1].offset += 4096; }, Code::kBadArtifact,
       "section 2 is at"},
      {"misaligned", [](RawHeader&, RawSection* s) { s[1].offset += 1; }, Code::kBadArtifact,
       "section 2 is at"},
      {"empty", [](RawHeader&, RawSection* s) { s[1].bytes = 0; }, Code::kBadArtifact,
       "section 2 is empty"},
      {"length wraps", [](RawHeader&, RawSection* s) { s[1].bytes = ~0ull; }, Code::kBadArtifact,
       "leaves the file"},
      {"program too large", [](RawHeader&, RawSection* s) { s[0].bytes = 2ull << 30; },
       Code::kBadArtifact, "leaves the file"},
      {"shorter last", [](RawHeader& h, RawSection* s) { s[h.section_count - 1].bytes -= 1; },
       Code::kBadArtifact, "the last section ends at"},
      {"section reserved", [](RawHeader&, RawSection* s) { s[1].reserved = 1; }, Code::kBadArtifact,
       "reserved"},
  };
  for (const auto& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    const auto edited = Edited(file, fault.edit);
    ASSERT_EQ(edited.size(), size);
    ExpectFileRefused(edited, fault.code, fault.sentence);
  }
}

TEST(FormatTest, FilesAboveTheLimitAreRefused) {
  HeaderInfo info{kFormatMajor, kFormatMinor, 0, 0, {}};
  info.sections.push_back({SectionKind::kProgram, 0, 100, {}});
  info.sections.push_back({SectionKind::kWeights, 0, kMaxFileBytes, {}});
  EXPECT_EQ(PlaceSections(info).code(), Code::kResource);
  info.sections[1].bytes = ~uint64_t{0};
  EXPECT_EQ(PlaceSections(info).code(), Code::kResource);
  info.file_bytes = kMaxFileBytes + 1;
  EXPECT_EQ(ParseHeader(BuildHeader(info), info.file_bytes).status().code(), Code::kResource);
  info.sections.resize(1);
  info.sections[0] = {SectionKind::kProgram, 0, kMaxProgramBytes + 1, {}};
  ASSERT_TRUE(PlaceSections(info).ok());
  const Status status = ParseHeader(BuildHeader(info), info.file_bytes).status();
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("the program has"), std::string::npos) << status.ToString();
}

TEST(FormatTest, TheProgramComesFirst) {
  HeaderInfo info{kFormatMajor, kFormatMinor, 0, 0, {}};
  info.sections.push_back({SectionKind::kWeights, 0, 100, {}});
  ASSERT_TRUE(PlaceSections(info).ok());
  const Status status = ParseHeader(BuildHeader(info), info.file_bytes).status();
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("is not the program"), std::string::npos) << status.ToString();
}

TEST(FormatTest, AProductOfTwoHalvesIsAFeature) {
  const auto file_of = [](int64_t halves) {
    ProgramBuilder b;
    abi::GemmAttrs attrs;
    attrs.halves = halves;
    abi::Problem gemm = Core(abi::Family::kGemm, attrs, 2);
    gemm.inputs = {abi::DenseView(DType::kF32, {5, 4}),
                   abi::DenseView(DType::kF32, {4, 3 * halves})};
    gemm.outputs = {abi::DenseView(DType::kF32, {5, 3})};
    abi::ExprBuilder e;
    const uint16_t last = e.Input(static_cast<int>(halves) - 1, DType::kF32);
    gemm.epilogue = e.Finish({e.Binary(abi::ExprOp::kMul, e.Input(0, DType::kF32), last)});
    const uint32_t x = b.Input("x", {5, 4}), w = b.Input("w", {4, 3 * halves});
    b.AddStep(gemm, {x, w}, {b.Output("y", {5, 3})});
    return Serialize(ContentsOf(b.Finish()));
  };
  for (const int64_t halves : {1, 2}) {
    const auto file = file_of(halves);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    const auto read = Artifact::Parse(*file, true);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ((*read)->header().required_features,
              kFeatureRecords | (halves == 2 ? kFeatureHalves : 0));
    EXPECT_EQ((*read)->program().steps[0].problem.as<abi::GemmAttrs>().halves, halves);
  }
}

TEST(FormatTest, AProductThatNormalisesRowsIsAFeature) {
  ProgramBuilder b;
  abi::GemmAttrs attrs;
  attrs.rms_epsilon = 1e-5;
  abi::Problem gemm = Core(abi::Family::kGemm, attrs, 3);
  gemm.inputs = {abi::DenseView(DType::kF32, {5, 4}), abi::DenseView(DType::kF32, {4, 3}),
                 abi::DenseView(DType::kF32, {5, 4})};
  gemm.outputs = {abi::DenseView(DType::kF32, {5, 3})};
  const uint32_t x = b.Input("x", {5, 4}), w = b.Input("w", {4, 3}), g = b.Input("g", {5, 4});
  b.AddStep(gemm, {x, w, g}, {b.Output("y", {5, 3})});
  const auto file = Serialize(ContentsOf(b.Finish()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = Artifact::Parse(*file, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureRowNorm);
  EXPECT_EQ((*read)->program().steps[0].problem.as<abi::GemmAttrs>().rms_epsilon, 1e-5);
}

TEST(FormatTest, AProductThatSeesMomentsIsAFeature) {
  ProgramBuilder b;
  abi::GemmAttrs attrs;
  attrs.moments_epsilon = 1e-5;
  abi::Problem gemm = Core(abi::Family::kGemm, attrs, 2);
  gemm.inputs = {abi::DenseView(DType::kF32, {5, 4}), abi::DenseView(DType::kF32, {4, 3})};
  gemm.outputs = {abi::DenseView(DType::kF32, {5, 3})};
  gemm.epilogue = *abi::ParseExpr("(%0 = in 0 : f32; %1 = in 2 : f32; %2 = mul %0 %1 : f32) -> %2");
  const uint32_t x = b.Input("x", {5, 4}), w = b.Input("w", {4, 3});
  b.AddStep(gemm, {x, w}, {b.Output("y", {5, 3})});
  const auto file = Serialize(ContentsOf(b.Finish()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = Artifact::Parse(*file, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureMoments);
  const auto& back = (*read)->program().steps[0].problem.as<abi::GemmAttrs>();
  EXPECT_EQ(back.moments_epsilon, 1e-5);
  EXPECT_FALSE(back.rms_epsilon.stored());
}

TEST(FormatTest, AProductThatStoresMomentsOfPartsIsAFeature) {
  ProgramBuilder b;
  abi::GemmAttrs attrs;
  attrs.part_columns = 3;
  abi::Problem gemm = Core(abi::Family::kGemm, attrs, 2);
  gemm.inputs = {abi::DenseView(DType::kF32, {5, 4}), abi::DenseView(DType::kF32, {4, 3})};
  gemm.outputs = {abi::DenseView(DType::kF32, {5, 3}), abi::DenseView(DType::kF32, {5, 2})};
  const uint32_t x = b.Input("x", {5, 4}), w = b.Input("w", {4, 3});
  b.AddStep(gemm, {x, w}, {b.Output("y", {5, 3}), b.Output("z", {5, 2})});
  const auto file = Serialize(ContentsOf(b.Finish()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = Artifact::Parse(*file, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureParts);
  EXPECT_EQ((*read)->program().steps[0].problem.as<abi::GemmAttrs>().part_columns, 3);
}

TEST(FormatTest, AnAttentionThatAppendsIsAFeature) {
  ProgramBuilder b;
  abi::AttentionAttrs attrs;
  attrs.pages = true;
  attrs.append_pairs = 1;
  const Dims head = {1, 1, 1, 2}, pool = {2, 1, 2, 2}, angle = {1, 1, 1};
  const uint32_t q = b.Input("q", head), k = b.Input("k", head), v = b.Input("v", head);
  const uint32_t keys = b.Input("keys", pool), values = b.Input("values", pool);
  const uint32_t table = b.Input("table", {1, 1}, DType::kI32);
  const uint32_t places = b.Input("places", {1, 1, 2}, DType::kI32);
  const uint32_t cosine = b.Input("cosine", angle), sine = b.Input("sine", angle);
  b.AddStep(Core(abi::Family::kAttention, attrs, 9),
            {q, keys, values, table, k, v, places, cosine, sine},
            {b.Output("y", head), b.Output("next_keys", pool), b.Output("next_values", pool)});
  const auto file = Serialize(ContentsOf(b.Finish()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = Artifact::Parse(*file, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureAppending);
  EXPECT_EQ((*read)->program().steps[0].problem.as<abi::AttentionAttrs>().append_pairs, 1);
  EXPECT_EQ(FeaturesOf(AttentionProgram()), kFeatureRecords) << "attention that appends nothing";
}

TEST(FormatTest, AProductWithScalesOfBlocksIsAFeature) {
  ProgramBuilder b;
  abi::GemmAttrs attrs;
  attrs.scale_terms = 2;
  abi::Problem gemm = Core(abi::Family::kGemm, attrs, 4);
  gemm.inputs = {abi::DenseView(DType::kF32, {5, 4}), abi::DenseView(DType::kF32, {4, 3}),
                 abi::DenseView(DType::kF32, {5, 2}), abi::DenseView(DType::kF32, {2, 3})};
  gemm.outputs = {abi::DenseView(DType::kF32, {5, 3})};
  const uint32_t x = b.Input("x", {5, 4}), w = b.Input("w", {4, 3});
  const uint32_t sx = b.Input("sx", {5, 2}), sw = b.Input("sw", {2, 3});
  b.AddStep(gemm, {x, w, sx, sw}, {b.Output("y", {5, 3})});
  const auto file = Serialize(ContentsOf(b.Finish()));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = Artifact::Parse(*file, true);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureBlockScales);
  EXPECT_EQ((*read)->program().steps[0].problem.as<abi::GemmAttrs>().scale_terms, 2);
}

TEST(FormatTest, SymbolsThatHashNumbersAreAFeature) {
  Program p = OnDevice(ChainProgram());
  EXPECT_EQ(FeaturesOf(p), kFeatureRecords | kFeatureSymbols);
  for (size_t i = 1; i < p.steps.size(); ++i) p.steps[i].symbol = "aicf_cuda_conv_direct_0";
  EXPECT_EQ(FeaturesOf(p), kFeatureRecords | kFeatureSymbols);
  p.steps[0].symbol = "aicf_cuda_conv_direct_0";
  EXPECT_EQ(FeaturesOf(p), kFeatureRecords);
  EXPECT_EQ(FeaturesOf(ChainProgram()), kFeatureRecords);
}

TEST(FormatTest, ANewerMinorVersionIsAccepted) {
  const auto newer = Edited(SmallFile(), [](RawHeader& h, RawSection* s) {
    h.minor = 7;
    s[h.section_count - 1].kind = 1000;  // a section of that version
  });
  EXPECT_TRUE(StatusOf(newer).ok()) << StatusOf(newer).ToString();
  EXPECT_TRUE(StatusOf(newer, false).ok());
}

TEST(FormatTest, SectionHashesBindSectionsToTheHeader) {
  // F25: the header of one artifact with the weights of another.
  Contents other = ContentsOf(ChainProgram());
  for (std::byte& b : other.weights) b ^= std::byte{0xff};
  const auto theirs = Serialize(other);
  ASSERT_TRUE(theirs.ok());
  auto mixed = SmallFile();
  ASSERT_EQ(mixed.size(), theirs->size());
  const auto header = Artifact::Parse(mixed, true);
  ASSERT_TRUE(header.ok());
  const HeaderInfo::Section& weights = (*header)->header().sections[1];
  ASSERT_EQ(weights.kind, SectionKind::kWeights);
  std::copy_n(theirs->begin() + weights.offset, weights.bytes, mixed.begin() + weights.offset);
  ExpectFileRefused(mixed, Code::kBadArtifact, "weights section: hash mismatch");
}

TEST(FormatTest, PaddingMustBeZeroEvenWhenSealed) {
  auto file = SmallFile();
  const auto header = Artifact::Parse(file, true);
  ASSERT_TRUE(header.ok());
  const HeaderInfo::Section& weights = (*header)->header().sections[1];
  file[weights.offset - 1] = std::byte{1};
  Reseal(file);
  ExpectFileRefused(file, Code::kBadArtifact, "padding");
}

TEST(FormatTest, TextSectionsMustBeText) {
  for (const char bad : {'\0', '\xff'}) {
    auto file = SmallFile();
    const auto header = Artifact::Parse(file, true);
    ASSERT_TRUE(header.ok());
    file[(*header)->header().sections.back().offset] = static_cast<std::byte>(bad);
    Reseal(file);
    ExpectFileRefused(file, Code::kBadArtifact, "provenance section: not UTF-8");
  }
}

TEST(FormatTest, SerializeRefusesWhatAReaderWould) {
  Contents bad = ContentsOf(ChainProgram());
  bad.program.buffers[2].offset += 1;
  EXPECT_EQ(Serialize(bad).status().code(), Code::kInternal);
  bad = ContentsOf(ChainProgram());
  bad.weights.pop_back();
  EXPECT_EQ(Serialize(bad).status().code(), Code::kInternal);
  bad = ContentsOf(ChainProgram());
  bad.lowered = "\xc0\x80";
  EXPECT_EQ(Serialize(bad).status().code(), Code::kInternal);
  bad = ContentsOf(ChainProgram());
  bad.images.resize(3);
  EXPECT_EQ(Serialize(bad).status().code(), Code::kInternal);
  bad = ContentsOf(ChainProgram());
  bad.program.steps[0].sources = {std::string("a\0b", 3)};
  EXPECT_EQ(Serialize(bad).status().code(), Code::kInternal);
}

}  // namespace
}  // namespace aicf::schema
