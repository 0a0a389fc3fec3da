import type { Clock, Log } from '../../contracts/service.ts';
import { isVideo, selectFile } from '../domain/select-file.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { Account, ProviderPool } from '../providers/provider-pool.ts';
import { ProviderError } from '../domain/provider-error.ts';
import type { ProviderFile, ProviderTorrent } from '../providers/provider.ts';
import type { PlayHistory } from '../store/plays.ts';
import { ResponseCache } from '../upstream/response-cache.ts';
import type { Fallbacks } from './fallbacks.ts';
import type { PlaybackRequest } from './links.ts';

/** Response to a player: the address of the file, or the clip that explains the failure. */
export type Playback = { readonly url: string } | { readonly clip: Clip; readonly sentence: string };

/** Short video clips that explain why a stream does not play. */
export type Clip =
  | 'downloading'
  | 'unauthorized'
  | 'forbidden'
  | 'payment-required'
  | 'too-many-requests'
  | 'limit-reached'
  | 'legal-removal'
  | 'no-matching-file'
  | 'failed'
  | 'internal-error';

const clipsByCode: Readonly<Record<string, Clip>> = {
  UNAUTHORIZED: 'unauthorized',
  FORBIDDEN: 'forbidden',
  PAYMENT_REQUIRED: 'payment-required',
  TOO_MANY_REQUESTS: 'too-many-requests',
  STORE_LIMIT_EXCEEDED: 'limit-reached',
  STORE_MAGNET_INVALID: 'failed',
  UNAVAILABLE_FOR_LEGAL_REASONS: 'legal-removal',
  NOT_FOUND: 'failed',
  CONFLICT: 'failed',
  SERVICE_UNAVAILABLE: 'internal-error',
  BAD_GATEWAY: 'internal-error',
  UNKNOWN: 'internal-error',
};

/** Failures that affect all files of an account. */
const accountFailures: ReadonlySet<Clip> = new Set([
  'unauthorized',
  'payment-required',
  'too-many-requests',
  'limit-reached',
  'internal-error',
]);

const hourMs = 3_600_000;
/** Maximum wait for a torrent that the service already has. */
const readyTimeoutMs = 12_000;
const pollMs = 700;

export interface PlayerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: AddonMetrics;
  readonly pool: ProviderPool;
  readonly history: PlayHistory;
  readonly fallbacks: Fallbacks;
}

/**
 * Plays files from debrid accounts: adds the torrent or reuses an existing one, waits for it, selects the file and
 * returns its link.
 */
