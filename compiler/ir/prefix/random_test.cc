// Random models at two extents: where the proof goes through, the large one must compute the small
// one's results whatever its padding holds. Refusals are counted, so that neither answer is idle.
#include <gtest/gtest.h>

#include "compiler/ir/prefix/testing.h"
#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

constexpr int64_t kLarge = 5;

class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : rng_(seed) {}

  // A chain over values of shape [@, 3, 4], with side branches that meet it again.
  std::string Body(int nodes) {
    text_ = "input %x: f32[@x3x4]\n";
    const std::string constants =
        "const %row: f32[4] = [1, -2, 0.5, 3]\nconst %matrix: f32[4x4] = [1, 0, 2, 0, 1, 1, 0, 0, "
        "0, 3, 1, 0, -1, 0, 0, 1]\nconst %first: i64[1] = [0]\nconst %second: i64[1] = [1]\n"
        "const %axis: i64[] = [0]\nconst %flat: i64[2] = [-1, 12]\nconst %back: i64[3] = [-1, 3, "
        "4]\n"
        "const %even: i64[3] = [3, -1, 4]\nconst %far: i64[1] = [99]\nconst %last: i64[1] = [-1]\n"
        "const %zero: i64[1] = [0]\nconst %none: i64[0] = []\n";
    text_ += constants;
    std::string value = "x";
    for (int i = 0; i < nodes; ++i) value = AddStep(value);
    return text_ + "%y: f32 = Neg(%" + value + ") \"end\"\noutput %y";
  }

 private:
  int Int(int below) { return static_cast<int>(rng_() % static_cast<unsigned>(below)); }

  std::string Node(const std::string& call, const std::string& attrs = "") {
    const std::string name = StrCat("v", next_++);
    text_ += StrCat("%", name, ": f32 = ", call, attrs.empty() ? "" : " {" + attrs + "}", " \"",
                    name, "\"\n");
    return name;
  }
  std::string Ints(const std::string& call, const std::string& type = "i64") {
    const std::string name = StrCat("v", next_++);
    text_ += StrCat("%", name, ": ", type, " = ", call, " \"", name, "\"\n");
    return name;
  }

  std::string AddStep(const std::string& v) {
    const std::string in = "%" + v;
    switch (Int(20)) {
      case 0:
        return Node("Tanh(" + in + ")");
      case 1:
        return Node("Add(" + in + ", %row)");
      case 2:
        return Node("Mul(" + in + ", %x)");
      case 3:
        return Node("MatMul(" + in + ", %matrix)");
      case 4:
        return Node("Softmax(" + in + ")", StrCat("axis=", Int(8) == 0 ? 0 : 1 + Int(2)));
      case 5: {
        const std::string mean = Node("ReduceMean(" + in + ", %second)");
        return Node("Sub(" + in + ", %" + mean + ")");
      }
      case 6: {  // over the padded axis
        if (Int(4) != 0) return Node("Abs(" + in + ")");
        const std::string mean = Node("ReduceMax(" + in + ", %first)");
        return Node("Sub(" + in + ", %" + mean + ")");
      }
      case 7: {
        const std::string flat = Node("Reshape(" + in + ", %flat)");
        const std::string soft = Node("LogSoftmax(%" + flat + ")", "axis=1");
        return Node("Reshape(%" + soft + ", %back)");
      }
      case 8: {  // a row-major reading across the padded axis
        if (Int(4) != 0) return Node("Sigmoid(" + in + ")");
        const std::string even = Node("Reshape(" + in + ", %even)");
        const std::string turned = Node("Transpose(%" + even + ")", "perm=[1, 0, 2]");
        return Node("Reshape(%" + turned + ", %back)");
      }
      case 9:
        return Node("CumSum(" + in + ", %axis)",
                    StrCat("exclusive=", Int(2), ", reverse=", Int(6) == 0 ? 1 : 0));
      case 10: {
        const std::string turned = Node("Transpose(" + in + ")", "perm=[1, 0, 2]");
        const std::string soft = Node("Softmax(%" + turned + ")", "axis=2");
        return Node("Transpose(%" + soft + ")", "perm=[1, 0, 2]");
      }
      case 11: {  // the first or the last position for all
        const std::string one =
            Node("Gather(" + in + (Int(4) == 0 ? ", %last)" : ", %zero)"), "axis=0");
        return Node("Add(" + in + ", %" + one + ")");
      }
      case 12: {
        const std::string turned = Node("Transpose(" + in + ")", "perm=[0, 2, 1]");
        const std::string square = Node("MatMul(%" + turned + ", " + in + ")");
        return Node("MatMul(" + in + ", %" + square + ")");
      }
      case 13: {  // attention over the padded axis
        if (Int(4) != 0) return Node("Neg(" + in + ")");
        const std::string q = Node("Transpose(" + in + ")", "perm=[1, 0, 2]");
        const std::string k = Node("Transpose(" + in + ")", "perm=[1, 2, 0]");
        const std::string s = Node("MatMul(%" + q + ", %" + k + ")");
        const std::string a = Node("MatMul(%" + s + ", %" + q + ")");
        return Node("Transpose(%" + a + ")", "perm=[1, 0, 2]");
      }
      case 14: {  // the extent as a number
        const std::string s = Ints("Shape(" + in + ") {start=0, end=1}");
        if (Int(3) != 0)
          return Node("Exp(" + Node_(Node("Neg(" + Node_(Node("Abs(" + in + ")")) + ")")) + ")");
        const std::string c = Node("Cast(%" + s + ")", "to=\"f32\"");
        return Node("Div(" + in + ", %" + c + ")");
      }
      case 15: {  // shape arithmetic that only keeps the shape
        const std::string s = Ints("Shape(" + in + ")");
        const std::string flat = Node("Reshape(" + in + ", %flat)");
        return Node("Reshape(%" + flat + ", %" + s + ")");
      }
      case 16: {
        const std::string s = Ints("Shape(" + in + ")");
        const std::string wide = Node("Expand(%row, %" + s + ")");
        return Node("Max(" + in + ", %" + wide + ")");
      }
      case 17: {
        const std::string tail = Node("Slice(" + in + ", %second, %far, %second)");
        const std::string head = Node("Slice(" + in + ", %zero, %second, %second)");
        return Node("Concat(%" + tail + ", %" + head + ")", "axis=1");
      }
      case 18:
        return Node("LayerNormalization(" + in + ", %row)", "axis=-1");
      default:
        return Node("Clip(" + in + ")");
    }
  }
  static std::string Node_(const std::string& name) { return "%" + name; }

  std::mt19937 rng_;
  std::string text_;
  int next_ = 0;
};

