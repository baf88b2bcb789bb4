// build and index build: making wheels and publishing them.
#include "builder/build.h"

#include <charconv>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/decision_view.h"
#include "cli/session.h"
#include "cli/variables.h"
#include "index/static_index.h"
#include "index/transport.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// 0 when unset. SOURCE_DATE_EPOCH is decimal seconds (reproducible-builds.org).
Outcome<std::uint64_t> source_date_epoch() {
  const std::string text = variable("SOURCE_DATE_EPOCH");
  std::uint64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (!text.empty() && (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())) {
    return misused(fmt::format("SOURCE_DATE_EPOCH is `{}`, not a number of seconds", text));
  }
  return seconds;
}

/// Shows the remarks and keeps the warnings for the answer.
class Problems final : public Report {
 public:
  explicit Problems(Report& shown) : shown_(shown) {}
  void add(Remark remark) override {
    if (remark.severity == Severity::warning) rows.push_back(remark.message);
    shown_.add(std::move(remark));
  }
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override {
    shown_.progress(what, done, total);
  }

  ordered_json rows = ordered_json::array();

 private:
  Report& shown_;
};

std::string size_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
}

}  // namespace

int run_build(Session& session) {
  Output& output = session.output();
  const Arguments& arguments = session.arguments();
  auto epoch = source_date_epoch();
  if (!epoch) return output.failure(epoch.error());
  builder::BuildOptions options;
  options.project_folder = arguments.positionals.front();
  options.out_folder = arguments.value(Opt::out);
  options.labels = arguments.values(Opt::build_variant);
  options.source_date_epoch = *epoch;
  auto wheels = builder::build_project(options, output);
  if (!wheels) return output.failure(failed(wheels.error()).error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const builder::BuiltWheel& built : *wheels) {
    text += fmt::format("{}  {}\n", std::filesystem::path(built.file).filename().string(),
                        size_text(built.size));
    rows.push_back(
        {{"file", built.file},
         {"label", built.label.empty() ? ordered_json(nullptr) : ordered_json(built.label)},
         {"sha256", built.sha256},
         {"size", built.size}});
  }
  return output.answer(text, {{"wheels", rows}});
}

int run_index_build(Session& session) {
  Output& output = session.output();
  const std::string& wheels = session.arguments().positionals.front();
  std::string out = session.arguments().value(Opt::out);
  if (out.empty()) out = wheels + "/index";
  Problems problems(output);
  auto built = index::build_static_index(wheels, out, problems);
  if (!built) return output.failure(failed(built.error()).error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const index::IndexedProject& project : built->projects) {
    text += fmt::format(
        "{}: {} file{}{}\n", project.name, project.files.size(),
        project.files.size() == 1 ? "" : "s",
        project.labels.empty() ? "" : fmt::format(", {} variants", project.labels.size()));
    rows.push_back({{"name", project.name}, {"files", project.files}, {"labels", project.labels}});
  }
  const std::string url = index::file_url(
      std::filesystem::absolute(built->folder).lexically_normal().string() + "/simple");
  text += fmt::format("install from it: variant install --index-url {} ...\n", url);
  return output.answer(text, {{"folder", built->folder},
                              {"index_url", url},
                              {"projects", rows},
                              {"problems", problems.rows}});
}

}  // namespace axle::cli
