#pragma once
// Landlock through its system calls (Linux Documentation/userspace-api/landlock.rst): Debian 12's
// headers end at ABI 2, newer kernels have more.

#include <cstdint>
#include <string>
#include <vector>

namespace axle::plugins {

/// The kernel's ABI; 0: none, or disabled.
[[nodiscard]] int landlock_abi();

/// The files that a process may use. Created before the fork, enforced after it.
class FileRules {
 public:
  FileRules() = default;
  FileRules(FileRules&& other) noexcept;
  FileRules& operator=(FileRules&& other) noexcept;
  FileRules(const FileRules&) = delete;
  FileRules& operator=(const FileRules&) = delete;
  ~FileRules();

  /// Denies every file access right of ABI `abi`, and TCP, abstract sockets and signals to others.
  /// False if the kernel rejects it.
  [[nodiscard]] bool open(int abi);

  // Missing paths are skipped; links are followed.
  void allow_reading(const std::string& path);
  void allow_listing(const std::string& path);  ///< names of files below, not what they hold
  void allow_device(const std::string& path);
  void allow_program(const std::string& path);

  /// -1: not open.
  [[nodiscard]] int descriptor() const { return rules_; }

 private:
  void allow(const std::string& path, std::uint64_t rights);

  int rules_ = -1;
  int abi_ = 0;
};

// In the child, where only system calls are allowed.

/// Allows what is under `/proc/self`: only the child itself can refer to it.
void allow_own_proc(int rules);
/// Allows what is under a folder that only the child sees.
void allow_folder(int rules, const char* path);
/// Irreversible. False if the kernel rejects it.
[[nodiscard]] bool restrict_to(int rules);

}  // namespace axle::plugins
