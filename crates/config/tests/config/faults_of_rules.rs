//! Faults in rules, limits, audit logs and embedded servers, in short form.

use dragoman_config::{Lookup, load_over};

use crate::{faults_in_short, loaded, same};

const ACCESS: &[(&str, &[&str])] = &[
    (
        r"mcpServers: { docs: { native: demo } }
access: nobody
",
        &[r"2:9 access [nobody] expected a list of rules, found `nobody` => write a list of rules"],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ {}, x, { alow: '*' }, { allow: '*', deny: x }, { deny: [] } ]
",
        &[
            r#"2:11 access[0] [] this rule neither allows nor denies anything => add `allow` or `deny` with name patterns: deny: ["*delete*"]"#,
            r"2:15 access[1] [x] expected a mapping with `allow` or `deny`, found `x` => write a mapping with `allow` or `deny`",
            r"2:20 access[2].alow [alow] unknown key `alow` => did you mean `allow`?",
            r"2:33 access[3] [] a rule has `allow` or `deny`, not both => write two rules",
            r"2:66 access[4].deny [[]] this is empty => add an entry, or remove the key",
        ],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ { deny: '!x', tools: ['a*'], profiles: [edit], servers: [doc, 'd*'], whom: {} } ]
",
        &[
            r"2:19 access[0].deny ['!x'] a pattern cannot be negated with `!` => write a name with `*` for any characters and `?` for one; put the names to hide under `deny`",
            r#"2:25 access[0].tools [tools] a rule cannot have `tools` => write the patterns under `allow` or `deny`: deny: ["*delete*"]"#,
            r"2:51 access[0].profiles[0] [edit] there is no profile `edit` => available: default",
            r"2:68 access[0].servers[0] [doc] there is no server `doc` => did you mean `docs`?",
            r"2:80 access[0].whom [whom] unknown key `whom` => did you mean `who`?",
        ],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ { deny: '*', who: {}, unless: { keys: a, ip: [10.0.0.7/8, x, '10.0.0.0/40', '${ADDRESS}/8'], scheme: [tokn] } } ]
",
        &[
            r"2:29 access[0].who [{}] this is empty => add an entry, or remove the key",
            r"2:43 access[0].unless.keys [keys] unknown key `keys` => did you mean `key`?",
            r"2:57 access[0].unless.ip[0] [10.0.0.7/8] the address has bits set beyond the prefix length => write 10.0.0.0/8",
            r"2:69 access[0].unless.ip[1] [x] this is not an IP address => write it like 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7",
            r"2:72 access[0].unless.ip[2] ['10.0.0.0/40'] the number after the `/` is not a valid prefix length for this address => write it like 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7",
            r"2:87 access[0].unless.ip[3] ['${ADDRESS}/8'] the address has bits set beyond the prefix length => change the value that is substituted",
            r"2:113 access[0].unless.scheme [tokn] `tokn` is not one of `anyone`, `bearer`, `key`, `basic`, `site`, `login` or `token` => did you mean `token`?",
        ],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ { allow: '*', who: { claim: { 'a..b': x, b: [], c: { d: e } }, key: 7, user: { a: b } } } ]
",
        &[
            r"2:41 access[0].who.claim.a..b ['a..b'] a segment of this path is empty => write it like owner.name or /owner/name",
            r"2:55 access[0].who.claim.b [[]] this is empty => add an entry, or remove the key",
            r"2:62 access[0].who.claim.c [{ d: e }] expected a value, or a list of values, found a mapping => write a value, or a list of values",
            r"2:88 access[0].who.user [{ a: b }] expected a list of patterns, found a mapping => write a list of patterns",
        ],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ { deny: '*', when: { arguments: { a.b: x, /a: y, a: z, /a/b/c: w }, annotations: { readOnly: true, destructiveHint: maybe, x: 1, idempotentHint: } } } ]
