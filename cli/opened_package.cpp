#include "cli/opened_package.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "index/http/url.h"
#include "index/pages/range_source.h"
#include "index/pages/remote_wheel.h"
#include "installer/file_access.h"
#include "wheel/record.h"
#include "wheel/version.h"

namespace axle::cli {

namespace {

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

/// The bytes of the wheel, counted.
Result<std::unique_ptr<wheel::ByteSource>> open_bytes(const plan::ResolvedPackage& package,
                                                      index::Transport& transport, Report& report,
                                                      AbiReadings& readings) {
  index::PublishedFile file;
  file.filename = package.filename;
  file.url = package.url;
  file.hash = package.hash;
  file.size = package.size;
  std::unique_ptr<wheel::ByteSource> source;
  if (index::is_http_url(file.url)) {
    auto ranges = index::open_ranges(file.url, transport);
    if (!ranges) return std::unexpected(std::move(ranges).error());
    source = std::move(*ranges);
    if (source == nullptr) {
      report.note(fmt::format(
          "the server of {} does not support byte ranges: it is downloaded to check its ABI",
          file.filename));
    }
  }
  if (source == nullptr) {
    auto whole = index::open_remote(file, transport);
    if (!whole) return std::unexpected(std::move(whole).error());
    source = std::move(*whole);
  }
  return std::make_unique<MeteredSource>(std::move(source), readings.bytes);
}

}  // namespace

Result<OpenedPackage> OpenedPackage::open_wheel(const plan::ResolvedPackage& package,
                                                index::Transport& transport, Report& report,
                                                AbiReadings& readings) {
  OpenedPackage opened;
  opened.libraries_.title = plan::render_package(package);
  if (package.wheel_name.tags_text.ends_with("-any")) return opened;
  auto source = open_bytes(package, transport, report, readings);
  if (!source) return std::unexpected(std::move(source).error());
  auto zip = wheel::ZipReader::open_directory(std::move(*source), package.filename);
  if (!zip) return std::unexpected(std::move(zip).error());
  opened.zip_ = std::make_unique<wheel::ZipReader>(std::move(*zip));
  for (const wheel::ZipEntry& entry : opened.zip_->entries()) {
    const bool program = entry.name.contains(".data/scripts/");
    if (entry.directory || (!program && !is_library(base_name(entry.name)))) continue;
    opened.packed_ += entry.compressed_size;
    opened.add(entry.name, program);
  }
  return opened;
}

OpenedPackage OpenedPackage::open_installed(const installer::InstalledDistribution& package) {
  OpenedPackage opened;
  opened.libraries_.title =
      fmt::format("{} {}", package.name, wheel::render_version(package.metadata.version));
  const auto text = installer::read_file(package.dist_info + "/RECORD", largest_record);
  const auto record = text ? wheel::parse_record(*text, package.dist_info)
                           : Result<std::vector<wheel::RecordEntry>>();
  if (!record) return opened;
  const std::string root = std::filesystem::path(package.dist_info).parent_path().string();
  for (const wheel::RecordEntry& entry : *record) {
    if (is_library(base_name(entry.path))) opened.add(root + "/" + entry.path, false);
  }
  return opened;
}

void OpenedPackage::add(std::string place, bool program) {
  std::string name = base_name(place);
  if (!program) libraries_.names.push_back(name);
  members_.push_back({std::move(name), std::move(place), program});
}

bool OpenedPackage::needs_any(const std::set<std::string, std::less<>>& stems) const {
  return std::ranges::any_of(members_, [&](const Member& member) {
    const auto source = wheel::open_file_source(member.place);
    const auto needed =
        source ? binaries::read_needed(**source, member.name) : Result<std::vector<std::string>>();
    return needed && std::ranges::any_of(*needed, [&](const std::string& name) {
             return stems.contains(binaries::library_stem(name));
           });
  });
}

Result<void> OpenedPackage::read_all(Report& report, AbiReadings& readings) {
  for (Member& member : members_) {
    if (auto ok = read(member, report, readings); !ok) return ok;
  }
  return {};
}

Result<void> OpenedPackage::read_named(const std::set<std::string>& names, Report& report,
                                       AbiReadings& readings) {
  for (Member& member : members_) {
    if (member.program || !names.contains(member.name)) continue;
    if (auto ok = read(member, report, readings); !ok) return ok;
  }
  return {};
}

Result<void> OpenedPackage::read(Member& member, Report& report, AbiReadings& readings) {
  if (std::exchange(member.read, true)) return {};
  auto source = zip_ == nullptr ? wheel::open_file_source(member.place)
                                : SpooledMember::unpack(*zip_, *zip_->find(member.place));
  if (!source) return std::unexpected(std::move(source).error());
  auto library = binaries::read_linked_library(**source, member.name);
  if (!library) {
    // Programs are scripts mostly.
    if (member.program && library.error().kind == ErrorKind::malformed) return {};
    report.note(
        fmt::format("the ABI of {} is not checked: {}", libraries_.title, library.error().message));
    return {};
  }
  ++readings.libraries;
  libraries_.libraries.push_back(std::move(*library));
  return {};
}

}  // namespace axle::cli
