#include "compiler/ir/graph.h"

#include <unordered_set>

namespace aicf::ir {
namespace {

template <class T>
const T* Find(const AttrMap& attrs, std::string_view key) {
  const auto it = attrs.find(key);
  return it == attrs.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace

int64_t Node::Int(std::string_view key, int64_t fallback) const {
  const int64_t* v = Find<int64_t>(attrs, key);
  return v != nullptr ? *v : fallback;
}

double Node::Float(std::string_view key, double fallback) const {
  const double* v = Find<double>(attrs, key);
  // ONNX's attributes are float, and so are their defaults: 0.01 is the float next to it.
  return v != nullptr ? *v : static_cast<double>(static_cast<float>(fallback));
}

std::string Node::Str(std::string_view key, std::string_view fallback) const {
  const std::string* v = Find<std::string>(attrs, key);
  return v != nullptr ? *v : std::string(fallback);
}

const Body* Node::FindBody(std::string_view attribute) const {
  for (const Body& body : bodies) {
    if (body.attribute == attribute) return &body;
  }
  return nullptr;
}

std::vector<int64_t> Node::Ints(std::string_view key) const {
  const std::vector<int64_t>* v = Find<std::vector<int64_t>>(attrs, key);
  return v != nullptr ? *v : std::vector<int64_t>{};
}

ValueId Graph::AddValue(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size()) - 1;
}

std::string Graph::UniqueName(std::string_view base) const {
  std::unordered_set<std::string_view> names;
  for (const Value& v : values) {
    if (v.name.starts_with(base)) names.insert(v.name);
  }
  std::string candidate(base);
  for (int i = 1; names.contains(candidate); ++i) candidate = StrCat(base, ".", i);
  return candidate;
}

std::vector<int> ProducerOf(const Graph& graph) {
  std::vector<int> producer(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId v : graph.nodes[n].outputs) {
      if (v != kNoValue) producer[v] = static_cast<int>(n);
    }
  }
  return producer;
}

std::vector<std::vector<int>> UsersOf(const Graph& graph) {
  std::vector<std::vector<int>> users(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId v : graph.nodes[n].inputs) {
      if (v == kNoValue) continue;
      std::vector<int>& list = users[v];
      if (list.empty() || list.back() != static_cast<int>(n)) list.push_back(static_cast<int>(n));
    }
  }
  return users;
}

}  // namespace aicf::ir
