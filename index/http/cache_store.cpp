#include "index/http/cache_store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"
#include "foundation/system/whole_file.h"
#include "index/http/content_coding.h"
#include "index/http/local_files.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

// An entry is this line, a line of JSON (with the sha256 of the body), the sha256 of that line, the
// body. A body that came compressed stays so: pages take a seventh of the space.
constexpr std::string_view magic = "axle http cache 2\n";
constexpr std::uint64_t max_entry_bytes = 1ULL << 30;
/// Of nearly all entries; a longer head is only read with its body.
constexpr std::size_t most_head_bytes = 4096;

std::string hex_sha256(std::string_view text) { return wheel::render_hex(wheel::sha256(text)); }

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

/// All but the body, which `bytes` is left with.
std::optional<CachedResponse> take_head(std::string_view& bytes, std::string_view key_hash) {
  if (!bytes.starts_with(magic)) return std::nullopt;
  bytes.remove_prefix(magic.size());
  const std::string_view text = take_line(bytes);
  const std::string_view sum = take_line(bytes);
  if (hex_sha256(text) != sum) return std::nullopt;
  try {
    const nlohmann::json head = nlohmann::json::parse(text);
    if (head.at("key").get<std::string>() != key_hash) return std::nullopt;
    CachedResponse entry;
    entry.sha256 = head.at("sha256").get<std::string>();
    entry.response.status = head.at("status").get<int>();
    entry.response.url = head.at("url").get<std::string>();
    entry.response.content_type = head.at("content_type").get<std::string>();
    entry.response.etag = head.at("etag").get<std::string>();
    entry.response.last_modified = head.at("last_modified").get<std::string>();
    entry.response.cache_control = head.at("cache_control").get<std::string>();
    entry.response.packed.coding = head.at("coding").get<std::string>();
    entry.body_size = head.at("size").get<std::uint64_t>();
    entry.response.copy.identity = sum;
    return entry;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string form_path(const std::string& entry) { return entry + ".form"; }

/// Enough for the form of a wheel's metadata, and for what is read first of that of a page.
constexpr std::size_t first_form_bytes = 16384;

struct EncodedEntry {
  std::string bytes;
  AnswerHead head;  ///< of it, as `take_head` gives it
};

EncodedEntry encode(std::string_view key_hash, const HttpResponse& response) {
  EncodedEntry entry;
  HttpResponse& kept = entry.head.response;
  kept.status = response.status;
  // Links are resolved against the URL; its query may contain a token and is not needed for that.
  kept.url = response.url.substr(0, response.url.find('?'));
  kept.content_type = response.content_type;
  kept.etag = response.etag;
  kept.last_modified = response.last_modified;
  kept.cache_control = response.cache_control;
  const bool is_packed = !response.packed.bytes.empty();
  const std::string& stored = is_packed ? response.packed.bytes : response.body;
  entry.head.sha256 = hex_sha256(stored);
  entry.head.body_size = response.body.size();
  const nlohmann::json head = {{"key", key_hash},
                               {"sha256", entry.head.sha256},
                               {"size", entry.head.body_size},
                               {"coding", is_packed ? response.packed.coding : std::string()},
                               {"status", kept.status},
                               {"url", kept.url},
                               {"content_type", kept.content_type},
                               {"etag", kept.etag},
                               {"last_modified", kept.last_modified},
                               {"cache_control", kept.cache_control}};
  const std::string text = head.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  kept.copy.identity = hex_sha256(text);
  entry.bytes.reserve(magic.size() + text.size() + kept.copy.identity.size() + stored.size() + 2);
  entry.bytes.append(magic).append(text).append("\n");
  entry.bytes.append(kept.copy.identity).append("\n").append(stored);
  return entry;
}

void set_time(const std::string& path, std::int64_t seconds) {
  const std::array<timespec, 2> times = {timespec{seconds, 0}, timespec{seconds, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
}

}  // namespace

std::optional<AnswerHead> read_entry_head(const std::string& path) {
  const bool is_form = path.ends_with(".form");
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return std::nullopt;
  // The digits of the key: one names the folder, the others the file.
  std::string key_hash = path.substr(slash - 1, 1) + path.substr(slash + 1);
  if (is_form) key_hash.resize(key_hash.size() - form_path("").size());
  const system::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, first_form_bytes> begin;
  const ssize_t got = file ? ::pread(file.get(), begin.data(), begin.size(), 0) : -1;
  std::string_view bytes(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (is_form) {
    auto form = decode_form_head(bytes, key_hash);
    return form ? std::optional<AnswerHead>(std::move(form->answer)) : std::nullopt;
  }
  auto entry = take_head(bytes, key_hash);
  return entry ? std::optional<AnswerHead>(std::move(*entry)) : std::nullopt;
}

std::string encode_entry(std::string_view key, const HttpResponse& response) {
  return encode(hex_sha256(key), response).bytes;
}

std::optional<CachedResponse> decode_entry(std::string bytes, std::string_view key) {
  std::string_view rest = bytes;
  std::optional<CachedResponse> entry = take_head(rest, hex_sha256(key));
  if (!entry || hex_sha256(rest) != entry->sha256) return std::nullopt;
  if (const PackedBody packed = std::exchange(entry->response.packed, {}); !packed.coding.empty()) {
    Result<std::string> body =
        decode_body(rest, packed.coding, std::min(entry->body_size, max_entry_bytes), "the entry");
    if (!body) return std::nullopt;
    entry->response.body = std::move(*body);
  } else {
    bytes.erase(0, bytes.size() - rest.size());
    entry->response.body = std::move(bytes);
  }
  if (entry->response.body.size() != entry->body_size) return std::nullopt;
  return entry;
}

std::string CacheStore::drafts_folder() const { return folder_ + "/http-2/drafts"; }

// Keys contain URLs, possibly with secrets in queries: the name is their hash.
std::string CacheStore::path_of(std::string_view key_hash) const {
  return fmt::format("{}/http-2/{}/{}", folder_, key_hash.substr(0, 1), key_hash.substr(1));
}

std::optional<CachedResponse> CacheStore::read(std::string_view key,
                                               const HasForm& has_form) const {
  if (has_form) {
    if (auto answer = read_form(key, has_form)) return answer;
  }
  auto entry = look_up(key);
  return entry ? std::move(*entry) : std::nullopt;
}

std::optional<CachedResponse> CacheStore::read_form(std::string_view key,
                                                    const HasForm& has_form) const {
  const std::string key_hash = hex_sha256(key);
  KeptForm form;
  form.path = form_path(path_of(key_hash));
  const system::Descriptor file(::open(form.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  std::array<char, first_form_bytes> begin;
  const ssize_t got = file && ::fstat(file.get(), &status) == 0
                          ? ::pread(file.get(), begin.data(), begin.size(), 0)
                          : -1;
  if (got <= 0 || status.st_size < got) return std::nullopt;
  const std::string_view bytes(begin.data(), static_cast<std::size_t>(got));
  auto head = decode_form_head(bytes, key_hash);
  if (!head) return std::nullopt;
  form.identity = std::move(head->identity);
  form.offset = head->length;
  form.size = static_cast<std::uint64_t>(status.st_size) - form.offset;
  form.begin = bytes.substr(head->length);
  if (!has_form(form)) return std::nullopt;
  CachedResponse answer{std::move(head->answer), status.st_mtim.tv_sec};
  answer.response.has_form = true;
  return answer;
}

Result<std::optional<CachedResponse>> CacheStore::look_up(std::string_view key) const {
  const std::string path = path_of(hex_sha256(key));
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fail(ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  Result<std::string> bytes = read_local_file(path, max_entry_bytes);
  if (!bytes && bytes.error().kind == ErrorKind::not_found) return std::nullopt;
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  std::optional<CachedResponse> entry = decode_entry(std::move(*bytes), key);
  if (!entry) return entry;
  entry->confirmed_at = status.st_mtim.tv_sec;
  FormPlace& copy = entry->response.copy;
  copy.path = form_path(path);
  copy.head = encode_form_head(hex_sha256(key), copy.identity, *entry);
  copy.confirmed_at = entry->confirmed_at;
  return entry;
}

Result<std::optional<CachedResponse>> CacheStore::look_ahead(std::string_view key) const {
  const std::string key_hash = hex_sha256(key);
  const std::string path = path_of(key_hash);
  const system::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat status = {};
  std::array<char, most_head_bytes> begin;
  const ssize_t got = file && ::fstat(file.get(), &status) == 0
                          ? ::pread(file.get(), begin.data(), begin.size(), 0)
                          : -1;
  std::string_view bytes(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::optional<CachedResponse> entry = take_head(bytes, key_hash);
  if (!entry) return fail(ErrorKind::io, path + " cannot be read");
  entry->confirmed_at = status.st_mtim.tv_sec;
  return entry;
}

bool CacheStore::make_folders(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) return false;
  // Pages of an index that requires a login must not be readable for others.
  ::chmod(folder.parent_path().c_str(), S_IRWXU);
  const std::string drafts = drafts_folder();
  std::filesystem::create_directories(drafts, error);
  if (!error && !swept_.exchange(true)) system::remove_abandoned_drafts(drafts);
  return !error;
}

bool CacheStore::write_file(const std::string& path, std::string_view bytes,
                            std::optional<std::int64_t> modified) const {
  // Every entry has a checksum: an incomplete one counts as absent.
  const system::WholeFile how{.flush = system::Flush::no,
                              .mode = S_IRUSR | S_IWUSR,
                              .drafts = drafts_folder(),
                              .modified = modified};
  // The first one of a process looks after the folders; later ones find them as a rule.
  if (!swept_ && !make_folders(path)) return false;
  const std::error_code error = system::write_whole_file(path, bytes, how);
  if (error != std::errc::no_such_file_or_directory) return !error;
  return make_folders(path) && !system::write_whole_file(path, bytes, how);
}

FormPlace CacheStore::write(std::string_view key, const HttpResponse& response,
                            std::int64_t confirmed_at) const {
  const std::string key_hash = hex_sha256(key);
  const std::string path = path_of(key_hash);
  const EncodedEntry entry = encode(key_hash, response);
  FormPlace copy = entry.head.response.copy;
  copy.path = form_path(path);
  // It would answer in place of the new entry.
  ::unlink(copy.path.c_str());
  if (!write_file(path, entry.bytes, confirmed_at)) return {};
  copy.head = encode_form_head(key_hash, copy.identity, entry.head);
  copy.confirmed_at = confirmed_at;
  return copy;
}

bool CacheStore::write_form(const FormPlace& copy, std::string_view bytes) const {
  if (copy.path.empty()) return false;
  std::string file;
  file.reserve(copy.head.size() + bytes.size());
  file.append(copy.head).append(bytes);
  return write_file(copy.path, file, copy.confirmed_at);
}

void CacheStore::confirm(std::string_view key, const CachedResponse& entry,
                         std::int64_t confirmed_at) const {
  const std::string path = path_of(hex_sha256(key));
  set_time(entry.response.has_form ? form_path(path) : path, confirmed_at);
}

}  // namespace axle::index
