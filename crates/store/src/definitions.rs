//! The definitions of servers' tools that were seen and approved. There is one row for each definition, in the normal form in
//! which definitions are compared. This module must not know how definitions are compared.
//!
//! The file is not the file of catalogues, although it contains similar texts: catalogues can be fetched again, but if an approval
//! were lost, whatever the server lists next would be approved. So this file is never replaced, and no row expires.

use std::path::Path;

use aws_lc_rs::digest;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::Error;
use crate::catalogues::ServerDigest;
use crate::database::{Database, Purpose, counted, kept};
use crate::vault::VaultKey;

/// The file's name in its folder.
const FILE: &str = "definitions.db";

/// The maximum number of servers; the servers that were seen least recently are deleted first.
const MOST_SERVERS: i64 = 4096;

/// The maximum number of definitions of one tool that are approved at the same time.
const MOST_APPROVED: i64 = 64;

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

const PURPOSE: Purpose = Purpose { mark: 0x6467_6D64, steps: &[FIRST], durable: true, examined: true };

/// The name under which the first lists of a server are approved.
pub const FIRST_SIGHT: &str = "first sight";

/// A definition as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefinition {
    /// The server's own name for the tool.
    pub tool: String,
    /// The digest of the body.
    pub fingerprint: [u8; 32],
    /// The definition in its normal form, as JSON text; empty if the body was not requested.
    pub body: Vec<u8>,
    /// The time when the definition was first listed, in milliseconds since 1970.
    pub first_seen_ms: u64,
    /// True if the server's newest list contains the definition.
    pub is_listed: bool,
    /// The time of the approval; `None` if the definition is not approved.
    pub approved_ms: Option<u64>,
    /// The person who approved the definition, or the reason for its approval.
    pub approved_by: Option<String>,
}

/// A server in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedServer {
    /// The digest of everything that identifies the server.
    pub digest: ServerDigest,
    /// The server's configured name.
    pub name: String,
    /// The audiences whose lists have been seen.
    pub audiences: Vec<u32>,
}

/// A definition that is not in the file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDefinition {
    /// The server's own name for the tool.
    pub tool: String,
    /// The digest of the body.
    pub fingerprint: [u8; 32],
    /// The definition in its normal form.
    pub body: Vec<u8>,
    /// True if the definition is approved on first sight.
    pub is_approved: bool,
}

/// The definitions that a server lists now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedDefinitions {
    /// The server's configured name.
    pub name: String,
    /// The audiences whose lists have been seen.
    pub audiences: Vec<u32>,
    /// The definitions that the file lacks.
    pub new: Vec<NewDefinition>,
    /// All definitions that are listed, by tool and fingerprint.
    pub listed: Vec<(String, [u8; 32])>,
}

/// The tools to approve.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The names of the tools; `None` for all.
    pub tools: Option<&'a [String]>,
    /// The revision that was reviewed; `None` to approve whatever is listed now.
    pub revision: Option<&'a str>,
    /// The person who approves.
    pub by: &'a str,
}

