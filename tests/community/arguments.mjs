// Words and files that tools are tried with.

let number = 0;

/** A name that nothing has yet. */
export const unique = () => `n${Date.now().toString(36)}${(number += 1)}`;

const data = (type, base64) => `data:${type};base64,${base64}`;

/** A picture, 1 pixel wide and high. */
export const PICTURE = data('image/png', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');

/** A text. */
export const TEXT = data('text/plain', Buffer.from('A few words.').toString('base64'));

/** The head of a film, as far as a site looks at it. */
export const FILM = data('video/mp4', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1').toString('base64'));
