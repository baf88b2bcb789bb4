#include "providers/plugins/landlock.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

// include/uapi/linux/landlock.h of Linux 6.12.
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;
constexpr unsigned version_flag = 1;
constexpr int path_beneath = 1;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;  ///< since ABI 4
  std::uint64_t scopes;   ///< since ABI 6
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t rights;
  std::int32_t parent;
};

constexpr std::uint64_t execute = 1ULL << 0;
constexpr std::uint64_t write_file = 1ULL << 1;
constexpr std::uint64_t read_file = 1ULL << 2;
constexpr std::uint64_t read_folder = 1ULL << 3;
constexpr std::uint64_t ioctl_device = 1ULL << 15;

constexpr std::uint64_t reading = read_file | read_folder;

/// All file access rights of an ABI: execute to make_sym, then refer, truncate, ioctl_dev.
std::uint64_t all_rights(int abi) {
  if (abi >= 5) return (1ULL << 16) - 1;
  if (abi >= 3) return (1ULL << 15) - 1;
  if (abi == 2) return (1ULL << 14) - 1;
  return (1ULL << 13) - 1;
}

/// The kernel rejects attributes that it does not know, unless they are omitted.
std::size_t attribute_bytes(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? offsetof(RulesetAttributes, scopes) : offsetof(RulesetAttributes, network);
}

void add(int rules, int folder, std::uint64_t rights) {
  const PathBeneath rule{rights, folder};
  ::syscall(add_rule, rules, path_beneath, &rule, 0U);
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(create_ruleset, nullptr, std::size_t{0}, version_flag);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

FileRules::FileRules(FileRules&& other) noexcept
    : rules_(std::exchange(other.rules_, -1)), abi_(other.abi_) {}

FileRules& FileRules::operator=(FileRules&& other) noexcept {
  std::swap(rules_, other.rules_);
  std::swap(abi_, other.abi_);
  return *this;
}

FileRules::~FileRules() {
  if (rules_ >= 0) ::close(rules_);
}

bool FileRules::open(int abi) {
  abi_ = abi;
  constexpr std::uint64_t bind_and_connect = 3;
  constexpr std::uint64_t sockets_and_signals = 3;
  const RulesetAttributes attributes{all_rights(abi), bind_and_connect, sockets_and_signals};
  rules_ = static_cast<int>(::syscall(create_ruleset, &attributes, attribute_bytes(abi), 0U));
  return rules_ >= 0;
}

void FileRules::allow(const std::string& path, std::uint64_t rights) {
  const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return;
  struct stat status{};
  // Rights that only apply to folders are rejected for anything else.
  const bool is_folder = ::fstat(place, &status) == 0 && S_ISDIR(status.st_mode);
  add(rules_, place, is_folder ? rights : rights & ~read_folder);
  ::close(place);
}

void FileRules::allow_reading(const std::string& path) { allow(path, reading); }

void FileRules::allow_listing(const std::string& path) { allow(path, read_folder); }

void FileRules::allow_device(const std::string& path) {
  allow(path, read_file | write_file | (abi_ >= 5 ? ioctl_device : 0));
}

void FileRules::allow_program(const std::string& path) { allow(path, read_file | execute); }

void allow_own_proc(int rules) { allow_folder(rules, "/proc/self"); }

void allow_folder(int rules, const char* path) {
  const int folder = ::open(path, O_PATH | O_CLOEXEC);
  if (folder < 0) return;
  add(rules, folder, reading);
  ::close(folder);
}

bool restrict_to(int rules) { return ::syscall(restrict_self, rules, 0U) == 0; }

}  // namespace axle::plugins
