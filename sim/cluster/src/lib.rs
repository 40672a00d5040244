//! The shell of `handover-node` in a simulated cluster: each host a node of madsim that runs the
//! very code that ships, the store and membership nodes of their own, and everything between them
//! slow, lossy and out of order.
//!
//! One seed is one run. Everything that a run does is drawn from the seed, by madsim's generator
//! (who is polled next, how long a message takes) and by ours (what goes wrong, how long a build
//! takes); nothing else decides, so a seed is the same run each time.
//!
//! madsim's simulator is behind `--cfg madsim`, which `.cargo/config.toml` sets. Without it this
//! crate is empty.

/// What to do where the cfg is lost.
pub const CFG_IS_LOST: &str = "madsim's simulator is behind `--cfg madsim`, which \
     .cargo/config.toml sets, and this build was made without it. A RUSTFLAGS or \
     CARGO_ENCODED_RUSTFLAGS variable replaces what that file says: unset it, or add \
     `--cfg madsim` to it";

#[cfg(madsim)]
mod bell;
#[cfg(madsim)]
mod clock;
#[cfg(madsim)]
mod cluster;
#[cfg(madsim)]
mod disk;
#[cfg(madsim)]
mod faults;
#[cfg(madsim)]
mod figures;
#[cfg(madsim)]
mod judge;
#[cfg(madsim)]
mod oracle;
#[cfg(madsim)]
mod pace;
#[cfg(madsim)]
mod place;
#[cfg(madsim)]
mod report;
#[cfg(madsim)]
mod run;
#[cfg(madsim)]
mod scenes;
#[cfg(madsim)]
mod shells;
#[cfg(madsim)]
mod store;
#[cfg(madsim)]
mod sweep;
#[cfg(madsim)]
mod wire;
#[cfg(madsim)]
mod work;

#[cfg(madsim)]
pub use figures::{Boots, HandOver, boots, hand_over};
#[cfg(madsim)]
pub use judge::{Failure, PLACES_MAX, Told};
#[cfg(madsim)]
pub use report::{keep, report};
#[cfg(madsim)]
pub use run::{Outcome, Plan, exported, run, tell};
#[cfg(madsim)]
pub use scenes::Scene;
#[cfg(madsim)]
pub use shells::Shell;
#[cfg(madsim)]
pub use sweep::{Sweep, seeds_of_environment, sweep};
