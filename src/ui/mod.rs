//! The window: reads results, sends intents, owns no pixels that something else needs.
