#include "installer/downloads/file_folder.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/shell_command.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/quote.h"
#include "index/pages/page_request.h"
#include "installer/file_access.h"
#include "installer/store/download.h"
#include "installer/store/metadata_check.h"
#include "wheel/hash/sha256.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

namespace {

/// Not the beginning of a name that pip, uv or `variant` take for a file to install.
constexpr const char* unfinished = ".axle-unfinished";

/// What is here of a file is hashed again, up to a multiple of this.
constexpr std::uint64_t step = 256U << 10;

/// The name comes from an index.
Result<void> check_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && std::ranges::none_of(name, [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
  if (plain) return {};
  return fail(ErrorKind::malformed, fmt::format("{} is no name for a file", text::quote(name)));
}

bool is_wheel(const plan::ResolvedPackage& file) { return file.filename.ends_with(".whl"); }

/// Where `index` has it.
std::string published_folder(const index::IndexPlace& index, const plan::ResolvedPackage& file) {
  return index.name() + "/simple/" + file.name;
}

bool has_hash(const plan::ResolvedPackage& file) {
  return file.hash.is_checkable() || !file.listed_hashes.empty();
}

/// The state of the hash after what is in `part`, which is cut to it.
Result<wheel::Sha256Midpoint> hash_part(const Descriptor& part, const std::string& path,
                                        std::uint64_t size) {
  struct stat there = {};
  if (::fstat(part.get(), &there) != 0) return std::unexpected(system_error("read", path, errno));
  std::uint64_t here = std::min<std::uint64_t>(static_cast<std::uint64_t>(there.st_size), size);
  if (here == size && here > 0) --here;  // the server is asked for something in any case
  here -= here % step;
  wheel::Sha256 hash;
  std::vector<std::byte> buffer(step);
  for (std::uint64_t done = 0; done < here;) {
    const ssize_t got = ::pread(part.get(), buffer.data(), buffer.size(), static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::unexpected(system_error("read", path, got == 0 ? EIO : errno));
    const auto some = std::min<std::uint64_t>(static_cast<std::uint64_t>(got), here - done);
    hash.update(std::span(buffer).first(some));
    done += some;
  }
  if (::ftruncate(part.get(), static_cast<off_t>(here)) != 0)
    return std::unexpected(system_error("write", path, errno));
  if (::lseek(part.get(), 0, SEEK_END) < 0)
    return std::unexpected(system_error("write", path, errno));
  return hash.midpoint();
}

/// Downloads `file` to `path`, where its beginning may be.
Result<index::DownloadMark> download_rest(const plan::ResolvedPackage& file,
                                          index::Transport& transport, const std::string& path,
                                          Report& report, const std::stop_token& stop) {
  const Descriptor part(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!part) return std::unexpected(system_error("create", path, errno));
  const auto write = [&](std::span<const std::byte> bytes) {
    return write_all(part.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  };
  const auto from_begin = [&]() -> Result<index::DownloadMark> {
    if (::ftruncate(part.get(), 0) != 0 || ::lseek(part.get(), 0, SEEK_SET) < 0)
      return std::unexpected(system_error("write", path, errno));
    return download(file, transport, write, report, stop);
  };
  Result<index::DownloadMark> mark = fail(ErrorKind::unsupported, "nothing is here");
  if (may_continue(file) && file.size) {
    const auto from = hash_part(part, path, *file.size);
    if (!from) return std::unexpected(from.error());
    const DownloadPart rest{*from, *file.size, [](const wheel::Sha256Midpoint&) {}};
    if (from->bytes > 0) mark = download(file, transport, write, report, stop, &rest);
  }
  // The server gives no rest, or what was here was not its beginning.
  if (!mark && mark.error().kind != ErrorKind::io) mark = from_begin();
  if (mark && ::fdatasync(part.get()) != 0)
    return std::unexpected(system_error("write", path, errno));
  return mark;
}

/// That the wheel is one, of that name, and what it was chosen by.
Result<std::optional<std::string>> check_wheel(const plan::ResolvedPackage& file,
                                               const std::string& path, Report& report) {
  if (!is_wheel(file)) return std::nullopt;
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const auto opened = wheel::open_wheel(std::move(*source), file.filename, file.filename, report);
  if (!opened) return std::unexpected(opened.error());
  if (file.metadata == nullptr || check_metadata(file, opened->metadata_text)) return std::nullopt;
  return opened->metadata_text;
}

/// By its sha256, which a storage keeps with an object. A remark: it has another file.
Result<std::optional<SavedFile>> find_stored(index::IndexPlace& index,
                                             const plan::ResolvedPackage& file, Report& report) {
  if (auto good = check_name(file.filename); !good) return std::unexpected(good.error());
  const std::string_view wanted = file.hash.sha256();
  // Which of the listed hashes it must have, its bytes say.
  const bool listed_alone =
      !file.listed_hashes.empty() && std::ranges::none_of(file.listed_hashes, [&](const auto& one) {
        return one.algorithm == "sha256" && one.digits == wanted;
      });
  if (wanted.empty() || listed_alone) return std::nullopt;
  const auto there = index.find(file.name, file.filename);
  if (!there) return std::unexpected(there.error());
  if (!*there || (*there)->sha256.empty()) return std::nullopt;
  if ((*there)->sha256 != wanted || (file.size && *file.size != (*there)->size)) {
    report.note("it is another file");
    return std::nullopt;
  }
  return SavedFile{.was_there = true, .sha256 = (*there)->sha256, .size = (*there)->size};
}

/// Of a wheel in `index`, as check_wheel.
Result<std::optional<std::string>> check_published(index::IndexPlace& index,
                                                   const plan::ResolvedPackage& file,
                                                   Report& report) {
  if (!index.folder().empty())
    return check_wheel(file, published_folder(index, file) + "/" + file.filename, report);
  if (!is_wheel(file) || file.metadata == nullptr) return std::nullopt;
  auto text = index.read_metadata(file.name, file.filename);
  if (!text) return std::unexpected(std::move(text.error()));
  if (check_metadata(file, *text)) return std::nullopt;
  return std::move(*text);
}

}  // namespace

Result<FileFolder> FileFolder::open(std::string path) {
  auto work = WorkFolder::take_over(path, unfinished);
  if (!work) return std::unexpected(work.error());
  if (!*work) {
    return fail(ErrorKind::conflict,
                fmt::format("another command downloads into {}, or {}/{} is not yours", path, path,
                            unfinished),
                "wait for it, or choose another folder");
  }
  return FileFolder(std::move(path), std::move(**work));
}

Result<FileFolder> FileFolder::open_hidden(const std::string& hidden) {
  const std::size_t slash = hidden.rfind('/');
  auto work = WorkFolder::take_over(hidden.substr(0, slash), hidden.substr(slash + 1));
  if (!work) return std::unexpected(work.error());
  if (!*work) {
    return fail(
        ErrorKind::conflict,
        fmt::format("another command uses {}, or it is not a folder of yours alone", hidden),
        "wait for it; if no command runs, remove it");
  }
  std::string whole = hidden + "/whole";
  if (::mkdir(whole.c_str(), 0700) != 0 && errno != EEXIST)
    return std::unexpected(system_error("create", whole, errno));
  return FileFolder(std::move(whole), std::move(**work));
}

FileFolder::~FileFolder() {
  if (complete_ || work_.path().empty()) return;
  if (path_.starts_with(work_.path())) ::rmdir(path_.c_str());
  ::rmdir(work_.path().c_str());  // which leaves what is not empty
  work_.leave();
}

Result<std::optional<SavedFile>> find_complete(const std::string& folder,
                                               const plan::ResolvedPackage& file, Report& report) {
  if (auto good = check_name(file.filename); !good) return std::unexpected(good.error());
  const std::string path = folder + "/" + file.filename;
  const auto there = look_at(path, Links::followed);
  if (!there) return std::unexpected(there.error());
  if (!*there) return std::nullopt;
  if (!S_ISREG((*there)->st_mode)) {
    return fail(ErrorKind::conflict, fmt::format("{} is in the way: it is not a file", path),
                "remove it, or choose another folder");
  }
  if (!has_hash(file)) return std::nullopt;
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const std::uint64_t size = (*source)->size();
  CollectedReport said_again;
  auto sha256 = hash_wheel(file, **source, said_again);
  if (!sha256 && sha256.error().kind != ErrorKind::mismatch) return std::unexpected(sha256.error());
  if (sha256) return SavedFile{.was_there = true, .sha256 = std::move(*sha256), .size = size};
  report.note(fmt::format("{} is not the file that {} has, and is replaced", path, file.source));
  return std::nullopt;
}

Result<std::optional<SavedFile>> find_published(index::IndexPlace& index,
                                                const plan::ResolvedPackage& file) {
  CollectedReport said;
  auto there = index.folder().empty() ? find_stored(index, file, said)
                                      : find_complete(published_folder(index, file), file, said);
  if (!there || *there || said.remarks.empty()) return there;
  return fail(ErrorKind::mismatch,
              fmt::format("{}/{} is not the file that {} has", published_folder(index, file),
                          file.filename, file.source),
              fmt::format("to replace it, remove it first: `variant index remove {} --out {}`",
                          shell_word(file.filename), shell_word(index.name())));
}

Result<void> FileFolder::bring_provenance(const plan::ResolvedPackage& file,
                                          index::Transport& transport, Report& report) const {
  const std::string place = index::provenance_place(file.provenance, file.url);
  if (place.empty()) return {};
  const auto response = transport.fetch(index::provenance_request(place));
  if (!response) return std::unexpected(response.error());
  if (response->status != 200) {
    if (!file.provenance.empty())
      report.warn(fmt::format("the attestations of {} are not saved: {}", file.filename,
                              index::status_error(place, *response).message));
    return {};
  }
  const std::string path = path_ + "/" + file.filename + ".provenance";
  const std::error_code error = system::write_whole_file(
      path, response->body, {.flush = system::Flush::no, .drafts = work_.path()});
  if (error) return std::unexpected(system_error("write", path, error.value()));
  return {};
}

Result<SavedFile> FileFolder::bring(const plan::ResolvedPackage& file, index::IndexPlace* published,
                                    index::Transport& transport, Report& report,
                                    const std::stop_token& stop) {
  const auto checked = [](SavedFile there,
                          Result<std::optional<std::string>> other) -> Result<SavedFile> {
    if (!other) return std::unexpected(other.error());
    there.other_metadata = std::move(*other);
    return there;
  };
  if (published != nullptr) {
    auto there = find_published(*published, file);
    if (!there) return std::unexpected(there.error());
    auto other = *there ? check_published(*published, file, report) : std::nullopt;
    // Without its METADATA a storage's wheel is brought again, and sent with it.
    const bool lost = !other && other.error().kind == ErrorKind::not_found;
    if (*there && !lost) return checked(std::move(**there), std::move(other));
  }
  auto complete = find_complete(path_, file, report);
  if (!complete) return std::unexpected(complete.error());
  if (*complete) {
    // If it is to be published, a command brought it that did not end.
    (*complete)->was_there = published == nullptr;
    return checked(std::move(**complete), check_wheel(file, path_ + "/" + file.filename, report));
  }
  const std::string path = path_ + "/" + file.filename;
  const std::string part = work_.path() + "/" + file.filename;
  auto mark = download_rest(file, transport, part, report, stop);
  if (mark && is_wheel(file)) {  // a variants file changes with every variant that is added
    if (auto kept = remember_download(file, *mark, transport, report); !kept)
      mark = std::unexpected(kept.error());
  }
  auto other = mark ? check_wheel(file, part, report)
                    : Result<std::optional<std::string>>(std::unexpected(mark.error()));
  if (!other) {
    // Only what may be continued is of use.
    if (other.error().kind != ErrorKind::io) ::unlink(part.c_str());
    return std::unexpected(other.error());
  }
  if (::rename(part.c_str(), path.c_str()) != 0)
    return std::unexpected(system_error("create", path, errno));
  return SavedFile{.was_there = false,
                   .sha256 = std::move(mark->sha256),
                   .size = mark->size,
                   .other_metadata = std::move(*other)};
}

}  // namespace axle::installer
