"""Counting of n-grams."""

import numpy as np

from registry import op
from tolerance import near


@op("TfIdfVectorizer", oldest=9)
def tf_idf(c):
    """Plain enumeration: every n-gram of every skip, as the standard describes it. Numbers only: the
    tables hold strings for string tensors, which are not supported."""
    low = c.integer(1, 2)
    high = c.integer(low, 3)
    skips = c.integer(0, 3)
    pool, starts = [], []
    grams = {}
    for n in range(1, high + 1):
        starts.append(len(pool))
        chosen = {tuple(c.rng.integers(0, 4, n).tolist()) for _ in range(c.integer(1, 4))}
        for gram in sorted(chosen):
            pool += gram
            grams[gram] = len(grams)
    indexes = [int(i) for i in c.rng.permutation(len(grams))]
    weights = [float(np.float32(c.uniform(0.2, 2))) for _ in grams]
    mode = c.choose(["TF", "IDF", "TFIDF"])
    shape = (c.integer(1, 9),) if c.chance(0.5) else (c.integer(1, 3), c.integer(1, 9))
    x = c.input(c.rng.integers(0, 4, shape).astype(c.choose([np.int32, np.int64])))
    given = mode != "TF" and c.chance(0.7)
    c.attr(mode=mode, min_gram_length=low, max_gram_length=high, max_skip_count=skips,
           ngram_counts=starts, ngram_indexes=indexes, pool_int64s=[int(v) for v in pool],
           **({"weights": weights} if given else {}))
    y = []
    for row in x.reshape(-1, shape[-1]):
        counts = np.zeros(len(grams))
        for n in range(low, high + 1):
            for skip in range(1 if n == 1 else skips + 1):
                for i in range(len(row) - (n - 1) * (skip + 1)):
                    gram = tuple(int(v) for v in row[i:i + (n - 1) * (skip + 1) + 1:skip + 1])
                    if gram in grams:
                        counts[indexes[grams[gram]]] += 1
        table = np.ones(len(grams))
        for gram_index, at in enumerate(indexes):
            table[at] = weights[gram_index] if given else 1
        y.append({"TF": counts, "IDF": (counts > 0) * table, "TFIDF": counts * table}[mode])
    return near(np.array(y).reshape(*shape[:-1], -1), 1)
