import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import type { EngineName } from '../../../services/contracts/control/engines.ts';
import { executableName } from './folder.ts';

/** What the owner may set; environment names YTDLP_PATH, FFMPEG_PATH and APPRISE_PATH. */
export interface EngineSettings {
  readonly ytdlpPath?: string | undefined;
  readonly apprisePath?: string | undefined;
  /** The executable, or the folder that holds ffmpeg and ffprobe. */
  readonly ffmpegPath?: string | undefined;
  /** Unset: beside ffmpeg. */
  readonly ffprobePath?: string | undefined;
}

/** Where the settings say that the engine is; undefined when they say nothing. */
export async function configuredPath(name: EngineName, settings: EngineSettings): Promise<string | undefined> {
  const own = name === 'ffprobe' ? settings.ffprobePath?.trim() : undefined;
  if (own !== undefined && own !== '') return own;
  const { ytdlpPath, ffmpegPath, apprisePath } = settings;
  const set = { 'yt-dlp': ytdlpPath, apprise: apprisePath, ffmpeg: ffmpegPath, ffprobe: ffmpegPath }[name]?.trim();
  if (set === undefined || set === '') return undefined;
  const isFolder = (await stat(set).catch(() => undefined))?.isDirectory() ?? false;
  if (isFolder) return join(set, executableName(name));
  if (name !== 'ffprobe') return set;
  // The setting names ffmpeg; its probe lies beside it.
  return join(dirname(set), basename(set).replace('ffmpeg', 'ffprobe'));
}

/** The first executable of that name on the PATH and in the usual places, as an absolute path. */
export async function systemPath(name: string): Promise<string | undefined> {
  const usual = [join(homedir(), '.local', 'bin'), '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin'];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...usual];
  for (const folder of folders) {
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // Not there or not for us: the next place is asked.
  }
}
