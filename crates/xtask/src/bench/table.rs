//! The results as Markdown tables.

use super::contestant::Contestant;
use super::footprint::{Course, Footprint, kib};
use super::results::{Results, Row};
use super::scenario::Limit;

/// All tables, one after the other.
pub(crate) fn markdown(results: &Results) -> String {
    let mut out = String::new();
    if results.rows.iter().any(|row| row.scenario.added.is_none()) {
        out += &section("CPU µs of the gateway per call", &cpu(results));
        out += &section("Calls a second", &rates(results));
        out += &section("Latency p50 / p99, ms", &latency(results));
    }
    let added: Vec<_> = results.rows.iter().filter_map(addition).collect();
    if !added.is_empty() {
        out +=
            &section("What additions cost", &[vec![ADDITIONS.map(str::to_owned).to_vec()], added].concat());
    }
    if !results.rows.is_empty() {
        out.extend([format!(
            "\nOthers kept at most {:.1} cores busy during a measurement.\n",
            results.foreign()
        )]);
    }
    if !results.footprints.is_empty() {
        out += &section("Start and memory", &footprints(&results.footprints));
    }
    out
}

pub(super) fn section(title: &str, lines: &[Vec<String>]) -> String {
    let mut lines = lines.iter().map(|cells| format!("| {} |", cells.join(" | ")));
    let first = lines.next().unwrap_or_default();
    let rule = format!("|---|{}", "---:|".repeat(first.matches(" | ").count()));
    let lines: Vec<_> = [format!("\n## {title}\n"), first, rule].into_iter().chain(lines).collect();
    lines.join("\n") + "\n"
}

/// A table whose header has `scenario` and then these columns.
fn by_row(results: &Results, columns: Vec<String>, cells: impl Fn(&Row) -> Vec<String>) -> Vec<Vec<String>> {
    let first = ["scenario".to_owned()].into_iter().chain(columns).collect();
    let rows = results
        .rows
        .iter()
        .filter(|row| row.scenario.added.is_none())
        .map(|row| [row.scenario.title.to_owned()].into_iter().chain(cells(row)).collect());
    std::iter::once(first).chain(rows).collect()
}

fn cpu(results: &Results) -> Vec<Vec<String>> {
    let Some((base, others)) = results.compared() else { return vec![vec!["no gateway".to_owned()]] };
    let gateways = results.gateways();
    let judged = others.contains(&Contestant::Dragoman) && base == Contestant::Nginx;
    let mut columns: Vec<_> = gateways.iter().map(|gateway| gateway.name().to_owned()).collect();
    columns.extend(others.iter().map(|other| format!("{} ÷ {}", other.name(), base.name())));
    columns.extend(judged.then(|| "at most".to_owned()));
    by_row(results, columns, |row| {
        let mut cells: Vec<_> = gateways.iter().map(|gateway| figure(row.cpu(*gateway))).collect();
        cells.extend(others.iter().map(|other| ratio(row.cpu_ratio(*other, base))));
        cells.extend(judged.then(|| limit(row)));
        cells
    })
}

/// The columns of [`addition`].
const ADDITIONS: [&str; 7] = [
    "scenario",
    "CPU µs per call without",
    "with",
    "with ÷ without",
    "at most",
    "calls a second without",
    "with",
];

/// A row that compares Dragoman without and with an addition; `None` for scenarios without an addition.
fn addition(row: &Row) -> Option<Vec<String>> {
    let (with, without) = (Contestant::With(row.scenario.added?), Contestant::Dragoman);
    let rate = |contestant| figure(row.median(contestant, |sample| Some(sample.rate)));
    Some(vec![
        row.scenario.title.to_owned(),
        figure(row.cpu(without)),
        figure(row.cpu(with)),
        ratio(row.cpu_ratio(with, without)),
        limit(row),
        rate(without),
        rate(with),
    ])
}

fn limit(row: &Row) -> String {
    let most = match row.scenario.limit {
        None => return "–".to_owned(),
        Some(Limit::Times(most)) => format!("{most}×"),
        Some(Limit::Micros(most)) => format!("{most} µs"),
    };
    match row.within_limit() {
        Some(false) => format!("{most} **over**"),
        Some(true) => format!("{most} kept"),
        None => most,
    }
}

