//! Serde form of a map by [`Work`]: a list of pairs, since some formats take only text as keys.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Work;

pub(super) fn serialize<S: Serializer, T: Serialize>(
    map: &BTreeMap<Work, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(map)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Work, T>, D::Error> {
    let mut map = BTreeMap::new();
    for (work, value) in Vec::<(Work, T)>::deserialize(deserializer)? {
        if map.contains_key(&work) {
            return Err(D::Error::custom(format_args!("{work} is listed twice")));
        }
        map.insert(work, value);
    }
    Ok(map)
}
