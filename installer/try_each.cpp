#include "installer/try_each.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "foundation/system/parallel.h"

namespace axle::installer {

Result<void> try_each(std::size_t count, const std::function<Result<void>(std::size_t)>& work) {
  std::mutex mutex;
  Result<void> all;
  std::atomic<bool> ended = false;
  system::for_each_at_once(count, system::usable_processors(), [&](std::size_t i) {
    if (ended) return;
    auto done = work(i);
    if (done) return;
    const std::lock_guard lock(mutex);
    if (all) all = std::move(done);
    ended = true;
  });
  return all;
}

}  // namespace axle::installer
