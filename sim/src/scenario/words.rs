//! A line as words: takes one after the other and says what would have been valid.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::limits;
use super::token::{NAME, Problem, Token, is_name, list, number_range, split};
use super::{Arbiter, Grant, HostRef, Keyword, Link, Target, Work};

/// What the head of the file tells the parser about names.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// The hosts of `hosts`.
    pub(super) booted: BTreeSet<String>,
    /// The hosts of `idle`.
    pub(super) idle: BTreeSet<String>,
    /// The versions of `hosts` and `idle`, and those that a boot of the file brings.
    pub(super) versions: BTreeSet<String>,
    /// Whether these are all there is: false where their lines cannot be read, so that one
    /// mistake there is not reported again at each command.
    pub(super) complete: bool,
    /// Whether `record2` exists.
    pub(super) two_arbiters: bool,
    /// The protocols that exist.
    pub(super) variants: &'a [&'a str],
    /// The protocols that the head runs.
    pub(super) under: BTreeSet<String>,
}

/// The words of one line, without its comment.
#[derive(Debug)]
pub(super) struct Words<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    end: usize,
    pub(super) names: &'a Names<'a>,
}

impl<'a> Words<'a> {
    /// The words of `line`, which begins the line of the file.
    pub(super) fn new(line: &'a str, names: &'a Names<'a>) -> Self {
        let line = line.trim_end();
        Self { tokens: split(line, 0, |_| false), next: 0, end: line.len(), names }
    }

