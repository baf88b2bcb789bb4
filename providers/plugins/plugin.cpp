#include "providers/plugins/plugin.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/newer_calls.h"
#include "foundation/text/byte_size.h"
#include "providers/plugins/answer.h"
#include "providers/plugins/grants.h"
#include "providers/plugins/loaded_libraries.h"
#include "providers/plugins/python_loader.h"
#include "providers/plugins/sandbox.h"
#include "providers/plugins/shared_object.h"

namespace axle::plugins {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

constexpr const char* tell_authors = "this is a fault of the plugin: report it to its authors";

std::vector<std::string> environment_of(const Plugin& plugin, const AskOptions& options) {
  std::vector<std::string> words = {fmt::format("PATH={}", program_folders), "LANG=C.UTF-8"};
  const std::vector<std::string_view> passed = passed_variables(plugin.ns);
  for (const auto& [name, value] : options.environment) {
    const bool sound =
        std::ranges::find(passed, name) != passed.end() && value.find('\0') == std::string::npos;
    if (sound) words.push_back(fmt::format("{}={}", name, value));
  }
  return words;
}

/// The loader is this program, in a process that sees none of its environment.
void grant_own_libraries(ConfinedTask& task) {
  const std::vector<std::string> libraries = loaded_libraries();
  task.grants.readable.insert(task.grants.readable.end(), libraries.begin(), libraries.end());
  if (const std::string path = library_path_of(libraries); !path.empty())
    task.environment.push_back("LD_LIBRARY_PATH=" + path);
}

ConfinedTask task_of(const PluginQuery& question, const AskOptions& options) {
  const Plugin& plugin = *question.plugin;
  const std::string query(render_query(question.query));
  ConfinedTask task;
  task.environment = environment_of(plugin, options);
  task.limits = options.limits;
  task.bare_machine = options.bare_machine;
  task.watched = options.watched;
  task.grants = granted_to(plugin.ns, options.environment);
  task.grants.readable.insert(task.grants.readable.end(), plugin.folders.begin(),
                              plugin.folders.end());
  const std::vector<std::string> nodes = device_nodes(plugin.devices);
  task.grants.devices.insert(task.grants.devices.end(), nodes.begin(), nodes.end());
  switch (plugin.kind) {
    case PluginKind::python:
      task.program = plugin.place;
      task.arguments = {"-I", "-B", "-c", python_loader(), query, plugin.ns, plugin.plugin_api};
      task.arguments.insert(task.arguments.end(), plugin.import_folders.begin(),
                            plugin.import_folders.end());
      task.grants.readable.insert(task.grants.readable.end(), plugin.import_folders.begin(),
                                  plugin.import_folders.end());
      break;
    case PluginKind::executable:
      task.program = plugin.place;
      task.arguments = {query};
      task.answer_on_stdout = true;
      break;
    case PluginKind::shared_object:
      task.program = options.loader;
      task.arguments = {shared_object_word, plugin.place, query};
      task.grants.readable.push_back(plugin.place);
      grant_own_libraries(task);
      // A sanitizer's shadow memory is larger than any limit.
      if (sanitized) task.limits.memory = std::numeric_limits<std::size_t>::max();
      break;
  }
  return task;
}

/// The empty line that loaders print first is not an answer.
bool has_answered(const TaskResult& result) {
  return result.end == TaskEnd::exited &&
         result.answer.find_first_not_of('\n') != std::string::npos;
}

/// For the program that loads shared objects, which prints at least an empty line: failures before
/// that are not the object's fault.
std::optional<PluginFailure> loader_failure(const TaskResult& result) {
  const bool ended = result.end == TaskEnd::exited || result.end == TaskEnd::crashed;
  if (!ended || !result.answer.empty()) return std::nullopt;
  std::string message = "the program that loads it did not start";
  const std::string printed = printable(result.printed.substr(0, result.printed.find('\n')), 400);
  if (!printed.empty()) message += ": " + printed;
  return PluginFailure{
      PluginFault::not_started, std::move(message),
      "that program is part of Axle: check that it and its libraries are installed completely"};
}

PluginFailure failure_of(const Plugin& plugin, const TaskResult& result,
                         const AskOptions& options) {
  if (plugin.kind == PluginKind::shared_object) {
    if (auto failure = loader_failure(result)) return std::move(*failure);
  }
  switch (result.end) {
    case TaskEnd::not_started:
      return {PluginFault::not_started, result.why, "check that it exists and is executable"};
    case TaskEnd::crashed: {
      const char* name = ::sigabbrev_np(result.code);
      return {PluginFault::crashed,
              name != nullptr ? fmt::format("it crashed (SIG{})", name)
                              : fmt::format("it crashed (signal {})", result.code),
              tell_authors};
    }
    case TaskEnd::timed_out:
      return {PluginFault::timed_out,
              fmt::format("it was stopped after {} s", options.limits.time.count() / 1000.0),
              "raise `time-limit` in providers.toml to give plugins more time"};
    case TaskEnd::flooded:
      return {PluginFault::flooded, "it was stopped because its output was too long", tell_authors};
    case TaskEnd::swarmed:
      return {PluginFault::swarmed,
              fmt::format(
                  "it was stopped: it had more than {} threads and processes, or used more than {}",
                  options.limits.tasks, text::render_memory(options.limits.memory)),
              "raise `memory-limit` in providers.toml to give plugins more memory"};
    case TaskEnd::exited:
      break;
  }
  return {PluginFault::exited, fmt::format("it exited with {} without an answer", result.code),
          tell_authors};
}

PluginAnswer conclude(const PluginQuery& question, TaskResult&& result, const AskOptions& options) {
  PluginAnswer answer;
  answer.duration = result.duration;
  answer.printed = printable(result.printed, options.limits.printed);
  answer.peak_memory = result.peak_memory;
  answer.attempts = std::move(result.attempts);
  if (!has_answered(result)) {
    answer.features = std::unexpected(failure_of(*question.plugin, result, options));
  } else if (result.code != 0) {
    answer.features = std::unexpected(
        PluginFailure{PluginFault::exited,
                      fmt::format("it answered, but exited with {}", result.code), tell_authors});
  } else {
    answer.features = parse_answer(result.answer, question.plugin->ns);
    answer.notes = parse_notes(result.answer);
  }
  return answer;
}

/// A feature in `supported` that is not in `all`; empty: there is none.
std::string undeclared_feature(const providers::Features& supported,
                               const providers::Features& all) {
  for (const providers::Feature& feature : supported) {
    if (std::ranges::find(all, feature.name, &providers::Feature::name) == all.end())
      return feature.name;
  }
  return {};
}

}  // namespace

