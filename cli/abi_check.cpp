#include "cli/abi_check.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "binaries/abi_match.h"
#include "foundation/text/byte_size.h"
#include "index/http/url.h"
#include "index/pages/range_source.h"
#include "index/pages/remote_wheel.h"
#include "installer/file_access.h"
#include "wheel/record.h"
#include "wheel/requirement.h"
#include "wheel/version.h"
#include "wheel/zip/zip_reader.h"

namespace axle::cli {

namespace {

/// A package whose own libraries are larger is looked at as what others need, but not itself.
constexpr std::uint64_t most_packed = 512ULL << 20;
constexpr std::uint64_t largest_record = 64ULL << 20;

bool is_library(std::string_view file) { return file.ends_with(".so") || file.contains(".so."); }

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Counts what is read of a wheel.
class MeteredSource final : public wheel::ByteSource {
 public:
  MeteredSource(std::unique_ptr<wheel::ByteSource> inner, std::uint64_t& read)
      : inner_(std::move(inner)), read_(read) {}
  std::uint64_t size() const override { return inner_->size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    read_ += out.size();
    return inner_->read(offset, out);
  }

 private:
  std::unique_ptr<wheel::ByteSource> inner_;
  std::uint64_t& read_;
};

struct CloseSpool {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// An unpacked member in an unnamed file: libraries may be larger than memory.
class SpooledMember final : public wheel::ByteSource {
 public:
  [[nodiscard]] static Result<std::unique_ptr<wheel::ByteSource>> unpack(
      const wheel::ZipReader& zip, const wheel::ZipEntry& entry) {
    std::unique_ptr<std::FILE, CloseSpool> file(std::tmpfile());
    if (!file)
      return fail(ErrorKind::io,
                  fmt::format("cannot create a temporary file: {}", std::strerror(errno)));
    const auto done = zip.read(entry, [&](std::span<const std::byte> bytes) -> Result<void> {
      if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size()) return {};
      return fail(ErrorKind::io,
                  fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
    });
    if (!done) return std::unexpected(done.error());
    return std::unique_ptr<wheel::ByteSource>(new SpooledMember(std::move(file), entry.size));
  }
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) != 0 ||
        std::fread(out.data(), 1, out.size(), file_.get()) != out.size())
      return fail(ErrorKind::io, "cannot read a temporary file");
    return {};
  }

 private:
  SpooledMember(std::unique_ptr<std::FILE, CloseSpool> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}

  std::unique_ptr<std::FILE, CloseSpool> file_;
  std::uint64_t size_;
};

/// A package that libraries are read from.
struct OpenedPackage {
  std::unique_ptr<wheel::ZipReader> zip;     ///< of what is to be installed
  std::map<std::string, std::string> files;  ///< name -> member, or path of what is installed
  std::uint64_t packed = 0;                  ///< bytes of all of them in the wheel
  binaries::PackageLibraries libraries;
};

struct AbiRefusal {
  std::string package;  ///< "flash-attn 2.8.3 (variant cu130)"
  std::string url;
  std::string why;  ///< "_C.so needs c10::f(), which torch 2.10.0 lacks"
};

/// Keeps what it read from one resolution to the next.
class AbiCheck {
 public:
  AbiCheck(index::Transport& transport, Report& report) : transport_(transport), report_(report) {}

  /// Compares each platform wheel of `resolution` that requires other packages with libraries.
  /// Errors: as of index::open_remote.
  [[nodiscard]] Result<std::vector<AbiRefusal>> check(
      const plan::Resolution& resolution,
      const std::vector<installer::InstalledDistribution>& installed);

 private:
  [[nodiscard]] std::set<std::string> required_by(const std::string& name) const;
  [[nodiscard]] Result<OpenedPackage*> open(const std::string& name);
  [[nodiscard]] Result<OpenedPackage> open_wheel(const plan::ResolvedPackage& package);
  [[nodiscard]] OpenedPackage open_installed(const installer::InstalledDistribution& package) const;
  /// Adds the library `name` of `package` to what was read of it.
  [[nodiscard]] Result<void> read(OpenedPackage& package, const std::string& name);
  [[nodiscard]] Result<void> compare(const plan::ResolvedPackage& package,
                                     std::vector<AbiRefusal>& refused);

