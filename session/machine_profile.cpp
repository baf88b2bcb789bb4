#include "session/machine_profile.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/types.h>

#include "foundation/system/descriptor.h"
#include "foundation/system/whole_file.h"
#include "machines/profile.h"
#include "session/version.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

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
  // A regular file is replaced atomically; a device or a pipe is written to directly.
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  const std::string text = machines::render_profile(make_profile(named, elsewhere));
  if (!fs::exists(target, error) || fs::is_regular_file(target, error)) {
    error = system::write_whole_file(target, text, {.flush = system::Flush::no, .mode = readable});
  } else {
    const system::Descriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    error = file ? system::write_all(file.get(), text) : system::last_error();
  }
  if (!error) return {};
  return failed({ErrorKind::io,
                 fmt::format("{}: the profile could not be written: {}", path, error.message()),
                 "choose a file in an existing, writable folder"});
}

}  // namespace axle::session
