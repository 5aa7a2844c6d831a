//! Checks the documentation against the program: links, commands, quoted output and quoted messages.

mod commands;
mod messages;
mod pages;
mod sandbox;
