#include "compiler/import/onnx_tensor.h"

#include <gtest/gtest.h>

#include <functional>

namespace aicf {
namespace {

using onnx::TensorProto;

TensorProto Make(int type, std::initializer_list<int64_t> dims) {
  TensorProto t;
  t.set_data_type(type);
  for (int64_t d : dims) t.add_dims(d);
  return t;
}

Result<ir::Tensor> Import(const TensorProto& t) {
  auto owner = std::make_shared<TensorProto>(t);
  return ImportTensor(*owner, TensorSource{owner, {}});
}

TEST(OnnxTensor, RawDataOfEveryType) {
  const struct {
    int type;
    DType dtype;
  } rows[] = {{TensorProto::FLOAT, DType::kF32},
              {TensorProto::UINT8, DType::kU8},
              {TensorProto::INT8, DType::kI8},
              {TensorProto::UINT16, DType::kU16},
              {TensorProto::INT16, DType::kI16},
              {TensorProto::INT32, DType::kI32},
              {TensorProto::INT64, DType::kI64},
              {TensorProto::BOOL, DType::kBool},
              {TensorProto::FLOAT16, DType::kF16},
              {TensorProto::DOUBLE, DType::kF64},
              {TensorProto::UINT32, DType::kU32},
              {TensorProto::UINT64, DType::kU64},
              {TensorProto::BFLOAT16, DType::kBF16},
              {17, DType::kF8E4M3FN},
              {18, DType::kF8E4M3FNUZ},
              {19, DType::kF8E5M2},
              {20, DType::kF8E5M2FNUZ},
              {24, DType::kF8E8M0}};
  for (const auto& row : rows) {
    TensorProto t = Make(row.type, {2});
    std::string raw(2 * DTypeBytes(row.dtype), '\0');
    raw[0] = 1;
    t.set_raw_data(raw);
    const auto tensor = Import(t);
    ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
    EXPECT_EQ(tensor->dtype(), row.dtype);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor->bytes().data()), raw.size()), raw);
  }
}

// Elements below 8 bits come several to a byte, the first in the low bits, in raw data as in the
// bytes of int32_data.
TEST(OnnxTensor, PackedTypesAreSpreadToOneByteEach) {
  const struct {
    int type;
    DType dtype;
    std::vector<int> values;
  } rows[] = {{22, DType::kI4, {-8, 7, -1, 0, 5}},
              {21, DType::kU4, {8, 7, 15, 0, 5}},
              {23, DType::kF4E2M1, {8, 7, 15, 0, 5}},
              {26, DType::kI2, {0, 1, -2, -1, -2}},
              {25, DType::kU2, {0, 1, 2, 3, 2}}};
  for (const auto& row : rows) {
    const std::vector<int> bytes =
        row.type >= 25 ? std::vector{0xe4, 0x02} : std::vector{0x78, 0x0f, 0x05};
    TensorProto typed = Make(row.type, {5}), raw = typed;
    for (int b : bytes) {
      typed.add_int32_data(b);
      raw.mutable_raw_data()->push_back(static_cast<char>(b));
    }
    for (const TensorProto& t : {typed, raw}) {
      const auto tensor = Import(t);
      ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
      EXPECT_EQ(tensor->dtype(), row.dtype);
      ASSERT_EQ(tensor->bytes().size(), row.values.size());
      for (size_t i = 0; i < row.values.size(); ++i) {
        const auto byte = tensor->bytes()[i];
        EXPECT_EQ(static_cast<int8_t>(byte), static_cast<int8_t>(row.values[i])) << i;
      }
    }
  }
}

TEST(OnnxTensor, RawDataIsAViewThatOutlivesTheCaller) {
  ir::Tensor kept;
  const std::byte* address = nullptr;
  {
    auto owner = std::make_shared<TensorProto>(Make(TensorProto::FLOAT, {1}));
    const float value = 2.5f;
    owner->set_raw_data(&value, sizeof value);
    address = reinterpret_cast<const std::byte*>(owner->raw_data().data());
    auto tensor = ImportTensor(*owner, TensorSource{owner, {}});
    ASSERT_TRUE(tensor.ok());
    kept = *std::move(tensor);
  }
  EXPECT_EQ(kept.bytes().data(), address);
  EXPECT_EQ(kept.at<float>(0), 2.5f);
}

