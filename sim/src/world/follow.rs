//! A world that follows a run which somebody else drives: the shell, under its own store.
//!
//! It is told what happened, in the order in which it happened, and gives the same inputs to
//! machines of its own. So what carries the production machines elsewhere is judged by the checks
//! that judge a world, and told in the same words. What the machines of the run and these answer is
//! the same, or the follower is [astray](Astray).

use std::collections::BTreeSet;
use std::sync::Arc;

use handover_core::journal::HostInput;
use handover_core::{
    Acknowledgement, Change, Chunk, Effect, ExecutorEffect, HostId, Input, Ledger, Priority,
    Refusal, Seq, Settings, SignOff, Version, View, Work,
};

use super::{
    ArbiterIndex, Event, Fact, Life, Link, Place, RealEnd, RunningBuild, Step, StepKind, Who, World,
};

/// All commits of a run that is followed go through the one store.
const STORE: ArbiterIndex = ArbiterIndex(0);

/// What happened, as whoever drives the run saw it.
#[derive(Clone, Debug)]
pub enum News {
    /// A process has made its host, and nothing has happened to it yet.
    Booted {
        /// Who it is.
        host: HostId,
        /// What it runs.
        version: Version,
        /// How early it wants to be elected.
        priority: Priority,
        /// Of its executor.
        settings: Settings,
        /// The book that its executor recovered from.
        ledger: Option<Ledger>,
    },
    /// A host was given an input.
    Heard(Who, HostInput),
    /// A host was told how an order went.
    Acknowledged(Who, Effect, Acknowledgement),
    /// The disk of a host has this row, whatever its process was told.
    Wrote(Who, ExecutorEffect),
    /// What a build leaves behind is stored.
    Stored(Who, Work),
    /// A build really runs.
    Runs {
        /// Where.
        who: Who,
        /// Which.
        work: Work,
        /// The chunks that it is to sign off.
        plan: BTreeSet<Chunk>,
    },
    /// A build has really signed a chunk off.
    Signed(Who, Work, Chunk, SignOff),
    /// Nothing of a build runs any more.
    Over {
        /// Where.
        who: Who,
        /// Which.
        work: Work,
        /// By itself, well or not; `None`: it was stopped.
        clean: Option<bool>,
    },
    /// The success of this build owes a drain, whether its host was told so or not.
    Owes(Who, Work),
    /// The store has committed a change.
    Committed {
        /// Whose change.
        from: Who,
        /// What was committed.
        change: Arc<Change>,
        /// What was folded into it, in this order; nothing: it was only settled.
        inputs: Vec<Input>,
        /// Whom the folder suspected.
        suspects: BTreeSet<HostId>,
    },
    /// The record refused an input.
    Refused(Who, Input, Refusal),
    /// The disk of a process is lost, with all that was written there.
    DiskLost(Who),
    /// A process died.
    Crashed(Who),
    /// A process ended in order.
    Exited(Who),
}

/// The run does what the machines of the core do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Astray(pub String);

/// What a piece of news was: the event of a world that is nearest to it, and its name.
#[derive(Clone, Debug)]
pub struct Followed {
    /// For the checks. Of what no event is, [`Event::Heal`].
    pub event: Event,
    /// The command of the scenario language where there is one.
    pub name: String,
}

