//! `serverInfo` and icons: the exact text of every fault.

use crate::{faults_in_short, same};

const FAULTS: &[(&str, &[&str])] = &[
    (
        "mcpServers: {}\nprofiles: { a: { serverInfo: { name: ' ', websiteUrl: 'example.com', icon: x, icons: [{}] } } }\n",
        &[
            "2:38 profiles.a.serverInfo.name [' '] this is empty => write a text, or remove the key",
            "2:55 profiles.a.serverInfo.websiteUrl ['example.com'] this URL has no scheme => write it like https://example.com/about",
            "2:70 profiles.a.serverInfo.icon [icon] unknown key `icon` => did you mean `icons`?",
            "2:87 profiles.a.serverInfo.icons[0] [] there is no `src` => add it: src: https://example.com/icon.png",
        ],
    ),
    (
        "mcpServers: {}\nprofiles:\n  a:\n    serverInfo:\n      icons:\n        - { src: 'http://example.com/a.png', mimeType: png, sizes: 48, theme: blue }\n        - { src: 'javascript:alert(1)' }\n        - { src: 'data:text/html;base64,PGI+' }\n        - { src: 'data:image/png,<b>' }\n        - { src: 'https://user@example.com/a.png' }\n",
        &[
            "6:18 profiles.a.serverInfo.icons[0].src ['http://example.com/a.png'] clients load icons only from `https:` and `data:` addresses => write an `https:` address, or `data:image/png;base64,…`",
            "6:56 profiles.a.serverInfo.icons[0].mimeType [png] this is not a media type => write it like `image/png`",
            "6:68 profiles.a.serverInfo.icons[0].sizes [48] this is not a size => write it like `48x48`, or `any`",
            "6:79 profiles.a.serverInfo.icons[0].theme [blue] `blue` is not one of `light` or `dark` => write `light` or `dark`",
            "7:18 profiles.a.serverInfo.icons[1].src ['javascript:alert(1)'] clients load icons only from `https:` and `data:` addresses => write an `https:` address, or `data:image/png;base64,…`",
            "8:18 profiles.a.serverInfo.icons[2].src ['data:text/html;base64,PGI+'] this is not an image in Base64 => write an `https:` address, or `data:image/png;base64,…`",
            "9:18 profiles.a.serverInfo.icons[3].src ['data:image/png,<b>'] this is not an image in Base64 => write an `https:` address, or `data:image/png;base64,…`",
            "10:18 profiles.a.serverInfo.icons[4].src ['https://****@example.com/a.png'] a URL cannot carry a user name or a password => write an `https:` address, or `data:image/png;base64,…`",
        ],
    ),
];

#[test]
fn faults_of_server_info() {
    for (text, wanted) in FAULTS {
        same(text, &faults_in_short(text), wanted);
    }
    let large = format!(
        "mcpServers: {{}}\nprofiles: {{ a: {{ serverInfo: {{ icons: [{{ src: 'data:image/png;base64,{}' }}] }} }} }}\n",
        "A".repeat(16 << 10)
    );
    let faults = faults_in_short(&large);
    assert!(faults.len() == 1 && faults[0].contains("at most 16384 are allowed"), "{}", faults.len());
    let icons = "{ src: 'https://example.com/a' },".repeat(9);
    let many = format!("mcpServers: {{}}\nprofiles: {{ a: {{ serverInfo: {{ icons: [{icons}] }} }} }}\n");
    assert!(faults_in_short(&many)[0].contains("this list has 9 icons"));
}
