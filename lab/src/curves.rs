//! Figure of several curves over one quantity: curves of a paper dashed, measured ones solid.

use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use stereopsis_figures::{Drawing, FONT, INK};

/// Curves with their axes.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Quantity of the horizontal axis, with its unit.
    pub along: String,
    /// Quantity of the vertical axis, with its unit.
    pub upwards: String,
    /// Whether both axes are logarithmic.
    pub is_logarithmic: bool,
    /// Curves to draw.
    pub curves: Vec<Curve>,
}

/// Named curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Horizontal and vertical values; non-finite ones are left out.
    pub points: Vec<(f64, f64)>,
    /// Whether the values are a paper's.
    pub is_of_paper: bool,
}

/// Colours that remain distinguishable with red-green colour blindness (Okabe & Ito).
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];
/// Width of the legend, px.
const LEGEND_PX: u32 = 250;
/// Length of a dash and of a gap, px.
const DASH: (u32, u32) = (6, 4);

impl Curves {
    fn drawn(&self, curve: &Curve) -> Vec<(f64, f64)> {
        let is_drawn = |value: f64| value.is_finite() && (value > 0.0 || !self.is_logarithmic);
        curve.points.iter().copied().filter(|&(x, y)| is_drawn(x) && is_drawn(y)).collect()
    }

    /// Returns the ranges of both axes; `None` without a point.
    fn ranges(&self) -> Option<[(f64, f64); 2]> {
        let points: Vec<_> = self.curves.iter().flat_map(|curve| self.drawn(curve)).collect();
        let span = |of: fn(&(f64, f64)) -> f64| {
            let least = points.iter().map(of).reduce(f64::min)?;
            let most = points.iter().map(of).reduce(f64::max)?;
            // a single value has no width
            Some(if most > least { (least, most) } else { (least * 0.9 - 0.1, most * 1.1 + 0.1) })
        };
        let (along, (least, most)) = (span(|point| point.0)?, span(|point| point.1)?);
        let upwards = if self.is_logarithmic { (least / 1.2, most * 1.2) } else { (least.min(0.0), 1.05 * most) };
        Some([along, upwards])
    }

    fn draw_into<'a, B, X, Y>(
        &self,
        chart: &mut ChartContext<'a, B, Cartesian2d<X, Y>>,
    ) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend + 'a,
        B::ErrorType: 'static,
        X: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
    {
        chart
            .configure_mesh()
            .x_desc(&self.along)
            .y_desc(&self.upwards)
            .light_line_style(TRANSPARENT)
            .bold_line_style(INK.mix(0.16))
            .axis_desc_style((FONT, 16).into_font().color(&INK))
            .label_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        for (n, curve) in self.curves.iter().enumerate() {
            let style = COLORS[n % COLORS.len()].stroke_width(2);
            let points = self.drawn(curve);
            let dots = points.iter().map(|&point| Circle::new(point, 3, style.color.filled()));
            chart.draw_series(dots)?;
            if curve.is_of_paper {
                chart.draw_series(DashedLineSeries::new(points, DASH.0, DASH.1, style))?;
            } else {
                chart.draw_series(LineSeries::new(points, style))?;
            }
        }
        Ok(())
    }

    /// Draws the names beside the chart, where they hide no curve.
    fn draw_legend<B>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend,
        B::ErrorType: 'static,
    {
        for (n, curve) in self.curves.iter().enumerate() {
            let y = 30 + 24 * n as i32;
            let style = COLORS[n % COLORS.len()].stroke_width(2);
            // the legend's dashes have the gaps of those in the chart
            let parts = if curve.is_of_paper { &[(0, 9), (15, 24)][..] } else { &[(0, 24)] };
            for &(from, to) in parts {
                area.draw(&PathElement::new(vec![(from, y), (to, y)], style))?;
            }
            area.draw(&Text::new(curve.name.clone(), (32, y - 8), (FONT, 14).into_font().color(&INK)))?;
        }
        Ok(())
    }
}

impl Drawing for Curves {
    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend,
        B::ErrorType: 'static,
    {
        let Some([(first, last), (least, most)]) = self.ranges() else {
            return Err("no curve has a point: there is nothing to draw".into());
        };
        area.fill(&WHITE)?;
        let (chart_area, legend_area) = area.split_horizontally(area.dim_in_pixel().0 - LEGEND_PX);
        self.draw_legend(&legend_area)?;
        let mut builder = ChartBuilder::on(&chart_area);
        builder.margin(14).x_label_area_size(44).y_label_area_size(64);
        if self.is_logarithmic {
            self.draw_into(&mut builder.build_cartesian_2d((first..last).log_scale(), (least..most).log_scale())?)?;
        } else {
            self.draw_into(&mut builder.build_cartesian_2d(first..last, least..most)?)?;
        }
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_figures::write_figure;

    fn curves(is_logarithmic: bool) -> Curves {
        let curve = |name: &str, points: &[(f64, f64)], is_of_paper| Curve {
            name: name.into(),
            points: points.to_vec(),
            is_of_paper,
        };
        Curves {
            along: "disparities".into(),
            upwards: "time of a pair, ms".into(),
            is_logarithmic,
            curves: vec![
                curve("then", &[(64.0, 9.7), (128.0, 16.0)], true),
                curve("now", &[(64.0, 5.0), (128.0, f64::NAN), (256.0, 40.0)], false),
            ],
        }
    }

    #[test]
    fn curves_have_their_names_and_the_axes_their_units() {
        let folder = tempfile::tempdir().unwrap();
        for is_logarithmic in [false, true] {
            let path = folder.path().join("a.svg");
            write_figure(&path, &curves(is_logarithmic)).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            for words in ["then", "now", "disparities", "time of a pair, ms"] {
                assert!(text.contains(words), "no '{words}'");
            }
            assert_eq!(text.matches("<circle").count(), 4, "what is not finite is left out");
        }
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let none = Curves { curves: vec![], ..curves(false) };
        let why = write_figure(&folder.path().join("b.svg"), &none).unwrap_err().to_string();
        assert!(why.contains("nothing to draw"), "{why}");
    }
}
