// tree: what a lock has for each class of machines, and who requires whom.
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/projects/locked_project.h"
#include "cli/views/projects/lock_tree_view.h"
#include "foundation/text/nearest.h"
#include "session/projects/lock_file.h"
#include "session/session.h"
#include "wheel/requirement.h"

namespace axle::cli {
namespace {

using nlohmann::ordered_json;
using session::Opt;

session::Outcome<TreeForm> read_form(const session::Arguments& arguments, const plan::Lock& lock) {
  TreeForm form;
  if (arguments.has(Opt::depth)) {
    const std::string text = arguments.value(Opt::depth);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), form.depth);
    if (error != std::errc() || end != text.data() + text.size())
      return session::misused(fmt::format("--depth {}: expected a number", text));
  }
  form.inverted = wheel::normalize_name(arguments.value(Opt::invert));
  if (form.inverted.empty()) return form;
  std::vector<std::string> names;
  for (const plan::LockedPackage& package : lock.packages) {
    if (package.name == form.inverted) return form;
    names.push_back(package.name);
  }
  return session::failed({ErrorKind::not_found,
                          fmt::format("the lock has no package {}", form.inverted),
                          text::did_you_mean(form.inverted, names)});
}

/// Without an option that selects some, all extras and groups are shown.
session::Arguments with_all_unless_selected(session::Arguments arguments) {
  for (const Opt some : {Opt::extra, Opt::all_extras, Opt::group, Opt::all_groups, Opt::only_group,
                         Opt::only_dev, Opt::dev, Opt::no_default_groups}) {
    if (arguments.has(some)) return arguments;
  }
  for (const Opt all : {Opt::all_extras, Opt::all_groups}) arguments.add(all, "");
  return arguments;
}

session::Outcome<std::vector<LockTree>> read_trees(const session::Arguments& arguments,
                                                   const session::LockFile& file) {
  const plan::Lock& lock = file.lock;
  std::vector<std::string> names = arguments.values(Opt::machine_class);
  if (names.empty())
    for (const plan::LockedClass& one : lock.classes) names.push_back(one.name);
  const auto wanted =
      session::read_selection(with_all_unless_selected(arguments), lock, file.default_groups());
  if (!wanted) return std::unexpected(wanted.error());
  std::vector<LockTree> trees;
  for (const std::string& name : names) {
    auto one = session::open_class(lock, name);
    if (!one) return std::unexpected(std::move(one).error());
    auto packages = plan::locked_closure(lock, name, *wanted, session::class_markers(*one));
    if (!packages) return session::failed(std::move(packages).error());
    trees.push_back({one->about, std::move(*packages)});
  }
  return trees;
}

}  // namespace

int run_tree(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto file = read_lock_file(arguments, output);
  if (!file) return output.failure(file.error());
  const auto form = read_form(arguments, file->lock);
  if (!form) return output.failure(form.error());
  const auto trees = read_trees(arguments, *file);
  if (!trees) return output.failure(trees.error());
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const LockTree& tree : *trees)
                                text += (text.empty() ? "" : "\n") + render_tree(tree, *form);
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json classes = ordered_json::array();
                          for (const LockTree& tree : *trees) classes.push_back(tree_json(tree));
                          return {{"classes", std::move(classes)}};
                        }});
}

}  // namespace axle::cli
