#pragma once
// Interpreters' answers, cached until one of them changes.

#include <optional>
#include <string>
#include <string_view>

namespace axle::installer {

/// A script may start one interpreter or another: only a binary gives the same answer twice.
[[nodiscard]] bool is_binary_program(const std::string& path);

class InterpreterCache {
 public:
  /// `folder` empty: nothing is cached. Nor is anything of what is no binary program.
  InterpreterCache(const std::string& folder, const std::string& python);

  /// The answer stored for the same path, size, time and inode of the interpreter, its pyvenv.cfg,
  /// the kernel and the libc.
  [[nodiscard]] std::optional<std::string> read() const;
  /// Write errors are ignored silently.
  void write(std::string_view answer) const;

 private:
  std::string file_;  ///< empty: nothing is cached
  std::string key_;
};

}  // namespace axle::installer
