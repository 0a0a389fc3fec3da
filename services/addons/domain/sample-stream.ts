import * as m from '#messages/addons-texts';
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

/** Kind of a sample stream for the preview of a format. */
type SampleKind = 'film' | 'episode' | 'torrent' | 'message';

/** Returns streams of different kinds, so that a format can be seen with missing values too. */
export function getSampleStreams(): readonly {
  readonly kind: SampleKind;
  readonly stream: ParsedStream;
}[] {
  const film = getSampleStream();
  const episodeName = 'The.Series.S02E05.1080p.WEB-DL.H264.AAC.2.0-GRP.mkv';
  const torrentName = 'The Movie 2019 720p.mp4';
  return [
    { kind: 'film', stream: film },
    {
      kind: 'episode',
      stream: {
        ...film,
        id: 'sample-1',
        service: { id: 'realdebrid', cached: false },
        library: false,
        filename: episodeName,
        folderName: 'The.Series.S02.1080p.WEB-DL',
        size: 2_400_000_000,
        file: { ...parseRelease(episodeName), languages: ['German'] },
      },
    },
    {
      kind: 'torrent',
      stream: {
        ...film,
        id: 'sample-2',
        type: 'p2p',
        service: undefined,
        library: false,
        filename: torrentName,
        size: undefined,
        indexer: undefined,
        age: undefined,
        duration: 0,
        seeders: 3,
        file: { ...parseRelease(torrentName), languages: [] },
      },
    },
    { kind: 'message', stream: { ...film, id: 'sample-3', message: m.sampleMessage() } },
  ];
}
