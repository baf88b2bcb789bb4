#include "foundation/system/until_exit.h"

#include <mutex>
#include <vector>

namespace axle::system {

void hold_until_exit(std::shared_ptr<void> value) {
  static std::mutex mutex;
  static auto& held = *new std::vector<std::shared_ptr<void>>();  // no destructor runs at the exit
  const std::lock_guard lock(mutex);
  held.push_back(std::move(value));
}

}  // namespace axle::system
