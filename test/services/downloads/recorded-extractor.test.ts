import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFieldArguments } from '../../../services/downloads/domain/template-fields.ts';
import { Info } from '../../../services/downloads/engine/probe-result.ts';
import { sharedEngines } from '../../support/engines.ts';
import { startFixtureSite, type FixtureSite } from '../../support/fixture-site/site.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { requireEngines } from './rig.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'recorded-'));
let site: FixtureSite;
let program: string;

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

beforeAll(async () => {
  await requireEngines();
  site = await startFixtureSite();
  program = (await sharedEngines().find('yt-dlp')).path ?? '';
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program with the options of the service that do not depend on the download. */
async function execute(path: string, args: readonly string[]): Promise<Output> {
  const common = ['--ignore-config', '--no-plugin-dirs', '--no-color', '--no-playlist', '--retries', '0'];
  return await run(path, [...common, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Output,
  );
}

/** Runs yt-dlp and its recorded answers. */
const executeBoth = async (args: (name: string) => readonly string[]): Promise<readonly [Output, Output]> => [
  await execute(program, args('real')),
  await execute(useRecordedExtractor().YTDLP_PATH, args('recorded')),
];

const listErrors = ({ stderr }: Output): readonly string[] =>
  stderr.split('\n').filter((line) => line.startsWith('ERROR:'));

describe('the recorded extractor', () => {
  it.each([
    '/single.mp4',
    '/slow/600/single.mp4?tag',
    '/p/og',
    '/p/og?title=Of%20%22mine%22&src=/vp9.webm',
    '/feed/3.rss?title=A%20list',
    '/channel/Recorded.rss?image=/cover.jpg',
  ])('has the answers of yt-dlp, as far as the service reads them: %s', async (path) => {
    site.publish('Recorded', ['One', 'Two & three']);
    const address = site.url(path).replace('://', '://ada:secret@');
    const outputs = await executeBoth(() => ['-J', '--flat-playlist', '--', address]);
    const [real, recorded] = outputs.map(({ stdout }) => Info.parse(JSON.parse(stdout)));
    const { thumbnails: _thumbnails, uploader: _uploader, ...expected } = real ?? {};
    expect(recorded).toMatchObject(JSON.parse(JSON.stringify(expected, (_key, value: unknown) => value ?? undefined)));
    expect(recorded?._type).toBe(real?._type);
  });

  it.each(['/s/404', '/s/403', '/s/503', '/p/none'])('has the errors of yt-dlp: %s', async (path) => {
    const [real, recorded] = await executeBoth(() => ['-J', '--flat-playlist', '--', site.url(path)]);
    expect(recorded.code).toBe(real.code);
    expect(listErrors(recorded)).toEqual(listErrors(real));
  });

  it.each([
    ['%(title).180B.%(ext)s', '/single.mp4'],
    ['%(homeport_playlist_index)02d %(homeport_title)s.%(ext)s', '/p/og?title=Other'],
  ])('saves the same file with the same events: %s', async (template, path) => {
    const progress = 'status,downloaded_bytes,total_bytes';
    const fields = { playlist_index: '3', title: 'A: "list" 100%' };
    const outputs = await executeBoth((name) => [
      ...['--newline', '--progress', '--quiet', '--progress-delta', '0.5', '--no-simulate'],
      ...['--progress-template', `download:P %(progress.{${progress}})j`],
      ...['--progress-template', 'postprocess:Q %(progress.{status,postprocessor})j'],
      ...['--print', 'before_dl:B %(.{id,title,ext,format_id})j', '--print', 'after_move:A %(.{id,title,ext})j'],
      ...buildFieldArguments(fields),
      ...['-P', `home:${folder}/${name}/out`, '-P', `temp:${folder}/${name}/part`, '-o', template],
      ...['--', site.url(path)],
    ]);
    const [real, recorded] = outputs.map(({ stdout }) => listEvents(stdout));
    expect(recorded).toMatchObject(real ?? []);
    const [realFiles, recordedFiles] = ['real', 'recorded'].map((name) => readTree(join(folder, name)));
    expect(recordedFiles).toEqual(realFiles);
  });

  it('continues a partial file by a range request, like yt-dlp', async () => {
    const complete = Buffer.from(await (await fetch(site.url('/single.mp4'))).arrayBuffer());
    site.reset();
    await executeBoth((name) => {
      const home = join(folder, `${name}-continued`);
      writeFileSync(`${home}.mp4.part`, complete.subarray(0, 100_000));
      return [
        '--no-simulate',
        '--quiet',
        '-P',
        `home:${folder}`,
        '-P',
        `temp:${folder}`,
        '-o',
        `${name}-continued.mp4`,
        '--',
        site.url('/single.mp4'),
      ];
    });
    const expectedRange = { path: '/single.mp4', start: 100_000 };
    expect(site.stats().ranges).toEqual([expectedRange, expectedRange]);
    for (const name of ['real', 'recorded'])
      expect(readFileSync(join(folder, `${name}-continued.mp4`)).equals(complete)).toBe(true);
  });
});

function listEvents(stdout: string): readonly unknown[] {
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => [line[0], JSON.parse(line.slice(2))] as const);
  // The number of reports during the transfer depends on its speed.
  return events.filter(([kind, event]) => kind !== 'P' || event.status === 'finished');
}

function readTree(path: string): readonly (readonly [string, number])[] {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => [name, statSync(join(parentPath, name)).size] as const).toSorted();
}
