import { liveTopic } from '../contracts/control/live.ts';
import { popupsChanged } from '../contracts/popups/popups.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, PopupSettings, Settings } from './settings.ts';

/** What reaches the inbox, as native popups by the person's rules. */
export const manifest = defineManifest({
  id: 'popups',
  title: 'Popups',
  group: 'system',
  summary: 'Shows what reaches the inbox on the screen of this machine.',
  capabilities: ['desktop'],
  // What the others tell while they start must not be missed.
  startsOn: 'first',
  settings: Settings,
  environment: {},
  hostSettings: { schema: PopupSettings, environment, area: 'notifications' },
  migrations: [],
  formerFiles: { 'host/popups.json': 'popups.json' },
  live: [liveTopic(popupsChanged, 'admin')],
});
