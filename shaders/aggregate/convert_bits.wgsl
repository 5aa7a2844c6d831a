// Between whole numbers below 1024 and 16-bit floats, by their bits: those of 1024 + n are 0x6400 + n.

fn numbers_of(words: Words) -> Numbers {
    return bitcast<Numbers>(Halves(words) | Halves(u16(0x6400))) - Numbers(1024.0h);
}

fn words_of(numbers: Numbers) -> Words {
    return Words(bitcast<Halves>(numbers + Numbers(1024.0h))) & Words(0x3ffu);
}

fn number_of(word: u32) -> Number {
    return bitcast<f16>(u16(word) | u16(0x6400)) - 1024.0h;
}

fn u32_of(number: Number) -> u32 {
    return u32(bitcast<u16>(number + 1024.0h)) & 0x3ffu;
}
