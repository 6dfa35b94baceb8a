"""Which semantic space serves the learner best?

    python experiments/background/spaces.py --shared ../shared --work FOLDER

Learns spaces in several ways from the same 60,000 abstracts (those of the gold
left out), over the n-grams of the shipped background, and has `learn` use each
in its place. What a step found is kept in FOLDER, so that a run that was ended
goes on where it stopped. Every space is one matrix (n_ngrams, n_dimensions)
and folds into the weights of a model.

References
----------
O. Levy, Y. Goldberg, "Neural word embedding as implicit matrix factorization",
NeurIPS 2014; P. Bojanowski, E. Grave, A. Joulin, T. Mikolov, "Enriching word
vectors with subword information", TACL 5 (2017); A. van den Oord, Y. Li,
O. Vinyals, "Representation learning with contrastive predictive coding",
arXiv:1807.03748.
"""

import argparse
import json
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from build import semantic_space
from scipy import linalg, sparse

from tagger.background import Background, shipped_background
from tagger.features import Vocabulary, find, ngram_events, only, read_document
from tagger.formats import read_records
from tagger.material import prepare
from tagger.records import Record
from tagger.splits import multilabel_folds
from tagger.theme_file import read_themes
from tagger.tokens import join_codes
from tagger.training import learn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REFERENCE = "svd-192"
DIMENSIONS = 192
NO_THEME = 0.39  # records without a theme, for each with one; as in the gold
LABELS = ("5", "20", "all", "all, other folds")
RESAMPLES = 2000


class Sample:
    """The abstracts that the spaces are learned from, read once."""

    def __init__(self, args):
        self.work, self.args = args.work, args
        self.background = shipped_background()

    @cache  # noqa: B019 - one sample a run
    def rows(self, part):
        """Give the TF-IDF rows of 'whole', 'title' or 'abstract'."""
        file = self.work / f"sample-{part}.npz"
        if not file.exists():
            self._read()
        return sparse.load_npz(file)

    def tokens(self):
        """Give codes and breaks of all tokens, and the size of each field."""
        file = self.work / "sample-tokens.npz"
        if not file.exists():
            self._read()
        return np.load(file)

    def _read(self):
        gold = {r.id for r in read_records(self.args.shared / "gold" / "open.jsonl")}
        records = []
        for file in sorted((self.args.shared / "data/abstracts").glob("part-*")):
            table = pq.read_table(file, columns=["id", "title", "abstract"])
            records += list(zip(*table.to_pydict().values(), strict=True))
        records = [r for r in records if r[0] not in gold]
        chosen = np.random.default_rng(0).permutation(len(records))
        chosen = np.sort(chosen[: self.args.sample])
        vocabulary = Vocabulary(np.asarray(self.background.codes), self.background.idf)
        rows = {"whole": [], "title": [], "abstract": []}
        codes, breaks, sizes = [], [], []
        for start in range(0, len(chosen), 1000):
            whole = [
                read_document(Record(id="-", title=title or "", abstract=text or ""))
                for _, title, text in (records[i] for i in chosen[start : start + 1000])
            ]
            for part, documents in (
                ("whole", whole),
                ("title", [only(d, title=True) for d in whole]),
                ("abstract", [only(d, title=False) for d in whole]),
            ):
                found = vocabulary.transform(ngram_events(documents), len(documents))
                rows[part].append(
                    sparse.csr_matrix(
                        (
                            found.values.astype(np.float32),
                            found.columns.astype(np.int32),
                            found.indptr,
                        ),
                        shape=(len(documents), len(vocabulary)),
                    )
                )
            for document in whole:
                for field in (document.title_tokens, document.abstract_tokens):
                    codes.append(np.array(field.codes, np.uint64))
                    breaks.append(np.array(field.breaks, bool))
                    sizes.append(len(field))
        for part, blocks in rows.items():
            sparse.save_npz(
                self.work / f"sample-{part}.npz",
                sparse.vstack(blocks, format="csr"),
                compressed=False,
            )
        np.savez(
            self.work / "sample-tokens.npz",
            codes=np.concatenate(codes),
            breaks=np.concatenate(breaks),
            sizes=np.array(sizes),
        )


# ------------------------------------------------------------------ the spaces


def svd(sample, n_dimensions):
    """Give the leading right singular vectors of the TF-IDF matrix."""
    return kept(sample, "svd-400", _svd_400)[:, :n_dimensions]