/// The reason why nothing was approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefused {
    /// The server's definitions have changed since they were reviewed.
    #[error("the definitions changed after you reviewed them: the revision is {0} now")]
    Outdated(String),
    /// There is nothing to approve for a tool.
    #[error("the tool {0:?} has no change that awaits approval")]
    Unknown(String),
}

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
    /// If the file or the key cannot be used.
    pub fn open(folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        Self::of(Database::open(&folder.join(FILE), &PURPOSE)?, folder, fresh)
    }

    /// Opens the file, if it exists.
    ///
    /// # Errors
    /// The same as for [`Definitions::open`].
    pub fn open_existing(folder: &Path, fresh: &[u8; 32]) -> Result<Option<Self>, Error> {
        let file = Database::open_existing(&folder.join(FILE), &PURPOSE)?;
        file.map(|file| Self::of(file, folder, fresh)).transpose()
    }

    fn of(file: Database, folder: &Path, fresh: &[u8; 32]) -> Result<Self, Error> {
        file.read(|file| file.execute_batch("PRAGMA foreign_keys = ON"))?;
        Ok(Self { file, key: VaultKey::of(folder, fresh)? })
    }

    /// The digest of a server.
    pub fn digest(&self, server: &[u8]) -> ServerDigest {
        self.key.digest("definitions", server)
    }

    /// A number that changes when another process, or another connection, changes the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn version(&self) -> Result<i64, Error> {
        self.file.number("PRAGMA data_version")
    }

    /// The servers, the most recently seen first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn servers(&self) -> Result<Vec<RecordedServer>, Error> {
        let query = "SELECT server, name, audiences FROM servers ORDER BY seen_ms DESC, name";
        self.file.read(|file| file.prepare_cached(query)?.query_map([], server)?.collect())
    }

    /// The server with this digest.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn server(&self, digest: &ServerDigest) -> Result<Option<RecordedServer>, Error> {
        let query = "SELECT server, name, audiences FROM servers WHERE server = ?1";
        self.file.read(|file| file.prepare_cached(query)?.query_row([digest], server).optional())
    }

    /// The definitions of a server by tool, approved ones first. If `with_bodies` is true, the definitions themselves are read as
    /// well.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_server(
        &self,
        server: &ServerDigest,
        with_bodies: bool,
    ) -> Result<Vec<StoredDefinition>, Error> {
        self.file.read(|file| stored(file, server, with_bodies))
    }

    /// Stores what a server lists. Definitions that are neither listed nor approved are deleted.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(
        &mut self,
        server: &ServerDigest,
        now: &ListedDefinitions,
        now_ms: u64,
    ) -> Result<(), Error> {
        self.file.write(|file| {
            let audiences: Vec<String> = now.audiences.iter().map(u32::to_string).collect();
            let sql = "INSERT INTO servers VALUES (?1, ?2, ?3, ?4) ON CONFLICT (server)
                       DO UPDATE SET name = excluded.name, audiences = excluded.audiences, seen_ms = excluded.seen_ms";
            file.execute(sql, params![server, now.name, audiences.join(" "), kept(now_ms)])?;
            for one in &now.new {
                insert(file, server, one, now_ms)?;
            }
            file.execute("UPDATE definitions SET listed = 0 WHERE server = ?1 AND listed = 1", [server])?;
            let sql = "UPDATE definitions SET listed = 1 WHERE server = ?1 AND tool = ?2 AND fingerprint = ?3";
            let mut list = file.prepare_cached(sql)?;
            for (tool, fingerprint) in &now.listed {
                list.execute(params![server, tool, fingerprint])?;
            }
            let sql = "DELETE FROM definitions WHERE server = ?1 AND listed = 0 AND approved_ms IS NULL";
            file.execute(sql, [server])?;
            let prune = "DELETE FROM servers WHERE server IN
                         (SELECT server FROM servers ORDER BY seen_ms DESC LIMIT -1 OFFSET ?1)";
            file.execute(prune, [MOST_SERVERS]).map(drop)
        })
    }

    /// Approves what a server lists now for some of its tools. Other approved definitions of these tools are deleted, and so
    /// are tools that the server no longer lists. Returns the names of the tools.
    ///
    /// # Errors
    /// If the file cannot be written, or the request is refused; then nothing has changed.
    pub fn approve(
        &mut self,
        server: &ServerDigest,
        request: ApprovalRequest<'_>,
        now_ms: u64,
    ) -> Result<Result<Vec<String>, ApprovalRefused>, Error> {
        self.file.write(|file| {
            let all = stored(file, server, false)?;
            let now = revision(&all);
            if request.revision.is_some_and(|reviewed| reviewed != now) {
                return Ok(Err(ApprovalRefused::Outdated(now)));
            }
            let open = open_tools(&all);
            let tools = match request.tools {
                None => open,
                Some(named) => match named.iter().find(|tool| !open.contains(tool)) {
                    Some(unknown) => return Ok(Err(ApprovalRefused::Unknown(unknown.clone()))),
                    None => named.to_vec(),
                },
            };
            for tool in &tools {
                let sql = "DELETE FROM definitions WHERE server = ?1 AND tool = ?2 AND listed = 0";
                file.execute(sql, params![server, tool])?;
                let sql = "UPDATE definitions SET approved_ms = ?3, approved_by = ?4
                           WHERE id IN (SELECT id FROM definitions WHERE server = ?1 AND tool = ?2
                                        AND approved_ms IS NULL ORDER BY id LIMIT ?5)";
                file.execute(sql, params![server, tool, kept(now_ms), request.by, MOST_APPROVED])?;
            }
            Ok(Ok(tools))
        })
    }
}

/// The tools with something to approve: a listed definition that is not approved, or an approved tool without a listed definition.
pub fn open_tools(all: &[StoredDefinition]) -> Vec<String> {
    let mut tools: Vec<String> = all.iter().map(|one| one.tool.clone()).collect();
    tools.dedup();
    let is_open = |tool: &String| {
        let mut own = all.iter().filter(|one| one.tool == *tool);
        own.clone().any(|one| one.approved_ms.is_none()) || !own.any(|one| one.is_listed)
    };
    tools.retain(is_open);
    tools
}

/// A short code for everything that awaits approval. The code changes whenever one of these definitions does.
pub fn revision(all: &[StoredDefinition]) -> String {
    let open = open_tools(all);
    let mut context = digest::Context::new(&digest::SHA256);
    for one in all.iter().filter(|one| open.contains(&one.tool)) {
        context.update(&one.tool.len().to_le_bytes());
        context.update(one.tool.as_bytes());
        context.update(&one.fingerprint);
        context.update(&[u8::from(one.is_listed), u8::from(one.approved_ms.is_some())]);
    }
    short_code(context.finish().as_ref())
}

/// The first eight digits of a digest, for people.
pub fn short_code(digest: &[u8]) -> String {
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
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
               (server, tool, fingerprint, body, first_seen_ms, listed, approved_ms, approved_by)
               VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7) ON CONFLICT DO NOTHING";
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
        "SELECT tool, fingerprint, {body}, first_seen_ms, listed, approved_ms, approved_by FROM definitions
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
        })
    };
    file.prepare_cached(&query)?.query_map([server], read)?.collect()
}

fn server(row: &Row<'_>) -> rusqlite::Result<RecordedServer> {
    let audiences: String = row.get(2)?;
    let audiences = audiences.split(' ').filter_map(|number| number.parse().ok()).collect();
    Ok(RecordedServer { digest: row.get(0)?, name: row.get(1)?, audiences })
}

#[cfg(test)]
mod tests;
