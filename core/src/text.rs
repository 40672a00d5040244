//! The text under a name: short ones are kept in place.
//!
//! Names are cloned with every row, view and statement, and compared with every lookup. In place, a
//! clone is a copy of three words and a comparison one of two numbers; behind a shared pointer each
//! would touch a count that all threads of a search share.

use alloc::sync::Arc;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

/// The longest text that is kept in place, in bytes; the byte behind it is the length.
const SHORT_MAX: usize = 15;

/// A text that never changes. Invariant: `Short` exactly if it has at most [`SHORT_MAX`] bytes, the
/// bytes between text and length being 0.
#[derive(Clone)]
pub(crate) enum Text {
    Short([u8; SHORT_MAX + 1]),
    Long(Arc<str>),
}

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        match u8::try_from(bytes.len()) {
            Ok(length) if bytes.len() <= SHORT_MAX => {
                let mut short = [0; SHORT_MAX + 1];
                short[..bytes.len()].copy_from_slice(bytes);
                short[SHORT_MAX] = length;
                Self::Short(short)
            }
            Ok(_) | Err(_) => Self::Long(text.into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Short(_) => {
                core::str::from_utf8(self.as_bytes()).expect("the bytes of a text, all of them")
            }
            Self::Long(text) => text,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(short) => &short[..usize::from(short[SHORT_MAX])],
            Self::Long(text) => text.as_bytes(),
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Short(one), Self::Short(other)) => one == other,
            (Self::Long(one), Self::Long(other)) => one == other,
            (Self::Short(_), Self::Long(_)) | (Self::Long(_), Self::Short(_)) => false,
        }
    }
}

impl Eq for Text {}

/// The order of the texts. Of two short ones the bytes decide, padding included: it is below every
/// byte of a text but 0, and a text that goes on with that is the longer one.
impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Short(one), Self::Short(other)) => {
                u128::from_be_bytes(*one).cmp(&u128::from_be_bytes(*other))
            }
            (Self::Short(_) | Self::Long(_), _) => self.as_bytes().cmp(other.as_bytes()),
        }
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Short(short) => state.write(short),
            Self::Long(text) => text.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_ordered_and_told_apart_as_str_does(
            one in "[\\x00ab\u{e9}]{0,20}", other in "[\\x00ab\u{e9}]{0,20}",
        ) {
            let (text, text_of_other) = (Text::new(&one), Text::new(&other));
            prop_assert_eq!(text.as_str(), &one);
            prop_assert_eq!(text.cmp(&text_of_other), one.cmp(&other));
            prop_assert_eq!(text == text_of_other, one == other);
        }
    }
}
