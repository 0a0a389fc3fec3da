import * as m from '#messages/downloads-problems';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseCaptions, listMissingCaptions } from '../../../services/downloads/domain/captions.ts';
import { readCues, writeCues } from '../../../services/downloads/domain/cues.ts';
import { defaultOrderOptions, type Order, type SubtitleMode } from '../../../services/downloads/domain/order.ts';
import { readMedia } from './media.ts';
import { dataFolderWith, openRig, type Rig } from './rig.ts';

const run = promisify(execFile);
const master = '/short/master.m3u8';

/** Opens a host whose settings request these subtitles. */
async function rigWith(environment: Record<string, string>): Promise<Rig> {
  return await openRig({ environment });
}

async function listLanguages(path: string): Promise<readonly (string | undefined)[]> {
  const { streams } = await readMedia(path);
  return streams.filter(({ kind }) => kind === 'subtitle').map(({ codec, language }) => `${codec} ${language}`);
}

describe('embedded subtitles', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await rigWith({ SUBTITLES: 'en,es,xx', SUBTITLE_EMBED: 'true' });
  });
  afterAll(async () => await rig[Symbol.asyncDispose]());

  it.each([
    ['mp4', ['mov_text eng', 'mov_text spa']],
    ['webm', ['webvtt eng', 'webvtt spa']],
    ['mkv', ['webvtt eng', 'webvtt spa']],
  ])('are embedded into %s with their languages, without missing languages', async (format, expected) => {
    const uid = await rig.client.add(rig.site.url(`${master}?${format}`), { quality: '360', format });
    const { filename = '', error } = await rig.client.ended(uid);
    expect(error).toBeNull();
    expect(await listLanguages(rig.file(filename))).toEqual(expected);
    const stem = filename.replace(/\.\w+$/, '');
    expect(existsSync(rig.file(`${stem}.en.vtt`)) || existsSync(rig.file(`${stem}.en.srt`))).toBe(false);
  });

  it('stores subtitles as files next to AVI, which does not support them', async () => {
    const uid = await rig.client.add(rig.site.url(`${master}?avi`), { quality: '360', format: 'avi' });
    const { filename = '' } = await rig.client.ended(uid);
    const stem = filename.replace(/\.avi$/, '');
    expect(readFileSync(rig.file(`${stem}.en.srt`), 'utf8')).toContain('00:00:00,100 --> 00:00:00,400\nHello, world');
    expect(existsSync(rig.file(`${stem}.es.srt`))).toBe(true);
  });
});

describe('separate subtitle files', () => {
  it('are SRT files that have the number of their video if the name exists', async () => {
    await using rig = await rigWith({ SUBTITLES: 'en,de' });
    const names: (string | undefined)[] = [];
    for (const tag of ['one', 'two', 'three']) {
      const uid = await rig.client.add(rig.site.url(`${master}?${tag}`), { quality: '360', format: 'mkv' });
      names.push((await rig.client.ended(uid)).filename);
    }
    expect(names).toEqual(['master.mkv', 'master (2).mkv', 'master (3).mkv']);
    expect((await readdir(rig.file(''))).toSorted()).toEqual(
      ['', ' (2)', ' (3)']
        .flatMap((number) => ['.de.srt', '.en.srt', '.mkv'].map((end) => `master${number}${end}`))
        .toSorted(),
    );
    expect(await listLanguages(rig.file('master.mkv'))).toEqual([]);
    // One name that exists already is enough.
    await rm(rig.file('master (2).mkv'));
    const uid = await rig.client.add(rig.site.url(`${master}?four`), { quality: '360', format: 'mkv' });
    expect((await rig.client.ended(uid)).filename).toBe('master (4).mkv');
  });
});

