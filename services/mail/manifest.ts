import { liveTopic } from '../contracts/control/live.ts';
import { mailWorked } from '../contracts/mail/api.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** The SMTP gateway: mail becomes a notification, never lost once it was accepted. */
export const manifest = defineManifest({
  id: 'mail',
  title: 'Mail gateway',
  group: 'alerts',
  summary: 'Turns e-mail that devices and scripts send into notifications.',
  listeners: [{ name: 'smtp', title: 'Mail', protocol: 'tcp', scheme: 'smtp', port: 8025 }],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'recipients', 'clients', 'signIn', 'logins', 'hostName', 'maxMegabytes', 'spoolDays'],
  migrations,
  grantable: [{ service: 'mail', title: 'Mail, by recipient', example: '*' }],
  live: [liveTopic(mailWorked, 'admin')],
  pulse: { counter: 'gateway_emails_processed_total', what: 'mails' },
  takesOver: [{ program: 'mailrise', from: 'FILE', what: 'recipients, logins and encryption of mailrise.conf' }],
});
