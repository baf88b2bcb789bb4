#include "session/target/stated_platform.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "wheel/linux_platform.h"
#include "wheel/system_platform.h"

namespace axle::session {

namespace {

constexpr std::string_view pip_examples =
    "for example manylinux_2_28_x86_64, manylinux2014_aarch64, musllinux_1_2_x86_64, linux_x86_64, "
    "win_amd64, macosx_14_0_arm64 or any";

/// What uv calls platforms without naming the version of the C library or of macOS.
struct UvPlatform {
  std::string_view name;
  std::string_view tag;  ///< its newest
};

constexpr std::array uv_platforms = {
    UvPlatform{"linux", "manylinux_2_28_x86_64"},
    UvPlatform{"x86_64-unknown-linux-gnu", "manylinux_2_28_x86_64"},
    UvPlatform{"aarch64-unknown-linux-gnu", "manylinux_2_28_aarch64"},
    UvPlatform{"x86_64-unknown-linux-musl", "musllinux_1_2_x86_64"},
    UvPlatform{"aarch64-unknown-linux-musl", "musllinux_1_2_aarch64"},
    UvPlatform{"riscv64-unknown-linux", "manylinux_2_39_riscv64"},
    UvPlatform{"windows", "win_amd64"},
    UvPlatform{"x86_64-pc-windows-msvc", "win_amd64"},
    UvPlatform{"aarch64-pc-windows-msvc", "win_arm64"},
    UvPlatform{"i686-pc-windows-msvc", "win32"},
    UvPlatform{"macos", "macosx_13_0_arm64"},
    UvPlatform{"aarch64-apple-darwin", "macosx_13_0_arm64"},
    UvPlatform{"x86_64-apple-darwin", "macosx_13_0_x86_64"}};

/// Both programs know them, Axle chooses for none of them.
bool is_other_system(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.contains(word); };
  return has("android") || has("ios") || has("pyodide") || has("emscripten");
}

std::unexpected<CommandFailure> other_system(const std::string& origin) {
  return misused(origin + ": Axle chooses wheels for Linux, Windows and macOS only",
                 "let pip or uv do this: both have the option");
}

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return text::is_ascii_alnum(c) || c == '_'; });
}

machines::PlatformFacts facts_of(const wheel::LinuxPlatform& platform) {
  return {platform.architecture,
          {platform.libc, platform.version.first, platform.version.second, {}},
          std::string(wheel::linux_system)};
}

machines::PlatformFacts facts_of(const wheel::SystemPlatform& platform) {
  machines::PlatformFacts facts;
  facts.system = platform.system;
  if (platform.system == wheel::mac_system) facts.macos = platform.version;
  // A format for several says of no machine what it is.
  const bool single = platform.system != wheel::mac_system || platform.architecture == "aarch64" ||
                      platform.architecture == "x86_64";
  if (single) facts.architecture = platform.architecture;
  return facts;
}

/// As pip: a macOS stands for all before, manylinux2014 for its elders, every other name for itself
/// alone.
void add_with_elders(std::vector<std::string>& tags, const std::string& platform) {
  const auto add = [&](std::string tag) {
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  };
  const auto other = wheel::parse_system_platform(platform);
  if (other && other->system == wheel::mac_system) {
    const std::string architecture = wheel::machine_name(other->system, other->architecture);
    std::ranges::for_each(wheel::mac_platforms(other->version, architecture), add);
    return;
  }
  add(platform);
  const std::size_t end = platform.find('_');
  const std::string_view generation = std::string_view(platform).substr(0, end);
  if (end == std::string::npos) return;
  const std::string architecture = platform.substr(end);
  const bool x86 = architecture == "_x86_64" || architecture == "_i686";
  if (generation == "manylinux2014" && x86) add("manylinux2010" + architecture);
  if ((generation == "manylinux2014" && x86) || generation == "manylinux2010")
    add("manylinux1" + architecture);
}

