import { setTimeout as pause } from 'node:timers/promises';
import type { AddonConfig } from '../domain/config.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import { selectFile } from '../domain/select-file.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Wanted } from '../domain/pipeline/title-request.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { PlayHistory } from '../store/plays.ts';
import type { Account, ProviderPool } from './provider-pool.ts';

const checkMs = 4000;

/** Enabled service of a configuration with its credentials. */
export interface UsableService {
  readonly id: ServiceId;
  readonly credentials: Readonly<Record<string, string>>;
}

export interface WrapOptions {
  readonly config: AddonConfig;
  readonly services: readonly UsableService[];
  readonly wanted: Wanted;
  readonly baseUrl: string;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly history: PlayHistory;
  /**
   * Number that selects one of several services with the same torrent, if the configuration distributes streams among
   * services.
   */
  readonly turn: number;
}

export interface Wrapped {
  readonly streams: readonly ParsedStream[];
  /** Errors of services that could not be requested. */
  readonly errors: readonly { readonly addon: string; readonly sentence: string }[];
}

interface Known {
  readonly files: readonly { readonly path: string; readonly size: number }[] | undefined;
  readonly library: boolean;
}

/** Availability of the torrents at one service. */
interface Availability {
  readonly service: UsableService;
  readonly auth: string;
  readonly known: ReadonlyMap<string, Known>;
}

/**
 * Converts torrents to streams of the configured services. Each service reports the availability of all torrents in one
 * request. Other services derive it from their library and former plays. Torrents are only added to an account when
 * they are played.
 */
export async function wrapTorrents(streams: readonly ParsedStream[], options: WrapOptions): Promise<Wrapped> {
  const { config, services } = options;
  const wrap = config.serviceWrap;
  const only = new Set(wrap?.services ?? []);
  const chosen = services.filter(({ id }) => id !== 'easynews' && (only.size === 0 || only.has(id)));
  if (wrap?.enabled === false || chosen.length === 0) return { streams, errors: [] };
  const presets = new Set(wrap?.presets ?? []);
  const isWrapped = ({ type, infoHash, addon }: ParsedStream): boolean =>
    type === 'p2p' && infoHash !== undefined && (presets.size === 0 || presets.has(addon.instanceId.slice(0, -4)));
  const hashes = [...new Set(streams.flatMap((stream) => (isWrapped(stream) ? (stream.infoHash ?? []) : [])))];
  if (hashes.length === 0) return { streams, errors: [] };
  const asked = await Promise.all(chosen.map(async (service) => await ask(service, hashes, options)));
  const errors = asked.flatMap(({ sentence, service }) =>
    sentence === undefined ? [] : [{ addon: debridService(service.id)?.name ?? service.id, sentence }],
  );
  return {
    streams: streams.flatMap((stream) => (isWrapped(stream) ? asServices(stream, asked, options) : [stream])),
    errors,
  };
}

function asServices(
  stream: ParsedStream,
  asked: readonly Availability[],
  options: WrapOptions,
): readonly ParsedStream[] {
  const hash = stream.infoHash ?? '';
  const ready = asked.filter(({ known }) => known.has(hash));
  const spread = options.config.spreadServices === true ? ready[options.turn % Math.max(1, ready.length)] : undefined;
  return (spread === undefined ? asked : [spread]).map((one) => wrapped(stream, one, options));
}

async function ask(
  service: UsableService,
  hashes: readonly string[],
  { pool, links, history }: WrapOptions,
): Promise<Availability & { readonly sentence: string | undefined }> {
  const known = new Map<string, Known>();
  const base = {
    service,
    auth: links.auth(pool.fingerprint(service.id, service.credentials), service.id, service.credentials),
    known,
  };
  for (const hash of hashes) if (history.has(service.id, hash)) known.set(hash, { files: undefined, library: false });
  const account = pool.account(service.id, service.credentials);
  if (account === undefined) return { ...base, sentence: undefined };
  const told = await Promise.allSettled([inTime(account.available(hashes)), inTime(ownTorrents(account))]);
  const [available, library] = told;
  if (available.status === 'fulfilled')
    for (const [hash, files] of available.value)
      known.set(hash, { files: files.length === 0 ? undefined : files, library: false });
  if (library.status === 'fulfilled')
    for (const hash of hashes)
      if (library.value.has(hash)) known.set(hash, { files: known.get(hash)?.files, library: true });
  const failed = told.find((one) => one.status === 'rejected');
  return { ...base, sentence: failed === undefined ? undefined : sentenceOf(failed.reason, service.id) };
}

async function ownTorrents(account: Account): Promise<ReadonlySet<string>> {
  const torrents = await account.library();
  return new Set(torrents.flatMap(({ hash, state }) => (state === 'ready' && hash !== undefined ? [hash] : [])));
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = pause(checkMs, undefined, { signal: stop.signal, ref: false }).then(() => {
    throw new Error('too late');
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
  }
}

function sentenceOf(reason: unknown, id: ServiceId): string {
  const name = debridService(id)?.name ?? id;
  if (reason instanceof Error && reason.name === 'ProviderError') return reason.message;
  return `${name} did not say in time what it has.`;
}

function wrapped(
  stream: ParsedStream,
  { service, auth, known }: Availability,
  { wanted, baseUrl, links }: WrapOptions,
): ParsedStream {
  const hash = stream.infoHash ?? '';
  const found = known.get(hash);
  const files = found?.files?.map(({ path, size }, index) => ({
    path,
    size,
    index: stream.fileIdx === undefined ? undefined : index,
  }));
  const file =
    files === undefined
      ? undefined
      : selectFile(files, {
          index: stream.fileIdx,
          filename: stream.filename,
          season: wanted.season,
          episode: wanted.episode,
        });
  const filename = stream.filename ?? file?.path.slice(file.path.lastIndexOf('/') + 1);
  const info = {
    hash,
    title: filename ?? '',
    sources: [...(stream.sources ?? [])],
    ...(stream.fileIdx === undefined ? {} : { index: stream.fileIdx }),
    ...(wanted.season === undefined ? {} : { season: wanted.season }),
    ...(wanted.episode === undefined ? {} : { episode: wanted.episode }),
  };
  const { infoHash: _hash, fileIdx: _place, sources: _sources, url: _url, ...upstream } = stream.upstream;
  return {
    ...stream,
    upstream,
    id: `${stream.id}-${service.id}`,
    type: 'debrid',
    service: { id: service.id, cached: found !== undefined },
    library: stream.library || found?.library === true,
    url: `${baseUrl}${links.path(auth, info, wanted.id, filename ?? '')}`,
    filename,
    size: file === undefined || file.size === 0 ? stream.size : file.size,
  };
}
