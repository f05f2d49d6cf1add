// What the tools of the phase `extended` for BuddyBoss are tried with; the words are those of buddyboss.mjs. What takes
// something from all others is at the end.

import { picture, unique } from './arguments.mjs';

const of = (made, what, more) => made(what, more).then((thing) => thing.id);
/** Two topics. */
const topics = async (made) => [await made('topic'), await made('topic')];

const people = {
  get_current_member: () => ({}),
  update_current_member: () => ({ name: 'Renamed' }),
  get_current_member_permissions: () => ({}),
  update_member_following: async ({ made }) => ({ id: await of(made, 'member'), action: 'follow' }),
  get_member_presence: ({ other }) => ({ ids: [other] }),
  get_members_details: () => ({}),
  get_member_detail: ({ other }) => ({ id: other }),
  get_profile_dropdown: () => ({}),
  get_member_info: ({ other }) => ({ id: other }),
  get_member_avatar: ({ me }) => ({ user_id: me }),
  delete_member_avatar: async ({ made }) => ({ user_id: await of(made, 'picture', { status: 'member' }) }),
  get_member_cover: async ({ made }) => ({ user_id: await of(made, 'picture', { status: 'member cover' }) }),
  delete_member_cover: async ({ made }) => ({ user_id: await of(made, 'picture', { status: 'member cover' }) }),
  list_account_settings: () => ({}),
  get_account_settings: () => ({ nav: 'general' }),
  update_account_settings: () => ({ nav: 'notifications', fields: { notification_friends_friendship_accepted: 'no' } }),
  list_signups: async ({ made }) => (await made('signup'), {}),
  create_signup: () => {
    const [email, password] = [`${unique()}@example.org`, 'A long enough one 9!'];
    return { signup_email: email, signup_email_confirm: email, signup_password: password, signup_password_confirm: password, fields: { field_1: 'Ann', field_2: 'Berg', field_3: unique() } };
  },
  get_signup: async ({ made }) => ({ id: `${await of(made, 'signup')}` }),
  delete_signup: async ({ made }) => ({ id: `${await of(made, 'signup')}` }),
  update_signup_activation: async ({ made }) => ({ activation_key: (await made('signup')).key }),
  get_signup_form: () => ({}),
  get_friendship: async ({ made }) => ({ id: await of(made, 'friendship', { status: '1' }) }),
  update_friendship: async ({ made }) => ({ id: await of(made, 'asked') }),
  remove_friend_by_member: async ({ made }) => ({ friend_id: (await made('friendship', { status: '1' })).friend }),
  list_mention_suggestions: () => ({ term: 'writer' }),
  list_email_invites: async ({ made }) => (await made('invite'), {}),
  send_email_invites: () => ({ fields: [{ name: 'Ann', email_id: `${unique()}@example.org` }], email_content: 'Come and see.' }),
  delete_email_invite: async ({ made }) => ({ id: await of(made, 'invite') }),
  list_invite_profile_types: async ({ made }) => (await made('type'), {}),
  upload_member_avatar: ({ me }) => ({ user_id: me, file: picture(400, 400) }),
  upload_member_cover: ({ me }) => ({ user_id: me, file: picture(1950, 450) }),
};

