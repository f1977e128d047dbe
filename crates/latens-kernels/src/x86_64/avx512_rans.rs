//! AVX-512 kernels of [`crate::rans`]: two vectors of sixteen states to a group, and up to four
//! groups side by side.
//!
//! Slots come by gather; the states below 2^16 make a mask, and one expansion under it brings the
//! next words of the stream to the lanes that take them. A row of one group waits about sixty cycles
//! for itself, so that one group or two leave most of the processor idle.
//!
//! All of it is generic over [`Lanes`] and tested through the portable model of its operations.

use crate::rans::{Classes, Cursor, LANES, LOWER, Levels, NTH, ROW_BYTES, Tables, WINDOW};

/// Vectors to a group.
const VECTORS: usize = LANES / WIDTH;
/// Lanes of a vector.
const WIDTH: usize = 16;

/// The operations on sixteen lanes of `u32` that the kernel is made of.
///
/// # Safety
/// All functions need what [`crate::dispatch::Simd::Avx512`] stands for, but those of the model.
pub(crate) trait Lanes: Copy {
    /// Sixteen numbers from memory.
    unsafe fn load(from: &[u32; WIDTH]) -> Self;
    /// To memory.
    unsafe fn store(self, to: &mut [u32; WIDTH]);
    /// `x` in every lane.
    unsafe fn splat(x: u32) -> Self;
    /// Sixteen bytes, widened.
    unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self;
    /// For each lane the byte of `window` that its second byte names, below 64, as its second byte;
    /// the others are 0. `second` is [`SECOND`].
    unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self;
    /// For each lane its number in `slots`.
    unsafe fn gather(self, slots: *const u32) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Its bits in `mask`, and those of `other`.
    unsafe fn within_or(self, mask: Self, other: Self) -> Self;
    /// Sums mod 2^32.
    unsafe fn add(self, other: Self) -> Self;
    /// Products mod 2^32.
    unsafe fn mul(self, other: Self) -> Self;
    /// Shifted right by `N`.
    unsafe fn down<const N: u32>(self) -> Self;
    /// Shifted right by as much as `by` says in each lane, which is below 32.
    unsafe fn shift_right(self, by: Self) -> Self;
    /// Shifted left by 8.
    unsafe fn byte_up(self) -> Self;
    /// Shifted left by as much as `by` says in each lane, which is below 32.
    unsafe fn shift_left(self, by: Self) -> Self;
    /// The lanes that are below those of `other`, as numbers without sign; lane 0 is bit 0.
    unsafe fn below(self, other: Self) -> u16;
    /// `words`, widened, one after the other to the lanes of `to`; the other lanes are those of
    /// `self`, shifted left by 16 and or'ed with the words in the lanes of `to`.
    unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self;
    /// Bits 12 to 19 of the lanes of `self`, then of `other`.
    unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]);
}

/// The second byte of each lane.
const SECOND: u64 = 0x2222_2222_2222_2222;
/// The longest map that is scaled.
const MOST_SCALED: usize = 1 << 13;

/// Which [`Classes`] all groups have.
const ONE: u8 = 0;
const PER_SYMBOL: u8 = 1;
const LEVELS: u8 = 2;

/// Where a group's next row comes from and goes to.
#[derive(Clone, Copy)]
struct Place {
    words: *const u8,
    out: *mut u8,
    /// Of a row's symbols, for [`PER_SYMBOL`].
    classes: *const u8,
    /// Of a row, for [`LEVELS`].
    start: *const u16,
}

/// What is the same in all rows.
#[derive(Clone, Copy)]
struct Constants<V> {
    slots: *const u32,
    map: *const u8,
    bits: V,
    mask: V,
    lower: V,
    nth: V,
    second: u64,
}

