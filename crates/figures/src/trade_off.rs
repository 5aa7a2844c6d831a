//! Figure of the settings tried by a search: error over time.

use super::figure::{Drawing, ERROR_COLOR, FONT, INK, STEP_COLOR, draw_legend, write_figure};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;
use stereopsis_images::ExportError;

/// Time (ms) and loss of a setting.
pub type Place = (f64, f64);

/// Settings tried by a search.
#[derive(Clone, Debug)]
pub struct TradeOff {
    /// Name of the loss, with its unit.
    pub loss: String,
    /// Settings that were tried.
    pub tried: Vec<Place>,
    /// Pareto front, the quickest setting first.
    pub front: Vec<Place>,
    /// Named settings.
    pub named: Vec<(String, Place)>,
    /// Largest allowed time, ms.
    pub limit_ms: Option<f64>,
}

/// Writes the figure as `.svg` or `.png`.
///
/// # Errors
/// The ending is unknown, there is no setting, or the file cannot be written.
pub fn write_trade_off(path: &Path, trade_off: &TradeOff) -> Result<(), ExportError> {
    write_figure(path, trade_off)
}

/// Maximum drawn loss as a multiple of the smallest: larger ones would compress the rest.
const MAX_LOSS_RATIO: f64 = 4.0;

impl TradeOff {
    /// Returns the drawn ranges of time and loss; `None` without settings.
    fn ranges(&self) -> Option<[(f64, f64); 2]> {
        let named = self.named.iter().map(|(_, place)| *place);
        let places =
            || self.tried.iter().copied().chain(named.clone()).filter(|(t, loss)| t.is_finite() && loss.is_finite());
        let span = |values: Vec<f64>| {
            let least = values.iter().copied().reduce(f64::min)?;
            Some((least, values.into_iter().fold(least, f64::max)))
        };
        let (least_loss, most_loss) = span(places().map(|place| place.1).collect())?;
        let most_loss = most_loss.min(MAX_LOSS_RATIO * least_loss.max(1e-9));
        let shown = places().filter(|place| place.1 <= most_loss).map(|place| place.0);
        let (least_ms, most_ms) = span(shown.chain(self.limit_ms).collect())?;
        let room = 0.05 * (most_loss - least_loss).max(0.01 * most_loss.max(1e-9));
        Some([(least_ms.max(1e-3) / 1.2, most_ms.max(1e-3) * 1.2), (least_loss - room, most_loss + room)])
    }
}

impl Drawing for TradeOff {
    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend,
        B::ErrorType: 'static,
    {
        let Some([(least_ms, most_ms), (least, most)]) = self.ranges() else {
            return Err("no setting has a loss: there is nothing to draw".into());
        };
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d((least_ms..most_ms).log_scale(), least..most)?;
        chart
            .configure_mesh()
            .x_desc("time of a pair, ms")
            .y_desc(&self.loss)
            .light_line_style(INK.mix(0.06))
            .bold_line_style(INK.mix(0.16))
            .axis_desc_style((FONT, 16).into_font().color(&INK))
            .label_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        let is_shown = |&&(ms, loss): &&Place| ms.is_finite() && ms > 0.0 && loss <= most;
        if let Some(limit_ms) = self.limit_ms {
            let line = LineSeries::new([(limit_ms, least), (limit_ms, most)], INK.mix(0.5));
            chart.draw_series(line)?.label("largest time").legend(key(INK.mix(0.5)));
        }
        let dots = self.tried.iter().filter(is_shown).map(|&place| Circle::new(place, 2, INK.mix(0.35).filled()));
        chart.draw_series(dots)?;
        let front: Vec<Place> = self.front.iter().filter(is_shown).copied().collect();
        chart
            .draw_series(LineSeries::new(front, ERROR_COLOR.stroke_width(2)))?
            .label("no other setting is both better and quicker")
            .legend(key(ERROR_COLOR.mix(1.0)));
        for (name, place) in self.named.iter().filter(|(_, place)| is_shown(&place)) {
            let dot = Circle::new((0, 0), 4, STEP_COLOR.filled());
            let text = Text::new(name.clone(), (7, -6), (FONT, 14).into_font().color(&INK));
            chart.draw_series([EmptyElement::at(*place) + dot + text])?;
        }
        draw_legend(&mut chart)?;
        area.present()?;
        Ok(())
    }
}

fn key<B: DrawingBackend>(color: RGBAColor) -> impl Fn((i32, i32)) -> DynElement<'static, B, (i32, i32)> {
    move |(x, y)| PathElement::new(vec![(x, y), (x + 24, y)], color).into_dyn()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trade_off() -> TradeOff {
        let tried = vec![(10.0, 9.0), (20.0, 7.0), (30.0, 8.0), (5.0, 90.0), (f64::INFINITY, f64::NAN)];
        TradeOff {
            loss: "pixels off, %".into(),
            front: vec![(10.0, 9.0), (20.0, 7.0)],
            named: vec![("balanced".into(), (10.0, 9.0)), ("found".into(), (20.0, 7.0)), ("far".into(), (5.0, 90.0))],
            tried,
            limit_ms: Some(33.0),
        }
    }

    #[test]
    fn names_settings_and_leaves_out_large_losses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.svg");
        write_trade_off(&path, &trade_off()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for words in ["balanced", "found", "pixels off, %", "time of a pair, ms", "largest time"] {
            assert!(text.contains(words), "no '{words}'");
        }
        assert!(!text.contains(">\nfar\n") && !text.contains(">far<"), "{text}");
        // three settings and two names, each a circle
        assert_eq!(text.matches("<circle").count(), 5);
        let [(least_ms, most_ms), (_, most)] = trade_off().ranges().unwrap();
        assert!(least_ms > 5.0 && most_ms > 33.0 && most < 40.0, "{least_ms} {most_ms} {most}");
    }

    #[test]
    fn draws_one_setting_and_rejects_none() {
        let folder = tempfile::tempdir().unwrap();
        let one = TradeOff { tried: vec![(3.0, 1.5)], front: vec![], named: vec![], limit_ms: None, ..trade_off() };
        write_trade_off(&folder.path().join("a.png"), &one).unwrap();
        let none = TradeOff { tried: vec![], ..one };
        let why = write_trade_off(&folder.path().join("b.svg"), &none).unwrap_err().to_string();
        assert!(why.contains("nothing to draw"), "{why}");
        assert!(write_trade_off(&folder.path().join("a.pdf"), &trade_off()).is_err());
    }
}
