#include "cli/repeated_options.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "cli/command.h"
#include "cli/parse.h"

using axle::cli::complete_command;
using axle::cli::complete_hint;
using axle::cli::parse_command_line;
using axle::session::RunOptions;

namespace {

RunOptions run_of(std::vector<std::string> words) {
  return {.command_line = parse_command_line(std::move(words)).arguments,
          .files = axle::session::Arguments()};
}

std::string completed(std::string_view command, std::vector<std::string> run) {
  return complete_command(command, run_of(std::move(run))).text;
}

}  // namespace

TEST_CASE("a proposed command repeats where the run looked") {
  const std::vector<std::string> run = {"install",
                                        "-U",
                                        "demo",
                                        "-i",
                                        "file:///my index",
                                        "--find-links",
                                        "a b",
                                        "--python",
                                        "p/env",
                                        "--for",
                                        "h100",
                                        "--cache-dir",
                                        "c",
                                        "--json",
                                        "--constraint",
                                        "c.txt",
                                        "--system",
                                        "--dry-run",
                                        "--index",
                                        "x=https://h/",
                                        "-f",
                                        "it's",
                                        "--trusted-host",
                                        "h:81",
                                        "--no-deps",
                                        "-q"};
  CHECK(completed("variant install --find-links wheels demo==1.0", run) ==
        "variant install --find-links wheels demo==1.0 --python p/env --for h100 --index-url "
        "'file:///my index' --index x=https://h/ --find-links 'a b' --find-links 'it'\\''s' "
        "--trusted-host h:81 --cache-dir c --constraint c.txt --no-deps");
  CHECK(completed("pip wheel --no-deps --wheel-dir wheels demo", run) ==
        "pip --python p/env wheel --no-deps --wheel-dir wheels demo --index-url 'file:///my index' "
        "--extra-index-url https://h/ --find-links 'a b' --find-links 'it'\\''s' --trusted-host "
        "h:81 --constraint c.txt");
  CHECK(completed("uv pip install --no-binary demo 'demo<2'", run) ==
        "uv pip install --no-binary demo 'demo<2' --python p/env --index-url 'file:///my index' "
        "--index x=https://h/ --find-links 'a b' --find-links 'it'\\''s' --allow-insecure-host "
        "h:81 --constraint c.txt --no-deps");
  CHECK(completed("uv pip compile pyproject.toml", {"install", "x", "--require-hashes", "--pre"}) ==
        "uv pip compile pyproject.toml --prerelease=allow");
  CHECK(completed("variant uninstall demo", run) ==
        "variant uninstall demo --python p/env --cache-dir c");
  CHECK(completed("variant list", run) == "variant list --python p/env");
  CHECK(completed("variant providers retry acme", run) ==
        "variant providers retry acme --cache-dir c");
}

TEST_CASE("what is not a command of ours, or asks for help, stays as it is") {
  const std::vector<std::string> run = {"install", "demo", "--python", "p", "-i", "u"};
  for (const char* command : {"variant install --help", "variant nonsense x",
                              "python3 -m venv .venv", "keyring get x y", "variant", "rm -r x"})
    CHECK(completed(command, run) == command);
}

TEST_CASE("what a command says itself is not said again") {
  CHECK(completed("variant install demo --python other", {"install", "x", "--system"}) ==
        "variant install demo --python other");
  CHECK(completed("variant properties --for h100", {"resolve", "x", "--for", "a100"}) ==
        "variant properties --for h100");
  CHECK(completed("variant detect --profile machine.json", {"detect", "--for", "broken.json"}) ==
        "variant detect --profile machine.json");
}

TEST_CASE("of several machines the one that is spoken of is repeated") {
  RunOptions run = run_of({"resolve", "x", "--for", "a100", "--for", "h100"});
  run.machine = "h100";
  CHECK(complete_command("variant install demo", run).text == "variant install demo --for h100");
}

TEST_CASE("what lists the values of an option does not get a wrong one") {
  CHECK(completed("variant detect", {"resolve", "x", "--gpu-policy", "device=7", "--for",
                                     "h100"}) == "variant detect --for h100");
  CHECK(completed("variant index families", {"resolve", "x", "--family", "flame=u"}) ==
        "variant index families");
}

TEST_CASE("for another interpreter nothing is installed into an environment") {
  const RunOptions run =
      run_of({"resolve", "demo", "--python-version", "3.12", "--platform", "any"});
  CHECK(complete_command("variant install demo", run).text ==
        "variant install demo --python-version 3.12 --platform any --dry-run");
  CHECK(complete_command("variant explain demo", run).text ==
        "variant explain demo --python-version 3.12 --platform any");
  CHECK(complete_command("pip wheel demo", run).text == "pip wheel demo");
  const RunOptions into = run_of({"install", "demo", "--abi", "none", "--target", "site"});
  CHECK(complete_command("variant install demo", into).text ==
        "variant install demo --abi none --target site");
}