fn rates(results: &Results) -> Vec<Vec<String>> {
    let bases: Vec<_> = [Contestant::Direct]
        .into_iter()
        .chain(results.compared().map(|(base, _)| base))
        .filter(|base| results.contestants.contains(base))
        .collect();
    let columns = results.contestants.iter().map(|contestant| {
        let named = bases.iter().take_while(|base| *base != contestant);
        let named: Vec<_> = named.map(|base| format!("× {}", base.name())).collect();
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(" / ")) };
        format!("{}{named}", contestant.name())
    });
    by_row(results, columns.collect(), |row| {
        let cell = |contestant: &Contestant| {
            let bases = bases.iter().take_while(|base| *base != contestant);
            let ratios: Vec<_> = bases.map(|base| ratio(row.rate_ratio(*contestant, *base))).collect();
            let rate = figure(row.median(*contestant, |sample| Some(sample.rate)));
            if ratios.iter().all(|ratio| ratio == "–") {
                rate
            } else {
                format!("{rate} ({})", ratios.join(" / "))
            }
        };
        results.contestants.iter().map(cell).collect()
    })
}

fn latency(results: &Results) -> Vec<Vec<String>> {
    let columns = results.contestants.iter().map(|contestant| contestant.name().to_owned()).collect();
    by_row(results, columns, |row| {
        let cell = |contestant: &Contestant| {
            let p50 = row.median(*contestant, |sample| Some(sample.p50 / 1e3));
            let p99 = row.median(*contestant, |sample| Some(sample.p99 / 1e3));
            p50.zip(p99).map_or("–".to_owned(), |(p50, p99)| format!("{p50:.2} / {p99:.2}"))
        };
        results.contestants.iter().map(cell).collect()
    })
}

pub(super) fn footprints(footprints: &[Footprint]) -> Vec<Vec<String>> {
    let columns = [
        "gateway",
        "ready, ms",
        "idle RSS / PSS, MiB",
        "KiB a session",
        "KiB a session with stream",
        "MiB with all open, plain / streams",
        "MiB above idle after closing, plain / streams",
    ];
    let mib = |value: u64| kib(value) / 1024.0;
    let line = |footprint: &Footprint| {
        let Footprint { contestant, ready_ms, sessions, plain, streams } = footprint;
        let all = |course: &Course| mib(course.open.pss);
        vec![
            format!("{} ({sessions} sessions)", contestant.name()),
            format!("{ready_ms:.1}"),
            format!("{:.1} / {:.1}", mib(plain.idle.rss), mib(plain.idle.pss)),
            format!("{:.1}", plain.each(*sessions)),
            format!("{:.1}", streams.each(*sessions)),
            format!("{:.1} / {:.1}", all(plain), all(streams)),
            format!("{:.1} / {:.1}", plain.left_mib(), streams.left_mib()),
        ]
    };
    std::iter::once(columns.map(str::to_owned).to_vec()).chain(footprints.iter().map(line)).collect()
}

/// A figure with three significant digits, and separators between thousands.
pub(super) fn figure(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "–".to_owned() };
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn ratio(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("–".to_owned(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{guarded, results};
    use super::{figure, markdown};

    #[test]
    fn figures_are_short() {
        let shown = [0.04, 23.46, 123.4, 99_002.0, 1_234_567.0].map(|value| figure(Some(value)));
        assert_eq!(shown, ["0.0", "23.5", "123", "99,002", "1,234,567"]);
        assert_eq!(figure(None), "–");
    }

    #[test]
    fn guards_have_a_table_of_their_own() {
        let mut results = results();
        results.rows = vec![guarded()];
        let text = markdown(&results);
        assert!(text.contains("| echo, 16 sessions, guarded | 20.0 | 22.0 | 1.10 | 1.15× kept |"), "{text}");
        assert!(!text.contains("nginx"), "{text}");
    }

    #[test]
    fn tables_compare_with_nginx() {
        let text = markdown(&results());
        assert!(text.contains("| scenario | nginx | dragoman | dragoman ÷ nginx | at most |"), "{text}");
        assert!(text.contains("| echo, 16 sessions | 20.0 | 30.0 | 1.50 | 1.7× kept |"), "{text}");
        assert!(
            text.contains("| scenario | direct | nginx (× direct) | dragoman (× direct / × nginx) |"),
            "{text}"
        );
        assert!(text.contains("| echo, 16 sessions | 80.0 | 40.0 (0.50) | 32.0 (0.40 / 0.80) |"), "{text}");
        assert!(text.contains("| echo, 16 sessions | 0.10 / 2.00 | 0.10 / 2.00 | 0.10 / 2.00 |"), "{text}");
    }
}
