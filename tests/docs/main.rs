//! The pages that people read: links, commands, quoted output and quoted messages are those of the program.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../program/mod.rs"]
mod program;

mod commands;
mod messages;
mod pages;
mod sandbox;
mod words;
