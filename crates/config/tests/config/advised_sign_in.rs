//! Notes on settings for signing in.

use crate::{notes_in_short, same};

fn noted(text: &str, wanted: &[&str]) {
    let text = format!("{text}\n");
    same(&text, &notes_in_short(&text), wanted);
}

const PUBLIC: &str = "publicUrl: https://m.example\n";
const SITES: &str = "sites: { native: wordpress, site: { login: true } }";
const HELP: &str = "restrict it: access: [{ deny: \"NAME__*\", who: { scheme: login } }]; or require more: login: { sites: […], \
                    capability: edit_posts }";

#[test]
fn signing_in_needs_an_address_and_a_server() {
    noted(&format!("{PUBLIC}auth: {{ login: wordpress }}\nmcpServers: {{ {SITES} }}"), &[]);
    noted(
        &format!("auth: {{ login: wordpress }}\nmcpServers: {{ {SITES} }}"),
        &[
            "1:9 auth.login [login] people on other machines cannot sign in without `publicUrl` => add the address at which browsers \
           reach Dragoman: publicUrl: https://mcp.example.com",
        ],
    );
    noted(
        &format!("{PUBLIC}auth: {{ login: wordpress }}\nmcpServers: {{}}"),
        &[
            "2:9 auth.login [login] no server uses the account with which people sign in => set `login` for a server that works on a site: site: { \
           login: true }",
        ],
    );
    noted(
        &format!("{PUBLIC}auth: {{ login: {{ sites: ['http://a.example'] }} }}\nmcpServers: {{ {SITES} }}"),
        &[
            "2:9 auth.login [login] passwords go to this site over http, where others can read them => write https://, unless you \
           trust the network between Dragoman and the site",
        ],
    );
}

#[test]
fn signing_in_may_let_in_too_many() {
    let servers = format!("mcpServers: {{ {SITES}, files: {{ command: x }} }}");
    for (login, who) in [
        ("wordpress", "anybody with a WordPress site"),
        ("{ sites: ['https://a.example'] }", "everybody with an account at these sites"),
    ] {
        let note = format!(
            "2:9 auth.login [login] {who} can sign in, and can then use the server `files` as well => {HELP}"
        );
        noted(&format!("{PUBLIC}auth: {{ login: {login} }}\n{servers}"), &[&note]);
    }
    let editors = "{ sites: ['https://a.example'], capability: edit_posts }";
    noted(&format!("{PUBLIC}auth: {{ login: {editors} }}\n{servers}"), &[]);
    let rule = "access: [{ deny: 'files__*', who: { scheme: login } }]";
    noted(&format!("{PUBLIC}auth: {{ login: wordpress }}\n{rule}\n{servers}"), &[]);
}
