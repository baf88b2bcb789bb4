#include "detect/drivers/driver_cache.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/driver_fingerprint.h"
#include "detect/drivers/kept_answers.h"
#include "detect/drivers/private_file.h"
#include "detect/npu/ascend_facts.h"
#include "detect/npu/npus.h"

namespace axle::detect {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;
constexpr std::string_view file_prefix = "drivers-";
constexpr std::int64_t longest_life = 24 * 60 * 60;
constexpr std::int64_t tool_life = 10 * 60;

/// The answers for one fingerprint, in one file.
class AnswerFile {
 public:
  AnswerFile(const DriverCacheOptions& options, std::string fingerprint)
      : options_(options), fingerprint_(std::move(fingerprint)) {
    path_ = options.folder + '/' + std::string(file_prefix) + short_hash(fingerprint_);
    const auto text = read_private_file(path_, largest_file, options.now);
    if (!text) return;
    answers_ = parse_kept_answers(*text, fingerprint_).value_or(std::vector<KeptAnswer>());
  }

  /// The answer if it is younger than `lifetime(text)` seconds.
  template <typename Lifetime>
  [[nodiscard]] const KeptAnswer* find(std::string_view subject, const Lifetime& lifetime) const {
    const auto found = std::ranges::find(answers_, subject, &KeptAnswer::subject);
    if (found == answers_.end() || found->time > options_.now) return nullptr;
    return options_.now - found->time < lifetime(found->text) ? &*found : nullptr;
  }

  void put(std::string_view subject, std::string text) {
    std::erase_if(answers_, [&](const KeptAnswer& each) { return each.subject == subject; });
    answers_.push_back({std::string(subject), options_.now, std::move(text)});
    changed_ = true;
  }

  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] bool is_under(std::string_view fingerprint) const {
    return fingerprint == fingerprint_;
  }

  void save() const {
    if (write_private_file(path_, render_kept_answers(fingerprint_, answers_))) {
      remove_old_files(options_.folder, file_prefix, options_.now - longest_life);
    }
  }

 private:
  const DriverCacheOptions& options_;
  std::string fingerprint_;
  std::string path_;
  std::vector<KeptAnswer> answers_;
  bool changed_ = false;
};

bool is_npu_tool(std::string_view command) {
  return std::ranges::any_of(npu_smi_files, [&](std::string_view file) {
    return command.starts_with(file) && command.substr(file.size()).starts_with(' ');
  });
}

}  // namespace

DriverCache::DriverCache(Host& next, DriverCacheOptions options)
    : ForwardingHost(next), options_(std::move(options)) {}

std::vector<DriverAnswer> DriverCache::ask_drivers(std::span<const GpuVendor> vendors,
                                                   std::chrono::milliseconds time_limit) {
  if (options_.folder.empty() || !tells_boots(*this)) {
    return ForwardingHost::ask_drivers(vendors, time_limit);
  }
  AnswerFile kept(options_, fingerprint_drivers(*this, vendors, options_.program));
  std::vector<DriverAnswer> answers(vendors.size());
  std::vector<GpuVendor> unknown;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < vendors.size(); ++i) {
    const auto lifetime = [&](std::string_view text) { return lifetime_of(vendors[i], text); };
    if (const KeptAnswer* known = kept.find(render_vendor(vendors[i]), lifetime)) {
      answers[i] = {DriverAnswer::End::finished, 0, known->text};
    } else {
      unknown.push_back(vendors[i]);
      places.push_back(i);
    }
  }
  if (unknown.empty()) return answers;
  std::vector<DriverAnswer> fresh = ForwardingHost::ask_drivers(unknown, time_limit);
  for (std::size_t i = 0; i < places.size() && i < fresh.size(); ++i) {
    const bool keep =
        fresh[i].end == DriverAnswer::End::finished && lifetime_of(unknown[i], fresh[i].lines) > 0;
    if (keep) kept.put(render_vendor(unknown[i]), fresh[i].lines);
    answers[places[i]] = std::move(fresh[i]);
  }
  // If a driver was replaced in the meantime, either version may have answered.
  if (kept.changed() && kept.is_under(fingerprint_drivers(*this, vendors, options_.program))) {
    kept.save();
  }
  return answers;
}

ProgramAnswer DriverCache::run_program(const std::string& command,
                                       std::chrono::milliseconds time_limit) {
  if (options_.folder.empty() || !is_npu_tool(command) || !tells_boots(*this)) {
    return ForwardingHost::run_program(command, time_limit);
  }
  AnswerFile kept(options_, fingerprint_tool(*this, command, options_.program));
  const auto lifetime = [](std::string_view) { return tool_life; };
  if (const KeptAnswer* known = kept.find(command, lifetime)) return {known->text};
  ProgramAnswer answer = ForwardingHost::run_program(command, time_limit);
  if (answer.finished && !parse_npu_smi(answer.text).devices.empty()) {
    kept.put(command, answer.text);
    kept.save();
  }
  return answer;
}

}  // namespace axle::detect
