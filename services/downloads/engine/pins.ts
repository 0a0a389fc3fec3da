import type { PinnedPackage } from '../../contracts/control/engine-spec.ts';

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
