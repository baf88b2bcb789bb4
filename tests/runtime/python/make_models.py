"""make_models.py FOLDER: a tiny decoder, encoder and reranker, and what the models are to answer, computed in double."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "model/oracle"))
from decoder import Decoder
from encoder import Encoder
from tiny_models import make_decoder, make_encoder, make_reranker, write_decoder_folder, write_decoder_gguf, write_encoder_folder
from tiny_tokenizers import TOKENS, WordPieces, bytes_of

PROMPTS = ["Hello, world", "x", "the river and the rest of it, in one long text. "]
TEXTS = ["The cat sat on the mat.", "x", "one word after the other is a lot "]
MOST = 24

folder = pathlib.Path(sys.argv[1])
model = make_decoder("llama", 1)
decoder = write_decoder_folder(folder / "decoder", model)
(folder / "package").mkdir()
write_decoder_gguf(folder / "package/tiny.gguf", model)
encoder = write_encoder_folder(folder / "encoder", make_encoder(1))
by_bytes = {bytes_of([i]): i for i in range(3, len(TOKENS))}
answers = []
for prompt in PROMPTS:
    # A token for each byte: the model is asked for the same ones.
    tokens = [by_bytes[bytes([byte])] for byte in prompt.encode()]
    answers.append({"tokens": tokens, "answer": Decoder(decoder).greedy(tokens, MOST)})
words = WordPieces(encoder)
vectors = [Encoder(encoder).embed(words.encode(text)).tolist() for text in TEXTS]
reranker = write_encoder_folder(folder / "reranker", make_reranker(1))
scores = [Encoder(reranker).score(*words.encode_pair(TEXTS[0], text)) for text in TEXTS]
(folder / "expected.json").write_text(json.dumps({"most": MOST, "answers": answers, "texts": TEXTS, "vectors": vectors, "scores": scores}))
