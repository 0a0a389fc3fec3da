import type { ArchiveFile, ArchiveFiles, InstallTarget, PinnedPackage } from '../../contracts/control/engine-spec.ts';

/** The installed release of yt-dlp. To update, change only this block. */
export const ytdlp = {
  version: '2026.10.26',
  packages: [
    {
      name: 'yt-dlp',
      version: '2026.10.26',
      sha256: ['a05c5b5d8562f7e8a62f5334348b406af4930d56d3a65f8021d14af0e22339ae'],
    },
    // Solver scripts for YouTube, in the version that the release requires.
    {
      name: 'yt-dlp-ejs',
      version: '0.8.0',
      sha256: ['79300e5fca7f937a1eeede11f0456862c1b41107ce1d726871e0207424f4bdb4'],
    },
  ] satisfies readonly PinnedPackage[],
  releases: 'https://github.com/yt-dlp/yt-dlp/releases',
} as const;

const denoVersion = '2.9.7';
const denoReleases = `https://github.com/denoland/deno/releases/download/v${denoVersion}`;
/** Archives in the spelling of the compiler, with their sums. An update needs new sums for each line. */
const denoBuilds: Readonly<Record<InstallTarget, { readonly system: string; readonly sha256: string }>> = {
  'linux-x64': {
    system: 'x86_64-unknown-linux-gnu',
    sha256: 'c6527f24f4b16031d3ae4fa9f658d5f11534c8d84ce7dc8502420280919c3490',
  },
  'linux-arm64': {
    system: 'aarch64-unknown-linux-gnu',
    sha256: 'c832298b1ad4422481334855f6003e0f54145762c5a134f20a489511d2f65bbf',
  },
  'darwin-x64': {
    system: 'x86_64-apple-darwin',
    sha256: '95daaff11c116a52ad54785e7914c8e9c9cdcaba793c5ed929c74ca2d8e6259a',
  },
  'darwin-arm64': {
    system: 'aarch64-apple-darwin',
    sha256: '5cd46d6268f6f78f5d88bdc7159d20bd44cdaa4b3303474839f87ec6fe7ae25c',
  },
  'win32-x64': {
    system: 'x86_64-pc-windows-msvc',
    sha256: 'a0c3101b4158d1dfb7d6a78a7bf0f3de80c96bb423c152beec8beb22786f2238',
  },
  'win32-arm64': {
    system: 'aarch64-pc-windows-msvc',
    sha256: 'c4c4ac8bfdaa37814bda5c05fc9cdf2154904e2ef8277673a30bdceaaa649807',
  },
};

/** The installed release of Deno. */
export const deno = {
  version: denoVersion,
  files: Object.fromEntries(
    Object.entries(denoBuilds).map(([target, { system, sha256 }]) => {
      const program = target.startsWith('win32') ? 'deno.exe' : 'deno';
      const address = `${denoReleases}/deno-${system}.zip`;
      return [target, [{ address, checksum: { sha256 }, members: { [program]: program } }]];
    }),
  ) satisfies ArchiveFiles,
} as const;

/**
 * Builds of ffmpeg for Linux and macOS; those for macOS are signed and notarized by their publisher. An update needs a
 * new folder and new sums for each line.
 */
const riedl = 'https://ffmpeg.martin-riedl.de/download';
const ffmpegBuilds = {
  'linux-x64': {
    folder: 'linux/amd64/1789931100_9.0.2',
    ffmpeg: 'fa8ecf4abbd290d98f7d188b8649cc6b391ae209a98452be955a15aab1909d7f',
    ffprobe: '3f428c49070be3d24ec338602b76d412e401ffcb8a5641ef0e729181a232fc32',
  },
  'linux-arm64': {
    folder: 'linux/arm64/1789931697_9.0.2',
    ffmpeg: '93a76ae90db5474eecdf951a729857c64f3de23567228d6a7d5e6e8e3cd1021b',
    ffprobe: 'bcbe80fb741c180083327afaf5434812e006b33cacde2016b9aeaf6936128330',
  },
  'darwin-x64': {
    folder: 'macos/amd64/1789931006_9.0.2',
    ffmpeg: '7c6b4125b191cbf773832dc51f424cf2b6bb7da43007d1e066f95909e47cacd4',
    ffprobe: '2322438ed2f6319a691291b247d09c69dcaa3a982460d1f269a7e1af335cfdfd',
  },
  'darwin-arm64': {
    folder: 'macos/arm64/1789931890_9.0.2',
    ffmpeg: 'c8ed4c4e6978a03c485edbfe4e0a5dc2380f8a30bba5150531b31b094492d924',
    ffprobe: 'fcbe839537485eaee7a7a8bc5cbc0f90d53617e80943e8a5b2e31cb851197ea6',
  },
} as const;

/** Build for Windows. The publisher keeps the last build of each month for two years. */
const btbn = 'https://github.com/BtbN/FFmpeg-Builds/releases/download/autobuild-2026-09-30-13-08';
const btbnBuild = 'ffmpeg-n9.0.2-17-g2a571b6068';

/** The installed builds of ffmpeg and ffprobe. */
export const ffmpegArchives = {
  version: '9.0.2',
  files: {
    ...Object.fromEntries(
      Object.entries(ffmpegBuilds).map(([target, { folder, ffmpeg, ffprobe }]) => [
        target,
        [getRiedlArchive(folder, 'ffmpeg', ffmpeg), getRiedlArchive(folder, 'ffprobe', ffprobe)],
      ]),
    ),
    'win32-x64': [getWindowsArchive('win64')],
    'win32-arm64': [getWindowsArchive('winarm64')],
  } satisfies ArchiveFiles,
} as const;

function getRiedlArchive(folder: string, program: string, sha256: string): ArchiveFile {
  return { address: `${riedl}/${folder}/${program}.zip`, checksum: { sha256 }, members: { [program]: program } };
}

function getWindowsArchive(system: string): ArchiveFile {
  const folder = `${btbnBuild}-${system}-gpl-9.0`;
  return {
    address: `${btbn}/${folder}.zip`,
    checksum: { list: `${btbn}/checksums.sha256` },
    members: { [`${folder}/bin/ffmpeg.exe`]: 'ffmpeg.exe', [`${folder}/bin/ffprobe.exe`]: 'ffprobe.exe' },
  };
}
