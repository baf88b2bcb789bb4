#include "installer/environment/roots.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "installer/file_access.h"
#include "wheel/entry_points.h"
#include "wheel/name_folding.h"

namespace axle::installer {
namespace {

/// "/a/./b//c/../d" -> "/a/b/d"; purely textual. nullopt if it climbs above the root.
std::optional<std::string> normalise(std::string_view path) {
  std::string normal;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "..") {
      if (normal.empty()) return std::nullopt;
      normal.resize(normal.rfind('/'));
    } else if (!part.empty() && part != ".") {
      normal.append("/").append(part);
    }
    begin = end + 1;
  }
  return normal;
}

Result<std::string> canonical(const std::string& path) {
  std::error_code error;
  std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  if (error || path.empty() || !resolved.is_absolute()) {
    return fail(ErrorKind::io, fmt::format("the environment's folder '{}' cannot be resolved: {}",
                                           path, error ? error.message() : "not an absolute path"));
  }
  std::string text = resolved.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

bool contains_path(std::string_view folder, std::string_view path) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder == "/" || path[folder.size()] == '/';
}

bool Roots::is_fixed_folder(std::string_view path) const {
  return contains_path(path, base) || contains_path(path, purelib) ||
         contains_path(path, platlib) || contains_path(path, scripts) || contains_path(path, data);
}

bool Roots::is_reserved(std::string_view path) const {
  if (!contains_path(base, path) || path.size() == base.size()) return false;
  const std::string_view relative = path.substr(base.size() + 1);
  const std::string first = wheel::fold_name(relative.substr(0, relative.find('/')));
  if (first == ".axle" || (first == "pyvenv.cfg" && !relative.contains('/'))) return true;
  const std::size_t slash = path.rfind('/');
  return wheel::is_reserved_script(wheel::fold_name(path.substr(slash + 1))) &&
         wheel::fold_name(path.substr(0, slash)) == wheel::fold_name(scripts);
}

bool Roots::may_have_reserved(std::string_view folder) const {
  if (!contains_path(base, folder)) return false;
  if (folder.size() == base.size()) return true;
  const std::string_view relative = folder.substr(base.size() + 1);
  return wheel::fold_name(relative.substr(0, relative.find('/'))) == ".axle" ||
         wheel::fold_name(folder) == wheel::fold_name(scripts);
}

Result<Roots> find_roots(const Environment& environment) {
  Roots roots;
  const std::pair<const std::string*, std::string*> folders[] = {
      {&environment.data, &roots.base},       {&environment.data, &roots.data},
      {&environment.purelib, &roots.purelib}, {&environment.platlib, &roots.platlib},
      {&environment.scripts, &roots.scripts}, {&environment.include, &roots.include}};
  const std::string* last = nullptr;
  std::string last_resolved;
  for (const auto& [from, to] : folders) {
    // Two of them are the same, as a rule.
    if (last == nullptr || *from != *last) {
      auto resolved = canonical(*from);
      if (!resolved) return std::unexpected(resolved.error());
      last_resolved = std::move(*resolved);
      last = from;
    }
    *to = last_resolved;
    if (!contains_path(roots.base, *to)) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{} is outside {}: such an environment cannot be changed as a whole",
                              *to, roots.base),
                  "use a virtual environment");
    }
  }
  return roots;
}

PathResolver::PathResolver(const Roots& roots) : roots_(roots) {
  // Their links are resolved already.
  for (const std::string* root : {&roots.base, &roots.purelib, &roots.platlib, &roots.scripts})
    folders_.try_emplace(*root, Folder{*root, true});
}

Result<void> PathResolver::look_into(Folder& folder) {
  const auto nowhere = [](int code) { return code == ELOOP || code == ENAMETOOLONG; };
  struct stat status = {};
  if (::lstat(folder.real->c_str(), &status) != 0) {
    folder.exists = false;
    if (nowhere(errno)) folder.real.reset();
    if (folder.real && !says_absent(errno))
      return std::unexpected(system_error("resolve", *folder.real, errno));
    return {};
  }
  if (!S_ISLNK(status.st_mode)) return {};
  std::error_code error;
  std::string real = std::filesystem::weakly_canonical(*folder.real, error).string();
  if (error && !nowhere(error.value()))
    return std::unexpected(system_error("resolve", *folder.real, error.value()));
  if (error) {
    folder.real.reset();
    return {};
  }
  if (real == "/") real.clear();
  folder.real = std::move(real);
  auto there = look_at(*folder.real + "/");
  if (!there) return std::unexpected(there.error());
  folder.exists = there->has_value();
  return {};
}

Result<const PathResolver::Folder*> PathResolver::find(std::string_view path) {
  if (const auto known = folders_.find(std::string(path)); known != folders_.end())
    return &known->second;
  Folder folder{std::string(), true};
  if (path.size() >= PATH_MAX) {
    folder.real.reset();
  } else if (!path.empty()) {
    // What is above it is known from other files, as a rule: it is looked at alone.
    const std::size_t slash = path.rfind('/');
    auto above = find(path.substr(0, slash));
    if (!above) return above;
    folder = **above;
    if (folder.real) folder.real->append(path.substr(slash));
    if (folder.real && folder.exists) {
      if (auto looked = look_into(folder); !looked) return std::unexpected(looked.error());
    }
  }
  return &folders_.emplace(std::string(path), std::move(folder)).first->second;
}

Result<std::optional<std::string>> PathResolver::resolve(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = path.rfind('/');
  const std::string_view name = path.substr(end + 1);
  const bool plain = !name.empty() && name != "." && name != "..";
  std::string resolved;
  if (plain && last_ != nullptr && path.substr(0, end) == last_path_) {
    resolved.append(*last_->real).append(path.substr(end));
  } else {
    const std::optional<std::string> normal = normalise(path);
    if (!normal || normal->empty()) return std::nullopt;
    const std::size_t slash = normal->rfind('/');
    const auto folder = find(std::string_view(*normal).substr(0, slash));
    if (!folder) return std::unexpected(folder.error());
    if (!(*folder)->real) return std::nullopt;
    resolved.append(*(*folder)->real).append(*normal, slash);
    if (plain) {
      last_path_ = path.substr(0, end);
      last_ = *folder;
    }
  }
  if (resolved == roots_.base || !contains_path(roots_.base, resolved)) return std::nullopt;
  return resolved;
}

}  // namespace axle::installer
