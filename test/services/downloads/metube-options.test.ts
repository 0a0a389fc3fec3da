import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  buildOptionArguments,
  findIgnoredOptions,
  findOptionsProblem,
  findTemplate,
} from '../../../services/downloads/domain/options.ts';
import type { Order } from '../../../services/downloads/domain/order.ts';
import { findArchive, withoutArchive } from '../../../services/downloads/engine/command-settings.ts';
import { readMedia } from './media.ts';
import { openRig, type Record as Row, type Rig } from './rig.ts';

/** Examples copied from MeTube's documentation. */
const documented = {
  ...{ writesubtitles: true, subtitleslangs: ['en', 'de'], updatetime: false, writethumbnail: true },
};
const documentedPresets = {
  sponsorblock: {
    postprocessors: [
      { key: 'SponsorBlock', categories: ['sponsor', 'selfpromo', 'interaction'] },
      { key: 'ModifyChapters', remove_sponsor_segments: ['sponsor', 'selfpromo', 'interaction'] },
    ],
  },
  'embed-subs': {
    ...{ writesubtitles: true, writeautomaticsub: true, subtitleslangs: ['en', 'de'] },
    postprocessors: [{ key: 'FFmpegEmbedSubtitle' }],
  },
  'limit-rate': { ratelimit: 5_000_000 },
};

/** Further options from questions of MeTube's users. */
const met = {
  ...{ quiet: true, no_warnings: false, ignoreerrors: true, noplaylist: true, nooverwrites: true, continuedl: true },
  ...{ external_downloader: 'aria2c', final_ext: 'mkv', 'merge-output-format': 'mp4', writeinfojson: true },
  ...{ outtmpl: '/downloads/%(title)s/%(title)s.%(ext)s', download_archive: 'archive.txt' },
  ...{ match_filter: 'title != Unwanted', proxy: '192.168.1.88:7890' },
};

let folder: string;
let rig: Rig;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-metube-options-'));
  writeFileSync(join(folder, 'options.json'), JSON.stringify({ format_sort: ['res:360'] }));
  writeFileSync(join(folder, 'presets.json'), JSON.stringify({ 'limit-rate': { ratelimit: 4_000_000 } }));
  const cookie = ['127.0.0.1', 'FALSE', '/', 'FALSE', '4102444800', 'session', 'fixture'].join('\t');
  writeFileSync(join(folder, 'cookies.txt'), `# Netscape HTTP Cookie File\n${cookie}\n`);
  const { proxy: _proxy, download_archive, ...options } = { ...documented, ...met };
  rig = await openRig({
    environment: {
      YTDL_OPTIONS: JSON.stringify({ ...options, cookiefile: join(folder, 'cookies.txt'), format_sort: ['res:1080'] }),
      YTDL_OPTIONS_FILE: join(folder, 'options.json'),
      YTDL_OPTIONS_PRESETS: JSON.stringify({ ...documentedPresets, once: { download_archive } }),
      YTDL_OPTIONS_PRESETS_FILE: join(folder, 'presets.json'),
      ALLOW_YTDL_OPTIONS_OVERRIDES: 'true',
    },
  });
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type EndedDownload = Row & Readonly<{ msg?: string | null; filename?: string }>;
const download = async (url: string, fields: object = {}): Promise<EndedDownload> =>
  await rig.client.ended(await rig.client.add(url, { download_type: 'video', format: 'mkv', ...fields }));

