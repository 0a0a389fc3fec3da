import { openFakeAddon, streamManifest } from '../services/addons/fake-addon.ts';
import { hashes, openRealDebrid, openTorBox } from '../services/addons/fake-stores.ts';
import { day, hour, type House, type Moment } from './moment.ts';

/** User agents of players. */
const television = 'Mozilla/5.0 (Linux; Android 12; BRAVIA 4K) Stremio/1.6.12';
const tablet = 'Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) Stremio/1.3.4';
const gigabyte = 1_000_000_000;

/** File as addons describe it. */
function stream(name: string, seeders: number, size: number, infoHash?: string): object {
  return {
    name: `Harbour ${/\d+p/.exec(name)?.[0] ?? ''}`,
    title: `${name}\n👤 ${String(seeders)} 💾 ${(size / gigabyte).toFixed(1)} GB ⚙️ Lists`,
    ...(infoHash === undefined ? { url: `http://127.0.0.1:1/${name}` } : { infoHash, fileIdx: 0 }),
    behaviorHints: { filename: name, videoSize: size },
  };
}

const films = [
  stream('Harbour.Lights.2021.2160p.BluRay.REMUX.DV.TrueHD.Atmos.mkv', 112, 54 * gigabyte, hashes.cached),
  stream('Harbour.Lights.2021.2160p.WEB-DL.HDR.DDP5.1.mkv', 240, 18 * gigabyte),
  stream('Harbour.Lights.2021.1080p.BluRay.x264.mkv', 530, 11 * gigabyte, hashes.uncached),
  stream('Harbour.Lights.2021.1080p.WEB-DL.DDP5.1.x265.mkv', 410, 4 * gigabyte),
  stream('Harbour.Lights.2021.720p.HDTV.x264.mkv', 35, 1.6 * gigabyte),
];

/** Stand-ins of debrid services; the host receives their addresses at its start. */
export async function streamingEnvironment(keep: House['keep']): Promise<Record<string, string>> {
  const [realDebrid, torBox] = [keep(await openRealDebrid()), keep(await openTorBox())];
  return { PROVIDER_A_BASE_URL: realDebrid.url, PROVIDER_H_BASE_URL: torBox.url };
}

/** Two configurations: one of the television, one of the children's tablet. */
export async function streaming({ host, ask, keep }: House): Promise<readonly Moment[]> {
  const lists = keep(await openFakeAddon({ streams: films }));
  const catalogs = keep(
    await openFakeAddon({
      manifest: {
        ...streamManifest,
        ...{ id: 'lists', name: 'Film lists', resources: ['catalog'] },
        catalogs: ['New this week', 'Loved by many', 'Short films'].map((name, streamUrl) => ({
          type: 'movie',
          id: `l${String(streamUrl)}`,
          name,
        })),
      },
    }),
  );
  const own = (instanceId: string, name: string, manifestUrl: string): object => ({
    ...{ type: 'custom', instanceId, enabled: true },
    options: { name, manifestUrl },
  });
  const livingRoom = {
    addonName: 'Living room',
    presets: [own('a1', 'Harbour', lists.manifestUrl), own('a2', 'Film lists', catalogs.manifestUrl)],
    services: [
      { id: 'realdebrid', enabled: true, credentials: { apiKey: 'RDKEY' } },
      { id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } },
    ],
    formatter: { id: 'gdrive' },
    sortCriteria: { global: ['cached', 'resolution', 'size'].map((key) => ({ key, direction: 'desc' })) },
    excludedQualities: ['CAM', 'TS'],
    preferredResolutions: ['2160p', '1080p'],
  };
  const children = {
    ...{ addonName: 'Children', presets: [own('b1', 'Harbour', lists.manifestUrl)], services: [] },
    ...{ formatter: { id: 'torrentio' }, sortCriteria: { global: [] }, excludedCertifications: ['R', 'NC-17'] },
  };
  const paths = { living: '', children: '' };
  const list = async (device: keyof typeof paths, player: string): Promise<void> => {
    const streamUrl = `${host.url('addons')}${paths[device].replace('/manifest.json', '')}/stream/movie/tt0111161.json`;
    const reply = await fetch(streamUrl, { headers: { 'User-Agent': player } });
    if (!reply.ok) throw new Error(await reply.text());
  };
  const watchOnTelevision = (): Promise<void> => list('living', television);
  const watchOnTablet = (): Promise<void> => list('children', tablet);
  return [
    {
      ago: 20 * day,
      async run() {
        paths.living = (await ask('POST', '/addons/profiles', { config: livingRoom })).installPath;
        paths.children = (await ask('POST', '/addons/profiles', { config: children })).installPath;
      },
    },
    { ago: 26 * hour, run: watchOnTelevision },
    ...[21, 20.5, 20].map((hours) => ({ ago: hours * hour, run: watchOnTelevision })),
    ...[9, 8.5].map((hours) => ({ ago: hours * hour, run: watchOnTablet })),
    {
      // Mistyped key.
      ago: 5 * hour,
      run: () => ask('POST', '/addons/services/test', { id: 'torbox', credentials: { apiKey: 'TBKEI' } }),
    },
    { ago: 2 * hour, run: watchOnTelevision },
  ];
}
