import * as m from '#messages/downloads-problems';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { buildOptionArguments, findIgnoredOptions, type Options } from '../../../services/downloads/domain/options.ts';
import { api } from '../../support/api.ts';
import { openRig, type Rig } from './rig.ts';

const steps = (...all: object[]): Options => ({ postprocessors: all });

describe('an option value that yt-dlp accepts', () => {
  it.each<[Options, readonly string[]]>([
    [{ subtitleslangs: ['en', '-live_chat'] }, ['--sub-langs=en,-live_chat']],
    [{ subtitleslangs: ['en.*', 'zh-Han[st]'] }, ['--sub-langs=en.*,zh-Han[st]']],
    [{ format_sort: ['codec:avc:m4a', '+size', 'res~720'] }, ['--format-sort=codec:avc:m4a,+size,res~720']],
    [{ format_sort: 'res:1080, ext:mp4:m4a' }, ['--format-sort=res:1080,ext:mp4:m4a']],
    [{ retries: 'infinite', fragment_retries: 'inf' }, ['--retries=infinite', '--fragment-retries=infinite']],
    [{ ratelimit: '1.5M', max_filesize: '2T' }, ['--limit-rate=1.5M', '--max-filesize=2T']],
    [{ impersonate: '' }, ['--impersonate=']],
    [{ geo_bypass_country: 'de' }, ['--xff=de']],
    [
      { extractor_args: { youtube: { po_token: ['web+a,b=='], lang: 'de' } } },
      ['--extractor-args=youtube:po_token=web+a\\,b==;lang=de'],
    ],
    [{ sponsorblock_mark: ['poi_highlight', 'all'] }, ['--sponsorblock-mark=poi_highlight,all']],
    [steps({ key: 'FFmpegVideoRemuxer', preferedformat: 'webm>mkv/mp4' }), ['--remux-video=webm>mkv/mp4']],
    [steps({ key: 'FFmpegVideoConvertor', preferedformat: 'avi > mp4 / gif' }), ['--recode-video=avi > mp4 / gif']],
    [steps({ key: 'FFmpegThumbnailsConvertor', format: 'webp>png/jpg' }), ['--convert-thumbnails=webp>png/jpg']],
    [
      steps({ key: 'FFmpegExtractAudio', preferredcodec: 'aac>m4a/best', preferredquality: 0 }),
      ['--extract-audio', '--audio-format=aac>m4a/best', '--audio-quality=0'],
    ],
    [
      steps({ key: 'FFmpegExtractAudio', preferredquality: '192k' }),
      ['--extract-audio', '--audio-format=best', '--audio-quality=192K'],
    ],
    [
      steps({ key: 'FFmpegMetadata', add_metadata: true, add_chapters: true, add_infojson: true }),
      ['--embed-metadata', '--embed-info-json'],
    ],
  ])('is accepted: %j', (options, args) => {
    expect(findIgnoredOptions(options)).toEqual([]);
    expect(buildOptionArguments(options)).toEqual(args);
  });
});

it('accepts ranges of playlists in the syntax of yt-dlp for a probe', () => {
  const options = { playlist_items: '1:3,7,-5::2,10-15' };
  expect(buildOptionArguments(options, 'probe')).toEqual(['--playlist-items=1:3,7,-5::2,10-15']);
});

describe('an option with an invalid value', () => {
  it.each<[Options, string]>([
    [{ retries: 'often' }, 'retries'],
    [{ format_sort: { res: 720 } }, 'format_sort'],
    [{ http_headers: 'X-A: b' }, 'http_headers'],
    [{ outtmpl: 7 }, 'outtmpl'],
    [{ exec: 'touch /tmp/x' }, 'exec'],
    [steps({ key: 'FFmpegVideoRemuxer', preferedformat: 'doc' }), 'FFmpegVideoRemuxer'],
    [steps({ key: 'Exec', exec_cmd: 'touch /tmp/x' }), 'Exec'],
    [steps({ key: '__proto__' }), '__proto__'],
    [{ postprocessors: 'Exec' }, 'postprocessors'],
    [{ postprocessors: [null, 7] }, m.stepWithoutKey()],
  ])('is ignored and logged: %j', (options, name) => {
    expect(findIgnoredOptions(options)[0]).toMatchObject({ option: name, isRelevant: true });
    expect(buildOptionArguments(options)).toEqual([]);
  });

  it('keeps the other steps of its list', () => {
    const options = steps({ key: 'Exec', exec_cmd: 'x' }, { key: 'FFmpegMetadata' });
    expect(buildOptionArguments(options)).toEqual(['--embed-metadata']);
  });

  const getDownloadsState = async ({ host }: Rig): Promise<ServiceState | undefined> => {
    const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
    return services.find(({ id }) => id === 'downloads');
  };

  it('never stops the service, which uses the other options and logs the ignored ones', async () => {
    const options = { subtitleslangs: ['en', '-live_chat'], retries: 'often', windowsfilenames: true, quiet: true };
    const environment = { YTDL_OPTIONS: JSON.stringify(options), YTDL_OPTIONS_PRESETS: '{"x": {"exec": "y"}}' };
    await using rig = await openRig({ services: [downloads, control], environment });
    const record = await rig.client.ended(await rig.client.add(rig.site.url('/p/html5?title=a%3Ab')));
    expect(record).toMatchObject({ status: 'finished' });
    expect(record.filename).toContain('a：b');
    await vi.waitFor(async () =>
      expect(await getDownloadsState(rig)).toMatchObject({
        state: 'degraded',
        reason: expect.stringContaining(`retries (${m.valueNotSupported()}), exec (${m.optionUnsafe()})`) as string,
        remedy: { to: '/settings/downloads/ytdlOptions' },
      }),
    );
    expect(rig.host.log.filter((line) => line.includes('yt-dlp option ignored')).join('\n')).toMatch(/retries[^]*exec/);
  });

  it('keeps the other options of a file with an invalid one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-options-'));
    const file = join(folder, 'options.json');
    writeFileSync(file, '{"windowsfilenames": true, "socket_timeout": "long"}');
    await using rig = await openRig({ services: [downloads, control], environment: { YTDL_OPTIONS_FILE: file } });
    const record = await rig.client.ended(await rig.client.add(rig.site.url('/p/html5?title=a%3Ab')));
    expect(record).toMatchObject({ status: 'finished' });
    await vi.waitFor(async () => expect((await getDownloadsState(rig))?.reason).toContain('socket_timeout'));
    rmSync(folder, { recursive: true, force: true });
  });
});
