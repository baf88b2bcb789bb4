#include "index/http/cache_store.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "foundation/system/whole_file.h"
#include "index/http/local_files.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

// An entry is this line, a line of JSON (with the sha256 of the body), the sha256 of that line, the
// body.
constexpr std::string_view magic = "axle http cache 1\n";
constexpr std::uint64_t max_entry_bytes = 1ULL << 30;

std::string hex_sha256(std::string_view text) { return wheel::render_hex(wheel::sha256(text)); }

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

void set_time(const std::string& path, std::int64_t seconds) {
  const std::array<timespec, 2> times = {timespec{seconds, 0}, timespec{seconds, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
}

}  // namespace

std::string encode_entry(std::string_view key, const HttpResponse& response) {
  // Links are resolved against the URL; its query may contain a token and is not needed for that.
  const std::string place = response.url.substr(0, response.url.find('?'));
  const nlohmann::json head = {{"key", hex_sha256(key)},
                               {"sha256", hex_sha256(response.body)},
                               {"status", response.status},
                               {"url", place},
                               {"content_type", response.content_type},
                               {"etag", response.etag},
                               {"last_modified", response.last_modified},
                               {"cache_control", response.cache_control}};
  std::string text = head.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string bytes(magic);
  bytes += text + '\n' + hex_sha256(text) + '\n' + response.body;
  return bytes;
}

std::optional<CachedResponse> decode_entry(std::string bytes, std::string_view key) {
  if (!bytes.starts_with(magic)) return std::nullopt;
  std::string_view rest = std::string_view(bytes).substr(magic.size());
  const std::string_view text = take_line(rest);
  const std::string_view sum = take_line(rest);
  if (hex_sha256(text) != sum) return std::nullopt;
  try {
    const nlohmann::json head = nlohmann::json::parse(text);
    if (head.at("key").get<std::string>() != hex_sha256(key)) return std::nullopt;
    CachedResponse entry;
    entry.sha256 = hex_sha256(rest);
    if (head.at("sha256").get<std::string>() != entry.sha256) return std::nullopt;
    entry.response.status = head.at("status").get<int>();
    entry.response.url = head.at("url").get<std::string>();
    entry.response.content_type = head.at("content_type").get<std::string>();
    entry.response.etag = head.at("etag").get<std::string>();
    entry.response.last_modified = head.at("last_modified").get<std::string>();
    entry.response.cache_control = head.at("cache_control").get<std::string>();
    bytes.erase(0, bytes.size() - rest.size());
    entry.response.body = std::move(bytes);
    return entry;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

// Keys contain URLs, possibly with secrets in queries: the name is their hash.
std::string CacheStore::path_of(std::string_view key) const {
  const std::string name = wheel::render_hex(wheel::sha256(key));
  return folder_ + "/http-1/" + name.substr(0, 2) + '/' + name.substr(2);
}

std::optional<CachedResponse> CacheStore::read(std::string_view key) const {
  auto entry = look_up(key);
  return entry ? std::move(*entry) : std::nullopt;
}

Result<std::optional<CachedResponse>> CacheStore::look_up(std::string_view key) const {
  const std::string path = path_of(key);
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fail(ErrorKind::io, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  Result<std::string> bytes = read_local_file(path, max_entry_bytes);
  if (!bytes && bytes.error().kind == ErrorKind::not_found) return std::nullopt;
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  std::optional<CachedResponse> entry = decode_entry(std::move(*bytes), key);
  if (entry) entry->confirmed_at = status.st_mtim.tv_sec;
  return entry;
}

bool CacheStore::make_drafts_folder(const std::string& drafts) const {
  std::error_code error;
  std::filesystem::create_directories(drafts, error);
  if (!error && !swept_.exchange(true)) system::remove_abandoned_drafts(drafts);
  return !error;
}

bool CacheStore::write(std::string_view key, const HttpResponse& response,
                       std::int64_t confirmed_at) const {
  const std::string path = path_of(key);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) return false;
  // Pages of an index that requires a login must not be readable for others.
  ::chmod(folder.parent_path().c_str(), S_IRWXU);
  const std::string drafts = folder.parent_path().string() + "/drafts";
  if (!make_drafts_folder(drafts)) return false;
  // Every entry has a checksum: an incomplete one counts as absent.
  return !system::write_whole_file(path, encode_entry(key, response),
                                   {.flush = system::Flush::no,
                                    .mode = S_IRUSR | S_IWUSR,
                                    .drafts = drafts,
                                    .modified = confirmed_at});
}

void CacheStore::confirm(std::string_view key, std::int64_t confirmed_at) const {
  set_time(path_of(key), confirmed_at);
}

}  // namespace axle::index
