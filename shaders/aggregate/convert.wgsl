// Between whole numbers and what paths are computed in.

fn numbers_of(words: Words) -> Numbers {
    return Numbers(words);
}

fn words_of(numbers: Numbers) -> Words {
    return Words(numbers);
}

fn number_of(word: u32) -> Number {
    return Number(word);
}

fn u32_of(number: Number) -> u32 {
    return u32(number);
}
