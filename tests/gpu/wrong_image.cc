#include "tests/gpu/wrong_image.h"

#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "compiler/codegen/cuda_source.h"
#include "compiler/codegen/nvrtc.h"

namespace aicf::gpu {
namespace {

Result<std::vector<std::byte>> WrongCubin(const schema::Program& program, const schema::Step& step,
                                          const abi::Problem& wrong) {
  const abi::Variant variant = schema::VariantOf(step);
  std::string source = WriteCudaSource(*abi::FindKernel(step.kernel), wrong, variant);
  const std::string other = abi::InstanceSymbol(step.kernel, wrong, variant);
  const size_t at = source.find(other);
  if (at == std::string::npos || other == step.symbol) {
    return Error(Code::kInternal, "no wrong kernel to plant for ", step.symbol);
  }
  source.replace(at, other.size(), step.symbol);
  AICF_ASSIGN_OR_RETURN(const auto nvrtc, Nvrtc::Open());
  return nvrtc->Compile(source, program.images[static_cast<size_t>(step.image)].arch);
}

}  // namespace

Status PlantWrongImage(schema::Contents& contents, uint32_t step, const abi::Problem& wrong) {
  schema::Program& program = contents.program;
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> planted,
                        WrongCubin(program, program.steps[step], wrong));
  const auto index = static_cast<size_t>(program.steps[step].image);
  std::vector<std::byte> images;
  for (size_t i = 0; i < program.images.size(); ++i) {
    schema::Image& image = program.images[i];
    const auto first = contents.images.begin() + static_cast<int64_t>(image.offset);
    const std::vector<std::byte> code =
        i == index ? planted
                   : std::vector<std::byte>(first, first + static_cast<int64_t>(image.bytes));
    image.offset = images.size();
    image.bytes = code.size();
    image.hash = HashBytes(code);
    images.insert(images.end(), code.begin(), code.end());
    images.resize((images.size() + 63) & ~size_t{63});
  }
  contents.images = std::move(images);
  return OkStatus();
}

}  // namespace aicf::gpu
