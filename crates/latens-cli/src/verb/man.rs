//! `latens man`: one page with all verbs.

use clap::CommandFactory;
use clap_mangen::Man;

use super::print_out;
use crate::args::Cli;
use crate::message::Result;

/// Print the manual page as roff: `latens man | man -l -`.
///
/// # Errors
/// I/O.
pub fn run() -> Result<()> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = format!("latens {}", verb.get_name());
        let man = Man::new(verb.clone());
        page.extend(format!(".SH \"{}\"\n", name.to_uppercase()).bytes());
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    print_out(&String::from_utf8_lossy(&page))
}
