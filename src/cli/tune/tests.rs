//! What `tune` prints and keeps: of a study that is made up, and of a small one.

use super::*;
use crate::engine::EngineKind;
use crate::engine::gpu::variant::{Exchange, PIECES, Variant, WORKGROUPS};
use crate::stereo::StereoParams;
use std::io;

fn about() -> About {
    About {
        info: EngineInfo { kind: EngineKind::Gpu, adapter: "made up".to_owned(), software: false },
        limits: Limits {
            subgroup: 16,
            workgroup: 256,
            discrete: true,
            binding_bytes: 1 << 30,
            storage_buffers: 32,
            side_px: 16384,
            path_bytes: 1 << 30,
        },
        requirements: Requirements { candidates: 128, wide: false, has_codes: true, has_row_path: true },
        size: (640, 480),
    }
}

/// Every variant of the first part, and two of the second one.
fn made_up(about: &About) -> Study {
    let baseline = Variant::baseline(&about.limits, &about.requirements);
    let mut variants = Variant::all(&about.limits, &about.requirements, &WORKGROUPS, &[baseline.piece]);
    variants.retain(|variant| variant.fused == baseline.fused);
    let trial = |variant: Variant| {
        let ms = 1.0 + 10.0 / f64::from(variant.workgroup) + f64::from(variant.words) / 8.0;
        let winner_ms = if variant.piece == PIECES[0] { 0.1 } else { 0.2 };
        Trial { variant, paths_ms: Some(ms), winner_ms: Some(winner_ms), pair_ms: ms + winner_ms }
    };
    let mut study = Study { trials: variants.into_iter().map(trial).collect(), left_out: Vec::new() };
    let best = study.best().unwrap().variant;
    study.trials.extend([trial(Variant { piece: PIECES[0], ..best }), trial(Variant { fused: true, ..best })]);
    study
}

#[test]
fn tables_show_every_trial_mark_the_best_and_name_what_does_not_run() {
    let about = about();
    let study = made_up(&about);
    let mut tables = Tables::new(&about);
    let mut out = Vec::new();
    tables.print_head(&mut out).unwrap();
    for trial in &study.trials {
        tables.add(trial, &mut out).unwrap();
    }
    tables.print_rest(&study, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let tables: Vec<_> = text.split("\n\n").collect();
    // workgroup memory and subgroups; costs from a volume and from codes each
    let grids: Vec<_> = tables.iter().filter(|table| table.starts_with("exchange=")).collect();
    assert_eq!(grids.len(), 4, "{text}");
    for table in &grids {
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 5, "{table}");
        assert!(lines.iter().all(|line| line.len() == lines[1].len() || line.starts_with("exchange=")), "{table}");
        assert_eq!(table.matches('*').count(), 1, "{table}");
        // one word is the quickest here; where a subgroup is too small for it, it is not run
        let dashes = if table.contains("exchange=subgroup") { 4 } else { 0 };
        assert_eq!(table.matches(" -").count(), dashes, "{table}");
        assert!(lines[if dashes > 0 { 3 } else { 2 }].ends_with('*'), "{table}");
    }
    let pieces = tables.iter().find(|table| table.starts_with("the winner")).unwrap();
    assert!(pieces.lines().any(|line| line.starts_with("pieces of 16 px") && line.ends_with('*')), "{pieces}");
    assert!(pieces.lines().any(|line| line.starts_with("fused") && !line.contains('-')), "{pieces}");
    let lanes = "not run: exchange=subgroup, words=1: a pixel of 128 candidates needs 32 lanes";
    assert!(text.contains(lanes), "{text}");
    assert!(!text.contains("software"), "{text}");
}

#[test]
fn what_there_was_no_room_for_is_named() {
    let about = about();
    let variant =
        Variant { words: 4, exchange: Exchange::Workgroup, ..Variant::baseline(&about.limits, &about.requirements) };
    let study = Study { trials: Vec::new(), left_out: vec![(variant, "no room for 9 MiB".to_owned())] };
    let named = not_run_of(&about, &study);
    assert!(named.iter().any(|(what, why)| what.contains("words=4") && why == "no room for 9 MiB"), "{named:?}");
    assert_eq!(ending(None, &Records::default()), "no variant could be run");
}

fn not_run_of(about: &About, study: &Study) -> Vec<(String, String)> {
    tables::not_run(about, study)
}

/// Whoever reads this has seen enough after some lines.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.split(|&b| b == b'\n').count() - 1).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_best_is_kept_also_when_nobody_reads_on() {
    let Ok(gpu) = Gpu::open(&AdapterChoice::Best) else {
        assert!(std::env::var_os("REQUIRE_GPU").is_none(), "REQUIRE_GPU is set, and there is no GPU");
        return;
    };
    let params = StereoParams { num_disparities: 8, ..StereoParams::default() };
    let source = SourceOptions { size: Some((24, 16)), ..SourceOptions::default() };
    let job = pairs::jobs(&SourceSpec::Scene, &source, &params).unwrap().swap_remove(0);
    let folder = tempfile::tempdir().unwrap();
    let records = Records::in_file(folder.path().join("variants.json"));
    let structure = Structure::levels(job.frame.size(), &job.params).swap_remove(0).0;
    let key = tuning::record_key(&gpu, &structure);
    assert_eq!(records.get(&key), None);
    let err = tune(&gpu, &job, 1, false, &records, &mut Closing(4)).unwrap_err();
    assert!(super::super::is_closed_pipe(&err), "{err}");
    let record = records.get(&key).unwrap();
    assert_eq!(
        record.variant.unsupported_reason(GpuEngine::new(gpu).unwrap().limits(), &structure.requirements()),
        None
    );
}
