/// Gaps on their way into a report: brought into the model's order, equal ones of several nodes
/// joined.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/check/gaps.h"

namespace aicf {

class GapList {
 public:
  enum class Section : uint8_t { kInputs, kInitializers, kNodes, kOutputs, kModel };

  /// Joins a gap of equal section, subject and problem. `place` orders gaps of one section; `node`
  /// may be empty. An empty help is looked up.
  void Add(Section section, size_t place, std::string subject, std::string_view node,
           std::string problem, std::string help = {}, std::string_view op = {});
  /// Takes a gap back that another one covers.
  void Remove(Section section, const std::string& subject, const std::string& problem);
  bool empty() const { return index_.empty(); }
  std::vector<Gap> InOrder() &&;

 private:
  struct Entry {
    Section section;
    size_t place;
    Gap gap;
    bool removed = false;
  };
  std::vector<Entry> entries_;
  std::map<std::tuple<Section, std::string, std::string>, size_t> index_;  ///< subject, problem
};

}  // namespace aicf
