// Whose files are whose: the same whether all lines of the RECORDs are read or those that count.
#include "installer/environment/ownership.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "installer/environment/roots.h"
#include "sandbox.h"

using namespace axle::installer;

namespace {

/// Distributions of an environment, each with a RECORD of its own.
class Records {
 public:
  Records() : environment(bare_environment(box / "venv")), roots(find_roots(environment).value()) {}

  InstalledDistribution& add(const std::string& name, const std::string& record) {
    InstalledDistribution& distribution = distributions.emplace_back();
    distribution.name = name;
    distribution.dist_info = roots.purelib + "/" + name + "-1.dist-info";
    std::filesystem::create_directories(distribution.dist_info);
    write_text(distribution.dist_info + "/RECORD", record);
    return distribution;
  }

  /// "path: owners" of each path that has any.
  [[nodiscard]] std::vector<std::string> owners(
      const std::unordered_set<std::string>& paths) const {
    const auto found = find_owners(paths, distributions, roots);
    REQUIRE(found);
    std::vector<std::string> lines;
    for (const auto& [path, all] : *found) {
      std::string line = path + ":";
      for (const Owner& owner : all) line += " " + owner.distribution->name;
      lines.push_back(line);
    }
    std::ranges::sort(lines);
    return lines;
  }

  /// The same by reading every line of every RECORD.
  [[nodiscard]] std::vector<std::string> owners_by_all_lines(
      const std::unordered_set<std::string>& paths) const {
    std::map<std::string, std::string> found;
    PathResolver resolver(roots);
    for (const InstalledDistribution& distribution : distributions) {
      const auto entries = read_record(distribution);
      if (!entries) continue;
      for (const axle::wheel::RecordEntry& entry : *entries) {
        const auto target = record_target(distribution, entry.path, resolver);
        REQUIRE(target);
        if (*target && paths.contains(**target)) found[**target] += " " + distribution.name;
      }
    }
    std::vector<std::string> lines;
    for (const auto& [path, names] : found) lines.push_back(path + ":" + names);
    std::ranges::sort(lines);
    return lines;
  }

  Sandbox box;
  Environment environment;
  Roots roots;
  std::vector<InstalledDistribution> distributions;
};

}  // namespace

TEST_CASE("however a RECORD writes a path, its owner is found") {
  Records records;
  const std::string module = records.roots.purelib + "/mod/a.py";
  const std::string script = records.roots.scripts + "/tool";
  records.add("plain", "mod/a.py,,\nother.py,,\n");
  records.add("dotted", "./mod/a.py,,\n");
  records.add("doubled", "mod//a.py,,\n");
  records.add("around", "other/../mod/a.py,,\n../../../bin/tool,,\n");
  records.add("absolute", module + ",,\n" + script + ",,\n");
  records.add("quoted", "\"mod/a.py\",,\n");
  records.add("windows", "first.py,,\r\nmod/a.py,,\r\n");
  records.add("macintosh", "first.py,,\rmod/a.py,,\r");
  records.add("last", "first.py,,\nmod/a.py,,");
  records.add("module", "mod,,\nmod.py,,\nmodule/a.py,,\na/mod/a.py,,\n");
  records.add("empty", "");
  CHECK(records.owners({module, script}) ==
        std::vector<std::string>{
            script + ": around absolute",
            module + ": plain dotted doubled around absolute quoted windows macintosh last"});
}

TEST_CASE("an owner may write a path through a link") {
  Records records;
  const std::string module = records.roots.purelib + "/mod/a.py";
  std::filesystem::create_directories(records.roots.purelib + "/mod");
  std::filesystem::create_symlink("mod", records.roots.purelib + "/link");
  records.add("plain", "mod/a.py,,\n");
  records.add("linked", "link/a.py,,\nmod/b.py,,\n");
  CHECK(records.owners({module}) == std::vector<std::string>{module + ": plain linked"});
}

