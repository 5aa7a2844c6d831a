//! GPU time of each stage, compared with the device's limits.

use super::operations::{StageWork, work};
use super::rates::Rates;
use std::io::{self, Write};
use stereopsis_bench::one_by_one::{FrameTime, Times};
use stereopsis_bench::{Setup, Subject, not_measurable, one_by_one, warm_up};
use stereopsis_frame::engine::{Engine as _, EngineChoice, EngineError};
use stereopsis_gpu::variant::Variant;
use stereopsis_gpu::{Gpu, GpuEngine};
use stereopsis_stereo::StereoParams;

/// Share of bandwidth or arithmetic below which a stage is latency-bound.
const MIN_BUSY_SHARE: f64 = 0.5;

/// Limiting resource of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Bound {
    Memory,
    Arithmetic,
    /// Latency, or too little parallel work.
    Latency,
}

impl Bound {
    fn of(share_of_bandwidth: f64, share_of_arithmetic: f64) -> Self {
        if share_of_bandwidth.max(share_of_arithmetic) < MIN_BUSY_SHARE {
            Self::Latency
        } else if share_of_bandwidth >= share_of_arithmetic {
            Self::Memory
        } else {
            Self::Arithmetic
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Arithmetic => "arithmetic",
            Self::Latency => "latency",
        }
    }
}

#[derive(Debug, serde::Serialize)]
pub(super) struct StageFigures {
    #[serde(flatten)]
    pub(super) work: StageWork,
    /// Median time, ms; `None` without timestamps.
    pub(super) ms: Option<f64>,
    /// Memory rate, GB/s, only of hardware like all rates here.
    pub(super) gb_per_s: Option<f64>,
    pub(super) share_of_bandwidth: Option<f64>,
    pub(super) share_of_arithmetic: Option<f64>,
    pub(super) bound: Option<Bound>,
}

impl StageFigures {
    pub(super) fn new(work: StageWork, ms: Option<f64>, rates: Option<&Rates>) -> Self {
        let timed = rates.zip(ms.filter(|&ms| ms > 0.0));
        let shares = timed.map(|(rates, ms)| {
            let per_s = |count: u64| count as f64 / ms * 1e3;
            (per_s(work.bytes) / rates.bytes_per_s, per_s(work.operations) / rates.operations_per_s)
        });
        Self {
            work,
            ms,
            gb_per_s: timed.map(|(_, ms)| work.bytes as f64 / ms * 1e-6),
            share_of_bandwidth: shares.map(|(bandwidth, _)| bandwidth),
            share_of_arithmetic: shares.map(|(_, arithmetic)| arithmetic),
            bound: shares.map(|(bandwidth, arithmetic)| Bound::of(bandwidth, arithmetic)),
        }
    }

    pub(super) const HEAD: &str = "      ms        MB      GB/s  of bandwidth       Gop  of arithmetic  bound     ";

    pub(super) fn columns(&self) -> String {
        let number = |value: Option<f64>, decimals| value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"));
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        format!(
            "{:>8}  {:>8.1}  {:>8}  {:>12}  {:>8.2}  {:>13}  {:<10}",
            number(self.ms, 3),
            self.work.bytes as f64 * 1e-6,
            number(self.gb_per_s, 1),
            percent(self.share_of_bandwidth),
            self.work.operations as f64 * 1e-9,
            percent(self.share_of_arithmetic),
            self.bound.map_or("-", Bound::word)
        )
    }
}

#[derive(serde::Serialize)]
struct DeviceMeasurement {
    #[serde(flatten)]
    subject: Subject,
    #[serde(flatten)]
    times: Times,
    #[serde(flatten)]
    device: DeviceFigures,
}

