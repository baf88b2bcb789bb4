#include "cli/views/quantization_loss.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace axle::cli {

using nlohmann::ordered_json;

namespace {

std::string percent(double part) { return fmt::format("{:.3f} %", 100 * part); }

}  // namespace

std::string loss_text(const runtime::QuantizationReport& report) {
  const runtime::ModelMode& mode = report.scheme().mode();
  std::string text =
      fmt::format("{:<16} {}, method {}\n", "mode", mode.name, name_of(report.scheme().method()));
  if (mode.group != 0) text += fmt::format("{:<16} {} weights a scale\n", "group", mode.group);
  text += fmt::format("{:<16} {} of the weights' root mean square\n", "error",
                      percent(report.whole().relative()));
  for (const runtime::QuantizationLoss& kind : report.kinds())
    text += fmt::format("  {:<14} {}\n", kind.name, percent(kind.relative()));
  text += fmt::format("{:<16} {} in {}\n", "worst", percent(report.worst().relative()),
                      report.worst().name);
  for (const runtime::ConvertedTensor& one : report.converted)
    text += fmt::format("{:<16} {} as {}, rounded by {}\n", "kept", one.loss.name, one.type,
                        percent(one.loss.relative()));
  return text;
}

ordered_json loss_json(const runtime::QuantizationReport& report) {
  ordered_json kinds = ordered_json::object();
  for (const runtime::QuantizationLoss& kind : report.kinds()) kinds[kind.name] = kind.relative();
  ordered_json json{{"mode", report.scheme().mode().name},
                    {"method", name_of(report.scheme().method())}};
  if (report.scheme().mode().group != 0) json["group"] = report.scheme().mode().group;
  json["error"] = report.whole().relative();
  json["kinds"] = std::move(kinds);
  json["worst"] = {{"tensor", report.worst().name}, {"error", report.worst().relative()}};
  json["converted"] = ordered_json::array();
  for (const runtime::ConvertedTensor& one : report.converted)
    json["converted"].push_back(
        {{"tensor", one.loss.name}, {"type", one.type}, {"error", one.loss.relative()}});
  return json;
}

}  // namespace axle::cli
