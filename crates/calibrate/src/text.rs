//! Textual and JSON forms of a calibration.

use super::judge::{GOOD_PERCENT, MAX_DISTANCE_M};
use super::{Outcome, Solution};
use std::fmt;
use stereopsis_base::console::counted;
use stereopsis_frame::Side;

impl Outcome {
    /// Describes the calibration's quality in one sentence.
    pub fn verdict(&self) -> String {
        if !self.refusals.is_empty() {
            return format!("not to be used, for {}", counted(self.refusals.len() as u64, "reason"));
        }
        let verdict = match self.judgement.as_ref().map(|judgement| judgement.good_to_m(GOOD_PERCENT)) {
            None => "how good it is cannot be said with so few views".to_owned(),
            Some(Some(distance)) if distance >= MAX_DISTANCE_M => {
                format!("good enough for {MAX_DISTANCE_M:.0} m within {GOOD_PERCENT:.0} %, and more")
            }
            Some(Some(distance)) => format!("good enough for {distance:.1} m within {GOOD_PERCENT:.0} %"),
            Some(None) => format!("depth is not within {GOOD_PERCENT:.0} % at any distance"),
        };
        match self.doubts.len() {
            0 => verdict,
            count => format!("{verdict}, with {}", counted(count as u64, "doubt")),
        }
    }

    /// Describes the origin of the scale.
    pub fn scale_note(&self) -> String {
        format!(
            "metres stand or fall with the {:?} mm that were typed for the side of a {}: measure one known distance to check them",
            self.board.square_mm,
            self.board.square_word()
        )
    }

    /// Returns the calibration's figures as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let Solution { kind, sigma_px, rig, views, .. } = &self.solution;
        let views: Vec<_> = views
            .iter()
            .map(|fit| {
                serde_json::json!({
                    "name": fit.view.name,
                    "corners": [fit.errors[0].len(), fit.errors[1].len()],
                    "rms_px": Side::ALL.map(|side| fit.rms_px(side)),
                    "is_split": fit.is_split,
                })
            })
            .collect();
        serde_json::json!({
            "board": self.board.to_string(),
            "size": [self.size.0, self.size.1],
            "verdict": self.verdict(),
            "is_good": self.refusals.is_empty(),
            "refusals": texts(&self.refusals),
            "doubts": texts(&self.doubts),
            "advice": texts(&self.advice),
            "scale_note": self.scale_note(),
            "lens_model": kind.word(),
            "tried": self.tried.iter().map(|(kind, px)| serde_json::json!({ "lens_model": kind.word(), "left_out_px": px })).collect::<Vec<_>>(),
            "sigma_px": sigma_px,
            "rms_px": Side::ALL.map(|side| self.solution.rms_px(side)),
            "stereo_px": self.stereo_px,
            "mono_px": self.mono_px,
            "squares_aspect": self.squares_aspect,
            "judgement": self.judgement,
            "coverage": self.coverage.iter().map(super::Coverage::share).collect::<Vec<_>>(),
            "rig": rig.describe(0.0),
            "views": views,
        })
    }
}

fn texts(items: &[impl fmt::Display]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Solution { kind, rig, views, .. } = &self.solution;
        writeln!(f, "verdict    {}", self.verdict())?;
        for reason in &self.refusals {
            writeln!(f, "refused    {reason}")?;
        }
        for doubt in &self.doubts {
            writeln!(f, "doubt      {doubt}")?;
        }
        for advice in &self.advice {
            writeln!(f, "advice     {advice}")?;
        }
        if let Some(judgement) = &self.judgement {
            for depth in &judgement.depth {
                if depth.percent().is_finite() {
                    writeln!(
                        f,
                        "at {} m     depth within {:.2} % ({:.0} mm): {:.2} % by the calibration, {:.2} % by 1/4 px of matching",
                        depth.distance_m,
                        depth.percent(),
                        1e3 * depth.error_m(),
                        depth.calibration_percent,
                        depth.matching_percent
                    )?;
                } else {
                    writeln!(f, "at {} m     nothing is seen by both cameras", depth.distance_m)?;
                }
            }
            writeln!(f, "           95 of 100 calibrations like this are nearer to the truth than it says")?;
            writeln!(
                f,
                "left out   {} of views that were left out differ by {:.2} px, their corners by {:.2} px; the board measures {:.2} %",
                self.solution.rig.axis().lines(),
                judgement.left_out_rows_px,
                judgement.left_out_px,
                100.0 * judgement.board_size
            )?;
        }
        writeln!(f, "scale      {}", self.scale_note())?;
        let tried: Vec<String> = self.tried.iter().map(|(kind, px)| format!("{kind} {px:.3} px")).collect();
        writeln!(f, "lens       {kind} (errors of views left out: {})", tried.join(", "))?;
        for (name, side) in [("left ", Side::Left), ("right", Side::Right)] {
            let camera = [&rig.left, &rig.right][side as usize];
            let rms = self.solution.rms_px(side).unwrap_or(f64::NAN);
            let covered = 100.0 * self.coverage[side as usize].share();
            writeln!(
                f,
                "{name}      focal {:.1} x {:.1} px, principal point ({:.1}, {:.1}), errors {rms:.2} px, corners in {covered:.0} % of the image",
                camera.fx, camera.fy, camera.cx, camera.cy
            )?;
        }
        writeln!(f, "baseline   {:.2} mm", 1e3 * rig.baseline_m())?;
        let split: Vec<&str> = views.iter().filter(|fit| fit.is_split).map(|fit| fit.view.name.as_str()).collect();
        let used = views.len() - split.len() / 2;
        write!(f, "views      {} used", counted(used as u64, "view"))?;
        if !split.is_empty() {
            let mut names = split;
            names.dedup();
            write!(f, "; for each camera alone, as the cameras contradict each other: {}", names.join(", "))?;
        }
        writeln!(f)
    }
}
