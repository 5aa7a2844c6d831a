//! Views of the board: by live cameras, or in existing images.

use super::args::CalibrateArgs;
use super::{folder, live};
use stereopsis_calibrate::{Board, CalibrationRequest, Draft, TakenView};
use stereopsis_frame::SourceSpec;

/// Returns the board, and its views in a source; at least one. Views that cannot be taken again are kept in `draft`.
///
/// # Errors
/// The source cannot be read, or shows no board.
pub(super) fn taken(
    args: &CalibrateArgs,
    spec: &SourceSpec,
    request: CalibrationRequest,
    draft: Option<&mut Draft>,
) -> anyhow::Result<(Board, Vec<TakenView>)> {
    let folder = if let SourceSpec::Folder(folder) = spec { Some(folder.as_path()) } else { None };
    let board = args.board.board(folder)?;
    let taken = if spec.is_live() {
        live::taken(args, spec, &board, request, draft)?
    } else {
        folder::taken(args, spec, &board, request, draft)?
    };
    anyhow::ensure!(!taken.is_empty(), "{spec} has no pair of images");
    Ok((board, taken))
}
