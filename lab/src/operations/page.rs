//! Tests that COUNTS.md has the bytes and operations of the graphs.

use super::work;
use stereopsis_gpu::graph::{DispatchGraph, GraphKey};
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::limits::Limits;
use stereopsis_gpu::variant::{CostSource, Variant};
use stereopsis_stereo::{Aggregation, StereoParams};

/// Limits of a discrete GPU.
pub(super) const LIMITS: Limits = Limits {
    subgroup: 32,
    workgroup: 1024,
    has_f16: true,
    has_i16: true,
    packs_i16: true,
    discrete: true,
    integrated: false,
    binding_bytes: 2 << 30,
    storage_buffers: 32,
    side_px: 16384,
    path_bytes: 4 << 30,
};

/// Returns the rows of the page's table: bytes for each pixel and disparity by stage, and the rates that memory allows.
fn traffic_rows() -> Vec<String> {
    let params = StereoParams { num_disparities: 128, ..StereoParams::default() };
    let structures: Vec<_> =
        Structure::levels((640, 480), &params).into_iter().map(|(structure, _)| structure).collect();
    let baseline = Variant::baseline(&LIMITS, &structures[0].requirements());
    let mut rows = Vec::new();
    for costs in [CostSource::Volume, CostSource::Codes] {
        for fused in [false, true] {
            let key = GraphKey {
                structures: structures.clone(),
                variant: Variant { costs, fused, ..baseline }.with_possible_paths(),
                max_work: 1 << 40,
                keeps_sums: false,
            };
            let stages = work(&DispatchGraph::new(&key, &LIMITS, "the page").unwrap(), LIMITS.packs_i16);
            let candidates = f64::from(640 * 480 * 128);
            assert_eq!(
                stages.iter().map(|stage| stage.name).collect::<Vec<_>>(),
                ["cost", "paths", "winner", "filters"]
            );
            let each: Vec<_> = stages.iter().map(|stage| format!("{:.2}", stage.bytes as f64 / candidates)).collect();
            let bytes: u64 = stages.iter().map(|stage| stage.bytes).sum();
            let roof = |bytes_per_s: f64| {
                let s = bytes as f64 / bytes_per_s;
                format!("{:.2} ms, {:.0}/s", 1e3 * s, 1.0 / s)
            };
            let operations: u64 = stages.iter().map(|stage| stage.operations).sum();
            rows.push(format!(
                "| {costs} | {} | {} | {:.2} | {} | {} | {:.0} |",
                if fused { "yes" } else { "no" },
                each.join(" | "),
                bytes as f64 / candidates,
                roof(1e12),
                roof(4.8e12),
                operations as f64 / candidates
            ));
        }
    }
    rows
}

/// Returns the rows of the table of local aggregation: bytes and operations for each pixel and disparity.
fn aggregation_rows() -> Vec<String> {
    let mut rows = Vec::new();
    for &aggregation in Aggregation::ALL.iter().filter(|&&aggregation| aggregation != Aggregation::None) {
        for (window, arms) in [(9, 9), (21, 17), (33, 30)] {
            let region =
                if aggregation.has_window() { format!("{window}x{window}") } else { format!("arms of {arms}") };
            let of_paths = |paths| {
                let params =
                    StereoParams { aggregation, window, arms, paths, num_disparities: 128, ..StereoParams::default() };
                let structure = Structure::levels((640, 480), &params).remove(0).0;
                let variant = Variant::baseline(&LIMITS, &structure.requirements());
                let key = GraphKey { structures: vec![structure], variant, max_work: 1 << 50, keeps_sums: false };
                let work = work(&DispatchGraph::new(&key, &LIMITS, "the page").unwrap(), LIMITS.packs_i16);
                work.into_iter().find(|stage| stage.name == "aggregation").unwrap()
            };
            let candidates = f64::from(640 * 480 * 128);
            let [means, sums] = [8, 0].map(|paths| of_paths(paths).bytes as f64 / candidates);
            let operations = of_paths(0).operations as f64 / candidates;
            rows.push(format!("| {aggregation} | {region} | {means:.1} | {sums:.1} | {operations:.0} |"));
        }
    }
    rows
}

#[test]
fn the_page_of_counts_has_the_bytes_of_the_graphs() {
    let page = include_str!("../../COUNTS.md");
    let rows = [traffic_rows(), aggregation_rows()].concat();
    for row in &rows {
        assert!(page.lines().any(|line| line == row), "lab/COUNTS.md has to say\n{}", rows.join("\n"));
    }
}
