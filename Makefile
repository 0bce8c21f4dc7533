# The front door: `make demo` and `make test` need nothing but Debian 12, git and
# make. The work is done by the scripts below tools/dev, which say what they do.
#
# BUILD=dir    the build folder (default: build, beside this file)
# JOBS=n       processes at a time (default: one a core, as memory allows)
# PREFIX=dir   where `make install` puts Braid (default: /usr/local)
# CMAKE_ARGS=  more arguments for CMake
# PROGRAMS=n SEED=n   the mutated programs of `make sanitize`
# SANITIZERS="address thread"   those of `make sanitize`
# TARGET=cuda  run the demo on the GPUs of this machine
# ONLY=search,runtime OUT=results.json   the benchmarks of `make bench`, and their figures
# OUTPUT=file FILES="a.so b.so"   what `make bundle` makes, of which programs
# CCACHE=1     compile with ccache, without precompiled headers, in a new build folder
# NO_SETUP=1   install nothing; say what is missing

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD ?= $(ROOT)/build
PREFIX ?= /usr/local
export BRAID_BUILD_DIR := $(abspath $(BUILD))
export BRAID_JOBS := $(JOBS)
export BRAID_CMAKE_ARGS := $(CMAKE_ARGS)
export BRAID_NO_SETUP := $(NO_SETUP)
export BRAID_CCACHE := $(CCACHE)
export PROGRAMS SEED SANITIZERS
OUTPUT ?= $(BUILD)/braid-bundle.tar.gz
DEV := $(ROOT)/tools/dev

# One target at a time: each script uses all cores itself.
.NOTPARALLEL:
.PHONY: all demo test sanitize bench bundle wheel docs lint format install clean help

all:
	@$(DEV)/build.sh all

demo:
	@$(DEV)/demo.sh $(TARGET)

test:
	@$(DEV)/test.sh

sanitize:
	@$(DEV)/sanitize.sh

bench:
	@$(DEV)/bench.sh $(if $(ONLY),--only=$(ONLY)) $(if $(OUT),--out="$(abspath $(OUT))")

bundle:
	@$(DEV)/bundle.sh "$(abspath $(OUTPUT))" $(FILES)

wheel:
	@$(DEV)/wheel.sh

docs:
	@$(DEV)/docs.sh

lint:
	@$(DEV)/lint.sh

format:
	@$(DEV)/lint.sh --fix

install:
	@$(DEV)/build.sh install "$(PREFIX)"

clean:
	@$(DEV)/clean.sh

help:
	@echo "make demo            set up, build, and run Inductor's program on 2 ranks, before and after"
	@echo "make demo TARGET=cuda   the same on the GPUs of this machine"
	@echo "make test            set up, build, and run every test"
	@echo "make sanitize        run tests and mutated programs under sanitizers, with assertions"
	@echo "make                 set up and build everything"
	@echo "make install PREFIX=dir"
	@echo "make bench           run the benchmarks (docs/develop/benchmarks.md)"
	@echo "make bundle FILES='a.so b.so' OUTPUT=file.tar.gz   what runs compiled programs elsewhere"
	@echo "make wheel           build the Python package into the folder wheel of the build folder"
	@echo "make docs            regenerate docs/reference/dialect.md and docs/reference/passes"
	@echo "make lint            check format, clang-tidy, generated docs, file headers"
	@echo "make format          repair what the format check finds"
	@echo "make clean           remove the build folder"
	@echo "Variables: BUILD=dir JOBS=n CMAKE_ARGS=... CCACHE=1 NO_SETUP=1"
