//! Files whose head, chunk heads, padding or bins lie.

use super::written::*;
use crate::common::fields::Fields;

/// The file.
pub(super) fn heads(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // The head.
    let mut magic = three_sevens().end();
    magic[3] = b'?';
    add("magic", "another magic number", magic, Refused(CORRUPT, 0, "does not begin with `pco!`"));
    let mut version = three_sevens().end();
    version[4] = 4;
    add(
        "standalone-4",
        "a standalone version that does not exist",
        version,
        Refused(CORRUPT, 4, "standalone version 4"),
    );
    let mut version = three_sevens().end();
    version[7] = 5;
    add(
        "major-5",
        "a major format version that does not exist",
        version,
        Refused(CORRUPT, 7, "format version 5"),
    );
    add(
        "uniform-unknown",
        "a uniform type that is no type",
        Fields::head(200, 3).end(),
        Refused(CORRUPT, 5, "200 is not a number type"),
    );
    add(
        "hint-huge-nothing-there",
        "a count of 2^64 - 1 with nothing behind it: a reader that reserves it dies",
        Fields::head(U64, u64::MAX).done(),
        Refused(TRUNCATED, 17, "the input ends"),
    );
    add(
        "hint-16-mib",
        "a count of just 16 MiB of numbers in 30 bytes, then no bins: memory that a small lie gets",
        Fields::head(0, 1 << 21)
            .chunk(U64, 3)
            .field(0, 8)
            .variable(64, 1, &[(1, 1, 0), (2, 2, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 17, "weights of the bins sum to 3"),
    );
}

/// Chunks.
pub(super) fn chunk_heads(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Chunk heads.
    add(
        "chunk-type-unknown",
        "a chunk of a type that does not exist",
        sevens(Fields::head(0, 3).chunk(12, 3).field(0, 8)).end(),
        Refused(CORRUPT, 9, "12 is not a number type"),
    );
    add(
        "chunk-type-not-uniform",
        "a chunk of u32 in a file that says all is u64",
        sevens(Fields::head(U64, 3).chunk(U32, 3).field(0, 8)).end(),
        Refused(CORRUPT, 9, "announces another type"),
    );
    add(
        "terminator-missing",
        "a file that ends with its last page",
        three_sevens().done(),
        Refused(TRUNCATED, 22, "the end of the file"),
    );
}

/// Padding, which must be zero.
pub(super) fn padding(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Padding, all five places.
    add(
        "padding-hint",
        "a bit set in the padding behind n_hint",
        sevens(
            Fields::default()
                .bytes(b"pco!")
                .bytes(&[3, 0])
                .field(0, 6)
                .field(0, 1)
                .pad_with(1)
                .bytes(&[4, 1])
                .chunk(U32, 3)
                .field(0, 8),
        )
        .end(),
        Refused(CORRUPT, 6, "padding after the count hint"),
    );
    add(
        "padding-dict",
        "a bit set in the padding behind the length of a dictionary",
        start(U32)
            .field(4, 4)
            .field(1, 25)
            .pad_with(4)
            .field(7, 32)
            .field(0, 4)
            .variable(32, 0, &[(1, 0, 0)])
            .pad()
            .end(),
        Refused(CORRUPT, 16, "padding after the count of dictionary entries"),
    );
    add(
        "padding-chunk",
        "a bit set in the padding behind the chunk metadata",
        classic(U32).variable(32, 0, &[(1, 7, 0)]).pad_with(64).end(),
        Refused(CORRUPT, 21, "padding after the chunk metadata"),
    );
    let two_bins = |f: Fields| f.variable(32, 1, &[(1, 5, 0), (1, 9, 0)]).pad();
    let page = two_bins(classic(U32));
    let at = page.byte();
    add(
        "padding-page-head",
        "a bit set in the padding behind the lanes of a page",
        page.clone().field(0, 4).pad_with(8).field(0, 3).pad().end(),
        Refused(CORRUPT, at, "padding after the page metadata"),
    );
    add(
        "padding-page-end",
        "a bit set in the padding behind the last batch of a page",
        page.clone().field(0, 4).pad().field(0, 3).pad_with(16).end(),
        Refused(CORRUPT, at + 1, "padding after a page"),
    );
}

/// Bins and tANS tables.
pub(super) fn bins(out: &mut Vec<Hostile>) {
    let mut add = |name, attacks, file, verdict| {
        out.push(Hostile { name, attacks, file, verdict, pco_accepts: false });
    };
    // Bins.
    add(
        "weights-short",
        "weights that do not fill the tANS table: unfilled slots are uninitialised memory",
        classic(U32).variable(32, 2, &[(1, 5, 0), (2, 9, 0)]).pad().end(),
        Refused(CORRUPT, 14, "weights of the bins sum to 3, the table holds 4"),
    );
    add(
        "weights-long",
        "weights that overfill the tANS table",
        classic(U32).variable(32, 2, &[(4, 5, 0), (2, 9, 0)]).pad().end(),
        Refused(CORRUPT, 14, "weights of the bins sum to 6, the table holds 4"),
    );
    add(
        "bins-over-table",
        "more bins than the table has slots",
        classic(U32).variable(32, 1, &[(1, 5, 0), (1, 9, 0), (1, 11, 0)]).pad().end(),
        Refused(CORRUPT, 14, "3 bins in a tANS table of 2^1"),
    );
    add(
        "bins-claimed",
        "16384 bins claimed, none there",
        classic(U32).field(14, 4).field(1 << 14, 15).pad().end(),
        Refused(TRUNCATED, 18, "16384 bins"),
    );
    add(
        "log-15",
        "a tANS table of 2^15",
        classic(U32).variable(32, 15, &[(1 << 15, 5, 0)]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^15"),
    );
    add(
        "one-bin-with-log",
        "one bin, and a table of 8 slots for it",
        classic(U32).variable(32, 3, &[(8, 5, 0)]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^3 for 1 bins"),
    );
    add(
        "no-bins-with-log",
        "no bins, and a table of 4 slots for them",
        classic(U32).variable(32, 2, &[]).pad().end(),
        Refused(CORRUPT, 14, "a tANS table of 2^2 for 0 bins"),
    );
    let none = classic(U32).variable(32, 0, &[]).pad();
    let at = none.byte();
    add(
        "no-bins",
        "no bins, but three latents to decode",
        none.end(),
        Refused(CORRUPT, at, "latents of a variable that has no bins"),
    );
    for (name, type_byte, k, bits) in [
        ("offset-bits-u8", U8, 8, 9),
        ("offset-bits-u32", U32, 32, 33),
        ("offset-bits-u64", U64, 64, 127),
    ] {
        let fields = classic(type_byte).variable(k, 0, &[(1, 7, bits)]).pad();
        let file = fields.field(0, 64).field(0, 64).end();
        add(name, "offsets wider than the latents", file, Refused(CORRUPT, 16, "offset bits"));
    }
}
