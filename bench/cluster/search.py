"""``python -m bench.cluster.search ADDRESS SECONDS``: the batch job, a random search of parameters.

A neural network on scikit-learn's digits, one task of Ray's per fit and fold; all fits take about
the same time, so that their number tells the cores they had. A core of a simulated machine stands
for ``SHARE`` of one of this machine's: a task sleeps for the rest. Prints a line of JSON for each
fit that has ended, and one at the end.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from typing import Any

SHARE = 0.15
FOLDS = 3
WAITING = 14
"""Tasks given to Ray at a time: more than there ever are cores."""


def fit(parameters: dict[str, float], fold: int) -> tuple[str, float]:
    """(node, accuracy) of one fit. Runs in Ray's worker."""
    import warnings

    import ray
    from sklearn.datasets import load_digits
    from sklearn.model_selection import KFold
    from sklearn.neural_network import MLPClassifier

    warnings.simplefilter("ignore")  # that so few rounds do not converge
    pixels, digits = load_digits(return_X_y=True)
    train, test = list(KFold(FOLDS, shuffle=True, random_state=1).split(pixels))[fold]
    began_s = time.process_time()
    network = MLPClassifier((48,), max_iter=8, batch_size=64, random_state=1, **parameters)
    accuracy = network.fit(pixels[train] / 16, digits[train]).score(pixels[test] / 16, digits[test])
    time.sleep((time.process_time() - began_s) * (1 / SHARE - 1))
    return ray.get_runtime_context().get_node_id(), float(accuracy)


def main(address: str, seconds: str) -> None:
    import ray
    from scipy.stats import loguniform
    from sklearn.model_selection import ParameterSampler

    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    task = ray.remote(num_cpus=1)(fit)
    choices = {"alpha": loguniform(1e-6, 1e1), "learning_rate_init": loguniform(1e-4, 1e-1)}
    left = iter(
        [
            (parameters, fold)
            for parameters in ParameterSampler(choices, 10_000, random_state=1)
            for fold in range(FOLDS)
        ]
    )
    waiting: dict[Any, dict[str, float]] = {}
    scores: dict[str, list[float]] = defaultdict(list)
    given = lost = 0
    until_s = time.monotonic() + float(seconds)
    while time.monotonic() < until_s or waiting:
        while len(waiting) < WAITING and time.monotonic() < until_s:
            parameters, fold = next(left)
            waiting[task.remote(parameters, fold)] = parameters
            given += 1
        done, _ = ray.wait(list(waiting), timeout=0.5)
        for reference in done:
            parameters = waiting.pop(reference)
            try:
                node, accuracy = ray.get(reference)
            except ray.exceptions.RayError:
                lost += 1
                continue
            scores[json.dumps(parameters, sort_keys=True)].append(accuracy)
            print(json.dumps({"at_s": time.monotonic(), "node": node}), flush=True)
    whole = {key: sum(got) / FOLDS for key, got in scores.items() if len(got) == FOLDS}
    best = max(whole, key=whole.__getitem__)
    print(json.dumps({"given": given, "lost": lost, "candidates": len(whole),
                      "best": json.loads(best), "accuracy": whole[best]}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
