// The site's own index, requests to any route, abilities.

import { since } from './cases.mjs';

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
  // Abilities came with WordPress 6.9.
  ['admin', 'site_abilities', {}, since({ abilities: [{ name: 'core/get-site-info', category: 'site' }, { name: 'tests/sum' }] })],
  ['admin', 'site_ability_categories', {}, since({ categories: [{ slug: 'site', label: String }] })],
  ['admin', 'site_ability_category', { slug: 'site' }, since({ slug: 'site', label: String })],
  ['admin', 'site_ability', { name: 'core/get-site-info' }, since({ name: 'core/get-site-info', input_schema: Object })],
  ['admin', 'site_run_ability', { name: 'core/get-site-info' }, since({ name: 'Site north' })],
  ['subscriber', 'site_run_ability', { name: 'core/get-site-info' }, since('403 rest_ability_cannot_execute')],
  ['subscriber', 'site_run_ability', { name: 'tests/sum', input: { a: 2, b: 3 } }, since({ sum: 5 })],
  ['admin', 'site_run_ability', { name: 'tests/sum', input: { a: 2 } }, since('400 ability_invalid_input')],
  ['admin', 'site_run_ability', { name: 'tests/draft', input: { title: 'By an ability' } }, since({ id: Number })],
  ['subscriber', 'site_run_ability', { name: 'tests/draft', input: { title: 'x' } }, since('403 rest_ability_cannot_execute')],
  ['admin', 'site_run_ability', { name: 'tests/fail', input: { why: 'x' } }, since('500 tests_failed')],
];
