// What samples said of one program, said of another with the same products.
#include "compiler/passes/quantize/transfer.h"

#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/passes/quantize/calibrate.h"

namespace aicf::quantize {
namespace {

// x [rows, 3] -> product -> sum with itself -> product.
ir::Lowered RowsProgram(int64_t rows, const std::string& second = "[1, 0.5, -0.25, 3]",
                        bool named_otherwise = false) {
  const std::string n = std::to_string(rows), y = named_otherwise ? "result" : "y";
  const std::string text = R"(
lowered "g"
%0 = input "x" f32 )" + n + R"(x3
%1 = constant "w" f32 3x2 [1, 2, 3, -4, 5, 6]
%2 = constant "v" f32 2x2 )" +
                           second + R"(
%3 = temp "h" f32 )" + n + R"(x2
%4 = temp "s" f32 )" + n + R"(x2
%5 = output ")" + y + R"(" f32 )" +
                           n + R"(x2
inputs %0
outputs %5
step ["first"] (%0, %1) -> (%3) :
  gemm math=fp32 core=2
  in(f32 )" + n + R"(x3 [3, 1]+0, f32 3x2 [2, 1]+0)
  out(f32 )" + n + R"(x2 [2, 1]+0)
  pro id
  epi id
step ["sum"] (%3) -> (%4) :
  elementwise math=fp32 core=1
  in(f32 )" + n + R"(x2 [2, 1]+0)
  out(f32 )" + n + R"(x2 [2, 1]+0)
  pro id
  epi (%0 = in 0 : f32; %1 = add %0 %0 : f32) -> %1
step ["second"] (%4, %2) -> (%5) :
  gemm math=fp32 core=2
  in(f32 )" + n + R"(x2 [2, 1]+0, f32 2x2 [2, 1]+0)
  out(f32 )" + n + R"(x2 [2, 1]+0)
  pro id
  epi id
)";
  Result<ir::Lowered> lowered = ir::ParseLowered(text);
  EXPECT_TRUE(lowered.ok()) << lowered.status().ToString();
  return lowered.ok() ? *std::move(lowered) : ir::Lowered();
}

TEST(Transfer, ProgramsOfTwoBatchesHaveTheSameProducts) {
  EXPECT_TRUE(HaveSameProducts(RowsProgram(1), RowsProgram(4)));
  EXPECT_FALSE(HaveSameProducts(RowsProgram(1), RowsProgram(4, "[1, 0.5, -0.25, 4]")))
      << "another weight";
  ir::Lowered fewer = RowsProgram(4);
  fewer.steps.pop_back();
  EXPECT_FALSE(HaveSameProducts(RowsProgram(1), fewer));
  ir::Lowered other = RowsProgram(4);
  other.steps[2].inputs[0] = 3;
  EXPECT_TRUE(HaveSameProducts(RowsProgram(1), other)) << "still the second of two values";
  other.steps[2].sources = {"third"};
  EXPECT_FALSE(HaveSameProducts(RowsProgram(1), other));
}

TEST(Transfer, ARecordNamesTheOtherProgramsBuffers) {
  const ir::Lowered row = RowsProgram(1);
  ir::Lowered batch = RowsProgram(4, "[1, 0.5, -0.25, 3]", true);
  // A buffer more in front, as a program of another batch may have.
  batch.buffers.push_back(batch.buffers[4]);
  batch.buffers[6].name = "moved";
  batch.steps[1].outputs[0] = batch.steps[2].inputs[0] = 6;
  abi::DeviceSpec any;
  any.name = "";
  CalibrationRequest request;
  request.max_error = 1e9;
  const auto x = ir::Tensor::FromValues<float>(DType::kF32, {1, 3}, std::vector<float>{1, -2, 3});
  const auto record = Calibrate(row, "", {{"s", {x}}}, request, any);
  ASSERT_TRUE(record.ok()) << record.status().ToString();
  EXPECT_FALSE(record->CheckFits(batch).ok());
  ASSERT_TRUE(HaveSameProducts(row, batch));
  const CalibratedEntry moved = RecordFor(batch, row, *record);
  EXPECT_TRUE(moved.CheckFits(batch).ok()) << moved.CheckFits(batch).ToString();
  ASSERT_EQ(moved.values.size(), 2u);
  EXPECT_EQ(moved.values[1].buffer, 6u);
  EXPECT_EQ(moved.values[1].name, "moved");
  EXPECT_EQ(moved.values[1].limits, record->values[1].limits);
  EXPECT_EQ(moved.products[1].name, "result");
  EXPECT_EQ(moved.products[1].effect, record->products[1].effect);
  EXPECT_EQ(RecordFor(row, row, *record), *record);
}

}  // namespace
}  // namespace aicf::quantize
