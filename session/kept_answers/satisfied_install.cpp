#include "session/kept_answers/satisfied_install.h"

#include <set>
#include <string>
#include <utility>

#include "session/kept_answers/watched_places.h"

namespace axle::session {

namespace {

constexpr Opt options_of_install[] = {
    Opt::quiet,           Opt::no_color,       Opt::no_progress,      Opt::index_url,
    Opt::extra_index_url, Opt::find_links,     Opt::no_index,         Opt::index,
    Opt::default_index,   Opt::index_strategy, Opt::keyring_provider, Opt::trusted_host,
    Opt::timeout,         Opt::retries,        Opt::offline,          Opt::cache_dir,
    Opt::config_file,     Opt::no_config,      Opt::requirement,      Opt::constraint,
    Opt::extra,           Opt::all_extras,     Opt::no_deps,          Opt::pre,
    Opt::prerelease,      Opt::python,         Opt::gpu_policy,       Opt::link_mode,
    Opt::no_compile};

}  // namespace

AnswerKeeper satisfied_install(Session& session) {
  return {session,
          {.name = "install", .plain = options_of_install, .on_machine = true},
          session.arguments().positionals};
}

void keep_satisfied_install(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                            const plan::Resolution& resolution, const Workspace& workspace,
                            const std::vector<installer::InstalledDistribution>& installed) {
  std::set<std::string> paths = environment_places(session, workspace.environment);
  if (resolution.asked || paths.empty() || looks_at_more_than_files(workspace)) return;
  keeper.keep(answer, std::move(paths), workspace.environment, installed);
}

}  // namespace axle::session
