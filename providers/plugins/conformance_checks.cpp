// The checks of `variant providers check`, one row each.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/byte_size.h"
#include "providers/plugins/conformance.h"

namespace axle::plugins {
namespace {

using providers::Feature;
using providers::Features;
using std::chrono::milliseconds;

/// Longer than this is noticeable: each installation waits for it.
constexpr milliseconds patience{100};
constexpr std::size_t much_memory = std::size_t{256} << 20;
/// A namespace that is reserved (PEP 825).
constexpr std::string_view abi_dependency = "abi_dependency";

/// nullopt: the observations are not sufficient.
using Judgement = std::optional<CheckResult>;

Judgement fine(std::string message) { return CheckResult{{}, Grade::ok, std::move(message), {}}; }

Judgement warning(std::string message, std::string hint) {
  return CheckResult{{}, Grade::warn, std::move(message), std::move(hint)};
}

Judgement failure(std::string message, std::string hint) {
  return CheckResult{{}, Grade::fail, std::move(message), std::move(hint)};
}

bool answered(const PluginTrial& trial) {
  return trial.supported.features.has_value() && trial.all.features.has_value();
}

std::string count(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::size_t count_values(const Features& features) {
  std::size_t values = 0;
  for (const Feature& feature : features) values += feature.values.size();
  return values;
}

const Feature* find_feature(const Features& features, std::string_view name) {
  const auto found = std::ranges::find(features, name, &Feature::name);
  return found == features.end() ? nullptr : &*found;
}

bool is_of_the_protocol(PluginFault fault) {
  return fault == PluginFault::malformed || fault == PluginFault::wrong_namespace;
}

Judgement check_answers(const PluginTrial& trial) {
  for (const auto& [answer, query] :
       {std::pair(&trial.supported, "supported"), std::pair(&trial.all, "all")}) {
    if (answer->features) continue;
    const PluginFailure& why = answer->features.error();
    if (is_of_the_protocol(why.fault)) return std::nullopt;
    return failure(fmt::format("asked for `{}`: {}", query, why.message), why.hint);
  }
  const std::string& version = trial.supported.notes.version;
  return fine(fmt::format("both queries are answered{}",
                          version.empty() ? "" : fmt::format(" by version {}", version)));
}

Judgement check_interface(const PluginTrial& trial) {
  if (!answered(trial) || trial.plugin->kind != PluginKind::shared_object) return std::nullopt;
  return fine(fmt::format("it implements version {} of the interface", trial.all.notes.abi));
}

Judgement check_protocol(const PluginTrial& trial) {
  for (const PluginAnswer* answer : {&trial.supported, &trial.all}) {
    if (!answer->features && is_of_the_protocol(answer->features.error().fault)) {
      return failure(answer->features.error().message,
                     "names are of [a-z0-9_], values of [a-z0-9_.]; no duplicates, none empty; a "
                     "feature has a value (docs/provider-sdk.md)");
    }
  }
  if (!answered(trial)) return std::nullopt;
  return fine("names and values are valid, without duplicates");
}

Judgement check_namespace(const PluginTrial& trial) {
  const std::string& ns = trial.plugin->ns;
  if (ns.empty()) return std::nullopt;  // none was reported: another check has the reason
  if (ns == abi_dependency) {
    return failure(fmt::format("{} is reserved for the dependency solver", ns),
                   "choose a namespace of your own");
  }
  if (providers::find_provider(ns) != nullptr) {
    return failure(fmt::format("Axle includes a provider for {}, so this plugin is not run", ns),
                   "choose a namespace of your own");
  }
  return fine(fmt::format("it answers for {}", ns));
}

Judgement check_properties(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  const std::size_t here = count_values(*trial.supported.features);
  const std::size_t known = count_values(*trial.all.features);
  if (known == 0) {
    return failure("`all` is empty: no wheel can name a property",
                   "list every value that any machine may support");
  }
  std::string reasons;
  for (const std::string& reason : trial.supported.notes.reasons) reasons += ": " + reason;
  return fine(fmt::format("{} of {} supported here{}", here, count(known, "value"), reasons));
}

Judgement check_declared(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  for (const Feature& feature : *trial.supported.features) {
    const Feature* known = find_feature(*trial.all.features, feature.name);
    if (known == nullptr) {
      return failure(fmt::format("feature {} is supported, but not in `all`", feature.name),
                     "list every value in `all` that `supported` may return");
    }
    if (known->multi_value != feature.multi_value) {
      return failure(fmt::format("{} is multi-valued in one list and single-valued in the other",
                                 feature.name),
                     "use the same in `all` and `supported`");
    }
    for (const std::string& value : feature.values) {
      if (std::ranges::find(known->values, value) != known->values.end()) continue;
      return failure(fmt::format("{} :: {} is supported, but not in `all`", feature.name, value),
                     "list every value in `all` that `supported` may return: builders refuse "
                     "wheels with others");
    }
  }
  return fine("every supported value is in `all`");
}

Judgement check_stable(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  if (trial.differing_run != 0) {
    return failure(fmt::format("run {}: {}", trial.differing_run, trial.difference),
                   "order matters: sort what comes from a set, a hash table or a folder");
  }
  if (!trial.all_difference.empty()) {
    return failure(fmt::format("`all` differs between runs: {}", trial.all_difference),
                   "`all` must be the same everywhere and always");
  }
  return fine(fmt::format("{} returned the same lists in the same order",
                          count(trial.times.size(), "run")));
}

Judgement check_time(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  const milliseconds median = trial.times[trial.times.size() / 2];
  const milliseconds worst = trial.times.back();
  const std::string figures = fmt::format("median {} ms, worst {} ms of {} ms allowed",
                                          median.count(), worst.count(), trial.limits.time.count());
  if (median <= patience) return fine(figures);
  return warning(
      figures, fmt::format("stay below {} ms: every installation waits for it", patience.count()));
}

Judgement check_memory(const PluginTrial& trial) {
  if (!answered(trial) || trial.peak_memory == 0) return std::nullopt;
  const std::string figure = text::render_memory(trial.peak_memory) + " resident at most";
  if (trial.peak_memory <= much_memory) return fine(figure);
  return warning(figure, "stay below " + text::render_memory(much_memory));
}

Judgement check_silence(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  const std::string& printed =
      trial.supported.printed.empty() ? trial.all.printed : trial.supported.printed;
  if (printed.empty()) return fine("it prints nothing");
  return warning(fmt::format("it prints \"{}\"", printed.substr(0, printed.find('\n'))),
                 "print nothing: the output is not shown, and may hide a mistake");
}

Judgement check_threads(const PluginTrial& trial) {
  if (!answered(trial) || trial.plugin->kind != PluginKind::shared_object) return std::nullopt;
  const std::size_t threads = std::max(trial.supported.notes.threads, trial.all.notes.threads);
  if (threads == 0) return fine("no thread outlives a query");
  return warning(fmt::format("{} outlived the query", count(threads, "thread")),
                 "join threads that you start; threads left by a driver end with the process");
}

Judgement check_bare_machine(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  for (const PluginAnswer* answer : {&trial.bare_supported, &trial.bare_all}) {
    if (answer->features) continue;
    const PluginFailure& why = answer->features.error();
    if (why.fault == PluginFault::not_started)
      return warning("not tested: " + why.message, "run this where user namespaces are allowed");
    return failure("without a device: " + why.message,
                   "return no values if there is no device: that is not a failure");
  }
  const std::string differs = difference_between(*trial.all.features, *trial.bare_all.features);
  if (!differs.empty()) {
    return failure(
        "`all` depends on the machine: " + differs,
        "`all` must be the same everywhere: wheels are built on machines without a device");
  }
  const std::size_t values = count_values(*trial.bare_supported.features);
  if (values == 0) return fine("without a device it supports nothing");
  return warning(fmt::format("without a device it supports {}", count(values, "value")),
                 "correct for properties that need no device; else find out why");
}

Judgement check_manners(const PluginTrial& trial) {
  if (!answered(trial)) return std::nullopt;
  const auto& supported = trial.watched_supported.attempts;
  const auto& all = trial.watched_all.attempts;
  if (!supported || !all) {
    return warning("not monitored: this kernel does not report what it denies",
                   "run this on Linux 5.6 or newer");
  }
  std::string tried;
  for (const auto* attempts : {&*supported, &*all}) {
    for (const std::string& attempt : *attempts) {
      // `all` usually attempts the same as `supported`.
      if (attempts == &*all && std::ranges::find(*supported, attempt) != supported->end()) continue;
      tried += (tried.empty() ? "" : ", ") + attempt;
    }
  }
  if (tried.empty()) return fine("it attempted nothing that the sandbox denies");
  return warning("it attempted what the sandbox denies: " + tried,
                 "do not use the network, write files or run programs: read what the kernel "
                 "reports under /sys and /proc, or use the driver's library");
}

struct NamedCheck {
  std::string_view name;
  Judgement (*check)(const PluginTrial& trial);
};

constexpr NamedCheck rows[] = {
    {"answers", check_answers},       {"interface", check_interface},
    {"protocol", check_protocol},     {"namespace", check_namespace},
    {"properties", check_properties}, {"declared", check_declared},
    {"stable", check_stable},         {"nothing there", check_bare_machine},
    {"manners", check_manners},       {"time", check_time},
    {"memory", check_memory},         {"silence", check_silence},
    {"threads", check_threads},
};

}  // namespace

std::vector<CheckResult> judge(const PluginTrial& trial) {
  std::vector<CheckResult> results;
  for (const NamedCheck& row : rows) {
    Judgement finding = row.check(trial);
    if (!finding) continue;
    finding->name = row.name;
    results.push_back(std::move(*finding));
  }
  return results;
}

}  // namespace axle::plugins