",
        &[
            r"2:43 access[0].when.arguments [{ a.b: x, /a: y, a: z, /a/b/c: w }] /a/b is part of /a, which is also a condition of this rule => keep one of the two, or write two rules",
            r"2:43 access[0].when.arguments [{ a.b: x, /a: y, a: z, /a/b/c: w }] /a/b/c is part of /a/b, which is also a condition of this rule => keep one of the two, or write two rules",
            r"2:60 access[0].when.arguments.a [a] this path occurs twice; case does not matter => keep one of the two",
            r"2:94 access[0].when.annotations.readOnly [readOnly] tools have no annotation `readOnly` => remove it; available: readOnlyHint, destructiveHint, idempotentHint, openWorldHint",
            r"2:127 access[0].when.annotations.destructiveHint [maybe] expected true or false, found `maybe` => write true or false",
            r"2:134 access[0].when.annotations.x [x] tools have no annotation `x` => remove it; available: readOnlyHint, destructiveHint, idempotentHint, openWorldHint",
            r"2:154 access[0].when.annotations.idempotentHint [] expected true or false, found nothing => write true or false",
        ],
    ),
    (
        r"mcpServers: { docs: { native: demo } }
access: [ { deny: '*', when: { arguments: [a], annotations: x, args: 1 } } ]
",
        &[
            r"2:43 access[0].when.arguments [[a]] expected a mapping of arguments and their values, found a list => write a mapping of arguments and their values",
            r"2:61 access[0].when.annotations [x] expected a mapping such as { readOnlyHint: true }, found `x` => write a mapping such as { readOnlyHint: true }",
            r"2:64 access[0].when.args [args] unknown key `args` => remove it; known keys: arguments, annotations",
        ],
    ),
];

#[test]
fn faults_of_access() {
    for (text, wanted) in ACCESS {
        same(text, &faults_in_short(text), wanted);
    }
}

const RATES: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
rateLimits: 60/1m
",
        &[r"2:13 rateLimits [60/1m] expected a list of limits, found `60/1m` => write a list of limits"],
    ),
    (
        r"mcpServers: {}
rateLimits: [ {}, 60/1m, { rate: 60 }, { rate: 0/1m }, { rate: 1/25h }, { rate: '1 per minute' } ]
",
        &[
            r"2:15 rateLimits[0] [] there is no `rate` => add it: rate: 60/1m",
            r"2:19 rateLimits[1] [60/1m] expected a mapping with `rate`, found `60/1m` => write a mapping with `rate`",
            r"2:34 rateLimits[2].rate [60] expected a rate such as 60/1m or 10/s, found `60` => write a rate such as 60/1m or 10/s",
            r"2:48 rateLimits[3].rate [0/1m] a rate of 0/1m is out of range => write 1 to 1000000 requests in at most 24h",
            r"2:64 rateLimits[4].rate [1/25h] a rate of 1/25h is out of range => write 1 to 1000000 requests in at most 24h",
            r"2:81 rateLimits[5].rate ['1 per minute'] expected a rate such as 60/1m or 10/s, found `'1 per minute'` => write a rate such as 60/1m or 10/s",
        ],
    ),
    (
        r"mcpServers: {}
rateLimits: [ { rate: 60/1m, per: [user], methods: tools, burst: many, enabled: sometimes, trustForwarded: true, profiles: nope } ]
",
        &[
            r"2:36 rateLimits[0].per [user] `user` is not one of `principal`, `ip`, `profile` or `tool` => write `principal`, `ip`, `profile` or `tool`",
            r"2:52 rateLimits[0].methods [tools] `tools` is not one of `calls` or `all` => write `calls` or `all`",
            r"2:66 rateLimits[0].burst [many] expected a whole number, found `many` => write a whole number",
            r"2:81 rateLimits[0].enabled [sometimes] expected true or false, found `sometimes` => write true or false",
            r"2:92 rateLimits[0].trustForwarded [trustForwarded] unknown key `trustForwarded` => did you mean `trustForwardedFor`?",
            r"2:124 rateLimits[0].profiles [nope] there is no profile `nope` => available: default",
        ],
    ),
    (
        r"mcpServers: {}
rateLimits: [ { rate: 60/1m, per: [ip, ip], burst: 0, methods: all, tools: 'x*' }, { rate: '${NUMBER}/1m', burst: '${SECRET}' } ]
",
        &[
            r"2:15 rateLimits[0] [] this limit counts all requests, but `tools` applies only to calls => remove `tools`, or write methods: calls",
            r"2:40 rateLimits[0].per [ip] this occurs twice => keep one of the two",
            r"2:52 rateLimits[0].burst [0] 0 is out of range => write a value from 1 to 1000000",
            r"2:115 rateLimits[1].burst ['${SECRET}'] expected a whole number, found `'${SECRET}'` => write a whole number",
        ],
    ),
];

