//! Output for other programs.

use stereopsis_base::console;

/// Prints a value for other programs.
pub(super) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    Ok(console::print(&format!("{}\n", console::json(value)?))?)
}
