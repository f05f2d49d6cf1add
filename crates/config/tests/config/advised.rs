//! Notes on settings that are accepted although they are probably not intended, each with its position and a
//! help.

use crate::{faults_in_short, notes_in_short, same, try_load};

const HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$aHVzaGh1c2g$aHVzaGh1c2hodXNoaHVzaA";

/// Checks the notes on `text`, in a file with two servers.
fn noted(text: &str, wanted: &[&str]) {
    let text = format!("mcpServers: {{ docs: {{ native: demo }}, blog: {{ native: demo }} }}\n{text}\n");
    same(&text, &notes_in_short(&text), wanted);
}

#[test]
fn auth_that_asks_nobody_or_can_be_guessed() {
    let nobody = "`auth` contains no way to log in, so callers are not authenticated => add one, such as keys: true, or remove \
                  `auth`";
    for auth in ["auth: {}", "auth:", "auth: { bearer: }"] {
        noted(auth, &[&format!("2:1 auth [auth] {nobody}")]);
    }
    for meant in ["auth: { keys: true }", "auth: { bearer: { token: '${EMPTY}', optional: true } }"] {
        noted(meant, &[]);
    }
    let short = "this token is so short that it can be guessed => generate one, for example with: openssl rand -hex 32";
    noted("auth: { bearer: abc }", &[&format!("2:17 auth.bearer [***] {short}")]);
    noted(
        "auth: { bearer: { token: '${SECRET}' } }",
        &[&format!("2:26 auth.bearer ['${{SECRET}}'] {short}")],
    );
    noted("auth: { bearer: abcdefghijklmnop }", &[]);
    let oauth = "{ resource: 'https://m.example', scopes: [a], requiredScopes: [a, b] }";
    let jwt = "jwt: { issuer: 'https://id.example' }";
    noted(
        &format!("auth: {{ {jwt}, oauth: {oauth} }}"),
        &[
            "2:48 auth.oauth [oauth] every token needs the scope `b`, but clients do not request it => add it to `scopes`, too",
        ],
    );
    noted(&format!("auth: {{ {jwt}, oauth: {} }}", oauth.replace("[a]", "[b, a]")), &[]);
}

#[test]
fn rules_about_askers_that_nobody_can_be() {
    let rule = |auth: &str, who: &str| format!("auth: {auth}\naccess: [{{ deny: '*', who: {who} }}]");
    let key =
        "API keys are not accepted here, so this matches nobody => add keys: true to `auth`; or remove this";
    let name = "no way to log in by name is configured, so this matches nobody => add `users` or `site` to `auth`; to match \
                names in tokens, write claim: { sub: NAME }; or remove this";
    let token =
        "signed tokens are not accepted here, so this matches nobody => add `jwt` to `auth`; or remove this";
    let claims = "callers have no claims here, so this matches nobody => add `jwt`, `site` or `login` to `auth`; or remove this";
    let users = format!("{{ users: {{ ann: '{HASH}', bob: '{HASH}' }} }}");
    for (who, at, wanted) in [
        ("{ key: ci }", "access[0].who.key [key]", key),
        ("{ scope: admin }", "access[0].who.scope [scope]", token),
        ("{ claim: { sub: x } }", "access[0].who.claim [claim]", claims),
    ] {
        noted(&rule(&users, who), &[&format!("3:30 {at} {wanted}")]);
    }
    noted(&rule("{ keys: true }", "{ user: ann }"), &[&format!("3:30 access[0].who.user [user] {name}")]);
    noted(
        &rule(&users, "{ user: [ann, bop, 'z*', zoe] }"),
        &[
            "3:42 access[0].who.user[1] [bop] `auth.users` has no user `bop` => did you mean `bob`?",
            "3:47 access[0].who.user[2] ['z*'] `auth.users` has no user `z*` => available: ann, bob",
            "3:53 access[0].who.user[3] [zoe] `auth.users` has no user `zoe` => available: ann, bob",
        ],
    );
    noted(
        &rule(&users, "{ scheme: [basic, token, anyone] }"),
        &[
            "3:46 access[0].who.scheme[1] [token] nobody authenticates with `token` here, so this matches nobody => add `jwt` to \
             `auth`; or remove this",
        ],
    );
    // The same applies to callers that may manage, and to excluded callers.
    noted(
        "auth: { keys: true }\nmanagement: { who: { scope: admin } }",
        &[&format!("3:22 management.who.scope [scope] {token}")],
    );
    noted(
        "auth: { keys: true }\naccess: [{ deny: '*', unless: { scope: a } }]",
        &[&format!("3:33 access[0].unless.scope [scope] {token}")],
    );
    // A site has users that are not named here.
    for (auth, who) in [
        ("{ site: { url: 'https://h' } }", "{ user: ann }"),
        (&*users, "{ user: 'a*', ip: 10.0.0.0/8 }"),
        ("{ keys: true }", "{ key: ci, scheme: key }"),
    ] {
        noted(&rule(auth, who), &[]);
    }
}

