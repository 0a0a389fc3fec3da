import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import AddonClient from 'stremio-addon-client';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost } from './rig.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openAddonsHost();
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

const name =
  'q={stream.quality} r={stream.resolution} e={stream.encode} v={stream.visualTags::join(",")} ' +
  'a={stream.audioTags::join(",")} c={stream.audioChannels::join(",")} l={stream.languages::join(",")} ' +
  's={stream.subtitles::join(",")} g={stream.releaseGroup} sp={stream.seasonPack} type={stream.type} ' +
  'svc={service.shortName} cached={service.cached} lib={stream.library}';
const description =
  'size={stream.size} fsize={stream.folderSize} dur={stream.duration} seeds={stream.seeders} idx={stream.indexer} ' +
  'age={stream.ageHours} file={stream.filename} folder={stream.folderName} private={stream.private} msg={stream.message}';
const formatter = { id: 'custom', definitions: { custom: { name, description } } };
const hash = 'a'.repeat(40);
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

interface Listed {
  readonly fields: Readonly<Record<string, string>>;
  readonly row: any;
}

/** Streams as a Stremio client lists them. */
async function rows(
  streams: readonly object[],
  {
    addon = 'Up',
    config = {},
    id = 'tt1:1:5',
    type = 'series',
  }: { addon?: string; config?: object; id?: string; type?: string } = {},
): Promise<readonly Listed[]> {
  await using up = await openFakeAddon({ streams });
  const preset = customPreset('u', addon, up.manifestUrl);
  const { manifestUrl } = await makeUser(host, buildConfig([preset], { formatter, ...config }));
  const { addon: client } = await AddonClient.detectFromURL(manifestUrl);
  const response = await client.get('stream', type, id);
  return response.streams.map((row: any) => ({ row, fields: parseFields(`${row.name} ${row.description}`) }));
}

function parseFields(text: string): Record<string, string> {
  const matches = text.matchAll(
    /(?:^|\s)(q|r|e|v|a|c|l|s|g|sp|type|svc|cached|lib|size|fsize|dur|seeds|idx|age|file|folder|private|msg)=/g,
  );
  const marks = [...matches];
  return Object.fromEntries(
    marks.map((mark, index) => [
      mark[1] ?? '',
      text.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? text.length).trim(),
    ]),
  );
}

async function fields(stream: object, options: Parameters<typeof rows>[1] = {}): Promise<Record<string, string>> {
  const [first] = await rows([stream], options);
  return { ...first?.fields };
}

