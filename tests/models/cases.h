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

/// Compiled with CompileOptions::nan_branches: the voice-activity models choose by their sample
/// rate, an input, between branches of which one cannot run with the shapes of the other's.
struct ModelCase {
  std::string name;
  std::string model;
  std::vector<CaseTensor> inputs;
  std::vector<CaseTensor> outputs;  ///< shape unset
};

/// Empty when the variable is unset or the manifest is missing.
std::vector<ModelCase> LoadCases();

/// The text detector, classifier and recogniser that scripts/test.sh fetches, at the shapes of the
/// collection's cases; without files. Empty when AICF_PPOCR_MODELS is unset.
std::vector<ModelCase> FetchedCases();

/// Those of LoadCases, then those of FetchedCases.
std::vector<ModelCase> AllCases();

/// What a test of a case is called: the case's name in letters, digits and underscores.
struct CaseName {
  template <class Case>
  std::string operator()(const ::testing::TestParamInfo<Case>& info) const {
    std::string name = info.param.name;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
  }
};

}  // namespace aicf::testing