def _svd_400(sample):
    return semantic_space(sample.rows("whole"), 400, seed=0, n_iterations=2)[0]


def shipped(sample):
    """Give the space as shipped: SVD of all abstracts, in steps of int8."""
    return sample.background.space


def ppmi(sample, n_dimensions=DIMENSIONS, n_contexts=4000, least=5):
    """Factorise how much likelier than by chance n-grams share an abstract.

    Contexts are the commonest n-grams; each vector is ``U * sqrt(S)``.
    """
    stands = sample.rows("whole").copy()
    stands.data[:] = 1.0
    n, df = stands.shape[0], np.maximum(stands.getnnz(axis=0), 1)
    contexts = np.sort(np.argsort(-df, kind="stable")[:n_contexts])
    beside = stands[:, contexts].tocsr()
    by_ngram = stands.T.tocsr()
    blocks = []
    for start in range(0, by_ngram.shape[0], 4000):
        together = (by_ngram[start : start + 4000] @ beside).tocoo()
        keep = together.data >= least
        row, column, count = (
            a[keep] for a in (together.row, together.col, together.data)
        )
        value = np.log(count * n / (df[start + row] * df[contexts[column]]))
        above = value > 0
        blocks.append(
            sparse.csr_matrix(
                (value[above].astype(np.float32), (row[above], column[above])),
                shape=together.shape,
            )
        )
    matrix = sparse.vstack(blocks, format="csr")
    right, values = semantic_space(matrix, n_dimensions, seed=0, n_iterations=1)
    space = matrix @ right.astype(np.float32) / np.sqrt(values).astype(np.float32)
    return centre(sample, space)


def word_vectors(sample):
    """Train skip-gram vectors; an n-gram has the mean of its words."""
    import fasttext

    found = sample.tokens()
    codes, breaks, sizes = found["codes"], found["breaks"], found["sizes"]
    column = find(np.asarray(sample.background.codes), codes)
    file = sample.work / "tokens.txt"
    ends = np.cumsum(sizes)
    with file.open("w") as out:
        for start, end in zip(ends - sizes, ends, strict=True):
            words = column[start:end]
            out.write(" ".join(map(str, words[words >= 0].tolist())) + "\n")
    model = fasttext.train_unsupervised(
        str(file),
        model="skipgram",
        dim=DIMENSIONS,
        epoch=sample.args.epochs,
        minCount=1,
        minn=0,
        maxn=0,
        bucket=0,
        thread=1,
        verbose=0,
    )
    space = np.zeros((len(sample.background.codes), DIMENSIONS), np.float32)
    for word in model.words:
        if word != "</s>":
            space[int(word)] = model.get_word_vector(word)
    inside = np.flatnonzero(~breaks[1:])
    pairs = np.unique(np.stack([codes[inside], codes[inside + 1]], axis=1), axis=0)
    joined = np.array(
        [join_codes(a, b) for a, b in pairs.tolist()], np.uint64
    )  # one pair a code, but for collisions of 64 bits
    at = find(np.asarray(sample.background.codes), joined)
    left, right = (
        find(np.asarray(sample.background.codes), pairs[:, side]) for side in (0, 1)
    )
    both = (at >= 0) & (left >= 0) & (right >= 0)
    space[at[both]] = (space[left[both]] + space[right[both]]) / 2
    return centre(sample, space)


def title_to_abstract(sample):
    """Give the directions of the SVD on which titles and abstracts agree.

    A canonical correlation analysis whose two maps are the same: directions of
    unit variance, each weighed by how well it agrees.
    """
    base = kept(sample, "svd-400", _svd_400)
    titles, abstracts = _two_views(sample, base)
    values, maps = _agreement(titles, abstracts)
    return base @ (maps[:, :DIMENSIONS] * values[:DIMENSIONS]).astype(np.float32)


