//! Colours, where they are wanted: on a terminal and without `NO_COLOR`.

use std::io::IsTerminal;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    #[default]
    Plain,
    /// A heading or a total.
    Bold,
    /// Of less weight.
    Dim,
    /// A bar.
    Bar,
    /// Good news.
    Good,
}

/// Whether to colour what goes to this stream.
pub fn wanted(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// The text in its style, or as it is.
pub fn paint(text: &str, style: Style, colour: bool) -> String {
    let code = match style {
        Style::Plain => return text.to_string(),
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Bar => "36",
        Style::Good => "32",
    };
    match colour && !text.is_empty() {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_string(),
    }
}

/// Columns of the terminal, or 100 where there is none.
pub fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr())
        .or_else(|| terminal_size::terminal_size_of(std::io::stdout()))
        .map_or(100, |(terminal_size::Width(columns), _)| usize::from(columns).clamp(40, 140))
}
