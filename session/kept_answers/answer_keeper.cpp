#include "session/kept_answers/answer_keeper.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "foundation/system/boot.h"
#include "foundation/system/whole_file.h"
#include "installer/environment/interpreter_cache.h"
#include "installer/file_access.h"
#include "installer/path_states.h"
#include "installer/sealed_fields.h"
#include "resolver/predicate/machine_facts.h"
#include "session/input_file.h"
#include "session/variables.h"
#include "session/version.h"
#include "wheel/hash/sha256.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;
using installer::append_field;
using installer::next_field;

/// The hash of all that is not on disk, but for the machine: variables may be secret.
std::string key_of(const Session& session, std::string_view what, const std::string& here,
                   const std::vector<std::string>& words) {
  std::string text;
  utsname kernel = {};
  ::uname(&kernel);
  for (const std::string_view fact :
       {std::string_view(version), std::string_view(here), std::string_view(kernel.release),
        std::string_view(kernel.version), what, session.pip_section()})
    append_field(text, fact);
  append_field(text, system::boot_id());
  installer::append_number(text, ::geteuid());
  installer::append_number(text, ::getegid());
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) groups.clear();
  for (const gid_t group : groups) installer::append_number(text, group);
  installer::append_number(text, words.size());
  for (const std::string& word : words) append_field(text, word);
  for (const auto& [id, values] : session.arguments().all()) {
    installer::append_number(text, static_cast<unsigned>(id));
    installer::append_number(text, values.size());
    for (const std::string& value : values) append_field(text, value);
  }
  for (const auto& [name, value] : variables_with_prefix("")) {
    append_field(text, name);
    append_field(text, value);
  }
  return wheel::render_hex(wheel::sha256(text));
}

/// Such a script may start another interpreter the next time.
bool is_started_by_script(const installer::Environment& environment) {
  const std::string in_folder = environment.prefix + "/bin/python3";
  std::error_code error;
  return !installer::is_binary_program(environment.python) ||
         (fs::exists(in_folder, error) && !installer::is_binary_program(in_folder));
}

/// Files of distributions are often links to those of the store: what another environment does
/// with them changes their state, and is no change here.
bool may_be_linked(std::string_view path) {
  const std::string_view folder = path.substr(0, std::min(path.rfind('/'), path.size()));
  return folder.ends_with(".dist-info") || folder.ends_with(".egg-info");
}

/// Paths as fields; nullopt: one of them cannot be looked at.
std::optional<installer::PathStates> states_of(std::string_view paths) {
  installer::PathStates states;
  while (const auto path = next_field(paths)) {
    const std::string place(*path);
    if (!(may_be_linked(place) ? states.add_linked(place) : states.add(place))) return std::nullopt;
  }
  return states;
}

}  // namespace

AnswerKeeper::AnswerKeeper(Session& session, const AnswerKind& kind,
                           const std::vector<std::string>& words)
    : session_(session), on_machine_(kind.on_machine), began_(installer::nanoseconds_now()) {
  const bool is_plain = std::ranges::all_of(session.arguments().all(), [&](const auto& given) {
    return std::ranges::find(kind.plain, given.first) != kind.plain.end();
  });
  std::error_code error;
  const std::string here = fs::current_path(error).string();
  if (!is_plain || error) return;
  const std::string cache = session.cache_folder();
  if (cache.empty()) return;
  key_ = key_of(session, kind.name, here, words);
  file_ = fmt::format("{}/answers/{}", cache,
                      wheel::render_hex(wheel::sha256(fmt::format("{}\n{}", kind.name, here))));
}

std::optional<KeptAnswer> AnswerKeeper::find() {
  constexpr std::uint64_t longest = 64U << 20;
  const auto text =
      file_.empty() ? fail(ErrorKind::not_found, file_) : installer::read_file(file_, longest);
  if (!text) return std::nullopt;
  auto record = parse_answer_record(*text, file_);
  if (!record || record->key != key_) return std::nullopt;
  auto now = states_of(record->paths);
  if (!now) return std::nullopt;
  const bool is_same = now->text == record->states;
  before_ = {std::move(record->paths), std::move(now->text)};
  if (!record->seen_twice || !is_same || facts() != record->facts) return std::nullopt;
  return std::move(record->answer);
}

const Outcome<machines::NamedMachine>& AnswerKeeper::machine() {
  if (!machine_) machine_ = session_.machine();
  return *machine_;
}

std::optional<std::string> AnswerKeeper::facts() {
  if (!on_machine_) return std::string();
  const auto gpus = session_.gpu_policy();
  if (!gpus || !machine()) return std::nullopt;
  std::string text;
  for (const auto& [fact, value] : resolver::facts_of(machine()->machine, *gpus))
    text += fmt::format("{}={}\n", fact, value);
  return text;
}

void AnswerKeeper::keep(const KeptAnswer& answer, std::set<std::string> paths,
                        const installer::Environment& environment,
                        const std::vector<installer::InstalledDistribution>& installed) {
  if (file_.empty() || is_started_by_script(environment)) return;
  const auto its_facts = facts();
  const auto of_environment = installer::installed_paths(environment, installed);
  if (!its_facts || !of_environment) return;
  paths.merge(looked_at());
  paths.insert(of_environment->begin(), of_environment->end());
  AnswerRecord record;
  record.key = key_;
  record.facts = *its_facts;
  record.answer = answer;
  for (const std::string& path : paths) append_field(record.paths, path);
  auto states = states_of(record.paths);
  if (!states || !states->settled_at(began_)) return;
  record.states = std::move(states->text);
  record.seen_twice = before_.paths == record.paths && before_.states == record.states;
  std::error_code error;
  fs::create_directories(fs::path(file_).parent_path(), error);
  // Without it the next one looks at everything again.
  (void)system::write_whole_file(file_, render_answer_record(record), {.flush = system::Flush::no});
}

}  // namespace axle::session
