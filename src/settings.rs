//! All that a user can set: presets, settings files and flags resolved into one struct.
