#include "detect/cpu/kernel_flags.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

using KernelVersion = std::pair<unsigned, unsigned>;

struct KnownFlag {
  Capability capability;
  KernelVersion since;  ///< a kernel that knows the name; earlier ones may not
};

// Both are withheld because of errata: `rdseed` may return 0 and report success (AMD-SB-7055),
// `rdrand` may return the same number forever after a suspend; `nordrand` and clearcpuid hide them
// too. Linux arch/x86/include/asm/cpufeature.h has both names before that of SMAP, which was added
// in 3.7.
constexpr KnownFlag known_flags[] = {
    {Capability::rdrand, {3, 7}},
    {Capability::rdseed, {3, 7}},
};

/// "6.18.44-cloud" is {6, 18}; {0, 0} if it is not a valid version.
KernelVersion parse_release(std::string_view release) {
  KernelVersion version{};
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.first);
  if (error != std::errc{}) return {};
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, version.second);
  return version;
}

/// The first processor's flags with a space on either side; nullopt if the line is missing, empty
/// or truncated.
std::optional<std::string> read_flags(Host& host) {
  constexpr std::size_t one_processor = 16 * 1024;
  const auto content = host.read_file("/proc/cpuinfo", one_processor);
  std::string_view text = content ? std::string_view(*content) : std::string_view();
  while (text.find('\n') != std::string_view::npos) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) != "flags") continue;
    const std::string_view flags = trim(line.substr(colon + 1));
    if (flags.empty()) return std::nullopt;
    return ' ' + std::string(flags) + ' ';
  }
  return std::nullopt;
}

}  // namespace

KernelFlags::KernelFlags(Host& host, const SystemName& name)
    : flags_(name.system == "Linux" ? read_flags(host) : std::nullopt), release_(name.release) {}

bool KernelFlags::shows(Capability capability) const {
  return flags_ && flags_->contains(' ' + std::string(row(capability).name) + ' ');
}

std::vector<Capability> KernelFlags::withheld() const {
  if (!flags_) return {};
  const KernelVersion kernel = parse_release(release_);
  std::vector<Capability> hidden;
  for (const auto& [capability, since] : known_flags) {
    if (kernel >= since && !shows(capability)) hidden.push_back(capability);
  }
  return hidden;
}

}  // namespace axle::detect
