#include "session/options.h"

#include <array>

namespace axle::session {

namespace {

constexpr OptionKind flag = OptionKind::flag;
constexpr OptionKind value = OptionKind::value;
constexpr OptionKind list = OptionKind::list;

constexpr std::array rows = {
    OptionRow{Opt::json, flag, "--json", "", "One JSON object on stdout, also on failure"},
    OptionRow{Opt::for_machine, list, "--for", "WHAT",
              "Another machine instead of this one: a profile, a folder of profiles, a bundled "
              "name (h100), or facts (nvidia:sm=90,driver=570.26;x86_64:v4)"},
    OptionRow{
        Opt::verbose, flag, "--verbose,-v", "",
        "Show details: the environment, the index and where it is configured, pages, downloads"},
    OptionRow{Opt::quiet, flag, "--quiet,-q", "",
              "Only errors, and what the command was asked to show"},
    OptionRow{Opt::no_color, flag, "--no-color", "", "No colours (as NO_COLOR)"},
    OptionRow{Opt::progress, value, "--progress,--progress-bar", "WHICH",
              "Lines that show how downloads go: auto (on a terminal, the default), on (with "
              "--quiet, too), off, or json: events on stderr, one JSON object a line"},
    OptionRow{Opt::no_progress, flag, "--no-progress", "", "As --progress off"},
    OptionRow{Opt::index_url, value, "--index-url,-i,--pypi-url", "URL",
              "The index: simple API over http(s), a file:// URL or a folder"},
    OptionRow{Opt::extra_index_url, list, "--extra-index-url", "URL",
              "An additional index, queried before the default one"},
    OptionRow{Opt::find_links, list, "--find-links,-f", "PLACE",
              "A folder of files, or a page with links"},
    OptionRow{Opt::no_index, flag, "--no-index", "", "Use no index, only --find-links"},
    OptionRow{Opt::bundle, value, "--bundle", "FILE",
              "Use what is in this file of `variant bundle` and nothing else, no network either"},
    OptionRow{Opt::index, list, "--index", "[NAME=]URL",
              "An additional index, optionally with a name, queried before the default one"},
    OptionRow{Opt::default_index, value, "--default-index", "[NAME=]URL",
              "The index that is queried last (uv's name for --index-url)"},
    OptionRow{Opt::index_strategy, value, "--index-strategy", "STRATEGY",
              "With several indexes: first-index (only the first one that has a package is used, "
              "the default), unsafe-first-match or unsafe-best-match"},
    OptionRow{
        Opt::keyring_provider, value, "--keyring-provider", "PROVIDER",
        "Where passwords of indexes come from: disabled, or subprocess (the program `keyring`)"},
    OptionRow{Opt::trusted_host, list, "--trusted-host,--allow-insecure-host", "HOST[:PORT]",
              "A server that is trusted without a valid certificate, or over http"},
    OptionRow{Opt::cert, value, "--cert", "FILE", "Trusted CA certificates, in PEM format"},
    OptionRow{Opt::client_cert, value, "--client-cert", "FILE",
              "A certificate and its key, in PEM format, for servers that ask for one"},
    OptionRow{Opt::proxy, value, "--proxy", "URL", "The proxy for http and https"},
    OptionRow{Opt::no_proxy_env, flag, "--no-proxy-env", "",
              "Do not take proxies from http_proxy and the like"},
    OptionRow{Opt::timeout, value, "--timeout,--default-timeout", "SECONDS",
              "Timeout for a server that does not respond"},
    OptionRow{Opt::retries, value, "--retries", "N",
              "How often a request that failed is sent again (3)"},
    OptionRow{Opt::family, list, "--family", "NAME=URL",
              "A mirror of an index family (`variant index families`)"},
    OptionRow{Opt::offline, flag, "--offline", "",
              "No network: use the cache and local files only"},
    OptionRow{Opt::refresh, flag, "--refresh", "",
              "Request all pages of the index again, even if it marked them as fresh"},
    OptionRow{Opt::refresh_package, list, "--refresh-package", "PKG",
              "As --refresh: pages of other packages are requested again, too"},
    OptionRow{Opt::no_cache, flag, "--no-cache,-n,--no-cache-dir", "",
              "Do not use or write the cache"},
    OptionRow{Opt::cache_dir, value, "--cache-dir", "DIR", "The cache folder"},
    OptionRow{Opt::config_file, value, "--config-file", "FILE",
              "A uv.toml to use instead of all other configuration files of uv (UV_CONFIG_FILE)"},
    OptionRow{Opt::no_config, flag, "--no-config", "",
              "Read no configuration files of uv (UV_NO_CONFIG)"},
    OptionRow{Opt::requirement, list, "--requirement,-r,--requirements", "FILE",
              "Requirements from a file; of a pyproject.toml its [project]"},
    OptionRow{
        Opt::group, list, "--group", "[PATH:]NAME",
        "Requirements of a dependency group of ./pyproject.toml, or of the pyproject.toml PATH"},
    OptionRow{Opt::extra, list, "--extra", "NAME",
              "Optional dependencies of the project, or of the pyproject.toml that -r names"},
    OptionRow{Opt::all_extras, flag, "--all-extras", "", "All of them"},
    OptionRow{Opt::editable, list, "--editable,-e", "DIR",
              "A project in a folder, whose modules are used where they are"},
    OptionRow{Opt::no_editable, flag, "--no-editable", "",
              "Install folders of --editable as other folders"},
    OptionRow{Opt::no_editable_package, list, "--no-editable-package", "PKG",
              "The same for these packages"},
    OptionRow{Opt::constraint, list, "--constraint,-c,--constraints", "FILE",
              "Limits on versions; does not request the packages"},
    OptionRow{Opt::overrides, list, "--overrides,--override", "FILE",
              "Requirements that replace those of packages for the same names"},
    OptionRow{Opt::require_hashes, flag, "--require-hashes", "",
              "Every requirement must be pinned and have a hash"},
    OptionRow{Opt::no_require_hashes, flag, "--no-require-hashes", "",
              "A hash of one requirement does not require hashes of all"},
    OptionRow{Opt::no_verify_hashes, flag, "--no-verify-hashes", "",
              "Do not compare files with the hashes of requirements files"},
    OptionRow{Opt::attestations, value, "--attestations", "POLICY",
              "Attestations of the publisher (PEP 740): require (install nothing without valid "
              "ones), warn, or off (the default); docs/attestations.md"},
    OptionRow{Opt::trusted_root, value, "--trusted-root", "FILE",
              "Whose signatures on attestations count: a trusted_root.json of Sigstore"},
    OptionRow{Opt::allowed_signers, value, "--allowed-signers", "FILE",
              "Who must have signed the bundle: an allowed signers file of ssh-keygen(1)"},
    OptionRow{Opt::exclude_newer, value, "--exclude-newer", "WHEN",
              "Only files uploaded before: the end of a date, an RFC 3339 time, or a duration ago "
              "(3 days, P3D)"},
    OptionRow{Opt::uploaded_prior_to, value, "--uploaded-prior-to", "WHEN",
              "The same with pip's meaning: before the beginning of a date"},
    OptionRow{Opt::exclude_newer_package, list, "--exclude-newer-package", "PKG=WHEN",
              "The same for one package; PKG=false: not for this one"},
    OptionRow{Opt::no_binary, list, "--no-binary", "PKG",
              "Do not use wheels of these packages: comma-separated names, :all: or :none:"},
    OptionRow{Opt::only_binary, list, "--only-binary", "PKG",
              "Only wheels of these packages: comma-separated names, :all: or :none:"},
    OptionRow{Opt::build_from_source, flag, "--build", "",
              "Where wheels do not suffice, let pip or uv build source distributions, which runs "
              "their code; --build=PKG: only of these packages (comma-separated names)"},
    OptionRow{Opt::build_from_source_of, list, "--build-of", "PKG", ""},
    OptionRow{Opt::no_build, flag, "--no-build", "",
              "Build nothing from source, whatever else asks for it"},
    OptionRow{Opt::build_constraint, list, "--build-constraint,-b,--build-constraints", "FILE",
              "Limits on the versions of what builds require"},
    OptionRow{Opt::no_build_isolation, flag, "--no-build-isolation", "",
              "Builds use the packages of the environment, not their own requirements"},
    OptionRow{Opt::config_settings, list, "--config-settings,-C,--config-setting", "KEY=VALUE",
              "A setting of the build backend"},
    OptionRow{Opt::no_sources, flag, "--no-sources", "", "Do not read [tool.uv.sources]"},
    OptionRow{Opt::no_sources_package, list, "--no-sources-package", "PKG",
              "Do not read [tool.uv.sources] for this package"},
    OptionRow{Opt::pre, flag, "--pre", "", "Allow pre-releases"},
    OptionRow{
        Opt::prerelease, value, "--prerelease", "WHICH",
        "disallow, allow (as --pre), if-necessary, explicit; if-necessary-or-explicit by default"},
    OptionRow{Opt::upgrade, flag, "--upgrade,-U", "",
              "Upgrade the named packages to the newest allowed version"},
    OptionRow{Opt::upgrade_package, list, "--upgrade-package,-P", "PKG",
              "Upgrade only this package, also if another one brings it in"},
    OptionRow{Opt::reinstall, flag, "--reinstall,--force-reinstall", "",
              "Resolve and install again even what is installed; builds keep their backend"},
    OptionRow{Opt::reinstall_package, list, "--reinstall-package", "PKG",
              "The same for one package"},
    OptionRow{Opt::alternatives, flag, "--alternatives", "",
              "Of distributions that install the same modules (onnxruntime, onnxruntime-gpu), take "
              "the one for this machine"},
    OptionRow{Opt::no_deps, flag, "--no-deps,--no-dependencies", "", "Without dependencies"},
    OptionRow{Opt::variant, list, "--variant", "PKG=LABEL", "Exactly this variant of PKG"},
    OptionRow{Opt::no_variants, flag, "--no-variants", "",
              "Plain wheels only; --no-variants=PKG for one package"},
    OptionRow{Opt::no_variants_of, list, "--no-variants-of", "PKG", ""},
    OptionRow{Opt::torch_backend, value, "--torch-backend", "LABEL",
              "auto, or the build of the torch family regardless of this machine: cpu, cu130, "
              "rocm7.2, xpu (UV_TORCH_BACKEND)"},
    OptionRow{Opt::allow_backend_change, flag, "--allow-backend-change", "",
              "Let installed builds change their backend, for example from cu126 to cpu or cu132"},
    OptionRow{Opt::require, list, "--require", "NS",
              "Fail rather than install a build that is not for it: nvidia, amd, intel"},
    OptionRow{Opt::trust, list, "--trust", "NAME",
              "Trust the plugin of package NAME for this run (`variant providers trust`)"},
    OptionRow{Opt::enable_provider, list, "--enable-provider", "NS",
              "Enable an optional provider for this run"},
    OptionRow{Opt::disable_provider, list, "--disable-provider", "NS",
              "Disable a namespace for this run"},
    OptionRow{Opt::gpu_policy, value, "--gpu-policy", "POLICY",
              "Which of several GPUs count: all (a build must run on each), any, first, or "
              "device=0,2 (numbers, PCI addresses or names; AXLE_GPU_POLICY)"},
    OptionRow{
        Opt::python, value, "--python,-p", "P",
        "The environment: its interpreter, its folder, or a version on the path (else VIRTUAL_ENV, "
        "CONDA_PREFIX, .venv)"},
    OptionRow{Opt::system, flag, "--system", "", "The environment of the python3 on the path"},
    OptionRow{Opt::python_version, value, "--python-version", "X.Y",
              "For this version of Python (3.12, 312, 3.12.4), which need not be here"},
    OptionRow{Opt::implementation, value, "--implementation", "WHICH",
              "For CPython (cp), PyPy (pp), or any implementation (py)"},
    OptionRow{Opt::abi, list, "--abi", "TAG",
              "For an interpreter with this ABI: cp312, cp313t, pypy310_pp73, none"},
    OptionRow{Opt::platform, list, "--platform", "TAG",
              "For a platform instead of this one: exactly these tags, and the elders of "
              "manylinux2014 (manylinux2014_x86_64, musllinux_1_2_aarch64)"},
    OptionRow{Opt::python_platform, value, "--python-platform", "WHICH",
              "For a platform instead of this one, with all older tags: linux, "
              "x86_64-manylinux_2_28, aarch64-unknown-linux-gnu"},
    OptionRow{Opt::break_system_packages, flag, "--break-system-packages", "",
              "Allow changes to an environment that the operating system manages"},
    OptionRow{Opt::require_virtualenv, flag, "--require-virtualenv,--require-venv", "",
              "Refuse to change an environment that is not a virtual environment"},
    OptionRow{Opt::target, value, "--target,-t", "DIR",
              "The packages in this folder, which need not be an environment"},
    OptionRow{Opt::prefix, value, "--prefix", "DIR",
              "The packages in lib, bin and share of this folder"},
    OptionRow{Opt::root, value, "--root", "DIR",
              "The environment's folders below another root (DIR/usr/lib/...)"},
    OptionRow{Opt::user, flag, "--user", "",
              "The user's packages (~/.local, or PYTHONUSERBASE), beside those of the interpreter"},
    OptionRow{Opt::no_user, flag, "--no-user", "", ""},
    OptionRow{Opt::prompt, value, "--prompt", "TEXT",
              "What shells show in the active environment (the folder's name)"},
    OptionRow{Opt::system_site_packages, flag, "--system-site-packages", "",
              "The environment sees the packages of the interpreter that it is based on"},
    OptionRow{Opt::clear, flag, "--clear,-c", "", "Replace an environment that is there"},
    OptionRow{Opt::link_mode, value, "--link-mode", "MODE",
              "How files come from the store: hardlink, reflink (or clone), copy or symlink; "
              "without it hard links where they are possible, else copies"},
    OptionRow{Opt::compile_bytecode, flag, "--compile-bytecode,--compile", "",
              "Install modules with their byte code, compiled once per interpreter and kept"},
    OptionRow{Opt::no_compile, flag, "--no-compile,--no-compile-bytecode", "",
              "Without it, whatever else asks for it"},
    OptionRow{Opt::overwrite, flag, "--overwrite", "",
              "Replace files that belong to another package or to none, and allow packages that "
              "install the same modules: what is installed later has them"},
    OptionRow{
        Opt::refit, flag, "--refit", "",
        "Choose the installed builds again for this machine, all or those named; versions are "
        "kept where they have one that fits"},
    OptionRow{Opt::redo, flag, "--redo", "", "Make the change again that was undone last"},
    OptionRow{Opt::yes, flag, "--yes,-y", "",
              "No effect: Axle never prompts (accepted for compatibility with pip)"},
    // Of pip and uv: what they ask for is always so here, or there is nothing for them to change.
    OptionRow{Opt::without_effect, flag,
              "--no-input,--disable-pip-version-check,--no-python-version-warning,"
              "--no-warn-script-location,--no-warn-conflicts,--prefer-binary,--no-clean,"
              "--check-build-dependencies,--use-pep517,"
              "--no-break-system-packages,--no-managed-python,--no-python-downloads,"
              "--system-certs,--native-tls,--strict,--debug,--include-editable",
              "", ""},
    OptionRow{Opt::without_effect_value, list,
              "--root-user-action,--exists-action,--use-feature,--fork-strategy,"
              "--resume-retries",
              "VALUE", ""},
    OptionRow{Opt::dry_run, flag, "--dry-run", "",
              "Show what would be done without changing anything"},
    OptionRow{Opt::dest, value, "--dest,-d,--destination-dir,--destination-directory", "DIR",
              "The folder for the files (the current one)"},
    OptionRow{Opt::wheel_dir, value, "--wheel-dir,-w", "DIR",
              "The folder for the wheels (the current one)"},
    OptionRow{Opt::bundle_file, value, "--out", "FILE", "The file; a bundle there is replaced"},
    OptionRow{Opt::signing_key, value, "--signing-key", "KEY",
              "Sign the bundle with this SSH key: its file, or its public one if an agent has it"},
    OptionRow{
        Opt::check_abi, flag, "--check-abi", "",
        "Before anything is installed, compare the symbols and libraries that extension modules, "
        "new and installed, need with those of the packages that they require and of the machine, "
        "and choose others if they lack any"},
    OptionRow{Opt::explain, flag, "--explain", "",
              "Show each variant, chosen or rejected, and the deciding property and fact"},
    OptionRow{Opt::report, value, "--report", "FILE",
              "Write what is installed in pip's installation report format; - is stdout"},
    OptionRow{Opt::profile, value, "--profile", "OUT",
              "Record the machine in a file that --for replays"},
    OptionRow{Opt::properties, flag, "--properties", "", "Show the supported properties too"},
    OptionRow{
        Opt::why, value, "--why", "NS",
        "The chain of evidence for a namespace: nvidia, amd, intel, x86_64, aarch64, axle, ..."},
    OptionRow{Opt::ns, list, "--namespace", "NS", "Only this namespace"},
    OptionRow{Opt::static_lists, flag, "--static", "",
              "As static-properties and feature-order, for a pyproject.toml"},
    OptionRow{Opt::supported, value, "--supported", "LISTS",
              "Property lists to use instead of this machine's: {ns: {feature: [value, ...]}}, a "
              "file or -"},
    OptionRow{
        Opt::out, value, "--out", "DIR",
        "The output folder; `variant index` and `variant mirror` also take s3://BUCKET/PREFIX or "
        "https://HOST/FOLDER (WebDAV)"},
    OptionRow{
        Opt::records, value, "--records", "FILE",
        "Files as records instead: a line of JSON each, as in `files` of a project page; - is "
        "standard input"},
    OptionRow{Opt::reason, value, "--reason", "TEXT", "Why, for those who install it all the same"},
    OptionRow{Opt::undo_yank, flag, "--undo", "", "Take the mark away again"},
    OptionRow{Opt::host, value, "--host", "ADDRESS",
              "The address to listen on: 127.0.0.1 (the default), ::1, or one that others reach"},
    OptionRow{Opt::port, value, "--port", "N",
              "The port to listen on; 0 (the default): a free one"},
    OptionRow{Opt::repository_url, value, "--repository-url,--publish-url", "URL",
              "Where the index takes uploads"},
    OptionRow{Opt::username, value, "--username", "NAME",
              "The name to log in with (__token__, if a token is the password)"},
    OptionRow{Opt::skip_existing, flag, "--skip-existing", "",
              "Go on if the index has a file of that name"},
    OptionRow{Opt::output_file, value, "--output-file,-o", "FILE",
              "Write to this file instead of stdout; - is stdout"},
    OptionRow{Opt::build_variant, list, "--variant", "LABEL", "Only this variant"},
    OptionRow{Opt::label, value, "--label", "LABEL", "Give the wheels this variant label"},
    OptionRow{Opt::property, list, "--property", "PROPERTY",
              "What machines of this variant have: 'nvidia :: sm_arch :: 90_real'"},
    OptionRow{Opt::namespace_order, value, "--namespace-order", "NS,NS",
              "The namespaces of the release's variants, the most important one first (else the "
              "wheel's, then those of --property)"},
    OptionRow{Opt::split, value, "--split", "BY",
              "A variant for each GPU architecture, without the code for others: sm (NVIDIA) or "
              "gfx (AMD)"},
    OptionRow{Opt::keep_ptx, flag, "--keep-ptx", "",
              "Keep PTX in every variant, not only in that of the newest architecture"},
    OptionRow{Opt::architecture, list, "--arch", "ARCH",
              "Only variants for this architecture (x86_64, aarch64)"},
    OptionRow{Opt::jobs, value, "--jobs,-j", "N",
              "Compile so many files at once, of all variants (default: one per CPU)"},
    OptionRow{Opt::files, flag, "--files,-f", "", "Show the installed files too"},
    OptionRow{Opt::list_format, value, "--format", "FORMAT",
              "columns (default), freeze (NAME==VERSION) or json (as pip has it)"},
    OptionRow{Opt::exclude, list, "--exclude", "PKG", "Not this package"},
    OptionRow{Opt::not_required, flag, "--not-required", "",
              "Only packages that no other one requires"},
    OptionRow{Opt::editable_only, flag, "--editable,-e", "", "Only editable installations"},
    OptionRow{Opt::exclude_editable, flag, "--exclude-editable", "", "No editable installations"},
    OptionRow{Opt::all_packages, flag, "--all", "", "Also pip and other packaging tools"},
    OptionRow{Opt::batch, value, "--batch", "M", "Rows of activations (1)"},
    OptionRow{Opt::threads, value, "--threads", "N", "Number of threads (default: one per CPU)"},
    OptionRow{Opt::export_table, value, "--export", "FILE",
              "Also write what was measured into a table to be shipped with the runtime"},
    OptionRow{Opt::model_prompt, value, "--prompt", "TEXT", "What the model continues or answers"},
    OptionRow{Opt::raw, flag, "--raw", "",
              "Continue the prompt as it is, without the model's chat template"},
    OptionRow{Opt::text, list, "--text", "TEXT", "A text whose vector or score is wanted"},
    OptionRow{Opt::query, value, "--query", "TEXT", "What texts are scored against"},
    OptionRow{Opt::text_file, value, "--file", "FILE", "A text that the model predicts"},
    OptionRow{Opt::window, value, "--window", "N",
              "Tokens of a part of the text that is predicted by itself (512)"},
    OptionRow{Opt::mode, value, "--mode", "MODE",
              "How linear layers compute: a16w8 (int8 weights; the default, unless the model is "
              "stored in "
              "another mode), da8w8 (int8 weights "
              "and activations), a16w4, da8w4 (int4 weights), fp8 (float8 weights) or float"},
    OptionRow{Opt::kv_cache, value, "--kv-cache", "FORM",
              "Keys and values of past tokens: float16 (the default), int8 or float32 (that of "
              "--mode float)"},
    OptionRow{Opt::max_tokens, value, "--max-tokens", "N", "Length of the answer (256)"},
    OptionRow{Opt::temperature, value, "--temperature", "T",
              "0 takes the likeliest token (the default), 1 draws by the model's probabilities"},
    OptionRow{Opt::top_k, value, "--top-k", "K", "Draw among the K likeliest tokens only"},
    OptionRow{Opt::top_p, value, "--top-p", "P",
              "Draw among the likeliest tokens that have this probability together"},
    OptionRow{Opt::min_p, value, "--min-p", "P",
              "Draw among tokens that have at least P times the probability of the likeliest"},
    OptionRow{Opt::seed, value, "--seed", "N", "The same number draws the same tokens (0)"},
    OptionRow{Opt::quantized_folder, value, "--output", "DIR",
              "The folder that the model is written to, which must not exist"},
    OptionRow{Opt::scale_group, value, "--group", "N",
              "Weights of int4 that share a scale: 32, 64 (the default) or 128"},
    OptionRow{Opt::method, value, "--method", "METHOD",
              "How scales are chosen: absmax (by the largest weight, the default for int8 and "
              "float8), mse or search (least squared error; search is the default for int4), or "
              "awq (by what the weights do to a text)"},
    OptionRow{Opt::calibration, value, "--calibration", "FILE",
              "With --method awq: a text like those that the model will see, some thousand words"},
    OptionRow{Opt::language, value, "--language", "LANGUAGE", "c++ (default) or python"},
    OptionRow{Opt::runs, value, "--runs", "N", "Number of runs (100)"},
    OptionRow{Opt::device, list, "--device", "PATTERN",
              "A device node that the plugin may open for writing: /dev/acme0, '/dev/acme*'"},
    OptionRow{Opt::for_package, value, "--for-package", "REQ",
              "Show which features of that release are usable here (torch==2.9)"},
    OptionRow{
        Opt::deep, flag, "--deep", "",
        "Slow: compare each file with its hash in RECORD; doctor also disassembles libraries"},
    OptionRow{
        Opt::vulnerabilities, value, "--vulnerabilities", "FILE|URL",
        "Compare with advisories in OSV's format: a file, a list, a folder, or the all.zip of "
        "an ecosystem"},
    OptionRow{Opt::fix, flag, "--fix", "",
              "Remove what is damaged, so that it is downloaded again when it is needed"},
    OptionRow{Opt::ci_file, value, "--out", "FILE",
              "The CI file (else where the CI system finds it); - is stdout"},
    OptionRow{Opt::ci_check, flag, "--check", "",
              "Write nothing: show how the file differs from what would be written, exit code 4"},
    OptionRow{Opt::machine_class, list, "--class", "NAME", "This class of machines of axle.lock"},
    OptionRow{Opt::frozen, flag, "--frozen", "",
              "Take axle.lock as it is, whatever pyproject.toml says now"},
    OptionRow{Opt::locked, flag, "--locked", "",
              "Fail if axle.lock is not up to date, exit code 4"},
    OptionRow{Opt::all_groups, flag, "--all-groups", "", "All dependency groups"},
    OptionRow{Opt::only_group, list, "--only-group", "NAME",
              "Only this dependency group, without the project's own dependencies"},
    OptionRow{Opt::no_group, list, "--no-group", "NAME",
              "Not this dependency group, whatever else asks for it"},
    OptionRow{Opt::no_default_groups, flag, "--no-default-groups", "",
              "No dependency groups but those that are named"},
    OptionRow{Opt::no_dev, flag, "--no-dev", "", "As --no-group dev"},
    OptionRow{Opt::only_dev, flag, "--only-dev", "", "As --only-group dev"},
    OptionRow{Opt::no_extra, list, "--no-extra", "NAME",
              "With --all-extras, all but these optional dependencies"},
    OptionRow{Opt::inexact, flag, "--inexact", "", "Leave packages that are not locked"},
    OptionRow{Opt::no_install_project, flag, "--no-install-project", "",
              "Only what the project needs, not itself"},
    OptionRow{Opt::no_sync, flag, "--no-sync", "", "Leave the environment as it is"},
    OptionRow{Opt::coverage, flag, "--coverage", "",
              "Show which build of each package each class or machine gets, its size, and why"},
    OptionRow{
        Opt::minimize, value, "--minimize", "WHAT",
        "builds: as few different builds as serve all machines, none of them without what its "
        "best build is for"},
    OptionRow{Opt::best, flag, "--best", "",
              "The best build for each machine, whatever pyproject.toml says of minimize"},
    OptionRow{Opt::budget, value, "--budget", "SIZE",
              "Download no more than that for a machine, such as 3GB: where the best builds are "
              "larger, the next that are small enough"},
    OptionRow{Opt::export_format, value, "--format", "FORMAT",
              "requirements, pylock, uv-sources, conda, node-affinity, slurm or oci"},
    OptionRow{Opt::invert, value, "--invert", "PKG", "Show who requires this package"},
    OptionRow{Opt::depth, value, "--depth", "N", "Show so many levels below the first"},
    OptionRow{Opt::project_name, value, "--name", "NAME",
              "The project's name (else that of the folder)"},
    OptionRow{Opt::project_machine, list, "--machine", "NAME=WHAT",
              "A class of machines that the project is locked for: train=h100, laptop=none, "
              "here=this"},
    OptionRow{Opt::project_extra, value, "--extra", "NAME",
              "The optional dependencies of that name, in place of the dependencies"},
    OptionRow{Opt::project_group, value, "--group", "NAME",
              "The dependency group of that name, in place of the dependencies"},
    OptionRow{Opt::dev, flag, "--dev", "", "The dependency group dev"},
    OptionRow{Opt::edit_alone, flag, "--frozen", "",
              "Write pyproject.toml alone: nothing is resolved"},
};

constexpr std::array globals = {Opt::json, Opt::for_machine, Opt::verbose, Opt::quiet,
                                Opt::no_color};

constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order(), "rows are in the order of Opt");

}  // namespace

std::span<const OptionRow> option_rows() { return rows; }

const OptionRow& option_row(Opt id) { return rows[static_cast<std::size_t>(id)]; }

std::vector<std::string_view> option_names(Opt id) {
  std::vector<std::string_view> names;
  for (std::string_view rest = option_row(id).names; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
  }
  return names;
}

std::string option_name(Opt id) {
  const std::string_view names = option_row(id).names;
  return std::string(names.substr(0, names.find(',')));
}

std::span<const Opt> global_options() { return globals; }

}  // namespace axle::session
