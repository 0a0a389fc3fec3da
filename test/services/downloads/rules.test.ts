import * as m from '#messages/downloads-problems';
import { describe, expect, it } from 'vitest';
import {
  isInternal,
  joinLogin,
  parseAddress,
  splitLogin,
  withoutSecrets,
  withoutPosition,
} from '../../../services/downloads/domain/address.ts';
import { chapterTemplate, defaultOrderOptions, type Order } from '../../../services/downloads/domain/order.ts';
import { describeFailure, readEvent } from '../../../services/downloads/domain/progress.ts';
import { findSkipReason } from '../../../services/downloads/domain/engine-messages.ts';
import { buildSelectionArguments } from '../../../services/downloads/domain/format-selection.ts';
import {
  fillTemplate,
  splitFolder,
  addNumber,
  toSafePart,
  findTemplateProblem,
} from '../../../services/downloads/domain/template.ts';
import { getListFields } from '../../../services/downloads/domain/template-fields.ts';
import { readAdd } from '../../../services/downloads/wire/add.ts';

const defaults = {
  ...{ quality: 'best', format: 'mp4', chapterTemplate, iosFormat: false },
  ...{ ytdlPresets: {}, allowOptionsOverrides: false, playlistItemLimit: 0 },
};

describe('a request', () => {
  it.each([
    [{}, { type: 'video', quality: 'best', format: 'mp4' }],
    [{ quality: '1080p' }, { type: 'video', quality: '1080', format: 'mp4' }],
    [{ quality: 'Audio Only' }, { type: 'audio', quality: 'best', format: 'm4a' }],
    [
      { quality: 'best', format: 'any' },
      { type: 'video', quality: 'best', format: 'any' },
    ],
    [{ quality: 'best_ios' }, { type: 'video', quality: 'best', format: 'ios' }],
    [
      { quality: '720', format: 'mp3' },
      { type: 'audio', quality: 'best', format: 'mp3' },
    ],
    [
      { quality: '192', format: 'mp3' },
      { type: 'audio', quality: '192', format: 'mp3' },
    ],
    [
      { quality: 'best', format: 'ogg' },
      { type: 'audio', format: 'ogg' },
    ],
    [
      { format: 'webm', video_codec: 'VP9' },
      { type: 'video', format: 'webm', codec: 'vp9' },
    ],
    [{ format: 'captions' }, { type: 'captions', format: 'srt' }],
    [{ format: 'thumbnail' }, { type: 'thumbnail', format: 'jpg' }],
    [
      { download_type: 'audio', quality: 'best', format: 'flac', codec: 'av1' },
      { type: 'audio', codec: 'auto' },
    ],
    [{ auto_start: 'yes' }, { autoStart: false }],
    [
      { auto_start: true, playlist_item_limit: '7' },
      { autoStart: true, itemLimit: 7 },
    ],
  ])('converts %j to %j', (fields, order) => {
    expect(readAdd({ url: ' http://a/ ', ...fields }, defaults)).toMatchObject({ url: 'http://a/', order });
  });
});

