import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { popupsChanged } from '../contracts/popups/popups.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, PopupSettings, Settings } from './settings.ts';

/** Popups service: shows messages of the inbox as native popups, following the rules of an account. */
export const manifest = defineManifest({
  id: 'popups',
  title: texts.popupsTitle,
  group: 'system',
  summary: texts.popupsSummary,
  capabilities: ['desktop'],
  // Started first, so that no message of other services is missed while they start.
  startsOn: 'first',
  settings: Settings,
  environment: {},
  hostSettings: { schema: PopupSettings, environment, area: 'notifications' },
  migrations: [],
  formerFiles: { 'host/popups.json': 'popups.json' },
  live: [liveTopic(popupsChanged, 'admin')],
});
