#include "session/machine_profile.h"

#include <algorithm>
#include <ctime>

#include <fmt/core.h>
#include <sys/types.h>

#include "machines/profile.h"
#include "session/output_file.h"
#include "session/version.h"

namespace axle::session {

namespace {

/// Profiles are readable for others, whatever the umask is.
constexpr mode_t readable = 0644;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// The machine as the user named it, without the folders of its file, which may contain names of
/// people.
std::string source_of(std::string name) {
  constexpr std::size_t longest = 200;
  name.erase(0, name.rfind('/', name.find(';')) + 1);
  if (name.size() > longest) name.resize(longest);
  std::ranges::replace_if(name, [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

/// A recording is written unchanged; stated facts get this program as their origin.
machines::Profile make_profile(const machines::NamedMachine& named, bool elsewhere) {
  const std::string program = fmt::format("variant {}", version);
  machines::Profile profile{named.machine, named.origin, named.recording};
  if (!elsewhere) {
    profile.origin = {"captured", program, today()};
  } else if (profile.origin.kind.empty() || profile.origin.source.empty()) {
    profile.origin = {"synthesised", fmt::format("{}, --for {}", program, source_of(named.name)),
                      today()};
  }
  return profile;
}

}  // namespace

Outcome<void> write_profile(const std::string& path, const machines::NamedMachine& named,
                            bool elsewhere) {
  return write_output(path, machines::render_profile(make_profile(named, elsewhere)), "profile",
                      readable);
}

}  // namespace axle::session
