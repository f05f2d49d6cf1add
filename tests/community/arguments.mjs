// Words and files that tools are tried with.

import { crc32, deflateSync } from 'node:zlib';

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

/** A black picture, so many pixels wide and high. */
export function picture(wide, high) {
  const chunk = (kind, bytes) => {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), bytes]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(bytes.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(wide, 0);
  head.writeUInt32BE(high, 4);
  head.writeUInt8(8, 8); // bits of a pixel; what is zero behind it says shades of grey, packed and laced as usual
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc((wide + 1) * high))), chunk('IEND', Buffer.alloc(0))];
  return data('image/png', Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]).toString('base64'));
}
