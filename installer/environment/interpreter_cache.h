#pragma once
// What interpreters said of themselves, kept until one of them changes.

#include <optional>
#include <string>
#include <string_view>

namespace axle::installer {

class InterpreterCache {
 public:
  /// `folder` empty: nothing is kept. Wrappers (scripts that start one interpreter or another) are
  /// never kept: only binaries answer the same twice.
  InterpreterCache(const std::string& folder, const std::string& python);

  /// The answer given when path, size, time and inode of the interpreter, its pyvenv.cfg, the
  /// kernel and the libc were what they are now.
  [[nodiscard]] std::optional<std::string> read() const;
  /// A cache that cannot be written is none: nothing is said.
  void write(std::string_view answer) const;

 private:
  std::string file_;  ///< empty: nothing is kept
  std::string key_;
};

}  // namespace axle::installer
