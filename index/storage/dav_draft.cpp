#include "index/storage/dav_draft.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "index/http/redaction.h"
#include "index/publish/index_pages.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr unsigned requests_at_once = 8;
constexpr std::uint64_t largest_text = 1ULL << 30;

/// 0: of a file, which is named by pages. Pages of projects come before those of the index; JSON,
/// which is what is read before a change, after HTML and the pages for people: where it has a
/// change, all have it.
int turn_of(std::string_view path) {
  if (path.ends_with("-variants.json")) return 1;
  if (is_project_page(path) || is_page_script(path)) return 2;
  if (is_list_page(path)) return 4;
  if (!is_index_page(path)) return 0;
  const bool of_index = path.find('/') == path.rfind('/');
  return (of_index ? 4 : 2) + (path.ends_with(".json") ? 1 : 0);
}

/// Of a path below the index; "" for a file that lies in the index itself.
std::string folder_of(std::string_view path) {
  const std::size_t end = path.rfind('/');
  return std::string(path.substr(0, end == std::string_view::npos ? 0 : end));
}

std::string hash_of(std::string_view text) { return wheel::render_hex(wheel::sha256(text)); }

/// One for each file and content: what arrived for another command is not taken for it.
std::string aside_name(const std::string& path, const std::string& sha256) {
  return fmt::format("{}/{}", arriving_folder_name, hash_of(path + '\n' + sha256));
}

/// The first error of what is done by several threads.
Result<void> for_each_of(std::size_t count, const std::function<Result<void>(std::size_t)>& work) {
  std::mutex mutex;  // protects the error
  std::optional<Error> error;
  system::for_each_at_once(count, requests_at_once, [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (error) return;
    }
    auto done = work(i);
    const std::lock_guard lock(mutex);
    if (!done && !error) error = std::move(done.error());
  });
  if (error) return std::unexpected(std::move(*error));
  return {};
}

}  // namespace

Result<void> DavDraft::write(std::string_view path, std::string_view content) {
  const int turn = turn_of(path);
  if (turn == 0) {
    files_.push_back({std::string(path), text_body(std::string(content))});
  } else {
    texts_[turn].push_back({std::string(path), std::string(content)});
  }
  return {};
}

Result<void> DavDraft::copy(const std::string& file, std::string_view path,
                            std::string_view sha256) {
  auto body = file_body(file, sha256);
  if (!body) return std::unexpected(std::move(body.error()));
  files_.push_back({std::string(path), std::move(*body)});
  return {};
}

void DavDraft::count(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  sent_ = std::min(sent_ + bytes, total_);
  report_->progress({"uploading to " + client_.name(), sent_, total_, true});
}

Result<void> DavDraft::make_folders() {
  const auto fresh = client_.make_folder(arriving_folder_name);
  if (!fresh) return std::unexpected(fresh.error());
  if (has_index_) return {};
  const auto made = client_.make_folder("simple");
  if (!made) return std::unexpected(made.error());
  // A command that was killed has made the first one, too; one that publishes at the same time is
  // between the two.
  if (*made || !*fresh) return {};
  if (client_.is_empty_folder("simple")) return {};
  if (auto gone = client_.remove(fmt::format("{}/", arriving_folder_name)); !gone) return gone;
  return fail(ErrorKind::io,
              fmt::format("{} is there, but it has no index.json of an index: it is left as it is",
                          redact_url(client_.url("simple"))),
              "choose another folder, or remove it");
}

Result<void> DavDraft::send_whole(const std::string& path, const ObjectBody& body,
                                  const std::string& etag) {
  if (auto sent = client_.put(path, body, etag); !sent) return sent;
  const auto there = client_.head(path);
  if (!there) return std::unexpected(there.error());
  const bool whole = *there && (*there)->size.value_or(body.size) == body.size;
  if (whole) return {};
  return fail(
      ErrorKind::io,
      fmt::format("{}: the server took {} bytes and has {}", redact_url(client_.url(path)),
                  body.size, *there ? fmt::format("{}", (*there)->size.value_or(0)) : "nothing"),
      "look into the log of the server; what the pages name has not changed");
}

Result<bool> DavDraft::is_in_place(const File& file) {
  if (file.body.file.empty()) {
    const auto there = client_.get(file.path, file.body.size);
    return there && *there && (*there)->text == file.body.text;
  }
  const auto listed = read_.wheels.find(file.path);
  if (listed == read_.wheels.end() || listed->second != file.body.sha256) return false;
  const auto there = client_.head(file.path);
  if (!there) return std::unexpected(there.error());
  return *there && (*there)->size == file.body.size;
}

Result<void> DavDraft::send_aside(File& file) {
  const auto in_place = is_in_place(file);
  if (!in_place) return std::unexpected(in_place.error());
  if (!*in_place) {
    file.aside = aside_name(file.path, file.body.sha256);
    // Of a command that was interrupted.
    const auto there = client_.head(file.aside);
    if (!there) return std::unexpected(there.error());
    const bool arrived = *there && (*there)->size == file.body.size;
    if (auto sent = arrived ? Result<void>() : send_whole(file.aside, file.body, {}); !sent)
      return sent;
  }
  count(file.body.size);
  return {};
}

