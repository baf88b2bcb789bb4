#include "machines/evidence.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "detect/drivers/driver_lines.h"
#include "detect/gpu_vendors.h"

namespace axle::machines {

using detect::Question;
using QuestionKind = Question::Kind;

namespace {

constexpr std::size_t longest_answer = 160;

struct Subject {
  std::string_view ns;
  std::vector<std::string_view> topics;  ///< Host::turn_to's
  std::uint32_t pci_vendor;              ///< 0: no device is relevant
};

/// What detection asks for each namespace. One that is not here, and is not the word of a GPU
/// vendor, has no evidence.
const Subject subjects[] = {
    {"ascend", {"npu"}, 0x19E5},
    {"tpu", {"npu"}, 0x1AE0},
    {"x86_64", {"cpu"}, 0},
    {"aarch64", {"cpu"}, 0},
};

std::optional<Subject> find_subject(std::string_view ns) {
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (vendor.word == ns) return Subject{ns, {vendor.word}, vendor.pci_id};
  }
  if (ns == "axle") {
    Subject axle{ns, {"cpu"}, 0};
    for (const detect::GpuVendorRow& vendor : detect::gpu_vendors())
      axle.topics.push_back(vendor.word);
    return axle;
  }
  const auto* found = std::ranges::find(subjects, ns, &Subject::ns);
  return found == std::end(subjects) ? std::nullopt : std::optional(*found);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

/// One line of it, without terminal control characters.
std::string shorten(std::string_view text) {
  std::string line;
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const char c : text.substr(0, longest_answer)) line += c == '\n' || c == '\t' ? ' ' : c;
  std::string shown;
  for (std::size_t at = 0; at < line.size(); at += 100) {
    shown += detect::sanitise(std::string_view(line).substr(at, 100));
  }
  return text.size() > longest_answer ? shown + " …" : shown;
}

/// The loader's cache is a table of names; the bytes between them are not relevant.
std::string render_loader_cache(std::string_view cache) {
  std::vector<std::string> names;
  while (!cache.empty()) {
    const std::size_t end = std::min(cache.find('\0'), cache.size());
    std::string name(last_part(cache.substr(0, end)));
    cache.remove_prefix(std::min(end + 1, cache.size()));
    const bool library = name.find(".so") != std::string::npos;
    if (library && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "no driver library" : shorten("of drivers: " + text);
}

/// nullopt: it does not exist.
std::optional<std::string> render_answer(const Question& question) {
  if (!question.answer) {
    if (question.kind == QuestionKind::variable) return "not set";
    return std::nullopt;
  }
  if (question.kind == QuestionKind::file && last_part(question.subject) == "ld.so.cache") {
    return render_loader_cache(*question.answer);
  }
  return shorten(*question.answer);
}

std::string render_question(const Question& question) {
  const std::string& subject = question.subject;
  switch (question.kind) {
    case QuestionKind::cpuid:
      return "CPUID " + subject;
    case QuestionKind::processor:
    case QuestionKind::system:
    case QuestionKind::auxiliary:
      return subject;
    case QuestionKind::program:
      return "run " + subject;
    case QuestionKind::file:
      return "read " + subject;
    case QuestionKind::folder:
      return "list " + subject;
    case QuestionKind::link:
      return "follow " + subject;
    case QuestionKind::stamp:
      return "date " + subject;
    case QuestionKind::access:
      return "look for " + subject;
    case QuestionKind::variable:
      return "environment variable " + subject;
    case QuestionKind::library:
      return "query the libraries of " + subject + " in a child process";
  }
  return subject;
}

/// A child's answer, one entry per line.
void add_lines(std::string_view text, std::vector<Observation>& evidence) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    const std::string word = detect::sanitise(line.substr(0, tab));
    if (word == "step") continue;
    evidence.push_back({"the child: " + word, tab == std::string_view::npos
                                                  ? std::string()
                                                  : shorten(line.substr(tab + 1))});
  }
}

/// How many of the first queries search for one file in several folders.
std::size_t count_search(std::span<const Question* const> questions) {
  std::size_t count = 0;
  for (const Question* question : questions) {
    const bool same = question->kind == QuestionKind::access &&
                      last_part(question->subject) == last_part(questions.front()->subject);
    if (!same) break;
    ++count;
    if (question->answer) break;
  }
  return count;
}

Observation render_search(std::span<const Question* const> search) {
  const Question& last = *search.back();
  const std::string file(last_part(last.subject));
  if (last.answer) {
    return {fmt::format("look for {} in {} folders", file, search.size()),
            fmt::format("{} ({})", last.subject, *last.answer)};
  }
  return {fmt::format("look for {} in {} folders, {} to {}", file, search.size(),
                      folder_of(search.front()->subject), folder_of(last.subject)),
          std::nullopt};
}

/// The devices of the namespace's vendor, and the total number of devices.
void add_bus(std::span<const Question> questions, std::uint32_t pci_vendor,
             std::vector<Observation>& evidence) {
  const std::string vendor = fmt::format("v{:08X}", pci_vendor);  // as a modalias has it
  std::size_t devices = 0;
  std::vector<std::string> own;
  std::vector<Observation> found;
  for (const Question& question : questions) {
    if (question.topic != "pci") continue;
    const std::string folder(folder_of(question.subject));
    if (last_part(question.subject) == "modalias" && question.answer) {
      ++devices;
      if (question.answer->find(vendor) == std::string::npos) continue;
      own.push_back(folder);
    } else if (std::ranges::find(own, folder) == own.end()) {
      continue;
    }
    found.push_back({render_question(question), render_answer(question)});
  }
  evidence.push_back({"list /sys/bus/pci/devices",
                      fmt::format("devices: {}, of this vendor: {}", devices, own.size())});
  std::ranges::move(found, std::back_inserter(evidence));
}

}  // namespace

std::vector<Observation> find_evidence(std::string_view ns, std::span<const Question> questions) {
  std::vector<Observation> evidence;
  const auto subject = find_subject(ns);
  if (!subject || questions.empty()) return evidence;
  if (subject->pci_vendor != 0) add_bus(questions, subject->pci_vendor, evidence);
  std::vector<const Question*> own;
  for (const Question& question : questions) {
    const bool bears = !question.topic.empty() && question.topic != "pci" &&
                       std::ranges::find(subject->topics, question.topic) != subject->topics.end();
    // Repeated queries had the same answer.
    const bool again = std::ranges::any_of(own, [&](const Question* earlier) {
      return earlier->kind == question.kind && earlier->subject == question.subject &&
             earlier->answer == question.answer;
    });
    if (bears && !again) own.push_back(&question);
  }
  for (std::size_t at = 0; at < own.size();) {
    const std::size_t search = count_search(std::span(own).subspan(at));
    if (search > 1) {
      evidence.push_back(render_search(std::span(own).subspan(at, search)));
      at += search;
      continue;
    }
    const Question& question = *own[at++];
    if (question.kind == QuestionKind::library) {
      evidence.push_back({render_question(question), "what it said:"});
      add_lines(*question.answer, evidence);
      continue;
    }
    evidence.push_back({render_question(question), render_answer(question)});
  }
  return evidence;
}

}  // namespace axle::machines
