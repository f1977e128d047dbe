//! `latens`: the command line.

fn main() {}
