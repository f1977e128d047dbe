//! What there is of each of the four widths of latents: one of them, known at run time.

#[derive(Clone, Debug)]
pub(super) enum Widths<A, B, C, D> {
    W8(A),
    W16(B),
    W32(C),
    W64(D),
}

/// Evaluates an expression with `$v` bound to what is inside.
macro_rules! with_width {
    ($widths:expr, $v:ident => $body:expr) => {
        match $widths {
            Widths::W8($v) => $body,
            Widths::W16($v) => $body,
            Widths::W32($v) => $body,
            Widths::W64($v) => $body,
        }
    };
}

/// The same, and what comes of it is of that width.
macro_rules! map_width {
    ($widths:expr, $v:ident => $body:expr) => {
        match $widths {
            Widths::W8($v) => Widths::W8($body),
            Widths::W16($v) => Widths::W16($body),
            Widths::W32($v) => Widths::W32($body),
            Widths::W64($v) => Widths::W64($body),
        }
    };
}

/// What an expression makes with `$L` standing for the latents of a number type.
macro_rules! of_width {
    ($ty:expr, $L:ident => $body:expr) => {
        match $ty.bits() {
            8 => {
                type $L = u8;
                Widths::W8($body)
            }
            16 => {
                type $L = u16;
                Widths::W16($body)
            }
            32 => {
                type $L = u32;
                Widths::W32($body)
            }
            _ => {
                type $L = u64;
                Widths::W64($body)
            }
        }
    };
}

pub(super) use {map_width, of_width, with_width};
