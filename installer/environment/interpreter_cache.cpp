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
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

/// nullopt if it cannot be determined.
std::optional<std::string> stamp(const std::string& path) {
  const auto status = look_at(path, Links::followed);
  if (!status) return std::nullopt;
  if (!*status) return "-";
  return fmt::format("{}:{}:{}:{}.{}", (*status)->st_dev, (*status)->st_ino, (*status)->st_size,
                     (*status)->st_mtim.tv_sec, (*status)->st_mtim.tv_nsec);
}

bool is_binary(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> magic{};
  return file && ::read(file.get(), magic.data(), magic.size()) == 4 &&
         std::string_view(magic.data(), 4) ==
             "\x7f"
             "ELF";
}

/// One line, the first of the file. nullopt: nothing may be cached or used this time.
std::optional<std::string> make_key(const std::string& python) {
  utsname system = {};
  ::uname(&system);
  const std::string folder = std::filesystem::path(python).parent_path().parent_path().string();
  const auto program = stamp(python);
  const auto config = stamp(folder + "/pyvenv.cfg");
  if (!program || !config) return std::nullopt;
  const std::string facts =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", python, *program, *config, system.release,
                  system.version, system.machine, ::gnu_get_libc_version());
  return "axle-interpreter 4 " + wheel::render_hex(wheel::sha256(facts)) + "\n";
}

}  // namespace

InterpreterCache::InterpreterCache(const std::string& folder, const std::string& python) {
  if (folder.empty() || !is_binary(python)) return;
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
