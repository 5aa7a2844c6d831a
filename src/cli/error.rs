//! Errors of the command line: exit codes, and the words of an error and its causes.

use std::path::Path;
use stereopsis_base::secrets::Secrets;
use stereopsis_base::{files, secrets};
use stereopsis_frame::CaptureError;
use stereopsis_recording::write::RecordError;
use stereopsis_settings::settings::SettingsError;
use stereopsis_sources::OpenError;

/// Error of a command line that requests something impossible; exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Refuses a command line.
///
/// # Errors
/// Always, with this reason.
pub(super) fn refuse<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError(why.into()).into())
}

/// Returns the exit code of an error: 2 for a wrong command line, else 1.
pub(super) fn exit_code(err: &anyhow::Error) -> u8 {
    let wrong_flag = err.chain().any(|cause| {
        cause.is::<UsageError>()
            || cause.downcast_ref().is_some_and(SettingsError::is_of_flags)
            || matches!(cause.downcast_ref(), Some(CaptureError::Grammar(_)))
            || matches!(cause.downcast_ref(), Some(OpenError::Capture(CaptureError::Grammar(_))))
    });
    if wrong_flag { 2 } else { 1 }
}

/// Returns the text of an error and its causes, without a cause that the preceding text contains.
pub(super) fn words(err: &anyhow::Error) -> String {
    // all files have errors with their names
    if let Some(of_output) = err.chain().next().and_then(|first| first.downcast_ref()) {
        return format!("cannot write to standard output: {}", files::cause(of_output));
    }
    let texts = err.chain().map(|cause| match cause.downcast_ref() {
        Some(of_system) => files::cause(of_system),
        None => cause.to_string(),
    });
    let joined = texts.reduce(|text, cause| if text.contains(&cause) { text } else { format!("{text}: {cause}") });
    joined.unwrap_or_default()
}

/// Whether the reader of the standard output has closed it, as `head` does. That is no error.
pub(super) fn is_closed_pipe(err: &anyhow::Error) -> bool {
    let closed = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    let recording = |cause: &RecordError| cause.is_closed_pipe();
    err.chain().any(|cause| cause.downcast_ref().is_some_and(closed) || cause.downcast_ref().is_some_and(recording))
}

/// Removes the secrets of addresses from a message: of all in the command line, which messages repeat, and of those in the message.
pub(super) fn without_secrets(text: &str) -> String {
    let given = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    given.fold(secrets::hidden(text), |text, arg| {
        let flag = arg.split_once('=').filter(|(flag, _)| flag.starts_with("--"));
        let words = flag.map_or(&*arg, |(_, value)| value);
        if Path::new(words).exists() { text } else { Secrets::of_words(words).removed_from(&text) }
    })
}
