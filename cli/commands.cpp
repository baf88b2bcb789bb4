#include <array>

#include "cli/command.h"

namespace axle::cli {

namespace {

std::vector<Opt> operator+(std::vector<Opt> left, const std::vector<Opt>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const std::vector<Opt> environment = {Opt::python, Opt::system};

const std::vector<Opt> resolving =
    std::vector<Opt>{
        Opt::index_url,       Opt::extra_index_url,  Opt::find_links, Opt::no_index,
        Opt::family,          Opt::offline,          Opt::no_cache,   Opt::cache_dir,
        Opt::requirement,     Opt::constraint,       Opt::pre,        Opt::upgrade,
        Opt::reinstall,       Opt::no_deps,          Opt::variant,    Opt::no_variants,
        Opt::no_variants_of,  Opt::torch_backend,    Opt::require,    Opt::trust,
        Opt::enable_provider, Opt::disable_provider, Opt::supported,  Opt::gpu_policy} +
    environment;

const std::vector<Opt> changing = {Opt::cache_dir, Opt::break_system_packages, Opt::yes};

const std::array rows = {
    Command{
        "detect",
        "What this machine is: CPU, GPUs, drivers, operating system, libc",
        "",
        Arity::none,
        {Opt::profile, Opt::properties, Opt::why, Opt::gpu_policy, Opt::no_cache, Opt::cache_dir},
        "variant detect\n"
        "variant detect --why nvidia            what was asked, what was answered, what follows\n"
        "variant detect --profile node7.json    record this machine for --for\n"
        "variant detect --for h100 --properties what an H100 supports",
        run_detect},
    Command{"properties",
            "The properties that the machine supports, best first",
            "",
            Arity::none,
            {Opt::ns, Opt::gpu_policy, Opt::static_lists, Opt::no_cache, Opt::cache_dir},
            "variant properties --namespace x86_64\n"
            "variant properties --namespace axle --static    for installers that run no plugin",
            run_properties},
    Command{"install", "Find the variants that fit best and install them", "REQ|WHEEL", Arity::any,
            resolving + std::vector<Opt>{Opt::break_system_packages, Opt::overwrite, Opt::dry_run,
                                         Opt::explain},
            "variant install torch                     into VIRTUAL_ENV, CONDA_PREFIX or .venv\n"
            "variant install --explain demo==1.2       and say why this variant\n"
            "variant install --variant demo=null demo  exactly this variant\n"
            "variant install dist/demo-1.0-py3-none-any-v4.whl",
            run_install},
    Command{"uninstall", "Remove packages", "PKG", Arity::any, environment + changing,
            "variant uninstall demo", run_uninstall},
    Command{"list", "What is installed, with the variant of each package", "", Arity::none,
            environment, "variant list --json", run_list},
    Command{"freeze", "What is installed, as requirements", "", Arity::none, environment,
            "variant freeze > requirements.txt", run_freeze},
    Command{"check", "Whether the requirements of what is installed hold", "", Arity::none,
            environment, "variant check", run_check},
    Command{"show", "What is known of installed packages", "PKG", Arity::any,
            environment + std::vector<Opt>{Opt::files}, "variant show --files demo", run_show},
    Command{
        "doctor", "What is wrong with this machine and with what is installed, and the mend", "",
        Arity::none,
        environment + std::vector<Opt>{Opt::for_package, Opt::deep, Opt::gpu_policy, Opt::family},
        "variant doctor                            this machine, and the active environment\n"
        "variant doctor --python .venv --for h100  would it run there?\n"
        "variant doctor --for-package torch==2.9   which of its features work here",
        run_doctor},
    Command{"resolve", "What would be installed", "REQ|WHEEL", Arity::any,
            resolving + std::vector<Opt>{Opt::explain},
            "variant resolve torch torchvision --for h100 --for gtx1080ti --for none", run_resolve,
            true},
    Command{"explain", "Why: each variant of a package, chosen or rejected, and by which fact",
            "PKG", Arity::one, resolving, "variant explain demo --for gtx1080ti", run_explain,
            true},
    Command{"rank",
            "The variants of one release, ranked (plumbing of explain)",
            "METADATA",
            Arity::one,
            {Opt::supported, Opt::gpu_policy},
            "variant rank demo-1.0-variants.json\n"
            "variant rank demo-1.0-py3-none-any-v4.whl --supported lists.json",
            run_rank},
    Command{"build",
            "Build the variants of the project in DIR",
            "DIR",
            Arity::one,
            {Opt::build_variant, Opt::out},
            "variant build . --variant x86_64_v4 --out dist",
            run_build},
    Command{"index build",
            "Publish the wheels in DIR as a static index",
            "DIR",
            Arity::one,
            {Opt::out},
            "variant index build dist --out public",
            run_index_build},
    Command{"index families",
            "The index families in force: what is known of torch's builds and the like",
            "",
            Arity::none,
            {Opt::family},
            "variant index families\n"
            "variant index families --family torch=https://mirror.example/whl",
            run_index_families},
    Command{"providers list",
            "The providers that Axle carries and the plugins that you trust",
            "",
            Arity::none,
            {Opt::gpu_policy},
            "variant providers list",
            run_providers_list},
    Command{"providers show",
            "One namespace: its provider, what it supports here, what a plugin of it may do",
            "NS",
            Arity::one,
            {Opt::gpu_policy},
            "variant providers show nvidia",
            run_providers_show},
    Command{"providers trust",
            "Let the plugin of a package, a program or a shared object run",
            "NAME|PATH",
            Arity::any,
            {Opt::ns, Opt::device},
            "variant providers trust acme-variant-provider\n"
            "variant providers trust /opt/acme/provider --namespace acme --device '/dev/acme*'",
            run_providers_trust},
    Command{"providers untrust",
            "Take that back",
            "NAME|PATH",
            Arity::any,
            {},
            "variant providers untrust acme-variant-provider",
            run_providers_untrust},
    Command{"providers enable",
            "Switch a namespace on, also where a release has it optional",
            "NS",
            Arity::any,
            {},
            "variant providers enable acme",
            run_providers_enable},
    Command{"providers disable",
            "Switch a namespace off: nothing of it is supported",
            "NS",
            Arity::any,
            {},
            "variant providers disable nvidia",
            run_providers_disable},
    Command{"providers check",
            "Whether a provider keeps its promises: names, order, stability, time, manners",
            "PLUGIN",
            Arity::one,
            {Opt::runs, Opt::ns, Opt::device, Opt::python},
            "variant providers check build/acme_provider.so\n"
            "variant providers check acme/                    the project of a Python plugin",
            run_providers_check},
    Command{"providers new",
            "A provider's project to start from: code, tests and the SDK",
            "NAME DIR",
            Arity::any,
            {Opt::language},
            "variant providers new acme acme-provider\n"
            "variant providers new --language python acme acme-provider",
            run_providers_new},
    Command{"run info",
            "The runtime's kernels: which one runs here, and why not another",
            "",
            Arity::none,
            {},
            "variant run info",
            run_runtime_info},
    Command{"run bench",
            "How fast the runtime is here",
            "",
            Arity::none,
            {Opt::batch, Opt::threads},
            "variant run bench --batch 1",
            run_runtime_bench},
    Command{"run selftest",
            "Every kernel that this machine can run against the reference",
            "",
            Arity::none,
            {},
            "variant run selftest",
            run_runtime_selftest},
};

}  // namespace

std::span<const Command> commands() { return rows; }

}  // namespace axle::cli
