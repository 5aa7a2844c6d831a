//! Requests for files and folders, and the continuation with the answer.

use super::state::{AnswerKind, ChosenPaths, Question, TypeStep, TypedPath, with_ending};
use super::system::{self, Answer};
use crate::core::{AnswerHandler, Core, Job, absolute};
use std::convert::Infallible;
use std::path::PathBuf;
use stereopsis_frame::{CaptureError, SourceSpec};

/// Job that waits for the system's dialog, one at a time.
const CHOOSE: Job = Job::stoppable("choosing a file");

pub(crate) fn ask_files(
    core: &mut Core,
    title: &'static str,
    kind: &'static str,
    endings: &'static [&'static str],
    then: impl FnOnce(&mut Core, Vec<PathBuf>) + 'static,
) {
    let question = Question { title, asked: AnswerKind::Files { kind, endings } };
    ask(core, question, Box::new(|core, chosen| then(core, chosen.paths)));
}

pub(crate) fn ask_folder(core: &mut Core, title: &'static str, then: impl FnOnce(&mut Core, PathBuf) + 'static) {
    let take_first = |core: &mut Core, chosen: ChosenPaths| {
        if let Some(folder) = chosen.paths.into_iter().next() {
            then(core, folder);
        }
    };
    ask(core, Question { title, asked: AnswerKind::Folder }, Box::new(take_first));
}

/// Asks for a file to write; `then` receives its path, and whether an existing file may be replaced.
pub(crate) fn ask_new_file(
    core: &mut Core,
    title: &'static str,
    name: String,
    (kind, endings): (&'static str, &'static [&'static str]),
    then: impl FnOnce(&mut Core, PathBuf, bool) + 'static,
) {
    let take_first = |core: &mut Core, chosen: ChosenPaths| {
        if let Some(path) = chosen.paths.into_iter().next() {
            then(core, path, chosen.replaces);
        }
    };
    ask(core, Question { title, asked: AnswerKind::NewFile { name, kind, endings } }, Box::new(take_first));
}

/// Asks for the whole address of a source that was kept without its secrets, and opens it; `why` names what is missing.
pub(crate) fn ask_address(core: &mut Core, kept: &SourceSpec, why: &CaptureError) {
    let asked = AnswerKind::Address { kept: kept.to_string(), why: why.to_string() };
    let open = |core: &mut Core, chosen: ChosenPaths| core.open_files(chosen.paths);
    ask(core, Question { title: "The whole address", asked }, Box::new(open));
}

fn ask(core: &mut Core, question: Question, then: AnswerHandler) {
    if core.jobs.is_running(CHOOSE) {
        return;
    }
    let shown = system::show(&question);
    core.start_job(
        CHOOSE,
        || Ok::<_, Infallible>(shown()),
        move |core, answer| match answer {
            Answer::Chosen(paths) => then(core, answer_from_system(&question.asked, paths)),
            Answer::Cancelled => {}
            Answer::NoDialog => {
                let folder = absolute(&core.options.folder);
                core.typed = Some(TypedPath::new(question, &folder));
                core.typed_then = Some((core.jobs.owner, then));
            }
        },
    );
}

/// Converts the answer of the system's dialog, which confirms a replacement except where the name gets its ending here.
fn answer_from_system(asked: &AnswerKind, paths: Vec<PathBuf>) -> ChosenPaths {
    let AnswerKind::NewFile { endings, .. } = asked else { return ChosenPaths { paths, replaces: false } };
    let named: Vec<_> = paths.iter().map(|path| with_ending(path.clone(), endings)).collect();
    ChosenPaths { replaces: named == paths, paths: named }
}

pub(crate) fn execute(core: &mut Core, step: TypeStep) {
    let Some(typed) = &mut core.typed else { return };
    match step {
        TypeStep::SetText(text) => {
            *typed = TypedPath { text, error: None, existing_file: None, question: typed.question.clone() };
        }
        TypeStep::Cancel => (core.typed, core.typed_then) = (None, None),
        TypeStep::Take { replaces } => match typed.chosen(&absolute(&core.options.folder)) {
            Ok(chosen) if chosen.replaces && !replaces => typed.existing_file = chosen.paths.into_iter().next(),
            Ok(chosen) => {
                core.typed = None;
                if let Some((owner, then)) = core.typed_then.take() {
                    core.owned(owner, |core| then(core, chosen));
                }
            }
            Err(why) => typed.error = Some(why.to_string()),
        },
    }
}
