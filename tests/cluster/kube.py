"""``python -m tests.cluster.kube``: Kubernetes' API server and scheduler, and etcd, for tests.

Debian packages only kubectl, but from the whole source of 1.20.2, vendored: both are compiled from
it with Debian's Go in build/kube (signatures checked by apt; six minutes of CPU time, 2 GB while it
lasts) and put into build/tools; nothing is installed. Other versions are used if they come first on
PATH. Tests have them run on loopback, with certificates of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import ssl
import subprocess
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.agents import free_port, wait_until
from tests.debian import apt

CHECKOUT = Path(__file__).parents[2]
TOOLS = CHECKOUT / "build" / "tools"
BUILD = CHECKOUT / "build" / "kube"
SUITE = "bookworm"
GO = "golang-1.19"
PARTS = ("etcd", "kube-apiserver", "kube-scheduler")
_VENDOR = "k8s.io/kubernetes/vendor/k8s.io"
_PLAIN_SINCE = (1, 25)
"""From then on the scheduler's configuration is of version v1."""


def find(name: str) -> str | None:
    """The program ``name``, on PATH or fetched."""
    return shutil.which(name) or shutil.which(name, path=str(TOOLS))


def missing() -> str:
    """Why there is no cluster to test with; empty if there is one."""
    lacking = [name for name in (*PARTS, "openssl") if find(name) is None]
    return f"there is no {', '.join(lacking)}; make kube-tools builds them" if lacking else ""


def build() -> None:
    """Ends with one line if the packages cannot be had or the source cannot be compiled."""
    shutil.rmtree(BUILD, ignore_errors=True)
    apt(
        BUILD,
        SUITE,
        ["download", f"{GO}-go", f"{GO}-src", "etcd-server"],
        ["source", "--download-only", "kubernetes"],
        sources=True,
    )
    for package in (BUILD / "cache/archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", str(package), str(BUILD / "root")], check=True)
    (archive,) = (BUILD / "cache/archives").glob("kubernetes_*.orig.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(BUILD / "source", filter="data")
    (unpacked,) = (BUILD / "source").iterdir()
    version = unpacked.name.partition("-")[2]
    major, minor = version.split(".")[:2]
    flags = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    # As Debian compiles it: today's Go finds its list of modules wanting.
    checkout = BUILD / "go/src/k8s.io/kubernetes"
    checkout.parent.mkdir(parents=True)
    unpacked.rename(checkout)
    go_root = BUILD / "root/usr/lib" / GO.replace("golang", "go")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(BUILD),
        "GOROOT": str(go_root),
        "GOPATH": str(BUILD / "go"),
        "GO111MODULE": "off",
        "CGO_ENABLED": "0",
    }

    def run(*command: str | Path) -> None:
        ran = subprocess.run(
            command, cwd=checkout, env=environment, stdin=subprocess.DEVNULL, check=False
        )
        if ran.returncode != 0:
            raise SystemExit(f"kube: {Path(command[0]).name} failed, see above")

    go, generator = go_root / "bin/go", BUILD / "openapi-gen"
    # The source lacks one generated file, which kubectl does without.
    run(go, "build", "-o", generator, f"{_VENDOR}/kube-openapi/cmd/openapi-gen")
    run(
        generator,
        *("--input-dirs", ",".join(_described(checkout))),
        *("--output-package", "k8s.io/kubernetes/pkg/generated/openapi"),
        *("--output-file-base", "zz_generated.openapi"),
        *("--go-header-file", "vendor/k8s.io/code-generator/hack/boilerplate.go.txt"),
        *("--report-filename", BUILD / "violations"),
    )
    links = " ".join(
        ["-s", "-w", *(f"-X {_VENDOR}/component-base/version.{k}={v}" for k, v in flags.items())]
    )
    TOOLS.mkdir(parents=True, exist_ok=True)
    for name in PARTS[1:]:
        run(go, "build", "-ldflags", links, "-o", TOOLS / name, f"k8s.io/kubernetes/cmd/{name}")
    shutil.copy(BUILD / "root/usr/bin/etcd", TOOLS / "etcd")
    shutil.rmtree(BUILD)


def _described(checkout: Path) -> list[str]:
    """The packages that Kubernetes' own Makefile has described for OpenAPI."""
    found = set()
    for top, package in (("pkg", "k8s.io/kubernetes/pkg"), ("staging/src/k8s.io", _VENDOR)):
        for source in (checkout / top).rglob("*.go"):
            words = source.relative_to(checkout / top).parent
            if words.parts[0] not in ("code-generator", "sample-apiserver") and any(
                line.startswith("// +k8s:openapi-gen=") for line in source.open()
            ):
                found.add(f"{package}/{words}")
    return sorted(found)


