//! Everything a user can do besides moving a slider: one list for buttons, menus, keys and the help page.

use super::view::ViewKind;
use super::widgets::focused_slider;
use egui::{Context, Key, KeyboardShortcut, Modifiers};

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Hold the pair or go on.
    Pause,
    /// The next pair, then hold.
    Step,
    /// The pair before, then hold.
    StepBack,
    /// A second back.
    SecondBack,
    /// A second on.
    SecondOn,
    /// To the first pair.
    ToStart,
    /// To the last pair.
    ToEnd,
    /// Write the result shown to files.
    Snapshot,
    /// Begin or end a recording.
    Record,
    /// Choose a recording or pictures to open.
    Open,
    /// Show what each camera sees, to choose from.
    Cameras,
    /// Calibration, controls and the file that keeps them.
    Rig,
    /// Distance and its error over the disparity.
    Reach,
    /// Fit the depth range to what is seen now.
    FitDepth,
    /// Show the whole picture again.
    WholePicture,
    /// Tell reasons apart, or leave what is invalid black.
    ColourReasons,
    /// Put the parameters back to the preset.
    ResetParameters,
    /// Put a command line that gives this result on the clipboard.
    CopyCommand,
    /// Show or hide a view.
    View(ViewKind),
    /// Show or hide the controls.
    Controls,
    /// The whole screen.
    FullScreen,
    /// The list of keys.
    Help,
    /// Close the window.
    Quit,
}

