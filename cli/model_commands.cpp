#include "cli/model_commands.h"

#include <algorithm>

namespace axle::cli {

namespace {

using session::Opt;

/// Made when first asked for: the table of all commands is made before main().
// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Command>& model_rows() {
  static const std::vector<Command> rows = {
      {"model",
       "Use the bundled quantized-inference runtime",
       "",
       Arity::none,
       {},
       "",
       nullptr,
       no_machine},
      {"model info",
       "Show what a model is made of, or the runtime's kernels and which one runs here",
       "MODEL",
       Arity::any,
       {Opt::mode, Opt::no_cache, Opt::cache_dir},
       "variant model info                 the kernels, and why not another\n"
       "variant model info model.gguf --mode a16w4    and what that mode loses of the weights",
       run_model_info,
       this_machine},
      {"model generate",
       "Answer or continue a text with a model: a GGUF file, a folder of Hugging Face, or "
       "either in a "
       "package's folder or zip archive",
       "MODEL",
       Arity::one,
       {Opt::model_prompt, Opt::raw, Opt::max_tokens, Opt::temperature, Opt::top_k, Opt::top_p,
        Opt::min_p, Opt::seed, Opt::mode, Opt::kv_cache, Opt::threads, Opt::no_cache,
        Opt::cache_dir},
       "variant model generate model.gguf --prompt Hello\n"
       "variant model generate model/ --raw --prompt 'Once upon a time' --temperature 0.7",
       run_model_generate,
       this_machine},
      {"model embed",
       "Print vectors of texts, by an encoder: a folder of Hugging Face, or a zip archive of one",
       "MODEL",
       Arity::one,
       {Opt::text, Opt::mode, Opt::threads, Opt::no_cache, Opt::cache_dir},
       "variant model embed model/ --text wheel --text variant --json",
       run_model_embed,
       this_machine},
      {"model rerank",
       "Print how well each text answers a query, the best first, by a reranker: a folder of "
       "Hugging "
       "Face, or a zip archive of one",
       "MODEL",
       Arity::one,
       {Opt::query, Opt::text, Opt::mode, Opt::threads, Opt::no_cache, Opt::cache_dir},
       "variant model rerank model/ --query wheel --text archive --text rain --json",
       run_model_rerank,
       this_machine},
      {"model ppl",
       "Measure how well a model predicts a text: what a mode costs",
       "MODEL",
       Arity::one,
       {Opt::text_file, Opt::window, Opt::mode, Opt::kv_cache, Opt::threads, Opt::no_cache,
        Opt::cache_dir},
       "variant model ppl model.gguf --file book.txt --mode a16w4",
       run_model_ppl,
       this_machine},
      {"model quantize",
       "Write a model as a folder whose linear layers are quantised, and say what that loses",
       "MODEL",
       Arity::one,
       {Opt::quantized_folder, Opt::mode, Opt::scale_group, Opt::method, Opt::calibration,
        Opt::threads},
       "variant model quantize model.gguf --output model-w4 --mode a16w4\n"
       "variant model quantize model/ --output model-awq --mode a16w4 --method awq "
       "--calibration book.txt",
       run_model_quantize,
       this_machine},
      {"model bench",
       "Measure the speed of a model, or of one layer without a model",
       "MODEL",
       Arity::any,
       {Opt::mode, Opt::kv_cache, Opt::batch, Opt::threads, Opt::no_cache, Opt::cache_dir},
       "variant model bench model.gguf --mode da8w8\n"
       "variant model bench --batch 1      a layer of 4096 x 4096",
       run_model_bench,
       this_machine},
      {"model tune",
       "Measure which kernels run a model's layers fastest here, and use them from now on",
       "MODEL",
       Arity::one,
       {Opt::mode, Opt::threads, Opt::export_table, Opt::no_cache, Opt::cache_dir},
       "variant model tune model.gguf\n"
       "variant model tune model.gguf --mode a16w4 --export axle_runtime_tuning.json",
       run_model_tune,
       this_machine},
      {"model selftest",
       "Compare every kernel that this machine can run with the reference",
       "MODEL",
       Arity::any,
       {Opt::mode, Opt::kv_cache, Opt::no_cache, Opt::cache_dir},
       "variant model selftest\n"
       "variant model selftest model.gguf  with the shapes of its layers",
       run_model_selftest,
       this_machine},
  };
  return rows;
}

}  // namespace

Command model_row(std::string_view name) {
  return *std::ranges::find(model_rows(), name, &Command::name);
}

}  // namespace axle::cli
