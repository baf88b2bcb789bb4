#pragma once
// Queries the vendors' user-mode libraries. Runs foreign code that may print, block, crash or end
// the process: only called in a probe child (detect/drivers/children.h).

#include <initializer_list>
#include <string>
#include <string_view>

#include "detect/drivers/library_trust.h"
#include "detect/drivers/line_sink.h"
#include "detect/machine.h"

namespace axle::detect {

/// Writes everything that the vendor's libraries report, each fact as soon as it is known, in the
/// format that detect/<vendor>/facts.h reads. If this program has more rights than its user, the
/// environment is cleared first: the libraries read it too.
void ask_libraries(GpuVendor vendor, LineSink& sink);

/// A library opened by name through the loader's own search path, then in the known folders; a name
/// with a slash only as that file. Loading runs foreign constructors, so the rules are stricter
/// with more rights: a program with more rights than its user (AT_SECURE) loads from the known
/// folders only, and it and root load nothing that others may have written
/// (detect/drivers/library_trust.h). Never closed: vendor libraries leave threads and handlers
/// behind.
class VendorLibrary {
 public:
  explicit VendorLibrary(std::initializer_list<const char*> names);
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// The loader's error.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Why a file was not loaded at all; empty if every one was tried.
  [[nodiscard]] const std::string& refused() const { return refused_; }
  /// Reports why the library is missing: "library.refused" if a file was not trusted, then `word`.
  void say_missing(LineSink& sink, std::string_view word) const;
  /// The file that contains `symbol`, symbolic links resolved; empty if unknown.
  [[nodiscard]] std::string file_of(const char* symbol) const;

  /// The function, or nullptr.
  template <typename Function>
  [[nodiscard]] Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(find_address(symbol));
  }

 private:
  [[nodiscard]] void* find_address(const char* symbol) const;

  bool open(const std::string& name);
  bool open_trusted(const std::string& path, Privilege privilege);
  bool open_name(const std::string& name, Privilege privilege);

  void* handle_ = nullptr;
  std::string error_;
  std::string refused_;
};

/// The file `path`, symbolic links resolved; empty if there is none.
[[nodiscard]] std::string real_path(const std::string& path);

/// False in a program that is linked statically with a C library that cannot load any (musl).
[[nodiscard]] bool can_load_libraries();

/// Removes a variable from the environment without the C library's lock, which another thread of
/// the parent may have held during the fork.
void drop_environment(std::string_view name);

}  // namespace axle::detect
