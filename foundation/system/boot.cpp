#include "foundation/system/boot.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

namespace axle::system {
namespace {

constexpr std::size_t id_length = 36;

}  // namespace

bool is_boot_id(const std::string& text) {
  return text.size() == id_length && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
         });
}

std::string boot_id(const std::string& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, id_length> text{};
  if (!opened || ::read(opened.get(), text.data(), text.size()) != id_length) return {};
  std::string id(text.data(), text.size());
  return is_boot_id(id) ? id : std::string();
}

std::int64_t seconds_since_boot() {
  timespec now = {};
  return ::clock_gettime(CLOCK_BOOTTIME, &now) == 0 ? now.tv_sec : 0;
}

}  // namespace axle::system
