// Changing media.

import { PIXEL, isNewer, since } from './cases.mjs';

const EDIT = { id: '$picture', src: '$pictureUrl' };

const FILE = { base64: PIXEL, fileName: 'dot.png', mimeType: 'image/png' };
const SAID = { title: 'A dot', status: 'private', slug: 'a-dot', date: '2020-01-02T03:04:05', author: '$editor', comment_status: 'closed', generate_sub_sizes: false };

export default [
  ['admin', 'wp_upload_media_from_base64', { ...FILE, ...SAID }, { id: Number, title: /A dot/ }, { dot: 'id' }],
  ['admin', 'wp_get_item', { type: 'media', id: '$dot', full: true }, { slug: 'a-dot', status: 'private', date: '2020-01-02T03:04:05', author: '$editor', comment_status: 'closed' }],
  ['admin', 'wp_get_media', { status: 'private' }, { count: 1, media: [{ id: '$dot' }] }],
  ['subscriber', 'wp_get_media', { status: 'private' }, '400 rest_invalid_param'],
  ['admin', 'wp_update_media_item', { id: '$dot', status: 'publish', ping_status: 'closed', date_gmt: '2021-01-02T03:04:05' }, { id: '$dot' }],
  ['admin', 'wp_get_item', { type: 'media', id: '$dot', full: true }, { status: 'inherit', ping_status: 'closed', date_gmt: '2021-01-02T03:04:05' }],
  // WordPress 7.1 offers them to browsers that make the sizes.
  ['admin', 'wp_upload_image_size', { ...FILE, id: '$dot', image_size: 'medium' }, since({ image_size: 'medium', width: 1, height: 1 }), isNewer ? { small: 'file', smallBytes: 'filesize' } : {}],
  ['subscriber', 'wp_upload_image_size', { ...FILE, id: '$dot', image_size: 'medium' }, since('403 rest_cannot_edit')],
  ['admin', 'wp_upload_image_size', { ...FILE, id: '$dot', image_size: 'no-such-size' }, since('400 rest_invalid_param')],
  ['admin', 'wp_finalize_media_item', { id: '$dot', sub_sizes: isNewer ? [{ image_size: 'medium', width: 1, height: 1, file: '$small', mime_type: 'image/png', filesize: '$smallBytes' }] : [] }, since({ id: '$dot' })],
  ['subscriber', 'wp_finalize_media_item', { id: '$dot' }, since('403 rest_cannot_edit')],

  ['admin', 'wp_update_media_item', { id: '$picture', alt_text: 'A blue field', caption: 'Blue', post: '$post' }, { id: '$picture', alt_text: 'A blue field', caption: /Blue/, post: '$post', mime_type: 'image/png' }],
  ['subscriber', 'wp_update_media_item', { id: '$picture', title: 'x' }, '403 rest_cannot_edit'],
  ['admin', 'wp_create_edited_image', { ...EDIT, rotation: 90 }, { id: Number, mime_type: 'image/png', source_url: /edited/ }, { turned: 'id' }],
  ['admin', 'wp_create_edited_image', { ...EDIT, x: 25, y: 25, width: 50, height: 50 }, { id: Number, source_url: /edited/ }, { cut: 'id' }],
  ['admin', 'wp_create_edited_image', { ...EDIT, modifiers: [{ type: 'rotate', args: { angle: 180 } }] }, { id: Number, source_url: /edited/ }],
  ['admin', 'wp_create_edited_image', EDIT, '400 rest_image_not_edited'],
  ['subscriber', 'wp_create_edited_image', { ...EDIT, rotation: 90 }, '403 rest_cannot_edit_image'],
  ['admin', 'wp_get_media_item', { id: '$turned' }, { media_details: { width: 48, height: 64 } }],
  ['admin', 'wp_get_media_item', { id: '$cut' }, { media_details: { width: 32, height: 24 } }],
  ['admin', 'wp_update_image_sizes', { id: '$turned' }, { id: '$turned', media_type: 'image' }],
  ['subscriber', 'wp_update_image_sizes', { id: '$turned' }, '403 rest_cannot_edit'],
  ['subscriber', 'wp_delete_media_item', { id: '$turned' }, '403 rest_cannot_delete'],
  ['admin', 'wp_delete_media_item', { id: '$turned' }, { deleted: true, previous: { id: '$turned' } }],
  ['admin', 'wp_delete_media_item', { id: '$turned' }, '404 rest_post_invalid_id'],
];