/// Adds what `platform` says to `stated`.
Outcome<void> take_pip_platform(StatedPlatform& stated, const std::string& platform) {
  const std::string origin = "--platform " + platform;
  if (is_other_system(platform)) return other_system(origin);
  machines::PlatformFacts facts;
  const auto other = wheel::parse_system_platform(platform);
  if (other) {
    facts = facts_of(*other);
    if (other->system == wheel::mac_system &&
        wheel::mac_platforms(other->version,
                             wheel::machine_name(other->system, other->architecture))
            .empty())
      return misused(origin + ": there is no such macOS", "for example macosx_14_0_arm64");
  } else if (const auto parsed = wheel::parse_linux_platform(platform)) {
    facts = facts_of(*parsed);
  } else if (constexpr std::string_view plain = "linux_"; platform.starts_with(plain)) {
    facts.architecture = platform.substr(plain.size());
    facts.system = wheel::linux_system;
  } else if (platform != "any") {
    return misused(origin + ": that is not a platform tag", std::string(pip_examples));
  }
  if (platform != "any" && !other && !is_word(facts.architecture))
    return misused(origin + ": that is not a platform tag", std::string(pip_examples));
  const auto differ = [](const std::string& one, const std::string& other) {
    return !one.empty() && !other.empty() && one != other;
  };
  machines::PlatformFacts& known = stated.facts;
  if (differ(known.architecture, facts.architecture) ||
      differ(known.libc.family, facts.libc.family) || differ(known.system, facts.system))
    return misused(fmt::format("{} and {}: no machine is both", stated.origin, origin),
                   "run the command once for each");
  if (known.architecture.empty()) known.architecture = facts.architecture;
  if (known.system.empty()) known.system = facts.system;
  const auto version = [](const detect::Libc& libc) { return std::pair(libc.major, libc.minor); };
  if (version(known.libc) < version(facts.libc)) known.libc = facts.libc;
  known.macos = std::max(known.macos, facts.macos);
  add_with_elders(stated.tags, platform);
  if (stated.name.empty()) stated.name = platform;
  stated.origin += (stated.origin.empty() ? "" : " ") + origin;
  return {};
}

Outcome<StatedPlatform> take_uv_platform(const std::string& name) {
  StatedPlatform stated{.name = name, .origin = "--python-platform " + name};
  if (is_other_system(name)) return other_system(stated.origin);
  const auto row = std::ranges::find(uv_platforms, name, &UvPlatform::name);
  std::string tag(row == uv_platforms.end() ? std::string_view() : row->tag);
  // "x86_64-manylinux_2_28"
  const std::size_t dash = name.find('-');
  if (tag.empty() && dash != std::string::npos)
    tag = name.substr(dash + 1) + "_" + name.substr(0, dash);
  if (const auto other = wheel::parse_system_platform(tag); other && row != uv_platforms.end()) {
    stated.facts = facts_of(*other);
    return stated;
  }
  const auto parsed = wheel::parse_linux_platform(tag);
  if (!parsed || !is_word(parsed->architecture)) {
    std::vector<std::string> known;
    for (const UvPlatform& one : uv_platforms) known.emplace_back(one.name);
    known.insert(known.end(), {"x86_64-manylinux_2_28", "aarch64-manylinux_2_28"});
    return misused(stated.origin + ": that is not a platform of uv",
                   text::suggest(name, known,
                                 "for example linux, x86_64-manylinux_2_28, windows or "
                                 "aarch64-apple-darwin"));
  }
  stated.facts = facts_of(*parsed);
  return stated;
}

}  // namespace

Outcome<std::optional<StatedPlatform>> read_stated_platform(const Arguments& arguments) {
  const std::vector<std::string> platforms = arguments.values(Opt::platform);
  const bool of_uv = arguments.has(Opt::python_platform);
  if (of_uv && !platforms.empty())
    return misused("--platform and --python-platform cannot be combined: both name the platform",
                   "leave one of them out");
  if (of_uv) {
    auto stated = take_uv_platform(arguments.value(Opt::python_platform));
    if (!stated) return std::unexpected(stated.error());
    return *std::move(stated);
  }
  if (platforms.empty()) return std::nullopt;
  StatedPlatform stated;
  for (const std::string& platform : platforms) {
    if (const auto taken = take_pip_platform(stated, platform); !taken)
      return std::unexpected(taken.error());
  }
  return stated;
}

}  // namespace axle::session
