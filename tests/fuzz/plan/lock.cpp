// axle.lock: a text is refused with its name, or read; what was read is written, read and written
// again as the same, and each class of it leads to packages of that class.
#include "plan/lock/lock.h"

#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace {

using axle::fuzz::require;

void select_all(const axle::plan::Lock& lock) {
  axle::plan::LockSelection all;
  for (const auto& [name, requirements] : lock.requests.extras) all.extras.push_back(name);
  for (const auto& [name, requirements] : lock.requests.groups) all.groups.push_back(name);
  axle::wheel::MarkerEnvironment markers;
  markers.strings = {{"python_version", "3.12"}, {"sys_platform", "linux"}};
  for (const axle::plan::LockedClass& one : lock.classes) {
    const auto reached = axle::plan::locked_closure(lock, one.name, all, markers);
    if (!reached) continue;
    for (const axle::plan::ReachedPackage& package : *reached)
      require(package.package->is_in(one.name));
    const auto resolution = axle::plan::as_resolution(*reached, "/srv/project");
    require(resolution && resolution->packages.size() == reached->size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lock = axle::plan::parse_lock(text, "axle.lock");
  if (!lock) {
    require(lock.error().message.starts_with("axle.lock"));
    return 0;
  }
  const std::string written = axle::plan::render_lock(*lock);
  const auto again = axle::plan::parse_lock(written, "axle.lock");
  require(again && *again == *lock);
  require(axle::plan::render_lock(*again) == written);
  select_all(*lock);
  return 0;
}
