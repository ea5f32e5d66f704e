// TfIdfVectorizer over integers: every n-gram of the pool is compared with every position.
#include <algorithm>

#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

struct Pool {
  std::vector<int64_t> items;    // the n-grams one after the other, shorter ones first
  std::vector<int64_t> counts;   // where the n-grams of each length begin in `items`
  std::vector<int64_t> indexes;  // output position of each n-gram
  int64_t width = 0;             // of the output
};

Status Bad(std::string_view what) { return Error(Code::kBadModel, what); }

Result<Pool> ReadPool(const ir::Node& node) {
  if (node.Has("pool_strings")) return Error(Code::kUnsupported, "n-grams of strings");
  Pool p{node.Ints("pool_int64s"), node.Ints("ngram_counts"), node.Ints("ngram_indexes"), 0};
  if (p.counts.empty() || p.indexes.empty()) return Bad("ngram_counts or ngram_indexes is empty");
  const auto size = static_cast<int64_t>(p.items.size());
  int64_t grams = 0;
  for (size_t i = 0; i < p.counts.size(); ++i) {
    const int64_t end = i + 1 < p.counts.size() ? p.counts[i + 1] : size;
    const int64_t n = static_cast<int64_t>(i) + 1;
    if (p.counts[i] < 0 || p.counts[i] > end || end > size || (end - p.counts[i]) % n != 0) {
      return Bad("ngram_counts does not divide pool_int64s into n-grams");
    }
    grams += (end - p.counts[i]) / n;
  }
  if (grams != static_cast<int64_t>(p.indexes.size())) {
    return Bad("ngram_indexes has not one entry per n-gram of the pool");
  }
  std::vector<int64_t> sorted = p.indexes;
  std::ranges::sort(sorted);
  if (sorted[0] < 0 || sorted.back() >= kMaxTableElements)
    return Bad("ngram_indexes is out of range");
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    return Error(Code::kUnsupported, "two n-grams with one index");
  }
  p.width = sorted.back() + 1;
  return p;
}

// f32 [B, grams]: how often each n-gram of length n occurs with `skip` elements left out between
// its own. x: [B, C].
ir::ValueId CountGrams(Composer& c, ir::ValueId x, const Pool& pool, int64_t first, int64_t grams,
                       int64_t n, int64_t skip) {
  const Dims shape = c.Shape(x);
  const int64_t places = shape[1] - (n - 1) * (skip + 1);
  if (places <= 0) return ir::kNoValue;
  ir::ValueId all = ir::kNoValue;
  for (int64_t j = 0; j < n; ++j) {
    std::vector<int64_t> wanted;
    for (int64_t g = 0; g < grams; ++g) {
      wanted.push_back(pool.items[static_cast<size_t>(first + g * n + j)]);
    }
    const ir::ValueId at = c.Reshape(c.Window(x, 1, j * (skip + 1), places), {shape[0], places, 1});
    const ir::ValueId same = c.Op("Equal", {at, c.Ints(wanted)});
    all = all == ir::kNoValue ? same : c.Op("And", {all, same});
  }
  return Reduce(c, "ReduceSum", c.Cast(all, DType::kF32), {1}, false);
}

// f32 [B, grams of length n], every allowed skip counted.
ir::ValueId CountLength(Composer& c, ir::ValueId x, const Pool& pool, int64_t n, int64_t grams,
                        int64_t skips) {
  ir::ValueId total = ir::kNoValue;
  // An n-gram of one element has no gap in which elements could be left out.
  for (int64_t skip = 0; skip <= (n == 1 ? 0 : skips); ++skip) {
    const ir::ValueId count =
        CountGrams(c, x, pool, pool.counts[static_cast<size_t>(n - 1)], grams, n, skip);
    if (count == ir::kNoValue) break;  // longer skips do not fit either
    total = total == ir::kNoValue ? count : c.Add(total, count);
  }
  if (total != ir::kNoValue) return total;
  return c.Filled(0, DType::kF32, {c.Shape(x)[0], grams});
}

// f32 [B, all n-grams of the pool]. N-grams whose length is outside the range of the attributes
// count 0.
ir::ValueId CountAll(Composer& c, ir::ValueId x, const Pool& pool, int64_t skips) {
  const int64_t shortest = c.node().Int("min_gram_length", 1);
  const int64_t longest = c.node().Int("max_gram_length", 1);
  std::vector<ir::ValueId> parts;
  for (size_t i = 0; i < pool.counts.size(); ++i) {
    const int64_t n = static_cast<int64_t>(i) + 1;
    const int64_t end =
        i + 1 < pool.counts.size() ? pool.counts[i + 1] : static_cast<int64_t>(pool.items.size());
    const int64_t grams = (end - pool.counts[i]) / n;
    if (grams == 0) continue;
    parts.push_back(n >= shortest && n <= longest
                        ? CountLength(c, x, pool, n, grams, skips)
                        : c.Filled(0, DType::kF32, {c.Shape(x)[0], grams}));
  }
  return c.Concat(std::move(parts), 1);
}

// The counts, weighted as the attribute "mode" says.
Result<ir::ValueId> Weighed(Composer& c, ir::ValueId counts, size_t grams) {
  const std::string mode = c.node().Str("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return Bad("mode is none of TF, IDF, TFIDF");
  if (mode == "TF") return counts;
  std::vector<double> weights(grams, 1);
  const auto given = c.node().attrs.find("weights");
  if (given != c.node().attrs.end()) weights = std::get<std::vector<double>>(given->second);
  if (weights.size() != grams) return Bad("weights has not one entry per n-gram");
  if (mode == "IDF") counts = c.Op("Min", {counts, c.Scalar(1, DType::kF32)});
  return c.Mul(counts, Floats(c, weights, {static_cast<int64_t>(grams)}, DType::kF32));
}

}  // namespace

Status ExpandTfIdfVectorizer(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const Pool pool, ReadPool(c.node()));
  const Dims shape = c.Shape(c.In(0));
  if (shape.rank() != 1 && shape.rank() != 2) return Bad("its input has neither 1 nor 2 axes");
  const int64_t skips = c.node().Int("max_skip_count", 0);
  if (skips < 0) return Bad("max_skip_count is negative");
  const int64_t rows = shape.rank() == 2 ? shape[0] : 1;
  const ir::ValueId x = c.Reshape(c.Cast(c.In(0), DType::kI64), {rows, shape[shape.rank() - 1]});
  const size_t grams = pool.indexes.size();
  AICF_ASSIGN_OR_RETURN(ir::ValueId counts, Weighed(c, CountAll(c, x, pool, skips), grams));
  // Output positions without an n-gram read a column of zeros, which is appended to the counts.
  std::vector<int64_t> source(static_cast<size_t>(pool.width), static_cast<int64_t>(grams));
  for (size_t g = 0; g < grams; ++g)
    source[static_cast<size_t>(pool.indexes[g])] = static_cast<int64_t>(g);
  counts = c.Concat({counts, c.Filled(0, DType::kF32, {rows, 1})}, 1);
  const ir::ValueId y = c.Op("Gather", {counts, c.Ints(source)}, {{"axis", int64_t{1}}});
  c.Output(0, shape.rank() == 1 ? c.Reshape(y, {pool.width}) : y);
  return c.status();
}

}  // namespace aicf
