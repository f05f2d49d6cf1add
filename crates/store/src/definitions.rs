//! The definitions of servers' tools that were seen and approved. There is one row for each definition, in the normal form in
//! which definitions are compared. This module must not know how definitions are compared.
//!
//! This file is separate from the file of catalogues, although both contain similar texts: catalogues can be
//! fetched again, but if an approval were lost, whatever the server lists next would be approved. So this file is
//! never replaced, no approval expires, and a new server is refused rather than an old one deleted. Servers are
//! found by digests that depend on the folder's key, so the file opens only with the key with which it was written.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::Error;
use crate::catalogues::ServerDigest;
use crate::database::{Database, Purpose, counted, kept};
use crate::vault::VaultKey;

mod approvals;
mod exchange;
mod rows;

pub use approvals::{ApprovedDefinition, ServerApprovals, ToolApproval};
use rows::MOST_APPROVED;
pub use rows::{
    ApprovalRefused, ApprovalRequest, FIRST_SIGHT, ListedDefinitions, NewDefinition, RecordedServer,
    StoredDefinition,
};

/// The file's name in its folder.
const FILE: &str = "definitions.db";

/// The maximum number of servers.
const MOST_SERVERS: i64 = 4096;

/// The number of digits of a revision.
const REVISION: usize = 32;

