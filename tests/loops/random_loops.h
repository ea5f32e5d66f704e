/// Makes random loops, in which states are swapped, kept and mixed, values from outside are
/// captured, and loops are nested; and interprets them in a plain way.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/loops/loop_model.h"

namespace aicf::loops {

inline constexpr int64_t kWidth = 3;  ///< elements of every value
using Vector = std::vector<double>;

/// One instruction: result = op of earlier values, or a loop.
struct Instruction {
  std::string op;
  std::vector<int> args;               ///< values of this block or of one around it
  std::shared_ptr<struct Block> body;  ///< the body of a loop; null for an op
  int result = 0;                      ///< the first result; a loop has as many as it has states
  int trips = 0;                       ///< constant added to the loop's number of trips
};

/// A block of instructions. Values have numbers that are unique over all blocks. If a block reads a
/// value that it does not make itself, the value is captured from outside.
struct Block {
  std::vector<int> states;  ///< the values that stand for the states at the start of a trip
  std::vector<Instruction> code;
  std::vector<int> next;  ///< the states' values after a trip
};

/// A model whose inputs are "trips" and the values of `inputs`. All values have kWidth elements.
struct Case {
  std::vector<int> inputs;
  Block main;  ///< its `next` are the model's outputs
  int values = 0;
  ModelBuilder model;
};

Case MakeCase(uint32_t seed);
/// Runs a block once. Every loop in it makes `trips` trips plus its own number of them.
void Execute(const Block& block, int64_t trips, std::vector<Vector>& values);
size_t CountLoops(const Block& block);
std::string NameOf(int value);
/// Random inputs by name. Unless `values` is null, it also receives the inputs.
Feeds RandomFeeds(const Case& c, int64_t trips, std::mt19937& rng, std::vector<Vector>* values);

}  // namespace aicf::loops
