#include "wheel/specifier.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/specifier_scan.h"
#include "wheel/version_scan.h"

namespace axle::wheel {
namespace {

constexpr std::size_t longest_specifiers = 64U << 10;

/// Longer spellings before their prefixes.
constexpr std::array<std::pair<std::string_view, Comparison>, 8> kOperators = {{
    {"===", Comparison::arbitrary},
    {"==", Comparison::equal},
    {"!=", Comparison::not_equal},
    {"<=", Comparison::less_equal},
    {">=", Comparison::greater_equal},
    {"~=", Comparison::compatible},
    {"<", Comparison::less},
    {">", Comparison::greater},
}};

/// The first `parts` release segments agree, the candidate's padded with zeros.
bool same_prefix(const Version& wanted, std::size_t parts, const Version& candidate) {
  if (candidate.epoch != wanted.epoch) return false;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::uint64_t part = i < candidate.release.size() ? candidate.release[i] : 0;
    if (part != wanted.release[i]) return false;
  }
  return true;
}

bool same_release(const Version& left, const Version& right) {
  return left.epoch == right.epoch && compare_release(left, right) == 0;
}

bool matches_equal(const Specifier& wanted, const Version& candidate) {
  if (wanted.wildcard) {
    return same_prefix(wanted.version, wanted.version.release.size(), candidate);
  }
  return wanted.version.local.empty() ? compare_public(candidate, wanted.version) == 0
                                      : candidate == wanted.version;
}

/// "<1.0" leaves out 1.0's own pre-releases, "<1.0.post1" those of the post-release, unless the
/// specifier names a pre-release itself.
bool matches_less(const Version& wanted, const Version& candidate) {
  if (candidate >= wanted) return false;
  if (wanted.is_prerelease() || !same_release(candidate, wanted)) return true;
  return wanted.post && (candidate.pre.has_value() || candidate.post != wanted.post);
}

/// ">1.0" leaves out 1.0's post-releases and local versions, ">1.0.post1" the local versions.
bool matches_greater(const Version& wanted, const Version& candidate) {
  if (compare_public(candidate, wanted) <= 0) return false;
  if (wanted.dev || wanted.post) return true;
  return !same_release(candidate, wanted) || candidate.pre != wanted.pre;
}

std::unexpected<Error> not_a_specifier(std::string_view clause, std::string_view why) {
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a valid version specifier: {}", text::quote(clause), why),
              "specifiers look like >=1.2, ==1.*, ~=2.1 or !=3.0 (PEP 440)");
}

std::size_t skip_space(std::string_view text, std::size_t position) {
  while (position < text.size() && text::is_ascii_space(text[position])) ++position;
  return position;
}

/// Why what follows a complete specifier cannot.
std::string trailing_problem(const ScannedSpecifier& scanned, std::string_view rest) {
  const Comparison comparison = scanned.specifier.comparison;
  const bool equality = comparison == Comparison::equal || comparison == Comparison::not_equal;
  if (rest.starts_with(".*")) {
    return equality ? "\".*\" cannot follow a pre-release, post-release, dev or local part"
                    : "\".*\" is only valid with == and !=";
  }
  if (rest.starts_with('+') && !equality) return "a local version is only valid with == and !=";
  return fmt::format("unexpected {} at position {}", text::quote(rest.substr(0, 1)),
                     scanned.length);
}

}  // namespace

std::optional<Comparison> scan_comparison(std::string_view text) {
  for (const auto& [spelling, comparison] : kOperators) {
    if (text.starts_with(spelling)) return comparison;
  }
  return std::nullopt;
}

std::string_view comparison_text(Comparison comparison) {
  for (const auto& [spelling, value] : kOperators) {
    if (value == comparison) return spelling;
  }
  return {};
}

