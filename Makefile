# SPDX-License-Identifier: GPL-2.0
# The front door. Everything else is behind it: cmake for tools/, kbuild for guest kernels, scripts/ for Debian packages.

SHELL    := /bin/bash
JOBS     ?= $(shell nproc)
CACHE    := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/amdgpu-hotplug
O        ?= build
RESULTS  ?= results
PREFIX   ?= /usr/local
export JOBS SETUP

.DEFAULT_GOAL := help
.PHONY: help setup tools tools-asan fuzzers run compare pool pool-cluster check bench shell list install deb clean clean-cache

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  cache: $(CACHE)"

setup: ## install what is missing on this host (root or sudo); the others ask for what they need; SETUP=no: none of them does
	@scripts/setup

tools: ## emulator, harness and pool, optimised
	@scripts/setup programs
	@scripts/build programs $(O)/release
	@scripts/build pool $(O)/release

tools-asan: ## emulator, harness and their tests under ASan and UBSan
	@scripts/setup tests
	@scripts/build tests $(O)/asan -DSANITIZE=ON

fuzzers: ## libFuzzer targets
	@scripts/setup fuzzers
	@scripts/build fuzzers $(O)/fuzz -DFUZZ=ON

run: ## watch a real amdgpu lose an emulated MI300X, on Debian's own kernel and with the series (ROWS="surprise drm": not the flagship matrix)
	@scripts/setup programs guest
	@scripts/compare --debian $(O) $(RESULTS) $(ROWS)

compare: ## the same with both kernels built here, of one configuration: what README's table is made of
	@scripts/setup programs guest
	@scripts/compare $(O) $(RESULTS) $(ROWS)

pool: ## three emulated GPUs leased to two VMs; one fails under a job and is replaced: how long that takes, with the series and on stock
	@scripts/setup programs guest
	@scripts/pool $(O) $(RESULTS) $(ROWS)

pool-cluster: ## the pool on three machines: nodes in namespaces with Pacemaker, one fails, and its VMs go to others; needs root (PROMPT=yes: a shell)
	@scripts/setup programs
	@scripts/build pool $(O)/release
	@python3 scripts/poolcluster --daemon $(O)/release/gpupool/gpupoold --results $(RESULTS)/pool-cluster $(if $(PROMPT),--shell) $(ROWS)

check: ## every test: units, fuzzers, protocol, scripts, and in QEMU a smoke set on stock and ways of loss with the series, on the debug kernel, and the series' KUnit tests and kselftest
	@scripts/setup
	@scripts/check $(O) $(RESULTS)

bench: ## figures: MMIO latency, removal times against nvme, probe, cycles per hour
	@scripts/setup programs guest
	@scripts/with-guest $(O) $(RESULTS) bench

shell: ## a guest with two emulated GPUs and a shell on its console
	@scripts/setup programs guest
	@scripts/with-guest $(O) $(RESULTS) shell

list: tools ## the scenarios
	@$(O)/release/hotplug/hpctl list

# Under sudo nothing is built: root has another cache.
install: $(if $(SUDO_UID),,tools) ## the programs and what they need in use, in PREFIX, /usr/local; below DESTDIR
	@scripts/install $(O)/release $(PREFIX) $(DESTDIR)

deb: ## a Debian package of these, for this host's release, in O
	@scripts/setup programs deb
	@scripts/build programs $(O)/release
	@scripts/build pool $(O)/release
	@VERSION=$(VERSION) scripts/distro/deb $(O)/release $(O)

clean: ## what was built in this tree
	@rm -rf $(O) $(RESULTS)

clean-cache: ## everything downloaded and built outside this tree
	@rm -rf $(CACHE)
