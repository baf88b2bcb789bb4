#include "cli/views/bom_parts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/license_expression.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::vector<std::string> fields_of(const wheel::CoreMetadata& metadata, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [key, value] : metadata.fields) {
    const std::string_view trimmed = text::trim_ascii(value);
    // What setuptools wrote for a field that was not set.
    if (text::ascii_lower(key) == text::ascii_lower(name) && !trimmed.empty() &&
        trimmed != "UNKNOWN")
      values.emplace_back(trimmed);
  }
  return values;
}

std::string field_of(const wheel::CoreMetadata& metadata, std::string_view name) {
  auto values = fields_of(metadata, name);
  return values.empty() ? std::string() : std::move(values.front());
}

struct HashName {
  std::string_view ours;  ///< as hashlib has it
  std::string_view theirs;
  std::size_t digits;
};

constexpr std::array hash_names = {HashName{"md5", "MD5", 32},
                                   HashName{"sha1", "SHA-1", 40},
                                   HashName{"sha256", "SHA-256", 64},
                                   HashName{"sha384", "SHA-384", 96},
                                   HashName{"sha512", "SHA-512", 128},
                                   HashName{"sha3_256", "SHA3-256", 64},
                                   HashName{"sha3_384", "SHA3-384", 96},
                                   HashName{"sha3_512", "SHA3-512", 128},
                                   HashName{"blake2b", "BLAKE2b-512", 128}};

/// A name or an address, as nothing in it has to be encoded; or none ("file:///x").
bool has_plain_host(std::string_view url) {
  std::string_view host = index::split_authority(index::split_url(url).authority).host;
  std::string_view known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    known = "0123456789abcdefABCDEF:.";
  }
  const std::string_view port = index::split_authority(index::split_url(url).authority).port;
  return host.find_first_not_of(known) == host.npos &&
         port.find_first_not_of("0123456789") == port.npos;
}

/// With everything encoded that no URI may have.
std::string clean_url(std::string_view url) {
  const std::size_t path = url.find_first_of("/?#", std::min(url.find("//"), url.size() - 1) + 2);
  std::string clean;
  bool in_fragment = false;
  for (std::size_t i = 0; i < url.size(); ++i) {
    const char c = url[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool bracket = (c == '[' || c == ']') && i > path;
    const bool forbidden = byte <= 0x20 || byte >= 0x7f || bracket || (c == '#' && in_fragment) ||
                           std::string_view("\"<>\\^`{|}").contains(c);
    if (c == '#') in_fragment = true;
    if (forbidden) {
      clean += fmt::format("%{:02X}", byte);
    } else {
      clean += c;
    }
  }
  return clean;
}

/// The URL of a page for people; nullopt: it is none.
std::optional<std::string> page_url(std::string_view url) {
  const std::string scheme = text::ascii_lower(index::split_url(url).scheme);
  for (const char* known : {"http", "https", "ftp", "mailto"}) {
    if (scheme == known && has_plain_host(url)) return clean_url(index::without_credentials(url));
  }
  return std::nullopt;
}

/// The types of references by the labels of Project-URL, as PEP 753 normalises them, and others
/// that are usual.
std::string_view reference_type(std::string_view label) {
  std::string word;
  for (const char c : label) {
    if (text::is_ascii_alnum(c)) word += text::ascii_lower(c);
  }
  struct Row {
    std::string_view type;
    std::vector<std::string_view> words;
  };
  static const std::array rows = {
      Row{"website", {"homepage", "home", "website"}},
      Row{"vcs", {"source", "repository", "sourcecode", "github", "gitlab", "code", "vcs"}},
      Row{"distribution", {"download"}},
      Row{"release-notes", {"changelog", "changes", "releasenotes", "whatsnew", "history", "news"}},
      Row{"documentation", {"documentation", "docs"}},
      Row{"issue-tracker",
          {"issues", "bugs", "issue", "tracker", "issuetracker", "bugtracker", "bugreports"}},
      Row{"chat", {"chat", "discord", "slack", "gitter"}},
      Row{"mailing-list", {"mailinglist"}},
      Row{"security-contact", {"security"}}};
  for (const Row& row : rows) {
    if (std::ranges::find(row.words, word) != row.words.end()) return row.type;
  }
  return "other";
}

class References {
 public:
  void add(std::string_view type, std::string url, std::string_view comment) {
    if (!known_.emplace(type, url).second) return;
    ordered_json row = {{"type", type}, {"url", std::move(url)}};
    if (!comment.empty()) row["comment"] = comment;
    rows_.push_back(std::move(row));
  }
  void add_page(std::string_view type, std::string_view url, std::string_view comment) {
    if (auto page = page_url(url)) add(type, std::move(*page), comment);
  }
  ordered_json& rows() { return rows_; }

 private:
  ordered_json rows_ = ordered_json::array();
  std::set<std::pair<std::string, std::string>> known_;
};

/// "Name <address>, Name <address>", quoted or not.
std::vector<std::string> split_addresses(std::string_view text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_address(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != 0 && at != text.npos && at + 1 < text.size() &&
         text.find('@', at + 1) == text.npos && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) > 0x20 && c != '<' && c != '>' && c != 0x7f;
         });
}