const FIRST: &str = "
    CREATE TABLE servers (
        server BLOB PRIMARY KEY,
        name TEXT NOT NULL,
        audiences TEXT NOT NULL, -- numbers, separated by spaces
        seen_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE definitions (
        id INTEGER PRIMARY KEY,
        server BLOB NOT NULL REFERENCES servers ON DELETE CASCADE,
        tool TEXT NOT NULL,
        fingerprint BLOB NOT NULL,
        body BLOB NOT NULL,
        first_seen_ms INTEGER NOT NULL,
        listed INTEGER NOT NULL, -- 1 if the server's newest list has it
        approved_ms INTEGER,
        approved_by TEXT,
        UNIQUE (server, tool, fingerprint)
    ) STRICT;
";

const SECOND: &str = "
    ALTER TABLE servers ADD COLUMN incomplete INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE key_check (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        digest BLOB NOT NULL -- a digest that depends on the folder's key
    ) STRICT;
";

const THIRD: &str = "
    ALTER TABLE definitions ADD COLUMN unlisted_ms INTEGER; -- the time at which the server stopped listing it
    ALTER TABLE definitions ADD COLUMN tool_seen_ms INTEGER NOT NULL DEFAULT 0; -- the time at which the tool was first listed
    UPDATE definitions SET tool_seen_ms = (
        SELECT min(every.first_seen_ms) FROM definitions AS every
        WHERE every.server = definitions.server AND every.tool = definitions.tool
    );
";

/// The value of `listed` while a list is being stored: the definition was listed until now.
const LISTED_BEFORE: i64 = 2;

const PURPOSE: Purpose =
    Purpose { mark: 0x6467_6D64, steps: &[FIRST, SECOND, THIRD], durable: true, examined: true };

/// The file of definitions. Several processes may open it at once.
#[derive(Debug)]
pub struct Definitions {
    file: Database,
    key: VaultKey,
}

impl Definitions {
    /// Opens the file in this folder, and creates it if it is missing; `fresh` becomes the folder's key if there is none.
    ///
    /// # Errors
    /// Fails if the file or the key cannot be used.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        Self::of(Database::open(&folder.join(FILE), &PURPOSE)?, folder, fresh)
    }

    /// Opens the file, if it exists.
    ///
    /// # Errors
    /// Fails in the same cases as [`Definitions::open`].
    pub fn open_existing(folder: &Path, fresh: &[u8; 32]) -> Result<Option<Self>, Error> {
        let file = Database::open_existing(&folder.join(FILE), &PURPOSE)?;
        file.map(|file| Self::of(file, folder, fresh)).transpose()
    }

    fn of(mut file: Database, folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        file.read(|file| file.execute_batch("PRAGMA foreign_keys = ON"))?;
        file.read(|file| file.execute_batch(exchange::SHARED))?;
        let key = VaultKey::of(folder, fresh)?;
        check_key(&mut file, &key)?;
        Ok(Self { file, key })
    }

    /// The digest of a server.
    pub fn digest(&self, server: &[u8]) -> ServerDigest {
        self.key.digest("definitions", server)
    }

    /// A code for everything that awaits approval. The code changes whenever one of these definitions does. It
    /// depends on the folder's key, so a server cannot choose definitions whose code equals that of other
    /// definitions.
    pub fn revision(&self, all: &[StoredDefinition]) -> String {
        revision(&self.key, all)
    }

    /// Returns true if the file contains this server, or has room for another one.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn has_room(&self, server: &ServerDigest) -> Result<bool, Error> {
        self.file.read(|file| has_room(file, server))
    }

    /// A number that changes when another process, or another connection, changes the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn version(&self) -> Result<i64, Error> {
        self.file.number("PRAGMA data_version")
    }

    /// The servers, sorted by the time at which their lists were stored, the latest first.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn servers(&self) -> Result<Vec<RecordedServer>, Error> {
        let query = "SELECT server, name, audiences, incomplete FROM servers ORDER BY seen_ms DESC, name";
        self.file.read(|file| file.prepare_cached(query)?.query_map([], server)?.collect())
    }

    /// The server with this digest.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn server(&self, digest: &ServerDigest) -> Result<Option<RecordedServer>, Error> {
        self.file.read(|file| recorded(file, digest))
    }

    /// The definitions of a server by tool, approved ones first. If `with_bodies` is true, the definitions themselves are read as
    /// well.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of_server(
        &self,
        server: &ServerDigest,
        with_bodies: bool,
    ) -> Result<Vec<StoredDefinition>, Error> {
        self.file.read(|file| stored(file, server, with_bodies))
    }

    /// Stores what a server lists. Definitions that are neither listed nor approved are deleted. Returns false if the file has
    /// no room for the server.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn record(
        &mut self,
        server: &ServerDigest,
        now: &ListedDefinitions,
        now_ms: u64,
    ) -> Result<bool, Error> {
        self.file.write(|file| {
            if !has_room(file, server)? {
                return Ok(false);
            }
            let audiences: Vec<String> = now.audiences.iter().map(u32::to_string).collect();
            let sql = "INSERT INTO servers (server, name, audiences, incomplete, seen_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (server) DO UPDATE SET name = excluded.name, audiences = excluded.audiences,
                           incomplete = max(incomplete, excluded.incomplete), seen_ms = excluded.seen_ms";
            let audiences = audiences.join(" ");
            file.execute(sql, params![server, now.name, audiences, now.incomplete, kept(now_ms)])?;
            exchange::begin(file, server, now_ms)?;
            for one in &now.new {
                insert(file, server, one, now_ms)?;
            }
            let sql = "UPDATE definitions SET listed = ?2 WHERE server = ?1 AND listed = 1";
            file.execute(sql, params![server, LISTED_BEFORE])?;
            let sql = "UPDATE definitions SET listed = 1, unlisted_ms = NULL
                       WHERE server = ?1 AND tool = ?2 AND fingerprint = ?3";
            let mut list = file.prepare_cached(sql)?;
            for (tool, fingerprint) in &now.listed {
                list.execute(params![server, tool, fingerprint])?;
            }
            let sql = "UPDATE definitions SET listed = 0, unlisted_ms = ?3 WHERE server = ?1 AND listed = ?2";
            file.execute(sql, params![server, LISTED_BEFORE, kept(now_ms)])?;
            let sql = "DELETE FROM definitions WHERE server = ?1 AND listed = 0 AND approved_ms IS NULL";
            file.execute(sql, [server])?;
            Ok(true)
        })
    }

    /// Approves what a server lists now for some of its tools. Other approved definitions of these tools are deleted, and so
    /// are tools that the server no longer lists. Returns the names of the tools.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or the request is refused; then nothing has changed.
    pub fn approve(
        &mut self,
        server: &ServerDigest,
        request: ApprovalRequest<'_>,
        now_ms: u64,
    ) -> Result<Result<Vec<String>, ApprovalRefused>, Error> {
        let Self { file, key } = self;
        file.write(|file| {
            let all = stored(file, server, false)?;
            let tools = match approvable(key, &all, request) {
                Ok(tools) => tools,
                Err(refused) => return Ok(Err(refused)),
            };
            for tool in &tools {
                let sql = "DELETE FROM definitions WHERE server = ?1 AND tool = ?2 AND listed = 0";
                file.execute(sql, params![server, tool])?;
                let sql = "UPDATE definitions SET approved_ms = ?3, approved_by = ?4
                           WHERE server = ?1 AND tool = ?2 AND approved_ms IS NULL";
                file.execute(sql, params![server, tool, kept(now_ms), request.by])?;
                exchange::note_decision(file, (server, tool), (request.by, now_ms))?;
            }
            Ok(Ok(tools))
        })
    }
}