def contrastive(sample, n_steps=240, size=512, heat=0.05, rate=2e-3):
    """Train a map by InfoNCE so that a title finds its own abstract.

    It starts as `title_to_abstract`; Adam, cosines, both directions.
    """
    base = kept(sample, "svd-400", _svd_400)
    titles, abstracts = _two_views(sample, base)
    values, maps = _agreement(titles, abstracts)
    spread = np.float32(np.sqrt(DIMENSIONS))
    start = maps[:, :DIMENSIONS] * values[:DIMENSIONS] / spread
    # In white coordinates every direction moves at the same rate.
    white, back = maps.astype(np.float32), linalg.inv(maps)
    titles, abstracts = titles @ white, abstracts @ white
    m = (back @ start).astype(np.float32)
    rng = np.random.default_rng(0)
    first, second = np.zeros_like(m), np.zeros_like(m)
    order = np.zeros(0, np.int64)
    for step in range(1, n_steps + 1):
        if len(order) < size:
            order = rng.permutation(len(titles))
        batch, order = order[:size], order[size:]
        t, a = titles[batch], abstracts[batch]
        gu, gv, _ = _info_nce(t @ m, a @ m, heat)
        gradient = t.T @ gu + a.T @ gv
        first += 0.1 * (gradient - first)
        second += 0.01 * (gradient**2 - second)
        ease = rate * (1 - step / (n_steps + 1))
        move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        m -= np.float32(ease) * move
    return base @ (white @ m)


def _two_views(sample, base):
    titles, abstracts = (sample.rows(part) @ base for part in ("title", "abstract"))
    both = (np.linalg.norm(titles, axis=1) > 0) & (
        np.linalg.norm(abstracts, axis=1) > 0
    )
    return titles[both], abstracts[both]


def contrastive_ngrams(
    sample, start="contrastive-192", n_steps=150, size=768, heat=0.05, rate=0.05
):
    """Train every n-gram's vector by InfoNCE: a title finds its own abstract.

    N-grams of the title are taken from its abstract, so that it is found by
    the company they keep. Starts as another space; Adagrad, one rate a row.
    """
    space = kept(sample, start, SPACES[start]).astype(np.float32)
    titles, abstracts = sample.rows("title"), sample.rows("abstract")
    shared = titles.copy()
    shared.data[:] = 1.0
    abstracts = (abstracts - abstracts.multiply(shared)).tocsr()
    abstracts.eliminate_zeros()
    pairs = np.flatnonzero((titles.getnnz(axis=1) > 1) & (abstracts.getnnz(axis=1) > 9))
    space /= np.linalg.norm(abstracts[:5000] @ space, axis=1).mean()
    rng = np.random.default_rng(0)
    travelled = np.full(len(space), 1e-12, np.float32)
    order = np.zeros(0, np.int64)
    for step in range(n_steps):
        if len(order) < size:
            order = rng.permutation(pairs)
        batch, order = order[:size], order[size:]
        rows = sparse.vstack([titles[batch], abstracts[batch]], format="csr")
        image = rows @ space
        gu, gv, loss = _info_nce(image[:size], image[size:], heat)
        gradient = rows.T.tocsr() @ np.vstack([gu, gv]).astype(np.float32)
        seen = np.unique(rows.indices)
        gradient = gradient[seen]
        travelled[seen] += (gradient**2).sum(axis=1)
        ease = np.float32(rate * (1 - step / n_steps))
        space[seen] -= ease * gradient / np.sqrt(travelled[seen])[:, None]
        if step % 15 == 0:
            print(f"contrastive-ngrams: step {step} loss {loss:.3f}", flush=True)
    return space


def _info_nce(u, v, heat):
    """Give the gradients of InfoNCE on cosines, both directions, and the loss."""
    n = len(u)
    same = np.arange(n)
    nu, nv = (np.linalg.norm(x, axis=1, keepdims=True) + 1e-6 for x in (u, v))
    u, v = u / nu, v / nv
    cosines = u @ v.T / heat
    slope, loss = np.zeros_like(cosines), 0.0
    for axis in (0, 1):
        p = np.exp(cosines - cosines.max(axis=axis, keepdims=True))
        p /= p.sum(axis=axis, keepdims=True)
        loss -= float(np.log(p[same, same] + 1e-9).mean()) / 2
        slope += p / (2 * n * heat)
    slope[same, same] -= 1 / (n * heat)
    gu, gv = slope @ v, slope.T @ u
    gu = (gu - (gu * u).sum(1, keepdims=True) * u) / nu
    gv = (gv - (gv * v).sum(1, keepdims=True) * v) / nv
    return gu, gv, loss


