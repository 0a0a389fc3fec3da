import type { BuiltIn } from '../aggregate/addon.ts';
import { debridService } from '../domain/debrid-services.ts';
import type { ManifestCatalog } from '../domain/manifest.ts';
import { parseRelease } from '../domain/release.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { isVideo } from '../domain/select-file.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { ProviderPool } from './provider-pool.ts';
import type { UsableService } from './wrap-torrents.ts';

const pageSize = 100;
const prefix = 'homeportlibrary';
const mostVideos = 1000;

export interface LibraryAddonOptions {
  readonly services: readonly UsableService[];
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly baseUrl: string;
}

/** Offers the torrents of debrid accounts as catalogs, newest first and with search. */
export function libraryAddon({ services, pool, links, baseUrl }: LibraryAddonOptions): BuiltIn {
  const own = services.filter(({ id }) => id !== 'easynews');
  const catalogs: readonly ManifestCatalog[] = own.map(({ id }) => ({
    type: 'other',
    id,
    name: `${debridService(id)?.name ?? id} library`,
    extra: [{ name: 'skip' }, { name: 'search' }],
  }));
  const catalog = async ({ id, extra }: ResourceRequest): Promise<unknown> => {
    const service = own.find((one) => one.id === id);
    const account = service && pool.account(service.id, service.credentials);
    if (account === undefined) return { metas: [] };
    const words = (extra['search'] ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const skip = Number(extra['skip'] ?? 0);
    const torrents = (await account.library()).filter(
      ({ state, name }) => state === 'ready' && words.every((word) => name.toLowerCase().includes(word)),
    );
    const sorted = torrents.toSorted((one, other) => (other.addedAt ?? 0) - (one.addedAt ?? 0));
    const from = Number.isSafeInteger(skip) && skip > 0 ? skip : 0;
    return {
      metas: sorted.slice(from, from + pageSize).map((torrent) => ({
        id: `${prefix}:${id}:${torrent.id}`,
        type: 'other',
        name: nameOf(torrent.name),
        description: torrent.name,
      })),
    };
  };
  const find = async (id: string) => {
    const [, serviceId = '', torrentId = '', ...rest] = id.split(':');
    const service = own.find((one) => one.id === serviceId);
    const account = service && pool.account(service.id, service.credentials);
    if (service === undefined || account === undefined) return undefined;
    return { service, torrent: await account.provider.torrent(torrentId), file: rest.join(':') };
  };
  const meta = async ({ id }: ResourceRequest): Promise<unknown> => {
    const found = await find(id);
    if (found === undefined) return { meta: null };
    const { torrent } = found;
    const videos = (torrent.files ?? []).filter(({ path }) => isVideo(path)).slice(0, mostVideos);
    const released = new Date(torrent.addedAt ?? 0).toISOString();
    return {
      meta: {
        id,
        type: 'other',
        name: nameOf(torrent.name),
        description: torrent.name,
        videos: videos.map(({ path }, index) => {
          const { seasons = [], episodes = [] } = parseRelease(path.slice(path.lastIndexOf('/') + 1));
          const [season, episode] = [seasons[0], episodes[0]];
          const numbers = season === undefined || episode === undefined ? {} : { season, episode };
          return { id: `${id}:${String(index)}`, title: path.slice(path.lastIndexOf('/') + 1), released, ...numbers };
        }),
      },
    };
  };
  const stream = async ({ id }: ResourceRequest): Promise<unknown> => {
    const found = await find(id);
    const videos = (found?.torrent.files ?? []).filter(({ path }) => isVideo(path));
    const file = videos[Number(found?.file)];
    if (found?.torrent.hash === undefined || file === undefined) return { streams: [] };
    const { service, torrent } = found;
    const filename = file.path.slice(file.path.lastIndexOf('/') + 1);
    const auth = links.auth(pool.fingerprint(service.id, service.credentials), service.id, service.credentials);
    const info = { hash: torrent.hash ?? '', title: filename, sources: [] };
    const { shortName } = debridService(service.id) ?? { shortName: service.id };
    return {
      streams: [
        {
          name: `[${shortName}+] Library`,
          description: filename,
          url: `${baseUrl}${links.path(auth, info, id, filename)}`,
          behaviorHints: { filename, videoSize: file.size },
        },
      ],
    };
  };
  return {
    key: [baseUrl, ...own.map(({ id, credentials }) => pool.fingerprint(id, credentials))].join(' '),
    manifest: {
      id: 'app.homeport.library',
      name: 'Debrid library',
      resources: [
        { name: 'catalog', types: ['other'] },
        { name: 'meta', types: ['other'], idPrefixes: [prefix] },
        { name: 'stream', types: ['other'], idPrefixes: [prefix] },
      ],
      catalogs,
      addonCatalogs: [],
    },
    async resource(request) {
      if (request.resource === 'catalog') return await catalog(request);
      return request.resource === 'meta' ? await meta(request) : await stream(request);
    },
  };
}

/** Returns the title of a release, or its name if it contains no title. */
function nameOf(release: string): string {
  const { title, year } = parseRelease(release);
  if (title === undefined) return release;
  return year === undefined ? title : `${title} (${year})`;
}
