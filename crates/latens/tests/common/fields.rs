//! Files written field by field.

/// Appends fields bit by bit, the least significant bit first.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    bits: usize,
}

impl Fields {
    /// The low `count` bits of `value`.
    pub fn field(mut self, value: u64, count: usize) -> Self {
        for i in 0..count {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = if i < 64 { (value >> i & 1) as u8 } else { 0 };
            *self.bytes.last_mut().unwrap_or(&mut 0) |= bit << (self.bits % 8);
            self.bits += 1;
        }
        self
    }

    /// Whole bytes; the position must be on a byte.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        assert!(self.bits.is_multiple_of(8), "not on a byte");
        self.bytes.extend_from_slice(bytes);
        self.bits += 8 * bytes.len();
        self
    }

    /// Zeros to the end of the byte.
    pub fn pad(self) -> Self {
        self.pad_with(0)
    }

    /// The low bits of `value` to the end of the byte, of which there must be some.
    pub fn pad_with(self, value: u64) -> Self {
        let count = self.bits.wrapping_neg() % 8;
        assert!(value == 0 || count > 0, "nothing to pad here");
        self.field(value, count)
    }

    /// Where the next field begins, in whole bytes.
    pub fn byte(&self) -> u64 {
        self.bits as u64 / 8
    }

    /// `pco!`, standalone version 3, a uniform type or 0, the count hint, format 4.1.
    pub fn head(uniform: u8, hint: u64) -> Self {
        let p = (64 - hint.leading_zeros()).max(1) as usize;
        Self::default()
            .bytes(b"pco!")
            .bytes(&[3, uniform])
            .field(p as u64 - 1, 6)
            .field(hint, p)
            .pad()
            .bytes(&[4, 1])
    }

    /// Type byte and count of a chunk.
    pub fn chunk(self, type_byte: u8, n: u64) -> Self {
        self.field(u64::from(type_byte), 8).field(n - 1, 24)
    }

    /// A latent variable of `k` bits: log, count of bins, then (weight, lower, offset bits) each.
    pub fn variable(self, k: usize, log: u64, bins: &[(u64, u64, u64)]) -> Self {
        let width = k.ilog2() as usize + 1;
        let this = self.field(log, 4).field(bins.len() as u64, 15);
        bins.iter().fold(this, |this, &(weight, lower, offset_bits)| {
            this.field(weight - 1, log as usize).field(lower, k).field(offset_bits, width)
        })
    }

    /// The terminator; the file.
    pub fn end(self) -> Vec<u8> {
        self.bytes(&[0]).bytes
    }

    /// The bytes so far.
    pub fn done(self) -> Vec<u8> {
        self.bytes
    }
}
