// providers check: conformance of a plugin.
#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "providers/plugins/conformance.h"
#include "session/plugins/plugin_location.h"
#include "session/plugins/provider_settings.h"
#include "session/plugins/trusted_plugins.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using plugins::CheckResult;
using plugins::Grade;

constexpr std::size_t most_runs = 100'000;

session::Outcome<std::size_t> runs_of(const session::Arguments& arguments) {
  std::size_t runs = plugins::ConformanceOptions{}.runs;
  if (!arguments.has(session::Opt::runs)) return runs;
  const std::string text = arguments.value(session::Opt::runs);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), runs);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || runs == 0 ||
      runs > most_runs) {
    return session::misused(
        fmt::format("--runs is `{}`, not a number from 1 to {}", text, most_runs));
  }
  return runs;
}

Style style_of(Grade grade) {
  switch (grade) {
    case Grade::ok:
      return Style::good;
    case Grade::warn:
      return Style::strong;
    case Grade::fail:
      return Style::bad;
  }
  return Style::faint;
}

std::string sentence(const CheckResult& check) {
  return check.hint.empty() ? check.message : fmt::format("{}: {}", check.message, check.hint);
}

std::string render(const std::vector<CheckResult>& checks, const Output& output) {
  std::string text;
  for (const CheckResult& check : checks) {
    const std::string grade(render_grade(check.grade));
    text += fmt::format("{}{} {:<14} {}\n", output.paint(style_of(check.grade), grade),
                        std::string(4 - grade.size(), ' '), check.name, sentence(check));
  }
  return text;
}

ordered_json checks_json(const std::vector<CheckResult>& checks) {
  ordered_json rows = ordered_json::array();
  for (const CheckResult& check : checks) {
    rows.push_back({{"name", check.name},
                    {"result", render_grade(check.grade)},
                    {"message", sentence(check)}});
  }
  return rows;
}

}  // namespace

int run_providers_check(session::Session& session, Output& output) {
  const auto runs = runs_of(session.arguments());
  if (!runs) return output.failure(runs.error());
  const auto settings = session::read_provider_settings();
  if (!settings) return output.failure(settings.error());
  auto devices = session::device_option(session.arguments());
  if (!devices) return output.failure(devices.error());
  auto located = session::locate_plugin(session, session.arguments().positionals.front());
  if (!located) return output.failure(located.error());

  located->plugin.devices = std::move(*devices);
  session::warn_of_lacks(output);
  plugins::ConformanceOptions options;
  options.runs = *runs;
  options.ask = session::ask_options(*settings);
  const plugins::PluginTrial trial = try_plugin(located->plugin, options, output);
  const std::vector<CheckResult> checks = judge(trial);
  const bool failing = std::ranges::any_of(
      checks, [](const CheckResult& check) { return check.grade == Grade::fail; });
  return output.answer({.text = [&] { return render(checks, output); },
                        .json = [&]() -> ordered_json {
                          return {{"plugin", located->plugin.place},
                                  {"namespace", located->plugin.ns},
                                  {"kind", render_kind(located->plugin.kind)},
                                  {"checks", checks_json(checks)}};
                        }},
                       failing ? session::exit_failed : 0);
}

}  // namespace axle::cli
