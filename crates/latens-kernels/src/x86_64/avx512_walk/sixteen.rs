//! What permutations take that sum up sixteen widths.
//!
//! Where latents have 32 bits or fewer, lane `i` has the `i`th. Where they have 64, even lanes have the
//! first eight and odd ones the others, so that a shift makes eight latents of each.

/// Most bits of offsets of which sixteen lie in 64 bytes, from that of the first bit on.
pub(crate) const SHORT: u8 = 31;

/// Which latents the lanes of 32 bits have. Latents are summed up by fours.
#[repr(C, align(64))]
pub(super) struct Order {
    /// The widths of a lane's four, which are the second bytes of theirs.
    pub(super) widths: [u8; 64],
    /// The sums of the first three fours, which are where the last latent of each is.
    pub(super) fours: [u8; 64],
    /// The bits of a place within a byte, for the first four: so others get them once, too.
    pub(super) sevens: [u8; 64],
    /// Which of the widths are up to the lane's own.
    pub(super) up_to: u64,
    /// Which of the sums are of fours before the lane's own.
    pub(super) before: u64,
}

impl Order {
    const fn new(is_wide: bool) -> Self {
        let mut all =
            Self { widths: [0; 64], fours: [0; 64], sevens: [0; 64], up_to: 0, before: 0 };
        let mut latent = 0;
        while latent < 16 {
            let lane = lane(is_wide, latent) as usize;
            let mut i = 0;
            while i < 4 {
                let byte = 4 * lane + i as usize;
                all.widths[byte] = 4 * self::lane(is_wide, latent / 4 * 4 + i) + 1;
                all.fours[byte] = 4 * self::lane(is_wide, 4 * i + 3);
                all.up_to |= ((i <= latent % 4) as u64) << byte;
                all.before |= ((i < latent / 4) as u64) << byte;
                i += 1;
            }
            if latent < 4 {
                all.sevens[4 * lane] = 7;
            }
            latent += 1;
        }
        all
    }

    pub(super) fn of(is_wide: bool) -> &'static Self {
        static ORDERS: [Order; 2] = [Order::new(false), Order::new(true)];
        &ORDERS[usize::from(is_wide)]
    }
}

/// Where a latent is.
const fn lane(is_wide: bool, latent: u8) -> u8 {
    if is_wide { latent % 8 * 2 + latent / 8 } else { latent }
}
