#include "builder/trees/build_record.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "builder/project_files.h"
#include "foundation/system/whole_file.h"
#include "wheel/hash/sha256.h"

namespace axle::builder {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int format = 1;
constexpr std::uint64_t largest_record = std::uint64_t{256} << 20;

std::optional<InputFile> look_at(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  InputFile file;
  file.size = static_cast<std::uint64_t>(status.st_size);
  file.modified = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
  file.inode = status.st_ino;
  return file;
}

std::string hash_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  wheel::Sha256 hash;
  std::vector<char> piece(256 * 1024);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.update(std::as_bytes(std::span(piece.data(), static_cast<std::size_t>(file.gcount()))));
  }
  return file.eof() ? wheel::render_hex(hash.finish()) : std::string();
}

/// A file may change again within the resolution of its time.
bool is_settled(const InputFile& file, std::int64_t begun) {
  constexpr std::int64_t resolution = 2'000'000'000;
  return file.modified < begun - resolution;
}

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_passed_over(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {
      ".git",  ".hg",     ".svn",        "__pycache__", ".venv",
      ".tox",  ".nox",    ".mypy_cache", ".ruff_cache", ".pytest_cache",
      ".idea", ".vscode", ".cache",      "node_modules"};
  // What setuptools leaves beside its sources: objects of other flags among them.
  for (const char* left : {"temp.linux-", "lib.linux-", "bdist.linux-"}) {
    if (name.starts_with(left)) return true;
  }
  return names.contains(name) || name.ends_with(".pyc") || name.ends_with(".egg-info");
}

}  // namespace

std::optional<BuildRecord> read_record(const std::string& file) {
  const auto text = read_file(file, largest_record);
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (json.at("format") != format) return std::nullopt;
    BuildRecord record;
    record.settings = json.at("settings").get<std::string>();
    record.begun = json.at("begun").get<std::int64_t>();
    record.wheel = json.at("wheel").get<std::string>();
    record.sha256 = json.at("sha256").get<std::string>();
    for (const auto& [path, input] : json.at("inputs").items()) {
      record.inputs[path] = {input.at(0).get<std::string>(), input.at(1).get<std::uint64_t>(),
                             input.at(2).get<std::int64_t>(), input.at(3).get<std::uint64_t>()};
    }
    // A name, never a path.
    if (record.wheel.find('/') != std::string::npos) return std::nullopt;
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool write_record(const std::string& file, const BuildRecord& record) {
  Json inputs = Json::object();
  for (const auto& [path, input] : record.inputs)
    inputs[path] = {input.sha256, input.size, input.modified, input.inode};
  const Json json = {{"format", format},      {"settings", record.settings},
                     {"begun", record.begun}, {"inputs", std::move(inputs)},
                     {"wheel", record.wheel}, {"sha256", record.sha256}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return !system::write_whole_file(file, text, {.flush = system::Flush::no});
}

std::vector<std::string> project_inputs(const std::string& folder,
                                        const std::set<std::string>& left_out) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    const std::string path = it->path().lexically_normal().string();
    if (is_passed_over(it->path().filename().string()) || left_out.contains(path)) {
      it.disable_recursion_pending();
    } else if (fs::is_regular_file(it->path(), ignored)) {
      files.push_back(path);
    }
  }
  std::ranges::sort(files);
  return files;
}

std::map<std::string, InputFile> hashed_inputs(const std::vector<std::string>& files,
                                               const BuildRecord& earlier) {
  std::map<std::string, InputFile> inputs;
  for (const std::string& path : files) {
    auto file = look_at(path);
    if (!file) continue;
    const auto known = earlier.inputs.find(path);
    if (known != earlier.inputs.end() && known->second.size == file->size &&
        known->second.modified == file->modified && known->second.inode == file->inode &&
        is_settled(*file, earlier.begun)) {
      file->sha256 = known->second.sha256;
    } else {
      file->sha256 = hash_of(path);
    }
    if (!file->sha256.empty()) inputs.emplace(path, std::move(*file));
  }
  return inputs;
}

InputState compare_inputs(const BuildRecord& earlier, const std::map<std::string, InputFile>& now) {
  InputState state = InputState::same;
  std::set<std::string_view> names;
  for (const auto& [path, file] : earlier.inputs) names.insert(name_in(path));
  for (const auto& [path, file] : now) {
    const auto known = earlier.inputs.find(path);
    if (known != earlier.inputs.end() && known->second.sha256 == file.sha256) continue;
    if (file.modified <= earlier.begun) return InputState::older;
    // A header may now be found before another one of its name, and of a build that was cut it is
    // not known which it has read.
    const bool added = known == earlier.inputs.end();
    if (added && (earlier.wheel.empty() || names.contains(name_in(path)))) return InputState::older;
    state = InputState::newer;
  }
  for (const auto& [path, file] : earlier.inputs) {
    if (!now.contains(path)) return InputState::older;
  }
  return state;
}

}  // namespace axle::builder
