#include "resolver/solver/installed_needs.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/family/family.h"
#include "resolver/choice/abi_dependency.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {
namespace {

/// The digits that `text` starts with, taken off it.
std::string take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string digits(text.substr(0, end));
  text.remove_prefix(end);
  return digits;
}

/// Where `word` stands in `text`, with a digit after it and no letter before it.
std::optional<std::string_view> after_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::string_view rest = text.substr(at + word.size());
    const bool starts = at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0;
    if (starts && !rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0)
      return rest;
  }
  return std::nullopt;
}

/// "2.9" of "2.9cxx11abitrue"; of "29" too, as PyG writes it. Empty: no version.
std::string torch_minor(std::string_view text, bool with_dot) {
  const std::string digits = take_digits(text);
  if (with_dot) {
    if (!text.starts_with('.')) return {};
    text.remove_prefix(1);
    const std::string minor = take_digits(text);
    return minor.empty() || minor.size() > 3 || digits.size() > 3 ? "" : digits + "." + minor;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string minor = take_digits(text);
    if (digits.size() == 1 && !minor.empty() && minor.size() <= 3) return digits + "." + minor;
  }
  return digits.size() < 2 || digits.size() > 4 ? "" : digits.substr(0, 1) + "." + digits.substr(1);
}

/// "12" of cu12, cu126 and cu12.6; CUDA has had two digits since 10.
std::string cuda_major(std::string_view local) {
  const auto digits = after_word(local, "cu");
  if (!digits) return {};
  std::string_view rest = *digits;
  const std::string number = take_digits(rest);
  return number.size() < 2 ? std::string() : number.substr(0, 2);
}

}  // namespace

std::optional<InstalledNeed> need_in_local_version(const wheel::Version& version) {
  const std::string local = index::local_label(version);
  std::string minor;
  if (const std::size_t at = local.find("torch"); at != local.npos)
    minor = torch_minor(std::string_view(local).substr(at + 5), true);
  if (minor.empty()) {
    if (const auto digits = after_word(local, "pt")) minor = torch_minor(*digits, false);
  }
  if (minor.empty()) return std::nullopt;
  auto specifiers = wheel::parse_specifiers("==" + minor + ".*");
  if (!specifiers) return std::nullopt;
  InstalledNeed need{"torch", {std::move(*specifiers)}, cuda_major(local), {}};
  need.text = fmt::format("torch {}{}, according to its version +{}", minor,
                          need.cuda.empty() ? "" : " for CUDA " + need.cuda, local);
  return need;
}

std::vector<InstalledNeed> needs_of(const plan::InstalledPackage& package,
                                    const wheel::MarkerEnvironment& interpreter) {
  std::vector<InstalledNeed> needs;
  const wheel::MarkerEnvironment markers = wheel::variant_markers(
      interpreter, package.family.empty() ? package.variant.value_or("") : "",
      package.variant_properties);
  for (const wheel::Requirement& requirement : package.dependencies) {
    if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
    needs.push_back({wheel::normalize_name(requirement.name),
                     {requirement.specifiers},
                     {},
                     wheel::render_requirement(requirement)});
  }
  for (AbiNeed& need : abi_needs(package.variant_properties)) {
    needs.push_back({std::move(need.package),
                     std::move(need.any_of),
                     {},
                     need.text + ", according to its variant"});
  }
  if (auto need = need_in_local_version(package.version)) needs.push_back(std::move(*need));
  return needs;
}

Unresolved refused_breakages(std::vector<Breakage> broken) {
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (const Breakage& one : broken) {
    texts.push_back(fmt::format("{} {}, which is installed, needs {}; it would get {}", one.name,
                                one.version, one.needs, one.gets));
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  Unresolved refused;
  refused.kind = ErrorKind::conflict;
  refused.message = fmt::format("this would break installed packages: {}", fmt::join(texts, "; "));
  refused.hint = fmt::format(
      "name {0} in the same command to upgrade it too, ask for a version that it works with, or "
      "uninstall it first: `variant uninstall {0}`",
      fmt::join(names, " "));
  refused.broken = std::move(broken);
  return refused;
}

}  // namespace axle::resolver
