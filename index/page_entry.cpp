#include "index/page_entry.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "index/transport.h"

namespace axle::index {
namespace {

constexpr std::size_t shown_skips = 5;

bool needs_encoding(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f;
}

/// Spaces, control characters and non-ASCII bytes of a link as a browser would send them.
void encode_stray_bytes(std::string& url) {
  if (std::ranges::none_of(url, needs_encoding)) return;
  std::string clean;
  clean.reserve(url.size() + 16);
  for (const char c : url) {
    if (needs_encoding(c)) {
      clean += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      clean += c;
    }
  }
  url = std::move(clean);
}

}  // namespace

PageBuilder::PageBuilder(std::string_view page_url, std::string base_url, Report& report)
    : resolver_(std::move(base_url)), page_is_local_(!is_http_url(page_url)), report_(report) {
  page_.url = redact_url(page_url);
}

// A page from the network must not make us read local files.
bool PageBuilder::link_allowed(std::string_view url) const {
  if (url.starts_with("https://") || url.starts_with("http://")) return true;
  return is_http_url(url) || (page_is_local_ && is_file_url(url));
}

void PageBuilder::add(PublishedFile&& file, std::string_view link) {
  if (!is_sound_file_name(file.filename)) return skip(file.filename, "its name is not a file name");
  file.url = resolver_.resolve(link);
  if (const std::size_t hash = file.url.find('#'); hash != std::string::npos) {
    file.url.resize(hash);
  }
  encode_stray_bytes(file.url);
  if (!link_allowed(file.url))
    return skip(file.filename, "its link is neither http, https nor a local file");
  page_.files.push_back(std::move(file));
}

void PageBuilder::skip(std::string_view filename, std::string_view why) {
  if (++skipped_ > shown_skips) return;
  std::string name(filename.substr(0, 200));
  std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  report_.warn(fmt::format("{}: '{}' is left out: {}", page_.url, name, why),
               "tell whoever runs this index");
}

ProjectPage PageBuilder::finish() {
  if (skipped_ > shown_skips) {
    report_.warn(
        fmt::format("{}: {} more entries are left out", page_.url, skipped_ - shown_skips));
  }
  return std::move(page_);
}

Result<void> check_api_version(std::string_view version, std::string_view page_url) {
  const std::size_t dot = version.find('.');
  const std::string_view major = version.substr(0, dot);
  const auto all_digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!all_digits(major) ||
      (dot != std::string_view::npos && !all_digits(version.substr(dot + 1)))) {
    return fail(ErrorKind::malformed, fmt::format("{}: '{}' is not a version of the simple API",
                                                  redact_url(page_url), version.substr(0, 40)));
  }
  if (major != "1") {
    return fail(ErrorKind::unsupported,
                fmt::format("{} speaks version {} of the simple API; this program knows 1.x",
                            redact_url(page_url), version.substr(0, 40)),
                "use a newer release of this program, or another index");
  }
  return {};
}

std::string sha256_digits(std::string_view text) {
  if (text.size() != 64) return {};
  std::string digits(text);
  for (char& c : digits) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return {};
  }
  return digits;
}

bool is_sound_file_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return std::ranges::none_of(name, [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

bool is_distribution_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> endings = {
      ".whl", ".tar.gz", ".zip", "-variants.json", ".tar.bz2", ".tgz", ".tar.xz", ".egg", ".exe"};
  return std::ranges::any_of(endings, [name](std::string_view end) { return name.ends_with(end); });
}

}  // namespace axle::index
