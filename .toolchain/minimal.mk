# Every target runs on the Node that .toolchain/node finds or fetches. Serving installs no package.
NODE ?= $(shell .toolchain/node)
COMPILER = $(NODE) node_modules/typescript/bin/tsc
TESTS ?= 'test/**/*.test.ts'

.DEFAULT_GOAL := help
.PHONY: help run types test print-node

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## serve http://127.0.0.1:8080 on the database in data/
	@node=$(NODE); [ -n "$$node" ] && exec "$$node" src/seller-api.js serve

types: node_modules ## check types
	@for project in . $(dir $(wildcard src/features/portal/tsconfig.json)); do \
	  $(COMPILER) --project $$project || exit 1; done

test: types ## check types, and run the tests of this selection; TESTS='test/api/*.test.ts'
	@NODE_COMPILE_CACHE="$(CURDIR)/.node/test-cache" $(NODE) test/run.ts $(TESTS)

print-node: ## print the path of the Node that every target uses
	@node=$(NODE); [ -n "$$node" ] && echo "$$node"

node_modules: package.json package-lock.json
	@[ -n "$(NODE)" ]
	@npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch node_modules