describe('streams of addon families', () => {
  const url = 'http://h.example/x';
  it.each<[what: string, addon: string, stream: object, expected: object]>([
    [
      'Torrentio: a file of a season pack',
      'Torrentio',
      {
        name: 'T\n1080p',
        title: 'Show.S01.1080p.BluRay.x265.DTS-HD.MA.5.1-GRP\nS01E05.mkv\n👤 20 💾 3.1 GB ⚙️ X',
        infoHash: hash,
        fileIdx: 4,
        behaviorHints: { filename: 'S01E05.mkv' },
      },
      {
        ...{
          q: 'BluRay',
          r: '1080p',
          e: 'HEVC',
          a: 'DTS-HD MA',
          c: '5.1',
          g: 'GRP',
          sp: 'true',
          seeds: '20',
          idx: 'X',
        },
        ...{ file: 'S01E05.mkv', folder: 'Show.S01.1080p.BluRay.x265.DTS-HD.MA.5.1-GRP' },
        size: String(Math.round(3.1 * gibibyte)),
      },
    ],
    [
      'Torrentio: an uncached file of a service, with languages',
      'Torrentio',
      {
        name: '[RD download] Torrentio\n4k HDR',
        title: 'Film.2020.2160p.WEB-DL.HDR.mkv\n👤 3 💾 15.2 GB ⚙️ ThePirateBay\n🇬🇧 / 🇮🇹',
        url,
      },
      { svc: 'RD', cached: 'false', type: 'debrid', l: 'English,Italian', idx: 'ThePirateBay', v: 'HDR' },
    ],
    [
      'Torrentio: flags of subtitles',
      'Torrentio',
      { name: '[AD+] Torrentio', title: 'Film.2020.1080p.WEB.mkv\n👤 3 💾 1 GB ⚙️ X\nMulti Subs / 🇫🇷 / 🇩🇪', url },
      { svc: 'AD', cached: 'true', l: '', s: 'French,German' },
    ],
    [
      'Comet: not cached',
      'Comet',
      { name: '[RD⬇️] Comet 1080p', description: 'Film.2020.1080p.mkv\n💾 2.1 GB 🔎 Indexer', url },
      { svc: 'RD', cached: 'false', type: 'debrid', idx: 'Indexer' },
    ],
    [
      'Comet: cached',
      'Comet',
      { name: '[TB⚡] Comet 2160p', description: '📄 Film.2020.2160p.BluRay.mkv\n💾 20 GB 🔎 Nyaa', url },
      { svc: 'TB', cached: 'true', q: 'BluRay', file: 'Film.2020.2160p.BluRay.mkv', idx: 'Nyaa' },
    ],
    [
      'MediaFusion: not cached',
      'MediaFusion',
      { name: 'MediaFusion 🧲 RD ⏳ 1080p', description: '📂 Film.2020.1080p.mkv', url },
      { svc: 'RD', cached: 'false', type: 'debrid' },
    ],
    [
      'MediaFusion: cached, in a folder',
      'MediaFusion',
      {
        name: 'MediaFusion 🧲 PM ⚡️ 1080p',
        description:
          '📂 Show.S02.1080p.WEB-DL.x264-GRP\n📄 Show.S02E03.mkv\n💾 1.5 GB / 📦 12 GB 👤 7\n🌐 English | Hindi\n🔗 Zilean',
        url,
      },
      {
        ...{
          svc: 'PM',
          cached: 'true',
          q: 'WEB-DL',
          e: 'AVC',
          l: 'English,Hindi',
          idx: 'Zilean',
          seeds: '7',
          size: '1500000000',
        },
        ...{ fsize: '12000000000', file: 'Show.S02E03.mkv', folder: 'Show.S02.1080p.WEB-DL.x264-GRP', sp: 'true' },
      },
    ],
    [
      'StremThru: cached, private, with flags of its own',
      'StremThru Torz',
      {
        name: '⚡️ [RD] 🔑 StremThru\n1080p',
        description: '📁 Show.S01\n📄 Show.S01E01.1080p.WEB.mkv\n💾 1 GB 📦 10 GB 🔍 X\n🎙️ 🇬🇧 🇯🇵 💬 🇫🇷',
        url,
      },
      {
        svc: 'RD',
        cached: 'true',
        private: 'true',
        fsize: String(10 * gibibyte),
        size: String(gibibyte),
        l: 'English,Japanese',
        s: 'French',
        idx: 'X',
        sp: 'true',
      },
    ],
    [
      'Jackettio',
      'Jackettio',
      {
        name: '[RD+] Jackettio\n1080p',
        title: 'Show.S01.MULTI.1080p.WEB.H264-GRP\nShow.S01E05.mkv\n💾2.4 GB 👥12 ⚙️YggTorrent',
        url,
      },
      {
        svc: 'RD',
        cached: 'true',
        q: 'WEB-DL',
        size: String(Math.round(2.4 * gibibyte)),
        seeds: '12',
        idx: 'YggTorrent',
        l: 'Multi',
        sp: 'true',
      },
    ],
    [
      'TorBox',
      'TorBox',
      {
        name: 'TorBox (Instant) (1080p)',
        description:
          'Quality: WEB-DL\nName: Film.2020.1080p.WEB-DL.mkv\nSize: 2.5 GB | Source: nzbgeek | Age: 3d\nType: Usenet',
        url,
      },
      { svc: 'TB', cached: 'true', type: 'usenet', idx: 'nzbgeek', age: '72', file: 'Film.2020.1080p.WEB-DL.mkv' },
    ],
    [
      'Debridio',
      'Debridio',
      {
        name: '[RD⚡] Debridio\n1080p',
        description: 'Film.2020.1080p.WEB.mkv\n⚡ 📺 1080p 💾 1.2 GB ⚙️ debridio',
        url,
      },
      { svc: 'RD', cached: 'true', idx: 'debridio' },
    ],
    [
      'Easynews',
      'Easynews++',
      { name: 'Easynews++\n1080p', description: 'Film.2020.1080p.mkv\n🕛 2h 12m 📦 4.2 GB 📅 120d\n🌐 eng, ger', url },
      { type: 'usenet', svc: 'EN', dur: '7920000', age: '2880', l: 'English,German' },
    ],
    [
      'DMM Cast',
      'DMM Cast',
      { name: 'DMM 🪄 RD', description: 'Film.2020.1080p.mkv\n📦 Yours', url },
      { svc: 'RD', cached: 'true', lib: 'true' },
    ],
    [
      'Meteor',
      'Meteor',
      { name: '[TB] 📫 Meteor 1080p', description: '📄 Film.2020.1080p.mkv\n🌐 🇬🇧 🇪🇸 💬 🇫🇷\n📰 Usenet · NZBgeek', url },
      { svc: 'TB', cached: 'true', lib: 'true', type: 'usenet', idx: 'NZBgeek', l: 'English,Spanish', s: 'French' },
    ],
    [
      'Nuvio',
      'Nuvio Streams',
      { name: 'ShowBox | 1080p', title: 'Film.2020.1080p.mp4\n1.4 GB', url },
      { type: 'http', idx: 'ShowBox', svc: '' },
    ],
    [
      'Sootio',
      'Sootio',
      { name: '[RD+] Sootio', description: 'Film.2020.1080p.mkv\n💾 2 GB | 1337x\n[Cloud]', url },
      { idx: '1337x', lib: 'true' },
    ],
    [
      'TorBox: lines with properties name no folder',
      'TorBox',
      {
        name: 'TorBox (Instant 1080p)',
        description:
          'Quality: 1080p\nName: Film.2020.1080p.WEB.H264-CAKES\nSize: 2.16 GB | Source: Usenet\nLanguage: English\n' +
          'Type: Usenet | Age: 120d',
        url,
        behaviorHints: { filename: 'Film.2020.1080p.WEB.H264-CAKES.mkv' },
      },
      { svc: 'TB', cached: 'true', type: 'usenet', idx: 'Usenet', folder: '', g: 'CAKES' },
    ],
    [
      'KnightCrawler: a file of a season pack',
      'KnightCrawler',
      {
        name: 'KnightCrawler\n1080p',
        title: 'Show.S01.1080p.BluRay.x264-DEMAND\nShow.S01E05.1080p.BluRay.x264-DEMAND.mkv\n👤 8 💾 4.4 GB 🔗 EZTV',
        infoHash: hash,
        fileIdx: 2,
      },
      { sp: 'true', seeds: '8', idx: 'EZTV', g: 'DEMAND', size: String(Math.round(4.4 * gibibyte)) },
    ],
    [
      'Easynews: the length and the size of a file',
      'Easynews++',
      { name: 'Easynews++\n4K', description: 'Film.2020.2160p.mkv\n🕛 1h:02m:12s\n📦 9.98 GB\n🔊 🇬🇧🇩🇪', url },
      { type: 'usenet', svc: 'EN', dur: '3732000', l: 'English,German', r: '2160p' },
    ],
    [
      'Comet: flags after a globe, without a service',
      'Comet',
      {
        name: '[TORRENT🧲] Comet 1080p',
        description:
          '📄 Show.S01E05.1080p.WEB.H264-GRP\n📹 AVC\n🔊 DDP • 5.1\n👤 43 💾 2.1 GB 🔎 Torrentio|TGx\n🌎 🇬🇧/🇫🇷',
        infoHash: hash,
      },
      { type: 'p2p', svc: '', seeds: '43', idx: 'Torrentio', l: 'English,French', g: 'GRP' },
    ],
    [
      'Comet: a hinted file of a pack',
      'Comet',
      {
        name: '[PM⚡] Comet | ElfHosted 4K',
        description: '📄 Show S01 2160p DSNP WEB-DL\n💾 7.3 GB 🔎 DMM\n🇩🇪',
        url,
        behaviorHints: { filename: 'Show.S01E05.mkv' },
      },
      { svc: 'PM', cached: 'true', q: 'WEB-DL', r: '2160p', sp: 'true', l: 'German', idx: 'DMM' },
    ],
    [
      'MediaFusion: lines of facts are no folder, and the name has the resolution',
      'MediaFusion',
      {
        name: 'MediaFusion 🧲 RD ⚡️ 1080P',
        description: '💾 1.5 GB 👤 3\n🔗 Prowlarr',
        url,
        behaviorHints: { filename: 'Show.S01E05.mkv' },
      },
      { svc: 'RD', cached: 'true', r: '1080p', folder: '', size: '1500000000', seeds: '3', idx: 'Prowlarr' },
    ],
    [
      'MediaFusion: a service that Homeport does not use, not cached',
      'MediaFusion',
      { name: 'MediaFusion 🧲 DBD ⏳ 720p', description: '📂 Show.S01E05.720p.WEBRip.mkv\n🌐 Tamil + Telugu', url },
      { svc: 'DR', cached: 'false', type: 'debrid', l: 'Tamil,Telugu' },
    ],
    [
      'StremThru: a wrapped addon',
      'StremThru Wrap',
      {
        name: '⚡️ [RD] Torrentio\n4k DV | HDR',
        title: 'Show.S01E05.mkv\n👤 3 💾 15.2 GB ⚙️ ThePirateBay',
        url,
      },
      { svc: 'RD', cached: 'true', r: '2160p', seeds: '3', idx: 'ThePirateBay' },
    ],
    [
      'StremThru Newz',
      'StremThru Newz',
      { name: '⚡️ [TB] Newz\n1080p', description: '📄 Show.S01E05.1080p.mkv\n💾 1 GB', url },
      { type: 'usenet', svc: 'TB', cached: 'true' },
    ],
    [
      'Torrentio: a service that Homeport does not use',
      'Torrentio',
      { name: '[OC download] Torrentio\n720p', title: 'Show.S01E05.mkv\n👤 1 💾 900.5 MB ⚙️ EZTV', url },
      { svc: 'OC', cached: 'false', type: 'debrid', r: '720p' },
    ],
    [
      'Torrentio: words between the flags',
      'Torrentio',
      {
        name: '[RD+] Torrentio\n4k',
        title: 'Show.S01E05.mkv\n👤 3 💾 15.2 GB ⚙️ ThePirateBay\nDual Audio / 🇬🇧 / 🇮🇳',
        url,
      },
      { svc: 'RD', l: 'English,Hindi,Dual Audio' },
    ],
    [
      'Jackettio: the resolution in the name',
      'Jackettio',
      { name: '[AD] Jackettio 4K', title: 'Show.S01E05.mkv\n💾1.86 GB ⚙️Torrent9 🇫🇷 👥14', url },
      { svc: 'AD', cached: 'false', r: '2160p', seeds: '14', idx: 'Torrent9', l: 'French' },
    ],
    [
      'AIOStreams: the format Google Drive',
      'AIOStreams',
      {
        name: '[RD⚡] Torrentio 1080p',
        description:
          '🎥 BluRay 🎞️ HEVC 🏷️ GRP\n📺 HDR | DV 🎧 Atmos 🔊 7.1\n📦 12 GB 👥 30 📅 2d 🔍 TGx\n' +
          '🌎 English | French\n📁 Show.S01E05.1080p.BluRay.HDR.DV.x265-GRP.mkv',
        url,
      },
      {
        ...{
          svc: 'RD',
          cached: 'true',
          q: 'BluRay',
          e: 'HEVC',
          l: 'English,French',
          idx: 'TGx',
          seeds: '30',
          age: '48',
        },
        ...{ file: 'Show.S01E05.1080p.BluRay.HDR.DV.x265-GRP.mkv', folder: '' },
      },
    ],
    [
      'AIOStreams: the format Prism',
      'AIOStreams',
      {
        name: '🚀 FHD',
        description:
          '🎬 Show (2020) 🍂 S01E05\n🎥 WEB-DL 📺 HDR 🎞️ HEVC\n🎧 Atmos 🔊 5.1 🗣️ 🇬🇧 / 🇫🇷\n📦 12 GB\n' +
          '🏷️ GRP 📡 TGx\n❌ Not Ready (TB) 🔍Torrentio',
        url,
        behaviorHints: { filename: 'Show.S01E05.1080p.WEB-DL.HDR.H265-GRP.mkv' },
      },
      { svc: 'TB', cached: 'false', l: 'English,French', idx: 'TGx', folder: '' },
    ],
    [
      'AIOStreams: the format Tamtaro',
      'AIOStreams',
      {
        name: '   4K     ⚡\n  〈Web-DL〉',
        description: '✎  Show S01E05\n▣  HEVC ✦  HDR\n◈ 12 GB\n⛉ [RD] Torrentio · GRP',
        url,
        behaviorHints: { filename: 'Show.S01E05.WEB-DL.mkv' },
      },
      { svc: 'RD', cached: 'true', r: '2160p', q: 'WEB-DL', folder: '' },
    ],
    [
      'AIOStreams: the format TorBox',
      'AIOStreams',
      {
        name: 'Torrentio (Instant TB) (1080p)',
        description:
          'Quality: WEB-DL\nName: Show.S01E05.1080p.WEB-DL.mkv\nSize: 2 GB | Source: TGx | Duration: 1h:2m\n' +
          'Languages: English, French',
        url,
      },
      {
        ...{ svc: 'TB', cached: 'true', q: 'WEB-DL', idx: 'TGx', dur: '3720000', l: 'English,French' },
        file: 'Show.S01E05.1080p.WEB-DL.mkv',
      },
    ],
    [
      'AIOStreams: attributes of the other aggregator',
      'Any name',
      {
        name: 'Own format',
        description: 'Show without facts',
        url,
        streamData: {
          ...{ type: 'debrid', indexer: 'TGx', age: 48, duration: 60_000, library: true, size: 2e9, folderSize: 2e10 },
          torrent: { infoHash: hash, seeders: 12, private: true },
          ...{ filename: 'Show.S01E05.mkv', folderName: 'Show.S01', service: { id: 'realdebrid', cached: false } },
          parsedFile: {
            ...{ resolution: '1080p', quality: 'WEB-DL', encode: 'HEVC', visualTags: ['HDR'], audioTags: ['Atmos'] },
            ...{ audioChannels: ['7.1'], languages: ['French'], releaseGroup: 'NTb', seasonPack: true, year: 5 },
          },
        },
      },
      {
        ...{ svc: 'RD', cached: 'false', type: 'debrid', lib: 'true', private: 'true', idx: 'TGx', seeds: '12' },
        ...{ q: 'WEB-DL', r: '1080p', e: 'HEVC', v: 'HDR', a: 'Atmos', c: '7.1', l: 'French', g: 'NTb', sp: 'true' },
        ...{ size: '2000000000', fsize: '20000000000', dur: '60000', age: '48' },
        ...{ file: 'Show.S01E05.mkv', folder: 'Show.S01' },
      },
    ],
    [
      'a German film with two sound tracks',
      'Up',
      { name: 'German DL 1080p EN', title: 'Film.2020.German.DL.1080p.mkv', url },
      { svc: '', type: 'http', l: 'German' },
    ],
  ])('reads %s', async (_case, addon, stream, expected) => {
    expect(await fields(stream, { addon })).toMatchObject(expected);
  });

  it('omits rows of another aggregator that are no streams', async () => {
    const listed = await rows([
      { name: 'Statistics', description: 'x', externalUrl: url, streamData: { type: 'statistic' } },
      { name: '⬇ Download', externalUrl: url, streamData: { type: 'external', id: 'a-0-external-download' } },
      { name: 'Stream', title: 'Show.S01E05.mkv', url, streamData: 'none' },
    ]);
    expect(listed.map(({ row }) => row.url)).toEqual([url]);
  });

  it.each(['[OC download] Torrentio', '[ED⬇️] Comet 1080p', 'MediaFusion 🧲 SDR ⏳ 720p'])(
    'hides %s of a service that Homeport does not use with excludeUncached',
    async (streamName) => {
      const uncached = { name: streamName, title: 'Show.S01E05.1080p.mkv', url };
      expect(await rows([uncached], { config: { excludeUncached: true } })).toEqual([]);
      expect(await rows([uncached], {})).toHaveLength(1);
    },
  );

  it('treats a service without a mark as not cached', async () => {
    const stream = { name: 'TorBox Search 1080p', title: 'Film.2020.1080p.mkv', url };
    expect(await rows([stream], { config: { excludeUncached: true } })).toEqual([]);
    expect(
      await rows([{ ...stream, name: 'MediaFusion 🧲 RD ⏳ 1080p' }], { config: { excludeUncached: true } }),
    ).toEqual([]);
  });
});

