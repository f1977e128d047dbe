//! Small inputs that stand for much: no more than a second for each 128 MiB, 100 ms for little.

use latens_robustness::heavy;

/// Some of each decoder; `robustness heavy` decodes all.
#[test]
fn small_inputs_take_their_time_and_no_more() {
    let (table, wrong) = heavy::table(5);
    println!("{table}");
    // Known, and told in SECURITY.md: a table of 2^14 slots for each of thousands of numbers.
    let (known, wrong): (Vec<_>, Vec<_>) =
        wrong.into_iter().partition(|what| what.starts_with("pco: tables, "));
    println!("beyond the bar, and known: {known:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    for decoder in ["pco", "dbp", "dlba", "dba", "wcodec"] {
        assert!(table.contains(&format!("| {decoder} | ")), "{decoder}");
    }
}
