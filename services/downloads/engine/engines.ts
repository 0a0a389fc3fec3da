import * as m from '#messages/engine-texts';
import type { EngineSpec, InstallPlatform } from '../../contracts/control/engine-spec.ts';
import { impersonation } from './impersonation-pins.ts';
import { deno, ffmpegArchives, ytdlp } from './pins.ts';

const { version, packages, releases } = ytdlp;

/** Programs that download and convert. */
export const engines: readonly EngineSpec[] = [
  {
    name: 'yt-dlp',
    title: 'yt-dlp',
    purpose: m.ytDlpPurpose,
    absence: m.ytDlpAbsence,
    removal: m.runningDownloadsFail,
    // Sites change every few weeks, and distributions rarely update it.
    needsLatest: true,
    path: { setting: 'ytDlpPath', variable: 'YTDLP_PATH', description: m.ytDlpPath },
    version: { arguments: ['--version'], pattern: /^(\d{4}\.\d{2}\.\d{2}[.\w]*)$/ },
    python: {
      module: 'yt_dlp',
      version,
      packages,
      run: '-m yt_dlp',
      // curl_cffi includes certificates, which would otherwise replace those of the system.
      options: '--compat-options no-certifi',
      extras: {
        title: 'curl_cffi',
        packages: impersonation,
        step: m.impersonationStep,
        without: 'cannot look like a browser to sites that ask for one',
      },
      without: m.ytDlpWithoutPython,
    },
    sources: [{ from: 'release', releases, version, sums: 'SHA2-256SUMS', asset: getAsset }, { from: 'python' }],
  },
  {
    name: 'ffmpeg',
    title: 'ffmpeg',
    purpose: m.ffmpegPurpose,
    absence: m.ffmpegAbsence,
    removal: m.runningDownloadsFail,
    path: {
      setting: 'ffmpegPath',
      variable: 'FFMPEG_PATH',
      description: m.ffmpegPath,
    },
    version: { arguments: ['-version'], pattern: /^ffmpeg version (\S+)/ },
    // The project publishes only source code, and names these builds on its page of downloads.
    sources: [
      { from: 'archive', ...ffmpegArchives },
      { from: 'system', packages: ['ffmpeg'], names: { dnf: ['ffmpeg-free'] }, winget: 'Gyan.FFmpeg' },
    ],
  },
  {
    name: 'ffprobe',
    title: 'ffprobe',
    purpose: m.ffprobePurpose,
    absence: m.ffprobeAbsence,
    removal: m.runningDownloadsFail,
    partOf: 'ffmpeg',
    version: { arguments: ['-version'], pattern: /^ffprobe version (\S+)/ },
    sources: [],
  },
  buildDeno(process.versions),
];

/** Returns the engine Deno, which only the desktop app requires. `versions`: those of the process. */
export function buildDeno(versions: Readonly<Record<string, string | undefined>>): EngineSpec {
  return {
    name: 'deno',
    title: 'Deno',
    purpose: m.denoPurpose,
    absence: m.denoAbsence,
    removal: m.runningDownloadsFail,
    // Electron of the packaged app cannot run these scripts, and Node can.
    ...(versions['electron'] === undefined && { optional: true }),
    version: { arguments: ['--version'], pattern: /^deno (\d+\.\d+\.\d+)/, oldest: '2.3.0' },
    sources: [{ from: 'archive', ...deno }],
  };
}

/**
 * Returns the zipimport file if Python can run it, since it is a tenth of the size, otherwise the standalone program.
 */
function getAsset({ platform, arch, python }: InstallPlatform): string {
  if (platform === 'win32') return arch === 'arm64' ? 'yt-dlp_arm64.exe' : 'yt-dlp.exe';
  if (platform === 'darwin') return 'yt-dlp_macos';
  if (python) return 'yt-dlp';
  return arch === 'arm64' ? 'yt-dlp_linux_aarch64' : 'yt-dlp_linux';
}
