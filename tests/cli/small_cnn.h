/// A small convolutional network that tests build, with all the usual layers of such a network.
#pragma once

#include <string>
#include <vector>

#include "onnx/onnx.pb.h"

namespace aicf::testing {

/// scores[1,10] of image[1,3,16,16]: conv 3x3 + relu, max pool 2x2, conv 3x3 + relu, global average
/// pool, matrix product + bias, softmax. Nodes are named conv1, relu1, pool1, conv2, relu2, pool2,
/// flat, dense, bias, softmax. Weights are a fixed sequence.
onnx::ModelProto SmallCnn();

/// 768 values of an image.
std::vector<float> SmallCnnInput();

}  // namespace aicf::testing