def _agreement(titles, abstracts):
    """Give correlations, falling, and directions of unit variance."""
    t, a = (x.astype(np.float64) - x.mean(axis=0) for x in (titles, abstracts))
    between = (t.T @ a + a.T @ t) / (2 * len(t))
    within = (t.T @ t + a.T @ a) / (2 * len(t))
    within += 1e-3 * np.trace(within) / len(within) * np.eye(len(within))
    values, maps = linalg.eigh(between, within)
    return np.maximum(values[::-1], 0.0), maps[:, ::-1]


def flat(sample):
    """Give the SVD, each dimension divided by the root of its spread."""
    space = svd(sample, DIMENSIONS)
    return space / np.sqrt((sample.rows("whole") @ space).std(axis=0))


def both(sample, *names):
    """Put spaces side by side, at the same mean length."""
    spaces = [background_of(sample, kept(sample, n, SPACES[n])).space for n in names]
    return np.hstack(spaces)


def narrow(sample, name):
    """Keep the directions in which records differ most."""
    space = kept(sample, name, SPACES[name])
    image = sample.rows("whole") @ space
    _, directions = np.linalg.eigh(image.T @ image)
    return space @ directions[:, ::-1][:, :DIMENSIONS]


def centre(sample, space):
    """Move the vectors so that the mean record lies at 0, for all to differ."""
    weight = np.asarray(sample.rows("whole").sum(axis=0)).ravel()
    return space - (weight @ space / weight.sum()).astype(np.float32)


SPACES = {
    REFERENCE: lambda sample: svd(sample, 192),
    "title-to-abstract-192": title_to_abstract,
    "contrastive-192": contrastive,
    "contrastive-ngrams-192": contrastive_ngrams,
    "ppmi-192": ppmi,
    "ppmi-400": lambda sample: ppmi(sample, n_dimensions=400),
    "ppmi-contrastive-192": lambda sample: contrastive_ngrams(
        sample, "ppmi-192", n_steps=77
    ),
    "ppmi-192 + contrastive-ngrams-192": lambda sample: both(
        sample, "ppmi-192", "contrastive-ngrams-192"
    ),
    "svd-192-flat": flat,
    "svd-64": lambda sample: svd(sample, 64),
    "svd-128": lambda sample: svd(sample, 128),
    "svd-400": lambda sample: svd(sample, 400),
    "word-vectors-192": word_vectors,
    "word-contrastive-192": lambda sample: contrastive_ngrams(
        sample, "word-vectors-192", n_steps=77
    ),
    "word-vectors-192 + ppmi-contrastive-192": lambda sample: both(
        sample, "word-vectors-192", "ppmi-contrastive-192"
    ),
    "word-vectors + ppmi-contrastive to 192": lambda sample: narrow(
        sample, "word-vectors-192 + ppmi-contrastive-192"
    ),
    "shipped-192": shipped,
}
# How many times as long as the shipped space; 1 if not said.
LONGER = [
    f"{name} x 1.5"
    for name in (
        REFERENCE,
        "svd-192-flat",
        "ppmi-192",
        "ppmi-contrastive-192",
        "contrastive-ngrams-192",
        "word-vectors-192",
        "word-vectors + ppmi-contrastive to 192",
    )
]


def kept(sample, name, build):
    """Give a space that was built before, or build it and keep it."""
    file = sample.work / f"space-{name}.npy"
    if not file.exists():
        started = time.process_time()
        half = file.with_suffix(".half.npy")
        np.save(half, build(sample))
        half.rename(file)  # a run that is ended leaves no half of a space
        print(f"{name}: built in {time.process_time() - started:.0f} s", flush=True)
    return np.load(file)


# ------------------------------------------------------------- how they serve


def background_of(sample, space, longer=1.0):
    """Put a space in the place of the shipped one, `longer` times its mean length."""
    some = sample.rows("whole")[:5000]
    wanted, found = (
        np.linalg.norm(some @ s, axis=1).mean() for s in (shipped(sample), space)
    )
    b = sample.background
    scale = np.full(space.shape[1], longer * wanted / found, np.float32)
    return Background(b.codes, b.df, b.n_documents, space.astype(np.float32), scale)


def draw(y, pool, least, rng):
    """Draw records until each theme has `least` positives, and some without."""
    chosen = set()
    for column in rng.permutation(y.shape[1]):
        have = sum(y[i, column] == 1 for i in chosen)
        for i in rng.permutation(pool):
            if have >= least:
                break
            if y[i, column] == 1 and int(i) not in chosen:
                chosen.add(int(i))
                have += 1
    none = [int(i) for i in rng.permutation(pool) if not (y[i] == 1).any()]
    return np.array(sorted(chosen | set(none[: int(NO_THEME * len(chosen))])), np.int64)