describe('caption downloads', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(async () => await rig[Symbol.asyncDispose]());

  async function fetched(fields: object, path = master): Promise<{ name: string; text: string; error: string | null }> {
    const url = rig.site.url(`${path}?${encodeURIComponent(JSON.stringify(fields))}`);
    const uid = await rig.client.add(url, { download_type: 'captions', ...fields });
    const { filename: name = '', error } = await rig.client.ended(uid);
    return { name, text: name === '' ? '' : readFileSync(rig.file(name), 'utf8'), error };
  }

  it.each([
    ['srt', '1\n00:00:00,100 --> 00:00:00,400\nHello, world'],
    ['vtt', 'WEBVTT'],
    ['txt', 'Hello, world\n…\n'],
    ['sbv', '0:00:00.100,0:00:00.400\nHello, world\n'],
    ['ttml', '<p begin="00:00:00.100" end="00:00:00.400">Hello, world</p>'],
    ['dfxp', '<p begin="00:00:00.100" end="00:00:00.400">Hello, world</p>'],
    ['scc', 'Scenarist_SCC V1.0\n\n00:00:00:03\t94ae 94ae 9420 9420 9470 9470'],
  ])('creates %s files that the record names', async (format, text) => {
    const download = await fetched({ format });
    expect(download.name).toBe(`master.en.${format}`);
    expect(download.text).toContain(text);
  });

  it('downloads captions in the requested language', async () => {
    expect((await fetched({ format: 'srt', subtitle_language: 'de' })).text).toContain('Guten Tag, Welt');
    expect((await fetched({ format: 'txt', subtitle_language: 'ES' }, '/short/manifest.mpd')).text).toContain('Hola');
  });

  it('lists the available captions when the requested ones are missing', async () => {
    expect((await fetched({ format: 'srt', subtitle_language: 'fr' })).error).toBe(
      m.noCaptionsOnlyManual({ kind: 'any', language: 'fr', manual: 'en, es, de' }),
    );
    expect((await fetched({ format: 'srt', subtitle_mode: 'auto_only' })).error).toContain('No automatic captions');
    expect((await fetched({ format: 'srt' }, '/single.mp4')).error).toBe(m.noCaptions({ kind: 'any', language: 'en' }));
  });

  it('accepts the former request options', async () => {
    const url = rig.site.url(`${master}?old`);
    const body = { url, format: 'captions', subtitle_format: 'vtt', subtitle_language: 'es' };
    const uid = (await rig.client.post('/add', body)).uid ?? '';
    const { filename = '' } = await rig.client.ended(uid);
    expect(filename).toBe('master.es.vtt');
  });
});

it('downloads captions without ffmpeg', async () => {
  await using rig = await openRig({ environment: { FFMPEG_PATH: '/nowhere/ffmpeg' } });
  expect((await rig.client.get<{ engine: { ffmpeg: string | null } }>('/status')).engine.ffmpeg).toBeNull();
  for (const [format, text] of [
    ['srt', '1\n00:00:00,100 --> 00:00:00,400\nHello, world\n\n2\n'],
    ['vtt', 'WEBVTT\n'],
    ['ttml', 'Hello, world</p>'],
  ]) {
    const fields = { download_type: 'captions', format };
    const uid = await rig.client.add(rig.site.url(`${master}?${format}`), fields);
    const { filename = '', error } = await rig.client.ended(uid);
    expect([filename, error]).toEqual([`master.en.${format}`, null]);
    expect(readFileSync(rig.file(filename), 'utf8')).toContain(text);
  }
});

