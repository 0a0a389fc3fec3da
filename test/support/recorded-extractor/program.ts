import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { download, ExtractorError } from './download.ts';
import { findAnswer, type Answer, type VideoAnswer } from './answers.ts';
import { fillFileName } from './file-name.ts';

/**
 * Program that accepts the command lines of the downloads service and gives yt-dlp's recorded answers for the pages of
 * the fixture site (answers.ts). It converts nothing, and refuses what it does not know.
 */

/** Options that the answers depend on. */
const knownOptions = {
  'dump-single-json': { type: 'boolean', short: 'J' },
  'load-info-json': { type: 'string' },
  paths: { type: 'string', short: 'P', multiple: true },
  output: { type: 'string', short: 'o' },
  'parse-metadata': { type: 'string', multiple: true },
  'playlist-items': { type: 'string', short: 'I' },
  'remux-video': { type: 'string' },
  version: { type: 'boolean' },
} as const;

/** Options without an influence on the answers, with the number of their values. */
const ignoredOptions: Readonly<Record<string, 0 | 1>> = {
  ...{ '--ignore-config': 0, '--no-plugin-dirs': 0, '--no-color': 0, '--no-playlist': 0, '--flat-playlist': 0 },
  ...{ '--newline': 0, '--progress': 0, '--quiet': 0, '--no-quiet': 0, '--no-simulate': 0 },
  ...{ '--abort-on-unavailable-fragments': 0, '--cache-dir': 1, '--socket-timeout': 1, '--retries': 1 },
  ...{ '--fragment-retries': 1, '--file-access-retries': 1, '--cookies': 1, '--progress-delta': 1 },
  ...{ '--progress-template': 1, '--print': 1, '--ffmpeg-location': 1, '--js-runtimes': 1, '--no-js-runtimes': 0 },
  ...{ '-f': 1, '-S': 1, '--merge-output-format': 1, '--postprocessor-args': 1 },
};

function readArguments(argv: readonly string[]) {
  const remaining: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') {
      remaining.push(...argv.slice(index));
      break;
    }
    const values = ignoredOptions[word];
    if (values === undefined) remaining.push(word);
    else index += values;
  }
  return parseArgs({ args: remaining, options: knownOptions, allowPositionals: true });
}

async function main(argv: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(argv);
  if (values.version === true) return print('2026.10.26');
  const [url = ''] = positionals;
  const infoFile = values['load-info-json'];
  const answer =
    infoFile === undefined ? await findAnswer(url) : (JSON.parse(readFileSync(infoFile, 'utf8')) as VideoAnswer);
  if (values['dump-single-json'] === true) return print(JSON.stringify(limitItems(answer, values['playlist-items'])));
  if (answer._type === 'playlist') throw new ExtractorError('The recorded extractor downloads no playlists');
  const container = values['remux-video'];
  if (container !== undefined && container !== answer.ext)
    throw new ExtractorError(`The recorded extractor does not convert to ${container}`);
  const folders = Object.fromEntries((values.paths ?? []).map((each) => each.split(/:(.*)/s, 2)));
  const name = fillFileName(values.output ?? '', { ...answer, ...readFields(values['parse-metadata'] ?? []) });
  await save(answer, { home: join(folders['home'] ?? '', name), temp: join(folders['temp'] ?? '', name) });
}

/** Saves a video like yt-dlp: into a partial file, then under its name next to it, then in the target folder. */
async function save(video: VideoAnswer, paths: { readonly home: string; readonly temp: string }): Promise<void> {
  for (const path of Object.values(paths)) mkdirSync(dirname(path), { recursive: true });
  const { id, title, ext } = video;
  print(`B ${JSON.stringify({ id, title, ext, format_id: video.format_id })}`);
  if (!existsSync(paths.temp)) {
    const partialFile = `${paths.temp}.part`;
    await download(video.url, partialFile, (progress) => print(`P ${JSON.stringify(progress)}`));
    renameSync(partialFile, paths.temp);
  }
  printError(`Q ${JSON.stringify({ status: 'started', postprocessor: 'MoveFiles' })}`);
  renameSync(paths.temp, paths.home);
  printError(`Q ${JSON.stringify({ status: 'finished', postprocessor: 'MoveFiles' })}`);
  print(`A ${JSON.stringify({ id, title, filepath: paths.home, ext })}`);
}

function limitItems(answer: Answer, items: string | undefined): Answer {
  if (answer._type !== 'playlist' || items === undefined) return answer;
  const count = /^1:(\d+)$/.exec(items)?.[1];
  if (count === undefined) throw new ExtractorError(`The recorded extractor does not select ${items}`);
  return { ...answer, entries: answer.entries.slice(0, Number(count)) };
}

/** Reads the fields that the service passes as `=value=:(?s)^=(?P<name>.*)=$`. */
function readFields(definitions: readonly string[]): Readonly<Record<string, string>> {
  const matches = definitions.map((each) => /^=(.*)=:\(\?s\)\^=\(\?P<(\w+)>\.\*\)=\$$/s.exec(each));
  return Object.fromEntries(
    matches.map((match) => [match?.[2] ?? '', (match?.[1] ?? '').replaceAll('%%', '%').replaceAll('\\:', ':')]),
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // Anything else is an error of a test, which must not look like one of the site.
  const message = error instanceof ExtractorError ? error.message : `${basename(import.meta.url)}: ${String(error)}`;
  printError(`ERROR: ${message}`);
  process.exitCode = 1;
}
