#include "index/publish/removal_target.h"

#include <algorithm>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t most_names = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_names; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_names) text += fmt::format(" and {} more", names.size() - most_names);
  return text;
}

}  // namespace

Result<RemovalTarget> parse_removal_target(std::string_view text) {
  RemovalTarget target;
  target.text = text;
  if (text.ends_with(".whl")) {
    target.file = text.substr(text.rfind('/') + 1);
    const auto name = wheel::parse_wheel_name(target.file);
    // No index has one with another name.
    target.project = wheel::normalize_name(name ? name->distribution
                                                : target.file.substr(0, target.file.find('-')));
    return target;
  }
  const std::size_t equals = text.find("==");
  const std::string_view name = text.substr(0, equals);
  if (!wheel::is_valid_name(name)) {
    return fail(ErrorKind::malformed,
                fmt::format("\"{}\" is not a valid package, release or wheel name", text),
                "use NAME, NAME==VERSION or the file name of a wheel");
  }
  target.project = wheel::normalize_name(name);
  if (equals == std::string_view::npos) return target;
  Result<wheel::Version> version = wheel::parse_version(text.substr(equals + 2));
  if (!version) return std::unexpected(within(std::string(text), std::move(version.error())));
  target.version = std::move(*version);
  return target;
}

bool names_wheel(const RemovalTarget& target, const ListedFile& wheel,
                 const std::vector<std::string>& labels) {
  const auto name = wheel::parse_wheel_name(wheel.filename);
  if (!name) return false;
  if (!labels.empty() && std::ranges::find(labels, name->label) == labels.end()) return false;
  if (!target.file.empty()) return target.file == wheel.filename;
  return !target.version || *target.version == name->version;
}

Error nothing_there(const RemovalTarget& target, const std::vector<std::string>& labels,
                    const std::vector<std::string>& listed,
                    const std::vector<std::string>& projects) {
  Error error{ErrorKind::not_found,
              fmt::format("the index has no {}{}", target.text,
                          labels.empty() ? "" : " with the variant " + joined(labels))};
  if (!listed.empty()) {
    error.hint = "it has " + joined(listed);
  } else {
    error.hint = projects.empty() ? "it has no projects"
                                  : text::suggest(target.project, projects,
                                                  "its projects are " + joined(projects));
  }
  return error;
}

}  // namespace axle::index
