# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make demo        set up, build, run the overwrite experiment, show its table (QUICK=1: the short form)
#   make check       set up, build, all tests
#   make             build only          make install PREFIX=/usr/local DESTDIR=
#   make check-long  tests that take hours          make bench    what the lab and the module cost
#   make format      apply .clang-format            make clean

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
export XDG_CACHE_HOME ?= $(HOME)/.cache

CGWB = $(BUILD)/tools/cgwb
C_FILES = $(shell git ls-files '*.[ch]')

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(abspath $(PREFIX)) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

deps:
	@tools/install-deps

demo: deps
	@$(MAKE) --no-print-directory all
	@$(CGWB) lab run overwrite --seeds 1 $(if $(QUICK),--quick)

check: deps
	@tests/check

check-long: deps
	@tests/check --long

bench: deps
	@$(MAKE) --no-print-directory all
	@tests/bench

format:
	@clang-format -i $(C_FILES)

install: all
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

uninstall:
	@DESTDIR=$(DESTDIR) ninja -C $(BUILD) uninstall

clean:
	@rm -rf $(BUILD) $(BUILD)-asan

.PHONY: all deps demo check check-long bench format install uninstall clean