describe('a configuration of MeTube', () => {
  it('applies the template, companion files and cookies', async () => {
    const { error, filename = '' } = await download(rig.site.url('/short/master.m3u8?taken'));
    expect([error, filename]).toEqual([null, 'master/master.mkv']);
    const folderEntries = readdirSync(rig.file('master')).toSorted();
    expect(folderEntries).toEqual(['master.de.vtt', 'master.en.vtt', 'master.info.json', 'master.mkv']);
    const cookie = await download(rig.site.url('/p/cookie'));
    expect(cookie.status).toBe('finished');
  });

  it('logs options without effect, with the reason', () => {
    const lines = rig.host.log.filter((line) => line.includes('yt-dlp option ignored'));
    for (const option of ['quiet', 'noplaylist', 'external_downloader', 'merge-output-format']) {
      expect(lines.some((line) => line.includes(`option=${option} `) || line.includes(`option=${option}\n`))).toBe(
        true,
      );
    }
    expect(lines.some((line) => line.includes('writeinfojson'))).toBe(false);
  });

  it('writes no login into the metadata of a video', async () => {
    const url = rig.site.url('/p/og?title=Secret').replace('://', '://ada:correct@');
    const { filename = '' } = await download(url);
    const text = readFileSync(rig.file(filename.replace(/\.\w+$/, '.info.json')), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ title: 'Secret' });
    expect(text).not.toContain('correct');
  });

  it('embeds subtitles without separate files by the preset of that name', async () => {
    const url = rig.site.url('/short/master.m3u8?embedded');
    const { filename = '' } = await download(url, { ytdl_options_presets: ['embed-subs'] });
    const media = await readMedia(rig.file(filename));
    expect(media.streams.filter(({ kind }) => kind === 'subtitle').map(({ language }) => language)).toEqual([
      'eng',
      'deu',
    ]);
    expect(existsSync(rig.file(filename.replace('.mkv', '.en.vtt')))).toBe(false);
  });

  it('uses an archive whose videos are only downloaded again on request', async () => {
    const url = rig.site.url('/p/og?title=Once');
    const first = await download(url, { ytdl_options_presets: ['once'] });
    expect(first.filename).toBe('Once/Once.mkv');
    expect(readFileSync(rig.file('archive.txt'), 'utf8')).toMatch(/^generic /m);
    const second = await download(url, { ytdl_options_presets: ['once'] });
    expect(second).toMatchObject({ status: 'finished', msg: expect.stringContaining('download archive') as string });
    expect(second.filename).toBeUndefined();
    const third = await download(url, {
      ...{ ytdl_options_presets: ['once'], ytdl_options_overrides: { download_archive: null } },
    });
    expect(third.filename).toBe('Once/Once (2).mkv');
  });

  it('skips videos that the filter excludes, and reports it', async () => {
    const { status, error } = await download(rig.site.url('/p/og?title=Unwanted'));
    expect([status, error]).toEqual(['error', expect.stringContaining('does not pass filter') as string]);
    expect(existsSync(rig.file('Unwanted'))).toBe(false);
  });
});

describe('a file with options', () => {
  const height = async (name: string): Promise<string | undefined> =>
    (await readMedia(rig.file((await download(rig.site.url(`/short/master.m3u8?${name}`))).filename ?? ''))).codecs[0];
  /** Rewrites a file with a different modification time. */
  const write = (name: string, content: string): void => {
    const path = join(folder, name);
    const modifiedAt = statSync(path).mtime.getTime() / 1000 + 5;
    writeFileSync(path, content);
    utimesSync(path, modifiedAt, modifiedAt);
  };

  it('has precedence over the settings and is read again when it changes, unless it is invalid', async () => {
    const socket = io(rig.client.base, { reconnection: false, forceNew: true });
    const received: unknown[] = [];
    socket.on('ytdl_options_changed', (text: string) => received.push(JSON.parse(text)));
    await vi.waitFor(() => expect(received).toHaveLength(1), 10_000);
    expect(received[0]).toEqual({ success: true, msg: '', update_time: expect.any(Number) as number });
    expect(await height('one')).toBe('h264/360');
    write('options.json', '{"format_sort": ["res:480"]}');
    await vi.waitFor(() => expect(received).toHaveLength(2), 10_000);
    expect(await height('two')).toBe('h264/480');
    write('options.json', '{"format_sort": ');
    await vi.waitFor(() => expect(received).toHaveLength(3), 10_000);
    expect(received[2]).toMatchObject({ success: false });
    expect(rig.host.log.some((line) => line.includes('option file ignored') && line.includes('options.json'))).toBe(
      true,
    );
    expect(await height('three')).toBe('h264/480');
    write('options.json', '{}');
    await vi.waitFor(() => expect(received).toHaveLength(4), 10_000);
    expect(await height('four')).toBe('h264/1080');
    socket.disconnect();
  });

  it('reads a changed file of presets again', async () => {
    const names = async (): Promise<readonly string[]> =>
      (await rig.client.get<{ presets: readonly string[] }>('/presets')).presets;
    expect(await names()).toEqual(['embed-subs', 'limit-rate', 'once', 'sponsorblock']);
    write('presets.json', '{"tiny": {"format_sort": ["res:240"]}}');
    await vi.waitFor(async () => expect(await names()).toContain('tiny'), 10_000);
    const { status } = await download(rig.site.url('/single.mp4?tiny'), { ytdl_options_presets: ['tiny'] });
    expect(status).toBe('finished');
  });
});

