// Blocks, patterns, templates, styles, fonts, icons.

import { since } from './cases.mjs';

const QUIET = '<!-- wp:paragraph --><p>Kept.</p><!-- /wp:paragraph -->';
const FAMILY = JSON.stringify({ name: 'Mine', slug: 'mine', fontFamily: 'Mine' });
const RENAMED = JSON.stringify({ name: 'Ours', fontFamily: 'Ours' });
const LIGHT = { fontFamily: 'Mine', fontStyle: 'normal', fontWeight: '300' };
const FACE = JSON.stringify({ ...LIGHT, fontWeight: '400', src: '$url/mine.woff2' });

/** How a font's file begins. */
const WOFF2 = Buffer.from('wOF2').toString('base64');

const family = { font_family_id: '$family' };
const FONTS = [
  ['subscriber', 'wp_create_font_family', { font_family_settings: FAMILY }, '403 rest_cannot_create'],
  ['admin', 'wp_create_font_family', { font_family_settings: FAMILY }, { font_family_settings: { name: 'Mine', slug: 'mine' } }, { family: 'id' }],
  ['admin', 'wp_get_font_families', {}, { count: 1, font_families: [{ id: '$family' }] }],
  ['admin', 'wp_get_font_family', { id: '$family' }, { id: '$family' }],
  ['subscriber', 'wp_update_font_family', { id: '$family', font_family_settings: RENAMED }, '403 rest_cannot_edit'],
  ['admin', 'wp_update_font_family', { id: '$family', font_family_settings: RENAMED }, { font_family_settings: { name: 'Ours' } }],
  ['subscriber', 'wp_create_font_face', { ...family, font_face_settings: FACE }, '403 rest_cannot_create'],
  ['admin', 'wp_create_font_face', { ...family, font_face_settings: FACE }, { parent: '$family' }, { face: 'id' }],
  ['subscriber', 'wp_upload_font_face', { ...family, font_face_settings: JSON.stringify(LIGHT), file: WOFF2 }, '403 rest_cannot_create'],
  ['admin', 'wp_upload_font_face', { ...family, font_face_settings: JSON.stringify(LIGHT), file: WOFF2 }, { parent: '$family', font_face_settings: { fontWeight: '300' } }, { light: 'id' }],
  ['admin', 'wp_get_font_faces', family, { count: 2, font_faces: [{ id: '$face' }, { id: '$light' }] }],
  ['admin', 'wp_get_font_face', { ...family, id: '$face' }, { id: '$face', parent: '$family' }],
  ['subscriber', 'wp_delete_font_face', { ...family, id: '$face' }, '403 rest_cannot_delete'],
  ['admin', 'wp_delete_font_face', { ...family, id: '$face' }, { deleted: true }],
  ['admin', 'wp_get_font_face', { ...family, id: '$face' }, '404 rest_post_invalid_id'],
  ['subscriber', 'wp_delete_font_family', { id: '$family' }, '403 rest_cannot_delete'],
  ['admin', 'wp_delete_font_family', { id: '$family' }, { deleted: true }],
  // The collection of Google's fonts is at WordPress.org.
  ['admin', 'wp_get_font_collections', {}, { count: 0, total: 1 }],
  ['admin', 'wp_get_font_collection', { slug: 'google-fonts' }, '500 font_collection_json_missing'],
  ['admin', 'wp_get_icons', {}, { count: 10, total: Number, icons: [{ name: /^core\//, label: String, collection: 'core' }] }],
  ['admin', 'wp_get_icon', { name: 'core/plus' }, { name: 'core/plus', content: /^<svg/ }],
  ['admin', 'wp_get_icon_collections', {}, { collections: [{ slug: 'core' }] }],
  ['admin', 'wp_get_icon_collection', { slug: 'core' }, { slug: 'core', label: String }],
];
/** The same tools at a WordPress that has none of this: it says itself that it has no such route. */
const OF_NEWER = [...new Map(FONTS.map(([who, name, args]) => [`${who} ${name}`, [who, name, args]])).values()]
  .map(([who, name, args]) => [who, name, Object.fromEntries(Object.entries(args).map(([key, value]) => [key, /^\$/.test(value) ? 1 : value])), '404 rest_no_route']);

export default [
  ['subscriber', 'wp_create_block', { title: 'x', content: QUIET }, '403 rest_cannot_create'],
  ['admin', 'wp_create_block', { title: 'A block', content: QUIET }, { title: 'A block', content: QUIET, status: 'publish' }, { block: 'id' }],
  ['admin', 'wp_get_blocks', {}, { count: 1, total: 1, blocks: [{ id: '$block', title: 'A block' }] }],
  ['subscriber', 'wp_get_blocks', { status: 'draft' }, '400 rest_invalid_param'],
  ['admin', 'wp_get_block', { id: '$block' }, { id: '$block', content: QUIET }],
  ['subscriber', 'wp_get_block', { id: '$block' }, '403 rest_forbidden'],
  ['admin', 'wp_update_block', { id: '$block', title: 'That block' }, { title: 'That block', content: QUIET }],
  ['admin', 'wp_update_block', { id: '$block', title: 'This block' }, { title: 'This block' }],
  ['subscriber', 'wp_update_block', { id: '$block', title: 'x' }, '403 rest_cannot_edit'],
  ['admin', 'wp_get_block_revisions', { id: '$block' }, { versions: [{ parent: '$block' }] }],
  ['subscriber', 'wp_get_block_revisions', { id: '$block' }, '403 rest_cannot_read'],
  // Their versions are had by the tools for things of any type.
  ['admin', 'wp_get_item_revisions', { type: 'blocks', id: '$block', orderby: 'date', order: 'asc' }, { versions: [{ parent: '$block' }] }, { blockVersion: 'versions.0.id' }],
  ['admin', 'wp_get_item_revision', { type: 'blocks', id: '$block', version: '$blockVersion', context: 'edit' }, { id: '$blockVersion', parent: '$block', content: String }],
  ['admin', 'wp_create_item_autosave', { type: 'blocks', id: '$block', content: QUIET, title: 'Half a block' }, { parent: Number }, { blockSaved: 'id' }],
  ['admin', 'wp_get_item_autosave', { type: 'blocks', id: '$block', version: '$blockSaved' }, { id: '$blockSaved' }],
  ['admin', 'wp_update_block', { id: '$block', date: '2020-01-02T03:04:05', password: 'open' }, { id: '$block' }],
  ['admin', 'wp_get_block', { id: '$block', context: 'edit', full: true }, { date: '2020-01-02T03:04:05', password: 'open' }],
  ['admin', 'wp_get_blocks', { modified_after: '2099-01-02T03:04:05' }, { count: 0, blocks: [] }],
  ['subscriber', 'wp_delete_block', { id: '$block' }, '403 rest_cannot_delete'],
  ['admin', 'wp_delete_block', { id: '$block', force: true }, { deleted: true, previous: { id: '$block' } }],
  ['admin', 'wp_get_block_types', { per_page: 3, page: 2 }, { count: 3, total: Number, total_pages: Number }],
  ['admin', 'wp_get_block_types', { namespace: 'core', per_page: 100 }, { block_types: [{ name: 'core/paragraph', title: 'Paragraph', category: 'text' }] }],
  ['subscriber', 'wp_get_block_types', {}, '403 rest_block_type_cannot_view'],
  ['admin', 'wp_get_block_type', { namespace: 'core', name: 'paragraph' }, { name: 'core/paragraph', attributes: { content: Object } }],
  ['subscriber', 'wp_get_block_type', { namespace: 'core', name: 'paragraph' }, '403 rest_block_type_cannot_view'],
  ['admin', 'wp_get_block_type', { namespace: 'core', name: 'nothing' }, '404 rest_block_type_invalid'],
  ['admin', 'wp_get_rendered_block', { name: 'core/latest-posts', attributes: { postsToShow: 2 } }, { rendered: /<ul/ }],
  ['subscriber', 'wp_get_rendered_block', { name: 'core/latest-posts' }, '403 block_cannot_read'],
  // Nothing leaves this machine, so WordPress's own directories are not reached.
  ['admin', 'wp_search_block_directory', { term: 'map' }, '500 plugins_api_failed'],
  ['subscriber', 'wp_search_block_directory', { term: 'map' }, '403 rest_block_directory_cannot_view'],
  ['admin', 'wp_search_patterns', { search: 'hero' }, '500 http_request_not_executed'],
  ['subscriber', 'wp_search_patterns', {}, '403 rest_pattern_directory_cannot_view'],
  ['admin', 'wp_get_block_patterns', {}, { patterns: [{ name: String, title: String, categories: Array }] }],
  ['subscriber', 'wp_get_block_patterns', {}, '403 rest_cannot_view'],
  ['admin', 'wp_get_block_pattern_categories', {}, { categories: [{ name: 'buttons', label: 'Buttons' }] }],
  ['subscriber', 'wp_get_block_pattern_categories', {}, '403 rest_cannot_view'],
  ['admin', 'wp_create_term', { taxonomy: 'wp_pattern_category', name: 'Calm' }, since({ name: 'Calm' })],
  ['admin', 'wp_get_pattern_categories', {}, since({ categories: [{ name: 'Calm', slug: 'calm' }] })],

  ...templates('template', 'templates', 'single', 'single'),
  // The WordPress of these packages looks for parts among templates, too.
  ...templates('template_part', 'parts', 'header', 'index'),

  ['admin', 'wp_get_themes', { status: 'active' }, { count: 1 }, { look: 'themes.0.stylesheet' }],
  ['admin', 'wp_get_theme_styles', { stylesheet: '$look' }, { settings: Object, styles: Object }],
  ['subscriber', 'wp_get_theme_styles', { stylesheet: '$look' }, since('403 rest_cannot_read_global_styles', '403 rest_cannot_manage_global_styles')],
  ['admin', 'wp_get_theme_styles', { stylesheet: 'nothing' }, '404 rest_theme_not_found'],
  ['admin', 'wp_get_theme_style_variations', { stylesheet: '$look' }, { variations: Array }],
  ['subscriber', 'wp_get_theme_style_variations', { stylesheet: '$look' }, since('403 rest_cannot_read_global_styles', '403 rest_cannot_manage_global_styles')],
  ['admin', 'wp_get_theme', { stylesheet: '$look', full: true }, { _links: { 'wp:user-global-styles': [{ href: /global-styles/ }] } }, { styles: '_links.wp:user-global-styles.0.href' }],
  ['admin', 'wp_get_global_styles', { id: '$stylesId' }, { id: '$stylesId', settings: Object, styles: Object }],
  ['subscriber', 'wp_get_global_styles', { id: '$stylesId' }, '403 rest_cannot_view'],
  ['admin', 'wp_update_global_styles', { id: '$stylesId', styles: { color: { background: '#ffeedd' } } }, { id: '$stylesId', styles: { color: { background: '#ffeedd' } } }],
  ['subscriber', 'wp_update_global_styles', { id: '$stylesId', styles: {} }, '403 rest_cannot_edit'],
  // An older WordPress shows the styles themselves at any path below them.
  ['admin', 'wp_get_global_styles_revisions', { id: '$stylesId' }, since({ versions: [{ parent: '$stylesId' }] }, /too old/), since({ stylesVersion: 'versions.0.id' }, {})],
  ...since([['admin', 'wp_get_global_styles_revision', { id: '$stylesId', version: '$stylesVersion' }, { id: '$stylesVersion', parent: '$stylesId' }]], []),
  ['admin', 'wp_get_global_styles_revision', { id: '$stylesId', version: 1 }, since('404 rest_post_invalid_id', /too old/)],

  ['admin', 'wp_get_theme_export', {}, { name: /^[a-z0-9-]+\.zip$/, mimeType: 'application/zip', size: Number, uri: '$url/wp-json/wp-block-editor/v1/export' }],
  ['subscriber', 'wp_get_theme_export', {}, '403 rest_cannot_export_templates'],

  ...since(FONTS, OF_NEWER),
];

/** The same twelve tools, for templates and for their parts. */
function templates(kind, kept, known, found) {
  const tool = (verb, rest = '') => `wp_${verb}_${kind}${rest}`;
  const [first, mine] = [`${kept}First`, `${kept}Mine`];
  const denied = '403 rest_cannot_manage_templates';
  const at = { id: `$${mine}` };
  const [version, saved] = [`${mine}Version`, `${mine}Saved`];
  const newer = [
    ['admin', tool('get', '_revisions'), at, { versions: [{ parent: `$${mine}Number` }] }, { [version]: 'versions.0.wp_id' }],
    ['admin', tool('get', '_revision'), { ...at, version: `$${version}` }, { wp_id: `$${version}`, content: QUIET }],
    ['subscriber', tool('create', '_autosave'), { ...at, content: QUIET }, denied],
    ['admin', tool('create', '_autosave'), { ...at, content: QUIET, title: 'Half' }, { parent: `$${mine}Number`, content: QUIET }, { [saved]: 'wp_id' }],
    ['admin', tool('get', '_autosaves'), at, { count: 1, versions: [{ wp_id: `$${saved}` }] }],
    ['admin', tool('get', '_autosave'), { ...at, version: `$${saved}` }, { wp_id: `$${saved}` }],
    ['subscriber', tool('delete', '_revision'), { ...at, version: `$${version}` }, '403 rest_cannot_delete'],
    ['admin', tool('delete', '_revision'), { ...at, version: `$${version}` }, { deleted: true }],
    ['admin', tool('get', '_revision'), { ...at, version: `$${version}` }, '404 rest_post_invalid_id'],
  ];
  // An older WordPress takes the whole path for the name of one.
  const older = [
    ['admin', tool('get', '_revisions'), at, '404 rest_template_not_found'],
    ['admin', tool('get', '_revision'), { ...at, version: 1 }, '404 rest_template_not_found'],
    ['admin', tool('delete', '_revision'), { ...at, version: 1 }, '404 rest_template_not_found'],
    ['subscriber', tool('delete', '_revision'), { ...at, version: 1 }, denied],
    ['admin', tool('get', '_autosaves'), at, '404 rest_template_not_found'],
    ['admin', tool('get', '_autosave'), { ...at, version: 1 }, '404 rest_template_not_found'],
    ['admin', tool('create', '_autosave'), { ...at, content: QUIET }, '404 rest_template_not_found'],
    ['subscriber', tool('create', '_autosave'), { ...at, content: QUIET }, denied],
  ];
  return [
    ['admin', tool('get', 's'), {}, { templates: [{ slug: known, source: 'theme', title: String, has_theme_file: true }] }, { [first]: 'templates.0.id' }],
    ['subscriber', tool('get', 's'), {}, denied],
    ['admin', tool('get'), { id: `$${first}` }, { id: `$${first}`, content: /<!-- wp:/ }],
    ['subscriber', tool('get'), { id: `$${first}` }, denied],
    ['admin', tool('find'), { slug: known }, { slug: found, content: /<!-- wp:/ }],
    ['subscriber', tool('find'), { slug: known }, denied],
    ['subscriber', tool('create'), { slug: 'mine' }, denied],
    ['admin', tool('create'), { slug: 'mine', title: 'Mine', content: QUIET, description: 'For me' }, { slug: 'mine', title: 'Mine', content: QUIET, source: 'custom' }, { [mine]: 'id', [`${mine}Number`]: 'wp_id' }],
    ['admin', tool('update'), { id: `$${mine}`, title: 'Still mine' }, { title: 'Still mine', content: QUIET }],
    ['subscriber', tool('update'), { id: `$${mine}`, title: 'x' }, denied],
    ...since(newer, older),
    ['subscriber', tool('delete'), { id: `$${mine}` }, denied],
    ['admin', tool('delete'), { id: `$${mine}`, force: true }, { deleted: true, previous: { slug: 'mine' } }],
    ['admin', tool('get'), { id: `$${mine}` }, '404 rest_template_not_found'],
    ['admin', tool('delete'), { id: `$${first}`, force: true }, '400 rest_invalid_template'],
  ];
}
