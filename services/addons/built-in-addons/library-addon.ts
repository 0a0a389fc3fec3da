import type { BuiltIn } from '../upstream/addon.ts';
import { debridService } from '../domain/debrid-services.ts';
import type { UpstreamManifest } from '../domain/manifest.ts';
import { parseRelease } from '../domain/release.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { isVideo } from '../domain/select-file.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import type { UsableService } from '../playback/wrap-torrents.ts';

const pageSize = 100;
const idPrefix = 'homeportlibrary';
const maxVideos = 1000;

export interface LibraryAddonOptions {
  readonly services: readonly UsableService[];
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly baseUrl: string;
}

/** Offers the torrents of debrid accounts as catalogs, newest first and with search. */
export class LibraryAddon implements BuiltIn {
  readonly key: string;
  readonly manifest: UpstreamManifest;
  readonly #options: LibraryAddonOptions;
  readonly #torrentServices: readonly UsableService[];

  constructor(options: LibraryAddonOptions) {
    const { services, pool, baseUrl } = options;
    this.#options = options;
    this.#torrentServices = services.filter(({ id }) => id !== 'easynews');
    const fingerprints = this.#torrentServices.map(({ id, credentials }) => pool.fingerprint(id, credentials));
    this.key = [baseUrl, ...fingerprints].join(' ');
    this.manifest = {
      id: 'app.homeport.library',
      name: 'Debrid library',
      resources: [
        { name: 'catalog', types: ['other'] },
        { name: 'meta', types: ['other'], idPrefixes: [idPrefix] },
        { name: 'stream', types: ['other'], idPrefixes: [idPrefix] },
      ],
      catalogs: this.#torrentServices.map(({ id }) => ({
        type: 'other',
        id,
        name: `${debridService(id)?.name ?? id} library`,
        extra: [{ name: 'skip' }, { name: 'search' }],
      })),
      addonCatalogs: [],
    };
  }

  async resource(request: ResourceRequest): Promise<unknown> {
    if (request.resource === 'catalog') return await this.#getCatalog(request);
    return request.resource === 'meta' ? await this.#getMeta(request) : await this.#getStreams(request);
  }

  async #getCatalog({ id, extra }: ResourceRequest): Promise<unknown> {
    const service = this.#torrentServices.find((torrentService) => torrentService.id === id);
    const account = service && this.#options.pool.getAccount(service.id, service.credentials);
    if (account === undefined) return { metas: [] };
    const searchTerms = (extra['search'] ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((searchTerm) => searchTerm !== '');
    const skip = Number(extra['skip'] ?? 0);
    const torrents = (await account.listTorrents()).filter(
      ({ state, name }) =>
        state === 'ready' && searchTerms.every((searchTerm) => name.toLowerCase().includes(searchTerm)),
    );
    const sorted = torrents.toSorted((a, b) => (b.addedAt ?? 0) - (a.addedAt ?? 0));
    const startIndex = Number.isSafeInteger(skip) && skip > 0 ? skip : 0;
    return {
      metas: sorted.slice(startIndex, startIndex + pageSize).map((torrent) => ({
        id: `${idPrefix}:${id}:${torrent.id}`,
        type: 'other',
        name: formatTitle(torrent.name),
        description: torrent.name,
      })),
    };
  }

  async #findTorrent(id: string) {
    const [, serviceId = '', torrentId = '', ...rest] = id.split(':');
    const service = this.#torrentServices.find((torrentService) => torrentService.id === serviceId);
    const account = service && this.#options.pool.getAccount(service.id, service.credentials);
    if (service === undefined || account === undefined) return undefined;
    return { service, torrent: await account.provider.torrent(torrentId), file: rest.join(':') };
  }

  async #getMeta({ id }: ResourceRequest): Promise<unknown> {
    const item = await this.#findTorrent(id);
    if (item === undefined) return { meta: null };
    const { torrent } = item;
    const videos = (torrent.files ?? []).filter(({ path }) => isVideo(path)).slice(0, maxVideos);
    const released = new Date(torrent.addedAt ?? 0).toISOString();
    return {
      meta: {
        id,
        type: 'other',
        name: formatTitle(torrent.name),
        description: torrent.name,
        videos: videos.map(({ path }, index) => {
          const { seasons = [], episodes = [] } = parseRelease(path.slice(path.lastIndexOf('/') + 1));
          const [season, episode] = [seasons[0], episodes[0]];
          const numbers = season === undefined || episode === undefined ? {} : { season, episode };
          return { id: `${id}:${String(index)}`, title: path.slice(path.lastIndexOf('/') + 1), released, ...numbers };
        }),
      },
    };
  }

  async #getStreams({ id }: ResourceRequest): Promise<unknown> {
    const item = await this.#findTorrent(id);
    const videos = (item?.torrent.files ?? []).filter(({ path }) => isVideo(path));
    const file = videos[Number(item?.file)];
    if (item?.torrent.hash === undefined || file === undefined) return { streams: [] };
    const { service, torrent } = item;
    const { pool, links, baseUrl } = this.#options;
    const filename = file.path.slice(file.path.lastIndexOf('/') + 1);
    const auth = links.sealCredentials(
      pool.fingerprint(service.id, service.credentials),
      service.id,
      service.credentials,
    );
    const info = { hash: torrent.hash ?? '', title: filename, sources: [] };
    const { shortName } = debridService(service.id) ?? { shortName: service.id };
    return {
      streams: [
        {
          name: `[${shortName}+] Library`,
          description: filename,
          url: `${baseUrl}${links.buildPath(auth, info, id, filename)}`,
          behaviorHints: { filename, videoSize: file.size },
        },
      ],
    };
  }
}

/** Returns the title of a release, or its name if it contains no title. */
function formatTitle(release: string): string {
  const { title, year } = parseRelease(release);
  if (title === undefined) return release;
  return year === undefined ? title : `${title} (${year})`;
}