TEST_CASE("requirements files are named where they serve, their options where not") {
  RunOptions run = run_of({"install", "-r", "needs.txt"});
  run.files.emplace().add(axle::session::Opt::index_url, "file:///i");
  run.files->add(axle::session::Opt::find_links, "w");
  CHECK(complete_command("variant install demo", run).text ==
        "variant install demo --requirement needs.txt");
  CHECK(complete_command("variant explain demo", run).text ==
        "variant explain demo --index-url file:///i --find-links w");
  CHECK(complete_command("variant install --reinstall --no-deps demo", run).text ==
        "variant install --reinstall --no-deps demo --index-url file:///i --find-links w");
  CHECK(complete_command("variant uninstall demo", run).text == "variant uninstall demo");
  CHECK(complete_command("pip wheel demo", run).text ==
        "pip wheel demo --index-url file:///i --find-links w");
  // The command line counts where only one value does.
  run.command_line.add(axle::session::Opt::index_url, "file:///mine");
  CHECK(complete_command("pip wheel demo", run).text ==
        "pip wheel demo --index-url file:///mine --find-links w");
  // One that could not be read stops the next run as well.
  run.files.reset();
  run.command_line.add(axle::session::Opt::constraint, "c.txt");
  CHECK(complete_command("variant install demo", run).text ==
        "variant install demo --index-url file:///mine");
  // What came through a pipe is gone.
  RunOptions piped = run_of({"install", "-r", "-", "-r", "/dev/fd/63"});
  piped.files.emplace().add(axle::session::Opt::index_url, "file:///i");
  CHECK(complete_command("variant install demo", piped).text ==
        "variant install demo --index-url file:///i");
}

TEST_CASE("pip gets a path for the interpreter, before its verb") {
  CHECK(completed("pip wheel demo", {"install", "x", "--python", "3.12"}) ==
        "pip --python \"$(command -v python3.12)\" wheel demo");
  CHECK(completed("pip wheel demo", {"install", "x", "--system"}) ==
        "pip --python \"$(command -v python3)\" wheel demo");
  CHECK(completed("pip wheel demo", {"install", "x", "--default-index", "corp=https://h/s"}) ==
        "pip wheel demo --index-url https://h/s");
}

TEST_CASE("values that look like options are joined to theirs") {
  CHECK(completed("variant install demo", {"install", "x", "--find-links=-odd"}) ==
        "variant install demo --find-links=-odd");
  CHECK(completed("variant install demo", {"install", "x", "--no-variants=x"}) ==
        "variant install demo --no-variants=x");
}

TEST_CASE("every command in a hint is completed, and nothing else") {
  const RunOptions run = run_of({"install", "demo", "--python", "a`b"});
  CHECK(
      complete_hint("use `variant list`, `schema = 1` or `variant show 'a`b'`; see --python",
                    run) ==
      "use `variant list --python 'a`b'`, `schema = 1` or `variant show 'a`b' --python 'a`b'`; see "
      "--python");
  CHECK(complete_hint("one ` tick", run) == "one ` tick");
  CHECK(complete_hint("", run).empty());
}

TEST_CASE("no login and no token is repeated, and that is said") {
  const RunOptions run =
      run_of({"install", "demo", "-i", "https://me:secret@h/simple", "-f",
              "https://h/links?token=secret", "--proxy", "http://u:secret@p:3128"});
  const std::string hint = complete_hint("`variant explain demo`", run);
  CHECK(hint ==
        "`variant explain demo --index-url https://h/simple --find-links "
        "'https://h/links?token=***' --proxy http://p:3128`; the login or token in a URL is not "
        "repeated: add it, or store it in a netrc file");
}

TEST_CASE("the options of a wrong command line are known as far as they were understood") {
  CHECK(completed("pip install -e ./x", {"install", "-e", "./x", "--python", "p/q"}) ==
        "pip --python p/q install -e ./x");
}

TEST_CASE("formats keep their order, and a date of pip's its meaning") {
  const std::vector<std::string> given = {
      "install",     "demo", "--only-binary",       ":all:",
      "--no-binary", "foo",  "--uploaded-prior-to", "2024-06-01"};
  const std::string ours = completed("variant explain demo", given);
  CHECK(ours.find("--only-binary :all: --no-binary foo") != std::string::npos);
  CHECK(ours.find("--uploaded-prior-to 2024-06-01") != std::string::npos);
  CHECK(completed("uv pip install demo", given).find("--exclude-newer 2024-06-01T00:00:00") !=
        std::string::npos);
  CHECK(completed("pip install demo", given).find("--uploaded-prior-to 2024-06-01") !=
        std::string::npos);
}

