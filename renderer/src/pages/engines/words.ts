import type { EngineState, ShownEngineName } from '../../../../services/contracts/control/engines.ts';

/** What each engine is there for. */
const purposes: Readonly<Record<ShownEngineName, string>> = {
  'yt-dlp': 'Finds and downloads videos.',
  ffmpeg: 'Joins picture and sound, and converts formats.',
  ffprobe: 'Looks into media files; it comes with ffmpeg.',
  apprise: 'Reaches notification services that Homeport does not speak to by itself, such as IRC and SMS gateways.',
  python: 'Runs yt-dlp’s small release, and Apprise.',
};

/** What its absence means for a person. */
const absences: Readonly<Record<ShownEngineName, string>> = {
  'yt-dlp': 'Nothing can be downloaded until it is here.',
  ffmpeg: 'Downloads stay below full quality, and audio cannot be converted.',
  ffprobe: 'Some conversions fail, and lengths of media are not known. It comes with ffmpeg.',
  apprise:
    'Only needed for notification services that Homeport does not speak to by itself, such as IRC and SMS gateways.',
  python: 'yt-dlp comes as a larger program that starts more slowly; everything works but Apprise.',
};

/** One plain sentence: what it does, or what its absence means. */
export function meaning({ name, path }: Pick<EngineState, 'name' | 'path'>): string {
  return path === null ? absences[name] : purposes[name];
}

/** Where it comes from. */
export const sources: Readonly<Record<EngineState['source'], string>> = {
  setting: 'From the settings',
  data: 'Installed by Homeport',
  system: 'From this computer',
  missing: 'Missing',
};

/** What an installation would do for it; empty when there is nothing that Homeport could do. */
export function offer({ name, path, configured, version, offered }: EngineState): '' | 'Install' | 'Update' {
  if (name === 'python' || name === 'ffprobe' || configured) return '';
  if (path === null) return 'Install';
  return offered !== null && version !== offered ? 'Update' : '';
}