#[test]
fn faults_of_rates() {
    for (text, wanted) in RATES {
        same(text, &faults_in_short(text), wanted);
    }
}

const AUDIT: &[(&str, &[&str])] = &[
    (
        r"mcpServers: {}
audit: perhaps
",
        &[r"2:8 audit [perhaps] expected true or false, found `perhaps` => write true or false"],
    ),
    (
        r"mcpServers: {}
audit: { file: '', arguments: 1, redact: [''], keep: 1m, days: 30 }
",
        &[
            r"2:16 audit.file [''] the path is empty => write a path, or remove the key",
            r"2:31 audit.arguments [1] expected true or false, found `1` => write true or false",
            r"2:43 audit.redact[0] [''] this would redact every argument => write part of an argument's name, such as: password",
            r"2:54 audit.keep [1m] 1m is out of range => write a value from 1h to 3650d",
            r"2:58 audit.days [days] unknown key `days` => remove it; known keys: file, arguments, redact, share, keep",
        ],
    ),
    (
        r"mcpServers: {}
audit: []
",
        &[
            r"2:8 audit [[]] expected true, false, or a mapping with `file`, `arguments`, …, found a list => write true, false, or a mapping with `file`, `arguments`, …",
        ],
    ),
    (
        r"mcpServers: {}
stateFolder: ''
keyRing: ''
",
        &[
            r"2:14 stateFolder [''] the path is empty => write a path, or remove the key",
            r"3:10 keyRing [''] the path is empty => write a path, or remove the key",
        ],
    ),
];

#[test]
fn faults_of_audit() {
    for (text, wanted) in AUDIT {
        same(text, &faults_in_short(text), wanted);
    }
}

