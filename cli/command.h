#pragma once
// A command: one file in cli/commands and one row in cli/commands.cpp. A group of commands is a row
// too, without a file.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "session/options.h"
#include "session/session.h"

namespace axle::cli {

enum class Arity : std::uint8_t {
  none,
  one,
  any,
  command,  ///< another program's: after its first word nothing is an option of ours
};

/// What --for WHAT means for a command: it is honoured, or refused with the reason.
struct MachineUse {
  bool several = false;           ///< several machines are accepted, or a folder of them
  std::string_view refusal = {};  ///< why --for is refused; "": it is honoured
  std::string_view instead = {};  ///< what to do then
};
inline constexpr MachineUse one_machine = {};
inline constexpr MachineUse fleet = {.several = true};
inline constexpr MachineUse no_machine = {.refusal = "the command does the same for every machine",
                                          .instead = "leave it out"};
/// For what works on a project.
inline constexpr MachineUse machine_classes = {
    .refusal = "a project's machines are its classes",
    .instead =
        "name them in [tool.axle.machines] of pyproject.toml; `--class` chooses one of them"};
/// For what runs the runtime's kernels.
inline constexpr MachineUse this_machine = {
    .refusal = "it runs on this machine",
    .instead = "`variant properties --for h100` shows what another machine supports"};

struct Command {
  std::string_view name;        ///< "install", "index build"
  std::string_view summary;     ///< one line, for the list of commands
  std::string_view positional;  ///< the positional arguments in the help; "" with Arity::none
  Arity arity;
  std::vector<session::Opt> options;
  std::string_view examples;  ///< lines shown below the options
  /// Returns the exit code. Null: a group, whose commands are the rows named "<group> <command>".
  int (*run)(session::Session& session, Output& output);
  MachineUse machines;

  [[nodiscard]] bool is_group() const { return run == nullptr; }
  /// Whether it has one of the options that all commands share.
  [[nodiscard]] bool has_global(session::Opt id) const {
    return id != session::Opt::for_machine || machines.refusal.empty();
  }
};

/// In the order of the help; a group before its commands.
[[nodiscard]] std::span<const Command> commands();

// One per file in cli/commands/.
int run_add(session::Session& session, Output& output);
int run_audit(session::Session& session, Output& output);
int run_build(session::Session& session, Output& output);
int run_bundle(session::Session& session, Output& output);
int run_cache_clean(session::Session& session, Output& output);
int run_cache_dir(session::Session& session, Output& output);
int run_cache_info(session::Session& session, Output& output);
int run_cache_prune(session::Session& session, Output& output);
int run_cache_verify(session::Session& session, Output& output);
int run_check(session::Session& session, Output& output);
int run_ci_github(session::Session& session, Output& output);
int run_ci_gitlab(session::Session& session, Output& output);
int run_ci_make(session::Session& session, Output& output);
int run_ci_slurm(session::Session& session, Output& output);
int run_completion(session::Session& session, Output& output);
int run_detect(session::Session& session, Output& output);
int run_doctor(session::Session& session, Output& output);
int run_download(session::Session& session, Output& output);
int run_explain(session::Session& session, Output& output);
int run_export(session::Session& session, Output& output);
int run_freeze(session::Session& session, Output& output);
int run_import(session::Session& session, Output& output);
int run_index_add(session::Session& session, Output& output);
int run_index_build(session::Session& session, Output& output);
int run_index_families(session::Session& session, Output& output);
int run_index_lint(session::Session& session, Output& output);
int run_index_remove(session::Session& session, Output& output);
int run_index_serve(session::Session& session, Output& output);
int run_index_update(session::Session& session, Output& output);
int run_index_yank(session::Session& session, Output& output);
int run_init(session::Session& session, Output& output);
int run_install(session::Session& session, Output& output);
int run_list(session::Session& session, Output& output);
int run_lock(session::Session& session, Output& output);
int run_machines(session::Session& session, Output& output);
int run_man(session::Session& session, Output& output);
int run_mirror(session::Session& session, Output& output);
int run_model_bench(session::Session& session, Output& output);
int run_model_embed(session::Session& session, Output& output);
int run_model_generate(session::Session& session, Output& output);
int run_model_info(session::Session& session, Output& output);
int run_model_ppl(session::Session& session, Output& output);
int run_model_quantize(session::Session& session, Output& output);
int run_model_rerank(session::Session& session, Output& output);
int run_model_selftest(session::Session& session, Output& output);
int run_model_tune(session::Session& session, Output& output);
int run_outdated(session::Session& session, Output& output);
int run_properties(session::Session& session, Output& output);
int run_providers_check(session::Session& session, Output& output);
int run_providers_disable(session::Session& session, Output& output);
int run_providers_enable(session::Session& session, Output& output);
int run_providers_list(session::Session& session, Output& output);
int run_providers_new(session::Session& session, Output& output);
int run_providers_retry(session::Session& session, Output& output);
int run_providers_show(session::Session& session, Output& output);
int run_providers_trust(session::Session& session, Output& output);
int run_providers_untrust(session::Session& session, Output& output);
int run_publish(session::Session& session, Output& output);
int run_rank(session::Session& session, Output& output);
int run_remove(session::Session& session, Output& output);
int run_repack(session::Session& session, Output& output);
int run_resolve(session::Session& session, Output& output);
int run_run(session::Session& session, Output& output);
int run_sbom(session::Session& session, Output& output);
int run_self_test(session::Session& session, Output& output);
int run_sync(session::Session& session, Output& output);
int run_show(session::Session& session, Output& output);
int run_tree(session::Session& session, Output& output);
int run_undo(session::Session& session, Output& output);
int run_uninstall(session::Session& session, Output& output);
int run_venv(session::Session& session, Output& output);
int run_verify(session::Session& session, Output& output);
int run_wheel(session::Session& session, Output& output);

}  // namespace axle::cli