describe('the options of a request', () => {
  const read = (fields: object): Order => readAdd({ url: 'http://a/', quality: 'best', ...fields }, defaults).order;

  it.each([
    [885, 885],
    ['885', 885],
    ['14m45s', 885],
    ['1:02:03', 3723],
    ['1h2m3.5s', 3723.5],
    ['0:10', 10],
    ['45s', 45],
  ])('parses %j as a time', (clip_start, seconds) => {
    expect(read({ clip_start })).toMatchObject({ clipStart: seconds, clipEnd: null });
  });

  it.each(['x', '-1', -1, '1:2:3:4', 'm', ' s', {}, 1e9, '::'])('rejects %j as a time', (clip_start) => {
    expect(() => read({ clip_start })).toThrow('clip_start must be a time');
  });

  it('starts a clip at the position of a YouTube link unless the request sets one', () => {
    const url = 'https://youtu.be/a?t=1m5s';
    expect(read({ url })).toMatchObject({ clipStart: 65, clipEnd: null });
    expect(read({ url, clip_start: 3 })).toMatchObject({ clipStart: 3 });
    expect(read({ url, clip_end: 3 })).toMatchObject({ clipStart: 0, clipEnd: 3 });
    expect(read({ url, format: 'captions' })).toMatchObject({ clipStart: null });
    expect(read({ url: 'https://example.org/?t=65' })).toMatchObject({ clipStart: null });
  });

  it.each([
    [{ clip_start: 5, clip_end: 5 }, 'clip_end must be greater than clip_start'],
    [{ format: 'captions', clip_start: 5 }, 'clip_start and clip_end are for video and audio alone'],
    [{ subtitle_language: 'en,es' }, 'subtitle_language must match'],
    [
      { subtitle_mode: 'x' },
      "subtitle_mode must be one of ['auto_only', 'manual_only', 'prefer_auto', 'prefer_manual']",
    ],
    [{ chapter_template: 'a/../../b' }, 'chapter_template: '],
  ])('refuses %j', (fields, message) => {
    expect(() => read(fields)).toThrow(message);
  });

  it('are kept unchanged', () => {
    const fields = {
      subtitle_language: 'pt-BR',
      subtitle_mode: 'AUTO_ONLY',
      split_by_chapters: true,
      sponsorblock: 'true',
    };
    expect(read(fields)).toMatchObject({
      ...{ subtitleLanguage: 'pt-BR', subtitleMode: 'auto_only', splitByChapters: true, sponsorblock: true },
      chapterTemplate,
    });
  });
});

describe('a template of the settings', () => {
  it.each([
    '',
    '/etc/%(title)s',
    '~/%(title)s',
    '$HOME/%(title)s',
    '../%(title)s',
    'a/../../%(title)s',
    '%(nosuch|..)s/%(title)s',
    '%(title&..)s/%(title)s',
    '%(epoch>..)s/%(title)s',
    '%(title.0&.)s%(title.0&.)s/x',
    '..%(nosuch|)s/x',
    '.%(title&.)h/x',
    '..%(title).0s/x',
    '%(x&/|..)s/x',
    '%(a&()|..)s/x',
    '%(title&{:.0})s../x',
    `${'a'.repeat(1001)}`,
  ])('cannot leave the download folder: %s', (template) => {
    expect(findTemplateProblem(template)).toBeDefined();
  });

  it.each([
    '%(title)s.%(ext)s',
    '.%(title)s.%(ext)s',
    '%(playlist_title)s/%(title).180B.%(ext)s',
    '%(uploader|unknown)s/%(upload_date>%Y-%m-%d)s/%(title)s.%(ext)s',
    '%(series&{} - |)s%(title)s.%(ext)s',
    'a...b/%(playlist_index&{}. |)s%(title)s.%(ext)s',
  ])('may be %s', (template) => {
    expect(findTemplateProblem(template)).toBeUndefined();
  });
});

describe('a login in an address', () => {
  it('is separated from the displayed address', () => {
    expect(splitLogin('https://ada:p%40w@host:8443/a?b#c')).toEqual({
      displayUrl: 'https://host:8443/a?b#c',
      login: 'ada:p%40w',
    });
    expect(joinLogin('https://host:8443/a?b#c', 'ada:p%40w')).toBe('https://ada:p%40w@host:8443/a?b#c');
    expect(splitLogin('https://host/@user')).toEqual({ displayUrl: 'https://host/@user', login: null });
    expect(splitLogin('AbCd1234')).toEqual({ displayUrl: 'AbCd1234', login: null });
  });

  it('is removed from text', () => {
    expect(withoutSecrets("ERROR: 'http://ada:pw@bad host/' and https://b@c/d@e are https://c/x")).toBe(
      "ERROR: 'http://bad host/' and https://c/d@e are https://c/x",
    );
  });

  it('refuses addresses that are too long', () => {
    expect(() => readAdd({ url: `http://a/${'x'.repeat(8192)}` }, defaults)).toThrow('at most 8192 characters');
  });
});

