//! Parts of one kind, each once.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::index::Index;
use super::super::parts::{Named, PartOf};

/// What a part takes besides its bytes.
const PART_BYTES: usize = size_of::<Box<[u8]>>() + size_of::<Named>() + size_of::<u64>() + 16;

/// What a part takes that is open, about.
const OPEN_BYTES: usize = 4 << 10;

/// When more parts than this are open, all are closed: the next questions are mostly about others.
const OPEN_MAX: usize = 4_096;

/// Parts of one kind, each once, as bytes: what is made of them once is looked up from then on.
/// Those that questions are about are open, for the same few are asked about again and again.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    ids: Index<u128>,
    /// What each adds to the fingerprint, for each way to seat the places.
    pub(super) prints: Vec<u128>,
    pub(super) numbers: Vec<Named>,
    pub(super) ballots: Vec<u64>,
    parts: Vec<Box<[u8]>>,
    bytes: usize,
    open: BTreeMap<u32, T>,
}

impl<T: Serialize + DeserializeOwned> Shelf<T> {
    pub(super) fn new() -> Self {
        Self {
            ids: Index::new(),
            prints: Vec::new(),
            numbers: Vec::new(),
            ballots: Vec::new(),
            parts: Vec::new(),
            bytes: 0,
            open: BTreeMap::new(),
        }
    }

    pub(super) fn put(&mut self, part: PartOf<T>) -> u32 {
        let next = u32::try_from(self.parts.len()).expect("fewer parts than states");
        let Some(content) = part.content else {
            return self.ids.find(part.key).expect("a part that is known has a number");
        };
        if let Some(known) = self.ids.find_or_insert(part.key, next) {
            return known;
        }
        self.prints.extend(content.prints);
        self.numbers.push(content.numbers);
        self.ballots.push(content.ballot);
        self.bytes += content.bytes.len();
        self.parts.push(content.bytes);
        next
    }

    /// Opens these parts.
    pub(super) fn open(&mut self, ids: impl Iterator<Item = u32>) {
        if self.open.len() > OPEN_MAX {
            self.open.clear();
        }
        for id in ids {
            self.open.entry(id).or_insert_with(|| {
                let decoded = postcard::from_bytes(&self.parts[id as usize]);
                decoded.expect("what was encoded is decoded")
            });
        }
    }

    /// A part that is open.
    pub(super) fn part(&self, id: u32) -> &T {
        self.open.get(&id).expect("what a question is about is open")
    }

    pub(super) fn bytes(&self) -> usize {
        let prints = self.prints.len() * size_of::<u128>();
        let open = self.open.len() * OPEN_BYTES;
        self.ids.bytes() + prints + self.parts.len() * PART_BYTES + self.bytes + open
    }

    pub(super) fn is_known(&self, key: u128) -> bool {
        self.ids.find(key).is_some()
    }
}