impl World {
    /// Takes a piece of news, and says what it brought about.
    ///
    /// # Errors
    /// If no machine of the core does that.
    pub fn hear(&mut self, news: News, facts: &mut Vec<Fact>) -> Result<Followed, Astray> {
        match news {
            News::Booted { host, version, priority, settings, ledger } => {
                Ok(self.follow_boot(&host, &version, (priority, settings, ledger), facts))
            }
            News::Heard(who, input) => {
                let named = self.named(heard(who, &input), || text_of(&input), who);
                self.follow_input(who, input, facts);
                Ok(named)
            }
            News::Acknowledged(who, effect, outcome) => {
                Ok(self.follow_acknowledgement(who, &effect, outcome, facts))
            }
            News::Wrote(who, order) => Ok(self.follow_write(who, &order, facts)),
            News::Stored(who, work) => {
                let named = self.said(who, &format!("artifacts of {work} are stored"));
                Arc::make_mut(&mut self.process_mut(who).artifacts).insert(work);
                Ok(named)
            }
            News::Runs { who, work, plan } => {
                let named = self.said(who, &format!("{work} runs"));
                self.follow_start(who, work, plan, facts);
                Ok(named)
            }
            News::Signed(who, work, chunk, sign_off) => {
                let named = self.said(who, &format!("{chunk} of {work} is {sign_off:?}"));
                if let Some(build) = Arc::make_mut(&mut self.process_mut(who).builds).get_mut(&work)
                {
                    build.signed_off.insert(chunk, sign_off);
                }
                Ok(named)
            }
            News::Over { who, work, clean } => {
                let named = self.said(who, &format!("{work} is over"));
                self.follow_end(who, work, clean, facts);
                Ok(named)
            }
            News::Owes(who, work) => {
                let named = self.said(who, &format!("{work} owes a drain"));
                if let Work::Local(build) = work
                    && !self.process(who).host.executor().is_draining()
                {
                    Arc::make_mut(&mut self.process_mut(who).owes_drain).insert(build);
                }
                Ok(named)
            }
            News::Committed { from, change, inputs, suspects } => {
                self.follow_commit(from, &change, inputs, &suspects, facts)
            }
            News::Refused(who, input, refusal) => {
                let named = self.named(self.told(who, &input), || format!("{input:?}"), who);
                facts.push(Fact::Refused { arbiter: STORE, input: Arc::new(input), refusal });
                Ok(named)
            }
            News::Crashed(who) => {
                let named = self.named(Some(Event::Crash(who)), String::new, who);
                if self.process(who).lives() {
                    self.crash(who, facts);
                }
                Ok(named)
            }
            News::DiskLost(who) => {
                let named = self.named(Some(Event::LoseDisk(who)), String::new, who);
                self.lose_disk(who);
                Ok(named)
            }
            News::Exited(who) => {
                let named = self.said(who, "ends in order");
                self.process_mut(who).life = Life::Exited;
                facts.push(Fact::Exited { who });
                Ok(named)
            }
        }
    }

    /// The scenario command of an event, else words of our own.
    fn named(&self, event: Option<Event>, text: impl FnOnce() -> String, who: Who) -> Followed {
        match event {
            Some(event) => Followed { name: self.name_of(&event), event },
            None => self.said(who, &text()),
        }
    }

    fn said(&self, who: Who, text: &str) -> Followed {
        Followed { event: Event::Heal, name: format!("# {}: {text}", self.label(who)) }
    }

    fn follow_boot(
        &mut self,
        host: &HostId,
        version: &Version,
        (priority, settings, ledger): (Priority, Settings, Option<Ledger>),
        facts: &mut Vec<Fact>,
    ) -> Followed {
        let place = Place {
            name: host.name.clone(),
            version: version.clone(),
            slots: settings.slots(),
            priority,
            pinned: settings.pinned(),
            up: false,
        };
        let last = self.newest(&host.name).map(|who| self.process(who));
        let disk = last.map(|last| (last.artifacts.clone(), last.ended.clone()));
        let who = self.start_process(&place, version, Some(host.incarnation), ledger);
        if let Some((artifacts, ended)) = disk {
            let process = self.process_mut(who);
            process.artifacts = artifacts;
            process.ended = ended;
        }
        facts.push(Fact::Booted { who, id: host.clone() });
        self.with_host(who, facts, |_| ());
        let event = Event::Boot { name: host.name.clone(), version: Some(version.clone()) };
        Followed { name: format!("boot {}:{version}", host.name), event }
    }

    fn follow_input(&mut self, who: Who, input: HostInput, facts: &mut Vec<Fact>) {
        let before = self.process(who).host.id().clone();
        let at = facts.len();
        let view = if let HostInput::View(view) = &input {
            Some(Arc::new(View::clone(view)))
        } else {
            None
        };
        if let HostInput::ComeBack { incarnation } = &input {
            let used = self.oracle.used.get(&before.name).copied().unwrap_or_default();
            let used = used.max(*incarnation);
            Arc::make_mut(&mut self.oracle).used.insert(before.name.clone(), used);
            self.process_mut(who).said = Seq(0);
        }
        let taken = self.with_host(who, facts, |host| host.replay(input));
        if let Some(view) = view {
            if taken {
                self.process_mut(who).shown = Some(Arc::clone(&view));
            }
            let refused = (!taken).then_some("NotNewer");
            facts.insert(at, Fact::Read { who, view, refused });
        }
        let id = self.process(who).host.id().clone();
        if id != before {
            facts.insert(at, Fact::CameBack { who, before, id });
        }
        self.clear_link(who);
    }

