import { ProviderError } from '../domain/provider-error.ts';
import type { Text } from '../../contracts/text.ts';
import * as m from '#messages/addons-problems';
import { setTimeout as pause } from 'node:timers/promises';
import type { AddonConfig } from '../domain/config.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import { selectFile } from '../domain/select-file.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { TitleRequest } from '../domain/title-request.ts';
import type { PlaybackLinks } from './links.ts';
import type { PlayHistory } from '../store/plays.ts';
import type { Account, ProviderPool } from '../providers/provider-pool.ts';

const checkTimeoutMs = 4000;

/** Enabled service of a configuration with its credentials. */
export interface UsableService {
  readonly id: ServiceId;
  readonly credentials: Readonly<Record<string, string>>;
}

export interface WrapOptions {
  readonly config: AddonConfig;
  readonly services: readonly UsableService[];
  readonly titleRequest: TitleRequest;
  readonly baseUrl: string;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly history: PlayHistory;
  /**
   * Number that selects one of several services with the same torrent, if the configuration distributes streams among
   * services.
   */
  readonly rotation: number;
}

export interface WrapResult {
  readonly streams: readonly ParsedStream[];
  /** Errors of services that could not be requested. */
  readonly errors: readonly { readonly addon: string; readonly sentence: Text }[];
}

interface TorrentAvailability {
  readonly files: readonly { readonly path: string; readonly size: number }[] | undefined;
  readonly library: boolean;
}

/** Availability of the torrents at one service. */
interface Availability {
  readonly service: UsableService;
  readonly auth: string;
  readonly torrents: ReadonlyMap<string, TorrentAvailability>;
}

/**
 * Converts torrents to streams of the configured services. Each service reports the availability of all torrents in one
 * request. Other services derive it from their library and former plays. Torrents are only added to an account when
 * they are played.
 */
export async function wrapTorrents(streams: readonly ParsedStream[], options: WrapOptions): Promise<WrapResult> {
  const { config, services } = options;
  const wrapConfig = config.serviceWrap;
  const serviceIds = new Set(wrapConfig?.services ?? []);
  const selectedServices = services.filter(
    ({ id }) => id !== 'easynews' && (serviceIds.size === 0 || serviceIds.has(id)),
  );
  if (wrapConfig?.enabled === false || selectedServices.length === 0) return { streams, errors: [] };
  const presetIds = new Set(wrapConfig?.presets ?? []);
  const isWrapped = ({ type, infoHash, addon }: ParsedStream): boolean =>
    type === 'p2p' && infoHash !== undefined && (presetIds.size === 0 || presetIds.has(addon.instanceId.slice(0, -4)));
  const hashes = [...new Set(streams.flatMap((stream) => (isWrapped(stream) ? (stream.infoHash ?? []) : [])))];
  if (hashes.length === 0) return { streams, errors: [] };
  const availabilities = await Promise.all(
    selectedServices.map(async (service) => await checkService(service, hashes, options)),
  );
  const errors = availabilities.flatMap(({ sentence, service }) =>
    sentence === undefined ? [] : [{ addon: debridService(service.id)?.name ?? service.id, sentence }],
  );
  return {
    streams: streams.flatMap((stream) =>
      isWrapped(stream) ? toServiceStreams(stream, availabilities, options) : [stream],
    ),
    errors,
  };
}

function toServiceStreams(
  stream: ParsedStream,
  availabilities: readonly Availability[],
  options: WrapOptions,
): readonly ParsedStream[] {
  const hash = stream.infoHash ?? '';
  const availableAt = availabilities.filter(({ torrents }) => torrents.has(hash));
  const assigned =
    options.config.spreadServices === true
      ? availableAt[options.rotation % Math.max(1, availableAt.length)]
      : undefined;
  return (assigned === undefined ? availabilities : [assigned]).map((availability) =>
    toServiceStream(stream, availability, options),
  );
}

async function checkService(
  service: UsableService,
  hashes: readonly string[],
  { pool, links, history }: WrapOptions,
): Promise<Availability & { readonly sentence: Text | undefined }> {
  const torrents = new Map<string, TorrentAvailability>();
  const serviceAvailability = {
    service,
    auth: links.sealCredentials(pool.fingerprint(service.id, service.credentials), service.id, service.credentials),
    torrents,
  };
  for (const hash of hashes)
    if (history.wasPlayed(service.id, hash)) torrents.set(hash, { files: undefined, library: false });
  const account = pool.getAccount(service.id, service.credentials);
  if (account === undefined) return { ...serviceAvailability, sentence: undefined };
  const results = await Promise.allSettled([
    withTimeout(account.listAvailable(hashes)),
    withTimeout(listReadyHashes(account)),
  ]);
  const [available, library] = results;
  if (available.status === 'fulfilled')
    for (const [hash, files] of available.value)
      torrents.set(hash, { files: files.length === 0 ? undefined : files, library: false });
  if (library.status === 'fulfilled')
    for (const hash of hashes)
      if (library.value.has(hash)) torrents.set(hash, { files: torrents.get(hash)?.files, library: true });
  const failure = results.find((result) => result.status === 'rejected');
  return {
    ...serviceAvailability,
    sentence: failure === undefined ? undefined : formatFailure(failure.reason, service.id),
  };
}

async function listReadyHashes(account: Account): Promise<ReadonlySet<string>> {
  const torrents = await account.listTorrents();
  return new Set(torrents.flatMap(({ hash, state }) => (state === 'ready' && hash !== undefined ? [hash] : [])));
}

async function withTimeout<T>(request: Promise<T>): Promise<T> {
  const abortController = new AbortController();
  const timeout = pause(checkTimeoutMs, undefined, { signal: abortController.signal, ref: false }).then(() => {
    throw new Error('too late');
  });
  try {
    return await Promise.race([request, timeout]);
  } finally {
    abortController.abort();
    timeout.catch(() => undefined);
  }
}

function formatFailure(reason: unknown, id: ServiceId): Text {
  const name = debridService(id)?.name ?? id;
  if (reason instanceof ProviderError) return reason.text;
  return () => m.availabilityTimeout({ name });
}

function toServiceStream(
  stream: ParsedStream,
  { service, auth, torrents }: Availability,
  { titleRequest, baseUrl, links }: WrapOptions,
): ParsedStream {
  const hash = stream.infoHash ?? '';
  const torrent = torrents.get(hash);
  const files = torrent?.files?.map(({ path, size }, index) => ({
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
          season: titleRequest.season,
          episode: titleRequest.episode,
        });
  const filename = stream.filename ?? file?.path.slice(file.path.lastIndexOf('/') + 1);
  const info = {
    hash,
    title: filename ?? '',
    sources: [...(stream.sources ?? [])],
    ...(stream.fileIdx === undefined ? {} : { index: stream.fileIdx }),
    ...(titleRequest.season === undefined ? {} : { season: titleRequest.season }),
    ...(titleRequest.episode === undefined ? {} : { episode: titleRequest.episode }),
  };
  const { infoHash: _hash, fileIdx: _place, sources: _sources, url: _url, ...upstream } = stream.upstream;
  return {
    ...stream,
    upstream,
    id: `${stream.id}-${service.id}`,
    type: 'debrid',
    service: { id: service.id, cached: torrent !== undefined },
    library: stream.library || torrent?.library === true,
    url: `${baseUrl}${links.buildPath(auth, info, titleRequest.id, filename ?? '')}`,
    filename,
    size: file === undefined || file.size === 0 ? stream.size : file.size,
  };
}