describe('sizes and durations', () => {
  const url = 'http://h.example/x';
  it.each<[object, number]>([
    [{ title: 'Film.2021.1080p.x264 - 850MB - ESub.mkv\n👤 5 💾 1.9 GB' }, 1.9 * gibibyte],
    [{ title: 'Film.2021.mkv', sizeBytes: 3_000_000_000 }, 3_000_000_000],
    [{ title: 'Film.2021.mkv', size: '2147483648' }, 2147483648],
    [{ title: 'Film.2021.mkv', behaviorHints: { videoSize: 123456789 } }, 123456789],
    [{ title: 'Film.2021.mkv\n💾 1,5 GiB' }, 1.5 * gibibyte],
    [{ title: 'Film.2021.mkv\n2,3 Go' }, 2.3 * gibibyte],
    [{ title: 'Film.2021.mkv\n1,234.5 MB' }, 1234.5 * mebibyte],
    [{ title: 'Film.2021.mkv\n1.234,5 MB' }, 1234.5 * mebibyte],
    [{ title: 'Film.2021.mkv\n[700 MiB] 5 Mbps' }, 700 * mebibyte],
    [{ name: 'Up 4.2GB', title: 'Film.2021.mkv' }, 4.2 * gibibyte],
  ])('reads the size of %j', async (stream, size) => {
    expect(await fields({ name: 'Up', url, ...stream })).toMatchObject({ size: String(Math.round(size)) });
  });

  it.each<[string, number]>([
    ['⏱️ 2h 32m', 152],
    ['⏱ 2h:32m:00s', 152],
    ['Duration: 1:30:00', 90],
    ['🕛 45m', 45],
    ['1 h 5 min', 65],
    ['no length at all, 5 times', 0],
  ])('reads the duration of %j', async (text, minutes) => {
    const expected = minutes === 0 ? '' : String(minutes * 60_000);
    expect(await fields({ name: 'Up', title: `Film.2021.1080p.mkv\n${text}`, url })).toMatchObject({ dur: expected });
  });
});

