//! Functions of a path in 16-bit floats for all words of a lane: `shaders/aggregate/step_f16.wgsl` has those for two candidates.

use super::KernelConfig;
use std::fmt::Write as _;

impl KernelConfig {
    /// Writes `Path` and its functions. Word w has candidates 4 w to 4 w + 3, the first and the third of them in `even_w`, the others in
    /// `odd_w`, as bytes lie in memory: nothing moves but the neighbours of the outermost ones.
    pub(super) fn step_of_floats(&self) -> String {
        let words = self.variant.words as usize;
        let last = words - 1;
        let each = |of_word: &dyn Fn(usize) -> [String; 2]| (0..words).flat_map(of_word).collect::<Vec<_>>().join(", ");
        let least = (0..words).map(|w| format!("min(path.even_{w}, path.odd_{w})"));
        let least = least.reduce(|all, next| format!("min({all}, {next})")).unwrap_or_default();

        let mut text = format!("struct Path {{ {} }}\n", each(&|w| ["even", "odd"].map(|s| format!("{s}_{w}: Pair"))));
        let none = each(&|_| [(); 2].map(|()| "none".to_owned()));
        let _ =
            writeln!(text, "fn no_path() -> Path {{\n    let none = Pair(NO_PATH_F16);\n    return Path({none});\n}}");
        let _ = writeln!(
            text,
            "fn neighbours_of(position: LanePosition, site: u32, turn: u32, path: Path) -> Neighbours {{\n    \
             let first = bits_of(path.even_0);\n    let last = bits_of(path.odd_{last});\n    \
             return exchange(position, site, turn, first, last, to_minimum({least}), NO_PATH_BITS);\n}}"
        );
        let below = |w: usize| if w == 0 { "below".to_owned() } else { format!("path.odd_{}.y", w - 1) };
        let above = |w: usize| if w == last { "above".to_owned() } else { format!("path.even_{}.x", w + 1) };
        let increments = each(&|w| {
            [
                format!("increments(path.even_{w}, Pair({}, path.odd_{w}.x), path.odd_{w}, bounds)", below(w)),
                format!("increments(path.odd_{w}, path.even_{w}, Pair(path.even_{w}.y, {}), bounds)", above(w)),
            ]
        });
        let _ = writeln!(
            text,
            "fn increment_of(path: Path, neighbours: Neighbours, p2: u32) -> Path {{\n    \
             let bounds = bounds_of(neighbours, p2);\n    let below = pair_of(neighbours.below).y;\n    \
             let above = pair_of(neighbours.above).x;\n    return Path({increments});\n}}"
        );
        let parts = self.parts();
        let paths = each(&|w| {
            [("even", "", 0), ("odd", " >> 8u", 1)].map(|(side, shift, first)| {
                let own = 4 * w + first;
                format!("path_costs(numbers_of(costs{}{shift}), increment.{side}_{w}, lane, {own}u, gate)", parts[w])
            })
        });
        let _ = writeln!(
            text,
            "fn path_of(costs: Costs, increment: Path, lane: u32, gate: vec2<u32>) -> Path {{\n    \
             return Path({paths});\n}}"
        );
        let bytes: Vec<_> = (0..words).map(|w| format!("word_of(increment.even_{w}, increment.odd_{w})")).collect();
        let _ = writeln!(text, "fn bytes_of(increment: Path) -> Costs {{\n    return Words({});\n}}", bytes.join(", "));
        text
    }
}