#[test]
fn names_that_are_too_long_with_the_prefix_of_clients() {
    let long = "n".repeat(50);
    let over = "with the prefix mcp__dragoman__, this name has 65 characters, but clients accept at most 64 => choose a \
                shorter name, or set `clientPrefix`";
    noted(
        &format!(
            "profiles: {{ one: {{ tools: {{ rename: {{ docs__echo: {long} }}, overrides: {{ docs__add: {{ name: {long} }} }} }} }} }}"
        ),
        &[
            &format!("2:51 profiles.one.tools.rename [{long}] {over}"),
            &format!("2:137 profiles.one.tools.overrides [{long}] {over}"),
        ],
    );
    noted(
        &format!(
            "profiles: {{ one: {{ clientPrefix: '', tools: {{ rename: {{ docs__echo: {long} }} }} }} }}"
        ),
        &[],
    );
    let slug = "p".repeat(36);
    noted(
        &format!("profiles: {{ {slug}: {{}} }}"),
        &[&format!(
            "2:13 profiles.{slug} [{slug}] the prefix mcp__{slug}__ leaves only 21 characters for names, so most names are replaced by short codes => set `clientPrefix` to the prefix that your clients use"
        )],
    );
}

#[test]
fn names_that_nothing_has() {
    let bare = "names start with the server's name here, so nothing has this name => write";
    let unknown = |server: &str, help: &str| {
        format!("there is no server `{server}` here, so nothing has this name => {help}")
    };
    let there_are = "available: docs, blog";
    noted(
        "access: [{ deny: [echo, dogs__echo, tasks__echo, docs__echo, '*echo', 'test://x'] }]",
        &[
            &format!("2:19 access[0].deny[0] [echo] {bare} *__echo"),
            &format!("2:25 access[0].deny[1] [dogs__echo] {}", unknown("dogs", "did you mean `docs`?")),
            &format!("2:37 access[0].deny[2] [tasks__echo] {}", unknown("tasks", there_are)),
        ],
    );
    noted(
        "rateLimits: [{ rate: 1/s, tools: echo }]",
        &[&format!("2:34 rateLimits[0].tools[0] [echo] {bare} *__echo")],
    );
    noted(
        "profiles: { one: { servers: docs, tools: { allow: [echo, blog__echo] } } }",
        &[
            &format!("2:52 profiles.one.tools.allow[0] [echo] {bare} docs__echo"),
            &format!("2:58 profiles.one.tools.allow[1] [blog__echo] {}", unknown("blog", "available: docs")),
        ],
    );
    noted(
        "profiles: { default: { tools: { rename: { docs__echo: echo } } } }\naccess: [{ deny: echo }]",
        &[
            "3:18 access[0].deny[0] [echo] rules use the server's own name for an item, but this name comes from a profile => \
             write docs__echo",
        ],
    );
    noted(
        "profiles: { one: { servers: docs, names: plain, tools: { overrides: { docs__echo: {}, dogs__echo: {}, echo: {} } } } }",
        &[
            &format!(
                "2:87 profiles.one.tools.overrides [dogs__echo] {}",
                unknown("dogs", "did you mean `docs`?")
            ),
            &format!("2:103 profiles.one.tools.overrides [echo] {bare} docs__echo"),
        ],
    );
    noted(
        "profiles: { one: { servers: docs, tools: { mode: hybrid, direct: [echo, docs__echo] } } }",
        &[&format!("2:67 profiles.one.tools.direct[0] [echo] {bare} docs__echo")],
    );
    // There is no note if names are formed in another way.
    for fine in [
        "profiles: { default: { names: plain } }\naccess: [{ deny: echo }]",
        "access: [{ deny: '${SECRET}' }]",
    ] {
        noted(fine, &[]);
    }
}

