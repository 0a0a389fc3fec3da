import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  buildOptionArguments,
  findIgnoredOptions,
  findOptionsProblem,
  type Options,
} from '../../../services/downloads/domain/options.ts';
import { readMedia } from './media.ts';
import { dataFolderWith, openRig, type Record as Row, type Rig } from './rig.ts';

const presets = {
  small: { format_sort: ['res:360'] },
  middle: { format_sort: ['res:720'] },
  told: {
    writesubtitles: true,
    subtitleslangs: ['de'],
    postprocessors: [{ key: 'FFmpegSubtitlesConvertor', format: 'vtt' }],
  },
};

describe.each([
  ['a loaded extractor', true],
  ['the executable', false],
])('options given to %s', (_name, keepLoaded) => {
  let rig: Rig;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = dataFolderWith({ keepLoaded });
    rig = await openRig({
      dataDir,
      environment: {
        YTDL_OPTIONS: JSON.stringify({ format_sort: ['res:1080'], http_headers: { 'X-House': 'Homeport' } }),
        YTDL_OPTIONS_PRESETS: JSON.stringify(presets),
        ALLOW_YTDL_OPTIONS_OVERRIDES: 'true',
      },
    });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true });
  });

  async function download(fields: object): Promise<Row & Readonly<{ ytdl_options_presets?: unknown }>> {
    const url = rig.site.url(`/short/master.m3u8?${encodeURIComponent(JSON.stringify(fields))}`);
    const body = { download_type: 'video', codec: 'auto', format: 'mkv', quality: 'best', ...fields };
    return await rig.client.ended(await rig.client.add(url, body));
  }

  it.each([
    [{}, 1080],
    [{ ytdl_options_presets: ['small'] }, 360],
    [{ ytdl_options_presets: ['small', 'middle'] }, 720],
    [{ ytdl_options_presets: ['small'], ytdl_options_overrides: { format_sort: 'res:480' } }, 480],
    [{ ytdl_options_overrides: '{"format_sort": null}' }, 2160],
  ])('merges settings, presets in their order and the request: %j', async (fields, height) => {
    const record = await download(fields);
    expect(record).toMatchObject({
      status: 'finished',
      ytdl_options_presets: [],
      ytdl_options_overrides: {},
      ...fields,
      ...('ytdl_options_overrides' in fields && typeof fields.ytdl_options_overrides === 'string'
        ? { ytdl_options_overrides: { format_sort: null } }
        : {}),
    });
    expect((await readMedia(rig.file(record.filename ?? ''))).codecs).toEqual([`h264/${height}`, 'aac']);
  });

  it('delivers the requested companion files and applies options to every request', async () => {
    const record = await download({ ytdl_options_presets: ['told', 'small'] });
    const captions = rig.file((record.filename ?? '').replace('.mkv', '.de.vtt'));
    expect((await readMedia(captions)).container).toBe('webvtt');
    expect(rig.site.stats().headers['x-house']).toBe('Homeport');
  });

  it('lists presets by name and refuses unknown ones', async () => {
    expect(await rig.client.get('/presets')).toEqual({ presets: ['middle', 'small', 'told'] });
    const body = { url: rig.site.url('/single.mp4'), quality: 'best', ytdl_options_preset: 'toString' };
    expect((await rig.client.post('/add', body)).msg).toBe(
      'ytdl_options_presets must only contain configured preset names',
    );
  });
});

