#include "index/storage/stored_draft.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "index/http/redaction.h"
#include "index/publish/index_pages.h"
#include "index/storage/large_upload.h"

namespace axle::index {
namespace {

constexpr unsigned objects_at_once = 8;

constexpr std::string_view html_page = "index.html";

/// "simple/demo/index.html" -> "simple/demo/": what pip and uv ask for.
std::string folder_key(std::string_view path) {
  return std::string(path.substr(0, path.size() - html_page.size()));
}

}  // namespace

Result<void> StoredDraft::write(std::string_view path, std::string_view content) {
  const bool root = path.find('/') == path.rfind('/');
  const bool html = path.ends_with(html_page);
  std::vector<Object>& stage = is_list_page(path)                              ? html_roots_
                               : is_project_page(path) || is_page_script(path) ? html_pages_
                               : !is_index_page(path)                          ? files_
                               : root ? (html ? html_roots_ : roots_)
                                      : (html ? html_pages_ : pages_);
  stage.push_back({std::string(path), text_body(std::string(content))});
  if (path.ends_with(html_page) && is_index_page(path))
    stage.push_back({folder_key(path), text_body(std::string(content))});
  return {};
}

Result<void> StoredDraft::copy(const std::string& file, std::string_view path,
                               std::string_view sha256) {
  auto body = file_body(file, sha256);
  if (!body) return std::unexpected(std::move(body.error()));
  files_.push_back({std::string(path), std::move(*body)});
  return {};
}

void StoredDraft::count(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  sent_ = std::min(sent_ + bytes, total_);
  report_->progress({"uploading to " + storage_.access().address.text(), sent_, total_, true});
}

Result<void> StoredDraft::send_large(const Object& object) {
  const LargeFile file{object.body.file, object.key, object_kind(object.key), object.body.sha256,
                       object.body.size};
  return upload_in_parts(storage_, file, goes_on_, [this](std::uint64_t bytes) { count(bytes); });
}

PutCondition StoredDraft::condition_of(const std::string& key) const {
  const auto found = read_.find(key);
  if (found == read_.end()) return {};
  return {true, found->second};
}

void StoredDraft::note_etag(const std::string& key, const std::string& etag) {
  if (!key.ends_with("/index.json") || etag.empty()) return;
  const std::lock_guard lock(mutex_);
  written_[key] = etag;
}

Result<void> StoredDraft::send_bytes(const Object& object) {
  auto put =
      storage_.put(object.key, object_kind(object.key), object.body, condition_of(object.key));
  if (!put) return std::unexpected(std::move(put.error()));
  if (*put) note_etag(object.key, **put);
  const std::lock_guard lock(mutex_);
  if (!*put) no_folder_keys_ = true;
  return {};
}

Result<void> StoredDraft::send(const Object& object) {
  // The sha256 that was told when it was written counts, not the ETag, which may be anything.
  const auto there = storage_.head(object.key);
  if (!there) return std::unexpected(there.error());
  const bool same =
      *there && (*there)->sha256 == object.body.sha256 && (*there)->size == object.body.size;
  if (same) note_etag(object.key, (*there)->etag);
  const bool large = object.body.size > most_bytes_at_once;
  auto done = same ? Result<void>() : large ? send_large(object) : send_bytes(object);
  if (done && (same || !large)) count(object.body.size);
  return done;
}

Result<void> StoredDraft::check_pages() {
  for (const auto& [key, etag] : written_) {
    const auto there = storage_.head(key);
    if (!there) return std::unexpected(there.error());
    if (*there && ((*there)->etag.empty() || (*there)->etag == etag)) continue;
    return fail(ErrorKind::conflict,
                redact_url(storage_.url(key)) + " was written by another publisher",
                "run the command again");
  }
  return {};
}

std::vector<const std::vector<StoredDraft::Object>*> StoredDraft::stages() const {
  return {&files_, &pages_, &html_pages_, &roots_, &html_roots_};
}

Result<void> StoredDraft::send_all(const std::vector<Object>& objects) {
  std::vector<const Object*> small;
  // A large one has all connections to itself.
  for (const Object& object : objects) {
    if (object.body.size <= most_bytes_at_once) {
      small.push_back(&object);
    } else if (auto done = send(object); !done) {
      return done;
    }
  }
  std::mutex mutex;  // protects the error
  std::optional<Error> error;
  system::for_each_at_once(small.size(), objects_at_once, [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (error) return;
    }
    auto done = send(*small[i]);
    const std::lock_guard lock(mutex);
    if (!done && !error) error = std::move(done.error());
  });
  if (error) return std::unexpected(std::move(*error));
  return {};
}

Result<void> StoredDraft::remove_left_out() {
  for (const std::string& path : left_out_) {
    if (auto gone = storage_.remove(path); !gone) return gone;
    if (!path.ends_with(html_page) || !is_index_page(path)) continue;
    if (auto gone = storage_.remove(folder_key(path)); !gone) return gone;
  }
  return {};
}

Result<void> StoredDraft::put_in_place(Report& report) {
  report_ = &report;
  for (const std::vector<Object>* stage : stages()) {
    for (const Object& object : *stage) total_ += object.body.size;
  }
  // An index without projects names nothing that is missing, and marks the place as ours.
  if (!is_ours_) {
    const std::string key = "simple/index.json";
    const auto marked =
        storage_.put(key, object_kind(key), text_body(render_root_json({})), {.is_set = true});
    if (!marked) return std::unexpected(marked.error());
    // Another publisher may have written more by now.
    return fail(ErrorKind::conflict, redact_url(storage_.url(key)) + " was made by this command");
  }
  // What is named is there before the page that names it, and still there after the page that does
  // not any more.
  for (const std::vector<Object>* stage : stages()) {
    if (auto done = send_all(*stage); !done) return done;
  }
  if (auto still = check_pages(); !still) return still;
  if (no_folder_keys_) {
    const std::string simple = storage_.url("simple/");
    report.warn(
        fmt::format("{} takes no objects whose key ends with \"/\"",
                    storage_.access().address.text()),
        fmt::format("pip and uv need a web server or a website endpoint before it, that answers "
                    "for {}NAME/ with {}NAME/index.html",
                    simple, simple));
  }
  if (storage_.is_unconditional()) {
    report.warn(fmt::format("{} does not compare a page before it replaces it",
                            storage_.access().address.text()),
                "let only one command publish to it at a time");
  }
  return remove_left_out();
}

}  // namespace axle::index
