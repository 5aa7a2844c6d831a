//! The live pipeline without a window: capture, channel, engine, newest result.
