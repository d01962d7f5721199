"""The chart of the agent, rendered without helm: the little of its language that it uses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest import __version__
from smartharvest.config.loading import load_settings

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

CHART = Path(__file__).parents[2] / "packaging" / "helm" / "smartharvest"
RELEASE = {"Name": "sh", "Namespace": "smartharvest"}


FUNCTIONS: dict[str, Callable[[Any], str]] = {
    "": str,
    "toJson": json.dumps,
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
}


def values() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return loaded


def looked_up(path: str, given: dict[str, Any]) -> Any:
    found: Any = {"Values": given, "Release": RELEASE}
    for name in path.strip().lstrip(".").split("."):
        found = found[name]
    return found


def rendered(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The document of a template; fails for an action that is not of the few known here."""

    def conditional(match: re.Match[str]) -> str:
        return match[2] if looked_up(match[1], given) else ""

    def action(match: re.Match[str]) -> str:
        text = match[1].strip()
        plain, _, function = text.partition("|")
        if plain.startswith("printf "):
            form, *arguments = plain.split()[1:]
            value: Any = json.loads(form) % tuple(looked_up(one, given) for one in arguments)
        else:
            value = looked_up(plain, given)
        return FUNCTIONS[function.strip()](value)

    text = (CHART / "templates" / name).read_text()
    text = re.sub(r"\{\{- if (\S+) \}\}(.*?)\{\{- end \}\}", conditional, text, flags=re.DOTALL)
    document: dict[str, Any] = yaml.safe_load(re.sub(r"\{\{-?(.*?)-?\}\}", action, text))
    return document


def pod(given: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = rendered("daemonset.yaml", given)["spec"]["template"]["spec"]
    return spec


def test_it_begins_with_a_dry_run_that_a_value_ends() -> None:
    (agent,) = pod(values())["containers"]
    assert agent["args"] == ["agent", "--config", "/etc/smartharvest/agent.toml", "--dry-run"]
    (agent,) = pod(values() | {"dryRun": False})["containers"]
    assert agent["args"] == ["agent", "--config", "/etc/smartharvest/agent.toml"]


def test_its_containers_have_the_least_rights() -> None:
    spec = pod(values())
    for container in (*spec["initContainers"], *spec["containers"]):
        rights = container["securityContext"]
        assert "privileged" not in rights
        assert rights["allowPrivilegeEscalation"] is False
        assert rights["readOnlyRootFilesystem"] is True
        assert rights["capabilities"] == {
            "drop": ["ALL"],
            "add": ["DAC_OVERRIDE", "SYS_NICE", "BPF", "PERFMON"],
        }
    assert spec["automountServiceAccountToken"] is False
    assert "hostNetwork" not in spec


def test_the_hosts_groups_and_the_journal_are_mounted() -> None:
    spec = pod(values())
    hosts = {one["name"]: one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one}
    mounts = {one["name"]: one["mountPath"] for one in spec["containers"][0]["volumeMounts"]}
    assert hosts["cgroups"] == mounts["cgroups"] == "/sys/fs/cgroup"
    # The next pod, or the host itself, puts back what a killed one has left.
    assert hosts["state"] == mounts["state"] == "/run/smartharvest"
    assert mounts.keys() == {one["name"] for one in spec["volumes"]}


def test_its_configuration_is_mounted_as_a_file_and_another_makes_other_pods() -> None:
    # The directory of a configMap is everybody's to write, and what is in such a one is refused.
    spec = pod(values())
    for container in (*spec["initContainers"], *spec["containers"]):
        (mount,) = (one for one in container["volumeMounts"] if one["name"] == "config")
        assert mount["mountPath"] == "/etc/smartharvest/agent.toml"
        assert mount["subPath"] in rendered("configmap.yaml", values())["data"]
    seen = {
        rendered("daemonset.yaml", values() | {"config": text})["spec"]["template"]["metadata"][
            "annotations"
        ]["smartharvest.io/configuration"]
        for text in ("keep_idle = 1", "keep_idle = 2")
    }
    assert len(seen) == 2


def test_metrics_come_as_a_file_for_node_exporter_where_a_directory_is_named() -> None:
    spec = pod(values() | {"textfileDirectory": "/var/lib/node"})
    _, metrics = spec["containers"]
    assert metrics["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["DAC_OVERRIDE"]}
    places = {one["name"]: one["mountPath"] for one in metrics["volumeMounts"]}
    assert metrics["args"][2] == f"{places['textfile']}/smartharvest.prom"
    (volume,) = (one for one in spec["volumes"] if one["name"] == "textfile")
    assert volume["hostPath"] == {"path": "/var/lib/node", "type": "Directory"}


def test_its_selector_matches_its_pods() -> None:
    document = rendered("daemonset.yaml", values())["spec"]
    labels = document["template"]["metadata"]["labels"]
    assert document["selector"]["matchLabels"].items() <= labels.items()


def test_its_configuration_is_a_good_one(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text(rendered("configmap.yaml", values())["data"]["agent.toml"])
    load_settings({}, str(file)).require_targets()


def test_any_configuration_survives_being_rendered() -> None:
    text = 'primary = ["cgroup:a b"]\n# {{ "quotes" }} and \\ back slashes: é\n'
    document = rendered("configmap.yaml", values() | {"config": text})
    assert document["data"]["agent.toml"] == text


def test_its_version_and_its_images_are_those_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert {chart["version"], chart["appVersion"], values()["image"]["tag"]} == {__version__}
