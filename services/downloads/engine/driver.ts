import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Engines } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Log, Vault } from '../../contracts/service.ts';
import { Addresses, loginPurpose } from '../store/addresses.ts';
import { withoutSecrets } from '../domain/address.ts';
import type { Cookies } from '../cookies/cookies.ts';
import type { Item } from '../domain/item.ts';
import type { Order } from '../domain/order.ts';
import { addBreakSuffix, finishRecording } from './stream-recording.ts';
import { createEngineProblem, createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { describeError, describeFailure, readEvent, type EngineEvent } from '../domain/progress.ts';
import { findRunFailure, findSkipReason, isArchived, type RunFailure } from '../domain/engine-messages.ts';
import { limitFields, nameLimits, buildTrimmedTemplate } from '../domain/safe-names.ts';
import { fillTemplate } from '../domain/template.ts';
import { getListFields } from '../domain/template-fields.ts';
import { parseOutput } from './json-output.ts';
import { selectCaptions } from './captions.ts';
import {
  buildDownloadArguments,
  buildNameArguments,
  buildProbeArguments,
  type CommandSettings,
  type DownloadCommand,
} from './command.ts';
import type { Extractor } from './extractor.ts';
import { findMediaDetails, parseFileDetails } from './media-details.ts';
import { readInputLines } from './ffmpeg.ts';
import { postProcess } from './post-processing.ts';
import { findChannel, Info, findPicture, getNextProbeTime, type Probe } from './probe-result.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Address and options of a probe. */
export type ProbeTarget = Pick<Item, 'url' | 'title' | 'order' | 'playlist'>;

export interface DownloadCall {
  readonly item: Item;
  /** Work folder of the download. */
  readonly folder: string;
  readonly template: string;
  readonly signal: AbortSignal;
  /** Ends the recording of a live stream; the recorded part is the download. */
  readonly stopRecording?: AbortSignal | undefined;
  /** Maximum size of a name in bytes, after the file system refused a longer one. */
  readonly nameLimit?: number | undefined;
  readonly onStart: (identity: string) => Promise<void>;
  readonly onEvent: (event: EngineEvent) => void;
}

const NameOutput = z.object({ filename: z.string(), ext: z.string().nullish() });

/** Maximum number of error lines: a live stream may print errors for hours. */
const maxErrorLines = 200;

/** Media addresses found by a probe expire; sites serve them for about six hours. */
const infoValidMs = 5 * 60 * 60_000;

/** Runs the extractor, once per call. Failures are Problems `downloads.engine_failed` (502). */
export class Driver {
  readonly #engines: Pick<Engines, 'find'>;
  readonly #extractor: Extractor;
  readonly #clock: Clock;
  readonly #addresses: Addresses;
  readonly #vault: Vault;
  readonly #cookies: Pick<Cookies, 'acquire'>;
  readonly #log: Log;
  readonly #settings: CommandSettings;

  constructor(options: {
    readonly engines: Pick<Engines, 'find'>;
    readonly extractor: Extractor;
    readonly clock: Clock;
    readonly vault: Vault;
    readonly cookies: Pick<Cookies, 'acquire'>;
    readonly log: Log;
    readonly settings: CommandSettings;
  }) {
    this.#engines = options.engines;
    this.#extractor = options.extractor;
    this.#clock = options.clock;
    this.#addresses = new Addresses(options.vault);
    this.#vault = options.vault;
    this.#cookies = options.cookies;
    this.#log = options.log;
    this.#settings = options.settings;
  }

  /** Probes an address and stores the output for the download; without a folder, nothing is stored. */
  async probe(item: ProbeTarget, folder: string | undefined, signal: AbortSignal): Promise<Probe> {
    await using cookies = await this.#cookies.acquire();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const args = buildProbeArguments(this.#getAddress(item), item.order, item.playlist, settings);
    const runProbe = async (more: readonly string[]): Promise<string> => {
      let json = '';
      const errors: string[] = [];
      const exit = await this.#extractor.run([...more, ...args], {
        clock: this.#clock,
        signal,
        onLine(line, from) {
          if (from === 'stderr') addErrorLine(errors, line);
          else if (line.startsWith('{')) json = line;
        },
      });
      signal.throwIfAborted();
      if (exit.code !== 0) throw createEngineProblem(describeFailure(errors, exit));
      return json;
    };
    const json = await runProbe([]).catch(async (error: unknown) => {
      // An upcoming stream has nothing to download, which is an error without this option.
      if (!isRunFailure(error, 'upcoming')) throw error;
      return await runProbe(['--ignore-no-formats-error']);
    });
    const info = parseOutput(Info, json);
    const id = info.id ?? item.url;
    if (info._type === 'playlist' && item.playlist?.byIndex !== true) {
      const entries = (info.entries ?? []).filter((entry) => entry !== null);
      return {
        kind: 'playlist',
        id,
        title: info.title ?? '',
        entries,
        picture: findPicture(info),
        ...findChannel(info),
      };
    }
    if (info._type !== 'playlist' && folder !== undefined) {
      await mkdir(folder, { recursive: true });
      // It may contain cookies.
      await writeFile(infoPath(folder), json, { mode: 0o600 });
    }
    return {
      kind: 'video',
      id,
      title: info.title ?? item.title,
      liveStatus: info.live_status ?? null,
      thumbnail: findPicture(info),
      media: findMediaDetails(info),
      startsAt: getNextProbeTime(info, this.#clock.now()),
    };
  }

  /** Downloads into the work folder, continuing partial files. Returns the path of the finished main file, if any. */
  async download(call: DownloadCall): Promise<string | undefined> {
    // An interrupted recording cannot be continued, and a new one would overwrite it.
    if (call.item.liveStatus === 'is_live') await this.#finishRecording(call, addBreakSuffix);
    const infoFile = infoPath(call.folder);
    const isRecent = existsSync(infoFile) && this.#clock.now() - call.item.createdAt < infoValidMs;
    if (!isRecent) return await this.#download(call, undefined);
    try {
      return await this.#download(call, infoFile);
    } catch (error) {
      const isExpired = isRunFailure(error, 'media_expired');
      // The media address expired, or a full disk or power failure truncated the file: the site is probed again and the
      // partial files remain.
      if (
        !isExpired &&
        (call.signal.aborted || parseJson(await readFile(infoFile, 'utf8').catch(() => '')) !== undefined)
      )
        throw error;
      await rm(infoFile, { force: true });
      return await this.#download(call, undefined);
    }
  }

  async #download(call: DownloadCall, infoFile: string | undefined): Promise<string | undefined> {
    const main = await this.#fetchNamed(call, infoFile, false).catch(async (error: unknown) => {
      const { type, format } = call.item.order;
      const isConversionError = isRunFailure(error, 'conversion');
      if (!isConversionError || type !== 'video' || format !== 'mp4') throw error;
      // The container does not support the streams: the fetched files remain, next to an incomplete result.
      await removeIncomplete(join(call.folder, 'part'));
      return await this.#fetchNamed(call, infoFile, true);
    });
    const { path } = await this.#engines.find('ffmpeg');
    const { signal, onStart, onEvent, folder } = call;
    const file = await postProcess({
      order: call.item.order,
      login: this.#findLogin(call.item.order),
      folders: [join(folder, 'out'), join(folder, 'chapters')],
      scratch: join(folder, 'part'),
      main,
      ffmpeg: path === null ? undefined : { path, clock: this.#clock, signal, onStart },
      onStage: (name) => onEvent({ kind: 'stage', started: true, name }),
      log: this.#log,
    });
    await this.#reportDetails(call, file);
    return file;
  }

  /** Reports the codecs and the length of the finished file, which may differ from those of the site. */
  async #reportDetails({ item, signal, onStart, onEvent }: DownloadCall, file: string | undefined): Promise<void> {
    const { path } = await this.#engines.find('ffmpeg');
    if (file === undefined || path === null || !['video', 'audio'].includes(item.order.type)) return;
    const lines = await readInputLines({ path, clock: this.#clock, signal, onStart }, file);
    onEvent({ kind: 'details', media: parseFileDetails(lines) });
  }

  /** Downloads the file, with a shorter name if the file system refuses the name of the template. */
  async #fetchNamed(call: DownloadCall, infoFile: string | undefined, recode: boolean): Promise<string | undefined> {
    let attempt: Pick<DownloadCall, 'template' | 'nameLimit'> = call;
    for (const limit of nameLimits) {
      try {
        return await this.#fetch({ ...call, ...attempt }, infoFile, recode);
      } catch (error) {
        if (!isRunFailure(error, 'name_too_long')) throw error;
        attempt = { template: await this.#trimmedTemplate(call, infoFile, limit), nameLimit: limit };
      }
    }
    return await this.#fetch({ ...call, ...attempt }, infoFile, recode);
  }

  /** Lets yt-dlp resolve the template, and trims names that are too long. */
  async #trimmedTemplate(call: DownloadCall, infoFile: string | undefined, limit: number): Promise<string> {
    const errors: string[] = [];
    let nameOutput = '';
    await using cookies = await this.#cookies.acquire();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const command = await this.#buildCommand(call, infoFile, false);
    const exit = await this.#extractor.run(buildNameArguments(command, settings), {
      clock: this.#clock,
      signal: call.signal,
      onLine(line, from) {
        if (from === 'stderr') addErrorLine(errors, line);
        else if (line.startsWith('N ')) nameOutput = line.slice(2);
      },
    });
    call.signal.throwIfAborted();
    if (exit.code !== 0) throw createEngineProblem(describeFailure(errors, exit));
    const { filename, ext = '' } = parseOutput(NameOutput, nameOutput);
    return buildTrimmedTemplate(filename, ext ?? '', limit);
  }

  async #buildCommand(
    { item, folder, template, nameLimit }: DownloadCall,
    infoFile: string | undefined,
    recode: boolean,
  ): Promise<DownloadCommand> {
    const { order, playlist } = item;
    const chapterTemplate = fillTemplate(order.chapterTemplate, { prefix: order.prefix, playlist });
    return {
      url: this.#getAddress(item),
      order,
      playlist,
      template,
      chapterTemplate: nameLimit === undefined ? chapterTemplate : limitFields(chapterTemplate, nameLimit),
      folder,
      fields: playlist === null ? {} : getListFields(playlist),
      captions: order.type === 'captions' ? await selectCaptions(order, infoFile) : undefined,
      recode,
      infoFile,
      ffmpegPath: (await this.#engines.find('ffmpeg')).path,
    };
  }

  /** Runs the extractor once. Returns the path of the reported result. */
  async #fetch(call: DownloadCall, infoFile: string | undefined, recode: boolean): Promise<string | undefined> {
    const { folder, signal } = call;
    const command = await this.#buildCommand(call, infoFile, recode);
    const errors: string[] = [];
    let path: string | undefined;
    let skipReasonText: string | undefined;
    await using cookies = await this.#cookies.acquire();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const exit = await this.#extractor.run(buildDownloadArguments(command, settings), {
      clock: this.#clock,
      signal,
      interrupt: call.stopRecording,
      onStart: call.onStart,
      onLine(line, from) {
        // Stages are written to stderr, between warnings.
        const event = readEvent(line);
        if (event?.kind === 'result') path = event.path;
        if (event !== undefined) call.onEvent(event);
        else if (from === 'stderr') addErrorLine(errors, line);
        else skipReasonText = findSkipReason(line) ?? skipReasonText;
      },
    });
    signal.throwIfAborted();
    if (call.stopRecording?.aborted === true && path === undefined) {
      const recorded = await this.#finishRecording(call);
      if (recorded !== undefined) return recorded;
      throw new DownloadProblem('downloads.nothing', 502, createServiceFailure('nothing_recorded', 'other'));
    }
    // Files of an earlier run may still have to be delivered after a crash.
    if (
      path === undefined &&
      skipReasonText !== undefined &&
      (await readdir(join(folder, 'out')).catch(() => [])).length === 0
    ) {
      throw new Problem(isArchived(skipReasonText) ? 'downloads.archived' : 'downloads.skipped', 409, skipReasonText);
    }
    if (exit.code !== 0) {
      const failure = describeFailure(errors, exit);
      // yt-dlp also exits with 1 when only subtitles failed. It reports the result of complete files, and of deleted ones.
      const hasResult = exit.code === 1 && path !== undefined && existsSync(path);
      if (!hasResult || !['video', 'audio'].includes(call.item.order.type)) throw createEngineProblem(failure);
      this.#log.warn('download completed with errors', { uid: call.item.uid, error: withoutSecrets(failure.message) });
    }
    // For pictures and subtitles, the extractor only warns that a name is too long.
    const refusal = path === undefined ? errors.find((line) => findRunFailure(line) === 'name_too_long') : undefined;
    if (refusal !== undefined && ['captions', 'thumbnail'].includes(call.item.order.type))
      throw createEngineProblem(describeError(refusal));
    return path;
  }

  async #finishRecording(call: DownloadCall, name?: (file: string) => string): Promise<string | undefined> {
    const { folder, signal, onStart } = call;
    const { path } = await this.#engines.find('ffmpeg');
    return await finishRecording(
      { from: join(folder, 'part'), to: join(folder, 'out') },
      path === null ? undefined : { path, clock: this.#clock, signal, onStart },
      name,
    );
  }

  #getAddress({ url, order, playlist }: ProbeTarget): string {
    if (playlist !== null && playlist.entryAddress !== null) return this.#addresses.openEntry(playlist.entryAddress);
    return this.#addresses.join(url, order);
  }

  #findLogin({ login }: Order): string | undefined {
    return login === null ? undefined : this.#vault.open(login, loginPurpose);
  }
}

/** Removes MP4 files other than the streams, which are named by their format: `Name.f137.mp4`. */
async function removeIncomplete(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const incomplete = names.filter((name) => name.endsWith('.mp4') && !/\.f[\w-]+\.mp4$/.test(name));
  await Promise.all(incomplete.map(async (name) => await rm(join(folder, name), { force: true })));
}

function addErrorLine(errors: string[], line: string): void {
  errors.push(line.slice(0, 10_000));
  if (errors.length > maxErrorLines) errors.shift();
}

function infoPath(folder: string): string {
  return join(folder, 'info.json');
}

function isRunFailure(error: unknown, failure: RunFailure): boolean {
  return error instanceof Problem && findRunFailure(error.detail) === failure;
}
