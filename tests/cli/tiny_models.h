/// Tiny ONNX models made in the test, good and bad, and the artifact of the good one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tests/cli/tool.h"

namespace aicf::testing {

/// Appends a node, whose name is "node_" followed by the name of its first output.
onnx::NodeProto& AddNode(onnx::GraphProto& graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);

/// Describes an input or output of float32.
void SetTensorInfo(onnx::ValueInfoProto& info, const std::string& name,
                   const std::vector<int64_t>& shape);

/// y[2,3] = softmax(relu(x[2,4] * w + b)) and, as a second output, h = relu(...) * 2 - x_sum, where
/// x_sum is the sum of x over its columns: a product, a fused chain, a reduction, a normalisation.
onnx::ModelProto TinyModel();

/// Values for x.
inline const std::vector<float> kTinyInput = {0.5f, -1, 2, 0.25f, 1.5f, 0.75f, -0.5f, 3};

/// What TinyModel computes, in double precision. x has 8 elements, y and h have 6.
void TinyReference(const float* x, double* y, double* h);

std::string Serialized(const onnx::ModelProto& model);

/// Writes the model, changed by `change`, as DIR/NAME.onnx; gives the path.
std::string PutModel(const TempDir& dir, const std::string& name,
                     const std::function<void(onnx::ModelProto&)>& change = {});

/// Compiles TinyModel for this CPU into DIR/NAME; gives the path. Fails the test on any error.
std::string PutArtifact(const TempDir& dir, const std::string& name = "tiny.aicf",
                        const std::vector<std::string>& flags = {});

/// A .npy file of float32 values.
void PutNpy(const std::string& path, const std::string& shape, const std::vector<float>& values);

/// kTinyInput as DIR/x.npy, and what TinyModel computes from it as DIR/y.npy and DIR/h.npy.
void PutTinySample(const TempDir& dir);

}  // namespace aicf::testing