TEST(OnnxTensor, TypedFields) {
  TensorProto halves = Make(TensorProto::FLOAT16, {2});
  halves.add_int32_data(0x3c00);
  halves.add_int32_data(0xc000);
  EXPECT_EQ(Import(halves)->FloatAt(0), 1);
  EXPECT_EQ(Import(halves)->FloatAt(1), -2);
  TensorProto bytes = Make(TensorProto::INT8, {2});
  bytes.add_int32_data(-128);
  bytes.add_int32_data(127);
  EXPECT_EQ(Import(bytes)->IntAt(0), -128);
  TensorProto words = Make(TensorProto::UINT32, {1});
  words.add_uint64_data(0xffffffffu);
  EXPECT_EQ(Import(words)->IntAt(0), 0xffffffffll);
  TensorProto wide = Make(TensorProto::UINT64, {1});
  wide.add_uint64_data(UINT64_MAX);
  EXPECT_EQ(Import(wide)->at<uint64_t>(0), UINT64_MAX);
  TensorProto doubles = Make(TensorProto::DOUBLE, {});
  doubles.add_double_data(0.1);
  EXPECT_EQ(Import(doubles)->FloatAt(0), 0.1);
}

TEST(OnnxTensor, BooleansAreZeroOrOne) {
  TensorProto raw = Make(TensorProto::BOOL, {3});
  raw.set_raw_data(std::string("\x00\x02\xff", 3));
  TensorProto typed = Make(TensorProto::BOOL, {3});
  for (int v : {0, 7, -1}) typed.add_int32_data(v);
  for (const TensorProto& t : {raw, typed}) {
    const auto tensor = Import(t);
    ASSERT_TRUE(tensor.ok());
    EXPECT_EQ(tensor->IntAt(0), 0);
    EXPECT_EQ(tensor->IntAt(1), 1);
    EXPECT_EQ(tensor->IntAt(2), 1);
  }
}

TEST(OnnxTensor, EmptyTensorsAreLegal) {
  const auto tensor = Import(Make(TensorProto::FLOAT, {2, 0}));
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_TRUE(tensor->has_data());
  EXPECT_EQ(tensor->count(), 0);
  TensorProto raw = Make(TensorProto::FLOAT, {0});
  raw.set_raw_data("");
  EXPECT_TRUE(Import(raw).ok());
}

