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
  const fb::Buffer* buffer = e.root().buffers()->Get(0);
  const auto raw = VectorOf<int64_t>({4, 5});
  const size_t aligned = e.Append(raw, 4);  // length at 4 mod 8: elements at 0 mod 8
  e.Point(e.FieldAt(buffer, fb::Buffer::VT_SHAPE), aligned);
  ASSERT_TRUE(e.Decode().ok()) << e.Decode().ToString();
  const size_t misaligned = e.Append(raw, 0);
  e.Point(e.FieldAt(buffer, fb::Buffer::VT_SHAPE), misaligned);
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
         return e.PositionOf(e.root().steps()->Get(8)->problem()->operands()->Get(1)) + 8;
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
  // A list of many offsets to one empty buffer after it: each visit is another table.
  const size_t list_field = e.FieldAt(&e.root(), fb::Program::VT_BUFFERS);
  constexpr uint32_t kMany = 200000;
  const size_t list = e.Append(VectorOf(std::vector<uint32_t>(kMany)), 4);
  // Sizes of vtable and table, then name at 4, three fields absent, shape at 8.
  const size_t table = AppendTable(e, {14, 12, 4, 0, 0, 0, 8}, 12);
  e.Point(table + 4, e.Append(VectorOf(std::vector<char>()), 4));
  e.Point(table + 8, e.Append(VectorOf(std::vector<int64_t>()), 4));
  for (uint32_t i = 0; i < kMany; ++i) e.Point(list + 4 + 4 * i, table);
  e.Point(list_field, list);
  EXPECT_TRUE(PassesTheVerifier(e.bytes()));
  ExpectBadArtifact(e.Decode(), "well-formed");
}

