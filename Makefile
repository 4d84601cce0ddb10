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

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  cache: $(CACHE)"

setup: ## install missing packages (root or sudo); the other targets do so as needed; SETUP=no: never
	@scripts/setup

tools: ## build emulator, harness and pool, optimised
	@scripts/setup programs
	@scripts/build programs $(O)/release
	@scripts/build pool $(O)/release

tools-asan: ## build emulator, harness and their tests under ASan and UBSan
	@scripts/setup tests
	@scripts/build tests $(O)/asan -DSANITIZE=ON

fuzzers: ## build the libFuzzer targets
	@scripts/setup fuzzers
	@scripts/build fuzzers $(O)/fuzz -DFUZZ=ON

run: ## watch a real amdgpu lose an emulated MI300X, on Debian's own kernel and with the series (ROWS="surprise drm": other rows)
	@scripts/setup programs guest
	@scripts/compare --debian $(O) $(RESULTS) $(ROWS)

compare: ## the same with both kernels built here in one configuration: the source of README's table
	@scripts/setup programs guest
	@scripts/compare $(O) $(RESULTS) $(ROWS)

pool: ## lease three emulated GPUs to two VMs, have one fail under a job, and time its replacement with the series and on stock
	@scripts/setup programs guest
	@scripts/pool $(O) $(RESULTS) $(ROWS)

pool-cluster: ## run the pool on three nodes in namespaces with Pacemaker; a node fails and its VMs move; needs root (PROMPT=yes: a shell)
	@scripts/setup programs
	@scripts/build pool $(O)/release
	@python3 scripts/poolcluster --daemon $(O)/release/gpupool/gpupoold --results $(RESULTS)/pool-cluster $(if $(PROMPT),--shell) $(ROWS)

check: ## run every test: units, fuzzers, scripts, the series, the pool, and rows in QEMU on stock and with the series
	@scripts/setup
	@scripts/check $(O) $(RESULTS)

bench: ## measure MMIO latency, removal times against nvme, probe, cycles per hour
	@scripts/setup programs guest
	@scripts/with-guest $(O) $(RESULTS) bench

shell: ## boot a guest with two emulated GPUs and open a shell on its console
	@scripts/setup programs guest
	@scripts/with-guest $(O) $(RESULTS) shell

list: tools ## list the scenarios
	@$(O)/release/hotplug/hpctl list

# Under sudo nothing is built: root has another cache.
install: $(if $(SUDO_UID),,tools) ## install the programs and what they need into PREFIX (/usr/local), below DESTDIR
	@scripts/install $(O)/release $(PREFIX) $(DESTDIR)

deb: ## make a Debian package of these, for this host's release, in O
	@scripts/setup programs deb
	@scripts/build programs $(O)/release
	@scripts/build pool $(O)/release
	@VERSION=$(VERSION) scripts/distro/deb $(O)/release $(O)

clean: ## remove what was built in this tree
	@rm -rf $(O) $(RESULTS)

clean-cache: ## remove everything downloaded and built outside this tree
	@rm -rf $(CACHE)