TEST(OnnxTensor, RefusesWhatDoesNotFit) {
  const struct {
    const char* name;
    std::function<void(TensorProto&)> damage;
    Code code;
    const char* expected;
  } cases[] = {
      {"A8 2^62 x 8",
       [](auto& t) {
         t = Make(1, {int64_t{1} << 62, 8});
       },
       Code::kBadModel, "impossible shape"},
      {"A8 2^32 x 2^32",
       [](auto& t) {
         t = Make(1, {int64_t{1} << 32, int64_t{1} << 32});
       },
       Code::kBadModel, "impossible shape"},
      {"A8 bytes wrap", [](auto& t) { t = Make(11, {int64_t{1} << 61}); }, Code::kBadModel,
       "impossible shape"},
      {"A8 65537 x 65537 without data",
       [](auto& t) {
         t = Make(1, {65537, 65537});
       },
       Code::kBadModel, "has 0 values"},
      {"A9 -1", [](auto& t) { t = Make(1, {-1}); }, Code::kBadModel, "impossible shape [-1]"},
      {"A9 INT64_MIN", [](auto& t) { t = Make(1, {INT64_MIN}); }, Code::kBadModel,
       "impossible shape"},
      {"rank 9",
       [](auto& t) {
         t = Make(1, {1, 1, 1, 1, 1, 1, 1, 1, 1});
       },
       Code::kUnsupported, "rank 9"},
      {"A10 raw too short", [](auto& t) { t.set_raw_data("abc"); }, Code::kBadModel,
       "has 3 bytes of raw_data, expected 8"},
      {"A10 raw too long", [](auto& t) { t.set_raw_data("abcdefghi"); }, Code::kBadModel,
       "has 9 bytes"},
      {"A10 raw and typed",
       [](auto& t) {
         t.set_raw_data("abcdefgh");
         t.add_float_data(1);
       },
       Code::kBadModel, "both raw_data and float_data"},
      {"A10 two typed",
       [](auto& t) {
         t.add_int32_data(1);
         t.add_float_data(1);
       },
       Code::kBadModel, "both float_data and int32_data"},
      {"A10 wrong field",
       [](auto& t) {
         t.add_int64_data(1);
         t.add_int64_data(2);
       },
       Code::kBadModel, "is f32 but holds int64_data"},
      {"A10 too few values", [](auto& t) { t.add_float_data(1); }, Code::kBadModel,
       "has 1 values for shape 2"},
      {"A11 undefined", [](auto& t) { t.set_data_type(0); }, Code::kUnsupported, "UNDEFINED"},
      {"A11 999", [](auto& t) { t.set_data_type(999); }, Code::kUnsupported, "999"},
      {"A11 -1", [](auto& t) { t.set_data_type(-1); }, Code::kUnsupported, "-1"},
      {"A11 string",
       [](auto& t) {
         t.set_data_type(8);
         t.add_string_data("s");
       },
       Code::kUnsupported, "STRING"},
      {"A11 complex", [](auto& t) { t.set_data_type(14); }, Code::kUnsupported, "COMPLEX64"},
      {"A10 packed raw",
       [](auto& t) {
         t = Make(21, {3});
         t.set_raw_data("abc");
       },
       Code::kBadModel, "has 3 bytes of raw_data, expected 2 for u4"},
      {"A10 packed values",
       [](auto& t) {
         t = Make(26, {5});
         t.add_int32_data(1);
       },
       Code::kBadModel, "has 1 values for shape 5"},
      {"A23 packed value",
       [](auto& t) {
         t = Make(22, {2});
         t.add_int32_data(256);
       },
       Code::kBadModel, "holds 256, which is no byte"},
      {"A23 out of range",
       [](auto& t) {
         t = Make(TensorProto::UINT8, {1});
         t.add_int32_data(256);
       },
       Code::kBadModel, "holds 256, which is no u8"},
      {"A23 negative",
       [](auto& t) {
         t = Make(TensorProto::UINT16, {1});
         t.add_int32_data(-1);
       },
       Code::kBadModel, "holds -1"},
      {"half out of range",
       [](auto& t) {
         t = Make(TensorProto::FLOAT16, {1});
         t.add_int32_data(65536);
       },
       Code::kBadModel, "holds 65536"},
      {"u32 out of range",
       [](auto& t) {
         t = Make(TensorProto::UINT32, {1});
         t.add_uint64_data(uint64_t{1} << 32);
       },
       Code::kBadModel, "which is no u32"},
      {"segments", [](auto& t) { t.mutable_segment(); }, Code::kUnsupported, "segments"},
      {"external and raw",
       [](auto& t) {
         t.set_data_location(TensorProto::EXTERNAL);
         t.set_raw_data("abcdefgh");
       },
       Code::kBadModel, "external data and data"},
      {"entries without location", [](auto& t) { t.add_external_data()->set_key("location"); },
       Code::kBadModel, "not stored there"},
      {"B11 no directory",
       [](auto& t) {
         t.set_data_location(TensorProto::EXTERNAL);
         auto& e = *t.add_external_data();
         e.set_key("location");
         e.set_value("w.bin");
       },
       Code::kBadModel, "without a directory"},
  };
  for (const auto& c : cases) {
    TensorProto t = Make(TensorProto::FLOAT, {2});
    c.damage(t);
    const auto tensor = Import(t);
    ASSERT_FALSE(tensor.ok()) << c.name;
    EXPECT_EQ(tensor.status().code(), c.code) << c.name << ": " << tensor.status().ToString();
    EXPECT_NE(tensor.status().message().find(c.expected), std::string::npos)
        << c.name << ": " << tensor.status().message();
  }
}

}  // namespace
}  // namespace aicf
