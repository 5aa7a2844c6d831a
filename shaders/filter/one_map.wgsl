// One map before and after a filter.

@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

fn word_before(side: u32, x: u32, y: u32) -> u32 {
    return before[map_index(x, y)];
}

fn store_after(side: u32, index: u32, word: u32) {
    after[index] = word;
}
