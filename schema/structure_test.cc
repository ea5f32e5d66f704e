// FlatBuffers built to pass the FlatBuffers verifier and still be wrong, or to make it work for
// ever.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "schema/codec.h"
#include "schema/format.h"
#include "schema/testing_structure.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

void ExpectBadArtifact(const Status& status, std::string_view sentence) {
  EXPECT_EQ(status.code(), Code::kBadArtifact) << status.ToString();
  EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
}

bool PassesTheVerifier(const std::vector<std::byte>& bytes) {
  flatbuffers::Verifier v(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return fb::VerifyProgramBuffer(v);
}

TEST(StructureTest, E1BuffersAboveTheLimitNeverReachTheVerifier) {
  const size_t size = (size_t{2} << 30) + 64;
  void* region =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  ExpectBadArtifact(DecodeProgram({static_cast<const std::byte*>(region), size}).status(), "limit");
  ::munmap(region, size);
}

TEST(StructureTest, E2MisalignedVectorsAreRefused) {
  Editable e;
  const fb::View* view = e.root().steps()->Get(0)->problem()->inputs()->Get(0);
  const auto raw = VectorOf<int64_t>({4, 5});
  const size_t aligned = e.Append(raw, 4);  // length at 4 mod 8: elements at 0 mod 8
  e.Point(e.FieldAt(view, fb::View::VT_SHAPE), aligned);
  ASSERT_TRUE(e.Decode().ok()) << e.Decode().ToString();
  const size_t misaligned = e.Append(raw, 0);
  e.Point(e.FieldAt(view, fb::View::VT_SHAPE), misaligned);
  EXPECT_TRUE(PassesTheVerifier(e.bytes())) << "then this check of ours is no longer needed";
  ExpectBadArtifact(e.Decode(), "misaligned");
}

TEST(StructureTest, E4ASizePrefixIsNotAccepted) {
  const auto plain = *EncodeProgram(AddProgram());
  std::vector<std::byte> prefixed(4);
  const uint32_t lie = 8;
  std::memcpy(prefixed.data(), &lie, sizeof lie);
  prefixed.insert(prefixed.end(), plain.begin(), plain.end());
  ExpectBadArtifact(DecodeProgram(prefixed).status(), "well-formed");
}

TEST(StructureTest, E5EveryEnumerationIsChecked) {
  const struct {
    std::string_view sentence;
    size_t (*find)(const Editable&);
  } kFields[] = {
      {"unknown dtype 250",
       [](const Editable& e) {
         // The first field at its default is not stored: a buffer of i64 has one.
         return e.FieldAt(e.root().buffers()->Get(3), fb::Buffer::VT_DTYPE);
       }},
      {"unknown role 250",
       [](const Editable& e) {
         return e.FieldAt(e.root().buffers()->Get(1), fb::Buffer::VT_ROLE);
       }},
      {"unknown storage 250",
       [](const Editable& e) {
         return e.FieldAt(e.root().buffers()->Get(1), fb::Buffer::VT_STORAGE);
       }},
      {"unknown step family 250",
       [](const Editable& e) {
         return e.FieldAt(e.root().steps()->Get(0)->problem(), fb::Problem::VT_FAMILY);
       }},
      {"unknown math mode 250",
       [](const Editable& e) { return e.FieldAt(&e.root(), fb::Program::VT_MATH); }},
      {"unknown math mode 250",
       [](const Editable& e) {
         return e.FieldAt(e.root().steps()->Get(0)->problem(), fb::Problem::VT_MATH);
       }},
      {"unknown dtype 250",
       [](const Editable& e) {
         return e.FieldAt(e.root().steps()->Get(8)->problem()->inputs()->Get(1),
                          fb::View::VT_DTYPE);
       }},
      {"unknown expression operator 250",
       [](const Editable& e) {
         return e.PositionOf(e.root().steps()->Get(3)->problem()->epilogue()->nodes()->Get(0)) + 14;
       }},
      {"unknown dtype 250",
       [](const Editable& e) {
         return e.PositionOf(e.root().steps()->Get(3)->problem()->epilogue()->nodes()->Get(0)) + 15;
       }},
  };
  Program p = FamiliesProgram();
  p.math = abi::MathMode::kTf32;
  p.steps[0].problem.math = abi::MathMode::kTf32;
  for (const auto& field : kFields) {
    SCOPED_TRACE(field.sentence);
    Editable e(p);
    ASSERT_TRUE(e.Decode().ok());
    const size_t at = field.find(e);
    ASSERT_NE(at, 0u);
    e.Put(at, uint8_t{250});
    EXPECT_TRUE(PassesTheVerifier(e.bytes()));
    ExpectBadArtifact(e.Decode(), field.sentence);
  }
}

TEST(StructureTest, E5AttributesAreChecked) {
  Editable e(FamiliesProgram());
  // The pooling step's attributes start with its kind.
  const auto* ints = e.root().steps()->Get(1)->problem()->attr_ints();
  e.Put(e.PositionOf(ints->Data()), int64_t{3});
  ExpectBadArtifact(e.Decode(), "pool step: attribute 'kind'");
}

TEST(StructureTest, E7RequiredFieldsMustBePresent) {
  const Program p = FamiliesProgram();
  const size_t required[] = {fb::Program::VT_TARGET, fb::Program::VT_BUFFERS, fb::Program::VT_STEPS,
                             fb::Program::VT_IMAGES, fb::Program::VT_ENTRY_POINTS};
  for (const size_t field : required) {
    Editable e(p);
    const size_t table = e.PositionOf(&e.root());
    const size_t vtable = table - e.Get<int32_t>(table);
    e.Put(vtable + field, uint16_t{0});
    ExpectBadArtifact(e.Decode(), "well-formed");
  }
}

TEST(StructureTest, E8TableCountsAreBounded) {
  Editable e;
  // A list of many offsets to one empty view after it: each visit is another table.
  const fb::Problem* problem = e.root().steps()->Get(0)->problem();
  const size_t list_field = e.FieldAt(problem, fb::Problem::VT_INPUTS);
  constexpr uint32_t kMany = 200000;
  const size_t list = e.Append(VectorOf(std::vector<uint32_t>(kMany)), 4);
  // Sizes of vtable and table, then dtype and offset absent, shape at 4, strides at 8.
  const size_t table = AppendTable(e, {12, 12, 0, 0, 4, 8}, 12);
  const size_t empty = e.Append(VectorOf(std::vector<int64_t>()), 4);
  e.Point(table + 4, empty);
  e.Point(table + 8, empty);
  for (uint32_t i = 0; i < kMany; ++i) e.Point(list + 4 + 4 * i, table);
  e.Point(list_field, list);
  EXPECT_TRUE(PassesTheVerifier(e.bytes()));
  ExpectBadArtifact(e.Decode(), "well-formed");
}

TEST(StructureTest, E9SharedObjectsDoNotMultiply) {
  Editable e;
  const size_t field = e.FieldAt(e.root().steps()->Get(0), fb::Step::VT_SOURCES);
  // 2,000 source names that are one table of 60,000 bytes after the list: 120 MB from 70 KB.
  constexpr uint32_t kMany = 2000;
  const size_t list = e.Append(VectorOf(std::vector<uint32_t>(kMany)), 4);
  const std::string long_name(60000, 'a');
  std::vector<char> characters(long_name.begin(), long_name.end());
  characters.push_back('\0');
  auto text = VectorOf(characters);
  const uint32_t length = 60000;
  std::memcpy(text.data(), &length, sizeof length);
  const size_t table_at = AppendTable(e, {6, 8, 4}, 8);  // its one field at 4
  const size_t text_at = e.Append(text, 4);
  e.Point(table_at + 4, text_at);
  for (uint32_t i = 0; i < kMany; ++i) e.Point(list + 4 + 4 * i, table_at);
  e.Point(field, list);
  EXPECT_TRUE(PassesTheVerifier(e.bytes()));
  ExpectBadArtifact(e.Decode(), "shared");
}

TEST(StructureTest, E11StringsAreText) {
  Program p = AddProgram();
  const struct {
    std::string text;
    std::string_view sentence;
  } kRefused[] = {
      {std::string("a\0b", 3), "NUL"},
      {"\xff", "not UTF-8"},
      {"\xed\xa0\x80", "not UTF-8"},
      {std::string(kMaxStringBytes + 1, 'a'), "limit"},
  };
  for (const auto& bad : kRefused) {
    for (std::string* field :
         {&p.target, &p.buffers[0].name, &p.steps[0].kernel, &p.steps[0].sources[0],
          &p.steps[0].symbol, &p.entry_points[0].name}) {
      const std::string kept = std::exchange(*field, bad.text);
      ExpectBadArtifact(DecodeProgram(*EncodeProgram(p)).status(), bad.sentence);
      *field = kept;
    }
  }
  p.buffers[0].name = std::string(kMaxStringBytes, 'a');
  EXPECT_TRUE(DecodeProgram(*EncodeProgram(p)).ok());
}

TEST(StructureTest, E12RootsAndVtablesThatLeadAnywhere) {
  const Program p = ChainProgram();
  Editable probe(p);
  const size_t table = probe.PositionOf(&probe.root());
  int accepted = 0;
  for (int32_t target = -16; target < static_cast<int32_t>(probe.bytes().size()) + 16;
       target += 2) {
    Editable e(p);
    e.Put(table, static_cast<int32_t>(table) - target);
    const auto program = DecodeProgram(e.bytes());
    accepted += program.ok() && VerifyProgram(*program).ok();
    if (program.ok() && VerifyProgram(*program).ok()) {
      EXPECT_EQ(ToString(*program), ToString(p)) << target;
    }
  }
  EXPECT_GE(accepted, 1);  // the right vtable is among the targets
  for (uint32_t target = 0; target < probe.bytes().size() + 16; ++target) {
    Editable e(p);
    e.Put(0, target);
    EXPECT_EQ(e.Decode().ok(), target == table) << target;
  }
}

TEST(StructureTest, WrongIdentifiersAreRefused) {
  Editable e;
  e.Put(4, uint8_t{'a'});
  ExpectBadArtifact(e.Decode(), "well-formed");
}

TEST(StructureTest, RanksAreBounded) {
  Editable e;
  const fb::View* view = e.root().steps()->Get(0)->problem()->inputs()->Get(0);
  const size_t field = e.FieldAt(view, fb::View::VT_STRIDES);
  e.Point(field, e.Append(VectorOf(std::vector<int64_t>(9, 1)), 4));
  ExpectBadArtifact(e.Decode(), "rank 9, limit 8");
}

}  // namespace
}  // namespace aicf::schema
