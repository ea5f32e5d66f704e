#include "runtime/language/page_pool.h"

namespace aicf::language {

PagePool::PagePool(int32_t pages) : taken_(static_cast<size_t>(pages), false) {
  free_.reserve(taken_.size());
  for (int32_t page = pages; page-- > 0;) free_.push_back(page);
}

bool PagePool::Grow(size_t count, std::vector<int32_t>* list) {
  if (count <= list->size()) return true;
  if (count - list->size() > free_.size()) return false;
  while (list->size() < count) {
    const int32_t page = free_.back();
    list->push_back(page);
    free_.pop_back();
    taken_[static_cast<size_t>(page)] = true;
  }
  return true;
}

Status PagePool::Release(std::vector<int32_t>* list) {
  while (!list->empty()) {
    const int32_t page = list->back();
    if (page < 0 || page >= size() || !taken_[static_cast<size_t>(page)]) {
      return Error(Code::kInternal, "page ", page, " is given back, and nobody has it");
    }
    taken_[static_cast<size_t>(page)] = false;
    free_.push_back(page);
    list->pop_back();
  }
  return OkStatus();
}

}  // namespace aicf::language