TEST(StructureTest, E9SharedObjectsDoNotMultiply) {
  Editable e;
  const size_t field = e.FieldAt(&e.root(), fb::Program::VT_METADATA);
  // 2,000 entries that are one table of 60,000 bytes after the list: 240 MB from 70 KB.
  constexpr uint32_t kMany = 2000;
  const size_t list = e.Append(VectorOf(std::vector<uint32_t>(kMany)), 4);
  const std::string long_name(60000, 'a');
  std::vector<char> characters(long_name.begin(), long_name.end());
  characters.push_back('\0');
  auto text = VectorOf(characters);
  const uint32_t length = 60000;
  std::memcpy(text.data(), &length, sizeof length);
  const size_t table_at = AppendTable(e, {8, 12, 4, 8}, 12);  // key at 4, value at 8
  const size_t text_at = e.Append(text, 4);
  e.Point(table_at + 4, text_at);
  e.Point(table_at + 8, text_at);
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

TEST(StructureTest, CountsAreLimitedBeforeAnythingIsDecoded) {
  Program p = AddProgram();
  p.entry_points.resize(kMaxEntryPoints, p.entry_points[0]);
  EXPECT_TRUE(DecodeProgram(*EncodeProgram(p)).ok());
  p.entry_points.push_back(p.entry_points[0]);
  EXPECT_EQ(DecodeProgram(*EncodeProgram(p)).status().code(), Code::kResource);
}

// Decodes, whatever it means.
Program RecordedProgram() {
  Program p = AddProgram();
  p.steps[0].parameters = {{"tile_m", 64}, {"stages", 2}};
  p.steps[0].tensor_maps = {
      {.operand = 1, .extents = {8}, .strides = {1}, .box = {4}, .steps = {1}}};
  return p;
}

// A step with everything that is stored as records, and its problem.
struct Recorded {
  Recorded() : e(RecordedProgram()), step(e.root().steps()->Get(0)), problem(step->problem()) {}
  Editable e;
  const fb::Step* step;
  const fb::Problem* problem;
};

TEST(StructureTest, RanksAreBounded) {
  Recorded r;
  r.e.Put(r.e.PositionOf(r.problem->operands()->Get(0)) + 9, uint8_t{9});
  ExpectBadArtifact(r.e.Decode(), "rank 9, limit 8");
}

TEST(StructureTest, RecordsHaveTheAxesThatTheySay) {
  const auto rank_of_operand = [](Recorded& r, int more) {
    const fb::Operand* operand = r.problem->operands()->Get(0);
    r.e.Put(r.e.PositionOf(operand) + 9, static_cast<uint8_t>(operand->rank() + more));
  };
  const auto rank_of_map = [](Recorded& r, int more) {
    const fb::Map* map = r.step->maps()->Get(0);
    r.e.Put(r.e.PositionOf(map) + 12, static_cast<uint8_t>(map->rank() + more));
  };
  for (const auto& put : {+rank_of_operand, +rank_of_map}) {
    for (const int more : {-1, 0, 1}) {
      Recorded r;
      put(r, more);
      EXPECT_TRUE(PassesTheVerifier(r.e.bytes()));
      if (more == 0) {
        EXPECT_TRUE(r.e.Decode().ok()) << r.e.Decode().ToString();
      } else {
        ExpectBadArtifact(r.e.Decode(), more < 0 ? "more axes than its records say"
                                                 : "fewer axes than its records say");
      }
    }
  }
}

TEST(StructureTest, OperandsAreInputsAndOutputs) {
  Recorded r;
  r.e.Put(r.e.FieldAt(r.problem, fb::Problem::VT_INPUT_COUNT),
          uint32_t{r.problem->operands()->size() + 1});
  ExpectBadArtifact(r.e.Decode(), "fewer operands than inputs");
}

TEST(StructureTest, NumbersHaveNames) {
  Recorded r;
  const uint32_t count = r.e.root().parameter_names()->size();
  r.e.Put(r.e.PositionOf(r.step->numbers()->Get(0)) + 8, count);
  ExpectBadArtifact(r.e.Decode(), "parameter name ");
  Recorded other;
  const flatbuffers::String* name = other.e.root().parameter_names()->Get(0)->text();
  other.e.Put(other.e.PositionOf(name->Data()), 'A');
  ExpectBadArtifact(other.e.Decode(), "a parameter's name is none");
}

TEST(StructureTest, ModesOfTensorMapsAreChecked) {
  for (const auto& [at, sentence] :
       {std::pair{size_t{13}, "unknown swizzle 250"}, std::pair{size_t{14}, "unknown fill 250"}}) {
    Recorded r;
    r.e.Put(r.e.PositionOf(r.step->maps()->Get(0)) + at, uint8_t{250});
    ExpectBadArtifact(r.e.Decode(), sentence);
  }
}

TEST(StructureTest, NamesOfSourceNodesEndInOrder) {
  Program p = AddProgram();
  p.steps[0].sources = {"first", "", "second"};
  const auto with_end = [&p](uint32_t at, uint32_t end) {
    Editable e(p);
    e.Put(e.PositionOf(e.root().steps()->Get(0)->source_ends()->Data()) + 4 * at, end);
    return e.Decode();
  };
  EXPECT_TRUE(with_end(1, 5).ok());
  ExpectBadArtifact(with_end(1, 4), "end out of order");
  ExpectBadArtifact(with_end(2, 12), "end out of order");
  ExpectBadArtifact(with_end(2, 10), "text behind the names");
  // A name that ends inside of a character is no text.
  p.steps[0].sources = {"\u00e9", "e"};
  EXPECT_TRUE(with_end(0, 2).ok());
  ExpectBadArtifact(with_end(0, 1), "not UTF-8");
}

TEST(StructureTest, ListsOfDifferentRanksCannotBeStored) {
  const Program p = RecordedProgram();
  Program views = p, maps = p;
  views.steps[0].problem.inputs[0].strides.push_back(1);
  maps.steps[0].tensor_maps[0].box.push_back(1);
  EXPECT_TRUE(EncodeProgram(p).ok());
  EXPECT_EQ(EncodeProgram(views).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(EncodeProgram(maps).status().code(), Code::kInvalidArgument);
}

// Whoever takes the bit away asks for tables, which are not there.
TEST(StructureTest, AProgramWithoutRecordsHasTables) {
  Editable e;
  e.Put(e.FieldAt(&e.root(), fb::Program::VT_RECORDS), uint8_t{0});
  ExpectBadArtifact(e.Decode(), "a field of a step is missing");
}

}  // namespace
}  // namespace aicf::schema