describe('the selection of captions', () => {
  const available = {
    manual: { 'en-GB': ['vtt'], de: ['ttml', 'vtt'] },
    automatic: { en: ['vtt'], de: ['vtt'] },
  };
  const choose = (subtitleLanguage: string, subtitleMode: SubtitleMode, format = 'srt') =>
    chooseCaptions({ ...defaultOrderOptions, subtitleLanguage, subtitleMode, format } as unknown as Order, available);

  it.each([
    ['en', 'prefer_manual', { language: 'en-GB', from: ['manual'] }],
    ['en', 'prefer_auto', { language: 'en', from: ['automatic'] }],
    ['en', 'auto_only', { language: 'en', from: ['automatic'] }],
    ['DE', 'manual_only', { language: 'de', from: ['manual'] }],
  ] as const)('selects captions of %s by %s', (language, mode, expected) => {
    expect(choose(language, mode)).toMatchObject(expected);
  });

  it('prefers captions in the requested format', () => {
    expect(choose('de', 'prefer_manual', 'ttml')).toMatchObject({ native: true });
    expect(choose('de', 'prefer_auto', 'ttml')).toMatchObject({ native: false });
    expect(choose('fr', 'prefer_manual')).toBeUndefined();
    const order = { ...defaultOrderOptions, subtitleLanguage: 'fr' } as unknown as Order;
    expect(listMissingCaptions(order, available)).toEqual({
      ...{ kind: 'any', language: 'fr', manual: 'en-GB, de', automatic: 'en, de' },
    });
  });
});

describe('the text of captions', () => {
  const vtt = [
    'WEBVTT',
    'Kind: captions',
    '',
    'NOTE nothing to say',
    '',
    '1',
    '00:01.000 --> 00:02.500 align:start position:0%',
    '<c>Tom &amp; Jerry</c> <i>say</i>',
    'ñandú* {x}',
    '',
    '01:00:02.500 --> 01:00:04.000',
    'ñandú* {x}',
    'second line of a rather long kind, longer than one row of the screen',
    '',
  ].join('\n');
  const cues = readCues(vtt);

  it('is read without markup', () => {
    expect(cues).toEqual([
      { from: 1000, to: 2500, lines: ['Tom & Jerry say', 'ñandú* {x}'] },
      { from: 3_602_500, to: 3_604_000, lines: ['ñandú* {x}', expect.stringContaining('second line') as string] },
    ]);
    expect(readCues('1\r\n00:00:01,5 --> 00:00:02,0\r\nWindows\r\n')).toMatchObject([
      { from: 1500, lines: ['Windows'] },
    ]);
    // Character references of HTML, which WebVTT permits; an unknown one and a bare ampersand stay as they are.
    const references = 'Gr&uuml;&#223;e&nbsp;&lrm;&lt;b&gt; R&B &copy &unknown; &amp;lt;';
    expect(readCues(`WEBVTT\n\n00:01.000 --> 00:02.000\n${references}`)).toMatchObject([
      { lines: ['Grüße <b> R&B &copy &unknown; &lt;'] },
    ]);
    expect(readCues('')).toEqual([]);
  });

  it('is not repeated in rolling captions', () => {
    expect(writeCues(cues, 'txt', 'en')?.split('\n')).toEqual([
      'Tom & Jerry say',
      'ñandú* {x}',
      expect.stringContaining('second') as string,
      '',
    ]);
  });

  it('is unchanged as SRT and WebVTT', () => {
    for (const format of ['srt', 'vtt']) expect(readCues(writeCues(cues, format, 'en') ?? '')).toEqual(cues);
  });

  it('escapes XML characters', () => {
    expect(writeCues(readCues('WEBVTT\n\n00:01.000 --> 00:02.000\na &lt; b &amp; c\nd'), 'ttml', 'en')).toContain(
      'a &lt; b &amp; c<br/>d</p>',
    );
  });

  it('is decoded from SCC by a closed-caption decoder', async () => {
    const folder = dataFolderWith({});
    try {
      await writeFile(`${folder}/x.scc`, writeCues(cues, 'scc', 'en') ?? '');
      const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', `${folder}/x.scc`, '-f', 'srt', '-']);
      const visibleCues = readCues(stdout.replaceAll('\\h', ' '));
      expect(visibleCues[0]?.lines).toEqual(['Tom & Jerry say', 'ñandú? ?x?']);
      expect(Math.abs((visibleCues[0]?.from ?? 0) - 1000)).toBeLessThan(100);
      expect(visibleCues[1]?.lines).toEqual([
        'ñandú? ?x?',
        'second line of a rather long',
        'kind, longer than one row of the',
        'screen',
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