    fn follow_acknowledgement(
        &mut self,
        who: Who,
        effect: &Effect,
        outcome: Acknowledgement,
        facts: &mut Vec<Fact>,
    ) -> Followed {
        let event = Step::of(effect).map(|step| Event::Step { who, step });
        let named = self.named(event, || format!("{effect:?} is {outcome:?}"), who);
        let process = self.process_mut(who);
        if let Some(at) = process.orders.iter().position(|order| order == effect) {
            process.orders.remove(at);
        }
        if let Effect::Executor(ExecutorEffect::Stop { work }) = effect
            && let Some(build) = Arc::make_mut(&mut process.builds).get_mut(work)
        {
            build.stopping = true;
        }
        self.with_host(who, facts, |host| host.acknowledge(effect, outcome));
        if let Effect::Executor(order) = effect
            && outcome == Acknowledgement::Done
        {
            self.note_debt(who, order);
        }
        self.clear_link(who);
        named
    }

    fn follow_write(
        &mut self,
        who: Who,
        order: &ExecutorEffect,
        facts: &mut Vec<Fact>,
    ) -> Followed {
        let effect = Effect::Executor(order.clone());
        let step = Step::of(&effect);
        let work = step.as_ref().and_then(|step| step.work.clone());
        let kind = step.map_or(StepKind::StoreEntry, |step| step.kind);
        let wrote = super::driver::what_it_writes(&effect);
        let named = self.said(who, &format!("its disk has {}", wrote.unwrap_or("nothing new")));
        Arc::make_mut(&mut self.process_mut(who).ledger).write(order);
        facts.push(Fact::Performed { who, kind, work, wrote });
        named
    }

    fn follow_start(&mut self, who: Who, work: Work, plan: BTreeSet<Chunk>, facts: &mut Vec<Fact>) {
        let process = self.process_mut(who);
        Arc::make_mut(&mut process.ended).remove(&work);
        Arc::make_mut(&mut process.workspaces).insert(work.clone());
        let build = RunningBuild { plan, ..RunningBuild::default() };
        Arc::make_mut(&mut process.builds).insert(work.clone(), build);
        facts.push(Fact::BuildRuns { who, work });
    }

    fn follow_end(&mut self, who: Who, work: Work, clean: Option<bool>, facts: &mut Vec<Fact>) {
        let host = self.process(who).host.id().clone();
        let builds = Arc::make_mut(&mut self.process_mut(who).builds);
        let Some(build) = builds.remove(&work) else { return };
        let Some(clean) = clean else {
            facts.push(Fact::BuildStopped { who, work });
            return;
        };
        Arc::make_mut(&mut self.process_mut(who).ended).insert(work.clone(), clean);
        if let Work::Granted(grant) = &work {
            let is_clean = |(chunk, sign_off): (&Chunk, &SignOff)| {
                (*sign_off == SignOff::Clean).then(|| chunk.clone())
            };
            let signed_off = build.signed_off.iter().filter_map(is_clean).collect();
            let end = RealEnd { host, clean, plan: build.plan, signed_off };
            Arc::make_mut(&mut self.history).ended.insert(*grant, end);
        }
        facts.push(Fact::BuildEnded { who, work, clean });
    }

