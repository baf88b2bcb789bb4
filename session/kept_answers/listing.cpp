#include "session/kept_answers/listing.h"

#include <set>
#include <string>
#include <utility>

#include "session/kept_answers/watched_places.h"

namespace axle::session {

namespace {

constexpr Opt options_of_list[] = {Opt::quiet,     Opt::no_color,    Opt::no_progress,
                                   Opt::cache_dir, Opt::config_file, Opt::no_config,
                                   Opt::python,    Opt::list_format};

}  // namespace

AnswerKeeper listing(Session& session) {
  return {session, {.name = "list", .plain = options_of_list, .on_machine = false}, {}};
}

void keep_listing(AnswerKeeper& keeper, const KeptAnswer& answer, const Session& session,
                  const Inventory& inventory) {
  std::set<std::string> paths = environment_places(session, inventory.environment);
  if (!paths.empty())
    keeper.keep(answer, std::move(paths), inventory.environment, inventory.distributions);
}

}  // namespace axle::session
