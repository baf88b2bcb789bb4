// Answers the questions of packaging_differential.py: one line in, one line out. Fields are
// separated by tabs; "\t", "\n", "\r" and "\\" inside a field are escaped. What does not parse is
// answered by "ERR".
#include <algorithm>
#include <charconv>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/marker.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"
#include "wheel/system_platform.h"
#include "wheel/tag.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace wheel = axle::wheel;

namespace {

using Fields = std::vector<std::string>;

constexpr const char* kError = "ERR";
constexpr std::string_view kEscaped = "tnr\\";
constexpr std::string_view kPlain = "\t\n\r\\";

Fields split(std::string_view line) {
  Fields fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      fields.back() += kPlain[kEscaped.find(line[++i])];
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (const auto index = kPlain.find(c); index != std::string_view::npos) {
      escaped += '\\';
      escaped += kEscaped[index];
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string join(const Fields& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += '\t';
    line += escape(field);
  }
  return line;
}

unsigned number(const std::string& text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// What the "env" and "set" lines have told so far.
wheel::MarkerEnvironment& environment() {
  static wheel::MarkerEnvironment told;
  return told;
}

std::string version(const Fields& query) {
  const auto parsed = wheel::parse_version(query.at(1));
  return parsed ? wheel::render_version(*parsed) : kError;
}

std::string compare(const Fields& query) {
  const auto left = wheel::parse_version(query.at(1));
  const auto right = wheel::parse_version(query.at(2));
  if (!left || !right) return kError;
  const auto order = *left <=> *right;
  return order < 0 ? "-1" : order > 0 ? "1" : "0";
}

std::string specifiers(const Fields& query) {
  const auto parsed = wheel::parse_specifiers(query.at(1));
  return parsed ? escape(wheel::render_specifiers(*parsed)) : kError;
}

std::string contains(const Fields& query) {
  const auto parsed = wheel::parse_specifiers(query.at(1));
  const auto candidate = wheel::parse_version(query.at(2));
  if (!parsed || !candidate) return kError;
  return parsed->contains(*candidate) ? "1" : "0";
}

std::string prereleases(const Fields& query) {
  const auto parsed = wheel::parse_specifiers(query.at(1));
  if (!parsed) return kError;
  return parsed->admits_prereleases() ? "1" : "0";
}

std::string set_string(const Fields& query) {
  environment().strings[query.at(1)] = query.at(2);
  return "ok";
}

std::string set_members(const Fields& query) {
  environment().sets[query.at(1)] = {query.begin() + 2, query.end()};
  return "ok";
}

std::string marker(const Fields& query) {
  const auto parsed = wheel::parse_marker(query.at(1));
  if (!parsed) return kError;
  return join({parsed->render(), parsed->evaluate(environment()) ? "1" : "0"});
}

std::string requirement(const Fields& query) {
  const auto parsed = wheel::parse_requirement(query.at(1));
  if (!parsed) return kError;
  std::string extras;
  for (const std::string& extra : parsed->extras) extras += (extras.empty() ? "" : ",") + extra;
  return join({parsed->name, extras, wheel::render_specifiers(parsed->specifiers), parsed->url,
               parsed->marker ? parsed->marker->render() : ""});
}

std::string name(const Fields& query) {
  return join({wheel::normalize_name(query.at(1)), wheel::is_valid_name(query.at(1)) ? "1" : "0"});
}

std::string wheel_name(const Fields& query) {
  const auto parsed = wheel::parse_wheel_name(query.at(1));
  if (!parsed) return kError;
  Fields tags;
  for (const wheel::Tag& tag : parsed->tags) tags.push_back(wheel::render_tag(tag));
  std::ranges::sort(tags);
  const std::string build =
      parsed->build ? std::to_string(parsed->build->first) + ":" + parsed->build->second : "";
  Fields answer = {wheel::normalize_name(parsed->distribution),
                   wheel::render_version(parsed->version), build, parsed->label};
  answer.insert(answer.end(), tags.begin(), tags.end());
  return join(answer);
}

/// "cp311,cp311d"
Fields words(std::string_view list) {
  Fields found;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    found.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return found;
}

std::string mac_platforms(const Fields& query) {
  return join(wheel::mac_platforms({number(query.at(1)), number(query.at(2))}, query.at(3)));
}

std::string windows_platform(const Fields& query) { return wheel::windows_platform(query.at(1)); }

std::string tags(const Fields& query) {
  wheel::TagTarget target;
  target.implementation = query.at(1);
  target.python_major = number(query.at(2));
  target.python_minor = number(query.at(3));
  target.abis = words(query.at(4));
  target.free_threaded = query.at(5) == "1";
  target.architecture = query.at(6);
  target.libc_family = query.at(7);
  target.libc_major = number(query.at(8));
  target.libc_minor = number(query.at(9));
  target.platforms = words(query.at(10));
  Fields rendered;
  const wheel::SupportedTags supported = wheel::supported_tags(target);
  for (const wheel::Tag& tag : supported.best_first()) rendered.push_back(wheel::render_tag(tag));
  return join(rendered);
}

}  // namespace

int main() {
  const std::map<std::string, std::function<std::string(const Fields&)>> answers = {
      {"version", version},         {"compare", compare},
      {"specifiers", specifiers},   {"contains", contains},
      {"prereleases", prereleases}, {"env", set_string},
      {"set", set_members},         {"marker", marker},
      {"requirement", requirement}, {"name", name},
      {"wheel", wheel_name},        {"tags", tags},
      {"mac", mac_platforms},       {"windows", windows_platform},
  };
  std::string line;
  while (std::getline(std::cin, line)) {
    const Fields query = split(line);
    const auto answer = answers.find(query.front());
    if (answer == answers.end()) {
      std::cerr << "no such question: " << query.front() << "\n";
      return 2;
    }
    std::cout << answer->second(query) << "\n";
  }
  return 0;
}
