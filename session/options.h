#pragma once
// The options of all commands, one row each, and the values given for a run. Commands list the rows
// that they accept; messages refer to options by their names.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axle::session {

enum class Opt : std::uint8_t {
  // everywhere
  json,
  for_machine,
  verbose,
  quiet,
  no_color,
  progress,
  no_progress,
  // where packages come from
  index_url,
  extra_index_url,
  find_links,
  no_index,
  bundle,
  index,
  default_index,
  index_strategy,
  keyring_provider,
  trusted_host,
  cert,
  client_cert,
  proxy,
  no_proxy_env,
  timeout,
  retries,
  family,
  offline,
  refresh,
  refresh_package,
  no_cache,
  cache_dir,
  config_file,
  no_config,
  // what is requested
  requirement,
  group,
  extra,
  all_extras,
  editable,
  no_editable,
  no_editable_package,
  constraint,
  overrides,
  require_hashes,
  no_require_hashes,
  no_verify_hashes,
  attestations,
  trusted_root,
  allowed_signers,
  exclude_newer,
  uploaded_prior_to,
  exclude_newer_package,
  no_binary,
  only_binary,
  build_from_source,
  build_from_source_of,
  no_build,
  build_constraint,
  no_build_isolation,
  config_settings,
  no_sources,
  no_sources_package,
  pre,
  prerelease,
  upgrade,
  upgrade_package,
  reinstall,
  reinstall_package,
  alternatives,
  no_deps,
  variant,
  no_variants,
  no_variants_of,
  torch_backend,
  allow_backend_change,
  require,
  trust,
  enable_provider,
  disable_provider,
  gpu_policy,
  // which environment
  python,
  system,
  python_version,
  implementation,
  abi,
  platform,
  python_platform,
  break_system_packages,
  require_virtualenv,
  target,
  prefix,
  root,
  user,
  no_user,
  // of a new environment
  prompt,
  system_site_packages,
  clear,
  // what is done and shown
  link_mode,
  compile_bytecode,
  no_compile,
  overwrite,
  refit,
  redo,
  yes,
  without_effect,
  without_effect_value,
  dry_run,
  dest,
  wheel_dir,
  bundle_file,
  signing_key,
  check_abi,
  explain,
  report,
  // of single commands
  profile,
  properties,
  why,
  ns,
  static_lists,
  supported,
  out,
  records,
  reason,
  undo_yank,
  host,
  port,
  repository_url,
  username,
  skip_existing,
  output_file,
  build_variant,
  label,
  property,
  namespace_order,
  split,
  keep_ptx,
  architecture,
  jobs,
  files,
  list_format,
  exclude,
  not_required,
  editable_only,
  exclude_editable,
  all_packages,
  batch,
  threads,
  // of models
  export_table,
  model_prompt,
  raw,
  text,
  query,
  text_file,
  window,
  mode,
  kv_cache,
  max_tokens,
  temperature,
  top_k,
  top_p,
  min_p,
  seed,
  quantized_folder,
  scale_group,
  method,
  calibration,
  // of provider plugins
  language,
  runs,
  device,
  for_package,
  deep,
  vulnerabilities,
  // of the cache
  fix,
  // of CI files
  ci_file,
  ci_check,
  // of projects
  machine_class,
  frozen,
  locked,
  all_groups,
  only_group,
  no_group,
  no_default_groups,
  no_dev,
  only_dev,
  no_extra,
  inexact,
  no_install_project,
  no_sync,
  coverage,
  minimize,
  best,
  budget,
  export_format,
  invert,
  depth,
  // of a pyproject.toml
  project_name,
  project_machine,
  project_extra,
  project_group,
  dev,
  edit_alone,
};

enum class OptionKind : std::uint8_t { flag, value, list };

struct OptionRow {
  Opt id;
  OptionKind kind;
  std::string_view names;  ///< CLI11 spelling: "--index-url,-i"
  std::string_view value;  ///< the name of the value in the help
  std::string_view help;
};

/// In the order of Opt.
[[nodiscard]] std::span<const OptionRow> option_rows();
[[nodiscard]] const OptionRow& option_row(Opt id);
/// Its spellings: "--index-url", "-i".
[[nodiscard]] std::vector<std::string_view> option_names(Opt id);
/// The first of its spellings: "--index-url".
[[nodiscard]] std::string option_name(Opt id);
[[nodiscard]] std::span<const Opt> global_options();

/// The values given on the command line.
class Arguments {
 public:
  void add(Opt id, std::string value) {
    values_[id].push_back(std::move(value));
    order_.push_back(id);
  }
  void add_all(const Arguments& others) {
    for (const auto& [id, values] : others.values_)
      values_[id].insert(values_[id].end(), values.begin(), values.end());
    order_.insert(order_.end(), others.order_.begin(), others.order_.end());
  }
  /// As if it had not been given.
  void remove(Opt id) {
    values_.erase(id);
    std::erase(order_, id);
  }
  [[nodiscard]] bool empty() const { return values_.empty() && positionals.empty(); }
  [[nodiscard]] bool has(Opt id) const { return values_.contains(id); }
  /// The last value given; "" if there is none.
  [[nodiscard]] std::string value(Opt id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? std::string() : found->second.back();
  }
  [[nodiscard]] std::vector<std::string> values(Opt id) const {
    const auto found = values_.find(id);
    return found == values_.end() ? std::vector<std::string>() : found->second;
  }
  /// Every value of `ids`, in the order in which they were given.
  [[nodiscard]] std::vector<std::pair<Opt, std::string>> in_order(
      std::initializer_list<Opt> ids) const {
    std::vector<std::pair<Opt, std::string>> given;
    std::map<Opt, std::size_t> taken;
    for (const Opt id : order_) {
      if (std::ranges::find(ids, id) != ids.end())
        given.emplace_back(id, values_.at(id)[taken[id]++]);
    }
    return given;
  }

  /// Every option that was given, with its values.
  [[nodiscard]] const std::map<Opt, std::vector<std::string>>& all() const { return values_; }

  std::vector<std::string> positionals;

 private:
  std::map<Opt, std::vector<std::string>> values_;
  std::vector<Opt> order_;
};

/// The options of a run, for the commands that messages propose.
struct RunOptions {
  Arguments command_line;
  /// The options in its requirements files, unless the files themselves cause the error: such a
  /// file would also stop the proposed command, so none is named again.
  std::optional<Arguments> files = {};
  std::string machine = {};  ///< for several machines, the one in question, as given with --for
};

}  // namespace axle::session
