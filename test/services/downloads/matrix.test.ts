import { describe, expect, it } from 'vitest';
import { readMedia } from './media.ts';
import { describeMatrix } from './matrix.ts';

// Tests one combination for each source, quality and container, with large videos where no encoding is needed. The soak
// test covers all combinations.
const daily = new Set([
  ...['hls best mp4', 'ladder 2160p mkv', 'hls 1440p mkv', 'dash 1080p mp4', 'ladder 720p webm', 'dash 480p avi'],
  ...['hls 360p webm', 'ladder worst avi', 'hls mp3', 'dash m4a', 'ladder ogg', 'hls opus', 'dash flac', 'ladder wav'],
]);
const running = describeMatrix((cell) => daily.has(cell));

describe('a preferred codec', () => {
  const codecs = { h264: 'h264', h265: 'hevc', vp9: 'vp9', av1: 'av1' } as const;

  it.each(Object.entries(codecs))('selects the codec %s when it is available', async (codec, name) => {
    const fields = { download_type: 'video', codec, format: 'any', quality: 'best' };
    const record = await running().client.ended(
      await running().client.add(running().site.url('/short/codecs.mpd'), fields),
    );
    const media = await readMedia(running().file(record.filename ?? ''));
    expect(media.codecs).toEqual([`${name}/360`, 'aac']);
  });

  it.each(Object.keys(codecs))('falls back from the codec %s to an available one', async (codec) => {
    const fields = { download_type: 'video', codec, format: 'mp4', quality: '720' };
    const record = await running().client.ended(
      await running().client.add(running().site.url('/short/manifest.mpd'), fields),
    );
    const media = await readMedia(running().file(record.filename ?? ''));
    expect(media.codecs).toEqual(['h264/720', 'aac']);
  });
});

describe('a height', () => {
  it.each(['1080p', 'worst'])('downloads %s from a site without format details', async (quality) => {
    const url = running().site.url(`/single.mp4?${quality}`);
    const record = await running().client.ended(await running().client.add(url, { quality, format: 'mp4' }));
    expect((await readMedia(running().file(record.filename ?? ''))).codecs).toEqual(['h264/360', 'aac']);
  });

  it('selects the lowest quality when all are above the requested one', async () => {
    const url = running().site.url('/short/manifest.mpd?low');
    const record = await running().client.ended(await running().client.add(url, { quality: '240', format: 'mkv' }));
    expect((await readMedia(running().file(record.filename ?? ''))).codecs).toEqual(['h264/360', 'aac']);
  });
});
