// model quantize: a model into a folder whose linear layers are quantised; and what that loses,
// which model info shows too.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "cli/views/quantization_loss.h"
#include "runtime/files/model_file.h"
#include "runtime/model/quantization/calibration.h"
#include "runtime/model/quantization/quantize.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

session::Outcome<runtime::QuantizationScheme> scheme_options(const session::Arguments& arguments) {
  if (!arguments.has(Opt::mode))
    return session::misused(
        "--mode is missing: a16w8, da8w8, a16w4, da8w4 or fp8; the folder is for that one alone");
  const auto mode = mode_option(arguments);
  if (!mode) return std::unexpected(mode.error());
  const auto group = count_option(arguments, Opt::scale_group, 0, 32, 128);
  if (!group) return std::unexpected(group.error());
  const auto scheme = runtime::choose_scheme(**mode, arguments.value(Opt::method),
                                             static_cast<std::size_t>(*group));
  if (!scheme) return session::misused(scheme.error().message);
  const bool is_awq = scheme->method() == runtime::ScaleMethod::awq;
  if (is_awq && !arguments.has(Opt::calibration))
    return session::misused(
        "--calibration is missing: method awq needs a text like those that the model will see");
  if (!is_awq && arguments.has(Opt::calibration))
    return session::misused("--calibration is for --method awq; the others use no text");
  return *scheme;
}

runtime::Result<std::vector<std::int32_t>> calibration_tokens(const session::Arguments& arguments,
                                                              const runtime::Model& model) {
  if (!arguments.has(Opt::calibration)) return std::vector<std::int32_t>();
  const std::string path = arguments.value(Opt::calibration);
  const auto file = runtime::ModelFile::open(path);
  if (!file) return std::unexpected(file.error());
  // More would not be read: a token has a byte at least, most have several.
  constexpr std::uint64_t most_bytes = runtime::Calibration::most_tokens * 64;
  std::string text(static_cast<std::size_t>(std::min(file->size(), most_bytes)), '\0');
  const auto read = file->read(0, std::as_writable_bytes(std::span(text)));
  if (!read) return std::unexpected(read.error());
  const runtime::Tokenizer::Piece whole{text, false};
  return model.tokenizer().encode({&whole, 1}, true);
}

}  // namespace

int run_model_quantize(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  const std::string folder = arguments.value(Opt::quantized_folder);
  if (folder.empty())
    return output.failure(
        session::misused("--output is missing: the folder that the model is written to").error());
  const auto scheme = scheme_options(arguments);
  if (!scheme) return output.failure(scheme.error());
  const auto engine = open_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = runtime::Model::open(path);
  if (!model) return output.failure(model_failure(model.error()));
  const auto tokens = calibration_tokens(arguments, *model);
  if (!tokens) return output.failure(model_failure(tokens.error()));
  const auto report =
      runtime::quantise_model(**engine, *model, path, folder,
                              {.scheme = *scheme,
                               .calibration = *tokens,
                               .on_calibration = show_progress(output, "calibrating " + path),
                               .on_weights = show_progress(output, "quantizing " + path)});
  if (!report) return output.failure(model_failure(report.error()));
  output.change_was_made();
  return output.answer(
      {.text = [&] { return fmt::format("wrote {}\n{}", folder, loss_text(*report)); },
       .json = [&]() -> ordered_json {
         ordered_json result{{"folder", folder}};
         result["quantization"] = loss_json(*report);
         return result;
       }});
}

}  // namespace axle::cli
