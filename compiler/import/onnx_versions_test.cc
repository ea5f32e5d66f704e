// Every form of every opset that the rewrites know ends as the newest form. Each case runs import,
// shape binding and inference, and looks at the graph's text.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/import/testing.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

using testing::Extents;
using testing::ModelBuilder;
using testing::SetFloat;
using testing::SetInt;
using testing::SetInts;
using testing::SetString;

// The inferred graph's text, or the error's.
std::string Prepared(const ModelBuilder& model) {
  auto graph = model.Import();
  if (!graph.ok()) return graph.status().ToString();
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  Status status = BindShapes(*graph, {});
  if (status.ok()) status = InferAndFold(*graph, context);
  if (status.ok()) status = Verify(*graph);
  return status.ok() ? ToString(*graph) : status.ToString();
}

void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected " << part << " in\n" << text;
}

// One node on x of shape 2x3x4 (and what `fill` adds), with output y.
std::string OneNode(int64_t opset, const std::string& op, const testing::Names& inputs,
                    const std::function<void(ModelBuilder&, onnx::NodeProto&)>& fill,
                    const Extents& shape = {2, 3, 4}) {
  ModelBuilder model(opset);
  model.Input("x", shape);
  fill(model, model.Node(op, inputs, {"y"}, "node"));
  model.Output("y");
  return Prepared(model);
}

TEST(OnnxVersions, AxesBecomeAnInput) {
  const auto axes = [](ModelBuilder&, onnx::NodeProto& n) { SetInts(n, "axes", {0, 2}); };
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceL2"}) {
    const std::string text = OneNode(11, op, {"x"}, axes);
    ExpectHas(text, "const %y.axes: i64[2] = [0, 2]");
    ExpectHas(text, StrCat("%y: f32[1x3x1] = ", op, "(%x, %y.axes) \"node\""));
  }
  ExpectHas(OneNode(11, "Unsqueeze", {"x"}, axes), "%y: f32[1x2x1x3x4] = Unsqueeze(%x, %y.axes)");
  ExpectHas(OneNode(11, "Squeeze", {"x"}, axes, {1, 3, 1}), "%y: f32[3] = Squeeze(%x, %y.axes)");
  ExpectHas(OneNode(13, "Squeeze", {"x", "a"},
                    [](ModelBuilder& m, onnx::NodeProto&) { m.Ints("a", {1}, {0}); }, {1, 3}),
            "%y: f32[3] = Squeeze(%x, %a)");
}

TEST(OnnxVersions, AnAttributeBesideItsInputIsRefused) {
  ExpectHas(OneNode(13, "Squeeze", {"x", "a"},
                    [](ModelBuilder& m, onnx::NodeProto& n) {
                      m.Ints("a", {1}, {0});
                      SetInts(n, "axes", {0});
                    },
                    {1, 3}),
            "both an attribute 'axes' and an input");
}

TEST(OnnxVersions, ShapesBoundsAndSizesBecomeInputs) {
  ExpectHas(OneNode(1, "Reshape", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) {
                      SetInts(n, "shape", {6, -1});
                    }),
            "%y: f32[6x4] = Reshape(%x, %y.shape)");
  ExpectHas(OneNode(1, "Slice", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) {
                      SetInts(n, "axes", {1, 2});
                      SetInts(n, "starts", {1, 0});
                      SetInts(n, "ends", {3, -1});
                    }),
            "%y: f32[2x2x3] = Slice(%x, %y.starts, %y.ends, %y.axes)");
  ExpectHas(OneNode(1, "TopK", {"x"}, [](ModelBuilder&, onnx::NodeProto& n) { SetInt(n, "k", 2); }),
            "(%y: f32[2x3x2], _) = TopK(%x, %y.k)");
  ExpectHas(OneNode(2, "Split", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) { SetInts(n, "split", {2}); }),
            "%y: f32[2x3x4] = Split(%x, %y.split)");
}