  index::Transport& transport_;
  Report& report_;
  std::map<std::string, const plan::ResolvedPackage*> planned_;
  std::map<std::string, const installer::InstalledDistribution*> installed_;
  std::map<std::string, OpenedPackage> opened_;  ///< by URL, those that are installed by name
  std::uint64_t bytes_ = 0;                      ///< of wheels
  std::size_t libraries_ = 0;
};

/// Whatever it requires, and what that requires.
std::set<std::string> AbiCheck::required_by(const std::string& name) const {
  std::set<std::string> required;
  std::vector<std::string> open{name};
  const auto add = [&](const std::vector<wheel::Requirement>& requirements) {
    for (const wheel::Requirement& requirement : requirements) {
      std::string other = wheel::normalize_name(requirement.name);
      if (other != name && required.insert(other).second) open.push_back(std::move(other));
    }
  };
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (const auto planned = planned_.find(next); planned != planned_.end()) {
      add(planned->second->dependencies);
      if (planned->second->metadata) add(planned->second->metadata->requires_dist);
    } else if (const auto there = installed_.find(next); there != installed_.end()) {
      add(there->second->metadata.requires_dist);
    }
  }
  return required;
}

Result<OpenedPackage> AbiCheck::open_wheel(const plan::ResolvedPackage& package) {
  OpenedPackage opened;
  opened.libraries.title = plan::render_package(package);
  if (package.wheel_name.tags_text.ends_with("-any")) return opened;
  index::PublishedFile file;
  file.filename = package.filename;
  file.url = package.url;
  file.hash = package.hash;
  file.size = package.size;
  std::unique_ptr<wheel::ByteSource> source;
  if (index::is_http_url(file.url)) {
    auto ranges = index::open_ranges(file.url, transport_);
    if (!ranges) return std::unexpected(std::move(ranges).error());
    source = std::move(*ranges);
    if (source == nullptr) {
      report_.note(fmt::format(
          "the server of {} does not support byte ranges: it is downloaded to check its ABI",
          file.filename));
    }
  }
  if (source == nullptr) {
    auto whole = index::open_remote(file, transport_);
    if (!whole) return std::unexpected(std::move(whole).error());
    source = std::move(*whole);
  }
  auto zip = wheel::ZipReader::open_directory(
      std::make_unique<MeteredSource>(std::move(source), bytes_), file.filename);
  if (!zip) return std::unexpected(std::move(zip).error());
  opened.zip = std::make_unique<wheel::ZipReader>(std::move(*zip));
  for (const wheel::ZipEntry& entry : opened.zip->entries()) {
    if (entry.directory || !is_library(base_name(entry.name))) continue;
    opened.files.emplace(base_name(entry.name), entry.name);
    opened.packed += entry.compressed_size;
  }
  return opened;
}

OpenedPackage AbiCheck::open_installed(const installer::InstalledDistribution& package) const {
  OpenedPackage opened;
  opened.libraries.title =
      fmt::format("{} {}", package.name, wheel::render_version(package.metadata.version));
  const auto text = installer::read_file(package.dist_info + "/RECORD", largest_record);
  const auto record = text ? wheel::parse_record(*text, package.dist_info)
                           : Result<std::vector<wheel::RecordEntry>>();
  if (!record) return opened;
  const std::string root = std::filesystem::path(package.dist_info).parent_path().string();
  for (const wheel::RecordEntry& entry : *record) {
    if (is_library(base_name(entry.path)))
      opened.files.emplace(base_name(entry.path), root + "/" + entry.path);
  }
  return opened;
}

Result<OpenedPackage*> AbiCheck::open(const std::string& name) {
  const auto planned = planned_.find(name);
  const std::string& key = planned == planned_.end() ? name : planned->second->url;
  if (const auto known = opened_.find(key); known != opened_.end()) return &known->second;
  OpenedPackage opened;
  if (planned != planned_.end()) {
    auto wheel = open_wheel(*planned->second);
    if (!wheel) return std::unexpected(std::move(wheel).error());
    opened = std::move(*wheel);
  } else if (const auto there = installed_.find(name); there != installed_.end()) {
    opened = open_installed(*there->second);
  }
  for (const auto& [file, place] : opened.files) opened.libraries.names.push_back(file);
  return &opened_.emplace(key, std::move(opened)).first->second;
}

