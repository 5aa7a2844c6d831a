//! Output of figures as SVG or PNG, and the figure of distance and its errors over disparity after Fig. 5 of Leu, Bacara & Jivet 2010.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::error::Error;
use std::path::Path;
use stereopsis_base::files;
use stereopsis_base::image::Image;
use stereopsis_base::remedy::option;
use stereopsis_images::reach::{Reach, STEP_PX, Sample, TOLERANCE_PERCENT};
use stereopsis_images::{Endings, ExportError, write_rgb};

/// Size of a figure, px.
const SIZE: (u32, u32) = (960, 600);
const SAMPLES: usize = 600;
/// Name of the font of all figures.
pub const FONT: &str = "sans-serif";
/// Colour of text and axes.
pub const INK: RGBColor = RGBColor(40, 40, 40);
/// Colours that remain distinguishable with red-green colour blindness.
pub(crate) const STEP_COLOR: RGBColor = RGBColor(213, 94, 0);
pub(crate) const ERROR_COLOR: RGBColor = RGBColor(0, 114, 178);

const FIGURE: Endings = Endings(&["svg", "png"], "name the figure .svg or .png");

/// Checks the name of a figure.
///
/// # Errors
/// The ending is unknown.
pub fn check_figure_name(path: &Path) -> Result<(), ExportError> {
    FIGURE.find(path).map(|_| ())
}

/// Content of a figure.
pub trait Drawing {
    /// Draws the content.
    ///
    /// # Errors
    /// There is nothing that can be drawn, or the backend fails.
    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend,
        B::ErrorType: 'static;
}

/// Writes a figure as `.svg` or `.png`.
///
/// # Errors
/// The ending is unknown, the drawing fails, or the file cannot be written.
pub fn write_figure(path: &Path, drawing: &impl Drawing) -> Result<(), ExportError> {
    let failed = |err: Box<dyn Error + Send + Sync>| ExportError::encode(path, err);
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| ExportError::encode(path, "its letters cannot be drawn"))?;
    if FIGURE.find(path)? == "svg" {
        let mut text = String::new();
        drawing.draw(&SVGBackend::with_string(&mut text, SIZE).into_drawing_area()).map_err(failed)?;
        Ok(files::write(path, text.as_bytes())?)
    } else {
        let mut bytes = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
        drawing.draw(&BitMapBackend::with_buffer(&mut bytes, SIZE).into_drawing_area()).map_err(failed)?;
        let pixels = bytes.as_chunks::<3>().0.to_vec();
        write_rgb(path, &Image::new(SIZE.0 as usize, SIZE.1 as usize, pixels))
    }
}

/// Draws the distances of a search range with their errors for one disparity step and for `error_px`, as `.svg` or `.png`.
///
/// # Errors
/// The ending is unknown, the range lies behind infinity, or the file cannot be written.
pub fn write_reach(path: &Path, reach: &Reach, error_px: f64) -> Result<(), ExportError> {
    write_figure(path, &ReachFigure { reach, error_px })
}

struct ReachFigure<'a> {
    reach: &'a Reach,
    error_px: f64,
}

type CurveValue<'a> = &'a dyn Fn(&Sample) -> f64;

