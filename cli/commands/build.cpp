// build: builds wheels.
#include "builder/build.h"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/byte_size.h"
#include "session/session.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::string render(const std::vector<builder::BuiltWheel>& wheels) {
  std::string text;
  for (const builder::BuiltWheel& built : wheels) {
    text += fmt::format("{}  {}\n", std::filesystem::path(built.file).filename().string(),
                        text::render_bytes(built.size));
  }
  return text;
}

ordered_json wheels_json(const std::vector<builder::BuiltWheel>& wheels) {
  ordered_json rows = ordered_json::array();
  for (const builder::BuiltWheel& built : wheels) {
    rows.push_back(
        {{"file", built.file},
         {"label", built.label.empty() ? ordered_json(nullptr) : ordered_json(built.label)},
         {"sha256", built.sha256},
         {"size", built.size}});
  }
  return rows;
}

}  // namespace

int run_build(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto epoch = session::source_date_epoch();
  if (!epoch) return output.failure(epoch.error());
  builder::BuildOptions options;
  options.project_folder = arguments.positionals.front();
  options.out_folder = arguments.value(session::Opt::out);
  options.labels = arguments.values(session::Opt::build_variant);
  options.source_date_epoch = epoch->value_or(0);
  auto wheels = builder::build_project(options, output);
  if (!wheels) return output.failure(session::failed(wheels.error()).error());
  output.change_was_made();
  return output.answer(
      {.text = [&] { return render(*wheels); },
       .json = [&]() -> ordered_json { return {{"wheels", wheels_json(*wheels)}}; }});
}

}  // namespace axle::cli
