// What an image has twice, and what it has in vain.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/audit/audit_checks.h"
#include "doctor/audit/floors.h"
#include "doctor/audit/library_owners.h"
#include "foundation/text/byte_size.h"

namespace axle::doctor {
namespace {

constexpr std::uint64_t much_hidden = 100'000'000;  ///< bytes

/// The copies of one library of a toolkit.
struct Copies {
  std::vector<std::pair<std::uint64_t, std::string>> files;  ///< size and path

  [[nodiscard]] std::uint64_t in_vain() const {
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    for (const auto& [size, path] : files) {
      sum += size;
      largest = std::max(largest, size);
    }
    return sum - largest;
  }
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void check_toolkit(const Audited& image, std::string_view toolkit, Findings& findings) {
  std::map<std::string, Copies, std::less<>> by_stem;
  for (const auto& [index, size] : image.sizes) {
    const std::string& path = image.files[index];
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (!name.contains(".so") || toolkit_of(name) != toolkit) continue;
    by_stem[std::string(name.substr(0, name.find(".so")))].files.emplace_back(size, path);
  }
  std::uint64_t in_vain = 0;
  std::uint64_t all = 0;
  std::set<std::string> folders;
  std::vector<const Copies*> twice;
  for (const auto& [stem, copies] : by_stem) {
    for (const auto& [size, path] : copies.files) all += size;
    if (copies.files.size() < 2) continue;
    in_vain += copies.in_vain();
    twice.push_back(&copies);
    for (const auto& [size, path] : copies.files) folders.insert(folder_of(path));
  }
  if (twice.empty()) return;
  std::ranges::sort(twice, std::ranges::greater(), &Copies::in_vain);
  Finding& finding = findings.add(
      "image-twice", image.title,
      fmt::format("{} twice, {}: {} of {} libraries are there more than once, {} of it in vain",
                  toolkit, text::render_bytes(all), twice.size(), by_stem.size(),
                  text::render_bytes(in_vain)));
  for (const Copies* copies : twice) {
    for (const auto& [size, path] : copies->files)
      add_evidence(finding, path, "", text::render_bytes(size));
  }
  finding.hint =
      fmt::format("keep one of {}: wheels bring their own, so a base image without it is enough",
                  fmt::join(folders, ", "));
}

/// Alpine and its like: what was built for other distributions cannot be loaded there.
void check_image_libc(const Audited& image, Findings& findings) {
  bool musl = false;
  for (const std::string& path : image.files) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    // gcompat brings the loader of glibc in its own way.
    if (name == "libc.so.6" || name.starts_with("ld-linux")) return;
    musl = musl || name.starts_with("ld-musl-");
  }
  if (!musl) return;
  std::vector<const AuditedLibrary*> users;
  for (const AuditedLibrary& library : image.libraries) {
    if (std::ranges::any_of(library.facts.needed, [](const std::string& needed) {
          return libc_of_library(needed) == "glibc";
        }))
      users.push_back(&library);
  }
  if (users.empty()) return;
  Finding& finding = findings.add("image-libc", image.title,
                                  fmt::format("the image has musl, and {} need{} glibc",
                                              name_libraries(users), users.size() == 1 ? "s" : ""));
  for (const AuditedLibrary* user : users)
    add_evidence(finding, user->path, "DT_NEEDED", "libc.so.6");
  finding.hint = "install builds for musl (musllinux), or use a base image with glibc";
}

}  // namespace

void check_image(const Audited& image, Findings& findings) {
  check_image_libc(image, findings);
  for (const std::string_view toolkit : toolkits()) check_toolkit(image, toolkit, findings);
  if (image.hidden_size == 0) return;
  Finding& finding =
      findings.add("image-hidden", image.title,
                   fmt::format("{} in lower layers are removed or replaced by upper ones",
                               text::render_bytes(image.hidden_size)));
  if (image.hidden_size < much_hidden) finding.level = FindingLevel::info;
  finding.hint = "remove them in the layer that makes them, or use a build of several stages";
}

}  // namespace axle::doctor
