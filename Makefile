# Every target runs on the Node that .toolchain/node finds or fetches. Serving installs no package.
NODE ?= $(shell .toolchain/node)
BIN = PATH="$(dir $(NODE)):$$PATH" $(NODE) node_modules
TESTS ?= 'test/**/*.test.ts'
POSTGRES_TESTS = 'test/**/*.postgres.ts'
BROWSER_TESTS = 'test/browser/**/*.browser.ts'
FAULT_TESTS = 'test/**/*.faults.ts'
PACKAGES_TESTS = 'test/**/*.packages.ts'
# In memory, where there is room: a third of the time of most tests is waiting for the disk. The
# tests of faults are about disks, and use one.
SCRATCH = $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
# The processes of the tests share one compile cache. QUICK_TESTS also bundles the store's threads.
RUNNER = $(NODE) test/run.ts $(if $(FAILURES),--failures "$(FAILURES)")
RUN_TESTS = NODE_COMPILE_CACHE="$(CURDIR)/.node/test-cache" $(RUNNER)
IN_MEMORY = $(if $(SCRATCH),TMPDIR=$(SCRATCH))
THREAD_BUNDLES = test/support/thread-bundles.js
QUICK_TESTS = $(NODE) $(THREAD_BUNDLES) && \
  $(IN_MEMORY) NODE_OPTIONS='--import="$(CURDIR)/$(THREAD_BUNDLES)"' $(RUN_TESTS)
STRIP_CACHE = test/support/strip-cache.js
COVERED = $(IN_MEMORY) NODE_V8_COVERAGE="$(CURDIR)/coverage/tmp" \
  NODE_OPTIONS='--import="$(CURDIR)/$(STRIP_CACHE)"' $(RUNNER)
MUTANTS_RUN = $(IN_MEMORY) NODE_COMPILE_CACHE="$(CURDIR)/.node/test-cache" \
  $(NODE) --disable-warning=ExperimentalWarning test/mutants/main.ts
# The commit of the last whole run of the mutants; `mutants-subset` runs the guards changed since.
SINCE ?= $(shell cat test/mutants/last-run.txt)
PACKED = $$($(NODE) -p 'require("./package.json").files.join(" ")')
# A copy of the package, built, in a temporary folder; its modes do not depend on the umask.
PACKAGE = folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
  tar -cf - package.json tsconfig.json LICENSE $(PACKED) | tar -xf - -C "$$folder" && \
  $(NODE) .toolchain/build-package.ts "$$folder" && chmod -R u=rwX,go=rX "$$folder"
EXECUTABLE ?= seller-api
IMAGE ?= seller-api
ENGINE ?= podman
# npm writes the name of the folder into the document, so the folder has a fixed name.
SBOM = folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && mkdir "$$folder/seller-product-api" && \
  cp package.json package-lock.json .npmrc "$$folder/seller-product-api" && \
  cd "$$folder/seller-product-api" && \
  npm sbom --sbom-format cyclonedx --sbom-type application --package-lock-only

.DEFAULT_GOAL := help
.PHONY: help run demo dev types test test-postgres coverage test-all test-packages test-faults \
  test-browser mutants mutants-subset fuzz bench limits audit sbom sbom-dev pack pack-client \
  api-surface executable image minimal test-minimal fixture print-node clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## serve http://127.0.0.1:8080 on the database in data/
	@node=$(NODE); [ -n "$$node" ] && exec "$$node" src/seller-api.js serve

demo: ## serve a sample catalogue from a temporary folder, and print commands to try
	@node=$(NODE); [ -n "$$node" ] && exec "$$node" src/main.ts demo

dev: node_modules ## serve, and restart whenever a source file changes
	@$(BIN)/tsx/dist/cli.mjs watch src/main.ts serve

types: node_modules ## check types only, those of scripts against the browser's APIs
	@$(BIN)/typescript/bin/tsc --project .
	@$(BIN)/typescript/bin/tsc --project src/features/portal
	@$(BIN)/typescript/bin/tsc --project test/browser

test: types ## types, source rules and all behaviour; TESTS='test/api/*.test.ts' for a part
	@$(QUICK_TESTS) $(TESTS)

test-postgres: types ## the store on PostgreSQL, which it installs on Debian where it may
	@$(QUICK_TESTS) $(POSTGRES_TESTS)

coverage: types ## both with coverage: at least 95 % of lines and 90 % of branches
	@rm -rf coverage/tmp .node/strip-cache && mkdir -p coverage/tmp
	@$(NODE) --disable-warning=ExperimentalWarning $(STRIP_CACHE)
	@$(COVERED) $(TESTS) $(POSTGRES_TESTS)
	@$(BIN)/c8/bin/c8.js report --all --src src --include 'src/**' --extension .ts --reporter text \
	  --check-coverage --lines 95 --branches 90 --functions 0 --statements 0

test-packages: types ## the package among others, the executable and the container image
	@$(RUN_TESTS) --alone --jobs 2 --timeout 1200000 $(PACKAGES_TESTS)

test-faults: types ## crashes, power cuts, failing disks and databases; needs strace and root
	@$(RUN_TESTS) --alone --jobs 2 --timeout 1200000 $(FAULT_TESTS)