/// The tools that a request approves.
fn approvable(
    key: &VaultKey,
    all: &[StoredDefinition],
    request: ApprovalRequest<'_>,
) -> Result<Vec<String>, ApprovalRefused> {
    let now = revision(key, all);
    if request.revision.is_some_and(|reviewed| reviewed != now) {
        return Err(ApprovalRefused::Outdated(now));
    }
    let open: HashMap<&str, &[StoredDefinition]> = open_tools(all).collect();
    let tools: Vec<String> = match request.tools {
        None => open_tools(all).map(|(tool, _)| tool.to_owned()).collect(),
        Some(named) => named.to_vec(),
    };
    for tool in &tools {
        let Some(own) = open.get(tool.as_str()) else { return Err(ApprovalRefused::Unknown(tool.clone())) };
        if own.iter().filter(|one| one.is_listed).count() > MOST_APPROVED {
            return Err(ApprovalRefused::TooMany(tool.clone()));
        }
    }
    Ok(tools)
}

/// Checks that the file was written with this key. If it was not, no server would be found in it, and everything would be
/// approved again.
fn check_key(file: &mut Database, key: &VaultKey) -> Result<(), Error> {
    fn stored_check(file: &Connection) -> rusqlite::Result<Option<[u8; 32]>> {
        file.query_row("SELECT digest FROM key_check", [], |row| row.get(0)).optional()
    }
    let own = key.digest("key of definitions", b"");
    let known = match file.read(stored_check)? {
        Some(known) => known,
        // Another process may be faster.
        None => file.write(|file| {
            file.execute("INSERT INTO key_check VALUES (1, ?1) ON CONFLICT DO NOTHING", params![own])?;
            Ok(stored_check(file)?.unwrap_or(own))
        })?,
    };
    if known == own { Ok(()) } else { Err(Error::OtherKey { path: file.path().to_path_buf() }) }
}

fn has_room(file: &Connection, server: &ServerDigest) -> rusqlite::Result<bool> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM servers WHERE server = ?1) OR (SELECT count(*) FROM servers) < ?2";
    file.prepare_cached(sql)?.query_row(params![server, MOST_SERVERS], |row| row.get(0))
}

/// The tools with something to approve, each with its definitions: a listed definition that is not approved, or an approved tool
/// without a listed definition. `all` is sorted by tool, as it is read from the file.
pub fn open_tools(all: &[StoredDefinition]) -> impl Iterator<Item = (&str, &[StoredDefinition])> {
    let is_open = |own: &&[StoredDefinition]| {
        own.iter().any(|one| one.approved_ms.is_none()) || !own.iter().any(|one| one.is_listed)
    };
    all.chunk_by(|one, next| one.tool == next.tool).filter(is_open).map(|own| (own[0].tool.as_str(), own))
}

