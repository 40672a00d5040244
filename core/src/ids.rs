//! The numbers and names of the protocol, each a type of its own.
//!
//! Numbers decide, names are for people: a grant, an incarnation, a sequence and a revision are
//! compared; a name is only looked up.

use core::fmt;

use crate::text::Text;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Text);

        impl $name {
            /// Takes the text as it is; no text is refused, none is changed.
            #[must_use]
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Text::new(text.as_ref()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Text::new(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_newtype_struct(stringify!($name), self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                alloc::string::String::deserialize(from).map(Self::new)
            }
        }
    };
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub $inner);

        impl $name {
            /// The next number; numbers only grow.
            ///
            /// # Panics
            /// After `MAX` steps: a number that wrapped would be reused.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0.checked_add(1).expect("a number of the protocol is never reused"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

text_id! {
    /// A place where processes live, stable over boots: a node, a slot, an ordinal.
    Name
}

text_id! {
    /// The exact identity of what a host runs. Equality is the only comparison.
    Version
}

text_id! {
    /// A part of a build that is signed off by itself.
    Chunk
}

text_id! {
    /// Why something was done or went wrong, for people; nothing decides by it.
    Reason
}

text_id! {
    /// A build in an executor's ledger.
    BuildId
}

text_id! {
    /// A drain of one executor; a stronger request keeps the id of the drain that it strengthens.
    DrainId
}

number_id! {
    /// The life of a name: grows at each boot, is never reused.
    Incarnation, u64, ""
}

number_id! {
    /// Numbers a host's statements; each change of standing takes the next.
    Seq, u64, ""
}

number_id! {
    /// Numbers the states of the record; each accepted input makes the next.
    Revision, u64, "r"
}

number_id! {
    /// The number of a hand-over, never reused: the fencing token.
    GrantId, u64, "g"
}

number_id! {
    /// A place in the order of those who ask; lower is earlier.
    Ticket, u64, "t"
}

number_id! {
    /// A wish to be elected earlier; higher is earlier.
    Priority, u32, "p"
}

/// The record's own identity, drawn at its creation: a record that was deleted and made anew has
/// another, though all its numbers may look alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct RecordId(pub u128);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One process of one version: a place and a life of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId {
    /// The place.
    pub name: Name,
    /// The life.
    pub incarnation: Incarnation,
}

impl HostId {
    /// The host of this name in this life.
    #[must_use]
    pub fn new(name: impl Into<Name>, incarnation: u64) -> Self {
        Self { name: name.into(), incarnation: Incarnation(incarnation) }
    }
}

/// `b`, and `b.2` from the second life on.
impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.incarnation <= Incarnation(1) {
            fmt::Display::fmt(&self.name, f)
        } else {
            write!(f, "{}.{}", self.name, self.incarnation)
        }
    }
}

impl fmt::Debug for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// In a text format `b.2`, so that it can be a key; in a binary one the name and the number.
#[cfg(feature = "serde")]
impl serde::Serialize for HostId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{}.{}", self.name, self.incarnation))
        } else {
            serde::Serialize::serialize(&(&self.name, self.incarnation), serializer)
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for HostId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            let (name, incarnation) = serde::Deserialize::deserialize(from)?;
            return Ok(Self { name, incarnation });
        }
        let text = alloc::string::String::deserialize(from)?;
        let parts = text.rsplit_once('.');
        let parsed = parts.and_then(|(name, number)| Some((name, number.parse().ok()?)));
        let (name, number) = parsed.ok_or_else(|| {
            serde::de::Error::custom(format_args!(
                "{text:?} is not a host: write name.incarnation, as in b.2"
            ))
        })?;
        Ok(Self::new(name, number))
    }
}
