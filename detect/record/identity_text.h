#pragma once
// Names of machines and people in running text, and their replacements.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "detect/record/scrub.h"

namespace axle::detect {

/// The names of devices that a driver or a mask used, and their replacements.
class DeviceNames {
 public:
  /// Adds every "GPU-…" and "MIG-…" in `text`.
  void learn(std::string_view text);
  /// AMD's are numbers in the topology, and in masks "GPU-" and that number in hexadecimal.
  void learn_number(std::uint64_t id);
  /// Numbers get equal widths, so that none is a prefix of another.
  void settle();

  /// For a whole name, or a prefix of one, as masks may have it.
  [[nodiscard]] std::string replace(const std::string& name) const;
  [[nodiscard]] std::uint64_t number_of(std::uint64_t id) const;
  /// The length of the name at the front of `text`; 0 if there is none.
  [[nodiscard]] static std::size_t match(std::string_view text);

 private:
  std::map<std::string, std::string> names_;
  std::map<std::uint64_t, std::uint64_t> numbers_;
  std::vector<std::string> order_;
};

/// Replaces identities in running text.
class Cleaner {
 public:
  /// Both must outlive this.
  Cleaner(const DeviceNames& devices, const Identity& identity)
      : devices_(devices), identity_(identity) {}

  [[nodiscard]] std::string text(std::string_view in) const { return clean(in, true); }
  /// The same, but host and user names are kept in the system's own folders: they may be words of
  /// those paths.
  [[nodiscard]] std::string path(std::string_view in) const { return below(in, in); }
  /// The content of a folder or the target of a link called `path`.
  [[nodiscard]] std::string below(std::string_view path, std::string_view in) const;

 private:
  [[nodiscard]] std::string clean(std::string_view in, bool names) const;
  std::size_t match(std::string_view in, std::size_t at, std::string& instead) const;
  std::size_t match_names(std::string_view in, std::size_t at, std::string& instead) const;

  const DeviceNames& devices_;
  const Identity& identity_;
};

}  // namespace axle::detect