describe('the format selection', () => {
  const video: Order = {
    type: 'video',
    codec: 'auto',
    format: 'mp4',
    quality: 'best',
    folder: null,
    prefix: '',
    itemLimit: 0,
    autoStart: true,
    login: null,
    ...defaultOrderOptions,
  };
  const choose = (order: Partial<Order>, merge = true): string =>
    buildSelectionArguments({ ...video, ...order }, { merge }).join(' ');

  it('sorts by the requested format instead of filtering, so that a stream always matches', () => {
    expect(choose({ quality: '1080' })).toContain('-f bv*+ba/b -S res:1080,vcodec:h264,acodec:aac');
    expect(choose({ format: 'any' })).toBe('-f bv*+ba/b -S res');
    expect(choose({ format: 'any', quality: 'worst' })).toBe('-f wv*+wa/w');
    expect(choose({ format: 'any', codec: 'vp9' })).toBe(
      `-f bv*[vcodec~='^vp0?9']+ba/b[vcodec~='^vp0?9']/bv*+ba/b -S res`,
    );
  });

  it('selects single files without ffmpeg', () => {
    expect(choose({ quality: '720' }, false)).toBe('-f b -S res:720,vcodec:h264,acodec:aac');
    expect(choose({ type: 'audio', format: 'mp3' }, false)).toBe('-f ba/b');
  });

  it('maps ogg to the name of the extractor', () => {
    expect(choose({ type: 'audio', format: 'ogg' })).toContain('--audio-format vorbis --audio-quality 0');
  });
});

describe('an address', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1%eth0',
    'fd00::1',
    'ff02::1',
    '::ffff:192.168.0.1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    '1.2.3',
    'x',
  ])('is internal: %s', (address) => {
    expect(isInternal(address)).toBe(true);
  });

  it.each([
    '1.1.1.1',
    '100.128.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('is not internal: %s', (address) => {
    expect(isInternal(address)).toBe(false);
  });

  it('is the same YouTube video at any position', () => {
    const url = parseAddress('https://www.youtube.com/watch?v=a&t=42s');
    expect('href' in url && withoutPosition(url)).toBe('https://www.youtube.com/watch?v=a');
  });
});

describe('a file name', () => {
  it.each(['/abs', '~/x', '../x', 'a/../b', 'C:\\x', '$HOME/%(title)s', ''])('refuses the template %j', (template) => {
    expect(findTemplateProblem(template)).toBeDefined();
  });

  it('uses only safe parts of playlist titles', () => {
    const playlist = {
      id: 'PL',
      title: '../$HOME 100%',
      index: 7,
      count: 120,
      entryTitle: null,
      entryAddress: null,
      byIndex: false,
    };
    const template = '%(playlist_title)s/%(playlist_index)s - %(title).180B.%(ext)s';
    expect(fillTemplate(template, { prefix: '', playlist })).toBe(
      '%(homeport_playlist_title)s/%(homeport_playlist_index)03d - %(title).180B.%(ext)s',
    );
    expect(fillTemplate(template, { prefix: 'p/q', playlist: { ...playlist, title: '..', entryTitle: 'E' } })).toBe(
      '%(homeport_playlist_title)s/p⧸q.%(homeport_playlist_index)03d - %(homeport_title).180B.%(ext)s',
    );
    expect(getListFields({ ...playlist, title: '..' })).toMatchObject({ playlist_title: '_', playlist_index: '7' });
  });

  it('stays within the limits of file systems', () => {
    expect(Buffer.byteLength(toSafePart('字'.repeat(300)))).toBe(180);
    expect(toSafePart('trailing. . ')).toBe('trailing');
  });

  it('gets its number before the extension', () => {
    expect([1, 2].map((number) => addNumber('a.b.mp4', number))).toEqual(['a.b.mp4', 'a.b (2).mp4']);
    expect(addNumber('plain', 3)).toBe('plain (3)');
  });

  it('has a folder only below the download folder', () => {
    expect(splitFolder('a/./b//c')).toEqual(['a', 'b', 'c']);
    for (const folder of ['..', 'a/../..', '/a', '~', 'C:/a', 'a\\..\\..', 'a\0'])
      expect(splitFolder(folder)).toBeUndefined();
  });
});

