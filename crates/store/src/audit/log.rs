//! The file of the audit log.

use std::path::Path;
use std::sync::LazyLock;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, Statement, ToSql, params_from_iter};

use super::{AuditEntry, Query, Recorded, RecordedReason};
use crate::Error;
use crate::database::{Database, Purpose, counted, kept};

const FIRST: &str = "
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT, -- so that no number comes twice, also after pruning
        at_ms INTEGER NOT NULL,
        principal TEXT NOT NULL,
        profile TEXT NOT NULL,
        upstream TEXT,
        tool TEXT,
        method TEXT NOT NULL,
        outcome TEXT NOT NULL,
        code INTEGER,
        duration_us INTEGER NOT NULL,
        request_bytes INTEGER NOT NULL,
        response_bytes INTEGER NOT NULL,
        arguments TEXT
    ) STRICT;
    CREATE INDEX calls_by_time ON calls (at_ms);
";

/// Removes the index by time, which made recording a call a third more expensive. Entries are stored in the order
/// of recording, which is nearly the order of their times.
const NO_ORDER_BY_TIME: &str = "DROP INDEX calls_by_time;";

/// Adds the client's address and program. Older entries have neither.
const CLIENTS: &str = "
    ALTER TABLE calls ADD COLUMN address TEXT;
    ALTER TABLE calls ADD COLUMN client TEXT;
";

/// Adds the number of tries and the time waited before the last one. Older entries have neither.
const TRIES: &str = "
    ALTER TABLE calls ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE calls ADD COLUMN waited_us INTEGER NOT NULL DEFAULT 0;
";

/// Adds a column that is true for calls that were answered with a cached result.
const CACHED: &str = "ALTER TABLE calls ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;";

/// Adds the kind and the text of the reason why a call did not succeed. Older entries have neither.
const REASONS: &str = "
    ALTER TABLE calls ADD COLUMN reason TEXT;
    ALTER TABLE calls ADD COLUMN reason_text TEXT;
";

/// The properties of the file. It is not durable: a power failure may lose the latest entries, but no batch has to wait
/// for the disk.
const PURPOSE: Purpose = Purpose {
    mark: 0x6467_6D61,
    steps: &[FIRST, NO_ORDER_BY_TIME, CLIENTS, TRIES, CACHED, REASONS],
    durable: false,
    examined: false,
};

#[cfg(test)]
pub(super) const BEFORE_CLIENTS: Purpose = Purpose { steps: &[FIRST, NO_ORDER_BY_TIME], ..PURPOSE };

const COLUMNS: &str = "at_ms, principal, profile, upstream, tool, method, outcome, address, client, code, duration_us, \
                       request_bytes, response_bytes, tries, waited_us, cached, arguments, reason, reason_text";

/// The beginning of a statement that appends entries. With `OR FAIL`, `SQLite` keeps no journal for each statement.
/// Such a journal is not needed, because a failed statement ends its transaction, which is rolled back as a whole.
const APPEND: &str = "INSERT OR FAIL INTO calls";

/// The number of columns in an entry.
const WIDTH: usize = 19;

/// The number of columns with texts that many entries share; they come after the first column.
const TEXTS: usize = 8;

/// The maximum number of entries that one statement appends. Starting and ending a statement costs more than an entry.
const ROWS: usize = 64;

/// The statements that append entries: one entry, [`ROWS`] entries, or [`ROWS`] entries with the same texts.
static SINGLE: LazyLock<String> = LazyLock::new(|| insert(1));
static MIXED: LazyLock<String> = LazyLock::new(|| insert(ROWS));
static ALIKE: LazyLock<String> = LazyLock::new(insert_alike);

/// The number of entries pruned in one transaction. It is small, because other writers wait for the transaction.
const CHUNK: u32 = 2000;

/// The open file. Several processes may open it at the same time.
#[derive(Debug)]
pub struct Log(Database);

