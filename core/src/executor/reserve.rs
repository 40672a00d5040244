//! The slot of the record's build: reserved before the offer is accepted, released exactly once
//! (Ho1, Ho2, Ho5). For the host that composes the executor with a candidate.

use super::{
    BuildState, CandidateWait, Entry, Executor, ReserveRefusal, Stage, StartRefusal, Task, Work,
};
use crate::ids::GrantId;

impl Executor {
    /// For the host only. Ho1: the gate read, a slot taken and counted as in flight, in one step.
    /// Where the candidate stands in the queue it leaves it, and takes the slot that it may have
    /// been handed. A reservation is not durable.
    ///
    /// # Errors
    /// The gate is closed, no slot is free, or one is reserved already. Nothing is changed.
    pub fn reserve(&mut self) -> Result<(), ReserveRefusal> {
        if self.state.reserved {
            return Err(ReserveRefusal::Already);
        }
        if self.is_draining() {
            return Err(ReserveRefusal::Closed);
        }
        match self.state.candidate {
            CandidateWait::Handed { .. } => {}
            CandidateWait::Absent | CandidateWait::Waiting { .. } => {
                self.state.free = self.state.free.checked_sub(1).ok_or(ReserveRefusal::Full)?;
            }
        }
        self.state.candidate = CandidateWait::Absent;
        self.state.reserved = true;
        Ok(())
    }

    /// For the host only. Ho1: the candidate waits in the queue like a build. Nothing where it
    /// waits already or has its reservation.
    pub fn enqueue_candidate(&mut self) {
        if self.state.reserved || self.state.candidate != CandidateWait::Absent {
            return;
        }
        let place = self.state.ledger.take_place();
        self.state.candidate = CandidateWait::Waiting { place, parked: false };
        self.hand_out_slots();
    }

    /// For the host only. The candidate leaves the queue; a slot that it was handed goes to the
    /// next.
    pub fn dequeue_candidate(&mut self) {
        if let CandidateWait::Handed { .. } = self.state.candidate {
            self.state.free += 1;
        }
        self.state.candidate = CandidateWait::Absent;
        self.hand_out_slots();
    }

    /// For the host only. Ho5: gives the reserved slot back; says whether there was one.
    pub fn release_reservation(&mut self) -> bool {
        if !self.state.reserved {
            return false;
        }
        self.state.reserved = false;
        self.state.free += 1;
        self.hand_out_slots();
        true
    }

    /// For the host only. Ho2: the gate is read again, and the reservation becomes the running
    /// build of this grant.
    ///
    /// # Errors
    /// The gate is closed, nothing is reserved, or work of this grant is unfinished here. The
    /// reservation is released, and nothing starts. A row of finished work of the same grant is of
    /// a record that was replaced since, for a record never gives a grant twice; it is overwritten.
    pub fn start_reserved(&mut self, grant: GrantId) -> Result<(), StartRefusal> {
        let work = Work::Granted(grant);
        if !self.state.reserved {
            return Err(StartRefusal::NotReserved);
        }
        if self.is_draining() || self.state.tasks.contains_key(&work) {
            let closed = self.is_draining();
            self.release_reservation();
            return Err(if closed { StartRefusal::Closed } else { StartRefusal::Known });
        }
        self.state.reserved = false;
        let entry = Entry {
            state: BuildState::Pending,
            attempts: 0,
            place: self.state.ledger.take_place(),
            parent: None,
            drains: None,
            admitted_by: None,
        };
        let mut task = Task::new(entry, Stage::Handed);
        task.own_slot = true;
        task.admit(&self.state.version);
        self.state.tasks.insert(work, task);
        Ok(())
    }

    /// For the host only. Stops work on the record's word, as a cancel; says whether there was
    /// anything to stop. The slot stays held until the driver says that it has ended or stopped
    /// (Ho5).
    pub fn stop(&mut self, work: &Work) -> bool {
        self.cancel_work(work).is_ok()
    }
}
