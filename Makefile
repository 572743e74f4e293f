# Every target runs on the Node that .toolchain/node finds or brings; nothing is installed to serve.
NODE ?= $(shell .toolchain/node)
BIN = PATH="$(dir $(NODE)):$$PATH" $(NODE) node_modules
TESTS ?= 'test/**/*.test.ts'
# Tests wait as much as they compute. Their processes, some hundreds, share what Node has compiled.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )))
CACHED = NODE_COMPILE_CACHE="$(CURDIR)/.node/test-cache"
PACKED = $$($(NODE) -p 'require("./package.json").files.join(" ")')
# In a folder of a known name, which npm writes into the document.
SBOM = folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && mkdir "$$folder/seller-product-api" && \
  cp package.json package-lock.json .npmrc "$$folder/seller-product-api" && \
  cd "$$folder/seller-product-api" && \
  npm sbom --sbom-format cyclonedx --sbom-type application --package-lock-only
FAULT_TESTS = 'test/faults/**/*.faults.ts'
BROWSER_TESTS = 'test/browser/**/*.browser.ts'
REMOVAL_TESTS = 'test/features/*.removal.ts'

.DEFAULT_GOAL := help
.PHONY: help run demo dev types test coverage test-all test-removal test-faults test-browser \
  fuzz bench limits audit sbom sbom-dev pack print-node clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## serve http://127.0.0.1:8080 on the database in data/
	@node=$(NODE); [ -n "$$node" ] && exec "$$node" src/main.ts serve

demo: ## serve a sample catalogue from a temporary folder, with lines to try
	@node=$(NODE); [ -n "$$node" ] && exec "$$node" src/main.ts demo

dev: node_modules ## serve, and start again whenever a source file changes
	@$(BIN)/tsx/dist/cli.mjs watch src/main.ts serve

types: node_modules ## types alone; what runs in the browser knows the browser's own
	@$(BIN)/typescript/bin/tsc --project .
	@$(BIN)/typescript/bin/tsc --project src/features/portal
	@$(BIN)/typescript/bin/tsc --project test/browser

test: types ## types, source rules and all behaviour (some minutes); TESTS='test/api/*.test.ts' for a part
	@$(CACHED) $(NODE) --test --test-timeout=180000 --test-concurrency=$(JOBS) \
	  --test-reporter=./test/support/progress.ts --test-reporter-destination=stdout $(TESTS)

coverage: types ## the same with coverage: at least 95 % of lines and 90 % of branches
	@$(BIN)/c8/bin/c8.js --all --src src --include 'src/**' --extension .ts --reporter text \
	  --check-coverage --lines 95 --branches 90 --functions 0 --statements 0 \
	  $(NODE) --test --test-timeout=180000 --test-concurrency=$(JOBS) \
	  --test-reporter=./test/support/progress.ts --test-reporter-destination=stdout $(TESTS)

# A busy machine sometimes ends a browser or its driver: a failure counts the second time.
test-all: ## everything: coverage, the oldest supported Node, faults of the machine, a real browser
	@$(MAKE) coverage
	@$(MAKE) test NODE="$$(.toolchain/node 24.21.0)"
	@$(MAKE) test-removal
	@$(MAKE) test-faults
	@$(MAKE) test-browser || $(MAKE) test-browser

test-removal: types ## the tests of everyone else in copies without each feature (some minutes)
	@$(CACHED) $(NODE) --test $(REMOVAL_TESTS)

test-faults: types ## crashes, simulated power cuts, failing disks (6 minutes); strace and root
	@$(CACHED) $(NODE) --test --test-concurrency=2 $(FAULT_TESTS)

test-browser: types ## the tests in a real browser; they need chromium and chromium-driver
	@$(CACHED) $(NODE) --test --test-concurrency=2 $(BROWSER_TESTS)

fuzz: ## hostile requests for FUZZ_SECONDS (180), made from FUZZ_SEED or a seed that it prints
	@$(NODE) test/fuzz/main.ts

bench: ## this server beside a plain node:http one, growth to a million products (some minutes)
	@$(NODE) test/bench/main.ts

limits: ## the table of limits, src/LIMITS.md, from their constants
	@$(NODE) test/limits/main.ts

audit: ## what an auditor wants to see first: lines, exports, network, files, SQL, secrets, code
	@$(NODE) test/audit/main.ts

sbom: ## what runs, as a CycloneDX document: no package
	@$(SBOM) --omit dev

sbom-dev: ## the same with the packages that only development needs
	@$(SBOM)

pack: ## the sources as a .tgz: always the same bytes, whatever the modes and times of the files
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  tar -cf - package.json LICENSE $(PACKED) | tar -xf - -C "$$folder" && \
	  chmod -R u=rwX,go=rX "$$folder" && npm pack --silent --pack-destination . "$$folder"

print-node: ## the path of the Node that every target uses
	@node=$(NODE); [ -n "$$node" ] && echo "$$node"

clean: ## remove what was installed and measured; the database in data/ stays
	rm -rf node_modules coverage screenshots .node

node_modules: package.json package-lock.json
	@[ -n "$(NODE)" ]
	@npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch node_modules
