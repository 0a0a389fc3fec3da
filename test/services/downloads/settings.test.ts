import { expect, it } from 'vitest';
import { readMedia } from './media.ts';
import { openRig } from './rig.ts';

it('applies quality, format, names and subtitles of the settings to a request without them', async () => {
  const environment = {
    ...{ QUALITY: '720p', FORMAT: 'mkv', SUBTITLES: 'es', SUBTITLE_EMBED: 'true' },
    ...{ OUTPUT_TEMPLATE: '%(extractor)s/%(title)s [%(height)s].%(ext)s' },
    ...{ OUTPUT_TEMPLATE_PLAYLIST: 'lists/%(playlist_title)s/%(playlist_index)s %(title)s.%(ext)s' },
  };
  await using rig = await openRig({ environment });
  const post = async (body: object): Promise<string[]> => {
    const { uid, uids = uid === undefined ? [] : [uid] } = await rig.client.post('/add', body);
    return await Promise.all(uids.map(async (entry) => (await rig.client.ended(entry)).filename ?? ''));
  };
  const [name = ''] = await post({ url: rig.site.url('/short/master.m3u8') });
  expect(name).toBe('generic/master [720].mkv');
  const { codecs, streams } = await readMedia(rig.file(name));
  expect(codecs).toEqual(['h264/720', 'aac']);
  expect(streams.filter(({ kind }) => kind === 'subtitle').map(({ language }) => language)).toEqual(['spa']);
  const list = await post({ url: rig.site.url('/feed/2.rss?title=House') });
  expect(list).toEqual(['lists/House/1 Episode 001.mkv', 'lists/House/2 Episode 002.mkv']);
  // The request has precedence over the settings.
  expect(await post({ url: rig.site.url('/short/master.m3u8?own'), quality: 'audio', format: 'mp3' })).toEqual([
    expect.stringMatching(/^generic\/master \[.*\]\.mp3$/),
  ]);
});