class Certificates:
    """An authority of the test's own, and what it signs; files are in ``place``."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._made("req", "-x509", "-days", "2", "-subj", "/CN=test", *_NEW_KEY, self.key("ca"),
                   "-out", self.cert("ca"),
                   "-addext", "keyUsage=critical,keyCertSign,cRLSign")  # fmt: skip

    def cert(self, name: str) -> str:
        return str(self._place / f"{name}.crt")

    def key(self, name: str) -> str:
        return str(self._place / f"{name}.key")

    def sign(self, name: str, user: str, *groups: str) -> None:
        """A certificate of ``user``, which is also one of a server on 127.0.0.1."""
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        asked, extra = self._place / f"{name}.csr", self._place / f"{name}.ext"
        extra.write_text(
            "subjectAltName=IP:127.0.0.1,DNS:localhost\nkeyUsage=critical,digitalSignature\n"
            "extendedKeyUsage=serverAuth,clientAuth\n"
        )
        self._made("req", "-subj", subject, *_NEW_KEY, self.key(name), "-out", str(asked))
        self._made("x509", "-req", "-in", str(asked), "-days", "2", "-extfile", str(extra),
                   "-CA", self.cert("ca"), "-CAkey", self.key("ca"), "-CAcreateserial",
                   "-out", self.cert(name))  # fmt: skip

    def _made(self, *arguments: str) -> None:
        subprocess.run([find("openssl") or "", *arguments], check=True, capture_output=True)


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout")


class ControlPlane:
    """etcd and an API server, on loopback; files are in ``place``.

    There are no controllers and no kubelet: what a test does not create is not there, and a pod
    that is deleted stays until the test removes it.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.certificates = Certificates(place)
        self.port = free_port()
        self._running: list[subprocess.Popen[bytes]] = []
        for name, user, groups in (
            ("server", "server", ()),
            ("admin", "admin", ("system:masters",)),
            ("scheduler", "system:kube-scheduler", ()),
        ):
            self.certificates.sign(name, user, *groups)

    def start(self) -> None:
        sign, etcd, peers = self.certificates, free_port(), free_port()
        self._begin(
            "etcd",
            f"--data-dir={self.place / 'etcd'}",
            f"--listen-client-urls=https://127.0.0.1:{etcd}",
            f"--advertise-client-urls=https://127.0.0.1:{etcd}",
            f"--listen-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-cluster=default=http://127.0.0.1:{peers}",
            f"--cert-file={sign.cert('server')}",
            f"--key-file={sign.key('server')}",
            f"--trusted-ca-file={sign.cert('ca')}",
            "--client-cert-auth",
        )
        self._begin(
            "kube-apiserver",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--secure-port={self.port}",
            f"--etcd-servers=https://127.0.0.1:{etcd}",
            f"--etcd-cafile={sign.cert('ca')}",
            f"--etcd-certfile={sign.cert('admin')}",
            f"--etcd-keyfile={sign.key('admin')}",
            f"--tls-cert-file={sign.cert('server')}",
            f"--tls-private-key-file={sign.key('server')}",
            f"--client-ca-file={sign.cert('ca')}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://127.0.0.1",
            f"--service-account-key-file={sign.cert('server')}",
            f"--service-account-signing-key-file={sign.key('server')}",
            # Their controllers would remove the taint, and make the account.
            "--disable-admission-plugins=TaintNodesByCondition,ServiceAccount",
        )
        wait_until(self._is_ready, 60.0)

    def stop(self) -> None:
        for one in reversed(self._running):
            one.terminate()
            try:
                one.wait(20.0)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()

    def kubeconfig(self, name: str, token: str | None = None) -> str:
        """The path of a configuration: of the certificate ``name``, or of ``token``."""
        sign = self.certificates
        user = {"token": token} if token is not None else {
            "client-certificate": sign.cert(name), "client-key": sign.key(name)
        }  # fmt: skip
        server = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority": sign.cert("ca"),
        }
        path = self.place / f"{name}.conf"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "made",
            "clusters": [{"name": "made", "cluster": server}],
            "contexts": [{"name": "made", "context": {"cluster": "made", "user": name}}],
            "users": [{"name": name, "user": user}],
        }))  # fmt: skip
        return str(path)

    def log(self, name: str) -> str:
        """What ``name`` has written so far."""
        return (self.place / f"{name}.log").read_text(errors="replace")

    @contextlib.contextmanager
    def scheduler(self, extenders: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """A kube-scheduler with ``extenders``; its log is overwritten by the next one."""
        version = version_of("kube-scheduler")
        configuration: dict[str, Any] = {
            "apiVersion": "kubescheduler.config.k8s.io/"
            + ("v1" if version >= _PLAIN_SINCE else "v1beta1"),
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": self.kubeconfig("scheduler")},
            "leaderElection": {"leaderElect": False},
            "extenders": list(extenders),
        }
        more = []
        if version < _PLAIN_SINCE:
            configuration |= {"healthzBindAddress": "", "metricsBindAddress": ""}
            more = ["--port=0"]
        path = self.place / "scheduler.json"
        path.write_text(json.dumps(configuration))
        self._begin("kube-scheduler", f"--config={path}", "--secure-port=0", "--v=4", *more)
        try:
            yield
        finally:
            one = self._running.pop()
            one.kill()
            one.wait()

    def _begin(self, name: str, *arguments: str) -> None:
        with (self.place / f"{name}.log").open("wb") as log:
            self._running.append(
                subprocess.Popen(
                    [find(name) or name, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def _is_ready(self) -> bool:
        for one in self._running:
            assert one.poll() is None, "it ended, see its log"
        context = ssl.create_default_context(cafile=self.certificates.cert("ca"))
        context.load_cert_chain(self.certificates.cert("admin"), self.certificates.key("admin"))
        try:
            with urllib.request.urlopen(
                f"https://127.0.0.1:{self.port}/readyz", timeout=5, context=context
            ) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def version_of(name: str) -> tuple[int, int]:
    said = subprocess.run(
        [find(name) or name, "--version"], capture_output=True, text=True, check=True
    )
    major, minor = said.stdout.rpartition("v")[2].split(".")[:2]
    return int(major), int(minor)


@contextlib.contextmanager
def control_plane(place: Path) -> Iterator[ControlPlane]:
    made = ControlPlane(place)
    try:
        made.start()
        yield made
    finally:
        made.stop()


if __name__ == "__main__":
    if missing():
        build()
