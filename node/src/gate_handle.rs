//! The serve gate, for a readiness probe.

use std::fmt;
use std::sync::Arc;

use handover_core::Gate;

use crate::machine::Machine;
use crate::node::NodeEnded;
use crate::shared::{Guarded, Shared};

/// The serve gate of a node (Ca8): open, waiting, blocked or unknown, each with its reason. A clone
/// is the same gate; it may go to any thread.
#[derive(Clone)]
pub struct GateHandle {
    pub(crate) shared: Arc<Shared<Machine>>,
}

impl GateHandle {
    /// The gate now. Never blocks: it waits neither for I/O nor for a lock that another holds.
    #[must_use]
    pub fn read(&self) -> Gate {
        self.shared.gate()
    }

    /// Is it open? Unknown is not.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.read().is_open()
    }

    /// Ends once the gate is open. Cancel safe: it only looks.
    ///
    /// # Errors
    /// If the node ends before.
    pub async fn opened(&self) -> Result<(), NodeEnded> {
        let look = |machine: &mut Machine| {
            if machine.gate().is_open() {
                return Some(Ok(()));
            }
            machine.is_ended().then_some(Err(NodeEnded))
        };
        self.shared.until(look).await
    }
}

impl fmt::Debug for GateHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GateHandle({})", self.read())
    }
}
