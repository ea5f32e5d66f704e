/// Compiles instances of the kernels that multiply few rows by weights in blocks, for
/// bench/block_products/chains.cu.
///
///   block_products DIR < LINES
///
/// A line is KERNEL FORMAT ROWS K N [PARAMETERS], such as
///   cuda.blockgemm.decode Q4_K 1 4096 14336
///   warps=16,along_k=8,stages=3,cluster=1,blocks=128,ahead=1
/// for bf16 rows. Without PARAMETERS, those that are predicted to be the fastest are taken, with
/// reading ahead. Each line becomes a cubin in DIR and a line of DIR/manifest. Needs NVRTC, but no
/// GPU.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/codegen/images.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "kernels/abi/registry.h"

namespace aicf {
namespace {

struct Line {
  std::string text;
  const abi::KernelInfo* kernel = nullptr;
  std::unique_ptr<abi::Problem> problem;
  abi::Variant variant;
};

Result<BlockFormat> FormatNamed(std::string_view name) {
  for (int f = 0; f < kBlockFormatCount; ++f) {
    const auto format = static_cast<BlockFormat>(f);
    if (InfoOf(format).name == name) return format;
  }
  return Error(Code::kInvalidArgument, "there is no block format ", name);
}

abi::Problem ProductOf(BlockFormat format, int64_t rows, int64_t k, int64_t n) {
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{format};
  p.math = abi::MathMode::kBf16;
  p.core_inputs = 2;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k)));
  p.inputs = {abi::DenseView(DType::kBF16, {rows, k}), abi::DenseView(DType::kU8, {n, bytes})};
  p.outputs = {abi::DenseView(DType::kBF16, {rows, n})};
  return p;
}

Result<Line> ParseLine(const std::string& text, const abi::DeviceSpec& device) {
  std::istringstream in(text);
  std::string key, format_name, parameters;
  int64_t rows = 0, k = 0, n = 0;
  in >> key >> format_name >> rows >> k >> n;
  if (!in) return Error(Code::kInvalidArgument, "expected KERNEL FORMAT ROWS K N: ", text);
  in >> parameters;
  Line line;
  line.text = text;
  line.kernel = abi::FindKernel(key);
  if (line.kernel == nullptr) return Error(Code::kInvalidArgument, "there is no kernel ", key);
  AICF_ASSIGN_OR_RETURN(const BlockFormat format, FormatNamed(format_name));
  line.problem = std::make_unique<abi::Problem>(ProductOf(format, rows, k, n));
  AICF_RETURN_IF_ERROR(abi::ValidateProblem(*line.problem));
  abi::Parameters set;
  if (parameters.empty()) {
    const auto best = abi::BestCandidate(*line.kernel, *line.problem, device);
    if (!best) return Error(Code::kInvalidArgument, key, " does not take ", text);
    set = abi::WithAhead(*line.kernel, best->variant.parameters);
    line.text += StrCat(" ", abi::ToString(set));
  } else {
    AICF_ASSIGN_OR_RETURN(set, abi::ParseParameters(parameters));
  }
  const std::string refusal = line.kernel->refuse(*line.problem, set, device);
  if (!refusal.empty()) return Error(Code::kInvalidArgument, text, ": ", refusal);
  line.variant = line.kernel->variant(*line.problem, set);
  return line;
}

Status Write(const std::string& folder, std::istream& in) {
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec device, abi::FindDevice("cuda"));
  std::vector<Line> lines;
  std::vector<ImageRequest> requests;
  for (std::string text; std::getline(in, text);) {
    AICF_ASSIGN_OR_RETURN(Line line, ParseLine(text, device));
    lines.push_back(std::move(line));
    requests.push_back({lines.back().kernel, lines.back().problem.get(), lines.back().variant});
  }
  AICF_ASSIGN_OR_RETURN(const CompiledImages images, CompileImages(requests, device, {}));
  std::ofstream manifest(folder + "/manifest");
  for (size_t i = 0; i < lines.size(); ++i) {
    const CompiledImage& image = images.images[images.image_of[i]];
    const std::string name = StrCat(images.image_of[i], ".cubin");
    std::ofstream(folder + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.cubin.data()),
               static_cast<std::streamsize>(image.cubin.size()));
    const abi::LaunchConfig& launch = lines[i].variant.launch;
    const auto packed = lines[i].kernel->packed(*lines[i].problem, lines[i].variant.parameters, 1);
    manifest << name << ' ' << image.symbol << ' ' << launch.grid[0] << ' ' << launch.block[0]
             << ' ' << launch.cluster[0] << ' ' << launch.dynamic_shared_bytes << ' '
             << packed->bytes << ' ' << lines[i].text << '\n';
  }
  if (!manifest) return Error(Code::kIo, "cannot write ", folder, "/manifest");
  return OkStatus();
}

}  // namespace
}  // namespace aicf

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: block_products DIR < LINES\n");
    return 2;
  }
  const aicf::Status status = aicf::Write(argv[1], std::cin);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
