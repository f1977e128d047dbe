//! `latens man`: one page with all verbs.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::print_out;
use crate::args::Cli;
use crate::message::Result;

/// Print the manual page as roff: `latens man | man -l -`.
///
/// # Errors
/// I/O.
pub fn run() -> Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    page += &behind(&command).to_roff();
    for verb in command.get_subcommands() {
        page += &of_verb(verb)?;
    }
    print_out(&page)
}

/// The chapter of a verb, whose sections are a level lower than those of the page.
fn of_verb(verb: &Command) -> Result<String> {
    let man = Man::new(verb.clone());
    let mut sections = Vec::new();
    man.render_synopsis_section(&mut sections)?;
    man.render_options_section(&mut sections)?;
    let sections = String::from_utf8_lossy(&sections);
    // Each rendering begins with the two lines that say what an apostrophe is.
    let lines = sections.lines().filter(|line| !line.ends_with(".ds Aq \\(aq"));
    let lines = lines.filter(|line| !line.starts_with(".el .ds Aq"));
    let mut chapter = Roff::new();
    let title = format!("latens {}", verb.get_name()).to_uppercase();
    chapter.control("SH", [title.as_str()]);
    chapter.text([roman(verb.get_about().map(ToString::to_string).unwrap_or_default())]);
    let mut chapter = chapter.to_roff();
    for line in lines {
        chapter += &line.replacen(".SH ", ".SS ", 1);
        chapter.push('\n');
    }
    Ok(chapter + &behind(verb).to_roff())
}

/// What stands behind the options in the help: examples, which are indented, keep their lines.
fn behind(command: &Command) -> Roff {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        roff.control("PP", []);
        let mut filled = true;
        for line in paragraph.lines() {
            if line.starts_with("  ") == filled {
                filled = !filled;
                roff.control(if filled { "fi" } else { "nf" }, []);
            }
            roff.text([roman(line)]);
        }
        if !filled {
            roff.control("fi", []);
        }
    }
    roff
}
