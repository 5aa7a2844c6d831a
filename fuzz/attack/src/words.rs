//! Attacks on text inputs: settings files, rig files, boards, and parameters of clients.

use stereopsis_base::secrets::{Secrets, hidden, hidden_words};
use stereopsis_calibrate::Board;
use stereopsis_frame::{SourceSpec, VideoInput};
use stereopsis_model::Description;
use stereopsis_settings::rig::RigFile;
use stereopsis_settings::settings::{self, Settings};
use stereopsis_stereo::StereoParams;

/// Attacks a settings file, which must be equal when written and read again.
pub(crate) fn settings(input: &[u8]) {
    let path = super::inputs::file("settings.toml", input);
    let Ok(words) = settings::read_file(&path) else { return };
    let Ok(settings) = Settings::resolve(&words) else { return };
    valid(&settings.params);
    let _ = settings.params_for(640, None);
}

/// Attacks a rig file, which must be writable and readable again.
pub(crate) fn rig(input: &[u8]) {
    let path = super::inputs::file("rig.toml", input);
    let Ok(rig) = RigFile::read(&path) else { return };
    let copy = path.with_file_name("copy.toml");
    rig.write(&copy, true).unwrap_or_else(|err| panic!("{rig:?} cannot be written: {err}"));
    let back = RigFile::read(&copy).unwrap_or_else(|err| panic!("{rig:?} does not come back: {err}"));
    assert_eq!((back.size, back.rate_hz, back.cameras), (rig.size, rig.rate_hz, rig.cameras));
}

/// Attacks a board in its own or Kalibr's notation, which must be equal when written and read again.
pub(crate) fn board(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for board in [text.trim().parse::<Board>(), Board::from_kalibr(&text)].into_iter().flatten() {
        let words = board.to_string();
        let again: Board = words.parse().unwrap_or_else(|err| panic!("{words} does not come back: {err}"));
        assert_eq!(again.to_string(), words);
        let last = board.point_m(board.corner_count() - 1);
        assert!(last.is_finite() && last.min_element() >= 0.0, "{words}: {last}");
    }
}

/// Attacks the description of a model, which must be equal when written and read again.
pub(crate) fn model(input: &[u8]) {
    let Ok(description) = Description::of_text(&String::from_utf8_lossy(input)) else { return };
    let again = Description::of_text(&description.to_text());
    assert_eq!(again.unwrap_or_else(|err| panic!("{description:?} does not come back: {err}")), description);
}

/// Attacks the words of a source, and the secrets of an address: none is shown, and what is shown in its place opens nothing.
pub(crate) fn source(input: &[u8]) {
    let words = String::from_utf8_lossy(input);
    let _ = (hidden(&words), SourceSpec::parse(&words).map(|spec| spec.to_string()));
    // the input as a password and a token, of which no encoded byte is left
    let code = input.iter().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    let address = format!("http://u:{code}@cam/x?token={code}&n=1");
    if !input.is_empty() {
        let shown = hidden_words(&address);
        assert!(shown.starts_with("http://***@cam/x?token=***") && !shown.contains('%'), "{shown}");
        let said = Secrets::of_words(&address).removed_from(&format!("401 Unauthorized: {address}, '{words}'"));
        assert!(!said.contains(&code), "{said}");
    }
    if let Ok(SourceSpec::Video(inputs)) = SourceSpec::parse(&hidden_words(&words)) {
        for input in inputs {
            let VideoInput::Address(address) = &input else { continue };
            let is_whole = Secrets::of_words(&address.to_string()).missing().is_none();
            assert_eq!(address.with_password().is_ok(), is_whole, "{input}");
        }
    }
}

/// Attacks parameter requests one by one and together, in lines of name, blank and value.
pub(crate) fn parameters(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut params = StereoParams::default();
    let mut wishes: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        wishes.push((name.to_owned(), value.to_owned()));
        if let Ok(changed) = settings::changed(&params, &wishes[wishes.len() - 1..]) {
            params = changed;
        }
    }
    valid(&params);
    if let Ok(changed) = settings::changed(&StereoParams::default(), &wishes) {
        valid(&changed);
    }
}

/// Asserts that accepted parameters are consistent and equal when set again by their texts.
pub(super) fn valid(params: &StereoParams) {
    params.validate().expect("parameters that fit each other");
    let words: Vec<_> = params.words().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    let again = settings::changed(params, &words).unwrap_or_else(|err| panic!("{words:?}: {err}"));
    assert_eq!(again, *params);
}
