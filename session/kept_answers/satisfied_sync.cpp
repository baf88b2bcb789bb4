#include "session/kept_answers/satisfied_sync.h"

#include <algorithm>

#include "session/kept_answers/watched_places.h"
#include "session/projects/class_choice.h"

namespace axle::session {

namespace {

constexpr Opt options_of_sync[] = {Opt::quiet,
                                   Opt::no_color,
                                   Opt::no_progress,
                                   Opt::index_url,
                                   Opt::extra_index_url,
                                   Opt::find_links,
                                   Opt::no_index,
                                   Opt::index,
                                   Opt::default_index,
                                   Opt::index_strategy,
                                   Opt::keyring_provider,
                                   Opt::trusted_host,
                                   Opt::timeout,
                                   Opt::retries,
                                   Opt::offline,
                                   Opt::cache_dir,
                                   Opt::config_file,
                                   Opt::no_config,
                                   Opt::python,
                                   Opt::gpu_policy,
                                   Opt::machine_class,
                                   Opt::extra,
                                   Opt::all_extras,
                                   Opt::no_extra,
                                   Opt::group,
                                   Opt::all_groups,
                                   Opt::only_group,
                                   Opt::no_default_groups,
                                   Opt::no_group,
                                   Opt::dev,
                                   Opt::no_dev,
                                   Opt::only_dev,
                                   Opt::frozen,
                                   Opt::locked,
                                   Opt::inexact,
                                   Opt::no_install_project,
                                   Opt::no_editable,
                                   Opt::link_mode,
                                   Opt::no_compile};

/// Another class would be chosen as soon as an interpreter for it is found, wherever that is.
bool is_first_choice(const ClassEnvironment& chosen, const plan::Lock& lock,
                     const detect::Machine& machine, const Session& session) {
  if (session.arguments().has(Opt::machine_class)) return true;
  const auto gpus = session.gpu_policy();
  const auto verdicts = gpus ? judge_classes(lock, machine, *gpus, nullptr)
                             : fail(ErrorKind::not_found, "the GPUs that count");
  if (!verdicts) return false;
  const auto first = std::ranges::find_if(*verdicts, &ClassVerdict::holds);
  return first != verdicts->end() && first->about == chosen.about;
}

}  // namespace

AnswerKeeper satisfied_sync(Session& session) {
  return {session, {.name = "sync", .plain = options_of_sync, .on_machine = true}, {}};
}

void keep_satisfied_sync(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                         const plan::Lock& lock, const ClassEnvironment& chosen,
                         const Workspace& workspace,
                         const std::vector<installer::InstalledDistribution>& installed) {
  if (!keeper.machine() || !is_first_choice(chosen, lock, keeper.machine()->machine, session) ||
      looks_at_more_than_files(workspace))
    return;
  keeper.keep(answer, {}, workspace.environment, installed);
}

}  // namespace axle::session