/// Whole rows of `G` groups, as long as none's words or symbols run out; none where their classes
/// are not alike.
///
/// # Safety
/// As [`Lanes`] says; each class of the groups has a table, and there are as many classes as
/// symbols.
#[inline(always)]
unsafe fn rows<V: Lanes, const G: usize>(tables: Tables<'_>, cursors: &mut [Cursor<'_>; G]) {
    // SAFETY: as the caller vouches; the kinds are those of all groups.
    unsafe {
        if cursors.iter().all(|c| matches!(c.classes, Classes::One(_))) {
            return rows_by::<V, G, ONE>(tables, None, cursors);
        }
        if cursors.iter().all(|c| matches!(c.classes, Classes::PerSymbol(_))) {
            return rows_by::<V, G, PER_SYMBOL>(tables, None, cursors);
        }
        let (Classes::Levels(Levels { cols, map, .. }), at) =
            (cursors[0].classes, cursors[0].written)
        else {
            return;
        };
        let alike = |c: &Cursor<'_>| match c.classes {
            Classes::Levels(levels) => {
                std::ptr::eq(levels.cols, cols) && std::ptr::eq(levels.map, map) && c.written == at
            }
            _ => false,
        };
        if !cursors.iter().all(alike) {
            return;
        }
        // Classes as the second bytes of where their tables begin, where that is what they fit in.
        let mut scaled = [0; MOST_SCALED];
        let Some(scaled) = scaled.get_mut(..map.len()) else { return };
        let Some(by) = tables.bits().checked_sub(8) else { return };
        for (scaled, &class) in scaled.iter_mut().zip(map) {
            if class.leading_zeros() < by {
                return;
            }
            *scaled = class << by;
        }
        rows_by::<V, G, LEVELS>(tables, Some((cols, scaled)), cursors);
    }
}