impl Log {
    /// Opens the file, and creates it and its folders if they are missing.
    ///
    /// # Errors
    /// Fails if the folder or the file cannot be used.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Database::open(path, &PURPOSE).map(Self)
    }

    /// Opens the file, if it exists.
    ///
    /// # Errors
    /// Fails in the same cases as [`Log::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>, Error> {
        Ok(Database::open_existing(path, &PURPOSE)?.map(Self))
    }

    /// Creates a new file if the opened one was moved or deleted. Returns true if it created one.
    ///
    /// # Errors
    /// Fails in the same cases as [`Log::open`]; nothing can be appended until this function succeeds.
    pub fn replace_if_gone(&mut self) -> Result<bool, Error> {
        self.0.replace_if_gone(&PURPOSE)
    }

    /// Appends entries, all or none of them.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn append(&mut self, entries: &[AuditEntry]) -> Result<(), Error> {
        self.0.write(|file| {
            let (whole, rest) = entries.as_chunks::<ROWS>();
            if !whole.is_empty() {
                let mut mixed = file.prepare_cached(&MIXED)?;
                let mut alike = file.prepare_cached(&ALIKE)?;
                for entries in whole {
                    let first = texts(&entries[0]);
                    if entries.iter().all(|entry| texts(entry) == first) {
                        run_alike(&mut alike, entries)?;
                    } else {
                        run(&mut mixed, entries)?;
                    }
                }
            }
            let mut single = file.prepare_cached(&SINGLE)?;
            rest.chunks(1).try_for_each(|entry| run(&mut single, entry))
        })
    }

    /// The entries that match a query: the newest first, unless the query asks for entries after a certain one.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn query(&self, query: &Query) -> Result<Vec<Recorded>, Error> {
        let (clause, values) = query.clause();
        self.0.read(|file| {
            let mut select = file.prepare_cached(&format!("SELECT id, {COLUMNS} FROM calls {clause}"))?;
            select.query_map(params_from_iter(values), read)?.collect()
        })
    }

    /// The number of the newest entry; 0 if there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn newest(&self) -> Result<i64, Error> {
        self.0.number("SELECT ifnull(max(id), 0) FROM calls")
    }

    /// The number of bytes that the entries use, overhead included.
    ///
    /// # Errors
    /// Fails if the file cannot be used.
    pub fn bytes(&self) -> Result<u64, Error> {
        let pages = self.0.number("PRAGMA page_count")? - self.0.number("PRAGMA freelist_count")?;
        Ok(counted(pages) * counted(self.0.number("PRAGMA page_size")?))
    }

    /// Deletes entries that are older than `before_ms`, if given (this reads all entries), then the oldest entries until the
    /// rest takes at most `most` bytes. The freed space is returned to the file system. Returns the number of
    /// deleted entries.
    ///
    /// # Errors
    /// Fails if the file cannot be used. Entries that were deleted before the failure stay deleted.
    pub fn prune(&mut self, before_ms: Option<u64>, most: u64) -> Result<u64, Error> {
        let mut deleted = 0;
        // The condition is checked without the write lock, because the check may read all entries.
        if let Some(before_ms) = before_ms {
            while self.has_older(before_ms)? {
                let gone = self.delete("at_ms < ?1", before_ms)?;
                // Without this check, entries that cannot be deleted would be tried forever.
                if gone == 0 {
                    break;
                }
                deleted += gone;
            }
        }
        while self.bytes()? > most {
            let gone = self.delete("?1 IS NOT NULL", 0)?;
            if gone == 0 {
                break;
            }
            deleted += gone;
        }
        if deleted > 0 {
            // Each step returns one page to the file system.
            self.0.read(|file| {
                let mut vacuum = file.prepare("PRAGMA incremental_vacuum")?;
                let mut steps = vacuum.query([])?;
                while steps.next()?.is_some() {}
                Ok(())
            })?;
        }
        Ok(deleted)
    }

    /// Returns true if any entry arrived before a time.
    fn has_older(&self, before_ms: u64) -> Result<bool, Error> {
        let select = "SELECT EXISTS (SELECT 1 FROM calls WHERE at_ms < ?1)";
        self.0.read(|file| file.prepare_cached(select)?.query_row([kept(before_ms)], |row| row.get(0)))
    }

    /// Deletes the oldest entries that match a condition, at most [`CHUNK`] of them. Returns their number.
    fn delete(&mut self, which: &str, value: u64) -> Result<u64, Error> {
        let statement = format!(
            "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE {which} ORDER BY id LIMIT {CHUNK})"
        );
        let gone = self.0.write(|file| file.prepare_cached(&statement)?.execute([kept(value)]))?;
        Ok(gone as u64)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn database(&self) -> &Database {
        &self.0
    }
}

/// The statement that appends this many entries.
fn insert(rows: usize) -> String {
    let row = format!("({})", ["?"; WIDTH].join(", "));
    format!("{APPEND} ({COLUMNS}) VALUES {}", vec![row; rows].join(", "))
}

/// Appends as many entries as the statement takes.
fn run(statement: &mut Statement<'_>, entries: &[AuditEntry]) -> rusqlite::Result<()> {
    // Parameters count from 1.
    let mut parameter = 1;
    for entry in entries {
        let [at, rest @ ..] = own(entry)?;
        parameter = bind(statement, parameter, [at])?;
        parameter = bind(statement, parameter, texts(entry))?;
        parameter = bind(statement, parameter, rest)?;
    }
    statement.raw_execute().map(drop)
}

