#!/usr/bin/env python3
"""Renders conversations by chat templates with Jinja and with our renderers.

    chat_template_differential.py RENDER_LINES FILE …

RENDER_LINES is the program built from render_lines.cpp, FILE a template (*.jinja, or a GGUF file that has one). Run it
with the Python of an environment that has `jinja2`. A template that is refused is named, and no difference.
Exit codes: 0 all agree, 1 something differs, 77 skipped (with the reason).
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

SKIPPED = 77
QUESTION = "  What is <|im_end|> for?\n"
CONVERSATIONS = [
    [("user", QUESTION)],
    [("system", " Be brief. "), ("user", QUESTION)],
    [("user", "One"), ("assistant", " <think>\nhm\n</think>\n\nAn answer. "), ("user", "Two\n")],
    [("system", "S"), ("user", "One"), ("assistant", "Answer"), ("user", "Two"), ("assistant", ""), ("user", "Three")],
]


def template_of(path):
    if path.suffix == ".gguf":
        from tokenizer_differential import gguf_metadata
        return gguf_metadata(path)["tokenizer.chat_template"]
    return path.read_text(encoding="utf-8")


def rendered(text, conversation):
    """As `transformers` does; None where the template refuses the conversation."""
    import jinja2.ext
    import jinja2.sandbox

    class Refused(Exception):
        pass

    def refuse(message):
        raise Refused(message)

    # Marks that Llama's and Mistral's tokenizers have; ChatML templates name none.
    begin = "<|begin_of_text|>" if "<|eot_id|>" in text else "<s>"
    world = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                         extensions=[jinja2.ext.loopcontrols])
    world.globals["raise_exception"] = refuse
    messages = [{"role": role, "content": content} for role, content in conversation]
    try:
        return world.from_string(text).render(messages=messages, add_generation_prompt=True, bos_token=begin,
                                              eos_token="</s>", tools=None)
    except Refused:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import jinja2  # noqa: F401
    except ImportError:
        print(f"skipped: {sys.executable} has no `jinja2` library")
        return SKIPPED
    wrong = 0
    for path in arguments.files:
        text = template_of(path)
        lines = "".join(json.dumps([text, conversation]) + "\n" for conversation in CONVERSATIONS)
        done = subprocess.run([arguments.program], input=lines, text=True, stdout=subprocess.PIPE, check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if all(answer is None for answer in answers):
            print(f"{path.name}: refused")
            continue
        expected = [rendered(text, conversation) for conversation in CONVERSATIONS]
        bad = [(own, right) for own, right in zip(answers, expected, strict=True) if own != right]
        wrong += len(bad)
        print(f"{path.name}: {len(answers)} conversations, {len(bad)} differ")
        for own, right in bad:
            print(f"  jinja: {right!r}\n  axle:  {own!r}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
