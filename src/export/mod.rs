//! Results as files that other tools open: numbers first, pictures beside them.