pub(super) fn run(setup: &Setup, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut report = stereopsis_bench::Report::default();
    let mut gauge = RatesCache::default();
    for (spec, source_options) in &setup.sources {
        let jobs = setup.jobs(spec, source_options)?;
        let mut engine = setup.open_options(EngineChoice::Gpu).gpu_engine()?;
        warm_up(&mut engine, &jobs)?;
        let times = one_by_one::measure(&mut engine, &jobs, setup.frames)?;
        let device = DeviceFigures::new(&engine, &mut gauge, &times)?;
        let Some(first) = jobs.first() else { continue };
        let measured = DeviceMeasurement { subject: Subject::of(&engine.info(), first), times, device };
        if !setup.json {
            let DeviceMeasurement { subject, times, device } = &measured;
            let (adapter, size) = (&subject.engine.adapter, subject.size_word());
            let StereoParams { num_disparities, paths, .. } = &subject.parameters;
            writeln!(out, "{adapter}, {size} with {num_disparities} disparities, {paths} paths")?;
            writeln!(out, "  {}\n  {}", Times::HEAD, times.columns())?;
            device.print(out)?;
        }
        report.results.push(measured);
    }
    if setup.json {
        writeln!(out, "{}", stereopsis_base::console::json(&report)?)?;
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct DeviceFigures {
    variant: Option<Variant>,
    /// Device time of a pair without transfers, only for hardware with timestamps.
    device_ms: Option<FrameTime>,
    /// Measured limits of the device, only for hardware.
    rates: Option<Rates>,
    device_stages: Vec<StageFigures>,
    /// Note on missing figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Device limits, measured once per run.
#[derive(Default)]
pub(super) struct RatesCache(Option<Rates>);

impl RatesCache {
    /// Returns the limits, unless the adapter is software, whose figures would be the processor's.
    pub(super) fn rates(&mut self, gpu: &Gpu) -> Result<Option<Rates>, EngineError> {
        if self.0.is_none() && !gpu.info.software {
            self.0 = Some(Rates::measure(gpu)?);
        }
        Ok(self.0)
    }
}

impl DeviceFigures {
    fn new(engine: &GpuEngine, gauge: &mut RatesCache, times: &Times) -> Result<Self, EngineError> {
        let info = &engine.gpu().info;
        let rates = gauge.rates(engine.gpu())?;
        let stage = |work: StageWork| StageFigures::new(work, times.stage_ms(work.name), rates.as_ref());
        let device_ms = times.device_ms.clone().filter(|_| !info.software);
        let no_clock = || {
            let text = "the stages are not timed: this device has no timestamps";
            device_ms.is_none().then(|| text.to_owned())
        };
        let note = not_measurable(info).or_else(no_clock);
        let packs_i16 = engine.limits().packs_i16;
        let work = engine.graph().map(|graph| work(graph, packs_i16)).unwrap_or_default();
        let device_stages = work.into_iter().map(stage).collect();
        Ok(Self { variant: engine.variant(), device_ms, rates, device_stages, note })
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(variant) = self.variant {
            writeln!(out, "  variant {variant}")?;
        }
        if let Some(rates) = &self.rates {
            writeln!(out, "  {}", rates_text(rates))?;
        }
        if let Some(FrameTime { best, median, .. }) = &self.device_ms {
            writeln!(out, "  on the device, without transfers: best {best:.3} ms, median {median:.3} ms")?;
        }
        if let Some(note) = &self.note {
            writeln!(out, "  {note}")?;
        }
        writeln!(out, "  {:<11}{}", "stage", StageFigures::HEAD.trim_end())?;
        for stage in &self.device_stages {
            writeln!(out, "  {:<11}{}", stage.work.name, stage.columns().trim_end())?;
        }
        Ok(())
    }
}

pub(super) fn rates_text(rates: &Rates) -> String {
    let Rates { bytes_per_s, operations_per_s, copied_bytes } = rates;
    format!(
        "the device copies {:.0} GB/s (read and written, {} MiB) and does {:.2} T integer operations/s",
        bytes_per_s * 1e-9,
        copied_bytes >> 20,
        operations_per_s * 1e-12
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_held_against_what_the_device_can_do() {
        let rates = Rates { bytes_per_s: 1e12, operations_per_s: 1e13, copied_bytes: 1 << 29 };
        let work = StageWork { name: "paths", bytes: 800_000_000, operations: 2_000_000_000, dispatches: 7 };
        let figures = StageFigures::new(work, Some(1.0), Some(&rates));
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-9;
        assert!(near(figures.gb_per_s, 800.0) && near(figures.share_of_bandwidth, 0.8), "{figures:?}");
        assert!(near(figures.share_of_arithmetic, 0.2), "{figures:?}");
        assert_eq!(figures.bound, Some(Bound::Memory));
        assert_eq!(StageFigures::new(work, Some(2.0), Some(&rates)).bound, Some(Bound::Latency));
        let busy = StageWork { operations: 9_000_000_000, ..work };
        assert_eq!(StageFigures::new(busy, Some(1.0), Some(&rates)).bound, Some(Bound::Arithmetic));
        // no bound without timestamps or rates
        for figures in [StageFigures::new(work, None, Some(&rates)), StageFigures::new(work, Some(1.0), None)] {
            assert!(figures.gb_per_s.is_none() && figures.bound.is_none(), "{figures:?}");
        }
        assert_eq!(figures.columns().len(), StageFigures::HEAD.len());
    }
}
