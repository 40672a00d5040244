//! A part that clones share until one of them changes it.

use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};

/// Reads as what it holds; the first change through one of several clones copies it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    fn clone_from(&mut self, source: &Self) {
        if !self.is_one_with(source) {
            *self = source.clone();
        }
    }
}

/// As `clone_from`, which for an option drops what is there and clones what is not.
pub(crate) fn follow<T: Clone>(here: &mut Option<T>, there: &Option<T>) {
    match (here, there) {
        (None, None) => {}
        (Some(here), Some(there)) => here.clone_from(there),
        (here, there) => *here = there.clone(),
    }
}

/// The same for what is shared: nothing is counted where the two are one already.
pub(crate) fn follow_shared<T>(here: &mut Option<Arc<T>>, there: &Option<Arc<T>>) {
    let same = match (&*here, there) {
        (None, None) => true,
        (Some(here), Some(there)) => Arc::ptr_eq(here, there),
        (Some(_), None) | (None, Some(_)) => false,
    };
    if !same {
        here.clone_from(there);
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(part: T) -> Self {
        Self(Arc::new(part))
    }

    /// Are the two still one?
    pub(crate) fn is_one_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Shared<T> {
    pub(crate) fn into_inner(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for Shared<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Shared<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::new)
    }
}