impl Drawing for ReachFigure<'_> {
    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        B: DrawingBackend,
        B::ErrorType: 'static,
    {
        let &Self { reach, error_px } = self;
        let curve = reach.curve(SAMPLES);
        let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
            let larger = option("min-disparity");
            return Err(format!(
                "all of the search range lies behind infinity: there is no distance to draw; choose a larger {larger} or more disparities"
            )
            .into());
        };
        area.fill(&WHITE)?;
        let min_m = last.error_m(error_px.min(STEP_PX)).min(last.distance_m * TOLERANCE_PERCENT / 100.0);
        let max_m = first.distance_m.max(first.error_m(error_px.max(STEP_PX)));
        // a range of one disparity has no width
        let (left_px, right_px) = (first.disparity_px, last.disparity_px.max(first.disparity_px + STEP_PX));
        let step = reach.within(TOLERANCE_PERCENT, STEP_PX);
        let title = format!("off by {STEP_PX} px: within {TOLERANCE_PERCENT} % {step}");
        let mut chart = ChartBuilder::on(area)
            .caption(title, (FONT, 20).into_font().color(&INK))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(left_px..right_px, (min_m..max_m).log_scale())?;

        let limit_px = reach.limit_px(TOLERANCE_PERCENT, STEP_PX).min(right_px);
        if limit_px > left_px {
            let shade = STEP_COLOR.mix(0.10).filled();
            chart.draw_series([Rectangle::new([(left_px, min_m), (limit_px, max_m)], shade)])?;
        }
        chart
            .configure_mesh()
            .x_desc("disparity, px")
            .y_desc("m")
            .x_label_formatter(&|px| format!("{px:.0}"))
            .y_label_formatter(&|m| metres(*m))
            .light_line_style(INK.mix(0.06))
            .bold_line_style(INK.mix(0.16))
            .axis_desc_style((FONT, 16).into_font().color(&INK))
            .label_style((FONT, 14).into_font().color(&INK))
            .draw()?;

        let curves: [(String, RGBAColor, u32, CurveValue<'_>); 4] = [
            ("distance".into(), INK.mix(1.0), 2, &|sample| sample.distance_m),
            (format!("{TOLERANCE_PERCENT} % of the distance"), INK.mix(0.45), 1, &|sample| {
                sample.distance_m * TOLERANCE_PERCENT / 100.0
            }),
            (format!("its error, disparity off by {STEP_PX} px"), STEP_COLOR.mix(1.0), 2, &|sample| {
                sample.error_m(STEP_PX)
            }),
            (format!("its error, disparity off by {error_px} px"), ERROR_COLOR.mix(1.0), 2, &|sample| {
                sample.error_m(error_px)
            }),
        ];
        for (name, color, width, height) in curves {
            let style = ShapeStyle { color, filled: false, stroke_width: width };
            let line = LineSeries::new(curve.iter().map(|sample| (sample.disparity_px, height(sample))), style);
            let key = move |(x, y)| PathElement::new(vec![(x, y), (x + 24, y)], style);
            chart.draw_series(line)?.label(name).legend(key);
        }
        draw_legend(&mut chart)?;
        area.present()?;
        Ok(())
    }
}

/// Draws the names of a chart's curves into its upper right corner.
pub(crate) fn draw_legend<'a, DB: DrawingBackend + 'a, CT: CoordTranslate>(
    chart: &mut ChartContext<'a, DB, CT>,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .legend_area_size(32)
        .margin(10)
        .background_style(WHITE.mix(0.85))
        .border_style(INK.mix(0.3))
        .label_font((FONT, 15).into_font().color(&INK))
        .draw()
}

/// Formats a number on an axis of powers of ten, m.
fn metres(m: f64) -> String {
    let places = (-m.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{m:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::geometry::Geometry;

    fn reach(min_disparity: i32, num_disparities: u32) -> Reach {
        let geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);
        Reach { geometry, min_disparity, num_disparities }
    }

    #[test]
    fn figure_names_its_curves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reach.svg");
        write_reach(&path, &reach(0, 64), 0.25).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for words in
            ["disparity, px", "within 5 % up to 2.50 m", "off by 1 px", "off by 0.25 px", "5 % of the distance"]
        {
            assert!(text.contains(words), "{words}");
        }
        roxmltree::Document::parse(&text).unwrap();
        assert!(text.matches("<polyline").count() >= 4);
    }

    #[test]
    fn png_has_curves_and_text_in_their_colours() {
        let folder = tempfile::tempdir().unwrap();
        for (name, reach) in [("all.PNG", reach(0, 64)), ("one.png", reach(9, 1)), ("long.png", reach(-5, 1024))] {
            let path = folder.path().join(name);
            write_reach(&path, &reach, 0.25).unwrap();
            let picture = image::open(&path).unwrap().into_rgb8();
            assert_eq!(picture.dimensions(), SIZE);
            let count = |color: RGBColor| picture.pixels().filter(|p| p.0 == [color.0, color.1, color.2]).count();
            assert!(name == "one.png" || (count(INK) > 200 && count(STEP_COLOR) > 200), "{name}");
        }
    }

    #[test]
    fn rejects_undrawable_ranges_and_unknown_endings() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str, reach| write_reach(&folder.path().join(name), &reach, 0.25).unwrap_err().to_string();
        assert!(text("a.pdf", reach(0, 64)).contains(".svg or .png"));
        assert!(text("a.svg", reach(-20, 10)).contains("behind infinity"));
        assert!(text("no/such/folder/a.png", reach(0, 64)).contains("does not exist"));
    }
}
