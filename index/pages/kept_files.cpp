#include "index/pages/kept_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "index/http/url.h"
#include "index/pages/byte_kinds.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

// A file is: its place, two bytes of flags, its name, its link, and what the flags announce.
enum Flags : std::uint16_t {
  kind_bits = 3,
  has_size = 1U << 2,
  has_upload_time = 1U << 3,
  is_yanked = 1U << 4,
  has_yanked_reason = 1U << 5,
  announces_metadata = 1U << 6,
  has_metadata_hash = 1U << 7,
  is_exposed = 1U << 8,
  has_plain_sha256 = 1U << 9,
  has_other_hash = 1U << 10,
  has_same_python = 1U << 11,
  link_ends_in_name = 1U << 12,
  has_label = 1U << 13,
  has_source = 1U << 14,
  has_provenance = 1U << 15,
};

constexpr std::size_t hash_bytes = 32;

/// A file repeats the link before it in a few bytes: as much as the files of a page may use
/// (PageBuilder).
constexpr std::size_t most_repeated_bytes = 128U << 20;

void put_number(std::string& out, std::uint64_t value) {
  std::array<char, 10> bytes;
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<char>(value | 0x80);
  bytes[count++] = static_cast<char>(value);
  out.append(bytes.data(), count);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

/// A sha256 as its bytes, if it is written as 64 hexadecimal digits in lower case. Without branches
/// on the digits: a page has two for each of its files.
class Sha256Bytes {
 public:
  explicit Sha256Bytes(std::string_view digits) {
    if (digits.size() != 2 * hash_bytes) return;
    std::array<Byte, 2 * hash_bytes> values;
    std::array<Byte, 2 * hash_bytes> wrong;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto number = static_cast<Byte>(digits[i] - '0');
      const auto letter = static_cast<Byte>(digits[i] - 'a');
      values[i] = number <= 9 ? number : static_cast<Byte>(letter + 10);
      wrong[i] = static_cast<Byte>((number > 9) & (letter > 5));
    }
    Byte any_wrong = 0;
    for (const Byte one : wrong) any_wrong |= one;
    for (std::size_t i = 0; i < hash_bytes; ++i)
      bytes_[i] = static_cast<char>(values[2 * i] << 4 | values[2 * i + 1]);
    sound_ = any_wrong == 0;
  }

  [[nodiscard]] bool is_sound() const { return sound_; }
  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, hash_bytes> bytes_;
  bool sound_ = false;
};

/// Nothing but a sha256 that the page gives: nearly every file of nearly every page.
bool is_plain(const wheel::ExpectedHash& hash) {
  return hash.algorithm == "sha256" && hash.beside.empty() &&
         hash.source == wheel::HashSource::index;
}

std::size_t shared_length(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t length = 0;
  while (length + sizeof(std::uint64_t) <= most &&
         std::memcmp(a.data() + length, b.data() + length, sizeof(std::uint64_t)) == 0) {
    length += sizeof(std::uint64_t);
  }
  while (length < most && a[length] == b[length]) ++length;
  return length;
}

void put_hash(std::string& out, const wheel::ExpectedHash& hash) {
  put_text(out, hash.algorithm);
  put_text(out, hash.digits);
  out += static_cast<char>(hash.source);
  put_number(out, hash.beside.size());
  for (const wheel::ListedHash& other : hash.beside) {
    put_text(out, other.algorithm);
    put_text(out, other.digits);
  }
}

/// `plain`: a sha256 as bytes is all that its hash is.
unsigned flags_of(FileKind kind, const PublishedFile& file, bool plain) {
  const bool has_hash = !file.hash.algorithm.empty() || !file.hash.digits.empty() ||
                        !file.hash.beside.empty() || file.hash.source != wheel::HashSource::index;
  const auto when = [](bool holds, unsigned flag) { return holds ? flag : 0U; };
  return static_cast<unsigned>(kind) | when(file.size.has_value(), has_size) |
         when(file.uploaded.has_value(), has_upload_time) | when(file.yanked, is_yanked) |
         when(!file.yanked_reason.empty(), has_yanked_reason) |
         when(file.has_metadata, announces_metadata) |
         when(!file.metadata_sha256.empty(), has_metadata_hash) | when(file.exposed, is_exposed) |
         when(plain, has_plain_sha256) | when(!plain && has_hash, has_other_hash) |
         when(file.url.ends_with(file.filename), link_ends_in_name) |
         when(!file.label.empty(), has_label) | when(!file.source.empty(), has_source) |
         when(!file.provenance.empty(), has_provenance);
}

