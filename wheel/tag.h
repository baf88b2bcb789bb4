#pragma once
// Compatibility tags (PEP 425, 600 manylinux, 656 musllinux).

#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct Tag {
  std::string python;    ///< "cp311"
  std::string abi;       ///< "cp311", "abi3", "none"
  std::string platform;  ///< "manylinux_2_28_x86_64", "any"
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

/// A tag triple with compressed sets, "cp39.cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64".
/// Parts are lowered, repeated ones dropped. Errors: malformed; more than 1,000 tags are malformed
/// too.
[[nodiscard]] Result<std::vector<Tag>> parse_tags(std::string_view triple);
[[nodiscard]] std::string render_tag(const Tag& tag);
/// The CPU architecture that all of these platforms are of, as Linux calls it: "x86_64", "ppc64le".
/// Empty: any, several, or one that is not told apart (macOS's universal2).
[[nodiscard]] std::string architecture_of(const std::vector<Tag>& tags);

/// What decides which tags an interpreter on a platform accepts.
struct TagTarget {
  /// "cp" CPython, "pp" PyPy, "py" none in particular, else as it calls itself.
  std::string implementation = "cp";
  unsigned python_major = 3;
  unsigned python_minor = 0;
  /// The ABIs that it loads, best first: "cp313", "cp313t", "pypy310_pp73". "abi3" and "none" are
  /// accepted where it has them, named or not. Empty: derived, of PyPy that of 7.3.
  std::vector<std::string> abis;
  bool free_threaded = false;  ///< where no ABI says so
  std::string architecture;    ///< "x86_64", "aarch64"
  std::string libc_family;     ///< "glibc", "musl"; empty: linux_* tags only
  unsigned libc_major = 0;
  unsigned libc_minor = 0;
  /// Exactly these platforms, best first, whatever the members above say. Empty: they say it.
  std::vector<std::string> platforms;
};

/// Supported tags, most preferred first, with constant time look-up. They are over a thousand, and
/// made on first use: a command that keeps what is installed needs none. May be used by several
/// threads.
class SupportedTags {
 public:
  explicit SupportedTags(std::vector<Tag> best_first);
  explicit SupportedTags(std::function<std::vector<Tag>()> best_first);
  /// Index in preference order of the best of `tags`; npos when none is supported.
  [[nodiscard]] std::size_t best_index(const std::vector<Tag>& tags) const;
  /// False: no tag of the wheel is supported. True: that must be looked up; nothing was parsed.
  [[nodiscard]] bool may_fit(std::string_view wheel_name) const;
  [[nodiscard]] const std::vector<Tag>& best_first() const;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  struct Lists;
  [[nodiscard]] const Lists& lists() const;
  std::shared_ptr<Lists> lists_;  ///< of all copies
};

/// In the order of `packaging.tags.sys_tags` as of 26.3, which puts the native linux_* before
/// manylinux (earlier releases put it last). Versions of the interpreter and the libc count up to
/// 255.
[[nodiscard]] SupportedTags supported_tags(const TagTarget& target);

}  // namespace axle::wheel