/// # Safety
/// As [`rows`]; the classes of all groups are of this kind, with these levels of columns and this
/// map, scaled.
#[inline(always)]
unsafe fn rows_by<V: Lanes, const G: usize, const KIND: u8>(
    tables: Tables<'_>,
    levels: Option<(&[u8], &[u8])>,
    cursors: &mut [Cursor<'_>; G],
) {
    let (cols, map) = levels.unwrap_or_default();
    // SAFETY: the caller vouches for the instructions and for the slots that are looked up;
    // `safe_rows` has found 64 bytes of words a row, and 32 symbols. There are as many classes as
    // symbols, and `cols` are whole rows of lanes.
    unsafe {
        let bits = tables.bits();
        let constants = Constants {
            slots: tables.slots().as_ptr(),
            map: map.as_ptr(),
            bits: V::splat(bits),
            mask: V::splat((1 << bits) - 1),
            lower: V::splat(LOWER),
            nth: V::splat(NTH),
            // Unknown to the compiler, which else makes two instructions of one.
            second: std::hint::black_box(SECOND),
        };
        let mut states = [[V::splat(0); VECTORS]; G];
        let mut fixed = [V::splat(0); G];
        for ((states, fixed), cursor) in states.iter_mut().zip(&mut fixed).zip(&*cursors) {
            for (x, from) in states.iter_mut().zip(cursor.states.as_chunks().0) {
                *x = V::load(from);
            }
            if let Classes::One(class) = cursor.classes {
                *fixed = V::splat(u32::from(class) << bits);
            }
        }
        let mut col = if cols.is_empty() { 0 } else { cursors[0].written % cols.len() };
        loop {
            let mut rows = cursors.iter().map(Cursor::safe_rows).min().unwrap_or(0);
            if KIND == LEVELS {
                rows = rows.min((cols.len() - col) / LANES);
            }
            if rows == 0 {
                break;
            }
            let mut places = cursors.each_mut().map(|cursor| {
                let (classes, start) = match cursor.classes {
                    Classes::PerSymbol(classes) => {
                        (classes[cursor.written..].as_ptr(), std::ptr::null())
                    }
                    Classes::Levels(levels) => {
                        (std::ptr::null(), levels.starts[cursor.written / LANES..].as_ptr())
                    }
                    Classes::One(_) => (std::ptr::null(), std::ptr::null()),
                };
                let words = cursor.words[cursor.read..].as_ptr();
                let out = cursor.out[cursor.written..].as_mut_ptr();
                Place { words, out, classes, start }
            });
            let starts = places.map(|place| place.words);
            let (mut x, mut at) = (states, places);
            for row in 0..rows {
                let levels = |v: usize| {
                    let from = cols.as_ptr().add(col + row * LANES + v * WIDTH);
                    V::widen_bytes(&*from.cast()).byte_up()
                };
                let levels =
                    if KIND == LEVELS { [levels(0), levels(1)] } else { [V::splat(0); VECTORS] };
                // Written out, so that what changes stays in registers.
                macro_rules! step {
                    ($($g:literal)*) => {
                        $(if $g < G {
                            let bases = bases::<V, KIND>(&constants, fixed[$g % G], levels, &mut at[$g % G]);
                            step(&constants, bases, &mut x[$g % G], &mut at[$g % G]);
                        })*
                    };
                }
                step!(0 1 2 3);
            }
            (states, places) = (x, at);
            for ((cursor, place), start) in cursors.iter_mut().zip(&places).zip(starts) {
                cursor.read += place.words.offset_from_unsigned(start);
                cursor.written += rows * LANES;
            }
            col = if cols.is_empty() { 0 } else { (col + rows * LANES) % cols.len() };
        }
        for (states, cursor) in states.iter().zip(cursors) {
            for (x, to) in states.iter().zip(cursor.states.as_chunks_mut().0) {
                x.store(to);
            }
        }
    }
}

/// Where the tables of a row's symbols begin.
///
/// # Safety
/// As [`Lanes`] says; there is a row of classes at `place`.
#[inline(always)]
unsafe fn bases<V: Lanes, const KIND: u8>(
    constants: &Constants<V>,
    fixed: V,
    levels: [V; VECTORS],
    place: &mut Place,
) -> [V; VECTORS] {
    // SAFETY: as the caller vouches; starts leave a window of the map.
    unsafe {
        match KIND {
            PER_SYMBOL => {
                let classes = place.classes;
                place.classes = classes.add(LANES);
                [0, WIDTH]
                    .map(|v| V::widen_bytes(&*classes.add(v).cast()).shift_left(constants.bits))
            }
            LEVELS => {
                let window = &*constants.map.add(usize::from(*place.start)).cast();
                place.start = place.start.add(1);
                levels.map(|levels| levels.look_up(window, constants.second))
            }
            _ => [fixed; VECTORS],
        }
    }
}

/// The next row of a group.
///
/// # Safety
/// As [`Lanes`] says; 64 bytes to read from `place.words` on, 32 to write from `place.out` on, and
/// slots for what `bases` or'ed with the mask come to.
#[inline(always)]
unsafe fn step<V: Lanes>(
    constants: &Constants<V>,
    bases: [V; VECTORS],
    states: &mut [V; VECTORS],
    place: &mut Place,
) {
    // SAFETY: as the caller vouches; each vector takes 32 bytes of words at most.
    unsafe {
        let mut entries = bases;
        for (x, entry) in states.iter_mut().zip(&mut entries) {
            *entry = x.within_or(constants.mask, *entry).gather(constants.slots);
            let product = entry.down::<20>().mul(x.shift_right(constants.bits));
            *x = product.add(entry.and(constants.nth));
        }
        entries[0].store_symbols(entries[1], &mut *place.out.cast());
        place.out = place.out.add(LANES);
        for x in states.iter_mut() {
            let to = x.below(constants.lower);
            *x = x.take_words(to, &*place.words.cast());
            place.words = place.words.add(2 * to.count_ones() as usize);
        }
    }
    const { assert!(ROW_BYTES == 2 * LANES && VECTORS == 2) };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use real::{rows_1, rows_2, rows_4};

#[cfg(target_arch = "x86_64")]
mod real {
    use std::arch::x86_64::*;

    use super::{Cursor, Lanes, Tables, WIDTH, WINDOW, rows};

    /// An expression of intrinsics that touch no memory but whole arrays.
    macro_rules! intrinsics {
        ($e:expr) => {
            // SAFETY: the caller vouches for the instructions; arrays are as long as what is
            // loaded and stored.
            unsafe { $e }
        };
    }

    impl Lanes for __m512i {
        #[inline(always)]
        unsafe fn load(from: &[u32; WIDTH]) -> Self {
            intrinsics!(_mm512_loadu_si512(from.as_ptr().cast()))
        }
        #[inline(always)]
        unsafe fn store(self, to: &mut [u32; WIDTH]) {
            intrinsics!(_mm512_storeu_si512(to.as_mut_ptr().cast(), self));
        }
        #[inline(always)]
        unsafe fn splat(x: u32) -> Self {
            intrinsics!(_mm512_set1_epi32(x.cast_signed()))
        }
        #[inline(always)]
        unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self {
            intrinsics!(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.as_ptr().cast())))
        }
        #[inline(always)]
        unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self {
            intrinsics!({
                let window = _mm512_loadu_si512(window.as_ptr().cast());
                _mm512_maskz_permutexvar_epi8(second, self, window)
            })
        }
        #[inline(always)]
        unsafe fn gather(self, slots: *const u32) -> Self {
            // SAFETY: the caller vouches for the instruction, and that the slots are there.
            unsafe { _mm512_i32gather_epi32::<4>(self, slots.cast()) }
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            intrinsics!(_mm512_and_si512(self, other))
        }
        #[inline(always)]
        unsafe fn within_or(self, mask: Self, other: Self) -> Self {
            intrinsics!(_mm512_ternarylogic_epi32::<0xf8>(other, self, mask))
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            intrinsics!(_mm512_add_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            intrinsics!(_mm512_mullo_epi32(self, other))
        }
        #[inline(always)]
        unsafe fn down<const N: u32>(self) -> Self {
            intrinsics!(_mm512_srli_epi32::<N>(self))
        }
        #[inline(always)]
        unsafe fn shift_right(self, by: Self) -> Self {
            intrinsics!(_mm512_srlv_epi32(self, by))
        }
        #[inline(always)]
        unsafe fn byte_up(self) -> Self {
            intrinsics!(_mm512_slli_epi32::<8>(self))
        }
        #[inline(always)]
        unsafe fn shift_left(self, by: Self) -> Self {
            intrinsics!(_mm512_sllv_epi32(self, by))
        }
        #[inline(always)]
        unsafe fn below(self, other: Self) -> u16 {
            intrinsics!(_mm512_cmplt_epu32_mask(self, other))
        }
        #[inline(always)]
        unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self {
            intrinsics!({
                let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(words.as_ptr().cast()));
                let raised = _mm512_mask_slli_epi32::<16>(self, to, self);
                _mm512_or_si512(raised, _mm512_maskz_expand_epi32(to, words))
            })
        }
        #[inline(always)]
        unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]) {
            intrinsics!({
                // Those of `other` beside those of `self`, then both kinds together.
                let (first, second) =
                    (_mm512_srli_epi32::<12>(self), _mm512_srli_epi32::<4>(other));
                let low = _mm512_set1_epi32(0xff);
                let both = _mm512_ternarylogic_epi32::<0xca>(low, first, second);
                let bytes =
                    _mm512_permutexvar_epi8(_mm512_load_si512((&raw const ORDER).cast()), both);
                _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_castsi512_si256(bytes));
            });
        }
    }

    /// Where the bytes 4i and 4i + 1 go.
    static ORDER: Order = {
        let mut order = [0; 64];
        let (mut i, mut byte) = (0, 0);
        while i < WIDTH {
            (order[i], order[WIDTH + i]) = (byte, byte + 1);
            (i, byte) = (i + 1, byte + 4);
        }
        Order(order)
    };

    #[repr(C, align(64))]
    struct Order([u8; 64]);

    /// Whole rows of one group, as long as its words do not run out.
    ///
    /// # Safety
    /// Each class of the group has a table, and there are as many classes as symbols.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    pub(crate) unsafe fn rows_1(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 1]) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, 1>(tables, cursors) }
    }

    /// Whole rows of two groups, as long as neither's words or symbols run out.
    ///
    /// # Safety
    /// Each class of the groups has a table, and there are as many classes as symbols.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    pub(crate) unsafe fn rows_2(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 2]) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, 2>(tables, cursors) }
    }

    /// Whole rows of four groups, as long as none's words or symbols run out.
    ///
    /// # Safety
    /// Each class of the groups has a table, and there are as many classes as symbols.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2,popcnt"
    )]
    pub(crate) unsafe fn rows_4(tables: Tables<'_>, cursors: &mut [Cursor<'_>; 4]) {
        // SAFETY: as the caller vouches.
        unsafe { rows::<__m512i, 4>(tables, cursors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rans::tests::{cases, with_group, with_two};
    use crate::scalar::rans::finish;

    /// The operations in portable code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Model([u32; WIDTH]);

    impl Model {
        fn zip(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
            Model(std::array::from_fn(|i| f(self.0[i], other.0[i])))
        }
    }

    impl Lanes for Model {
        unsafe fn load(from: &[u32; WIDTH]) -> Self {
            Model(*from)
        }
        unsafe fn store(self, to: &mut [u32; WIDTH]) {
            *to = self.0;
        }
        unsafe fn splat(x: u32) -> Self {
            Model([x; WIDTH])
        }
        unsafe fn widen_bytes(from: &[u8; WIDTH]) -> Self {
            Model(from.map(u32::from))
        }
        unsafe fn look_up(self, window: &[u8; WINDOW], second: u64) -> Self {
            assert_eq!(second, SECOND);
            Model(self.0.map(|i| u32::from(window[(i >> 8 & 63) as usize]) << 8))
        }
        unsafe fn gather(self, slots: *const u32) -> Self {
            // SAFETY: the caller vouches for the slots.
            Model(self.0.map(|i| unsafe { *slots.add(i as usize) }))
        }
        unsafe fn and(self, other: Self) -> Self {
            self.zip(other, |a, b| a & b)
        }
        unsafe fn within_or(self, mask: Self, other: Self) -> Self {
            self.zip(mask, |a, b| a & b).zip(other, |a, b| a | b)
        }
        unsafe fn add(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_add)
        }
        unsafe fn mul(self, other: Self) -> Self {
            self.zip(other, u32::wrapping_mul)
        }
        unsafe fn down<const N: u32>(self) -> Self {
            Model(self.0.map(|x| x >> N))
        }
        unsafe fn shift_right(self, by: Self) -> Self {
            self.zip(by, |x, by| x >> by)
        }
        unsafe fn byte_up(self) -> Self {
            Model(self.0.map(|x| x << 8))
        }
        unsafe fn shift_left(self, by: Self) -> Self {
            self.zip(by, |x, by| x << by)
        }
        unsafe fn below(self, other: Self) -> u16 {
            (0..WIDTH).map(|i| u16::from(self.0[i] < other.0[i]) << i).sum()
        }
        unsafe fn take_words(self, to: u16, words: &[u8; 2 * WIDTH]) -> Self {
            let mut words = words.as_chunks::<2>().0.iter();
            Model(std::array::from_fn(|i| match to >> i & 1 {
                0 => self.0[i],
                _ => self.0[i] << 16 | u32::from(u16::from_le_bytes(*words.next().unwrap())),
            }))
        }
        unsafe fn store_symbols(self, other: Self, to: &mut [u8; 2 * WIDTH]) {
            let all = self.0.iter().chain(&other.0);
            to.iter_mut().zip(all).for_each(|(to, x)| *to = (x >> 12).to_le_bytes()[0]);
        }
    }

    #[test]
    fn the_kernels_on_the_model_agree_with_scalar() {
        let mut scaled = 0;
        for case in cases() {
            let scalar = case.decode(crate::dispatch::Simd::Scalar);
            let tables = Tables::new(&case.slots, case.bits).unwrap();
            let levels = matches!(case.classes(), Classes::Levels(_));
            let one = with_group(&case, |group| {
                let mut cursors = [Cursor::new(group)];
                // SAFETY: the model needs no instructions, and looks up what is there.
                unsafe { rows::<Model, 1>(tables, &mut cursors) };
                let [cursor] = cursors;
                assert!(cursor.safe_rows() == 0 || levels, "the vectors did their part");
                scaled += if levels { cursor.written } else { 0 };
                finish(tables, cursor)
            });
            assert_eq!(one, scalar, "{case:?}");
            let two = with_two(&case, &case, |two| {
                let mut cursors = two.map(Cursor::new);
                // SAFETY: as above.
                unsafe { rows::<Model, 2>(tables, &mut cursors) };
                cursors.map(|cursor| finish(tables, cursor))
            });
            assert_eq!(two, [scalar.clone(), scalar], "{case:?}");
        }
        assert!(scaled > 100_000, "levels of few enough classes");
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi1,bmi2")]
    unsafe fn compare() {
        use std::arch::x86_64::__m512i;
        let mut next = crate::delta::tests::noise(77);
        #[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
        for _ in 0..2000 {
            let mut numbers = || std::array::from_fn(|_| (next() as u32) >> (next() % 32));
            let (a, b): ([u32; WIDTH], [u32; WIDTH]) = (numbers(), numbers());
            let bytes: [u8; WIDTH] = std::array::from_fn(|_| next() as u8);
            let words: [u8; 2 * WIDTH] = std::array::from_fn(|_| next() as u8);
            let window: [u8; WINDOW] = std::array::from_fn(|_| next() as u8);
            let to = next() as u16;
            let slots: Vec<u32> = (0..64).map(|_| next() as u32).collect();
            // SAFETY: the caller vouches for the instructions; 64 slots are there.
            unsafe {
                let (x, y) = (__m512i::load(&a), __m512i::load(&b));
                let (mx, my) = (Model::load(&a), Model::load(&b));
                let few = (x.and(__m512i::splat(63)), mx.and(Model::splat(63)));
                let (by, mby) = (y.and(__m512i::splat(31)), my.and(Model::splat(31)));
                let pairs = [
                    (few.0.gather(slots.as_ptr()), few.1.gather(slots.as_ptr())),
                    (x.look_up(&window, SECOND), mx.look_up(&window, SECOND)),
                    (__m512i::widen_bytes(&bytes), Model::widen_bytes(&bytes)),
                    (x.within_or(y, few.0), mx.within_or(my, few.1)),
                    (x.add(y), mx.add(my)),
                    (x.down::<20>(), mx.down::<20>()),
                    (x.byte_up(), mx.byte_up()),
                    (x.mul(y), mx.mul(my)),
                    (x.shift_right(by), mx.shift_right(mby)),
                    (x.shift_left(by), mx.shift_left(mby)),
                    (x.take_words(to, &words), mx.take_words(to, &words)),
                ];
                assert_eq!(x.below(y), mx.below(my));
                let mut low = [[0; 2 * WIDTH]; 2];
                x.store_symbols(y, &mut low[0]);
                mx.store_symbols(my, &mut low[1]);
                assert_eq!(low[0], low[1]);
                for (i, (real, model)) in pairs.into_iter().enumerate() {
                    let mut out = [0; WIDTH];
                    real.store(&mut out);
                    assert_eq!(out, model.0, "operation {i}");
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_instructions_do_what_the_model_does() {
        if crate::dispatch::Simd::Avx512.is_available() {
            // SAFETY: as just asked.
            unsafe { compare() };
        } else {
            println!("no AVX-512 on this processor: nothing was compared");
        }
    }
}
