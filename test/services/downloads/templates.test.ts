import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitFields, buildTrimmedTemplate } from '../../../services/downloads/domain/safe-names.ts';
import { addNumber } from '../../../services/downloads/domain/template.ts';
import { getListFields, useFields } from '../../../services/downloads/domain/template-fields.ts';
import { sharedEngines } from '../../support/engines.ts';
import { openRig, requireEngines, type Rig } from './rig.ts';

await requireEngines();
const hasFfmpeg = (await sharedEngines().find('ffmpeg')).path !== null;

/** Returns the paths of all finished downloads of a feed, relative to the download folder. */
async function listNames(rig: Rig, url: string, count: number): Promise<readonly string[]> {
  await rig.client.post('/add', { url, quality: 'best', format: 'any' });
  const { done } = await rig.client.untilAll(count);
  expect(done.map(({ status, msg }) => [status, msg]).filter(([status]) => status !== 'finished')).toEqual([]);
  return done.map(({ filename = '' }) => filename).toSorted();
}

describe('a template of a list', () => {
  it.each([
    ['%(playlist_title)s/%(playlist_index)03d - %(title).11s.%(ext)s', 'Fixture Feed/002 - Episode 002.mp4'],
    ['%(playlist_index)d %(title).7B.%(ext)s', '2 Episode.mp4'],
    ['%(playlist_index)s of %(n_entries)s.%(ext)s', '02 of 12.mp4'],
    ['%(playlist_index+100)d %(n_entries+1-playlist_index)d.%(ext)s', '102 11.mp4'],
    ['%(playlist_title,uploader|None)s-%(nothing,playlist|-)U.%(ext)s', 'Fixture Feed-Fixture Feed.mp4'],
    ['%(playlist_index&No {}|)s %(nothing&x|none)s.%(ext)s', 'No 2 none.mp4'],
    ['%(playlist_title.:7)s %(playlist_title.-4:)s.%(ext)s', 'Fixture Feed.mp4'],
    ['%(playlist_title)q %(playlist_index)j.%(ext)s', "'Fixture Feed' 2.mp4"],
    ['%(n_entries)D %(playlist_count)02d 100%% %(playlist_title)-14sX.%(ext)s', '12 12 100% Fixture Feed  X.mp4'],
    ['%(title)#S-%(playlist_autonumber)s.%(ext)s', 'Episode_002-02.mp4'],
    [
      '%(epoch>%Y)s/%(playlist_title)s %(playlist_index)s.%(ext)s',
      `${String(new Date().getFullYear())}/Fixture Feed 02.mp4`,
    ],
  ])('resolves %s as yt-dlp does', async (template, second) => {
    await using rig = await openRig({ environment: { OUTPUT_TEMPLATE_PLAYLIST: template } });
    const names = await listNames(rig, rig.site.url('/feed/12.rss?title=Fixture%20Feed'), 12);
    expect(names).toContain(second);
  });

  it('keeps text that resembles template syntax, within its folder', async () => {
    const title = 'a%(id)s: $HOME \\ ..';
    await using rig = await openRig({
      environment: { OUTPUT_TEMPLATE_PLAYLIST: '%(playlist_title)s/%(playlist_index)s.%(ext)s' },
    });
    const names = await listNames(rig, rig.site.url(`/feed/1.rss?title=${encodeURIComponent(title)}`), 1);
    expect(names).toEqual(['a%(id)s： $HOME ⧹ ../1.mp4']);
  });
});

