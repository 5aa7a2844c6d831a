//! Prints, for each pair of a recording, the depth in the middle of the image.
//!
//! `cargo run --no-default-features --features recording --example recorded_depth -- walk.mcap`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use stereopsis::recordings::RecordedPairs;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("expected RECORDING")?;
    for pair in RecordedPairs::open(file.as_ref())? {
        let pair = match pair {
            Ok(pair) => pair,
            Err(damage) => {
                eprintln!("left out: {damage}");
                continue;
            }
        };
        let depth_m = pair.recorded.as_ref().and_then(|recorded| recorded.depth_m.as_ref());
        let middle = depth_m.map(|depth| depth.at(depth.width() / 2, depth.height() / 2));
        println!("{}: {}", pair.name, middle.map_or("no depth recorded".to_owned(), |m| format!("{m:.3} m")));
    }
    Ok(())
}