Result<ScannedSpecifier> scan_specifier(std::string_view text) {
  const auto comparison = scan_comparison(text);
  if (!comparison) {
    return not_a_specifier(text, "it does not start with ==, !=, <=, >=, <, >, ~= or ===");
  }
  ScannedSpecifier scanned;
  scanned.specifier.comparison = *comparison;
  const std::size_t start = skip_space(text, comparison_text(*comparison).size());
  std::size_t end = start;
  if (*comparison == Comparison::arbitrary) {
    while (end < text.size() && !text::is_ascii_space(text[end]) && text[end] != ';' &&
           text[end] != ')') {
      ++end;
    }
  } else {
    const bool equality = *comparison == Comparison::equal || *comparison == Comparison::not_equal;
    auto version = scan_version(text.substr(start), {.wildcard = equality, .local = equality});
    if (!version) return not_a_specifier(text, version.error().message);
    if (*comparison == Comparison::compatible && version->version.release.size() < 2) {
      return not_a_specifier(text, "~= needs at least two release numbers");
    }
    end = start + version->length;
    scanned.specifier.version = std::move(version->version);
    scanned.specifier.wildcard = version->wildcard;
  }
  scanned.specifier.text = std::string(text.substr(start, end - start));
  scanned.length = end;
  return scanned;
}

bool Specifier::contains(const Version& candidate) const {
  switch (comparison) {
    case Comparison::equal:
      return matches_equal(*this, candidate);
    case Comparison::not_equal:
      return !matches_equal(*this, candidate);
    case Comparison::less:
      return matches_less(version, candidate);
    case Comparison::less_equal:
      return compare_public(candidate, version) <= 0;
    case Comparison::greater:
      return matches_greater(version, candidate);
    case Comparison::greater_equal:
      return candidate >= version;
    case Comparison::compatible:
      return candidate >= version && same_prefix(version, version.release.size() - 1, candidate);
    case Comparison::arbitrary:
      return text::ascii_lower(text) == text::ascii_lower(render_version(candidate));
  }
  return false;
}

bool Specifier::admits_prereleases() const {
  if (comparison == Comparison::not_equal) return false;
  if (comparison != Comparison::arbitrary) return version.is_prerelease();
  const auto named = parse_version(text);
  return named && named->is_prerelease();
}

bool SpecifierSet::contains(const Version& candidate) const {
  return std::ranges::all_of(
      specifiers, [&](const Specifier& specifier) { return specifier.contains(candidate); });
}

bool SpecifierSet::admits_prereleases() const {
  return std::ranges::any_of(
      specifiers, [](const Specifier& specifier) { return specifier.admits_prereleases(); });
}

Result<Specifier> parse_specifier(std::string_view clause) {
  const std::string_view text = text::trim_ascii(clause);
  auto scanned = scan_specifier(text);
  if (!scanned) return std::unexpected(std::move(scanned.error()));
  if (scanned->length != text.size()) {
    return not_a_specifier(text, trailing_problem(*scanned, text.substr(scanned->length)));
  }
  return std::move(scanned->specifier);
}

Result<SpecifierSet> parse_specifiers(std::string_view text) {
  if (text.size() > longest_specifiers) {
    return fail(ErrorKind::malformed, fmt::format("a specifier of {} bytes is too long: {}...",
                                                  text.size(), text::quote(text.substr(0, 60))));
  }
  SpecifierSet set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view clause = text::trim_ascii(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (clause.empty()) continue;
    auto specifier = parse_specifier(clause);
    if (!specifier) return std::unexpected(std::move(specifier.error()));
    set.specifiers.push_back(std::move(*specifier));
  }
  return set;
}

std::string render_specifiers(const SpecifierSet& set) {
  std::string rendered;
  for (const Specifier& specifier : set.specifiers) {
    if (!rendered.empty()) rendered += ',';
    rendered += comparison_text(specifier.comparison);
    if (!specifier.text.empty() || specifier.comparison == Comparison::arbitrary) {
      rendered += specifier.text;
    } else {
      rendered += render_version(specifier.version) + (specifier.wildcard ? ".*" : "");
    }
  }
  return rendered;
}

}  // namespace axle::wheel
