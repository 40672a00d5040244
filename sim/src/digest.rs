//! stand-in
use crate::world::World;
use std::fmt;
/// stand-in
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u128);
impl Digest {
    /// stand-in
    #[must_use]
    pub fn new() -> Self {
        Self(0)
    }
    /// stand-in
    pub fn step(&mut self, _: &str, _: &World, _: &World) {}
}
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
