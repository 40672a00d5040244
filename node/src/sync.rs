//! What `shared` is written against; a test compiles that file against another one of these.

pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock};

/// Between two tries of something that is free in a moment.
pub(crate) fn spin() {
    std::hint::spin_loop();
}
