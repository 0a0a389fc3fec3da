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
import { beforeTheBreak, takeRecorded } from './stream-recording.ts';
import { failureMessage, readEvent, type EngineEvent } from '../domain/progress.ts';
import { isArchived, skipReason } from '../domain/skip-reason.ts';
import { limitFields, nameLimits, trimmedTemplate } from '../domain/safe-names.ts';
import { fillTemplate } from '../domain/template.ts';
import { listFields } from '../domain/template-fields.ts';
import { readAnswer } from './json-output.ts';
import { captionsOf } from './captions.ts';
import {
  downloadArguments,
  nameArguments,
  probeArguments,
  type CommandSettings,
  type DownloadCommand,
} from './command.ts';
import type { Extractor } from './extractor.ts';
import { finish } from './post-processing.ts';
import { channelOf, Info, pictureOf, startOf, type Probe } from './probe-result.ts';

/** What is asked for. */
export type Target = Pick<Item, 'url' | 'title' | 'order' | 'playlist'>;

export interface DownloadCall {
  readonly item: Item;
  /** The job's own folder. */
  readonly folder: string;
  readonly template: string;
  readonly signal: AbortSignal;
  /** Of a live stream: ends its recording, and what there is of it is the download. */
  readonly keep?: AbortSignal | undefined;
  /** Bytes that a name may have, once the file system has refused a longer one. */
  readonly nameLimit?: number | undefined;
  readonly onStart: (identity: string) => Promise<void>;
  readonly onEvent: (event: EngineEvent) => void;
}

const Named = z.object({ filename: z.string(), ext: z.string().nullish() });

/** What the system says of a name that it does not take. */
const nameTooLong = /file ?name too long|File name or extension is too long|Errno 36\b|Errno 63\b|WinError 206/i;

/** Lines of complaint that are kept: a live stream may complain for hours. */
const mostErrors = 200;

/** Media addresses found by a probe expire; sites keep them for about six hours. */
const infoValidMs = 5 * 60 * 60_000;

/** What the extractor is asked, and what it answers: one run of it per call. Failures are Problems `downloads.engine_failed` (502). */
export class Driver {
  readonly #engines: Pick<Engines, 'find'>;
  readonly #extractor: Extractor;
  readonly #clock: Clock;
  readonly #addresses: Addresses;
  readonly #vault: Vault;
  readonly #cookies: Pick<Cookies, 'lend'>;
  readonly #log: Log;
  readonly #settings: CommandSettings;

