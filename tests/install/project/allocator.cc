// A program with allocation functions of its own, as those who count or arrange their memory have.
// What the library makes and the program frees has to come from them, and the other way round.
#include <aicf/aicf.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace {

constexpr std::size_t kMagic = 0x600d600d;
struct alignas(std::max_align_t) Head {
  std::size_t magic;
};

std::size_t made = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  auto* head = static_cast<Head*>(std::malloc(bytes + sizeof(Head)));
  if (head == nullptr) throw std::bad_alloc();
  head->magic = kMagic;
  ++made;
  return head + 1;
}

void operator delete(void* address) noexcept {
  if (address == nullptr) return;
  Head* head = static_cast<Head*>(address) - 1;
  if (head->magic != kMagic) {
    std::fputs("freed what operator new of this program has not made\n", stderr);
    std::abort();
  }
  head->magic = 0;
  std::free(head);
}

void operator delete(void* address, std::size_t) noexcept { operator delete(address); }

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto missing = aicf::Program::Load("/a/file/that/is/not/there/and/has/a/long/name");
  if (missing.ok() || missing.status().ToString().size() < 40) return 1;
  const std::size_t before = made;
  auto program = aicf::Program::Load(argv[1]);
  if (!program.ok()) return 1;
  auto session = aicf::Session::Create(*program, {});
  if (!session.ok()) return 1;
  std::printf("%s: %zu allocations\n", (*session)->device_name().c_str(), made - before);
  return made == before ? 1 : 0;
}
