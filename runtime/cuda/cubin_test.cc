#include "runtime/cuda/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "runtime/test_program.h"

namespace aicf::cuda {
namespace {

/// A header, one section table of three sections (none, names, code) and one segment.
struct Cubin {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[3] = {};
  Elf64_Phdr segment = {};
  char names[8] = "\0.text";
  char code[16] = {};

  Cubin() {
    std::memcpy(&header, aicf::testing::EmptyCubin().data(), sizeof(header));
    header.e_shoff = offsetof(Cubin, sections);
    header.e_shnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shstrndx = 1;
    header.e_phoff = offsetof(Cubin, segment);
    header.e_phnum = 1;
    header.e_phentsize = sizeof(Elf64_Phdr);
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = offsetof(Cubin, names);
    sections[1].sh_size = sizeof(names);
    sections[2].sh_type = SHT_PROGBITS;
    sections[2].sh_offset = offsetof(Cubin, code);
    sections[2].sh_size = sizeof(code);
    segment.p_offset = offsetof(Cubin, code);
    segment.p_filesz = sizeof(code);
  }
  std::vector<std::byte> bytes() const {
    const auto* first = reinterpret_cast<const std::byte*>(this);
    return {first, first + sizeof(*this)};
  }
};

void ExpectBad(const Cubin& cubin, std::string_view why) {
  const Status status = CheckCubin(cubin.bytes());
  EXPECT_EQ(status.code(), Code::kBadArtifact) << why;
  EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
}

TEST(CheckCubin, AcceptsWellFormedOnes) {
  EXPECT_TRUE(CheckCubin(Cubin().bytes()).ok());
  EXPECT_TRUE(CheckCubin(aicf::testing::EmptyCubin()).ok());
  Cubin cubin;
  cubin.sections[2].sh_type = SHT_NOBITS;  // occupies no bytes of the file
  cubin.sections[2].sh_size = uint64_t{1} << 40;
  EXPECT_TRUE(CheckCubin(cubin.bytes()).ok());
}

TEST(CheckCubin, EveryTruncationIsRefused) {
  const std::vector<std::byte> whole = Cubin().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(CheckCubin(std::span(whole).first(size)).code(), Code::kBadArtifact) << size;
  }
}

TEST(CheckCubin, EachRule) {
  Cubin c;
  c.header.e_ident[1] = 'x';
  ExpectBad(c, "not ELF");
  c = Cubin();
  c.header.e_ident[EI_CLASS] = ELFCLASS32;
  ExpectBad(c, "64-bit");
  c = Cubin();
  c.header.e_machine = EM_X86_64;
  ExpectBad(c, "machine 62");
  c = Cubin();
  c.header.e_shoff = ~uint64_t{0} - 100;
  ExpectBad(c, "section table");
  c = Cubin();
  c.header.e_shentsize = 8;
  ExpectBad(c, "section entries");
  c = Cubin();
  c.header.e_shnum = 65535;
  ExpectBad(c, "section table");
  c = Cubin();
  c.header.e_phoff = 1 << 20;
  ExpectBad(c, "segment table");
  c = Cubin();
  c.header.e_shstrndx = 3;
  ExpectBad(c, "section names");
  c = Cubin();
  c.sections[2].sh_offset = ~uint64_t{0};
  ExpectBad(c, "section 2 leaves");
  c = Cubin();
  c.sections[2].sh_size = ~uint64_t{0};
  ExpectBad(c, "section 2 leaves");
  c = Cubin();
  c.names[7] = 'x';
  ExpectBad(c, "do not end");
  c = Cubin();
  c.segment.p_filesz = 1 << 20;
  ExpectBad(c, "segment 0");
}

TEST(CheckCubin, NoiseIsReadInsideItsBounds) {
  std::mt19937 random(3);
  const Cubin cubin;
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = cubin.bytes();
    for (int flips = 0; flips < 1 + round % 4; ++flips) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << (random() % 8));
    }
    accepted += CheckCubin(bytes).ok();  // sanitizers watch the reads
  }
  EXPECT_GT(accepted, 0);  // bits of the code itself
  EXPECT_LT(accepted, 20000);
}

}  // namespace
}  // namespace aicf::cuda
