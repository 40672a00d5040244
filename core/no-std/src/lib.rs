//! Proves by compiling that `handover-core`, with its `serde` feature, needs no std.
//!
//! std has a panic handler, and a program may have only one. This crate defines its own; as soon
//! as core or a dependency of core links std, rustc ends with "found duplicate lang item
//! `panic_impl`". To see it fail, put `extern crate std;` into `core/src/lib.rs`, or add `"std"`
//! to the features of `serde` in the workspace's `Cargo.toml`, and build this crate.
//!
//! Nothing here is ever run.
#![no_std]

extern crate alloc;

use alloc::collections::BTreeSet;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use handover_core::{Change, HostId, Input, Priority, Record, RecordId, Refusal};
use handover_core::{Seq, Standing, Statement, Version};
use serde::{Deserialize, Serialize};

/// What a store keeps and a journal records: serializable, and bound to no bytes that it came from.
fn stored<T: Serialize + for<'de> Deserialize<'de>>(value: T) -> T {
    value
}

/// One step of an arbiter, so that core is really linked and not only resolved.
///
/// # Errors
/// As [`Record::fold`].
pub fn first_asking(name: &str) -> Result<Change, Refusal> {
    let statement = Statement {
        host: HostId::new(name, 1),
        version: Version::new("v1"),
        seq: Seq(1),
        standing: Standing::Asking { priority: Priority(0) },
    };
    let input = stored(Input::Statement(statement));
    Record::new(RecordId(1)).fold(&input, &BTreeSet::new()).map(stored)
}

/// An allocator that never has memory. A library that is linked with nothing has to name one, and
/// the trait is unsafe by its definition; null is the answer that the contract allows to all.
struct NoMemory;

// SAFETY: `alloc` returns null, which the contract reads as "no memory"; so `dealloc` is never
// called with a pointer from here, and it touches nothing.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _pointer: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn panicked(_info: &PanicInfo<'_>) -> ! {
    loop {}
}
