//! Tables of a study as in Figs. 4 and 9 of Banz, Blume & Pirsch 2011, with kernel parameters in rows and columns and times in cells.

use std::collections::BTreeSet;
use std::io::{self, Write};
use stereopsis_base::console;
use stereopsis_bench::PROGRAM;
use stereopsis_frame::engine::{EngineInfo, Job};
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::limits::Limits;
use stereopsis_gpu::tuning::{Study, Trial, study};
use stereopsis_gpu::variant::{
    AHEADS, CostSource, Exchange, PIECES, PathBits, Requirements, Variant, WORDS, WORKGROUPS,
};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::StereoParams;

pub(super) struct About {
    pub(super) info: EngineInfo,
    pub(super) limits: Limits,
    pub(super) requirements: Requirements,
    pub(super) size: (usize, usize),
    pub(super) parameters: StereoParams,
}

/// Times every variant on one pair and prints tables.
///
/// # Errors
/// The GPU cannot match the pair; `out` cannot be written.
pub fn run(gpu: &Gpu, job: &Job, rounds: usize, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let structure = Structure::levels(job.frame.size(), &job.params).swap_remove(0).0;
    let mut engine = GpuEngine::with_options(gpu.clone(), GpuOptions { forgets: true, ..GpuOptions::default() })?;
    let about = About {
        info: EngineInfo::clone(&gpu.info),
        limits: *engine.limits(),
        requirements: structure.requirements(),
        size: job.frame.size(),
        parameters: StereoParams::clone(&job.params),
    };
    let mut tables = Tables::new(&about);
    let mut printed = if json { Ok(()) } else { tables.print_head(out) };
    let study = study(&mut engine, job, rounds, &mut |trial, _, _| {
        if !json && printed.is_ok() {
            printed = tables.add(trial, out);
        }
        printed.is_ok()
    })?;
    printed?;
    if json {
        writeln!(out, "{}", console::json(&report(&about, &study))?)?;
    } else {
        tables.print_rest(&study, out)?;
    }
    Ok(())
}

fn note(info: &EngineInfo) -> Option<String> {
    let adapter = &info.adapter;
    info.software.then(|| format!("this GPU is software ({adapter}): these times say nothing about real GPUs"))
}

fn report(about: &About, study: &Study) -> serde_json::Value {
    let not_run: Vec<_> =
        not_run(about, study).into_iter().map(|(what, why)| serde_json::json!({ "what": what, "why": why })).collect();
    serde_json::json!({
        "program": PROGRAM,
        "engine": about.info,
        "size": about.size,
        "parameters": about.parameters,
        "trials": study.trials,
        "best": study.best(),
        "not_run": not_run,
        "note": note(&about.info),
    })
}

/// Printer that writes each table once it is complete.
pub(super) struct Tables<'a> {
    about: &'a About,
    /// Trials of the first part in order of arrival.
    trials: Vec<Trial>,
    /// Exchange of the trials that are not printed yet.
    current: Option<Exchange>,
    /// Path computation and winner selection in the variants of the first part.
    first: Option<(PathBits, u32, bool, u32)>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(about: &'a About) -> Self {
        Self { about, trials: Vec::new(), current: None, first: None }
    }

    pub(super) fn print_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let About { info, requirements, size: (width, height), .. } = self.about;
        writeln!(out, "{}, {width}x{height} with {} disparities", info.adapter, requirements.candidates)?;
        if let Some(note) = note(info) {
            writeln!(out, "{note}")?;
        }
        let what =
            "ms of the paths (whole pairs where they are not timed), by words of four candidates that a lane owns";
        writeln!(out, "{what} (rows) and invocations of a workgroup (columns); * is the quickest of a table")?;
        out.flush()
    }

    /// Adds a trial and prints the tables that are complete.
    pub(super) fn add(&mut self, trial: &Trial, out: &mut dyn Write) -> io::Result<()> {
        let Variant { exchange, path_bits, ahead, fused, piece, .. } = trial.variant;
        let first = *self.first.get_or_insert((path_bits, ahead, fused, piece));
        let next = (first == (path_bits, ahead, fused, piece)).then_some(exchange);
        if self.current.is_some() && self.current != next {
            self.print_current(out)?;
        }
        self.current = next;
        if next.is_some() {
            self.trials.push(*trial);
        }
        Ok(())
    }

    /// Prints the tables of the last exchange, one for each source of costs.
    fn print_current(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(exchange) = self.current.take() else { return Ok(()) };
        for &costs in CostSource::ALL {
            let of = |trial: &&Trial| (trial.variant.exchange, trial.variant.costs) == (exchange, costs);
            let trials: Vec<_> = self.trials.iter().filter(of).collect();
            if !trials.is_empty() {
                writeln!(out, "\nexchange={exchange}, costs={costs}")?;
                grid(&trials, out)?;
            }
        }
        out.flush()
    }

    /// Prints the rest of the first part, the winner's pieces, and variants that do not run.
    pub(super) fn print_rest(&mut self, study: &Study, out: &mut dyn Write) -> io::Result<()> {
        self.print_current(out)?;
        self.print_pieces(study, out)?;
        for (number, (what, why)) in not_run(self.about, study).into_iter().enumerate() {
            writeln!(out, "{}not run: {what}: {why}", if number == 0 { "\n" } else { "" })?;
        }
        writeln!(out)
    }

    /// Prints the winner of the first part's quickest variant, with pieces of each length and fused.
    fn print_pieces(&self, study: &Study, out: &mut dyn Write) -> io::Result<()> {
        let Some(first) = self.trials.iter().min_by(|a, b| a.pair_ms.total_cmp(&b.pair_ms)) else { return Ok(()) };
        let base = first.variant;
        let of = |variant: Variant| {
            let fits = |v: Variant| if variant.fused { Variant { piece: variant.piece, ..v } } else { v } == variant;
            study.trials.iter().find(|trial| fits(trial.variant))
        };
        let pieces = PIECES.map(|piece| (format!("pieces of {piece} px"), of(Variant { fused: false, piece, ..base })));
        let others = [
            ("fused with the path along the row".to_owned(), of(Variant { fused: true, ..base })),
            (
                "paths in 16-bit integers".to_owned(),
                study.trials.iter().find(|trial| trial.variant.path_bits == PathBits::I16),
            ),
            ("paths in 16-bit floats".to_owned(), of(Variant { path_bits: PathBits::F16, ..base })),
        ];
        let further =
            [("", base.path_bits), ("16-bit floats, ", PathBits::F16)].into_iter().flat_map(|(what, path_bits)| {
                AHEADS[1..]
                    .iter()
                    .map(move |&ahead| (format!("{what}{ahead} steps ahead"), Variant { path_bits, ahead, ..base }))
            });
        let further = further.map(|(what, variant)| (what, of(variant)));
        let rows: Vec<_> = pieces.into_iter().chain(others).chain(further).collect();
        let best = rows.iter().filter_map(|(_, trial)| trial.map(|trial| trial.pair_ms)).fold(f64::INFINITY, f64::min);
        writeln!(out, "\n{:<34}  paths ms  winner ms   pair ms", "the quickest of these, changed")?;
        for (what, trial) in rows {
            let number = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
            let mark = if trial.is_some_and(|trial| trial.pair_ms <= best) { "*" } else { "" };
            let [paths, winner, pair] = match trial {
                Some(Trial { paths_ms, winner_ms, pair_ms, .. }) => [*paths_ms, *winner_ms, Some(*pair_ms)].map(number),
                None => [None; 3].map(number),
            };
            writeln!(out, "{what:<38}  {paths:>8}  {winner:>9}  {pair:>8}{mark}")?;
        }
        Ok(())
    }
}

