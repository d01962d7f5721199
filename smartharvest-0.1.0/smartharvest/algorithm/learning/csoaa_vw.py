"""Cost-sensitive one-against-all by Vowpal Wabbit, the paper's learner (section 4).

VW regresses each class's cost with its own linear model over the five features and a bias, and
predicts the class of lowest cost. Core counts go in as they are: VW normalizes.

The decisions are those of VW's text examples in less than a quarter of the time: one example per
possible label is parsed once, and only its features are exchanged. That goes around
``setup_example``, so the feature indices are pre-multiplied and the labels set beforehand.
"""

from __future__ import annotations

import os
import struct
import tempfile

import pylibvw

from smartharvest.algorithm.learning.base import Features
from smartharvest.algorithm.learning.costs import Costs

_COST_SENSITIVE = 3  # lCostSensitive of VW's label types
_NAMESPACE = ord(" ")  # VW's default namespace, whose hash is 0: feature ids are used as they are
_FEATURES = 6  # five and the bias
_LESSONS = struct.Struct("<Q")  # VW's own model follows


class VwCsoaa:
    """A csoaa learner over the classes 0..total with a constant learning rate.

    Not thread-safe, keeps the GIL while it computes, and must not be carried over a fork.
    """

    def __init__(self, costs: Costs, learning_rate: float = 0.1) -> None:
        """``costs[label, class]`` as from ``cost_table``: square, one row for every label."""
        self._costs = costs
        self._learning_rate = learning_rate
        self._begin(())

    def _begin(self, more: tuple[str, ...]) -> None:
        costs = self._costs
        classes = len(costs)
        # A weight for every feature and class: with fewer bits VW would let some share theirs.
        bits = (_FEATURES * classes - 1).bit_length()
        self._vw = pylibvw.vw(
            [
                *("--csoaa", str(classes)),
                *("--indexing", "0"),  # the class is the core count; unset, VW guesses
                *("--learning_rate", repr(self._learning_rate)),
                *("--power_t", "0"),  # a constant rate; by default VW's steps shrink
                *("--bit_precision", str(bits)),
                "--noconstant",  # the bias is our sixth feature, in a slot of its own
                "--per_model_save_load",  # or only one class's normalizer would be saved
                "--quiet",
                *more,
            ]
        )
        self.lessons = 0
        # Class c's weight lies c strides behind the feature's index.
        step = classes * self._vw.get_stride()
        self._indices = tuple(step * feature for feature in range(_FEATURES))
        self._lessons = [self._example(row.tolist()) for row in costs]
        # Labelled too, though VW ignores it here: without costs it predicts by another loop,
        # which in some releases reads one class past the end under --indexing 0.
        self._question = self._example(costs[0].tolist())

    def learn(self, features: Features, label: int) -> None:
        """Regress every class's cost for a window whose true peak is ``label``, 0..total."""
        example = self._lessons[label]
        self._fill(example, features)
        self._vw.learn(example)
        self.lessons += 1

    def predict(self, features: Features) -> int:
        """The class of lowest predicted cost, 0..total, the lowest class on ties."""
        self._fill(self._question, features)
        self._vw.predict(self._question)
        prediction: int = self._question.get_costsensitive_prediction()
        return prediction

    def scores(self, features: Features) -> list[float]:
        """The predicted, unclipped cost of every class."""
        self.predict(features)
        partial = self._question.get_costsensitive_partial_prediction
        return [partial(index) for index in range(len(self._costs))]

    def weights(self) -> list[list[float]]:
        """Per class the weights of its features, the bias last."""
        classes = len(self._costs)
        return [
            [self._vw.get_weight(feature * classes + index, 0) for feature in range(_FEATURES)]
            for index in range(classes)
        ]

    def dump(self) -> bytes:
        """VW's model file. VW itself would remove an old file before it has written the new one."""
        with tempfile.TemporaryDirectory(prefix="smartharvest-") as directory:
            path = os.path.join(directory, "model.vw")
            self._vw.save(path)
            with open(path, "rb") as file:
                return _LESSONS.pack(self.lessons) + file.read()

    def load(self, dumped: bytes) -> None:
        """Go on from what was dumped; ValueError if VW will not have it."""
        if len(dumped) < _LESSONS.size:
            raise ValueError("too short for a model")
        with tempfile.TemporaryDirectory(prefix="smartharvest-") as directory:
            path = os.path.join(directory, "model.vw")
            with open(path, "wb") as file:
                file.write(dumped[_LESSONS.size :])
            try:
                self._begin(("--initial_regressor", path))
            except Exception as error:  # VW's own types
                self._begin(())
                raise ValueError(f"VW refused it: {error}") from error
        (self.lessons,) = _LESSONS.unpack_from(dumped)

    def _example(self, costs: list[float]) -> pylibvw.example:
        example = pylibvw.example(self._vw, _COST_SENSITIVE)
        example.push_namespace(_NAMESPACE)
        label = " ".join(f"{index}:{cost}" for index, cost in enumerate(costs))
        example.set_label_string(self._vw, label, _COST_SENSITIVE)
        return example

    def _fill(self, example: pylibvw.example, features: Features) -> None:
        i_min, i_max, i_mean, i_std, i_median, i_bias = self._indices
        low, high, mean, std, median = features
        example.erase_namespace(_NAMESPACE)
        # Spelled out: half a microsecond less than zip() on every window.
        example.push_feature_list(
            self._vw,
            _NAMESPACE,
            0,
            [
                (i_min, low),
                (i_max, high),
                (i_mean, mean),
                (i_std, std),
                (i_median, median),
                (i_bias, 1.0),
            ],
        )