describe('the output of the extractor', () => {
  it('parses progress with omitted numbers', () => {
    expect(
      readEvent('P {"status": "downloading", "downloaded_bytes": 50, "total_bytes_estimate": 200.0, "speed": 7.5}'),
    ).toEqual({
      kind: 'transfer',
      complete: false,
      bytes: 50,
      progress: { percent: 25, stream: null, speed: 7.5, eta: null, activity: null },
    });
    expect(readEvent('P {"fragment_index": 1, "fragment_count": 4}')).toMatchObject({ progress: { percent: 25 } });
    expect(readEvent('P {"status": "downloading"}')).toMatchObject({ progress: { percent: null } });
  });

  it('parses stages and the result, and ignores other lines', () => {
    expect(readEvent('Q {"status": "started", "postprocessor": "Merger"}')).toEqual({
      kind: 'stage',
      started: true,
      name: 'Merger',
    });
    expect(readEvent('A {"filepath": "/a/b.mp4"}')).toEqual({ kind: 'result', path: '/a/b.mp4' });
    for (const line of ['P {broken', 'A {}', 'WARNING: P {}', '']) expect(readEvent(line)).toBeUndefined();
  });

  it('describes a failure by the last error with a reason', () => {
    const exit = { code: 1, signal: null };
    const getMessage = (...lines: readonly string[]): string => describeFailure(lines, exit).message;
    expect(getMessage('WARNING: x', 'ERROR: one', 'ERROR: two', 'more')).toBe('ERROR: two');
    expect(getMessage('ERROR: why', 'ERROR: fragment 2 not found, unable to continue')).toBe('ERROR: why');
    expect(getMessage('ERROR: \r[download] Got error: HTTP Error 503')).toBe('ERROR: Got error: HTTP Error 503');
  });

  it('describes the failure of a disk with its code', () => {
    const exit = { code: 1, signal: null };
    expect(describeFailure(['ERROR: unable to write data: [Errno 28] No space left on device'], exit)).toEqual({
      message: m.diskFullWithError({ error: 'ERROR: unable to write data: [Errno 28] No space left on device' }),
      failure: 'disk_full',
      failureParameters: { error: 'ERROR: unable to write data: [Errno 28] No space left on device' },
      kind: 'disk',
    });
    expect(describeFailure(["ERROR: unable to open for writing: [Errno 13] Permission denied: 'x'"], exit)).toEqual({
      message: m.workFolderNotWritable({
        error: "ERROR: unable to open for writing: [Errno 13] Permission denied: 'x'",
      }),
      failure: 'folder_not_writable',
      failureParameters: { error: "ERROR: unable to open for writing: [Errno 13] Permission denied: 'x'" },
      kind: 'disk',
    });
  });

  it('describes the end of the extractor without an error', () => {
    expect(describeFailure([], { code: null, signal: 'SIGTERM' })).toEqual({
      message: m.engineEnded({ signal: 'SIGTERM' }),
      failure: 'engine_ended',
      failureParameters: { signal: 'SIGTERM' },
      kind: 'engine',
    });
    expect(describeFailure([], { code: null, signal: 'SIGKILL' })).toMatchObject({
      message: m.engineKilled(),
      kind: 'engine',
    });
    expect(describeFailure(['HTTP Error 503: Service Unavailable'], { code: 1, signal: null })).toMatchObject({
      kind: 'site',
    });
  });
});

describe('findSkipReason', () => {
  it.each([
    '"A title" title did not match pattern "B"',
    '"A title" title matched reject pattern "A"',
    'A title does not pass filter (duration > 60), skipping ..',
    'x: has already been recorded in the archive',
  ])('returns %s', (reason) => {
    expect(findSkipReason(`[download] ${reason}`)).toBe(reason);
  });

  it.each(['title ', ' does not pass filter '])('ignores a playlist title that repeats %j in little time', (part) => {
    const startedAt = performance.now();
    expect(findSkipReason(`[download] Downloading playlist: ${part.repeat(40_000)}`)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
