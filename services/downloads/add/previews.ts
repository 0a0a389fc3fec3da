import * as m from '#messages/downloads-problems';
import { z } from 'zod';
import type { DownloadPreview } from '../../contracts/downloads/preview.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { createEngineProblem, createRefusedProblem, createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { describeFailure } from '../domain/progress.ts';
import { parseOutput } from '../engine/json-output.ts';
import { buildProbeArguments, type CommandSettings } from '../engine/command.ts';
import { findPicture } from '../engine/probe-result.ts';
import type { Extractor } from '../engine/extractor.ts';
import type { UrlPolicy } from '../engine/url-policy.ts';
import type { Thumbnails } from '../files/thumbnails.ts';
import { readAdd, type AddDefaults } from '../wire/add.ts';
import { LruMap } from '../../kit/lru-map.ts';

/**
 * Maximum number of parallel previews: users preview one link at a time, and the probes of the queue have precedence.
 */
const maxParallel = 2;
const timeoutMs = 60_000;
/** Lifetime of a cached preview, which is requested again when the user returns to a link. */
const cacheLifetimeMs = 5 * 60_000;
const maxCached = 50;
const maxTitleLength = 500;

const Format = z.object({ height: z.number().nullish(), vcodec: z.string().nullish() }).nullable();
const Info = z.object({
  _type: z.string().nullish(),
  title: z.string().nullish(),
  uploader: z.string().nullish(),
  channel: z.string().nullish(),
  duration: z.number().nullish(),
  thumbnail: z.string().nullish(),
  thumbnails: z.array(z.object({ url: z.string().nullish() }).nullable()).nullish(),
  formats: z.array(Format).nullish(),
  chapters: z.array(z.unknown()).nullish(),
  subtitles: z.record(z.string(), z.unknown()).nullish(),
  live_status: z.string().nullish(),
  playlist_count: z.number().nullish(),
  entries: z.array(z.unknown()).nullish(),
});

interface Dependencies {
  readonly context: Pick<Context, 'clock'>;
  readonly urlPolicy: UrlPolicy;
  readonly extractor: Pick<Extractor, 'run'>;
  readonly thumbnails: Thumbnails;
  readonly cookies: Pick<Cookies, 'acquire'>;
  readonly settings: CommandSettings;
  readonly defaults: AddDefaults;
}

interface CachedPreview {
  readonly until: number;
  readonly preview: Promise<DownloadPreview>;
}

/** Previews the content of an address before it is downloaded. Nothing is stored. */
export class Previews {
  readonly #deps: Dependencies;
  readonly #cache = new LruMap<string, CachedPreview>(maxCached);
  #running = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /**
   * Returns the preview of an address.
   *
   * @throws Problem `downloads.refused` (422) for an address that may not be fetched, `downloads.busy` (429),
   * `downloads.engine_failed` (502) with the site's reason, `downloads.engine_missing` (503).
   */
  async get(address: string): Promise<DownloadPreview> {
    const { clock } = this.#deps.context;
    const cached = this.#cache.get(address);
    if (cached !== undefined && cached.until > clock.now()) return await cached.preview;
    const url = await this.#deps.urlPolicy(address.trim());
    if ('msg' in url) throw createRefusedProblem(422, url);
    if (this.#running >= maxParallel) throw new Problem('downloads.busy', 429, m.tooManyPreviews());
    const preview = this.#load(url.href);
    this.#cache.set(address, { until: clock.now() + cacheLifetimeMs, preview });
    try {
      return await preview;
    } catch (error) {
      this.#cache.delete(address);
      throw error;
    }
  }

  async #load(address: string): Promise<DownloadPreview> {
    const { context, cookies, extractor, thumbnails, defaults } = this.#deps;
    const { order } = readAdd({ url: address }, defaults);
    const abort = new AbortController();
    const lateFailure = createServiceFailure('preview_timed_out', 'site');
    const timeout = new DownloadProblem('downloads.engine_failed', 504, lateFailure);
    using _late = context.clock.after(timeoutMs, () => abort.abort(timeout));
    this.#running += 1;
    try {
      await using cookieFile = await cookies.acquire();
      const settings = { ...this.#deps.settings, cookieFile: cookieFile.path };
      let json = '';
      const errors: string[] = [];
      const exit = await extractor.run(buildProbeArguments(address, order, null, settings), {
        clock: context.clock,
        signal: abort.signal,
        onLine(line, from) {
          if (from === 'stdout' && line.startsWith('{')) json = line;
          else if (errors.length < 50) errors.push(line.slice(0, 2000));
        },
      });
      abort.signal.throwIfAborted();
      if (exit.code !== 0) throw createEngineProblem(describeFailure(errors, exit));
      const info = parseOutput(Info, json);
      const picture = findPicture(info);
      return { ...toPreview(info), picture: picture === null ? null : await thumbnails.fetchInline(picture) };
    } finally {
      this.#running -= 1;
    }
  }
}

function toPreview(info: z.infer<typeof Info>): Omit<DownloadPreview, 'picture'> {
  const heights = (info.formats ?? []).flatMap((format) =>
    typeof format?.height === 'number' && format.vcodec !== 'none' ? [Math.round(format.height)] : [],
  );
  return {
    title: (info.title ?? '').slice(0, maxTitleLength),
    author: (info.channel ?? info.uploader ?? '').slice(0, maxTitleLength),
    duration: info.duration ?? null,
    entries: info._type === 'playlist' ? (info.playlist_count ?? info.entries?.length ?? 0) : null,
    heights: [...new Set(heights)].toSorted((a, b) => b - a),
    chapters: (info.chapters?.length ?? 0) > 0,
    subtitles: Object.keys(info.subtitles ?? {})
      .filter((language) => language !== 'live_chat')
      .slice(0, 100),
    live: info.live_status === 'is_live' || info.live_status === 'is_upcoming',
  };
}