describe('a name that is too long for the file system', () => {
  it.each([
    ['a picture', '/p/og', { download_type: 'thumbnail', format: 'jpg' }],
    ['chapters', '/p/chapters', { format: 'mp4', split_by_chapters: true }],
  ])('is trimmed for %s', async (_case, path, fields) => {
    await using rig = await openRig({ environment: { OUTPUT_TEMPLATE: '%(title)s.%(ext)s' } });
    const url = rig.site.url(`${path}?title=${encodeURIComponent('日'.repeat(300))}`);
    const record = await rig.client.ended(await rig.client.add(url, fields));
    expect([record.status, record.msg]).toEqual(['finished', null]);
    for (const name of readdirSync(join(rig.host.dataDir, 'Downloads'))) {
      expect(name).toMatch(/^日{10,85}/);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    }
  });

  const cases: [string, object][] = [
    ['%(title)s.%(ext)s', {}],
    ['%(title)s/%(title)s.%(ext)s', {}],
  ];
  if (hasFfmpeg) cases.push(['%(title)s.%(ext)s', { quality: 'audio', format: 'mp3' }]);
  it.each(cases)('is trimmed with the template %s', async (template, fields) => {
    await using rig = await openRig({ environment: { OUTPUT_TEMPLATE: template } });
    const title = '日'.repeat(300);
    const url = rig.site.url(`/p/html5?title=${encodeURIComponent(title)}`);
    const record = await rig.client.ended(await rig.client.add(url, fields));
    expect([record.status, record.msg]).toEqual(['finished', null]);
    for (const part of (record.filename ?? '').split('/')) {
      expect(part).toMatch(/^日{60,85}(\.\w+)?$/);
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255);
    }
    expect(readdirSync(join(rig.host.dataDir, 'Downloads'))).toHaveLength(1);
    // A repeated name gets a number, which must fit as well.
    const secondDownload = await rig.client.ended(await rig.client.add(`${url}&again`, fields));
    expect(secondDownload.filename).toContain(' (2)');
  });
});

describe('useFields', () => {
  const fields = getListFields({
    ...{ id: 'PL', title: 'List', index: 7, count: 120, entryTitle: 'E', entryAddress: null, byIndex: false },
  });
  it.each([
    ['%(title)s', '%(homeport_title)s'],
    ['%%(title)s', '%%(title)s'],
    ['%(title.0)s', '%(homeport_title.0)s'],
    ['%(info.title)s', '%(info.title)s'],
    ['%(a>%Y\\,title,title&title {}|title)s', '%(a>%Y\\,title,homeport_title&title {}|title)s'],
    ['%(playlist_index)s', '%(homeport_playlist_index)03d'],
    ['%(playlist_index,id)s', '%(homeport_playlist_index,id)03d'],
    ['%(playlist_index)5s', '%(homeport_playlist_index)5s'],
    ['%(-playlist_index+1)d', '%(-homeport_playlist_index+1)d'],
    ['%()s %(.{id,title})j', '%()s %(.{id,title})j'],
    ['%(constructor)s', '%(constructor)s'],
  ])('reads %s', (template, expected) => {
    expect(useFields(template, fields)).toBe(expected);
  });
});

describe('trimmedTemplate', () => {
  it('limits the text fields of a template, and keeps numbers and explicit limits', () => {
    expect(limitFields('%(title)s - %(section_number)02d - %(section_title)s.%(ext)s', 255)).toBe(
      '%(title).90B - %(section_number)02d - %(section_title).90B.%(ext)s',
    );
    expect(limitFields('%(uploader)s/%(title).20s.%(ext)s', 255)).toBe('%(uploader).187B/%(title).20s.%(ext)s');
  });

  it('cuts each name, keeps the extension and escapes what yt-dlp would expand', () => {
    expect(buildTrimmedTemplate('~a/$b/100%.mp4', 'mp4', 255)).toBe('～a/＄b/100%%.%(ext)s');
    expect(buildTrimmedTemplate(`${'d'.repeat(300)}/${'n'.repeat(300)}.mp4`, 'mp4', 255)).toBe(
      `${'d'.repeat(255)}/${'n'.repeat(223)}.%(ext)s`,
    );
    expect(buildTrimmedTemplate('plain', 'mp4', 255)).toBe('plain');
  });

  it('reserves space for the number of an existing name', () => {
    expect(Buffer.byteLength(addNumber(`${'日'.repeat(83)}.webm`, 12))).toBeLessThanOrEqual(255);
  });
});