TEST_CASE("of every option somebody has decided whether it is repeated") {
  const std::set<axle::session::Opt> own = {
      // what is done, and how it is shown
      axle::session::Opt::json, axle::session::Opt::verbose, axle::session::Opt::quiet,
      axle::session::Opt::no_color, axle::session::Opt::progress, axle::session::Opt::no_progress,
      axle::session::Opt::refresh, axle::session::Opt::upgrade, axle::session::Opt::reinstall,
      axle::session::Opt::refit, axle::session::Opt::redo, axle::session::Opt::yes,
      axle::session::Opt::dry_run, axle::session::Opt::dest, axle::session::Opt::wheel_dir,
      axle::session::Opt::bundle_file, axle::session::Opt::signing_key, axle::session::Opt::prompt,
      axle::session::Opt::system_site_packages, axle::session::Opt::clear,
      axle::session::Opt::check_abi, axle::session::Opt::explain, axle::session::Opt::report,
      axle::session::Opt::profile, axle::session::Opt::properties, axle::session::Opt::why,
      // what single commands are asked
      axle::session::Opt::upgrade_package, axle::session::Opt::reinstall_package,
      axle::session::Opt::refresh_package, axle::session::Opt::without_effect,
      axle::session::Opt::without_effect_value, axle::session::Opt::ns,
      axle::session::Opt::static_lists, axle::session::Opt::out, axle::session::Opt::output_file,
      axle::session::Opt::build_variant, axle::session::Opt::architecture, axle::session::Opt::jobs,
      axle::session::Opt::label, axle::session::Opt::property, axle::session::Opt::namespace_order,
      axle::session::Opt::split, axle::session::Opt::keep_ptx, axle::session::Opt::files,
      axle::session::Opt::list_format, axle::session::Opt::exclude,
      axle::session::Opt::not_required, axle::session::Opt::editable_only,
      axle::session::Opt::exclude_editable, axle::session::Opt::all_packages,
      axle::session::Opt::batch, axle::session::Opt::threads, axle::session::Opt::export_table,
      axle::session::Opt::model_prompt, axle::session::Opt::raw, axle::session::Opt::text,
      axle::session::Opt::query, axle::session::Opt::text_file,
      axle::session::Opt::quantized_folder, axle::session::Opt::scale_group,
      axle::session::Opt::method, axle::session::Opt::calibration, axle::session::Opt::window,
      axle::session::Opt::mode, axle::session::Opt::kv_cache, axle::session::Opt::max_tokens,
      axle::session::Opt::temperature, axle::session::Opt::top_k, axle::session::Opt::top_p,
      axle::session::Opt::min_p, axle::session::Opt::seed, axle::session::Opt::language,
      axle::session::Opt::runs, axle::session::Opt::device, axle::session::Opt::for_package,
      axle::session::Opt::deep, axle::session::Opt::vulnerabilities, axle::session::Opt::fix,
      axle::session::Opt::records, axle::session::Opt::reason, axle::session::Opt::undo_yank,
      axle::session::Opt::host, axle::session::Opt::port, axle::session::Opt::repository_url,
      axle::session::Opt::username, axle::session::Opt::skip_existing, axle::session::Opt::ci_file,
      axle::session::Opt::ci_check, axle::session::Opt::project_name,
      axle::session::Opt::project_machine, axle::session::Opt::project_extra,
      axle::session::Opt::project_group, axle::session::Opt::dev, axle::session::Opt::edit_alone,
      axle::session::Opt::machine_class, axle::session::Opt::export_format,
      axle::session::Opt::invert, axle::session::Opt::depth, axle::session::Opt::frozen,
      axle::session::Opt::locked, axle::session::Opt::all_groups, axle::session::Opt::only_group,
      axle::session::Opt::no_default_groups, axle::session::Opt::no_group,
      axle::session::Opt::no_dev, axle::session::Opt::only_dev, axle::session::Opt::no_extra,
      axle::session::Opt::inexact, axle::session::Opt::no_install_project,
      axle::session::Opt::no_sync, axle::session::Opt::coverage, axle::session::Opt::minimize,
      axle::session::Opt::best, axle::session::Opt::budget};
  for (const axle::session::OptionRow& row : axle::session::option_rows()) {
    CHECK_MESSAGE(axle::cli::is_repeated(row.id) != own.contains(row.id), row.names,
                  ": either a row of cli/repeated_options.cpp, or here");
  }
}

TEST_CASE("every option of a command has its row") {
  for (const axle::cli::Command& command : axle::cli::commands()) {
    for (const axle::session::Opt id : command.options) {
      CHECK_MESSAGE(static_cast<std::size_t>(id) < axle::session::option_rows().size(),
                    command.name, " takes an option without a row in session/options.cpp");
    }
  }
}
