// Settings, search, batches, embeds, themes, plugins, health.

import { since } from './cases.mjs';

const BATCH = [
  { method: 'POST', path: '/wp/v2/categories', body: { name: 'By batch' } },
  { method: 'DELETE', path: '/wp/v2/tags/9999', body: {} },
];

export default [
  ['subscriber', 'wp_get_site', {}, { name: 'Site north', url: '$url', namespaces: ['wp/v2'] }],
  ['admin', 'wp_get_site', {}, { name: 'Site north', timezone_string: 'UTC' }],
  ['admin', 'wp_get_settings', {}, { title: 'Site north', email: 'admin@north.example.org', posts_per_page: 10 }],
  ['subscriber', 'wp_get_settings', {}, '403 rest_forbidden'],
  ['admin', 'wp_update_settings', { description: 'Fish & chips' }, { description: 'Fish & chips' }],
  ['admin', 'wp_get_site', {}, { description: 'Fish & chips' }],
  ['admin', 'wp_update_settings', { description: 'In the north', posts_per_page: 7, use_smilies: false, timezone: 'Europe/Oslo', site_icon: '$picture' }, { description: 'In the north', posts_per_page: 7, use_smilies: false, timezone: 'Europe/Oslo', site_icon: '$picture' }],
  ['admin', 'wp_update_settings', { timezone: 'UTC', posts_per_page: 10 }, { title: 'Site north', timezone: 'UTC', posts_per_page: 10 }],
  ['subscriber', 'wp_update_settings', { title: 'Mine now' }, '403 rest_forbidden'],
  ['admin', 'wp_search', { search: 'About', type: 'post', subtype: ['page'] }, { results: [{ id: '$page', type: 'post', subtype: 'page', title: 'About north' }] }],
  ['subscriber', 'wp_search', { search: 'Local', type: 'term' }, { results: [{ title: 'Local', type: 'category' }] }],
  ['subscriber', 'wp_search', { search: 'secret-north-admin' }, { count: 0, total: 0, results: [] }],
  ['admin', 'wp_batch', { requests: BATCH }, { responses: [{ status: 201, body: { name: 'By batch' } }, { status: 404, body: { code: 'rest_term_invalid' } }] }],
  ['subscriber', 'wp_batch', { requests: BATCH }, { responses: [{ status: 403, body: { code: 'rest_cannot_create' } }, { status: 404, body: { code: 'rest_term_invalid' } }] }],
  ['admin', 'wp_batch', { requests: [{ method: 'POST', path: '/wp/v2/posts/$post', body: { content: 'x' } }] }, /request 1 .* would replace content.* use wp_update_post/],
  ['admin', 'wp_batch', { requests: [{ method: 'POST', path: '/wp/v2/posts/$post', body: { categories: [99999] } }] }, /there is no category 99999/],
  ['admin', 'wp_get_embed', { url: '$url/?p=$post', maxwidth: 300 }, { type: 'rich', title: 'Post 1 of north', width: 300 }],
  ['subscriber', 'wp_get_embed', { url: '$url/?p=9999' }, '404 oembed_invalid_url'],
  ['admin', 'wp_get_foreign_embed', { url: '$url/?p=$post' }, { title: 'Post 1 of north' }],
  ['subscriber', 'wp_get_foreign_embed', { url: '$url/?p=$post' }, '403 rest_forbidden'],
  ['admin', 'wp_get_url_details', { url: '$url/' }, { title: /Site north/ }],
  ['subscriber', 'wp_get_url_details', { url: '$url/' }, '403 rest_cannot_view_url_details'],

  ['admin', 'wp_get_themes', { status: 'active' }, { count: 1, themes: [{ status: 'active', name: String, version: String }] }, { theme: 'themes.0.stylesheet' }],
  ['subscriber', 'wp_get_themes', {}, '403 rest_cannot_view_themes'],
  ['admin', 'wp_get_theme', { stylesheet: '$theme' }, { stylesheet: '$theme', status: 'active', author: /WordPress/ }],
  ['admin', 'wp_get_theme', { stylesheet: 'nothing' }, '404 rest_theme_not_found'],
  ['subscriber', 'wp_get_theme', { stylesheet: '$theme' }, '403 rest_cannot_view_active_theme'],
  ['admin', 'wp_get_plugins', {}, { plugins: [{ plugin: 'greeter/greeter', name: 'Greeter', status: 'inactive', version: '1.2' }, { plugin: 'lone' }] }],
  ['subscriber', 'wp_get_plugins', {}, '403 rest_cannot_view_plugins'],
  ['admin', 'wp_get_plugin', { plugin: 'greeter/greeter' }, { plugin: 'greeter/greeter', name: 'Greeter', description: /Greets/ }],
  ['admin', 'wp_get_plugin', { plugin: 'lone' }, { plugin: 'lone', name: 'Lone' }],
  ['subscriber', 'wp_get_plugin', { plugin: 'lone' }, '403 rest_cannot_view_plugin'],
  ['admin', 'wp_update_plugin', { plugin: 'greeter/greeter', status: 'active' }, { plugin: 'greeter/greeter', status: 'active' }],
  ['subscriber', 'wp_update_plugin', { plugin: 'greeter/greeter', status: 'inactive' }, '403 rest_cannot_manage_plugins'],
  ['admin', 'wp_delete_plugin', { plugin: 'greeter/greeter' }, '400 rest_cannot_delete_active_plugin'],
  ['admin', 'wp_update_plugin', { plugin: 'greeter/greeter', status: 'inactive' }, { status: 'inactive' }],
  ['subscriber', 'wp_delete_plugin', { plugin: 'greeter/greeter' }, '403 rest_cannot_manage_plugins'],
  ['admin', 'wp_delete_plugin', { plugin: 'greeter/greeter' }, { deleted: true, previous: { plugin: 'greeter/greeter' } }],
  // Nothing leaves this machine, so the directory of plugins is not reached.
  ['admin', 'wp_create_plugin', { slug: 'akismet' }, '500 plugins_api_failed'],
  ['subscriber', 'wp_create_plugin', { slug: 'akismet' }, '403 rest_cannot_install_plugin'],

  ['admin', 'wp_get_site_health', { test: 'https-status' }, { test: 'https_status', label: String, status: String }],
  ['subscriber', 'wp_get_site_health', { test: 'https-status' }, '403 rest_forbidden'],
  ['admin', 'wp_get_site_health', { test: 'background-updates' }, { test: 'background_updates' }],
  ['admin', 'wp_get_site_health', { test: 'authorization-header' }, { test: 'authorization_header' }],
  ['admin', 'wp_get_directory_sizes', {}, { uploads_size: { size: String } }],
  ['subscriber', 'wp_get_directory_sizes', {}, '403 rest_forbidden'],
  // Newer than the WordPress of these packages.
  ['admin', 'wp_get_view_config', { kind: 'postType', name: 'page' }, since({ kind: 'postType', name: 'page', default_view: Object })],
];