TEST(OnnxVersions, ClipAndPadScalarsTakeTheInputsType) {
  const auto bounds = [](ModelBuilder&, onnx::NodeProto& n) {
    SetFloat(n, "min", 0);
    SetFloat(n, "max", 6);
  };
  const std::string clip = OneNode(6, "Clip", {"x"}, bounds);
  ExpectHas(clip, "const %y.min: f32[] = [0]");
  ExpectHas(clip, "%y: f32[2x3x4] = Clip(%x, %y.min, %y.max)");
  ModelBuilder half(6);
  half.Input("x", {2}, onnx::TensorProto::FLOAT16);
  bounds(half, half.Node("Clip", {"x"}, {"y"}));
  half.Output("y");
  ExpectHas(Prepared(half), "const %y.bound2: f16[] = [6]");
  ExpectHas(Prepared(half), "%y: f16[2] = Clip(%x, %y.bound1, %y.bound2)");
  ExpectHas(
      OneNode(6, "Clip", {"x"}, [](ModelBuilder&, onnx::NodeProto& n) { SetFloat(n, "max", 6); }),
      "Clip(%x, _, %y.max)");
  ExpectHas(OneNode(2, "Pad", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) {
                      SetInts(n, "pads", {0, 1, 0, 0, 0, 2});
                      SetFloat(n, "value", 1.5f);
                    }),
            "%y: f32[2x4x6] = Pad(%x, %y.pads, %y.value)");
  ExpectHas(OneNode(1, "Pad", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) {
                      SetInts(n, "paddings", {0, 1, 0, 0, 0, 2});
                    }),
            "%y: f32[2x4x6] = Pad(%x, %y.paddings)");
}

TEST(OnnxVersions, OldBroadcastingAlignsFromAnAxis) {
  const auto at = [](int64_t axis) {
    return [axis](ModelBuilder& m, onnx::NodeProto& n) {
      m.Floats("b", {3}, {1, 2, 3});
      SetInt(n, "broadcast", 1);
      SetInt(n, "axis", axis);
    };
  };
  const std::string aligned = OneNode(6, "Add", {"x", "b"}, at(1));
  ExpectHas(aligned, "const %y.aligned: f32[3x1] = [1, 2, 3]");
  ExpectHas(aligned, "%y: f32[2x3x4] = Add(%x, %y.aligned)");
  ExpectHas(OneNode(6, "Add", {"x", "b"}, at(2), {2, 4, 3}), "Add(%x, %b)");
  ExpectHas(OneNode(6, "Add", {"x", "b"}, at(3)), "bad-model: Add node \"node\": broadcast axis 3");
  ExpectHas(OneNode(6, "Mul", {"x", "b"},
                    [](ModelBuilder& m, onnx::NodeProto& n) {
                      m.Floats("b", {3, 4}, std::vector<float>(12, 1));
                      SetInt(n, "broadcast", 1);
                    }),
            "%y: f32[2x3x4] = Mul(%x, %b)");
}

TEST(OnnxVersions, OldSlopesRunAlongChannels) {
  const auto slope = [](ModelBuilder& m, onnx::NodeProto&) { m.Floats("s", {3}, {1, 2, 3}); };
  ExpectHas(OneNode(6, "PRelu", {"x", "s"}, slope), "const %y.aligned: f32[3x1]");
  ExpectHas(OneNode(7, "PRelu", {"x", "s"}, slope), "bad-model");
}

TEST(OnnxVersions, OldSoftmaxFlattens) {
  const auto axis = [](int64_t a) {
    return [a](ModelBuilder&, onnx::NodeProto& n) { SetInt(n, "axis", a); };
  };
  const std::string flattened = OneNode(12, "Softmax", {"x"}, axis(1));
  ExpectHas(flattened, "%y.flat: f32[2x12] = Flatten(%x) {axis=1}");
  ExpectHas(flattened, "%y.softmax: f32[2x12] = Softmax(%y.flat) {axis=1}");
  ExpectHas(flattened, "%y: f32[2x3x4] = Reshape(%y.softmax, %y.shape)");
  // One wide axis: the same without the detour.
  ExpectHas(OneNode(12, "Softmax", {"x"}, axis(1), {2, 1, 5, 1}),
            "%y: f32[2x1x5x1] = Softmax(%x) {axis=2}");
  ExpectHas(OneNode(12, "LogSoftmax", {"x"}, axis(-1)), "%y: f32[2x3x4] = LogSoftmax(%x) {axis=2}");
  ExpectHas(OneNode(12, "Softmax", {"x"}, axis(7)), "bad-model");
  ExpectHas(OneNode(13, "Softmax", {"x"}, axis(1)), "%y: f32[2x3x4] = Softmax(%x) {axis=1}");
  ExpectHas(OneNode(13, "Softmax", {"x"}, [](ModelBuilder&, onnx::NodeProto&) {}),
            "= Softmax(%x) \"node\"");
}

