//! Small setup with a parser of its report, for tests here and in the laboratory.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::{AdapterChoice, EngineChoice, Setup, SourceOptions, SourceSpec, StereoParams, Write};

/// Returns a setup with two sizes on one thread.
pub fn setup(frames: usize) -> Setup {
    let of_size = |size| (SourceSpec::Scene, SourceOptions { size: Some(size), ..SourceOptions::default() });
    Setup {
        engine: EngineChoice::Cpu,
        sources: vec![of_size((64, 48)), of_size((40, 30))],
        params: StereoParams { num_disparities: 16, ..StereoParams::default() },
        frames,
        json: true,
        threads: Some(1),
        model: None,
        adapter: AdapterChoice::Best,
    }
}

/// Returns the rows of a report.
pub fn results_of(report: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    report(&mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["program"], concat!("stereopsis ", env!("CARGO_PKG_VERSION")));
    json["results"].as_array().unwrap().clone()
}
