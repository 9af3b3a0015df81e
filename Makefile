# Steward: the two commands are `make run` and `make test`. Everything else serves them.
#
# Needed beforehand: Go 1.26 or newer and make. .ci/need installs the rest on Debian and Ubuntu, says what it
# installs, and uses sudo only when it is not run by root; on other systems it names the packages.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
# Without the first tag the toolkit looks up the goroutine of every redraw and complains of calls from the wrong one. The
# tests that drive the real window build the program without it and fail on every complaint. All other tests of ui/ run
# on the toolkit's test driver, which has no thread of its own: it never complains, with or without the tag.
# The other one keeps the text cursor from fading in and out, for which the toolkit draws the whole window sixty times
# a second: a tenth of a processor core on a machine without a graphics card, as long as somebody might type.
TAGS     = migrated_fynedo,no_animations
NPM_DIR  = testdata/npm
NPM_MARK = $(NPM_DIR)/node_modules/.installed-from-lock

# The go command leaves directories named testdata out of ./..., so the servers and endpoints that the tests share
# are added one by one.
PACKAGES = ./... $(addprefix ./,$(sort $(dir $(wildcard testdata/*/*.go testdata/*/*/*.go))))

.PHONY: run build test threads conformance fuzz bench screenshots need-run need-test servers packages clean

# Opens the window; without a display one question is asked in the terminal instead.
run: need-run build
	./steward

build:
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o steward .

test: need-test servers
	$(GO) test -race -tags $(TAGS) -timeout 20m $(PACKAGES)

# The window's tests as the toolkit builds them where it is told nothing: with its own checks and locks of threads.
threads: need-test servers
	$(GO) test -timeout 20m $$($(GO) list ./ui/... | grep -v /ui/headless)

# The protocol's own conformance suite for clients, from npm, against mcphost: a table, and how many of the scenarios
# that each revision requires hold. It fails unless all do.
conformance: need-test servers
	$(GO) run ./testdata/conformance

# What reads foreign bytes, given anything: each target for FUZZTIME. What a run finds is kept below testdata/fuzz of
# its package, and is tried by make test from then on. That the time is up can reach the go command as a failure of its
# own ("context deadline exceeded"); only an input that fails counts.
FUZZTIME ?= 20s
FUZZ = mcphost/internal/wire:FuzzFrames mcphost/internal/remote:FuzzEvents mcphost:FuzzLists mcphost/schema:FuzzSchema \
       mcphost/internal/oauth:FuzzChallenge mcphost/internal/oauth:FuzzMetadata llm:FuzzAnswer llm:FuzzRewrite
fuzz: need-run
	@said=$$(mktemp); trap 'rm -f "$$said"' EXIT; for target in $(FUZZ); do \
		echo "$$target, $(FUZZTIME)"; \
		if $(GO) test -tags $(TAGS) -run '^$$' -fuzz "^$${target#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s ./$${target%:*} >"$$said" 2>&1; then \
			tail -n 2 "$$said"; \
		elif grep -q 'context deadline exceeded' "$$said" && ! grep -q 'Failing input' "$$said"; then \
			echo "the time is up"; \
		else \
			cat "$$said"; exit 1; \
		fi; \
	done

# Figures are printed beside a baseline measured in the same run. Nothing fails by the clock; where a cost is promised as
# a multiple of the bare library's, it fails by that.
bench: need-run
	$(GO) test -p 1 -tags $(TAGS) -run '^$$' -bench . -benchtime 1s $(PACKAGES)

# Makes the pictures of docs/ anew: every screen of the real window, in both themes and both languages.
screenshots: need-test
	STEWARD_SCREENSHOTS=$(CURDIR)/docs/screenshots $(GO) test -tags $(TAGS) -count=1 -timeout 30m -run '^TestScreenshots$$' ./ui/shell

need-run:
	@.ci/need run

need-test:
	@.ci/need test

packages:
	@echo $(PACKAGES)

servers: $(NPM_MARK)

# The lock file names versions and checksums, not addresses: npm asks whatever registry it is set up with.
# Install scripts stay off; the Node.js that runs the servers is itself one of the locked packages.
$(NPM_MARK): $(NPM_DIR)/package.json $(NPM_DIR)/package-lock.json
	npm ci --prefix $(NPM_DIR) --ignore-scripts --no-audit --no-fund
	@touch $@

clean:
	rm -rf steward $(NPM_DIR)/node_modules