/// Binds values, starting at a parameter; returns the number of the next parameter.
fn bind(
    statement: &mut Statement<'_>,
    first: usize,
    values: impl IntoIterator<Item = impl ToSql>,
) -> rusqlite::Result<usize> {
    let mut parameter = first;
    for value in values {
        statement.raw_bind_parameter(parameter, value)?;
        parameter += 1;
    }
    Ok(parameter)
}

/// The values that differ between entries: the time, which precedes the texts, and the columns that follow the texts.
fn own(entry: &AuditEntry) -> rusqlite::Result<[ToSqlOutput<'_>; WIDTH - TEXTS]> {
    let reason = entry.reason.as_deref();
    Ok([
        kept(entry.at_ms).into(),
        entry.code.to_sql()?,
        kept(entry.duration_us).into(),
        kept(entry.request_bytes).into(),
        kept(entry.response_bytes).into(),
        entry.tries.into(),
        kept(entry.waited_us).into(),
        entry.cached.into(),
        entry.arguments.to_sql()?,
        nullable(reason.map(|reason| reason.kind.as_str())),
        nullable(reason.map(|reason| &*reason.text).filter(|text| !text.is_empty())),
    ])
}

fn nullable(text: Option<&str>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(text.map_or(ValueRef::Null, ValueRef::from))
}

/// The texts of an entry. Calls that one caller makes to one tool often have the same texts, so they are bound once per group.
fn texts(entry: &AuditEntry) -> [Option<&str>; TEXTS] {
    [
        Some(&*entry.principal),
        Some(&*entry.profile),
        entry.upstream.as_deref(),
        entry.tool.as_deref(),
        Some(&*entry.method),
        Some(entry.outcome.as_str()),
        entry.address.as_deref(),
        entry.client.as_deref(),
    ]
}

/// The statement that appends [`ROWS`] entries with the same texts. The texts are its first parameters, so each is
/// copied once.
fn insert_alike() -> String {
    let same: Vec<String> = (1..=TEXTS).map(|number| format!("?{number}")).collect();
    let row = |number: usize| {
        let own = TEXTS + 1 + number * (WIDTH - TEXTS);
        let rest: Vec<String> = (own + 1..own + WIDTH - TEXTS).map(|number| format!("?{number}")).collect();
        format!("(?{own}, {}, {})", same.join(", "), rest.join(", "))
    };
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    format!("{APPEND} ({COLUMNS}) VALUES {}", rows.join(", "))
}

/// Appends entries with the same texts.
fn run_alike(statement: &mut Statement<'_>, entries: &[AuditEntry; ROWS]) -> rusqlite::Result<()> {
    // Parameters count from 1.
    let mut parameter = bind(statement, 1, texts(&entries[0]))?;
    for entry in entries {
        parameter = bind(statement, parameter, own(entry)?)?;
    }
    statement.raw_execute().map(drop)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Recorded> {
    let outcome: String = row.get(7)?;
    let outcome = outcome.parse().map_err(|why: String| {
        rusqlite::Error::FromSqlConversionFailure(7, rusqlite::types::Type::Text, why.into())
    })?;
    let number = |column| row.get::<_, i64>(column).map(counted);
    Ok(Recorded {
        id: row.get(0)?,
        entry: AuditEntry {
            at_ms: number(1)?,
            principal: row.get(2)?,
            profile: row.get(3)?,
            upstream: row.get(4)?,
            tool: row.get(5)?,
            method: row.get::<_, String>(6)?.into(),
            outcome,
            address: row.get(8)?,
            client: row.get(9)?,
            code: row.get(10)?,
            duration_us: number(11)?,
            request_bytes: number(12)?,
            response_bytes: number(13)?,
            tries: row.get(14)?,
            waited_us: number(15)?,
            cached: row.get(16)?,
            arguments: row.get(17)?,
            reason: reason(row)?,
        },
    })
}

/// The reason of an entry. A kind that only a newer version knows is left out.
fn reason(row: &Row<'_>) -> rusqlite::Result<Option<Box<RecordedReason>>> {
    let Some(kind) = row.get_ref(18)?.as_str_or_null()? else { return Ok(None) };
    let text = row.get_ref(19)?.as_str_or_null()?.unwrap_or_default();
    Ok(kind.parse().ok().map(|kind| Box::new(RecordedReason { kind, text: text.into() })))
}