#[test]
fn names_that_an_embedded_server_does_not_have() {
    let noted = |text: &str, wanted: &[&str]| {
        let text =
            format!("mcpServers: {{ old: {{ native: heritage }}, docs: {{ native: demo }} }}\n{text}\n");
        same(&text, &notes_in_short(&text), wanted);
    };
    noted(
        "access: [{ deny: [old__fnid, old__find, old__tell, old__other, docs__wat, 'old__f*'] }]",
        &[
            "2:19 access[0].deny[0] [old__fnid] the server `old` has no tool or prompt `fnid` => did you mean `old__find`?",
            "2:52 access[0].deny[3] [old__other] the server `old` has no tool or prompt `other` => `dragoman list old` lists its \
             tools and prompts",
        ],
    );
    noted(
        "rateLimits: [{ rate: 1/s, tools: [old__tell, old__describe] }]",
        &[
            "2:35 rateLimits[0].tools[0] [old__tell] the server `old` has no tool `tell` => `dragoman list old` lists its tools \
             and prompts",
        ],
    );
    noted(
        "profiles: { one: { tools: { deny: old__descrbe, rename: { old__fin: f, old__find: g } }, prompts: { allow: [old__tel, old__tell] } } }",
        &[
            "2:35 profiles.one.tools.deny[0] [old__descrbe] the server `old` has no tool `descrbe` => did you mean `old__describe`?",
            "2:59 profiles.one.tools.rename [old__fin] the server `old` has no tool `fin` => did you mean `old__find`?",
            "2:109 profiles.one.prompts.allow[0] [old__tel] the server `old` has no prompt `tel` => did you mean `old__tell`?",
        ],
    );
    // Without the server's prefix, there is a note only if the offers of all servers are known.
    noted("profiles: { default: { names: plain, tools: { deny: fnid } } }\naccess: [{ deny: fnid }]", &[]);
    noted(
        "profiles: { one: { servers: old, names: plain, tools: { allow: [fnid, find, old__find, old__fin] } } }",
        &[
            "2:65 profiles.one.tools.allow[0] [fnid] no server here has a tool `fnid` => did you mean `find`?",
            "2:88 profiles.one.tools.allow[3] [old__fin] no server here has a tool `old__fin` => `dragoman list old` lists the \
             available names",
        ],
    );
}

#[test]
fn rules_for_all_where_names_are_plain_and_known() {
    let text = "mcpServers: { old: { native: heritage } }\nprofiles: { default: { names: plain } }\n\
                access: [{ deny: [fnid, find, tell, old__find] }]\n";
    same(
        text,
        &notes_in_short(text),
        &["3:19 access[0].deny[0] [fnid] no server here has a tool or prompt `fnid` => did you mean `find`?"],
    );
    // There is no note for a server whose name is long enough to be shortened.
    for (server, wanted) in [("s".repeat(32), 0), ("s".repeat(22), 1)] {
        let text =
            format!("mcpServers: {{ {server}: {{ native: plain }} }}\naccess: {{ deny: {server}__fnid }}\n");
        assert_eq!(notes_in_short(&text).len(), wanted, "{text}");
    }
}

#[test]
fn keys_without_effect() {
    let shared =
        "callers are not authenticated, so all of them share one count => write per: ip, or add `auth`";
    noted(
        "rateLimits: [{ rate: 1/s, per: [principal, tool] }]",
        &[&format!("2:33 rateLimits[0].per[0] [principal] {shared}")],
    );
    noted("auth: { keys: true }\nrateLimits: { rate: 1/s, per: principal }", &[]);
    let redact =
        "arguments are not recorded, so there is nothing to redact => remove it, or write arguments: true";
    noted("audit: { redact: [password] }", &[&format!("2:10 audit.redact [redact] {redact}")]);
    noted("audit: { redact: [password], arguments: true }", &[]);
    noted(
        "dialects: { mine: { base: bb }, own: { base: bb }, more: { base: own } }\ndialect: more",
        &[
            "2:13 dialects.mine [mine] nothing uses this dialect => assign it to an endpoint: endpoints: [{ path: /tools, \
             dialect: mine }]",
        ],
    );
}