impl Command {
    /// Every command, in the order of the help page.
    pub const ALL: &'static [Self] = &[
        Self::Pause,
        Self::Step,
        Self::StepBack,
        Self::SecondBack,
        Self::SecondOn,
        Self::ToStart,
        Self::ToEnd,
        Self::Snapshot,
        Self::Record,
        Self::Open,
        Self::Cameras,
        Self::Rig,
        Self::Reach,
        Self::FitDepth,
        Self::WholePicture,
        Self::ColourReasons,
        Self::ResetParameters,
        Self::CopyCommand,
        Self::View(ViewKind::Left),
        Self::View(ViewKind::Depth),
        Self::View(ViewKind::Right),
        Self::View(ViewKind::Disparity),
        Self::View(ViewKind::Confidence),
        Self::View(ViewKind::Recorded),
        Self::Controls,
        Self::FullScreen,
        Self::Help,
        Self::Quit,
    ];

    /// What a button or menu says.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pause => "Pause",
            Self::Step => "Step",
            Self::StepBack => "Step back",
            Self::SecondBack => "Back by 1 s",
            Self::SecondOn => "On by 1 s",
            Self::ToStart => "To the start",
            Self::ToEnd => "To the end",
            Self::Snapshot => "Snapshot",
            Self::Record => "Record",
            Self::Open => "Open files …",
            Self::Cameras => "Cameras …",
            Self::Rig => "Rig …",
            Self::Reach => "Distance and error …",
            Self::FitDepth => "Fit now",
            Self::WholePicture => "Whole picture",
            Self::ColourReasons => "Colour invalid by reason",
            Self::ResetParameters => "Back to the preset",
            Self::CopyCommand => "Copy as command",
            Self::View(view) => view.word(),
            Self::Controls => "Controls",
            Self::FullScreen => "Full screen",
            Self::Help => "Help",
            Self::Quit => "Quit",
        }
    }

    /// What it does, in a sentence.
    pub const fn tooltip(self) -> &'static str {
        match self {
            Self::Pause => "Hold this pair while matching goes on, so that parameters can be tuned on a still.",
            Self::Step => "Take the next pair and hold it.",
            Self::StepBack => "Take the pair before and hold it; in a recording.",
            Self::SecondBack => "Go back by one second; in a recording.",
            Self::SecondOn => "Go on by one second; in a recording.",
            Self::ToStart => "Go to the first pair of a recording.",
            Self::ToEnd => "Go to the last pair of a recording.",
            Self::Snapshot => {
                "Write depth (16-bit mm), disparity (16-bit ×256 and PFM), confidence if it is on, the left picture and a JSON with everything in force."
            }
            Self::Record => {
                "Record every pair, and what is computed of them, into a file that ROS 2, Foxglove and this window open; again to end it."
            }
            Self::Open => "Choose a recording, or a left and a right picture; or drop files or a folder on the window.",
            Self::Cameras => "Show what each camera sees, and choose left and right by a click.",
            Self::Rig => "Calibration, depth from known distances, camera controls, and the file that keeps them.",
            Self::Reach => {
                "Draw which distance each disparity stands for, and how far it is off where the disparity is, for this rig and search range."
            }
            Self::FitDepth => "Set the depth range to what is seen now (2 to 98 %); it stays fixed afterwards.",
            Self::WholePicture => "Show the whole picture in all views; so does a double-click.",
            Self::ColourReasons => "Pixels without disparity in a colour for each reason, instead of black.",
            Self::ResetParameters => "Put all parameters back to those of the preset; the search range stays.",
            Self::CopyCommand => "Put a command line on the clipboard that gives the same result.",
            Self::View(view) => view.help(),
            Self::Controls => "Show or hide the panels, to leave all the room to the pictures.",
            Self::FullScreen => "Use the whole screen, or go back to a window.",
            Self::Help => "List the keys.",
            Self::Quit => "Close the window.",
        }
    }

    /// Its key.
    pub const fn shortcut(self) -> KeyboardShortcut {
        let (modifiers, key) = match self {
            Self::Pause => (Modifiers::NONE, Key::Space),
            Self::Step => (Modifiers::NONE, Key::ArrowRight),
            Self::StepBack => (Modifiers::NONE, Key::ArrowLeft),
            Self::SecondBack => (Modifiers::SHIFT, Key::ArrowLeft),
            Self::SecondOn => (Modifiers::SHIFT, Key::ArrowRight),
            Self::ToStart => (Modifiers::NONE, Key::Home),
            Self::ToEnd => (Modifiers::NONE, Key::End),
            Self::Snapshot => (Modifiers::NONE, Key::S),
            Self::Record => (Modifiers::SHIFT, Key::R),
            Self::Open => (Modifiers::COMMAND, Key::O),
            Self::Cameras => (Modifiers::NONE, Key::C),
            Self::Rig => (Modifiers::NONE, Key::R),
            Self::Reach => (Modifiers::NONE, Key::D),
            Self::FitDepth => (Modifiers::NONE, Key::F),
            Self::WholePicture => (Modifiers::NONE, Key::Num0),
            Self::ColourReasons => (Modifiers::NONE, Key::I),
            Self::ResetParameters => (Modifiers::COMMAND, Key::R),
            Self::CopyCommand => (Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C),
            Self::View(ViewKind::Left) => (Modifiers::NONE, Key::Num1),
            Self::View(ViewKind::Depth) => (Modifiers::NONE, Key::Num2),
            Self::View(ViewKind::Right) => (Modifiers::NONE, Key::Num3),
            Self::View(ViewKind::Disparity) => (Modifiers::NONE, Key::Num4),
            Self::View(ViewKind::Confidence) => (Modifiers::NONE, Key::Num5),
            Self::View(ViewKind::Recorded) => (Modifiers::NONE, Key::Num6),
            Self::Controls => (Modifiers::NONE, Key::H),
            Self::FullScreen => (Modifiers::NONE, Key::F11),
            Self::Help => (Modifiers::NONE, Key::F1),
            Self::Quit => (Modifiers::COMMAND, Key::Q),
        };
        KeyboardShortcut::new(modifiers, key)
    }

    /// The commands whose keys were pressed. Plain keys belong to text that is being written, the arrows and Space to
    /// whatever has the focus; a slider has no use for Space.
    pub(crate) fn pressed(ctx: &Context) -> Vec<Self> {
        let focused = ctx.memory(egui::Memory::focused);
        let on_slider = focused.is_some() && ctx.data(|data| data.get_temp(focused_slider())) == focused;
        let writing = ctx.text_edit_focused();
        let free = |command: &Self| match command.shortcut() {
            key if matches!(key.logical_key, Key::ArrowLeft | Key::ArrowRight) => focused.is_none(),
            key if key.modifiers.command || matches!(key.logical_key, Key::F1 | Key::F11) => true,
            key if key.logical_key == Key::Space => focused.is_none() || on_slider,
            _ => !writing,
        };
        let pressed = |command: &&Self| free(command) && ctx.input_mut(|i| i.consume_shortcut(&command.shortcut()));
        // a key with Shift is also the key: the longer one is asked first
        let (shifted, plain): (Vec<_>, Vec<_>) = Self::ALL.iter().partition(|c| c.shortcut().modifiers.shift);
        shifted.into_iter().chain(plain).filter(pressed).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_and_every_view_has_one() {
        for (i, command) in Command::ALL.iter().enumerate() {
            assert!(Command::ALL[..i].iter().all(|other| other.shortcut() != command.shortcut()), "{command:?}");
        }
        assert!(ViewKind::ALL.iter().all(|&view| Command::ALL.contains(&Command::View(view))));
    }
}
