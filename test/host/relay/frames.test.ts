import { describe, expect, it } from 'vitest';
import { FrameReader, maxParts, splitMessage } from '../../../main/host/relay/frames.ts';

const host = 'AAAAAAAAAAAAAAAA';

describe('splitMessage', () => {
  it('splits a long message into frames of the limited length, which the reader joins', () => {
    const text = 'x'.repeat(20_000);
    const frames = splitMessage({ host, number: 7, text }, 7900) ?? [];
    expect(frames).toHaveLength(3);
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThanOrEqual(7900);
    const reader = new FrameReader('BBBBBBBBBBBBBBBB');
    expect(frames.map((frame) => reader.read(frame))).toEqual(['incomplete', 'incomplete', { host, number: 7, text }]);
  });

  it('returns nothing for a message that is too long', () => {
    expect(splitMessage({ host, number: 1, text: 'x'.repeat(7900 * maxParts) }, 7900)).toBeUndefined();
  });
});

describe('FrameReader', () => {
  const read = (frame: string): unknown => new FrameReader(host).read(frame);

  it('ignores the frames of its host', () => {
    expect(read(`1:${host}:1:1/1:x`)).toBe('own');
  });

  it('ignores frames of a later version', () => {
    expect(read('2:anything')).toBe('other version');
  });

  it.each(['', 'x', '1:', '1:BBBBBBBBBBBBBBBB:1:2/1:x', '1:BBBBBBBBBBBBBBBB:1:0/1:x', '1:B!:1:1/1:x', '\0'.repeat(9)])(
    'rejects a malformed frame: %j',
    (frame) => {
      expect(read(frame)).toBe('malformed');
    },
  );

  it('drops a message of which a frame is missing', () => {
    const reader = new FrameReader(host);
    const other = 'BBBBBBBBBBBBBBBB';
    expect(reader.read(`1:${other}:1:1/3:a`)).toBe('incomplete');
    expect(reader.read(`1:${other}:1:3/3:c`)).toBe('incomplete');
    expect(reader.read(`1:${other}:2:1/1:d`)).toEqual({ host: other, number: 2, text: 'd' });
  });
});