const NATIVE: &[(&str, &[&str])] = &[
    (
        "mcpServers: { a: { native: demo, unknownArguments: ignore }, b: { native: plain, unknownArguments: no }, c: { command: x, unknownArguments: ignore } }",
        &[
            r"1:34 mcpServers.a.unknownArguments [unknownArguments] `unknownArguments` cannot be combined with `native: demo` => remove it; it has no effect there",
            r"1:100 mcpServers.b.unknownArguments [no] `no` is not one of `reject` or `ignore` => write `reject` or `ignore`",
            r"1:123 mcpServers.c.unknownArguments [unknownArguments] `unknownArguments` cannot be combined with `command` => remove it; it has no effect together with `command`",
        ],
    ),
    (
        r"mcpServers: { a: { native: wordpress }, b: { native: demo, site: { url: 'https://h' }, sources: { snl: 'https://h' } }, c: { command: x, site: {} }, d: { native: nope, site: {} } }
",
        &[
            r#"1:28 mcpServers.a [wordpress] `wordpress` needs a site, but none is configured => add it: site: { url: "${WORDPRESS_URL}", username: "${WORDPRESS_USERNAME}", password: "${WORDPRESS_APP_PASSWORD}" }"#,
            r"1:60 mcpServers.b.site [site] `site` cannot be combined with `native: demo` => remove it; it has no effect there",
            r"1:88 mcpServers.b.sources [sources] `sources` cannot be combined with `native: demo` => remove it; it has no effect there",
            r"1:138 mcpServers.c.site [site] `site` cannot be combined with `command` => remove it; it has no effect together with `command`",
            r"1:163 mcpServers.d.native [nope] `nope` is not one of `demo`, `plain`, `wordpress`, `buddyboss`, `buddypress`, `woocommerce` or `heritage` => write `demo`, `plain`, `wordpress`, `buddyboss`, `buddypress`, `woocommerce` or `heritage`",
        ],
    ),
    (
        r"mcpServers: { a: { native: wordpress, site: {} }, b: { native: buddyboss, site: { url: 'https://h', username: ann } }, c: { native: buddypress, site: { url: h, usernam: x, basic: sure } } }
",
        &[
            r"1:39 mcpServers.a.site [site] the site's `url` is missing => add `url: https://example.com`, or set `headers: true`, so that each request chooses its site",
            r"1:75 mcpServers.b.site [site] a user name and a password must be given together => write both, or neither; is a variable empty?",
            r"1:158 mcpServers.c.site.url [h] this URL has no scheme => put `https://` or `http://` in front",
            r"1:161 mcpServers.c.site.usernam [usernam] unknown key `usernam` => did you mean `username`?",
            r"1:180 mcpServers.c.site.basic [sure] expected true or false, found `sure` => write true or false",
        ],
    ),
    (
        r#"mcpServers: { a: { native: wordpress, site: { url: 'https://h', username: 'a:b', password: "hush\n" } } }
"#,
        &[
            r"1:75 mcpServers.a.site.username ['a:b'] a user name cannot contain a colon or a control character => correct it",
            r#"1:92 mcpServers.a.site.password ["******"] a password cannot contain a control character => remove it"#,
        ],
    ),
    (
        r"mcpServers: { a: { native: wordpress, site: { url: 'https://h', atOnce: 0, rate: often } }, b: { native: wordpress, site: { url: 'https://h', atOnce: many, rate: 0/1m, privateSites: 7 } } }
",
        &[
            r"1:73 mcpServers.a.site.atOnce [0] 0 is out of range => write a value from 1 to 1000",
            r"1:82 mcpServers.a.site.rate [often] expected a rate such as 60/1m or 10/s, found `often` => write a rate such as 60/1m or 10/s",
            r"1:151 mcpServers.b.site.atOnce [many] expected a whole number, found `many` => write a whole number",
            r"1:163 mcpServers.b.site.rate [0/1m] a rate of 0/1m is out of range => write 1 to 1000000 requests in at most 24h",
            r"1:183 mcpServers.b.site.privateSites [7] expected true or false, found `7` => write true or false",
        ],
    ),
    (
        r"mcpServers: { a: { native: heritage, sources: { snl: h, wikpedia: 'https://h', other: 'https://h', arcgis: 'https://h?x=1' } }, b: { native: heritage, phases: core, site: 1 }, c: { native: buddyboss, site: { url: 'https://h' }, phases: [core, advnced] } }
",
        &[
            r"1:54 mcpServers.a.sources.snl [h] this URL has no scheme => put `https://` or `http://` in front",
            r"1:57 mcpServers.a.sources.wikpedia [wikpedia] there is no service `wikpedia` => did you mean `wikipedia`?",
            r"1:80 mcpServers.a.sources.other [other] there is no service `other` => remove it; available: wikipedia, snl, riksantikvaren, arcgis",
            r"1:108 mcpServers.a.sources.arcgis ['https://h?***'] this address cannot have a query => remove the `?` and what follows it",
            r"1:152 mcpServers.b.phases [phases] `phases` cannot be combined with `native: heritage` => remove it; it has no effect there",
            r"1:166 mcpServers.b.site [site] `site` cannot be combined with `native: heritage` => remove it; it has no effect there",
            r"1:244 mcpServers.c.phases [advnced] `advnced` is not one of `core`, `buddyboss`, `advanced`, `extended` or `discover` => did you mean `advanced`?",
        ],
    ),
    (
        "mcpServers: { a: { native: wordpress, phases: advanced, site: { url: 'https://h', answers: short, requests: { alow: 1, allow: ['wc/v3', /a/../b, '/c?d'] } } } }",
        &[
            r"1:47 mcpServers.a.phases [advanced] `advanced` is not one of `core`, `extended` or `discover` => write `core`, `extended` or `discover`",
            r"1:92 mcpServers.a.site.answers [short] `short` is not one of `compact`, `raw` or `plain` => write `compact`, `raw` or `plain`",
            r"1:111 mcpServers.a.site.requests.alow [alow] unknown key `alow` => did you mean `allow`?",
            r"1:128 mcpServers.a.site.requests.allow[0] ['wc/v3'] this is not a route of a site's REST API => write the path after /wp-json, with * for anything: /wc/v3/*",
            r"1:137 mcpServers.a.site.requests.allow[1] [/a/../b] this is not a route of a site's REST API => write the path after /wp-json, with * for anything: /wc/v3/*",
            r"1:146 mcpServers.a.site.requests.allow[2] ['/c?d'] this is not a route of a site's REST API => write the path after /wp-json, with * for anything: /wc/v3/*",
        ],
    ),
];

#[test]
fn faults_of_native() {
    for (text, wanted) in NATIVE {
        same(text, &faults_in_short(text), wanted);
    }
}

