#include "index/publish/wheel_scan.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "index/http/local_files.h"
#include "index/http/transport.h"
#include "index/publish/index_pages.h"
#include "wheel/attestation/provenance.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_file.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {
namespace {

constexpr std::size_t chunk_bytes = 1U << 20;

void describe_wheel(wheel::WheelFile& opened, ScannedWheel& scanned) {
  scanned.project = wheel::normalize_name(opened.name.distribution);
  scanned.name = std::move(opened.name);
  scanned.metadata_sha256 = wheel::render_hex(wheel::sha256(opened.metadata_text));
  scanned.metadata_text = std::move(opened.metadata_text);
  for (const auto& [field, value] : opened.metadata.fields) {
    if (wheel::normalize_name(field) == "requires-python") scanned.requires_python = value;
  }
  scanned.variant = std::move(opened.variant);
}

/// `sha256` empty: the whole wheel is read, and its RECORD checked.
Result<ScannedWheel> scan_wheel(const std::string& path, std::string sha256, Report& report) {
  ScannedWheel scanned;
  scanned.path = path;
  scanned.filename = std::filesystem::path(path).filename();
  Result<std::unique_ptr<wheel::ByteSource>> source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source.error()));
  scanned.size = (*source)->size();
  Result<wheel::WheelFile> opened =
      wheel::open_wheel(std::move(*source), scanned.filename, path, report);
  if (!opened) return std::unexpected(std::move(opened.error()));
  if (sha256.empty()) {
    if (const auto record = wheel::read_checked_record(*opened); !record) {
      return std::unexpected(record.error());
    }
    Result<HashedFile> hashed = hash_file(path);
    if (!hashed) return std::unexpected(std::move(hashed.error()));
    sha256 = std::move(hashed->sha256);
  }
  scanned.sha256 = std::move(sha256);
  describe_wheel(*opened, scanned);
  auto provenance = read_local_file(provenance_name(path), wheel::max_provenance_bytes);
  if (!provenance && provenance.error().kind != ErrorKind::not_found)
    return std::unexpected(std::move(provenance.error()));
  scanned.provenance = std::move(provenance).value_or(std::string());
  scanned.has_provenance = !scanned.provenance.empty();
  return scanned;
}

}  // namespace

Result<HashedFile> hash_file(const std::string& path) {
  Result<std::unique_ptr<wheel::ByteSource>> source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source.error()));
  wheel::Sha256 hash;
  std::vector<std::byte> buffer(chunk_bytes);
  const std::uint64_t size = (*source)->size();
  for (std::uint64_t offset = 0; offset < size;) {
    const std::span<std::byte> part(buffer.data(),
                                    std::min<std::uint64_t>(buffer.size(), size - offset));
    if (Result<void> read = (*source)->read(offset, part); !read) {
      return std::unexpected(std::move(read.error()));
    }
    hash.update(part);
    offset += part.size();
  }
  return HashedFile{wheel::render_hex(hash.finish()), size};
}

Result<std::vector<std::string>> find_wheels(const std::string& folder,
                                             const std::string& skipped) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator();
       entries.increment(error)) {
    const std::filesystem::path& path = entries->path();
    std::error_code broken_link;
    if (entries->is_directory(broken_link)) {
      if (path.filename().string().starts_with('.') || path == skipped) {
        entries.disable_recursion_pending();
      }
    } else if (path.extension() == ".whl" && entries->is_regular_file(broken_link)) {
      found.push_back(path);
    }
  }
  if (error) {
    return fail(ErrorKind::io,
                fmt::format("cannot search {} for wheels: {}", folder, error.message()),
                "check the path and its permissions");
  }
  if (found.empty()) {
    return fail(ErrorKind::not_found, fmt::format("no wheels found in {}", folder),
                "specify the folder that contains the .whl files");
  }
  return found;
}

Result<std::vector<ScannedWheel>> scan_wheels(const std::string& folder, const std::string& skipped,
                                              Report& report) {
  Result<std::vector<std::string>> paths = find_wheels(folder, skipped);
  if (!paths) return std::unexpected(paths.error());
  return scan_wheels(std::move(*paths), report);
}

Result<std::vector<ScannedWheel>> scan_wheels(std::vector<std::string> paths, Report& report) {
  for (std::string& path : paths) path = std::filesystem::absolute(path).lexically_normal();
  std::ranges::sort(paths, {}, [](const std::string& path) {
    return std::pair(std::filesystem::path(path).filename().string(), path);
  });
  std::vector<ScannedWheel> wheels;
  for (const std::string& path : paths) {
    report.progress({"reading wheels", wheels.size(), paths.size()});
    Result<ScannedWheel> scanned = scan_wheel(path, {}, report);
    if (!scanned) return std::unexpected(std::move(scanned.error()));
    if (wheels.empty() || wheels.back().filename != scanned->filename) {
      wheels.push_back(std::move(*scanned));
    } else if (wheels.back().sha256 != scanned->sha256) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{} and {} have the same name and different contents",
                              wheels.back().path, path),
                  "remove one of them; an index lists a file name once");
    }
  }
  report.progress({"reading wheels", paths.size(), paths.size()});
  return wheels;
}

Result<ScannedWheel> read_published_wheel(const std::string& path, std::string sha256,
                                          Report& report) {
  return scan_wheel(path, std::move(sha256), report);
}

}  // namespace axle::index
