# stereopsis: `make run` shows live depth, `make test` passes the tests. Both install what they need first.

ARGS ?=
NETWORK ?=
MODELS ?=
BAGS ?=

.PHONY: run test quick lab python package try-packages bench bench-gpu bench-instructions bench-paper soak check attack nightly setup-run setup-bench setup-instructions setup-test setup-package

## Live depth: in a window where there is a display, otherwise as a status line and a preview image. NETWORK=1: with what reaches
## other machines and ROS 2, 160 crates more. MODELS=1: with what runs models, neural networks of your own.
## BAGS=1: with what reads bags of ROS 2 in SQLite (.db3).
run: setup-run
	cargo run --locked --features '$(if $(NETWORK),zenoh) $(if $(MODELS),model) $(if $(BAGS),db3)' -- $(ARGS)

## All tests; they need no camera, no display and no GPU.
test: setup-test
	tools/test.sh

## What matters most after a small change: formatting, the reference, both engines against it.
quick: setup-test
	cargo fmt --check
	cargo test --locked -p stereopsis-stereo -p stereopsis-cpu -p stereopsis-gpu -p stereopsis-engine

## The laboratory, which repeats measurements of papers: make lab ARGS="reproduce banz".
lab: setup-run
	cargo run --locked -p stereopsis-lab -- $(ARGS)

## Times the CPU engine beside OpenCV, in turn, on as many threads; see docs/performance.md.
bench: setup-bench
	.venv/bin/python tools/bench_opencv.py $(ARGS)

## Counts the instructions of the CPU engine, for x86-64 and for NEON, and compares them with those that are kept.
bench-instructions: setup-instructions
	python3 tools/bench_instructions.py $(ARGS)

## Times it against the number of path directions and of threads, beside the tables of Frommholz (2020).
bench-paper: setup-run
	python3 tools/bench_paper.py $(ARGS)

## Builds the Python package and tests it in a fresh environment: a few minutes. ARGS: the Pythons to test with.
python:
	tools/python.sh $(ARGS)

## Builds packages into dist/ and tries each: .deb, .tar.gz and wheel for Linux on x86-64 and Arm, .zip and wheel for Windows, more than
## an hour. ARGS: x86_64-unknown-linux-gnu builds that alone.
package: setup-package
	tools/package.sh $(ARGS)
	@if [ "$$(id -u)" = 0 ]; then tools/package/try_all.sh; else echo "dist/ has the packages, not tried yet on bare systems, which takes root: sudo make try-packages"; fi

## Installs and uses what dist/ has: on bare Debians, Arm's in qemu, Windows' under wine. Needs root.
try-packages:
	tools/package/try_all.sh

## Everything that docs/performance.md says of a GPU, on this machine's best one; a few minutes.
bench-gpu: setup-run
	cargo build --locked -p stereopsis -p stereopsis-lab
	tools/bench_gpu.sh target/debug/stereopsis target/debug/stereopsis-lab gpu-report

## Ten thousand pairs through the CPU engine, the live pipeline and the recorder: memory must not grow. Takes some minutes.
soak: setup-test
	cargo test --locked --workspace --test pipeline ten_thousand_pairs -- --ignored --nocapture

## What a change has to pass beside the tests.
check: setup-test
	cargo fmt --check
	cargo clippy --locked --workspace --exclude stereopsis-lab --all-targets -- -D warnings

## Attacks the program beyond the tests, with damaged files, libFuzzer and Miri: about ten minutes once built. SHORT=1: ten seconds.
attack: setup-test
	tools/attack.sh $(if $(SHORT),--short)

## All that takes too long for each change, an hour on two cores; goes on where it was stopped. ARGS: the parts to run.
nightly: setup-test
	tools/nightly.sh $(ARGS)

setup-run:
	@sh tools/setup.sh run

setup-bench:
	@sh tools/setup.sh bench

setup-test:
	@sh tools/setup.sh test

setup-instructions:
	@sh tools/setup.sh instructions

setup-package:
	@sh tools/setup.sh package
