#include "installer/transaction/staging.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/tree/byte_code_names.h"

namespace axle::installer {
namespace {

constexpr std::string_view conflict_hint =
    "remove it first, or replace it with --overwrite; nothing was changed";

}  // namespace

void Staging::add_conflict(const StagedPath& there, const NewFile& file, const NewPackage& package,
                           std::vector<FileConflict>& conflicts) {
  const bool same = there.file != nullptr && there.file->target == file.target &&
                    there.file->sha256 == file.sha256 && there.file->size == file.size;
  // Of a module that two packages share, the first one's is linked, and its byte code goes with it.
  if (same || (there.file != nullptr && file.byte_code)) return;
  const std::string other = there.file == nullptr ? std::string() : there.package->title;
  conflicts.push_back(
      {file.target,
       package.title,
       other,
       {ErrorKind::conflict,
        fmt::format("{} and {} both install {}", package.title, other.empty() ? "a folder" : other,
                    file.target),
        "leave one of them out, or have both with --overwrite, which gives such files to the one "
        "that is installed later; nothing was changed"}});
}

StagedPath Staging::tree_of(const NewPackage& package, std::vector<FileConflict>& conflicts) const {
  StagedPath root;
  // Neighbours in a wheel lie in one folder, as a rule.
  std::string_view last_folder;
  StagedPath* last_node = nullptr;
  for (const NewFile& file : package.files) {
    StagedPath* node = &root;
    const std::string_view path = file.target;
    std::string_view rest = path.substr(roots_.base.size() + 1);
    const std::string_view folder = path.substr(0, path.rfind('/') + 1);
    if (last_node != nullptr && folder == last_folder) {
      node = last_node;
      rest = path.substr(folder.size());
    }
    while (true) {
      const std::size_t slash = rest.find('/');
      const std::string_view part = rest.substr(0, slash);
      if (slash == std::string_view::npos) {
        last_folder = folder;
        last_node = node;
      }
      // Most come in order.
      auto& children = node->children;
      const bool is_last = children.empty() || children.rbegin()->first < part;
      const auto child = is_last ? children.emplace_hint(children.end(), part, StagedPath())
                                 : children.try_emplace(part).first;
      node = &child->second;
      if (node->file != nullptr || slash == std::string_view::npos) break;
      rest = rest.substr(slash + 1);
    }
    if (node->file != nullptr || !node->children.empty()) {
      add_conflict(*node, file, package, conflicts);
    } else {
      node->file = &file;
      node->package = &package;
    }
  }
  return root;
}

void Staging::collide(const StagedPath& there, const StagedPath& from) {
  if (from.file != nullptr) add_conflict(there, *from.file, *from.package, conflicts_);
  for (const auto& [name, child] : from.children) collide(there, child);
}

void Staging::merge(StagedPath& into, StagedPath& from) {
  while (!from.children.empty()) {
    auto inserted = into.children.insert(from.children.extract(from.children.begin()));
    if (inserted.inserted) continue;
    StagedPath& there = inserted.position->second;
    StagedPath& more = inserted.node.mapped();
    if (there.file == nullptr && more.file == nullptr) {
      merge(there, more);
    } else {
      collide(there, more);
    }
  }
}

void Staging::add(const std::vector<NewPackage>& packages) {
  struct Tree {
    StagedPath root;
    std::vector<FileConflict> conflicts;
  };
  std::vector<Tree> trees(packages.size());
  system::for_each_at_once(packages.size(), system::usable_processors(), [&](std::size_t i) {
    trees[i].root = tree_of(packages[i], trees[i].conflicts);
  });
  for (Tree& tree : trees) {
    std::ranges::move(tree.conflicts, std::back_inserter(conflicts_));
    merge(root_, tree.root);
  }
}

Result<void> Staging::walk(StagedPath& folder, const std::string& path) {
  for (auto& [name, node] : folder.children) {
    std::string place = path + "/";
    place += name;
    if (removal_.has(place)) {
      entering_.push_back({&node, std::move(place)});
      continue;
    }
    const auto there = look_at(place);
    if (!there) return std::unexpected(there.error());
    const bool is_folder = *there && S_ISDIR((*there)->st_mode);
    if (node.file == nullptr && name == byte_code_folder && (!*there || is_folder)) {
      // File by file, also where there is no such folder yet: any interpreter may create it now.
      if (auto walked = walk(node, place); !walked) return walked;
    } else if (!*there) {
      entering_.push_back({&node, std::move(place)});
    } else if (node.file != nullptr && !is_folder) {
      contested_.push_back({&node, std::move(place)});
    } else if (node.file == nullptr && is_folder) {
      if (auto walked = walk(node, place); !walked) return walked;
    } else {
      std::string message =
          node.file == nullptr
              ? fmt::format("{} is a file, but a folder is to be installed there", place)
              : fmt::format("{} is a folder, but {} installs a file there", place,
                            node.package->title);
      conflicts_.push_back({std::move(place),
                            node.file == nullptr ? std::string() : node.package->title,
                            {},
                            {ErrorKind::conflict, std::move(message), std::string(conflict_hint)}});
    }
  }
  return {};
}

void Staging::remove(const std::string& path, const std::string& package) {
  if (!removal_.index.insert(path).second) return;
  removal_.things.push_back(path);
  if (!package.empty()) removal_.packages[path].insert(package);
}

Result<void> Staging::remove_byte_code(const std::string& module) {
  if (!module.ends_with(".py")) return {};
  const std::size_t name = module.rfind('/') + 1;
  const std::string stem = module.substr(name, module.size() - name - 3);
  const std::string folder = module.substr(0, name) + std::string(byte_code_folder);
  const OpenFolder opened(::opendir(folder.c_str()));
  if (opened == nullptr) {
    if (says_absent(errno)) return {};
    return std::unexpected(system_error("read", folder, errno));
  }
  while (const dirent* entry = ::readdir(opened.get())) {
    if (byte_code_stem(entry->d_name) == stem)
      remove(fmt::format("{}/{}", folder, entry->d_name), {});
  }
  return {};
}

Result<void> Staging::rewrite(const InstalledDistribution& distribution, const Losses& losses) {
  auto files = rewrite_metadata(distribution, losses.files, roots_);
  if (!files) return std::unexpected(files.error());
  for (NewFile& file : *files) {
    const auto there = exists(file.target);
    if (!there) return std::unexpected(there.error());
    if (*there) remove(file.target, distribution.name);
    const RewrittenMetadata& rewritten = rewritten_.emplace_back(losses.by, std::move(file));
    StagedPath& node = rewritten_nodes_.emplace_back();
    node.file = &rewritten.file;
    node.package = losses.by;
    entering_.push_back({&node, rewritten.file.target});
  }
  return {};
}

Result<void> Staging::replace(StagedThing thing, const std::vector<Owner>& owners,
                              std::map<const InstalledDistribution*, Losses>& losses) {
  const NewFile& file = *thing.node->file;
  const NewPackage& package = *thing.node->package;
  bool lost = owners.empty();
  if (lost) overwritten_.push_back({thing.path, package.title, {}});
  for (const Owner& owner : owners) {
    if (owner.sha256 == file.sha256) continue;
    overwritten_.push_back({thing.path, package.title, owner.title()});
    Losses& of = losses[owner.distribution];
    of.files.push_back({thing.path, package.name, file.sha256, file.size});
    of.by = &package;
    lost = true;
  }
  if (lost) {
    if (auto removed = remove_byte_code(thing.path); !removed) return removed;
  }
  remove(thing.path, {});
  entering_.push_back(std::move(thing));
  return {};
}

Result<void> Staging::check(const std::vector<InstalledDistribution>& staying,
                            const OverwriteConsent& consent) {
  if (auto walked = walk(root_, roots_.base); !walked) return walked;
  if (contested_.empty()) return {};
  std::unordered_set<std::string> paths;
  for (const StagedThing& thing : contested_) paths.insert(thing.path);
  const auto owners = find_owners(paths, staying, roots_);
  if (!owners) return std::unexpected(owners.error());
  std::map<const InstalledDistribution*, Losses> losses;
  const std::vector<Owner> nobody;
  for (StagedThing& thing : contested_) {
    const NewFile& file = *thing.node->file;
    if (file.byte_code) {
      // Of a module that was here before, or that an interpreter has just compiled.
      remove(thing.path, {});
      entering_.push_back(std::move(thing));
      continue;
    }
    const auto known = owners->find(thing.path);
    const std::vector<Owner>& all = known == owners->end() ? nobody : known->second;
    const auto other =
        std::ranges::find_if(all, [&](const Owner& owner) { return owner.sha256 != file.sha256; });
    if (!all.empty() && other == all.end()) {
      // A file that was edited since differs from what all of them contain: it is replaced.
      const auto hash = hash_file(AT_FDCWD, thing.path);
      if (!hash && hash.error().kind == ErrorKind::io) return std::unexpected(hash.error());
      if (hash && *hash == file.sha256) continue;
    } else if (!consent.allows(thing.path, thing.node->package->name)) {
      const std::string& package = thing.node->package->title;
      std::string name = all.empty() ? std::string() : other->title();
      std::string message = fmt::format("{} would replace {}, which {}", package, thing.path,
                                        name.empty() ? "no package owns" : "belongs to " + name);
      conflicts_.push_back({thing.path,
                            package,
                            std::move(name),
                            {ErrorKind::conflict, std::move(message), std::string(conflict_hint)}});
      continue;
    }
    if (auto done = replace(std::move(thing), all, losses); !done) return done;
  }
  if (!conflicts_.empty()) return {};
  for (const auto& [distribution, of] : losses) {
    if (auto done = rewrite(*distribution, of); !done) return done;
  }
  return {};
}

void Staging::add_packages(const StagedPath& node, std::set<std::string>& names) {
  if (node.package != nullptr) names.insert(node.package->name);
  for (const auto& [name, child] : node.children) add_packages(child, names);
}

Result<void> Staging::stage(const std::string& folder, const std::string& store, LinkMode mode,
                            Journal& journal) {
  const std::size_t below_base = roots_.base.size() + 1;
  std::vector<std::set<std::string>> packages;  // for each move
  for (std::uint32_t i = 0; i < removal_.things.size(); ++i) {
    const std::string& thing = removal_.things[i];
    const auto known = removal_.leaves.find(thing);
    auto leaves = known != removal_.leaves.end() ? std::move(known->second) : list_leaves(thing);
    if (!leaves) return std::unexpected(leaves.error());
    journal.moves.push_back({Direction::out, i, thing.substr(below_base), {}, std::move(*leaves)});
    packages.push_back(std::move(removal_.packages[thing]));
  }
  // Metadata is added last: a reader without locks should rather miss a package than find an
  // incomplete one.
  std::ranges::partition(
      entering_, [](const StagedThing& thing) { return !thing.path.ends_with(".dist-info"); });
  auto leaves = create_things(entering_, folder, store, mode);
  if (!leaves) return std::unexpected(within("staging in " + folder, leaves.error()));
  const std::size_t first = journal.moves.size();
  journal.moves.resize(first + entering_.size());
  packages.resize(first + entering_.size());
  system::for_each_at_once(entering_.size(), system::usable_processors(), [&](std::size_t i) {
    journal.moves[first + i] = {Direction::in,
                                static_cast<std::uint32_t>(i),
                                entering_[i].path.substr(below_base),
                                {},
                                std::move((*leaves)[i])};
    add_packages(*entering_[i].node, packages[first + i]);
  });
  name_packages(journal.moves, packages);
  return {};
}

}  // namespace axle::installer
