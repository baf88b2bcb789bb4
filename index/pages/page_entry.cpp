#include "index/pages/page_entry.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/byte_kinds.h"
#include "wheel/hash/named_hash.h"
#include "wheel/tag.h"

namespace axle::index {
namespace {

constexpr std::size_t shown_skips = 5;

/// A page may use three times its length in memory, and some more if it is small, but never more
/// than 128 MB: entries of a few bytes and links against a base of a megabyte could otherwise
/// exhaust memory. Real pages use about their own length.
constexpr std::size_t small_page_bytes = 16U << 20;
constexpr std::size_t most_page_bytes = 128U << 20;

constexpr Byte is_dot(Byte c) { return static_cast<Byte>(c == '.'); }

/// How many tags the name of a wheel stands for ("py2.py3-none-any": 2) where they are many, else
/// 0. They are made when its release is looked at, and a name of 100 bytes may stand for 1,000.
std::size_t many_tags_of(std::string_view filename) {
  constexpr std::size_t few_dots = 8;  // of the version, the ending and a few tags
  if (count_of<is_dot>(filename) <= few_dots) return 0;
  constexpr std::size_t most = 1000;  // a wheel with more is not valid (wheel::parse_tags)
  std::size_t tags = 1;
  std::size_t dash = filename.find('-', filename.find('-') + 1);  // after the version
  while (dash != std::string_view::npos) {
    const std::size_t next = filename.find('-', dash + 1);
    const auto set = filename.substr(dash + 1, std::min(next, filename.size()) - dash - 1);
    tags = std::min(tags * (1 + static_cast<std::size_t>(std::ranges::count(set, '.'))), most);
    dash = next;
  }
  return tags;
}

std::size_t bytes_of(const PublishedFile& file) {
  return sizeof file + file.filename.size() + file.url.size() + file.hash.digits.size() +
         file.requires_python.size() + file.yanked_reason.size() + file.provenance.size() +
         many_tags_of(file.filename) * sizeof(wheel::Tag);
}

constexpr Byte is_unfit_for_name(Byte c) {
  return static_cast<Byte>((c < 0x20) | (c == 0x7f) | (c == '/') | (c == '\\'));
}

constexpr Byte is_unfit_for_url(Byte c) { return static_cast<Byte>((c <= 0x20) | (c >= 0x7f)); }

std::string scheme_of(std::string_view url) { return text::ascii_lower(split_url(url).scheme); }

/// Encodes spaces, control characters and non-ASCII bytes of a link as a browser does.
void encode_stray_bytes(std::string& url) {
  if (!has_any<is_unfit_for_url>(url)) return;
  std::string clean;
  clean.reserve(url.size() + 16);
  for (const char c : url) {
    if (is_unfit_for_url(static_cast<Byte>(c)) != 0) {
      clean += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      clean += c;
    }
  }
  url = std::move(clean);
}

}  // namespace

PageBuilder::PageBuilder(std::string_view page_url, std::string base_url, std::size_t page_bytes,
                         Report& report)
    : resolver_(std::move(base_url)),
      page_is_local_(!is_http_url(page_url)),
      page_is_https_(scheme_of(page_url) == "https"),
      report_(report),
      most_bytes_(std::min(most_page_bytes, small_page_bytes + 3 * page_bytes)) {
  page_.url = without_credentials(page_url);
  constexpr std::size_t typical_entry_bytes = 400;
  page_.files.reserve(page_bytes / typical_entry_bytes + 1);
}

PublishedFile& PageBuilder::begin() {
  // The last step reserves the maximum: doubling a long list again would need its memory twice.
  // Memory that no entry uses is never touched.
  std::vector<PublishedFile>& files = page_.files;
  if (files.size() == files.capacity()) {
    const std::size_t most = most_bytes_ / sizeof(PublishedFile) + 2;
    const std::size_t doubled = 2 * files.size();
    files.reserve(doubled > most / 2 ? std::max(most, files.size() + 1) : doubled);
  }
  return files.emplace_back();
}

// A page from the network must not make us read local files, and one in a bundle nothing that is
// not in it.
bool PageBuilder::link_allowed(std::string_view url) const {
  if (is_bundle_url(page_.url)) return is_bundle_url(url);
  if (url.starts_with("https://") || url.starts_with("http://")) return true;
  return is_http_url(url) || (page_is_local_ && is_file_url(url));
}

void PageBuilder::keep(std::string_view link) {
  PublishedFile& file = page_.files.back();
  if (!is_sound_file_name(file.filename)) return leave_out("its name is not a file name");
  file.url = resolver_.resolve(without_fragment(link));
  encode_stray_bytes(file.url);
  if (!link_allowed(file.url)) {
    return leave_out("its link is neither http, https nor a local file");
  }
  // No wheel has the hash of its own METADATA: the author of the page confused the two.
  if (!file.metadata_sha256.empty() && file.hash.sha256() == file.metadata_sha256) {
    if (borrowed_hashes_++ == 0) first_borrower_ = file.filename;
    file.hash = {};
  }
  if (!file.provenance.empty()) resolve_provenance(file);
  file.exposed = page_is_https_ && file.hash.empty() && scheme_of(file.url) == "http";
  bytes_ += bytes_of(file);
}

// Files without provenance are as good as those of indexes that know nothing of it: whoever
// requires some refuses them.
void PageBuilder::resolve_provenance(PublishedFile& file) {
  file.provenance = resolver_.resolve(without_fragment(file.provenance));
  encode_stray_bytes(file.provenance);
  if (link_allowed(file.provenance)) return;
  file.provenance.clear();
  if (lost_provenances_++ == 0) first_lost_ = file.filename;
}

Error PageBuilder::too_large() const {
  return {ErrorKind::malformed,
          fmt::format("{} lists {} files whose names and links are far too long for its size",
                      page_.url, page_.files.size()),
          "this is not a page of a package index; check the index URL"};
}

void PageBuilder::leave_out(std::string_view why) {
  if (++skipped_ <= shown_skips) {
    std::string name = page_.files.back().filename.substr(0, 200);
    std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    report_.warn(fmt::format("{}: '{}' is ignored: {}", page_.url, name, why),
                 "report it to the index's operator");
  }
  page_.files.pop_back();
}

ProjectPage PageBuilder::finish() {
  if (skipped_ > shown_skips) {
    report_.warn(fmt::format("{}: {} more entries are ignored", page_.url, skipped_ - shown_skips));
  }
  if (borrowed_hashes_ > 0) {
    const std::string others =
        borrowed_hashes_ == 1 ? "" : fmt::format(" and {} more", borrowed_hashes_ - 1);
    report_.warn(fmt::format("{} gives the hash of the metadata as the hash of {}{}: it is ignored",
                             page_.url, first_borrower_, others),
                 "report it to the index's operator");
  }
  if (lost_provenances_ > 0) {
    const std::string others =
        lost_provenances_ == 1 ? "" : fmt::format(" and {} more", lost_provenances_ - 1);
    report_.warn(fmt::format("{}: the provenance of {}{} is ignored: its link is neither http, "
                             "https nor a local file",
                             page_.url, first_lost_, others),
                 "report it to the index's operator");
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
    return fail(ErrorKind::malformed,
                fmt::format("{}: '{}' is not a valid version of the simple API",
                            redact_url(page_url), version.substr(0, 40)));
  }
  if (major != "1") {
    return fail(ErrorKind::unsupported,
                fmt::format("{} uses version {} of the simple API; this program supports 1.x",
                            redact_url(page_url), version.substr(0, 40)),
                "use a newer release of this program, or another index");
  }
  return {};
}

std::string sha256_digits(std::string_view text) {
  constexpr std::size_t digits = 64;
  if (text.size() != digits) return {};
  std::array<char, digits> lower;
  std::array<Byte, digits> bad;
  const char* bytes = text.data();
  for (std::size_t i = 0; i < digits; ++i) {
    const Byte c = static_cast<Byte>(bytes[i]);
    const Byte small = static_cast<Byte>(c | 0x20);
    const bool is_digit = static_cast<Byte>(c - '0') <= 9;
    bad[i] = static_cast<Byte>(!is_digit & (static_cast<Byte>(small - 'a') > 5));
    lower[i] = static_cast<char>(is_digit ? c : small);
  }
  Byte any_bad = 0;
  for (std::size_t i = 0; i < digits; ++i) any_bad |= bad[i];
  return any_bad == 0 ? std::string(lower.data(), digits) : std::string();
}

bool note_hash(wheel::ExpectedHash& hash, std::string_view algorithm, std::string_view digits) {
  if (algorithm == "sha256") {
    if (!hash.empty() && hash.algorithm != algorithm)
      hash.beside.push_back({std::move(hash.algorithm), std::move(hash.digits)});
    hash.algorithm = algorithm;
    hash.digits = sha256_digits(digits);
    return !hash.empty();
  }
  if (digits.empty()) return true;
  const auto strength = wheel::hash_strength(algorithm);
  if (hash.algorithm == "sha256") {
    // One is sufficient, so that a page cannot make a list of it.
    if (strength && hash.beside.empty())
      hash.beside.push_back({std::string(algorithm), text::ascii_lower(digits)});
    return true;
  }
  if (!hash.empty() && (!strength || strength <= wheel::hash_strength(hash.algorithm))) return true;
  hash.algorithm = algorithm;
  hash.digits = text::ascii_lower(digits);
  return true;
}

bool note_fragment_hashes(wheel::ExpectedHash& hash, std::string_view fragment) {
  while (!fragment.empty()) {
    const std::string_view item = fragment.substr(0, fragment.find('&'));
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    // Fragments also contain other things: egg, subdirectory.
    const bool is_hash = equals != std::string_view::npos &&
                         (key == "sha256" || wheel::hash_strength(key).has_value());
    if (is_hash && !note_hash(hash, key, item.substr(equals + 1))) return false;
    fragment.remove_prefix(std::min(item.size() + 1, fragment.size()));
  }
  return true;
}

bool is_sound_file_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return !has_any<is_unfit_for_name>(name);
}

bool is_distribution_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> endings = {
      ".whl", ".tar.gz", ".zip", "-variants.json", ".tar.bz2", ".tgz", ".tar.xz", ".egg", ".exe"};
  return std::ranges::any_of(endings, [name](std::string_view end) { return name.ends_with(end); });
}

}  // namespace axle::index
