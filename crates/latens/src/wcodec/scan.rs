//! The order of the 64 coefficients of a sub-block, and what their places mean.

/// Rows and columns of a sub-block.
pub const SIDE: usize = 8;

/// Places by rank: `ZIGZAG[0]` is the mean, then diagonal by diagonal, up and down in turn.
pub const ZIGZAG: [u8; 64] = zigzag();

/// The position class of each place.
const CLASSES: [u8; 64] = classes();

#[expect(clippy::cast_possible_truncation, reason = "places are below 64")]
const fn zigzag() -> [u8; 64] {
    let mut order = [0; 64];
    let (mut rank, mut diagonal) = (0, 0);
    while diagonal < 2 * SIDE - 1 {
        let mut step = 0;
        while step <= diagonal {
            // Odd diagonals go down from the top, even ones up from the left.
            let row = if diagonal % 2 == 1 { step } else { diagonal - step };
            let col = diagonal - row;
            if row < SIDE && col < SIDE {
                order[rank] = (row * SIDE + col) as u8;
                rank += 1;
            }
            step += 1;
        }
        diagonal += 1;
    }
    order
}

const fn classes() -> [u8; 64] {
    let mut all = [0; 64];
    let mut place = 0;
    while place < 64 {
        all[place] = match place / SIDE + place % SIDE {
            0 => 0,
            1..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        place += 1;
    }
    all
}

/// Low, middle and high frequencies: row + column up to 3, up to 7, above. `place` is row · 8 +
/// column.
pub fn band(place: u8) -> u8 {
    position_class(place).saturating_sub(1)
}

/// 0 the mean, then 1 + [`band`].
pub fn position_class(place: u8) -> u8 {
    CLASSES[usize::from(place & 63)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scan_is_that_of_the_books() {
        let start = [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5];
        assert_eq!(ZIGZAG[..16], start);
        assert_eq!(ZIGZAG[60..], [47, 55, 62, 63]);
        let mut sorted = ZIGZAG;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &p)| i == usize::from(p)));
    }

    #[test]
    fn bands_follow_the_scan() {
        let counts: Vec<usize> =
            (0..4).map(|c| (0..64).filter(|&p| position_class(p) == c).count()).collect();
        assert_eq!(counts, [1, 9, 26, 28]);
        assert!(ZIGZAG.windows(2).all(|w| band(w[0]) <= band(w[1])));
        assert_eq!((band(0), band(3), band(63)), (0, 0, 2));
    }
}
