#include "cli/kept_answer.h"

#include <nlohmann/json.hpp>

namespace axle::cli {

std::optional<session::KeptAnswer> find_kept(session::AnswerKeeper& keeper, const Output& output) {
  if (output.options().progress == Progress::events) return std::nullopt;
  return keeper.find();
}

bool may_be_kept(const Output& output) {
  return !output.has_remarked() && output.options().progress != Progress::events;
}

int give(const session::KeptAnswer& answer, Output& output) {
  if (!answer.note.empty()) output.note(answer.note);
  // With --json no answer is kept.
  return output.answer({.text = [&] { return answer.text; }, .json = {}});
}

}  // namespace axle::cli
