//! Tensors that the host decodes.

use latens::wcodec::view::{Form, Layout, Values};
use latens::wcodec::{Content, Part, Plane};
use latens::{Error, Result};

/// A tensor all of whose parts were decoded on the host.
pub(super) fn on_the_host(layout: &Layout, parts: Vec<Vec<u8>>, values: bool) -> Result<Vec<u8>> {
    let forms = layout.parts();
    let skipped = forms.len().saturating_sub(parts.len());
    let parts: Vec<Part> = forms
        .iter()
        .skip(skipped)
        .zip(parts)
        .map(|(form, data)| {
            let content = match form.form {
                Form::Symbols { bits, cols } => {
                    let cols = usize::try_from(cols).unwrap_or(usize::MAX);
                    let rows = data.len().checked_div(cols).unwrap_or(0);
                    Content::Symbols(Plane { rows, cols, bits, data })
                }
                Form::Words { width, float, .. } => Content::Words { width, float, data },
                Form::Raw { .. } => Content::Raw(data),
            };
            Part { role: form.role, content }
        })
        .collect();
    if !values {
        return layout.join(parts);
    }
    let weights = parts.into_iter().next_back().map(|p| p.content);
    let (Some(Content::Symbols(plane)), Some(meaning)) = (weights, layout.meaning()) else {
        return Err(Error::invalid("the weights are not symbols"));
    };
    Ok(match meaning.values(plane.data) {
        Values::Signed(values) => values.into_iter().map(i8::cast_unsigned).collect(),
        Values::Unsigned(bytes) | Values::Words(bytes) => bytes,
    })
}
