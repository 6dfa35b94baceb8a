"""SetFit on all-MiniLM-L6-v2, behind the verbs of `systems`.

Needs `setfit`, in an environment of its own with this package in it, and
`run.py --minilm-folder`, the folder with the weights.
"""

import tempfile

LENGTH = 128  # tokens; the model's own 256 take twice as long
_known = {}  # bodies tuned on the same records, for the settings tried after


def tuned_vectors(gold, rows, n_pairs):
    """Tune the model on pairs of records; give a function of rows: their vectors."""
    key = rows.tobytes(), n_pairs
    if key not in _known:
        _known.clear()
        _known[key] = _tune(gold, rows, n_pairs)
    model = _known[key]
    return lambda at: model.model_body.encode(
        [gold.texts[i] for i in at], normalize_embeddings=True, show_progress_bar=False
    )


def _tune(gold, rows, n_pairs):
    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer
    from setfit import SetFitModel, Trainer, TrainingArguments

    torch.set_num_threads(1)
    body = SentenceTransformer(str(gold.minilm_folder), device="cpu")
    body.max_seq_length = LENGTH
    model = SetFitModel(
        model_body=body, model_head=None, multi_target_strategy="one-vs-rest"
    )
    labels = (gold.y[rows] == 1).astype(int).tolist()
    data = Dataset.from_dict({"text": [gold.texts[i] for i in rows], "label": labels})
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder,
                batch_size=16,
                num_epochs=1,
                num_iterations=n_pairs,
                max_length=LENGTH,
                report_to="none",
                save_strategy="no",
                show_progress_bar=False,
                seed=0,
            ),
            train_dataset=data,
        )
        texts, y = trainer.dataset_to_parameters(trainer.train_dataset)
        trainer.train_embeddings(texts, y, args=trainer.args)
    return model