/// Reads numbers and texts and remembers whether all were there.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool sound() const { return sound_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  void refuse() {
    sound_ = false;
    rest_ = {};
  }

  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      refuse();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  unsigned byte() {
    const std::string_view one = bytes(1);
    return one.empty() ? 0 : static_cast<unsigned char>(one.front());
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const unsigned one = byte();
      value |= static_cast<std::uint64_t>(one & 0x7f) << shift;
      if (one < 0x80) return value;
    }
    refuse();
    return 0;
  }
  std::string_view text() { return bytes(number()); }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

void read_hash(Cursor& in, wheel::ExpectedHash& hash) {
  hash.algorithm = in.text();
  hash.digits = in.text();
  const unsigned source = in.byte();
  if (source > static_cast<unsigned>(wheel::HashSource::first_download)) in.refuse();
  hash.source = static_cast<wheel::HashSource>(source);
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) {
    const std::string_view algorithm = in.text();
    hash.beside.push_back({std::string(algorithm), std::string(in.text())});
  }
}

std::string sha256_text(std::string_view hash) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(2 * hash.size(), '0');
  char* out = text.data();
  for (const char one : hash) {
    const auto byte = static_cast<unsigned char>(one);
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 0xf];
  }
  return text;
}

/// Files one after the other, as FileWriter wrote them: each is looked through, and made only if
/// somebody wants it.
class FileReader {
 public:
  explicit FileReader(std::string_view bytes) : in_(bytes) {}

  [[nodiscard]] bool at_end() const { return in_.at_end(); }
  /// False: that is no file.
  [[nodiscard]] bool next();
  [[nodiscard]] FileKind kind() const { return static_cast<FileKind>(flags_ & kind_bits); }
  /// It is no wheel, or one that counts.
  [[nodiscard]] bool is_wanted(const WantedWheels& wanted) const {
    return !wanted || kind() != FileKind::wheel || wanted(filename_, requires_python_);
  }
  void make(KeptFile& kept) const;

 private:
  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }
  [[nodiscard]] bool read_provenance();

  Cursor in_;
  std::uint64_t place_ = 0;
  unsigned flags_ = 0;
  std::string_view filename_;
  std::string url_;  ///< without the name, if it ends in that
  std::string_view requires_python_;
  std::uint64_t size_ = 0;
  std::uint64_t uploaded_ = 0;
  std::string_view yanked_reason_;
  std::string_view metadata_hash_;
  bool is_metadata_plain_ = false;  ///< the hash is the bytes of a sha256
  std::string_view plain_hash_;
  wheel::ExpectedHash other_hash_;
  std::string_view label_;
  std::string_view source_;
  std::string provenance_;  ///< up to the file's name in it
  bool provenance_has_name_ = false;
  std::string_view provenance_end_;
  std::size_t repeated_ = 0;
};

bool FileReader::next() {
  place_ = in_.number();
  const unsigned low = in_.byte();
  flags_ = low | in_.byte() << 8;
  filename_ = in_.text();
  const std::uint64_t shared = in_.number();
  const std::string_view own = in_.text();
  if (shared > url_.size()) return false;
  url_.replace(shared, std::string::npos, own);
  if (!has(has_same_python)) requires_python_ = in_.text();
  if (has(has_size)) size_ = in_.number();
  if (has(has_upload_time)) uploaded_ = in_.number();
  if (has(has_yanked_reason)) yanked_reason_ = in_.text();
  if (has(has_metadata_hash)) {
    const std::uint64_t length = in_.number();  // 0: a sha256, as bytes
    is_metadata_plain_ = length == 0;
    metadata_hash_ = in_.bytes(is_metadata_plain_ ? hash_bytes : length);
  }
  if (has(has_plain_sha256)) {
    plain_hash_ = in_.bytes(hash_bytes);
  } else if (has(has_other_hash)) {
    other_hash_ = {};
    read_hash(in_, other_hash_);
  }
  if (has(has_label)) label_ = in_.text();
  if (has(has_source)) source_ = in_.text();
  if (has(has_provenance) && !read_provenance()) return false;
  repeated_ += url_.size() + requires_python_.size();
  return in_.sound() && repeated_ <= most_repeated_bytes;
}

bool FileReader::read_provenance() {
  const std::uint64_t shared = in_.number();
  const std::string_view own = in_.text();
  if (shared > provenance_.size()) return false;
  provenance_.replace(shared, std::string::npos, own);
  provenance_has_name_ = in_.byte() != 0;
  provenance_end_ = in_.text();
  repeated_ += provenance_.size();
  return true;
}

