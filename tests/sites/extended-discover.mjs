// The site's own index, requests to any route, abilities.

export default [
  ['admin', 'site_routes', {}, { name: 'Site north', namespaces: [{ namespace: 'wp/v2', version: 'v2', routes: Number, components: ['posts'] }] }],
  ['subscriber', 'site_routes', { namespace: 'wp/v2', search: 'comments' }, { routes: [{ route: '/wp/v2/comments/{id}', methods: ['GET', 'DELETE'] }] }],
  ['admin', 'site_routes', { route: '/wp/v2/comments/{id}' }, { endpoints: [{ methods: ['GET'], parameters: { id: Object } }] }],
  ['admin', 'site_routes', { route: '/wp/v2/nothing' }, { endpoints: [], note: 'the site has no such route' }],
  ['admin', 'site_request', { route: '/wp/v2/posts', parameters: { per_page: 1, status: 'draft' } }, { count: 1, total: Number, items: [{ status: 'draft' }] }],
  ['subscriber', 'site_request', { route: '/wp/v2/posts', parameters: { status: 'draft' } }, '400 rest_invalid_param'],
  ['admin', 'site_request', { method: 'POST', route: '/wp/v2/tags', body: { name: 'By request' } }, { name: 'By request', taxonomy: 'post_tag' }, { made: 'id' }],
  ['subscriber', 'site_request', { method: 'POST', route: '/wp/v2/tags', body: { name: 'x' } }, '403 rest_cannot_create'],
  ['admin', 'site_request', { method: 'DELETE', route: '/wp/v2/tags/$made', parameters: { force: true } }, { deleted: true }],
  ['admin', 'site_request', { route: '/wp/v2/nothing' }, '404 rest_no_route'],
  ['admin', 'site_request', { route: '/wp-site-health/v1/directory-sizes' }, /does not allow this route/],
  // Abilities came with WordPress 6.9, which is newer than these packages.
  ['admin', 'site_abilities', {}, '404 rest_no_route'],
  ['admin', 'site_ability_categories', {}, '404 rest_no_route'],
  ['admin', 'site_ability_category', { slug: 'site' }, '404 rest_no_route'],
  ['admin', 'site_ability', { name: 'core/get-site-info' }, '404 rest_no_route'],
  ['admin', 'site_run_ability', { name: 'core/get-site-info' }, '404 rest_no_route'],
  ['subscriber', 'site_run_ability', { name: 'core/get-site-info' }, '404 rest_no_route'],
];
