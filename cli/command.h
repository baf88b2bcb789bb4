#pragma once
// A command: one file in cli/commands and one row in cli/commands.cpp.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace axle::cli {

class Session;

enum class Arity : std::uint8_t { none, one, any };

struct Command {
  std::string_view name;        ///< "install", "index build"
  std::string_view summary;     ///< one line, for the list of commands
  std::string_view positional;  ///< how help calls the positionals; "" with Arity::none
  Arity arity;
  std::vector<Opt> options;
  std::string_view examples;     ///< lines shown below the options
  int (*run)(Session& session);  ///< the exit code
  bool takes_fleet = false;      ///< several machines of --for, or a folder of them
};

/// In the order in which help shows them.
[[nodiscard]] std::span<const Command> commands();

// One a file in cli/commands/.
int run_build(Session& session);
int run_check(Session& session);
int run_detect(Session& session);
int run_doctor(Session& session);
int run_explain(Session& session);
int run_freeze(Session& session);
int run_index_build(Session& session);
int run_index_families(Session& session);
int run_index_remove(Session& session);
int run_install(Session& session);
int run_list(Session& session);
int run_properties(Session& session);
int run_providers_check(Session& session);
int run_providers_disable(Session& session);
int run_providers_enable(Session& session);
int run_providers_list(Session& session);
int run_providers_new(Session& session);
int run_providers_retry(Session& session);
int run_providers_show(Session& session);
int run_providers_trust(Session& session);
int run_providers_untrust(Session& session);
int run_rank(Session& session);
int run_resolve(Session& session);
int run_runtime_bench(Session& session);
int run_runtime_info(Session& session);
int run_runtime_selftest(Session& session);
int run_show(Session& session);
int run_uninstall(Session& session);

}  // namespace axle::cli
