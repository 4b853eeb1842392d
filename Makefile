# Patchmate. `make demo` and `make check` are all that a newcomer needs; the rest is listed by `make help`.

BUILD    ?= build
CC       ?= gcc
PYTHON   ?= /usr/bin/python3
PREFIX   ?= /usr/local
SANITIZE ?=
OPT      ?= -O2 -g

# SANITIZE=address,undefined builds everything again in a folder of its own.
OUT      := $(BUILD)$(if $(SANITIZE),/sanitize)
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# The libraries as pkg-config calls them, each behind Debian's package.
LIBRARIES := libmicrohttpd-dev:libmicrohttpd libjansson-dev:jansson libsqlite3-dev:sqlite3 libcurl4-openssl-dev:libcurl \
             libssl-dev:openssl libgit2-dev:libgit2 libarchive-dev:libarchive libzstd-dev:libzstd zlib1g-dev:zlib \
             libseccomp-dev:libseccomp
PKGS     := $(foreach l,$(LIBRARIES),$(lastword $(subst :, ,$(l))))
PKG_CONFIG ?= pkg-config
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=int-conversion -Werror=incompatible-pointer-types \
            -Werror=override-init $(if $(CI),-Werror)
# CFLAGS and LDFLAGS, from the command line or the environment, come after the flags that the build needs. They are passed
# on to the engine's makefile as they are.
ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SANFLAGS) -pthread -I. -Iengine -I$(BUILD)/gen $(CFLAGS)
ALL_LDFLAGS = $(SANFLAGS) -pthread $(LDFLAGS)
# Links one of our two hundred test programs in a third of the time.
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)

# ---- what there is -----------------------------------------------------------------------------

PROGRAMS := engine server worker match sprt
MAINS    := engine/main.c server/main.c worker/main.c worker/match_main.c sprt/main.c
# All sources of folders and of the folders in them.
sources   = $(filter-out $(MAINS),$(wildcard $(foreach d,$(1),$(d)/*.c $(d)/*/*.c)))

# What the server and the worker use of the engine: the rules, and books of numbered walks.
rules_SRC  := $(call sources,engine/rules engine/book engine/base)
sprt_SRC   := $(call sources,sprt)
common_SRC := $(call sources,server/common)
server_SRC := $(filter-out $(common_SRC),$(call sources,server))
worker_SRC := $(call sources,worker)
anvil_SRC  := $(filter-out $(rules_SRC),$(call sources,engine))
testkit_SRC := $(call sources,tests/kit)

