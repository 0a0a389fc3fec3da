import { liveTopic } from '../contracts/control/live.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** SMTP gateway: converts mail to notifications; accepted mail is never lost. */
export const manifest = defineManifest({
  id: 'mail',
  title: 'Mail gateway',
  group: 'alerts',
  summary: 'Turns e-mail that devices and scripts send into notifications.',
  listeners: [
    {
      name: 'smtp',
      title: 'Mail',
      protocol: 'tcp',
      scheme: 'smtp',
      port: 8025,
      whenShared:
        'Machines of these networks send mail here. Whether they encrypt it and sign in is set with mail; at first they do neither.',
    },
  ],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'clients', 'signIn', 'logins', 'tls', 'spoolDays', 'maxMegabytes'],
  settingGroups: {
    Mails: ['spoolDays', 'maxMegabytes'],
    Access: ['clients', 'signIn', 'logins', 'tls'],
    Routing: ['recipients', 'rules', 'recognise', 'topicDomain', 'topicPrefix'],
    'Mail server': ['certificateFile', 'keyFile', 'hostName', 'maxRecipients', 'maxClients', 'idleSeconds'],
  },
  migrations,
  grantable: [{ service: 'mail', title: 'Mail, by recipient', example: '*' }],
  live: [liveTopic(mailActivity, 'admin')],
  pulse: { counter: 'gateway_emails_processed_total', what: 'mails' },
  importSources: [{ program: 'mailrise', from: 'FILE', what: 'recipients, logins and encryption of mailrise.conf' }],
});
