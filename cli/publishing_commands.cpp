#include "cli/publishing_commands.h"

#include <utility>
#include <vector>

namespace axle::cli {

namespace {

using session::Opt;

/// How a storage or a server is asked, and what else a command takes.
std::vector<Opt> storing(std::vector<Opt> more) {
  std::vector<Opt> options = {
      Opt::trusted_host, Opt::cert,    Opt::client_cert, Opt::keyring_provider, Opt::proxy,
      Opt::no_proxy_env, Opt::timeout, Opt::retries,     Opt::config_file,      Opt::no_config};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

Command repack_row() {
  return {"repack",
          "Make variants of wheels that exist",
          "WHEEL",
          Arity::any,
          {Opt::label, Opt::property, Opt::namespace_order, Opt::split, Opt::keep_ptx, Opt::out},
          "variant repack demo-1.0-py3-none-any.whl --label sm90 --property 'nvidia :: sm_arch :: "
          "90_real'\n"
          "variant repack demo-1.0-cp312-cp312-linux_x86_64.whl --split sm --out split",
          run_repack,
          {.refusal = "what a variant is for follows from its code, or from --property",
           .instead = "leave it out"}};
}

Command audit_row() {
  return {"audit",
          "Check wheels, installed packages or container images: what they need, and whether it is "
          "what they declare",
          "WHEEL|DIR|IMAGE|installed",
          Arity::any,
          {Opt::python, Opt::system, Opt::gpu_policy},
          "variant audit dist/demo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl\n"
          "variant audit dist                                  a release: all wheels of a folder\n"
          "variant audit installed --python .venv              what is installed\n"
          "variant audit image.tar --for h100 --for rtx5090    a container image, on a fleet",
          run_audit,
          fleet};
}

Command index_build_row() {
  return {"index build",
          "Publish the wheels in DIR: add them to a static index, or create one",
          "DIR",
          Arity::one,
          storing({Opt::out}),
          "variant index build dist --out public    published files are kept\n"
          "variant index build dist --out s3://BUCKET/PREFIX\n"
          "variant index build dist --out https://HOST/FOLDER       on a WebDAV server",
          run_index_build,
          no_machine};
}

Command index_add_row() {
  return {"index add",
          "Add wheels to an index, however large it is: only their projects' pages are written",
          "WHEEL",
          Arity::any,
          storing({Opt::out}),
          "variant index add dist/demo-1.0-py3-none-any.whl --out public\n"
          "variant index add dist/*.whl --out s3://BUCKET/PREFIX\n"
          "variant index add dist/*.whl --out https://HOST/FOLDER   on a WebDAV server",
          run_index_add,
          no_machine};
}

Command index_update_row() {
  return {"index update",
          "Bring an index up to date: wheels of DIR that it lacks, records of files, or its pages",
          "DIR",
          Arity::any,
          storing({Opt::out, Opt::records}),
          "variant index update dist --out public             reads new wheels only\n"
          "variant index update --records files.jsonl --out public\n"
          "variant index update --out public                  writes its pages anew",
          run_index_update,
          no_machine};
}

Command index_remove_row() {
  return {"index remove",
          "Remove wheels from a static index",
          "NAME[==VERSION]|FILE",
          Arity::any,
          storing({Opt::out, Opt::build_variant, Opt::dry_run}),
          "variant index remove demo==1.0 --out public --dry-run\n"
          "variant index remove demo==1.0 --variant v4 --out public\n"
          "variant index remove demo-1.0-py3-none-any-v4.whl --out public",
          run_index_remove,
          no_machine};
}

Command index_yank_row() {
  return {"index yank",
          "Mark wheels, so that installers take them only where their version is pinned",
          "NAME[==VERSION]|FILE",
          Arity::any,
          storing({Opt::out, Opt::build_variant, Opt::reason, Opt::undo_yank, Opt::dry_run}),
          "variant index yank demo==1.0 --reason 'wrong ABI' --out public\n"
          "variant index yank demo==1.0 --variant v4 --out public\n"
          "variant index yank demo==1.0 --undo --out public",
          run_index_yank,
          no_machine};
}

Command index_lint_row() {
  return {"index lint",
          "Check an index: what is missing, what nobody gets, who gets less than before",
          "INDEX",
          Arity::one,
          storing({Opt::deep}),
          "variant index lint public\n"
          "variant index lint public --deep                       each wheel by its hash, too\n"
          "variant index lint public --for h100 --for gtx1080ti   judged for these machines",
          run_index_lint,
          fleet};
}

Command index_serve_row() {
  return {"index serve",
          "Serve an index on this machine, for trying it",
          "DIR",
          Arity::one,
          {Opt::host, Opt::port},
          "variant index serve public\n"
          "variant index serve public --port 8080",
          run_index_serve,
          no_machine};
}

Command publish_row() {
  return {"publish",
          "Upload wheels to an index that takes uploads",
          "WHEEL|DIR",
          Arity::any,
          storing({Opt::repository_url, Opt::username, Opt::skip_existing, Opt::dry_run}),
          "variant publish dist/*.whl --repository-url https://packages.corp.example/upload/\n"
          "UV_PUBLISH_TOKEN=... variant publish dist --repository-url https://host/legacy/",
          run_publish,
          no_machine};
}

}  // namespace axle::cli