  constructor(options: {
    readonly engines: Pick<Engines, 'find'>;
    readonly extractor: Extractor;
    readonly clock: Clock;
    readonly vault: Vault;
    readonly cookies: Pick<Cookies, 'lend'>;
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

  /** Asks what is behind an address and keeps the answer for the download; without a folder it is only told. */
  async probe(item: Target, folder: string | undefined, signal: AbortSignal): Promise<Probe> {
    await using cookies = await this.#cookies.lend();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const args = probeArguments(this.#addressOf(item), item.order, item.playlist, settings);
    const ask = async (more: readonly string[]): Promise<string> => {
      let json = '';
      const errors: string[] = [];
      const exit = await this.#extractor.run([...more, ...args], {
        clock: this.#clock,
        signal,
        onLine(line, from) {
          if (from === 'stderr') complain(errors, line);
          else if (line.startsWith('{')) json = line;
        },
      });
      signal.throwIfAborted();
      if (exit.code !== 0) throw engineFailed(failureMessage(errors, exit));
      return json;
    };
    const json = await ask([]).catch(async (error: unknown) => {
      // What has not begun yet has nothing to download, which is an error unless one says that one knows.
      if (!(error instanceof Problem) || !notBegun.test(error.detail)) throw error;
      return await ask(['--ignore-no-formats-error']);
    });
    const info = readAnswer(Info, json);
    const id = info.id ?? item.url;
    if (info._type === 'playlist' && item.playlist?.byIndex !== true) {
      const entries = (info.entries ?? []).filter((entry) => entry !== null);
      return { kind: 'playlist', id, title: info.title ?? '', entries, picture: pictureOf(info), ...channelOf(info) };
    }
    if (info._type !== 'playlist' && folder !== undefined) {
      await mkdir(folder, { recursive: true });
      // It may hold cookies.
      await writeFile(infoPath(folder), json, { mode: 0o600 });
    }
    return {
      kind: 'video',
      id,
      title: info.title ?? item.title,
      liveStatus: info.live_status ?? null,
      thumbnail: pictureOf(info),
      startsAt: startOf(info, this.#clock.now()),
    };
  }

  /** Downloads into the job's folder, continuing what is there. Returns the path of the finished main file, if any. */
  async download(call: DownloadCall): Promise<string | undefined> {
    // A recording that was broken off cannot be continued, and a new one would write over it.
    if (call.item.liveStatus === 'is_live') await this.#takeRecorded(call, beforeTheBreak);
    const info = infoPath(call.folder);
    const fresh = existsSync(info) && this.#clock.now() - call.item.createdAt < infoValidMs;
    if (!fresh) return await this.#download(call, undefined);
    try {
      return await this.#download(call, info);
    } catch (error) {
      const expired = error instanceof Problem && /HTTP Error 4(01|03|10)/.test(error.detail);
      // The media address has expired, or a full disk or a power cut left half of the file: the site is asked anew, the part stays.
      if (!expired && (call.signal.aborted || (await isWhole(info)))) throw error;
      await rm(info, { force: true });
      return await this.#download(call, undefined);
    }
  }

  async #download(call: DownloadCall, infoFile: string | undefined): Promise<string | undefined> {
    const main = await this.#fetchNamed(call, infoFile, false).catch(async (error: unknown) => {
      const { type, format } = call.item.order;
      const converted = error instanceof Problem && error.detail.startsWith('ERROR: Postprocessing:');
      if (!converted || type !== 'video' || format !== 'mp4') throw error;
      // Streams that the container cannot hold: what was fetched is still there, beside half a file that looks whole.
      await removeHalf(join(call.folder, 'part'));
      return await this.#fetchNamed(call, infoFile, true);
    });
    const { path } = await this.#engines.find('ffmpeg');
    const { signal, onStart, onEvent, folder } = call;
    return await finish({
      order: call.item.order,
      login: this.#loginOf(call.item.order),
      folders: [join(folder, 'out'), join(folder, 'chapters')],
      scratch: join(folder, 'part'),
      main,
      ffmpeg: path === null ? undefined : { path, clock: this.#clock, signal, onStart },
      onStage: (name) => onEvent({ kind: 'stage', started: true, name }),
      log: this.#log,
    });
  }

  /** Fetches it, under a shorter name where the file system refuses the one of the template. */
  async #fetchNamed(call: DownloadCall, infoFile: string | undefined, recode: boolean): Promise<string | undefined> {
    let attempt: Pick<DownloadCall, 'template' | 'nameLimit'> = call;
    for (const limit of nameLimits) {
      try {
        return await this.#fetch({ ...call, ...attempt }, infoFile, recode);
      } catch (error) {
        if (!(error instanceof Problem) || !nameTooLong.test(error.detail)) throw error;
        attempt = { template: await this.#trimmedTemplate(call, infoFile, limit), nameLimit: limit };
      }
    }
    return await this.#fetch({ ...call, ...attempt }, infoFile, recode);
  }

  /** Lets yt-dlp resolve the template, and cuts the names that are too long. */
  async #trimmedTemplate(call: DownloadCall, infoFile: string | undefined, limit: number): Promise<string> {
    const errors: string[] = [];
    let named = '';
    await using cookies = await this.#cookies.lend();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const command = await this.#commandOf(call, infoFile, false);
    const exit = await this.#extractor.run(nameArguments(command, settings), {
      clock: this.#clock,
      signal: call.signal,
      onLine(line, from) {
        if (from === 'stderr') complain(errors, line);
        else if (line.startsWith('N ')) named = line.slice(2);
      },
    });
    call.signal.throwIfAborted();
    if (exit.code !== 0) throw engineFailed(failureMessage(errors, exit));
    const { filename, ext = '' } = readAnswer(Named, named);
    return trimmedTemplate(filename, ext ?? '', limit);
  }

  async #commandOf(
    { item, folder, template, nameLimit }: DownloadCall,
    infoFile: string | undefined,
    recode: boolean,
  ): Promise<DownloadCommand> {
    const { order, playlist } = item;
    const chapterTemplate = fillTemplate(order.chapterTemplate, { prefix: order.prefix, playlist });
    return {
      url: this.#addressOf(item),
      order,
      playlist,
      template,
      chapterTemplate: nameLimit === undefined ? chapterTemplate : limitFields(chapterTemplate, nameLimit),
      folder,
      fields: playlist === null ? {} : listFields(playlist),
      captions: order.type === 'captions' ? await captionsOf(order, infoFile) : undefined,
      recode,
      infoFile,
      ffmpegPath: (await this.#engines.find('ffmpeg')).path,
    };
  }

  /** One run of the extractor. Returns the path that it names as its result. */
  async #fetch(call: DownloadCall, infoFile: string | undefined, recode: boolean): Promise<string | undefined> {
    const { folder, signal } = call;
    const command = await this.#commandOf(call, infoFile, recode);
    const errors: string[] = [];
    let path: string | undefined;
    let skipped: string | undefined;
    await using cookies = await this.#cookies.lend();
    const settings = { ...this.#settings, cookieFile: cookies.path };
    const exit = await this.#extractor.run(downloadArguments(command, settings), {
      clock: this.#clock,
      signal,
      interrupt: call.keep,
      onStart: call.onStart,
      onLine(line, from) {
        // Stages are written to stderr, among the warnings.
        const event = readEvent(line);
        if (event?.kind === 'result') path = event.path;
        if (event !== undefined) call.onEvent(event);
        else if (from === 'stderr') complain(errors, line);
        else skipped = skipReason(line) ?? skipped;
      },
    });
    signal.throwIfAborted();
    if (call.keep?.aborted === true && path === undefined) {
      const recorded = await this.#takeRecorded(call);
      if (recorded !== undefined) return recorded;
      throw new Problem('downloads.nothing', 502, 'It was stopped before anything was recorded.');
    }
    // Files of a run before may wait for their delivery, which a crash has kept from it.
    if (
      path === undefined &&
      skipped !== undefined &&
      (await readdir(join(folder, 'out')).catch(() => [])).length === 0
    ) {
      throw new Problem(isArchived(skipped) ? 'downloads.archived' : 'downloads.skipped', 409, skipped);
    }
    if (exit.code !== 0) throw engineFailed(failureMessage(errors, exit));
    // Of pictures and subtitles the extractor only warns that their names are too long.
    const refusal = path === undefined ? errors.find((line) => nameTooLong.test(line)) : undefined;
    if (refusal !== undefined && ['captions', 'thumbnail'].includes(call.item.order.type)) throw engineFailed(refusal);
    return path;
  }

  async #takeRecorded(call: DownloadCall, name?: (file: string) => string): Promise<string | undefined> {
    const { folder, signal, onStart } = call;
    const { path } = await this.#engines.find('ffmpeg');
    return await takeRecorded(
      { from: join(folder, 'part'), to: join(folder, 'out') },
      path === null ? undefined : { path, clock: this.#clock, signal, onStart },
      name,
    );
  }

  #addressOf({ url, order, playlist }: Target): string {
    if (playlist !== null && playlist.entryAddress !== null) return this.#addresses.openEntry(playlist.entryAddress);
    return this.#addresses.join(url, order);
  }

  #loginOf({ login }: Order): string | undefined {
    return login === null ? undefined : this.#vault.open(login, loginPurpose);
  }
}

/** Removes MP4 files that are not one of the streams, which are named by their format: `Name.f137.mp4`. */
async function removeHalf(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const halves = names.filter((name) => name.endsWith('.mp4') && !/\.f[\w-]+\.mp4$/.test(name));
  await Promise.all(halves.map(async (name) => await rm(join(folder, name), { force: true })));
}

function complain(errors: string[], line: string): void {
  errors.push(line.slice(0, 10_000));
  if (errors.length > mostErrors) errors.shift();
}

function infoPath(folder: string): string {
  return join(folder, 'info.json');
}

/** Whether what the probe found can still be read. */
async function isWhole(info: string): Promise<boolean> {
  try {
    JSON.parse(await readFile(info, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

function engineFailed(message: string): Problem {
  return new Problem('downloads.engine_failed', 502, withoutSecrets(message));
}

/** What the extractor says of streams and premieres that are announced. */
const notBegun =
  /will begin in|Premieres? (will|in)|has not (yet )?(begun|started)|not yet (begun|started)|is upcoming/i;