export class Player {
  readonly #options: PlayerOptions;
  readonly #results: ResponseCache<Playback>;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#results = new ResponseCache({
      clock: options.clock,
      maxEntries: 1000,
      freshMs: hourMs / 2,
      staleMs: hourMs / 2,
      isCacheable: (playback) => 'url' in playback,
    });
  }

  /** Plays a stream. Players send several requests before they start, so the result is cached. */
  async play(request: PlaybackRequest, userIp: string | undefined): Promise<Playback> {
    return await this.#results.get(buildCacheKey(request, userIp), () => this.#playWithFallbacks(request, userIp))
      .response;
  }

  /** Returns a cached result without a request, because a HEAD request must not start a download. */
  findCached(request: PlaybackRequest, userIp: string | undefined): Playback | undefined {
    return this.#results.peek(buildCacheKey(request, userIp));
  }

  /** Plays the selected stream, or an alternative from its fallback list if it fails. */
  async #playWithFallbacks(selected: PlaybackRequest, userIp: string | undefined): Promise<Playback> {
    const { clock, log, fallbacks } = this.#options;
    const startedAt = clock.now();
    const firstResult = await this.#play(selected, userIp);
    const fallbackStreams = 'url' in firstResult ? undefined : fallbacks.findFallbacks(selected);
    // A stream that was listed as a download does not fall back.
    if (
      'url' in firstResult ||
      fallbackStreams === undefined ||
      (firstResult.clip === 'downloading' && !fallbackStreams.wasAvailable)
    )
      return firstResult;
    const failedAccounts = new Set(accountFailures.has(firstResult.clip) ? [selected.auth] : []);
    let attempts = 0;
    for (const fallback of fallbackStreams.requests) {
      if (attempts >= fallbackStreams.limits.attempts || clock.now() - startedAt >= fallbackStreams.limits.waitMs)
        break;
      if (failedAccounts.has(fallback.auth)) continue;
      attempts += 1;
      const playback = await this.#play(fallback, userIp, { isFallback: true });
      if ('url' in playback) {
        log.info('playback fallback used', {
          chosen: selected.service,
          instead: fallback.service,
          reason: firstResult.clip,
        });
        return playback;
      }
      if (accountFailures.has(playback.clip)) failedAccounts.add(fallback.auth);
    }
    return firstResult;
  }

  async #play(
    request: PlaybackRequest,
    userIp: string | undefined,
    { isFallback = false }: { readonly isFallback?: boolean } = {},
  ): Promise<Playback> {
    const { pool, history, log, metrics } = this.#options;
    const { service, credentials, file } = request;
    const account = pool.getAccount(service, credentials);
    if (account === undefined) return { clip: 'internal-error', sentence: 'There is no client for this service.' };
    try {
      const playback = await this.#playFromAccount(account, request, { userIp, isFallback });
      metrics.plays.inc({ provider: service, outcome: 'url' in playback ? 'played' : playback.clip });
      if ('url' in playback) await history.recordPlay(service, file.hash);
      else if (playback.clip === 'downloading') await history.removePlay(service, file.hash);
      return playback;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      log.info('playback refused', { provider: service, code: error.code, reason: error.reason });
      metrics.plays.inc({ provider: service, outcome: error.code });
      await history.removePlay(service, file.hash);
      return { clip: clipsByCode[error.code] ?? 'internal-error', sentence: error.message };
    }
  }

  async #playFromAccount(
    account: Account,
    request: PlaybackRequest,
    { userIp, isFallback }: { readonly userIp: string | undefined; readonly isFallback: boolean },
  ): Promise<Playback> {
    const { provider } = account;
    const existing = await this.#findTorrent(account, request);
    let torrent = await this.#waitUntilReady(account, existing ?? (await this.#addTorrent(account, request)), request);
    if (torrent.state === 'failed') {
      await provider.remove(torrent.id);
      account.clearTorrents();
      return { clip: 'failed', sentence: 'The service could not fetch this torrent.' };
    }
    if (torrent.state !== 'ready') {
      // An alternative is removed instead of downloaded, because the user did not select it.
      if (isFallback && existing === undefined) {
        await provider.remove(torrent.id);
        account.clearTorrents();
      }
      return {
        clip: 'downloading',
        sentence: `It is being downloaded: ${String(Math.round(torrent.progress * 100))} %.`,
      };
    }
    torrent = torrent.files === undefined ? await provider.torrent(torrent.id) : torrent;
    const selectedFile = selectRequestedFile(torrent.files ?? [], request);
    if (selectedFile === undefined)
      return { clip: 'no-matching-file', sentence: 'The torrent has no file that is what was asked for.' };
    return { url: await provider.link(torrent, selectedFile, userIp) };
  }

  /**
   * Finds the torrent in the account. Returns undefined when its file selection does not include the requested file.
   */
  async #findTorrent(account: Account, request: PlaybackRequest): Promise<ProviderTorrent | undefined> {
    const { provider } = account;
    const torrents = await account.listTorrents().catch((error: unknown) => {
      // Some accounts cannot be listed; adding the torrent returns the existing one.
      if (error instanceof ProviderError && error.code === 'UNAUTHORIZED') throw error;
      return [];
    });
    const existing = torrents.find(({ hash }) => hash === request.file.hash);
    if (existing === undefined) return undefined;
    if (existing.state === 'failed') {
      await provider.remove(existing.id);
      account.clearTorrents();
      return undefined;
    }
    const torrent = await provider.torrent(existing.id).catch((error: unknown) => {
      if (error instanceof ProviderError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    });
    if (torrent?.state !== 'ready' || provider.select === undefined) return torrent;
    const selectedFile = selectRequestedFile(torrent.files ?? [], request);
    // A former selection of files does not include this one.
    return selectedFile !== undefined &&
      selectedFile.link === undefined &&
      torrent.files?.some(({ link }) => link !== undefined) === true
      ? undefined
      : torrent;
  }

  async #addTorrent(account: Account, { file, filename }: PlaybackRequest): Promise<ProviderTorrent> {
    account.clearTorrents();
    const trackers = file.sources.flatMap((source) =>
      source.startsWith('tracker:') ? [source.slice('tracker:'.length)] : [],
    );
    return await account.provider.add({ hash: file.hash, name: file.title || filename, trackers });
  }

  /** Waits until the torrent is ready, selects its files if the service requires it, and stops at the time limit. */
  async #waitUntilReady(
    { provider }: Account,
    initial: ProviderTorrent,
    request: PlaybackRequest,
  ): Promise<ProviderTorrent> {
    const { clock } = this.#options;
    const deadlineAt = clock.now() + readyTimeoutMs;
    let torrent = initial;
    for (;;) {
      if (torrent.state === 'selecting' && provider.select !== undefined) {
        const videoFiles = (torrent.files ?? []).filter(({ path }) => isVideo(path));
        const selectedFile = selectRequestedFile(torrent.files ?? [], request);
        await provider.select(
          torrent,
          videoFiles.length === 0 && selectedFile !== undefined ? [selectedFile] : videoFiles,
        );
        torrent = await provider.torrent(torrent.id);
        if (torrent.state !== 'selecting') continue;
      }
      // A download takes longer than players wait.
      if (torrent.state === 'ready' || torrent.state === 'failed') return torrent;
      if (torrent.state === 'downloading' && torrent.files !== undefined) return torrent;
      if (clock.now() >= deadlineAt) return torrent;
      const { promise, resolve } = Promise.withResolvers<void>();
      using _timer = clock.after(pollMs, resolve);
      await promise;
      torrent = await provider.torrent(torrent.id);
    }
  }
}

function selectRequestedFile(
  files: readonly ProviderFile[],
  { file, filename }: PlaybackRequest,
): ProviderFile | undefined {
  return selectFile(files, {
    index: file.index,
    filename: file.title || filename || undefined,
    season: file.season,
    episode: file.episode,
  });
}

function buildCacheKey({ auth, fallback, file }: PlaybackRequest, userIp: string | undefined): string {
  return [auth, fallback, file.hash, file.index, file.season, file.episode, userIp].join(' ');
}
