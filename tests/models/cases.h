/// The real models with reference inputs and outputs, listed in $AICF_TEST_MODELS/manifest.json.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "base/dims.h"

namespace aicf::testing {

struct CaseTensor {
  std::string name;
  std::string file;
  Dims shape;
};

/// A model with its inputs and outputs. It is compiled with CompileOptions::nan_branches, because
/// the voice-activity models choose between branches by their sample rate, which is an input, and
/// one of the branches cannot run with the shapes that the other one needs.
struct ModelCase {
  std::string name;
  std::string model;
  std::vector<CaseTensor> inputs;
  std::vector<CaseTensor> outputs;  ///< shape unset
};

/// Empty when the variable is unset or the manifest is missing.
std::vector<ModelCase> LoadCases();

/// The text detector, classifier and recogniser that scripts/test.sh fetches, with the shapes of
/// the collection's cases but without files of inputs and outputs. Empty when AICF_PPOCR_MODELS is
/// unset.
std::vector<ModelCase> FetchedCases();

/// The cases of LoadCases followed by those of FetchedCases.
std::vector<ModelCase> AllCases();

/// Names a case's tests: the case's name reduced to letters, digits and underscores.
struct CaseName {
  template <class Case>
  std::string operator()(const ::testing::TestParamInfo<Case>& info) const {
    std::string name = info.param.name;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
  }
};

}  // namespace aicf::testing
