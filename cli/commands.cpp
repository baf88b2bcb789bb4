#include <algorithm>
#include <array>

#include "cli/command.h"

namespace axle::cli {

namespace {

std::vector<session::Opt> operator+(std::vector<session::Opt> left,
                                    const std::vector<session::Opt>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<session::Opt> operator-(std::vector<session::Opt> left,
                                    const std::vector<session::Opt>& right) {
  std::erase_if(left, [&](session::Opt id) { return std::ranges::find(right, id) != right.end(); });
  return left;
}

const std::vector<session::Opt> environment = {session::Opt::python, session::Opt::system};

/// For what is installed already.
const std::vector<session::Opt> installed_only = {
    session::Opt::upgrade, session::Opt::upgrade_package, session::Opt::reinstall,
    session::Opt::reinstall_package};

/// Another interpreter or platform than those here.
const std::vector<session::Opt> target = {session::Opt::python_version,
                                          session::Opt::implementation, session::Opt::abi,
                                          session::Opt::platform, session::Opt::python_platform};

/// Packages that are in no environment, or in another place of one.
const std::vector<session::Opt> folders = {session::Opt::target, session::Opt::prefix,
                                           session::Opt::root, session::Opt::user,
                                           session::Opt::no_user};

/// What pip and uv have for all of these commands; for the last two there is nothing to change.
const std::vector<session::Opt> as_pip_and_uv = {session::Opt::progress, session::Opt::no_progress,
                                                 session::Opt::without_effect,
                                                 session::Opt::without_effect_value};

/// How wheels are fetched that the store no longer has.
const std::vector<session::Opt> reaching = {
    session::Opt::keyring_provider, session::Opt::trusted_host, session::Opt::cert,
    session::Opt::client_cert,      session::Opt::proxy,        session::Opt::no_proxy_env,
    session::Opt::timeout,          session::Opt::retries,      session::Opt::offline,
    session::Opt::no_cache,         session::Opt::config_file,  session::Opt::no_config};

const std::vector<session::Opt> resolving =
    std::vector<session::Opt>{session::Opt::index_url,
                              session::Opt::extra_index_url,
                              session::Opt::find_links,
                              session::Opt::no_index,
                              session::Opt::index,
                              session::Opt::default_index,
                              session::Opt::index_strategy,
                              session::Opt::keyring_provider,
                              session::Opt::trusted_host,
                              session::Opt::cert,
                              session::Opt::client_cert,
                              session::Opt::proxy,
                              session::Opt::no_proxy_env,
                              session::Opt::timeout,
                              session::Opt::retries,
                              session::Opt::family,
                              session::Opt::offline,
                              session::Opt::refresh,
                              session::Opt::refresh_package,
                              session::Opt::no_cache,
                              session::Opt::cache_dir,
                              session::Opt::config_file,
                              session::Opt::no_config,
                              session::Opt::requirement,
                              session::Opt::editable,
                              session::Opt::no_editable,
                              session::Opt::no_editable_package,
                              session::Opt::group,
                              session::Opt::extra,
                              session::Opt::all_extras,
                              session::Opt::constraint,
                              session::Opt::overrides,
                              session::Opt::require_hashes,
                              session::Opt::no_require_hashes,
                              session::Opt::no_verify_hashes,
                              session::Opt::exclude_newer,
                              session::Opt::uploaded_prior_to,
                              session::Opt::exclude_newer_package,
                              session::Opt::no_binary,
                              session::Opt::only_binary,
                              session::Opt::no_build,
                              session::Opt::build_constraint,
                              session::Opt::no_build_isolation,
                              session::Opt::config_settings,
                              session::Opt::no_sources,
                              session::Opt::no_sources_package,
                              session::Opt::pre,
                              session::Opt::prerelease,
                              session::Opt::upgrade,
                              session::Opt::upgrade_package,
                              session::Opt::reinstall,
                              session::Opt::reinstall_package,
                              session::Opt::alternatives,
                              session::Opt::no_deps,
                              session::Opt::variant,
                              session::Opt::no_variants,
                              session::Opt::no_variants_of,
                              session::Opt::torch_backend,
                              session::Opt::require,
                              session::Opt::trust,
                              session::Opt::enable_provider,
                              session::Opt::disable_provider,
                              session::Opt::supported,
                              session::Opt::gpu_policy} +
    environment + target + as_pip_and_uv;

/// How a server is asked that is no index.
const std::vector<session::Opt> fetching = {
    session::Opt::keyring_provider, session::Opt::trusted_host, session::Opt::cert,
    session::Opt::client_cert,      session::Opt::proxy,        session::Opt::no_proxy_env,
    session::Opt::timeout,          session::Opt::retries,      session::Opt::offline,
    session::Opt::config_file,      session::Opt::no_config};

/// How a storage is asked, whose keys are its own.
const std::vector<session::Opt> storing = {session::Opt::trusted_host, session::Opt::cert,
                                           session::Opt::proxy,        session::Opt::no_proxy_env,
                                           session::Opt::timeout,      session::Opt::retries,
                                           session::Opt::config_file,  session::Opt::no_config};

/// What the publishers of the files must have signed.
const std::vector<session::Opt> attested = {session::Opt::attestations, session::Opt::trusted_root};

/// Packages out of one file.
const std::vector<session::Opt> bundled = {session::Opt::bundle, session::Opt::allowed_signers};

const std::vector<session::Opt> building = {session::Opt::build_from_source,
                                            session::Opt::build_from_source_of};

/// Which of the installed packages are listed.
const std::vector<session::Opt> selecting = {session::Opt::exclude, session::Opt::exclude_editable};

const std::vector<session::Opt> changing = {session::Opt::cache_dir,
                                            session::Opt::break_system_packages,
                                            session::Opt::require_virtualenv, session::Opt::yes};

/// The prefix of the names of its commands.
Command group(std::string_view name, std::string_view summary) {
  return {name, summary, "", Arity::none, {}, "", nullptr};
}

const std::array rows = {
    Command{"detect",
            "Show what this machine is: CPU, GPUs, drivers, operating system, libc",
            "",
            Arity::none,
            {session::Opt::profile, session::Opt::properties, session::Opt::why,
             session::Opt::gpu_policy, session::Opt::no_cache, session::Opt::cache_dir},
            "variant detect\nvariant detect --why nvidia            queries, answers and "
            "conclusions\nvariant detect --profile node7.json    record this machine for "
            "--for\nvariant detect --for h100 --properties what an H100 supports",
            run_detect},
    Command{"properties",
            "Show the properties that the machine supports, best first",
            "",
            Arity::none,
            {session::Opt::ns, session::Opt::gpu_policy, session::Opt::static_lists,
             session::Opt::no_cache, session::Opt::cache_dir},
            "variant properties --namespace x86_64\n"
            "variant properties --namespace axle --static    for installers that run no plugin",
            run_properties},
    Command{"machines",
            "List the machines and GPUs that --for knows by name",
            "WORD",
            Arity::any,
            {},
            "variant machines\nvariant machines rtx    those that mention it",
            run_machines},
    Command{"install", "Install packages, choosing the variants that fit best", "REQ|PATH",
            Arity::any,
            resolving + folders + bundled + attested + building +
                std::vector<session::Opt>{
                    session::Opt::allow_backend_change, session::Opt::break_system_packages,
                    session::Opt::require_virtualenv, session::Opt::link_mode,
                    session::Opt::compile_bytecode, session::Opt::no_compile,
                    session::Opt::overwrite, session::Opt::refit, session::Opt::dry_run,
                    session::Opt::check_abi, session::Opt::explain, session::Opt::report},
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
            run_install},
    Command{"venv", "Make a virtual environment", "DIR", Arity::any,
            environment + as_pip_and_uv +
                std::vector<session::Opt>{session::Opt::prompt, session::Opt::system_site_packages,
                                          session::Opt::clear, session::Opt::no_cache,
                                          session::Opt::cache_dir},
            "variant venv                     .venv, of the python3 on the path\n"
            "variant venv env --python 3.12   of python3.12\n"
            "variant venv --clear             replace .venv, with all that is in it",
            run_venv},
    Command{"uninstall", "Remove packages", "PKG", Arity::any,
            environment + folders + changing + as_pip_and_uv +
                std::vector<session::Opt>{session::Opt::requirement, session::Opt::dry_run},
            "variant uninstall demo\nvariant uninstall -r requirements.txt", run_uninstall},
    Command{"undo", "Bring back what was installed before the last change", "", Arity::none,
            environment + folders + reaching + bundled + attested + changing + as_pip_and_uv +
                std::vector<session::Opt>{session::Opt::link_mode, session::Opt::compile_bytecode,
                                          session::Opt::no_compile, session::Opt::overwrite,
                                          session::Opt::dry_run, session::Opt::redo},
            "variant undo --dry-run    what would come back\n"
            "variant undo              again: one change further back\n"
            "variant undo --redo       make the change again that was undone last\n"
            "variant undo --bundle needs.zip    with wheels that are no longer in the store",
            run_undo},
    Command{"list", "List installed packages with their variants", "", Arity::none,
            environment + folders + as_pip_and_uv + selecting +
                std::vector<session::Opt>{session::Opt::list_format, session::Opt::not_required,
                                          session::Opt::editable_only},
            "variant list --json\nvariant list --not-required --format freeze", run_list},
    Command{"freeze", "List installed packages as requirements", "", Arity::none,
            environment + folders + as_pip_and_uv + selecting +
                std::vector<session::Opt>{session::Opt::all_packages},
            "variant freeze > requirements.txt", run_freeze},
    Command{"check", "Check that installed packages are complete and their requirements met", "",
            Arity::none,
            environment + folders + fetching + as_pip_and_uv +
                std::vector<session::Opt>{session::Opt::deep, session::Opt::vulnerabilities},
            "variant check          requirements, and files by their size and time\n"
            "variant check --deep   each file by its hash in RECORD\n"
            "variant check --vulnerabilities all.zip    and known vulnerabilities",
            run_check},
    Command{"show", "Show details of installed packages", "PKG", Arity::any,
            environment + folders + as_pip_and_uv + std::vector<session::Opt>{session::Opt::files},
            "variant show --files demo", run_show},
    Command{"sbom", "Print a software bill of materials of an environment (CycloneDX 1.6)", "",
            Arity::none,
            environment + folders + as_pip_and_uv +
                std::vector<session::Opt>{session::Opt::files, session::Opt::output_file},
            "variant sbom -o bom.json\n"
            "variant sbom --files --python .venv    each installed file, too, with its hash\n"
            "SOURCE_DATE_EPOCH=0 variant sbom       the same environment gives the same text",
            run_sbom},
    Command{"doctor",
            "Report problems of this machine and of installed packages, and how to fix them", "",
            Arity::none,
            environment + std::vector<session::Opt>{session::Opt::for_package, session::Opt::deep,
                                                    session::Opt::gpu_policy, session::Opt::family},
            "variant doctor                            this machine, and the active environment\n"
            "variant doctor --python .venv --for h100  would it run there?\n"
            "variant doctor --for-package torch==2.9   which of its features work here",
            run_doctor},
    Command{"resolve", "Show what would be installed", "REQ|PATH", Arity::any,
            resolving + bundled + attested + building +
                std::vector<session::Opt>{session::Opt::check_abi, session::Opt::explain},
            "variant resolve torch torchvision --for h100 --for gtx1080ti --for none", run_resolve,
            true},
    Command{
        "explain",
        "Explain a choice: each variant of a package, chosen or rejected, and the deciding fact",
        "PKG", Arity::one, resolving + bundled, "variant explain demo --for gtx1080ti", run_explain,
        true},
    Command{"download", "Save what would be installed, on this machine or on others, as files",
            "REQ|PATH", Arity::any,
            resolving - installed_only + bundled + attested +
                std::vector<session::Opt>{session::Opt::dest, session::Opt::dry_run},
            "variant download torch --dest wheels --for h100 --for gtx1080ti\n"
            "variant download -r requirements.txt -d wheels --python-version 3.12 "
            "--python-platform linux\n"
            "variant install demo --no-index --find-links wheels    there, without a network",
            run_download, true},
    Command{"mirror", "Keep what would be installed, here or elsewhere, in an index of its own",
            "REQ|PATH", Arity::any,
            resolving - installed_only + bundled + attested +
                std::vector<session::Opt>{session::Opt::out, session::Opt::dry_run},
            "variant mirror torch --for h100 --for none --out /srv/mirror    again: what is new\n"
            "variant mirror torch --out s3://BUCKET/PREFIX                   in a storage of S3's "
            "kind\n"
            "variant install torch --index-url /srv/mirror/simple            as pip and uv do",
            run_mirror, true},
    Command{"bundle", "Save what would be installed, here or elsewhere, in one file", "REQ|PATH",
            Arity::any,
            resolving - installed_only + attested +
                std::vector<session::Opt>{session::Opt::bundle_file, session::Opt::signing_key,
                                          session::Opt::dry_run},
            "variant bundle -r requirements.txt --for h100 --for none --out needs.zip\n"
            "variant bundle torch --signing-key ~/.ssh/id_ed25519 --out torch.zip\n"
            "variant install torch --bundle torch.zip --allowed-signers signers    there",
            run_bundle, true},
    Command{"wheel",
            "Save what would be installed here as wheels, and build those that are missing",
            "REQ|PATH", Arity::any,
            resolving - installed_only - target + attested + building +
                std::vector<session::Opt>{session::Opt::wheel_dir, session::Opt::dry_run},
            "variant wheel ./project -w wheels     it, and what it requires\n"
            "variant wheel --no-deps 'demo @ git+https://host/demo@v1.0'\n"
            "variant wheel --build=demo demo       build it if there is no wheel of it",
            run_wheel},
    Command{"rank",
            "Rank the variants of one release (plumbing of explain)",
            "METADATA",
            Arity::one,
            {session::Opt::supported, session::Opt::gpu_policy},
            "variant rank demo-1.0-variants.json\n"
            "variant rank demo-1.0-py3-none-any-v4.whl --supported lists.json",
            run_rank},
    Command{"build",
            "Build the variants of the project in DIR",
            "DIR",
            Arity::one,
            {session::Opt::build_variant, session::Opt::out},
            "variant build . --variant x86_64_v4 --out dist",
            run_build},
    group("index", "Publish wheels"),
    Command{"index build", "Publish the wheels in DIR: add them to a static index, or create one",
            "DIR", Arity::one, storing + std::vector<session::Opt>{session::Opt::out},
            "variant index build dist --out public    published files are kept\n"
            "variant index build dist --out s3://BUCKET/PREFIX",
            run_index_build},
    Command{"index remove", "Remove wheels from a static index", "NAME[==VERSION]|FILE", Arity::any,
            storing + std::vector<session::Opt>{session::Opt::out, session::Opt::build_variant,
                                                session::Opt::dry_run},
            "variant index remove demo==1.0 --out public --dry-run\n"
            "variant index remove demo==1.0 --variant v4 --out public\n"
            "variant index remove demo-1.0-py3-none-any-v4.whl --out public",
            run_index_remove},
    Command{"index families",
            "List the active index families: what is known about builds of torch and others",
            "",
            Arity::none,
            {session::Opt::family},
            "variant index families\n"
            "variant index families --family torch=https://mirror.example/whl",
            run_index_families},
    group("cache", "Show, check and remove what Axle keeps of downloads and answers"),
    Command{"cache dir", "Print the cache folder", "", Arity::none,
            as_pip_and_uv + std::vector<session::Opt>{session::Opt::cache_dir}, "variant cache dir",
            run_cache_dir},
    Command{"cache info", "Show what is in the cache, and what environments share of it", "",
            Arity::none, as_pip_and_uv + std::vector<session::Opt>{session::Opt::cache_dir},
            "variant cache info", run_cache_info},
    Command{"cache verify", "Compare unpacked wheels and byte code with their hashes", "",
            Arity::none,
            as_pip_and_uv + std::vector<session::Opt>{session::Opt::fix, session::Opt::cache_dir},
            "variant cache verify\n"
            "variant cache verify --fix    remove what is damaged",
            run_cache_verify},
    Command{
        "cache clean", "Remove everything from the cache, or what belongs to packages", "PKG",
        Arity::any,
        as_pip_and_uv + std::vector<session::Opt>{session::Opt::dry_run, session::Opt::cache_dir},
        "variant cache clean --dry-run\n"
        "variant cache clean torch    environments that have it keep it",
        run_cache_clean},
    Command{
        "cache prune", "Remove what is unfinished, or has not been used for long", "", Arity::none,
        as_pip_and_uv + std::vector<session::Opt>{session::Opt::dry_run, session::Opt::cache_dir},
        "variant cache prune", run_cache_prune},
    group("providers", "Manage what decides which properties a machine supports"),
    Command{"providers list",
            "List the providers that Axle includes and the plugins that you trust",
            "",
            Arity::none,
            {session::Opt::gpu_policy},
            "variant providers list",
            run_providers_list},
    Command{"providers show",
            "Show a namespace: its provider, what is supported here, what a plugin may do",
            "NS",
            Arity::one,
            {session::Opt::gpu_policy},
            "variant providers show nvidia",
            run_providers_show},
    Command{"providers trust",
            "Trust the plugin of a package, a program or a shared object, so that it may run",
            "NAME|PATH",
            Arity::any,
            {session::Opt::ns, session::Opt::device},
            "variant providers trust acme-variant-provider\n"
            "variant providers trust /opt/acme/provider --namespace acme --device '/dev/acme*'",
            run_providers_trust},
    Command{"providers untrust",
            "Revoke the trust in a package, a program or a shared object",
            "NAME|PATH",
            Arity::any,
            {},
            "variant providers untrust acme-variant-provider",
            run_providers_untrust},
    Command{"providers enable",
            "Enable a namespace, even if a release declares it optional",
            "NS",
            Arity::any,
            {},
            "variant providers enable acme",
            run_providers_enable},
    Command{"providers disable",
            "Disable a namespace: nothing in it is supported",
            "NS",
            Arity::any,
            {},
            "variant providers disable nvidia",
            run_providers_disable},
    Command{"providers retry",
            "Run a plugin again that failed within the last hour",
            "NS",
            Arity::any,
            {session::Opt::cache_dir},
            "variant providers retry acme",
            run_providers_retry},
    Command{"providers check",
            "Check a provider: names, order, stability, time, behaviour",
            "PLUGIN",
            Arity::one,
            {session::Opt::runs, session::Opt::ns, session::Opt::device, session::Opt::python},
            "variant providers check build/acme_provider.so\n"
            "variant providers check acme/                    the project of a Python plugin",
            run_providers_check},
    Command{"providers new",
            "Create a project for a provider: code, tests and the SDK",
            "NAME DIR",
            Arity::any,
            {session::Opt::language},
            "variant providers new acme acme-provider\n"
            "variant providers new --language python acme acme-provider",
            run_providers_new},
    group("model", "Use the bundled quantized-inference runtime"),
    Command{"model info",
            "Show what a model is made of, or the runtime's kernels and which one runs here",
            "MODEL",
            Arity::any,
            {},
            "variant model info                 the kernels, and why not another\n"
            "variant model info model.gguf",
            run_model_info},
    Command{
        "model generate",
        "Answer or continue a text with a model: a GGUF file, or a folder of Hugging Face",
        "MODEL",
        Arity::one,
        {session::Opt::model_prompt, session::Opt::raw, session::Opt::max_tokens,
         session::Opt::temperature, session::Opt::top_k, session::Opt::top_p, session::Opt::min_p,
         session::Opt::seed, session::Opt::mode, session::Opt::kv_cache, session::Opt::threads},
        "variant model generate model.gguf --prompt Hello\n"
        "variant model generate model.gguf --prompt 'What is a wheel?' --json\n"
        "variant model generate model/ --raw --prompt 'Once upon a time' --temperature 0.7",
        run_model_generate},
    Command{"model embed",
            "Print vectors of texts, by an encoder: a folder of Hugging Face",
            "MODEL",
            Arity::one,
            {session::Opt::text, session::Opt::mode, session::Opt::threads},
            "variant model embed model/ --text wheel\n"
            "variant model embed model/ --text 'a wheel' --text 'a variant' --json",
            run_model_embed},
    Command{"model bench",
            "Measure the runtime's speed",
            "",
            Arity::none,
            {session::Opt::batch, session::Opt::threads},
            "variant model bench --batch 1",
            run_model_bench},
    Command{"model selftest",
            "Compare every kernel that this machine can run with the reference",
            "",
            Arity::none,
            {},
            "variant model selftest",
            run_model_selftest},
    Command{"completion",
            "Print the completion script for a shell: bash, zsh or fish",
            "SHELL",
            Arity::one,
            {},
            "variant completion bash > ~/.local/share/bash-completion/completions/variant\n"
            "variant completion zsh > ~/.zfunc/_variant      in a folder of $fpath\n"
            "variant completion fish > ~/.config/fish/completions/variant.fish",
            run_completion},
    Command{"man",
            "Print the manual page of the program or of a command, or write all of them",
            "COMMAND",
            Arity::any,
            {session::Opt::out},
            "variant man --out ~/.local/share/man/man1    a page a command\n"
            "variant man install | man -l -",
            run_man},
};

}  // namespace

std::span<const Command> commands() { return rows; }

}  // namespace axle::cli
