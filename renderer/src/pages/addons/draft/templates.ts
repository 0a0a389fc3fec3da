import * as m from '#messages/addons';
import { newConfig } from './new-config.ts';

/** Starting point of a new configuration. */
export interface ConfigurationTemplate {
  readonly id: string;
  readonly name: () => string;
  readonly description: () => string;
  readonly config: Readonly<Record<string, unknown>>;
}

const resolutions = ['2160p', '1440p', '1080p', '720p', '576p', '480p', '360p', 'Unknown'];

function sortBy(...keys: readonly string[]): object {
  return { global: keys.map((key) => ({ key, direction: 'desc' })) };
}

/** Templates of new configurations. The addons still need a debrid service or their own settings. */
export const templates: readonly ConfigurationTemplate[] = [
  { id: 'blank', name: m.templateBlank, description: m.templateBlankText, config: newConfig },
  {
    id: 'quality',
    name: m.templateQuality,
    description: m.templateQualityText,
    config: {
      ...newConfig,
      presets: [{ type: 'torrentio', instanceId: 'torrentio', enabled: true, options: { name: 'Torrentio' } }],
      sortCriteria: sortBy('cached', 'resolution', 'quality', 'visualTag', 'audioTag', 'size'),
      excludedQualities: ['CAM', 'TS', 'TC', 'SCR'],
    },
  },
  {
    id: 'small',
    name: m.templateSmall,
    description: m.templateSmallText,
    config: {
      ...newConfig,
      presets: [{ type: 'torrentio', instanceId: 'torrentio', enabled: true, options: { name: 'Torrentio' } }],
      preferredResolutions: ['1080p', '720p', '576p', '480p', '360p', 'Unknown'],
      excludedResolutions: resolutions.slice(0, 2),
      sortCriteria: {
        global: [
          ...['cached', 'resolution'].map((key) => ({ key, direction: 'desc' })),
          { key: 'size', direction: 'asc' },
        ],
      },
    },
  },
];
