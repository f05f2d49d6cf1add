// What each of the tools for BuddyPress is tried with.

import common from './common.mjs';

export default {
  ...common,
  get_xprofile_group: async ({ made }) => ({ id: (await made('field')).part, fetch_fields: true }),
  list_friends: async ({ made }) => (await made('friendship', { status: '1' }), { is_confirmed: true }),
  create_friendship: async ({ made, me }) => ({ initiator_id: me, friend_id: (await made('member')).id }),
  delete_friendship: async ({ made }) => ({ id: (await made('friendship', { status: '1' })).friend }),
  list_messages: () => ({ box: 'inbox' }),
  get_message: async ({ made }) => ({ id: (await made('thread')).id }),
  create_message: ({ other }) => ({ recipients: [other], subject: 'Saturday', message: 'Shall we meet?' }),
  delete_message: async ({ made }) => ({ id: (await made('thread')).id }),
  update_notification: async ({ made }) => ({ id: (await made('notification')).id, is_new: false }),
  list_components: () => ({}),
};