const profiles = {
  create_xprofile_field: async ({ made }) => ({ group_id: (await made('field')).part, type: 'textbox', name: `Field ${unique()}` }),
  update_xprofile_field: async ({ made }) => ({ id: await of(made, 'field'), name: 'Town' }),
  delete_xprofile_field: async ({ made }) => ({ id: await of(made, 'field') }),
  create_xprofile_group: () => ({ name: `Part ${unique()}` }),
  get_xprofile_group: async ({ made }) => ({ id: (await made('field')).part }),
  update_xprofile_group: async ({ made }) => ({ id: (await made('field')).part, name: 'Changed' }),
  delete_xprofile_group: async ({ made }) => ({ id: (await made('field')).part }),
  delete_xprofile_data: async ({ made, me }) => ({ field_id: await of(made, 'field'), user_id: me }),
  update_xprofile: async ({ made }) => {
    const { id, part } = await made('field');
    return { fields: [{ field_id: id, group_id: part, value: 'Oslo', visibility_level: 'public' }] };
  },
  create_xprofile_repetition: async ({ made }) => ({ id: await of(made, 'repeater') }),
  delete_xprofile_repetition: async ({ made }) => {
    const { id, copies } = await made('repeater');
    return { id, fields: copies.slice(0, 1) };
  },
  update_xprofile_repetition_order: async ({ made }) => {
    const { id, copies } = await made('repeater');
    return { id, fields: copies.map((copy) => ({ [copy]: 'Baker' })) };
  },
  get_xprofile_search_form: () => ({}),
  list_xprofile_field_types: () => ({}),
};

const groups = {
  get_groups_details: () => ({}),
  get_group_detail: async ({ made }) => ({ id: await of(made, 'group') }),
  get_group_info: async ({ made }) => ({ id: await of(made, 'group') }),
  update_group_member: async ({ made, other }) => ({ group_id: await of(made, 'group', { other }), user_id: other, role: 'mod', action: 'promote' }),
  get_group_settings: async ({ made }) => ({ id: await of(made, 'group'), nav: 'group-settings' }),
  update_group_settings: async ({ made }) => ({ id: await of(made, 'group'), nav: 'edit-details', fields: { 'group-name': 'Gardens', 'group-desc': 'Of gardens.' } }),
  list_group_invites: async ({ made, me }) => (await made('invitation'), { user_id: me }),
  send_group_invite: async ({ made }) => ({ user_id: await of(made, 'member'), group_id: await of(made, 'group'), send_invite: true }),
  send_group_invites: async ({ made }) => ({ user_id: [await of(made, 'member'), await of(made, 'member')], group_id: await of(made, 'group'), send_invite: true }),
  get_group_invite: async ({ made }) => ({ invite_id: await of(made, 'invitation') }),
  update_group_invite: async ({ made }) => ({ invite_id: await of(made, 'invitation') }),
  delete_group_invite: async ({ made }) => ({ invite_id: await of(made, 'invitation') }),
  list_group_membership_requests: async ({ made }) => ({ group_id: (await made('request')).group }),
  create_group_membership_request: async ({ made, other }) => ({ group_id: await of(made, 'group', { user: other, status: 'private' }) }),
  get_group_membership_request: async ({ made }) => ({ request_id: await of(made, 'request') }),
  update_group_membership_request: async ({ made }) => ({ request_id: await of(made, 'request') }),
  delete_group_membership_request: async ({ made }) => ({ request_id: await of(made, 'request') }),
  list_group_types: () => ({}),
  get_group_avatar: async ({ made }) => ({ group_id: await of(made, 'picture', { status: 'group' }) }),
  delete_group_avatar: async ({ made }) => ({ group_id: await of(made, 'picture', { status: 'group' }) }),
  get_group_cover: async ({ made }) => ({ group_id: await of(made, 'picture', { status: 'group cover' }) }),
  delete_group_cover: async ({ made }) => ({ group_id: await of(made, 'picture', { status: 'group cover' }) }),
  upload_group_avatar: async ({ made }) => ({ group_id: await of(made, 'group'), file: picture(400, 400) }),
  upload_group_cover: async ({ made }) => ({ group_id: await of(made, 'group'), file: picture(1950, 450) }),
};

