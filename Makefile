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

PKGS     := libmicrohttpd jansson sqlite3 libcurl openssl libgit2 libarchive libzstd zlib libseccomp
PKG_CONFIG ?= pkg-config
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(CI),-Werror)
CFLAGS   += -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SANFLAGS) -pthread -I$(BUILD)/gen
LDFLAGS  += $(SANFLAGS) -pthread

# ---- what there is -----------------------------------------------------------------------------

PROGRAMS := engine server worker match sprt
MAINS    := server/main.c worker/main.c worker/match_main.c sprt/main.c
sources   = $(filter-out $(MAINS),$(wildcard $(addsuffix /*.c,$(1))))

rules_SRC  := $(call sources,engine/rules)
sprt_SRC   := $(call sources,sprt)
common_SRC := $(call sources,server/common)
server_SRC := $(call sources,server)
worker_SRC := $(call sources,worker)
testkit_SRC := $(call sources,tests/kit)

LIBS     := rules sprt common server worker testkit
GEN      := $(BUILD)/gen/sql_ids.h $(BUILD)/gen/sql_text.h
UNIT     := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
TOOLS    := $(patsubst tests/tools/%.c,%,$(wildcard tests/tools/*.c))

.PHONY: all help demo check unit bench lint format deps deps-if-missing install clean engine FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: deps-hint $(PROGRAMS:%=$(OUT)/%)

help:
	@echo 'make demo     build, start a server and a worker, watch two patches be judged'
	@echo 'make check    every test; installs what is missing'
	@echo 'make          build/engine build/server build/worker build/match build/sprt'
	@echo 'make unit     the unit tests alone            make bench   figures beside their limits'
	@echo 'make lint     clang-format, clang-tidy, cppcheck, sizes   make format   clang-format in place'
	@echo 'make deps     install the Debian packages of deploy/packages'
	@echo 'make install  PREFIX=/usr/local DESTDIR=      make clean'
	@echo 'SANITIZE=address,undefined builds into build/sanitize with sanitizers'

# ---- rules ---------------------------------------------------------------------------------------

PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(PKGS))
PKG_LIBS   = $(shell $(PKG_CONFIG) --libs $(PKGS)) -lm

$(OUT)/obj/%.o: %.c Makefile | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

# The referee's rules are worth the optimisation that the engine gets.
$(OUT)/obj/engine/rules/%.o: OPT := -O3 -g
$(OUT)/obj/sprt/%.o: OPT := -O3 -g

define library
$(OUT)/lib$(1).a: $(patsubst %.c,$(OUT)/obj/%.o,$($(1)_SRC))
	@rm -f $$@
	$$(AR) rcs $$@ $$^
endef
$(foreach l,$(LIBS),$(eval $(call library,$(l))))

libs = $(patsubst %,$(OUT)/lib%.a,$(1))

$(OUT)/server: $(OUT)/obj/server/main.o $(call libs,server common sprt rules)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/worker: $(OUT)/obj/worker/main.o $(call libs,worker common sprt rules)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/match: $(OUT)/obj/worker/match_main.o $(call libs,worker common sprt rules)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/sprt: $(OUT)/obj/sprt/main.o $(call libs,common sprt)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@

# The engine is built by its own Makefile, the one that volunteers run.
$(OUT)/engine: FORCE
	@$(MAKE) --no-print-directory -C engine EXE=$(abspath $@) OBJ=$(abspath $(OUT)/obj/anvil) CC='$(CC)' EXTRA='$(SANFLAGS) $(if $(CI),-Werror)'

# Programs that tests run (a toy engine, load generators) and the unit tests.
$(OUT)/tests/%: $(OUT)/obj/tests/tools/%.o $(call libs,testkit server worker common sprt rules)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -o $@
$(OUT)/tests/%: $(OUT)/obj/tests/unit/%.o $(call libs,testkit server worker common sprt rules)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -lcmocka -o $@

$(BUILD)/gen/sql_ids.h $(BUILD)/gen/sql_text.h &: sql/generate.awk $(wildcard sql/*.sql)
	@mkdir -p $(@D)
	gawk -v ids=$(BUILD)/gen/sql_ids.h -v text=$(BUILD)/gen/sql_text.h -f sql/generate.awk $(sort $(wildcard sql/*.sql))

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD) engine/anvil engine/obj
