/// A GGUF file: its directory, every tensor's values, the tokenizer, and the graph of its model.
#include "compiler/import/gguf/gguf.h"

#include "compiler/import/tokenizer/gguf_tokenizer.h"
#include "compiler/source/language.h"
#include "runtime/text/tokenizer.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

void ReadNames(const gguf::GgufFile& file) {
  for (const gguf::Metadata& m : file.metadata()) ReadWord(m.key);
}

void ReadTokenizer(const gguf::GgufFile& file) {
  auto read = ReadGgufTokenizer(file);
  CheckTyped(read);
  if (!read.ok() || !read->has_value()) return;
  const auto tokenizer = text::Tokenizer::Create((*read)->data);
  CheckTyped(tokenizer);
  if (tokenizer.ok()) CheckTyped(tokenizer->Encode("ab <s> \xc3\xa9 12"));
}

void RunGguf(Input input) {
  const Scratch& scratch = TheScratch();
  scratch.Put("model.gguf", TextOf(input));
  const std::string path = scratch.Path("model.gguf");
  const auto file = gguf::ReadGguf(path);
  CheckTyped(file);
  if (!file.ok()) return;
  for (const gguf::Tensor& t : file->tensors()) CheckTyped(gguf::DecodeTensor(t));
  ReadTokenizer(*file);
  CheckTyped(ImportModel(path, SmallOptions("cpu:avx2")));
  if (Planted()) ReadNames(*file);
}

}  // namespace

Target GgufTarget() { return {"gguf", &RunGguf}; }

}  // namespace aicf::fuzz
