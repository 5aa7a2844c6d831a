//! The pages that people read: links, commands, quoted output and quoted messages are those of the program.

mod commands;
mod messages;
mod pages;
mod sandbox;
mod words;
