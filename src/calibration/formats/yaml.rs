//! Every matrix and every number of an OpenCV YAML (or JSON) file, by its path of keys.

use crate::calibration::CalibrationError;
use std::path::Path;
use yaml_rust2::{Yaml, YamlLoader};

/// A matrix as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    /// Keys from the top, joined by dots.
    pub(super) name: String,
    /// Rows and columns where the file says them.
    pub(super) shape: Option<(usize, usize)>,
    /// Row after row.
    pub(super) data: Vec<f64>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) matrices: Vec<Matrix>,
    pub(super) numbers: Vec<(String, f64)>,
    pub(super) words: Vec<(String, String)>,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Contents, CalibrationError> {
    let error = |text: String| CalibrationError(format!("cannot read the calibration {}: {text}", path.display()));
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => error("there is no such file".to_owned()),
        std::io::ErrorKind::PermissionDenied => error("no permission to read it".to_owned()),
        _ if path.is_dir() => error("it is a folder; give the file in it".to_owned()),
        _ => error(e.to_string()),
    })?;
    let text =
        String::from_utf8(bytes).map_err(|_| error("it is no text; a .yml or .yaml from OpenCV is wanted".into()))?;
    if text.trim().is_empty() {
        return Err(error("it is empty".into()));
    }
    if text.trim_start().starts_with('<') {
        return Err(error("it is XML; let OpenCV write it as .yml (the name given to FileStorage decides)".into()));
    }
    let documents = YamlLoader::load_from_str(&plain_yaml(&text)).map_err(|e| {
        error(format!("line {}: {}; a .yml or .yaml from OpenCV is wanted", e.marker().line(), e.info()))
    })?;
    let mut contents = Contents::default();
    for document in &documents {
        collect("", document, &mut contents);
    }
    Ok(contents)
}

/// OpenCV's dialect as YAML: `%YAML:1.0` is no directive, and some writers leave the space after a colon out.
fn plain_yaml(text: &str) -> String {
    let line = |line: &str| if line.starts_with('%') { String::new() } else { line.replace(":[", ": [") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn collect(name: &str, value: &Yaml, contents: &mut Contents) {
    if let Some(matrix) = matrix(name, value) {
        contents.matrices.push(matrix);
    } else if let Yaml::Hash(entries) = value {
        for (key, value) in entries {
            let Some(key) = key.as_str() else { continue };
            let name = if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
            collect(&name, value, contents);
        }
    } else if let Some(number) = number(value) {
        contents.numbers.push((name.to_owned(), number));
    } else if let Some(word) = value.as_str() {
        contents.words.push((name.to_owned(), word.to_owned()));
    }
}

/// A matrix with `rows`, `cols` and `data`, a plain list of numbers, or a list of rows.
fn matrix(name: &str, value: &Yaml) -> Option<Matrix> {
    let count = |key: &str| value[key].as_i64().and_then(|n| usize::try_from(n).ok());
    let list = |value: &Yaml| value.as_vec()?.iter().map(number).collect::<Option<Vec<f64>>>();
    let (shape, data) = match value {
        Yaml::Hash(_) => (count("rows").zip(count("cols")), list(&value["data"])?),
        Yaml::Array(rows) if rows.iter().all(|row| row.as_vec().is_some()) => {
            let rows: Vec<Vec<f64>> = rows.iter().map(list).collect::<Option<_>>()?;
            let columns = rows.first()?.len();
            let shape = rows.iter().all(|row| row.len() == columns).then_some((rows.len(), columns));
            (shape, rows.concat())
        }
        Yaml::Array(_) => (None, list(value)?),
        _ => return None,
    };
    Some(Matrix { name: name.to_owned(), shape, data })
}

/// A number; OpenCV writes `1.`, `.Nan` and `-.Inf`, other tools `nan` and `inf`.
fn number(value: &Yaml) -> Option<f64> {
    match value {
        Yaml::Integer(v) => Some(*v as f64),
        Yaml::Real(text) | Yaml::String(text) => match text.to_lowercase().as_str() {
            ".nan" | "nan" | "-nan" | "-.nan" => Some(f64::NAN),
            ".inf" | "inf" | "+.inf" | "+inf" | "infinity" => Some(f64::INFINITY),
            "-.inf" | "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            number => number.parse().ok(),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Contents {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yml");
        std::fs::write(&path, text).unwrap();
        read(&path).unwrap()
    }

    #[test]
    fn opencv_matrices_lists_rows_and_groups_are_found() {
        let found = contents(
            "%YAML:1.0\n---\nA: !!opencv-matrix\n   rows: 1\n   cols: 2\n   dt: d\n   data:[ 1., -2.5e-3 ]\n\
             left:\n  B: [[1, 2], [3, .Nan]]\nsize: [ 640, 480 ]\nimage_width: 640\nmodel: fisheye\n",
        );
        let names: Vec<_> = found.matrices.iter().map(|m| (m.name.as_str(), m.shape)).collect();
        assert_eq!(names, [("A", Some((1, 2))), ("left.B", Some((2, 2))), ("size", None)]);
        assert_eq!(found.matrices[0].data, [1.0, -0.0025]);
        assert!(found.matrices[1].data[3].is_nan());
        assert_eq!(found.numbers, [("image_width".to_owned(), 640.0)]);
        assert_eq!(found.words, [("model".to_owned(), "fisheye".to_owned())]);
    }

    #[test]
    fn json_of_opencv_is_read_too() {
        let found =
            contents(r#"{ "K1": { "type_id": "opencv-matrix", "rows": 1, "cols": 1, "dt": "d", "data": [ 7.5 ] } }"#);
        assert_eq!(found.matrices, [Matrix { name: "K1".into(), shape: Some((1, 1)), data: vec![7.5] }]);
    }

    #[test]
    fn files_that_are_none_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rig.yml");
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let text = read(&path).unwrap_err().to_string();
            assert!(text.contains("rig.yml"), "{text}");
            text
        };
        assert!(refused(b"  \n").contains("it is empty"));
        assert!(refused(b"<?xml version=\"1.0\"?>").contains("XML"));
        assert!(refused(b"\x89PNG\xff\xfe").contains("no text"));
        assert!(refused(b"a: [1, 2\nb: }").contains("line"));
        assert!(read(folder.path()).unwrap_err().to_string().contains("it is a folder"));
        assert!(read(&folder.path().join("none.yml")).unwrap_err().to_string().contains("there is no such file"));
    }
}
