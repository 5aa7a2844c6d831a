//! Order of events, seen by an engine that follows a script.
