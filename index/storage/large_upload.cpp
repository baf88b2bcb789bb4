#include "index/storage/large_upload.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/system/parallel.h"
#include "foundation/system/whole_file.h"
#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_parts = 10'000;  ///< Amazon S3, "Multipart upload limits"
constexpr unsigned parts_at_once = 4;
constexpr std::uint64_t longest_notes = 4ULL << 20;
constexpr std::size_t hashed_at_once = 1U << 20;

/// So that even the largest object has few enough parts.
std::uint64_t part_size_for(std::uint64_t size) {
  std::uint64_t part = part_bytes;
  while (size / part >= most_parts) part *= 2;
  return part;
}

Result<std::string> hash_of_part(const std::string& path, std::uint64_t offset,
                                 std::uint64_t size) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source.error()));
  wheel::Sha256 hash;
  std::vector<std::byte> buffer(hashed_at_once);
  for (std::uint64_t done = 0; done < size;) {
    const auto some = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - done));
    if (auto read = (*source)->read(offset + done, some); !read)
      return std::unexpected(std::move(read.error()));
    hash.update(some);
    done += some.size();
  }
  return wheel::render_hex(hash.finish());
}

class LargeUpload {
 public:
  LargeUpload(StorageClient& storage, const LargeFile& file, bool goes_on)
      : storage_(storage),
        file_(file),
        goes_on_(goes_on),
        part_(part_size_for(file.size)),
        etags_((file.size + part_ - 1) / part_) {}

  Result<void> run(const std::function<void(std::uint64_t)>& sent);

 private:
  [[nodiscard]] json identity() const {
    return {{"url", storage_.url(file_.key)},
            {"sha256", file_.sha256},
            {"size", file_.size},
            {"part", part_}};
  }
  void take_notes();
  void write_notes() const;
  [[nodiscard]] Result<void> send_parts(const std::function<void(std::uint64_t)>& sent);
  [[nodiscard]] Result<void> send_part(std::size_t number);
  [[nodiscard]] Result<void> complete();
  [[nodiscard]] Error ended_by(Error error);

  StorageClient& storage_;
  const LargeFile& file_;
  bool goes_on_;
  std::uint64_t part_;
  std::string upload_;
  std::mutex mutex_;                ///< protects what follows while parts are sent
  std::vector<std::string> etags_;  ///< empty: the part is not there
};

void LargeUpload::take_notes() {
  if (!goes_on_) return;
  const auto text = read_local_file(upload_notes(file_.path), longest_notes);
  if (!text) return;
  const json notes = json::parse(*text, nullptr, false);
  if (!notes.is_object() || notes.value("of", json()) != identity()) return;
  const json upload = notes.value("upload", json());
  const json parts = notes.value("parts", json());
  if (!upload.is_string() || !parts.is_array() || parts.size() != etags_.size()) return;
  if (!std::ranges::all_of(parts, [](const json& one) { return one.is_string(); })) return;
  upload_ = upload.get<std::string>();
  etags_ = parts.get<std::vector<std::string>>();
}

void LargeUpload::write_notes() const {
  if (!goes_on_) return;
  const json notes = {{"of", identity()}, {"upload", upload_}, {"parts", etags_}};
  // What is not written down is sent again.
  (void)system::write_whole_file(upload_notes(file_.path),
                                 notes.dump(-1, ' ', true, json::error_handler_t::replace),
                                 {.flush = system::Flush::no, .mode = 0600});
}

Result<void> LargeUpload::send_part(std::size_t number) {
  ObjectBody body;
  body.file = file_.path;
  body.offset = number * part_;
  body.size = std::min(part_, file_.size - body.offset);
  auto hash = hash_of_part(body.file, body.offset, body.size);
  if (!hash) return std::unexpected(std::move(hash.error()));
  body.sha256 = std::move(*hash);
  auto etag = storage_.put_part(file_.key, upload_, static_cast<unsigned>(number + 1), body);
  if (!etag) return std::unexpected(std::move(etag.error()));
  const std::lock_guard lock(mutex_);
  etags_[number] = std::move(*etag);
  write_notes();
  return {};
}

Result<void> LargeUpload::send_parts(const std::function<void(std::uint64_t)>& sent) {
  std::optional<Error> error;
  system::for_each_at_once(etags_.size(), parts_at_once, [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex_);
      if (error) return;
    }
    auto done = etags_[i].empty() ? send_part(i) : Result<void>();
    const std::lock_guard lock(mutex_);
    if (done) return sent(std::min(part_, file_.size - i * part_));
    if (!error) error = std::move(done.error());
  });
  if (error) return std::unexpected(std::move(*error));
  return {};
}

Result<void> LargeUpload::complete() {
  auto done = storage_.complete_parts(file_.key, upload_, etags_);
  if (!done && done.error().kind != ErrorKind::not_found) return done;
  // An answer that was lost may have said that it is complete; one that came may be wrong.
  const auto there = storage_.head(file_.key);
  if (!there) return std::unexpected(there.error());
  const bool whole = *there && (*there)->sha256 == file_.sha256 && (*there)->size == file_.size;
  if (whole) return {};
  if (!done) return done;
  return fail(ErrorKind::mismatch,
              redact_url(storage_.url(file_.key)) +
                  ": the storage says that it has all parts, but what it has is not the file",
              "run the command again; if that does not help, ask the operator of the storage");
}

Error LargeUpload::ended_by(Error error) {
  const bool refused = error.kind != ErrorKind::io;
  error.kind = ErrorKind::io;
  if (goes_on_ && !refused) {
    error.hint += (error.hint.empty() ? "" : "; ") +
                  std::string(
                      "the parts that were sent stay in the storage, and the same command "
                      "goes on with them");
    return error;
  }
  const std::string left = fmt::format(
      "parts of {} may be left in the storage, which count as "
      "used until they are removed (a lifecycle rule for "
      "incomplete multipart uploads does it)",
      redact_url(storage_.url(file_.key)));
  if (!storage_.abort_parts(file_.key, upload_)) {
    error.hint += (error.hint.empty() ? "" : "; ") + left;
    return error;
  }
  std::error_code ignored;
  std::filesystem::remove(upload_notes(file_.path), ignored);
  return error;
}

Result<void> LargeUpload::run(const std::function<void(std::uint64_t)>& sent) {
  take_notes();
  for (bool again = !upload_.empty();; again = false) {
    if (upload_.empty()) {
      auto begun = storage_.begin_parts(file_.key, file_.kind, file_.sha256);
      if (!begun) return std::unexpected(std::move(begun.error()));
      upload_ = std::move(*begun);
      write_notes();
    }
    auto done = send_parts(sent);
    if (done) done = complete();
    if (done) break;
    // What an earlier command began may have been removed since.
    if (done.error().kind != ErrorKind::not_found || !again) {
      return std::unexpected(ended_by(std::move(done.error())));
    }
    upload_.clear();
    std::ranges::fill(etags_, std::string());
  }
  std::error_code ignored;
  std::filesystem::remove(upload_notes(file_.path), ignored);
  return {};
}

}  // namespace

std::string upload_notes(const std::string& path) { return path + ".upload"; }

Result<void> upload_in_parts(StorageClient& storage, const LargeFile& file, bool goes_on,
                             const std::function<void(std::uint64_t)>& sent) {
  return LargeUpload(storage, file, goes_on).run(sent);
}

}  // namespace axle::index
