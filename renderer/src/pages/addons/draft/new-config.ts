/** Sort criteria of a new configuration, in order of precedence. */
export const defaultSortKeys: readonly string[] = ['cached', 'resolution', 'quality', 'size'];

const resolutions = ['2160p', '1440p', '1080p', '720p', '576p', '480p', '360p', 'Unknown'];
const qualities = ['BluRay REMUX', 'BluRay', 'WEB-DL', 'WEBRip', 'HDRip', 'HDTV', 'DVDRip', 'SCR', 'TC', 'TS', 'CAM'];

/** Initial configuration. */
export const newConfig: Readonly<Record<string, unknown>> = {
  addonName: '',
  presets: [],
  services: [],
  formatter: { id: 'torrentio' },
  sortCriteria: { global: defaultSortKeys.map((key) => ({ key, direction: 'desc' })) },
  preferredResolutions: resolutions,
  preferredQualities: qualities,
  excludedQualities: ['CAM', 'TS', 'TC'],
  deduplicator: { enabled: true },
  serviceWrap: { enabled: true },
  failover: { enabled: true },
};