ordered_json contact(std::string_view part) {
  ordered_json row = ordered_json::object();
  std::string_view name = text::trim_ascii(part);
  std::string_view address;
  if (const std::size_t open = name.rfind('<'); open != name.npos && name.ends_with('>')) {
    address = text::trim_ascii(name.substr(open + 1, name.size() - open - 2));
    name = text::trim_ascii(name.substr(0, open));
  } else if (is_address(name)) {
    address = std::exchange(name, {});
  }
  if (!name.empty()) row["name"] = name;
  if (is_address(address)) row["email"] = address;
  return row;
}

}  // namespace

std::string package_url(std::string_view name, std::string_view version,
                        const session::DirectUrl& direct) {
  // The specification of the type: lower case and "-" for "_"; dots are kept.
  std::string word = text::ascii_lower(name);
  std::ranges::replace(word, '_', '-');
  std::string url = fmt::format("pkg:pypi/{}@{}", index::percent_encode(word, false),
                                index::percent_encode(version, false));
  const std::string place = index::redact_url(direct.url);
  if (!index::is_http_url(place)) return url;
  if (direct.repository) {
    const std::string vcs = fmt::format("{}+{}{}{}", direct.vcs, place,
                                        direct.commit.empty() ? "" : "@", direct.commit);
    return url + "?vcs_url=" + index::percent_encode(vcs, false);
  }
  return url + "?download_url=" + index::percent_encode(place, false);
}

ordered_json bom_licenses(const wheel::CoreMetadata& metadata) {
  ordered_json licenses = ordered_json::array();
  const std::string expression = field_of(metadata, "License-Expression");
  if (const auto normal = wheel::normalize_license_expression(expression)) {
    licenses.push_back({{"expression", *normal}, {"acknowledgement", "declared"}});
    return licenses;
  }
  std::set<std::string> known;
  const auto add = [&](const std::string& name, const std::string& text) {
    if (name.empty() || !known.insert(name).second) return;
    ordered_json license = {{"name", name}, {"acknowledgement", "declared"}};
    if (!text.empty()) license["text"] = {{"contentType", "text/plain"}, {"content", text}};
    licenses.push_back({{"license", std::move(license)}});
  };
  add(expression, {});
  // Some have the whole text there.
  const std::string license = field_of(metadata, "License");
  constexpr std::size_t longest_name = 120;
  const bool is_name = license.size() <= longest_name && !license.contains('\n');
  if (!license.empty())
    add(is_name ? license : "License of " + metadata.name, is_name ? "" : license);
  for (const std::string& classifier : fields_of(metadata, "Classifier")) {
    if (!classifier.starts_with("License :: ") || classifier.ends_with(":: OSI Approved")) continue;
    add(classifier.substr(classifier.rfind(" :: ") + 4), {});
  }
  return licenses;
}

ordered_json bom_authors(const wheel::CoreMetadata& metadata) {
  ordered_json authors = ordered_json::array();
  const std::string author = field_of(metadata, "Author");
  const auto addresses = split_addresses(field_of(metadata, "Author-email"));
  for (const std::string& address : addresses) {
    ordered_json row = contact(address);
    // "Author" is the name that belongs to a single bare address.
    if (!row.contains("name") && row.contains("email") && addresses.size() == 1 && !author.empty())
      row = {{"name", author}, {"email", row["email"]}};
    if (!row.empty()) authors.push_back(std::move(row));
  }
  const bool is_there = std::ranges::any_of(authors, [&](const ordered_json& row) {
    return row.contains("name") && row["name"] == author;
  });
  if (!author.empty() && !is_there) authors.push_back({{"name", author}});
  return authors;
}

ordered_json bom_references(const wheel::CoreMetadata& metadata, const session::DirectUrl& direct) {
  References references;
  if (!direct.url.empty() && has_plain_host(direct.url)) {
    std::string place = clean_url(index::redact_url(direct.url));
    if (direct.repository) {
      references.add("vcs", std::move(place),
                     direct.commit.empty() ? "" : fmt::format("{} {}", direct.vcs, direct.commit));
    } else {
      references.add("distribution", std::move(place),
                     direct.folder ? "installed from this folder" : "installed from this file");
      if (auto hashes = bom_hashes(direct); !hashes.empty())
        references.rows().back()["hashes"] = std::move(hashes);
    }
  }
  references.add_page("website", field_of(metadata, "Home-page"), "Home-page");
  references.add_page("distribution", field_of(metadata, "Download-URL"), "Download-URL");
  for (const std::string& line : fields_of(metadata, "Project-URL")) {
    const std::size_t comma = line.find(',');
    if (comma == line.npos) continue;
    const std::string_view label = text::trim_ascii(std::string_view(line).substr(0, comma));
    references.add_page(reference_type(label),
                        text::trim_ascii(std::string_view(line).substr(comma + 1)), label);
  }
  return std::move(references.rows());
}

ordered_json bom_hashes(const session::DirectUrl& direct) {
  ordered_json hashes = ordered_json::array();
  for (const HashName& name : hash_names) {
    const auto found = direct.hashes.find(std::string(name.ours));
    if (found != direct.hashes.end() && found->second.size() == name.digits)
      hashes.push_back({{"alg", name.theirs}, {"content", text::ascii_lower(found->second)}});
  }
  return hashes;
}

}  // namespace axle::cli
