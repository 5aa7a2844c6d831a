//! Result as a set of files with one name: disparity, depth, the left image, and a JSON file with engine and parameters.

use super::disparity::{write_depth, write_disparity};
use super::file::ExportError;
use super::picture::{write_confidence, write_picture};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use stereopsis_base::files;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::Output;
use stereopsis_stereo::{DisparityMap, depth, reason};

/// Files and losses of a [`snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Paths of the files, the JSON file last.
    pub paths: Vec<PathBuf>,
    /// Losses, in sentences.
    pub warnings: Vec<String>,
}

/// Returns engine, parameters, valid share and times of a result, for snapshots, `--json` and the status.
pub fn describe(output: &Output) -> Value {
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    let (width, height) = output.job.frame.size();
    json!({
        "source": output.job.frame.raw.name,
        "sequence": output.job.frame.raw.sequence,
        "size": [width, height],
        "baseline_axis": output.job.frame.axis,
        "geometry": output.job.frame.geometry,
        "depth_m": depth_m(output),
        "rows": output.job.frame.rows.as_ref().map(|rows| rows.fit.map_or_else(|| json!({ "field": rows.field }), |fit| json!(fit))),
        "engine": *output.engine,
        "parameters": *output.job.params,
        "valid_share": output.map.as_ref().map(|map| map.valid_share()),
        "times_ms": {
            "rectify": ms(output.job.frame.rectify_time),
            "compute": ms(output.compute_time),
        },
        "stages_ms": output.stages_ms(),
    })
}

/// Describes the middle one of the depths, m, with its interval where the rig is estimated: no number at infinity.
fn depth_m(output: &Output) -> Value {
    let median = || {
        let (map, geometry) = (output.map.as_deref()?, output.job.frame.geometry.as_ref()?);
        let median_px = depth::median_px(map, geometry)?;
        let between =
            geometry.depth_interval_m(median_px).map(|ends| ends.map(|end| Some(end).filter(|m| m.is_finite())));
        Some(json!({ "median": geometry.depth_m(median_px), "between": between }))
    };
    median().unwrap_or_default()
}

/// Writes `NAME_depth_mm.png` (with a geometry only), `NAME_disp_x256.png`, `NAME_disp.pfm`, `NAME_confidence.png` (with a
/// confidence only), `NAME_left.png` and `NAME.json` into `folder`. NAME is the pair's name, with a number if such files exist.
/// `about` is an object, such as from [`describe`], to which the file's own entries are added.
///
/// # Errors
/// A file cannot be written; earlier ones stay.
pub fn snapshot(folder: &Path, frame: &Frame, map: &DisparityMap, about: &Value) -> Result<Snapshot, ExportError> {
    let name = free_name(folder, &frame.raw.name);
    let path = |ending: &str| folder.join(format!("{name}{ending}"));
    let (mut paths, mut warnings) = (Vec::new(), Vec::new());
    if let Some(geometry) = &frame.geometry {
        paths.push(path("_depth_mm.png"));
        warnings.extend(write_depth(&path("_depth_mm.png"), map, geometry)?);
    }
    warnings.extend(write_disparity(&path("_disp_x256.png"), map)?);
    write_disparity(&path("_disp.pfm"), map)?;
    paths.extend([path("_disp_x256.png"), path("_disp.pfm")]);
    if let Some(confidence) = &map.confidence {
        paths.push(path("_confidence.png"));
        write_confidence(&path("_confidence.png"), confidence)?;
    }
    write_picture(&path("_left.png"), &frame.left)?;
    paths.extend([path("_left.png"), path(".json")]);

    let text = serde_json::to_string_pretty(&sidecar(frame, map, about, &paths, &warnings))
        .map_err(|err| ExportError::encode(&path(".json"), err))?;
    files::write(&path(".json"), text.as_bytes())?;
    Ok(Snapshot { paths, warnings })
}

fn sidecar(frame: &Frame, map: &DisparityMap, about: &Value, paths: &[PathBuf], warnings: &[String]) -> Value {
    let (width, height) = map.size();
    let taken = frame.raw.capture_time.duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64());
    let files: Vec<_> = paths.iter().filter_map(|path| path.file_name()).map(|n| n.to_string_lossy()).collect();
    let reasons: serde_json::Map<_, _> = reason::ALL
        .iter()
        .map(|&(bit, word, _)| {
            let pixels = map.reasons.pixels().iter().filter(|&&bits| bits & bit != 0).count();
            (word.to_owned(), pixels.into())
        })
        .collect();
    let mut all = about.as_object().cloned().unwrap_or_default();
    let own = json!({
        "program": concat!("stereopsis ", env!("CARGO_PKG_VERSION")),
        "source": frame.raw.name,
        "sequence": frame.raw.sequence,
        "capture_time_unix_s": taken,
        "skew_s": frame.raw.skew_s,
        "size": [width, height],
        "luma_bits": frame.left.luma.bits(),
        "valid_share": map.valid_share(),
        "pixels_by_reason": reasons,
        "files": files,
        "warnings": warnings,
        "units": {
            "_depth_mm.png": "16-bit, millimetres, 0 = invalid or beyond 65.535 m",
            "_disp_x256.png": "16-bit, disparity px * 256, 0 = invalid",
            "_confidence.png": "8-bit, (S2 - S1) * 255 / S2 of the winner's sum S1 and its best rival's S2, 0 = not measured",
            "_disp.pfm": "float, disparity px, +inf = invalid, rows bottom to top",
            "focal_px, doffs_px, cx_px, cy_px": "px, pixel centres at whole numbers",
            "baseline_m": "metres",
            "baseline_axis": "horizontal: left pixel (x, y) shows what right pixel (x - d, y) shows; vertical: right pixel (x, y - d)",
            "depth": "focal_px * baseline_m / (disparity + doffs_px)",
        },
        "baseline_axis": frame.axis,
        "geometry": frame.geometry,
    });
    if let Value::Object(own) = own {
        all.extend(own);
    }
    Value::Object(all)
}