#[test]
fn methods_of_a_dialect_that_no_version_has() {
    let own = |columns: &str| format!("dialects: {{ own: {{ base: bb, {columns} }} }}\ndialect: own");
    let unknown =
        |name: &str, help: &str| format!("no version of the protocol has the method `{name}` => {help}");
    noted(
        &own("methods: [initialize, tools/lst, notifications/initialized, acme/turn, '${SECRET}']"),
        &[
            &format!(
                "2:52 dialects.own.methods[1] [tools/lst] {}",
                unknown("tools/lst", "did you mean `tools/list`?")
            ),
            &format!(
                "2:90 dialects.own.methods[3] [acme/turn] {}",
                unknown("acme/turn", "no change needed if a server supports this method as an extension")
            ),
        ],
    );
    noted(
        &own("emptyMethods: [pnig]"),
        &[&format!("2:45 dialects.own.emptyMethods[0] [pnig] {}", unknown("pnig", "did you mean `ping`?"))],
    );
    // All methods of a built-in dialect are known.
    for dialect in dragoman_config::dialect_rows::Dialect::all() {
        for column in ["methods", "emptyMethods"] {
            let names = dialect.get(column).expect("a column");
            noted(&own(&format!("{column}: {names}")), &[]);
        }
    }
}

#[test]
fn dialects_whose_callers_show_who_they_are_where_nobody_is_asked() {
    let asks = |dialect: &str, auth: &str| {
        format!("the dialect `{dialect}` requires authentication, but none is configured => add auth: {auth}")
    };
    let site = "{ site: { url: \"${WORDPRESS_URL}\" } }";
    let community = asks("buddyboss", site);
    noted(
        "endpoints: [{ path: /x, dialect: buddyboss }, { path: /y, dialect: kulturarv }]",
        &[&format!("2:34 endpoints[0].dialect [buddyboss] {community}; or add auth: none to this endpoint")],
    );
    noted("dialect: buddyboss", &[&format!("2:10 dialect [buddyboss] {community}")]);
    let hosted = asks("wordpress-saas", "{ keys: true }");
    noted(
        "profiles: { default: { dialect: wordpress-saas } }",
        &[&format!("2:33 profiles.default.dialect [wordpress-saas] {hosted}")],
    );
    // A custom dialect that is based on one of these authenticates callers, too.
    noted(
        "dialects: { own: { base: buddyboss, ackStatus: 204 } }\nprofiles: { default: { dialect: own } }",
        &[&format!("3:33 profiles.default.dialect [own] {}", asks("own", site))],
    );
    // An empty token does not authenticate anybody, either.
    noted(
        "auth: { bearer: { token: '${EMPTY}', optional: true } }\ndialect: buddyboss",
        &[&format!("3:10 dialect [buddyboss] {community}")],
    );
    for fine in [
        "auth: { site: { url: 'https://h' } }\nendpoints: [{ path: /x, dialect: buddyboss }]",
        "auth: { keys: true }\nprofiles: { default: { dialect: buddyboss } }",
        "endpoints: [{ path: /x, dialect: buddyboss, auth: none }]",
        "profiles: { default: { dialect: bb } }\nendpoints: [{ path: /x, dialect: wordpress }]",
    ] {
        noted(fine, &[]);
    }
}

#[test]
fn a_file_with_faults_is_not_advised() {
    let text = |token: &str| {
        format!(
            "mcpServers: {{}}\nauth: {{ bearer: '{token}' }}\naccess: [{{ deny: '*', who: {{ key: ci }} }}]"
        )
    };
    assert_eq!(faults_in_short(&text("")).len(), 1);
    assert_eq!(try_load(&text("")).expect_err("a fault").notes, []);
    assert_eq!(notes_in_short(&text("abcdefghijklmnop")).len(), 1);
}

#[test]
fn a_path_with_a_slash_at_its_end_is_the_same_path() {
    let text = "mcpServers: {}\nendpoints: [{ path: /x }, { path: /x/ }]";
    same(
        text,
        &faults_in_short(text),
        &[
            "2:35 endpoints[1].path [/x/] another endpoint already has the path `/x/` => choose another path, or \
             remove one of the two",
        ],
    );
}

#[test]
fn a_hybrid_list_without_tools_of_its_own() {
    let text = "mcpServers: { docs: { command: x } }\n\
                profiles: { one: { tools: { mode: hybrid } }, two: { tools: { mode: search } } }\n";
    same(
        text,
        &notes_in_short(text),
        &[
            "2:35 profiles.one.tools.mode [hybrid] `mode: hybrid` without `direct` lists no tools besides `find_tools` and \
           `call_tool` => name the tools to list under `direct`, or write `mode: search`",
        ],
    );
}
