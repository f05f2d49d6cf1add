// Changing media.

const EDIT = { id: '$picture', src: '$pictureUrl' };

export default [
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
