import { z } from 'zod';
import type { DownloadPreview } from '../../contracts/downloads/preview.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { withoutSecrets } from '../domain/address.ts';
import { failureMessage } from '../domain/progress.ts';
import { readAnswer } from '../engine/json-output.ts';
import { probeArguments, type CommandSettings } from '../engine/command.ts';
import { pictureOf } from '../engine/probe-result.ts';
import type { Extractor } from '../engine/extractor.ts';
import type { UrlPolicy } from './url-policy.ts';
import type { Thumbnails } from '../run/thumbnails.ts';
import { readAdd, type AddDefaults } from '../wire/add.ts';

/** Looks at once; people look at one link, and the queue's own probes come first. */
const mostAtOnce = 2;
const patienceMs = 60_000;
/** A page asks again when a person comes back to a link. */
const keptMs = 5 * 60_000;
const mostKept = 50;
const longestTitle = 500;

const Named = z.object({ height: z.number().nullish(), vcodec: z.string().nullish() }).nullable();
const Info = z.object({
  _type: z.string().nullish(),
  title: z.string().nullish(),
  uploader: z.string().nullish(),
  channel: z.string().nullish(),
  duration: z.number().nullish(),
  thumbnail: z.string().nullish(),
  thumbnails: z.array(z.object({ url: z.string().nullish() }).nullable()).nullish(),
  formats: z.array(Named).nullish(),
  chapters: z.array(z.unknown()).nullish(),
  subtitles: z.record(z.string(), z.unknown()).nullish(),
  live_status: z.string().nullish(),
  playlist_count: z.number().nullish(),
  entries: z.array(z.unknown()).nullish(),
});

interface Parts {
  readonly context: Pick<Context, 'clock'>;
  readonly gate: UrlPolicy;
  readonly extractor: Pick<Extractor, 'run'>;
  readonly thumbnails: Thumbnails;
  readonly cookies: Pick<Cookies, 'lend'>;
  readonly settings: CommandSettings;
  readonly defaults: AddDefaults;
}

interface Kept {
  readonly until: number;
  readonly preview: Promise<DownloadPreview>;
}

/** Says what is behind an address before it is downloaded. Nothing is stored. */
export class Previews {
  readonly #parts: Parts;
  readonly #kept = new Map<string, Kept>();
  #running = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @throws Problem `downloads.refused` (422) for an address that may not be fetched, `downloads.busy` (429),
   * `downloads.engine_failed` (502) with the site's reason, `downloads.engine_missing` (503).
   */
  async of(address: string): Promise<DownloadPreview> {
    const { clock } = this.#parts.context;
    const kept = this.#kept.get(address);
    if (kept !== undefined && kept.until > clock.now()) return await kept.preview;
    const url = await this.#parts.gate(address.trim());
    if ('msg' in url) throw new Problem('downloads.refused', 422, withoutSecrets(url.msg));
    if (this.#running >= mostAtOnce) throw new Problem('downloads.busy', 429, 'Other links are being looked at.');
    const preview = this.#look(url.href);
    this.#keep(address, { until: clock.now() + keptMs, preview });
    try {
      return await preview;
    } catch (error) {
      this.#kept.delete(address);
      throw error;
    }
  }

  async #look(address: string): Promise<DownloadPreview> {
    const { context, cookies, extractor, thumbnails, defaults } = this.#parts;
    const { order } = readAdd({ url: address }, defaults);
    const abort = new AbortController();
    const late = new Problem('downloads.engine_failed', 504, 'The site did not say within a minute what is there.');
    using _late = context.clock.after(patienceMs, () => abort.abort(late));
    this.#running += 1;
    try {
      await using lent = await cookies.lend();
      const settings = { ...this.#parts.settings, cookieFile: lent.path };
      let json = '';
      const errors: string[] = [];
      const exit = await extractor.run(probeArguments(address, order, null, settings), {
        clock: context.clock,
        signal: abort.signal,
        onLine(line, from) {
          if (from === 'stdout' && line.startsWith('{')) json = line;
          else if (errors.length < 50) errors.push(line.slice(0, 2000));
        },
      });
      abort.signal.throwIfAborted();
      if (exit.code !== 0) {
        throw new Problem('downloads.engine_failed', 502, withoutSecrets(failureMessage(errors, exit)));
      }
      const info = readAnswer(Info, json);
      const picture = pictureOf(info);
      return { ...previewOf(info), picture: picture === null ? null : await thumbnails.inline(picture) };
    } finally {
      this.#running -= 1;
    }
  }

  #keep(address: string, kept: Kept): void {
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= mostKept && oldest.done !== true) this.#kept.delete(oldest.value);
    this.#kept.set(address, kept);
  }
}

function previewOf(info: z.infer<typeof Info>): Omit<DownloadPreview, 'picture'> {
  const heights = (info.formats ?? []).flatMap((format) =>
    typeof format?.height === 'number' && format.vcodec !== 'none' ? [Math.round(format.height)] : [],
  );
  return {
    title: (info.title ?? '').slice(0, longestTitle),
    author: (info.channel ?? info.uploader ?? '').slice(0, longestTitle),
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
