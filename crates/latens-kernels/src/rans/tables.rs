//! Tables that symbols are decoded by.

/// log2 of the largest table.
pub const MAX_BITS: u32 = 14;
/// The largest frequency in [`Tables`].
pub const MAX_FREQUENCY: u32 = (1 << 12) - 1;

/// The bits of a slot that hold how many of its symbol come before.
pub(crate) const NTH: u32 = 0xfff;

/// A slot of `symbol`, which has so many of them; `nth` counts those before it.
///
/// # Panics
/// Where `frequency` is not 1 to [`MAX_FREQUENCY`], or `nth` is not below it.
#[inline]
pub const fn entry(symbol: u8, frequency: u32, nth: u32) -> u32 {
    assert!(frequency <= MAX_FREQUENCY && nth < frequency);
    frequency << 20 | (symbol as u32) << 12 | nth
}

/// The slots of tables of frequencies, none above [`MAX_FREQUENCY`], those of each summing to `2^bits`; in the memory of
/// `slots`, whatever it holds.
///
/// # Panics
/// Where a frequency is above that.
pub fn slots_of<'t>(
    bits: u32,
    tables: impl Iterator<Item = &'t [u16]>,
    mut slots: Vec<u32>,
) -> Vec<u32> {
    // Most symbols have no more: what is beyond a symbol's slots is written over by the next one's.
    const TOGETHER: usize = NTHS.len();
    const NTHS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut at = 0;
    for table in tables {
        let end = at + (1 << bits) + TOGETHER;
        slots.resize(end.max(slots.len()), 0);
        for (symbol, &f) in (0u8..=255).zip(table).filter(|(_, f)| **f > 0) {
            let some = slots[at..].as_chunks_mut::<TOGETHER>().0;
            let count = usize::from(f).div_ceil(TOGETHER);
            let first = entry(symbol, f.into(), 0);
            for (some, slot) in some.iter_mut().take(count).zip((first..).step_by(TOGETHER)) {
                *some = NTHS.map(|nth| slot + nth);
            }
            at += usize::from(f);
        }
    }
    slots.truncate(at);
    slots
}

/// Tables of one size, one for each class, one after the other; slots are made by [`entry`].
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    slots: &'a [u32],
    bits: u32,
}

impl<'a> Tables<'a> {
    /// `None` where `bits` is not 1 to [`MAX_BITS`], or `slots` are not 1 to 256 tables.
    pub fn new(slots: &'a [u32], bits: u32) -> Option<Self> {
        let fits = (1..=MAX_BITS).contains(&bits) && whole_tables(slots.len(), bits);
        fits.then_some(Self { slots, bits })
    }

    /// All slots.
    #[inline(always)]
    pub(crate) fn slots(self) -> &'a [u32] {
        self.slots
    }

    /// log2 of the size of a table.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.bits
    }
}

/// Tables with any frequencies, one for each class: a slot names a symbol of a class, which has one
/// step. That takes half the memory of [`Tables`], and one look-up more.
///
/// A step is, where no symbol has a frequency above [`MAX_FREQUENCY`] and a state's low 12 bits are a slot's,
/// what [`entry`] makes with the sum of the frequencies before, modulo 2^12, for `nth`: the state less that
/// is the true one, modulo 2^12. Elsewhere it is (2^bits − frequency) · 2^16 + sum of the frequencies before.
#[derive(Clone, Debug)]
pub struct WideTables {
    /// Class · 256 + symbol.
    slots: Vec<u16>,
    /// By class · 256 + symbol.
    steps: Vec<u32>,
    bits: u32,
    /// Whether steps name their symbols.
    named: bool,
}

impl WideTables {
    /// Frequencies of at most 256 symbols a table, those of each summing to `2^bits`; `None` where
    /// they do not, `bits` is not 1 to [`MAX_BITS`], or there are not 1 to 256 tables.
    pub fn new<'a>(bits: u32, tables: impl Iterator<Item = &'a [u16]> + Clone) -> Option<Self> {
        (1..=MAX_BITS).contains(&bits).then_some(())?;
        let most = tables.clone().flatten().fold(0, |most, &f| most.max(f));
        let named = bits >= 12 && u32::from(most) <= MAX_FREQUENCY;
        let (mut slots, mut steps) = (Vec::new(), Vec::new());
        for (class, table) in tables.enumerate() {
            let class = u8::try_from(class).ok()?;
            (table.len() <= 256).then_some(())?;
            let mut before = 0;
            for (symbol, &f) in (0u8..=255).zip(table) {
                let f = u32::from(f);
                // No more than the table: what is left out is found below.
                let f = f.min((1 << bits) - before);
                let slot = u16::from_le_bytes([symbol, class]);
                slots.resize(slots.len() + f as usize, slot);
                steps.push(if named {
                    f << 20 | u32::from(symbol) << 12 | before & NTH
                } else {
                    ((1 << bits) - f) << 16 | before
                });
                before += f;
            }
            let sum: u64 = table.iter().map(|&f| u64::from(f)).sum();
            (sum == 1 << bits).then_some(())?;
            steps.resize(steps.len().next_multiple_of(256), 0);
        }
        (!slots.is_empty()).then_some(Self { slots, steps, bits, named })
    }

    /// All slots: each below the number of steps.
    #[inline(always)]
    pub(crate) fn slots(&self) -> &[u16] {
        &self.slots
    }

    /// All steps.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &[u32] {
        &self.steps
    }

    #[inline(always)]
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether steps name their symbols.
    #[inline(always)]
    pub(crate) fn named(&self) -> bool {
        self.named
    }

    /// How many tables.
    pub(super) fn count(&self) -> usize {
        self.slots.len() >> self.bits
    }
}

/// Whether `len` slots are 1 to 256 whole tables.
fn whole_tables(len: usize, bits: u32) -> bool {
    len > 0 && len.is_multiple_of(1 << bits) && len >> bits <= 256
}