    /// The change must be what the core makes of its inputs, one after another, on what is
    /// committed.
    fn follow_commit(
        &mut self,
        from: Who,
        change: &Change,
        inputs: Vec<Input>,
        suspects: &BTreeSet<HostId>,
        facts: &mut Vec<Fact>,
    ) -> Result<Followed, Astray> {
        let revision = change.revision;
        let mut expected = self.committed().clone();
        expected.apply(change).map_err(|error| Astray(format!("{revision}: {error}")))?;
        let event = inputs.first().and_then(|input| self.told(from, input));
        let mut named = self.named(event, || "settles".to_owned(), from);
        for input in inputs.iter().skip(1).filter_map(|input| self.told(from, input)) {
            named.name = format!("{}; {}", named.name, self.name_of(&input));
        }
        if inputs.is_empty() {
            let settled = self.committed().settle(suspects);
            let settled = settled.ok_or_else(|| Astray(format!("{revision} settles nothing")))?;
            self.commit(STORE, &Arc::new(settled), None, facts);
        }
        for input in inputs {
            let folded = self.committed().fold(&input, suspects).map_err(|refusal| {
                Astray(format!("{revision} was committed for {input:?}, refused: {refusal}"))
            })?;
            self.commit(STORE, &Arc::new(folded), Some(&Arc::new(input)), facts);
        }
        if *self.committed() == expected {
            return Ok(named);
        }
        Err(Astray(format!("{revision} is not what the core makes of its inputs")))
    }

    /// The event by which an input reaches the record.
    fn told(&self, from: Who, input: &Input) -> Option<Event> {
        Some(match input {
            Input::Statement(statement) => {
                let from = self.by_id(&statement.host).unwrap_or(from);
                Event::Deliver { from, to: STORE }
            }
            Input::Gone(host) => Event::Gone(self.by_id(host)?),
            Input::Lapse { grant } => Event::Lapse(*grant),
            Input::Cancel { grant, reason, then } => {
                Event::Cancel { grant: *grant, then: *then, reason: reason.clone() }
            }
            Input::Revoke { grant, reason } => {
                Event::Revoke { grant: *grant, reason: reason.clone() }
            }
            Input::Retry { version, grant } => {
                Event::Retry { version: version.clone(), grant: *grant }
            }
        })
    }

    /// What is said goes by the run's own ways.
    fn clear_link(&mut self, who: Who) {
        if !self.link(who).statements.is_empty() {
            *self.link_mut(who) = Link::default();
        }
    }
}

/// The event by which a host hears an input.
fn heard(who: Who, input: &HostInput) -> Option<Event> {
    Some(match input {
        HostInput::Ask => Event::Ask(who),
        HostInput::Watch => Event::Watch(who),
        HostInput::StandDown => Event::StandDown { who, after: false },
        HostInput::StandDownAfter => Event::StandDown { who, after: true },
        HostInput::Submit { build, parent, drains } => Event::Submit {
            who,
            build: build.clone(),
            parent: parent.clone(),
            drains: drains.as_ref().map(|request| request.end),
        },
        HostInput::Cancel { build } => Event::CancelBuild { who, build: build.clone() },
        HostInput::Drain(request) => Event::Drain {
            who,
            term: request.term,
            end: request.end,
            at_deadline: request.at_deadline,
        },
        HostInput::Undrain => Event::Undrain(who),
        HostInput::Deadline => Event::Deadline(who),
        HostInput::Interrupt => Event::Interrupt(who),
        HostInput::View(_) => Event::Read(who),
        HostInput::Plan { plan, .. } => Event::Plan { who, chunks: Some(plan.clone()) },
        HostInput::SignOff { chunk, sign_off, .. } => {
            let failed = *sign_off != SignOff::Clean;
            Event::SignOff { who, chunk: chunk.clone(), failed }
        }
        HostInput::BuildEnd { work, end } => {
            let failed = match end {
                handover_core::End::Succeeded => None,
                handover_core::End::Failed(reason) => Some(reason.clone()),
            };
            Event::BuildEnds { who, work: work.clone(), failed }
        }
        HostInput::BuildStop { work } => Event::BuildStops { who, work: work.clone() },
        HostInput::ComeBack { .. } => {
            Event::Step { who, step: Step { kind: StepKind::Return, work: None } }
        }
        HostInput::Unreadable(_) | HostInput::NoPlan { .. } => return None,
    })
}

/// What has no command.
fn text_of(input: &HostInput) -> String {
    if let HostInput::Unreadable(why) = input {
        return format!("cannot read the record: {why}");
    }
    if let HostInput::NoPlan { grant } = input {
        return format!("makes no plan for {grant}");
    }
    format!("{input:?}")
}