    /// The next word, not taken.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// Takes the next word if it is `word`.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let is = self.peek().is_some_and(|token| token.text == word);
        self.next += usize::from(is);
        is
    }

    /// Takes the next word; `valid` says what could stand here.
    pub(super) fn take(&mut self, valid: &str) -> Result<Token<'a>, Problem> {
        let token = self.peek().ok_or_else(|| self.missing(valid))?;
        self.next += 1;
        Ok(token)
    }

    /// Takes exactly `word`.
    pub(super) fn exactly(&mut self, word: &str) -> Result<(), Problem> {
        if self.accept(word) {
            return Ok(());
        }
        let valid = format!("`{word}`");
        let token = self.take(&valid)?;
        Err(token.problem(valid).near([word]))
    }

    /// Refuses words that are left over.
    pub(super) fn end(&self) -> Result<(), Problem> {
        self.peek().map_or(Ok(()), |token| Err(token.problem("the end of the line")))
    }

    /// From here on `punctuation` separates words and counts as words.
    pub(super) fn split_at(&mut self, punctuation: &[char]) {
        let rest = self.tokens.split_off(self.next);
        let rest = rest.into_iter();
        self.tokens.extend(
            rest.flat_map(|token| split(token.text, token.start, |c| punctuation.contains(&c))),
        );
    }

    /// The words that are left, with one space between; none if there is none.
    pub(super) fn rest(&mut self) -> Option<String> {
        let words = self.rest_words();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The words that are left.
    pub(super) fn rest_words(&mut self) -> Vec<String> {
        let rest = self.tokens.get(self.next..).unwrap_or_default();
        self.next = self.tokens.len();
        rest.iter().map(|token| token.text.to_owned()).collect()
    }

    /// A word of a fixed few.
    pub(super) fn keyword<K: Keyword>(&mut self) -> Result<K, Problem> {
        self.keyword_or(&[]).map(|found| found.expect("no other word was allowed"))
    }

    /// A word of a fixed few, or none of them but one of `others`.
    pub(super) fn keyword_or<K: Keyword>(&mut self, others: &[&str]) -> Result<Option<K>, Problem> {
        let words: Vec<&str> =
            others.iter().copied().chain(K::ALL.iter().map(|value| value.word())).collect();
        let valid = list(&words);
        let token = self.take(&valid)?;
        match K::ALL.iter().find(|value| value.word() == token.text) {
            Some(value) => Ok(Some(*value)),
            None if others.contains(&token.text) => Ok(None),
            None => Err(token.problem(valid).near(words)),
        }
    }

    /// A word of a fixed few, if it comes next.
    pub(super) fn optional_keyword<K: Keyword>(&mut self) -> Option<K> {
        let token = self.peek()?;
        let found = K::ALL.iter().find(|value| value.word() == token.text)?;
        self.next += 1;
        Some(*found)
    }

    /// `yes` or `no`.
    pub(super) fn yes(&mut self) -> Result<bool, Problem> {
        if self.accept("yes") {
            return Ok(true);
        }
        let valid = list(&["yes", "no"]);
        if self.accept("no") {
            return Ok(false);
        }
        let token = self.take(&valid)?;
        Err(token.problem(valid).near(["yes", "no"]))
    }

    /// A number; `what` names it.
    pub(super) fn number(
        &mut self,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u32, Problem> {
        let token = self.take(&number_range(what, &range))?;
        token.small(what, range)
    }

    /// A known host: `b`, `b.2`.
    pub(super) fn host(&mut self) -> Result<HostRef, Problem> {
        let token = self.take(&self.hosts())?;
        let (name, incarnation) = match token.cut('.') {
            None => (token, None),
            Some((name, number)) => {
                let number = number.number("an incarnation", limits::INCARNATION)?;
                (name, Some(number))
            }
        };
        Ok(HostRef { name: self.known_host(name)?, incarnation })
    }

    /// A known host's name, as part of `token`.
    pub(super) fn known_host(&self, token: Token<'a>) -> Result<String, Problem> {
        let (booted, idle) = (&self.names.booted, &self.names.idle);
        if !self.names.complete || booted.contains(token.text) || idle.contains(token.text) {
            return Ok(token.text.to_owned());
        }
        let known = booted.union(idle).map(String::as_str);
        Err(token.problem(self.hosts()).near(known))
    }

    /// `record` or `record2`.
    pub(super) fn arbiter(&mut self) -> Result<Arbiter, Problem> {
        let valid = list(self.arbiters());
        let token = self.take(&valid)?;
        match token.text {
            "record" => Ok(Arbiter::First),
            "record2" if self.names.two_arbiters => Ok(Arbiter::Second),
            "record2" => Err(token.problem(valid).note("`record2` needs the header `arbiters 2`")),
            _ => Err(token.problem(valid).near(self.arbiters().iter().copied())),
        }
    }

    /// An arbiter, by default the first.
    pub(super) fn optional_arbiter(&mut self) -> Result<Arbiter, Problem> {
        self.peek().map_or(Ok(Arbiter::First), |_| self.arbiter())
    }

    /// `HOST -> record` or `record -> HOST`.
    pub(super) fn link(&mut self) -> Result<Link, Problem> {
        let valid = "a link: `HOST -> record` or `record -> HOST`";
        let token = self.peek().ok_or_else(|| self.missing(valid))?;
        if token.text.contains("->") && token.text != "->" {
            return Err(token.problem(valid).note("a space stands on each side of `->`"));
        }
        if token.is_arbiter() {
            let arbiter = self.arbiter()?;
            self.exactly("->")?;
            return Ok(Link::FromRecord(arbiter, self.host()?));
        }
        let host = self.host()?;
        self.exactly("->")?;
        Ok(Link::ToRecord(host, self.arbiter()?))
    }

    /// A link, or an arbiter by itself.
    pub(super) fn target(&mut self) -> Result<Target, Problem> {
        let alone = self.next + 1 == self.tokens.len();
        if alone && self.peek().is_some_and(Token::is_arbiter) {
            return self.arbiter().map(Target::Arbiter);
        }
        self.link().map(Target::Link)
    }

    /// `g1`.
    pub(super) fn grant(&mut self) -> Result<Grant, Problem> {
        let valid = "a grant, as `g1`";
        let token = self.take(valid)?;
        if !token.is_grant() {
            return Err(token.problem(valid));
        }
        let number = Token { text: &token.text[1..], start: token.start + 1 };
        number.number("a grant", limits::GRANT).map(Grant)
    }

    /// A build by its id.
    pub(super) fn build(&mut self) -> Result<String, Problem> {
        let valid = "a build, as `x1`";
        let token = self.take(valid)?;
        if !is_name(token.text) || token.is_grant() || token.text == "none" {
            return Err(token.problem(valid).note(NAME));
        }
        Ok(token.text.to_owned())
    }

    /// A build by its id or its grant, if `of` comes next.
    pub(super) fn optional_work(&mut self) -> Result<Option<Work>, Problem> {
        if !self.accept("of") {
            return Ok(None);
        }
        if self.peek().is_some_and(|token| token.is_grant()) {
            return Ok(Some(Work::Grant(self.grant()?)));
        }
        Ok(Some(Work::Build(self.build()?)))
    }

    /// A chunk.
    pub(super) fn chunk(&mut self) -> Result<String, Problem> {
        let valid = "a chunk, as `base`";
        let token = self.take(valid)?;
        if !is_name(token.text) {
            return Err(token.problem(valid).note(NAME));
        }
        Ok(token.text.to_owned())
    }

    /// Chunks up to the end of the line.
    pub(super) fn chunks(&mut self) -> Result<Vec<String>, Problem> {
        self.list(|words| words.chunk())
    }

    /// A version that some host runs at some time.
    pub(super) fn version(&mut self) -> Result<String, Problem> {
        let known = &self.names.versions;
        let words: Vec<&str> = known.iter().map(String::as_str).collect();
        let valid = match words.as_slice() {
            [] => "a version, as `v1`".to_owned(),
            [..] => format!("a version: {}", list(&words)),
        };
        let token = self.take(&valid)?;
        let version = token.version()?;
        if !self.names.complete || known.contains(&version) {
            return Ok(version);
        }
        Err(token.problem(valid).near(words).note("no host of this file ever runs it"))
    }

    /// Whatever `item` takes, up to the end of the line; nothing twice.
    pub(super) fn list<T: PartialEq>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let mut items = vec![];
        while let Some(token) = self.peek() {
            let taken = item(self)?;
            if items.contains(&taken) {
                return Err(token.again("each once"));
            }
            items.push(taken);
        }
        Ok(items)
    }

    /// As [`Words::list`], but not empty; `valid` says of what.
    pub(super) fn some<T: PartialEq>(
        &mut self,
        valid: &str,
        item: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        self.peek().ok_or_else(|| self.missing(valid))?;
        self.list(item)
    }

    /// The end of the line where `valid` should stand.
    pub(super) fn missing(&self, valid: &str) -> Problem {
        Problem {
            span: self.end..self.end,
            found: "the end of the line".to_owned(),
            valid: valid.to_owned(),
            nearest: None,
            note: None,
            form: None,
        }
    }

    fn hosts(&self) -> String {
        let hosts = self.names.booted.union(&self.names.idle);
        let hosts: Vec<&str> = hosts.map(String::as_str).collect();
        if hosts.is_empty() { "a host".to_owned() } else { format!("a host: {}", list(&hosts)) }
    }

    const fn arbiters(&self) -> &'static [&'static str] {
        if self.names.two_arbiters { &["record", "record2"] } else { &["record"] }
    }
}