Result<void> AbiCheck::read(OpenedPackage& package, const std::string& name) {
  const bool known = std::ranges::any_of(
      package.libraries.libraries,
      [&](const binaries::LinkedLibrary& library) { return library.name == name; });
  const auto file = package.files.find(name);
  if (known || file == package.files.end()) return {};
  auto source = package.zip == nullptr
                    ? wheel::open_file_source(file->second)
                    : SpooledMember::unpack(*package.zip, *package.zip->find(file->second));
  if (!source) return std::unexpected(std::move(source).error());
  auto library = binaries::read_linked_library(**source, name);
  if (!library) {
    report_.note(fmt::format("the ABI of {} is not checked: {}", package.libraries.title,
                             library.error().message));
    return {};
  }
  ++libraries_;
  package.libraries.libraries.push_back(std::move(*library));
  return {};
}

Result<void> AbiCheck::compare(const plan::ResolvedPackage& package,
                               std::vector<AbiRefusal>& refused) {
  const std::set<std::string> required = required_by(package.name);
  if (required.empty() || package.wheel_name.tags_text.ends_with("-any")) return {};
  std::vector<OpenedPackage*> others;
  for (const std::string& name : required) {
    auto other = open(name);
    if (!other) return std::unexpected(std::move(other).error());
    if (!(*other)->files.empty()) others.push_back(*other);
  }
  if (others.empty()) return {};
  auto own = open(package.name);
  if (!own) return std::unexpected(std::move(own).error());
  if ((*own)->packed > most_packed) {
    report_.note(fmt::format("the ABI of {} is not checked: its libraries have {}",
                             (*own)->libraries.title, text::render_bytes((*own)->packed)));
    return {};
  }
  for (const auto& [file, place] : (*own)->files) {
    if (auto ok = read(**own, file); !ok) return ok;
  }
  const std::set<std::string> needed = binaries::needed_names((*own)->libraries);
  std::vector<const binaries::PackageLibraries*> theirs;
  for (OpenedPackage* other : others) {
    for (const std::string& name : needed) {
      if (auto ok = read(*other, name); !ok) return ok;
    }
    theirs.push_back(&other->libraries);
  }
  if (const auto misfit = binaries::find_abi_misfit((*own)->libraries, theirs))
    refused.push_back({(*own)->libraries.title, package.url, misfit->render()});
  return {};
}

Result<std::vector<AbiRefusal>> AbiCheck::check(
    const plan::Resolution& resolution,
    const std::vector<installer::InstalledDistribution>& installed) {
  planned_.clear();
  installed_.clear();
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (!package.already_installed) planned_.emplace(package.name, &package);
  }
  for (const installer::InstalledDistribution& one : installed) {
    if (!planned_.contains(one.name)) installed_.emplace(one.name, &one);
  }
  std::vector<AbiRefusal> refused;
  for (const auto& [name, package] : planned_) {
    if (auto ok = compare(*package, refused); !ok) return std::unexpected(ok.error());
  }
  report_.note(fmt::format("ABI check: {} librar{} compared, {} of wheels read", libraries_,
                           libraries_ == 1 ? "y" : "ies", text::render_bytes(bytes_)));
  return refused;
}

}  // namespace

std::expected<plan::Resolution, resolver::Unresolved> resolve_with_abi(
    const std::function<std::expected<plan::Resolution, resolver::Unresolved>()>& resolve,
    resolver::Options& options, const std::vector<installer::InstalledDistribution>& installed,
    index::Transport& transport, Report& report) {
  AbiCheck check(transport, report);
  std::string refusals;
  while (true) {
    auto resolution = resolve();
    if (!resolution) {
      if (refusals.empty()) return resolution;
      resolver::Unresolved& error = resolution.error();
      error.kind = ErrorKind::conflict;
      error.message = refusals + error.message;
      error.hint = "ask for other versions, or leave out --check-abi to install what is not taken";
      return resolution;
    }
    auto refused = check.check(*resolution, installed);
    if (!refused) return std::unexpected(resolver::Unresolved{std::move(refused).error()});
    if (refused->empty()) return resolution;
    for (const AbiRefusal& refusal : *refused) {
      const std::string text = fmt::format("{} is not taken: {}", refusal.package, refusal.why);
      report.warn(text);
      refusals += text + "; ";
      options.refused_wheels.emplace(refusal.url, refusal.why);
    }
  }
}

}  // namespace axle::cli