Result<void> DavDraft::take_lock(Report& report) {
  auto lock = DavLock::take(client_, fmt::format("{}/lock", arriving_folder_name));
  if (lock) {
    lock_ = std::move(*lock);
    return {};
  }
  if (lock.error().kind != ErrorKind::unsupported) return std::unexpected(std::move(lock.error()));
  report.warn(fmt::format("{} is on a server that has no locks", redact_url(client_.name())),
              "let only one command publish to it at a time");
  return {};
}

Result<void> DavDraft::check_pages() {
  std::vector<std::pair<std::string, std::string>> pages;
  const auto note = [&](const std::string& path) {
    if (const auto read = read_.etags.find(path); read != read_.etags.end()) pages.push_back(*read);
  };
  for (const auto& [turn, texts] : texts_) {
    for (const Text& text : texts) note(text.path);
  }
  for (const std::string& path : left_out_) note(path);
  return for_each_of(pages.size(), [&](std::size_t i) -> Result<void> {
    const auto& [path, etag] = pages[i];
    const auto there = client_.get(path, largest_text);
    if (!there) return std::unexpected(there.error());
    if ((*there ? hash_of((*there)->text) : std::string()) == etag) return {};
    return fail(ErrorKind::conflict,
                redact_url(client_.url(path)) + " was written by another publisher",
                "run the command again");
  });
}

Result<void> DavDraft::name_file(const File& file) {
  const auto moved = client_.move(file.aside, file.path, true);
  if (!moved) return std::unexpected(moved.error());
  if (*moved) return {};
  // The answer to a move was lost, or another publisher of the same file was faster.
  const auto there = client_.head(file.path);
  if (!there) return std::unexpected(there.error());
  if (*there && (*there)->size == file.body.size) return {};
  return fail(
      ErrorKind::io,
      fmt::format("{}: the server has lost what it took", redact_url(client_.url(file.aside))),
      "run the command again");
}

Result<void> DavDraft::name_files() {
  std::vector<const File*> arrived;
  std::set<std::string> folders;
  for (const File& file : files_) {
    if (!file.aside.empty()) arrived.push_back(&file);
    folders.insert(folder_of(file.path));
  }
  for (const auto& [turn, texts] : texts_) {
    for (const Text& text : texts) folders.insert(folder_of(text.path));
  }
  folders.erase("simple");
  folders.erase("");
  const std::vector<std::string> made(folders.begin(), folders.end());
  auto done = for_each_of(made.size(), [&](std::size_t i) -> Result<void> {
    const auto folder = client_.make_folder(made[i]);
    return folder ? Result<void>() : std::unexpected(folder.error());
  });
  if (!done) return done;
  return for_each_of(arrived.size(), [&](std::size_t i) { return name_file(*arrived[i]); });
}

/// A page that is there is replaced by PUT, which servers do at once; a MOVE first removes what is
/// in its way (RFC 4918, 9.9.3), and a reader would find nothing for a moment. One that is new is
/// moved there when it is whole.
Result<void> DavDraft::put_text(const Text& text) {
  const auto there = client_.get(text.path, largest_text);
  if (!there) return std::unexpected(there.error());
  if (*there && (*there)->text == text.content) return {};
  const ObjectBody body = text_body(text.content);
  if (*there) return send_whole(text.path, body, (*there)->etag);
  const File file{text.path, body, aside_name(text.path, body.sha256)};
  if (auto sent = send_whole(file.aside, body, {}); !sent) return sent;
  const auto moved = client_.move(file.aside, text.path, false);
  if (!moved) return std::unexpected(moved.error());
  return *moved ? Result<void>() : name_file(file);
}

Result<void> DavDraft::put_texts() {
  for (const auto& [turn, texts] : texts_) {
    auto done = for_each_of(texts.size(), [&](std::size_t i) { return put_text(texts[i]); });
    if (!done) return done;
  }
  return {};
}

Result<void> DavDraft::remove_left_out() {
  return for_each_of(left_out_.size(), [&](std::size_t i) { return client_.remove(left_out_[i]); });
}

Result<void> DavDraft::put_in_place(Report& report) {
  if (files_.empty() && texts_.empty() && left_out_.empty()) return {};
  report_ = &report;
  for (const File& file : files_) total_ += file.body.size;
  if (auto made = make_folders(); !made) return made;
  if (auto sent = for_each_of(files_.size(), [&](std::size_t i) { return send_aside(files_[i]); });
      !sent)
    return sent;
  if (auto taken = take_lock(report); !taken) return taken;
  auto done = check_pages();
  if (done) done = name_files();
  if (done) done = put_texts();
  if (done) done = remove_left_out();
  if (done && lock_ != nullptr && !lock_->still_holds()) {
    done = fail(ErrorKind::conflict,
                redact_url(client_.name()) + ": the server gave the lock to another publisher",
                "run the command again");
  }
  lock_.reset();
  return done;
}

}  // namespace axle::index