std::vector<PluginAnswer> ask_plugins(std::span<const PluginQuery> questions,
                                      const AskOptions& options) {
  std::vector<ConfinedTask> tasks;
  tasks.reserve(questions.size());
  for (const PluginQuery& question : questions) tasks.push_back(task_of(question, options));
  std::vector<TaskResult> results = run_confined(tasks);
  std::vector<PluginAnswer> answers;
  answers.reserve(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i)
    answers.push_back(conclude(questions[i], std::move(results[i]), options));
  return answers;
}

PluginAnswer ask_plugin(const Plugin& plugin, Query query, const AskOptions& options) {
  const PluginQuery question{&plugin, query};
  return std::move(ask_plugins({&question, 1}, options).front());
}

std::expected<std::string, PluginFailure> ask_namespace(const Plugin& plugin,
                                                        const AskOptions& options) {
  // Shared objects always have `all`, which does not access hardware.
  const bool looks_at_none = plugin.kind == PluginKind::shared_object;
  const PluginQuery question{&plugin, looks_at_none ? Query::all : Query::supported};
  const ConfinedTask task = task_of(question, options);
  const TaskResult result = std::move(run_confined({&task, 1}).front());
  if (!has_answered(result)) return std::unexpected(failure_of(plugin, result, options));
  return parse_namespace(result.answer);
}

std::vector<PluginAnswer> supported_by(std::span<const Plugin> plugins, const AskOptions& options) {
  std::vector<PluginQuery> questions;
  for (const Plugin& plugin : plugins) {
    questions.push_back({&plugin, Query::supported});
    questions.push_back({&plugin, Query::all});
  }
  std::vector<PluginAnswer> both = ask_plugins(questions, options);
  std::vector<PluginAnswer> answers;
  for (std::size_t i = 0; i < both.size(); i += 2) {
    PluginAnswer& answer = both[i];
    const PluginAnswer& all = both[i + 1];
    if (answer.features && all.features) {
      const std::string feature = undeclared_feature(*answer.features, *all.features);
      if (!feature.empty()) {
        answer.features = std::unexpected(
            PluginFailure{PluginFault::undeclared,
                          fmt::format("it supports feature {}, which it does not declare", feature),
                          tell_authors});
      }
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::string_view render_kind(PluginKind kind) {
  switch (kind) {
    case PluginKind::python:
      return "python";
    case PluginKind::executable:
      return "executable";
    case PluginKind::shared_object:
      return "shared_object";
  }
  return "";
}

std::string_view render_query(Query query) {
  return query == Query::supported ? "supported" : "all";
}

std::string_view render_fault(PluginFault fault) {
  switch (fault) {
    case PluginFault::not_started:
      return "not_started";
    case PluginFault::no_object:
      return "no_object";
    case PluginFault::raised:
      return "raised";
    case PluginFault::crashed:
      return "crashed";
    case PluginFault::exited:
      return "exited";
    case PluginFault::timed_out:
      return "timed_out";
    case PluginFault::flooded:
      return "flooded";
    case PluginFault::swarmed:
      return "swarmed";
    case PluginFault::malformed:
      return "malformed";
    case PluginFault::wrong_namespace:
      return "wrong_namespace";
    case PluginFault::undeclared:
      return "undeclared";
  }
  return "";
}

}  // namespace axle::plugins
