#include <algorithm>
#include <array>

#include "cli/ci_commands.h"
#include "cli/command.h"
#include "cli/model_commands.h"
#include "cli/project_commands.h"
#include "cli/project_file_commands.h"
#include "cli/publishing_commands.h"
#include "cli/self_commands.h"

namespace axle::cli {

namespace {

using session::Opt;

std::vector<Opt> operator+(std::vector<Opt> left, const std::vector<Opt>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<Opt> operator-(std::vector<Opt> left, const std::vector<Opt>& right) {
  std::erase_if(left, [&](Opt id) { return std::ranges::find(right, id) != right.end(); });
  return left;
}

const std::vector<Opt> environment = {Opt::python, Opt::system};

/// For what is installed already.
const std::vector<Opt> installed_only = {Opt::upgrade, Opt::upgrade_package, Opt::reinstall,
                                         Opt::reinstall_package};

/// Another interpreter or platform than those here.
const std::vector<Opt> target = {Opt::python_version, Opt::implementation, Opt::abi, Opt::platform,
                                 Opt::python_platform};

/// Packages that are in no environment, or in another place of one.
const std::vector<Opt> folders = {Opt::target, Opt::prefix, Opt::root, Opt::user, Opt::no_user};

/// What pip and uv have for all of these commands; for the last two there is nothing to change.
const std::vector<Opt> as_pip_and_uv = {Opt::progress, Opt::no_progress, Opt::without_effect,
                                        Opt::without_effect_value};

/// How wheels are fetched that the store no longer has.
const std::vector<Opt> reaching = {Opt::keyring_provider, Opt::trusted_host, Opt::cert,
                                   Opt::client_cert,      Opt::proxy,        Opt::no_proxy_env,
                                   Opt::timeout,          Opt::retries,      Opt::offline,
                                   Opt::no_cache,         Opt::config_file,  Opt::no_config};

/// Where packages come from, and how they are asked for.
const std::vector<Opt> sources = {Opt::index_url,       Opt::extra_index_url,
                                  Opt::find_links,      Opt::no_index,
                                  Opt::index,           Opt::default_index,
                                  Opt::index_strategy,  Opt::keyring_provider,
                                  Opt::trusted_host,    Opt::cert,
                                  Opt::client_cert,     Opt::proxy,
                                  Opt::no_proxy_env,    Opt::timeout,
                                  Opt::retries,         Opt::family,
                                  Opt::offline,         Opt::refresh,
                                  Opt::refresh_package, Opt::no_cache,
                                  Opt::cache_dir,       Opt::config_file,
                                  Opt::no_config};

/// What is wanted.
const std::vector<Opt> wanted = {
    Opt::requirement, Opt::editable,       Opt::no_editable,       Opt::no_editable_package,
    Opt::group,       Opt::extra,          Opt::all_extras,        Opt::constraint,
    Opt::overrides,   Opt::require_hashes, Opt::no_require_hashes, Opt::no_verify_hashes};

/// What may be chosen.
const std::vector<Opt> choices = {Opt::exclude_newer,
                                  Opt::uploaded_prior_to,
                                  Opt::exclude_newer_package,
                                  Opt::no_binary,
                                  Opt::only_binary,
                                  Opt::no_build,
                                  Opt::build_constraint,
                                  Opt::no_build_isolation,
                                  Opt::config_settings,
                                  Opt::no_sources,
                                  Opt::no_sources_package,
                                  Opt::pre,
                                  Opt::prerelease,
                                  Opt::upgrade,
                                  Opt::upgrade_package,
                                  Opt::reinstall,
                                  Opt::reinstall_package,
                                  Opt::alternatives,
                                  Opt::no_deps,
                                  Opt::variant,
                                  Opt::no_variants,
                                  Opt::no_variants_of,
                                  Opt::torch_backend,
                                  Opt::require,
                                  Opt::trust,
                                  Opt::enable_provider,
                                  Opt::disable_provider,
                                  Opt::supported,
                                  Opt::gpu_policy};

const std::vector<Opt> resolving =
    sources + wanted + choices + environment + target + as_pip_and_uv;

/// How a server is asked that is no index.
const std::vector<Opt> fetching = {Opt::keyring_provider, Opt::trusted_host, Opt::cert,
                                   Opt::client_cert,      Opt::proxy,        Opt::no_proxy_env,
                                   Opt::timeout,          Opt::retries,      Opt::offline,
                                   Opt::config_file,      Opt::no_config};

/// What the publishers of the files must have signed.
const std::vector<Opt> attested = {Opt::attestations, Opt::trusted_root};

/// Packages out of one file.
const std::vector<Opt> bundled = {Opt::bundle, Opt::allowed_signers};

const std::vector<Opt> building = {Opt::build_from_source, Opt::build_from_source_of};

/// What a project's back end needs comes from where packages do.
const std::vector<Opt> build_requirements =
    sources - std::vector<Opt>{Opt::family, Opt::refresh, Opt::refresh_package} +
    std::vector<Opt>{Opt::exclude_newer,  Opt::no_binary,        Opt::only_binary,
                     Opt::no_build,       Opt::build_constraint, Opt::no_build_isolation,
                     Opt::config_settings};

/// Which of the installed packages are listed.
const std::vector<Opt> selecting = {Opt::exclude, Opt::exclude_editable};

const std::vector<Opt> changing = {Opt::cache_dir, Opt::break_system_packages,
                                   Opt::require_virtualenv, Opt::yes};

/// The prefix of the names of its commands.
Command group(std::string_view name, std::string_view summary) {
  return {name, summary, "", Arity::none, {}, "", nullptr, no_machine};
}

const std::array rows = {
    Command{
        "detect",
        "Show what this machine is: CPU, GPUs, drivers, operating system, libc",
        "",
        Arity::none,
        {Opt::profile, Opt::properties, Opt::why, Opt::gpu_policy, Opt::no_cache, Opt::cache_dir},
        "variant detect\nvariant detect --why nvidia            queries, answers and "
        "conclusions\nvariant detect --profile node7.json    record this machine for "
        "--for\nvariant detect --for h100 --properties what an H100 supports",
        run_detect,
        one_machine},
    Command{"properties",
            "Show the properties that the machine supports, best first",
            "",
            Arity::none,
            {Opt::ns, Opt::gpu_policy, Opt::static_lists, Opt::no_cache, Opt::cache_dir},
            "variant properties --namespace x86_64\n"
            "variant properties --namespace axle --static    for installers that run no plugin",
            run_properties,
            one_machine},
    Command{"machines",
            "List the machines and GPUs that --for knows by name",
            "WORD",
            Arity::any,
            {},
            "variant machines\nvariant machines rtx    those that mention it",
            run_machines,
            no_machine},
    Command{"install", "Install packages, choosing the variants that fit best", "REQ|PATH",
            Arity::any,
            resolving + folders + bundled + attested + building +
                std::vector<Opt>{Opt::allow_backend_change, Opt::break_system_packages,
                                 Opt::require_virtualenv, Opt::link_mode, Opt::compile_bytecode,
                                 Opt::no_compile, Opt::overwrite, Opt::refit, Opt::dry_run,
                                 Opt::check_abi, Opt::explain, Opt::report},
            "variant install torch                     into VIRTUAL_ENV, CONDA_PREFIX or .venv\n"
            "variant install --explain demo==1.2       and say why this variant\n"
            "variant install --variant demo=null demo  exactly this variant\n"
            "variant install dist/demo-1.0-py3-none-any-v4.whl\n"
            "variant install ./project                 build it from source, also of an archive\n"
            "variant install 'demo @ git+https://host/demo@v1.0'\n"
            "variant install --build=demo demo         build it if there is no wheel of it\n"
            "variant install --refit --dry-run         what another GPU or driver would change\n"
            "variant install --dry-run --json demo     what would change; files in the way: "
            "`conflicts`",
            run_install, one_machine},
    init_row(),
    add_row(lock_row(resolving).options),
    remove_row(lock_row(resolving).options),
    import_row(lock_row(resolving).options),
    lock_row(resolving),
    sync_row(resolving),
    run_row(resolving),
    verify_row(),
    Command{"venv", "Make a virtual environment", "DIR", Arity::any,
            environment + as_pip_and_uv +
                std::vector<Opt>{Opt::prompt, Opt::system_site_packages, Opt::clear, Opt::no_cache,
                                 Opt::cache_dir},
            "variant venv                     .venv, of the python3 on the path\n"
            "variant venv env --python 3.12   of python3.12\n"
            "variant venv --clear             replace .venv, with all that is in it",
            run_venv, no_machine},
    Command{"uninstall", "Remove packages", "PKG", Arity::any,
            environment + folders + changing + as_pip_and_uv +
                std::vector<Opt>{Opt::requirement, Opt::dry_run},
            "variant uninstall demo\nvariant uninstall -r requirements.txt", run_uninstall,
            no_machine},
    Command{"undo", "Bring back what was installed before the last change", "", Arity::none,
            environment + folders + reaching + bundled + attested + changing + as_pip_and_uv +
                std::vector<Opt>{Opt::link_mode, Opt::compile_bytecode, Opt::no_compile,
                                 Opt::overwrite, Opt::dry_run, Opt::redo},
            "variant undo --dry-run    what would come back\n"
            "variant undo              again: one change further back\n"
            "variant undo --redo       make the change again that was undone last\n"
            "variant undo --bundle needs.zip    with wheels that are no longer in the store",
            run_undo, no_machine},
    Command{"list", "List installed packages with their variants", "", Arity::none,
            environment + folders + as_pip_and_uv + selecting +
                std::vector<Opt>{Opt::list_format, Opt::not_required, Opt::editable_only},
            "variant list --json\nvariant list --not-required --format freeze", run_list,
            no_machine},
    Command{"freeze", "List installed packages as requirements", "", Arity::none,
            environment + folders + as_pip_and_uv + selecting + std::vector<Opt>{Opt::all_packages},
            "variant freeze > requirements.txt", run_freeze, no_machine},
    Command{"check", "Check that installed packages are complete and their requirements met", "",
            Arity::none,
            environment + folders + fetching + as_pip_and_uv +
                std::vector<Opt>{Opt::deep, Opt::vulnerabilities},
            "variant check          requirements, and files by their size and time\n"
            "variant check --deep   each file by its hash in RECORD\n"
            "variant check --vulnerabilities all.zip    and known vulnerabilities",
            run_check, one_machine},
    Command{"show", "Show details of installed packages", "PKG", Arity::any,
            environment + folders + as_pip_and_uv + std::vector<Opt>{Opt::files},
            "variant show --files demo", run_show, no_machine},
    Command{"sbom", "Print a software bill of materials of an environment (CycloneDX 1.6)", "",
            Arity::none,
            environment + folders + as_pip_and_uv + std::vector<Opt>{Opt::files, Opt::output_file},
            "variant sbom -o bom.json\n"
            "variant sbom --files --python .venv    each installed file, too, with its hash\n"
            "SOURCE_DATE_EPOCH=0 variant sbom       the same environment gives the same text",
            run_sbom, no_machine},
    Command{
        "doctor", "Report problems of this machine and of installed packages, and how to fix them",
        "",
        Arity::none,
        environment + std::vector<Opt>{Opt::for_package, Opt::deep, Opt::gpu_policy, Opt::family},
        "variant doctor                            this machine, and the active environment\n"
        "variant doctor --python .venv --for h100  would it run there?\n"
        "variant doctor --for-package torch==2.9   which of its features work here",
        run_doctor, one_machine},
    Command{"resolve", "Show what would be installed", "REQ|PATH", Arity::any,
            resolving + bundled + attested + building +
                std::vector<Opt>{Opt::check_abi, Opt::explain, Opt::coverage, Opt::minimize,
                                 Opt::budget},
            "variant resolve torch torchvision --for h100 --for gtx1080ti --for none\n"
            "variant resolve torch --for profiles/ --coverage --minimize builds\n"
            "variant resolve -r requirements.txt --budget 800MB",
            run_resolve, fleet},
    Command{
        "explain",
        "Explain a choice: each variant of a package, chosen or rejected, and the deciding fact",
        "PKG", Arity::one, resolving + bundled, "variant explain demo --for gtx1080ti", run_explain,
        fleet},
    Command{
        "download", "Save what would be installed, on this machine or on others, as files",
        "REQ|PATH", Arity::any,
        resolving - installed_only + bundled + attested + std::vector<Opt>{Opt::dest, Opt::dry_run},
        "variant download torch --dest wheels --for h100 --for gtx1080ti\n"
        "variant download -r requirements.txt -d wheels --python-version 3.12 "
        "--python-platform linux\n"
        "variant install demo --no-index --find-links wheels    there, without a network",
        run_download, fleet},
    Command{
        "mirror", "Keep what would be installed, here or elsewhere, in an index of its own",
        "REQ|PATH", Arity::any,
        resolving - installed_only + bundled + attested + std::vector<Opt>{Opt::out, Opt::dry_run},
        "variant mirror torch --for h100 --for none --out /srv/mirror    again: what is new\n"
        "variant mirror torch --out s3://BUCKET/PREFIX                   in a storage of S3's "
        "kind\n"
        "variant install torch --index-url /srv/mirror/simple            as pip and uv do",
        run_mirror, fleet},
    Command{"bundle", "Save what would be installed, here or elsewhere, in one file", "REQ|PATH",
            Arity::any,
            resolving - installed_only + attested +
                std::vector<Opt>{Opt::bundle_file, Opt::signing_key, Opt::dry_run},
            "variant bundle -r requirements.txt --for h100 --for none --out needs.zip\n"
            "variant bundle torch --signing-key ~/.ssh/id_ed25519 --out torch.zip\n"
            "variant install torch --bundle torch.zip --allowed-signers signers    there",
            run_bundle, fleet},
    Command{"wheel",
            "Save what would be installed here as wheels, and build those that are missing",
            "REQ|PATH", Arity::any,
            resolving - installed_only - target + attested + building +
                std::vector<Opt>{Opt::wheel_dir, Opt::dry_run},
            "variant wheel ./project -w wheels     it, and what it requires\n"
            "variant wheel --no-deps 'demo @ git+https://host/demo@v1.0'\n"
            "variant wheel --build=demo demo       build it if there is no wheel of it",
            run_wheel, one_machine},
    tree_row(),
    outdated_row(resolving),
    export_row(),
    Command{"rank",
            "Rank the variants of one release (plumbing of explain)",
            "METADATA",
            Arity::one,
            {Opt::supported, Opt::gpu_policy},
            "variant rank demo-1.0-variants.json\n"
            "variant rank demo-1.0-py3-none-any-v4.whl --supported lists.json",
            run_rank,
            one_machine},
    Command{"build",
            "Build the variants of the project in DIR",
            "DIR",
            Arity::one,
            std::vector<Opt>{Opt::build_variant, Opt::architecture, Opt::jobs, Opt::out} +
                build_requirements + environment,
            "variant build . --variant x86_64_v4 --out dist\n"
            "variant build . --arch x86_64              no cross-built ones",
            run_build,
            {.refusal = "the project's table says for what it is built",
             .instead = "--variant builds one row of it, --arch those of an architecture"}},
    repack_row(),
    audit_row(),
    ci_row("ci"),
    ci_row("ci github"),
    ci_row("ci gitlab"),
    ci_row("ci slurm"),
    ci_row("ci make"),
    group("index", "Publish wheels"),
    index_build_row(),
    index_add_row(),
    index_update_row(),
    index_remove_row(),
    index_yank_row(),
    index_lint_row(),
    index_serve_row(),
    Command{"index families",
            "List the active index families: what is known about builds of torch and others",
            "",
            Arity::none,
            {Opt::family},
            "variant index families\n"
            "variant index families --family torch=https://mirror.example/whl",
            run_index_families,
            no_machine},
    publish_row(),
    group("cache", "Show, check and remove what Axle keeps of downloads and answers"),
    Command{"cache dir", "Print the cache folder", "", Arity::none,
            as_pip_and_uv + std::vector<Opt>{Opt::cache_dir}, "variant cache dir", run_cache_dir,
            no_machine},
    Command{"cache info", "Show what is in the cache, and what environments share of it", "",
            Arity::none, as_pip_and_uv + std::vector<Opt>{Opt::cache_dir}, "variant cache info",
            run_cache_info, no_machine},
    Command{"cache verify", "Compare unpacked wheels and byte code with their hashes", "",
            Arity::none, as_pip_and_uv + std::vector<Opt>{Opt::fix, Opt::cache_dir},
            "variant cache verify\n"
            "variant cache verify --fix    remove what is damaged",
            run_cache_verify, no_machine},
    Command{"cache clean", "Remove everything from the cache, or what belongs to packages", "PKG",
            Arity::any, as_pip_and_uv + std::vector<Opt>{Opt::dry_run, Opt::cache_dir},
            "variant cache clean --dry-run\n"
            "variant cache clean torch    environments that have it keep it",
            run_cache_clean, no_machine},
    Command{"cache prune", "Remove what is unfinished, or has not been used for long", "",
            Arity::none, as_pip_and_uv + std::vector<Opt>{Opt::dry_run, Opt::cache_dir},
            "variant cache prune", run_cache_prune, no_machine},
    group("providers", "Manage what decides which properties a machine supports"),
    Command{"providers list",
            "List the providers that Axle includes and the plugins that you trust",
            "",
            Arity::none,
            {Opt::gpu_policy},
            "variant providers list",
            run_providers_list,
            one_machine},
    Command{"providers show",
            "Show a namespace: its provider, what is supported here, what a plugin may do",
            "NS",
            Arity::one,
            {Opt::gpu_policy},
            "variant providers show nvidia",
            run_providers_show,
            one_machine},
    Command{"providers trust",
            "Trust the plugin of a package, a program or a shared object, so that it may run",
            "NAME|PATH",
            Arity::any,
            {Opt::ns, Opt::device},
            "variant providers trust acme-variant-provider\n"
            "variant providers trust /opt/acme/provider --namespace acme --device '/dev/acme*'",
            run_providers_trust,
            no_machine},
    Command{"providers untrust",
            "Revoke the trust in a package, a program or a shared object",
            "NAME|PATH",
            Arity::any,
            {},
            "variant providers untrust acme-variant-provider",
            run_providers_untrust,
            no_machine},
    Command{"providers enable",
            "Enable a namespace, even if a release declares it optional",
            "NS",
            Arity::any,
            {},
            "variant providers enable acme",
            run_providers_enable,
            no_machine},
    Command{"providers disable",
            "Disable a namespace: nothing in it is supported",
            "NS",
            Arity::any,
            {},
            "variant providers disable nvidia",
            run_providers_disable,
            no_machine},
    Command{"providers retry",
            "Run a plugin again that failed within the last hour",
            "NS",
            Arity::any,
            {Opt::cache_dir},
            "variant providers retry acme",
            run_providers_retry,
            no_machine},
    Command{"providers check",
            "Check a provider: names, order, stability, time, behaviour",
            "PLUGIN",
            Arity::one,
            {Opt::runs, Opt::ns, Opt::device, Opt::python},
            "variant providers check build/acme_provider.so\n"
            "variant providers check acme/                    the project of a Python plugin",
            run_providers_check,
            {.refusal = "a plugin can only report on the machine that it runs on",
             .instead = "`variant providers list` shows what is known without running it"}},
    Command{"providers new",
            "Create a project for a provider: code, tests and the SDK",
            "NAME DIR",
            Arity::any,
            {Opt::language},
            "variant providers new acme acme-provider\n"
            "variant providers new --language python acme acme-provider",
            run_providers_new,
            no_machine},
    model_row("model"),
    model_row("model info"),
    model_row("model generate"),
    model_row("model embed"),
    model_row("model rerank"),
    model_row("model ppl"),
    model_row("model quantize"),
    model_row("model bench"),
    model_row("model tune"),
    model_row("model selftest"),
    self_test_row(),
    completion_row(),
    man_row(),
};

}  // namespace

std::span<const Command> commands() { return rows; }

}  // namespace axle::cli
