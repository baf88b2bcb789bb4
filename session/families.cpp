#include "session/families.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "index/http/local_files.h"
#include "session/input_file.h"
#include "session/settings/configured_indexes.h"
#include "session/variables.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_family_file =
    16U << 20;  ///< the reader says what is too much for a family

/// The ones with precedence come last.
std::vector<fs::path> family_folders() {
  std::vector<fs::path> folders = {"/etc/axle/families"};
  if (const std::string home = config_home(); !home.empty())
    folders.push_back(fs::path(home) / "axle/families");
  return folders;
}

Outcome<void> add_files(const fs::path& folder, index::FamilyBook& book) {
  note_looked_at(folder.string());
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") files.push_back(it->path());
  }
  // A home that is not a folder (/dev/null for services) has no families either.
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    return misconfigured({ErrorKind::io, fmt::format("{}: {}", folder.string(), error.message())});
  }
  std::ranges::sort(files);
  for (const fs::path& path : files) {
    note_looked_at(path.string());
    const auto text = index::read_local_file(path.string(), largest_family_file);
    if (!text)
      return misconfigured({ErrorKind::io, fmt::format("{}: cannot be read: {}", path.string(),
                                                       text.error().message)});
    if (const auto added = book.add_file(*text, path.string()); !added)
      return misconfigured(added.error());
  }
  return {};
}

}  // namespace

bool is_torch_backend(std::string_view text) {
  if (text == auto_backend || text == "cpu" || text == "xpu") return true;
  const auto is_numbers = [](std::string_view rest, std::string_view allowed) {
    return !rest.empty() && rest.size() <= 8 && rest.find_first_not_of(allowed) == rest.npos;
  };
  if (text.starts_with("cu")) return is_numbers(text.substr(2), "0123456789");
  return text.starts_with("rocm") && is_numbers(text.substr(4), "0123456789.");
}

Outcome<std::unique_ptr<index::FamilyBook>> all_families(const Arguments& arguments,
                                                         index::Transport& transport,
                                                         Report& report) {
  auto book = std::make_unique<index::FamilyBook>(transport, report);
  book->add_shipped();
  for (const fs::path& folder : family_folders()) {
    if (const auto added = add_files(folder, *book); !added) return std::unexpected(added.error());
  }
  for (const std::string& mirror : arguments.values(Opt::family)) {
    const std::size_t equals = mirror.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == mirror.size()) {
      return misused(fmt::format("--family {}: expected NAME=URL", mirror),
                     "for example --family torch=https://mirror.example/whl");
    }
    const auto set =
        book->set_url(mirror.substr(0, equals), absolute_place(mirror.substr(equals + 1)));
    if (!set) {
      return misused(fmt::format("--family {}: {}", mirror.substr(0, equals), set.error().message),
                     set.error().hint);
    }
  }
  return book;
}

Outcome<std::unique_ptr<index::FamilyBook>> open_families(const Arguments& arguments,
                                                          index::Transport& transport,
                                                          Report& report) {
  const auto backend = torch_backend(arguments);
  if (!backend) return std::unexpected(backend.error());
  const bool asked_for = arguments.has(Opt::family) || backend->has_value();
  const bool placed = arguments.has(Opt::index_url) || arguments.has(Opt::no_index);
  if (placed && !asked_for) return nullptr;
  return all_families(arguments, transport, report);
}

Outcome<std::optional<std::string>> torch_backend(const Arguments& arguments) {
  const bool option = arguments.has(Opt::torch_backend);
  const std::string value =
      option ? arguments.value(Opt::torch_backend) : variable("UV_TORCH_BACKEND");
  if (value.empty() && !option) return std::nullopt;
  if (is_torch_backend(value)) return value;
  return misused(
      fmt::format("{} {}: unknown backend", option ? "--torch-backend" : "UV_TORCH_BACKEND", value),
      "auto, cpu, xpu, cu and digits as in cu130, or rocm and a version as in rocm7.2; "
      "`variant index families` shows the labels of family torch");
}

}  // namespace axle::session