void FileReader::make(KeptFile& kept) const {
  kept.place = place_;
  kept.kind = kind();
  PublishedFile& file = kept.file;
  file.filename = filename_;
  file.url.reserve(url_.size() + filename_.size());
  file.url = url_;
  if (has(link_ends_in_name)) file.url += filename_;
  file.requires_python = requires_python_;
  if (has(has_size)) file.size = size_;
  if (has(has_upload_time)) file.uploaded = static_cast<std::int64_t>(uploaded_);
  file.yanked = has(is_yanked);
  if (has(has_yanked_reason)) file.yanked_reason = yanked_reason_;
  file.has_metadata = has(announces_metadata);
  if (has(has_metadata_hash))
    file.metadata_sha256 =
        is_metadata_plain_ ? sha256_text(metadata_hash_) : std::string(metadata_hash_);
  file.exposed = has(is_exposed);
  if (has(has_plain_sha256)) {
    file.hash.algorithm = "sha256";
    file.hash.digits = sha256_text(plain_hash_);
  } else if (has(has_other_hash)) {
    file.hash = other_hash_;
  }
  if (has(has_label)) file.label = label_;
  if (has(has_source)) file.source = source_;
  if (has(has_provenance)) {
    file.provenance = provenance_;
    if (provenance_has_name_) file.provenance += filename_;
    file.provenance += provenance_end_;
  }
}

}  // namespace

// "…/integrity/demo/1.0/" as far as it differs from the one before, the file's name if that
// follows, "/provenance".
void FileWriter::put_provenance(const PublishedFile& file) {
  const std::string_view whole = file.provenance;
  const std::size_t name = whole.find(file.filename);
  const bool has_name = name != std::string_view::npos;
  const std::string_view begin = whole.substr(0, name);
  const std::size_t shared = shared_length(begin, provenance_);
  put_number(out_, shared);
  put_text(out_, begin.substr(shared));
  out_ += static_cast<char>(has_name ? 1 : 0);
  put_text(out_, has_name ? whole.substr(name + file.filename.size()) : std::string_view());
  provenance_ = begin;
}

void FileWriter::add(std::size_t place, FileKind kind, const PublishedFile& file) {
  const Sha256Bytes hash(file.hash.digits);
  unsigned flags = flags_of(kind, file, is_plain(file.hash) && hash.is_sound());
  if (file.requires_python == requires_python_) flags |= has_same_python;
  put_number(out_, place);
  out_ += static_cast<char>(flags & 0xff);
  out_ += static_cast<char>(flags >> 8);
  put_text(out_, file.filename);
  std::string_view url = file.url;
  if ((flags & link_ends_in_name) != 0) url.remove_suffix(file.filename.size());
  const std::size_t shared = shared_length(url, url_);
  put_number(out_, shared);
  put_text(out_, url.substr(shared));
  if ((flags & has_same_python) == 0) put_text(out_, file.requires_python);
  if (file.size) put_number(out_, *file.size);
  if (file.uploaded) put_number(out_, static_cast<std::uint64_t>(*file.uploaded));
  if (!file.yanked_reason.empty()) put_text(out_, file.yanked_reason);
  if (const Sha256Bytes metadata(file.metadata_sha256); metadata.is_sound()) {
    put_number(out_, 0);
    out_ += metadata.bytes();
  } else if (!file.metadata_sha256.empty()) {
    put_text(out_, file.metadata_sha256);
  }
  if ((flags & has_plain_sha256) != 0) out_ += hash.bytes();
  if ((flags & has_other_hash) != 0) put_hash(out_, file.hash);
  if (!file.label.empty()) put_text(out_, file.label);
  if (!file.source.empty()) put_text(out_, file.source);
  if (!file.provenance.empty()) put_provenance(file);
  url_ = url;
  requires_python_ = file.requires_python;
}

std::optional<std::vector<KeptFile>> read_kept_files(std::string_view bytes, KeptIn where,
                                                     const WantedWheels& wanted) {
  constexpr std::size_t usual_bytes = 160;
  std::vector<KeptFile> files;
  if (!wanted) files.reserve(bytes.size() / usual_bytes + 1);
  FileReader reader(bytes);
  while (!reader.at_end()) {
    if (!reader.next()) return std::nullopt;
    if (!reader.is_wanted(wanted)) continue;
    KeptFile& kept = files.emplace_back();
    reader.make(kept);
    const bool fit = where == KeptIn::memory ||
                     (is_sound_file_name(kept.file.filename) && is_http_url(kept.file.url) &&
                      (kept.file.provenance.empty() || is_http_url(kept.file.provenance)));
    if (!fit) return std::nullopt;
  }
  return files;
}

}  // namespace axle::index