/// Returns `name`, or with the first number for which no file of this name exists.
fn free_name(folder: &Path, name: &str) -> String {
    // the name of a source may contain characters that a file name cannot
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let name = match name.trim_matches(['.', '-']) {
        "" => "snapshot",
        name => name,
    };
    let is_free = |name: &str| {
        let endings = [".json", "_depth_mm.png", "_disp_x256.png", "_disp.pfm", "_confidence.png", "_left.png"];
        endings.iter().all(|ending| !folder.join(format!("{name}{ending}")).exists())
    };
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{frame, map};
    use super::*;

    fn names(snapshot: &Snapshot) -> Vec<String> {
        snapshot.paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn second_snapshot_of_a_pair_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let (frame, map) = (frame(true), map());
        let first = snapshot(folder.path(), &frame, &map, &json!({})).unwrap();
        let all = ["scene-000012_depth_mm.png", "scene-000012_disp_x256.png", "scene-000012_disp.pfm"];
        assert_eq!(names(&first)[..3], all);
        assert_eq!(names(&first)[3..], ["scene-000012_left.png", "scene-000012.json"]);
        let second = snapshot(folder.path(), &frame, &map, &json!({})).unwrap();
        assert_eq!(names(&second)[4], "scene-000012-2.json");
        assert!(first.paths.iter().chain(&second.paths).all(|path| path.is_file()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 10);
    }

    #[test]
    fn json_contains_geometry_units_and_the_caller_s_entries() {
        let folder = tempfile::tempdir().unwrap();
        let written = snapshot(folder.path(), &frame(true), &map(), &json!({"parameters": {"p1": 7}})).unwrap();
        let text = std::fs::read_to_string(written.paths.last().unwrap()).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["parameters"]["p1"], 7);
        assert_eq!(json["geometry"]["baseline_m"], 0.12);
        assert_eq!(json["sequence"], 12);
        assert_eq!(json["files"].as_array().unwrap().len(), 5);
        assert!(json["units"]["_depth_mm.png"].as_str().unwrap().contains("millimetres"));
        assert!(json["valid_share"].as_f64().unwrap() > 0.5);
    }

    #[test]
    fn writes_confidence_where_the_map_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut map = map();
        map.confidence = Some(map.reasons.map(|_| 77));
        let written = snapshot(folder.path(), &frame(true), &map, &json!({})).unwrap();
        assert_eq!(names(&written)[3], "scene-000012_confidence.png");
        assert_eq!(image::open(&written.paths[3]).unwrap().as_luma8().unwrap().as_raw()[0], 77);
        assert_eq!(written.paths.len(), 6);
    }

    #[test]
    fn without_a_geometry_there_is_no_depth() {
        let folder = tempfile::tempdir().unwrap();
        let mut frame = frame(false);
        std::sync::Arc::get_mut(&mut frame.raw).unwrap().name = "../a b:c".into();
        let written = snapshot(folder.path(), &frame, &map(), &json!({})).unwrap();
        assert_eq!(names(&written)[0], "a-b-c_disp_x256.png");
        assert_eq!(written.paths.len(), 4);
    }

    #[test]
    fn description_names_engine_and_every_parameter() {
        use std::sync::Arc;
        use stereopsis_frame::engine::{EngineInfo, EngineKind, Job, StageTime};
        use stereopsis_stereo::StereoParams;
        let engine = EngineInfo { kind: EngineKind::Cpu, adapter: "a CPU".into(), software: false };
        let output = Output {
            job: Job {
                frame: Arc::new(frame(true)),
                params: Arc::new(StereoParams::default()),
                read_back: true,
                wants_right: false,
            },
            engine: Arc::new(engine),
            map: Some(Arc::new(map())),
            right_map: None,
            texture: None,
            stages: vec![StageTime { name: "cost", ms: 1.5 }],
            compute_time: std::time::Duration::from_millis(20),
        };
        let about = describe(&output);
        assert_eq!((&about["engine"]["kind"], &about["engine"]["adapter"]), (&json!("cpu"), &json!("a CPU")));
        assert_eq!(about["parameters"].as_object().unwrap().len(), StereoParams::table().len());
        assert_eq!(about["stages_ms"], json!({"cost": 1.5}));
        assert_eq!(about["times_ms"]["compute"], 20.0);
    }

    #[test]
    fn missing_folder_is_an_error() {
        let text = snapshot(Path::new("no/such"), &frame(true), &map(), &json!({})).unwrap_err().to_string();
        assert!(text.contains("does not exist"), "{text}");
    }
}
