import { describe, expect, it } from 'vitest';
import {
  detectionBytes,
  findExtension,
  findImageType,
  findTypeByName,
  isText,
} from '../../../services/kit/file-type.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe('types of files', () => {
  it('finds registered types by the extension only', async () => {
    const names = ['a.PNG', 'b.yaml', 'c.flac', 'd.vcf', 'png', 'e.constructor', 'f.', '.png'];
    expect(await Promise.all(names.map(findTypeByName))).toEqual([
      ...['image/png', 'application/yaml', 'audio/flac', 'text/vcard'],
      ...[undefined, undefined, undefined, 'image/png'],
    ]);
    expect(await Promise.all(['image/jpeg', 'text/plain', 'x/y', 'constructor'].map(findExtension))).toEqual([
      ...['jpg', 'txt', undefined, undefined],
    ]);
  });

  it('finds raster images by content and nothing that a browser could run', async () => {
    const heads: readonly (readonly [string | undefined, Buffer])[] = [
      ['image/png', png],
      ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
      ['image/gif', Buffer.from('GIF89a\u0001\0\u0001\0', 'latin1')],
      ['image/webp', Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')],
      ['image/avif', Buffer.from('\0\0\0\u0020ftypavif', 'latin1')],
      [undefined, Buffer.from('GIF89a is a format of the nineties')],
      [undefined, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
      [undefined, Buffer.from('%PDF-1.7\n%\u00e2\u00e3', 'latin1')],
      [undefined, Buffer.alloc(0)],
    ];
    for (const [type, head] of heads) expect([head.toString('latin1'), await findImageType(head)]).toContain(type);
  });

  it('recognizes UTF-8 text that is cut in a character', () => {
    const long = Buffer.from(`${'a'.repeat(detectionBytes - 1)}é`).subarray(0, detectionBytes);
    expect([isText(long), isText(Buffer.from('aé').subarray(0, 2)), isText(Buffer.from('a\0'))]).toEqual([
      ...[true, false, false],
    ]);
  });
});