describe('options that are refused', () => {
  it.each([
    ...['exec', 'exec_cmd', 'external_downloader', 'external_downloader_args', 'paths', 'outtmpl', 'config_locations'],
    ...[
      'plugin_dirs',
      'postprocessor_args',
      'cookiesfrombrowser',
      'cookiefile',
      'ffmpeg_location',
      'cachedir',
      'usenetrc',
    ],
    ...[
      'netrc_cmd',
      'download_archive',
      'load_info_filename',
      'js_runtimes',
      'remote_components',
      'batchfile',
      'username',
    ],
    ...['client_certificate', 'progress_hooks', 'logger', 'print_to_file', 'match_filter', 'enable_file_urls', 'proxy'],
    ...['constructor', '__proto__', 'toString', '--exec', 'ignoreconfig', 'source_address', 'forceprint'],
  ])('refuses %s of a request', (name) => {
    expect(findOptionsProblem(JSON.parse(`{${JSON.stringify(name)}: "touch /tmp/x"}`))).toContain('not an option');
  });

  it.each([
    [{ postprocessors: [{ key: 'Exec', exec_cmd: 'touch /tmp/x' }] }],
    [{ postprocessors: [{ key: 'FFmpegVideoConvertor', preferedformat: 'mp4 --exec x' }] }],
    [{ postprocessors: 'Exec' }],
    [{ ratelimit: '1M --exec x' }],
    [{ ratelimit: -1 }],
    [{ format: '-' }],
    [{ format: 'best\n--exec x' }],
    [{ format_sort: ['res', '--exec'] }],
    [{ subtitleslangs: ['../../x'] }],
    [{ http_headers: { 'X-A': 'b\r\nX-C: d' } }],
    [{ http_headers: { 'X-A:b': 'c' } }],
    [{ extractor_args: { youtube: { player_client: ['web;x=y'] } } }],
    [{ extractor_args: { 'youtube:x': { a: ['b'] } } }],
    [{ concurrent_fragment_downloads: 1000 }],
    [{ writesubtitles: 'yes' }],
    [[]],
    ['--exec x'],
  ])('refuses %j everywhere', (options) => {
    expect(findOptionsProblem(options)).toBeDefined();
    expect(buildOptionArguments(Object(options) as Options).filter((entry) => entry.includes('--exec '))).toEqual([]);
    expect(buildOptionArguments(typeof options === 'string' ? {} : (options as Options))).toEqual([]);
  });

  it('reports invalid options of a request and queues nothing', async () => {
    await using rig = await openRig({ environment: { ALLOW_YTDL_OPTIONS_OVERRIDES: 'true' } });
    for (const overrides of [{ exec: 'touch /tmp/x' }, { proxy: 'http://127.0.0.1:1' }, [1], '{', 7]) {
      const body = { url: rig.site.url('/single.mp4'), quality: 'best', ytdl_options_overrides: overrides };
      expect((await rig.client.post('/add', body)).msg).toContain('ytdl_options_overrides');
    }
    expect(await rig.client.history()).toEqual({ done: [], queue: [], pending: [] });
  });

  it('ignores invalid options of the settings and logs them in one line', async () => {
    for (const [environment, name] of [
      [{ YTDL_OPTIONS: '{"exec": "touch /tmp/x"}' }, 'exec'],
      [{ YTDL_OPTIONS_PRESETS: '{"bad": {"paths": {"home": "/"}}}' }, 'paths'],
    ] as const) {
      await using rig = await openRig({ environment });
      const lines = rig.host.log.filter((line) => line.includes('yt-dlp option ignored'));
      expect(lines).toEqual([expect.stringContaining(name)]);
    }
  });
});

describe('options that are allowed', () => {
  it.each([
    [
      { ratelimit: 2_000_000, concurrent_fragment_downloads: '4' },
      ['--limit-rate=2000000', '--concurrent-fragments=4'],
    ],
    [{ writesubtitles: false, addmetadata: true }, ['--no-write-subs', '--embed-metadata']],
    [{ user_agent: 'Mine/1.0', referer: null }, ['--add-headers=User-Agent:Mine/1.0']],
    [
      { extractor_args: { youtube: { player_client: ['web', 'ios'] } } },
      ['--extractor-args=youtube:player_client=web,ios'],
    ],
    [
      { postprocessors: [{ key: 'FFmpegExtractAudio', preferredcodec: 'mp3', preferredquality: '192' }] },
      ['--extract-audio', '--audio-format=mp3', '--audio-quality=192K'],
    ],
    [{ proxy: 'socks5h://127.0.0.1:9050' }, ['--proxy=socks5h://127.0.0.1:9050']],
  ])('converts %j to arguments of the command line', (options, args) => {
    expect(findIgnoredOptions(options)).toEqual([]);
    expect(buildOptionArguments(options)).toEqual(args);
  });
});