describe('options of MeTube', () => {
  it('are accepted from the settings if they are documented or common', () => {
    for (const options of [documented, met, ...Object.values(documentedPresets)]) {
      expect(findIgnoredOptions(options).filter(({ isRelevant: isRelevant }) => isRelevant)).toEqual([]);
    }
    expect(buildOptionArguments(met)).toEqual([
      ...['--write-info-json', '--download-archive=archive.txt', '--match-filters=title != Unwanted'],
      '--proxy=http://192.168.1.88:7890',
    ]);
    expect(findIgnoredOptions(met).map(({ option }) => option)).toEqual([
      ...['quiet', 'no_warnings', 'ignoreerrors', 'noplaylist', 'nooverwrites', 'continuedl'],
      ...['external_downloader', 'final_ext', 'merge-output-format'],
    ]);
  });

  it('ignores the download archive for a repeated download', () => {
    const order = { presets: ['once'], overrides: { ratelimit: '1M' } } as unknown as Order;
    const layers = { ytdlOptions: {}, ytdlPresets: { once: { download_archive: 'a' } } };
    const secondOrder = withoutArchive(order, layers);
    expect(secondOrder.overrides).toEqual({ ratelimit: '1M', download_archive: null });
    expect([findArchive(order, layers, '/srv'), findArchive(secondOrder, layers, '/srv')]).toEqual([
      '/srv/a',
      undefined,
    ]);
    expect(withoutArchive(order, { ytdlOptions: {}, ytdlPresets: {} })).toBe(order);
  });

  it('ignores options that select downloads in a probe', () => {
    expect(buildOptionArguments({ download_archive: 'a', match_filter: 'b', ratelimit: '1M' }, 'probe')).toEqual([
      '--limit-rate=1M',
    ]);
  });

  it.each([
    [{ quiet: true, ignoreerrors: true }, undefined],
    [{ download_archive: null }, undefined],
    [{ download_archive: '/etc/cron.d/x' }, '"download_archive" is not an option that may be set'],
    [{ outtmpl: '%(title)s' }, '"outtmpl" is not an option that may be set'],
    [{ 'merge-output-format': 'mp4' }, '"merge-output-format" is not an option that may be set'],
  ])('validates %j of a request: %s', (options, problem) => {
    expect(findOptionsProblem(options)).toBe(problem);
  });

  it.each([
    [{ outtmpl: '../%(title)s.%(ext)s' }],
    [{ outtmpl: '/etc/%(title)s.%(ext)s' }],
    [{ outtmpl: { chapter: '%(title)s.%(ext)s' } }],
    [{ outtmpl: 7 }],
  ])('ignores the template of %j', (options) => {
    expect(findTemplate(options, ['/srv/media', '/downloads'])).toBeUndefined();
  });
});
