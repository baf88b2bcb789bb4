#include "foundation/system/large_pages.h"

#ifdef __GLIBC__
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace axle::system {

#ifdef __GLIBC__
void prefer_large_pages() {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  /// Of addresses: what nobody touches is not there.
  constexpr std::size_t growth = 8 * large_page;
  /// Setting one threshold sets all: the largest pages of indexes leave no hole in the heap.
  constexpr std::size_t mapped_alone = std::size_t{1} << 20;
  ::mallopt(M_TOP_PAD, static_cast<int>(growth));
  ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * growth));
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(growth));
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  // More than the heap has left, so that it grows now. `volatile`: or no compiler would allocate
  // it.
  void* const volatile block = std::malloc(mapped_alone / 2);
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const auto new_end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  std::free(block);
  const std::uintptr_t first = (end + large_page - 1) / large_page * large_page;
  if (new_end > first + large_page) {
    ::madvise(reinterpret_cast<void*>(first), new_end - first, MADV_HUGEPAGE);
    // What lies before the first large page is taken and never touched: pages that nobody touches
    // are not there.
    constexpr std::uintptr_t heads = 64;  // of this block and the next one
    if (begin < first - heads) {
      void* const volatile untouched = std::malloc(first - heads - begin);
      static_cast<void>(untouched);
    }
  }
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(mapped_alone));
}
#else
void prefer_large_pages() {}
#endif

}  // namespace axle::system
