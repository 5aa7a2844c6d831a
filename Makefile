# stereopsis: `make run` shows live depth, `make test` passes the tests. Both install what they need first.

ARGS ?=

.PHONY: run test bench check setup-run setup-test

## Live depth: in a window where there is a display, otherwise as a status line and a preview picture.
run: setup-run
	cargo run --locked --release -- $(ARGS)

## All tests; they need no camera, no display and no GPU.
test: setup-test
	cargo test --locked

## Times the engines, warm, per stage.
bench: setup-run
	cargo run --locked --release -- bench $(ARGS)

## What a change has to pass beside the tests.
check: setup-test
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

setup-run:
	@sh tools/setup.sh run

setup-test:
	@sh tools/setup.sh test
