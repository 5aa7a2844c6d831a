//! `calibrate --print-board`: a sheet with a board.

use super::args::CalibrateArgs;
use std::path::Path;
use stereopsis_base::files::Outputs;
use stereopsis_base::{console, files};
use stereopsis_calibrate::{Board, Paper, PrintFormat, page};

/// Writes a sheet with a board.
///
/// # Errors
/// The board does not fit, or the file cannot be written or exists already.
pub(super) fn run(args: &CalibrateArgs, path: &Path) -> anyhow::Result<()> {
    let format = PrintFormat::of_path(path)?;
    let (paper, asked) = (args.board.paper, args.board.square_mm);
    let board = match args.board.board {
        Some(board) => asked.map_or(board, |mm| board.with_square_mm(mm)),
        None => Board::for_paper(paper, asked, args.board.kind)?,
    };
    let bytes = page(&board, paper, format)?;
    Outputs::new::<&Path>([], args.overwrite).add(path)?;
    files::write_or_keep(path, &bytes, args.overwrite)?;
    let how = match (paper, board.square_word()) {
        (Paper::Screen { .. }, word) => {
            format!("show it at full size, measure a {word} with a ruler, and give the length with --square-mm")
        }
        (_, "tag") => "print it at 100 %, measure tags across and down, to their outer black edges, and give the side of one with \
                       --square-mm where it is not as printed; glue the sheet to something flat and stiff"
            .to_owned(),
        _ => "print it at 100 %, measure ten squares across and down, and give a tenth of that with --square-mm where it is not as \
              printed; glue the sheet to something flat and stiff"
            .to_owned(),
    };
    console::print(&format!(
        "wrote {}\n{how}\nthen: stereopsis calibrate --source webcam:0,1 --board {board} -o rig.toml\n",
        path.display()
    ))?;
    Ok(())
}
