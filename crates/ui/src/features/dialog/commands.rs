//! Requests for files and folders, and the continuation with the answer.

use super::state::{AnswerKind, ChosenPaths, Question, TypeStep, TypedPath, with_ending};
use super::system::{self, Answer};
use crate::jobs::Job;
use crate::session::{Session, absolute};
use std::path::PathBuf;
use stereopsis_frame::{CaptureError, SourceSpec};

/// Job that waits for the system's dialog, one at a time.
const CHOOSE: Job = Job::stoppable("choosing a file");

/// Continuation of a request with its answer.
pub(crate) type AnswerHandler = Box<dyn FnOnce(&mut Session, ChosenPaths)>;

pub(crate) fn ask_files(
    session: &mut Session,
    title: &'static str,
    kind: &'static str,
    endings: &'static [&'static str],
    then: impl FnOnce(&mut Session, Vec<PathBuf>) + 'static,
) {
    let question = Question { title, asked: AnswerKind::Files { kind, endings } };
    ask(session, question, Box::new(|session, chosen| then(session, chosen.paths)));
}

pub(crate) fn ask_folder(
    session: &mut Session,
    title: &'static str,
    then: impl FnOnce(&mut Session, PathBuf) + 'static,
) {
    let take_first = |session: &mut Session, chosen: ChosenPaths| {
        if let Some(folder) = chosen.paths.into_iter().next() {
            then(session, folder);
        }
    };
    ask(session, Question { title, asked: AnswerKind::Folder }, Box::new(take_first));
}

/// Asks for a file to write; `then` receives its path, and whether an existing file may be replaced.
pub(crate) fn ask_new_file(
    session: &mut Session,
    title: &'static str,
    name: String,
    (kind, endings): (&'static str, &'static [&'static str]),
    then: impl FnOnce(&mut Session, PathBuf, bool) + 'static,
) {
    let take_first = |session: &mut Session, chosen: ChosenPaths| {
        if let Some(path) = chosen.paths.into_iter().next() {
            then(session, path, chosen.replaces);
        }
    };
    ask(session, Question { title, asked: AnswerKind::NewFile { name, kind, endings } }, Box::new(take_first));
}

/// Asks for the whole address of a source that was kept without its secrets, and opens it; `why` names what is missing.
pub(crate) fn ask_address(session: &mut Session, kept: &SourceSpec, why: &CaptureError) {
    let asked = AnswerKind::Address { kept: kept.to_string(), why: why.to_string() };
    let open = |session: &mut Session, chosen: ChosenPaths| session.open_files(chosen.paths);
    ask(session, Question { title: "The whole address", asked }, Box::new(open));
}

fn ask(session: &mut Session, question: Question, then: AnswerHandler) {
    if session.jobs.is_running(CHOOSE) {
        return;
    }
    let shown = system::show(&question);
    session.jobs.start(CHOOSE, shown, move |session: &mut Session, answer: Result<Answer, String>| match answer {
        Ok(Answer::Chosen(paths)) => then(session, answer_from_system(&question.asked, paths)),
        Ok(Answer::Cancelled) => {}
        Ok(Answer::NoDialog) => {
            let folder = absolute(&session.options.folder);
            session.state.typed = Some(TypedPath::new(question, &folder));
            session.typed_then = Some((session.jobs.owner, then));
        }
        Err(why) => session.state.notices.error(why),
    });
}

/// Converts the answer of the system's dialog, which confirms a replacement except where the name gets its ending here.
fn answer_from_system(asked: &AnswerKind, paths: Vec<PathBuf>) -> ChosenPaths {
    let AnswerKind::NewFile { endings, .. } = asked else { return ChosenPaths { paths, replaces: false } };
    let named: Vec<_> = paths.iter().map(|path| with_ending(path.clone(), endings)).collect();
    ChosenPaths { replaces: named == paths, paths: named }
}

pub(crate) fn execute(session: &mut Session, step: TypeStep) {
    let Some(typed) = &mut session.state.typed else { return };
    match step {
        TypeStep::SetText(text) => {
            *typed = TypedPath { text, error: None, existing_file: None, question: typed.question.clone() };
        }
        TypeStep::Cancel => (session.state.typed, session.typed_then) = (None, None),
        TypeStep::Take { replaces } => match typed.chosen(&absolute(&session.options.folder)) {
            Ok(chosen) if chosen.replaces && !replaces => typed.existing_file = chosen.paths.into_iter().next(),
            Ok(chosen) => {
                session.state.typed = None;
                if let Some((owner, then)) = session.typed_then.take() {
                    session.owned(owner, |session| then(session, chosen));
                }
            }
            Err(why) => typed.error = Some(why),
        },
    }
}
