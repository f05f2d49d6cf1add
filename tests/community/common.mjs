// What the tools that BuddyBoss and BuddyPress have in common are tried with. `me` is who calls, `other` another member; `made`
// makes a thing on the site that is `me`'s own, so that a refusal is about the caller's rights or the tool, and not about what
// it is tried on.

import { unique } from './arguments.mjs';

export default {
  list_activities: () => ({ scope: 'just-me' }),
  get_activity: async ({ made }) => ({ id: (await made('activity')).id }),
  create_activity: () => ({ content: `Hello ${unique()}` }),
  update_activity: async ({ made }) => ({ id: (await made('activity')).id, content: 'Changed.' }),
  delete_activity: async ({ made }) => ({ id: (await made('activity')).id }),
  favorite_activity: async ({ made }) => ({ id: (await made('activity')).id }),
  list_members: () => ({ per_page: 5 }),
  get_member: ({ other }) => ({ id: other }),
  update_member: ({ me }) => ({ id: me, name: 'Renamed' }),
  delete_member: async ({ made }) => ({ id: (await made('member')).id }),
  list_groups: ({ me }) => ({ user_id: me }),
  get_group: async ({ made }) => ({ id: (await made('group')).id }),
  create_group: () => ({ name: `Group ${unique()}` }),
  update_group: async ({ made }) => ({ id: (await made('group')).id, description: 'Changed.' }),
  delete_group: async ({ made }) => ({ id: (await made('group')).id }),
  list_group_members: async ({ made }) => ({ group_id: (await made('group')).id }),
  add_group_member: async ({ made }) => ({ group_id: (await made('group')).id, user_id: (await made('member')).id, role: 'mod' }),
  remove_group_member: async ({ made, other }) => ({ group_id: (await made('group', { other })).id, user_id: other }),
  list_xprofile_groups: () => ({ fetch_fields: true }),
  list_xprofile_fields: async ({ made }) => ({ profile_group_id: (await made('field')).part }),
  get_xprofile_field: async ({ made }) => ({ id: (await made('field')).id }),
  get_xprofile_data: async ({ made, me }) => ({ field_id: (await made('field')).id, user_id: me }),
  update_xprofile_data: async ({ made, me }) => ({ field_id: (await made('field')).id, user_id: me, value: 'Oslo' }),
  list_notifications: async ({ made }) => (await made('notification'), { is_new: true }),
  get_notification: async ({ made }) => ({ id: (await made('notification')).id }),
  delete_notification: async ({ made }) => ({ id: (await made('notification')).id }),
};
