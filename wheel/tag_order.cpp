// Which tags an interpreter on a platform accepts, in which order: PEP 425, 600, 656, 803.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "wheel/tag.h"

namespace axle::wheel {
namespace {

/// Profiles come from files: a version of billions must not become billions of tags.
constexpr unsigned kHighest = 255;

std::vector<std::string_view> architectures(const TagTarget& target) {
  if (target.architecture == "armv8l") return {"armv8l", "armv7l"};
  return {target.architecture};
}

bool has_manylinux(std::string_view architecture) {
  constexpr std::string_view kKnown[] = {"x86_64", "aarch64",     "ppc64",   "ppc64le", "s390x",
                                         "i686",   "loongarch64", "riscv64", "armv7l",  "armv8l"};
  return std::ranges::find(kKnown, architecture) != std::end(kKnown);
}

/// PEP 600: every glibc down to the oldest that manylinux1 (x86) or manylinux2014 (others) stood
/// for, with the legacy names behind their equals.
void append_manylinux(const TagTarget& target, std::string_view architecture,
                      std::vector<std::string>& platforms) {
  if (target.libc_major != 2 || !has_manylinux(architecture)) return;
  const bool x86 = architecture == "x86_64" || architecture == "i686";
  const unsigned oldest = x86 ? 5 : 17;
  for (unsigned minor = std::min(target.libc_minor, kHighest); minor >= oldest; --minor) {
    platforms.push_back(fmt::format("manylinux_2_{}_{}", minor, architecture));
    if (minor == 17) platforms.push_back(fmt::format("manylinux2014_{}", architecture));
    if (minor == 12) platforms.push_back(fmt::format("manylinux2010_{}", architecture));
    if (minor == 5) platforms.push_back(fmt::format("manylinux1_{}", architecture));
  }
}

void append_musllinux(const TagTarget& target, std::string_view architecture,
                      std::vector<std::string>& platforms) {
  for (unsigned minor = std::min(target.libc_minor, kHighest) + 1; minor-- > 0;) {
    platforms.push_back(fmt::format("musllinux_{}_{}_{}", target.libc_major, minor, architecture));
  }
}

std::vector<std::string> platforms_of(const TagTarget& target) {
  if (!target.platforms.empty()) return target.platforms;
  std::vector<std::string> platforms;
  const auto known = architectures(target);
  for (const auto architecture : known) platforms.push_back(fmt::format("linux_{}", architecture));
  for (const auto architecture : known) {
    if (target.libc_family == "glibc") append_manylinux(target, architecture, platforms);
    if (target.libc_family == "musl") append_musllinux(target, architecture, platforms);
  }
  return platforms;
}

/// Collects tags in order.
class TagList {
 public:
  explicit TagList(const TagTarget& target)
      : target_(target),
        minor_(std::min(target.python_minor, kHighest)),
        platforms_(platforms_of(target)) {}

  std::vector<Tag> collect() {
    if (target_.implementation == "cp") {
      append_cpython();
    } else {
      append_generic();
    }
    append_compatible();
    return std::move(tags_);
  }

 private:
  [[nodiscard]] std::string python(std::string_view prefix, unsigned minor) const {
    return fmt::format("{}{}{}", prefix, target_.python_major, minor);
  }
  void append(const std::string& interpreter, const std::string& abi) {
    for (const std::string& platform : platforms_) tags_.push_back({interpreter, abi, platform});
  }
  [[nodiscard]] std::vector<std::string> cpython_abis() const;
  void append_cpython();
  void append_generic();
  void append_compatible();

  const TagTarget& target_;
  unsigned minor_;
  std::vector<std::string> platforms_;
  std::vector<Tag> tags_;
};

std::vector<std::string> TagList::cpython_abis() const {
  if (!target_.abis.empty()) return target_.abis;
  const bool pymalloc = target_.python_major < 3 || minor_ < 8;
  return {python("cp", minor_) + (target_.free_threaded ? "t" : pymalloc ? "m" : "")};
}

/// By the best ABI: "cp313t", "cp313td".
bool is_free_threaded(std::string_view abi) {
  if (!abi.starts_with("cp")) return false;
  const std::size_t flags = abi.find_first_not_of("0123456789", 2);
  return flags != std::string_view::npos && flags > 2 && abi.substr(flags).contains('t');
}

void TagList::append_cpython() {
  const std::string interpreter = python("cp", minor_);
  const auto abis = cpython_abis();
  const std::string stable = is_free_threaded(abis.front()) ? "abi3t" : "abi3";
  for (const std::string& abi : abis) {
    if (abi != stable && abi != "abi3" && abi != "none") append(interpreter, abi);
  }
  const bool has_stable = target_.python_major > 3 || (target_.python_major == 3 && minor_ >= 2);
  if (has_stable) append(interpreter, stable);
  append(interpreter, "none");
  if (!has_stable) return;
  for (unsigned minor = minor_; minor-- > 2;) append(python("cp", minor), stable);
}

void TagList::append_generic() {
  const std::string interpreter = python(target_.implementation, minor_);
  std::vector<std::string> abis = target_.abis;
  if (abis.empty() && target_.implementation == "pp") abis = {python("pypy", minor_) + "_pp73"};
  for (const std::string& abi : abis) {
    if (abi != "none") append(interpreter, abi);
  }
  append(interpreter, "none");
}

/// Pure Python: this minor version, the major one, then every older minor.
void TagList::append_compatible() {
  std::vector<std::string> interpreters = {python("py", minor_),
                                           fmt::format("py{}", target_.python_major)};
  for (unsigned minor = minor_; minor-- > 0;) interpreters.push_back(python("py", minor));
  for (const std::string& interpreter : interpreters) append(interpreter, "none");
  if (target_.implementation == "cp") tags_.push_back({python("cp", minor_), "none", "any"});
  if (target_.implementation == "pp") tags_.push_back({"pp3", "none", "any"});
  for (const std::string& interpreter : interpreters) tags_.push_back({interpreter, "none", "any"});
}

}  // namespace

SupportedTags supported_tags(const TagTarget& target) {
  return SupportedTags([target] { return TagList(target).collect(); });
}

}  // namespace axle::wheel
