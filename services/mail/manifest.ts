import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** The SMTP gateway: mail becomes a notification, never lost once it was accepted. */
export const manifest = defineManifest({
  id: 'mail',
  title: 'Mail gateway',
  summary: 'Turns e-mail that devices and scripts send into notifications.',
  port: 8025,
  protocol: 'smtp',
  settings: Settings,
  environment,
  migrations,
});
