/// Random models with one open extent, some of whose nodes mix positions along it. Tests only.
#pragma once

#include <random>
#include <string>

#include "base/status.h"

namespace aicf::testing {

/// A chain over values of shape [@, 3, 4], with side branches that meet it again; '@' is the
/// extent.
class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : rng_(seed) {}

  /// Input x, output y.
  std::string Body(int nodes) {
    text_ = "input %x: f32[@x3x4]\n";
    const std::string constants =
        "const %row: f32[4] = [1, -2, 0.5, 3]\n"
        "const %matrix: f32[4x4] = [1, 0, 2, 0, 1, 1, 0, 0, 0, 3, 1, 0, -1, 0, 0, 1]\n"
        "const %first: i64[1] = [0]\nconst %second: i64[1] = [1]\nconst %axis: i64[] = [0]\n"
        "const %flat: i64[2] = [-1, 12]\nconst %back: i64[3] = [-1, 3, 4]\n"
        "const %even: i64[3] = [3, -1, 4]\nconst %far: i64[1] = [99]\n"
        "const %last: i64[1] = [-1]\nconst %zero: i64[1] = [0]\nconst %three: i64[1] = [3]\n"
        "const %front: i64[6] = [1, 0, 0, 0, 0, 0]\n";
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
  std::string Other(const std::string& call, const std::string& type) {
    const std::string name = StrCat("v", next_++);
    text_ += StrCat("%", name, ": ", type, " = ", call, " \"", name, "\"\n");
    return name;
  }

  std::string AddStep(const std::string& value) {
    const std::string in = "%" + value;
    const int kind = Int(24);
    if (kind < 8) return Apart(kind, in);
    return kind < 17 ? Mixing(kind, in) : Shaped(kind, in);
  }

  // Positions of axis 0 apart from each other.
  std::string Apart(int kind, const std::string& in) {
    switch (kind) {
      case 0:
        return Node("Tanh(" + in + ")");
      case 1:
        return Node("Add(" + in + ", %row)");
      case 2:
        return Node("Mul(" + in + ", %x)");
      case 3:
        return Node("MatMul(" + in + ", %matrix)");
      case 4:
        return Node("LayerNormalization(" + in + ", %row)", "axis=-1");
      case 5: {
        const std::string mean = Node("ReduceMean(" + in + ", %second)");
        return Node("Sub(" + in + ", %" + mean + ")");
      }
      case 6: {
        const std::string turned = Node("Transpose(" + in + ")", "perm=[0, 2, 1]");
        const std::string square = Node("MatMul(%" + turned + ", " + in + ")");
        return Node("MatMul(" + in + ", %" + square + ")");
      }
      default: {
        const std::string image = Node("Unsqueeze(" + in + ", %second)");
        const std::string pooled =
            Node("AveragePool(%" + image + ")", "kernel_shape=[3, 3], pads=[1, 1, 1, 1]");
        return Node("Squeeze(%" + pooled + ", %second)");
      }
    }
  }

  // Along axis 0 in some draws, along another one in the others.
  std::string Mixing(int kind, const std::string& in) {
    const std::string rare = StrCat("axis=", Int(8) == 0 ? 0 : 1 + Int(2));
    switch (kind) {
      case 8:
        return Node("Softmax(" + in + ")", rare);
      case 9: {
        if (Int(4) != 0) return Node("Abs(" + in + ")");
        const std::string most = Node("ReduceMax(" + in + ", %first)");
        return Node("Sub(" + in + ", %" + most + ")");
      }
      case 10:
        return Node("CumSum(" + in + ", %axis)",
                    StrCat("exclusive=", Int(2), ", reverse=", Int(6) == 0 ? 1 : 0));
      case 11: {
        const std::string turned = Node("Transpose(" + in + ")", "perm=[1, 0, 2]");
        const std::string soft =
            Node("Softmax(%" + turned + ")", Int(6) == 0 ? "axis=1" : "axis=2");
        return Node("Transpose(%" + soft + ")", "perm=[1, 0, 2]");
      }
      case 12: {  // the first or the last position for all
        const std::string one =
            Node("Gather(" + in + (Int(4) == 0 ? ", %last)" : ", %zero)"), "axis=0");
        return Node("Add(" + in + ", %" + one + ")");
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
        const std::string s = Other("Shape(" + in + ") {start=0, end=1}", "i64");
        if (Int(3) != 0) return Node("Relu(" + in + ")");
        const std::string c = Node("Cast(%" + s + ")", "to=\"f32\"");
        return Node("Div(" + in + ", %" + c + ")");
      }
      case 15: {
        const std::string at = Other("ArgMax(" + in + ") {" + rare + "}", "i64");
        const std::string f = Node("Cast(%" + at + ")", "to=\"f32\"");
        return Node("Add(" + in + ", %" + f + ")");
      }
      default: {
        const std::string name = StrCat("v", next_++);
        text_ += StrCat("(_, %", name, ": i64) = TopK(", in, ", %three) {axis=1} \"", name, "\"\n");
        return Node("GatherElements(" + in + ", %" + name + ")", "axis=1");
      }
    }
  }

  // Shapes taken apart and put together again.
  std::string Shaped(int kind, const std::string& in) {
    switch (kind) {
      case 17: {
        const std::string flat = Node("Reshape(" + in + ", %flat)");
        const std::string soft = Node("LogSoftmax(%" + flat + ")", "axis=1");
        return Node("Reshape(%" + soft + ", %back)");
      }
      case 18: {  // a row-major reading across the padded axis
        if (Int(4) != 0) return Node("Sigmoid(" + in + ")");
        const std::string even = Node("Reshape(" + in + ", %even)");
        const std::string turned = Node("Transpose(%" + even + ")", "perm=[1, 0, 2]");
        return Node("Reshape(%" + turned + ", %back)");
      }
      case 19: {  // shape arithmetic that only keeps the shape
        const std::string s = Other("Shape(" + in + ")", "i64");
        const std::string flat = Node("Reshape(" + in + ", %flat)");
        return Node("Reshape(%" + flat + ", %" + s + ")");
      }
      case 20: {
        const std::string s = Other("Shape(" + in + ")", "i64");
        const std::string wide = Node("Expand(%row, %" + s + ")");
        return Node("Max(" + in + ", %" + wide + ")");
      }
      case 21: {
        const std::string tail = Node("Slice(" + in + ", %second, %far, %second)");
        const std::string head = Node("Slice(" + in + ", %zero, %second, %second)");
        return Node("Concat(%" + tail + ", %" + head + ")", "axis=1");
      }
      case 22: {  // moved by one along axis 0: a row of zeros in front, the last one gone
        const std::string more = Node("Pad(" + in + ", %front)");
        return Int(3) == 0 ? Node("Slice(%" + more + ", %zero, %last, %first)")
                           : Node("Slice(%" + more + ", %second, %far, %first)");
      }
      default:
        return Node("Clip(" + in + ")");
    }
  }

  std::mt19937 rng_;
  std::string text_;
  int next_ = 0;
};

}  // namespace aicf::testing