describe('bitrate', () => {
  const limit = { bitrate: { global: { movies: [0, 20_000_000] } } };
  const size = 80_000_000_000;

  it('uses the duration of the stream', async () => {
    const stream = {
      name: 'Up',
      title: 'Film.2021.2160p.mkv\n⏱️ 2h 32m',
      url: 'http://h.example/x',
      behaviorHints: { videoSize: size },
    };
    const small = { ...stream, behaviorHints: { videoSize: 8_000_000_000 } };
    const listed = await rows([stream, small], { config: limit, type: 'movie', id: 'tt1' });
    expect(listed.map(({ fields: { size: formattedSize } }) => formattedSize)).toEqual(['8000000000']);
  });

  it('uses the duration of the title for streams without one', async () => {
    await using meta = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.startsWith('/meta/') !== true) return false;
        response.end(JSON.stringify({ meta: { id: 'tt1', name: 'Film', type: 'movie', runtime: '152 min' } }));
        return true;
      },
    });
    await using testHost = await openAddonsHost({ METADATA_URL: meta.url });
    await using up = await openFakeAddon({
      streams: [
        { name: 'Up', title: 'Film.2021.2160p.mkv', url: 'http://h.example/x', behaviorHints: { videoSize: size } },
      ],
    });
    const formattedSize = {
      id: 'custom',
      definitions: {
        custom: { name: '{stream.bitrate::sbitrate} {metadata.title}', description: '{stream.duration::time}' },
      },
    };
    const presets = [customPreset('u', 'Up', up.manifestUrl)];
    const [row] = await streams(testHost, buildConfig(presets, { formatter: formattedSize }));
    expect([row.name, row.description]).toEqual(['70.2 Mbps Film', '2h:32m:0s']);
    expect(await streams(testHost, buildConfig(presets, { formatter: formattedSize, ...limit }))).toEqual([]);
  });

  async function streams(testHost: TestHost, config: object): Promise<any[]> {
    const { manifestUrl } = await makeUser(testHost, config);
    const { addon } = await AddonClient.detectFromURL(manifestUrl);
    const response = await addon.get('stream', 'movie', 'tt1');
    return response.streams;
  }
});