const activity = {
  get_activity_details: () => ({}),
  get_activity_link_preview: ({ site }) => ({ url: `${site}/` }),
  update_activity_pin: async ({ made }) => ({ id: await of(made, 'activity') }),
  update_activity_comments: async ({ made }) => ({ id: await of(made, 'activity') }),
  update_activity_notification: async ({ made }) => ({ id: await of(made, 'activity'), action: 'mute' }),
  list_activity_comments: async ({ made }) => ({ id: (await made('comment')).activity }),
  create_activity_comment: async ({ made }) => ({ id: await of(made, 'activity'), content: 'And to you' }),
  get_activity_comment: async ({ made }) => {
    const { id, activity } = await made('comment');
    return { id: activity, comment_id: id };
  },
  update_activity_comment: async ({ made }) => {
    const { id, activity } = await made('comment');
    return { id: activity, comment_id: id, content: 'Changed.' };
  },
  delete_activity_comment: async ({ made }) => {
    const { id, activity } = await made('comment');
    return { id: activity, comment_id: id };
  },
  list_member_reactions: async ({ made }) => ({ item_type: 'activity', item_id: (await made('reaction')).activity }),
  create_member_reaction: async ({ made }) => ({ reaction_id: (await made('reaction')).kind, item_type: 'activity', item_id: await of(made, 'activity') }),
  get_member_reaction: async ({ made }) => ({ id: await of(made, 'reaction') }),
  delete_member_reaction: async ({ made }) => ({ id: await of(made, 'reaction') }),
  list_reactions: () => ({}),
  list_activity_topics: async ({ made }) => (await made('subject'), { item_type: 'activity' }),
  create_activity_topic: () => ({ title: `Topic ${unique()}`, item_type: 'activity', permission_type: 'anyone' }),
  get_activity_topic: async ({ made }) => ({ id: await of(made, 'subject') }),
  update_activity_topic: async ({ made }) => ({ id: await of(made, 'subject'), title: `Topic ${unique()}`, item_type: 'activity' }),
  delete_activity_topic: async ({ made }) => ({ id: await of(made, 'subject'), item_type: 'activity' }),
  update_activity_topic_order: async ({ made }) => ({ item_type: 'activity', topics: [{ topic_id: `${await of(made, 'subject')}`, menu_order: 1 }] }),
};

const talk = {
  update_message_thread: async ({ made, me, other }) => ({ id: await of(made, 'thread', { user: other, other: me }) }),
  update_message_thread_state: async ({ made }) => ({ id: await of(made, 'thread'), action: 'unread', value: true }),
  send_group_message: async ({ made, other }) => ({ group_id: await of(made, 'group', { other }), message: 'Shall we all meet?', users: 'individual', users_list: [other], type: 'private' }),
  list_message_recipients: () => ({ term: 'writer' }),
  find_message_thread: async ({ made, other }) => (await made('thread'), { recipient_id: other }),
  create_notification: async ({ made, me }) => ({ user_id: me, item_id: await of(made, 'member'), component: 'friends', action: 'friendship_request', is_new: 1 }),
  update_notifications_read: async ({ made }) => (await made('notification'), {}),
  list_subscriptions: async ({ made }) => (await made('subscription'), { type: 'forum' }),
  create_subscription: async ({ made, other }) => ({ type: 'forum', item_id: await of(made, 'forum', { user: other }), status: 1 }),
  get_subscription: async ({ made }) => ({ id: await of(made, 'subscription') }),
  delete_subscription: async ({ made }) => ({ id: await of(made, 'subscription') }),
  list_subscription_types: () => ({}),
  get_moderation_report: async ({ made }) => ({ id: await of(made, 'report') }),
  get_moderation_report_form: () => ({}),
  toggle_message_star: async ({ made }) => ({ id: (await made('thread')).message }),
};

