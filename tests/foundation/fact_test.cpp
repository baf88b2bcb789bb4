// Facts of decisions: every code is documented and has its sentence. AXLE_UPDATE_GOLDEN=1 rewrites
// the table of docs/facts.md.

#include "foundation/report/fact.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace axle {
namespace {

constexpr const char* page = AXLE_SOURCE_DIR "/docs/facts.md";

/// With every field filled in.
Fact full_fact(FactCode code) { return {code, "SUBJECT", {"NEEDED"}, {"SEEN"}, "SOURCE"}; }

std::string documented_sentence(const FactRow& row) {
  std::string text(row.sentence);
  for (const auto& [field, shown] : {std::pair("{few}", "{needed}"), {"{beside}", ""}}) {
    if (const std::size_t at = text.find(field); at != std::string::npos)
      text.replace(at, std::string_view(field).size(), shown);
  }
  return row.circumstance ? "(" + text + ")" : text;
}

std::string codes_table() {
  std::string text = "| code | sentence |\n|---|---|\n";
  for (const FactRow& row : fact_rows())
    text += "| `" + std::string(row.word) + "` | " + documented_sentence(row) + " |\n";
  return text;
}

}  // namespace

TEST_CASE("the table of docs/facts.md is that of the program") {
  std::ifstream file(page, std::ios::binary);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  const std::string begin = "<!-- CODES -->\n";
  const std::size_t from = committed.find(begin);
  const std::size_t to = committed.find("<!-- END -->", from);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string written =
      committed.substr(0, from + begin.size()) + "\n" + codes_table() + "\n" + committed.substr(to);
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(page, std::ios::binary) << written;
  else
    CHECK_MESSAGE(committed == written,
                  "run AXLE_UPDATE_GOLDEN=1 build/release/bin/report_test and read the difference");
}

TEST_CASE("every code has a word of its own and a sentence without empty places") {
  std::set<std::string_view> words;
  for (const FactRow& row : fact_rows()) {
    INFO(row.word);
    CHECK(words.insert(row.word).second);
    CHECK(row.word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(render_code(row.code) == row.word);
    for (Fact fact :
         {full_fact(row.code), Fact{row.code, "SUBJECT", {"A", "B"}, {"C", "D"}, "S"}}) {
      const std::string sentence = render_fact(fact);
      CHECK_FALSE(sentence.empty());
      CHECK(sentence.find_first_of("{}[]\n") == std::string::npos);
    }
  }
}

TEST_CASE("lists are said as people say them") {
  Fact lacks{FactCode::cpu_lacks, "CPU", {"avx"}};
  CHECK(render_fact(lacks) == "the CPU lacks avx");
  lacks.needed = {"avx", "avx2", "fma", "f16c"};
  CHECK(render_fact(lacks) == "the CPU lacks avx, avx2, fma and f16c");
  lacks.needed.insert(lacks.needed.end(), {"bmi1", "bmi2"});
  CHECK(render_fact(lacks) == "the CPU lacks avx, avx2, fma, f16c and 2 more");
  const Fact withheld{FactCode::cpu_withheld, "CPU", {"avx"}};
  CHECK(render_fact(withheld) == "the CPU has avx, but the kernel withholds it");
  const Fact both{FactCode::cpu_withheld, "CPU", {"avx", "fma"}};
  CHECK(render_fact(both) == "the CPU has avx and fma, but the kernel withholds them");
  const Fact code{FactCode::gpu_capability,
                  "GPU",
                  {"compiled code for 7.5", "compiled code for 8.0", "PTX for 9.0"},
                  {"6.1", ""}};
  CHECK(render_fact(code) ==
        "the GPUs have compute capability 6.1 and an unknown one, and the build has compiled "
        "code for 7.5, 8.0 and PTX for 9.0");
}

TEST_CASE("circumstances stand in parentheses, what nobody says is left out") {
  const Fact level{FactCode::part_of, "level v4"};
  CHECK(render_facts(Facts{{FactCode::cpu_lacks, "CPU", {"avx512f"}}, level}) ==
        "the CPU lacks avx512f (level v4)");
  const Fact target{FactCode::gpu_target, "GPU", {"gfx942"}, {"gfx90a"}};
  CHECK(render_facts(Facts{target,
                           {FactCode::every_gpu, "MI210", {}, {}, "--gpu-policy"},
                           {FactCode::integrated_left_out}}) ==
        "the GPU is gfx90a (MI210; every GPU must run it unless --gpu-policy says otherwise; the "
        "integrated GPU next to it does not count), and the build has code for gfx942");
  CHECK(render_facts(Facts{target, {FactCode::every_gpu}}) ==
        "the GPU is gfx90a (every GPU must run it), and the build has code for gfx942");
  CHECK(render_facts(Facts{}).empty());
}

TEST_CASE("facts about one thing become one, what is needed of it a list") {
  const auto target = [](const char* needed) {
    return Fact{FactCode::gpu_target, "GPU", {needed}, {"gfx90a"}};
  };
  const Fact every{FactCode::every_gpu};
  const Facts merged =
      merge_facts(std::vector<Facts>{{target("gfx942"), every}, {target("gfx950"), every}});
  CHECK(merged == Facts{{FactCode::gpu_target, "GPU", {"gfx942", "gfx950"}, {"gfx90a"}}, every});
  const Facts unlike = merge_facts(std::vector<Facts>{{{FactCode::no_gpu, "NVIDIA GPU"}},
                                                      {{FactCode::no_gpu, "AMD GPU"}},
                                                      {{FactCode::no_gpu, "AMD GPU"}}});
  CHECK(render_facts(unlike) == "no NVIDIA GPU and no AMD GPU");
  CHECK(merge_facts({}).empty());
}

}  // namespace axle
