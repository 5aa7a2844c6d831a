//! Board descriptions from Kalibr's target files.

use super::{Board, BoardError, TargetFault};

impl Board {
    /// Reads Kalibr's description of a target.
    ///
    /// The keys are `target_type`, and for `aprilgrid` `tagCols`, `tagRows`, `tagSize` and `tagSpacing`, for `checkerboard` `targetCols`,
    /// `targetRows`, `colSpacingMeters` and `rowSpacingMeters`.
    ///
    /// # Errors
    /// The text describes no target, or an unsupported board.
    pub fn from_kalibr(text: &str) -> Result<Self, BoardError> {
        words(text)?.parse()
    }
}

fn words(text: &str) -> Result<String, TargetFault> {
    let value = |key| {
        let lines = text.lines().filter_map(|line| line.split('#').next()?.split_once(':'));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().trim_matches(['\'', '"']));
        values.next_back().ok_or(TargetFault::Missing(key))
    };
    // rounded to a nm, so that short lengths in m stay short in mm
    let mm = |key| {
        let length = value(key)?;
        let metres: f64 = length.parse().map_err(|_| TargetFault::Length { key, text: length.to_owned() })?;
        Ok::<_, TargetFault>((metres * 1e9).round() / 1e6)
    };
    match value("target_type")? {
        "aprilgrid" => {
            if value("codeOffset").is_ok_and(|offset| offset.parse() != Ok(0)) {
                return Err(TargetFault::CodeOffset);
            }
            let (columns, rows, gap) = (value("tagCols")?, value("tagRows")?, value("tagSpacing")?);
            Ok(format!("aprilgrid:{columns}x{rows}:{}mm:{gap}", mm("tagSize")?))
        }
        "checkerboard" => {
            let (across, down) = (mm("colSpacingMeters")?, mm("rowSpacingMeters")?);
            if (across - down).abs() > 1e-6 {
                return Err(TargetFault::NotSquare { across_mm: across, down_mm: down });
            }
            Ok(format!("chessboard:{}x{}:{across}mm", value("targetCols")?, value("targetRows")?))
        }
        "circlegrid" => Ok("circles:".to_owned()),
        other => Err(TargetFault::Type(other.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_kalibr_are_boards() {
        let april = "target_type: 'aprilgrid' #gridtype\ntagCols: 6               #number of apriltags\ntagRows: 7\n\
                     tagSize: 0.088           #size of apriltag, edge to edge [m]\ntagSpacing: 0.3  #ratio\ncodeOffset: 0 #first tag\n";
        assert_eq!(Board::from_kalibr(april).unwrap().to_string(), "aprilgrid:6x7:88mm:26.4mm");
        let chessboard = "target_type: checkerboard\r\ntargetCols: 6\r\ntargetRows: 7\r\nrowSpacingMeters: 0.06\r\ncolSpacingMeters: 0.06\r\n";
        assert_eq!(Board::from_kalibr(chessboard).unwrap().to_string(), "chessboard:6x7:60mm");
    }

    #[test]
    fn other_targets_are_refused_with_their_reason() {
        for (text, reason) in [
            ("", "has no target_type"),
            ("target_type: 'aprilgrid'\ntagCols: 6\ntagRows: 6\ntagSpacing: 0.3", "has no tagSize"),
            (
                "target_type: aprilgrid\ntagCols: 6\ntagRows: 6\ntagSize: big\ntagSpacing: 0.3",
                "tagSize 'big' is no length",
            ),
            (
                "target_type: aprilgrid\ntagCols: 6\ntagRows: x\ntagSize: 0.1\ntagSpacing: 0.3",
                "'6xx' are no two counts",
            ),
            (
                "target_type: aprilgrid\ntagCols: 6\ntagRows: 6\ntagSize: 0.1\ntagSpacing: 0.3\ncodeOffset: 36",
                "codeOffset",
            ),
            (
                "target_type: checkerboard\ntargetCols: 6\ntargetRows: 7\nrowSpacingMeters: 0.06\ncolSpacingMeters: 0.05",
                "50 mm wide",
            ),
            ("target_type: 'circlegrid'\ntargetCols: 6", "print a ChArUco board instead"),
            ("target_type: 'dots'", "'dots' is none of"),
        ] {
            let error = Board::from_kalibr(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