const media = {
  get_media_details: () => ({}),
  delete_media_items: async ({ made }) => ({ media_ids: [await of(made, 'photo'), await of(made, 'photo')] }),
  delete_media_upload: async ({ made }) => ({ id: await of(made, 'upload') }),
  update_media_album_of: async ({ made }) => ({ media_ids: [await of(made, 'photo')], album_id: await of(made, 'album') }),
  list_media_albums: async ({ made }) => (await made('album'), {}),
  create_media_album: () => ({ title: 'Summer', privacy: 'public' }),
  get_media_album: async ({ made }) => ({ id: await of(made, 'album') }),
  update_media_album: async ({ made }) => ({ id: await of(made, 'album'), title: 'Winter' }),
  delete_media_album: async ({ made }) => ({ id: await of(made, 'album') }),
  get_video_details: () => ({}),
  delete_video_upload: async ({ made }) => ({ id: await of(made, 'upload', { status: 'mp4' }) }),
  update_video: async ({ made }) => ({ id: await of(made, 'video'), privacy: 'loggedin' }),
  list_video_posters: async ({ made }) => ({ id: await of(made, 'video') }),
  upload_video_poster: async ({ made }) => ({ id: await of(made, 'video'), file: picture(320, 180) }),
  update_video_poster: async ({ made }) => ({ id: await of(made, 'video'), attachment_id: await of(made, 'upload') }),
  delete_video_poster: async ({ made }) => {
    const { id, poster } = await made('poster');
    return { id, attachment_id: poster };
  },
  get_document_details: () => ({}),
  update_document: async ({ made }) => ({ id: await of(made, 'document'), content: 'Changed.' }),
  delete_document_upload: async ({ made }) => ({ id: await of(made, 'upload', { status: 'txt' }) }),
  create_document_folder: () => ({ title: `Folder ${unique()}`, privacy: 'public' }),
  get_document_folder: async ({ made }) => ({ id: await of(made, 'folder') }),
  update_document_folder: async ({ made }) => ({ id: await of(made, 'folder'), title: 'Papers' }),
  delete_document_folder: async ({ made }) => ({ id: await of(made, 'folder') }),
  get_document_folder_tree: async ({ made }) => (await made('folder'), {}),
};

const forums = {
  get_forum_link_preview: ({ site }) => ({ url: `${site}/` }),
  list_topics: async ({ made }) => ({ parent: (await made('topic')).forum }),
  update_topic: async ({ made }) => {
    const { id, forum } = await made('topic');
    return { id, parent: forum, title: 'What grows here', content: 'Beans?' };
  },
  delete_topic: async ({ made }) => ({ id: await of(made, 'topic') }),
  update_topic_by_merging: async ({ made }) => {
    const [one, another] = await topics(made);
    return { id: one.id, destination_id: another.id };
  },
  update_topic_by_splitting: async ({ made }) => {
    const { id, reply } = await made('topic');
    return { id, reply_id: reply, split_option: 'reply', new_destination_title: `Beans ${unique()}` };
  },
  update_topic_state: async ({ made }) => ({ id: await of(made, 'topic'), action: 'favorite', value: true }),
  list_topic_destinations: async ({ made }) => ({ id: await of(made, 'topic') }),
  get_reply: async ({ made }) => ({ id: (await made('topic')).reply }),
  update_reply: async ({ made, me }) => {
    const { id, reply } = await made('topic', { other: me });
    return { id: reply, topic_id: id, content: 'Peas.' };
  },
  delete_reply: async ({ made, me }) => ({ id: (await made('topic', { other: me })).reply }),
  update_reply_state: async ({ made, me }) => ({ id: (await made('topic', { other: me })).reply, action: 'trash', value: true }),
  update_reply_topic: async ({ made, me }) => ({ id: (await made('topic', { other: me })).reply, move_option: 'topic', destination_topic_title: `Peas ${unique()}` }),
  toggle_forum_subscription: async ({ made }) => ({ id: await of(made, 'forum') }),
};

const site = {
  list_blogs: () => ({}),
  get_blog: () => ({ id: 1 }),
  list_components: () => ({}),
  get_platform_settings: () => ({}),
  update_platform_settings: () => ({ settings: { 'bp-enable-site-registration': true } }),
  update_component: () => ({ name: 'search', action: 'deactivate' }),
  delete_current_member: async ({ made }) => ({ as: await made('account'), reassign: 0 }),
};

export default { ...people, ...profiles, ...groups, ...activity, ...talk, ...media, ...forums, ...site };