Result<testing::Array> Compute(const std::string& body, int64_t extent, const ir::Tensor& x) {
  AICF_ASSIGN_OR_RETURN(const ir::Graph graph, testing::AtExtent(body, extent));
  DecisionLog log;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice("cpu:baseline"));
  context.decisions = &log;
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, LowerGraph(graph, context));
  AICF_ASSIGN_OR_RETURN(const std::vector<ir::Tensor> outputs, Interpret(lowered, {x}));
  return testing::ToArray(outputs[0]);
}

// The first `small` of axis 0 are given, the rest is `filler`.
ir::Tensor Padded(const testing::Array& x, double filler) {
  testing::Array whole({kLarge, 3, 4});
  for (size_t i = 0; i < whole.data.size(); ++i) {
    whole.data[i] = i < x.data.size() ? x.data[i] : filler;
  }
  return testing::ToTensor(whole, DType::kF32);
}

TEST(PrefixRandom, ProvenModelsComputePrefixesWhateverThePaddingHolds) {
  int proven = 0, refused = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string body = RandomModel(seed).Body(2 + static_cast<int>(seed % 7));
    const int64_t small = 1 + static_cast<int64_t>(seed % 4);
    if (!testing::PrefixRefusal(body, kLarge, small).empty()) {
      ++refused;
      continue;
    }
    ++proven;
    const ir::Tensor x = testing::Random(DType::kF32, {small, 3, 4}, seed);
    const auto want = Compute(body, small, x);
    ASSERT_TRUE(want.ok()) << want.status().ToString() << body;
    for (const double filler : {0.0, 1e30, std::nan("")}) {
      const auto got = Compute(body, kLarge, Padded(testing::ToArray(x), filler));
      ASSERT_TRUE(got.ok()) << got.status().ToString() << body;
      ASSERT_LE(want->data.size(), got->data.size());
      for (size_t i = 0; i < want->data.size(); ++i) {
        ASSERT_NEAR(got->data[i], want->data[i], 1e-6 * (1 + std::abs(want->data[i])))
            << "element " << i << " with padding of " << filler << "\n"
            << body;
      }
    }
  }
  EXPECT_GT(proven, 100);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace aicf