TEST_CASE("an owner may write all of its paths through links, and never name their folder") {
  Records records;
  const std::string module = records.roots.purelib + "/mod/deep/a.py";
  std::filesystem::create_directories(records.roots.purelib + "/mod/deep");
  std::filesystem::create_directories(records.roots.purelib + "/own");
  std::filesystem::create_symlink("mod", records.roots.purelib + "/first");
  std::filesystem::create_symlink("../mod/deep", records.roots.purelib + "/own/second");
  std::filesystem::create_symlink("own", records.roots.purelib + "/third");
  records.add("first", "first/deep/a.py,,\n");
  records.add("second", "own/second/a.py/.,,\n");
  records.add("chain", "third/second/a.py,,\n");
  records.add("another", "own/a.py,,\nown/second/b.py,,\n");
  CHECK(records.owners({module}) == std::vector<std::string>{module + ": first second chain"});
}

TEST_CASE("a malformed line costs nobody a file") {
  Records records;
  const std::string module = records.roots.purelib + "/mod/a.py";
  records.add("before", "mod/a.py,,\nbad.py\n");
  records.add("after", "bad.py,md5=0,\nmod/a.py,,\n");
  records.add("itself", "mod/a.py,md5=0,\n");
  records.add("unclosed", "\"bad.py,,\nmod/a.py,,\n");
  records.add("bytes", "\xFF.py,,\nmod/a.py,,\n");
  records.add("another", "bad.py\nmod/b.py,,\n");
  CHECK(records.owners({module}) ==
        std::vector<std::string>{module + ": before after itself unclosed bytes"});
}

TEST_CASE("the lines that count are all that say anything of the paths") {
  std::mt19937 random(20261125);
  const auto one_of = [&](const std::vector<std::string>& all) {
    return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  };
  const std::vector<std::string> parts = {"a", "ab", "b", "a.py", "..", ".", "", "a,b", "bin"};
  const std::vector<std::string> ends = {"\n", "\n", "\n", "\n", "\r\n", "\r"};
  for (int round = 0; round < 300; ++round) {
    Records records;
    for (int i = 0; i < 4; ++i) {
      std::string record;
      const std::string end = one_of(ends);
      for (int line = 0; line < 8; ++line) {
        std::string path = one_of(parts);
        while (random() % 3 != 0) path += "/" + one_of(parts);
        if (path.empty()) path = "b.py";  // a line without a path makes its RECORD malformed
        if (path.contains(',') || random() % 16 == 0) path = "\"" + path + "\"";
        record += path + ",," + end;
      }
      records.add(fmt::format("p{}", i), record);
    }
    // Folders that exist, and links to them, are looked at; others are not.
    for (const char* folder : {"a", "ab", "b/a"}) {
      if (random() % 2 == 0)
        std::filesystem::create_directories(records.roots.purelib + "/" + folder);
    }
    for (const char* link : {"a/b", "b", "ab"}) {
      std::error_code taken;
      const std::string target = records.roots.purelib + "/" + one_of({"a", "ab", "a.py"});
      if (random() % 2 == 0)
        std::filesystem::create_symlink(target, records.roots.purelib + "/" + link, taken);
    }
    std::unordered_set<std::string> paths;
    for (int i = 0; i < 3; ++i) {
      std::string path = records.roots.purelib + "/" + one_of({"a", "ab", "b", "a.py", "a,b"});
      if (random() % 2 == 0) path += "/" + one_of({"a", "b", "a.py"});
      paths.insert(path);
    }
    std::string all;
    for (const InstalledDistribution& one : records.distributions)
      all += read_text(one.dist_info + "/RECORD") + "---\n";
    INFO(all);
    REQUIRE(fmt::format("{}", fmt::join(records.owners(paths), "\n")) ==
            fmt::format("{}", fmt::join(records.owners_by_all_lines(paths), "\n")));
  }
}
