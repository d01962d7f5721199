"""The agent's chart, linted and rendered by Helm itself and held against Kubernetes' schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.test_helm_chart import CHART, RELEASE, rendered, values

helm = pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")
schema = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

INFORMATION = 1
"""The severity of what Helm's linter merely recommends; warnings and errors are above."""
VALUES: tuple[dict[str, Any], ...] = (
    {},
    {
        "textfileDirectory": "/var/lib/node",
        "dryRun": False,
        "tolerations": [{"operator": "Exists"}],
    },
    {"config": 'primary = ["cgroup:a b"]\n# {{ "quotes" }}\n', "image": {"repository": "r:5000/x"}},
)


def by_helm(given: dict[str, Any]) -> dict[str, Any]:
    """Each template's document by its file name."""
    with helm.Chart.load(str(CHART)) as chart:
        texts = chart.render(given, name=RELEASE["Name"], namespace=RELEASE["Namespace"])
    return {path.rpartition("/")[2]: yaml.safe_load(text) for path, text in texts.items()}


def test_the_linter_finds_nothing_wrong() -> None:
    found = helm.lint(str(CHART))
    assert found["total_charts_linted"] == 1
    assert [one for one in found["messages"] if one["severity"] > INFORMATION] == []
    assert found["errors"] == []


@pytest.mark.parametrize("given", VALUES)
def test_helm_renders_it_as_the_other_tests_do_and_kubernetes_takes_it(
    given: dict[str, Any],
) -> None:
    merged = values() | given
    merged["image"] = values()["image"] | given.get("image", {})
    documents = by_helm(given)
    assert documents.keys() == {"configmap.yaml", "daemonset.yaml"}
    for name, document in documents.items():
        assert document == rendered(name, merged)
        schema.validate(document, "1.32", strict=True)
