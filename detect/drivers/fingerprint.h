#pragma once
// A text that changes when the inputs of a driver's answer change: one line per fact.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "detect/drivers/library_search.h"
#include "detect/host.h"

namespace axle::detect {

class Fingerprint {
 public:
  explicit Fingerprint(Host& host) : host_(host), libraries_(host) {}

  void add(std::string_view name, std::string_view value);
  void add_file(const std::string& path);
  void add_stamp(const std::string& path);
  void add_folder(const std::string& path);
  void add_environment(std::initializer_list<const char*> names);
  /// Whether this user may open it.
  void add_node(const std::string& path);
  /// A kernel module's version, if it is loaded.
  void add_module(const std::string& module);
  /// Every file of that name that the loader or we could load.
  void add_library(std::string_view file);

  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] Host& host() { return host_; }

 private:
  Host& host_;
  LibrarySearch libraries_;
  std::string text_;
};

}  // namespace axle::detect
