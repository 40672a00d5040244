//! What the head of a scenario sets, with the defaults filled in.

use super::{Ending, Header, HostNumber, HostVersion};

/// A host as the head describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSetup {
    /// The place.
    pub name: String,
    /// What it runs at its first boot.
    pub version: String,
    /// Whether it is up at the start; otherwise `boot` starts it.
    pub booted: bool,
    /// The slots of its executor; default 1.
    pub slots: u32,
    /// The priority with which it asks; default 0, higher is earlier.
    pub priority: u32,
    /// Whether its builds are forbidden to drain it (rule Ex7).
    pub pinned: bool,
}

/// The scene of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The hosts in the order of the text, those of `hosts` before those of `idle`.
    pub hosts: Vec<HostSetup>,
    /// The plan of each build.
    pub chunks: Vec<String>,
    /// How many arbiters share the record: 1 or 2.
    pub arbiters: u32,
    /// Each command is one atomic step: nothing follows it by itself.
    pub single_steps: bool,
    /// The protocols that the scenario runs under, each with the ending that it must have.
    pub endings: Vec<(String, Ending)>,
}

impl Setup {
    /// The scene that `headers` set. A host named by `slots`, `priority` or `pinned` alone is none.
    #[must_use]
    pub fn from_headers<'a>(headers: impl Iterator<Item = &'a Header> + Clone) -> Self {
        let mut setup = Self {
            hosts: vec![],
            chunks: vec![],
            arbiters: 1,
            single_steps: false,
            endings: vec![],
        };
        for header in headers.clone() {
            setup.add_hosts(header, true);
        }
        for header in headers.clone() {
            setup.add_hosts(header, false);
        }
        for header in headers {
            setup.apply(header);
        }
        setup
    }

    /// The headers that set this scene; a header that would only repeat defaults is left out.
    #[must_use]
    pub fn headers(&self) -> Vec<Header> {
        let hosts = |booted| -> Vec<HostVersion> {
            self.hosts
                .iter()
                .filter(|host| host.booted == booted)
                .map(|host| HostVersion { name: host.name.clone(), version: host.version.clone() })
                .collect()
        };
        let numbers = |default, number: fn(&HostSetup) -> u32| -> Vec<HostNumber> {
            self.hosts
                .iter()
                .filter(|host| number(host) != default)
                .map(|host| HostNumber { name: host.name.clone(), number: number(host) })
                .collect()
        };
        let pinned = self.hosts.iter().filter(|host| host.pinned);
        let lists = [
            Header::Hosts(hosts(true)),
            Header::Idle(hosts(false)),
            Header::Chunks(self.chunks.clone()),
            Header::Slots(numbers(1, |host| host.slots)),
            Header::Priority(numbers(0, |host| host.priority)),
            Header::Pinned(pinned.map(|host| host.name.clone()).collect()),
        ];
        let mut headers: Vec<Header> = lists.into_iter().filter(|list| !list.is_empty()).collect();
        if self.arbiters != 1 {
            headers.push(Header::Arbiters(self.arbiters));
        }
        if self.single_steps {
            headers.push(Header::SingleSteps);
        }
        headers.extend(
            self.endings.iter().map(|(variant, ending)| Header::Under {
                variant: variant.clone(),
                ending: *ending,
            }),
        );
        headers
    }

    /// The host of this name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&HostSetup> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The ending that the head demands under `variant`; none if the scenario is not about it.
    #[must_use]
    pub fn ending(&self, variant: &str) -> Option<Ending> {
        self.endings.iter().find(|(name, _)| name == variant).map(|(_, ending)| *ending)
    }

    fn add_hosts(&mut self, header: &Header, booted: bool) {
        let hosts = match header {
            Header::Hosts(hosts) if booted => hosts,
            Header::Idle(hosts) if !booted => hosts,
            Header::Hosts(_)
            | Header::Idle(_)
            | Header::Chunks(_)
            | Header::Slots(_)
            | Header::Priority(_)
            | Header::Arbiters(_)
            | Header::Pinned(_)
            | Header::SingleSteps
            | Header::Under { .. } => return,
        };
        self.hosts.extend(hosts.iter().map(|host| HostSetup {
            name: host.name.clone(),
            version: host.version.clone(),
            booted,
            slots: 1,
            priority: 0,
            pinned: false,
        }));
    }

    fn apply(&mut self, header: &Header) {
        match header {
            Header::Hosts(_) | Header::Idle(_) => {}
            Header::Chunks(chunks) => self.chunks.clone_from(chunks),
            Header::Slots(slots) => {
                for each in slots {
                    self.change(&each.name, |host| host.slots = each.number);
                }
            }
            Header::Priority(priorities) => {
                for each in priorities {
                    self.change(&each.name, |host| host.priority = each.number);
                }
            }
            Header::Arbiters(arbiters) => self.arbiters = *arbiters,
            Header::SingleSteps => self.single_steps = true,
            Header::Pinned(names) => {
                for name in names {
                    self.change(name, |host| host.pinned = true);
                }
            }
            Header::Under { variant, ending } => self.endings.push((variant.clone(), *ending)),
        }
    }

    fn change(&mut self, name: &str, change: impl FnOnce(&mut HostSetup)) {
        if let Some(host) = self.hosts.iter_mut().find(|host| host.name == name) {
            change(host);
        }
    }
}
