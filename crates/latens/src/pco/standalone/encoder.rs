//! Writing a standalone file.
