// export: a class of a lock, for the tools that people keep.
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/projects/locked_project.h"
#include "foundation/text/nearest.h"
#include "session/output_file.h"
#include "session/projects/exports/class_export.h"
#include "session/projects/lock_file.h"
#include "session/session.h"

namespace axle::cli {
namespace {

using nlohmann::ordered_json;
using session::ExportFormat;
using session::Opt;

struct Exported {
  std::string class_name;
  std::string text;
  std::string file;  ///< that it is written to; empty: none
};

session::Outcome<const ExportFormat*> read_format(const session::Arguments& arguments) {
  std::vector<std::string> names;
  for (const ExportFormat& one : session::export_formats()) names.emplace_back(one.name);
  const std::string name = arguments.value(Opt::export_format);
  const ExportFormat* const format = session::find_export_format(name);
  if (format != nullptr) return format;
  const std::string all = fmt::format("the formats are {}", text::joined_by_or(names));
  if (name.empty()) return session::misused("name a format with --format", all);
  return session::misused(fmt::format("there is no format {}", name),
                          text::suggest(name, names, all));
}

/// The classes that are exported: one, or with --out all.
session::Outcome<std::vector<std::string>> read_classes(const session::Arguments& arguments,
                                                        const plan::Lock& lock) {
  std::vector<std::string> names = arguments.values(Opt::machine_class);
  const bool named = !names.empty();
  if (!named)
    for (const plan::LockedClass& one : lock.classes) names.push_back(one.name);
  if (arguments.has(Opt::out) || names.size() == 1) return names;
  return session::misused(
      fmt::format("{} {} classes, {}, and a file is of one", named ? "these are" : "the lock has",
                  names.size(), fmt::join(names, ", ")),
      "name one with --class, or a folder for all of them with --out");
}

session::Outcome<std::vector<Exported>> export_classes(const session::LockFile& file,
                                                       const ExportFormat& format,
                                                       const std::vector<std::string>& names,
                                                       session::Session& session) {
  const auto wanted =
      session::read_selection(session.arguments(), file.lock, file.default_groups());
  if (!wanted) return std::unexpected(wanted.error());
  std::vector<Exported> exported;
  for (const std::string& name : names) {
    auto one = session::open_class(file.lock, name);
    if (!one) return std::unexpected(std::move(one).error());
    auto packages = plan::locked_closure(file.lock, name, *wanted, session::class_markers(*one));
    if (!packages) return session::failed(std::move(packages).error());
    auto text = format.render(
        {one->about, std::move(one->holds), std::move(*packages), file.folder}, session.report());
    if (!text) return session::failed_to_choose(std::move(text).error());
    exported.push_back({name, std::move(*text), {}});
  }
  return exported;
}

/// Nothing is written unless every class can be.
session::Outcome<void> write_files(std::vector<Exported>& exported, const ExportFormat& format,
                                   const session::Arguments& arguments) {
  const std::string file = arguments.value(Opt::output_file);
  const std::string folder = arguments.value(Opt::out);
  if (folder.empty()) {
    if (file.empty() || file == "-") return {};
    exported.front().file = file;
    return session::write_output(file, exported.front().text, format.name);
  }
  if (!file.empty()) return session::misused("--out and --output-file are two places", "give one");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return session::failed(
        {ErrorKind::io, fmt::format("cannot create {}: {}", folder, error.message())});
  for (Exported& one : exported) {
    one.file = (std::filesystem::path(folder) / format.file_name(one.class_name)).string();
    if (auto written = session::write_output(one.file, one.text, format.name); !written)
      return written;
  }
  return {};
}

}  // namespace

int run_export(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto format = read_format(arguments);
  if (!format) return output.failure(format.error());
  const auto file = read_lock_file(arguments, output);
  if (!file) return output.failure(file.error());
  const auto names = read_classes(arguments, file->lock);
  if (!names) return output.failure(names.error());
  auto exported = export_classes(*file, **format, *names, session);
  if (!exported) return output.failure(exported.error());
  if (const auto written = write_files(*exported, **format, arguments); !written)
    return output.failure(written.error());
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const Exported& one : *exported)
                                text += one.file.empty() ? one.text : one.file + "\n";
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json files = ordered_json::array();
                          for (const Exported& one : *exported) {
                            ordered_json row = {{"class", one.class_name}};
                            row[one.file.empty() ? "text" : "file"] =
                                one.file.empty() ? one.text : one.file;
                            files.push_back(std::move(row));
                          }
                          return {{"format", (*format)->name}, {"exports", std::move(files)}};
                        }});
}

}  // namespace axle::cli
