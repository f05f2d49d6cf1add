// Posts, pages, things of any type; their earlier versions and autosaves.
// Each case: who, tool, arguments, what comes back (`STATUS CODE` when refused), what is kept of it for others.

// A block that the site shows as it is, another, and a shortcode that it expands.
const SOURCE = '<!-- wp:heading -->\n<h2 class="wp-block-heading">At the lake</h2>\n<!-- /wp:heading -->\n\n<!-- wp:paragraph -->\n<p>It is open all day long.</p>\n<!-- /wp:paragraph -->\n\n[gallery ids="$$picture"]';
const CHANGED = SOURCE.replace('open', 'closed');

export default [
  ['subscriber', 'wp_restore_post', { id: '$binned' }, '403 rest_cannot_edit'],
  ['admin', 'wp_restore_post', { id: '$binned', status: 'pending' }, { id: '$binned', status: 'pending', title: /binned post/ }],
  ['admin', 'wp_get_page', { id: '$page' }, { id: '$page', type: 'page', title: 'About north', content: /fish/, status: 'publish' }],
  ['subscriber', 'wp_get_page', { id: '$page' }, { id: '$page', content: /fish/ }],
  ['subscriber', 'wp_get_page', { id: '$page', context: 'edit' }, '403 rest_forbidden_context'],
  ['admin', 'wp_create_page', { title: 'To bin', content: 'x' }, { id: Number }, { other: 'id' }],
  ['admin', 'wp_delete_page', { id: '$other' }, { status: 'trash' }],
  ['subscriber', 'wp_restore_page', { id: '$other' }, '403 rest_cannot_edit'],
  ['admin', 'wp_restore_page', { id: '$other' }, { id: '$other', status: 'draft' }],

  ['admin', 'wp_create_post', { title: 'Blocks', content: SOURCE, status: 'publish' }, { id: Number }, { blocks: 'id' }],
  ['admin', 'wp_get_post', { id: '$blocks' }, { content: SOURCE, content_format: 'source' }],
  ['admin', 'wp_get_item', { type: 'posts', id: '$blocks' }, { content: SOURCE, content_format: 'source' }],
  ['admin', 'wp_get_post', { id: '$blocks', rendered: true }, { content: /<h2 [^>]*>At the lake<\/h2>[^]*gallery/, content_format: 'rendered' }, { html: 'content' }],
  ['subscriber', 'wp_get_post', { id: '$blocks' }, { content: /At the lake/, content_format: 'rendered', content_note: /may not edit/ }],
  ['admin', 'wp_update_post', { id: '$blocks', content: '<h2>At the lake</h2>\n<p>It is closed all day long.</p>' }, /a heading block, a paragraph block/],
  ['admin', 'wp_update_item', { type: 'posts', id: '$blocks', content: '$html' }, /\[gallery\]/],
  ['subscriber', 'wp_update_post', { id: '$blocks', content: '$html' }, '403 rest_cannot_edit'],
  ['admin', 'wp_update_post', { id: '$blocks', content: CHANGED }, { id: '$blocks' }],
  ['admin', 'wp_get_post', { id: '$blocks' }, { content: CHANGED }],
  ['admin', 'wp_update_post', { id: '$blocks', content: '$html', allow_markup_loss: true }, { id: '$blocks' }, { replaced: 'previous_content' }],
  ['subscriber', 'wp_restore_content', { previous_content: '$replaced' }, /no content is kept at this address for this account/],
  ['admin', 'wp_restore_content', { previous_content: '$replaced' }, { id: '$blocks', previous_content: String }],
  ['admin', 'wp_get_post', { id: '$blocks' }, { content: CHANGED }],
  ['admin', 'wp_update_post', { id: '$blocks', meta: { rank_math_title: 'Lake %sep% North' } }, { id: '$blocks' }],
  ['admin', 'wp_get_post', { id: '$blocks' }, { content: CHANGED, meta: { rank_math_title: 'Lake %sep% North' } }],
  ['admin', 'wp_delete_post', { id: '$blocks', force: true }, { deleted: true }],

  ...versions('post', { id: '$post' }),
  ...versions('page', { id: '$page' }),
  ...versions('item', { type: 'posts', id: '$item' }, [
    ['subscriber', 'wp_create_item', { type: 'posts', title: 'Of any type' }, '403 rest_cannot_create'],
    ['admin', 'wp_create_item', { type: 'posts', title: 'Of any type', content: '<p>One.</p>', excerpt: 'Brief', status: 'publish' }, { type: 'post', title: 'Of any type', status: 'publish' }, { item: 'id' }],
  ]),

  ['admin', 'wp_get_items', { type: 'posts', search: 'Of any type' }, { count: 1, total: 1, items: [{ id: '$item', type: 'post', title: 'Of any type', status: 'publish' }] }],
  ['admin', 'wp_create_post', { title: 'By the clock', content: 'x', date_gmt: '2020-01-02T03:04:05' }, { date: '2020-01-02T03:04:05' }, { clock: 'id' }],
  ['admin', 'wp_delete_post', { id: '$clock', force: true }, { deleted: true }],
  ['subscriber', 'wp_get_items', { type: 'posts', per_page: 2 }, { count: 2, total: Number, items: [{ status: 'publish' }] }],
  ['subscriber', 'wp_get_items', { type: 'posts', status: 'draft' }, '400 rest_invalid_param'],
  ['admin', 'wp_get_items', { type: 'nothing' }, '404 rest_no_route'],
  ['admin', 'wp_create_item', { type: 'posts', title: 'With fields', fields: { categories: ['$news'], author: '$editor', sticky: true } }, { id: Number }, { filed: 'id' }],
  ['admin', 'wp_get_items', { type: 'posts', status: 'draft', filters: { categories: ['$news'], author: '$editor' } }, { count: 1, items: [{ id: '$filed', author: '$editor' }] }],
  ['admin', 'wp_get_post', { id: '$filed', full: true }, { sticky: true, categories: ['$news'] }],
  ['admin', 'wp_update_item', { type: 'posts', id: '$filed', fields: { catgories: ['$news'], acf: { price: 5 }, sticky: false } }, { stored: { sticky: false }, not_stored: ['catgories (did you mean "categories"?)', 'acf'] }],
  ['subscriber', 'wp_update_item', { type: 'posts', id: '$filed', fields: { author: '$subscriber' } }, '403 rest_cannot_edit'],
  ['admin', 'wp_update_item', { type: 'posts', id: '$item', fields: { id: '$filed' } }, /use the argument of that name/],
  ['admin', 'wp_delete_item', { type: 'posts', id: '$filed', force: true }, { deleted: true }],
  ['admin', 'wp_get_item', { type: 'posts', id: '$item', context: 'edit' }, { id: '$item', content: /Two/ }],
  ['subscriber', 'wp_get_item', { type: 'pages', id: '$page' }, { type: 'page', title: 'About north' }],
  ['admin', 'wp_update_item', { type: 'posts', id: '$item', title: 'Changed', status: 'private' }, { id: '$item', title: /Changed/, status: 'private' }],
  ['subscriber', 'wp_get_item', { type: 'posts', id: '$item' }, '403 rest_forbidden'],
  ['subscriber', 'wp_update_item', { type: 'posts', id: '$item', title: 'x' }, '403 rest_cannot_edit'],
  ['subscriber', 'wp_delete_item', { type: 'posts', id: '$item' }, '403 rest_cannot_delete'],
  ['admin', 'wp_delete_item', { type: 'posts', id: '$item' }, { id: '$item', status: 'trash' }],
  ['admin', 'wp_delete_item', { type: 'posts', id: '$item', force: true }, { deleted: true, previous: { id: '$item' } }],
  ['admin', 'wp_get_item', { type: 'posts', id: '$item' }, '404 rest_post_invalid_id'],
];

