import { parseRelease } from './release.ts';
import type { ParsedStream } from './stream.ts';

const sampleFileName = 'The.Movie.2019.2160p.BluRay.REMUX.HEVC.DV.TrueHD.7.1.Atmos-GRP.mkv';
const sampleStream = {
  id: 'sample-0',
  addon: {
    instanceId: 'sample',
    presetType: 'custom',
    name: 'Torrentio',
    index: 0,
    manifestUrl: '',
    library: false,
    formatPassthrough: false,
    resultPassthrough: false,
    pinPosition: undefined,
  },
  upstream: {},
  hints: {},
  type: 'debrid',
  service: { id: 'torbox', cached: true },
  library: true,
  proxied: false,
  url: 'http://127.0.0.1/',
  infoHash: '2a4e0006f054296755b7cbed0127c0c941c854c4',
  fileIdx: 1,
  sources: undefined,
  filename: sampleFileName,
  folderName: undefined,
  size: 60_000_000_000,
  folderSize: undefined,
  seeders: 120,
  age: 48,
  duration: 7_200_000,
  indexer: 'Indexer',
  message: undefined,
  private: false,
} satisfies Omit<ParsedStream, 'file'>;

/** Returns a stream with all attributes, for tests of formats and expressions. */
export function getSampleStream(): ParsedStream {
  return { ...sampleStream, file: { ...parseRelease(sampleFileName), languages: ['English', 'French'] } };
}
