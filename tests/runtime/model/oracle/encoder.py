"""Encoders of the BERT family in double, from a folder: a vector for the tokens of a text, or a reranker's score for those of two."""

import math

import numpy as np
import shapes
from decoder import softmax
from safetensors import read_folder

error_function = np.frompyfunc(math.erf, 1, 1)


def gelu(x):
    return x * 0.5 * (1 + error_function(x / math.sqrt(2)).astype(np.float64))


class Encoder:
    def __init__(self, folder):
        self.shape = shapes.of_config(folder)
        self.weights = {name.removeprefix("bert."): values for name, values in read_folder(folder).items()}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.shape.epsilon)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, x, layer):
        count, depth = len(x), self.shape.head_depth
        queries, keys, values = (self.linear(x, layer + "attention.self." + name).reshape(count, -1, depth).transpose(1, 0, 2)
                                 for name in ("query", "key", "value"))
        mixed = softmax(queries @ keys.transpose(0, 2, 1) / math.sqrt(depth)) @ values
        return self.linear(mixed.transpose(1, 0, 2).reshape(count, -1), layer + "attention.output.dense")

    def hidden(self, tokens, segments=None):
        """[tokens, hidden] after the last layer."""
        segments = np.zeros(len(tokens), int) if segments is None else np.asarray(segments)
        x = self.weights["embeddings.word_embeddings.weight"][np.asarray(tokens)]
        x = x + self.weights["embeddings.position_embeddings.weight"][:len(tokens)] + self.weights["embeddings.token_type_embeddings.weight"][segments]
        x = self.norm(x, "embeddings.LayerNorm")
        for i in range(self.shape.layers):
            layer = f"encoder.layer.{i}."
            x = self.norm(x + self.attention(x, layer), layer + "attention.output.LayerNorm")
            raised = gelu(self.linear(x, layer + "intermediate.dense"))
            x = self.norm(x + self.linear(raised, layer + "output.dense"), layer + "output.LayerNorm")
        return x

    def embed(self, tokens, pooling="mean", normalized=True):
        """`pooling`: "mean" or "cls"."""
        hidden = self.hidden(tokens)
        vector = hidden.mean(0) if pooling == "mean" else hidden[0]
        return vector / np.linalg.norm(vector) if normalized else vector

    def score(self, tokens, segments):
        """BertForSequenceClassification with one class."""
        pooled = np.tanh(self.linear(self.hidden(tokens, segments)[0], "pooler.dense"))
        return float(self.linear(pooled, "classifier")[0])


def cosine(one, other):
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
