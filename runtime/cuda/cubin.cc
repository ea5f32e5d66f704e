#include "runtime/cuda/cubin.h"

#include <elf.h>

#include <cstring>

#include "base/checked.h"

namespace aicf::cuda {
namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA

template <class... Pieces>
Status Bad(const Pieces&... pieces) {
  return Error(Code::kBadArtifact, "the device code is no cubin: ", pieces...);
}

/// Record `index` of a table of T at `offset`. REQUIRES: it lies inside the image.
template <class T>
T Read(std::span<const std::byte> image, uint64_t offset, uint64_t index) {
  T record;
  std::memcpy(&record, image.data() + offset + index * sizeof(T), sizeof(T));
  return record;
}

Status CheckTable(std::span<const std::byte> image, std::string_view what, uint64_t offset,
                  uint64_t count, uint64_t entry_bytes, uint64_t expected_bytes) {
  if (count == 0) return OkStatus();
  if (entry_bytes != expected_bytes) return Bad(what, " entries have ", entry_bytes, " bytes");
  // The count has 16 bits: the product fits.
  if (InRange(offset, count * entry_bytes, image.size())) return OkStatus();
  return Bad("its ", what, " table leaves the image of ", image.size(), " bytes");
}

Status CheckSections(std::span<const std::byte> image, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = Read<Elf64_Shdr>(image, header.e_shoff, i);
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    if (!InRange(section.sh_offset, section.sh_size, image.size())) {
      return Bad("section ", i, " leaves the image of ", image.size(), " bytes");
    }
    const bool strings = section.sh_type == SHT_STRTAB && section.sh_size > 0;
    if (strings && image[section.sh_offset + section.sh_size - 1] != std::byte{0}) {
      return Bad("the names of section ", i, " do not end");
    }
  }
  return OkStatus();
}

Status CheckSegments(std::span<const std::byte> image, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = Read<Elf64_Phdr>(image, header.e_phoff, i);
    if (!InRange(segment.p_offset, segment.p_filesz, image.size())) {
      return Bad("segment ", i, " leaves the image of ", image.size(), " bytes");
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckCubin(std::span<const std::byte> image) {
  if (image.size() < sizeof(Elf64_Ehdr)) return Bad("it has ", image.size(), " bytes");
  const auto header = Read<Elf64_Ehdr>(image, 0, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Bad("it is not ELF");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Bad("it is not 64-bit little-endian ELF");
  }
  if (header.e_machine != kMachineCuda) return Bad("it is for machine ", header.e_machine);
  AICF_RETURN_IF_ERROR(CheckTable(image, "section", header.e_shoff, header.e_shnum,
                                  header.e_shentsize, sizeof(Elf64_Shdr)));
  AICF_RETURN_IF_ERROR(CheckTable(image, "segment", header.e_phoff, header.e_phnum,
                                  header.e_phentsize, sizeof(Elf64_Phdr)));
  if (header.e_shnum > 0 && header.e_shstrndx >= header.e_shnum) {
    return Bad("its section names are in section ", header.e_shstrndx, " of ", header.e_shnum);
  }
  AICF_RETURN_IF_ERROR(CheckSections(image, header));
  return CheckSegments(image, header);
}

}  // namespace aicf::cuda