/** The same six tools, for posts, pages and things of any type. */
function versions(kind, thing, before = []) {
  const tool = (verb, rest) => `wp_${verb}_${kind}_${rest}`;
  const [last, saved] = [`last_${kind}`, `saved_${kind}`];
  return [
    ...before,
    ['admin', `wp_update_${kind}`, { ...thing, content: '<p>Two.</p>' }, { id: thing.id }],
    ['admin', `wp_update_${kind}`, { ...thing, content: '<p>Two, once more.</p>' }, { id: thing.id }],
    ['subscriber', tool('get', 'revisions'), thing, '403 rest_cannot_read'],
    ['admin', tool('get', 'revisions'), thing, { count: Number, total: Number, versions: [{ parent: thing.id, author: '$admin' }] }, { [last]: 'versions.0.id' }],
    ['admin', tool('get', 'revision'), { ...thing, version: `$${last}` }, { id: `$${last}`, parent: thing.id, content: /once more/ }],
    ['subscriber', tool('get', 'revision'), { ...thing, version: `$${last}` }, '403 rest_cannot_read'],
    ['subscriber', tool('create', 'autosave'), { ...thing, content: '<p>x</p>' }, '403 rest_cannot_edit'],
    ['admin', tool('create', 'autosave'), { ...thing, title: 'Saved', content: '<p>Not yet.</p>' }, { title: 'Saved', content: /Not yet/ }, { [saved]: 'id' }],
    ['subscriber', tool('get', 'autosaves'), thing, '403 rest_cannot_read'],
    ['admin', tool('get', 'autosaves'), thing, { versions: Array }],
    ['admin', tool('get', 'autosave'), { ...thing, version: `$${saved}` }, { parent: Number, content: /Not yet/ }],
    ['subscriber', tool('get', 'autosave'), { ...thing, version: `$${saved}` }, '403 rest_cannot_read'],
    ['subscriber', tool('delete', 'revision'), { ...thing, version: `$${last}` }, '403 rest_cannot_delete'],
    // WordPress lets nobody remove one, unless a plugin does.
    ['admin', tool('delete', 'revision'), { ...thing, version: `$${last}` }, '403 rest_cannot_delete'],
    ['admin', tool('get', 'revision'), { ...thing, version: 9999 }, '404 rest_post_invalid_id'],
  ];
}