describe('filters by values of names', () => {
  const shows = async (filename: string, config: object): Promise<boolean> => {
    const stream = { name: 'Up', url: 'http://h.example/x', behaviorHints: { filename } };
    return (await rows([stream], { config, type: 'movie', id: 'tt1' })).length === 1;
  };
  it.each<[string, object, boolean]>([
    ['Film.2020.2160p.WEB-DL.HDR10.H265-G.mkv', { requiredVisualTags: ['HDR10'] }, true],
    ['Film.2020.2160p.WEB-DL.HDR10.H265-G.mkv', { excludedVisualTags: ['HDR10'] }, false],
    ['Film.2020.2160p.WEB-DL.HDR10.H265-G.mkv', { excludedVisualTags: ['HDR10+'] }, true],
    ['Film.2020.2160p.WEB-DL.HDR10+.H265-G.mkv', { requiredVisualTags: ['HDR10+'] }, true],
    ['Film.2020.2160p.WEB-DL.HDR10Plus.DV.H265-G.mkv', { requiredVisualTags: ['HDR10+', 'DV'] }, true],
    ['Film.2020.2160p.WEB-DL.DoVi.HDR.H265-G.mkv', { requiredVisualTags: ['HDR+DV'] }, true],
    ['Film.2020.1080p.WEB-DL.SDR.mkv', { excludedVisualTags: ['SDR'] }, false],
    ['Film.2020.3D.H-SBS.1080p.mkv', { requiredVisualTags: ['H-SBS'] }, true],
    ['Match.2024.1080i.HDTV.H264.ts', { excludedQualities: ['TS'] }, true],
    ['Match.2024.1080i.HDTV.H264.ts', { requiredQualities: ['HDTV'], requiredResolutions: ['1080p'] }, true],
    ['Film.2024.1080p.BluRay.m2ts', { requiredQualities: ['BluRay'] }, true],
    ['Movie.2021.HD-CAM.1080p.x264.mkv', { excludedQualities: ['CAM'] }, false],
    ['Movie.2021.HDCAM.x264.mkv', { excludedQualities: ['CAM'] }, false],
    ['Movie.2021.HQ.CAM.Rip.x264.mkv', { excludedQualities: ['CAM'] }, false],
    ['Movie.2021.HD-TS.1080p.x264.mkv', { excludedQualities: ['TS'] }, false],
    ['Movie.2021.TELESYNC.x264.mkv', { excludedQualities: ['TS'] }, false],
    ['Movie.2021.HDTC.1080p.mkv', { excludedQualities: ['TC'] }, false],
    ['Movie.2021.DVDScr.x264.mkv', { excludedQualities: ['SCR'] }, false],
    ['The.Camera.2021.1080p.WEB-DL.mkv', { excludedQualities: ['CAM', 'TS'] }, true],
    ['Film 2020 1080p WEB-DL Dublado PT-BR 🇧🇷.mkv', { requiredLanguages: ['Portuguese (Brazil)'] }, true],
    ['Film.2020.1080p.Latino.mkv', { requiredLanguages: ['Latino'] }, true],
    ['Film 2020 1080p 🇲🇽.mkv', { requiredLanguages: ['Latino'] }, true],
    ['Film.2021.French.1080p.WEB.mkv', { requiredLanguages: ['French'] }, true],
    ['Film.2021.FRENCH.1080p.WEB.mkv', { requiredLanguages: ['French'] }, true],
    ['Film.2021.TrueFrench.1080p.WEB.mkv', { requiredLanguages: ['French'] }, true],
    ['Film.2021.VFF.1080p.WEB.mkv', { requiredLanguages: ['French'] }, true],
    ['Film.2021.MULTi.VFQ.1080p.WEB.mkv', { requiredLanguages: ['French'] }, true],
    ['Film.2021.iTALiAN.1080p.WEB.mkv', { requiredLanguages: ['Italian'] }, true],
    ['Film.2021.1080p.WEB.ITA.ENG.mkv', { requiredLanguages: ['Italian'] }, true],
    ['Film.2021.German.1080p.WEB.mkv', { requiredLanguages: ['German'] }, true],
    ['The.French.Dispatch.2021.1080p.WEB.mkv', { excludedLanguages: ['French'] }, true],
    ['Film.2021.French.Subs.1080p.WEB.mkv', { excludedLanguages: ['French'] }, true],
    ['Film.2020.1080p.BluRay.DTS-HD.MA.5.1.mkv', { requiredAudioTags: ['DTS-HD MA'] }, true],
    ['Film.2020.1080p.BluRay.DTS-X.7.1.mkv', { requiredAudioTags: ['DTS:X'] }, true],
    ['Film.2020.1080p.BluRay.DTS.mkv', { excludedAudioTags: ['DTS-HD MA'] }, true],
    ['Film.2020.1080p.BluRay.DTS-ES.6.1.mkv', { requiredAudioTags: ['DTS-ES'] }, true],
    ['Film.2020.1080p.BluRay.DTS-ES.6.1.mkv', { excludedLanguages: ['Spanish'] }, true],
  ])('decides whether %s with %j is listed: %s', async (filename, config, expected) => {
    expect(await shows(filename, config)).toBe(expected);
  });
});

