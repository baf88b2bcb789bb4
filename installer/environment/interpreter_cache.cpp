#include "installer/environment/interpreter_cache.h"

#include <array>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "foundation/system/whole_file.h"
#include "installer/file_access.h"
#include "installer/path_states.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

/// One line, the first of the file. nullopt: nothing may be cached or used this time.
std::optional<std::string> make_key(const std::string& python) {
  utsname system = {};
  ::uname(&system);
  const std::string folder = std::filesystem::path(python).parent_path().parent_path().string();
  // Environments of conda share one file of the program.
  PathStates states;
  if (!states.add_linked(python) || !states.add(folder + "/pyvenv.cfg")) return std::nullopt;
  const std::string facts =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", python, states.text, system.release, system.version,
                  system.machine, ::gnu_get_libc_version());
  return "axle-interpreter 4 " + wheel::render_hex(wheel::sha256(facts)) + "\n";
}

}  // namespace

bool is_binary_program(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> magic{};
  return file && ::read(file.get(), magic.data(), magic.size()) == 4 &&
         std::string_view(magic.data(), 4) ==
             "\x7f"
             "ELF";
}

InterpreterCache::InterpreterCache(const std::string& folder, const std::string& python) {
  if (folder.empty() || !is_binary_program(python)) return;
  auto key = make_key(python);
  if (!key) return;
  file_ = fmt::format("{}/interpreters/{}", folder, wheel::render_hex(wheel::sha256(python)));
  key_ = std::move(*key);
}

std::optional<std::string> InterpreterCache::read() const {
  if (file_.empty()) return std::nullopt;
  constexpr std::uint64_t limit = 1U << 20;
  auto text = read_file(file_, limit);
  if (!text || !text->starts_with(key_)) return std::nullopt;
  return text->substr(key_.size());
}

void InterpreterCache::write(std::string_view answer) const {
  if (file_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), error);
  // If an answer cannot be parsed, the interpreter is queried again.
  (void)system::write_whole_file(file_, key_ + std::string(answer), {.flush = system::Flush::no});
}

}  // namespace axle::installer