TEST(OnnxVersions, CastTargetsAreNumbersOrNames) {
  ExpectHas(
      OneNode(13, "Cast", {"x"}, [](ModelBuilder&, onnx::NodeProto& n) { SetInt(n, "to", 10); }),
      "%y: f16[2x3x4] = Cast(%x) {to=\"f16\"}");
  ExpectHas(OneNode(1, "Cast", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) { SetString(n, "to", "INT32"); }),
            "{to=\"i32\"}");
  ExpectHas(
      OneNode(13, "Cast", {"x"}, [](ModelBuilder&, onnx::NodeProto& n) { SetInt(n, "to", 8); }),
      "unsupported: \"Cast\" node \"node\": element type STRING");
  ExpectHas(OneNode(13, "Cast", {"x"}, [](ModelBuilder&, onnx::NodeProto&) {}),
            "attribute 'to' is absent");
  ExpectHas(OneNode(19, "CastLike", {"x", "k"},
                    [](ModelBuilder& m, onnx::NodeProto&) { m.Ints("k", {1}, {0}); }),
            "%y: i64[2x3x4] = Cast(%x) {to=\"i64\"}");
}

TEST(OnnxVersions, UpsampleIsResize) {
  const auto attribute = [](ModelBuilder&, onnx::NodeProto& n) {
    onnx::AttributeProto& a = testing::AddAttribute(n, "scales", onnx::AttributeProto::FLOATS);
    for (float s : {1.0f, 2.0f, 2.5f}) a.add_floats(s);
  };
  const std::string text = OneNode(7, "Upsample", {"x"}, attribute);
  ExpectHas(text, "const %y.scales: f32[3]");
  ExpectHas(
      text,
      "%y: f32[2x6x10] = Resize(%x, _, %y.scales) {coordinate_transformation_mode=\"asymmetric\", "
      "mode=\"nearest\", nearest_mode=\"floor\"}");
  const auto input = [](ModelBuilder& m, onnx::NodeProto& n) {
    m.Floats("s", {3}, {1, 2, 2});
    SetString(n, "mode", "linear");
  };
  ExpectHas(OneNode(9, "Upsample", {"x", "s"}, input), "mode=\"linear\"");
  ExpectHas(OneNode(10, "Resize", {"x", "s"}, input), "%y: f32[2x6x8] = Resize(%x, _, %s)");
}

TEST(OnnxVersions, ResizeOfOpset10RoundsByDirection) {
  const auto scales = [](std::vector<float> s) {
    return [s](ModelBuilder& m, onnx::NodeProto&) { m.Floats("s", {3}, s); };
  };
  ExpectHas(OneNode(10, "Resize", {"x", "s"}, scales({1, 2, 1})), "nearest_mode=\"floor\"");
  ExpectHas(OneNode(10, "Resize", {"x", "s"}, scales({1, 1, 0.5f})), "nearest_mode=\"ceil\"");
  ExpectHas(OneNode(10, "Resize", {"x", "s"}, scales({1, 2, 0.5f})), "unsupported");
}

TEST(OnnxVersions, DropoutIsIdentityInInference) {
  const auto nothing = [](ModelBuilder&, onnx::NodeProto&) {};
  ExpectHas(OneNode(7, "Dropout", {"x"}, nothing), "%y: f32[2x3x4] = Identity(%x)");
  ExpectHas(OneNode(6, "Dropout", {"x"}, nothing), "training (is_test is 0)");
  ExpectHas(OneNode(6, "Dropout", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) { SetInt(n, "is_test", 1); }),
            "Identity(%x)");
  const auto training = [](bool on) {
    return [on](ModelBuilder& m, onnx::NodeProto&) {
      m.Tensor("t", {}, onnx::TensorProto::BOOL).add_int32_data(on ? 1 : 0);
    };
  };
  ExpectHas(OneNode(13, "Dropout", {"x", "", "t"}, training(false)), "Identity(%x)");
  ExpectHas(OneNode(13, "Dropout", {"x", "", "t"}, training(true)), "unsupported");
}

TEST(OnnxVersions, BatchNormalizationTrainsSinceOpset14) {
  const auto with = [](const char* key, int64_t value) {
    return [=](ModelBuilder& m, onnx::NodeProto& n) {
      m.Floats("p", {3}, {1, 1, 1});
      if (*key != '\0') SetInt(n, key, value);
      SetFloat(n, "momentum", 0.5f);
    };
  };
  const testing::Names in = {"x", "p", "p", "p", "p"};
  ExpectHas(OneNode(15, "BatchNormalization", in, with("", 0)),
            "BatchNormalization(%x, %p, %p, %p, %p) \"node\"");
  ExpectHas(OneNode(15, "BatchNormalization", in, with("training_mode", 1)),
            "ReduceMean(%x, %y.ints)");
  ExpectHas(OneNode(6, "BatchNormalization", in, with("is_test", 1)), "= BatchNormalization");
  ExpectHas(OneNode(6, "BatchNormalization", in, with("", 0)), "training (is_test is 0)");
  ExpectHas(OneNode(7, "BatchNormalization", in, with("spatial", 0)), "spatial is 0");
}