describe('regular expressions', () => {
  const shows = async (filename: string, config: object): Promise<boolean> => {
    const stream = { name: 'Up', url: 'http://h.example/x', behaviorHints: { filename } };
    return (await rows([stream], { config, type: 'movie', id: 'tt1' })).length === 1;
  };
  it.each<[string, object, boolean]>([
    ['Film.2020.1080p.WEB-DL.mkv', { requiredRegexPatterns: ['/Extras|Bonus/in'] }, true],
    ['Film.2020.Extras.1080p.WEB-DL.mkv', { requiredRegexPatterns: ['/extras|bonus/in'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/HDTV/gi'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/hdtv/giu'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/hdtv/dgiv'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/film/iy'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/hdtv/iy'] }, true],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['(?i)hdtv'] }, false],
    ['Film.2020.1080p.HDTV.mkv', { excludedRegexPatterns: ['/hdtv/'] }, true],
  ])('decides whether %s with %j is listed: %s', async (filename, config, expected) => {
    expect(await shows(filename, config)).toBe(expected);
  });

  it('ignores an invalid pattern and reports it', async () => {
    const streams = [{ name: 'Up', url: 'http://h.example/x', behaviorHints: { filename: 'Film.2020.HDTV.mkv' } }];
    const config = { excludedRegexPatterns: ['(', '/hdtv/i'] };
    const [row, ...rest] = await rows(streams, { config, type: 'movie', id: 'tt1' });
    expect(rest).toEqual([]);
    expect(row?.row.description).toContain(m.patternInvalid({ name: '(' }));
  });
});

describe('addresses of streams', () => {
  it('passes every address that a player can open', async () => {
    const addresses = [
      ...[
        'http://x.example/a',
        'rtmp://x.example/live',
        'rtsp://x.example/live',
        'ftp://x.example/a.mkv',
        'srt://x.example:1',
      ],
      'intent://x.example/a#Intent;scheme=http;end',
    ];
    const listed = await rows(addresses.map((url) => ({ name: 'Up', title: 'Film.2020.mkv', url })));
    expect(listed.map(({ row }) => row.url)).toEqual(addresses);
    expect(listed.map(({ fields: { type } }) => type)).toEqual(['http', 'live', 'live', 'http', 'live', 'http']);
  });

  it('omits addresses that run a script or read a file', async () => {
    const addresses = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'blob:x'];
    const listed = await rows([
      { name: 'Up', url: 'http://x.example/a' },
      ...addresses.map((url) => ({ name: 'Up', url })),
    ]);
    expect(listed.map(({ row }) => row.url)).toEqual(['http://x.example/a']);
  });

  it('converts magnet links to torrents, including Base32 hashes', async () => {
    const base32 = 'VKVKVKVKVKVKVKVKVKVKVKVKVKVKVKVK';
    const links = [`magnet:?xt=urn:btih:${hash}`, `magnet:?xt=urn:btih:${base32}`];
    const listed = await rows(links.map((url) => ({ name: 'Up', title: 'Film.2020.mkv', url })));
    expect(listed.map(({ row }) => row.infoHash)).toEqual([hash, hash]);
  });
});