/// A code for everything that awaits approval.
fn revision(key: &VaultKey, all: &[StoredDefinition]) -> String {
    let mut text = Vec::new();
    for one in open_tools(all).flat_map(|(_, own)| own) {
        text.extend_from_slice(&one.tool.len().to_le_bytes());
        text.extend_from_slice(one.tool.as_bytes());
        text.extend_from_slice(&one.fingerprint);
        text.extend_from_slice(&[u8::from(one.is_listed), u8::from(one.approved_ms.is_some())]);
    }
    let mut code = hex(&key.digest("revision of definitions", &text));
    code.truncate(REVISION);
    code
}

/// A digest in hexadecimal digits.
pub fn hex(digest: &[u8; 32]) -> String {
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn insert(
    file: &Transaction<'_>,
    server: &ServerDigest,
    one: &NewDefinition,
    now_ms: u64,
) -> rusqlite::Result<()> {
    // Another process may have been faster: a tool with an approved definition gets no second one here.
    let sql = "SELECT EXISTS (SELECT 1 FROM definitions WHERE server = ?1 AND tool = ?2 AND approved_ms IS NOT NULL)";
    let has_approved: bool =
        file.prepare_cached(sql)?.query_row(params![server, one.tool], |row| row.get(0))?;
    let is_approved = one.is_approved && !has_approved;
    let (at, by) = (is_approved.then(|| kept(now_ms)), is_approved.then_some(FIRST_SIGHT));
    let sql = "INSERT INTO definitions
               (server, tool, fingerprint, body, first_seen_ms, listed, approved_ms, approved_by, tool_seen_ms)
               VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, coalesce(
                   (SELECT min(tool_seen_ms) FROM definitions WHERE server = ?1 AND tool = ?2), ?5))
               ON CONFLICT DO NOTHING";
    let mut insert = file.prepare_cached(sql)?;
    insert.execute(params![server, one.tool, one.fingerprint, one.body, kept(now_ms), at, by]).map(drop)
}

fn stored(
    file: &Connection,
    server: &ServerDigest,
    with_bodies: bool,
) -> rusqlite::Result<Vec<StoredDefinition>> {
    let body = if with_bodies { "body" } else { "x''" };
    let query = format!(
        "SELECT tool, fingerprint, {body}, first_seen_ms, listed, approved_ms, approved_by, unlisted_ms, tool_seen_ms
         FROM definitions
         WHERE server = ?1 ORDER BY tool, approved_ms IS NULL, id"
    );
    let read = |row: &Row<'_>| {
        Ok(StoredDefinition {
            tool: row.get(0)?,
            fingerprint: row.get(1)?,
            body: row.get(2)?,
            first_seen_ms: counted(row.get(3)?),
            is_listed: row.get(4)?,
            approved_ms: row.get::<_, Option<i64>>(5)?.map(counted),
            approved_by: row.get(6)?,
            unlisted_ms: row.get::<_, Option<i64>>(7)?.map(counted),
            tool_seen_ms: counted(row.get(8)?),
        })
    };
    file.prepare_cached(&query)?.query_map([server], read)?.collect()
}

fn recorded(file: &Connection, digest: &ServerDigest) -> rusqlite::Result<Option<RecordedServer>> {
    let query = "SELECT server, name, audiences, incomplete FROM servers WHERE server = ?1";
    file.prepare_cached(query)?.query_row([digest], server).optional()
}

fn server(row: &Row<'_>) -> rusqlite::Result<RecordedServer> {
    let audiences: String = row.get(2)?;
    let audiences = audiences.split(' ').filter_map(|number| number.parse().ok()).collect();
    Ok(RecordedServer { digest: row.get(0)?, name: row.get(1)?, audiences, incomplete: row.get(3)? })
}

#[cfg(test)]
mod tests;