TEST(OnnxVersions, DefaultsThatChanged) {
  const auto nothing = [](ModelBuilder&, onnx::NodeProto&) {};
  ExpectHas(OneNode(1, "Concat", {"x", "x"}, nothing), "%y: f32[2x6x4] = Concat(%x, %x) {axis=1}");
  ExpectHas(OneNode(4, "Concat", {"x", "x"}, nothing), "attribute 'axis' is absent");
  ExpectHas(OneNode(1, "Selu", {"x"}, nothing),
            "{alpha=1.673200011253357, gamma=1.0506999492645264}");
  ExpectHas(OneNode(6, "Selu", {"x"}, nothing), "= Selu(%x) \"node\"");
  ExpectHas(OneNode(1, "Tile", {"x", "x", "x"}, nothing), "unsupported");
  const auto p = [](float value) {
    return [value](ModelBuilder&, onnx::NodeProto& n) {
      SetFloat(n, "p", value);
      SetInts(n, "kernel_shape", {2});
    };
  };
  ExpectHas(OneNode(1, "LpPool", {"x"}, p(2)), "p=2}");
  ExpectHas(OneNode(1, "LpPool", {"x"}, p(1.5f)), "unsupported");
}

TEST(OnnxVersions, HintsOfOpset1AreIgnored) {
  ExpectHas(OneNode(1, "Relu", {"x"},
                    [](ModelBuilder&, onnx::NodeProto& n) { SetInts(n, "consumed_inputs", {0}); }),
            "%y: f32[2x3x4] = Relu(%x) \"node\"");
}

TEST(OnnxVersions, ConstantNodesOfEveryKind) {
  using onnx::AttributeProto;
  const auto constant = [](const std::function<void(onnx::NodeProto&)>& set) {
    ModelBuilder model(13);
    set(model.Node("Constant", {}, {"y"}));
    model.Output("y");
    return Prepared(model);
  };
  using testing::AddAttribute;
  ExpectHas(constant([](auto& n) { AddAttribute(n, "value_int", AttributeProto::INT).set_i(-3); }),
            "const %y: i64[] = [-3]");
  ExpectHas(
      constant([](auto& n) { AddAttribute(n, "value_float", AttributeProto::FLOAT).set_f(2); }),
      "const %y: f32[] = [2]");
  ExpectHas(constant([](auto& n) {
              SetInts(n, "value_ints", {1, 2});
            }),
            "const %y: i64[2] = [1, 2]");
  ExpectHas(constant([](auto& n) {
              AddAttribute(n, "value_floats", AttributeProto::FLOATS).add_floats(4);
            }),
            "const %y: f32[1] = [4]");
  ExpectHas(constant([](auto& n) {
              onnx::TensorProto& t = *AddAttribute(n, "value", AttributeProto::TENSOR).mutable_t();
              t.set_data_type(onnx::TensorProto::INT8);
              t.add_dims(2);
              t.set_raw_data("\x01\xff", 2);
            }),
            "const %y: i8[2] = [1, -1]");
  ExpectHas(constant([](auto& n) { SetString(n, "value_string", "s"); }), "unsupported");
  ExpectHas(constant([](auto& n) {
              AddAttribute(n, "sparse_value", AttributeProto::SPARSE_TENSOR)
                  .mutable_sparse_tensor()
                  ->add_dims(1);
            }),
            "sparse tensor");
  ExpectHas(constant([](auto&) {}), "0 attributes");
}

TEST(OnnxVersions, InitializersListedAsInputsAreConstants) {
  ModelBuilder model(7);
  model.Input("x", {3});
  model.Input("w", {3});
  model.Floats("w", {3}, {1, 2, 3});
  model.Node("Add", {"x", "w"}, {"y"});
  model.Output("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->inputs.size(), 1u);
}

TEST(OnnxVersions, UnusedExtraOutputsAreDropped) {
  ModelBuilder model(12);
  model.Input("x", {1, 1, 4});
  onnx::NodeProto& pool = model.Node("MaxPool", {"x"}, {"y", "indices"});
  SetInts(pool, "kernel_shape", {2});
  SetInt(pool, "storage_order", 1);
  model.Output("y");
  ExpectHas(Prepared(model), "%y: f32[1x1x3] = MaxPool(%x) {kernel_shape=[2]}");
  model.Output("indices");
  ExpectHas(Prepared(model), "%indices: i64[1x1x3] = ");
}

}  // namespace
}  // namespace aicf
