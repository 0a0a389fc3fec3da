import type { IconName } from '../../../icons/icons.ts';

/** Icon of a source and the hue of its tile, in degrees. */
export interface SourceMark {
  readonly icon: IconName;
  readonly hue: number;
}

const marks: Readonly<Record<string, SourceMark>> = {
  mail: { icon: 'mail', hue: 300 },
  push: { icon: 'push', hue: 235 },
  notify: { icon: 'notify', hue: 75 },
  downloads: { icon: 'download', hue: 155 },
  uptime: { icon: 'uptime', hue: 175 },
  control: { icon: 'key', hue: 250 },
  addons: { icon: 'addons', hue: 330 },
  sync: { icon: 'sync', hue: 200 },
  git: { icon: 'git', hue: 35 },
  data: { icon: 'data', hue: 275 },
  gateway: { icon: 'share', hue: 220 },
};

/** Returns the icon and the hue of a service, or those of notifications for an unknown source. */
export function getSourceMark(source: string): SourceMark {
  return marks[source] ?? { icon: 'notify', hue: 75 };
}