def answers(material, background, labels, seeds):
    """Give what is answered: (y, given) of all records tested."""
    if labels.startswith("all"):
        seed = int(labels != "all")
        _, held_out = learn(material, background=background, seed=seed)
        return held_out.y, held_out.given
    fold = multilabel_folds(material.y, material.groups, 5, 0)
    y, given = [], []
    for seed in range(seeds):
        pool, test = (np.flatnonzero(m) for m in (fold != seed, fold == seed))
        rng = np.random.default_rng(seed)
        rows = draw(material.y, pool, int(labels), rng)
        model, _ = learn(material.part(rows), background=background, seed=seed)
        y.append(material.y[test])
        given.append(model.predict([material.records[i] for i in test]))
    return np.concatenate(y), np.concatenate(given)


def f1_of(y, given, weights):
    """Give micro-F1 and macro-F1 under each row of weights of the records."""
    true = weights @ (given & (y == 1))
    wrong = weights @ (given & (y == 0))
    missed = weights @ (~given & (y == 1))
    f1 = 2 * true / np.maximum(2 * true + wrong + missed, 1)
    t, w, m = true.sum(1), wrong.sum(1), missed.sum(1)
    return np.stack([2 * t / np.maximum(2 * t + w + m, 1), f1.mean(1)], axis=1)


def compare(y, given, reference):
    """Give figures, and 95 % intervals of the difference to the reference."""
    rng = np.random.default_rng(0)
    resamples = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), size=RESAMPLES)
    weights = np.vstack([np.ones(len(y)), resamples])
    ours, theirs = f1_of(y, given, weights), f1_of(y, reference, weights)
    low, high = np.quantile((ours - theirs)[1:], [0.025, 0.975], axis=0)
    return {
        name: {
            "value": round(float(ours[0, k]), 4),
            "difference": round(float(ours[0, k] - theirs[0, k]), 4),
            "low": round(float(low[k]), 4),
            "high": round(float(high[k]), 4),
        }
        for k, name in enumerate(("micro_f1", "macro_f1"))
    }


def main():
    """Build, measure what is not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=1, help="of the word vectors")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--spaces", default=",".join([*SPACES, *LONGER]))
    parser.add_argument("--labels", default=";".join(LABELS))
    parser.add_argument("--result", type=Path, default=HERE / "spaces.json")
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    args.work.mkdir(parents=True, exist_ok=True)
    sample = Sample(args)
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    material = prepare(read_records(gold_file), themes)
    for name in args.spaces.split(","):
        started = time.process_time()
        space, _, longer = name.partition(" x ")
        background = background_of(
            sample, kept(sample, space, SPACES[space]), float(longer or 1)
        )
        for labels in args.labels.split(";"):
            file = args.work / f"answers-{name}-{labels}.npz"
            if not file.exists():
                y, given = answers(material, background, labels, args.seeds)
                np.savez(file, y=y, given=given)
        print(f"{name}: {time.process_time() - started:.0f} s", flush=True)
        write(args)


def write(args):
    """Set every space that was measured beside the reference."""
    table = []
    for labels in LABELS:
        reference = args.work / f"answers-{REFERENCE}-{labels}.npz"
        for name in [*SPACES, *LONGER]:
            file = args.work / f"answers-{name}-{labels}.npz"
            if file.exists() and reference.exists():
                found, base = np.load(file), np.load(reference)["given"]
                figures = compare(found["y"], found["given"], base)
                table.append({"space": name, "labels_a_theme": labels, **figures})
    result = {
        "n_abstracts": args.sample,
        "epochs": args.epochs,
        "seeds": args.seeds,
        "interval": f"95 %, of the difference to {REFERENCE}, "
        f"{RESAMPLES:,} resamples of the records tested, models kept",
        "table": table,
    }
    args.result.write_text(json.dumps(result, indent=1) + "\n")
    for row in table:
        cells = [
            "{value:.4f} {difference:+.4f} ({low:+.4f}, {high:+.4f})".format(
                **row[name]
            )
            for name in ("micro_f1", "macro_f1")
        ]
        print(f"| {row['space']} | {row['labels_a_theme']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
