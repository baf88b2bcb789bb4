#include "index/family/family_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "index/family/family_vendors.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

constexpr std::int64_t newest_schema = 1;
constexpr std::size_t max_bytes = 8U << 20;

using LabelPlaceRow = std::pair<std::string_view, LabelPlace>;
constexpr std::array<LabelPlaceRow, 3> label_places = {{
    {"version", LabelPlace::version},
    {"folder", LabelPlace::folder},
    {"built-for", LabelPlace::built_for},
}};

bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '-';
  });
}

}  // namespace

bool is_driver_version(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

FamilyReader::FamilyReader(const toml::table& document, std::string where)
    : reading_(where), root_(document, "", reading_) {
  family_.where = std::move(where);
}

Result<Family> FamilyReader::read() {
  if (!root_.has_schema(newest_schema)) return std::unexpected(*reading_.error());
  read_head();
  read_sources();
  read_devices();
  for (documents::TomlTable& table : root_.tables("labels")) read_label(table);
  for (const std::string& name : family_.fallback) {
    if (family_.label(name) == nullptr)
      root_.refuse("fallback", fmt::format("label \"{}\" is not defined", name));
  }
  for (documents::TomlTable& table : root_.tables("releases")) read_release(table);
  for (documents::TomlTable& table : root_.tables("features")) read_feature(table);
  root_.finish();
  if (reading_.error()) return std::unexpected(*reading_.error());
  return std::move(family_);
}

void FamilyReader::read_head() {
  family_.name = word(root_, "name");
  family_.url = root_.required_text("url");
  read_pages();
  family_.members = projects(root_, "members");
  if (family_.members.empty()) root_.refuse("members", "there are no members");
  family_.unlabelled = projects(root_, "unlabelled");
  family_.fallback = root_.texts("fallback");
  if (!family_.fallback.empty() && !family_.shares_labels())
    root_.refuse("fallback", "what was built for a release of torch follows its build");
  for (auto& [member, release] : root_.text_pairs("ended")) {
    require_member("ended", member);
    family_.ended.emplace(wheel::normalize_name(member), release);
  }
  read_ended_platforms();
  family_.date = date(root_);
  for (const std::string& project : family_.unlabelled) {
    if (contains(family_.members, project))
      root_.refuse("unlabelled", fmt::format("{} is a member", project));
  }
}

void FamilyReader::read_pages() {
  while (family_.url.ends_with('/')) family_.url.pop_back();
  const std::string place = root_.required_text("label-in");
  const auto* row = std::ranges::find(label_places, place, &LabelPlaceRow::first);
  if (row != label_places.end()) {
    family_.label_in = row->second;
  } else if (!place.empty()) {
    root_.refuse("label-in", fmt::format("\"{}\" is none of \"version\", \"folder\" and "
                                         "\"built-for\"",
                                         place));
  }
  family_.links = root_.flag("links").value_or(false);
  family_.page_list = root_.text("page-list").value_or("");
  if (family_.url.contains(torch_mark) == family_.page_list.empty())
    root_.refuse("page-list",
                 family_.page_list.empty()
                     ? "the key is missing: which releases of torch there are pages for"
                     : "it is for a URL with {torch}");
  if (const auto torch = root_.text("torch")) {
    auto releases = wheel::parse_specifiers(*torch);
    if (!releases) root_.refuse("torch", releases.error().message);
    if (family_.page_list.empty()) root_.refuse("torch", "it is for a URL with {torch}");
    if (releases) family_.torch_pages = std::move(*releases);
  }
  if (const auto fault = fault_of_family_url(family_, family_.url)) root_.refuse("url", *fault);
}

void FamilyReader::read_sources() {
  for (auto& [key, text] : root_.text_pairs("sources")) {
    if (text.empty()) root_.refuse("sources", fmt::format("{} is not a defined source", key));
    family_.sources.emplace(key, text);
  }
}

void FamilyReader::read_devices() {
  auto table = root_.table("devices");
  if (!table) return;
  for (const auto& [key, node] : table->node()) {
    family_.devices.emplace(key.str(), table->texts(key.str()));
  }
}

void FamilyReader::check_vendor(documents::TomlTable& table, const std::string& vendor) {
  if (vendor.empty() || find_family_vendor(vendor) != nullptr) return;
  std::string words;
  for (const FamilyVendor& row : family_vendors())
    words += (words.empty() ? "" : ", ") + std::string(row.word);
  table.refuse("vendor", fmt::format("\"{}\" is not one of {}", vendor, words));
}

void FamilyReader::read_label(documents::TomlTable& table) {
  FamilyLabel label;
  label.name = table.required_text("name");
  if (!label.name.empty() && !wheel::is_valid_label(label.name))
    table.refuse(
        "name", fmt::format("\"{}\" is not a valid variant label (a-z, 0-9, _ and .)", label.name));
  if (label.name.starts_with('.'))
    table.refuse("name", "a label that is part of a URL must not begin with a dot");
  if (family_.label(label.name) != nullptr)
    table.refuse("name", fmt::format("duplicate label {}", label.name));
  label.vendor = table.text("vendor").value_or("");
  check_vendor(table, label.vendor);
  const bool nvidia = label.vendor == "nvidia";
  label.toolkit = nvidia ? version_pair(table, "toolkit") : table.text("toolkit").value_or("");
  label.cuda = version_pair(table, "cuda");
  label.driver = table.text("driver").value_or("");
  for (const auto& [key, value] :
       {std::pair("toolkit", &label.toolkit), std::pair("cuda", &label.cuda),
        std::pair("driver", &label.driver)}) {
    if (nvidia && value->empty()) table.refuse(key, "the key is missing");
  }
  label.driver_windows = table.text("driver-windows").value_or("");
  for (const auto& [key, version] :
       {std::pair("driver", &label.driver), std::pair("driver-windows", &label.driver_windows)}) {
    if (!version->empty() && !is_driver_version(*version))
      table.refuse(key, fmt::format("\"{}\" is not a valid driver version", *version));
  }
  if (!nvidia && !(label.cuda + label.driver + label.driver_windows).empty())
    table.refuse("vendor", "cuda and driver are only for nvidia labels");
  if (const auto url = table.text("url")) {
    label.url = *url;
    while (label.url.ends_with('/')) label.url.pop_back();
    if (const auto fault = fault_of_family_url(family_, label.url)) table.refuse("url", *fault);
    if (label.url.contains(version_mark) != family_.is_by_release())
      table.refuse("url", "either all URLs of a family have {version}, or none has");
  }
  label.sources = sources(table);
  table.finish();
  family_.labels.push_back(std::move(label));
}

std::vector<std::string> FamilyReader::sources(documents::TomlTable& table) {
  std::vector<std::string> keys = table.texts("source");
  if (keys.empty()) {
    table.refuse("source", "the fact has no source",
                 "list one or more of the keys under [sources]");
  }
  for (const std::string& key : keys) {
    if (!family_.sources.contains(key))
      table.refuse("source", fmt::format("source \"{}\" is not defined", key),
                   "define it under [sources]");
  }
  return keys;
}

std::string FamilyReader::version_pair(documents::TomlTable& table, std::string_view key) {
  std::string text = table.text(key).value_or("");
  if (!text.empty() && !is_version_pair(text))
    table.refuse(key, fmt::format("\"{}\" is not a valid version such as 12.8", text));
  return text;
}

std::string FamilyReader::word(documents::TomlTable& table, std::string_view key) {
  std::string text = table.required_text(key);
  if (!text.empty() && !is_word(text))
    table.refuse(key, fmt::format("\"{}\" is not a valid name (a-z, 0-9, -, _ and .)", text));
  return text;
}

std::vector<std::string> FamilyReader::projects(documents::TomlTable& table, std::string_view key) {
  std::vector<std::string> names;
  for (const std::string& text : table.texts(key)) {
    if (!wheel::is_valid_name(text)) {
      table.refuse(key, fmt::format("\"{}\" is not a valid package name", text));
      continue;
    }
    std::string name = wheel::normalize_name(text);
    if (contains(names, name)) table.refuse(key, fmt::format("duplicate {}", name));
    names.push_back(std::move(name));
  }
  return names;
}

void FamilyReader::require_member(std::string_view key, std::string_view name) {
  const std::string normalised = wheel::normalize_name(name);
  if (!contains(family_.members, normalised)) {
    root_.refuse(key, fmt::format("{} is not among the members", name));
  } else if (normalised == family_.members.front()) {
    root_.refuse(key, fmt::format("{} is the first member, which the others depend on", name));
  }
}

std::string FamilyReader::date(documents::TomlTable& table) {
  std::string text = table.required_text("date");
  const auto has_form = [&](std::string_view form) {
    return text.size() == form.size() && std::ranges::equal(text, form, [](char c, char f) {
             return f == '-' ? c == '-' : c >= '0' && c <= '9';
           });
  };
  if (!text.empty() && !has_form("0000-00") && !has_form("0000-00-00"))
    table.refuse("date", fmt::format("\"{}\" is not a date such as 2026-11 or 2026-11-20", text));
  return text;
}

std::optional<std::string> fault_of_family_url(const Family& family, std::string_view url) {
  if (url.empty()) return "the key is missing";
  if (!is_http_url(url) && !is_file_url(url) && !url.starts_with('/'))
    return fmt::format("\"{}\" is neither an http(s) or file URL nor an absolute path",
                       redact_url(url));
  for (std::size_t at = url.find('{'); at != url.npos; at = url.find('{', at + 1)) {
    const std::string_view mark = url.substr(at, url.find('}', at) + 1 - at);
    if (!contains(std::array{label_mark, version_mark, torch_mark}, mark))
      return fmt::format(
          "the URL has {}, and only {{label}}, {{version}} and {{torch}} are filled in", mark);
  }
  if (family.label_in == LabelPlace::folder && !url.contains(label_mark))
    return "labels are folders, but the URL has no {label}";
  if (url.contains(torch_mark) && !family.links)
    return "{torch} is only for pages with links to files: `links = true`";
  return std::nullopt;
}

Result<Family> parse_family(std::string_view toml, std::string where) {
  if (toml.size() > max_bytes) {
    return fail(ErrorKind::malformed,
                fmt::format("{} has {} bytes, too large for a family", where, toml.size()));
  }
  auto document = documents::parse_toml(toml, where);
  if (!document) return std::unexpected(std::move(document).error());
  return FamilyReader(*document, std::move(where)).read();
}

}  // namespace axle::index