test-browser: types ## the portal in a real browser; needs chromium and chromium-driver
	@SCREENSHOTS=yes $(RUN_TESTS) --alone --jobs 2 --timeout 1200000 $(BROWSER_TESTS)

# Types are checked once: `-o types` skips them after that. On Node 24, the oldest supported line:
# what uses Node's sockets, files, threads and SQLite most. A part that fails stops no other part;
# the last lines repeat every failed test.
test-all: export FAILURES = $(CURDIR)/.node/failures.txt
test-all: ## everything: coverage, Node 24, packages, faults, a browser
	@failed=; mkdir -p .node; : > "$$FAILURES"; \
	$(MAKE) coverage || failed="coverage,"; \
	$(MAKE) -o types test NODE="$$(.toolchain/node 24.21.0)" \
	  TESTS="'test/{app*,main,clock-steps}.test.ts' 'test/{embed,http,runtime}/**/*.test.ts' \
	  'test/store/sqlite/{engine,files}/*.test.ts' test/store/sqlite.contract.test.ts" \
	  || failed="$$failed test on Node 24,"; \
	$(MAKE) -o types test-packages NODE="$$(.toolchain/node 24.21.0)" \
	  PACKAGES_TESTS=test/package/package.packages.ts || failed="$$failed test-packages on Node 24,"; \
	$(RUN_TESTS) --alone --jobs 3 --timeout 1200000 $(PACKAGES_TESTS) $(FAULT_TESTS) $(BROWSER_TESTS) \
	  || failed="$$failed packages or faults or browser,"; \
	$(MAKE) -o types mutants-subset || failed="$$failed mutants,"; \
	[ -z "$$failed" ] || { cat "$$FAILURES" >&2; echo "Failed: $$failed" >&2; exit 1; }

mutants: types ## weaken one guard at a time, and require a failing test; MUTANTS='csrf' for a part
	@$(NODE) --disable-warning=ExperimentalWarning $(STRIP_CACHE)
	@$(MUTANTS_RUN) --pattern '$(MUTANTS)'

mutants-subset: types ## the same for a fixed part, and for guards changed since the last whole run
	@$(MUTANTS_RUN) --subset --since '$(SINCE)'

fuzz: ## send hostile requests for FUZZ_SECONDS (180), from FUZZ_SEED or a seed that it prints
	@$(NODE) test/fuzz/main.ts

bench: ## benchmarks, beside a plain node:http server and bare SQLite loops (15 minutes)
	@$(NODE) test/bench/main.ts

limits: ## write the table of limits, src/LIMITS.md, from the constants
	@$(NODE) test/limits/main.ts

audit: ## list the core, exports, and every use of network, files, SQL, secrets, processes, markup
	@$(NODE) test/audit/main.ts

test-minimal: types ## the trees of `make minimal`, with the own tests of each room alone
	@ALL_SELECTIONS=yes $(IN_MEMORY) $(RUN_TESTS) --alone --timeout 3600000 test/minimal/*.packages.ts

minimal: ## write a tree with few rooms: FOLDER=../my-server WITH='webhooks imports'
	@$(NODE) .toolchain/minimal.ts "$(FOLDER)" $(WITH)

sbom: ## print a CycloneDX document of what runs: no package
	@$(SBOM) --omit dev

sbom-dev: ## the same with the development packages
	@$(SBOM)

pack: node_modules ## build and pack the npm package: the same bytes on every machine
	@$(PACKAGE) && npm pack --silent --pack-destination . "$$folder"

pack-client: node_modules ## the same of the client alone, seller-product-api-client
	@$(PACKAGE) && $(NODE) .toolchain/build-client.ts "$$folder" && \
	  npm pack --silent --pack-destination . "$$folder"

executable: node_modules ## build ./seller-api, which needs neither Node nor other files
	@$(PACKAGE) && $(NODE) .toolchain/build-executable.ts "$$folder" $(EXECUTABLE)

image: executable ## build a container image: the executable and the libraries that it links to
	@command -v $(ENGINE) >/dev/null || { echo "Install $(ENGINE) to build the image." >&2; exit 1; }
	@umask 022 && folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  mkdir -p "$$folder/root/tmp" "$$folder/data" && chmod 1777 "$$folder/root/tmp" && \
	  install $(EXECUTABLE) "$$folder/root/seller-api" && \
	  ldd $(EXECUTABLE) | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} "$$folder/root" && \
	  $(ENGINE) build --quiet --format oci --layers=false --timestamp 0 --tag $(IMAGE) \
	    --file .toolchain/Containerfile "$$folder"

fixture: ## record the data folder that the upgrade tests open (see test/upgrade/record.ts)
	@$(NODE) test/upgrade/record.ts test/upgrade/fixture

api-surface: node_modules ## print the public API: all that the package's entries export and promise
	@$(PACKAGE) && $(NODE) .toolchain/api-surface.ts "$$folder"

print-node: ## print the path of the Node that every target uses
	@node=$(NODE); [ -n "$$node" ] && echo "$$node"

clean: ## remove installed and generated files, but not the database in data/
	rm -rf node_modules coverage screenshots .node seller-api

node_modules: package.json package-lock.json
	@[ -n "$(NODE)" ]
	@npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch node_modules