LIBS     := rules anvil sprt common server worker testkit
SQL      := $(filter-out sql/schema.sql sql/migrate_%,$(sort $(wildcard sql/*.sql)))
SQL_H    := $(SQL:%.sql=$(BUILD)/gen/%.h)
GEN      := $(BUILD)/gen/sql_ids.h $(BUILD)/gen/sql_text.h $(SQL_H)
UNIT     := $(wildcard tests/unit/*/test_*.c)
TOOLS    := $(patsubst tests/tools/%.c,%,$(wildcard tests/tools/*.c))

# V=1 shows the commands.
Q   := $(if $(V),,@)
say  = $(if $(V),,@echo "  $(1)")

.PHONY: all help demo check test unit bench soak book lint format compile_commands tags coverage deps deps-if-missing packages-there tools-built tests-built fuzz-built install install-only clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAMS:%=$(OUT)/%)

help:
	@echo 'make demo     build, start a server and a worker, watch two patches be judged'
	@echo 'make check    the tests, in 12 minutes on two cores; installs what is missing. LONG=1: all there are; LOAD=20: beside 20 busy processes'
	@echo 'make          build/engine build/server build/worker build/match build/sprt'
	@echo 'make test T=name [W="words"] [S=address]   one test, unit, integration or browser; S: with sanitizers'
	@echo 'make unit     the unit tests alone            make bench   figures beside their limits'
	@echo 'make bench PARTS=strength   matches against other engines and at short clocks: hours, or fewer GAMES=40'
	@echo 'make bench PARTS="clock thieves" SEED=7   what an engine gains that overdraws its clock, or uses its opponent'\''s time'
	@echo 'make bench PARTS="order worth" SEED=7   what the order of batches does to verdicts, and what accepted patches are worth'
	@echo 'make bench PARTS=attacks SEED=7   what stops attacks on a public server, after how many pairs: four minutes'
	@echo 'make bench PARTS=verdicts SEED=7   whether the verdicts of the ledger have the errors that tests state: an hour, or GAMES=100'
	@echo 'make bench PARTS=judgement  how well the engine judges positions, beside stockfish: two minutes'
	@echo 'make soak MINUTES=60   server and workers killed, stopped and restarted at random, and random requests'
	@echo 'make book     the default book of openings made anew, and compared with the one that is here'
	@echo 'make lint     clang-format, clang-tidy, cppcheck, sizes, words, dependencies (GRAPH=1 prints them)'
	@echo 'make format   clang-format in place           make coverage   lines that tests reach, by folder'
	@echo 'make compile_commands, make tags   build/compile_commands.json and build/tags for editors'
	@echo 'make deps     install the Debian packages of deploy/packages'
	@echo 'make install  PREFIX=/usr/local DESTDIR=      make clean'
	@echo 'SANITIZE=address,undefined builds into build/sanitize with sanitizers'

# ---- rules ---------------------------------------------------------------------------------------

# Asked once, and only when something is compiled: before `make deps` there may be no pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)) -lm)$(PKG_LIBS)

$(OUT)/obj/%.o: %.c Makefile | packages-there $(GEN)
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

# The referee's rules are worth the optimisation that the engine gets.
$(OUT)/obj/engine/rules/%.o: OPT := -O3 -g
$(OUT)/obj/engine/nnue/%.o: OPT := -O3 -g
$(OUT)/obj/engine/learn/%.o: OPT := -O3 -g
$(OUT)/obj/sprt/%.o: OPT := -O3 -g

# The server passes numbers to queries: a double is no id and no count.
$(OUT)/obj/server/%.o: ALL_CFLAGS += -Werror=float-conversion

# What the worker carries in itself: process 1 of its sandboxes, never built with sanitizers, and the self-test's texts.
INSIDE   := $(OUT)/obj/worker/os/inside/init
$(INSIDE): worker/os/inside/init.c worker/os/landlock_linux.c worker/os/landlock.h Makefile | packages-there
	@mkdir -p $(@D)
	$(call say,cc $<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 $(WARN) -I. $(filter-out -fsanitize%,$(CFLAGS) $(LDFLAGS)) -s $(filter %.c,$^) -o $@
$(OUT)/obj/worker/os/inside_linux.o: ALL_CFLAGS += -DINSIDE_INIT='"$(INSIDE)"'
$(OUT)/obj/worker/os/inside_linux.o: $(INSIDE) $(wildcard worker/selftest/inside/*)

define library
$(OUT)/lib$(1).a: $(patsubst %.c,$(OUT)/obj/%.o,$($(1)_SRC))
	@rm -f $$@
	$$(Q)$$(AR) qcs $$@ $$^
endef
$(foreach l,$(LIBS),$(eval $(call library,$(l))))

libs = $(patsubst %,$(OUT)/lib%.a,$(1))

$(OUT)/server: $(OUT)/obj/server/main.o $(call libs,server common sprt rules)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/worker: $(OUT)/obj/worker/main.o $(call libs,worker common sprt rules)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/match: $(OUT)/obj/worker/match_main.o $(call libs,worker common sprt rules)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/sprt: $(OUT)/obj/sprt/main.o $(call libs,common sprt)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(PKG_LIBS) -o $@

# The engine is built by its own Makefile, the one that volunteers run.
$(OUT)/engine: FORCE | packages-there
	$(call say,engine $@)
	@$(MAKE) --no-print-directory -C engine EXE=$(abspath $@) OBJ=$(abspath $(OUT)/obj/anvil) CC='$(CC)' EXTRA='$(SANFLAGS) $(if $(CI),-Werror)' $(if $(V),,-s)

# Programs that tests run (a toy engine, load generators) and the unit tests.
$(OUT)/tests/%: $(OUT)/obj/tests/tools/%.o $(call libs,testkit server worker anvil common sprt rules)
	@mkdir -p $(@D)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TEST_LINKER) $^ $(PKG_LIBS) -o $@
define unit_test
$(OUT)/tests/$(basename $(notdir $(1))): $(1:%.c=$(OUT)/obj/%.o) $(call libs,testkit server worker anvil common sprt rules)
	@mkdir -p $$(@D)
	$(call say,ld $$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) $$(TEST_LINKER) $$^ $$(PKG_LIBS) -lcmocka -o $$@
endef
$(foreach t,$(UNIT),$(eval $(call unit_test,$(t))))

SQL_LISTS := $(BUILD)/gen/sql_ids.h $(BUILD)/gen/sql_text.h $(BUILD)/gen/sql_forms.h
$(SQL_LISTS) &: sql/generate.awk $(wildcard sql/*.sql) | packages-there
	@mkdir -p $(@D)
	$(Q)gawk -v ids=$(BUILD)/gen/sql_ids.h -v text=$(BUILD)/gen/sql_text.h -v forms=$(BUILD)/gen/sql_forms.h -f sql/generate.awk $(sort $(wildcard sql/*.sql))

# SQLite itself says which types the queries have.
$(BUILD)/gen/functions: sql/functions.c sql/types.c sql/types.h $(SQL_LISTS)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 $(WARN) -I$(BUILD)/gen -Isql $(filter %.c,$^) $$($(PKG_CONFIG) --cflags --libs sqlite3) -o $@
$(SQL_H) &: $(BUILD)/gen/functions
	@mkdir -p $(@D)
	$(Q)$< $(@D)

# ---- packages ------------------------------------------------------------------------------------

# Those of some sections of deploy/packages; what a target installs follows from its own PACKAGES.
packages  = $(shell awk -v sections='$(1)' '/^\[/ { wanted = index(" " sections " ", " " substr($$1, 2, length($$1) - 2) " ") } \
                    /^[a-z]/ && wanted { print $$1 }' deploy/packages)
PACKAGES  = $(call packages,run build demo check)
demo: PACKAGES = $(call packages,run build demo)
SUDO     := $(if $(filter 0,$(shell id -u)),,sudo)

deps:
	$(SUDO) apt-get update -q
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(PACKAGES)

# What is missing is asked of dpkg, so that a machine that has everything waits for nothing.
deps-if-missing:
	@missing=$$(for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q '^install ok' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; $(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES)'; fi

# Before anything is compiled, so that a machine without the packages is told which of them a build needs.
packages-there:
	@missing=$$(for tool in $(firstword $(CC)) gawk; do command -v $$tool >/dev/null || basename $$tool | sed 's/^cc$$/gcc/'; done; \
	    if ! command -v $(PKG_CONFIG) >/dev/null; then echo pkg-config; \
	    elif ! $(PKG_CONFIG) --exists $(PKGS); then \
	        for l in $(LIBRARIES); do $(PKG_CONFIG) --exists $${l#*:} || echo $${l%:*}; done; \
	    fi); \
	if [ -n "$$missing" ]; then printf 'missing: %s\n' $$missing >&2; echo 'Install them by: make deps (as root)' >&2; exit 1; fi

# ---- tests ---------------------------------------------------------------------------------------

UNIT_BIN := $(patsubst %.c,$(OUT)/tests/%,$(notdir $(UNIT)))
TOOL_BIN := $(TOOLS:%=$(OUT)/tests/%)

tools-built: $(PROGRAMS:%=$(OUT)/%) $(TOOL_BIN)
tests-built: tools-built $(UNIT_BIN)

# One test by its name: make test T=users, T=submit W="refused", S=address for the sanitized build.
test: deps-if-missing
	@$(PYTHON) tests/one.py --build $(BUILD) $(if $(S),--sanitized) '$(T)' $(W)

unit: tests-built
	$(PYTHON) tests/run.py --build $(OUT) units

# The inner make builds with the packages that the outer one has just installed. A warning is an error in
# every build of the check, those for sanitizers and fuzzing too.
check: export CI := true
check: export LONG := $(LONG)
check: export LOAD := $(LOAD)
check: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) tests-built
	@$(PYTHON) tests/run.py --build $(BUILD)

bench: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) tests-built
	@$(PYTHON) tests/bench.py --build $(BUILD) $(if $(GAMES),--games $(GAMES)) $(if $(SEED),--seed $(SEED)) $(PARTS)

# Server and workers under a rain of signals, and a sanitized server under one of requests; `make soak MINUTES=60 SEED=7`.
soak: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) all
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) SANITIZE=address,undefined OPT='-O1 -g1' $(BUILD)/sanitize/server
	@$(PYTHON) tests/soak.py --build $(BUILD) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

demo: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) all
	@$(PYTHON) tests/demo.py --build $(BUILD) $(if $(ONCE),--once) $(if $(SWAP),--swap)

# Fuzz targets: `make fuzz-built` makes build/fuzz/fuzz_NAME of every tests/fuzz/fuzz_NAME.c.
FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz-built:
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) OUT=$(BUILD)/fuzz CC=clang OPT='-O1 -g1' \
	    SANITIZE=fuzzer-no-link,address,undefined $(FUZZ:%=$(BUILD)/fuzz/%)
$(OUT)/fuzz_%: $(OUT)/obj/tests/fuzz/fuzz_%.o $(call libs,testkit server worker anvil common sprt rules)
	$(call say,ld $@)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer $^ $(PKG_LIBS) -o $@

# Makes the default book anew and compares it with the one in server/books. That takes a quarter of an hour of two CPUs that
# are idle; the run yields to everything else, and after an interruption it continues.
BOOK     := server/books/anvil.walks
book: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD) $(BUILD)/engine
	@mkdir -p $(BUILD)/book
	nice -n 19 $(BUILD)/engine walks make $(BUILD)/book/anvil.walks --like $(BOOK) --progress $(BUILD)/book/progress
	cmp $(BUILD)/book/anvil.walks $(BOOK)

# ---- the house in order --------------------------------------------------------------------------

# What patches are tried on is data, not ours to tidy.
C_FILES   = $(shell git ls-files '*.c' '*.h' ':!tests/data')
TIDY      = $(filter %.c,$(C_FILES))

format:
	clang-format -i $(C_FILES)

# Nodes of a function after which clang's analyzer lets it be. With the usual 225,000 it reaches no further code, only more
# paths through loops, and takes three times as long in all.
DEPTH    := -Xclang -analyzer-config -Xclang max-nodes=50000

lint: deps-if-missing $(GEN)
	$(Q)$(PYTHON) tests/sizes.py
	$(Q)$(PYTHON) tests/words.py
	$(Q)$(PYTHON) tests/names.py
	$(call say,clang-format)
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(call say,cppcheck)
	$(Q)cppcheck -q --std=c11 --error-exitcode=1 --inline-suppr --library=posix --library=gnu \
	    --enable=warning,performance,portability --suppressions-list=tests/cppcheck.txt \
	    -j2 -I. -Iengine -I$(BUILD)/gen $(TIDY)
	$(call say,clang-tidy)
	$(Q)printf '%s\n' $(TIDY) | xargs -P2 -n8 sh -c 'clang-tidy --quiet "$$@" -- $(ALL_CFLAGS) $(PKG_CFLAGS) $(DEPTH) 2>/dev/null' sh
	@$(MAKE) --no-print-directory -s BUILD=$(BUILD) all
	$(Q)$(PYTHON) tests/graph.py $(if $(GRAPH),--print) $(OUT)/obj $(OUT)/obj/anvil

# For editors: how each file is compiled, and where each name is defined.
compile_commands: $(GEN)
	$(Q)$(PYTHON) tests/compile_commands.py '$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS)' $(TIDY) >$(BUILD)/compile_commands.json
tags:
	@mkdir -p $(BUILD)
	$(Q)ctags --languages=C --langmap=C:.c.h -f $(BUILD)/tags $(C_FILES)

# Which lines the unit tests and the quick integration tests reach, by folder; for developers, not a part of make check.
coverage: deps-if-missing
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/coverage CC=gcc OPT='-O0 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage tests-built
	@$(PYTHON) tests/coverage.py $(BUILD)/coverage

# ---- installation --------------------------------------------------------------------------------

SHARE   := $(PREFIX)/share/patchmate
INSTALL ?= install

# The server carries the engine's source, the pages and a book with it.
install: all install-only

# All that the engine is built from, the default net included.
ENGINE_FILES = $(patsubst engine/%,%,$(wildcard engine/*.[ch] engine/*/*.[chS] engine/net engine/nets/*))

# Without building: what is in build/ goes out as it is.
install-only:
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(SHARE)/books $(DESTDIR)$(SHARE)/deploy
	for p in server worker match sprt; do $(INSTALL) $(BUILD)/$$p $(DESTDIR)$(PREFIX)/bin/patchmate-$$p || exit 1; done
	$(INSTALL) $(BUILD)/engine $(DESTDIR)$(PREFIX)/bin/anvil
	cp -r web $(DESTDIR)$(SHARE)/
	for f in Makefile $(ENGINE_FILES); do $(INSTALL) -D -m 644 engine/$$f $(DESTDIR)$(SHARE)/engine/$$f || exit 1; done
	$(INSTALL) -m 644 server/books/*.walks $(DESTDIR)$(SHARE)/books/
	$(INSTALL) -m 644 deploy/*.service deploy/README.md $(DESTDIR)$(SHARE)/deploy/
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	for u in deploy/*.service; do sed 's|@PREFIX@|$(PREFIX)|g' $$u >$(DESTDIR)$(PREFIX)/lib/systemd/system/$$(basename $$u) || exit 1; done

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD) engine/anvil engine/obj
