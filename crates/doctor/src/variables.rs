//! Environment variables of this process.

use std::collections::BTreeMap;

/// Environment variables by name; invalid UTF-8 is replaced.
pub(super) type Variables = BTreeMap<String, String>;

/// Returns the variables of this process.
pub(super) fn variables() -> Variables {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

/// Returns whether the program would open a window; systems other than Linux always have a display.
pub(super) fn has_display(variables: &Variables) -> bool {
    let set = |name| variables.get(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