fn grid(trials: &[&Trial], out: &mut dyn Write) -> io::Result<()> {
    let ms = |trial: &Trial| trial.paths_ms.unwrap_or(trial.pair_ms);
    let best = trials.iter().map(|trial| ms(trial)).fold(f64::INFINITY, f64::min);
    write!(out, "{:>5}", "")?;
    for workgroup in WORKGROUPS {
        write!(out, "  {workgroup:>9}")?;
    }
    writeln!(out)?;
    for words in WORDS {
        write!(out, "{words:>5}")?;
        for workgroup in WORKGROUPS {
            let of = |trial: &&&Trial| (trial.variant.words, trial.variant.workgroup) == (words, workgroup);
            let text = trials.iter().find(of).map_or("-".to_owned(), |trial| {
                format!("{:.3}{}", ms(trial), if ms(trial) <= best { "*" } else { "" })
            });
            write!(out, "  {text:>9}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Lists variants that this adapter cannot run or has no room for, with reasons.
pub(super) fn not_run(about: &About, study: &Study) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for &exchange in Exchange::ALL {
        for &costs in CostSource::ALL {
            for words in WORDS {
                for workgroup in WORKGROUPS {
                    for (&path_bits, fused) in PathBits::ALL.iter().flat_map(|bits| [(bits, false), (bits, true)]) {
                        all.push(Variant {
                            exchange,
                            words,
                            workgroup,
                            costs,
                            path_bits,
                            ahead: AHEADS[0],
                            fused,
                            piece: PIECES[0],
                        });
                    }
                }
            }
        }
    }
    let refusal = |variant: &Variant| variant.unsupported_reason(&about.limits, &about.requirements);
    let mut refused: Vec<(Vec<Variant>, String)> = Vec::new();
    let impossible = all.iter().filter_map(|variant| Some((*variant, refusal(variant)?)));
    for (variant, why) in impossible.chain(study.left_out.iter().cloned()) {
        match refused.iter_mut().find(|(_, other)| *other == why) {
            Some((variants, _)) => variants.push(variant),
            None => refused.push((vec![variant], why)),
        }
    }
    refused.into_iter().map(|(variants, why)| (in_common(&variants, &all), why)).collect()
}

type VariantField = fn(&Variant) -> String;

/// Formats the parts that are equal in these variants and differ in others.
fn in_common(variants: &[Variant], all: &[Variant]) -> String {
    let parts: [(&str, VariantField); 6] = [
        ("exchange", |v| v.exchange.to_string()),
        ("costs", |v| v.costs.to_string()),
        ("words", |v| v.words.to_string()),
        ("path_bits", |v| v.path_bits.to_string()),
        ("workgroup", |v| v.workgroup.to_string()),
        ("fused", |v| if v.fused { "yes" } else { "no" }.to_owned()),
    ];
    let values = |part: VariantField, of: &[Variant]| of.iter().map(part).collect::<BTreeSet<_>>();
    let telling = parts.iter().filter_map(|&(name, part)| {
        let own = values(part, variants);
        let listed = || own.iter().cloned().collect::<Vec<_>>().join(" or ");
        (own.len() < values(part, all).len()).then(|| format!("{name}={}", listed()))
    });
    let telling = telling.collect::<Vec<_>>().join(", ");
    if telling.is_empty() { "some variants".to_owned() } else { telling }
}