#[test]
fn managing_is_not_for_every_login() {
    let hash =
        "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$gbf/SFxMMbGdacBN7IhMnP5qQZ1Lml+OVTsOtCvCWWc";
    let help = "restrict this: `management: { who: { user: [NAME] } }`";
    for (auth, ways) in [
        (format!("{{ users: {{ ann: '{hash}' }} }}"), "`auth.users`"),
        ("{ site: { url: 'https://blog.example.com' } }".to_owned(), "`auth.site`"),
        ("{ keys: true, jwt: { issuer: 'https://id.example.com', audience: x } }".to_owned(), "`auth.jwt`"),
        (
            format!("{{ users: {{ ann: '{hash}' }}, site: {{ url: 'https://blog.example.com' }} }}"),
            "`auth.users` or `auth.site`",
        ),
    ] {
        let text = format!("mcpServers: {{}}\nmanagement: true\nauth: {auth}\n");
        let fault = format!(
            "2:1 management [management] everybody who can log in through {ways} may change servers here, and can therefore start \
             programs on this machine => {help}"
        );
        same(&text, &faults_in_short(&text), &[&*fault]);
        loaded(&text.replace("management: true", "management: { who: { user: ann } }"));
        // A file over a preset with management.
        let base = loaded("mcpServers: {}\nmanagement: true\n").config;
        let nothing = Lookup { env: &|_| None, file: &|_| Err("no files".to_owned()) };
        let faults = load_over(base, &format!("mcpServers: {{}}\nauth: {auth}\n"), "test", &nothing);
        let faults = faults.expect_err("a fault").to_string();
        assert!(faults.contains("may change servers here") && faults.contains(":2:1"), "{faults}");
    }
    // Keys and tokens are given to callers for exactly the access that they open.
    loaded("mcpServers: {}\nmanagement: true\nauth: { keys: true, bearer: abc }\n");
}

#[test]
fn metrics_are_read_with_all_their_faults() {
    let text = "mcpServers: {}\nmetrics: { listen: example.com:1, series: 99, path: /m }\n";
    same(
        text,
        &faults_in_short(text),
        &[
            r"2:20 metrics.listen [example.com:1] an address to listen on must be an IP address and a port => write 127.0.0.1:1 for this machine only, or 0.0.0.0:1 for other machines, too",
            r"2:43 metrics.series [99] 99 is out of range => write a value from 100 to 1000000",
            r"2:47 metrics.path [path] unknown key `path` => remove it; known keys: listen, who, series",
        ],
    );
    let text = "mcpServers: {}\nmetrics: { listen: 9464, who: { key: a } }\n";
    same(
        text,
        &faults_in_short(text),
        &[
            r"2:26 metrics.who [who] `who` has no effect if the metrics have their own address, because callers do not authenticate there => remove `who` and restrict who can reach the address, or remove `listen`",
        ],
    );
}

#[test]
fn a_cluster_is_read_with_all_its_faults() {
    let text = "mcpServers: {}\ncluster: { store: http://store, prefix: a b, name: '', address: 0.0.0.0:1, adress: x }\n";
    same(
        text,
        &faults_in_short(text),
        &[
            r"2:1 cluster [cluster] there is no `keyRing` => add it: keyRing: /run/secrets/dragoman-keyring",
            r"2:19 cluster.store [http://store] the URL of the store must begin with redis:// or rediss:// => write redis://user:password@host:6379/0, or rediss:// for TLS",
            r"2:41 cluster.prefix [a b] a prefix can have up to 64 letters, digits and the characters - _ . => write prefix: dragoman",
            r"2:52 cluster.name [''] a name must have 1 to 64 visible ASCII characters and no space => write, for example, name: gateway-1",
            r"2:65 cluster.address [0.0.0.0:1] the other gateways cannot connect to this address => write the address of this machine in the network of the gateways, such as 10.0.0.7:8810",
            r"2:76 cluster.adress [adress] unknown key `adress` => did you mean `address`?",
        ],
    );
}

#[test]
fn management_is_read_with_all_its_faults() {
    let text = "mcpServers: {}\nmanagement: { who: {}, rate: 0/1m, path: /api }\n";
    same(
        text,
        &faults_in_short(text),
        &[
            r"2:20 management.who [{}] this is empty => add an entry, or remove the key",
            r"2:30 management.rate [0/1m] a rate of 0/1m is out of range => write 1 to 1000000 requests in at most 24h",
            r"2:36 management.path [path] unknown key `path` => remove it; known keys: who, rate",
        ],
    );
}
