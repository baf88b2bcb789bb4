#include "detect/os/macos.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "detect/cpu/darwin.h"

namespace axle::detect {

namespace {

constexpr std::string_view product = "macOS ";
constexpr std::string_view judged = "derived";  ///< Mps::sources of "usable"

}  // namespace

std::optional<MacosVersion> macos_version(const Os& os) {
  if (os.system != darwin || !os.name.starts_with(product)) return std::nullopt;
  const char* const begin = os.name.data() + product.size();
  const char* const end = os.name.data() + os.name.size();
  MacosVersion version;
  const auto major = std::from_chars(begin, end, version.first);
  if (major.ec != std::errc()) return std::nullopt;
  if (major.ptr == end) return version;
  if (*major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc()) return std::nullopt;
  return version;
}

std::optional<Mps> judge_mps(const Os& os, const Cpu& cpu) {
  if (os.system != darwin) return std::nullopt;
  Mps mps;
  mps.sources["usable"] = judged;
  const auto version = macos_version(os);
  const auto judge = [&](Presence usable, const char* code, std::string reason) {
    mps.usable = usable;
    mps.reason_code = code;
    mps.reason = std::move(reason);
    return mps;
  };
  if (!version)
    return judge(Presence::unknown, "no-macos-version", "the version of macOS is unknown");
  if (*version < first_mps)
    return judge(Presence::absent, "macos-too-old",
                 "MPS began with " + macos_name(first_mps) + ", and this is " + os.name);
  if (cpu.arch != Arch::aarch64 && cpu.brand.starts_with("Apple"))
    return judge(Presence::unknown, "translated",
                 "whether MPS serves programs for x86-64 under Rosetta 2 is not known");
  if (cpu.arch != Arch::aarch64)
    return judge(Presence::unknown, "intel-mac",
                 "an Intel Mac has MPS with a GPU of AMD alone, and its GPU is not known");
  mps.usable = Presence::present;
  return mps;
}

bool is_judged(const Mps& mps) {
  const auto source = mps.sources.find("usable");
  return source != mps.sources.end() && source->second == judged;
}

std::string macos_name(MacosVersion version) {
  return std::string(product) + std::to_string(version.first) + "." +
         std::to_string(version.second);
}

}  // namespace axle::detect
