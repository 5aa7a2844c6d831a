//! Actions: the entries of menus, buttons, keys and the page of keys, each with its label, key and help.

use crate::view::ViewKind;
use crate::widgets::focused_slider;
use egui::{Context, Key, KeyboardShortcut, Modifiers};

/// Declares [`Action`] from a table; the documentation of a member is its help.
macro_rules! actions {
    ($($(#[doc = $help:literal])+ $member:ident = $label:literal, $($modifier:ident)|+, $key:ident;)+) => {
        #[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
        pub(crate) enum Action {
            $($(#[doc = $help])+ $member,)+
            /// Shows or hides a view.
            View(ViewKind),
        }

        impl Action {
            const PLAIN: &'static [Self] = &[$(Self::$member),+];

            /// Returns the text of its button and menu entry.
            pub(crate) const fn label(self) -> &'static str {
                match self {
                    $(Self::$member => $label,)+
                    Self::View(view) => view.word(),
                }
            }

            /// Returns its effect, in a sentence.
            pub(crate) const fn help(self) -> &'static str {
                match self {
                    $(Self::$member => concat!($($help),+).trim_ascii(),)+
                    Self::View(view) => view.help(),
                }
            }

            /// Returns its keyboard shortcut.
            pub(crate) const fn shortcut(self) -> KeyboardShortcut {
                match self {
                    $(Self::$member => KeyboardShortcut::new(Modifiers::NONE$(.plus(Modifiers::$modifier))+, Key::$key),)+
                    Self::View(view) => KeyboardShortcut::new(Modifiers::NONE, VIEW_KEYS[view as usize]),
                }
            }
        }
    };
}

const VIEW_KEYS: [Key; ViewKind::ALL.len()] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::V];

actions! {
    /// Hold this pair while matching goes on, so that parameters can be tuned on a still.
    Pause = "Pause", NONE, Space;
    /// Take the next pair and hold it.
    Step = "Step", NONE, ArrowRight;
    /// Take the pair before and hold it; in a recording or a folder.
    StepBack = "Step back", NONE, ArrowLeft;
    /// Go back by one second; in a recording or a folder.
    SecondBack = "Back by 1 s", SHIFT, ArrowLeft;
    /// Go on by one second; in a recording or a folder.
    SecondOn = "On by 1 s", SHIFT, ArrowRight;
    /// Go to the first pair of a recording or a folder.
    ToStart = "To the start", NONE, Home;
    /// Go to the last pair of a recording or a folder.
    ToEnd = "To the end", NONE, End;
    /// Go back to the pair before whose depth was recorded, and hold it; in a recording.
    RecordedBack = "Back to recorded depth", COMMAND, ArrowLeft;
    /// Go on to the next pair whose depth was recorded, and hold it; in a recording.
    RecordedOn = "On to recorded depth", COMMAND, ArrowRight;
    /// Write depth (16-bit mm), disparity (16-bit ×256 and PFM), confidence if it is on, the left image and a JSON with
    /// all settings.
    Snapshot = "Snapshot", NONE, S;
    /// Write an image of the large view, or of the figure on the open page, with title, units and colour bar.
    SavePicture = "Save image", COMMAND, S;
    /// Put that image on the clipboard.
    CopyPicture = "Copy image", SHIFT, C;
    /// Choose what an image shows, its size, format and folder: of any view, or of curves and maps of settings.
    Pictures = "Save image as …", SHIFT, S;
    /// Record every pair, and its results, into a file that ROS 2, Foxglove and this window open; again to end it.
    Record = "Record", SHIFT, R;
    /// Choose a recording, or a left and a right image; or drop files or a folder on the window.
    Open = "Open files …", COMMAND, O;
    /// Show what each camera sees, and choose left and right by a click.
    Cameras = "Cameras …", NONE, C;
    /// From two webcams to depth in metres in six steps: cameras, rows, range, scale, colours, and the file that keeps the rig. Also
    /// calibration files, depth from known distances, camera controls.
    Rig = "Two webcams, rig …", NONE, R;
    /// Calibrate both cameras live with a printed board: focal lengths, lenses, and how they stand to each other.
    Calibrate = "Calibrate …", NONE, B;
    /// Draw the distance that each disparity stands for, and its error where the disparity is wrong, for this rig and
    /// search range.
    Reach = "Distance and error …", NONE, D;
    /// Show how the pixel under the pointer, or the one that a click holds, came to its disparity: costs, sums, tests, and what
    /// would change it.
    Explain = "Explain the pixel …", NONE, P;
    /// Measure the distance of two points, and the depth quality of a rectangle with a flat surface: fill rate, errors of its
    /// plane, noise; and scores of the whole image.
    Measure = "Measure …", NONE, L;
    /// Try all values of two parameters, such as P1 and P2, on the pair that is shown, and draw how good each is.
    Sweep = "Sweep …", NONE, G;
    /// Search all parameters that matter for the best map within a time per pair.
    Suggest = "Suggest …", NONE, U;
    /// Match the open recording again into a new one, or write it as files for other tools.
    Convert = "Recompute, export …", NONE, E;
    /// Exchange the left and the right image of the open source.
    SwapPictures = "Swap left and right", NONE, X;
    /// Search further: half as many disparities more, for things that are nearer than the range.
    Widen = "Widen", NONE, W;
    /// Set the smallest disparity and their number to what both images show.
    FitRange = "Fit range", SHIFT, F;
    /// Set the depth range to what is seen now (2 to 98 %); it stays fixed afterwards.
    FitDepth = "Fit now", NONE, F;
    /// Enlarge all views around their middle; the wheel does it around the pointer.
    ZoomIn = "Zoom in", NONE, Plus;
    /// Show more of the images in all views.
    ZoomOut = "Zoom out", NONE, Minus;
    /// Show the whole image in all views, and space as the camera sees it; so does a double-click in each.
    WholePicture = "Whole image", NONE, Num0;
    /// Pixels without disparity in a colour for each reason, instead of black.
    ColourReasons = "Colour invalid by reason", NONE, I;
    /// Put all parameters back to those of the preset; the search range stays.
    ResetParameters = "Back to the preset", COMMAND, R;
    /// Take back the last change of a parameter, a preset, the engine or the source.
    Undo = "Undo", COMMAND, Z;
    /// Make the change again that was taken back last.
    Redo = "Redo", COMMAND | SHIFT, Z;
    /// Keep the present settings as A; from then on the sliders change B, and the maps show both.
    KeepAsA = "Keep as A", NONE, A;
    /// Show A in all views, or B again: what differs jumps to the eye.
    ShowA = "Flip A and B", NONE, T;
    /// Compare no more; the present settings stay.
    EndComparison = "End comparison", SHIFT, A;
    /// List every change of the settings, go back to any of them, and follow a settings file.
    History = "History …", NONE, Z;
    /// Put a command line on the clipboard that gives the same result.
    CopyCommand = "Copy as command", COMMAND | SHIFT, C;
    /// Show all views in the same size, or one large and the others in a strip.
    Grid = "Views in a grid", NONE, J;
    /// Show or hide both panels, to leave all the room to the images.
    Panels = "Panels", NONE, H;
    /// Show or hide the panel of parameters, at the left.
    Controls = "Parameters", NONE, M;
    /// Show or hide the panel of read-outs, at the right.
    Readings = "Read-outs", NONE, N;
    /// Find an action, a page, a setting, a preset, an engine or a source by its words.
    Find = "Find …", COMMAND, K;
    /// Close the open page; then show all views again.
    Close = "Close", NONE, Escape;
    /// Use the whole screen, or go back to a window.
    FullScreen = "Full screen", NONE, F11;
    /// Examine this machine, and say what is wrong and what to do: a text for a question to others.
    Doctor = "Doctor …", SHIFT, F1;
    /// List the keys.
    Help = "Help", NONE, F1;
    /// Close the window.
    Quit = "Quit", COMMAND, Q;
}

impl Action {
    /// Iterates over all actions in the order of the page of keys.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::PLAIN.iter().copied().chain(ViewKind::ALL.iter().map(|&view| Self::View(view)))
    }

    /// Returns the actions whose keys were pressed and are free.
    ///
    /// Plain keys belong to a focused text field or open menu, arrows and Space to the focused widget; a slider leaves Space free.
    pub(crate) fn pressed(ctx: &Context, is_wanted: impl Fn(Self) -> bool) -> Vec<Self> {
        let focused = ctx.memory(egui::Memory::focused);
        // Escape takes the focus away first
        let key = egui::Id::unique("focus of the last frame");
        let had_focus = ctx.data(|data| data.get_temp::<bool>(key)) == Some(true);
        ctx.data_mut(|data| data.insert_temp(key, focused.is_some()));
        let on_slider = focused.is_some() && ctx.data(|data| data.get_temp(focused_slider())) == focused;
        let writing = ctx.text_edit_focused();
        // letters belong to an open menu too, which may have a field
        let has_menu = egui::Popup::is_any_open(ctx);
        let free = |action: &Self| match action.shortcut() {
            key if matches!(key.logical_key, Key::ArrowLeft | Key::ArrowRight) => focused.is_none() && !has_menu,
            key if key.logical_key == Key::Escape => !had_focus && !has_menu,
            // text fields have an undo of their own
            key if key.logical_key == Key::Z => !writing && (key.modifiers.command || !has_menu),
            key if key.modifiers.command || matches!(key.logical_key, Key::F1 | Key::F11) => true,
            key if key.logical_key == Key::Space => (focused.is_none() || on_slider) && !has_menu,
            _ => !writing && !has_menu,
        };
        let pressed = |action: &Self| free(action) && ctx.input_mut(|i| i.consume_shortcut(&action.shortcut()));
        // Shift and Ctrl with a key also match the plain key: the longest combination is tried first
        let modifiers = |action: &Self| {
            let Modifiers { alt, ctrl, shift, command, .. } = action.shortcut().modifiers;
            [alt, ctrl, shift, command].into_iter().filter(|is_down| *is_down).count()
        };
        let mut actions: Vec<_> = Self::all().filter(|&action| is_wanted(action)).collect();
        actions.sort_by_key(|action| std::cmp::Reverse(modifiers(action)));
        actions.into_iter().filter(pressed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct() {
        for action in Action::all() {
            let same = Action::all().filter(|other| other.shortcut() == action.shortcut());
            assert_eq!(same.count(), 1, "{action:?}");
        }
    }
}
