//! Which tensors belong together, and which weights share a scale.

use super::{Dtype, Names, TensorInfo};

/// The tensors that belong to a tensor of weights, by their places in the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    /// Its scales.
    pub scale: Option<usize>,
    /// Its zero points.
    pub zero: Option<usize>,
    /// What MLX adds to codes times scales.
    pub bias: Option<usize>,
    /// GPTQ's group of each input.
    pub g_idx: Option<usize>,
    /// Whether it is a sibling of another tensor itself. Then it has none: what explains others must decode on its own.
    pub explains: bool,
}

impl Siblings {
    /// Those that there are.
    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        [self.scale, self.zero, self.bias, self.g_idx].into_iter().flatten()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.each().next().is_none()
    }
}

/// Names of siblings for a name that ends so: the ending, then those of scales, zero points and
/// indices that replace it. The first that is there is taken.
type Family =
    (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const FAMILIES: [Family; 5] = [
    (".qweight", &[".scales"], &[".qzeros"], &[".g_idx"]),
    (".weight_packed", &[".weight_scale"], &[".weight_zero_point"], &[".weight_g_idx"]),
    ("_blocks", &["_scales"], &[], &[]),
    (
        ".weight",
        &[
            ".weight_scale",
            ".weight_scale_inv",
            ".SCB",
            ".weight.absmax",
            ".scales",
            ".scale",
            ".weight_scales",
        ],
        &[".weight_zero_point", ".zeros", ".zero_point", ".qzeros"],
        &[".weight_g_idx", ".g_idx"],
    ),
    (
        "",
        &["_scale", "_scales", ".scale", ".absmax", "_scale_inv"],
        &["_zero_point", ".zero_point"],
        &[],
    ),
];

pub(super) fn siblings(names: &Names<'_>, t: &TensorInfo) -> Siblings {
    let mut found = Siblings::default();
    for (ending, scales, zeros, indices) in FAMILIES {
        let Some(base) = t.name.strip_suffix(ending) else { continue };
        let first =
            |endings: &[&str]| endings.iter().find_map(|e| names.index(&format!("{base}{e}")));
        let (scale, zero, g_idx) = (first(scales), first(zeros), first(indices));
        let is_packed = t.dtype == Dtype::U32 && scale.is_some() && ending == ".weight";
        let bias = if is_packed { first(&[".biases"]) } else { None };
        found = Siblings { scale, zero, bias, g_idx, explains: false };
        if !found.is_empty() {
            break;
        }
    }
    found
}

/// How many rows and columns of a matrix of weights share each element of a scale of shape
/// `scale`; `None` where the shapes do not tell.
///
/// | scale | rows × columns |
/// |---|---|
/// | `[]`, `[1]`, `[1, 1]` | all |
/// | `[rows]`, `[rows, 1, …]` | 1 × all |
/// | `[1, cols]` | all × 1 |
/// | `[rows, groups]` | 1 × group |
/// | `[groups, cols]` | group × 1 |
/// | `[a, b]` | blocks |
/// | `[n]`, n a divisor | runs of a row, as of flattened weights |
pub fn scale_block(rows: u64, cols: u64, scale: &[u64]) -> Option<(u64, u64)> {
    if rows == 0 || cols == 0 || scale.contains(&0) {
        return None;
    }
    let (a, b) = match scale {
        [] => (1, 1),
        [n] if *n == 1 || *n == rows => (*n, 1),
        [n] => {
            let all = rows.checked_mul(cols)?;
            let run = (all.is_multiple_of(*n)).then_some(all / n)?;
            return (cols.is_multiple_of(run)).then_some((1, run));
        }
        [first, rest @ ..] => (*first, rest.iter().try_fold(1u64, |p, &d| p.checked_mul(d))?),
    };
    Some((share(rows, a)?, share(cols, b)?))
}

/// How many of `n` share each of `groups`: a divisor, or a power of two with the last group short.
fn share(n: u64, groups: u64) -> Option<u64> {
    if groups <= n && n.is_multiple_of(groups) {
        return Some(n / groups);
    }
    (0..63).map(|bit| 1u64 << bit).find(|size| n.div_ceil(*size) == groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_scales() {
        for (rows, cols, scale, want) in [
            (384, 1536, &[384, 1][..], Some((1, 1536))),
            (384, 1536, &[384, 12], Some((1, 128))),
            (1536, 384, &[12, 384], Some((128, 1))),
            (384, 1536, &[1], Some((384, 1536))),
            (384, 1536, &[384], Some((1, 1536))),
            (64, 27, &[64, 1, 1, 1], Some((1, 27))),
            (576, 7168, &[5, 56], Some((128, 128))),
            (100, 128, &[200], Some((1, 64))),
            (100, 128, &[7], None),
            (4, 96 * 128, &[4, 96, 2], Some((1, 64))),
            (100, 128, &[101, 1], None),
            (0, 128, &[1], None),
        ] {
            assert_eq!(scale_block(rows, cols, scale), want, "{rows} × {cols}, {scale:?}");
        }
    }
}
